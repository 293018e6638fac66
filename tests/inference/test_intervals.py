"""Intervals of shares and of means: how often they miss, how wide they are, what they rest on.

Of shares every outcome is gone through. Of means the rates of misses are judged by the exact
binomial test of `trials.alarm`, with a false alarm of 1e-6 each; beside each promise stands what
breaks it, at which the same alarm must ring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from trials import alarm

from dropcheck.array_types import Floats
from dropcheck.inference import intervals
from dropcheck.inference.intervals import (
    ClippedSpread,
    KnownSpread,
    Reach,
    Sample,
    catoni_interval,
    clopper_pearson,
    half_width,
    seen_variance,
    upper_bound,
)
from dropcheck.simulation.program import Clip, with_clips

Ends = tuple[float, float]
EVERYWHERE = (-math.inf, math.inf)
E = math.e

# ---- shares, by every outcome --------------------------------------------------------------------


def wald(successes: int, trials: int, alpha: float) -> Ends:
    """The interval of the textbooks, for comparison."""
    share = successes / trials
    give = float(stats.norm.isf(alpha / 2)) * math.sqrt(share * (1 - share) / trials)
    return share - give, share + give


def most_missed(ends: Callable[[int, int, float], Ends], trials: int, alpha: float) -> float:
    """The largest chance of a miss, over a grid of p and beside every end of an interval."""
    low, high = np.array([ends(successes, trials, alpha) for successes in range(trials + 1)]).T
    beside = np.concatenate([low - 1e-9, high + 1e-9, np.linspace(0, 1, 201)])
    p = beside[(beside >= 0) & (beside <= 1)][:, np.newaxis]
    chance = stats.binom.pmf(np.arange(trials + 1), trials, p)
    return float((chance * ((p < low) | (p > high))).sum(axis=1).max())


@pytest.mark.parametrize("alpha", [0.1, 1e-6])
@pytest.mark.parametrize("trials", [1, 2, 5, 20, 60])
def test_a_share_is_held_as_often_as_promised(trials: int, alpha: float) -> None:
    assert most_missed(clopper_pearson, trials, alpha) <= alpha * (1 + 1e-9)
    assert most_missed(wald, 20, 0.01) > 0.02  # without that promise it is found out


@pytest.mark.parametrize("alpha", [0.05, 1e-6, 1e-14])
@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (1, 100), (1, 1), (3456, 10_000)])
def test_the_ends_of_a_share_are_where_the_tail_is_half_of_alpha(
    successes: int, trials: int, alpha: float
) -> None:
    low, high = clopper_pearson(successes, trials, alpha)
    for end, tail in (
        (low, stats.binom.sf(successes - 1, trials, low)),
        (high, stats.binom.cdf(successes, trials, high)),
    ):
        assert end in (0, 1) or tail == pytest.approx(alpha / 2, rel=1e-5)
    bound = upper_bound(successes, trials, alpha)
    assert bound == 1 or stats.binom.cdf(successes, trials, bound) == pytest.approx(alpha, rel=1e-5)
    assert (low == 0) is (successes == 0)
    assert (high == 1) is (bound == 1) is (successes == trials)
    assert (clopper_pearson(0, 0, alpha), upper_bound(0, 0, alpha)) == ((0.0, 1.0), 1.0)


# ---- means of known variance ---------------------------------------------------------------------

REPEATS = 600
SPIKE = 1e-3  # the chance of a value that most samples do not show
Draw = Callable[[np.random.Generator, Any], Any]
# Laws with their means and variances in closed form.
LAWS: dict[str, tuple[Draw, float, float]] = {
    "two-point": (lambda g, n: np.where(g.random(n) < 0.01, 1.0, 0.0), 0.01, 0.0099),
    "lognormal": (lambda g, n: g.lognormal(size=n), math.sqrt(E), E * (E - 1)),
    "spike": (
        lambda g, n: g.normal(0, 0.1, n) + 100 * (g.random(n) < SPIKE),
        100 * SPIKE,
        0.01 + 1e4 * SPIKE * (1 - SPIKE),
    ),
    "pareto": (lambda g, n: 1 + g.pareto(3, n), 1.5, 0.75),
    "normal": (lambda g, n: g.normal(3, 2, n), 3.0, 4.0),
}


def missed(name: str, rows: int, alpha: float, variance: float | None = None) -> int:
    """How many of the intervals, each from so many draws of the law, do not hold the mean."""
    draw, mean, own = LAWS[name]
    values = draw(np.random.default_rng(0), (REPEATS, rows))
    ends = [catoni_interval(row, own if variance is None else variance, alpha) for row in values]
    return sum(not low <= mean <= high for low, high in ends)


@pytest.mark.parametrize("name", LAWS)
def test_a_mean_is_missed_no_more_often_than_promised(name: str) -> None:
    for rows, alpha in ((30, 0.05), (300, 0.01)):
        assert not alarm(missed(name, rows, alpha), REPEATS, alpha)


def test_a_variance_or_a_scale_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert alarm(missed("spike", 300, 0.05, 0.01), REPEATS, 0.05)  # what a sample shows
    assert alarm(missed("normal", 300, 0.05, 1.0), REPEATS, 0.05)
    narrow = intervals._influence

    def wrong(distances: Floats) -> tuple[Floats, Floats]:
        influence, slopes = narrow(distances * 2)
        return influence, slopes * 2

    monkeypatch.setattr(intervals, "_influence", wrong)
    assert alarm(missed("normal", 300, 0.05), REPEATS, 0.05)


@pytest.mark.parametrize("rows", [1, 2, 50, 2000])
@pytest.mark.parametrize("alpha", [1e-9, 0.05])
def test_both_ends_are_where_catonis_sum_comes_to_the_bound(alpha: float, rows: int) -> None:
    values = np.random.default_rng(1).standard_t(3, rows) + 1e3
    ends = catoni_interval(values, 3.0, alpha)
    scale = math.sqrt(2 * math.log(2 / alpha) / (3.0 * rows))
    bound = rows * math.log(1 + scale**2 * 3.0 / 2) + math.log(2 / alpha)
    for end, sign in zip(ends, (1, -1), strict=True):
        x = scale * (values - end)
        total = sign * float(np.sum(np.sign(x) * np.log(1 + abs(x) + x * x / 2)))
        assert bound * (1 - 1e-12) <= total <= bound * (1 + 1e-7)
    x = np.linspace(-30, 30, 6001)
    influence, _ = intervals._influence(x)
    assert (np.exp(influence) <= (1 + x + x * x / 2) * (1 + 1e-12)).all()


@pytest.mark.parametrize(("alpha", "price"), [(1e-9, (1.14, 1.29)), (0.01, (1.59, 1.68))])
def test_it_takes_few_more_draws_than_the_normal_limit(alpha: float, price: Ends) -> None:
    for rows in (100, 10_000):
        width = half_width(rows, 1.0, alpha)
        assert price[0] < (width * math.sqrt(rows) / stats.norm.isf(alpha / 2)) ** 2 < price[1]
        values = np.random.default_rng(2).normal(size=(20, rows))
        ends = np.array([catoni_interval(row, 1.0, alpha) for row in values])
        assert np.ptp(ends, axis=1).mean() / 2 == pytest.approx(width, rel=0.02)


def test_what_is_no_bound_gives_no_interval_and_the_unit_does_not_matter() -> None:
    values = np.random.default_rng(3).normal(size=100)
    for variance in (math.inf, math.nan, -1.0):
        assert catoni_interval(values, variance, 0.01) == EVERYWHERE
    assert catoni_interval(values[:0], 1.0, 0.01) == EVERYWHERE
    assert catoni_interval(np.array([0.0, math.inf]), 1.0, 0.01) == EVERYWHERE
    assert (half_width(10, math.inf, 0.01), half_width(10, 0.0, 0.01)) == (math.inf, 0)
    own = np.array(catoni_interval(values, 1.0, 1e-6))
    for factor in (1e-150, 1e150):
        moved = np.array(catoni_interval(factor * values, factor * factor, 1e-6))
        assert moved == pytest.approx(factor * own, rel=1e-7)
    known = KnownSpread(lambda n: 4.0 / n)
    assert known.interval(Sample(values, 4), 1e-6) == catoni_interval(values, 1.0, 1e-6)
    assert known.standard_error(100) == 0.2
    for few in ([1.0], [], [1e200, -1e200]):
        assert seen_variance(np.array(few), 10) == math.inf


# ---- means of bounded moments: the values themselves show their variance -------------------------

ALPHA = 0.05


def spread(centre: float, guess: float, low: float, high: float) -> ClippedSpread:
    return ClippedSpread.of(centre, guess, (low, high), {}, 0.0)


def seen(known: ClippedSpread, values: Floats, alpha: float = ALPHA) -> Ends:
    """The interval from these values, one a unit, by the sums that a program stores."""
    far = {"below": known.below.far, "above": known.above.far}
    clip = Clip(columns=(0,), weights=(1.0,), centre=known.centre, **far)
    _, first, second = with_clips(values[np.newaxis], [clip], 1, 1)[0] / len(values)
    return known.interval(Sample(np.array([values.mean()]), len(values), (first, second)), alpha)


def missed_by(
    known: ClippedSpread, draw: Draw, mean: float, count: int, alpha: float = ALPHA
) -> int:
    """How many of 500 intervals, each from so many draws, do not hold the mean."""
    generator = np.random.default_rng(0)
    ends = [seen(known, draw(generator, count), alpha) for _ in range(500)]
    return sum(not low <= mean <= high for low, high in ends)


def test_the_inequality_of_fan_grama_and_liu_holds() -> None:
    rates = np.linspace(0, 0.999, 1000)[:, np.newaxis]
    values = np.concatenate([np.linspace(-1, 3, 2001), [10, 100, 1e4]])
    psi = -np.log1p(-rates) - rates
    assert (rates * values - psi * values**2 <= np.log1p(rates * values) + 1e-12).all()


COIN: Draw = lambda g, n: np.where(g.random(n) < 0.5, 1.0, -1.0)  # noqa: E731 - as the others
BOUNDED: list[tuple[Draw, float]] = [
    (LAWS["two-point"][0], 0.01),
    (lambda g, n: -LAWS["two-point"][0](g, n), -0.01),
    (COIN, 0.0),
    (lambda g, n: 0.01 * (g.random(n) - 0.5), 0.0),
]


@pytest.mark.parametrize(("draw", "mean"), BOUNDED)
@pytest.mark.parametrize("count", [50, 1000])
def test_it_holds_for_every_law_whatever_the_pilot_guessed(
    draw: Draw, mean: float, count: int
) -> None:
    for guess in (1e-8, 1e-2):
        known = spread(0.003, guess, -1.0, 1.0)
        assert not alarm(missed_by(known, draw, mean, count), 500, ALPHA)


def pareto_size(p: float) -> float:
    """E|x - 3|^p of Pareto's law of index 1.5, beyond 10^4 by its leading term, to the 1/p."""
    density = lambda x: abs(x - 3) ** p * 1.5 * x**-2.5  # noqa: E731 - short
    parts = [quad(density, *ends, limit=500)[0] for ends in ((1, 3), (3, 1e4))]
    return float((sum(parts) + 1.5 / (1.5 - p) * 1e4 ** (p - 1.5)) ** (1 / p))


