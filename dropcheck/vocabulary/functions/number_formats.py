"""Numbers rounded to the formats that code computes in: to the nearest, ties to even (IEEE 754).

What is larger than the largest number of a format is infinite in it. No bound of moments goes
through such a function, but for what has a range: that of its ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from dropcheck.vocabulary import growth
from dropcheck.vocabulary.function import Array, Function, entry
from dropcheck.vocabulary.hulls import rising

DOUBLE, SINGLE = "float64", "float32"
"""The format of the language's own numbers, and that of most code."""
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
"""By format: the smallest number that has all its digits."""


def rounded(x: Array, number_format: str) -> Array:
    """Numbers rounded to a format, as float64.

    >>> [float(rounded(np.array([0.1]), one)[0]) for one in ("bfloat16", "float16")]
    [0.10009765625, 0.0999755859375]
    """
    values = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        match number_format:
            case "float64":
                return values
            case "float32":
                return values.astype(np.float32).astype(np.float64)
            case "float16":
                return values.astype(np.float16).astype(np.float64)
        return _to_bfloat16(values)


def below_numbers(x: Array, number_format: str) -> Array:
    """The middle between the number of a format that is nearest to each x and the one below it.

    A number lies at or below it before rounding to the nearest where it does so afterwards.

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


# Digits of float64 that bfloat16 lacks, and its largest number.
_LACKING = 45
_LARGEST = (2 - 2.0**-7) * 2.0**127


def _to_bfloat16(x: Array) -> Array:
    """Eight binary digits, down to those of the smallest exponent; as float64.

    On the bits of a number, half of the last digit kept is added, and one unit less where that
    digit is even; what is carried goes into the exponent, as it should.
    """
    bits = np.asarray(x.view(np.uint64))
    last = (bits >> np.uint64(_LACKING)) & np.uint64(1)
    last += bits + np.uint64(2 ** (_LACKING - 1) - 1)
    last &= np.uint64(2**64 - 2**_LACKING)
    nearest = np.asarray(last.view(np.float64))
    size = np.abs(x)
    if not np.max(size, initial=0.0) <= _LARGEST:  # some are infinite, or no numbers
        nearest = np.where(np.abs(nearest) > _LARGEST, np.copysign(np.inf, x), nearest)
        nearest = np.where(np.isnan(x), x, nearest)
    tiny = (size < SMALLEST_NORMAL["bfloat16"]) & (size > 0)
    if tiny.any():  # of fewer digits
        nearest = np.where(tiny, np.rint(x * 2.0**133) * 2.0**-133, nearest)
    return nearest


ROUNDED: Mapping[str, Function] = {
    name: entry(
        name,
        partial(rounded, number_format=name),
        f"rounded to a number of the format {name}",
        rising,
        growth.BY_HULL,
    )
    for name in EPSILONS
}
"""What rounds to each format, by its name."""
NUMBERS = tuple(ROUNDED.values())
