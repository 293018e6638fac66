"""The command line: what it accepts, its exit codes, and what verdicts must rest on."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_stub import Cli, parameters_of, stub

from dropcheck import cli
from dropcheck.cli_output import ExitCode
from dropcheck.judging import judge
from dropcheck.judging.case import CaseRun, Finding
from dropcheck.options import VALUES
from dropcheck.results import CaseResult, Exact, Guarantee, Method, Resolution, Verdict
from dropcheck.settings import Settings

# exit codes, which the transcripts of the contract show too


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["kept-share", "open-question"], 1), (["open-question", "--exit-zero"], 0),
        (["the-stub-errs", "kept-share", "--exit-zero"], 2), (["--tag", "passes"], 0),
    ],
)  # fmt: skip
def test_exit_codes(cli: Cli, arguments: list[str], code: int) -> None:
    assert cli("run", *arguments).code == code


@pytest.mark.parametrize("format_name", ["table", "json"])
def test_an_error_on_the_way_outranks_a_failure_and_loses_no_result(
    cli: Cli, format_name: str
) -> None:
    result = cli("run", "kept-share", "the-stub-errs", "--format", format_name)
    assert result.code == 2
    if format_name == "json":
        assert [case["result"] for case in json.loads(result.out)["cases"]] == ["fail", "error"]
    else:
        assert "FAIL" in result.out
        assert "ERROR" in result.out


def test_an_internal_error_is_3_and_asks_for_a_report(
    cli: Cli, verify: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any, **_: Any) -> Iterator[CaseResult]:
        raise ZeroDivisionError("a slip")

    verify.verify_cases = broken
    result = cli("run", "--format", "json")
    assert result.code == 3
    assert "internal error: ZeroDivisionError: a slip" in result.err
    assert "please report it" in result.err
    assert "Traceback" not in result.err
    assert "a slip" in json.loads(result.out)["errors"][0]["message"]
    monkeypatch.setenv("DROPCHECK_DEBUG", "1")
    assert "Traceback" in cli("run").err


# parameters as options


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        (["product-variance"], [{"dk": 16}, {"dk": 64}]),
        (["product-variance", "--dk", "512"], [{"dk": 512}]),
        (["--dk=512", "product-variance"], [{"dk": 512}]),
        (["product-variance", "--dk", "2**3, 1e2"], [{"dk": 8}, {"dk": 100}]),
        (["product-variance", "--dk", "1", "--dk", "2"], [{"dk": 1}, {"dk": 2}]),
        (["product-variance", "--set", "dk=3"], [{"dk": 3}]),
        (["kept-share", "--mu", "-1"], [{"keep_prob": 0.5, "mu": -1}]),
        (["kept-share", "--mu=-1", "--keep_prob", "1/4"], [{"keep_prob": 0.25, "mu": -1}]),
        (["kept-share", "--keep-prob", "0.25"], [{"keep_prob": 0.25, "mu": 0}]),
        (["open-question", "--alpha", "0.01", "--set", "alpha=7"], [{"alpha": 7}]),
        (["--tag", "attention", "--dk", "5"], [{"dk": 5}]),
        (["product-*", "kept-share", "--dk", "5"], [{"dk": 5}, {"keep_prob": 0.5, "mu": 0}]),
    ],
)
def test_parameters_are_options(
    cli: Cli, arguments: list[str], parameters: list[dict[str, float]]
) -> None:
    result = cli("run", *arguments, "--format", "json")
    assert result.err == ""
    assert parameters_of(result.out) == parameters


def test_times_and_seeds_read_as_people_write_them() -> None:
    times = {"10s": 10, "500ms": 0.5, "2m": 120, "2min": 120, "10": 10, "1h": 3600, "0.5": 0.5}
    assert {text: VALUES["time_limit"].read(text) for text in times} == times
    assert VALUES["seed"].read("9007199254740993") == 9007199254740993  # 2**53 + 1


def test_settings_reach_the_verifier(cli: Cli, verify: Any) -> None:
    seen: list[Settings] = []

    def spy(cases: Any, settings: Settings, registry: Any, **_: Any) -> Iterator[CaseResult]:
        seen.append(settings)
        return stub(cases, settings, registry)

    verify.verify_cases = spy
    cli(
        *("run", "product-variance", "--alpha", "1e-3", "--resolution", "0.05", "--seed", "2**70"),
        *("--max-draws", "2**20", "--time-limit", "500ms", "--threads", "2"),
    )
    assert not seen  # 2**70 is no seed
    cli(
        *("run", "product-variance", "--alpha", "1e-3", "--resolution", "0.05", "--seed", "7"),
        *("--max-draws", "2**20", "--time-limit", "500ms", "--threads", "2"),
    )
    assert seen == [Settings(1e-3, 7, 0.05, 2**20, 0.5, 2)]
    cli("run", "product-variance", "--seed", "fresh")
    cli("run", "product-variance", "--seed", "fresh")
    assert seen[1].seed != seen[2].seed  # by chance alike once in 2**32
    cli("run", "product-variance", "--resolution", "0.7%")
    assert seen[3].resolution == 0.007


TWO_CLAIMS = """\
dropcheck: 1
claims:
  square:
    title: A square
    parameters: {s: 2}
    model: x ~ normal(0, s)
    claim: E(x**2) == 4
  sum:
    title: A sum
    claim: 2 + 2 == 4
"""
FOUND = Finding(
    verdict=Verdict.VERIFIED,
    method=Method.BLOCK_MEANS,
    guarantee=Guarantee.ASYMPTOTIC,
    estimate=4.001,
    interval=(3.99, 4.012),
    scale=4.0,
    sharpness=Resolution(0.04, 0.04),
    draws=1000,
)

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`dropcheck run`, where every case that draws is found to be as `finding` says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("claims.yaml").write_text(TWO_CLAIMS, encoding="utf-8")
    true_judge = judge.judge

    def called(*arguments: str, finding: Finding | Exception | None = None) -> tuple[int, str, str]:
        def found(run: CaseRun) -> Generator[Any, Any, Finding]:
            if finding is None or run.case.claim.id == "sum":
                return (yield from true_judge(run))
            if isinstance(finding, Exception):
                raise finding
            return finding

        monkeypatch.setattr(judge, "judge", found)
        code = cli.main(["run", *arguments])
        return code, *capsys.readouterr()

    return called


# ---- two ways to one number ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            replace(FOUND, exact=Exact(4.2)),
            "square[s=2]: the draws say [3.99, 4.012], and by the model the exact value is 4.2",
        ),
        (ZeroDivisionError("a slip"), "ZeroDivisionError: a slip"),
    ],
)
def test_a_fault_of_dropcheck_is_the_result_of_its_case(
    run: Run, fault: Finding | Exception, message: str
) -> None:
    files = ("run.json", "run.xml", "run.md", "run.csv", "run.html")
    outputs = [word for name in files for word in ("-o", name)]
    code, out, _ = run("--max-draws", "1e6", *outputs, finding=fault)
    assert code == ExitCode.INTERNAL
    for told in (out, *(Path(name).read_text(encoding="utf-8") for name in files)):
        assert "sum" in told  # the other case
        said = " ".join(told.replace("\\", "").split())
        assert "this is a fault of dropcheck and not of your claims: please report it" in said
        assert "dropcheck run square --s 2 --seed 0 --max-draws=1e6" in said
    faulty, other = json.loads(Path("run.json").read_text(encoding="utf-8"))["cases"]
    assert (faulty["reason"], other["verdict"]) == (f"internal error: {message}", "verified")
    assert faulty["location"]["line"] == 3
