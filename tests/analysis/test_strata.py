"""What the model says of averages in strata, against quadrature and against draws."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, special
from scipy import stats as laws
from trials import lowered

from dropcheck.analysis import strata
from dropcheck.analysis.averaged_products import Integrand
from dropcheck.analysis.strata import DrawInStrata, Stratified, candidates
from dropcheck.language.graph import operators
from dropcheck.vocabulary.law import QuantileLevel, Stratum

SPIKE = "h ~ normal(0, 0.1); z ~ normal(0, 1)"


def in_strata(model: str, claim: str, centre: float = 0.0) -> Stratified:
    """The mixture for the first average of a claim, about a centre."""
    integrand = integrand_of(model, claim, centre)
    own = DrawInStrata(candidates([integrand])[0], [integrand], [0])
    first = own.first()
    assert first is not None
    direction = np.ones((1, 1))
    parts = own.cut_further(first[0], direction)
    return own.shared_out(parts, direction, first[1])


def integrand_of(model: str, claim: str, centre: float = 0.0) -> Integrand:
    operator = operators(lowered(model, claim).operands)[0]
    value = operator.inputs[0]
    return Integrand(factors=((value, 1),), centres=(centre,))


def second_moment(found: Stratified, f_squared_by_upper_level: Callable[[float], float]) -> float:
    """E[(ω f)²] under the mixture, by quadrature in the level of the normal draw."""
    total = 0.0
    for stratum, share in zip(found.strata, found.shares, strict=True):
        low, high = (
            special.ndtri(one.below) if one.below < 0.5 else -special.ndtri(one.above)
            for one in (stratum.low, stratum.high)
        )
        inside, _ = integrate.quad(
            lambda z: f_squared_by_upper_level(z) * laws.norm.pdf(z),
            *(max(low, -39), min(high, 39)), limit=400, epsabs=0, epsrel=1e-10,
            points=[one for one in (KINK,) if low < one < high] or None,
        )  # fmt: skip
        total += stratum.chance / share * inside
    return total


KINK = (math.log(0.35) + 0.02) / 0.2
OPTION = "ST = 100 * exp(0.2 * z - 0.02)"


def test_variance_of_a_sold_put_is_that_of_quadrature() -> None:
    found = in_strata(f"{SPIKE}; {OPTION}", "E(1 + h - 1e6 * relu(35 - ST)) == 1", 1.0)

    def square(z: float) -> float:
        return float(0.01 + (1e6 * max(35 - 100 * math.exp(0.2 * z - 0.02), 0.0)) ** 2)

    expected = second_moment(found, square) - found.means[0] ** 2
    assert found.covariance[0, 0] == pytest.approx(expected, rel=1e-6)
    assert found.covariance[0, 0] < 0.06  # without strata it is 3.7e5
    assert found.beyond == 0


def test_the_mean_over_the_strata_is_the_mean() -> None:
    found = in_strata("x ~ normal(0, 1)", "E(relu(x - 6)) == 0")
    exact = laws.norm.pdf(6) - 6 * laws.norm.sf(6)
    assert found.means[0] == pytest.approx(exact, rel=1e-8)
    assert math.sqrt(found.covariance[0, 0]) < 0.5 * exact


def test_what_has_no_variance_has_one_in_strata() -> None:
    found = in_strata("x ~ pareto(1.5, 1)", "E(x) == 3")
    assert found.means[0] == pytest.approx(3, rel=1e-6)
    assert 0 < found.beyond < 1e-60
    assert found.covariance[0, 0] < 10


def test_shares_add_up_and_no_weight_is_large() -> None:
    found = in_strata("u ~ uniform(0, 1)", "E(u ** 1e8) == 0")
    chances = [one.chance for one in found.strata]
    weights = [chance / share for chance, share in zip(chances, found.shares, strict=True)]
    assert math.fsum(found.shares) == pytest.approx(1)
    assert math.fsum(chances) == pytest.approx(1)
    assert max(weights) <= 1 / strata.BY_THE_LAW + 1e-9


def test_with_equal_shares_the_variance_is_much_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strata, "BY_THE_LAW", 1.0)
    found = in_strata(f"{SPIKE}; {OPTION}", "E(1 + h - 1e6 * relu(35 - ST)) == 1", 1.0)
    assert found.covariance[0, 0] > 1e5


def test_a_spike_in_the_middle_is_cut_out() -> None:
    found = in_strata("x ~ normal(0, 1)", "E((x > 0.5) * (x < 0.500001)) == 0")
    assert math.sqrt(found.covariance[0, 0]) < 100 * found.means[0]  # without strata 1700 times
    assert found.means[0] == pytest.approx(laws.norm.pdf(0.5) * 1e-6, rel=1e-5)


@pytest.mark.parametrize(
    "model",
    ["x ~ poisson(1)", "x ~ normal(0, 0)", "a ~ normal(0, 1); x ~ normal(a, 1)"],
)
def test_draws_without_strata(model: str) -> None:
    found = candidates([integrand_of(model, "E(2 * x) == 0")])
    assert all(one.name == "a" for one in found)


def test_large_models_are_left_alone() -> None:
    found = candidates([integrand_of("z ~ normal(0, 1); x ~ normal(0, 1)[5000]", "E(z + x) == 0")])
    assert found == []


def test_a_stratum_between_levels() -> None:
    integrand = integrand_of("x ~ exponential(1)", "E(x) == 1")
    own = DrawInStrata(candidates([integrand])[0], [integrand], [0])
    found = own.within(Stratum(QuantileLevel.from_above(0.5), QuantileLevel.from_above(0.0)))
    assert found is not None  # beyond any point it is that point and the same law again
    assert found.means[0] == pytest.approx(1 + math.log(2), rel=1e-9)
    assert found.covariance[0, 0] == pytest.approx(1, rel=1e-8)
