"""Operators on the law of each entry of arrays, and the entries of a statement about arrays.

Such an operator is the array of its values, to which functions apply: entries that have one law of
all that the operator reads have one value, which is averaged over all entries of an axis where
these are alike. An entry of a side is then found by the entries of what it is made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dropcheck.errors import DropcheckError
from dropcheck.language.alike import Integers, entries_alike
from dropcheck.language.graph import Kind, Value, calls_below, kernel_of
from dropcheck.language.lowering.builder import Context
from dropcheck.language.syntax import Position
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.arrays import ARRAY
from dropcheck.vocabulary.functions.elementwise import MULTIPLY
from dropcheck.vocabulary.functions.reductions import SUM
from dropcheck.vocabulary.shapes import Shape

EntryIndex = tuple[int, ...]
Part = Sequence[int | slice] | Integers
"""A part of arrays of one shape: an index, whose slices stand for whole axes, or the numbers of
entries."""
FULL = FUNCTIONS["full"]
# The most entries of one law over which values of code are averaged, if they fill no axis.
MOST_AVERAGED = 4096
# The most different entries in one claim; each is a comparison of its own.
MOST_ENTRIES = 10_000


def part_of(context: Context, value: Value, part: Part, shape: Shape) -> Value:
    """A part of a value that is broadcast to a shape: entries by number, or an index."""
    if value.shape == ():
        return value
    if isinstance(part, np.ndarray):
        own = np.broadcast_to(np.arange(math.prod(value.shape)).reshape(value.shape), shape)
        places = tuple(int(one) for one in own.ravel()[part])
        flat = context.graph.reshaped(value, (math.prod(value.shape),), value.at)
        return context.graph.picked(flat, 0, places, value.at)
    last = part[len(part) - len(value.shape) :]
    index = tuple(
        0 if n == 1 and isinstance(at, int) else at for at, n in zip(last, value.shape, strict=True)
    )
    entry = tuple(at for at in index if isinstance(at, int))
    if len(entry) == len(index):
        return entry_of(context, value, entry)
    return context.graph.indexed(value, index, value.at)


def entry_of(context: Context, value: Value, index: EntryIndex) -> Value:
    """One entry of an array, by the entry of what it is made of where that is known."""
    moved = value.kind == Kind.COMPUTED and value.function.rearranges
    if value.shape == () and not (moved and value.estimated):
        return value
    if value.kind == Kind.COMPUTED:
        if value.function is ARRAY:
            return entry_of(context, value.inputs[index[0]], index[1:])
        if moved:
            (source,) = value.inputs
            return entry_of(context, source, _origin(context, value, index))
        if value.estimated and value.function.by_element:
            parts = tuple(
                entry_of(context, one, place_in(index, one.shape)) for one in value.inputs
            )
            return context.graph.operation(value.function, parts, (), value.at, value.options)
    return context.graph.indexed(value, index, value.at)


def place_in(index: EntryIndex, shape: Shape) -> EntryIndex:
    """The index in an input that is broadcast, from the index in the result."""
    last = index[len(index) - len(shape) :]
    return tuple(0 if length == 1 else place for place, length in zip(last, shape, strict=True))


def _origin(context: Context, value: Value, index: EntryIndex) -> EntryIndex:
    """Where an entry of a value that moves elements comes from."""
    (source,) = value.inputs
    if math.prod(source.shape) == 1:
        return (0,) * len(source.shape)
    origins = context.origins.get(id(value))
    if origins is None:
        numbers = np.arange(math.prod(source.shape)).reshape(*source.shape, 1)
        origins = context.origins[id(value)] = kernel_of(value)(numbers)[..., 0]
    return tuple(int(one) for one in np.unravel_index(int(origins[index]), source.shape))


def product(context: Context, sides: tuple[Value, Value], shape: Shape, at: Position) -> Value:
    """A product of arrays of operators, as sums of products: of these more is known."""
    left, right = sides
    every, axis = slice(None), -1.0 if len(right.shape) == 1 else -2.0
    if len(right.shape) > 1:
        left = context.graph.indexed(left, (*(every,) * len(left.shape), None), left.at)
    if len(left.shape) > 2 and len(right.shape) > 1:
        places = (*(every,) * (len(right.shape) - 2), None)
        right = context.graph.indexed(right, places, right.at)
    products = context.graph.elementwise(MULTIPLY, (left, right), at)
    options = (("axis", axis), ("keepdims", 0.0))
    return context.graph.operation(SUM, (products,), shape, at, options)


def too_many(at: Position, count: int) -> DropcheckError:
    """The error for an operator of too many different entries."""
    return at.error(
        f"an operator on the law speaks of every entry of an array: these are {count:,} different "
        f"ones, and at most {MOST_ENTRIES:,} are looked at",
        "an entry picked at random is x[pick], with pick ~ discrete_uniform(0, n - 1); what is "
        "made of all of them is mean(x), sum(x) or max(x)",
    )


def of_each_entry(
    context: Context,
    values: Sequence[Value],
    shape: Shape,
    make: Callable[[tuple[Value, ...]], Value],
    at: Position,
    *,
    one_by_one: bool,
    mirrored: bool,
) -> Value:
    """An operator on the law of arrays, as the array of what it is at each entry.

    Entries that have one law of all that the operator reads have one value.

    Args:
        context: the context of the case.
        values: the operands of the operator.
        shape: their common shape.
        make: makes the operator of parts of its operands.
        at: where it stands.
        one_by_one: whether it is of single numbers, and cannot be averaged over entries.
        mirrored: whether it has the same value at [i, j] and [j, i].

    Raises:
        DropcheckError: there are too many different entries.
    """
    kinds = entries_alike(values, shape, context.slots.models)
    if mirrored:
        kinds = np.minimum(kinds, kinds.T)
    every = not one_by_one and bool(calls_below(values))  # code may differ among entries alike
    axes = zip(kinds.strides, kinds.shape, strict=True)
    whole = [stride == 0 and length > 1 for stride, length in axes]
    one_of_each = kinds[tuple(slice(1) if one else slice(None) for one in whole)]
    found, firsts, which = np.unique(one_of_each, return_index=True, return_inverse=True)
    if found.size > MOST_ENTRIES:
        raise too_many(at, found.size)
    made: list[Value] = []
    for kind, first in zip(found, firsts, strict=True):
        index = np.unravel_index(int(first), one_of_each.shape)
        part: Part = [
            slice(None) if one and not one_by_one else int(place)
            for one, place in zip(whole, index, strict=True)
        ]
        if every and np.count_nonzero(one_of_each == kind) > 1:
            places = np.flatnonzero(kinds == kind)
            part = places[:: math.ceil(len(places) / MOST_AVERAGED)]
        made.append(make(tuple(part_of(context, one, part, shape) for one in values)))
    table = context.graph.operation(ARRAY, tuple(made), (len(made),), at)
    places_of = tuple(int(one) for one in which.ravel())
    listed = context.graph.picked(table, 0, places_of, at)
    value = context.graph.reshaped(listed, one_of_each.shape, at)
    if value.shape == shape:
        return value
    return context.graph.operation(
        FULL, (value,), shape, at, (("shape", tuple(map(float, shape))),)
    )


def entries_of_sides(
    context: Context, sides: Sequence[Value], shape: Shape, at: Position
) -> tuple[list[EntryIndex], list[Value]]:
    """The index of each entry of a statement, and the sides of each entry, in one list.

    Entries that state the same are given once, such as the two halves of a symmetric matrix.

    Raises:
        DropcheckError: there are too many.
    """
    kinds = _together([kinds_of(context, side) for side in sides], shape)
    firsts = np.sort(np.unique(kinds, return_index=True)[1])
    if firsts.size > MOST_ENTRIES:
        raise too_many(at, firsts.size)
    found: list[EntryIndex] = []
    values: list[Value] = []
    for first in firsts:
        index = tuple(int(one) for one in np.unravel_index(int(first), shape))
        found.append(index)
        values += [entry_of(context, side, place_in(index, side.shape)) for side in sides]
    return found, values


def kinds_of(context: Context, value: Value) -> Integers:
    """For each entry of a side a number; entries of one number have the same value."""
    if value.shape == ():
        return np.zeros((), dtype=np.intp)
    if not value.estimated:
        numbers = value.constant[..., 0]
        return np.unique(numbers, return_inverse=True)[1].reshape(value.shape)
    if value.function.by_element:
        return _together([kinds_of(context, one) for one in value.inputs], value.shape)
    if value.function is ARRAY:
        first = {id(one): place for place, one in reversed([*enumerate(value.inputs)])}
        which = np.array([first[id(one)] for one in value.inputs])
        which = which.reshape(-1, *(1,) * (len(value.shape) - 1))
        kinds = np.stack([kinds_of(context, one) for one in value.inputs])
        return _together([kinds, which], value.shape)
    if value.function.rearranges:
        kinds = kinds_of(context, value.inputs[0])
        if kinds.size == 1:
            return np.broadcast_to(np.zeros((), dtype=np.intp), value.shape)
        return np.asarray(kernel_of(value)(kinds[..., np.newaxis])[..., 0], dtype=np.intp)
    return np.arange(math.prod(value.shape)).reshape(value.shape)


def _together(columns: Sequence[Integers], shape: Shape) -> Integers:
    """Numbers that are equal where all columns are."""
    code = np.zeros((), dtype=np.intp)
    for column in columns:
        if any(column.strides):
            code = code * (int(column.max()) + 1) + column
            code = np.unique(code, return_inverse=True)[1].reshape(code.shape)
    return np.broadcast_to(code, shape)
