"""Arrays of operators on the law, and the entries of what is made of them."""

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

# Entries of one claim: each is a comparison of its own.
MOST_ENTRIES = 1024

EntryIndex = tuple[int, ...]


def indices(shape: Shape) -> list[EntryIndex]:
    """The indices of all entries of an array, in their order."""
    return list(itertools.product(*map(range, shape)))


def array_of(
    context: Context, shape: Shape, made: Callable[[EntryIndex], Value], at: Position
) -> Value:
    """An array of numbers that are made one by one.

    Raises:
        DropcheckError: there are too many of them.
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
    """One entry of an array; of what operators on the law make up, by the entries of its parts."""
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
    """The place in an argument of what stands at an index of the result."""
    last = index[len(index) - len(shape) :]
    return tuple(0 if length == 1 else place for place, length in zip(last, shape, strict=True))


def entries_of_sides(
    context: Context, sides: Sequence[Value]
) -> tuple[list[EntryIndex], list[Value]]:
    """Every entry of a statement's sides: its index, and its sides in their order.

    Entries that state the same are given once, as the two halves of a symmetric matrix.
    """
    shape = next(side.shape for side in sides if side.shape)
    found: dict[tuple[int, ...], tuple[EntryIndex, list[Value]]] = {}
    for index in indices(shape):
        own = [entry_of(context, side, place_in(index, side.shape)) for side in sides]
        # numbers that are equal may be two values
        keys = [id(one) if one.estimated else hash(one.known) for one in own]
        found.setdefault(tuple(keys), (index, own))
    kept = list(found.values())
    return [index for index, _ in kept], [value for _, own in kept for value in own]
