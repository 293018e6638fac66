"""What an operator on the law may be given: `E(u)`, `Cov(u, v)`, `P(event, given=event)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dropcheck.language.graph import Value
from dropcheck.language.lowering.binding import bind
from dropcheck.language.syntax import Call, Node, children
from dropcheck.language.wording import shape_text
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.operators import OPERATORS
from dropcheck.vocabulary.shapes import ShapeError


def bind_operator(node: Call, names: Sequence[str]) -> dict[str, Node]:
    """The arguments of an operator by name; the last name, the condition's, is never bare.

    Raises:
        DropcheckError: on too many, too few or unknown ones.
    """
    needed = len(names) - 1
    if len(node.arguments) > needed:
        hint = "the condition is named: given=event"
        if OPERATORS[node.name].probability:
            hint = f"join events by 'and', {node.name}(a and b); {hint}"
        several = "arguments" if needed > 1 else "argument"
        raise node.at.error(f"{node.name} takes {needed} {several} by position", hint)
    return bind(node, names, needed, lambda: f"{node.name}({', '.join(names[:-1])}, given=event)")


def refuse_operands(node: Call, bound: Mapping[str, Node], operands: Mapping[str, Value]) -> None:
    """Refuse operators within operators, and what has no elements.

    Raises:
        DropcheckError: at the operand, or at the operator within.
    """
    for name, value in operands.items():
        if value.estimated:
            raise _inner(bound[name]).at.error(
                f"an operator stands inside the operator {node.name}",
                "put a number or a parameter m in place of the inner one, and claim E(…) == m "
                "of it apart",
            )
    for name, value in operands.items():
        if value.shape is not None and 0 in value.shape:
            raise bound[name].at.error(
                f"{node.name} of nothing: this has no elements, its shape is "
                f"{shape_text(value.shape)}",
                "look at the ends of slices, and at the shapes that parameters give",
            )


def check_operand_shapes(node: Call, values: Sequence[Value], *, pair: bool) -> None:
    """See that the operands of an operator fit together, as far as their shapes are known.

    Raises:
        DropcheckError: they do not.
    """
    known = [value.shape for value in values if value.shape is not None]
    if len(known) < len(values):
        return
    try:
        if pair and known[0] != known[1] and () not in known[:2]:
            raise ShapeError(
                f"its two sides pair element by element, and have shapes "
                f"{shape_text(known[0])} and {shape_text(known[1])}"
            )
        shapes.broadcast(tuple(known))
    except ShapeError as error:
        raise node.at.error(f"{node.name}: {error}") from None


def _inner(node: Node) -> Node:
    """The first operator in an expression, in the order of the text; else the expression."""
    if isinstance(node, Call) and node.name in OPERATORS:
        return node
    found = (_inner(child) for child in children(node))
    return next((one for one in found if isinstance(one, Call) and one.name in OPERATORS), node)
