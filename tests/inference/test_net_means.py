"""The interval of a mean from values of tiny variance, of which a bound far away is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from trials import alarm

from dropcheck.inference.intervals import NetSpread, Reach
from dropcheck.simulation.steps import net_points

ALPHA = 0.05


def spread(centre: float, guess: float, low: float, high: float) -> NetSpread:
    found = NetSpread.of(centre, guess, (low, high), {}, 0.0)
    assert found is not None
    return found


def test_the_inequality_of_fan_grama_and_liu_holds() -> None:
    rates = np.linspace(0, 0.999, 1000)[:, np.newaxis]
    values = np.concatenate([np.linspace(-1, 3, 2001), [10, 100, 1e4]])
    psi = -np.log1p(-rates) - rates
    assert (rates * values - psi * values**2 <= np.log1p(rates * values) + 1e-12).all()
    beyond = rates * -1.5 - psi * 1.5**2 > np.log(np.maximum(1 - 1.5 * rates, 1e-300)) + 1e-12
    assert beyond.any()  # and not where a value is below -1


Draw = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]
LAWS: dict[str, Draw] = {
    "a rare far value": lambda g, n: np.where(g.random(n) < 0.01, 1.0, 0.0),
    "a rare value on the other side": lambda g, n: np.where(g.random(n) < 0.01, -1.0, 0.0),
    "a fair coin": lambda g, n: np.where(g.random(n) < 0.5, 1.0, -1.0),
    "a narrow uniform": lambda g, n: 0.01 * (g.random(n) - 0.5),
}
MEANS = {"a rare far value": 0.01, "a rare value on the other side": -0.01}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("nets", [50, 1000])
def test_it_holds_for_every_law_whatever_the_pilot_guessed(name: str, nets: int) -> None:
    generator, truth = np.random.default_rng(0), MEANS.get(name, 0.0)
    for guess in (1e-8, 1e-2):
        known, missed = spread(0.003, guess, -1.0, 1.0), 0
        for _ in range(500):
            off = LAWS[name](generator, nets) - known.centre
            low, high = known.interval(off.mean(), (off**2).mean(), nets, ALPHA)
            missed += not low <= truth <= high
        assert not alarm(missed, 500, ALPHA)


def test_points_of_a_net_taken_for_independent_values_miss_too_often() -> None:
    """As the means of nets taken for the means of so many draws would: an indicator of a square."""
    generator, size, nets, missed = np.random.default_rng(0), 64, 100, [0, 0]
    side = 0.53
    for _ in range(300):
        points = net_points(generator, 3, size, nets) * 2.0**-64
        inside = (points < side).all(axis=0)
        # one element of a model that repeats draws: nets whose points are all alike
        values = np.where(inside.reshape(nets, size)[:, :1], 1.0, 0.0).repeat(size, axis=1)
        means = values.mean(axis=1)
        known = spread(0.15, float(means.var()) + 1e-9, 0.0, 1.0)
        off = means - known.centre
        for place, count in enumerate((nets, nets * size)):
            low, high = known.interval(off.mean(), (off**2).mean(), count, ALPHA)
            missed[place] += not low <= side**3 <= high
    assert not alarm(missed[0], 300, ALPHA)
    assert alarm(missed[1], 300, ALPHA)


def test_the_mean_of_what_is_cut_off_is_bounded() -> None:
    """E(|z| - b)₊ of a normal z, at the b that moments of several orders give."""
    sizes = {p: float(stats.norm.moment(int(p))) ** (1 / p) for p in (4.0, 8.0, 16.0)}
    for most in (0.1, 1e-3, 1e-6):
        known = NetSpread.of(0.0, 1.0, (-math.inf, math.inf), sizes, most)
        assert known is not None
        far = known.above.far
        cut = 2 * (stats.norm.pdf(far) - far * stats.norm.sf(far))  # ∫ (x - far) φ(x) dx
        assert cut <= most == known.above.cut
        alone = NetSpread.of(0.0, 1.0, (-math.inf, math.inf), {4.0: sizes[4.0]}, most)
        assert alone is not None
        assert alone.above.far >= far


def test_the_largest_share_that_can_be_cut_off_is() -> None:
    """The bound is reached by two values: 0, and one at p/(p - 1) of the reach."""
    order, chance, value = 6.0, 1e-4, 3.0
    size = (chance * value**order) ** (1 / order)
    reach = value * (order - 1) / order
    cut = chance * (value - reach)
    known = NetSpread.of(0.0, 1.0, (-math.inf, math.inf), {order: size}, cut)
    assert known is not None
    assert known.below.far == pytest.approx(reach)
    assert known.below.cut == cut


def test_each_side_has_its_own_reach() -> None:
    known = NetSpread.of(0.2, 1e-6, (0.0, 1000.0), {8: 2.0}, 1e-3)
    assert known is not None
    assert known.below == Reach(far=0.2)
    assert known.above.cut == 1e-3
    low, high = known.interval(0.0, 1e-6, 10_000, 1e-6)
    assert 0.2 - low < (high - 0.2) / 3


@pytest.mark.parametrize("variance", [1e-8, 1e-4, 1e-2])
def test_its_width_is_near_the_best_there_is(variance: float) -> None:
    """√(2 v L/n), and the reach times L/n, which a value that no net shows can hide."""
    known, nets = spread(0.0, variance, -1.0, 1.0), 100_000
    share = math.log(2 / 1e-6) / nets
    width = known.half_width(1000, 100, 1e-6)
    assert max(math.sqrt(2 * variance * share), share) < width
    assert width < 1.1 * (math.sqrt(2 * variance * share) + share)
    low, high = known.interval(0.0, variance, nets, 1e-6)
    assert (high - low) / 2 == pytest.approx(width)


def test_nothing_is_known_of_values_without_a_bound() -> None:
    assert NetSpread.of(0.0, 1.0, (-math.inf, 1.0), {4: math.inf}, 1e-3) is None
    assert NetSpread.of(0.0, 1.0, (-math.inf, 1.0), {4: 1.0}, 0.0) is None


def test_it_holds_where_a_pilot_saw_nothing_but_an_end() -> None:
    """Of truths that are nearly always 1 a pilot may show none that is 0."""
    generator = np.random.default_rng(0)
    for chance in (1.0, 1 - 1e-3, 0.99):
        known, missed, narrow = spread(1.0, 0.0, 0.0, 1.0), 0, 0
        for _ in range(500):
            off = np.where(generator.random(2000) < chance, 1.0, 0.0) - known.centre
            low, high = known.interval(off.mean(), (off**2).mean(), 2000, ALPHA)
            missed += not low <= chance <= high
            narrow += high - low < 0.005
        assert not alarm(missed, 500, ALPHA)
        assert narrow == 500 or chance < 1


def test_without_room_beyond_an_end_there_is_no_interval() -> None:
    """As a centre at the end itself would leave it: then nothing below it is expected."""
    assert NetSpread.of(1.0, 0.0, (1.0, 1.0), {}, 0.0) is None
