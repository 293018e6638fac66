"""Intervals by a known variance: how often they miss, how wide they are, what they rest on.

The rates of misses are judged by the exact binomial test of `trials.alarm`, with a false alarm of
1e-6 each. Beside them stand a wrong variance and a wrong scale, at which the same alarm must ring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from trials import alarm

from dropcheck.inference import intervals
from dropcheck.inference.intervals import (
    KnownSpread,
    Sample,
    catoni_interval,
    half_width,
    seen_variance,
)

Floats = npt.NDArray[np.float64]
REPEATS = 600
SPIKE = 1e-3  # the chance of a value that most samples do not show


@dataclass(frozen=True)
class Law:
    """A law with its mean and variance in closed form."""

    draw: Callable[[np.random.Generator, tuple[int, int]], Floats]
    mean: float
    variance: float


def _spike(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(0, 0.1, shape) + 100 * (rng.random(shape) < SPIKE)


E = math.e
LAWS = {
    "two-point": Law(lambda rng, n: np.where(rng.random(n) < 0.01, 1.0, 0.0), 0.01, 0.0099),
    "lognormal": Law(lambda rng, n: rng.lognormal(size=n), math.sqrt(E), E * (E - 1)),
    "spike": Law(_spike, 100 * SPIKE, 0.01 + 1e4 * SPIKE * (1 - SPIKE)),
    "pareto": Law(lambda rng, n: 1 + rng.pareto(3, n), 1.5, 0.75),
    "t": Law(lambda rng, n: rng.standard_t(2.5, n), 0.0, 5.0),
    "normal": Law(lambda rng, n: rng.normal(3, 2, n), 3.0, 4.0),
}


def missed(
    law: Law, rows: int, interval: Callable[[Floats], tuple[float, float]], seed: int = 0
) -> int:
    """How many of the intervals, each from so many draws of the law, do not hold the mean."""
    values = law.draw(np.random.default_rng(seed), (REPEATS, rows))
    ends = [interval(row) for row in values]
    return sum(not low <= law.mean <= high for low, high in ends)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("rows", [30, 300])
@pytest.mark.parametrize("name", LAWS)
def test_the_mean_is_missed_no_more_often_than_promised(name: str, rows: int, alpha: float) -> None:
    law = LAWS[name]
    found = missed(law, rows, lambda values: catoni_interval(values, law.variance, alpha))
    assert not alarm(found, REPEATS, alpha)


def test_a_variance_too_small_is_found_out() -> None:
    law, alpha, seen = LAWS["spike"], 0.05, 0.01  # what a sample without the spike shows
    assert alarm(missed(law, 300, lambda values: catoni_interval(values, seen, alpha)), 600, alpha)
    # by half is enough: 2.3 standard errors instead of 3.3 on each side, 2.1% instead of 1%
    law, alpha = LAWS["normal"], 0.01
    values = law.draw(np.random.default_rng(4), (4000, 500))
    ends = np.array([catoni_interval(row, law.variance / 2, alpha) for row in values])
    assert alarm(int(np.sum((ends[:, 0] > 3) | (ends[:, 1] < 3))), len(values), alpha)


def test_a_wrong_scale_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    law, alpha = LAWS["normal"], 0.05

    def interval(values: Floats) -> tuple[float, float]:
        return catoni_interval(values, law.variance, alpha)

    assert not alarm(missed(law, 300, interval), REPEATS, alpha)
    narrow = intervals._influence

    def wrong(distances: Floats) -> tuple[Floats, Floats]:
        influence, slopes = narrow(distances * 2)
        return influence, slopes * 2

    monkeypatch.setattr(intervals, "_influence", wrong)
    assert alarm(missed(law, 300, interval), REPEATS, alpha)


@pytest.mark.parametrize("rows", [1, 2, 7, 50, 2000])
@pytest.mark.parametrize("alpha", [1e-9, 0.05])
def test_both_ends_are_where_the_sum_comes_to_the_bound(alpha: float, rows: int) -> None:
    values = np.random.default_rng(1).standard_t(3, rows) + 1e3
    low, high = catoni_interval(values, 3.0, alpha)
    scale = math.sqrt(2 * math.log(2 / alpha) / (3.0 * rows))
    bound = rows * math.log(1 + scale**2 * 3.0 / 2) + math.log(2 / alpha)

    def total(mean: float) -> float:
        x = scale * (values - mean)
        return float(np.sum(np.sign(x) * np.log(1 + abs(x) + x * x / 2)))

    assert total(low) == pytest.approx(bound, rel=1e-7)
    assert total(high) == pytest.approx(-bound, rel=1e-7)
    assert total(low) >= bound * (1 - 1e-12)
    assert total(high) <= -bound * (1 - 1e-12)


def test_psi_keeps_its_inequality() -> None:
    x = np.linspace(-30, 30, 60_001)
    influence, _ = intervals._influence(x)
    assert (np.exp(influence) <= (1 + x + x * x / 2) * (1 + 1e-12)).all()
    assert influence[::-1] == pytest.approx(-influence)


@pytest.mark.parametrize("rows", [100, 1000, 10_000])
@pytest.mark.parametrize(("alpha", "price"), [(1e-9, (1.14, 1.29)), (0.01, (1.59, 1.68))])
def test_it_takes_few_more_draws_than_the_normal_limit(
    alpha: float, price: tuple[float, float], rows: int
) -> None:
    more = (half_width(rows, 1.0, alpha) * math.sqrt(rows) / stats.norm.isf(alpha / 2)) ** 2
    assert price[0] < more < price[1]
    values = np.random.default_rng(2).normal(size=(20, rows))
    ends = np.array([catoni_interval(row, 1.0, alpha) for row in values])
    assert np.ptp(ends, axis=1).mean() / 2 == pytest.approx(half_width(rows, 1, alpha), rel=0.02)


def test_what_is_no_bound_gives_no_interval() -> None:
    values = np.arange(10.0)
    everywhere = (-math.inf, math.inf)
    for variance in (math.inf, math.nan, -1.0):
        assert catoni_interval(values, variance, 0.01) == everywhere
    assert catoni_interval(values[:0], 1.0, 0.01) == everywhere
    assert catoni_interval(np.array([0.0, math.inf]), 1.0, 0.01) == everywhere
    assert half_width(10, math.inf, 0.01) == math.inf
    assert half_width(10, 0.0, 0.01) == 0


@pytest.mark.parametrize("factor", [1e-150, 1e-9, 1e9, 1e150])
def test_the_unit_does_not_matter(factor: float) -> None:
    values = np.random.default_rng(3).normal(size=100)
    own = np.array(catoni_interval(values, 1.0, 1e-6))
    moved = np.array(catoni_interval(factor * values, factor * factor, 1e-6))
    assert moved == pytest.approx(factor * own, rel=1e-7)


def test_a_known_spread_is_that_of_blocks() -> None:
    values, known = np.random.default_rng(0).normal(size=200), KnownSpread(lambda n: 4.0 / n)
    assert known.interval(Sample(values, 4), 1e-6) == catoni_interval(values, 1.0, 1e-6)
    assert known.standard_error(100) == 0.2


@pytest.mark.parametrize("values", [[1.0], [], [1e200, -1e200]])
def test_a_variance_that_nothing_shows_is_infinite(values: list[float]) -> None:
    assert seen_variance(np.array(values), 10) == math.inf
