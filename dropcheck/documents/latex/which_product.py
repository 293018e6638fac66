"""Decides what a product means: of numbers, element by element, of matrices, or an inner one."""

from __future__ import annotations

from collections.abc import Mapping

from dropcheck.documents.latex.tokens import LatexError
from dropcheck.language import syntax
from dropcheck.language.lowering.axes import axes_of
from dropcheck.language.syntax import Binary, Negative, Node, Number
from dropcheck.vocabulary.latex_words import GREEK, NAMES_OF_FUNCTIONS, OUTER_NAME

AxisCounts = Mapping[str, int]
"""The names of a model, with their numbers of axes."""
_UNKNOWN = "which product is meant is not known here"
_INNER = r"write q^\top k or q \cdot k for the inner product, \odot element by element"


def times(sign: str, left: Node, right: Node, axes: AxisCounts, column: int) -> Node:
    """Two factors with an operator between them.

    Raises:
        LatexError: the meaning is not known; the error is at `column`.
    """
    if sign in (r"\cdot", r"\times"):
        return dotted(sign, left, right, axes, column)
    if sign == r"\thinspace":
        return Binary(left.at, "@", untransposed(left, axes), right)
    return Binary(left.at, "%" if sign == r"\bmod" else "*", left, right)


def dotted(sign: str, left: Node, right: Node, axes: AxisCounts, column: int) -> Node:
    r"""`left \cdot right`: an inner product of two vectors, or a number times anything.

    `left \times right` of two vectors is refused.

    Raises:
        LatexError: the meaning is not known; the error is at `column`.
    """
    if isinstance(left, syntax.Transpose):
        return Binary(left.at, "@", untransposed(left, axes), right)
    both = axes_of(left, axes), axes_of(right, axes)
    if both == (1, 1) and sign == r"\cdot":
        return Binary(left.at, "@", left, right)
    if 0 in both or _without_names(left) or _without_names(right):
        return Binary(left.at, "*", left, right)
    raise LatexError(
        column, _UNKNOWN, r"write \odot element by element, ^\top for an inner product"
    )


def side_by_side(left: Node, right: Node, axes: AxisCounts, column: int) -> Node:
    """Two factors without an operator between them; two vectors are refused.

    Raises:
        LatexError: the meaning is not known; the error is at `column`.
    """
    if isinstance(left, syntax.Transpose):
        return Binary(left.at, "@", untransposed(left, axes), right)
    both = axes_of(left, axes), axes_of(right, axes)
    if both == (1, 1):
        if isinstance(right, syntax.Transpose):
            return syntax.Call(left.at, OUTER_NAME, (left, right.base))
        raise LatexError(column, "two vectors stand side by side", _INNER)
    if 0 in both:
        return Binary(left.at, "*", left, right)
    if None not in both and both[0] != 1:
        return Binary(left.at, "@", left, right)
    raise LatexError(column, _UNKNOWN, r"write \cdot, \odot or ^\top")


def refuse_call(left: Node, right: Node, axes: AxisCounts, column: int) -> None:
    """Refuse a name right before brackets that may be a function.

    People write p(1 - p) and n(n + 1) for products: one letter before a sum. Anything else, such as
    y(x), f(2) or loss(x + 1), may be a call, and x[n - 1] an element of an array.

    Raises:
        LatexError: it may be a function; the error is at `column`.
    """
    while isinstance(left, Negative) or (isinstance(left, Binary) and left.operator == "**"):
        left = left.operand if isinstance(left, Negative) else left.left  # f^2(x)
    left = left.base if isinstance(left, syntax.Subscript) else left
    while isinstance(right, Binary) and right.operator == "**":
        right = right.left
    if not isinstance(left, syntax.Name):
        return
    head = left.name.partition("_")[0]
    letter = len(head) == 1 or head in GREEK
    summed = isinstance(right, Negative) or (
        isinstance(right, Binary) and right.operator in ("+", "-")
    )
    array = axes_of(left, axes) != 0
    if array or not (letter and summed) or head in NAMES_OF_FUNCTIONS:
        message = f"{left.name!r} before brackets may be a function or a factor"
        raise LatexError(column, message, r"write \cdot between for a product")


def refuse_mixed_number(left: Node, right: Node, column: int) -> None:
    r"""Refuse a number before a fraction of numbers: 2\frac12 may be two and a half.

    Raises:
        LatexError: there is one; the error is at `column`.
    """
    left = left.operand if isinstance(left, Negative) else left
    if isinstance(left, Number) and isinstance(right, Binary) and _without_names(right):
        message = "a number before a fraction may be added to it or multiply it"
        raise LatexError(column, message, r"write \cdot or + between")


def untransposed(node: Node, axes: AxisCounts) -> Node:
    """A vector itself for its transpose; other expressions as they are."""
    if isinstance(node, syntax.Transpose) and axes_of(node.base, axes) == 1:
        return node.base
    return node


def _without_names(node: Node) -> bool:
    below = syntax.children(node)
    return isinstance(node, Number) or (bool(below) and all(map(_without_names, below)))