LOGNORMAL = {p: math.exp(p / 2) + math.exp(0.5) for p in (2.0, 4.0, 8.0)}
UNBOUNDED: list[tuple[Draw, float, float, dict[float, float], float]] = [
    (LAWS["lognormal"][0], math.exp(0.5), math.exp(0.5), LOGNORMAL, 0.2),
    (LAWS["lognormal"][0], math.exp(0.5), 3.0, LOGNORMAL, 0.02),
    (lambda g, n: 1 + g.pareto(1.5, n), 3.0, 3.0, {p: pareto_size(p) for p in (1.1, 1.3)}, 0.5),
]


@pytest.mark.parametrize(("draw", "mean", "centre", "sizes", "target"), UNBOUNDED)
@pytest.mark.parametrize("count", [100, 2000])
def test_moments_serve_where_values_have_no_bound(
    draw: Draw, mean: float, centre: float, sizes: dict[float, float], target: float, count: int
) -> None:
    known = ClippedSpread.of(centre, 4.0, EVERYWHERE, sizes, target)
    assert not alarm(missed_by(known, draw, mean, count), 500, ALPHA)


def test_it_holds_where_a_pilot_saw_nothing_but_an_end() -> None:
    """Of truths that are nearly always 1, or of 1000 times a rare event, it may show one value."""
    for chance in (1.0, 1 - 1e-3, 0.99):
        truths = lambda g, n, chance=chance: np.where(g.random(n) < chance, 1.0, 0.0)  # noqa: E731 - short
        assert not alarm(missed_by(spread(1.0, 0.0, 0.0, 1.0), truths, chance, 2000), 500, ALPHA)
    sizes = {2.0: 1000 * 1e-3**0.5, 4.0: 1000 * 1e-3**0.25}
    for sign, ends in ((1.0, (0.0, math.inf)), (-1.0, (-math.inf, 0.0))):
        known = ClippedSpread.of(0.0, 0.0, ends, sizes, 0.5)
        rare = lambda g, n, sign=sign: sign * np.where(g.random(n) < 1e-3, 1000.0, 0.0)  # noqa: E731 - short
        assert not alarm(missed_by(known, rare, sign, 2000), 500, ALPHA)


