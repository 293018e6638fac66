"""Replace values of a graph by others."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from dropcheck.language.drawn_from import Sources
from dropcheck.language.graph import Kind, Value, in_order, joined_sources


def varying(operands: Sequence[Value]) -> list[Value]:
    """All values below some operands, with inputs first; inputs of fixed values are left out."""
    return in_order(operands, lambda value: value.inputs if value.random or value.estimated else ())


def takers_of(values: Sequence[Value], operands: Sequence[Value]) -> Counter[int]:
    """How often each value is used, by its id."""
    takers = Counter(map(id, operands))
    for value in values:
        takers.update(map(id, value.inputs))
    return takers


def made_of(value: Value, inputs: tuple[Value, ...]) -> Value:
    """A value with other inputs, and the sources of these; an operator keeps its sources."""
    if all(one is other for one, other in zip(inputs, value.inputs, strict=False)):
        return value
    sources = value.sources
    if value.kind == Kind.COMPUTED:
        sources = joined_sources(inputs)
    elif value.kind == Kind.DRAW:
        sources = own_names(value) | joined_sources(inputs)
    return dataclasses.replace(value, inputs=inputs, sources=sources)


def own_names(draw: Value) -> Sources:
    """The names among the sources of a draw that do not come from its arguments."""
    given = joined_sources(draw.inputs)
    return Sources(name for name in draw.sources if name not in given)


def exchanged(
    values: Sequence[Value],
    stands: Mapping[int, Value],
    made: Callable[[Value, tuple[Value, ...]], Value] = made_of,
) -> Callable[[Value], Value]:
    """A function from each of some values to the value that replaces it.

    Args:
        values: the values, with inputs first.
        stands: replacements for a few values, by their ids. Values made of these are made again.
        made: makes a value with other inputs.
    """
    replaced: dict[int, Value] = {}

    def new_below(value: Value) -> Sequence[Value]:
        return () if id(value) in replaced else value.inputs

    for value in values:
        stand = stands.get(id(value), value)
        for one in [value] if stand is value else in_order([stand], new_below):
            if id(one) not in replaced:
                replaced[id(one)] = made(one, tuple(replaced.get(id(v), v) for v in one.inputs))
        replaced[id(value)] = replaced[id(stand)]
    return lambda value: replaced.get(id(value), value)
