"""The quantity that was judged, as it would be written in the language."""

from __future__ import annotations

from dropcheck.language.printing import unparse, unparse_statement
from dropcheck.language.syntax import Binary, Node, Number, Statement, Subscript
from dropcheck.results import Quantity


def expression(
    statement: Statement, quantity: Quantity | None, entry: tuple[int, ...] | None = None
) -> str:
    """A quantity of a statement as it would be written in the language.

    Args:
        statement: the statement.
        quantity: which of its quantities; None for the side that is claimed about.
        entry: which of its entries, where it is an array.

    >>> from dropcheck.claims.registry import SourceText
    >>> from dropcheck.language.parser import parse_statement
    >>> read = parse_statement(SourceText.plain("E(y) == E(x) + 1"))
    >>> expression(read, Quantity.LEFT_MINUS_RIGHT)
    'E(y) - (E(x) + 1)'
    """
    at = statement.at
    operands = [one if entry is None else _entry(one, entry) for one in statement.operands]
    middle = operands[len(operands) // 2]
    match quantity:
        case Quantity.DISTANCE | Quantity.DEPENDENCE:
            return unparse_statement(statement)
        case Quantity.LEFT:
            return unparse(operands[0])
        case Quantity.LEFT_MINUS_RIGHT:
            return unparse(Binary(at, "-", operands[0], operands[1]))
        case Quantity.MIDDLE_MINUS_LEFT:
            return unparse(Binary(at, "-", middle, operands[0]))
        case Quantity.MIDDLE_MINUS_RIGHT:
            return unparse(Binary(at, "-", middle, operands[2]))
        case _:  # of two sides the second is the right one
            return unparse(middle)


def _entry(node: Node, entry: tuple[int, ...]) -> Node:
    """A side at one entry; a number is the same at all."""
    if isinstance(node, Number):
        return node
    return Subscript(node.at, node, tuple(Number(node.at, float(place)) for place in entry))
