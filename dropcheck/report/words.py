"""Results in words: the text of every cell of a table, and of every line about a case."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from dropcheck.claims import values
from dropcheck.report import numbers
from dropcheck.results import (
    SEVERITY,
    CaseResult,
    Edge,
    Method,
    Outcome,
    Region,
    RunResult,
    Verdict,
    Written,
)
from dropcheck.results.coverage import Coverage, CoverageCounts

# ---- promises ------------------------------------------------------------------------------------
#
# What a verdict promises, in words.


# An estimate more standard errors than this away from what is claimed is not as claimed.
SIGNIFICANT = 5.0
# With fewer draws, their spread is known too roughly to foresee how many more are needed: that of
# 100 normal numbers is off by a seventh.
FEWEST_TO_FORESEE = 100
# Below this share of its magnitude a difference is rounding.
DIFFERENCE_ROUNDING = 1e-9


NOT_CONFIRMED = "not confirmed"


def within(case: CaseResult) -> str:
    """How far a verified quantity may be from what is claimed: `±0.05`."""
    return numbers.UNKNOWN if case.within is None else _give(case)


def is_difference(case: CaseResult) -> bool:
    """Whether the estimate and the interval are of a difference of two sides."""
    return case.quantity is not None and case.quantity.is_difference


def _give(case: CaseResult) -> str:
    return f"±{numbers.rough(case.within or 0.0, 3)}"


def basis(case: CaseResult) -> str:
    """What the verdict rests on: `exact, confirmed`."""
    declared = case.calls is not None and case.calls.declared
    known = {True: ", confirmed", False: f", {NOT_CONFIRMED}", None: ""}[case.confirmed]
    more = known + ", if elements are independent" * declared
    return numbers.UNKNOWN if case.guarantee is None else f"{case.guarantee}{more}"


def verdict(case: CaseResult) -> str:
    """The verdict: `verified`, or `verified, not confirmed` where too few draws confirm it."""
    return f"{case.verdict}, {NOT_CONFIRMED}" if case.confirmed is False else str(case.verdict)


def drawn(case: CaseResult) -> str:
    """The draws: `262k draws of 64 calls`; empty where there are none."""
    calls = None if case.calls is None else case.calls.count
    return numbers.draws(case.draws, calls) if case.draws else ""


def draws(case: CaseResult) -> str:
    """The number of draws: `262k`, or `262k of 64 calls` of code."""
    calls = "" if case.calls is None else f" of {numbers.plural(case.calls.count, 'call')}"
    return numbers.count(case.draws) + calls


def off(case: CaseResult) -> str | None:
    """How far a verified quantity is from what is claimed; None where it seems to be as claimed."""
    if case.verdict is not Verdict.VERIFIED or case.region is None or case.estimate is None:
        return None
    if case.method is Method.EXACT_VALUE:  # then it is as near as the claim allows
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
    if not case.scale:
        return f"{size} off{source}"
    return f"{numbers.rough(100 * gap / case.scale)}% off{source} ({size})"


def note(case: CaseResult) -> str | None:
    """What to know of a verified case before one relies on it; None where there is nothing."""
    away = off(case)
    return None if away is None else f"verified within {_give(case)}, though {away}"


def weight(case: CaseResult) -> float:
    """The weight of a note; of several, the one with the largest weight is shown."""
    return (case.within or 0.0) / (case.scale or math.inf)


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

    It is a `resolution` of code, whose claims have one for all values of their parameters. Neither
    can widen a range or a strict end as far as one likes.
    """
    region, interval = case.region, case.interval
    if case.sharpness is None or region is None or interval is None or None in interval:
        return None
    if not (region.point or math.isinf(region.half_width)) or region.low_open or region.high_open:
        return None
    low, high = (end if end is not None else math.nan for end in interval)
    if low > region.high or high < region.low or _seems_off(case, region):
        return None
    beyond = max(region.low - low, high - region.high)
    if not (math.isfinite(beyond) and beyond > case.sharpness.widening):
        return None
    relative = case.calls is not None and not case.sharpness.absolute
    size = beyond * case.resolution / case.sharpness.asked if relative else beyond
    if relative and size >= 1:  # the scale is of what may be near 0
        relative, size = False, beyond
    power = 10.0 ** (math.floor(math.log10(size)) - 1)
    key = "resolution" if relative else "within"
    return f"{key}: {numbers.rough(math.ceil(size / power) * power)} would do with these"


