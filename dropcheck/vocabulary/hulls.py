"""Hulls: intervals that hold all values of a function, from the hulls of its arguments.

A hull is closed and never too small. It may be too large if a quantity stands in an expression more
than once (Moore 1966, "Interval Analysis", the dependency problem). Unbounded ends are infinite.
The caller silences numpy's floating-point warnings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


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


EVERYWHERE = Hull(-math.inf, math.inf)
UNIT = Hull(0.0, 1.0)


def union(hulls: Sequence[Hull]) -> Hull:
    """The smallest hull that holds all these hulls."""
    return Hull(min(hull.low for hull in hulls), max(hull.high for hull in hulls))


def proper(hull: Hull) -> Hull:
    """The hull itself, or all numbers if an end is NaN or the ends are not in order."""
    return hull if hull.low <= hull.high else EVERYWHERE


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b  # a factor that is 0 makes 0, so 0 · ∞ is 0 here
