"""Counts in cells: laws, samples, quantiles and dependence, by enumeration, scipy and coverage.

What is random is judged by the exact binomial test, with a false alarm of 1e-6 each.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from trials import N, alarm, entry, registry_of, tried

from dropcheck.array_types import Floats
from dropcheck.judging import cells as of_cells
from dropcheck.judging.cells import (
    SHAPES,
    bounds,
    dependence,
    distance,
    empirical_bernstein,
    estimate,
    evidence,
    in_cells,
    law_cells,
    massart,
    sample_cells,
)
from dropcheck.results import Verdict
from dropcheck.settings import Settings
from dropcheck.vocabulary.functions.elementwise import EPSILONS, below_numbers, rounded
from dropcheck.vocabulary.laws import LAWS


def compositions(total: int, parts: int) -> Floats:
    """Every way to share a total out, a row each."""
    bars = itertools.combinations(range(total + parts - 1), parts - 1)
    ends = np.array([(-1, *bar, total + parts - 1) for bar in bars])
    return np.diff(ends, axis=1).astype(float) - 1


# ---- cells of laws and of samples ----------------------------------------------------------------

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "normal": (1.0, 2.0), "gamma": (0.5, 2.0), "beta": (0.5, 0.5), "cauchy": (0.0, 1.0),
    "bernoulli": (0.3,), "poisson": (4.0,), "binomial": (100_000.0, 0.3), "geometric": (0.1,),
    "rademacher": (), "choice": ((0.2, 3.0, 0.1),),
}  # fmt: skip


@pytest.mark.parametrize("number_format", EPSILONS)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_draws_of_a_law_lie_in_its_cells_as_often_as_they_should(
    name: str, number_format: str
) -> None:
    law, draws = LAWS[name], 100_000
    given = [np.array(one)[..., np.newaxis] for one in ARGUMENTS[name]]
    values = law.sample(np.random.default_rng(7), given, (), draws).astype(float)
    drawn = np.sort(rounded(values, number_format))
    magnitude = float(np.median(np.abs(drawn)))
    cells = law_cells(
        law, ARGUMENTS[name], resolution=0.01, magnitude=magnitude, number_format=number_format
    )
    every = np.arange(len(cells.cuts))
    assert cells.chances(every).sum() == pytest.approx(1.0, abs=1e-9)
    at_most = np.append(np.searchsorted(drawn, cells.cuts, side="right"), draws)
    assert cells.impossible(in_cells(at_most, every)) == 0
    if number_format in ("float64", "float32"):  # others have few numbers where a law is dense
        assert cells.left_open < 0.002
    for size in SHAPES:
        places = cells.shape(size)
        if len(places):
            own = in_cells(at_most, places)
            assert stats.chisquare(own, draws * cells.chances(places)).pvalue > 1e-8


@pytest.mark.parametrize("number_format", [one for one in EPSILONS if one != "float64"])
def test_cuts_lie_halfway_between_the_numbers_of_a_format(number_format: str) -> None:
    x = np.random.default_rng(0).normal(size=4096) * 2.0 ** np.arange(-8, 8).repeat(256)
    cuts, nearest = below_numbers(x, number_format), rounded(x, number_format)
    aside = np.maximum(np.abs(cuts) * 2.0**-45, 1e-300)
    above, below = rounded(cuts + aside, number_format), rounded(cuts - aside, number_format)
    np.testing.assert_array_equal(above, nearest)
    np.testing.assert_array_equal(0.5 * (above + below), cuts)


def test_what_rounding_may_move_is_no_cut() -> None:
    narrow = law_cells(LAWS["normal"], (1e9, 1e-4), resolution=0.01, magnitude=1e9)
    assert len(narrow.cuts) == 0  # a float there has a step of 1e-7, and 45 of them are one value
    generator = np.random.default_rng(2)
    exact = 1.0 + generator.integers(0, 4096, 100_000)
    nearly = exact * (1 + 2e-16 * generator.integers(-1, 2, exact.size))
    cuts = sample_cells(nearly, 0.01, 1.0).cuts
    assert np.array_equal(np.searchsorted(cuts, exact), np.searchsorted(cuts, nearly))
    gamma = np.random.default_rng(3).gamma(100.0, size=(2, 100_000)).astype(np.float32)
    cuts = sample_cells(gamma[1].astype(float), 0.01, 1.0, "float32").cuts
    ways = gamma[0].astype(float), np.exp(np.log(gamma[0])).astype(float)
    near = [np.searchsorted(np.sort(x), cuts, side="right") for x in ways]
    assert np.abs(near[0] - near[1]).max() < 10  # of 100,000


SAMPLES: dict[str, tuple[Any, str]] = {
    "few values again": (lambda rng: np.append(rng.normal(size=3000), [0.25] * 500), "float64"),
    "counts": (lambda rng: rng.poisson(3.0, 4000).astype(float), "float64"),
    "many values": (lambda rng: rng.integers(0, 8000, 160_000).astype(float), "float64"),
    # beta numbers with b = 0.5 crowd below 1, where float32 has few
    "float32": (lambda rng: rng.beta(2, 0.5, 20_000).astype(np.float32).astype(float), "float32"),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_no_cell_of_a_sample_is_wide(name: str) -> None:
    draw, number_format = SAMPLES[name]
    cells = sample_cells(draw(np.random.default_rng(1)), 0.01, 1.0, number_format)
    assert cells.left_open < 0.01


# ---- evidence, by every outcome ------------------------------------------------------------------


@pytest.mark.parametrize("chances", [(0.5, 0.5), (0.2, 0.3, 0.5), (0.01, 0.09, 0.9)])
def test_evidence_of_chances_is_1_on_average(chances: tuple[float, ...]) -> None:
    counts = compositions(7, len(chances))
    found = [math.exp(evidence(one, np.array(chances))) for one in counts]
    assert stats.multinomial.pmf(counts, 7, chances) @ found == pytest.approx(1.0, abs=1e-9)
    other = stats.multinomial.pmf(counts, 7, chances[::-1])
    assert other @ found > 1.01 or chances == chances[::-1]


# ---- distances, beside scipy's -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_counts_at_cuts_enclose_the_statistic_of_all_draws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one = np.sort(rng.normal(0.1 * (seed % 3), 1, 500))
    cuts = stats.norm.ppf(np.arange(1, 40) / 40)
    shares = np.searchsorted(one, cuts, side="right") / 500
    found = distance(shares, stats.norm.cdf(cuts), np.zeros(40, dtype=bool))
    statistic = stats.kstest(one, "norm").statistic
    assert found.seen - 1e-12 <= statistic <= found.most + 1e-12 <= statistic + 2 / 40
    other = np.sort(rng.standard_t(3, size=300))
    beside = np.searchsorted(other, cuts, side="right") / 300
    found = distance(shares, beside, np.zeros(40, dtype=bool))
    assert found.seen - 1e-12 <= stats.ks_2samp(one, other).statistic <= found.most + 1e-12


def test_a_cell_with_one_point_leaves_nothing_open() -> None:
    shares, chances = np.array([0.0, 0.48, 0.48, 1.0]), np.array([0.0, 0.5, 0.5, 1.0])
    assert distance(shares, chances, np.ones(5, dtype=bool)).most == pytest.approx(0.02)
    assert distance(shares, chances, np.zeros(5, dtype=bool)).most == pytest.approx(0.52)


def test_massart_bounds_the_distance_as_often_as_it_says() -> None:
    draws, repetitions, alpha = 200, 4000, 0.05
    uniform = np.sort(np.random.default_rng(0).random((repetitions, draws)), axis=1)
    places = np.arange(1, draws + 1) / draws
    apart = np.maximum(places - uniform, uniform - places + 1 / draws).max(axis=1)
    beyond = int((apart > massart(draws, alpha)).sum())
    assert not alarm(beyond, repetitions, alpha)
    assert beyond > repetitions * alpha / 4  # and is nearly the best that there is


@pytest.mark.parametrize("chance", [0.01, 0.5])
def test_the_error_of_a_mean_is_exceeded_no_more_often_than_it_says(chance: float) -> None:
    draws, repetitions, alpha = 400, 20_000, 0.05
    share = np.random.default_rng(0).binomial(draws, chance, repetitions) / draws
    variance = share * (1 - share) * draws / (draws - 1)
    error = empirical_bernstein(draws, variance, np.array(1.0), alpha)
    for off in (share - chance, chance - share):
        assert not alarm(int((off > error).sum()), repetitions, alpha)
    assert (np.abs(share - chance) > error / 3).mean() > alpha / 2  # a third of it would not do


# ---- the largest dependence ----------------------------------------------------------------------

REPETITIONS, DRAWS, ALPHA = 400, 1000, 0.2


def largest(chances: Floats) -> float:
    """The largest difference of a joint chance and the product of chances, by its definition."""
    found = 0.0
    for corner in itertools.product(*map(range, chances.shape)):
        joint = chances[tuple(slice(0, at + 1) for at in corner)].sum()
        sides = [np.moveaxis(chances, axis, 0)[: at + 1].sum() for axis, at in enumerate(corner)]
        found = max(found, abs(joint - math.prod(sides)))
    return found


def partly_dependent(shape: tuple[int, ...], by: float) -> Floats:
    """Chances that are those of independent quantities with a share of a common one."""
    margins = [np.arange(1, length + 1) / sum(range(1, length + 1)) for length in shape]
    common = np.zeros(shape)
    for at in range(min(shape)):
        common[(at,) * len(shape)] = 1 / min(shape)
    free: Floats = functools.reduce(np.multiply.outer, margins)
    return (1 - by) * free + by * common


SHARES = [(partly_dependent(shape, by), 0.0) for shape in [(4, 4), (2, 3, 2)] for by in (0.0, 0.1)]
# A quantity and itself, with shares of 1/2 at the cut: nothing but the margins is not known.
SHARES += [(np.diag([0.3, 0.7]), 0.2)]
# Three quantities, where a covariance is larger than every difference.
SHARES += [(np.reshape([1, 40, 12, 0, 12, 0, 24, 11], (2, 2, 2)) / 100, 0.0)]


@pytest.mark.parametrize(("chances", "off"), SHARES)
def test_the_interval_holds_the_largest_dependence(chances: Floats, off: float) -> None:
    rng = np.random.default_rng(0)
    truth, shape = largest(chances), chances.shape
    levels = []
    for axis, length in enumerate(shape):
        others = tuple(other for other in range(len(shape)) if other != axis)
        exact = np.cumsum(chances.sum(axis=others))[: length - 1] + off
        levels.append(rng.binomial(4 * DRAWS, exact) / (4 * DRAWS))  # as of first draws
    below = above = 0
    for _ in range(REPETITIONS):
        counts = rng.multinomial(DRAWS, chances.ravel()).reshape(shape).astype(float)
        _, (low, high) = dependence([counts], [levels], DRAWS, ALPHA)
        below += high < truth
        above += low > truth
    assert not alarm(below, REPETITIONS, ALPHA / 2)
    assert not alarm(above, REPETITIONS, ALPHA / 2)
    assert high < 0.25 + truth  # it says something


# ---- quantiles, by every outcome of twelve draws -------------------------------------------------

ENDS = np.array([np.nextafter(0.0, -1.0), 0.0, 1.0, np.nextafter(2.0, 0.0), 2.0])
OUTCOMES = compositions(12, len(ENDS) + 1)
LAWS_AT_ENDS = [
    (0.1, 0.3, 0.1, 0.1, 0.2, 0.2),  # atoms at 0 and 2
    (0.5, 0.0, 0.0, 0.0, 0.0, 0.5),  # nothing between
    (0.2, 0.0, 0.3, 0.3, 0.0, 0.2),  # no atoms
    (0.0, 0.0, 0.0, 0.0, 1.0, 0.0),  # a constant
    (0.05, 0.9, 0.05, 0.0, 0.0, 0.0),
]


@functools.cache
def ends_of_all(level: float, alpha: float) -> tuple[Floats, Floats]:
    """The bounds that follow from every outcome."""
    below = np.cumsum(OUTCOMES, axis=1)[:, :-1]
    low, high = np.array([bounds(ENDS, one, 12, level, alpha) for one in below]).T
    return low, high


def missed(law: tuple[float, ...], level: float, alpha: float) -> float:
    """The chance that an end is wrong: that a quantile lies beyond it.

    What lies between two cuts may lie anywhere there: it is put next to the upper one.
    """
    values = [-0.5, 0.0, 0.5, 1.5, 2.0, 2.5]  # below 0, at 0, up to 1, below 2, at 2, above
    reached = np.cumsum(law)
    least = values[int(np.argmax(reached >= level - 1e-12))]
    greatest = values[int(np.flatnonzero(reached - np.array(law) <= level + 1e-12)[-1])]
    low, high = ends_of_all(level, alpha)
    wrong = OUTCOMES[(least < low) | (greatest > high)]
    return float(stats.multinomial.pmf(wrong, 12, law).sum())


@pytest.mark.parametrize("level", [0.1, 0.5, 0.8])
def test_both_ends_of_a_quantile_miss_no_more_often_than_promised(level: float) -> None:
    assert all(missed(law, level, 0.3) <= 0.3 for law in LAWS_AT_ENDS)
    assert missed(LAWS_AT_ENDS[2], 0.5, 0.9) > 0.1  # and not by far


@pytest.mark.parametrize("level", [0.01, 0.5, 0.999])
@pytest.mark.parametrize("seen", [5, 100, 10_000])
def test_ends_are_order_statistics(seen: int, level: float) -> None:
    """With a cut at each value the ranks are the binomial's own quantiles."""
    alpha, ends, ranks = 0.01, np.arange(1.0, seen + 1), np.arange(0, seen + 1)
    low, high = bounds(ends, ends, seen, level, alpha)
    few = ranks[(ranks > 0) & (stats.binom.cdf(ranks, seen, level) <= alpha / 2)]
    many = ranks[stats.binom.sf(ranks - 1, seen, level) <= alpha / 2]
    assert low == (math.nextafter(float(few[-1]), math.inf) if len(few) else -math.inf)
    assert high == (float(many[0]) if len(many) else math.inf)


