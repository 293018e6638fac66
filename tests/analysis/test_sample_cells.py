"""Cells for draws of which no law is named leave no wide one among values that came again."""

from __future__ import annotations

import numpy as np
import pytest

from dropcheck.analysis.sample_cells import MOST_REPEATED, sample_cells


@pytest.mark.parametrize("distinct", [MOST_REPEATED // 2, 2 * MOST_REPEATED, 8 * MOST_REPEATED])
def test_no_cell_is_wide_however_many_values_came_again(distinct: int) -> None:
    """As numbers in short formats do. A cell may hold a few values, of 20 draws or so each."""
    generator = np.random.default_rng(1)
    values = generator.integers(0, distinct, 20 * distinct).astype(float)
    cells = sample_cells(values, 1.0)
    assert cells.widest < 10 / distinct


def test_no_cut_parts_a_value_from_itself() -> None:
    """Of draws of one value, one may be rounded a little differently from another."""
    generator = np.random.default_rng(2)
    exact = 1.0 + generator.integers(0, 4 * MOST_REPEATED, 100_000)
    rounded = exact * (1 + 2e-16 * generator.integers(-1, 2, exact.size))
    cuts = sample_cells(rounded, 1.0).cuts
    assert np.array_equal(np.searchsorted(cuts, exact), np.searchsorted(cuts, rounded))
