"""Hulls: intervals that hold all values of a function, from the hulls of its arguments.

A hull is closed and never too small. It may be too large if a quantity stands in an expression more
than once (Moore 1966, "Interval Analysis", the dependency problem). Unbounded ends are infinite.
The caller silences numpy's floating-point warnings.
"""

from __future__ import annotations

import math
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

    def common(self, other: Hull) -> Hull:
        """The intersection; this hull, if rounding made the intersection empty."""
        low, high = max(other.low, self.low), min(other.high, self.high)
        return Hull(low, high) if low <= high else self


EVERYWHERE = Hull(-math.inf, math.inf)
UNIT = Hull(0.0, 1.0)


def proper(hull: Hull) -> Hull:
    """The hull itself, or all numbers if an end is NaN or the ends are not in order."""
    return hull if hull.low <= hull.high else EVERYWHERE
