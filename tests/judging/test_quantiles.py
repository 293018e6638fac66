"""Claims about quantiles: true and false ones of laws of every sort, and what is refused.

Verdicts are of the default seeds, at α = 1e-6 or as stated: they are the same every time.
"""

from __future__ import annotations

import math

import pytest
from scipy import stats
from trials import (
    FALSE_ALARM,
    OPEN,
    REFUTED,
    VERIFIED,
    N,
    entry,
    judged,
    registry_of,
    repeated,
    tried,
)

from dropcheck.errors import DropcheckError
from dropcheck.planning import plan_cases
from dropcheck.results import Guarantee, Method
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

COIN = "x ~ rademacher()"
E2 = "x ~ exponential(2)"

TRUE = {
    "Median(x) == 0": N,
    "Quantile(x, 0.9) == 2 * log(10)": E2,
    "Quantile(x, 0.1) == -2 * log(0.9)": "y ~ exponential(1); x = 2 * y",
    "Median(x) == 3": "x ~ cauchy(3, 1)",  # which has no mean
    "Median(x) == 2": "x ~ poisson(2.5)",
    "Quantile(x, 0.7) == 1": "x ~ bernoulli(0.4)",
    "Median(x) < 1.45": E2,
    "Median(x) >= 1.35": E2,
    "1.3 <= Median(x) <= 1.5": E2,
    "-1.5 < -Median(x) < -1.3": E2,
    "2 * Median(x) + 1 == 1 + 4 * log(2)": E2,
    "0 == Median(x)": N,
    "Quantile(x, 0.75) - Quantile(x, 0.25) == 2 * 0.674489750196": N,
    "Median(x) == Quantile(x, 0.5)": N,
    "Median(x) < Median(y)": "x ~ normal(0, 1); y ~ normal(0.2, 1)",
    "Median(x, given=x > 0) == 0.674489750196": N,
    "Median(maximum(x, 0)) == 0": "x ~ normal(-0.1, 1)",  # an atom
    "Median(x) == [0, 3]": "x ~ normal([0, 3], 1)",
    "Quantile(abs(x), 0.95) == 1.95996398454": N,
}


def test_the_quantile_of_a_level_that_a_probability_comes_to() -> None:
    assert (
        judged("", "quantile_of(hypergeometric(1, 7, 2), 0.75) == 0").verdict is VERIFIED
    )  # 21/28


@pytest.mark.parametrize("claim", TRUE)
def test_true_claims_are_verified(claim: str) -> None:
    found = judged(TRUE[claim], claim, "resolution: 0.04", draws_only=False)
    assert (found.verdict, found.guarantee) == (VERIFIED, Guarantee.EXACT)
    assert found.method in (Method.ORDER_STATISTICS, Method.EXACT_VALUE)


FALSE = {
    "Median(x) == 0": "x ~ normal(0.05, 1)",
    "Median(x) == 2": "x ~ exponential(2)",  # its mean
    "Quantile(x, 0.9) == 2 * log(10)": "x ~ exponential(2.1)",
    "Quantile(x, 0.999) == 3.0902": "x ~ normal(0, 1.1)",
    "Median(x) == 3": "x ~ poisson(2.5)",
    "Median(x) < 1.33": E2,
    "Median(x) > 1.45": E2,
    "1.4 <= Median(x) <= 1.5": E2,
    "Median(maximum(x, 0)) == 0": "x ~ normal(0.1, 1)",
    "Quantile(x, 0.75) - Quantile(x, 0.25) == 2 * 0.674489750196": "x ~ normal(0, 1.05)",
    "Median(x) < Median(y)": "x ~ normal(0.2, 1); y ~ normal(0, 1)",
    "Median(x, given=x > 0) == 0.7": N,
    "Median(x) == [0, 3]": "x ~ normal([0, 3.2], 1)",
}


@pytest.mark.parametrize("claim", FALSE)
def test_false_claims_are_refuted(claim: str) -> None:
    assert judged(FALSE[claim], claim).verdict is REFUTED


# ---- where the level is passed between two values ------------------------------------------------


def test_a_level_that_is_tiny_is_judged() -> None:
    assert judged("x ~ normal(0, 1)", "Quantile(x, 1e-300) == 0").verdict is REFUTED


@pytest.mark.parametrize("claimed", ["0", "-1", "1", "0.5"])
def test_that_any_number_between_is_a_median_of_a_coin_stays_open(claimed: str) -> None:
    """No count shows that a chance is exactly 1/2."""
    found = judged(COIN, f"Median(x) == {claimed}", draws_only=False, most=100_000)
    assert (found.verdict, found.exact) == (OPEN, None)


def test_what_lies_beyond_is_none() -> None:
    assert judged(COIN, "Median(x) == 1.5").verdict is REFUTED
    assert judged("x, y ~ rademacher(); z = x + y", "Median(z) == 1").verdict is REFUTED
    assert judged("x, y ~ rademacher(); z = x + y", "Median(z) == 0").verdict is VERIFIED


def test_a_gap_of_a_model_that_is_not_known_is_never_refuted() -> None:
    """Draws alone cannot tell on which side of 1/2 the chance lies, and say so."""
    model = "u ~ normal(0, 1)[2]; x = where(tanh(u[0]) + tanh(u[1]) > 0, 1, -1)"
    found = judged(model, "Median(x) == 0", most=200_000)
    assert found.verdict is OPEN
    assert found.interval == (-1, 1)