def test_bounds_and_error_rates_that_do_not_hold_are_noticed() -> None:
    """A range of half the width, moments a tenth as large as they are, and eight times α."""
    assert alarm(missed_by(spread(0.003, 1e-4, -0.5, 0.1), *BOUNDED[0], 4000), 500, ALPHA)
    small = {p: size / 10 for p, size in LOGNORMAL.items()}
    known = ClippedSpread.of(1.65, 4.0, EVERYWHERE, small, 0.1)
    assert alarm(missed_by(known, LAWS["lognormal"][0], math.exp(0.5), 4000), 500, ALPHA)
    coin = spread(0.0, 1.0, -1.0, 1.0)  # judged as sharply as any law allows
    assert alarm(missed_by(coin, COIN, 0.0, 400, 8 * ALPHA), 500, ALPHA / 4)
    assert not alarm(missed_by(coin, COIN, 0.0, 400), 500, ALPHA / 4)


def test_values_that_repeat_taken_for_independent_ones_miss_too_often() -> None:
    """As the draws of calls of code would, if each counted by itself."""
    generator, size, calls, missed, chance = np.random.default_rng(0), 64, 100, [0, 0], 0.15
    for _ in range(200):
        means = np.where(generator.random(calls) < chance, 1.0, 0.0)
        known = spread(0.15, float(means.var()) + 1e-9, 0.0, 1.0)
        for place, values in enumerate((means, means.repeat(size))):
            low, high = seen(known, values)
            missed[place] += not low <= chance <= high
    assert not alarm(missed[0], 200, ALPHA)
    assert alarm(missed[1], 200, ALPHA)


