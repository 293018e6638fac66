"""The names of axes, and the rounding of values that are passed to code."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.language.graph import Value
from dropcheck.language.lowering.context import Context
from dropcheck.language.syntax import ModelLine, Name, Node, Position, Subscript, children
from dropcheck.vocabulary.functions.number_formats import ROUNDED


def axis_names(context: Context, node: Node, axes: int) -> tuple[str, ...]:
    """The names of the axes of an expression with `axes` axes; empty if they have no names.

    An axis is named after the parameter that gives its length. Element-by-element results have the
    names of their operands.
    """
    candidates: set[tuple[str, ...]] = set()
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, Name):
            candidates.add(context.slots.axes.get(one.name, ()))
        elif not isinstance(one, Subscript):
            stack.extend(children(one))
    candidates.discard(())
    (names,) = candidates if len(candidates) == 1 else ((),)
    return names if len(names) == axes else ()


def note_axes(context: Context, line: ModelLine, value: Value) -> None:
    """Store the names of the axes of the names that a line of the model defines."""
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
    """The names of the axes of a draw of this shape."""
    return tuple(name for one in index for name in _names_of_length(context, one))


def _names_of_length(context: Context, length: Node) -> tuple[str, ...]:
    """The name of an axis of this length; a vector gives the lengths of axes without names."""
    several = context.lower(length).shape
    if several:
        return ("",) * several[0]
    return (length.name if isinstance(length, Name) else "",)


def rounded_for_code(context: Context, value: Value, at: Position) -> Value:
    """A value as it is passed to code: rounded to its number format, unless a fixed integer."""
    dtype = context.slots.dtype
    if context.slots.column is None or dtype is None or value.truth:
        return value
    known = value.known
    if isinstance(known, float) and known == round(known):
        return value
    return context.graph.elementwise(ROUNDED[dtype], (value,), at)
