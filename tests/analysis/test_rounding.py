"""What is exact is not moved, and what is not is: against arithmetic in fractions.

Nothing is random but the directions, which follow from a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dropcheck.analysis.rounding import Moved
from dropcheck.claims.registry import SourceText
from dropcheck.language.graph import Kind, Value
from dropcheck.language.syntax import Position
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions import operation

NUMBERS = [0.0, 1.0, -3.0, 0.1, 0.75, 1 / 3, 1e-20, 2.0**-60, 1e17, 2.0**53, 2.0**53 - 1, 65539.0]
NUMBERS += [-0.3, 4096.5, 1e-200, 12345678.9]
PAIRS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def moved(name: str, *inputs: Array, seed: int = 0, of: tuple[Array, ...] = ()) -> Array:
    """The result of a function, moved; its arguments are exact, or moved as given."""
    result = operation(name).kernel(*inputs)
    at = Position(SourceText.plain(""), 0, 0)
    value = Value(kind=Kind.COMPUTED, operation=name, shape=result.shape[:-1], at=at)
    with np.errstate(all="ignore"):
        return Moved(seed, inputs[0].shape[-1]).result(value, inputs, of or inputs, result)


@pytest.mark.parametrize("name", PAIRS)
def test_exactly_what_is_exact_is_not_moved(name: str) -> None:
    pairs = [(a, b) for a in NUMBERS for b in NUMBERS if b]
    a, b = np.array(pairs).T
    result = operation(name).kernel(a, b)
    kept = np.all([moved(name, a, b, seed=seed) == result for seed in range(8)], axis=0)
    for (left, right), same, value in zip(pairs, kept, result, strict=True):
        exact = PAIRS[name](Fraction(left), Fraction(right)) == Fraction(float(value))
        assert exact or not same, (left, right)
        assert same or not exact or name in "*/", (left, right)  # these are if they are short


@pytest.mark.parametrize(("name", "a", "b"), [("*", 0.1, 4.0), ("/", 0.3, -8.0), ("*", 1.5, 33.0)])
def test_short_factors_leave_a_number_exact(name: str, a: float, b: float) -> None:
    first, second = np.full(64, a), np.full(64, b)
    assert (moved(name, first, second) == operation(name).kernel(first, second)).all()


def test_a_result_is_moved_to_a_number_beside_it() -> None:
    a, b = np.full(64, 0.1), np.full(64, 3.0)
    other = moved("*", a, b)
    result = np.full(64, 0.1 * 3.0)
    assert {*other} == {*np.nextafter(result, 0)} | {*np.nextafter(result, 1)}


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var"])
def test_whole_numbers_that_come_out_short_are_exact(name: str) -> None:
    x = np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 0.0], [0.0, 8.0]])
    assert (moved(name, x) == operation(name).kernel(x)).all()


def test_a_sum_that_loses_its_small_part_is_moved_as_far() -> None:
    x = np.array([1e16, 1.0, -1e16])[:, np.newaxis] * np.ones(64)
    assert np.abs(moved("sum", x)).max() >= 1


@pytest.mark.parametrize(("name", "at"), [("exp", -800.0), ("exp", 800.0), ("tanh", 40.0)])
def test_what_float64_cannot_hold_is_moved(name: str, at: float) -> None:
    with np.errstate(over="ignore"):
        assert (moved(name, np.full(64, at)) != operation(name).kernel(np.full(1, at))).any()


def test_the_same_operation_of_the_same_numbers_is_moved_alike() -> None:
    x, y = np.linspace(0.1, 2, 64), np.full(64, 0.7)
    assert (moved("/", x, y) == moved("/", x.copy(), y.copy())).all()
    assert (moved("+", x, y) == moved("+", y, x)).all()
    assert (moved("/", x, y) != moved("/", x + 1e-9, y)).any()


def test_a_value_that_lies_on_a_jump_by_rounding_leaves_it() -> None:
    ones = np.ones(64)
    other = moved("-", ones, np.full(64, 1e-20))  # 1, and a little less on paper
    assert 0 in moved("floor", ones, of=(other,))
    assert not moved(">=", ones, ones, of=(other, ones)).all()


def test_sides_that_are_farther_apart_are_not_turned() -> None:
    a = np.full(64, 0.1 * 3)
    other = moved("*", np.full(64, 0.1), np.full(64, 3.0))
    assert not moved(">", a, np.full(64, 0.3), of=(other, np.full(64, 0.3))).all()
    far = np.full(64, 0.3 - 1e-14)
    assert moved(">", a, far, of=(other, far)).all()


def test_a_remainder_of_a_number_beyond_its_digits_may_be_any() -> None:
    a, b = np.full(64, 3.0**40), np.full(64, 2.0)
    other = a * (1 + 2.0**-52)
    found = moved("%", a, b, of=(other, b))
    assert found.min() < 0.5
    assert found.max() > 1.5
