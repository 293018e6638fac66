"""What a case's result says, in words: the text of every cell and of every line about it."""

from __future__ import annotations

import math

from dropcheck.claims import values
from dropcheck.report import numbers
from dropcheck.report.statements import compares_estimates, relation
from dropcheck.results import CaseResult, Outcome, RunResult, Verdict

STYLES = {Outcome.PASS: "green", Outcome.FAIL: "bold red", Outcome.UNDECIDED: "yellow"}

MOST_DIGITS_MORE = 8

# words that reasons use where a distribution's tail is what stands in the way
_TAIL_WORDS = ("tail", "moment", "settle", "carry", "infinite variance")


def parameters(case: CaseResult) -> str:
    """The case's parameters: `dk=512, p=0.1`."""
    return values.format_parameters(case.parameters)


def case_name(case: CaseResult) -> str:
    """A case as test runners write one: `qk-variance[dk=512]`."""
    return values.case_name(case.claim, case.parameters)


def claimed(case: CaseResult) -> str:
    """What the claim says of the quantity: `512`, `> 0.9`, `0.405 … 0.415`."""
    value = case.claimed
    sign = relation(case.statement)
    if value is None:
        return numbers.UNKNOWN
    width = 0.0 if _is_known(case) else _spread(case)
    more = _more_digits(case)
    if isinstance(value, tuple):
        low, high = (numbers.known(end, width, more) for end in value)
        if value[0] is None or math.isinf(value[0]):
            return f"{sign if sign in ('<', '<=') else '<='} {high}"
        if value[1] is None or math.isinf(value[1]):
            return f"{sign if sign in ('>', '>=') else '>='} {low}"
        return f"{low} … {high}"
    text = numbers.known(value, width, more)
    return text if sign == "==" else f"{sign} {text}"


def estimated(case: CaseResult) -> str:
    """The estimate, to the digits that its interval supports."""
    width = _spread(case)
    if width is None and case.estimate is not None and not _is_known(case):
        return numbers.rough(case.estimate, 3)  # nothing says how many are right
    low, high = case.interval or (None, None)
    return numbers.measured((case.estimate, low, high), width, _more_digits(case))[0]


def interval(case: CaseResult) -> str:
    """The interval, to the digits that its width supports."""
    return numbers.interval(case.interval, case.estimate, _more_digits(case))


def _spread(case: CaseResult) -> float | None:
    return numbers.spread(case.interval, case.estimate)


def _is_known(case: CaseResult) -> bool:
    """Whether the quantity was worked out rather than drawn."""
    return not case.draws and case.interval is None


def _more_digits(case: CaseResult) -> int:
    """Digits beyond the usual with which the interval is seen to touch, or miss, what is claimed.

    Rounded, `[-0.012, -0.0004]` would touch a claimed 0 that it misses.
    """
    allowed, ends, width = region(case), case.interval, _spread(case)
    if allowed is None or ends is None or width is None:
        return 0
    for more in range(MOST_DIGITS_MORE):
        texts = numbers.measured((*ends, case.estimate), width, more)
        low, high = (float(numbers.known(end, width, more)) for end in allowed)
        if _touch((_end(texts[0]), _end(texts[1])), (low, high)) is _touch(ends, allowed):
            return more
    return 0  # they tie to within rounding: no digits would tell


def _end(text: str) -> float | None:
    return None if text == numbers.UNKNOWN else float(text)


def _touch(ends: tuple[float | None, float | None], allowed: tuple[float, float]) -> bool:
    low, high = ends
    return (low is None or low <= allowed[1]) and (high is None or high >= allowed[0])


def measured_quantity(case: CaseResult) -> str:
    """What was estimated, where that is not simply the left side."""
    return "left side minus right side" if compares_estimates(case.statement) else ""


def sides(case: CaseResult) -> str | None:
    """Both sides of a claim that compares estimates, to the digits that their interval supports."""
    if case.sides is None:
        return None
    width = _spread(case)
    if width is None:  # nothing says how many digits are right
        left, right = (numbers.rough(side, 3) for side in case.sides)
    else:
        left, right = numbers.measured(case.sides, width)
    return f"left {left}, right {right}"


