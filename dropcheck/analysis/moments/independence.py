"""Which slices of a quantity are independent of one another, within one draw.

The elements of an array of draws are independent. A quantity that is computed from such arrays
element by element has independent slices along an axis if every draw lies along that axis in the
same way: its slice i then depends only on the slices i of the draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from dropcheck.analysis.moments.law_bounds import drawn_about_zero
from dropcheck.language.drawn_from import Sources
from dropcheck.language.graph import Kind, Value, thawed
from dropcheck.vocabulary.hulls import Hull
from dropcheck.vocabulary.majorants.bounds_arithmetic import ZERO
from dropcheck.vocabulary.majorants.rule import Applied, Came, Majorant
from dropcheck.vocabulary.shapes import Shape

AxisOrigins = frozenset[tuple[str, object]] | None
"""The axes of draws that lie along one axis of a quantity, each with the way in which it was
changed; None if slices along the axis are not known to be independent."""

# The most draws of a quantity whose axes are tracked.
MOST_PLACES = 1024

_Part = TypeVar("_Part")
# The most factors into which a product is opened, and the most products that are opened.
MOST_PARTS = 32
MOST_OPENED = 256

Alignment = tuple[AxisOrigins, ...]
"""The origins of each axis of a quantity."""


def alignment_of(value: Value, below: Sequence[Alignment]) -> Alignment:
    """The alignment of a random value, from those of its random inputs."""
    rank = len(value.shape)
    if value.kind == Kind.DRAW:
        return _of_draw(value, below)
    if value.kind != Kind.COMPUTED:
        return (None,) * rank
    if value.function.by_element:
        return tuple(_joined(value, below, axis) for axis in range(rank))
    origins: list[AxisOrigins] = []
    options = {name: thawed(option) for name, option in value.options}
    for kept in value.function.growth.majorant.kept_axes(value.inputs[0].shape, options):
        others = any(one.random for one in value.inputs[1:])
        origins.append(None if kept is None or others else _came(kept, below[0]))
    return tuple(origins) if len(origins) == rank else (None,) * rank


def _came(kept: Came, alignment: Alignment) -> AxisOrigins:
    """The origins of an axis that comes from other axes, if all of these are known."""
    places = [alignment[axis] for axis in kept.axes]
    if kept.way is None and len(places) == 1:
        return places[0]
    joined: dict[str, list[object]] = {}
    for one in places:
        if one is None:
            return None
        for name, place in one:
            joined.setdefault(name, []).append(place)
    if any(len(found) < len(places) for found in joined.values()):
        return None
    return frozenset((name, (tuple(found), kept.way)) for name, found in joined.items())


def _of_draw(value: Value, below: Sequence[Alignment]) -> Alignment:
    law, name, rank = value.law, value.name, len(value.shape)
    if law is None or name is None or law.own_axes is not None:
        return (None,) * rank
    pairs = zip(value.inputs, law.parameters, strict=True)
    if any(one.random and parameter.axes for one, parameter in pairs):
        return (None,) * rank
    return tuple(_joined(value, below, axis, {(name, axis)}) for axis in range(rank))


def _joined(
    value: Value, below: Sequence[Alignment], axis: int, own: set[tuple[str, object]] | None = None
) -> AxisOrigins:
    """The origins of one axis of a value that is computed element by element."""
    origins = set(own or ())
    from_right = len(value.shape) - axis
    for one, alignment in zip(value.inputs, below, strict=True):
        if not one.random:
            continue
        at = len(one.shape) - from_right
        if at < 0 or one.shape[at] != value.shape[axis]:
            return None  # one slice of this input is used in all slices
        places = alignment[at]
        if places is None:
            return None
        origins |= places
    if len(origins) > MOST_PLACES:
        return None
    names = [name for name, _ in origins]
    return frozenset(origins) if len(set(names)) == len(names) else None


def carried(axes: frozenset[int], shape: Shape, into: Shape) -> frozenset[int]:
    """Axes of an argument as axes of an elementwise result; stretched axes are left out."""
    shift = len(into) - len(shape)
    return frozenset(axis + shift for axis in axes if shape[axis] == into[axis + shift])


def grouped(parts: Sequence[_Part], sources: Callable[[_Part], Sources]) -> list[list[_Part]]:
    """The parts in groups that share no draw."""
    groups: list[tuple[Sources, list[_Part]]] = []
    for part in parts:
        joined, members = sources(part), [part]
        apart: list[tuple[Sources, list[_Part]]] = []
        for group in groups:
            if group[0].isdisjoint(joined):
                apart.append(group)
            else:
                joined, members = joined | group[0], [*group[1], *members]
        groups = [*apart, (joined, members)]
    return [members for _, members in groups]


class Described(Protocol):
    """A quantity, and what is known of its elements."""

    value: Value
    random: bool
    below: Sequence[Any]
    use: Applied
    shape: Shape
    mean: Hull
    apart: frozenset[int]
    centred: frozenset[int]

    @property
    def majorant(self) -> Majorant:
        """The rules of the function that makes it."""

    @property
    def density(self) -> float:
        """A bound of the density of each element."""

    @property
    def drawn(self) -> Callable[[Value], Described]:
        """A function from the draws that it is made of to their descriptions."""


_Product = TypeVar("_Product", bound=Described)


def factors(quantity: _Product) -> list[tuple[_Product, float]]:
    """The size of a quantity as a product of powers of others, if these are few.

    Equal factors are joined if their exponents have one sign. They may be different elements of one
    array, as in an outer product: Hölder's inequality holds all the same.
    """
    parts: dict[tuple[int, bool], tuple[_Product, float]] = {}
    stack = [(quantity, 1.0)]
    opened = 0
    while stack:
        one, power = stack.pop()
        powers = one.majorant.powers(one.use) if one.random else ()
        few = len(parts) + len(stack) + len(powers) <= MOST_PARTS
        if powers and few and opened < MOST_OPENED:
            opened += 1  # a square of a square of … has few factors, and many products to open
            stack += [(one.below[place], power * own) for place, own in powers]
            continue
        if one.value.binary and power > 0:
            power = 1.0  # all powers of 1 and 0 are equal
        key = (id(one), power > 0)
        joined = power if one.value.binary and power > 0 else parts.get(key, (one, 0.0))[1] + power
        parts[key] = (one, joined)
    return list(parts.values())


def centred_axes(quantity: Described) -> frozenset[int]:
    """The axes along which each element has the mean 0 given those before it.

    The elements of a draw with mean 0 have this property, and keep it when they are multiplied by
    an independent quantity.
    """
    value, every = quantity.value, frozenset(range(len(quantity.shape)))
    if value.kind == Kind.DRAW:
        return every if drawn_about_zero(value, quantity.below, quantity.mean) else frozenset()
    apart = quantity.apart if quantity.mean == ZERO else frozenset[int]()
    return max(apart, _carried(quantity, lambda one: one.centred), key=len)


def signed_axes(quantity: Described) -> frozenset[int]:
    """The axes along which the signs of single elements can be changed without changing the law.

    The elements of a draw that is symmetric about 0 have this property, and keep it when they are
    multiplied by an independent quantity.
    """
    value = quantity.value
    if value.kind == Kind.DRAW:
        alike = value.law is not None and value.law.symmetric
        return quantity.centred if alike else frozenset()
    return _carried(quantity, lambda one: one.signed)


def _carried(quantity: Described, axes: Callable[[Any], frozenset[int]]) -> frozenset[int]:
    """The axes that a quantity has from a factor that is independent of the others; the most."""
    below = [quantity.below[place] for place in quantity.majorant.linear_in(quantity.use)]
    kept = [carried(axes(one), one.shape, quantity.shape) for one in below]
    return max(kept, key=len, default=frozenset[int]())


def disjoint(sources: Sequence[Sources]) -> bool:
    """Whether at most two quantities share no draw; False for more quantities."""
    return len(sources) < 2 or (len(sources) == 2 and sources[0].isdisjoint(sources[1]))
