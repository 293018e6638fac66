"""Models that once broke: hulls too small, stacks that were crossed, powers past all bounds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError
from dropcheck.judging.case import Prepared, prepare
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation import Compiled


def text(model: str, claim: str) -> str:
    lines = "".join(f"      {line}\n" for line in model.splitlines())
    return f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |\n{lines}    claim: {claim}\n"


def prepared(model: str, claim: str) -> Prepared:
    (case,) = read_text(text(model, claim)).expand()
    return prepare(case)


def judged(model: str, claim: str) -> CaseResult:
    registry = read_text(text(model, claim))
    (result,) = verify_cases(registry.expand(), Settings(max_draws=200_000), registry)
    return result


@pytest.mark.parametrize(
    ("quantity", "width"),
    [
        ("cumsum(z, axis=0)[49, 0]", 50),
        ("cumsum(z, axis=-2)[49, 0]", 50),
        ("cumsum(z.T)[0, 49]", 50),
        ("dot(z, z, axis=0)[0]", 50),
        ("dot(z, z)[0]", 2),
    ],
)
def test_sums_along_any_axis_are_bounded_by_its_length(quantity: str, width: int) -> None:
    model = f"z ~ bernoulli(0.5)[50, 2]\nw = {quantity}"
    found = prepared(model, f"E(w) == {width / 2}")
    compiled, knowledge = found.compiled, found.knowledge
    assert isinstance(compiled, Compiled)
    assert knowledge is not None
    ends = knowledge.bounds(np.zeros(len(compiled.program.origin))).ends()
    low, high = ends[:, compiled.functional.columns([0])[0]]
    assert width <= high - low < width * (1 + 1e-9)


def test_stacks_of_matrices_are_not_crossed() -> None:
    stacked = judged("Q ~ normal(0, 1)[2, 3, 32]\nK ~ normal(0, 1)[32, 4]", "Var(Q @ K) == 32")
    assert (stacked.sampling, stacked.verdict) == ("plain", Verdict.VERIFIED)
    flat = judged("Q ~ normal(0, 1)[3, 32]\nK ~ normal(0, 1)[32, 4]", "Var(Q @ K) == 32")
    assert flat.sampling.startswith("crossed")


@pytest.mark.parametrize("exponent", ["logit(2)", "inf", "-inf"])
def test_powers_that_are_no_number_have_no_hull_and_no_crash(exponent: str) -> None:
    result = judged(f"x ~ uniform(2, 3)\nw = where(x > 2.5, 1, x ** {exponent})", "E(w) == 7")
    assert result.verdict is not Verdict.VERIFIED


def test_unlike_ranks_cannot_be_joined() -> None:
    with pytest.raises(DropcheckError, match="cannot be joined"):
        prepared("x ~ normal(0, 1)[4, 1]\ny ~ normal(0, 1)[4]\nw = concat(x, y)", "E(w) == 0")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"]])
def test_help_on_a_full_disk_is_no_fault_of_the_program(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dropcheck", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "could not be written" in done.stderr
    assert "internal" not in done.stderr


@pytest.mark.usefixtures("draws_alone")
@pytest.mark.parametrize(
    "claim",
    [
        "E(sqrt(x)) == 2.6389",
        "E(clip(log(x), 0, 5)) == 1.9355",
        "E(sqrt(x), given=x > -1) == 2.6389",
    ],
)
def test_what_is_undefined_once_in_a_trillion_draws_is_not_verified(claim: str) -> None:
    result = judged("x ~ normal(7, 1)", claim)
    assert (result.verdict, result.guarantee) == (Verdict.UNDECIDED, Guarantee.ASYMPTOTIC)
    assert result.reason is Reason.SELDOM_UNDEFINED
    assert judged("x ~ truncated_normal(7, 1, 0, inf)", claim).verdict is Verdict.VERIFIED
    assert judged("x ~ normal(7, 1)", claim.replace("> -1", "> 0")).guarantee is (
        Guarantee.MOMENTS if "given" in claim else Guarantee.ASYMPTOTIC
    )


def test_a_time_that_may_never_come_says_what_to_write() -> None:
    model = "z ~ bernoulli(0.5)[40]\nt = first(z == 1)"
    result = judged(model, "E(t) == 1")
    assert (result.verdict, result.reason) == (Verdict.UNDECIDED, Reason.MAY_BE_INFINITE)
    assert result.explanation is not None
    assert "minimum(first(…), T)" in result.explanation.reading
    assert "given=t < T" in result.explanation.reading
    for mean in ("E(minimum(t, 40))", "E(minimum(t, 40), given=t < 40)"):
        assert judged(model, f"0.9 <= {mean} <= 1.1").verdict is Verdict.VERIFIED
