"""One value of a graph in place of another."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from dropcheck.language.drawn_from import Sources
from dropcheck.language.graph import Kind, Value, in_order, joined_sources


def varying(operands: Sequence[Value]) -> list[Value]:
    """All below some operands, inputs before what takes them; below what is fixed, nothing."""
    return in_order(operands, lambda value: value.inputs if value.random or value.estimated else ())


def takers_of(values: Sequence[Value], operands: Sequence[Value]) -> Counter[int]:
    """How often each value is looked at, by its id."""
    takers = Counter(map(id, operands))
    for value in values:
        takers.update(map(id, value.inputs))
    return takers


def made_of(value: Value, inputs: tuple[Value, ...]) -> Value:
    """A value of other inputs; an operator has the sources that it had."""
    if all(one is other for one, other in zip(inputs, value.inputs, strict=False)):
        return value
    sources = value.sources
    if value.kind == Kind.COMPUTED:
        sources = joined_sources(inputs)
    elif value.kind == Kind.DRAW:
        sources = own_names(value) | joined_sources(inputs)
    return dataclasses.replace(value, inputs=inputs, sources=sources)


def own_names(draw: Value) -> Sources:
    """The names of a draw itself, without those of what it is drawn with."""
    given = joined_sources(draw.inputs)
    return Sources(name for name in draw.sources if name not in given)


def exchanged(
    values: Sequence[Value],
    stands: Mapping[int, Value],
    made: Callable[[Value, tuple[Value, ...]], Value] = made_of,
) -> Callable[[Value], Value]:
    """What stands for each of some values, inputs first, where others stand for a few.

    Of what they are made of, others stand for these few too. `made` gives a value of other inputs.
    """
    found: dict[int, Value] = {}

    def new_below(value: Value) -> Sequence[Value]:
        return () if id(value) in found else value.inputs

    for value in values:
        stand = stands.get(id(value), value)
        for one in [value] if stand is value else in_order([stand], new_below):
            if id(one) not in found:
                found[id(one)] = made(one, tuple(found.get(id(v), v) for v in one.inputs))
        found[id(value)] = found[id(stand)]
    return lambda value: found.get(id(value), value)
