"""Parts of a law and mixtures of them, against quadrature of the law itself in its quantile."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from scipy import stats
from trials import lowered

from dropcheck.analysis.strata import in_stratum
from dropcheck.language.graph import Value, operators
from dropcheck.vocabulary.law import Mixture, QuantileLevel, Stratum, can_be_cut, mixture_of
from dropcheck.vocabulary.laws import LAWS

CONTINUOUS = {
    "normal": (1.0, 2.0),
    "uniform": (-1.0, 3.0),
    "exponential": (2.0,),
    "gamma": (2.5, 0.5),
    "pareto": (1.5, 1.0),
    "student_t": (3.0,),
    "laplace": (0.0, 1.0),
    "beta": (0.5, 2.0),
}
STRATA = [
    Stratum(QuantileLevel.from_below(0.1), QuantileLevel.from_above(0.1)),
    Stratum(QuantileLevel.from_below(1e-4), QuantileLevel.from_below(1e-2)),
    Stratum(QuantileLevel.from_above(1e-2), QuantileLevel.from_above(1e-4)),
    Stratum(QuantileLevel.from_above(1e-8), QuantileLevel.from_above(1e-12)),
]
# A law that has no such name is left out.
KNOWN = {name: values for name, values in CONTINUOUS.items() if name in LAWS}


def drawn(name: str, arguments: tuple[float, ...]) -> Value:
    """The draw of a model."""
    law = f"{name}({', '.join(map(str, arguments))})"
    (operator,) = operators(lowered(f"x ~ {law}", "E(x) > 0").operands)
    (value,) = operator.inputs
    return value


def test_most_laws_are_here() -> None:
    assert len(KNOWN) >= 6


@pytest.mark.parametrize("stratum", STRATA)
@pytest.mark.parametrize("name", KNOWN)
def test_moments_of_a_part_are_those_of_quadrature(name: str, stratum: Stratum) -> None:
    arguments = KNOWN[name]
    part, errors = in_stratum(drawn(name, arguments), stratum)
    assert part.law is not None
    # in the logarithm of the level from the nearer end, by the quantile and not by the density
    law, ends = LAWS[name], (stratum.low.below, stratum.high.below)
    if not stratum.lower:
        ends = (stratum.high.above, stratum.low.above)
    quantile = law.quantile if stratum.lower else law.upper_quantile
    points, weights = np.polynomial.legendre.leggauss(200)
    start, stop = np.log(ends)
    levels = np.exp(start + (stop - start) * (points + 1) / 2)
    values = np.asarray(quantile(levels, *arguments))

    def mean_of(power: int, centre: float) -> float:
        whole = weights @ levels
        return float(weights @ (levels * (values - centre) ** power) / whole)

    mean = part.law.mean(*arguments)
    assert mean == pytest.approx(mean_of(1, 0.0), rel=1e-9, abs=1e-7 * np.ptp(values))
    for order in (2, 4):
        expected = mean_of(order, mean)
        assert part.law.central(order, *arguments) == pytest.approx(expected, rel=1e-6)
    assert max(errors) < 1e-3


@pytest.mark.parametrize("name", KNOWN)
def test_draws_of_a_mixture_have_the_law_with_their_weights(name: str) -> None:
    law, arguments = LAWS[name], KNOWN[name]
    levels = [0.0, 0.01, 0.3, 0.9, 0.999]
    ends = [
        *map(QuantileLevel.from_below, levels[:3]),
        *(QuantileLevel.from_above(1 - one) for one in levels[3:]),
    ]
    ends.append(QuantileLevel.from_above(0.0))
    strata = tuple(Stratum(*pair) for pair in itertools.pairwise(ends))
    shares = (0.3, 0.1, 0.1, 0.2, 0.3)
    mixture = mixture_of(law, strata, shares)
    draws = 200_000
    values, weights = mixture.sampler(
        np.random.default_rng(1), (2, draws), *[np.array([one]) for one in arguments]
    )
    levels_of = np.asarray(law.cdf(values, *arguments))
    for share, stratum in zip(shares, strata, strict=True):
        inside = (levels_of > stratum.low.below) & (levels_of <= stratum.high.below)
        # the chance that a count is as far off as this is below 1e-9
        assert abs(inside.sum() - draws * share) < 6.2 * math.sqrt(draws * share)
        assert weights[inside] == pytest.approx(stratum.chance / share, rel=1e-9)
        within = (levels_of[inside] - stratum.low.below) / stratum.chance
        assert stats.kstest(within, "uniform").pvalue > 1e-7


def test_levels_far_out_keep_their_digits() -> None:
    law = LAWS["normal"]
    stratum = Stratum(QuantileLevel.from_above(1e-200), QuantileLevel.from_above(1e-240))
    assert stratum.chance == pytest.approx(1e-200, rel=1e-12)
    mixture = mixture_of(law, (stratum,), (1.0,))
    values, _ = mixture.sampler(np.random.default_rng(0), (2, 1000), 0.0, 1.0)
    assert values.min() >= float(law.upper_quantile(1e-200, 0.0, 1.0)) - 1e-9
    assert np.isfinite(values).all()


@pytest.mark.parametrize(
    "stratum", [*STRATA, Stratum(QuantileLevel(0.0, 1.0), QuantileLevel.from_below(1e-9))]
)
def test_halves_share_out_the_chance(stratum: Stratum) -> None:
    halves = stratum.halves()
    assert halves is not None
    first, last = halves
    assert (first.low, first.high, last.high) == (stratum.low, last.low, stratum.high)
    assert first.chance + last.chance == pytest.approx(stratum.chance, rel=1e-12)


def test_a_mixture_goes_to_another_process_as_it_is() -> None:
    level = QuantileLevel.from_above(0.1)
    strata = (Stratum(QuantileLevel(0.0, 1.0), level), Stratum(level, QuantileLevel(1.0, 0.0)))
    mixture = mixture_of(LAWS["normal"], strata, (0.25, 0.75))
    received = pickle.loads(pickle.dumps(mixture))
    assert isinstance(received, Mixture)
    one, other = (
        law.sampler(np.random.default_rng(3), (2, 50), 0.0, 1.0) for law in (mixture, received)
    )
    assert (one == other).all()


def test_constants_and_discrete_laws_are_not_cut() -> None:
    assert can_be_cut(LAWS["normal"], [0.0, 1.0])
    assert not can_be_cut(LAWS["normal"], [0.0, 0.0])
    assert not can_be_cut(LAWS["poisson"], [3.0])
