"""Arrays of operators on the law, and the entries of arrays computed from them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from dropcheck.language.graph import Kind, Value, hashable
from dropcheck.language.lowering.context import Context
from dropcheck.language.syntax import Position
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.functions.arrays import ARRAY, SUBSCRIPT
from dropcheck.vocabulary.shapes import Shape

# The most entries in one claim; each is a comparison of its own.
MOST_ENTRIES = 1024

EntryIndex = tuple[int, ...]


def indices(shape: Shape) -> list[EntryIndex]:
    """The indices of all entries of an array, in row-major order."""
    return list(itertools.product(*map(range, shape)))


def array_of(
    context: Context, shape: Shape, made: Callable[[EntryIndex], Value], at: Position
) -> Value:
    """An array of values that are made one by one.

    Raises:
        DropcheckError: there are too many.
    """
    if math.prod(shape) > MOST_ENTRIES:
        raise at.error(
            f"a claim of every entry has at most {MOST_ENTRIES:,} entries, and this has "
            f"{math.prod(shape):,}",
            "claim it of a part, x[:10], or of what is made of all: max(…), sum(…)",
        )

    def stacked(before: EntryIndex) -> Value:
        if len(before) == len(shape):
            return made(before)
        values = tuple(stacked((*before, place)) for place in range(shape[len(before)]))
        return context.graph.operation(ARRAY, values, shape[len(before) :], at)

    return stacked(())


def entry_of(context: Context, value: Value, index: EntryIndex) -> Value:
    """One entry of an array; of a function of operators on the law, the function of entries."""
    if value.shape == ():
        return value
    if value.estimated and value.kind == Kind.COMPUTED:
        if value.function is ARRAY:
            return entry_of(context, value.inputs[index[0]], index[1:])
        if value.function.by_element:
            parts = tuple(
                entry_of(context, one, place_in(index, one.shape)) for one in value.inputs
            )
            options = tuple(value.options)
            return context.graph.operation(value.function, parts, (), value.at, options)
    options = (("index", hashable(index)),)
    return context.graph.shaped(
        SUBSCRIPT, (value,), lambda shape: shapes.subscript(shape, index), value.at, options
    )


def place_in(index: EntryIndex, shape: Shape) -> EntryIndex:
    """The index in an input that is broadcast, from the index in the result."""
    last = index[len(index) - len(shape) :]
    return tuple(0 if length == 1 else place for place, length in zip(last, shape, strict=True))


def entries_of_sides(
    context: Context, sides: Sequence[Value]
) -> tuple[list[EntryIndex], list[Value]]:
    """The index of each entry of a statement, and the sides of each entry, in one list.

    Entries that state the same are given once, such as the two halves of a symmetric matrix.
    """
    shape = next(side.shape for side in sides if side.shape)
    first_of_each: dict[tuple[int, ...], tuple[EntryIndex, list[Value]]] = {}
    for index in indices(shape):
        own = [entry_of(context, side, place_in(index, side.shape)) for side in sides]
        # equal numbers may be different values
        keys = [id(one) if one.estimated else hash(one.known) for one in own]
        first_of_each.setdefault(tuple(keys), (index, own))
    kept = list(first_of_each.values())
    return [index for index, _ in kept], [value for _, own in kept for value in own]
