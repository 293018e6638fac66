"""Entries of arrays that have one joint law, by an invariant of the graph.

Places along an axis may be exchanged if the model stays the same: the draws along it are drawn
alike, and whatever is computed from them treats the places alike. Formally: permute, in all draws
at once, the places that are tied to each other. If every draw then has the law that it had, and
every value is permuted in the same way or not at all, an entry of some values has the joint law of
the entry to which it is moved. Dependence between entries does not matter: those of a permutation,
or of a softmax, have one law each.

Places that differ get different colours, and only places of one colour may be exchanged. Where
nothing is known, all places differ: two entries are never called alike without a reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dropcheck.language.graph import Kind, Value, in_order, kernel_of, thawed
from dropcheck.vocabulary.function import GRAD
from dropcheck.vocabulary.functions.arrays import TAKE
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.places import origin
from dropcheck.vocabulary.shapes import Shape, normalise_axes, normalise_axis

Integers = NDArray[np.intp]

# Larger fixed arrays, and rearrangements of larger ones, are not looked into: their places differ.
LARGEST = 2**22


class Places:
    """Places that are exchanged together wherever they are used; `colours` tell them apart.

    Once it is known that they are tied to other places, they are `part_of` these, each place at
    the number given.
    """

    def __init__(self, colours: Integers) -> None:
        self.colours = colours
        self.part_of: tuple[Places, Integers] | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a value: the places that lie along it, in the order `at`."""

    places: Places
    at: Integers

    @classmethod
    def alike(cls, length: int) -> Axis:
        """Places that may all be exchanged."""
        return cls(Places(np.zeros(length, dtype=np.intp)), np.arange(length))

    @classmethod
    def in_order(cls, length: int) -> Axis:
        """Places that all differ."""
        return cls(Places(np.arange(length)), np.arange(length))

    def found(self) -> Axis:
        """The same axis, by the places that its places have become part of."""
        places, at = self.places, self.at
        while places.part_of is not None:
            places, moved = places.part_of
            at = moved[at]
        return Axis(places, at)

    @property
    def colours(self) -> Integers:
        """The colours along the axis."""
        found = self.found()
        return found.places.colours[found.at]

    def coloured(self, colours: Integers) -> None:
        """Tell places of different colours apart, and all of them from those not on the axis."""
        found = self.found()
        own = np.full(found.places.colours.size, -1, dtype=np.intp)
        own[found.at] = colours
        found.places.colours = _joint(found.places.colours, own)

    def split(self) -> None:
        """Tell all its places apart, and all that are tied to them."""
        places = self.found().places
        places.colours = np.arange(places.colours.size)


Axes = list[Axis | None]
"""The axes of a value; None for one of length 1."""


def _joint(*columns: Integers) -> Integers:
    """Numbers that are equal where all columns are."""
    code = np.zeros(columns[0].shape, dtype=np.intp)
    for column in columns:
        low = int(column.min(initial=0))
        code = code * (int(column.max(initial=0)) - low + 1) + (column - low)
        code = np.unique(code, return_inverse=True)[1].reshape(code.shape)
    return code


def _tied(axes: Iterable[Axis | None]) -> Axis | None:
    """One axis of axes whose places lie side by side, so that they are exchanged together."""
    tied: Axis | None = None
    for axis in axes:
        if axis is not None:
            tied = axis.found() if tied is None else _tied_to(tied.found(), axis.found())
    return tied


def _tied_to(first: Axis, second: Axis) -> Axis:
    if first.places is second.places:
        if not np.array_equal(first.at, second.at):
            first.split()  # a place beside another one of the same places
        return first
    one, other = first.places.colours, second.places.colours
    moved = np.full(other.size, -1, dtype=np.intp)
    moved[second.at] = first.at
    alone = np.flatnonzero(moved < 0)
    moved[alone] = one.size + np.arange(alone.size)
    columns = np.full((2, one.size + alone.size), -1, dtype=np.intp)
    columns[0, : one.size] = one
    columns[1, moved] = other
    joined = Places(_joint(*columns))
    first.places.part_of = joined, np.arange(one.size)
    second.places.part_of = joined, moved
    return first.found()


def entries_alike(values: Sequence[Value], shape: Shape, models: Mapping[int, Value]) -> Integers:
    """For each entry of a shape a number: entries of one number have one joint law of the values.

    Along an axis whose entries all have one law, the array has the stride 0.

    Args:
        values: the values; those of a smaller shape are broadcast.
        shape: their common shape.
        models: by id of a call of code, the value that stands for it in mathematics.
    """
    tracked = _Tracked(models)
    walked = in_order(values, tracked.below)
    for value in walked:
        tracked.axes[id(value)] = tracked.axes_of(value)
    axes = tracked.beside([tracked.axes[id(value)] for value in values], shape)
    return _numbered(axes, shape)


