"""Results in words: the text of every cell of a table, and of every line about a case."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from dropcheck.claims import values
from dropcheck.report import numbers
from dropcheck.report.numbers import UNKNOWN, plural, rough
from dropcheck.results import (
    SEVERITY,
    CaseResult,
    Coverage,
    Guarantee,
    Method,
    Outcome,
    Quantity,
    Region,
    RunResult,
    Verdict,
    Written,
    claimed_counts,
)

# An estimate more standard errors than this away from what is claimed is not as claimed.
SIGNIFICANT = 5.0
# With fewer draws, their spread is known too roughly to foresee how many more are needed: that of
# 100 normal numbers is off by a seventh.
FEWEST_TO_FORESEE = 100
# Below this share of its magnitude a difference is rounding.
DIFFERENCE_ROUNDING = 1e-9
MOST_DIGITS_MORE = 8
# Where the draws that are needed take longer, in seconds, than people wait.
LONG = 3600.0
OTHER_WAYS = "; else claim a ratio, a bound or a probability, or a coarser --resolution"
NOT_CONFIRMED = "not confirmed"
STYLES = dict(zip(Outcome, ("green", "bold red", "yellow", "bold red"), strict=True))

Ends = tuple[float | None, float | None]

# ---- promises: what a verdict promises -----------------------------------------------------------


def within(case: CaseResult) -> str:
    """How far a verified quantity may be from what is claimed: `±0.05`."""
    return UNKNOWN if case.within is None else f"±{rough(case.within, 3)}"


def basis(case: CaseResult) -> str:
    """What the verdict rests on: `exact, confirmed`."""
    if case.guarantee is None:
        return UNKNOWN
    known = {True: ", confirmed", False: f", {NOT_CONFIRMED}", None: ""}[case.confirmed]
    declared = case.calls is not None and case.calls.declared
    return f"{case.guarantee}{known}{', if elements are independent' * declared}"


def verdict(case: CaseResult) -> str:
    """The verdict: `verified`, or `verified, not confirmed` where too few draws confirm it."""
    return f"{case.verdict}, {NOT_CONFIRMED}" if case.confirmed is False else str(case.verdict)


def draws(case: CaseResult) -> str:
    """The number of draws: `262k`, or `262k of 64 calls` of code."""
    calls = "" if case.calls is None else f" of {plural(case.calls.count, 'call')}"
    return numbers.count(case.draws) + calls


def off(case: CaseResult) -> str | None:
    """How far a verified quantity is from what is claimed; None where it seems to be as claimed."""
    if case.verdict is not Verdict.VERIFIED or case.region is None or case.estimate is None:
        return None
    if case.method in (Method.EXACT_VALUE, Method.ARITHMETIC):  # as near as the claim allows
        return None
    value, known, source = case.estimate, SIGNIFICANT * (case.standard_error or 0.0), ""
    if case.exact is not None:
        value, known, source = case.exact.value, case.exact.error, " by the model"
    elif case.standard_error is None:
        return None
    gap = _gap(case.region, value)
    if not gap > known + DIFFERENCE_ROUNDING * max(abs(value), case.scale or 0.0):
        return None
    if not case.scale:
        return f"{rough(gap, 3)} off{source}"
    return f"{rough(100 * gap / case.scale)}% off{source} ({rough(gap, 3)})"


def _gap(region: Region, value: float) -> float:
    """How far a value is from a region; not above 0 within it."""
    return max(region.low - value, value - region.high)


def note(case: CaseResult) -> str | None:
    """What to know of a verified case before one relies on it; None where there is nothing."""
    away = off(case)
    return None if away is None else f"verified within {within(case)}, though {away}"


def weight(case: CaseResult) -> float:
    """The weight of a note; of several, the one with the largest weight is shown."""
    return (case.within or 0.0) / (case.scale or math.inf)


def price(case: CaseResult) -> str | None:
    """The `within` with which the draws of an undecided case would verify it; None without one.

    It is a `resolution` of code, whose claims have one for all values of their parameters. Neither
    can widen a range or a strict end as far as one likes.
    """
    region = case.region
    if case.sharpness is None or region is None or case.interval is None:
        return None
    low, high = (math.nan if end is None else end for end in case.interval)
    if not (region.point or math.isinf(region.half_width)) or region.low_open or region.high_open:
        return None
    if math.isnan(low + high) or low > region.high or high < region.low:
        return None
    error = SIGNIFICANT * (case.standard_error or math.inf)
    if case.estimate is not None and _gap(region, case.estimate) > error:
        return None  # the draws speak against the claim
    size = max(region.low - low, high - region.high)
    if not (math.isfinite(size) and size > case.sharpness.widening):
        return None
    key = "within"
    if case.calls is not None and not case.sharpness.absolute:
        relative = size * case.resolution / case.sharpness.asked
        if relative < 1:  # else the scale is of what may be near 0
            key, size = "resolution", relative
    power = 10.0 ** (math.floor(math.log10(size)) - 1)
    return f"{key}: {rough(math.ceil(size / power) * power)} would do with these"


# This close to the edge between two figures, in units of the last digit, none is named: values are
# float64, and the edge belongs to both figures.
_NEAREST = Decimal("1e-6")


def _printed(digits: Decimal, written: Written) -> str:
    return f"{numbers.printed(digits.scaleb(2))}%" if written.percent else numbers.printed(digits)


def instead(case: CaseResult) -> str | None:
    """The digits to write in place of a refuted figure; None where no interval settles them all."""
    written, ends = case.written, case.interval
    if case.verdict is not Verdict.REFUTED or written is None or not written.rounded:
        return None
    if case.exact is not None:
        ends = case.exact.value - case.exact.error, case.exact.value + case.exact.error
    if written.unit is None or ends is None or None in ends:
        return None
    digits = settled((float(ends[0] or 0.0), float(ends[1] or 0.0)), written.unit)
    return None if digits is None else _printed(digits, written)


def settled(interval: tuple[float, float], unit: Decimal) -> Decimal | None:
    """The number to which both ends of an interval round; None if they round to different ones.

    >>> settled((0.4496, 0.4504), Decimal("0.01")), settled((0.4449, 0.4504), Decimal("0.01"))
    (Decimal('0.45'), None)
    >>> settled((0.125, 0.125), Decimal("0.01")) is None
    True
    """
    with localcontext() as context:
        context.prec = 400  # a float64 has 309 digits before the point
        digits = (Decimal(interval[0]) / unit).to_integral_value(ROUND_HALF_EVEN) * unit
        near = unit * (Decimal("0.5") - _NEAREST)
        return digits if all(abs(Decimal(end) - digits) < near for end in interval) else None


# ---- figures -------------------------------------------------------------------------------------


def parameters(case: CaseResult) -> str:
    """The case's parameters: `dk=512, p=0.1`."""
    return values.short_parameters(case.parameters)


