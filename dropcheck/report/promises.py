"""What a verdict promises, in words."""

from __future__ import annotations

import math

from dropcheck.report import numbers
from dropcheck.results import CaseResult, Method, Verdict

# An estimate more standard errors than this away from what is claimed is not as claimed.
SIGNIFICANT = 5.0
# Below this share of its magnitude a difference is rounding.
DIFFERENCE_ROUNDING = 1e-9


def within(case: CaseResult) -> str:
    """How far a verified quantity may be from what is claimed: `±0.05`, or `±3 coarse`."""
    if case.within is None:
        return numbers.UNKNOWN
    return _give(case) + (" coarse" if case.coarse else "")


def _give(case: CaseResult) -> str:
    return f"±{numbers.rough(case.within or 0.0, 3)}"


def basis(case: CaseResult) -> str:
    """What the verdict rests on: `moments, confirmed exactly`."""
    declared = case.calls is not None and case.calls.declared
    more = ", confirmed exactly" * case.confirmed + ", if elements are independent" * declared
    return numbers.UNKNOWN if case.guarantee is None else f"{case.guarantee}{more}"


def drawn(case: CaseResult) -> str:
    """The draws: `262k draws of 64 calls`; empty where there are none."""
    calls = None if case.calls is None else case.calls.count
    return numbers.draws(case.draws, calls) if case.draws else ""


def off(case: CaseResult) -> str | None:
    """How far a verified quantity is from what is claimed; None where it seems to be as claimed."""
    if case.verdict is not Verdict.VERIFIED or case.region is None or case.estimate is None:
        return None
    low, high = case.region.low, case.region.high
    if case.exact is not None:
        value, known, source = case.exact.value, case.exact.error, " by the model"
    elif case.standard_error is not None:
        value, known, source = case.estimate, SIGNIFICANT * case.standard_error, ""
    else:
        return None
    gap = max(low - value, value - high)
    if not gap > known + DIFFERENCE_ROUNDING * max(abs(value), case.scale or 0.0):
        return None
    size = numbers.rough(gap, 3)
    if not case.scale or case.coarse is not None:
        return f"{size} off{source}"
    return f"{numbers.rough(100 * gap / case.scale)}% off{source} ({size})"


def note(case: CaseResult) -> str | None:
    """What to know of a verified case before one relies on it; None where there is nothing."""
    if case.coarse is not None:
        name = "within" if case.sharpness and case.sharpness.absolute else "resolution"
        away = off(case)
        return (
            f"verified within {_give(case)}, more than half of the "
            f"{numbers.rough(case.coarse.about, 3)} that it is about"
            + (f", and {away}" if away else "")
            + f": ask for {name}: {numbers.exact(case.coarse.finer)}"
        )
    away = off(case)
    return None if away is None else f"verified within {_give(case)}, though {away}"


def weight(case: CaseResult) -> float:
    """The weight of a note; of several, the one with the largest weight is shown."""
    return (case.within or 0.0) / (case.coarse.about if case.coarse else case.scale or math.inf)


def as_verified(case: CaseResult) -> str:
    """The reading of a verified claim that was expected to be refuted."""
    away = off(case)
    if away is not None:
        return f"within the resolution, though {away}, and it is expected to be refuted"
    promise = "" if case.within is None else f" within {_give(case)}"
    return f"as claimed{promise}, although it is expected to be refuted"


def decided_exactly(case: CaseResult) -> bool:
    """Whether --exact decides an undecided case; it does not where its value is a strict end."""
    if case.exact is None or case.region is None:
        return False
    if case.method is Method.EXACT_VALUE:
        return False
    open_ends = [case.region.low] * case.region.low_open + [
        case.region.high
    ] * case.region.high_open
    near = case.exact.error + DIFFERENCE_ROUNDING * abs(case.exact.value)
    return all(abs(case.exact.value - end) > near for end in open_ends)


def price(case: CaseResult) -> str | None:
    """The `within` with which the draws of an undecided case would verify it; None without one.

    `within` cannot widen a range or a strict end as far as one likes.
    """
    region, interval = case.region, case.interval
    if case.sharpness is None or region is None or interval is None or None in interval:
        return None
    if not (region.point or math.isinf(region.half_width)) or region.low_open or region.high_open:
        return None
    low, high = (end if end is not None else math.nan for end in interval)
    if low > region.high or high < region.low:
        return None
    beyond = max(region.low - low, high - region.high)
    if not (math.isfinite(beyond) and beyond > case.sharpness.widening):
        return None
    power = 10.0 ** (math.floor(math.log10(beyond)) - 1)
    return f"within: {numbers.rough(math.ceil(beyond / power) * power)} would do with these"
