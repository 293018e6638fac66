"""One number in place of elements that are looked at by one rank.

Where nothing looks at independent draws of one continuous law but `max(x)`, `sort(x)[k]` or the
like, one number is drawn in their place, from the law of the element of that rank (`ranked_law`).
Its moments, chances and quantiles are then known as those of any draw.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from dropcheck.analysis.fewer_draws.exchanges import exchanged, takers_of
from dropcheck.language.graph import Kind, Value, kernel_of
from dropcheck.vocabulary.function import Array, axes_of
from dropcheck.vocabulary.laws.ranked_law import can_be_ranked, ranked

# Elements of an array that is looked at by ranks.
MOST_ELEMENTS = 2**18


def with_ranks(
    values: Sequence[Value], operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """What stands for each value with one element drawn by its rank; None: there is no such."""
    if not any(one.kind == Kind.COMPUTED and one.function.by_rank for one in values):
        return None
    takers = takers_of(values, operands)
    looked_at = {id(below): one for one in values for below in one.inputs}
    stands = dict[int, Value]()
    for value in values:
        found = _element(value, takers, looked_at) if _is_sample(value) else None
        if found is not None:
            stands[id(found[0])] = found[1]
    return exchanged(values, stands) if stands else None


def _is_sample(value: Value) -> bool:
    """Whether a value is of independent draws from one continuous law with fixed arguments."""
    if value.kind != Kind.DRAW or not value.shape or value.law is None:
        return False
    numbers = [one.known for one in value.inputs]
    known = tuple(one for one in numbers if isinstance(one, float))
    return len(known) == len(numbers) and can_be_ranked(value.law, known)


def _element(
    draw: Value, takers: dict[int, int], looked_at: dict[int, Value]
) -> tuple[Value, Value] | None:
    """What picks one rank of each row of a draw, if nothing else looks at it, and a draw of that.

    It is computed of the ranks, and of the numbers of the rows, as it is of the draw.
    """
    value, ranks, rows, count = draw, np.zeros(0), np.zeros(0), 0
    while takers[id(value)] == 1 and id(value) in looked_at:
        value = looked_at[id(value)]
        if value.kind != Kind.COMPUTED or not (value.function.by_rank or value.function.rearranges):
            return None
        if value.function.by_rank:
            if count or not 1 < np.prod(draw.shape) <= MOST_ELEMENTS or value.inputs[0] is not draw:
                return None
            axes = axes_of(np.empty((*draw.shape, 1)), dict(value.options).get("axis"))
            ranks, rows, count = _in_order(draw.shape, axes)
        elif not count:
            return None
        kernel = kernel_of(value)
        ranks, rows = kernel(ranks), kernel(rows)
        rank = float(ranks.flat[0]) if ranks.size else 0.5
        if rank == round(rank) and (ranks == rank).all() and np.unique(rows).size == rows.size:
            assert draw.law is not None
            law = ranked(draw.law, round(rank), count)
            return value, dataclasses.replace(draw, shape=value.shape, law=law)
    return None


def _in_order(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Array, Array, int]:
    """Numbers that rise along some axes, and numbers of what lies at the others."""
    lengths = [shape[at] for at in axes]
    others = [at for at in range(len(shape)) if at not in axes]
    count = int(np.prod(lengths))
    places = np.arange(count, dtype=float).reshape(*lengths, *[1] * len(others), 1)
    numbers = np.arange(np.prod(shape) / count).reshape(
        *[1] * len(lengths), *(shape[at] for at in others), 1
    )
    back = [*np.argsort([*axes, *others]), len(shape)]
    ranks, rows = (np.broadcast_to(one.transpose(back), (*shape, 1)) for one in (places, numbers))
    return ranks, rows, count
