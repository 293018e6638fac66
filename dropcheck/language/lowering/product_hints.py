"""Products of vectors and matrices: what to write where their shapes do not go together."""

from __future__ import annotations

from dropcheck.language.syntax import Binary, Name, Node, Transpose
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.shapes import Shape, ShapeError

LONGEST_SHOWN = 40  # characters of the reader's own text in a hint


def matmul(node: Binary, left: Shape, right: Shape) -> Shape:
    """The shape of `left @ right`; where they do not fit, a transpose of one of them may.

    Raises:
        ShapeError: with the transpose that would fit as a hint.
    """
    try:
        return shapes.matmul(left, right)
    except ShapeError as error:
        raise ShapeError(str(error), _that_fits(node, left, right)) from None


def _that_fits(node: Binary, left: Shape, right: Shape) -> str | None:
    if len(right) > 1 and _fits(left, shapes.transpose(right)):
        return f"write {_factor(node.left, 'a')} @ {_transposed(node.right, 'b')}"
    if len(left) > 1 and _fits(shapes.transpose(left), right):
        return f"write {_transposed(node.left, 'a')} @ {_factor(node.right, 'b')}"
    return None


def _fits(left: Shape, right: Shape) -> bool:
    try:
        shapes.matmul(left, right)
    except ShapeError:
        return False
    return True


def transpose(base: Node, shape: Shape) -> Shape:
    """The shape of `base.T`.

    Raises:
        ShapeError: of a vector, with the products that need none as a hint.
    """
    try:
        return shapes.transpose(shape)
    except ShapeError as error:
        hint = None
        if len(shape) == 1:
            x = _factor(base, "x")
            hint = (
                f"a vector needs none: {x} @ {x} is the sum of its squares, and outer({x}, {x}) "
                "has every product"
            )
        raise ShapeError(str(error), hint) from None


def _transposed(node: Node, short: str) -> str:
    """What has to stand for the transpose: of a transpose, what it is of."""
    if isinstance(node, Transpose):
        return _factor(node.base, short)
    return f"{_factor(node, short)}.T"


def _factor(node: Node, short: str) -> str:
    """A factor as the reader wrote it where it is a name, else a letter that stands for it."""
    match node:
        case Name(name=name) if len(name) <= LONGEST_SHOWN:
            return name
        case Transpose(base=base):
            return f"{_factor(base, short)}.T"
        case _:
            return short
