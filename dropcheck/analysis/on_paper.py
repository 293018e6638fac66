"""Exact values: where only rounding keeps an argument off a jump of a function, it is at the jump.

Each value has a bound of its rounding error, to first order (running error analysis: Higham,
Accuracy and Stability of Numerical Algorithms, 2002, section 3.3). A function of numbers passes on
the errors of its arguments, and adds the rounding of its result. A function of arrays gives the
exact result for arguments with small errors (section 1.5), as large as that of a sum of as many
numbers (eq. 4.4). The bounds are generous: the arguments in claims are either at a jump or far from
it. "On paper" means in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dropcheck.language.graph import Kind, Value, in_order, kernel_of, number
from dropcheck.vocabulary.function import Array, Function, Kernel
from dropcheck.vocabulary.functions.elementwise import MODULO
from dropcheck.vocabulary.jumps import LARGEST_BOUND
from dropcheck.vocabulary.law import EXACT_INTEGERS
from dropcheck.vocabulary.special import LARGEST_PRODUCT

UNIT = 2.0**-53
# Rounding errors of one function of numbers, in units of UNIT: the worst of numpy's and scipy's
# functions have 4, and a power that is computed as a product has this many.
ROUNDINGS = LARGEST_PRODUCT - 1
# How many directions the elements of an argument are moved in, besides all upward; and by how much
# the largest change of the result is multiplied for a bound.
DIRECTIONS, SHORT = 4, 32.0
EXACT = np.zeros(1)
# An argument is near a jump within this share of the largest number in the computation.
NEAR, MOST_NEAR = 1e-12, LARGEST_BOUND / 2
# Arrays are alike if they differ by at most this share of the largest number.
SAME_DIGITS = 1e-9


@dataclass(frozen=True, slots=True)
class Rounded:
    """A value and a bound of its rounding error; the bound has the value's shape, or one number."""

    value: Array
    error: Array


def value_on_paper(value: Value, known: dict[int, Rounded]) -> Rounded:
    """A value as it is on paper; fixed numbers have a rounding error of their own.

    `known` has the values that are known already, such as the draws below it, by their ids; new
    ones are added.
    """
    for one in in_order([value], lambda each: () if id(each) in known else each.inputs):
        if id(one) in known:
            continue
        if one.kind == Kind.COMPUTED and one.inputs:
            given = [known[id(below)] for below in one.inputs]
            known[id(one)] = worked_out(one.function, kernel_of(one), given)
        else:
            array = number(one.constant)
            known[id(one)] = Rounded(array, _but_for_whole(array, UNIT * np.abs(array)))
    return known[id(value)]


def worked_out(function: Function, kernel: Kernel, given: Sequence[Rounded]) -> Rounded:
    """The result of a function on paper, from its arguments on paper."""
    values = [one.value for one in given]
    if not function.takes_truth:
        values = list(map(number, values))
    errors = [one.error for one in given]
    if function.jumps is not None:
        values, errors = function.jumps(values, errors)
    result = kernel(*values)
    if result.dtype == np.bool_:
        return Rounded(result, EXACT)
    exact = not any(error.any() for error in errors)
    whole = (result == np.rint(result)) & (np.abs(result) < EXACT_INTEGERS)
    if exact and whole.all() and function.by_element:
        return Rounded(result, EXACT)
    error = _error(function, kernel, [number(one) for one in values], errors, result)
    return Rounded(result, _but_for_whole(result, error))


def _but_for_whole(result: Array, error: Array) -> Array:
    """A bound of the rounding error, 0 where the result is a whole number: that is exact."""
    unknown = np.isnan(error) | ~np.isfinite(result)
    error = np.where(unknown | ((result == np.rint(result)) & (error < LARGEST_BOUND)), 0.0, error)
    return error if error.any() else EXACT


