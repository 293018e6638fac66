"""Whether a claim is exactly true at the one value of a parameter, and false at others.

`Var(g) == p / (1 - p)` of `g ~ normal(1, p / (1 - p))` is true at p = 0.5 alone. An author who
lists one value may mean a range. So where the model gives exact values, a few other values are
tried: no draw is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from dropcheck.claims.registry import Case
from dropcheck.errors import DropcheckError
from dropcheck.judging.case import Prepared, prepare
from dropcheck.judging.judge import judged_exactly
from dropcheck.language.compile import CaseGraphs, ParsedClaim, parse_claim
from dropcheck.language.syntax import expressions_of, names_in
from dropcheck.results import CaseResult, ParameterValue, Verdict

# At so many other values the claim has to be false.
ENOUGH = 3
# Shares, counts and factors that are tried; more than enough, as some may be forbidden.
SHARES = (0.3, 0.7, 0.2, 0.6, 0.9)
COUNTS = (3.0, 5.0, 2.0, 4.0, 7.0)
FACTORS = (1.7, 0.6, 2.3, 0.3, 3.1)


def with_note(result: CaseResult, prepared: Prepared, graphs: CaseGraphs) -> CaseResult:
    """The result, with a warning where it is true at the one value of a parameter alone."""
    found = true_at_one_value(prepared, graphs) if _in_question(result, prepared) else None
    if found is None:
        return result
    name, value, other = found
    note = (
        f"{result.claim}: exactly true at {name} = {value:g}, false at {name} = {other:g}: "
        f"is a range of {name} meant?"
    )
    return replace(result, warnings=(*result.warnings, note))


def _in_question(result: CaseResult, prepared: Prepared) -> bool:
    """Whether the case is an equation that is verified, and the first of its claim."""
    case, region = prepared.case, result.region
    return (
        result.verdict is result.expect is Verdict.VERIFIED
        and result.exact is not None
        and case.claim.tolerance is None
        and not case.claim.of_code
        and region is not None
        and region.point
        and case.key == case.claim.expand()[0].key
    )


def true_at_one_value(prepared: Prepared, graphs: CaseGraphs) -> tuple[str, float, float] | None:
    """A parameter, its value, and another value at which the claim is false; None where none is.

    The parameter is a number with one value, which stands in the claimed side and in the model.
    """
    case = prepared.case
    names = list(_claimed_names(prepared, parse_claim(case.claim)))
    if not names:
        return None
    own = judged_exactly(prepared)
    if own is None or own.verdict is not Verdict.VERIFIED or own.within:
        return None  # it is not exactly true
    for name, value in names:
        false_at: list[float] = []
        for other in others(value):
            verdict = _verdict_at(case, {**case.parameters, name: other}, graphs)
            if verdict is Verdict.VERIFIED:
                break
            false_at += [other] if verdict is Verdict.REFUTED else []
            if len(false_at) == ENOUGH:
                return name, value, false_at[0]
    return None


def _claimed_names(prepared: Prepared, parsed: ParsedClaim) -> Iterator[tuple[str, float]]:
    """The parameters in question, with their values."""
    claim, sides = prepared.case.claim, prepared.lowered.operands
    claimed = [
        node
        for node, side in zip(parsed.statement.operands, sides, strict=False)
        if not side.estimated
    ]
    used = names_in(*expressions_of(parsed.model))
    for name, value in prepared.case.parameters.items():
        single = len(claim.parameters.get(name, ())) == 1 or len(claim.cases or ()) == 1
        stands = name in used and any(name in names_in(node) for node in claimed)
        if single and stands and isinstance(value, float) and math.isfinite(value):
            yield name, value


def others(value: float) -> tuple[float, ...]:
    """Other values of the same kind: shares, counts, or numbers.

    >>> others(0.5)[0], others(3.0)[0], others(-2.0)[0]
    (0.3, 5.0, -3.4)
    """
    if 0 < value < 1:
        tried: tuple[float, ...] = SHARES
    elif value >= 1 and value == math.floor(value):
        tried = COUNTS
    else:
        tried = tuple(round(factor * (value or 1.0), 12) for factor in FACTORS)
    return tuple(one for one in tried if one != value)


def _verdict_at(
    case: Case, parameters: dict[str, ParameterValue], graphs: CaseGraphs
) -> Verdict | None:
    """The verdict by exact value at other parameters; None where there is none."""
    other = Case(replace(case.claim, family=None), parameters)
    try:
        found = judged_exactly(prepare(other, graphs, crossing=False))
    except DropcheckError:  # such as a value that `requires` forbids
        return None
    return None if found is None else found.verdict
