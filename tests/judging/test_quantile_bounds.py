"""Intervals for quantiles held to every outcome of small samples, and to binomial ranks."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from dropcheck.judging.cells import bounds, estimate

Array = npt.NDArray[Any]

ENDS = np.array([np.nextafter(0.0, -1.0), 0.0, 1.0, np.nextafter(2.0, 0.0), 2.0])


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """Every way to share a total out."""
    return [
        tuple(b - a - 1 for a, b in itertools.pairwise((-1, *bars, total + parts - 1)))
        for bars in itertools.combinations(range(total + parts - 1), parts - 1)
    ]


def quantiles(chances: tuple[float, ...], level: float) -> tuple[float, float]:
    """The least and the greatest quantile of a law: its chances between and at the cuts.

    What lies between two cuts may lie anywhere there: it is put next to the upper one.
    """
    values = [-0.5, 0.0, 0.5, 1.5, 2.0, 2.5]  # below 0, at 0, up to 1, below 2, at 2, above
    reached = np.cumsum(chances)
    least = values[int(np.argmax(reached >= level - 1e-12))]
    before = reached - np.array(chances)
    greatest = values[int(np.flatnonzero(before <= level + 1e-12)[-1])]
    return least, greatest


DRAWS, ALPHA = 12, 0.3


@cache
def all_bounds(level: float) -> tuple[Array, Array, Array]:
    """The counts in the cells of every outcome, and the bounds that follow."""
    counts = np.array(list(compositions(DRAWS, len(ENDS) + 1)))
    below = np.cumsum(counts, axis=1)[:, :-1].astype(float)
    ends = np.array([bounds(ENDS, one, DRAWS, level, ALPHA) for one in below])
    return counts, ends[:, 0], ends[:, 1]


LAWS = [
    (0.1, 0.3, 0.1, 0.1, 0.2, 0.2),  # atoms at 0 and 2
    (0.5, 0.0, 0.0, 0.0, 0.0, 0.5),  # nothing between
    (0.2, 0.0, 0.3, 0.3, 0.0, 0.2),  # no atoms
    (0.0, 0.0, 0.0, 0.0, 1.0, 0.0),  # a constant
    (0.05, 0.9, 0.05, 0.0, 0.0, 0.0),
]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("level", [0.1, 0.5, 0.8])
def test_both_ends_together_miss_no_more_often_than_promised(
    law: tuple[float, ...], level: float
) -> None:
    """By every outcome of twelve draws: an end is wrong where a quantile lies beyond it."""
    least, greatest = quantiles(law, level)
    counts, low, high = all_bounds(level)
    missed = counts[(least < low) | (greatest > high)]
    assert stats.multinomial.pmf(missed, DRAWS, law).sum() <= ALPHA


def test_the_promise_is_not_kept_by_far() -> None:
    """Half as much again is missed where an end costs a whole tail of its own: it can fail."""
    draws, alpha, level = 12, 0.3, 0.5
    law = (0.2, 0.0, 0.3, 0.3, 0.0, 0.2)
    missed = 0.0
    for counts in compositions(draws, len(law)):
        below = np.cumsum(counts)[:-1].astype(float)
        low, high = bounds(ENDS, below, draws, level, 3 * alpha)
        if low > 0.5 or high < 0.5:
            missed += float(stats.multinomial.pmf(counts, draws, law))
    assert missed > alpha / 3


@pytest.mark.parametrize("level", [0.01, 0.5, 0.999])
@pytest.mark.parametrize("seen", [5, 100, 10_000])
def test_ends_are_order_statistics(seen: int, level: float) -> None:
    """With a cut at each value the ranks are the binomial's own quantiles."""
    alpha = 0.01
    ends = np.arange(1.0, seen + 1)
    low, high = bounds(ends, ends, seen, level, alpha)
    ranks = np.arange(0, seen + 1)
    few = ranks[stats.binom.cdf(ranks, seen, level) <= alpha / 2]
    many = ranks[stats.binom.sf(ranks - 1, seen, level) <= alpha / 2]
    few = few[few > 0]
    assert low == (math.nextafter(float(few[-1]), math.inf) if len(few) else -math.inf)
    assert high == (float(many[0]) if len(many) else math.inf)


def test_where_nothing_was_seen_nothing_is_known() -> None:
    assert bounds(ENDS, np.zeros(5), 0, 0.5, 0.05) == (-math.inf, math.inf)
    assert bounds(np.zeros(0), np.zeros(0), 10, 0.5, 0.05) == (-math.inf, math.inf)
    assert math.isnan(estimate(ENDS, np.zeros(5), 0, 0.5))


def test_all_draws_on_one_side() -> None:
    low, high = bounds(ENDS, np.zeros(5), 1000, 0.5, 1e-6)
    assert (low, high) == (math.nextafter(2.0, math.inf), math.inf)
    low, high = bounds(ENDS, np.full(5, 1000.0), 1000, 0.5, 1e-6)
    assert (low, high) == (-math.inf, math.nextafter(0.0, -math.inf))


def test_estimates_lie_where_the_level_is_passed() -> None:
    counts = np.array([10.0, 40.0, 60.0, 70.0, 95.0])
    assert estimate(ENDS, counts, 100, 0.3) == 0.0  # an atom
    assert estimate(ENDS, counts, 100, 0.5) == 0.5  # halfway up to 1
    assert estimate(ENDS, counts, 100, 0.8) == 2.0
    assert math.isnan(estimate(ENDS, counts, 100, 0.05))  # below all cuts
    assert math.isnan(estimate(ENDS, counts, 100, 0.99))
