"""Checks of a statement whose sides are values: its range, its tolerance and its resolution."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.claims.registry import Claim
from dropcheck.claims.values import format_value
from dropcheck.errors import Problem
from dropcheck.language.graph import Kind, Value
from dropcheck.language.syntax import Statement

# An absolute resolution of at least this share of the claimed number (or at least this, if 0 is
# claimed) may have been meant as a tolerance.
COARSE = 0.05


def check_range(statement: Statement, operands: Sequence[Value]) -> None:
    """Refuse an empty range.

    Raises:
        DropcheckError: both ends are fixed, and the lower end is above the upper end.
    """
    if len(statement.operands) != 3:
        return
    for low, high in zip(operands[::3], operands[2::3], strict=True):
        _check_ends(statement, low.known, high.known)


def _check_ends(statement: Statement, low: object, high: object) -> None:
    if statement.operators[0].startswith(">"):
        low, high = high, low
    if isinstance(low, float) and isinstance(high, float) and low > high:
        raise statement.at.error(
            f"this range is empty: its lower end {low:.12g} is above its upper end {high:.12g}",
            "write the smaller number on the side of the smaller end",
        )


def check_tolerance(claim: Claim, statement: Statement, operands: Sequence[Value]) -> None:
    """Refuse a tolerance relative to 0.

    Raises:
        DropcheckError: at the side that is 0.
    """
    if claim.tolerance is None or claim.tolerance.absolute or len(operands) != 2:
        return
    end = 0 if operands[1].estimated and not operands[0].estimated else 1
    if operands[end].known == 0:
        size = format_value(claim.tolerance.size)
        raise statement.operands[end].at.error(
            f"'tolerance: {size}' is a share of this side, which is 0: it allows nothing",
            f"write 'tolerance: {{absolute: {size}}}' for a number",
        )


def note_on_within(claim: Claim, statement: Statement, operands: Sequence[Value]) -> Problem | None:
    """The note on what `within` means, if a tolerance may have been meant."""
    if claim.within is None or claim.tolerance is not None or statement.operators != ("==",):
        return None
    fixed = [value.known for value in operands if not value.estimated]
    certain = any(value.kind is Kind.OPERATOR and value.operator.probability for value in operands)
    if len(fixed) != 1 or not isinstance(fixed[0], float) or (certain and fixed[0] in (0.0, 1.0)):
        return None  # for a certainty, `within` says how rare exceptions may be
    if claim.within < COARSE * (abs(fixed[0]) or 1.0):
        return None
    within = format_value(claim.within)
    return Problem(
        f"'within: {within}' of {claim.id} is how closely both sides are compared: the claim stays "
        "that they are equal, and a smaller difference may refute it",
        statement.at.location,
        f"if the claim itself allows for {within}, write 'tolerance: {{absolute: {within}}}'",
    )
