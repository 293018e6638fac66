"""What a case's result says, in words: the text of every cell and of every line about it."""

from __future__ import annotations

import math

from dropcheck.claims.values import format_value
from dropcheck.report import numbers
from dropcheck.report.statements import compares_estimates, relation
from dropcheck.results import CaseResult, Outcome, Verdict

STYLES = {Outcome.PASS: "green", Outcome.FAIL: "bold red", Outcome.UNDECIDED: "yellow"}

# words that reasons use where a distribution's tail is what stands in the way
_TAIL_WORDS = ("tail", "moment", "settle", "carry", "infinite variance")


def parameters(case: CaseResult) -> str:
    """The case's parameters: `dk=512, p=0.1`."""
    return ", ".join(f"{name}={format_value(value)}" for name, value in case.parameters.items())


def case_name(case: CaseResult) -> str:
    """A case as test runners write one: `qk-variance[dk=512]`."""
    values = ",".join(f"{name}={format_value(value)}" for name, value in case.parameters.items())
    return f"{case.claim}[{values}]" if values else case.claim


def claimed(case: CaseResult) -> str:
    """What the claim says of the quantity: `512`, `> 0.9`, `0.405 … 0.415`."""
    value = case.claimed
    sign = relation(case.statement)
    if value is None:
        return numbers.UNKNOWN
    if isinstance(value, tuple):
        low, high = value
        if low is None or math.isinf(low):
            return f"{sign if sign in ('<', '<=') else '<='} {numbers.exact(high)}"
        if high is None or math.isinf(high):
            return f"{sign if sign in ('>', '>=') else '>='} {numbers.exact(low)}"
        return f"{numbers.exact(low)} … {numbers.exact(high)}"
    return numbers.exact(value) if sign == "==" else f"{sign} {numbers.exact(value)}"


def estimated(case: CaseResult) -> str:
    """The estimate, to the digits that its interval supports."""
    low, high = case.interval or (None, None)
    return numbers.measured((case.estimate, low, high), _spread(case))[0]


def interval(case: CaseResult) -> str:
    """The interval, to the digits that its width supports."""
    return numbers.interval(case.interval, case.estimate)


def _spread(case: CaseResult) -> float | None:
    return numbers.spread(case.interval, case.estimate)


def measured_quantity(case: CaseResult) -> str:
    """What was estimated, where that is not simply the left side."""
    return "left side minus right side" if compares_estimates(case.statement) else ""


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
        return f"{numbers.exact(gap)} {side}{share}"
    return f"{numbers.rough(gap / case.standard_error, 3)} standard errors {side}{share}"


def _share(ratio: float) -> str:
    """A part of the scale in per cent, a multiple of it as one."""
    if ratio < 9.95:
        return f"{numbers.rough(100 * ratio, 3)}% of the scale"
    return f"{numbers.rough(ratio)} times the scale"


def reading(case: CaseResult) -> str:
    """What most likely stands behind a case that did not pass."""
    if case.verdict is Verdict.REFUTED:
        return "false as stated: the interval misses what is claimed"
    if case.verdict is Verdict.VERIFIED:
        return "true, although it is expected to be refuted"
    if case.reason and any(word in case.reason.lower() for word in _TAIL_WORDS):
        return "heavy-tailed: the sample does not settle, and more draws may not help"
    if case.more_draws is not None:
        return f"too few draws: {needs(case)}"
    return "cannot be told from these draws"


def needs(case: CaseResult) -> str | None:
    """What is likely to decide an undecided case: `needs about 3.1e6 more draws, 4 s`."""
    if case.more_draws is None:
        return None
    time = "" if case.more_seconds is None else f", {numbers.duration(case.more_seconds)}"
    total = numbers.option(case.draws + case.more_draws)
    return f"needs about {numbers.option(case.more_draws)} more draws{time} (--max-draws {total})"


def outcome(case: CaseResult) -> str:
    """Pass or fail, so that it is seen without colour too."""
    return {Outcome.PASS: "pass", Outcome.FAIL: "FAIL", Outcome.UNDECIDED: "undecided"}[case.result]
