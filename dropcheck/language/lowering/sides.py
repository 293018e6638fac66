"""The sides of a statement: each one number, with nothing random outside an operator."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dropcheck.claims.registry import Value as ParameterValue
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Value
from dropcheck.language.lowering.lower import Lowering
from dropcheck.language.lowering.scope import Poisoned
from dropcheck.language.syntax import Call, Name, Node, Statement, children
from dropcheck.language.wording import parameter_text, shape_text
from dropcheck.vocabulary.operators import OPERATORS, operator_like


def operand_value(
    lowering: Lowering, node: Node, parameters: Mapping[str, ParameterValue]
) -> Value:
    """One side of a statement as a value.

    Raises:
        DropcheckError: where it is not one number that can be compared.
    """
    value = lowering.lower(node)
    if value.random:
        raise _outside_an_operator(node, lowering)
    if value.shape not in ((), None):
        raise node.at.error(
            f"a side of a claim is one number, and this has shape {shape_text(value.shape or ())}",
            "pick an element, x[0], or reduce it: max(…), sum(…)",
        )
    if value.suspect is not None:
        at, what = value.suspect
        where = f" where {parameter_text(parameters)}" if parameters else ""
        raise at.error(
            f"{what}{where}",
            "choose another value, add a condition such as 'requires: p < 1', or guard the "
            "branch with where(…)",
        )
    known = value.known
    if isinstance(known, float) and not math.isfinite(known):
        raise node.at.error(f"this side of the claim is {known}", "a claim compares finite numbers")
    return value


def _outside_an_operator(node: Node, lowering: Lowering) -> DropcheckError:
    # Point at the random name itself, which is nearer to the mistake than the whole side.
    culprit: Node = node
    for below in _walk_outside_operators(node):
        if isinstance(below, Name):
            try:
                found = lowering.scope.look_up(below.name, below.at)
            except (DropcheckError, Poisoned):
                continue
            if isinstance(found, Value) and found.random:
                culprit = below
                break
    if isinstance(culprit, Name):
        message = f"{culprit.name!r} is random, and stands outside an operator"
    else:
        message = "this is random, and stands outside an operator"
    hint = "write what is claimed of it: E(…), Var(…), Std(…), P(…), …"
    meant = operator_like(node.name) if isinstance(node, Call) else None
    if isinstance(node, Call) and meant is not None:
        hint = (
            f"{node.name!r} is over the elements of one draw; did you mean {meant.name}(…), which "
            f"speaks of the law, or E({node.name}(…))?"
        )
    return culprit.at.error(message, hint)


def _walk_outside_operators(node: Node) -> list[Node]:
    if isinstance(node, Call) and node.name in OPERATORS:
        return []
    found = [node]
    for below in children(node):
        found.extend(_walk_outside_operators(below))
    return found


def check_range(statement: Statement, operands: list[Value]) -> None:
    """Refuse a range that nothing can lie in.

    Raises:
        DropcheckError: where both ends are known, and the lower one is above the upper one.
    """
    if len(operands) != 3:
        return
    low, high = operands[0].known, operands[2].known
    if statement.operators[0].startswith(">"):
        low, high = high, low
    if isinstance(low, float) and isinstance(high, float) and low > high:
        raise statement.at.error(
            f"this range is empty: its lower end {low:.12g} is above its upper end {high:.12g}",
            "write the smaller number on the side of the smaller end",
        )
