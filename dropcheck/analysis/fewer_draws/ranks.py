"""Replace independent draws by one number, if only the element of one rank is used.

If `max(x)`, `sort(x)[k]` or the like is the only use of independent draws of one continuous law,
one number is drawn from the law of that order statistic (`ranked_law`). Its moments, probabilities
and quantiles are then known, as for any draw.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from dropcheck.analysis.fewer_draws.exchanges import exchanged, takers_of
from dropcheck.language.graph import Kind, Value, kernel_of
from dropcheck.vocabulary.function import Array, axes_of
from dropcheck.vocabulary.laws.ranked_law import can_be_ranked, ranked

# The most elements of an array that is replaced.
MOST_ELEMENTS = 2**18


def with_ranks(
    values: Sequence[Value], operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements with one element drawn by its rank; None if there is no such array."""
    if not any(one.kind == Kind.COMPUTED and one.function.by_rank for one in values):
        return None
    takers = takers_of(values, operands)
    taker_of = {id(below): one for one in values for below in one.inputs}
    stands = dict[int, Value]()
    for value in values:
        pair = _element(value, takers, taker_of) if _is_sample(value) else None
        if pair is not None:
            stands[id(pair[0])] = pair[1]
    return exchanged(values, stands) if stands else None


def _is_sample(value: Value) -> bool:
    """Whether a value is an array of independent draws from one law with known order statistics."""
    if value.kind != Kind.DRAW or not value.shape or value.law is None:
        return False
    numbers = [one.known for one in value.inputs]
    known = tuple(one for one in numbers if isinstance(one, float))
    return len(known) == len(numbers) and can_be_ranked(value.law, known)


def _element(
    draw: Value, takers: dict[int, int], taker_of: dict[int, Value]
) -> tuple[Value, Value] | None:
    """The value that takes one rank of each line of a draw, and the draw that replaces it.

    None if the draw has other uses. To find the rank and the lines, the same functions are applied
    to arrays of ranks and of line numbers.
    """
    value, ranks, rows, count = draw, np.zeros(0), np.zeros(0), 0
    while takers[id(value)] == 1 and id(value) in taker_of:
        value = taker_of[id(value)]
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
    """Ranks 0, 1, … along some axes, the number of each element's line, and the lines' length."""
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
