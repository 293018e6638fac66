"""Names of axes, and the values that code is given: what a line of a model keeps for slots."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.language.graph import Value
from dropcheck.language.lowering.context import Context
from dropcheck.language.syntax import ModelLine, Name, Node, Position, Subscript, children
from dropcheck.vocabulary.functions.number_formats import ROUNDED


def axis_names(context: Context, node: Node, axes: int) -> tuple[str, ...]:
    """The names of the axes of an expression with so many; none where they have no names.

    An axis has the name of the parameter that its length is written by; what is computed element by
    element from named axes has them too.
    """
    found: set[tuple[str, ...]] = set()
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, Name):
            found.add(context.slots.axes.get(one.name, ()))
        elif not isinstance(one, Subscript):
            stack.extend(children(one))
    found.discard(())
    (names,) = found if len(found) == 1 else ((),)
    return names if len(names) == axes else ()


def note_axes(context: Context, line: ModelLine, value: Value) -> None:
    """Keep the names of the axes of what a line of the model defines."""
    if not context.slots.known:
        return
    right = line.right
    if line.drawn and isinstance(right, Subscript):
        names = names_of_lengths(context, right.index)
    else:
        names = axis_names(context, right, len(value.shape))
    if len(names) == len(value.shape) and any(names):
        for name in line.names:
            context.slots.axes[name.name] = names


def names_of_lengths(context: Context, index: Sequence[Node]) -> tuple[str, ...]:
    """The names of the axes of what is drawn in such a shape."""
    return tuple(name for one in index for name in _names_of_length(context, one))


def _names_of_length(context: Context, length: Node) -> tuple[str, ...]:
    """The name of the axis of such a length; a vector is the lengths of axes without names."""
    several = context.lower(length).shape
    if several:
        return ("",) * several[0]
    return (length.name if isinstance(length, Name) else "",)


def rounded_for_code(context: Context, value: Value, at: Position) -> Value:
    """A value as code is given it: in its number format, but for whole numbers that are fixed."""
    dtype = context.slots.dtype
    if context.slots.column is None or dtype is None or value.truth:
        return value
    known = value.known
    if isinstance(known, float) and known == round(known):
        return value
    return context.graph.elementwise(ROUNDED[dtype], (value,), at)
