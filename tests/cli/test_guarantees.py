"""What verdicts must rest on, what is decided without draws, and a fault that dropcheck finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dropcheck import cli
from dropcheck.cli_output import ExitCode
from dropcheck.judging import judge
from dropcheck.judging.case import CaseRun, Finding
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


# ---- the limit theorem ---------------------------------------------------------------------------


UNBOUNDED = """\
dropcheck: 1
claims:
  unbounded:
    title: A mean of which the model knows no bound
    model: x, w ~ normal(0, 1)
    claim: E(log(abs(20 + x * w))) > 2
"""


def test_what_the_model_does_not_bound_is_decided_where_that_is_accepted(run: Run) -> None:
    Path("claims.yaml").write_text(UNBOUNDED, encoding="utf-8")
    code, out, _ = run("--format", "json")
    (case,) = json.loads(out)["cases"]
    assert code == ExitCode.UNDECIDED
    assert case["reason_code"] == "limit_theorem"
    assert case["reason"].endswith("which counts only with --asymptotic")
    code, out, _ = run("--asymptotic", "--format", "json")
    (accepted,) = json.loads(out)["cases"]
    assert (code, accepted["guarantee"]) == (0, "asymptotic")
    assert accepted["repeat"] == "dropcheck run unbounded --seed 0 --asymptotic"
    Path("claims.yaml").write_text(UNBOUNDED + "    asymptotic: true\n", encoding="utf-8")
    code, out, _ = run("--format", "json")
    (own,) = json.loads(out)["cases"]
    assert (code, own["guarantee"], own["estimate"]) == (0, "asymptotic", accepted["estimate"])


# ---- without draws -------------------------------------------------------------------------------


# ---- two ways to one number ----------------------------------------------------------------------


@pytest.mark.parametrize("format_name", ["table", "json"])
def test_draws_that_miss_the_exact_value_are_a_fault_of_dropcheck(
    run: Run, format_name: str
) -> None:
    missed = replace(FOUND, exact=Exact(4.2))
    code, out, err = run("--max-draws", "1e6", "--format", format_name, finding=missed)
    assert code == ExitCode.INTERNAL
    message = (
        "internal error: square[s=2]: the draws say [3.99, 4.012], and by the model the exact "
        "value is 4.2"
    )
    command = "dropcheck run square --s 2 --seed 0 --max-draws=1e6"
    assert f"claims.yaml:3:3: {message} " in " ".join(err.split())
    assert command in err
    if format_name == "json":
        [error] = json.loads(out)["errors"]
        assert error["message"] == message
