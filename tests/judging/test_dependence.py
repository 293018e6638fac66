"""The interval of the largest dependence, held to chances that are known."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dropcheck.judging.cells import dependence

REPETITIONS = 400
DRAWS = 1000
ALPHA = 0.2


def tables_of(chances: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Counts of so many draws, from the chances of each cell."""
    return rng.multinomial(DRAWS, chances.reshape(-1)).reshape(chances.shape).astype(float)


def largest(chances: np.ndarray[Any, Any]) -> float:
    """The largest difference of a joint chance and the product of chances, by its definition."""
    found = 0.0
    for corner in itertools.product(*map(range, chances.shape)):
        joint = chances[tuple(slice(0, at + 1) for at in corner)].sum()
        product = 1.0
        for axis, at in enumerate(corner):
            product *= np.moveaxis(chances, axis, 0)[: at + 1].sum()
        found = max(found, abs(joint - product))
    return found


def partly_dependent(shape: tuple[int, ...], by: float) -> np.ndarray[Any, Any]:
    """Chances that are those of independent quantities with a share of a common one."""
    margins = [np.arange(1, length + 1) / sum(range(1, length + 1)) for length in shape]
    free = np.ones(())
    for axis, margin in enumerate(margins):
        free = free * margin.reshape([-1 if own == axis else 1 for own in range(len(shape))])
    common = np.zeros(shape)
    for at in range(min(shape)):
        common[(at,) * len(shape)] = 1 / min(shape)
    return (1 - by) * free + by * common


@pytest.mark.parametrize("by", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(2, 2), (4, 4), (2, 3, 2)])
def test_the_interval_holds_the_largest_dependence(shape: tuple[int, ...], by: float) -> None:
    rng = np.random.default_rng(0)
    chances = partly_dependent(shape, by)
    truth = largest(chances)
    levels = []
    for axis, length in enumerate(shape):
        others = tuple(other for other in range(len(shape)) if other != axis)
        exact = np.cumsum(chances.sum(axis=others))[: length - 1]
        levels.append(rng.binomial(4 * DRAWS, exact) / (4 * DRAWS))  # as of first draws
    below = above = 0
    for _ in range(REPETITIONS):
        counts = tables_of(chances, rng)
        _, (low, high) = dependence([counts], [levels], DRAWS, ALPHA)
        below += high < truth
        above += low > truth
    for missed in (below, above):
        assert stats.binom.sf(missed - 1, REPETITIONS, ALPHA / 2) > 1e-6
    assert high < 0.25 + truth  # it says something
