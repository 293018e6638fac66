"""The interval of a mean whose moments are bounded: the values themselves show their variance.

The rates of misses are judged by the exact binomial test of `trials.alarm`, with a false alarm of
1e-6 each. Beside each promise stands what breaks it, at which the same alarm must ring.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from scipy.integrate import quad
from trials import alarm

from dropcheck.inference.intervals import ClippedSpread, Reach, Sample
from dropcheck.simulation.steps import Clip, net_points, with_clips

Floats = npt.NDArray[np.float64]
ALPHA = 0.05
EVERYWHERE = (-math.inf, math.inf)


def spread(centre: float, guess: float, low: float, high: float) -> ClippedSpread:
    return ClippedSpread.of(centre, guess, (low, high), {}, 0.0)


def seen(known: ClippedSpread, values: Floats, alpha: float = ALPHA) -> tuple[float, float]:
    """The interval from these values, one a unit, by the sums that a program stores."""
    clip = Clip(
        columns=(0,),
        weights=(1.0,),
        centre=known.centre,
        below=known.below.far,
        above=known.above.far,
    )
    _, first, second = with_clips(values[np.newaxis], [clip], 1, 1)[0] / len(values)
    return known.interval(Sample(np.array([values.mean()]), len(values), (first, second)), alpha)


def test_the_inequality_of_fan_grama_and_liu_holds() -> None:
    rates = np.linspace(0, 0.999, 1000)[:, np.newaxis]
    values = np.concatenate([np.linspace(-1, 3, 2001), [10, 100, 1e4]])
    psi = -np.log1p(-rates) - rates
    assert (rates * values - psi * values**2 <= np.log1p(rates * values) + 1e-12).all()
    beyond = rates * -1.5 - psi * 1.5**2 > np.log(np.maximum(1 - 1.5 * rates, 1e-300)) + 1e-12
    assert beyond.any()  # and not where a value is below -1


Draw = Callable[[np.random.Generator, int], Floats]
LAWS: dict[str, Draw] = {
    "a rare far value": lambda g, n: np.where(g.random(n) < 0.01, 1.0, 0.0),
    "a rare value on the other side": lambda g, n: np.where(g.random(n) < 0.01, -1.0, 0.0),
    "a fair coin": lambda g, n: np.where(g.random(n) < 0.5, 1.0, -1.0),
    "a narrow uniform": lambda g, n: 0.01 * (g.random(n) - 0.5),
}
MEANS = {"a rare far value": 0.01, "a rare value on the other side": -0.01}


def missed(known: ClippedSpread, draw: Draw, mean: float, count: int, repeats: int = 500) -> int:
    """How many intervals, each from so many draws, do not hold the mean."""
    generator = np.random.default_rng(0)
    ends = [seen(known, draw(generator, count)) for _ in range(repeats)]
    return sum(not low <= mean <= high for low, high in ends)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("count", [50, 1000])
def test_it_holds_for_every_law_whatever_the_pilot_guessed(name: str, count: int) -> None:
    for guess in (1e-8, 1e-2):
        known = spread(0.003, guess, -1.0, 1.0)
        assert not alarm(missed(known, LAWS[name], MEANS.get(name, 0.0), count), 500, ALPHA)


def lognormal(generator: np.random.Generator, count: int) -> Floats:
    return generator.lognormal(size=count)


def pareto(generator: np.random.Generator, count: int) -> Floats:
    return np.asarray(1 + generator.pareto(1.5, count))


# Bounds of E|x - 3|^p of Pareto's law of index 1.5, which has no variance: by quadrature, and what
# lies beyond 10^4 by its leading term.
def pareto_size(p: float) -> float:
    def density(x: float) -> float:
        return float(abs(x - 3) ** p * 1.5 * x**-2.5)

    parts = [quad(density, *ends, limit=500)[0] for ends in ((1, 3), (3, 1e4))]
    return float((sum(parts) + 1.5 / (1.5 - p) * 1e4 ** (p - 1.5)) ** (1 / p))


PARETO: Mapping[float, float] = {p: pareto_size(p) for p in (1.1, 1.3)}
LOGNORMAL = {p: math.exp(p / 2) + math.exp(0.5) for p in (2.0, 4.0, 8.0)}
UNBOUNDED = [
    (lognormal, math.exp(0.5), LOGNORMAL, 0.2),
    (lognormal, math.exp(0.5), {p: 100 * size for p, size in LOGNORMAL.items()}, 0.2),
    (lognormal, 3.0, LOGNORMAL, 0.02),
    (pareto, 3.0, PARETO, 0.5),
]


@pytest.mark.parametrize(("draw", "centre", "sizes", "target"), UNBOUNDED)
@pytest.mark.parametrize("count", [100, 3000])
def test_moments_serve_where_values_have_no_bound(
    draw: Draw, centre: float, sizes: Mapping[float, float], target: float, count: int
) -> None:
    known = ClippedSpread.of(centre, 4.0, EVERYWHERE, sizes, target)
    mean = 3.0 if draw is pareto else math.exp(0.5)
    assert not alarm(missed(known, draw, mean, count), 500, ALPHA)


def test_bounds_that_do_not_hold_are_noticed() -> None:
    """A range of half the width, and moments a tenth as large as they are."""
    rare = LAWS["a rare far value"]
    assert alarm(missed(spread(0.003, 1e-4, -0.5, 0.1), rare, 0.01, 10_000), 500, ALPHA)
    small = {p: size / 10 for p, size in LOGNORMAL.items()}
    known = ClippedSpread.of(1.65, 4.0, EVERYWHERE, small, 0.1)
    assert alarm(missed(known, lognormal, math.exp(0.5), 20_000, 100), 100, ALPHA)


def test_an_interval_at_twice_its_alpha_is_noticed() -> None:
    """The coin is judged as sharply as any law allows: at 4α it misses too often."""
    coin, known = LAWS["a fair coin"], spread(0.0, 1.0, -1.0, 1.0)
    generator, misses = np.random.default_rng(1), [0, 0]
    for _ in range(3000):
        values = coin(generator, 400)
        for place, alpha in enumerate((ALPHA, 4 * ALPHA)):
            low, high = seen(known, values, alpha)
            misses[place] += not low <= 0 <= high
    assert not alarm(misses[0], 3000, ALPHA / 4)  # a fourth of what is promised, for any law
    assert alarm(misses[1], 3000, ALPHA / 4)


def test_points_of_a_net_taken_for_independent_values_miss_too_often() -> None:
    """As the means of nets taken for the means of so many draws would: an indicator of a square."""
    generator, size, nets, missed = np.random.default_rng(0), 64, 100, [0, 0]
    side = 0.53
    for _ in range(300):
        points = net_points(generator, 3, size, nets) * 2.0**-64
        inside = (points < side).all(axis=0)
        # one element of a model that repeats draws: nets whose points are all alike
        means = np.where(inside.reshape(nets, size)[:, 0], 1.0, 0.0)
        known = spread(0.15, float(means.var()) + 1e-9, 0.0, 1.0)
        for place, values in enumerate((means, means.repeat(size))):
            low, high = seen(known, values)
            missed[place] += not low <= side**3 <= high
    assert not alarm(missed[0], 300, ALPHA)
    assert alarm(missed[1], 300, ALPHA)


def test_the_mean_of_what_is_cut_off_is_bounded() -> None:
    """E(|z| - b)₊ of a normal z, at the b that moments of several orders give."""
    sizes = {p: float(stats.norm.moment(int(p))) ** (1 / p) for p in (4.0, 8.0, 16.0)}
    for target in (1.0, 1e-2, 1e-5):
        known = ClippedSpread.of(0.0, 1.0, EVERYWHERE, sizes, target)
        far = known.above.far
        cut = 2 * (stats.norm.pdf(far) - far * stats.norm.sf(far))  # ∫ (x - far) φ(x) dx
        assert cut <= known.above.cut < target
        alone = ClippedSpread.of(0.0, 1.0, EVERYWHERE, {4.0: sizes[4.0]}, target)
        assert alone.half_width(1, 10_000, 1e-6) >= known.half_width(1, 10_000, 1e-6)


def test_the_largest_share_that_can_be_cut_off_is() -> None:
    """The bound is reached by two values: 0, and one at p/(p - 1) of the reach."""
    order, chance, value = 6.0, 1e-4, 3.0
    size = (chance * value**order) ** (1 / order)
    cut = chance * (value - value * (order - 1) / order)
    found = ClippedSpread.of(0.0, 1.0, EVERYWHERE, {order: size}, cut / 0.02)
    reach = found.below
    assert reach.far ** (order - 1) * reach.cut == pytest.approx(
        (value * (order - 1) / order) ** (order - 1) * cut
    )


def test_each_side_has_its_own_reach() -> None:
    known = ClippedSpread.of(0.2, 1e-6, (0.0, 1000.0), {8.0: 2.0}, 1e-3)
    assert known.below == Reach(far=0.2)
    assert known.above.cut > 0
    low, high = known.interval(Sample(np.zeros(10), 1000, (0.0, 1e-6)), 1e-6)
    assert 0.2 - low < (high - 0.2) / 3


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


def test_nothing_is_known_of_values_without_a_bound() -> None:
    for sizes, target in (({4.0: math.inf}, 1e-3), ({4.0: 1.0}, 0.0), ({2.0: math.inf}, 1.0)):
        known = ClippedSpread.of(0.0, 1.0, (-math.inf, 1.0), sizes, target)
        assert seen(known, np.zeros(1000))[0] == -math.inf
        assert known.half_width(1, 1000, 0.01) == math.inf


def test_a_constant_is_known_at_once() -> None:
    known = spread(1.0, 0.0, 1.0, 1.0)
    assert seen(known, np.ones(10)) == pytest.approx((1.0, 1.0), abs=1e-15)


def test_it_holds_where_a_pilot_saw_nothing_but_an_end() -> None:
    """Of truths that are nearly always 1 a pilot may show none that is 0."""
    for chance in (1.0, 1 - 1e-3, 0.99):
        known = spread(1.0, 0.0, 0.0, 1.0)

        def truths(generator: np.random.Generator, count: int, chance: float = chance) -> Floats:
            return np.where(generator.random(count) < chance, 1.0, 0.0)

        assert not alarm(missed(known, truths, chance, 2000), 500, ALPHA)
        low, high = seen(known, truths(np.random.default_rng(0), 2000))
        assert high - low < 0.005 or chance < 1


def test_it_holds_where_a_pilot_saw_nothing_but_the_one_end_that_there_is() -> None:
    """Of 1000 times a rare event, with moments but no upper end, a pilot may show 0 alone."""
    chance = 1e-3
    sizes = {2.0: 1000 * chance**0.5, 4.0: 1000 * chance**0.25}
    for sign in (1.0, -1.0):
        ends = (0.0, math.inf) if sign > 0 else (-math.inf, 0.0)
        known = ClippedSpread.of(0.0, 0.0, ends, sizes, 0.5)

        def rare(generator: np.random.Generator, count: int, sign: float = sign) -> Floats:
            return sign * np.where(generator.random(count) < chance, 1000.0, 0.0)

        assert not alarm(missed(known, rare, sign, 2000), 500, ALPHA)
