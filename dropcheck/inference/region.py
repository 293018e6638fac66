"""The verdict: an interval against the region that a claim names."""

from __future__ import annotations

import math
from dataclasses import replace

from dropcheck.results import Coarse, Region, Resolution, Verdict


def widening(region: Region, asked: float) -> float:
    """How far outside the region a quantity may lie and still be verified.

    A range is widened by at most a tenth of its half-width, so that "within 0.1%" is not verified
    at 1%.
    """
    if region.point or math.isinf(region.half_width):
        return asked
    return min(asked, region.half_width / 10)


ROUNDED_SHARE = 0.25
"""Code rounds its results: no difference below this share of the resolution refutes it."""


def decide(
    low: float,
    high: float,
    region: Region,
    widen: float,
    rounding: float = 0.0,
    *,
    of_code: bool = False,
) -> Verdict:
    """Judge an interval [low, high] against a region.

    Refuted: the interval misses the region. Verified: it touches the region and lies within the
    widened region; a strict end is not widened. Differences below `rounding` are ignored. Code
    rounds its numbers, and so their mean: closed ends of the region are then moved outward by a
    share of `widen`, and the rest of it is the widening.

    >>> decide(0.99, 1.004, Region(1.0, 1.0), widen=0.02)
    <Verdict.VERIFIED: 'verified'>
    >>> decide(0.97, 1.004, Region(1.0, 1.0), widen=0.02)
    <Verdict.INCONCLUSIVE: 'inconclusive'>
    >>> decide(1.01, 1.02, Region(1.0, 1.0), widen=0.05)
    <Verdict.REFUTED: 'refuted'>
    """
    if math.isnan(low) or math.isnan(high):
        return Verdict.INCONCLUSIVE
    if of_code:
        share = ROUNDED_SHARE * widen
        low_end = region.low if region.low_open else region.low - share
        high_end = region.high if region.high_open else region.high + share
        region = replace(region, low=low_end, high=high_end)
        widen -= share
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


def region_floor(region: Region, widen: float) -> float:
    """The error of a claim up to which it is verified, and so never refuted, by any draws.

    A claim that is false by less than its resolution is verified as soon as the interval lies
    within that; for a strict inequality the error is 0.
    """
    ends = ((region.low, region.low_open), (region.high, region.high_open))
    closed = any(math.isfinite(end) and not is_open for end, is_open in ends)
    return widen if closed else 0.0


def reach(estimate: float, error: float, region: Region, widen: float) -> float:
    """The half-width at which an interval about the estimate would decide; 0 where none would."""
    return max(*ways(estimate, error, region, widen), 0.0)


def ways(estimate: float, error: float, region: Region, widen: float) -> tuple[float, float]:
    """The half-widths at which an interval about the estimate would verify, and would refute.

    The estimate may be off by `error`; the value within that which lies nearest to the region is
    taken, so that chance alone does not promise an early refutation.
    """
    nearest = min(max(estimate, region.low), region.high)
    moved = estimate + math.copysign(min(abs(nearest - estimate), error), nearest - estimate)
    low_end = region.low if region.low_open else region.low - widen
    high_end = region.high if region.high_open else region.high + widen
    verify = min(moved - low_end, high_end - moved)
    return verify, max(moved - region.high, region.low - moved)


def promised(
    verdict: Verdict,
    region: Region | None,
    interval: tuple[float, float] | None,
    sharpness: Resolution | None,
    within: float | None,
) -> float | None:
    """How far from its region a verified quantity may lie; None where the verdict is another.

    It is `within` where the judge says so, else the widening of the region. It is 0 where the
    interval lies in the region itself.

    >>> promised(Verdict.VERIFIED, Region(low=0.0), (-0.01, 0.5), Resolution(0.02, 0.02), None)
    0.02
    >>> promised(Verdict.VERIFIED, Region(low=0.0), (0.1, 0.5), Resolution(0.02, 0.02), None)
    0.0
    """
    if verdict is not Verdict.VERIFIED or region is None:
        return None
    if interval is not None and region.low <= interval[0] and interval[1] <= region.high:
        return 0.0
    if within is not None or sharpness is None:
        return within
    return region_floor(region, sharpness.widening)


# A promise of more than this share of the size of what is compared says little.
COARSE = 0.5


def coarse(
    within: float | None, about: float | None, sharpness: Resolution | None, resolution: float
) -> Coarse | None:
    """What to ask for where a promise says little; None where it says enough.

    Args:
        within: what is promised.
        about: the largest of what is compared.
        sharpness: how sharply the case was looked at.
        resolution: the share of the scale that was asked for.

    >>> coarse(3.16, 2.0, Resolution(3.16, 3.16), 0.01)
    Coarse(about=2.0, finer=0.003)
    """
    if not within or not about or sharpness is None or within <= COARSE * about:
        return None
    finer = COARSE * about
    if not sharpness.absolute:
        finer *= resolution / sharpness.asked
    power = 10.0 ** math.floor(math.log10(finer))
    return Coarse(about, float(f"{math.floor(finer / power * 1.000001) * power:.1g}"))