# ---- resolution and scale -----------------------------------------------------------------------


def test_a_claim_within_its_resolution_is_verified() -> None:
    near = "Median(x) == 1.42"  # 2.4% off 2 log 2
    assert judged(E2, near, "resolution: 0.05").verdict is VERIFIED
    assert judged(E2, near, "resolution: 0.01").verdict is REFUTED
    assert judged(E2, near, "within: 0.07").verdict is VERIFIED


def test_against_0_the_scale_is_that_of_what_is_measured() -> None:
    for factor in (1e-6, 1.0, 1e6):
        found = judged(f"y ~ normal(0, 1); x = {factor} * y", "Median(x) == 0")
        assert found.verdict is VERIFIED
        assert found.scale == pytest.approx(factor, rel=0.05)


def test_rounding_makes_no_counterexample() -> None:
    sums = "k ~ discrete_uniform(0, 2); x = 0.1 * k + 0.2 - 0.3"  # 0 with rounding, where k is 1
    assert judged(sums, "Median(x) == 0").verdict is VERIFIED
    assert judged("k ~ bernoulli(0.9); x = (0.1 + 0.2) * k", "Median(x) == 0.3").verdict is VERIFIED


# ---- what is shown ------------------------------------------------------------------------------


def test_what_is_shown() -> None:
    found = judged(E2, "Quantile(x, 0.9) == 2 * log(10)")
    assert found.expression == "Quantile(x, 0.9)"
    assert found.estimate == pytest.approx(2 * math.log(10), rel=0.01)
    two = judged("x ~ normal(0, 1); y ~ normal(0.2, 1)", "Median(x) < Median(y)")
    assert two.sides == pytest.approx((0, 0.2), abs=0.1)


def test_several_workers_agree_with_one() -> None:
    registry = registry_of(entry("c", N, "Median(x) == 0"), entry("d", N, "Median(x) == 0.05"))
    alone = tried(registry)
    cases = registry.expand()
    forked = list(verify_cases(cases, Settings(threads=2), registry, processes=True))
    assert [(one.estimate, one.draws) for one in alone] == [
        (one.estimate, one.draws) for one in forked
    ]


def test_a_plan_foretells_the_run() -> None:
    registry = registry_of(entry("c", N, "Median(x) == 0"), entry("d", E2, "Quantile(x, 0.9) < 4"))
    plan = plan_cases(registry.expand(), Settings(threads=1), registry)
    for planned, found in zip(plan.cases, tried(registry), strict=True):
        assert planned.guarantee is Guarantee.EXACT
        assert planned.draws is not None
        assert found.draws / 4 < planned.draws < 20 * found.draws
        assert planned.discrepancy is not None


def test_what_is_undefined_is_not_judged() -> None:
    found = judged("x ~ normal(0, 1)", "Median(log(x + 3)) == 1.1")
    assert found.verdict is OPEN
    assert "undefined" in str(found.explanation)


def test_a_condition_that_never_holds() -> None:
    found = judged(N, "Median(x, given=x > 50) == 1")
    assert "the condition was never true" in str(found.explanation)


# ---- error rates --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        (N, "Median(x) <= 0"),  # true, at its very edge
        ("k ~ poisson(3); x = k + 1e-9 * k", "Quantile(k, 0.6) == 3"),
        (E2, "Quantile(x, 0.9) >= 2 * log(10)"),
    ],
)
def test_true_claims_are_seldom_refuted(model: str, claim: str) -> None:
    seeds, alpha = 100, 0.2
    settings = Settings(alpha=alpha, threads=1)
    found = repeated(model, claim, range(seeds), settings, "resolution: 0.1")
    wrong = sum(one.verdict is REFUTED for one in found)
    assert stats.binom.sf(wrong - 1, seeds, alpha) > FALSE_ALARM


def test_claims_false_by_more_than_the_resolution_are_seldom_verified() -> None:
    seeds, alpha = 100, 0.2
    settings = Settings(alpha=alpha, threads=1)
    found = repeated("x ~ normal(0.11, 1)", "Median(x) == 0", range(seeds), settings, "within: 0.1")
    wrong = sum(one.verdict is VERIFIED for one in found)
    assert stats.binom.sf(wrong - 1, seeds, alpha) > FALSE_ALARM


# ---- what is refused ----------------------------------------------------------------------------

REFUSED = {
    "Quantile(x) == 1": "Quantile: missing a required argument: 'p'",
    "Quantile(x, 1.5) == 1": "the level of a quantile lies between 0 and 1, and this is 1.5",
    "Quantile(x, x) == 1": "the level of a quantile is fixed, and this is random",
    "Median(x) < E(x)": "quantiles are compared with numbers and with one another",
    "Median(x)**2 == 1": "quantiles are compared with numbers and with one another",
    "Median(x) * Quantile(x, 0.1) == 1": "quantiles are compared with numbers",
    "Median(E(x)) == 1": "an operator stands inside the operator Median",
    "median(x) == 1": "'median' is over the elements of one draw, and this is one number a draw",
}


@pytest.mark.parametrize("claim", REFUSED)
def test_refusals(claim: str) -> None:
    with pytest.raises(DropcheckError) as caught:
        judged(f"{N}; v ~ normal(0, 1)[3]", claim)
    (problem,) = caught.value.problems
    assert REFUSED[claim] in problem.message
