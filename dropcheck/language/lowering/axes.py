"""How many axes an expression has, from the numbers of axes of its names."""

from __future__ import annotations

from collections.abc import Mapping

from dropcheck.language import syntax
from dropcheck.language.syntax import Node
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.latex_words import PLACES_NAME
from dropcheck.vocabulary.operators import OPERATORS
from dropcheck.vocabulary.shapes import ShapeError, ShapeRule, matmul

# an index of this kind adds an axis, or stands for several
_OTHER_INDICES = (syntax.NewAxis, syntax.Rest, syntax.ArrayLiteral, syntax.Compare, syntax.Logic)

# options that change how many axes a result has
_ALONG = frozenset({"axis", "axes", "keepdims", "n", "shape"})


def axes_of(node: Node, axes: Mapping[str, int]) -> int | None:
    """The number of axes of an expression; None if it is not known.

    Args:
        node: the expression.
        axes: the numbers of axes of the names; a fixed number has none.

    >>> from dropcheck.claims.registry import SourceText
    >>> from dropcheck.language.parser import parse_expression
    >>> known = {"q": 1, "K": 2, "p": 0}
    >>> [axes_of(parse_expression(SourceText.plain(text)), known) for text in
    ...     ("q / p", "K @ q", "q @ q", "sum(K)", "E(q)", "K[0]", "K.T", "z")]
    [1, 1, 0, 1, 0, 1, 2, None]
    """
    match node:
        case syntax.Number():
            return 0
        case syntax.Name(name=name):
            return axes.get(name)
        case syntax.Negative(operand=inner) | syntax.Transpose(base=inner):
            return axes_of(inner, axes)
        case syntax.Binary(operator="@", left=left, right=right):
            return _by(
                lambda shapes, _: matmul(*shapes), (axes_of(left, axes), axes_of(right, axes))
            )
        case syntax.Call(name=name, arguments=arguments, keywords=keywords):
            if name in OPERATORS:
                return 0
            if name == PLACES_NAME:
                return 1
            if name not in FUNCTIONS or not _ALONG.isdisjoint(dict(keywords)):
                return None
            return _by(FUNCTIONS[name].shape, tuple(axes_of(one, axes) for one in arguments))
        case syntax.ArrayLiteral(items=items):
            of_item = axes_of(items[0], axes) if items else 0
            return None if of_item is None else of_item + 1
        case syntax.Subscript(base=base, index=index):
            of_base = axes_of(base, axes)
            plain = not any(isinstance(one, _OTHER_INDICES) for one in index)
            slices = sum(isinstance(one, syntax.Slice) for one in index)
            return None if of_base is None or not plain else of_base - len(index) + slices
        case _:
            below = [axes_of(child, axes) for child in syntax.children(node)]
            known = [count for count in below if count is not None]
            return max(known, default=0) if len(known) == len(below) else None


def _by(rule: ShapeRule, counts: tuple[int | None, ...]) -> int | None:
    """The number of axes that a shape rule gives; all axes are taken to have length 2."""
    known = tuple((2,) * count for count in counts if count is not None)
    if len(known) < len(counts):
        return None
    try:
        return len(rule(known, {"axis": -1.0, "keepdims": 0.0}))
    except (ShapeError, LookupError, TypeError):
        return None
