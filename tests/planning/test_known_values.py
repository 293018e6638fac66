"""Draws that are planned by a value that the model gives, and not by what a pilot shows of it."""

from __future__ import annotations

import pytest
from plan_cases import planned, registry_of, tried
from scipy import stats

from dropcheck.results import Verdict

pytestmark = pytest.mark.usefixtures("draws_alone")

VOTES = "x ~ binomial(1000, 0.5); P(abs(x - 500) > 30) < 1 / 17"
EDGES = {
    "mean": "x ~ normal(0, 1); E(x) < 0",
    "entries": "'x ~ normal(0, 1)[3]'; 'E(x) < [1, 0, 2]'",
    "probability": "x ~ normal(0, 1); P(x > 0) > 1/2",
    "conditional": "x ~ normal(0, 1); P(x > 1, given=x > 1) < 1",
}
UNTOLD = "the estimate lies where no interval can decide, at the edge of what is claimed"


@pytest.mark.parametrize("seed", range(8))
def test_a_probability_that_the_model_gives_plans_its_own_draws(seed: int) -> None:
    """It lies 0.005 below the edge, where a pilot of 8,192 draws has an error of 0.0025."""
    (plan,) = planned(registry_of(votes=VOTES), seed=seed).cases
    (result,) = tried(registry_of(votes=VOTES), seed=seed)
    truth = 2 * stats.binom.sf(530, 1000, 0.5)
    assert result.exact is not None
    assert abs(result.exact.value - truth) < 1e-9
    assert result.verdict is Verdict.VERIFIED
    # by the normal law: the interval of the planned look, and one error by chance
    width = stats.norm.isf(0.6e-6 / 2) + 1
    by_hand = width**2 * truth * (1 - truth) / (1 / 17 - truth) ** 2
    assert plan.draws is not None
    assert 0.7 * by_hand < plan.draws < 1.5 * by_hand
    assert result.draws <= 2 * plan.draws


def test_a_probability_under_a_condition_is_planned_by_both() -> None:
    """One draw in two thousand counts: a pilot of 8,192 draws shows four of them, or none."""
    claim = "x ~ normal(0, 1); P(x > 3.5, given=x > 3.29) == 0.4644; resolution: 0.1"
    truth = stats.norm.sf(3.5) / stats.norm.sf(3.29)
    found = [planned(registry_of(rare=claim), seed=seed).cases[0].draws for seed in range(4)]
    assert len(set(found)) == 1
    width = stats.norm.isf(0.6e-6 / 2) + 1
    seen = width**2 * truth * (1 - truth) / (0.04644 - abs(truth - 0.4644)) ** 2
    assert found[0] is not None
    assert found[0] == pytest.approx(seen / stats.norm.sf(3.29), rel=0.2)
    (result,) = tried(registry_of(rare=claim))
    assert result.verdict is Verdict.VERIFIED
    assert 0.2 < result.draws / found[0] <= 2


@pytest.mark.parametrize("name", EDGES)
def test_a_run_ends_early_where_the_model_says_that_no_draws_decide(name: str) -> None:
    registry = registry_of(edge=EDGES[name])
    (plan,) = planned(registry).cases
    (result,) = tried(registry)
    assert plan.draws is None
    assert str(plan.explanation) == UNTOLD
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.draws == pytest.approx(plan.drawn, rel=0.1)
    assert result.draws < plan.budget / 50
    # and yet they show how near the quantity is: the resolution is a hundredth
    assert result.interval is not None
    low, high = result.interval
    assert low is not None
    assert high is not None
    assert high - low < 0.025


def test_a_value_that_is_known_to_a_hair_beside_the_edge_is_decided() -> None:
    """Not at the edge but near it: the draws that it takes are planned and made."""
    registry = registry_of(near="x ~ normal(0.001, 1); E(x) > 0")
    (plan,) = planned(registry).cases
    (result,) = tried(registry)
    assert plan.draws is not None
    assert 2e7 < plan.draws < 2e8
    assert result.verdict is Verdict.VERIFIED


def test_of_several_entries_the_one_that_is_refuted_plans_the_draws() -> None:
    registry = registry_of(several="'x ~ normal(0, 1)[3]'; 'E(x) < [1, -1, 0.001]'")
    (plan,) = planned(registry).cases
    (result,) = tried(registry)
    assert result.verdict is Verdict.REFUTED
    assert plan.draws is not None
    assert result.draws <= plan.draws < 20_000


def test_a_counterexample_in_the_pilot_is_one_in_the_first_look() -> None:
    """A condition that holds seldom asks for more draws only where no draw refutes."""
    registry = registry_of(
        false="'x, y ~ normal(0, 1)'; 'P(x * y < x + y, given=x > 1.5) == 1'",
        true="'x, y ~ normal(0, 1)'; 'P(x * y < x * y + x, given=x > 1.5) == 1'",
    )
    plans, results = planned(registry).cases, tried(registry)
    for plan, result in zip(plans, results, strict=True):
        assert plan.draws is not None
        assert 0.5 <= plan.draws / result.draws <= 2


def test_a_pilot_goes_on_until_it_shows_on_which_side_of_an_end_a_probability_lies() -> None:
    """With 23 people it is 0.5073, which 8,192 draws do not tell from 1/2."""
    model = "'b ~ discrete_uniform(1, 365)[23]'; P(any(diff(sort(b)) == 0)) > 0.5"
    registry = registry_of(birthday=model)
    (plan,) = planned(registry).cases
    (result,) = tried(registry)
    assert result.verdict is Verdict.VERIFIED
    assert plan.draws is not None
    assert 0.5 <= plan.draws / result.draws <= 2