def test_the_mean_of_what_is_cut_off_is_bounded() -> None:
    """E(|z| - b)₊ of a normal z, at the b that moments of several orders give."""
    sizes = {p: float(stats.norm.moment(int(p))) ** (1 / p) for p in (4.0, 8.0, 16.0)}
    for target in (1.0, 1e-2, 1e-5):
        known = ClippedSpread.of(0.0, 1.0, EVERYWHERE, sizes, target)
        far = known.above.far
        cut = 2 * (stats.norm.pdf(far) - far * stats.norm.sf(far))  # ∫ (x - far) φ(x) dx
        assert cut <= known.above.cut < target
    # the bound is reached by two values: 0, and one at p/(p - 1) of the reach
    order, chance, value = 6.0, 1e-4, 3.0
    size = (chance * value**order) ** (1 / order)
    cut = chance * (value - value * (order - 1) / order)
    reach = ClippedSpread.of(0.0, 1.0, EVERYWHERE, {order: size}, cut / 0.02).below
    expected = (value * (order - 1) / order) ** (order - 1) * cut
    assert reach.far ** (order - 1) * reach.cut == pytest.approx(expected)
    sides = ClippedSpread.of(0.2, 1e-6, (0.0, 1000.0), {8.0: 2.0}, 1e-3)  # each its own
    assert sides.below == Reach(far=0.2)
    assert sides.above.cut > 0


@pytest.mark.parametrize("variance", [1e-8, 1e-4, 1e-2])
def test_its_width_is_near_the_best_there_is(variance: float) -> None:
    """√(2 v L/n), and the reach times L/n, which a value that no draw shows can hide."""
    known, draws = spread(0.0, variance, -1.0, 1.0), 100_000
    share = math.log(2 / 1e-6) / draws
    width = known.half_width(1000, 100, 1e-6)
    assert max(math.sqrt(2 * variance * share), share) < width
    assert width < 1.1 * (math.sqrt(2 * variance * share) + share)
    low, high = known.interval(Sample(np.zeros(1000), 100, (0.0, variance)), 1e-6)
    assert (high - low) / 2 == pytest.approx(width)


def test_nothing_is_known_of_values_without_a_bound_and_all_of_a_constant() -> None:
    for sizes, target in (({4.0: math.inf}, 1e-3), ({4.0: 1.0}, 0.0), ({2.0: math.inf}, 1.0)):
        known = ClippedSpread.of(0.0, 1.0, (-math.inf, 1.0), sizes, target)
        assert seen(known, np.zeros(1000))[0] == -math.inf
        assert known.half_width(1, 1000, 0.01) == math.inf
    constant = seen(spread(1.0, 0.0, 1.0, 1.0), np.ones(10))
    assert constant == pytest.approx((1.0, 1.0), abs=1e-15)
