"""Where an interval lies against what its claim allows, in a unit that unlike claims share.

Of a claim about two sides, 0 is the middle of what it allows and ±1 the edges of the band within
which an interval verifies it: what it allows, widened by the resolution. Of an inequality, 0 is
the end that it names and 1 is a resolution away. Beyond ±1 the axis is logarithmic, so that a
claim that is off by a hundred resolutions stands on one axis with one that holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dropcheck.claims.registry import Claim, Registry
from dropcheck.inference.region import Region, widening
from dropcheck.report import numbers
from dropcheck.report import phrases as words
from dropcheck.report.statements import relation, split_statement
from dropcheck.results import CaseResult, Guarantee, RunResult, Settings

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


def band_of(case: CaseResult, claim: Claim | None, settings: Settings) -> Band | None:
    """The band of a case; None where the region or the scale is not known."""
    allowed = words.region(case)
    if allowed is None or not any(map(math.isfinite, allowed)):
        return None
    sharpness = _sharpness(case, claim, settings)
    if sharpness is None:
        return None
    low, high = allowed
    low_open, high_open = _open_ends(case.statement, allowed)
    widen = widening(Region(low, high, low_open, high_open), sharpness)
    return Band(
        low,
        high,
        low if low_open else low - widen,
        high if high_open else high + widen,
        sharpness,
    )


def _sharpness(case: CaseResult, claim: Claim | None, settings: Settings) -> float | None:
    """How sharply the case was looked at, in the quantity's unit."""
    if is_certainty(case):
        from dropcheck.inference.interval import RAREST_SEEN  # it brings numpy

        asked = claim.within if claim is not None else None
        return min(RAREST_SEEN, asked or RAREST_SEEN)
    if claim is not None and claim.within is not None and settings.resolution is None:
        return claim.within
    if case.scale is None or not case.scale * case.resolution > 0:
        return None
    return case.scale * case.resolution


def is_certainty(case: CaseResult) -> bool:
    """Whether the claim is that something always happens, or never."""
    exact = case.guarantee is Guarantee.EXACT and relation(case.statement) == "=="
    return exact and case.claimed in (0.0, 1.0)


def _open_ends(statement: str, allowed: tuple[float, float]) -> tuple[bool, bool]:
    """Whether the ends of what is allowed do not belong to it: a strict one is not widened."""
    relations = split_statement(statement)[1]
    if len(relations) == 2:
        low, high = relations if relations[0].startswith("<") else reversed(relations)
        return low in ("<", ">"), high in ("<", ">")
    strict = relation(statement) in ("<", ">")
    return strict and math.isfinite(allowed[0]), strict and math.isfinite(allowed[1])


def reach(case: CaseResult, claim: Claim | None, settings: Settings) -> str | None:
    """How far beyond what is claimed a quantity still verifies it: `±0.05`; None where unknown."""
    band = band_of(case, claim, settings)
    if band is None:
        return None
    ends = (band.low - band.widened_low, band.widened_high - band.high)
    widened = max(end for end in ends if math.isfinite(end))
    return f"±{numbers.rough(widened, 3)}"


def resolution_text(case: CaseResult, claim: Claim | None, settings: Settings) -> str | None:
    """What the resolution of a case comes to: `0.01 of 5: ±0.05`; None where it is not known."""
    band, far = band_of(case, claim, settings), reach(case, claim, settings)
    if band is None or far is None:
        return None
    if is_certainty(case):
        return f"{far}: violations rarer than that"
    if far == "±0":
        return f"{far}: a strict inequality is not widened"
    asked = numbers.rough(band.resolution, 3)
    if claim is not None and claim.within is not None and settings.resolution is None:
        if far == f"±{asked}":
            return f"{far}, absolute"
        text = f"{asked}, absolute"
    else:
        text = f"{numbers.exact(case.resolution)} of {numbers.rough(case.scale or 0.0, 3)}"
    capped = "" if far == f"±{asked}" else ", a tenth of the half-width"
    return f"{text}: {far}{capped}"


def squeeze(place: float) -> float:
    """The place on the axis that is drawn: linear up to ±1, a unit a power of ten beyond.

    >>> [squeeze(x) for x in (0.0, 0.5, 1.0, 10.0, -1000.0)]
    [0.0, 0.5, 1.0, 2.0, -4.0]
    """
    if abs(place) <= 1:
        return place
    return math.copysign(1 + math.log10(abs(place)), place)


def placed(case: CaseResult, claim: Claim | None, settings: Settings) -> Placed:
    """A case on the shared axis."""
    band = band_of(case, claim, settings)
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


def placed_cases(run: RunResult, registry: Registry) -> tuple[Placed, ...]:
    """Every case of a run on the shared axis."""
    return tuple(placed(case, registry.claims.get(case.claim), run.settings) for case in run.cases)


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


def groups(rows: Sequence[Placed]) -> list[list[Placed]]:
    """The rows of each claim, in order."""
    found: dict[str, list[Placed]] = {}
    for row in rows:
        found.setdefault(row.case.claim, []).append(row)
    return list(found.values())
