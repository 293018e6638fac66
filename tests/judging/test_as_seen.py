"""The interval of an average of code that is too skewed for the limit theorem."""

from __future__ import annotations

import numpy as np
import pytest
from trials import alarm

from dropcheck.judging.limit_theorem import _of_average

ALPHA, REPEATS = 0.05, 400


def misses(index: float, blocks: int, block: int = 64) -> int:
    """How many intervals of the mean of a Pareto law with this tail miss it."""
    generator, missed, truth = np.random.default_rng(0), 0, 1 / (index - 1)
    for _ in range(REPEATS):
        before = generator.pareto(index, (128, block)).mean(axis=1)
        rows = generator.pareto(index, (blocks, block)).mean(axis=1)
        found = _of_average(rows, before, ALPHA / 2)
        missed += found is not None and not found[0] <= truth <= found[1]
    return missed


@pytest.mark.parametrize("index", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("blocks", [64, 512])
def test_it_holds_for_tails_as_heavy_as_it_says(index: float, blocks: int) -> None:
    assert not alarm(misses(index, blocks), REPEATS, ALPHA)


def test_tails_that_are_heavier_break_it() -> None:
    """With a mean that hardly exists: P(X > x) = (1 + x)^-1.02."""
    assert alarm(misses(1.02, 512), REPEATS, ALPHA)


def test_a_block_farther_out_than_the_pilot_reached_leaves_it_open() -> None:
    before = np.linspace(-1, 1, 128)
    assert _of_average(np.append(before, 3.9), before, ALPHA) is not None
    assert _of_average(np.append(before, 4.1), before, ALPHA) is None


def test_what_never_varies_is_its_own_interval() -> None:
    assert _of_average(np.ones(64), np.ones(128), ALPHA) == (1.0, 1.0)
    assert _of_average(np.append(np.ones(64), 2), np.ones(128), ALPHA) is None
