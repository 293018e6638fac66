"""Bounds of rounding hold, against arithmetic in fractions, and nothing is moved without need.

Nothing is random: the arguments are the same in each run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dropcheck.analysis.on_paper import Rounded, worked_out
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions import operation

Fractions = list[Fraction]

# tenths and thirds as a fraction and as float64 has them, with a bound of what that is off
EXACT = [Fraction(n, d) for n in range(-7, 25) for d in (3, 7, 10)][:64]


def rounded(exact: Fractions, rows: int) -> Rounded:
    """Numbers as float64 has them: so many rows of elements, in as many draws as that makes."""
    value = np.array([float(one) for one in exact]).reshape(rows, -1)
    return Rounded(value, 2.0**-53 * np.abs(value))


def worst(name: str, given: list[Rounded], exact: list[Fraction], **options: object) -> float:
    """The largest share of its bound that a result is off."""
    function = operation(name)
    found = worked_out(function, lambda *values: function.kernel(*values, **options), given)
    off = [
        abs(Fraction(float(one)) - two) for one, two in zip(found.value.ravel(), exact, strict=True)
    ]
    bounds = np.broadcast_to(found.error, found.value.shape).ravel()
    assert bounds.max() < 1e-11 * (1 + np.abs(found.value).max())  # and they are not just large
    return (
        max(
            float(one) / bound if bound else math.inf
            for one, bound in zip(off, bounds, strict=True)
            if one
        )
        if any(off)
        else 0.0
    )


PAIRS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
    "//": lambda a, b: Fraction(a // b),
    "maximum": max,
}


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_numbers_stay_within_their_bounds(name: str) -> None:
    pairs = [(a, b) for a in EXACT for b in EXACT if b]
    left, right = (rounded([pair[at] for pair in pairs], 1) for at in (0, 1))
    given = [Rounded(one.value[0], one.error[0]) for one in (left, right)]
    assert worst(name, given, [PAIRS[name](*pair) for pair in pairs]) <= 1


def mean(x: Fractions) -> Fraction:
    """Their mean."""
    return sum(x, Fraction(0)) / len(x)


COLUMNS: dict[str, Callable[[Fractions], Fraction]] = {
    "sum": lambda x: sum(x, Fraction(0)),
    "mean": mean,
    "var": lambda x: mean([(one - mean(x)) ** 2 for one in x]),
    "max": max,
    "prod": lambda x: x[0] * x[1] * x[2] * x[3],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_functions_of_arrays_stay_within_their_bounds(name: str) -> None:
    columns = [[EXACT[(5 * at + 7 * row) % 64] for row in range(4)] for at in range(64)]
    given = rounded([column[row] for row in range(4) for column in columns], 4)
    assert worst(name, [given], [COLUMNS[name](column) for column in columns]) <= 1


def test_products_of_matrices_stay_within_their_bounds() -> None:
    left = [[EXACT[(3 * at + 11 * row) % 64] for row in range(4)] for at in range(64)]
    right = [[EXACT[(13 * at + 5 * row + 1) % 64] for row in range(4)] for at in range(64)]
    given = [rounded([one[row] for row in range(4) for one in side], 4) for side in (left, right)]
    exact = [
        sum(a * b for a, b in zip(*both, strict=True)) for both in zip(left, right, strict=True)
    ]
    assert worst("dot", given, [Fraction(one) for one in exact], axis=-1) <= 1


def whole(*numbers: float) -> Array:
    """Fixed numbers without rounding."""
    return np.array(numbers)


def test_whole_numbers_have_no_rounding() -> None:
    three = Rounded(whole(3.0, 4.0), np.zeros(1))
    for name in ("+", "*", "-"):
        found = worked_out(operation(name), operation(name).kernel, [three, three])
        assert not found.error.any()


def test_what_is_far_from_a_jump_is_not_moved() -> None:
    x = Rounded(whole(2.9999, 3.1, 2.5), np.full(1, 1e-15))
    found = worked_out(operation("floor"), np.floor, [x])
    assert found.value.tolist() == [2.0, 3.0, 2.0]
    almost = Rounded(whole(3.0 - 2.0**-51, 3.0), np.full(1, 1e-15))
    assert worked_out(operation("floor"), np.floor, [almost]).value.tolist() == [3.0, 3.0]
