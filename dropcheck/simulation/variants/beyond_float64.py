"""Substitutes for results that float64 cannot represent: too small, too large, or absorbed.

The functions return other values that the exact result might have. `inputs` and `result` are as
computed, `perturbed` are the inputs changed by rounding, and `other` is the result of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dropcheck.language.graph import number
from dropcheck.vocabulary.function import LINEAR, Array, Function, scales_together
from dropcheck.vocabulary.functions.elementwise import POWER, SUBTRACT
from dropcheck.vocabulary.hulls import falling, rising
from dropcheck.vocabulary.jumps import LARGEST_BOUND

# The smallest positive number: 0 may stand for anything below it.
SMALLEST = 5e-324
LEAST_NORMAL = float(np.finfo(np.float64).smallest_normal)
# The largest number: infinity may stand for anything above it.
LARGEST = float(np.finfo(np.float64).max)
# How many steps, to the next number each, a substitute is away from a result without digits.
STEPS = 8
# A number that is so many times larger than its rounding is not itself a rounding error.
NO_ROUNDING = 1e3


def beyond_float64(drawn: Array, other: Array, generator: np.random.Generator) -> Array:
    """Substitutes for draws that are too small or too large for float64, as from gamma(0.001, 1).

    They may be any number from 0 to the smallest, or from the largest on. So that two draws are
    two numbers, half of those that are too small become 0, and others become larger ones.
    """
    small = np.abs(drawn) <= SMALLEST
    if small.any():
        multiples = np.maximum(generator.integers(-STEPS, STEPS, drawn.shape), 0)
        other = np.where(small, multiples * SMALLEST, other)
    return np.where(np.isinf(drawn), np.copysign(LARGEST, drawn), other)


def unless_absorbed(
    function: Function, inputs: Sequence[Array], perturbed: Sequence[Array], result: Array
) -> Array | None:
    """Substitutes for a sum that equals one of its parts, although the other is not 0 or rounding.

    In exact arithmetic 1 + 1e-20 * m is above 1, and 0.1 + 0.2 - 0.3 is 0. The result is NaN where
    no substitute is needed, and None if none is needed anywhere.
    """
    (a, b), (c, d) = map(number, inputs), map(number, perturbed)
    second = -1.0 if function is SUBTRACT else 1.0
    substitutes, any_lost = np.full(result.shape, np.nan), False
    for kept, added, moved, sign in ((a, b, d, second), (second * b, a, c, 1.0)):
        size = np.abs(added)  # compare the largest error of all draws: in some it is 0 by chance
        errors = np.where(size < LEAST_NORMAL, 0.0, np.abs(moved - added) / size)
        clear = (size > 0) & (errors.max(axis=-1, keepdims=True) < 1 / NO_ROUNDING)
        lost = clear & np.isfinite(result) & (result == kept)
        towards = np.copysign(np.inf, sign * added)
        substitutes = np.where(lost, _towards(towards, result, added), substitutes)
        any_lost |= bool(lost.any())
    return substitutes if any_lost else None


def unless_saturated(
    function: Function, work: Callable[[list[Array]], Array], argument: Array, result: Array
) -> Array | None:
    """Substitutes for a result that is the limit of a function, as tanh(40) is 1 in float64.

    A monotonic function without steps does not reach its limit: if it is analytic and has the same
    value at two places and between them, it is constant. NaN and None as in `unless_absorbed`.
    """
    if function.bounds not in (rising, falling):
        return None
    substitutes, any_lost = np.full(result.shape, np.nan), False
    for limit in work([np.array([-np.inf, np.inf])]):
        if limit == 0 or not np.isfinite(limit):
            continue  # too small and too large results have their own functions
        lost = (result == limit) & np.isfinite(number(argument))
        substitutes = np.where(
            lost, _towards(work([np.zeros(1)]), result, number(argument)), substitutes
        )
        any_lost |= bool(lost.any())
    return substitutes if any_lost else None


def _towards(end: Array, result: Array, of: Array) -> Array:
    """A number beside a result, towards `end`, and so far away that rounding does not undo it.

    Two different values of `of` mostly give different numbers, and equal values the same one.
    """
    digits = np.frexp(of)[0] * 2.0**40 % 1.0  # do not depend on its magnitude
    step = np.floor(STEPS * (1.0 + digits)) * np.abs(np.nextafter(result, end) - result)
    return np.asarray(result + np.sign(end - result) * step)


def unless_too_small(
    function: Function,
    inputs: Sequence[Array],
    perturbed: Sequence[Array],
    result: Array,
    other: Array,
) -> Array:
    """Substitutes for results of 0 from inputs that are not 0, as exp(-800) is 0 in float64.

    For sums, and functions such as relu, 0 is exact. It is also exact for an infinite input that is
    not an overflow, as in exp(-inf).
    """
    zero = (result == 0) & (np.abs(number(other)) < LEAST_NORMAL)
    if function.degree is LINEAR or scales_together(function) or not zero.any():
        return other
    for as_is, moved in zip(inputs, perturbed, strict=True):
        array = np.where(too_small(number(as_is), number(moved)), moved, as_is)
        same = array.shape == result.shape  # if not, a draw is looked at as a whole
        own = array if same else np.abs(array).reshape(-1, array.shape[-1]).min(axis=0)
        zero = zero & (own != 0)
        if same:
            zero &= ~np.isinf(moved)
    return np.where(zero, np.copysign(SMALLEST, result), other)


def too_small(as_is: Array, moved: Array) -> Array:
    """Where 0 stands for a number that is too small for float64."""
    lost: Array = (as_is == 0) & (moved != 0) & (np.abs(moved) < LEAST_NORMAL)
    return lost


def unless_too_large(
    function: Function,
    inputs: Sequence[Array],
    perturbed: Sequence[Array],
    result: Array,
    other: Array,
) -> Array:
    """Substitutes for infinite results from finite inputs, as exp(800) is inf in float64."""
    infinite = np.isinf(result)
    if not infinite.any():
        return other
    for array in perturbed:  # substitutes for overflows are finite; look at a draw as a whole
        infinite = infinite & np.isfinite(array).reshape(-1, array.shape[-1]).all(axis=0)
    infinite &= inputs[0] != 0 if function is POWER else function.defined.everywhere
    return np.where(infinite, np.copysign(LARGEST, result), other)


def any_remainder(
    inputs: list[Array], perturbed: list[Array], other: Array, generator: np.random.Generator
) -> Array:
    """Remainders, at random if rounding moves the dividend by a share of the divisor.

    Numbers beyond 2**53 are moved by whole periods of small divisors, and show no change.
    """
    (a, b), (c, d) = map(number, inputs), map(number, perturbed)
    vague = np.abs(c - a) + np.abs(a / b) * np.abs(d - b) >= LARGEST_BOUND * np.abs(b)
    return np.where(vague, b * generator.random(other.shape), other)