def case_name(case: CaseResult) -> str:
    """A case in the form of test runners: `qk-variance[dk=512]`."""
    return values.case_name(case.claim, case.parameters)


def is_difference(case: CaseResult) -> bool:
    """Whether the estimate and the interval are of a difference of two sides."""
    return case.quantity is not None and case.quantity.is_difference


def is_distance(case: CaseResult) -> bool:
    """Whether the estimate and the interval are of a distance between laws."""
    return case.quantity in (Quantity.DISTANCE, Quantity.DEPENDENCE)


def measured(case: CaseResult) -> str | None:
    """What the estimate is of, where that is no side of the claim."""
    return case.quantity if is_difference(case) or is_distance(case) else None


def rounding(case: CaseResult) -> str | None:
    """A figure whose rounding is claimed, in the unit of the estimate: `0.41 ± 0.005` for `41%`."""
    figure, region = case.written, case.region
    if figure is None or region is None or not figure.rounded:
        return None
    if figure.digits is None or figure.unit is None:
        return None
    low, high = figure.digits - figure.unit / 2, figure.digits + figure.unit / 2
    same = (float(low), float(high)) == (region.low, region.high)
    return numbers.rounding(figure.digits, figure.unit) if same else None


def _digits(case: CaseResult) -> tuple[float | None, int]:
    """The width that digits are chosen by, and how many more digits than usual are needed.

    They show whether the interval touches what is claimed, and that the exact value differs from an
    end of the claim: with few digits, `[-0.012, -0.0004]` would seem to touch a claimed 0.
    """
    width = numbers.spread(case.interval, case.estimate)
    if case.region is None or case.interval is None or width is None:
        return width, 0
    allowed, printed = (case.region.low, case.region.high), rounding(case) is not None
    value, error = (case.exact.value, case.exact.error) if case.exact else (math.nan, 0.0)
    apart = [end for end in allowed if abs(value - end) > error]
    for more in range(MOST_DIGITS_MORE):
        texts = numbers.measured((*case.interval, case.estimate), width, more)[:2]
        low, high = (None if text == UNKNOWN else float(text) for text in texts)
        # a printed figure is in all its digits
        shown = [end if printed else float(numbers.known(end, width, more)) for end in allowed]
        same = numbers.known(value, width, more) in (
            numbers.known(end, width, more) for end in apart
        )
        if _touch((low, high), shown) is _touch(case.interval, allowed) and not same:
            return width, more
    return width, 0  # they are equal up to rounding: no digits show it


