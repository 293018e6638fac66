"""What the model gives exactly, beside what the draws say; and what a verdict must rest on."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from trials import judged

from dropcheck.claims.reader import read_text
from dropcheck.errors import InternalError, Problem
from dropcheck.judging.case import CaseRun, Finding, inside, prepare
from dropcheck.results import (
    CaseResult,
    Exact,
    Guarantee,
    Method,
    Resolution,
    Verdict,
)
from dropcheck.settings import Settings

VERIFIED, REFUTED, OPEN = Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNDECIDED

TEXT = """
dropcheck: 1
claims:
  square:
    title: The mean square of a standard normal
    parameters: {s: 2}
    model: x ~ normal(0, s)
    claim: E(x**2) == 4
"""

FOUND = Finding(
    verdict=VERIFIED,
    method=Method.BLOCK_MEANS,
    guarantee=Guarantee.MOMENTS,
    estimate=4.001,
    interval=(3.99, 4.012),
    scale=4.0,
    sharpness=Resolution(0.04, 0.04),
    draws=1000,
)


def result(
    finding: Finding, alpha: float = 1e-9, settings: Mapping[str, Any] | None = None
) -> CaseResult:
    [case] = read_text(TEXT).expand()
    run = CaseRun(
        prepared=prepare(case),
        settings=Settings(**(settings or {})),
        alpha=alpha,
        repeat="dropcheck run square",
    )
    return run.result(finding)


@pytest.mark.parametrize(("error", "shown"), [(1e-5, True), (0.01, False)])
def test_an_exact_value_without_digits_is_not_shown(error: float, shown: bool) -> None:
    """Var of Π (1 + 1e-6 x) was said to be 1.6e-9 by the model, give or take 1e-4; it is 5e-11."""
    found = result(replace(FOUND, exact=Exact(4.0, error), sharpness=Resolution(0.04, 0.04)))
    assert (found.exact is not None) is shown


# ---- the exact value -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "interval", "exact", "confirmed"),
    [
        (VERIFIED, (3.99, 4.012), Exact(4.0), True),
        (VERIFIED, (3.99, 4.012), Exact(3.987, error=0.0035), True),
        (VERIFIED, (4.0, 4.0), Exact(4.0 * (1 + 1e-14)), True),  # rounding
        (REFUTED, (4.1, 4.3), Exact(4.2), True),
        (OPEN, (3.9, 4.2), Exact(4.0), None),  # nothing is there to be confirmed
    ],
)
def test_confirmed_is_a_verdict_whose_interval_holds_the_exact_value(
    verdict: Verdict, interval: tuple[float, float], exact: Exact, confirmed: bool | None
) -> None:
    found = result(replace(FOUND, verdict=verdict, interval=interval, exact=exact))
    assert (found.exact, found.confirmed, found.warnings) == (exact, confirmed, ())
    assert (found.verdict, found.guarantee) == (verdict, Guarantee.MOMENTS)


def test_without_an_exact_value_nothing_is_confirmed() -> None:
    assert (result(FOUND).exact, result(FOUND).confirmed) == (None, None)
    alone = replace(FOUND, verdict=OPEN, interval=None, exact=Exact(4.0))
    assert (result(alone).exact, result(alone).confirmed) == (Exact(4.0), None)


@pytest.mark.parametrize("verdict", [VERIFIED, REFUTED, OPEN])
def test_an_interval_that_misses_the_exact_value_is_a_fault_of_dropcheck(verdict: Verdict) -> None:
    with pytest.raises(InternalError) as raised:
        result(replace(FOUND, verdict=verdict, exact=Exact(4.1)))
    problem = raised.value.problem
    assert problem.message == (
        "square[s=2]: the draws say [3.99, 4.012], and by the model the exact value is 4.1"
    )
    assert problem.location is not None
    assert problem.location.line == 4
    assert problem.hint is not None
    assert problem.hint.endswith("with the claims file and this command: dropcheck run square")


def test_at_an_error_rate_that_chance_explains_the_miss_is_a_warning() -> None:
    found = result(replace(FOUND, exact=Exact(4.1)), alpha=0.01)
    assert (found.verdict, found.confirmed) == (VERIFIED, False)
    assert found.warnings == (
        "square: the interval misses the exact value, which chance may do at this error rate",
    )


def test_an_interval_of_the_limit_theorem_without_a_verdict_promises_nothing() -> None:
    open_case = replace(FOUND, verdict=OPEN, guarantee=Guarantee.ASYMPTOTIC, exact=Exact(4.1))
    assert not result(open_case).confirmed
    with pytest.raises(InternalError):
        result(replace(open_case, verdict=REFUTED))


def test_an_open_end_of_an_interval_holds_everything() -> None:
    assert inside(Exact(1e300), (0.0, math.inf), 1.0)
    assert not inside(Exact(-1e-3), (0.0, math.inf), 1.0)


def test_an_internal_error_comes_whole_from_another_process() -> None:
    error = InternalError(Problem("wrong", hint="send it"))
    assert pickle.loads(pickle.dumps(error)).problem == error.problem
    assert str(error) == "wrong; send it"


def test_an_exception_with_a_known_chance_refutes_a_certainty_without_being_drawn() -> None:
    run = judged("x ~ normal(0, 1)", "P(x > 5.5) == 0", draws_only=False)
    assert (run.verdict, run.method) == (Verdict.REFUTED, Method.EXACT_VALUE)
    assert not run.confirmed
    rarer = judged("x ~ normal(0, 1)", "P(x > 7) == 0", draws_only=False)  # 1.3e-12
    assert rarer.verdict is Verdict.VERIFIED
