"""The verdict: an interval against the region that a claim names."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dropcheck.results import Verdict


@dataclass(frozen=True, slots=True)
class Region:
    """Where a claim says that a quantity lies; an open end is a strict inequality.

    >>> Region(0.0, 0.0).point
    True
    """

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    @property
    def point(self) -> bool:
        """Whether the region is one number, as for `L == R`."""
        return self.low == self.high

    @property
    def half_width(self) -> float:
        """Half the width of a range; infinite for a half-line, 0 for a point."""
        return (self.high - self.low) / 2

    def strict_end_within(self, value: float, distance: float) -> bool:
        """Whether an end that must not be reached lies so near to a value.

        >>> Region(low=1.0, low_open=True).strict_end_within(1.1, 0.2)
        True
        """
        ends = ((self.low, self.low_open), (self.high, self.high_open))
        return any(is_open and abs(value - end) < distance for end, is_open in ends)


def widening(region: Region, asked: float) -> float:
    """How far outside the region a quantity may lie and still be verified.

    A range is widened by at most a tenth of its half-width, so that "within 0.1%" is not verified
    at 1%.
    """
    if region.point or math.isinf(region.half_width):
        return asked
    return min(asked, region.half_width / 10)


def decide(low: float, high: float, region: Region, widen: float, rounding: float = 0.0) -> Verdict:
    """Judge an interval [low, high] against a region.

    Refuted: the interval misses the region. Verified: it touches the region and lies within the
    region widened; a strict end is not widened. A difference below `rounding` is none.

    >>> decide(0.99, 1.004, Region(1.0, 1.0), widen=0.02)
    <Verdict.VERIFIED: 'verified'>
    >>> decide(0.97, 1.004, Region(1.0, 1.0), widen=0.02)
    <Verdict.INCONCLUSIVE: 'inconclusive'>
    >>> decide(1.01, 1.02, Region(1.0, 1.0), widen=0.05)
    <Verdict.REFUTED: 'refuted'>
    """
    if math.isnan(low) or math.isnan(high):
        return Verdict.INCONCLUSIVE
    below = high <= region.low + rounding if region.low_open else high < region.low - rounding
    above = low >= region.high - rounding if region.high_open else low > region.high + rounding
    if below or above:
        return Verdict.REFUTED
    if region.low_open:
        holds_low = low > region.low + rounding
    else:
        holds_low = low >= region.low - widen - rounding
    if region.high_open:
        holds_high = high < region.high - rounding
    else:
        holds_high = high <= region.high + widen + rounding
    return Verdict.VERIFIED if holds_low and holds_high else Verdict.INCONCLUSIVE


def reach(estimate: float, error: float, region: Region, widen: float) -> float:
    """The half-width at which an interval about the estimate would decide.

    The estimate may be off by `error`; the value within that which lies nearest to the region is
    taken, so that chance alone does not promise an early refutation. 0 where none would decide.
    """
    nearest = min(max(estimate, region.low), region.high)
    moved = estimate + math.copysign(min(abs(nearest - estimate), error), nearest - estimate)
    low_end = region.low if region.low_open else region.low - widen
    high_end = region.high if region.high_open else region.high + widen
    verify = min(moved - low_end, high_end - moved)
    refute = max(moved - region.high, region.low - moved)
    return max(verify, refute, 0.0)