def _touch(ends: Ends, allowed: Sequence[float]) -> bool:
    low, high = ends
    return (low is None or low <= allowed[1]) and (high is None or high >= allowed[0])


def claimed(case: CaseResult) -> str:
    """What is claimed: `512`, `> 0.9`, `0.4 … 0.5`; with estimated sides `0.1 == 0.5`.

    Of laws it is a `distance 0`.

    For an entry of arrays with its index: `1 at [0, 0]`.
    """
    at, region = "" if case.entry is None else f" at {list(case.entry)}", case.region
    if case.sides is not None:
        return _sides(case, case.sides) + at
    if region is None or is_difference(case):
        return UNKNOWN
    width, more = _digits(case)
    width = width if case.interval else 0.0  # where nothing was measured, all digits are shown
    relation, low, high = region.relation, region.low, region.high
    text = rounding(case)
    if text is None and relation is None:
        text = " … ".join(numbers.apart(low, high, width, more))
    elif text is None:
        text = numbers.known(low if math.isinf(high) else high, width, more)
        text = text if relation == "==" else f"{relation} {text}"
    return f"{'distance ' * is_distance(case)}{text}{at}"


def _sides(case: CaseResult, sides: Sequence[float]) -> str:
    """The statement with the estimates of its sides: `0.100 == 0.105`."""
    width, region = numbers.spread(case.interval, case.estimate), case.region
    first, *rest = numbers.measured(sides, width)
    if width is None or not math.isfinite(width) or math.isclose(max(sides) + width, min(sides)):
        first, *rest = (rough(side, 3) for side in sides)  # nothing says which digits are right
    parts = [f"{relation} {text}" for relation, text in zip(case.relations, rest, strict=True)]
    give = region is not None and region.low < 0 < region.high
    return " ".join([first, *parts, *([f"±{rough(region.high, 3)}"] if give and region else [])])


def estimated(case: CaseResult) -> str:
    """The estimate, to the digits that its interval supports; for two sides their difference."""
    width, more = _digits(case)
    if width is None and case.estimate is not None:
        text = rough(case.estimate, 3)  # nothing says how many digits are right
    else:
        text = numbers.measured((case.estimate, *(case.interval or ())), width, more)[0]
    return f"diff {text}" if is_difference(case) and text != UNKNOWN else text


def exact(case: CaseResult) -> str:
    """The exact value, with one digit more than the estimate; empty where it is the estimate."""
    if case.exact is None or (case.method is Method.EXACT_VALUE and not case.draws):
        return ""
    value = numbers.beyond_error(case.exact.value, case.exact.error)
    return numbers.known(value, *_digits(case))


def interval(case: CaseResult) -> str:
    """The interval, to the digits that its width supports."""
    return numbers.interval(case.interval, case.estimate, _digits(case)[1])


