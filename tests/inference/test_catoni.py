"""Intervals by a bound of the variance: how often they miss, how wide they are, what they rest on.

The rates of misses are judged by the exact binomial test of `trials.alarm`, with a false alarm of
1e-6 each. Beside them stand a wrong bound and a wrong scale, at which the same alarm must ring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from trials import alarm

from dropcheck.inference import intervals
from dropcheck.inference.intervals import (
    catoni_interval,
    half_width,
    moment_of_means,
    order_p_interval,
    variance_above,
)

Floats = npt.NDArray[np.float64]
REPEATS = 600
SPIKE = 1e-3  # the chance of a value that most samples do not show


@dataclass(frozen=True)
class Law:
    """A law with its moments in closed form: mean, variance, fourth central moment."""

    draw: Callable[[np.random.Generator, tuple[int, int]], Floats]
    mean: float
    variance: float
    fourth: float = math.inf


def _spike(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(0, 0.1, shape) + 100 * (rng.random(shape) < SPIKE)


def _pareto(rng: np.random.Generator, size: tuple[int, int], shape: float) -> Floats:
    found: Floats = 1 + rng.pareto(shape, size)
    return found


def _spike_fourth() -> float:
    p, h = SPIKE, 100.0
    own = h**4 * p * (1 - p) * (1 - 3 * p + 3 * p * p)
    return own + 6 * 0.01 * h**2 * p * (1 - p) + 3 * 1e-4


E = math.e
LAWS = {
    "two-point": Law(
        lambda rng, n: np.where(rng.random(n) < 0.01, 1.0, 0.0), 0.01, 0.0099, 0.0099 * 0.970299
    ),
    "lognormal": Law(
        lambda rng, n: rng.lognormal(size=n),
        math.sqrt(E),
        E * (E - 1),
        E**8 - 4 * E**5 + 6 * E**3 - 3 * E**2,
    ),
    "spike": Law(_spike, 100 * SPIKE, 0.01 + 1e4 * SPIKE * (1 - SPIKE), _spike_fourth()),
    "pareto": Law(lambda rng, n: _pareto(rng, n, 3), 1.5, 0.75),
    "t": Law(lambda rng, n: rng.standard_t(2.5, n), 0.0, 5.0),
    "normal": Law(lambda rng, n: rng.normal(3, 2, n), 3.0, 4.0, 48.0),
}


def missed(
    law: Law, rows: int, interval: Callable[[Floats], tuple[float, float]], seed: int = 0
) -> int:
    """How many of the intervals, each from so many draws of the law, do not hold the mean."""
    values = law.draw(np.random.default_rng(seed), (REPEATS, rows))
    ends = [interval(row) for row in values]
    return sum(not low <= law.mean <= high for low, high in ends)


# ---- the interval of order 2 --------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("rows", [30, 300])
@pytest.mark.parametrize("name", LAWS)
def test_the_mean_is_missed_no_more_often_than_promised(name: str, rows: int, alpha: float) -> None:
    law = LAWS[name]
    found = missed(
        law, rows, lambda values: catoni_interval(values, law.variance, law.variance, alpha)
    )
    assert not alarm(found, REPEATS, alpha)


def test_a_variance_too_small_is_found_out() -> None:
    law, alpha, seen = LAWS["spike"], 0.05, 0.01  # what a sample without the spike shows
    found = missed(law, 300, lambda values: catoni_interval(values, seen, seen, alpha))
    assert alarm(found, REPEATS, alpha)
    # by half is enough: 2.3 standard errors instead of 3.3 on each side, 2.1% instead of 1%
    law, alpha = LAWS["normal"], 0.01
    values = law.draw(np.random.default_rng(4), (4000, 500))
    half = law.variance / 2
    ends = np.array([catoni_interval(row, half, half, alpha) for row in values])
    assert alarm(int(np.sum((ends[:, 0] > 3) | (ends[:, 1] < 3))), len(values), alpha)


def test_a_wrong_scale_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    law, alpha = LAWS["normal"], 0.05

    def interval(values: Floats) -> tuple[float, float]:
        return catoni_interval(values, law.variance, law.variance, alpha)

    assert not alarm(missed(law, 300, interval), REPEATS, alpha)
    narrow = intervals._influence

    def wrong(distances: Floats, p: float) -> tuple[Floats, Floats]:
        influence, slopes = narrow(distances * 2, p)
        return influence, slopes * 2

    monkeypatch.setattr(intervals, "_influence", wrong)
    assert alarm(missed(law, 300, interval), REPEATS, alpha)


@pytest.mark.parametrize("rows", [1, 2, 7, 50, 2000])
@pytest.mark.parametrize("alpha", [1e-9, 0.05])
@pytest.mark.parametrize("p", [1.1, 1.5, 2.0])
def test_both_ends_are_where_the_sum_comes_to_the_bound(p: float, alpha: float, rows: int) -> None:
    values = np.random.default_rng(1).standard_t(3, rows) + 1e3
    moment, tuning = 3.0, 2.0
    low, high = order_p_interval(values, p, moment, tuning, alpha)
    constant = (p - 1) ** (p - 1) * p ** (-p / 2) * (2 - p) ** ((2 - p) / 2)
    scale = (math.log(2 / alpha) / ((p - 1) * constant * tuning * rows)) ** (1 / p)
    bound = rows * math.log(1 + constant * scale**p * moment) + math.log(2 / alpha)

    def total(mean: float) -> float:
        x = scale * (values - mean)
        return float(np.sum(np.sign(x) * np.log(1 + abs(x) + constant * abs(x) ** p)))

    assert total(low) == pytest.approx(bound, rel=1e-7)
    assert total(high) == pytest.approx(-bound, rel=1e-7)
    assert total(low) >= bound * (1 - 1e-12)
    assert total(high) <= -bound * (1 - 1e-12)


@pytest.mark.parametrize("p", [1.01, 1.2, 1.5, 1.8, 2.0])
def test_psi_keeps_the_inequality_and_no_smaller_constant_does(p: float) -> None:
    x = np.concatenate([-np.logspace(-12, 12, 20_001), np.logspace(-12, 12, 20_001)])
    constant = intervals._constant(p)
    influence, _ = intervals._influence(x, p)
    size, power = np.abs(x), np.abs(x) ** p
    # (1 + y + C y^p)(1 - y + C y^p) ≥ 1 as 2C y^p + C² y^2p ≥ y², in which no digits cancel
    assert (2 * constant * power + (constant * power) ** 2 >= size**2 * (1 - 1e-12)).all()
    assert np.exp(influence[x > 0]) == pytest.approx(1 + x[x > 0] + constant * power[x > 0])
    assert influence[x < 0][::-1] == pytest.approx(-influence[x > 0][::-1])
    smaller = 0.999 * constant
    assert not (2 * smaller * power + (smaller * power) ** 2 >= size**2).all()


def test_the_scale_is_the_best() -> None:
    values = math.sqrt(2) * stats.norm.ppf((np.arange(1000) + 0.5) / 1000)

    def width(tuning: float) -> float:
        low, high = catoni_interval(values, 2.0, tuning, 1e-9)
        return high - low

    assert width(2.0) < 1.001 * min(width(2.0 * factor) for factor in np.linspace(0.5, 2, 31))
    assert width(8.0) > 1.1 * width(2.0)
    assert width(0.5) > 1.1 * width(2.0)


@pytest.mark.parametrize("rows", [100, 1000, 10_000])
@pytest.mark.parametrize(("alpha", "price"), [(1e-9, (1.14, 1.29)), (0.01, (1.59, 1.68))])
def test_it_takes_few_more_draws_than_the_normal_limit(
    alpha: float, price: tuple[float, float], rows: int
) -> None:
    more = (half_width(rows, 1.0, alpha) * math.sqrt(rows) / stats.norm.isf(alpha / 2)) ** 2
    assert price[0] < more < price[1]
    values = np.random.default_rng(2).normal(size=(20, rows))
    ends = np.array([catoni_interval(row, 1.0, 1.0, alpha) for row in values])
    assert np.ptp(ends, axis=1).mean() / 2 == pytest.approx(half_width(rows, 1, alpha), rel=0.02)


def test_planning_at_the_ends() -> None:
    assert half_width(10, math.inf, 0.01) == math.inf
    assert half_width(10, 0.0, 0.01) == 0


def test_what_is_no_bound_gives_no_interval() -> None:
    values = np.arange(10.0)
    everywhere = (-math.inf, math.inf)
    assert catoni_interval(values, math.inf, 1.0, 0.01) == everywhere
    assert catoni_interval(values, math.nan, 1.0, 0.01) == everywhere
    assert catoni_interval(values, -1.0, 1.0, 0.01) == everywhere
    assert catoni_interval(values[:0], 1.0, 1.0, 0.01) == everywhere
    assert catoni_interval(np.array([0.0, math.inf]), 1.0, 1.0, 0.01) == everywhere
    assert catoni_interval(1e300 * values, 1e-300, 1e-300, 0.01) == everywhere
    assert catoni_interval(np.full(5, 3.7), 0.0, 1.0, 0.01) == (3.7, 3.7)
    for tuning in (0.0, math.nan, math.inf):
        assert catoni_interval(values, 1.0, tuning, 0.01) == catoni_interval(values, 1.0, 1.0, 0.01)
    with pytest.raises(ValueError, match="order"):
        order_p_interval(values, 1.0, 1.0, 1.0, 0.01)


@pytest.mark.parametrize("factor", [1e-150, 1e-9, 1e9, 1e150])
def test_the_unit_does_not_matter(factor: float) -> None:
    values = np.random.default_rng(3).exponential(size=50)
    low, high = catoni_interval(values, 1.0, 1.0, 1e-6)
    scaled = catoni_interval(factor * values, factor**2, factor**2, 1e-6)
    assert scaled == pytest.approx((factor * low, factor * high), rel=1e-6)


# ---- order p ------------------------------------------------------------------------------------


PARETO = Law(lambda rng, n: _pareto(rng, n, 1.5), 3.0, math.inf)


@cache
def pareto_moment(p: float) -> float:
    """E|X - 3|^p of Pareto's law of shape 1.5 from 1 on, by quadrature in the quantile."""
    u = (np.arange(10**6) + 0.5) / 10**6
    body = np.mean(
        np.abs((u**3) ** (-2 / 3) - 3) ** p * 3 * u**2
    )  # u^3 uniform, a smooth integrand
    return 1.02 * float(body)


