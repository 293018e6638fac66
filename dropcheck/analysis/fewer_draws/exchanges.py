"""One value of a graph in place of another."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

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
    """A value of other inputs; a draw, or an operator, has the sources that it had."""
    if all(one is other for one, other in zip(inputs, value.inputs, strict=False)):
        return value
    sources = joined_sources(inputs) if value.kind == Kind.COMPUTED else value.sources
    return dataclasses.replace(value, inputs=inputs, sources=sources)


def exchanged(
    values: Sequence[Value],
    stands: Mapping[int, Value],
    made: Callable[[Value, tuple[Value, ...]], Value] = made_of,
) -> Callable[[Value], Value]:
    """What stands for each of some values, inputs first, where others stand for a few.

    `made` gives a value of other inputs.
    """
    found = dict(stands)
    for value in values:
        if id(value) not in found:
            found[id(value)] = made(value, tuple(found.get(id(v), v) for v in value.inputs))
    return lambda value: found.get(id(value), value)
