"""Rounding to the number formats that code computes in: to the nearest, ties to even (IEEE 754).

A number above the largest of a format becomes infinite. Moments are not bounded through such a
function; only the range of its values is known, from the ends of its argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from dropcheck.vocabulary.function import Array, Function, entry, monotone

DOUBLE, SINGLE = "float64", "float32"
"""The format of numbers in models, and the usual format of code."""
EPSILONS: Mapping[str, float] = {
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "bfloat16": 2.0**-7,
    "float16": 2.0**-10,
}
"""By format: the distance from 1 to the next larger number."""
SMALLEST_NORMAL: Mapping[str, float] = {
    "float64": 2.0**-1022,
    "float32": 2.0**-126,
    "bfloat16": 2.0**-126,
    "float16": 2.0**-14,
}
"""By format: the smallest number with full precision."""


_LOST = 52 - 7
"""The bits of a float64 that a bfloat16 does not have."""
_LARGEST_BFLOAT16 = 2.0**128 - 2.0**120


def rounded(x: Array, number_format: str) -> Array:
    """Numbers rounded to a format, as float64.

    >>> [float(rounded(np.array([0.1]), one)[0]) for one in ("bfloat16", "float16")]
    [0.10009765625, 0.0999755859375]
    """
    values = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if number_format == "bfloat16":  # numpy does not have it
            return _to_bfloat16(values)
        return values.astype(number_format, copy=False).astype(np.float64, copy=False)


def below_numbers(x: Array, number_format: str) -> Array:
    """The midpoint of two numbers of a format: the one nearest to x, and the next one below that.

    A number that is at or below this midpoint after rounding to the format was so before.

    >>> float(below_numbers(np.array([1.0]), "bfloat16")[0])
    0.998046875
    """
    nearest = rounded(x, number_format)
    share, exponent = np.frexp(nearest)
    epsilon, smallest = EPSILONS[number_format], SMALLEST_NORMAL[number_format]
    gap = np.ldexp(epsilon, np.where(nearest == 0, -1024, exponent - 1))
    gap = np.maximum(gap, epsilon * smallest)
    closer = (share == 0.5) & (nearest > smallest)  # below a power of two they are twice as dense
    found: Array = nearest - np.where(closer, 0.25, 0.5) * gap
    return found


def _to_bfloat16(x: Array) -> Array:
    """Numbers rounded to eight binary digits, or fewer at the smallest exponents; as float64.

    The bits of a float64, as a whole number, are in the order of the sizes (IEEE 754).
    """
    bits = x.view(np.int64)
    half = bits >> _LOST & 1  # of what is lost; one more rounds up, but for ties that are even
    half += 2 ** (_LOST - 1) - 1
    half += bits
    half &= -(2**_LOST)
    nearest = half.view(np.float64)
    size = np.abs(x)
    small = size < SMALLEST_NORMAL["bfloat16"]
    if small.any():
        nearest = np.where(small, np.rint(x * 2.0**133) * 2.0**-133, nearest)
    if not size.max(initial=0.0) < _LARGEST_BFLOAT16:  # also where there is a NaN
        large = np.abs(nearest) >= 2.0**128
        nearest = np.where(np.isnan(x), x, np.where(large, np.copysign(np.inf, x), nearest))
    return nearest


ROUNDED: Mapping[str, Function] = {
    name: entry(
        name,
        monotone(partial(rounded, number_format=name)),
        f"rounded to a number of the format {name}",
    )
    for name in EPSILONS
}
"""The function that rounds to a format, by the name of the format."""
NUMBERS = tuple(ROUNDED.values())
