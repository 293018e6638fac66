"""The interval from block sums: against closed forms, and how often it misses.

The closed forms are compared to within what a seeded sample allows (more than six standard errors
of it). The rates of misses are judged by the exact binomial test of `trials.alarm`: some 40 of
them, each with a false alarm of 1e-6. Beside each stands an interval with a part left out, at which
the same alarm must ring.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from trials import alarm

from dropcheck.inference import intervals
from dropcheck.inference.intervals import Interval, estimate_interval

Floats = npt.NDArray[np.float64]
Theta = Callable[[Floats], Floats]
Sums = Callable[[np.random.Generator, int], Floats]

DRAWS = 64  # of one block, in the tests of coverage: few, so that skewness is felt
REPEATS = 600


def first(means: Floats) -> Floats:
    return np.asarray(means[0], np.float64)


def variance(means: Floats) -> Floats:
    return np.asarray(means[1] - means[0] ** 2, np.float64)


def deviation(means: Floats) -> Floats:
    return np.sqrt(np.maximum(variance(means), 0))


def ratio(means: Floats) -> Floats:
    return np.asarray(means[0] / means[1], np.float64)


def correlation(means: Floats) -> Floats:
    x, y, xx, yy, xy = means
    return np.asarray((xy - x * y) / np.sqrt((xx - x**2) * (yy - y**2)), np.float64)


def squares(means: Floats) -> Floats:
    return np.asarray((means**2).sum(axis=0), np.float64)


def powers(x: Floats) -> Floats:
    """Draws [blocks, draws] to sums of x and x², [blocks, 2]."""
    return np.stack([x.sum(axis=1), (x**2).sum(axis=1)], axis=1)


def pairs(x: Floats, y: Floats) -> Floats:
    """Draws to the sums that a correlation needs, [blocks, 5]."""
    return np.stack([part.sum(axis=1) for part in (x, y, x * x, y * y, x * y)], axis=1)


# ---- closed forms -------------------------------------------------------------------------------


def test_a_mean_has_students_interval() -> None:
    half = np.random.default_rng(2).normal(size=(100, 1))
    sums = np.concatenate([half, -half]) + 3.0  # symmetric: no skewness to widen for
    found = estimate_interval(sums, 1, first, 0.01)
    error = float(sums.std(ddof=1)) / math.sqrt(200)
    # nine tenths of the error pay for the first order
    give = float(stats.t.isf(0.9 * 0.01 / 2, 199)) * error
    assert found.estimate == pytest.approx(3.0, rel=1e-12)
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    assert found.high - 3.0 == pytest.approx(give, rel=1e-9)
    assert 3.0 - found.low == pytest.approx(give, rel=1e-9)
    assert found.unmet is None


def test_skewness_widens_on_its_own_side_and_never_narrows() -> None:
    sums = np.random.default_rng(3).exponential(size=(400, 1))
    found = estimate_interval(sums, 1, first, 0.05)
    give = float(stats.t.isf(0.9 * 0.05 / 2, 399)) * found.standard_error
    assert found.estimate - found.low == pytest.approx(give, rel=1e-9)
    assert found.high - found.estimate > 1.05 * give
    mirrored = estimate_interval(-sums, 1, first, 0.05)
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low), rel=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.6, -0.95])
def test_a_correlation_has_fishers_standard_error(rho: float) -> None:
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(2, 40_000, 1))
    y = rho * x + math.sqrt(1 - rho**2) * z
    found = estimate_interval(pairs(x, y), 1, correlation, 0.01)
    assert found.standard_error == pytest.approx((1 - rho**2) / math.sqrt(40_000), rel=0.1)


def test_a_standard_deviation_has_its_standard_error() -> None:
    x = np.random.default_rng(5).normal(0, 3, (40_000, 1))
    found = estimate_interval(powers(x), 1, deviation, 0.01)
    assert found.standard_error == pytest.approx(3 / math.sqrt(2 * 40_000), rel=0.1)


def test_a_ratio_has_the_delta_methods_standard_error() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.exponential(size=(2, 5000))
    y = x + y
    found = estimate_interval(np.stack([x, y], axis=1), 1, ratio, 0.01)
    share = x.mean() / y.mean()
    error = float(np.std(x - share * y, ddof=1)) / float(y.mean()) / math.sqrt(5000)
    assert found.standard_error == pytest.approx(error, rel=1e-3)
    assert found.estimate == pytest.approx(share, rel=1e-12)


def test_a_square_at_0_has_the_second_order_alone() -> None:
    half = np.random.default_rng(7).normal(size=(500, 1))
    sums = np.concatenate([half, -half])  # the mean is exactly 0, and so is the first order
    found = estimate_interval(sums, 1, squares, 0.01)
    error = float(sums.std(ddof=1)) / math.sqrt(1000)
    reach = float(stats.f.isf(0.1 * 0.01, 1, 999)) * error**2  # Hotelling's T² in one dimension
    assert found.low == pytest.approx(-reach, rel=1e-6)
    assert found.high == pytest.approx(reach, rel=1e-6)


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**-60, 2.0**60, 2.0**600])
def test_the_unit_of_measurement_changes_nothing(unit: float) -> None:
    sums = np.random.default_rng(8).exponential(size=(200, 2))
    plain = estimate_interval(sums, 1, first, 0.01)
    found = estimate_interval(sums * unit, 1, first, 0.01)
    assert found.low / unit == pytest.approx(plain.low, rel=1e-12)
    assert found.high / unit == pytest.approx(plain.high, rel=1e-12)
    assert found.unmet is None
    assert plain.unmet is None


def test_averages_that_are_almost_equal_are_told_apart() -> None:
    rng = np.random.default_rng(9)
    x, z = rng.normal(size=(2, 400))
    y = x + 1e-7 * z

    def difference(means: Floats) -> Floats:
        return np.asarray((means[1] - means[0]) * 1e7, np.float64)

    found = estimate_interval(np.stack([x, y], axis=1), 1, difference, 0.01)
    assert found.standard_error == pytest.approx(float(z.std(ddof=1)) / 20, rel=1e-4)


# ---- what cannot be told ------------------------------------------------------------------------


def test_few_blocks_have_no_interval() -> None:
    found = estimate_interval(np.ones((63, 1)), 1000, first, 0.01)
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert str(found.unmet) == "63 of the 64 blocks that an interval takes"


def test_a_constant_is_a_point_once_that_is_no_accident() -> None:
    needed = math.log(1 / 0.01) / 1e-4
    few = estimate_interval(np.full((100, 1), 3.0 * 400), 400, first, 0.01)
    many = estimate_interval(np.full((100, 1), 3.0 * 500), 500, first, 0.01)
    assert 40_000 < needed < 50_000
    assert few.unmet is not None
    assert many == Interval(3.0, 3.0, 3.0, 0.0)
    # pairs that share draws are not as many draws
    crossed = estimate_interval(np.full((100, 1), 3.0 * 500), 500, first, 0.01, draws=5000)
    assert crossed.unmet is not None


def test_undefined_at_the_averages_is_no_interval() -> None:
    found = estimate_interval(np.zeros((100, 2)), 10, lambda m: np.full_like(m[0], np.nan), 0.01)
    assert math.isnan(found.low)
    assert found.unmet is not None


def test_undefined_beside_the_averages_is_no_interval() -> None:
    sums = np.random.default_rng(10).normal(1e-3, 1, (100, 1))

    def root(means: Floats) -> Floats:
        return np.where(means[0] >= 0, np.sqrt(np.abs(means[0])), np.nan)

    centred = sums - sums.mean() + 1e-3
    found = estimate_interval(centred, 1, root, 0.01)
    assert found.unmet is not None
    assert found.high == math.inf


@pytest.mark.parametrize("alpha", [1e-2, 1e-6])
@pytest.mark.parametrize("df", [1.0, 1.5, 2.0])
def test_heavy_tails_are_noticed(df: float, alpha: float) -> None:
    rng = np.random.default_rng(11)
    noticed = 0
    for _ in range(20):
        draws = rng.standard_t(df, (256, 256)) ** 2
        noticed += (
            estimate_interval(draws.sum(axis=1)[:, None], 256, first, alpha).unmet is not None
        )
    assert noticed == 20


@pytest.mark.parametrize("alpha", [1e-2, 1e-6])
def test_light_tails_are_let_pass(alpha: float) -> None:
    rng = np.random.default_rng(12)
    for _ in range(20):
        sums = rng.exponential(size=(256, 256)).sum(axis=1, keepdims=True)
        assert estimate_interval(sums, 256, first, alpha).unmet is None


# ---- how often it misses ------------------------------------------------------------------------


def misses(
    sums: Sums,
    theta: Theta,
    truth: float,
    alpha: float,
    *,
    blocks: int = 64,
    draws: int = DRAWS,
    repeats: int = REPEATS,
) -> int:
    """How many intervals that might be used to decide miss the truth."""
    rng = np.random.default_rng(13)
    missed = 0
    for _ in range(repeats):
        found = estimate_interval(sums(rng, blocks), draws, theta, alpha)
        missed += found.unmet is None and not found.low <= truth <= found.high
    return missed


def dropout(p: float) -> Sums:
    """Sums of x − 1 and (x − 1)² for x = 0 with chance p, else 1/(1 − p)."""
    kept = 1 / (1 - p) - 1

    def sums(rng: np.random.Generator, blocks: int) -> Floats:
        survived = rng.binomial(DRAWS, 1 - p, blocks)
        dropped = DRAWS - survived
        return np.stack([kept * survived - dropped, kept**2 * survived + dropped], axis=1)

    return sums


def alone(draw: Callable[[np.random.Generator, tuple[int, int]], Floats], shift: float) -> Sums:
    return lambda rng, blocks: powers(draw(rng, (blocks, DRAWS)) - shift)


def normal_pairs(rho: float) -> Sums:
    def sums(rng: np.random.Generator, blocks: int) -> Floats:
        x, z = rng.normal(size=(2, blocks, DRAWS))
        return pairs(x, rho * x + math.sqrt(1 - rho**2) * z)

    return sums


def part_and_whole(rng: np.random.Generator, blocks: int) -> Floats:
    x, rest = rng.exponential(size=(2, blocks, DRAWS))
    return np.stack([x.sum(axis=1), (x + rest).sum(axis=1)], axis=1)


def shared_within_a_draw(rng: np.random.Generator, blocks: int) -> Floats:
    """Sixteen elements a draw about a common part; sums of their mean and of their mean square."""
    common = rng.normal(0, 3, (blocks, DRAWS, 1))
    elements = common + rng.normal(size=(blocks, DRAWS, 16))
    means, mean_squares = elements.mean(axis=2), (elements**2).mean(axis=2)
    return np.stack([means.sum(axis=1), mean_squares.sum(axis=1)], axis=1)


HOSTILE: dict[str, tuple[Sums, Theta, float]] = {
    "dropout's variance, p = 0.5": (dropout(0.5), variance, 1.0),
    "dropout's variance, p = 0.9": (dropout(0.9), variance, 9.0),
    "dropout's variance, p = 0.99": (dropout(0.99), variance, 99.0),
    "dropout's deviation, p = 0.99": (dropout(0.99), deviation, math.sqrt(99.0)),
    "exponential mean": (alone(lambda r, s: r.exponential(1, s), 0.7), first, 0.3),
    "exponential variance": (alone(lambda r, s: r.exponential(1, s), 0.7), variance, 1.0),
    "lognormal mean": (alone(lambda r, s: r.lognormal(0, 1, s), 1), first, math.exp(0.5) - 1),
    "product of normals": (alone(lambda r, s: r.normal(size=s) * r.normal(size=s), 0), first, 0.0),
    "its variance": (alone(lambda r, s: r.normal(size=s) * r.normal(size=s), 0), variance, 1.0),
    "correlation 0": (normal_pairs(0.0), correlation, 0.0),
    "correlation 0.99": (normal_pairs(0.99), correlation, 0.99),
    "ratio of sums that share draws": (part_and_whole, ratio, 0.5),
    "elements that share a draw": (shared_within_a_draw, variance, 10.0),
}


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("name", HOSTILE)
def test_interval_misses_no_more_often_than_it_says(name: str, alpha: float) -> None:
    sums, theta, truth = HOSTILE[name]
    assert not alarm(misses(sums, theta, truth, alpha), REPEATS, alpha)


@pytest.mark.parametrize("name", ["correlation 0.99", "exponential mean", "exponential variance"])
def test_interval_is_not_right_by_being_useless(name: str) -> None:
    sums, theta, truth = HOSTILE[name]
    rng = np.random.default_rng(14)
    found = [estimate_interval(sums(rng, 64), DRAWS, theta, 0.05) for _ in range(50)]
    assert sum(one.unmet is None for one in found) > 25
    assert np.median([one.half_width / one.standard_error for one in found]) < 3.5
    assert not any(one.low <= truth + 8 * one.standard_error <= one.high for one in found)


def eight_normal_blocks(rng: np.random.Generator, blocks: int) -> Floats:
    return rng.normal(size=(blocks, 1))


@pytest.mark.parametrize("naive", [False, True])
def test_students_quantile_is_needed_at_eight_blocks(
    naive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "FEWEST_BLOCKS", 8)
    if naive:
        share = (1 - intervals.SECOND_ORDER_SHARE) / 2
        normal = lambda alpha, _blocks: stats.norm.isf(share * alpha)  # noqa: E731 - a stand-in
        monkeypatch.setattr(intervals, "student_quantile", normal)
        monkeypatch.setattr(intervals, "_shape", lambda _influence: (0.0, 0.0))
    missed = misses(eight_normal_blocks, first, 0.0, 0.01, blocks=8, draws=1, repeats=3000)
    assert alarm(missed, 3000, 0.01) is naive


def many_means(rng: np.random.Generator, blocks: int) -> Floats:
    return rng.normal(size=(blocks, 24))


@pytest.mark.parametrize("naive", [False, True])
def test_the_second_order_is_needed_where_the_first_vanishes(
    naive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Σ (E x)² is 0, and every sample's value of it is not
    if naive:
        monkeypatch.setattr(intervals, "_second_order", lambda *_: 0.0)
    missed = misses(many_means, squares, 0.0, 0.05, blocks=256, draws=1, repeats=100)
    assert alarm(missed, 100, 0.05) is naive


@pytest.mark.parametrize("standard_errors", [0.0, 1.0, 2.0, 4.0])
def test_a_square_near_0_is_held_wherever_it_is(standard_errors: float) -> None:
    mean = standard_errors / 16

    def sums(rng: np.random.Generator, blocks: int) -> Floats:
        return rng.normal(mean, 1, (blocks, 1))

    missed = misses(sums, squares, mean**2, 0.05, blocks=256, draws=1)
    assert not alarm(missed, REPEATS, 0.05)


def rare_and_large(rng: np.random.Generator, blocks: int) -> Floats:
    return 5e3 * rng.binomial(DRAWS, 2e-4, (blocks, 1)).astype(np.float64)


@pytest.mark.parametrize("naive", [False, True])
def test_the_conditions_are_needed_for_rare_events(
    naive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if naive:
        monkeypatch.setattr(intervals, "_unmet", lambda *_: None)
        monkeypatch.setattr(intervals, "_without_spread", lambda c, _n, _a: Interval(c, c, c, 0.0))
    missed = misses(rare_and_large, first, 1.0, 0.01)
    assert alarm(missed, REPEATS, 0.01) is naive


@pytest.mark.parametrize("naive", [False, True])
def test_elements_of_one_draw_are_not_draws(naive: bool) -> None:
    def sums(rng: np.random.Generator, blocks: int) -> Floats:
        common = rng.normal(size=(blocks, 1))
        elements = common + 0.1 * rng.normal(size=(blocks, 16))
        return elements.reshape(-1, 1) if naive else elements.mean(axis=1, keepdims=True)

    assert alarm(misses(sums, first, 0.0, 0.01, blocks=256, draws=1), REPEATS, 0.01) is naive
