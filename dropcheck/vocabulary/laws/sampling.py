"""What the samplers of several laws share: standard random numbers, and how to scale them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import HALF_CELL, Generator, Size, inside

# the least and the greatest number that `uniforms` draws
OUTERMOST = (HALF_CELL, 1.0 - 2.0**-53)
# [256, 8]: the eight bits of each byte, as 1 and -1
SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0


def fixed(argument: Array) -> float | None:
    """The number of an array with one element; None for an array with several.

    >>> fixed(np.array([[2.0]])), fixed(np.array([1.0, 2.0]))
    (2.0, None)
    """
    return float(argument.reshape(())) if argument.size == 1 else None


def scalar_or_array(argument: Array) -> Any:
    """The argument as a plain number, if it has one element: numpy's generators are then faster."""
    number = fixed(argument)
    return argument if number is None else number


def whole(argument: Array) -> Any:
    """A count as an integer: numpy's generators take no floats for counts."""
    number = fixed(argument)
    return argument.astype(np.int64) if number is None else int(number)


def exponentials(generator: Generator, size: Size) -> Array:
    """Exponential numbers of mean 1, above 0."""
    return inside(generator.standard_exponential(size), 0.0, None)


def log_gammas(generator: Generator, size: Size, shape: Array) -> Array:
    """Logarithms of standard gamma numbers, also where these underflow.

    G(a) has the law of G(a + 1) * U**(1 / a) (Marsaglia and Tsang 2000, section 6).
    """
    out = np.log(generator.standard_gamma(scalar_or_array(shape + 1.0), size))
    out -= exponentials(generator, size) / shape
    return out


def random_words(generator: Generator, count: int) -> Array:
    """At least `count` random bytes as 64-bit words, the same bytes on every machine."""
    words = generator.bit_generator.random_raw(-(-count // 8))
    return words.astype("<u8", copy=False)


def signs(generator: Generator, size: Size) -> Array:
    """1 or -1 with equal probabilities, from one random bit each."""
    count = math.prod(size)
    eighths = -(-count // 8)
    octets = random_words(generator, eighths).view(np.uint8)[:eighths]
    return SIGNS.take(octets, axis=0).reshape(-1)[:count].reshape(size)


def scaled(out: Array, loc: Array | None, scale: Array) -> Array:
    """`loc + scale * out`, computed in place."""
    if fixed(scale) != 1.0:
        out *= scale
    if loc is not None and fixed(loc) != 0.0:
        out += loc
    return out


def constant_where_zero(out: Array, spread: Array, value: Array | float) -> Array:
    """Put `value` where `spread` is 0, in place: there 0 times an overflow would be NaN."""
    still = spread == 0
    if still.any():
        np.copyto(out, value, where=still)
    return out


def positive(out: Array, scale: Array) -> Array:
    """Draws of a law of positive numbers, scaled; the constant 0 where scale is 0."""
    return constant_where_zero(inside(scaled(out, None, scale), 0.0, None), scale, 0.0)