def test_where_little_was_seen_little_is_known_of_a_quantile() -> None:
    assert bounds(ENDS, np.zeros(5), 0, 0.5, 0.05) == (-math.inf, math.inf)
    assert bounds(np.zeros(0), np.zeros(0), 10, 0.5, 0.05) == (-math.inf, math.inf)
    above = bounds(ENDS, np.zeros(5), 1000, 0.5, 1e-6)
    assert above == (math.nextafter(2.0, math.inf), math.inf)
    below = bounds(ENDS, np.full(5, 1000.0), 1000, 0.5, 1e-6)
    assert below == (-math.inf, math.nextafter(0.0, -math.inf))
    counts = np.array([10.0, 40.0, 60.0, 70.0, 95.0])
    found = [estimate(ENDS, counts, 100, level) for level in (0.3, 0.5, 0.8, 0.05, 0.99)]
    assert found == pytest.approx([0.0, 0.5, 2.0, math.nan, math.nan], nan_ok=True)


# ---- the error of a claim ------------------------------------------------------------------------


@pytest.mark.parametrize(("beyond", "verdict"), [(1.9, Verdict.VERIFIED), (2.1, Verdict.REFUTED)])
def test_evidence_and_distance_share_the_error(
    beyond: float, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_cells, "average", lambda _: math.log(beyond / Settings().alpha))
    (found,) = tried(registry_of(entry("law", N, "x ~ normal(0, 1)")), Settings())
    assert found.verdict is verdict
