"""Replace an array of draws by a draw for each row, if only single rows are used: `z[t]` in loops.

Rows of independent elements are independent. As draws with names of their own this is known
everywhere: sums of rows, and states of loops that use one row after the other, get the bounds for
independent draws.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from dropcheck.analysis.fewer_draws.exchanges import exchanged, own_names
from dropcheck.language.drawn_from import Sources
from dropcheck.language.graph import Kind, Value, constant_beside, joined_sources
from dropcheck.vocabulary.functions.arrays import SUBSCRIPT

# A draw with fewer rows is left as it is: bounds for few dependent parts are good enough.
FEWEST_ROWS = 8

_TakenRow = tuple[int, tuple[object, ...]]
"""The index of a row, and the indices of what is taken from the row."""


def with_rows(
    values: Sequence[Value], operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements with rows as draws of their own; None if there are no such draws."""
    taken: dict[int, list[tuple[Value, _TakenRow]]] = {
        id(one): [] for one in values if _has_rows(one)
    }
    for one in operands:
        taken.pop(id(one), None)
    for value in values:
        for below in value.inputs:
            if id(below) not in taken:
                continue
            row = _row(value)
            if row is None:
                taken.pop(id(below))
            else:
                taken[id(below)].append((value, row))
    stands: dict[int, Value] = {}
    for uses in taken.values():
        rows: dict[int, Value] = {}
        for use, (at, others) in uses:
            if at not in rows:
                rows[at] = _drawn(use.inputs[0], at)
            stands[id(use)] = _within(use, rows[at], others) if others else rows[at]
    return exchanged(values, stands) if stands else None


def _has_rows(value: Value) -> bool:
    """Whether a value is a draw with many rows that are independent given the arguments."""
    law = value.law
    if value.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return False
    if not value.shape or value.shape[0] < FEWEST_ROWS or len(own_names(value)) != 1:
        return False
    if any(one.axes for one in law.parameters):
        return False
    return all(one.constant is not None or not one.shape for one in value.inputs)


def _row(value: Value) -> _TakenRow | None:
    """The row that a value is or lies in; None if it is no row of an array."""
    if not value.computed_by(SUBSCRIPT):
        return None
    first, *others = dict(value.options)["index"]
    whole = isinstance(first, int) and not isinstance(first, bool)
    return (first % value.inputs[0].shape[0], tuple(others)) if whole else None


def _drawn(draw: Value, at: int) -> Value:
    """One row of a draw, as a draw of its own."""
    rank = len(draw.shape)
    inputs = tuple(
        constant_beside(one, one.constant[at % one.shape[0]]) if len(one.shape) == rank else one
        for one in draw.inputs
    )
    (name,) = own_names(draw)
    own = f"row {at} of {name}"  # the name x[0] is taken: the first step of a loop draws it
    return dataclasses.replace(
        draw,
        shape=draw.shape[1:],
        inputs=inputs,
        name=own,
        sources=Sources([own]) | joined_sources(inputs),
    )


def _within(use: Value, drawn: Value, others: tuple[object, ...]) -> Value:
    return dataclasses.replace(
        use,
        inputs=(drawn,),
        options=(("index", others),),
        sources=drawn.sources,
    )
