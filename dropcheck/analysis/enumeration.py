"""All joint outcomes of discrete draws, if there are few.

Every function of the draws then has an exact expectation: the graph is computed on a table of the
outcomes in place of draws, and the results are summed with the probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dropcheck.analysis.rounding import TURNS, computed_again, may_turn
from dropcheck.array_types import Floats
from dropcheck.language.graph import Kind, Value, computed_from, number, ordered
from dropcheck.vocabulary.domains import argument_problem
from dropcheck.vocabulary.function import Array, KernelError

MOST_NUMBERS = 2_000_000  # the most numbers of all values in all outcomes
MOST_VALUES = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """All outcomes: their probabilities, [outcomes], and the values by id, with outcomes last."""

    probabilities: Floats
    held: dict[int, Array]

    def values(self, value: Value) -> Floats:
        """A quantity in each outcome."""
        values: Floats = number(self._array(value))
        return values

    def again(self, roots: Sequence[Value]) -> list[Outcomes]:
        """The same outcomes with results moved as rounding may move them; none if nothing jumps."""
        values = ordered(roots)
        if not may_turn(values):
            return []
        draws = len(self.probabilities)
        return [
            Outcomes(self.probabilities, computed_again(values, self._array, seed, draws))
            for seed in range(TURNS)
        ]

    def _array(self, value: Value) -> Array:
        array: Array = self.held[id(value)] if value.random else value.constant
        return array


def outcomes_of(roots: Sequence[Value], most: int) -> Outcomes | None:
    """All outcomes of the draws below some values; None if there are more, or not known."""
    values = ordered(roots)
    if len(values) > MOST_VALUES or not values or not _may_be_few(values, most):
        return None
    table = Outcomes(np.ones(1), {})
    with np.errstate(all="ignore"):
        for value in values:
            drawn = value.kind == Kind.DRAW
            longer = _drawn(table, value, most) if drawn else _computed(table, value)
            if longer is None:
                return None
            table = longer
    return table


def _may_be_few(values: Sequence[Value], most: int) -> bool:
    """Whether there may be few outcomes, by a quick test."""
    elements = 0
    for value in values:
        if value.kind != Kind.DRAW:
            continue
        if value.law is None or not value.law.discrete or value.law.own_axes is not None:
            return False
        # each element of a draw has at least two values
        elements += math.prod(value.shape)
    return elements <= math.log2(most)


def _computed(table: Outcomes, value: Value) -> Outcomes | None:
    size = math.prod(value.shape) * len(table.probabilities)
    if size > MOST_NUMBERS:
        return None
    try:
        table.held[id(value)] = computed_from(value, table.held)
    except KernelError:
        return None
    return table


def _drawn(table: Outcomes, value: Value, most: int) -> Outcomes | None:
    """The table with a draw added: an outcome for each value of each of its elements."""
    law, elements = value.law, math.prod(value.shape)
    if law is None:
        return None
    own: list[Array] = []
    for element in range(elements):
        # the law's arguments for this element, in each outcome so far
        arguments = [_argument(table, one, value, element) for one in value.inputs]
        if any(one is None for one in arguments):
            return None
        columns = [one for one in arguments if one is not None]
        if any(one.random for one in value.inputs) and argument_problem(law.parameters, columns):
            return None  # the law does not take them in some outcome
        rows = np.concatenate(columns) if columns else np.zeros((0, len(table.probabilities)))
        known, places = np.unique(rows, axis=1, return_inverse=True)
        points = []
        for at in range(known.shape[1]):
            given: list[object] = []
            first = 0
            for one, parameter in zip(columns, law.parameters, strict=True):
                part = known[first : first + len(one), at]
                given.append(tuple(part.tolist()) if parameter.axes else float(part[0]))
                first += len(one)
            found = law.points(*given)
            if found is None or any(found[2]):
                return None
            points.append(found)
        counts = np.array([len(one[0]) for one in points])[places.ravel()]
        total = int(counts.sum())
        numbers = sum(math.prod(array.shape[:-1]) for array in table.held.values())
        if total > most or total * max(1, numbers) > MOST_NUMBERS:
            return None
        origin = np.repeat(np.arange(len(counts)), counts)
        drawn = np.concatenate([points[place][0] for place in places.ravel()])
        chances = np.concatenate([points[place][1] for place in places.ravel()])
        held = {
            key: array[..., origin] if array.shape[-1] > 1 else array
            for key, array in table.held.items()
        }
        own = [array[origin] for array in own] + [drawn]
        table = Outcomes(table.probabilities[origin] * chances, held)
    array = np.stack(own).reshape(*value.shape, -1)
    table.held[id(value)] = array != 0 if value.binary else array
    return table


def _argument(table: Outcomes, argument: Value, drawn: Value, element: int) -> Array | None:
    """One argument of one element of a draw in each outcome: [numbers of the argument, outcomes].

    A list has several numbers, and must be fixed.
    """
    if drawn.law is None:
        return None
    parameter = drawn.law.parameters[drawn.inputs.index(argument)]
    rows = len(table.probabilities)
    array = number(table.held[id(argument)] if argument.random else argument.constant)
    if parameter.axes:
        if argument.random or len(argument.shape) != parameter.axes or parameter.axes > 1:
            return None
        return np.broadcast_to(array, (array.shape[0], rows))
    whole = np.broadcast_to(array, (*drawn.shape, array.shape[-1]))
    one = whole.reshape(-1, array.shape[-1])[element]
    return np.broadcast_to(one, rows)[np.newaxis]