def _error(
    function: Function, kernel: Kernel, values: list[Array], errors: list[Array], result: Array
) -> Array:
    """A bound of the rounding error of a result."""
    full = [np.broadcast_to(error, one.shape) for error, one in zip(errors, values, strict=True)]
    own = ROUNDINGS * UNIT * np.abs(result)
    if function.rearranges or function.joins:
        return kernel(*full)
    if function.additive and function.by_element:
        return np.asarray(sum(errors) + own)
    if function is MODULO:  # what moves a dividend by whole periods shows no change
        dividend, divisor = values
        moved = full[0] + np.abs(dividend / divisor) * full[1]
        own = own + np.where(moved >= LARGEST_BOUND * np.abs(divisor), np.abs(divisor), 0.0)
    if function.by_element:
        return own + sum(
            _change(kernel, values, at, error, result)
            for at, error in enumerate(full)
            if error.any()
        )
    count = max((math.prod(value.shape[:-1]) for value in values), default=1)
    share = 0.0 if function.jumps is not None else (ROUNDINGS + count) * UNIT
    full = [error + share * np.abs(value) for error, value in zip(full, values, strict=True)]
    if function.moves:  # linear, with no minus sign
        return kernel(*full)
    if function.bilinear:
        left, right = map(np.abs, values)
        return np.asarray(kernel(full[0], right) + kernel(left, full[1]))
    for at, error in enumerate(full):
        if not error.any():
            continue
        largest = _change(kernel, values, at, error, result)
        places = np.arange(1.0, math.prod(error.shape[:-1]) + 1.0).reshape(*error.shape[:-1], 1)
        for turn in range(1, DIRECTIONS + 1):
            direction = np.cos(1.9 * turn * places)
            largest = np.fmax(largest, _change(kernel, values, at, direction * error, result))
        own = own + SHORT * largest
    return own


def _change(kernel: Kernel, values: list[Array], at: int, by: Array, result: Array) -> Array:
    """How much the result changes if one argument changes by so much, up or down."""
    change = np.zeros(1)
    for moved in (values[at] + by, values[at] - by):
        try:
            other = kernel(*values[:at], moved, *values[at + 1 :])
        except ValueError:  # the argument is an index, which must be whole
            continue
        change = np.fmax(change, np.abs(number(other) - result))
    return change


def first_off(values: Iterable[Value]) -> Value | None:
    """The first fixed value below some values that is wrong because of rounding near a jump."""
    known: dict[int, Rounded] = {}
    below = in_order(tuple(values), lambda each: each.inputs)
    fixed = [one for one in below if one.constant is not None]
    with np.errstate(all="ignore"):
        for one in near_jumps(fixed, lambda each: each.constant):
            paper = value_on_paper(one, known).value
            if not alike(number(one.constant), number(paper)):
                return one
    return None


def near_jumps(values: Iterable[Value], array_of: Callable[[Value], Array]) -> Iterator[Value]:
    """Those of some values, given with inputs first, whose arguments are near a jump."""
    largest = 0.0
    for one in values:
        array = array_of(one)
        largest = max(largest, largest_in(array))
        if one.kind == Kind.COMPUTED and one.inputs and one.function.jumps is not None:
            inputs = [array_of(below) for below in one.inputs]
            if comes_near(one.function, kernel_of(one), inputs, array, largest):
                yield one


# ---- whether rounding may decide anything --------------------------------------------------------


def comes_near(
    function: Function, kernel: Kernel, inputs: Sequence[Array], result: Array, largest: float
) -> bool:
    """Whether the result changes if arguments that are near a jump are moved to it.

    Near means within a small share of the largest number in the computation.
    """
    if function.jumps is None:
        return False
    if result.dtype != np.bool_ and ROUNDINGS * UNIT * largest >= LARGEST_BOUND:
        return True  # numbers so large are near all of its jumps
    values = list(inputs) if function.takes_truth else list(map(number, inputs))
    near = np.full(1, min(NEAR * largest, MOST_NEAR))
    moved, _ = function.jumps(values, [near] * len(values))
    if all(one is other for one, other in zip(moved, values, strict=True)):
        return False
    return not np.array_equal(number(kernel(*moved)), number(result), equal_nan=True)


def alike(one: Array, other: Array) -> bool:
    """Whether two arrays are equal up to rounding, as `SAME_DIGITS` has it."""
    size = float(np.abs(one[np.isfinite(one)]).max(initial=0.0))
    return np.allclose(one, other, rtol=0.0, atol=SAME_DIGITS * size, equal_nan=True)


def largest_in(array: Array) -> float:
    """The largest finite size in an array."""
    if not array.size or array.dtype == np.bool_:
        return 1.0
    size = max(float(array.max()), -float(array.min()))
    if math.isfinite(size):
        return size
    return float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