def distance(case: CaseResult) -> str | None:
    """How far what decides is from what is claimed: the exact value, or else the estimate."""
    exact = case.exact if case.guarantee is Guarantee.EXACT else None
    value = case.estimate if exact is None else exact.value
    if case.region is None or value is None or not math.isfinite(value):
        return None
    gap = _gap(case.region, value)
    if gap <= 0:
        return "none: it is as claimed, or at an end that the claim excludes"
    side = "below" if value < case.region.low else "above"
    error = f"{rough(gap, 3)} {side}"
    if case.standard_error and exact is None:
        error = f"{rough(gap / case.standard_error, 3)} standard errors {side}"
    if not case.scale:
        return error
    ratio = gap / case.scale
    share = f"{rough(100 * ratio, 3)}% of" if ratio < 9.95 else f"{rough(ratio)} times"
    return f"{error}, {share} the scale"


def resolution(case: CaseResult) -> str | None:
    """The resolution of a case and its value: `0.01 of 5: ±0.05`; None where it is not known."""
    region, sharpness = case.region, case.sharpness
    if region is None or sharpness is None:
        return None
    ends = (region.low, region.low_open), (region.high, region.high_open)
    closed = any(math.isfinite(end) and not is_open for end, is_open in ends)
    far = f"±{rough(sharpness.widening if closed else 0.0, 3)}"
    if case.method is Method.CERTAINTY:
        return f"{far}: violations rarer than that"
    if case.method is Method.ARITHMETIC:
        return f"{far}: nothing is random, and what is not equal differs"
    if far == "±0" and (region.low_open or region.high_open):
        return f"{far}: a strict inequality is not widened"
    if far == "±0":
        return f"{far}: a range is widened by a tenth of its half-width at most"
    if sharpness.absolute and not sharpness.narrowed:
        return f"{far}, absolute"
    text = f"{numbers.exact(case.resolution)} of {rough(case.scale or 0.0, 3)}"
    if sharpness.absolute:
        text = f"{rough(sharpness.asked, 3)}, absolute"
    ranged = 0 < region.half_width < math.inf
    why = ", a tenth of the half-width" if ranged else ", half of what is compared"
    return f"{text}: {far}{why * sharpness.narrowed}"


# ---- readings ------------------------------------------------------------------------------------


def reading(case: CaseResult) -> str:
    """The most likely meaning of a case that did not pass."""
    known = case.explanation.reading if case.explanation else ""
    if case.verdict is Verdict.VERIFIED:
        if (away := off(case)) is not None:
            return f"within the resolution, though {away}, and it is expected to be refuted"
        promise = "" if case.within is None else f" within {within(case)}"
        return f"as claimed{promise}, although it is expected to be refuted"
    if case.verdict is Verdict.REFUTED:
        return known or _why_refuted(case)
    cheaper = price(case) if case.calls is None else None  # else it is what the case needs
    more = "; ".join(filter(None, (needs(case), cheaper))) if needs(case) else None
    if more is not None:
        return f"too few draws: {more}"
    return known or "not decided by these draws"


def _why_refuted(case: CaseResult) -> str:
    region, more = case.region or Region(), case.sharpness.widening if case.sharpness else 0.0
    if region.point and case.estimate is not None and abs(case.estimate - region.low) < more:
        return "false as stated, by less than the resolution: a tolerance would let that pass"
    found, ends, known = "interval", (region.low, region.high), case.exact and case.region
    if known and case.draws and case.interval and _touch(case.interval, ends):
        found = "exact value"  # alone: the few draws allow what is claimed
    return f"false as stated: the {found} misses what is claimed"


def needs(case: CaseResult) -> str | None:
    """What would probably decide an undecided case: `needs about 3.1e6 more draws, 4 s`.

    Of code, it is the resolution that its time allows: more time takes hours.
    """
    if case.more_draws is None:
        return None
    if case.draws < FEWEST_TO_FORESEE:
        return "how many more it needs cannot be told from so few"
    time = "" if case.more_seconds is None else f", {numbers.duration(case.more_seconds)}"
    more, total = map(numbers.option, (case.more_draws, case.draws + case.more_draws))
    coarser = price(case)
    if case.calls is not None and coarser is not None:
        return f"{coarser} draws (or --max-draws {total})"
    up = "its seconds are up: " if case.calls else "--time-limit ended it: make it longer, or "
    said = f"needs about {more} more draws{time} ({up * case.timed_out}--max-draws {total})"
    return f"{said}{OTHER_WAYS * ((case.more_seconds or 0.0) > LONG)}"


