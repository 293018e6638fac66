"""Hulls: intervals that hold all values of a function, from the hulls of its arguments.

A hull is closed and never too small. It may be too large if a quantity stands in an expression more
than once (Moore 1966, "Interval Analysis", the dependency problem). Unbounded ends are infinite.
The caller silences numpy's floating-point warnings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dropcheck.vocabulary.shapes import Shape, broadcast


@dataclass(frozen=True, slots=True)
class Hull:
    """A closed interval that holds every value."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def nearest(self, number: float) -> float:
        """The number of the hull that is nearest to a number."""
        return min(max(number, self.low), self.high)  # NaN stays

    def scaled(self, factor: float) -> Hull:
        """The hull of the numbers times a factor."""
        return self.times(Hull(factor, factor))

    def times(self, other: Hull) -> Hull:
        """The hull of all products of a number of this hull and a number of the other."""
        ends = [_times(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Hull(min(ends), max(ends))

    def common(self, other: Hull) -> Hull:
        """The intersection; this hull, if rounding made the intersection empty."""
        low, high = max(other.low, self.low), min(other.high, self.high)
        return Hull(low, high) if low <= high else self


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a function: its kernel, and the shapes of its result and of its arguments.

    `same` says that both of two arguments are one and the same quantity.
    """

    kernel: Callable[..., Any]
    shape: Shape
    inputs: tuple[Shape, ...]
    same: bool = False

    @property
    def count(self) -> float:
        """The number of elements of the first argument for each element of the result."""
        return math.prod(self.inputs[0]) / max(math.prod(self.shape), 1)


BoundsRule = Callable[[Sequence[Hull], Use], Hull]
"""Takes the hulls of the arguments and the use of a function; returns the hull of the result."""

EVERYWHERE = Hull(-math.inf, math.inf)
UNIT = Hull(0.0, 1.0)


def union(hulls: Sequence[Hull]) -> Hull:
    """The smallest hull that holds all these hulls."""
    return Hull(min(hull.low for hull in hulls), max(hull.high for hull in hulls))


def proper(hull: Hull) -> Hull:
    """The hull itself, or all numbers if an end is NaN or the ends are not in order."""
    return hull if hull.low <= hull.high else EVERYWHERE


# ---- the rules ----------------------------------------------------------------------------------
#
# For functions of arrays, all elements of an array together. The values of a function of numbers
# follow from its kernel (`known.enclosure`).


def _by_hulls(rule: Callable[..., Hull]) -> BoundsRule:
    """The rule of a function whose hull depends only on the hulls of its arguments."""
    return lambda hulls, _use: rule(*hulls)


# each value of the result is a value of an argument, or lies between two of them
picking = _by_hulls(lambda *hulls: union(hulls))
picking_or_zero = _by_hulls(lambda x: union((x, Hull(0.0, 0.0))))
picking_first = _by_hulls(lambda first, *_: first)
products = _by_hulls(Hull.times)  # all products of a value of one and a value of the other


def within(low: float, high: float) -> BoundsRule:
    """The rule of a function whose values lie between two numbers for all arguments."""
    return _by_hulls(lambda *_: Hull(low, high))


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b  # a factor that is 0 makes 0, so 0 · ∞ is 0 here


def _multiplied(hull: Hull, count: int) -> Hull:
    # The extremes are among the products low^j high^(count - j). Their size is monotone in j, and
    # their sign alternates at most, so that two values of j at either end are enough.
    with np.errstate(all="ignore"):
        low, high = np.float64(hull.low), np.float64(hull.high)
        corners = {0, min(1, count), max(count - 1, 0), count}
        ends = [_times(float(low**j), float(high ** (count - j))) for j in corners]
    return Hull(min(ends), max(ends))


def _squared(hull: Hull) -> Hull:
    ends = hull.times(hull)
    return Hull(0.0 if hull.low <= 0 <= hull.high else ends.low, ends.high)


# ---- sums and products of elements --------------------------------------------------------------


def place(_hulls: Sequence[Hull], use: Use) -> Hull:
    """The hull of an index along the axis, from 0."""
    return Hull(0.0, use.count - 1.0)


def total(hulls: Sequence[Hull], use: Use) -> Hull:
    """The hull of a sum over some axes."""
    return hulls[0].scaled(use.count)


def spread_of_elements(hulls: Sequence[Hull], use: Use) -> Hull:
    """The hull of the sum of squared distances of n elements from their mean, over n − ddof.

    The sum is at most n width² / 4 (Popoviciu 1935).
    """
    ddof = use.kernel.keywords.get("ddof", 0.0) if isinstance(use.kernel, partial) else 0.0
    left = use.count - float(ddof)
    return Hull(0.0, use.count / left * hulls[0].width ** 2 / 4) if left > 0 else EVERYWHERE


def root_of_spread(hulls: Sequence[Hull], use: Use) -> Hull:
    """The hull of the square root of that of `spread_of_elements`."""
    return Hull(0.0, math.sqrt(spread_of_elements(hulls, use).high))


def running_total(hulls: Sequence[Hull], use: Use) -> Hull:
    """The hull of a running sum, along whichever axis."""
    return union([hulls[0], hulls[0].scaled(float(max(use.inputs[0] or (1,))))])


def total_product(hulls: Sequence[Hull], use: Use) -> Hull:
    """The hull of a product over some axes."""
    return _multiplied(hulls[0], int(use.count))


def running_product(hulls: Sequence[Hull], use: Use) -> Hull:
    """The hull of a running product, along whichever axis."""
    last = max(use.inputs[0] or (1,))
    lengths = {1, min(2, last), max(last - 1, 1), last}
    return union([_multiplied(hulls[0], length) for length in lengths])


def matrix_product(hulls: Sequence[Hull], use: Use) -> Hull:
    """The hull of a @ b; for a vector with itself, a sum of squares."""
    squares = use.same and len(use.inputs[0]) == 1
    terms = _squared(hulls[0]) if squares else hulls[0].times(hulls[1])
    return terms.scaled(float((use.inputs[0] or (1,))[-1]))


def sum_of_products(hulls: Sequence[Hull], use: Use) -> Hull:
    """The hull of a sum of products of elements."""
    terms = math.prod(broadcast(use.inputs)) / max(math.prod(use.shape), 1)
    product = _squared(hulls[0]) if use.same else hulls[0].times(hulls[1])
    return product.scaled(terms)