def region(case: CaseResult) -> tuple[float, float] | None:
    """The values that the claim allows the quantity, as a closed interval."""
    value = case.claimed
    if value is None:
        return None
    if isinstance(value, tuple):
        low, high = value
        return -math.inf if low is None else low, math.inf if high is None else high
    sign = relation(case.statement)
    return (
        -math.inf if sign in ("<", "<=") else value,
        math.inf if sign in (">", ">=") else value,
    )


def excess(case: CaseResult) -> float:
    """How far the interval reaches beyond the region, in units of the resolution.

    Below 1 the claim is verified; the greatest is the worst of a grid. Infinite where unknown.
    """
    allowed = region(case)
    if allowed is None or case.interval is None:
        return math.inf
    low, high = case.interval
    beyond = max(
        allowed[0] - (-math.inf if low is None else low),
        (math.inf if high is None else high) - allowed[1],
    )
    unit = case.resolution * (case.scale or 1.0)
    return math.inf if math.isnan(beyond) or unit <= 0 else beyond / unit


def distance(case: CaseResult) -> str | None:
    """How far the estimate is from what is claimed, in standard errors."""
    allowed = region(case)
    if allowed is None or case.estimate is None or not math.isfinite(case.estimate):
        return None
    low, high = allowed
    gap = max(low - case.estimate, case.estimate - high)
    if gap <= 0:
        return "none: the estimate is as claimed"
    side = "below" if case.estimate < low else "above"
    share = f", {_share(gap / case.scale)}" if case.scale else ""
    if not case.standard_error:
        return f"{numbers.rough(gap, 3)} {side}{share}"
    return f"{numbers.rough(gap / case.standard_error, 3)} standard errors {side}{share}"


def _share(ratio: float) -> str:
    """A part of the scale in per cent, a multiple of it as one."""
    if ratio < 9.95:
        return f"{numbers.rough(100 * ratio, 3)}% of the scale"
    return f"{numbers.rough(ratio)} times the scale"


def reading(case: CaseResult) -> str:
    """What most likely stands behind a case that did not pass."""
    if case.verdict is Verdict.REFUTED:
        if _slightly(case):
            return "false as stated, by less than the resolution: a tolerance would let that pass"
        return "false as stated: the interval misses what is claimed"
    if case.verdict is Verdict.VERIFIED:
        return "true, although it is expected to be refuted"
    if case.reason and any(word in case.reason.lower() for word in _TAIL_WORDS):
        return "heavy-tailed: the sample does not settle, and more draws may not help"
    if case.more_draws is not None:
        return f"too few draws: {needs(case)}"
    return "cannot be told from these draws"


def _slightly(case: CaseResult) -> bool:
    """Whether a statement with `==` was refuted for an error below its resolution."""
    allowed = region(case)
    if allowed is None or case.estimate is None or not case.scale or allowed[0] != allowed[1]:
        return False
    return abs(case.estimate - allowed[0]) < case.resolution * case.scale


def needs(case: CaseResult) -> str | None:
    """What is likely to decide an undecided case: `needs about 3.1e6 more draws, 4 s`."""
    if case.more_draws is None:
        return None
    time = "" if case.more_seconds is None else f", {numbers.duration(case.more_seconds)}"
    total = numbers.option(case.draws + case.more_draws)
    return f"needs about {numbers.option(case.more_draws)} more draws{time} (--max-draws {total})"


def headline(case: CaseResult) -> str:
    """A case that did not pass, in one line: `refuted: claimed 2, estimated 1.00`."""
    undecided = case.result is Outcome.UNDECIDED
    expected = "" if undecided or case.verdict is Verdict.REFUTED else ", expected refuted"
    known = {"claimed": claimed(case), "estimated": estimated(case)}
    said = [f"{name} {text}" for name, text in known.items() if text != numbers.UNKNOWN]
    found = f"{'undecided' if undecided else case.verdict}{expected}"
    return f"{found}: {', '.join(said)}" if said else found


def counts(run: RunResult) -> str:
    """A run's cases by what became of them."""
    return (
        f"{numbers.plural(len(run.cases), 'case')}: {run.count(Outcome.PASS)} passed, "
        f"{run.count(Outcome.FAIL)} failed, {run.count(Outcome.UNDECIDED)} undecided"
    )


def outcome(case: CaseResult) -> str:
    """Pass or fail, so that it is seen without colour too."""
    return {Outcome.PASS: "pass", Outcome.FAIL: "FAIL", Outcome.UNDECIDED: "undecided"}[case.result]
