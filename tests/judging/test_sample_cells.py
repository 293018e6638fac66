"""Cells for draws of which no law is named leave no wide one among values that came again."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dropcheck.array_types import Floats
from dropcheck.judging.law_cells import MOST_REPEATED, sample_cells


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


def _deviations(one: Floats, other: Floats, number_format: str) -> float:
    """How far apart the numbers are of two samples in cells of values that came again."""
    pilot = 40_000
    cells = sample_cells(np.concatenate([one[:pilot], other[:pilot]]), 1.0, number_format)
    high = np.flatnonzero(cells.points)
    low = high - 1
    first, second = (
        float(
            np.diff(
                np.searchsorted(np.sort(draws[pilot:]), cells.cuts, side="right")[[low, high]],
                axis=0,
            ).sum()
        )
        for draws in (one, other)
    )
    return abs(first - second) / math.sqrt(first + second)


def test_steps_of_float32_that_are_lost_on_the_way_are_no_other_law() -> None:
    """Six deviations: a false alarm of 2e-9. Sixteen binary digits are too few in any case."""
    generator = np.random.default_rng(3)
    plain, logs = generator.gamma(100.0, size=(2, 400_000)).astype(np.float32)
    logs = np.exp(np.log(logs))
    assert _deviations(plain.astype(float), logs.astype(float), "float32") < 6
    assert _deviations(plain.astype(float), logs.astype(float), "float64") > 6
    fine, coarse = generator.random((2, 400_000)).astype(np.float32).astype(float)
    assert _deviations(fine, np.floor(coarse * 2**16) / 2**16, "float32") > 6


def test_values_that_came_again_next_to_each_other_leave_no_wide_cell() -> None:
    """Beta numbers with b = 0.5 crowd below 1, where float32 has few: none of them is alone."""
    values = np.random.default_rng(4).beta(2, 0.5, 20_000).astype(np.float32).astype(float)
    assert sample_cells(values, 1.0, "float32").widest < 0.004
