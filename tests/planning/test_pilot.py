"""Pilots: as many draws as their plan needs, and no more."""

from __future__ import annotations

import math

import pytest
from trials import entry, registry_of

from dropcheck.inference.interval import RAREST_SEEN
from dropcheck.judging.judge import run_case
from dropcheck.judging.prepared import Prepared, prepare
from dropcheck.planning.forecast import forecast
from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.settings import Settings
from dropcheck.simulation.streams import PILOT

ALPHA = 1e-6
DROPPED = "m ~ bernoulli(0.9); y = m / 0.9"  # a bounded mean
CROSSED = "q ~ normal(0, 1)[512]; k ~ normal(0, 1)[512]"


def ready(model: str, claim: str, keys: str = "") -> Prepared:
    (case,) = registry_of(entry("claim", model, claim, keys)).expand()
    return prepare(case)


def piloted(model: str, claim: str, keys: str = "") -> tuple[int, CaseResult]:
    """Draws of the pilot, and what came of the claim."""
    judge = run_case(ready(model, claim, keys), Settings(), ALPHA, "")
    drawn = 0
    try:
        request = next(judge)
        while True:
            if request.purpose == PILOT:
                drawn += request.count * request.program.span_draws
            request = judge.send(request.carry_out())
    except StopIteration as stop:
        result: CaseResult = stop.value
        return drawn, result


def test_a_bounded_mean_is_planned_from_a_short_pilot() -> None:
    drawn, result = piloted(DROPPED, "E(y) == 1", "within: 0.01")
    assert result.guarantee is Guarantee.FINITE_SAMPLE
    assert drawn == 8192
    assert result.draws < 16 * drawn


def test_its_pilot_grows_with_what_it_plans() -> None:
    drawn, result = piloted(DROPPED, "E(y) == 1", "within: 0.002")
    assert result.guarantee is Guarantee.FINITE_SAMPLE
    assert 8192 < drawn <= 65_536
    assert result.draws >= 8 * drawn


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("x ~ normal(1, 1)", "E(x) == 1"),  # no bounds
        ("x ~ truncated_normal(1, 1, -1e4, 1e4)", "E(x) == 1"),  # wide ones
    ],
)
def test_where_the_limit_theorem_decides_the_pilot_shows_the_shape(model: str, claim: str) -> None:
    drawn, result = piloted(model, claim, "within: 0.02")
    assert result.guarantee is Guarantee.ASYMPTOTIC
    assert drawn >= 128 * 8 * 16
    assert result.verdict is Verdict.VERIFIED


def test_no_pilot_is_drawn_in_batches_of_which_a_few_may_decide() -> None:
    drawn, result = piloted(CROSSED, "Var(q @ k) == 512", "within: 8")
    assert result.sampling == "crossed 128×128"
    assert result.verdict is Verdict.VERIFIED
    assert drawn == 64 * 8


def test_a_plan_does_draw_it_for_its_figures() -> None:
    prepared = ready(CROSSED, "Var(q @ k) == 512", "within: 8")
    judge = forecast(prepared, Settings(), ALPHA)
    drawn = 0
    try:
        request = next(judge)
        while True:
            drawn += request.count * request.program.span_draws
            request = judge.send(request.carry_out())
    except StopIteration as stop:
        told = stop.value
    assert drawn == 64 * 8 + 64 * 128
    assert told.draws == 64 * 128


def test_where_many_batches_are_needed_they_are_counted_by_a_pilot() -> None:
    drawn, result = piloted(CROSSED, "Var(q @ k) == 512", "within: 3")
    assert drawn == 64 * 8 + 64 * 128
    assert result.draws > 64 * 128


def test_a_constant_is_looked_at_where_it_is_known_to_be_one() -> None:
    drawn, result = piloted("x ~ normal(1, 1); m ~ bernoulli(0)", "E((1 - m) * x) == E(x)")
    needed = math.log(1 / ALPHA) / RAREST_SEEN
    assert drawn < needed <= result.draws < 1.2 * needed
    assert result.verdict is Verdict.VERIFIED
