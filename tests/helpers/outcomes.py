"""All outcomes of a small discrete model: every quantity in each of them, with its probability."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dropcheck.language.graph import Kind, Value, kernel_of, number, ordered
from dropcheck.vocabulary.function import Array, KernelError
from dropcheck.vocabulary.law import Values

MOST_OUTCOMES = 30_000


@dataclass(frozen=True)
class Table:
    """The outcomes of some chance: it, and the values by the id of a quantity, outcomes last."""

    chances: Array
    values: dict[int, Array]

    def of(self, value: Value) -> Array:
        """Elements and outcomes: shape [elements, outcomes]."""
        array = number(self.values[id(value)])
        full = np.broadcast_to(array, (*value.shape, self.chances.size))
        return np.asarray(full).reshape(-1, self.chances.size)


def outcomes_of(values: Sequence[Value]) -> Table | None:
    """All outcomes of the draws below some values; None where they are too many, or refused."""
    found: dict[int, Array] = {}
    chances = np.ones(1)
    for value in ordered(values):
        for one in value.inputs:
            if not one.random:
                found[id(one)] = one.constant
        inputs = [found[id(one)] for one in value.inputs]
        if value.kind == Kind.DRAW:
            points = _points(value)
            elements = math.prod(value.shape)
            rows = len(points) ** elements
            if rows * chances.size > MOST_OUTCOMES:
                return None
            table = np.array(list(itertools.product(points, repeat=elements))).T
            drawn = np.tile(table.reshape(*value.shape, rows), chances.size)
            found = {key: _stretched(array, rows) for key, array in found.items()}
            inputs = [found[id(one)] for one in value.inputs]
            assert value.law is not None
            with np.errstate(all="ignore"):
                density = value.law.density([number(one) for one in inputs], drawn)
            lines = np.broadcast_to(density, drawn.shape).reshape(elements, -1)
            chances = np.repeat(chances, rows) * lines.prod(axis=0)
            found[id(value)] = drawn
            live = chances > 0
            found = {
                key: one if one.shape[-1] == 1 else one[..., live] for key, one in found.items()
            }
            chances = chances[live]
        else:
            plain = inputs if value.function.takes_truth else [number(one) for one in inputs]
            with np.errstate(all="ignore"):
                try:
                    found[id(value)] = kernel_of(value)(*plain)
                except KernelError:
                    return None
    return Table(chances, found)


def _points(value: Value) -> list[float]:
    """The values that a draw may take, whatever its arguments are."""
    assert value.law is not None
    if any(one.random for one in value.inputs):
        return [0.0, 1.0, 2.0]  # binomial(2, …) and bernoulli(…) alone are drawn so
    if value.inputs and value.inputs[0].shape:  # of a list of values, or of probabilities
        listed = value.law.values is Values.LISTED
        array = value.inputs[0].constant
        return sorted(set(array.ravel().tolist())) if listed else [*map(float, range(array.size))]
    low, high = value.law.support(*[one.known for one in value.inputs])
    return [*map(float, np.arange(low, high + 1))]


def _stretched(array: Array, rows: int) -> Array:
    return array if array.shape[-1] == 1 else np.repeat(array, rows, axis=-1)
