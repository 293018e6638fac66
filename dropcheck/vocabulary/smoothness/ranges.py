"""Ranges: intervals of a function's values on many small cells of one draw, and its smoothness.

Let a quantity be a function g of one draw x. For each cell, an interval of x, a hull of its values
is kept. Where g is analytic near the cell, there is also a bound of the distance between that hull
and the values of g at complex numbers. From this bound the error of a quadrature rule is known
before a single value is computed, so that no spike and no kink between its points can be missed
(Trefethen 2008, "Is Gauss quadrature better than Clenshaw-Curtis?", theorem 4.5; for bounds of this
kind by arithmetic see Petras 2002, "Self-validating integration and approximation of piecewise
analytic functions").

The rules use the mean value theorem: if z is at most `off` away from an interval, then f(z) is at
most `off` times the largest |f'| within that distance away from the values on the interval.

The caller silences numpy's floating-point warnings, and takes NaN as unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.records import record

RangesKernel = Callable[..., Any]


@record
class Ranges:
    """The values of a quantity on each cell.

    All values on a cell lie between `low` and `high`, both [cells]. `off`, [2, cells], bounds the
    distance from that interval: in row 0, of the quantity at complex numbers in a neighbourhood of
    the cell (infinite if it is not known to be analytic there); in row 1, by rounding.
    """

    low: Floats
    high: Floats
    off: Floats

    @property
    def size(self) -> Floats:
        """The largest size of a value on each cell."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def least(self) -> Floats:
        """The least size of a value on each cell."""
        return np.maximum(np.maximum(self.low, -self.high), 0.0)

    @property
    def rounding(self) -> Floats:
        """A bound of the rounding error of a value; 0 where none is known."""
        return np.where(np.isfinite(self.off[1]), self.off[1], 0.0)


RangesRule = Callable[[Sequence[Ranges], RangesKernel, bool], Ranges]
"""Takes the ranges of the arguments, the kernel, and whether both of two arguments are one and the
same quantity; returns the ranges of the result."""

Slope = Callable[[Floats, Floats, Floats], Floats]
"""Takes low, high and off; returns the largest |f'(z)| of complex z at most `off` away from the
interval, or infinity where f is not analytic there."""


def fixed(value: float, cells: int) -> Ranges:
    """The ranges of a number that is the same on all cells."""
    numbers = np.full(cells, value)
    return Ranges(numbers, numbers, np.zeros((2, cells)))


def times(a: Floats, b: Floats) -> Floats:
    """The product of two sizes, where 0 times infinity is 0."""
    return np.where((a == 0) | (b == 0), 0.0, a * b)


def where_positive(room: Floats, value: Floats) -> Floats:
    """The value where there is room, else infinity."""
    return np.where(room > 0, value, np.inf)


# ---- smooth functions ---------------------------------------------------------------------------


def smooth(
    slope: Slope,
    rises: int = 0,
    domain: tuple[float, float] = (-math.inf, math.inf),
    values: tuple[float, float] = (-math.inf, math.inf),
) -> RangesRule:
    """The rule of an analytic function of one number.

    Args:
        slope: the bound of its derivative.
        rises: 1 if it never falls, -1 if it never rises, 0 if it may do both.
        domain: where it has a value. Arguments beyond it are moved to its ends.
        values: an interval that holds all its values.
    """

    def rule(arguments: Sequence[Ranges], kernel: RangesKernel, _same: bool) -> Ranges:
        (x,) = arguments
        low, high = np.clip(x.low, *domain), np.clip(x.high, *domain)
        if rises:
            ends = kernel(np.stack([low, high]))
            lowest, highest = ends if rises > 0 else ends[::-1]
        else:
            half = (high - low) / 2
            reach = times(half, slope(low, high, np.zeros_like(low)))
            middle = kernel(low + half)
            lowest = np.fmax(middle - reach, values[0])  # for NaN, the bound that always holds
            highest = np.fmin(middle + reach, values[1])
        inside = (x.low >= domain[0]) & (x.high <= domain[1])
        off = np.where(inside, times(x.off, slope(x.low, x.high, x.off)), np.inf)
        return Ranges(lowest, highest, off)

    return rule


# ---- arithmetic ---------------------------------------------------------------------------------


def add(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of a + b."""
    a, b = arguments
    return Ranges(a.low + b.low, a.high + b.high, a.off + b.off)


def negate(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of -a."""
    (a,) = arguments
    return Ranges(-a.high, -a.low, a.off)


def subtract(arguments: Sequence[Ranges], _kernel: RangesKernel, same: bool) -> Ranges:
    """The ranges of a - b, which is 0 where both are one quantity."""
    a, b = arguments
    if same:
        return fixed(0.0, len(a.low))
    return Ranges(a.low - b.high, a.high - b.low, a.off + b.off)


def multiply(arguments: Sequence[Ranges], _kernel: RangesKernel, same: bool) -> Ranges:
    """The ranges of a · b, a square where both are one quantity."""
    a, b = arguments
    if same:
        return whole_power(a, 2)
    low, high = _product(a, b)
    off = times(a.off, b.size) + times(b.off, a.size) + times(a.off, b.off)
    return Ranges(low, high, off)


def _product(a: Ranges, b: Ranges) -> tuple[Floats, Floats]:
    first, second = times(a.low, b.low), times(a.low, b.high)
    third, fourth = times(a.high, b.low), times(a.high, b.high)
    low = np.minimum(np.minimum(first, second), np.minimum(third, fourth))
    return low, np.maximum(np.maximum(first, second), np.maximum(third, fourth))


def reciprocal(a: Ranges) -> Ranges:
    """The ranges of 1 / a: |1/z - 1/p| = |z - p| / (|z| |p|)."""
    away = (a.low > 0) | (a.high < 0)
    room = np.where(away, a.least, 0.0)
    off = where_positive(room - a.off, a.off / (room * (room - a.off)))
    low, high = np.where(away, 1 / a.high, -np.inf), np.where(away, 1 / a.low, np.inf)
    return Ranges(low, high, np.where(away, off, np.inf))


def divide(arguments: Sequence[Ranges], kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of a / b."""
    a, b = arguments
    return multiply((a, reciprocal(b)), kernel, False)


def whole_power(a: Ranges, exponent: int) -> Ranges:
    """The ranges of a raised to a whole exponent of at least 1."""
    size = a.size
    off = times(a.off, exponent * np.power(size + a.off, exponent - 1.0))
    if exponent % 2 == 0:
        return Ranges(np.power(a.least, exponent), np.power(size, exponent), off)
    return Ranges(np.power(a.low, exponent), np.power(a.high, exponent), off)