@pytest.mark.parametrize("rows", [30, 1000])
@pytest.mark.parametrize("p", [1.2, 1.4])
def test_the_mean_of_a_law_without_a_variance(p: float, rows: int) -> None:
    moment = pareto_moment(p)
    found = missed(PARETO, rows, lambda values: order_p_interval(values, p, moment, moment, 0.05))
    assert not alarm(found, REPEATS, 0.05)


@pytest.mark.parametrize("p", [1.2, 1.4])
def test_its_interval_narrows_as_the_order_says(p: float) -> None:
    moment = pareto_moment(p)
    ends = order_p_interval(
        PARETO.draw(np.random.default_rng(5), (1, 10**5))[0], p, moment, moment, 1e-9
    )
    assert ends[0] < 3 < ends[1]
    width = ends[1] - ends[0]
    more = order_p_interval(
        PARETO.draw(np.random.default_rng(6), (1, 10**6))[0], p, moment, moment, 1e-9
    )
    assert (more[1] - more[0]) / width == pytest.approx(10 ** (1 / p - 1), rel=0.1)


def test_moments_of_means_are_bounded() -> None:
    rng = np.random.default_rng(7)
    # two points far apart, by all 2^10 outcomes of ten draws
    p, draws = 1.3, 10
    counts = np.arange(draws + 1)
    chances = stats.binom.pmf(counts, draws, 0.03)
    true = float(chances @ np.abs(counts / draws - 0.03) ** p)
    own = 0.97 * 0.03**p + 0.03 * 0.97**p
    assert true <= moment_of_means(p, own, draws)
    assert true > 0.3 * moment_of_means(p, own, draws)
    values = rng.normal(size=(100_000, 4)).mean(axis=1)
    assert float(np.mean(values**2)) == pytest.approx(moment_of_means(2.0, 1.0, 4), rel=0.03)


