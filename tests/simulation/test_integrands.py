"""Sums of integrands, whatever the places of draws in memory."""

from __future__ import annotations

import numpy as np
import pytest

from dropcheck.simulation.integrands import Moments, Term
from dropcheck.vocabulary.function import Array

DRAWS = 24


def sums(values: Array, power: int, blocks: int, centre: float = 0.0) -> Array:
    moments = Moments([values], np.array([centre]), DRAWS, blocks)
    return moments.sums(Term(((0, power),), None))


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3)])
@pytest.mark.parametrize("blocks", [1, 4, DRAWS])
@pytest.mark.parametrize("power", [1, 2, 3, 4, 5])
def test_sums_are_those_of_each_block_with_draws_first_in_memory_or_last(
    shape: tuple[int, ...], blocks: int, power: int
) -> None:
    first = np.random.default_rng(0).uniform(1, 2, (DRAWS, *shape))
    of_draws = ((first - 0.25) ** power).reshape(DRAWS, -1).mean(axis=1)
    right = of_draws.reshape(blocks, -1).sum(axis=1)
    view = np.moveaxis(first, 0, -1)
    for values in (view, np.ascontiguousarray(view)):
        assert sums(values, power, blocks, 0.25) == pytest.approx(right, rel=1e-12)


@pytest.mark.parametrize("odd", [None, np.inf, np.nan])
@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("truths", [False, True])
def test_where_a_condition_fails_a_quantity_is_nothing_whatever_it_is(
    odd: float | None, unknown: bool, truths: bool
) -> None:
    """To the bit: a product would be NaN of what is infinite, and -0 of what is negative."""
    values = np.random.default_rng(0).normal(size=DRAWS)
    values[:2] = -0.0
    given = np.arange(DRAWS) % 2.0
    if odd is not None:
        values[4:6] = odd  # once where the condition holds
    right = np.where(given == 0, 0.0, values + 0.0)
    if unknown and not truths:
        given[7] = right[7] = np.nan
    condition = given.astype(bool) if truths else given * 3
    moments = Moments([values, condition], np.zeros(2), DRAWS)
    assert moments.a_draw(Term(((0, 1),), 1)).tobytes() == right.tobytes()
    of_condition = moments.a_draw(Term((), 1))
    assert np.array_equal(of_condition, given, equal_nan=True)
