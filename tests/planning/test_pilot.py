"""Pilots: as many draws as their plan needs, and no more."""

from __future__ import annotations

import math

import pytest
from trials import entry, registry_of

from dropcheck.inference.intervals import RAREST_SEEN
from dropcheck.judging.case import Prepared, prepare
from dropcheck.judging.judge import run_case
from dropcheck.judging.plan_draws import PILOT_BLOCKS
from dropcheck.planning import forecast
from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.settings import Settings
from dropcheck.simulation.streams import PILOT

pytestmark = pytest.mark.usefixtures("draws_alone")

ALPHA = 1e-6
DROPPED = "m ~ bernoulli(0.9); y = m / 0.9"
# the model bounds their moments, and has no exact ones
ROUGH = "x, w ~ normal(0, 1); y = abs(x * w + x**2 - 1)"
SMOOTH = "x, w ~ gamma(9, 1); y = sqrt(1 + x * w)"
UNBOUNDED = "x, w ~ normal(0, 1); y = log(20 + x * w)"  # and here it does not
CROSSED = "q ~ normal(0, 1)[512]; k ~ normal(0, 1)[512]"


def ready(model: str, claim: str, keys: str = "") -> Prepared:
    (case,) = registry_of(entry("claim", model, claim, keys)).expand()
    return prepare(case)


def piloted(model: str, claim: str, keys: str = "") -> tuple[int, CaseResult]:
    """Draws of the pilot, and what came of the claim."""
    judge = run_case(ready(model, claim, keys), Settings(asymptotic=True), ALPHA, "")
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


@pytest.mark.parametrize(
    ("model", "claim", "sampling"),
    [
        (DROPPED, "E(y) == 1", "plain"),
        ("x ~ normal(1, 1)", "E(x) == 1", "plain"),
        ("x ~ truncated_normal(1, 1, -1e4, 1e4)", "E(x) == 1", "plain"),
        ("x ~ exponential(2)", "Var(x) == 4", "plain"),
        (CROSSED, "Var(q @ k) == 512", "crossed"),
    ],
)
def test_no_pilot_is_drawn_where_the_model_says_what_it_would_show(
    model: str, claim: str, sampling: str
) -> None:
    drawn, result = piloted(model, claim)
    assert drawn == 0
    assert result.guarantee in (Guarantee.FINITE_SAMPLE, Guarantee.MOMENTS)
    assert result.sampling.startswith(sampling)
    assert result.verdict is Verdict.VERIFIED


def test_a_plan_draws_once_to_know_what_a_draw_takes() -> None:
    prepared = ready(CROSSED, "Var(q @ k) == 512")
    judge = forecast(prepared, Settings(), ALPHA)
    requests = []
    try:
        request = next(judge)
        while True:
            requests.append(request)
            request = judge.send(request.carry_out())
    except StopIteration as stop:
        told = stop.value
    assert [request.count for request in requests] == [1]
    assert told.seconds_a_draw > 0
    assert told.piloted == 0  # a run does not draw it
    assert told.draws == piloted(CROSSED, "Var(q @ k) == 512")[1].draws


def test_where_the_model_bounds_moments_the_pilot_is_short() -> None:
    drawn, result = piloted(ROUGH, "E(y) == 1.1828", "within: 0.1")
    assert result.guarantee is Guarantee.MOMENTS
    assert drawn == PILOT_BLOCKS * 32
    assert result.draws < 64 * drawn
    assert result.verdict is Verdict.VERIFIED


def test_its_pilot_grows_with_what_it_plans() -> None:
    drawn, result = piloted(SMOOTH, "E(y) == 8.81388", "within: 0.005")
    assert result.guarantee is Guarantee.MOMENTS
    assert PILOT_BLOCKS * 32 < drawn <= 262_144
    assert result.draws >= 8 * drawn


def test_where_the_limit_theorem_decides_the_pilot_shows_the_shape() -> None:
    drawn, result = piloted(UNBOUNDED, "E(y) == 2.99446", "within: 0.02")
    assert result.guarantee is Guarantee.ASYMPTOTIC
    assert drawn >= 128 * 8 * 16
    assert result.verdict is Verdict.VERIFIED


def test_a_constant_is_looked_at_where_it_is_known_to_be_one() -> None:
    drawn, result = piloted(f"m ~ bernoulli(0); {UNBOUNDED}", "E((1 - m) * y) == E(y)")
    assert result.guarantee is Guarantee.ASYMPTOTIC
    needed = math.log(1 / ALPHA) / RAREST_SEEN
    assert drawn < needed <= result.draws < 1.2 * needed
    assert result.verdict is Verdict.VERIFIED