# ---- the variance -------------------------------------------------------------------------------


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("block_draws", [1, 10])
@pytest.mark.parametrize("name", ["two-point", "lognormal", "spike", "normal"])
def test_the_variance_is_exceeded_no_more_often_than_promised(
    name: str, block_draws: int, centred: bool
) -> None:
    law, rows, alpha = LAWS[name], 200, 0.05
    rng = np.random.default_rng(8)
    true = law.variance / block_draws
    centre = law.mean + 0.1 * math.sqrt(true) if centred else None
    below = 0
    for _ in range(REPEATS):
        values = law.draw(rng, (rows, block_draws)).mean(axis=1)
        below += variance_above(values, block_draws, law.fourth, alpha, centre=centre) < true
    assert not alarm(below, REPEATS, alpha)


def test_without_the_fourth_moment_the_variance_is_exceeded() -> None:
    law, rows, alpha = LAWS["spike"], 200, 0.05
    rng = np.random.default_rng(9)
    below = sum(
        variance_above(law.draw(rng, (rows, 1))[:, 0], 1, 3e-4, alpha) < law.variance
        for _ in range(REPEATS)
    )
    assert alarm(below, REPEATS, alpha)


def test_the_variance_of_bounded_draws() -> None:
    law, rows, alpha = LAWS["two-point"], 500, 0.05
    rng = np.random.default_rng(10)
    below = 0
    for _ in range(REPEATS):
        values = law.draw(rng, (rows, 20)).mean(axis=1)
        below += variance_above(values, 20, math.inf, alpha, width=1.0) < law.variance / 20
    assert not alarm(below, REPEATS, alpha)


