"""A formula over averages, laid out once: it is asked for at many points, look after look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dropcheck.language.folding import kernel_of, number
from dropcheck.language.graph import Kind, Value, in_order
from dropcheck.vocabulary.function import Array, Kernel
from dropcheck.vocabulary.functions.elementwise import POWER

Floats = npt.NDArray[np.float64]
OperatorValue = Callable[[Floats, Floats], Floats]
"""The value of an operator on the law, from averages [terms, points] and centres: [points]."""


@dataclass(frozen=True, slots=True)
class Step:
    """One value from those before it: the places of its inputs, and what is made of them.

    `pole` is the input whose zeros are poles, and for a power the exponent that makes them so.
    """

    place: int
    compute: Kernel
    inputs: tuple[int, ...]
    pole: int | None = None
    exponent: int | None = None


@dataclass(frozen=True, slots=True)
class Formula:
    """A value with all that it is made of, inputs before what is made from them.

    `known` has what does not hang on the averages in its place, and None elsewhere; `operators`
    are those on the law.
    """

    known: tuple[Array | None, ...]
    operators: tuple[tuple[int, OperatorValue], ...]
    steps: tuple[Step, ...]
    places: Mapping[int, int]  # by id of the value

    def values(self, means: Floats, centres: Floats) -> list[Array]:
        """Every value at averages of shape [terms, points], by place; the last is the formula's."""
        held: list[Array] = list(self.known)  # type: ignore[arg-type]  # filled in below
        for place, operator in self.operators:
            held[place] = operator(means, centres)
        for step in self.steps:
            found = step.compute(*[held[place] for place in step.inputs])
            if step.pole is not None and _crosses_a_pole(step, held):
                found = np.full_like(found, np.nan, dtype=np.float64)
            held[step.place] = number(found)
        return held


def laid_out(value: Value, operators: Mapping[int, OperatorValue]) -> Formula:
    """A value as a formula.

    Args:
        value: what is asked for.
        operators: the operators on the law that are below it, by id of their values.
    """
    values = in_order([value], _below)
    places = {id(found): place for place, found in enumerate(values)}
    made = [found for found in values if found.estimated and found.kind != Kind.OPERATOR]
    return Formula(
        tuple(None if found.estimated else number(found.constant) for found in values),
        tuple((places[id(f)], operators[id(f)]) for f in values if f.kind == Kind.OPERATOR),
        tuple(_step(found, places) for found in made),
        places,
    )


def _below(value: Value) -> tuple[Value, ...]:
    """What a value is made of, but for operators and for what is known."""
    return value.inputs if value.estimated and value.kind != Kind.OPERATOR else ()


def _step(value: Value, places: Mapping[int, int]) -> Step:
    compute = kernel_of(value)
    inputs = tuple(places[id(below)] for below in value.inputs)
    place = places[id(value)]
    if value.function.divides and value.inputs[1].estimated:
        return Step(place, compute, inputs, inputs[1])
    if value.function is POWER and _may_be_negative(value.inputs[1]):
        return Step(place, compute, inputs, *inputs)
    return Step(place, compute, inputs)


def _may_be_negative(exponent: Value) -> bool:
    return exponent.estimated or bool(np.min(exponent.constant) < 0)


def _crosses_a_pole(step: Step, held: list[Array]) -> bool:
    """Whether the points at which a quotient is asked for lie on both sides of its pole.

    Its values there may all be finite and look harmless; between them it is unbounded.
    """
    if step.pole is None:
        return False
    if step.exponent is not None and not min(held[step.exponent].ravel().tolist()) < 0:
        return False
    below = held[step.pole]
    return below.shape[-1] > 1 and bool(below.min() <= 0 <= below.max())
