"""Cases of code: their calls and what these show, and their result where the code fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dropcheck.claims.registry import Case
from dropcheck.errors import DropcheckError
from dropcheck.inference.interval import Interval, Theta
from dropcheck.inference.spread import CountsByCall, between_parts
from dropcheck.judging.prepared import Prepared
from dropcheck.reasons import Reason
from dropcheck.results import CallCount, CaseResult, Outcome, Verdict
from dropcheck.simulation import FEWEST_CALLS, Tally

# An interval from calls that is so many times as wide as the one from draws is no accident: for
# independent draws both are equally wide, but for a few standard errors of 9% each.
TOO_FAR = 2.0


def calls_made(prepared: Prepared, spans: int, draws: int) -> CallCount | None:
    """How many calls the draws come from; None where no code is called."""
    program = None if prepared.compiled is None else prepared.compiled.program
    if program is None or not (spans and program.tests_code):
        return None
    return CallCount(program.calls(spans, draws), program.declared)


def result_of_error(case: Case, error: DropcheckError, alpha: float, repeat: str) -> CaseResult:
    """The result of a case whose code failed; the error is its explanation.

    Args:
        case: the case.
        error: what is wrong with its code.
        alpha: the case's own share of the error rate.
        repeat: the command that repeats it.
    """
    message = "; ".join(one.message for one in error.problems)
    hint = next((one.hint for one in error.problems if one.hint), "it has no result")
    return CaseResult(
        **of_case(case, alpha, repeat),
        expression=case.claim.statement.text.strip(),
        resolution=case.claim.resolution,
        verdict=Verdict.INCONCLUSIVE,
        result=Outcome.ERROR,
        explanation=Reason.CODE_FAILED.explain(error=message, hint=hint),
    )


def of_case(case: Case, alpha: float, repeat: str) -> dict[str, Any]:
    """The fields of a result that depend on the case alone; arguments as of `result_of_error`."""
    claim = case.claim
    return {
        "claim": claim.id,
        "parameters": dict(case.parameters),
        "title": claim.title,
        "statement": claim.statement.text.strip(),
        "sources": claim.sources,
        "written": claim.written,
        "tags": claim.tags,
        "confidence": 1 - alpha,
        "expect": Verdict(case.expect),
        "location": claim.location,
        "repeat": repeat,
        "column": None if claim.column is None else claim.column.name,
        "dtype": case.dtype,
        "of": None if claim.column is None else claim.of,
        "xfail": case.xfail,
    }


def of_calls(interval: Interval, tally: Tally, theta: Theta, alpha: float) -> Interval:
    """An interval from draws, widened to hold the one from calls."""
    half = between_parts(*tally.by_call, theta, alpha)
    too_far = 2 * half > TOO_FAR * (interval.high - interval.low)
    unmet = too_far and tally.calls >= FEWEST_CALLS
    return replace(
        interval,
        low=min(interval.low, interval.estimate - half),
        high=max(interval.high, interval.estimate + half),
        unmet=Reason.NOT_INDEPENDENT.explain() if unmet else interval.unmet,
    )


def calls_of(tally: Tally) -> CountsByCall:
    """The counts of calls, where a slot declares their draws independent; elsewhere of no calls."""
    counts, sizes = tally.by_call
    return (
        CountsByCall(counts, sizes)
        if tally.program.declared
        else CountsByCall(counts[:0], sizes[:0])
    )


def dependent(tally: Tally) -> bool:
    """Whether the counts of calls show that draws of a call depend on each other."""
    return tally.calls >= FEWEST_CALLS and calls_of(tally).effect > TOO_FAR**2
