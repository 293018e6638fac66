"""What may stand for numbers that float64 cannot hold: too small, too large, or of a lost part."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dropcheck.language.graph import number
from dropcheck.vocabulary.function import LINEAR, Array, Function, scales_together
from dropcheck.vocabulary.functions.elementwise import POWER, SUBTRACT
from dropcheck.vocabulary.hulls import falling, rising

# What 0 may stand for where a number is too small for float64.
SMALLEST = 5e-324
LEAST_NORMAL = float(np.finfo(np.float64).smallest_normal)
# What infinity may stand for where one is too large.
LARGEST = float(np.finfo(np.float64).max)
# Steps to the next number that stand for one of which all digits are lost.
STEPS = 8
# What is so many times as large as what rounding moves it by is not rounding itself.
NO_ROUNDING = 1e3


def beyond_float64(drawn: Array, other: Array, generator: np.random.Generator) -> Array:
    """What draws may stand for that are too small or too large for float64, as of gamma(0.001, 1).

    They are any number from 0 to the smallest, or from the largest on. So that two are two numbers,
    half of those that are too small stand for 0, and others for some that are larger.
    """
    small = np.abs(drawn) <= SMALLEST
    if small.any():
        multiples = np.maximum(generator.integers(-STEPS, STEPS, drawn.shape), 0)
        other = np.where(small, multiples * SMALLEST, other)
    return np.where(np.isinf(drawn), np.copysign(LARGEST, drawn), other)


def unless_absorbed(
    function: Function, inputs: Sequence[Array], given: Sequence[Array], result: Array
) -> Array | None:
    """What may stand for a sum that is one of its parts though the other is not 0, nor rounding.

    On paper 1 + 1e-20 * m is above 1, and 0.1 + 0.2 - 0.3 is 0, whatever float64 makes of it. NaN
    where it stands for itself; None where it always does.
    """
    (a, b), (c, d) = map(number, inputs), map(number, given)
    second = -1.0 if function is SUBTRACT else 1.0
    found, any_lost = np.full(result.shape, np.nan), False
    for kept, added, off, sign in ((a, b, d, second), (second * b, a, c, 1.0)):
        size = np.abs(added)  # the largest error of all draws, as in some there is none by chance
        errors = np.where(size < LEAST_NORMAL, 0.0, np.abs(off - added) / size)
        clear = (size > 0) & (errors.max(axis=-1, keepdims=True) < 1 / NO_ROUNDING)
        lost = clear & np.isfinite(result) & (result == kept)
        towards = np.copysign(np.inf, sign * added)
        found = np.where(lost, _towards(towards, result, added), found)
        any_lost |= bool(lost.any())
    return found if any_lost else None


def unless_saturated(
    function: Function, work: Callable[[list[Array]], Array], argument: Array, result: Array
) -> Array | None:
    """What may stand for a result that is the limit of a function, as tanh(40) is 1 in float64.

    A function that never falls and has no steps does not get there on paper: one that is analytic,
    and the same at two places and between them, is a constant. NaN and None as above.
    """
    if function.bounds not in (rising, falling):
        return None
    found, any_lost = np.full(result.shape, np.nan), False
    for limit in work([np.array([-np.inf, np.inf])]):
        if limit == 0 or not np.isfinite(limit):
            continue  # what is too small or too large is looked at by itself
        lost = (result == limit) & np.isfinite(number(argument))
        found = np.where(lost, _towards(work([np.zeros(1)]), result, number(argument)), found)
        any_lost |= bool(lost.any())
    return found if any_lost else None


def _towards(end: Array, result: Array, of: Array) -> Array:
    """A number beside a result, on this side, and so far that no rounding takes it back.

    Results of two numbers are mostly at two places, and those of one number at one.
    """
    digits = np.frexp(of)[0] * 2.0**40 % 1.0  # that say nothing of how large it is
    step = np.floor(STEPS * (1.0 + digits)) * np.abs(np.nextafter(result, end) - result)
    return np.asarray(result + np.sign(end - result) * step)


def unless_too_small(
    function: Function,
    inputs: Sequence[Array],
    given: Sequence[Array],
    result: Array,
    other: Array,
) -> Array:
    """What may stand for a result of 0 of numbers of which none is, as exp(-800) is 0 in float64.

    That of sums, and of functions as relu, is 0 on paper, and so is that of an infinity that no
    overflow made, as exp(-inf).
    """
    zero = (result == 0) & (np.abs(number(other)) < LEAST_NORMAL)
    if function.degree is LINEAR or scales_together(function) or not zero.any():
        return other
    for as_is, off in zip(inputs, given, strict=True):
        array = np.where(too_small(number(as_is), number(off)), off, as_is)
        same = array.shape == result.shape  # else a draw is looked at as a whole
        own = array if same else np.abs(array).reshape(-1, array.shape[-1]).min(axis=0)
        zero = zero & (own != 0)
        if same:
            zero &= ~np.isinf(off)
    return np.where(zero, np.copysign(SMALLEST, result), other)


def too_small(as_is: Array, off: Array) -> Array:
    """Where a 0 stands for a number that is too small for float64."""
    found: Array = (as_is == 0) & (off != 0) & (np.abs(off) < LEAST_NORMAL)
    return found


def unless_too_large(
    function: Function,
    inputs: Sequence[Array],
    given: Sequence[Array],
    result: Array,
    other: Array,
) -> Array:
    """What may stand for an infinite result of finite numbers, as exp(800) is inf in float64."""
    infinite = np.isinf(result)
    if not infinite.any():
        return other
    for array in given:  # what stands for an overflow is finite; a draw is looked at as a whole
        infinite = infinite & np.isfinite(array).reshape(-1, array.shape[-1]).all(axis=0)
    infinite &= inputs[0] != 0 if function is POWER else function.defined.everywhere
    return np.where(infinite, np.copysign(LARGEST, result), other)