def _numbered(axes: Axes, shape: Shape) -> Integers:
    found = [None if one is None else one.found() for one in axes]
    code = np.zeros((1,) * len(shape), dtype=np.intp)
    for at, axis in enumerate(found):
        if axis is None:
            continue
        along = [1] * len(shape)
        along[at] = shape[at]
        colours = axis.colours
        if (colours != colours[0]).any():
            code = code * (int(colours.max()) + 1) + colours.reshape(along)
        for before, other in enumerate(found[:at]):
            if other is not None and other.places is axis.places:  # the diagonal is not the rest
                same = other.at[:, np.newaxis] == axis.at
                along[before] = shape[before]
                code = 2 * code + same.reshape(along)
                along[before] = 1
    numbers = np.unique(code, return_inverse=True)[1].reshape(code.shape)
    return np.broadcast_to(numbers, shape)


class _Tracked:
    """The axes of every value that some values are computed from."""

    def __init__(self, models: Mapping[int, Value]) -> None:
        self.models = models
        self.axes: dict[int, Axes] = {}

    def below(self, value: Value) -> Sequence[Value]:
        """The values that the axes of a value follow from."""
        if value.call is not None:
            model = self.models.get(id(value.call))
            return value.inputs if model is None else (model, *value.inputs)
        return value.inputs if value.random else ()

    def axes_of(self, value: Value) -> Axes:
        """The axes of a value, from those of its inputs."""
        if not value.shape and not value.inputs:
            return []
        if not value.random:
            return _of_constant(value)
        if value.call is not None:
            return self._of_code(value)
        if value.kind == Kind.DRAW:
            return self._of_draw(value)
        if 0 in value.shape or any(0 in one.shape for one in value.inputs):
            return self._differ(value)
        if value.function.by_element or self._of_numbers(value):
            return self.beside([self.axes[id(one)] for one in value.inputs], value.shape)
        if value.function.does == "joins":
            return self._joined(value)
        if value.function.rearranges and max(_size(value), _size(value.inputs[0])) <= LARGEST:
            return self._rearranged(value)
        if value.function is TAKE:
            (table, *rest), places = (self.axes[id(one)] for one in value.inputs)
            _split([table])
            return [*places, *rest]
        made = self._by_signature(value) if value.function.places else None
        return self._differ(value) if made is None else made

    def _differ(self, value: Value) -> Axes:
        """The axes where nothing is known: all places of the inputs, and of the result, differ."""
        for one in value.inputs:
            _split(self.axes[id(one)])
        return _in_order(value.shape)

    def beside(self, inputs: Iterable[Axes], shape: Shape) -> Axes:
        """The axes of values that are broadcast to a shape and lie side by side."""
        from_right: list[list[Axis | None]] = [[] for _ in shape]
        for axes in inputs:
            for at, axis in enumerate(reversed(axes)):
                from_right[at].append(axis)
        return [_tied(axes) for axes in reversed(from_right)]

    def _of_numbers(self, value: Value) -> bool:
        """Whether it is a function of a law of numbers, such as a density."""
        law = LAWS.get(str(dict(value.options).get("law")))
        return (
            law is not None
            and law.own_axes is None
            and not any(parameter.axes for parameter in law.parameters)
        )

    def _of_code(self, value: Value) -> Axes:
        """Those of the slot's own mathematics, or of its argument for a gradient of this shape."""
        model = self.models.get(id(value.call))
        if model is None or value.call is None:
            return self._differ(value)
        given = value.inputs[0] if value.call.mode == GRAD else model
        return self.axes[id(given)] if given.shape == value.shape else self._differ(value)

    def _of_draw(self, value: Value) -> Axes:
        law = value.law
        if law is None:  # code draws it
            return _in_order(value.shape)
        batches: list[Axes] = []
        own: Axes = []
        for parameter, argument in zip(law.parameters, value.inputs, strict=True):
            axes, first = self.axes[id(argument)], len(argument.shape) - parameter.axes
            batches.append(axes[:first])
            own += axes[first:]
        rank = len(value.shape) if law.own_axes is None else len(value.shape) - 1
        made = self.beside(batches, value.shape[:rank])
        if law.own_axes is not None:
            made.append(_tied(own))
        else:
            _split(own)
            made += _in_order(value.shape[rank:])
        return _filled(made, value.shape)

    def _joined(self, value: Value) -> Axes:
        """Arrays one after another: along the axis on which they are joined, places differ."""
        inputs = [one for one in value.inputs if one.shape] or value.inputs
        new = len(value.shape) - len(inputs[0].shape)
        axis = dict(value.options).get("axis")
        at = normalise_axis(axis, value.shape) if axis is not None else 0
        parts: list[Axes] = []
        for one in value.inputs:
            axes = list(self.axes[id(one)])
            if new and one.shape == inputs[0].shape:
                axes.insert(at, None)
            elif one.shape:
                _split([axes[at]])
                axes[at] = None
            parts.append(axes)
        made = self.beside(parts, value.shape)
        made[at : at + 1] = _in_order(value.shape[at : at + 1])
        return made

    def _rearranged(self, value: Value) -> Axes:
        """Elements moved: an axis of the result has places of one axis, or all of them differ."""
        (source,) = value.inputs
        taken = origin(kernel_of(value), [np.broadcast_to(0.0, (*source.shape, 1))], 0)
        moves = [
            (axis, to, chosen.ravel())
            for axis, (to, chosen) in zip(self.axes[id(source)], taken.axes[:-1], strict=True)
            if axis is not None
        ]
        made: Axes = [None] * len(value.shape)
        reached = [one for _, to, _ in moves for one in to]
        for axis, to, chosen in moves:
            once = len(to) < 2 and np.unique(chosen).size == chosen.size
            if not once or any(reached.count(one) > 1 for one in to):
                axis.split()
                for one in to:
                    made[one] = Axis.in_order(value.shape[one])
                continue
            if chosen.size < axis.at.size:
                inside = np.zeros(axis.at.size, dtype=np.intp)
                inside[chosen] = 1
                axis.coloured(inside)
            if to:
                found = axis.found()
                made[to[0]] = Axis(found.places, found.at[chosen])
        return _filled(made, value.shape)  # along other axes elements are repeated

    def _by_signature(self, value: Value) -> Axes | None:
        """The axes by the signature of the function; None where it does not fit its use."""
        inputs, result = _signature(value.function.places)
        options = {name: thawed(option) for name, option in value.options}
        several = options.get("axis")
        common = max((one.shape for one in value.inputs), key=len)
        tied: dict[str, Axis | None] = {}
        batches: list[Axes] = []
        worked_along: tuple[int, ...] = ()
        left_out: set[str] = set()
        for one, letters in zip(value.inputs, inputs, strict=True):
            axes, shape = self.axes[id(one)], one.shape
            if several is not None:
                if len(letters) != 1:
                    return None
                worked_along = normalise_axes(several, common)
                core = [at - len(common) for at in worked_along]
                named = {at: f"{letters[0]}{at}" for at in core}
            else:
                used = [name for name in letters if len(shape) >= len(letters) or name[-1] != "?"]
                left_out |= set(letters) - set(used)
                if len(shape) < len(used):
                    return None
                named = {place - len(used): name for place, name in enumerate(used)}
            for at, name in named.items():
                if name[0].isupper():
                    _split([axes[at]])
                else:
                    tied[name] = _tied((tied.get(name), axes[at]))
            rest = [at for at in range(len(shape)) if at - len(shape) not in named]
            batches.append([axes[at] for at in rest])
        if several is not None:
            return self._along(value, result, common, worked_along, tied, batches)
        kept = [name for name in result if name not in left_out]
        rank = len(value.shape) - len(kept)
        made = self.beside(batches, value.shape[:rank])
        for name, length in zip(kept, value.shape[rank:], strict=True):
            made.append(tied[name] if name in tied else _in_order((length,))[0])
        return made

    def _along(
        self,
        value: Value,
        result: tuple[str, ...],
        common: Shape,
        worked_along: tuple[int, ...],
        tied: Mapping[str, Axis | None],
        batches: Sequence[Axes],
    ) -> Axes | None:
        """The axes of a function along named axes: these are kept, or gone, or of length 1."""
        keeps = len(value.shape) == len(common)
        if not keeps and len(value.shape) != len(common) - len(worked_along):
            return None  # such as a quantile at a list of levels
        shape = tuple(n for at, n in enumerate(common) if at not in worked_along)
        others = iter(self.beside(batches, shape))
        made: Axes = []
        for at, _ in enumerate(common):
            if at not in worked_along:
                made.append(next(others))
            elif keeps:
                own = tied.get(f"{result[0]}{at - len(common)}") if result else None
                length = value.shape[len(made)]
                made.append(own if own is not None else _in_order((length,))[0])
        return made


