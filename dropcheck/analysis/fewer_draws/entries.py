"""Entries of independent draws as draws by themselves, where nothing else of them is used.

`exp(x)[0]` is `exp(x[0])`, and `x[0]` has the law of one draw. What is known of a draw of one
number is then known of it: its probabilities, its quantiles, and integrals over its law.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from dropcheck.analysis.fewer_draws.sums import exchanged, made_of, own_names
from dropcheck.language.graph import (
    Kind,
    Sources,
    Value,
    constant_beside,
    in_order,
    joined_sources,
)
from dropcheck.vocabulary.functions.arrays import ARRAY, SUBSCRIPT

MOST_ENTRIES = 64  # of draws that are taken apart
MOST_STEPS = 100  # between an entry and the draw below it

_Index = tuple[int, ...]


def with_entries(
    values: Sequence[Value], operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements in which entries are drawn by themselves; None if there are none."""
    picks = {id(one): (one, index) for one in values if (index := _index_of(one)) is not None}
    whole: set[int] = set()
    while picks:
        entries = _Entries(whole)
        stands = {at: entries.at(one.inputs[0], index) for at, (one, index) in picks.items()}
        if not 0 < len(entries.drawn) <= MOST_ENTRIES:
            return None
        replaced = exchanged(values, stands)
        below = in_order([replaced(one) for one in operands], lambda one: one.inputs)
        used = {id(one) for one in below}.intersection(entries.apart)
        if not used:
            return replaced
        whole |= used  # what else uses such a draw takes its entries from the same draws
    return None


def _index_of(value: Value) -> _Index | None:
    """The fixed index of one entry; None if a value is none."""
    if not (value.random and value.computed_by(SUBSCRIPT)) or value.shape:
        return None
    index = tuple(dict(value.options)["index"])
    whole = len(index) == len(value.inputs[0].shape)
    return index if whole and all(isinstance(one, int) for one in index) else None


class _Entries:
    """The entries of values, each made once; draws in `whole` are not taken apart."""

    def __init__(self, whole: set[int]) -> None:
        self._whole = whole
        self._made: dict[tuple[int, _Index], Value] = {}
        self.drawn: list[Value] = []
        self.apart: set[int] = set()

    def at(self, value: Value, index: _Index, steps: int = 0) -> Value:
        """The entry of a value at an index of a shape that its own is broadcast to."""
        own = index[len(index) - len(value.shape) :]
        own = tuple(
            place % length if length > 1 else 0
            for place, length in zip(own, value.shape, strict=True)
        )
        key = id(value), own
        if key not in self._made:
            self._made[key] = self._entry(value, own, steps)
        return self._made[key]

    def _entry(self, value: Value, index: _Index, steps: int) -> Value:
        if not value.shape:
            return value
        if value.constant is not None:
            return constant_beside(value, value.constant[index])
        if _is_apart(value) and id(value) not in self._whole:
            inputs = tuple(self.at(one, index, steps + 1) for one in value.inputs)
            place = f"[{', '.join(map(str, index))}]"
            own = Sources([f"{name}{place}" for name in own_names(value)])
            sources, name = own | joined_sources(inputs), f"{value.name}{place}"
            self.apart.add(id(value))
            self.drawn.append(
                dataclasses.replace(value, inputs=inputs, shape=(), name=name, sources=sources)
            )
            return self.drawn[-1]
        if steps < MOST_STEPS and value.kind == Kind.COMPUTED and value.call is None:
            if value.function.by_element and not any(one.postponed for one in value.inputs):
                inputs = tuple(self.at(one, index, steps + 1) for one in value.inputs)
                return dataclasses.replace(made_of(value, inputs), shape=())
            if value.function is ARRAY:
                return self.at(value.inputs[index[0]], index[1:], steps + 1)
        return Value(
            kind=Kind.COMPUTED,
            operation=SUBSCRIPT.name,
            shape=(),
            at=value.at,
            inputs=(value,),
            options=(("index", index),),
            random=value.random,
            truth=value.truth,
            sources=value.sources,
        )


def _is_apart(value: Value) -> bool:
    """Whether a value is an array of draws that are independent given what is random below them."""
    law = value.law
    if value.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return False
    return not any(one.axes for one in law.parameters)