def _seems_off(case: CaseResult, region: Region) -> bool:
    """Whether the draws speak against the claim, though the interval allows it."""
    if case.estimate is None or not case.standard_error:
        return False
    gap = max(region.low - case.estimate, case.estimate - region.high)
    return gap > SIGNIFICANT * case.standard_error


# ---- edges ---------------------------------------------------------------------------------------
#
# Printed figures near an edge of their rounding, in words, and what to print instead.


# A value is at most half a unit away from an edge: beyond half of that it is not near.
_FAR = 0.25
# This close to the edge between two figures, in units of the last digit, none is named: values are
# float64, and the edge belongs to both figures.
_NEAREST = Decimal("1e-6")


def where(edge: Edge) -> str:
    """How near the edge is.

    >>> where(Edge(away=0.0081, instead=())), where(Edge(away=0.0, instead=()))
    ('within 0.01 of a unit of the edge of its rounding', 'at the edge of its rounding')
    >>> where(Edge(away=0.49, instead=()))
    'draws leave both sides of an edge of its rounding possible'
    """
    if edge.away > _FAR:
        return "draws leave both sides of an edge of its rounding possible"
    if edge.away < 1e-9:  # within the rounding of float64
        return "at the edge of its rounding"
    away = math.ceil(100 * edge.away - 1e-6) / 100  # rounding must not reach the next hundredth
    return f"within {away:g} of a unit of the edge of its rounding"


def remedy(edge: Edge, written: Written) -> str:
    """Which digits to print, in the form that the figure has: `print 41% or 41.42%`."""
    if not edge.instead:
        return "print more digits"
    shown = (
        f"{numbers.printed(one.scaleb(2))}%" if written.percent else numbers.printed(one)
        for one in edge.instead
    )
    return f"print {' or '.join(shown)}"


def advice(edge: Edge, written: Written) -> str:
    """`within 0.01 of a unit of the edge of its rounding: print 0.95 or 0.9455`."""
    return f"{where(edge)}: {remedy(edge, written)}"


def instead(case: CaseResult) -> str | None:
    """The digits to write in place of a refuted figure; None where no interval settles them all."""
    written = case.written
    if case.verdict is not Verdict.REFUTED or written is None or not written.rounded:
        return None
    ends = case.interval
    if case.exact is not None:
        ends = case.exact.value - case.exact.error, case.exact.value + case.exact.error
    if written.unit is None or ends is None or None in ends:
        return None
    digits = settled((float(ends[0] or 0.0), float(ends[1] or 0.0)), written.unit)
    if digits is None:
        return None
    return f"{numbers.printed(digits.scaleb(2))}%" if written.percent else numbers.printed(digits)


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


# ---- phrases -------------------------------------------------------------------------------------


STYLES = dict(zip(Outcome, ("green", "bold red", "yellow", "bold red"), strict=True))
MOST_DIGITS_MORE = 8
DECIDED_EXACTLY = ": --exact decides by that"


def parameters(case: CaseResult) -> str:
    """The case's parameters: `dk=512, p=0.1`."""
    return values.short_parameters(case.parameters)


def case_name(case: CaseResult) -> str:
    """A case in the form of test runners: `qk-variance[dk=512]`."""
    return values.case_name(case.claim, case.parameters)


def claimed(case: CaseResult) -> str:
    """What is claimed: `512`, `> 0.9`, `0.4 … 0.5`; with estimated sides `0.1 == 0.5`.

    For an entry of arrays with its index: `1 at [0, 0]`.
    """
    at = "" if case.entry is None else f" at {list(case.entry)}"
    if case.sides is not None:
        return _sides(case) + at
    if case.region is None or (case.quantity is not None and case.quantity.is_difference):
        return numbers.UNKNOWN
    return _claimed(case, case.region) + at


def _claimed(case: CaseResult, region: Region) -> str:
    if (printed := rounding(case)) is not None:
        return printed
    low, high, more = region.low, region.high, _more_digits(case)
    # where nothing was measured, all digits are shown
    width = numbers.spread(case.interval, case.estimate) if case.interval else 0.0
    match region.relation:
        case None:
            return " … ".join(numbers.apart(low, high, width, more))
        case "==":
            return numbers.known(low, width, more)
        case relation:
            return f"{relation} {numbers.known(low if math.isinf(high) else high, width, more)}"


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