def test_a_loose_fourth_moment_costs_little_where_blocks_are_large() -> None:
    values = np.random.default_rng(11).normal(size=(4000, 1000)).mean(axis=1)
    tight = variance_above(values, 1000, 3.0, 1e-11, centre=0.0)
    loose = variance_above(values, 1000, 3000.0, 1e-11, centre=0.0)
    assert 1e-3 < tight < 1.3e-3
    assert loose < 1.5e-3
    assert tight < variance_above(values, 1000, 3.0, 1e-11)


def test_the_variance_has_a_cap_of_its_own() -> None:
    values = np.array([0.0, 1.0])
    assert variance_above(values, 4, 9.0, 1e-9) == 3.0 / 4
    assert variance_above(values, 4, math.inf, 1e-9, width=2.0) == 1.0 / 4
    assert variance_above(values, 4, math.inf, 1e-9) == math.inf
    assert variance_above(values[:1], 4, 9.0, 0.5) == 3.0 / 4
    assert variance_above(np.full(1000, 2.0), 1, 1.0, 1e-9) < 0.6


def test_chernoffs_bound_is_at_least_as_good_as_bernsteins() -> None:
    values = np.random.default_rng(12).normal(size=2000)
    seen, count, log = float(np.var(values, ddof=1)), 1000, math.log(1e6)
    # the largest v with v ≤ s² + sqrt(2 E D² log(1/α) / n'), E D² = (3 + 3v²)/2 for one draw a row
    grid = np.linspace(seen, 3, 100_001)
    bernstein = grid[grid <= seen + np.sqrt(2 * (3 + 3 * grid**2) / 2 * log / count)].max()
    found = variance_above(values, 1, 3.0, 1e-6)
    assert 1 < found < bernstein
