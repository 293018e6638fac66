"""How a case will be judged, as far as its text tells; the run may fall back on less."""

from __future__ import annotations

from dropcheck.analysis.crossing import crossing
from dropcheck.analysis.existence import ORDERS, missing_moment, operators
from dropcheck.analysis.linear import affine, combined, linear
from dropcheck.analysis.products import separated
from dropcheck.language.cases import LoweredCase
from dropcheck.language.graph import Value
from dropcheck.records import dataclass


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a verdict would rest on, in words; or why there can be none."""

    guarantee: str
    missing: str | None = None


def sides(lowered: LoweredCase) -> tuple[Value | None, tuple[Value, ...]]:
    """The side that is claimed about, and those that it is held against.

    For two sides, the right one is held against unless it alone has an operator (`1 == E(x)`).
    """
    operands = lowered.operands
    if len(operands) == 3:
        return operands[1], (operands[0], operands[2])
    if operands[1].estimated and not operands[0].estimated:
        return operands[1], (operands[0],)
    return operands[0], (operands[1],)


def outlook(lowered: LoweredCase) -> Outlook:
    """How a case will be judged, as far as its text tells.

    Args:
        lowered: the case.
    """
    found = operators(lowered.operands)
    if not any(value.random for operator in found for value in operator.inputs):
        return Outlook("arithmetic: nothing is random")
    missing = missing_moment(lowered)
    if missing is not None:
        return Outlook("none: no verdict is possible", missing=str(missing))
    side, ends = sides(lowered)
    fixed = not any(end.estimated for end in ends)
    event = affine(side) if side is not None and fixed else None
    if event is not None and event.operator.operation == "P":
        bare = event.operator is side
        certain = bare and lowered.operators == ("==",) and ends[0].known in (0.0, 1.0)
        if certain or all(value.shape == () for value in event.operator.inputs):
            return Outlook("exact: events are counted (Clopper and Pearson 1934)")
    looked_at = [value for operator in found for value in operator.inputs]
    if crossing(looked_at) is not None:
        return Outlook(
            "asymptotic: means of independent batches, with draws paired all with all in each"
        )
    form = None if side is None else linear(side)
    if form is not None and not fixed and len(ends) == 1:
        other = linear(ends[0])
        form = None if other is None else form.plus(other.scaled(-1.0))
    bounded = form is not None and form.terms and (fixed or len(ends) == 1)
    if form is not None and bounded and combined(form) is not None:
        return Outlook(
            "finite-sample: a bounded mean (Maurer and Pontil 2009), where that takes no more "
            "than twice the draws of the limit theorem"
        )
    conditional = any(dict(operator.options)["given"] for operator in found)
    powers: dict[Value, int] = {}
    for operator in found:
        for value in operator.inputs:
            if value.random:
                powers[value] = max(ORDERS.get(operator.operation, 1), powers.get(value, 0))
    means = "asymptotic: means of independent blocks"
    if not conditional and separated(powers) is not None:
        means += ", over all combinations of each one's draws where that takes fewer"
    return Outlook(means)