def headline(case: CaseResult) -> str:
    """A case that did not pass in one line: `refuted: claimed 2, estimated 1.00`."""
    known = {"claimed": claimed(case), "estimated": estimated(case)}
    figures = ", ".join(f"{name} {text}" for name, text in known.items() if text != UNKNOWN)
    return ": ".join(filter(None, (standing(case).removeprefix("FAIL: "), figures)))


def outcome(case: CaseResult) -> str:
    """The result of a case; capitals show a failure without colour too."""
    bad = case.result in (Outcome.FAIL, Outcome.ERROR)
    return case.result.upper() if bad else str(case.result)


def standing(case: CaseResult) -> str:
    """The verdict, and what it means for the claim, in few words."""
    unexpected = ", expected refuted" * (
        case.expect is Verdict.REFUTED and case.verdict is not Verdict.REFUTED
    )
    if case.verdict is Verdict.UNDECIDED:
        return outcome(case) + unexpected
    if case.result is Outcome.FAIL:
        return f"FAIL: {case.verdict}{unexpected}"
    return verdict(case) if case.verdict is Verdict.VERIFIED else "refuted, as expected"


# ---- a run ---------------------------------------------------------------------------------------


def interrupted(run: RunResult) -> str | None:
    """How far an interrupted run came: `interrupted: 1 of 5 cases judged`."""
    if not run.interrupted:
        return None
    return f"interrupted: {len(run.cases)} of {plural(run.planned, 'case')} judged"


def on_the_limit(run: RunResult) -> str | None:
    """How many verdicts rest on the limit theorem; None where none does."""
    if not run.asymptotic:
        return None
    verb = "rests" if run.asymptotic == 1 else "rest"
    return f"{run.asymptotic} of {len(run.cases)} {verb} on the limit theorem"


def claimed_share(documents: Sequence[Coverage]) -> str | None:
    """How much of documents is claimed: `24 of 31 figures claimed`; None where there is nothing."""
    of = claimed_counts(documents)
    parts = [
        f"{of[f'claimed_{kind}s']} of {plural(every, kind)}"
        for kind in ("figure", "formula")
        if (every := of[f"{kind}s"])
    ]
    return f"{' and '.join(parts)} claimed" if parts else None


def counts(run: RunResult) -> str:
    """How many cases of a run passed, failed and stayed undecided."""
    errors = run.count(Outcome.ERROR)
    return (
        f"{plural(len(run.cases), 'case')}: {run.count(Outcome.PASS)} passed, "
        f"{run.count(Outcome.FAIL)} failed, {run.count(Outcome.UNDECIDED)} undecided"
        + (f", {plural(errors, 'error')}" if errors else "")
    )


def by_claim(cases: Iterable[CaseResult]) -> dict[str, list[CaseResult]]:
    """The cases of each claim, in the order of their first cases."""
    groups: dict[str, list[CaseResult]] = {}
    for case in cases:
        groups.setdefault(case.claim, []).append(case)
    return groups


def not_passed(cases: Iterable[CaseResult]) -> list[CaseResult]:
    """The cases that did not pass: the worst of each claim, and then the others; failures first.

    One error stands for all that say the same, and says how many they are.
    """
    said: dict[object, list[CaseResult]] = {}
    for case in cases:
        if case.result is not Outcome.PASS:
            told = str(case.explanation) if case.result is Outcome.ERROR else id(case)
            said.setdefault(told, []).append(case)
    bad = []
    for case, *alike in said.values():
        why = case.explanation
        if alike and why is not None:
            error = f"{why.details['error']} (so in {plural(len(alike) + 1, 'case')})"
            why = why.reason.explain(**{**why.details, "error": error})
        bad.append(replace(case, explanation=why))
    first = {id(worst(group)) for group in by_claim(bad).values()}
    return sorted(bad, key=lambda case: (id(case) not in first, -SEVERITY[case.result]))


def worst(group: Iterable[CaseResult]) -> CaseResult:
    """The case nearest to failing: a failure before an undecided one, then the least clear."""
    return max(group, key=lambda case: case.badness)