def estimated(case: CaseResult) -> str:
    """The estimate, to the digits that its interval supports; for two sides their difference."""
    text = _estimate(case)
    differs = case.quantity is not None and case.quantity.is_difference
    return f"diff {text}" if differs and text != numbers.UNKNOWN else text


def estimated_in_full(case: CaseResult) -> str:
    """The estimate and its interval: `left side minus right side -0.2, interval [-0.3, -0.1]`."""
    quantity = f"{case.quantity} " if case.quantity and case.quantity.is_difference else ""
    return f"{quantity}{_estimate(case)}, interval {interval(case)}"


def _estimate(case: CaseResult) -> str:
    width = numbers.spread(case.interval, case.estimate)
    if width is None and case.estimate is not None:
        return numbers.rough(case.estimate, 3)  # nothing says how many digits are right
    low, high = case.interval or (None, None)
    return numbers.measured((case.estimate, low, high), width, _more_digits(case))[0]


def exact(case: CaseResult) -> str:
    """The exact value, with one digit more than the estimate; empty where it is the estimate."""
    if case.exact is None or (case.method is Method.EXACT_VALUE and not case.draws):
        return ""
    width = numbers.spread(case.interval, case.estimate)
    value = numbers.beyond_error(case.exact.value, case.exact.error)
    return numbers.known(value, width, _more_digits(case))


def exactly(case: CaseResult) -> str | None:
    """The exact value, and whether draws confirm it; None where it is the estimate."""
    if not exact(case):
        return None
    said = {True: ", which the draws confirm", False: f", {NOT_CONFIRMED}", None: ""}
    return f"{exact(case)} by the model{said[case.confirmed]}"


def interval(case: CaseResult) -> str:
    """The interval, to the digits that its width supports."""
    return numbers.interval(case.interval, case.estimate, _more_digits(case))


def _more_digits(case: CaseResult) -> int:
    """How many more digits than usual show whether the interval touches what is claimed.

    With few digits, `[-0.012, -0.0004]` would seem to touch a claimed 0 that it misses.
    """
    width = numbers.spread(case.interval, case.estimate)
    if case.region is None or case.interval is None or width is None:
        return 0
    allowed = case.region.low, case.region.high
    printed = rounding(case) is not None  # in all its digits
    for more in range(MOST_DIGITS_MORE):
        texts = numbers.measured((*case.interval, case.estimate), width, more)
        low, high = (end if printed else float(numbers.known(end, width, more)) for end in allowed)
        if _touch((_end(texts[0]), _end(texts[1])), (low, high)) is _touch(case.interval, allowed):
            return more
    return 0  # they are equal up to rounding: no digits show it


def _end(text: str) -> float | None:
    return None if text == numbers.UNKNOWN else float(text)


def _touch(ends: tuple[float | None, float | None], allowed: tuple[float, float]) -> bool:
    low, high = ends
    return (low is None or low <= allowed[1]) and (high is None or high >= allowed[0])


def _sides(case: CaseResult) -> str:
    """The statement with the estimates of its sides: `0.100 == 0.105`."""
    sides, width = case.sides or (), numbers.spread(case.interval, case.estimate)
    if width is None or not math.isfinite(width):  # nothing says how many digits are right
        texts = [numbers.rough(side, 3) for side in sides]
    else:
        texts = list(numbers.measured(sides, width))
    parts = [f"{relation} {text}" for relation, text in zip(case.relations, texts[1:], strict=True)]
    give = case.region is not None and case.region.low < 0 < case.region.high
    tolerance = f" ±{numbers.rough(case.region.high, 3)}" if give and case.region else ""
    return " ".join([texts[0], *parts]) + tolerance


def distance(case: CaseResult) -> str | None:
    """How far the estimate is from what is claimed, in standard errors."""
    if case.region is None or case.estimate is None or not math.isfinite(case.estimate):
        return None
    gap = max(case.region.low - case.estimate, case.estimate - case.region.high)
    if gap <= 0:
        ends = (case.region.low, case.region.low_open), (case.region.high, case.region.high_open)
        excluded = (case.estimate, True) in ends
        if excluded or case.verdict is Verdict.REFUTED:  # it is within rounding of an open end
            return "none: the estimate is at the end, which the claim excludes"
        return "none: the estimate is as claimed"
    side = "below" if case.estimate < case.region.low else "above"
    share = f", {_share(gap / case.scale)}" if case.scale else ""
    if not case.standard_error:
        return f"{numbers.rough(gap, 3)} {side}{share}"
    return f"{numbers.rough(gap / case.standard_error, 3)} standard errors {side}{share}"


