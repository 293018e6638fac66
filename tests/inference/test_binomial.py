"""Exact binomial intervals, by going through every outcome.

Nothing here is random: the chance that an interval misses is summed over all outcomes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from dropcheck.inference.intervals import clopper_pearson, upper_bound

Ends = Callable[[int, int, float], tuple[float, float]]


def wald(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """The interval of the textbooks, for comparison."""
    share = successes / trials
    give = float(stats.norm.isf(alpha / 2)) * math.sqrt(share * (1 - share) / trials)
    return share - give, share + give


def wilson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """Wilson's score interval: right on average over p, not at each."""
    found = stats.binomtest(successes, trials).proportion_ci(1 - alpha, "wilson")
    return float(found.low), float(found.high)


def most_missed(ends: Ends, trials: int, alpha: float) -> float:
    """The largest chance of a miss, over a grid of p and beside every end of an interval."""
    intervals = [ends(successes, trials, alpha) for successes in range(trials + 1)]
    low, high = np.array(intervals).T
    beside = np.concatenate([low - 1e-9, high + 1e-9, np.linspace(0, 1, 201)])
    p = beside[(beside >= 0) & (beside <= 1)][:, np.newaxis]
    missed = (p < low) | (p > high)
    chance = stats.binom.pmf(np.arange(trials + 1), trials, p)
    return float((chance * missed).sum(axis=1).max())


@pytest.mark.parametrize("alpha", [0.1, 0.01, 1e-6])
@pytest.mark.parametrize("trials", [1, 2, 5, 20, 60])
def test_interval_holds_every_probability_as_often_as_promised(trials: int, alpha: float) -> None:
    assert most_missed(clopper_pearson, trials, alpha) <= alpha * (1 + 1e-9)


@pytest.mark.parametrize("ends", [wald, wilson])
def test_interval_without_that_promise_is_found_out(ends: Ends) -> None:
    assert most_missed(ends, 20, 0.01) > 0.02


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 1000)])
@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_interval_is_that_of_clopper_and_pearson(successes: int, trials: int, alpha: float) -> None:
    expected = stats.binomtest(successes, trials).proportion_ci(1 - alpha, "exact")
    assert clopper_pearson(successes, trials, alpha) == pytest.approx(
        (expected.low, expected.high), rel=1e-7, abs=1e-12
    )


@pytest.mark.parametrize("alpha", [1e-6, 1e-9, 1e-14])
@pytest.mark.parametrize(("successes", "trials"), [(1, 100), (700, 1000), (123_456, 1_000_000)])
def test_ends_are_where_the_tail_is_half_of_alpha(
    successes: int, trials: int, alpha: float
) -> None:
    low, high = clopper_pearson(successes, trials, alpha)
    assert stats.binom.sf(successes - 1, trials, low) == pytest.approx(alpha / 2, rel=1e-5)
    assert stats.binom.cdf(successes, trials, high) == pytest.approx(alpha / 2, rel=1e-5)


def test_nothing_tried_bounds_nothing() -> None:
    assert clopper_pearson(0, 0, 0.05) == (0.0, 1.0)
    assert upper_bound(0, 0, 0.05) == 1.0
    assert upper_bound(7, 7, 0.05) == 1.0


@pytest.mark.parametrize("alpha", [0.05, 1e-8])
def test_upper_bound_has_all_of_alpha_on_one_side(alpha: float) -> None:
    assert stats.binom.cdf(3, 50, upper_bound(3, 50, alpha)) == pytest.approx(alpha, rel=1e-6)
    assert upper_bound(0, 1000, alpha) == pytest.approx(1 - alpha ** (1 / 1000), rel=1e-9)
    assert upper_bound(3, 50, alpha) < clopper_pearson(3, 50, alpha)[1]
