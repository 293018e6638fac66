"""What verdicts must rest on, what is decided without draws, and a fault that dropcheck finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dropcheck import cli
from dropcheck.judging import judge
from dropcheck.judging.case_run import CaseRun, Finding
from dropcheck.results import Exact, Guarantee, Method, Resolution, Verdict

CLAIMS = """\
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
    Path("claims.yaml").write_text(CLAIMS, encoding="utf-8")
    true_judge = judge.judge

    def called(*arguments: str, finding: Finding | None = None) -> tuple[int, str, str]:
        def found(run: CaseRun) -> Generator[Any, Any, Finding]:
            if finding is None or run.case.claim.id == "sum":
                return (yield from true_judge(run))
            return finding

        monkeypatch.setattr(judge, "judge", found)
        code = cli.main(["run", *arguments])
        return code, *capsys.readouterr()

    return called


# ---- what is required ----------------------------------------------------------------------------


def test_a_verdict_on_less_than_required_is_undecided(run: Run) -> None:
    code, out, _ = run("--require", "moments", "--format", "json", finding=FOUND)
    assert code == cli.output.ExitCode.UNDECIDED
    square, plain = json.loads(out)["cases"]
    assert (square["verdict"], square["result"]) == ("inconclusive", "undecided")
    assert square["reason_code"] == "required"
    assert square["reason"] == (
        "verified, but by the limit theorem (asymptotic), and moments is required"
    )
    assert square["repeat"] == "dropcheck run square --s 2 --seed 0 --require=moments"
    assert (square["guarantee"], square["estimate"]) == ("asymptotic", 4.001)
    assert plain["result"] == "pass"  # arithmetic is as good as exact


@pytest.mark.parametrize(("required", "code"), [("moments", 0), ("finite-sample", 0), ("exact", 4)])
def test_what_rests_on_as_much_as_required_passes(run: Run, required: str, code: int) -> None:
    bounded = replace(FOUND, guarantee=Guarantee.FINITE_SAMPLE)
    assert run("--require", required, finding=bounded)[0] == code


def test_nothing_is_required_by_default(run: Run) -> None:
    code, out, _ = run(finding=FOUND)
    assert code == 0
    assert "2 passed, 0 failed, 0 undecided · 1 of 2 rests on the limit theorem" in out


def test_what_cannot_be_required_is_an_error(run: Run) -> None:
    code, _, err = run("--require", "certainty")
    assert code == 2
    assert "it must be exact, finite-sample, moments or asymptotic" in err


# ---- without draws -------------------------------------------------------------------------------


def test_exact_makes_no_draws(run: Run) -> None:
    code, out, _ = run("--exact", "--format", "json")
    square, plain = json.loads(out)["cases"]
    assert square["draws"] == plain["draws"] == 0
    assert plain["result"] == "pass"
    assert code == (0 if square["result"] == "pass" else 4)


def test_what_is_undecided_without_draws_is_not_remembered_as_failed(run: Run) -> None:
    unknown = Finding(verdict=Verdict.INCONCLUSIVE, method=None)
    assert run("square", "--exact", finding=unknown)[0] == 4
    assert "no case is remembered" in run("--last-failed", finding=FOUND)[2]
    assert run("square", finding=unknown)[0] == 4
    assert "1 case did not pass when last run" in run("--last-failed", finding=FOUND)[2]


# ---- two ways to one number ----------------------------------------------------------------------


@pytest.mark.parametrize("format_name", ["table", "json"])
def test_draws_that_miss_the_exact_value_are_a_fault_of_dropcheck(
    run: Run, format_name: str
) -> None:
    missed = replace(FOUND, exact=Exact(4.2))
    code, out, err = run("--max-draws", "1e6", "--format", format_name, finding=missed)
    assert code == cli.output.ExitCode.INTERNAL
    message = (
        "internal error: square[s=2]: the draws say [3.99, 4.012], and by the model the exact "
        "value is 4.2"
    )
    command = "dropcheck run square --s 2 --seed 0 --max-draws=1e6"
    assert f"claims.yaml:3:3: {message}\n" in err
    assert f"this command: {command}\n" in err
    if format_name == "json":
        [error] = json.loads(out)["errors"]
        assert error["message"] == message