def reach(case: CaseResult) -> str | None:
    """How far beyond what is claimed a quantity is still verified: `±0.05`; None where unknown."""
    if case.region is None or case.sharpness is None:
        return None
    region = case.region
    closed = (not region.low_open and math.isfinite(region.low)) or (
        not region.high_open and math.isfinite(region.high)
    )
    return f"±{numbers.rough(case.sharpness.widening if closed else 0.0, 3)}"


def resolution(case: CaseResult) -> str | None:
    """The resolution of a case and its value: `0.01 of 5: ±0.05`; None where it is not known."""
    far, sharpness = reach(case), case.sharpness
    if far is None or sharpness is None:
        return None
    if case.method is Method.CERTAINTY:
        return f"{far}: violations rarer than that"
    if case.method is Method.ARITHMETIC:
        return f"{far}: nothing is random, and what is not equal differs"
    if far == "±0" and (case.region is None or case.region.low_open or case.region.high_open):
        return f"{far}: a strict inequality is not widened"
    if far == "±0":
        return f"{far}: a range is widened by a tenth of its half-width at most"
    asked = numbers.rough(sharpness.asked, 3)
    if sharpness.absolute and not sharpness.narrowed:
        return f"{far}, absolute"
    text = f"{numbers.exact(case.resolution)} of {numbers.rough(case.scale or 0.0, 3)}"
    if sharpness.absolute:
        text = f"{asked}, absolute"
    ranged = 0 < case.region.half_width < math.inf if case.region is not None else False
    why = "a tenth of the half-width" if ranged else "half of what is compared"
    return f"{text}: {far}" + (f", {why}" if sharpness.narrowed else "")


def _share(ratio: float) -> str:
    """A share of the scale in per cent, or a multiple of it."""
    if ratio < 9.95:
        return f"{numbers.rough(100 * ratio, 3)}% of the scale"
    return f"{numbers.rough(ratio)} times the scale"


def reading(case: CaseResult) -> str:
    """The most likely meaning of a case that did not pass."""
    if case.verdict is Verdict.REFUTED:
        if case.explanation is not None and case.explanation.reading:
            return case.explanation.reading
        if _slightly(case):
            return "false as stated, by less than the resolution: a tolerance would let that pass"
        known = "exact value" if _only_exact(case) else "interval"
        return f"false as stated: the {known} misses what is claimed"
    if case.verdict is Verdict.VERIFIED:
        return as_verified(case)
    cheaper = price(case) if case.calls is None else None  # else it is what the case needs
    cheaper = f"; {cheaper}" if cheaper else ""
    edge = f"; {advice(case.edge, case.written)}" if case.edge and case.written else ""
    if decided_exactly(case):
        more = needs(case)
        by_draws = "" if more is None else f"; by draws it {more}{cheaper}"
        return f"the model gives the exact value, {exact(case)}{DECIDED_EXACTLY}{by_draws}{edge}"
    if case.more_draws is not None:
        return f"too few draws: {needs(case)}{cheaper}{edge}"
    if case.explanation is not None and case.explanation.reading:
        return f"{case.explanation.reading}{edge}"
    return f"not decided by these draws{edge}"


def _only_exact(case: CaseResult) -> bool:
    """Whether the exact value alone refutes a case: its few draws allow what is claimed."""
    if case.exact is None or case.interval is None or case.region is None or not case.draws:
        return False
    return _touch(case.interval, (case.region.low, case.region.high))


def _slightly(case: CaseResult) -> bool:
    """Whether a statement with `==` was refuted for an error below its resolution."""
    if case.region is None or case.estimate is None or case.sharpness is None:
        return False
    return case.region.point and abs(case.estimate - case.region.low) < case.sharpness.widening


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
    return f"needs about {more} more draws{time} ({up * case.timed_out}--max-draws {total})"


