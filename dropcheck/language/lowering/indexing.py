"""Indices in brackets: numbers, slices, `None`, `...`, and fixed arrays of places or of truths.

They mean the same as in numpy. They must be fixed before any draw, because all draws have the same
shape. Only a single index may be random: `mu[k]`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dropcheck.language import syntax
from dropcheck.language.graph import Kind, Value, hashable
from dropcheck.language.lowering.context import Context
from dropcheck.language.syntax import Node, Position
from dropcheck.records import record
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.functions.arrays import ELEMENTS, SUBSCRIPT, TAKE
from dropcheck.vocabulary.functions.rearranging import RESHAPE
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.shapes import Index, Shape, describe

MOST_PLACES = 2**16  # in an array of indices


@record
class AdvancedIndex:
    """Elements along some adjacent axes, which are counted as if they were one axis.

    `places` are the elements' indices on that axis; `shape` replaces the `axes` axes.
    """

    axes: int
    places: tuple[int, ...]
    shape: Shape


SubscriptEntry = Index | AdvancedIndex


def subscript(context: Context, base: Node, index: tuple[Node, ...], at: Position) -> Value:
    """`base[index, …]`.

    Raises:
        DropcheckError: the index is not fixed, or not inside the array.
    """
    if isinstance(base, syntax.Name) and base.name in LAWS and base.name not in context.scope:
        raise base.at.error(f"{base.name!r} is a law", "draw from it on a line of the model")
    value = context.lower(base)
    places = _random_places(context, value, index)
    if places is not None:
        shape = shapes.subscript(value.shape, (0,))
        return context.graph.operation(TAKE, (value, places), places.shape + shape, at)
    entries = _entries(context, value.shape, index, at)
    plain: list[Index] = []
    for entry in entries:
        plain += [slice(None)] * entry.axes if isinstance(entry, AdvancedIndex) else [entry]
    value = _basic(context, value, tuple(plain), at)
    for place, entry in enumerate(entries):
        if isinstance(entry, AdvancedIndex):
            axis = sum(not isinstance(one, int) for one in entries[:place])
            return _picked(context, value, axis, entry, at)
    return value


def _random_places(context: Context, value: Value, index: tuple[Node, ...]) -> Value | None:
    """The random places that a single index picks; None if the index is fixed.

    In a formula there is none: it counts from 1, and a random index of a model counts from 0.
    """
    alone = len(index) == 1 and not isinstance(
        index[0], syntax.NewAxis | syntax.Rest | syntax.Slice
    )
    if not (alone and value.shape) or context.formula:
        return None
    places = context.lower(index[0])
    return places if places.random and not (places.estimated or _is_mask(places)) else None


def _basic(context: Context, value: Value, index: tuple[Index, ...], at: Position) -> Value:
    while index and isinstance(index[0], int) and id(value) in context.collected:
        if not -len(value.inputs) <= index[0] < len(value.inputs):
            break  # reported below
        value, index = value.inputs[index[0]], index[1:]  # the value of one step of a loop
    if all(entry == slice(None) for entry in index):
        return value
    options = (("index", hashable(index)),)
    return context.graph.shaped(
        SUBSCRIPT, (value,), lambda shape: shapes.subscript(shape, index), at, options
    )


def _picked(
    context: Context, value: Value, axis: int, chosen: AdvancedIndex, at: Position
) -> Value:
    """The chosen places along some axes, the first of which is `axis`."""
    after = axis + chosen.axes
    first, own, last = value.shape[:axis], value.shape[axis:after], value.shape[after:]
    joined = _reshaped(context, value, (*first, math.prod(own), *last), at)
    options = (("axis", float(axis)), ("places", chosen.places))
    shape = (*first, len(chosen.places), *last)
    picked = context.graph.operation(ELEMENTS, (joined,), shape, at, options)
    return _reshaped(context, picked, (*first, *chosen.shape, *last), at)


def _reshaped(context: Context, value: Value, shape: Shape, at: Position) -> Value:
    if value.shape == shape:
        return value
    options = (("shape", tuple(float(length) for length in shape)),)
    return context.graph.operation(RESHAPE, (value,), shape, at, options)


def _entries(
    context: Context, shape: Shape, index: tuple[Node, ...], at: Position
) -> list[SubscriptEntry]:
    """The entries of an index, with `...` expanded and masks turned into places."""
    rests = [node for node in index if isinstance(node, syntax.Rest)]
    if len(rests) > 1:
        raise rests[1].at.error("'...' stands twice in one index", "write ':' for a single axis")
    read = [(node, _read(context, node)) for node in index]
    used = sum(_axes_of(entry) for _, entry in read)
    if used > len(shape):
        wrong = shapes.too_many_indices(used, shape)
        raise at.error(str(wrong), wrong.hint)
    entries: list[SubscriptEntry] = []
    axis = 0
    for node, entry in read:
        if isinstance(entry, Value):
            own = shape[axis : axis + _axes_of(entry)]
            entries.append(_places(entry, own, node))
        elif isinstance(node, syntax.Rest):
            entries += [slice(None)] * (len(shape) - used)
            axis += len(shape) - used
        else:
            if context.formula and entry is not None and axis < len(shape):
                _refuse_outside(entry, shape[axis], node)
            entries.append(entry)
        axis += _axes_of(entry)
    _check_order(entries, index)
    return entries


def _refuse_outside(entry: int | slice, length: int, node: Node) -> None:
    """Refuse indices of a formula, converted from a count from 1, that are outside the array.

    Raises:
        DropcheckError: numpy would count from the end, or silently return fewer elements.
    """
    if isinstance(entry, int):
        if entry < 0:
            place = entry if isinstance(node, syntax.Negative) else entry + 1
            message = f"the formula asks for element {place}, and elements count from 1"
            raise node.at.error(message, "choose other values, or write the statement in the mark")
        return
    first, last = entry.start or 0, length if entry.stop is None else entry.stop
    if first < 0 or last < 0 or (last > length and first < last):
        message = f"the formula counts elements {first + 1} to {last}, and there are {length}"
        raise node.at.error(message, "count to what the model has")


def _check_order(entries: Sequence[SubscriptEntry], index: tuple[Node, ...]) -> None:
    """Refuse more than one array, and an array whose axis numpy would move to the front.

    Raises:
        DropcheckError: numpy would pair two arrays, or move the axis.
    """
    arrays = [at for at, entry in enumerate(entries) if isinstance(entry, AdvancedIndex)]
    if len(arrays) > 1:
        raise index[0].at.error(
            "several arrays of indices stand in one index",
            "rows and columns go one after the other, x[[0, 2]][:, [1, 3]]; single elements are "
            "listed, [x[0, 1], x[2, 3]]",
        )
    picked = [at for at, entry in enumerate(entries) if isinstance(entry, int | AdvancedIndex)]
    if arrays and len(picked) != picked[-1] - picked[0] + 1:
        raise index[0].at.error(
            "a number and an array of indices are not next to each other in one index",
            "index one after the other: x[0][:, [0, 2]]",
        )


def _read(context: Context, node: Node) -> int | slice | Value | None:
    """One entry of an index; an array is returned as its value."""
    if isinstance(node, syntax.NewAxis | syntax.Rest):
        return None
    if isinstance(node, syntax.Slice):
        bounds = (node.start, node.stop, node.step)
        ends = [None if end is None else _whole(_fixed(context, end), end) for end in bounds]
        if ends[2] == 0:
            raise node.at.error("the step of a slice cannot be 0")
        return slice(*ends)
    value = _fixed(context, node)
    return value if value.shape else _whole(value, node)


def _axes_of(entry: int | slice | Value | None) -> int:
    """How many axes of the array an entry indexes."""
    if isinstance(entry, Value):
        return len(entry.shape) if _is_mask(entry) else 1
    return 0 if entry is None else 1


def _fixed(context: Context, node: Node) -> Value:
    value = context.lower(node)
    if value.random and _is_mask(value) and value.shape:
        raise node.at.error(
            "this keeps a random number of elements, and an array has one shape in all draws",
            "keep the shape and replace the other elements: sum(where(c, x, 0)), or "
            "sum(x * c) / sum(c) for a mean; E(x, given=c) is the mean of x where c holds",
        )
    return context.lower_fixed(
        node,
        "an index in brackets must be fixed, and this one is random",
        "a random index stands by itself, as in x[i][0] or take(x, i)[0]",
    )


def _is_mask(value: Value) -> bool:
    """Whether an array holds truths only, possibly rearranged or joined."""
    stack = [value]
    while stack:
        one = stack.pop()
        if one.binary:
            continue
        if one.kind != Kind.COMPUTED or not (one.function.rearranges or one.function.joins):
            return False
        stack += one.inputs
    return True


def _whole(value: Value, node: Node) -> int:
    known = value.known
    if not isinstance(known, float):
        raise node.at.error("an end of a slice is a number, and this is a list", "write x[1:3]")
    return _index(known, node)


def _index(number: float, node: Node) -> int:
    if number != number // 1:
        raise node.at.error(
            f"an index needs a whole number, and this is {number:.12g}", "indices count from 0"
        )
    return int(max(-(2.0**62), min(number, 2.0**62)))


def _places(value: Value, own: Shape, node: Node) -> AdvancedIndex:
    """The places that an array of indices, or a mask, picks."""
    if value.constant.size > MOST_PLACES:
        raise node.at.error(
            f"an index has at most {MOST_PLACES:,} entries, and this has {value.constant.size:,}",
            "a slice such as x[::2] needs none",
        )
    array = np.asarray(value.constant[..., 0], dtype=np.float64)
    if _is_mask(value):
        if array.shape != own:
            raise node.at.error(
                f"these truths are {describe(array.shape)}, and stand for {describe(own)}",
                "a fixed condition in brackets has the shape of what it picks from",
            )
        picked = tuple(int(place) for place in np.flatnonzero(array))
        return AdvancedIndex(len(own), picked, (len(picked),))
    (length,) = own
    places = [_index(float(number), node) for number in array.ravel()]
    for place in places:
        if not -length <= place < length:
            wrong = shapes.out_of_range(place, length)
            raise node.at.error(str(wrong), wrong.hint)
    return AdvancedIndex(1, tuple(place % length for place in places), array.shape)
