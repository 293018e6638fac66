"""The axis of a plot: which values it spans, where they stand on it, and which are labelled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dropcheck.report.numbers import exact

# values that span so many times the smallest are easier to read on a logarithmic axis
SPREAD = 100.0
LARGEST = 1e300  # what is beyond, or as small, is at the edge: differences stay finite
MARGIN = 0.04  # of the axis, beyond what is shown on it


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from `low` to `high`, evenly spaced or by their logarithms."""

    low: float
    high: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Where a value stands: 0 at the low end, 1 at the high end.

        >>> Axis(0, 4).at(1), Axis(1, 100, logarithmic=True).at(10)
        (0.25, 0.5)
        """
        low, high, value = (self._drawn(one) for one in (self.low, self.high, value))
        return (value - low) / (high - low)

    def _drawn(self, value: float) -> float:
        if not self.logarithmic:
            return value
        return math.log10(value) if value > 0 else -math.inf

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """At most so many values to label (one at least where `most` is 2 or more), and how.

        >>> Axis(0, 1).ticks(6)
        [(0.0, '0'), (0.2, '0.2'), (0.4, '0.4'), (0.6, '0.6'), (0.8, '0.8'), (1.0, '1')]
        >>> Axis(0.5, 2000, logarithmic=True).ticks(6)
        [(1.0, '1'), (10.0, '10'), (100.0, '100'), (1000.0, '1000')]
        """
        values = self._decades(most) if self.logarithmic else []
        if len(values) < 2:
            values = self._even(most)
        return [
            (value, exact(round(value, 12) if abs(value) > 1e-3 else value)) for value in values
        ]

    def _decades(self, most: int) -> list[float]:
        low, high = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        step = max(1, -(-(high - low + 1) // max(most, 1)))
        return [10.0**power for power in range(low, high + 1, step)]

    def _even(self, most: int) -> list[float]:
        """The multiples of 1, 2 or 5 times a power of ten, in the smallest step with few enough."""
        width = self.high - self.low
        power = 10.0 ** math.floor(math.log10(width / max(most, 1)))
        for step in (power * factor for factor in (1, 2, 5, 10, 20, 50, 100)):
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            if last - first < most:
                return [float(_multiple(step, n)) for n in range(first, last + 1)]
        return []


def _multiple(step: float, times: int) -> float:
    """A multiple without the noise of a product: 3 × 0.1 is 0.3."""
    return float(f"{step * times:.12g}")


def axis_over(values: Iterable[float]) -> Axis | None:
    """An axis that shows all the values, finite ones at least; None where there are none."""
    known = [min(max(value, -LARGEST), LARGEST) for value in values if math.isfinite(value)]
    if not known:
        return None
    low, high = min(known), max(known)
    if low > 0 and high / low >= SPREAD:
        stretch = (high / low) ** MARGIN
        return Axis(low / stretch, high * stretch, logarithmic=True)
    pad = (high - low) * MARGIN
    if (
        pad <= max(abs(low), abs(high)) * 1e-12 + 1 / LARGEST
    ):  # one value: a tenth of it to either side
        pad = max(abs(low), abs(high)) / 10
        pad = pad if pad > 1 / LARGEST else 1.0
    return Axis(low - pad, high + pad)


def is_geometric(values: Sequence[float]) -> bool:
    """Whether values are spaced more evenly by their ratios, as 16, 64, 256 are.

    >>> is_geometric([16, 64, 256]), is_geometric([0.05, 0.5, 0.95])
    (True, False)
    """
    ordered = sorted(set(values))
    if len(ordered) < 3 or ordered[0] <= 0:
        return False
    gaps = [high - low for low, high in pairwise(ordered)]
    ratios = [math.log(high) - math.log(low) for low, high in pairwise(ordered)]
    return max(ratios) / sum(ratios) < 0.9 * max(gaps) / sum(gaps)