def headline(case: CaseResult) -> str:
    """A case that did not pass in one line: `refuted: claimed 2, estimated 1.00`."""
    undecided = case.verdict is Verdict.INCONCLUSIVE
    expected = "" if undecided or case.verdict is Verdict.REFUTED else ", expected refuted"
    known = {"claimed": claimed(case), "estimated": estimated(case)}
    figures = [f"{name} {text}" for name, text in known.items() if text != numbers.UNKNOWN]
    outcome_text = f"{case.result if undecided else case.verdict}{expected}"
    return f"{outcome_text}: {', '.join(figures)}" if figures else outcome_text


def interrupted(run: RunResult) -> str | None:
    """How far an interrupted run came: `interrupted: 1 of 5 cases judged`."""
    if not run.interrupted:
        return None
    return f"interrupted: {len(run.cases)} of {numbers.plural(run.planned, 'case')} judged"


def on_the_limit(run: RunResult) -> str | None:
    """How many verdicts rest on the limit theorem; None where none does."""
    if not run.asymptotic:
        return None
    verb = "rests" if run.asymptotic == 1 else "rest"
    return f"{run.asymptotic} of {len(run.cases)} {verb} on the limit theorem"


def claimed_share(documents: Sequence[Coverage]) -> str | None:
    """How much of documents is claimed: `24 of 31 figures claimed`; None where there is nothing."""
    counts_of = CoverageCounts.of(documents)
    parts = [
        f"{claimed} of {numbers.plural(count, name)}"
        for claimed, count, name in (
            (counts_of.claimed_figures, counts_of.figures, "figure"),
            (counts_of.claimed_formulas, counts_of.formulas, "formula"),
        )
        if count
    ]
    return f"{' and '.join(parts)} claimed" if parts else None


def counts(run: RunResult) -> str:
    """How many cases of a run passed, failed and stayed undecided."""
    errors = run.count(Outcome.ERROR)
    return (
        f"{numbers.plural(len(run.cases), 'case')}: {run.count(Outcome.PASS)} passed, "
        f"{run.count(Outcome.FAIL)} failed, {run.count(Outcome.UNDECIDED)} undecided"
        + (f", {numbers.plural(errors, 'error')}" if errors else "")
    )


def outcome(case: CaseResult) -> str:
    """The result of a case; capitals show a failure without colour too."""
    bad = case.result in (Outcome.FAIL, Outcome.ERROR)
    return case.result.upper() if bad else str(case.result)


def standing(case: CaseResult) -> str:
    """The verdict, and what it means for the claim, in few words."""
    if case.verdict is Verdict.INCONCLUSIVE:
        expected = ", expected refuted" if case.expect is Verdict.REFUTED else ""
        return outcome(case) + expected
    if case.result is Outcome.FAIL:
        expected = "" if case.verdict is Verdict.REFUTED else ", expected refuted"
        return f"FAIL: {case.verdict}{expected}"
    return verdict(case) if case.verdict is Verdict.VERIFIED else "refuted, as expected"


def by_claim(cases: Iterable[CaseResult]) -> dict[str, list[CaseResult]]:
    """The cases of each claim, in the order of their first cases."""
    groups: dict[str, list[CaseResult]] = {}
    for case in cases:
        groups.setdefault(case.claim, []).append(case)
    return groups


def not_passed(cases: Iterable[CaseResult]) -> list[CaseResult]:
    """The cases that did not pass, failures first."""
    bad = [case for case in cases if case.result is not Outcome.PASS]
    return sorted(bad, key=lambda case: -SEVERITY[case.result])


def worst(group: Iterable[CaseResult]) -> CaseResult:
    """The case nearest to failing: a failure before an undecided one, then the least clear."""
    return max(group, key=lambda case: case.badness)


def rows(cases: Sequence[CaseResult], *, each: bool) -> list[tuple[CaseResult, str]]:
    """The cases that have a row in a table, with their outcome: `FAIL 3/4`, where 3 of 4 passed.

    With `each`, or with one claim, these are all cases; else the worst case of each claim.
    """
    groups = by_claim(cases)
    if each or len(groups) == 1:
        return [(case, outcome(case)) for case in cases]
    shown = []
    for group in groups.values():
        case, passed = worst(group), sum(one.result is Outcome.PASS for one in group)
        share = f" {passed}/{len(group)}" if len(group) > 1 else ""
        shown.append((case, outcome(case) + share))
    return shown
