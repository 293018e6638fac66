"""Where an interval lies against what its claim allows, in a unit that unlike claims share.

Of a claim about two sides, 0 is the middle of what it allows and ±1 the edges of the band within
which an interval verifies it: what it allows, widened by the resolution. Of an inequality, 0 is
the end that it names and 1 is a resolution away. Beyond ±1 the axis is logarithmic, so that a
claim that is off by a hundred resolutions stands on one axis with one that holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dropcheck.results import CaseResult

FARTHEST = 7.0  # on the axis: a million units; what is farther is an arrow at its edge
LEAST_SHOWN = 1.6  # on either side: the whole band, and a little beside it


@dataclass(frozen=True, slots=True)
class Band:
    """What a claim allows a quantity, and what its resolution adds, in the quantity's own unit.

    An end without bound is infinite.
    """

    low: float
    high: float
    widened_low: float
    widened_high: float
    resolution: float

    @property
    def origin(self) -> float:
        """The value that stands at 0: the middle of what is allowed, or its one end."""
        if math.isfinite(self.low) and math.isfinite(self.high):
            return self.low + (self.high - self.low) / 2
        return self.low if math.isfinite(self.low) else self.high

    @property
    def unit(self) -> float:
        """The value's distance from the origin that stands at 1."""
        if math.isfinite(self.low) and math.isfinite(self.high):
            return max(self.widened_high - self.origin, self.high - self.origin) or self.resolution
        return self.resolution

    def place(self, value: float) -> float:
        """Where a value stands on the shared axis, before it is squeezed."""
        return (value - self.origin) / self.unit


@dataclass(frozen=True, slots=True)
class Placed:
    """A case on the shared axis, squeezed; None where nothing is known, infinite where unbounded.

    `allowed` is what the claim says, `verified` the band that its resolution makes of it.
    """

    case: CaseResult
    allowed: tuple[float, float] | None = None
    verified: tuple[float, float] | None = None
    estimate: float | None = None
    interval: tuple[float, float] | None = None


def band_of(case: CaseResult) -> Band | None:
    """The band of a case; None where the region or the resolution is not known."""
    region, sharpness = case.region, case.sharpness
    if region is None or sharpness is None or (math.isinf(region.low) and math.isinf(region.high)):
        return None
    return Band(
        region.low,
        region.high,
        region.low - (0.0 if region.low_open else sharpness.widening),
        region.high + (0.0 if region.high_open else sharpness.widening),
        sharpness.asked,
    )


def squeeze(place: float) -> float:
    """The place on the axis that is drawn: linear up to ±1, a unit a power of ten beyond.

    >>> [squeeze(x) for x in (0.0, 0.5, 1.0, 10.0, -1000.0)]
    [0.0, 0.5, 1.0, 2.0, -4.0]
    """
    if abs(place) <= 1:
        return place
    return math.copysign(1 + math.log10(abs(place)), place)


def placed(case: CaseResult) -> Placed:
    """A case on the shared axis."""
    band = band_of(case)
    if band is None:
        return Placed(case)

    def at(value: float) -> float:
        return squeeze(band.place(value))

    interval = None
    if case.interval is not None:
        low, high = case.interval
        interval = (
            -math.inf if low is None else at(low),
            math.inf if high is None else at(high),
        )
    estimate = case.estimate
    return Placed(
        case,
        (at(band.low), at(band.high)),
        (at(band.widened_low), at(band.widened_high)),
        None if estimate is None or not math.isfinite(estimate) else at(estimate),
        interval,
    )


def limits(rows: Iterable[Placed]) -> tuple[float, float]:
    """The ends of the axis: all that is finite is in sight, up to a million units."""
    low, high = -LEAST_SHOWN, LEAST_SHOWN
    for row in rows:
        for value in (row.estimate, *(row.interval or ())):
            if value is not None and math.isfinite(value):
                low, high = min(low, value - 0.3), max(high, value + 0.3)
    return max(low, -FARTHEST - 0.3), min(high, FARTHEST + 0.3)


def ticks(ends: tuple[float, float], most: int | None = None) -> list[tuple[float, str]]:
    """The places of the axis that are labelled, and how.

    Where that were more than `most`, every second power of ten beyond the edges of the band.

    >>> ticks((-1.6, 3.2))
    [(-1.0, '-1'), (0.0, '0'), (1.0, '1'), (2.0, '10'), (3.0, '100')]
    >>> ticks((-1.6, 3.2), most=4)
    [(-1.0, '-1'), (0.0, '0'), (1.0, '1'), (3.0, '100')]
    """
    low, high = ends
    named = [(0.0, "0")]
    for power in range(int(FARTHEST)):
        label = str(10**power) if power < 4 else f"1e{power}"
        named += [(power + 1.0, label), (-power - 1.0, f"-{label}")]
    shown = sorted((place, label) for place, label in named if low <= place <= high)
    if most is None or len(shown) <= most:
        return shown
    return [one for one in shown if abs(one[0]) <= 1 or abs(one[0]) % 2 == 1]


def within(ends: tuple[float, float], value: float) -> tuple[float, bool]:
    """The value, or the end of the axis beyond which it lies, and whether it does lie beyond."""
    low, high = ends
    return min(max(value, low), high), not low <= value <= high