def _filled(axes: Axes, shape: Shape) -> Axes:
    """The axes, where any places of the others may be exchanged."""
    pairs = zip(axes, shape, strict=True)
    return [Axis.alike(n) if one is None and n > 1 else one for one, n in pairs]


def _size(value: Value) -> int:
    return math.prod(value.shape)


def _split(axes: Iterable[Axis | None]) -> None:
    for axis in axes:
        if axis is not None:
            axis.split()


def _in_order(shape: Shape) -> Axes:
    return [Axis.in_order(length) if length > 1 else None for length in shape]


def _of_constant(value: Value) -> Axes:
    """Places of a fixed array may be exchanged if its slices there are equal."""
    if value.constant is None or _size(value) > LARGEST:
        return _in_order(value.shape)
    made: Axes = []
    for at, length in enumerate(value.shape):
        axis = Axis.alike(length) if length > 1 else None
        if axis is not None:
            slices = np.moveaxis(value.constant[..., 0], at, 0).reshape(length, -1)
            if (slices != slices[:1]).any():
                axis.places.colours = np.unique(slices, axis=0, return_inverse=True)[1].ravel()
        made.append(axis)
    return made


def _signature(text: str) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """The letters of each argument and of the result: `(m?,k),(k,n?)->(m?,n?)`."""
    before, after = text.split("->")
    groups = [group.strip("()") for group in before.split("),(")]
    letters = [tuple(one for one in group.split(",") if one) for group in groups]
    return letters, tuple(one for one in after.strip("()").split(",") if one)
