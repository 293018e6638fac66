"""The functional of a statement: how the averages of its integrands combine.

What an operator on the law computes from averages is in its entry in the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from itertools import chain
from typing import Any

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.language.graph import Kind, Value, in_order, kernel_of, number, operators
from dropcheck.records import record
from dropcheck.vocabulary.enclosures import applied
from dropcheck.vocabulary.enclosures.affine import Affine, enclosed
from dropcheck.vocabulary.function import Array, Function, Kernel
from dropcheck.vocabulary.functions import elementwise
from dropcheck.vocabulary.functions.elementwise import POWER
from dropcheck.vocabulary.operators import Averages, Operator


@record
class Leaf:
    """One operator: the columns of its averages, and the registers of its operands.

    `columns` maps the name of an average to its column, and "g" to that of the condition.
    """

    operator: Operator
    columns: Mapping[str, int]
    registers: tuple[int, ...]

    @property
    def looked_at(self) -> tuple[int, ...]:
        """The columns that its value depends on; others are only for its size."""
        names = ("g", *self.operator.looked_at)
        return tuple(column for name, column in self.columns.items() if name in names)

    def magnitudes(self, means: Floats, centres: Floats) -> dict[int, float]:
        """The magnitude of what each column averages, from root mean squares."""

        def root(name: str, register: int) -> float:
            square = self.columns.get(name * 2)
            own = abs(means[self.columns[name]]) if square is None else math.sqrt(means[square])
            return float(own) + abs(float(centres[register]))

        sizes = {name: root(name, register) for name, register in self._registers.items()}
        return {
            column: math.prod(sizes[letter] for letter in name)
            for name, column in self.columns.items()
            if name != "g"
        }

    @property
    def _registers(self) -> dict[str, int]:
        return dict(zip("uv", self.registers, strict=False))

    def _averages(self, means: Floats, centres: Floats) -> Averages:
        def average(name: str) -> Floats:
            own: Floats = means[self.columns[name]]
            return own / means[self.columns["g"]] if "g" in self.columns else own

        about = {name: centres[register] for name, register in self._registers.items()}
        return Averages(average, about)

    def value(self, means: Floats, centres: Floats) -> Floats:
        """The operator's value at averages of shape [terms, points]: [points]."""
        return self.operator.value(self._averages(means, centres))

    def size(self, means: Floats, centres: Floats) -> Floats:
        """The size of what the operator measures, if the program has its averages: [points]."""
        return self.operator.size(self._averages(means, centres))


@record
class Functional:
    """The operands of a statement as functions of the averages."""

    operands: tuple[Value, ...]
    leaves: Mapping[int, Leaf]  # by id of the operator's value
    formulas: tuple[Formula, ...] = field(init=False, repr=False)  # one for each operand

    def __post_init__(self) -> None:
        operators = {key: leaf.value for key, leaf in self.leaves.items()}
        formulas = tuple(laid_out(operand, operators) for operand in self.operands)
        object.__setattr__(self, "formulas", formulas)

    def evaluate(
        self, means: Floats, centres: Floats, wanted: Iterable[int] | None = None
    ) -> dict[int, Floats]:
        """The operands at averages of shape [terms, points], by position: each [points].

        If `wanted` is given, only those operands.
        """
        points = means.shape[1]
        evaluated: dict[int, Floats] = {}
        with np.errstate(all="ignore"):
            for place in range(len(self.operands)) if wanted is None else wanted:
                value = self.formulas[place].values(means, centres)[-1]
                if value.shape != (points,):
                    value = np.broadcast_to(value, (points,)).copy()
                evaluated[place] = np.asarray(value, dtype=np.float64)
        return evaluated

    def enclosed(
        self, averages: Affine, centres: Floats, wanted: Iterable[int] | None = None
    ) -> dict[int, Affine]:
        """The operands for averages [terms] that are known up to half-widths, by position."""
        with np.errstate(all="ignore"):
            places = range(len(self.operands)) if wanted is None else wanted
            return {place: self.formulas[place].enclosed(averages, centres) for place in places}

    def columns(self, operands: Iterable[int]) -> list[int]:
        """The columns that some operands depend on."""
        leaves = self._leaves(operands)
        return sorted({column for leaf in leaves for column in leaf.looked_at})

    def _leaves(self, operands: Iterable[int]) -> list[Leaf]:
        below = operators([self.operands[operand] for operand in operands])
        return [self.leaves[id(leaf)] for leaf in below]

    def at_averages(self, means: Floats, centres: Floats) -> tuple[list[float], float]:
        """Each operand at the averages [terms], and the largest magnitude in the computation.

        Rounding errors are relative to that magnitude.
        """
        column = means[:, np.newaxis]
        with np.errstate(all="ignore"):
            values = [formula.values(column, centres) for formula in self.formulas]
        magnitudes = [float(centres[leaf.registers[0]]) for leaf in self.leaves.values()]
        for array in chain.from_iterable(values):
            magnitudes += array.ravel().tolist()
        largest = max((abs(value) for value in magnitudes if math.isfinite(value)), default=0.0)
        return [float(sides[-1][..., 0]) for sides in values], largest

    def within_rounding(
        self, operands: Iterable[int], averages: Floats, centres: Floats, share: float
    ) -> bool:
        """Whether the averages that some operands depend on vary by rounding only.

        `averages` are those of each block, [blocks, terms]. A difference below `share` of the
        magnitude is rounding.
        """
        means = np.add.reduce(averages, axis=0) / len(averages)
        deviations = np.maximum.reduce(np.abs(averages - means), axis=0)
        leaves = self._leaves(operands)
        if any("g" in leaf.columns for leaf in leaves):
            return False
        return all(
            deviations[column] <= share * size
            for leaf in leaves
            for column, size in leaf.magnitudes(means, centres).items()
            if column in leaf.looked_at
        )

    def sizes(self, means: Floats, centres: Floats) -> list[float]:
        """The size of each operand: operators by their sizes, and every sign plus.

        Denominators and functions keep their values. Functions that preserve magnitudes (a root,
        a maximum) are applied to the sizes.
        """
        column = means.reshape(-1, 1)
        largest: list[float] = []
        with np.errstate(all="ignore"):
            for operand, formula in zip(self.operands, self.formulas, strict=True):
                values = formula.values(column, centres)
                own = {key: np.abs(values[place]) for key, place in formula.places.items()}
                largest.append(float(np.max(np.abs(self._size(operand, column, centres, own)))))
        return largest

    def _size(
        self, value: Value, means: Floats, centres: Floats, own: Mapping[int, Array]
    ) -> Array:
        """The size of a value in an operand; `own` has the magnitudes of all values, by id."""
        if value.kind == Kind.OPERATOR:
            return self.leaves[id(value)].size(means, centres)
        if not value.estimated:
            return own[id(value)]
        function, inputs = value.function, value.inputs

        def size(place: int) -> Array:
            return self._size(inputs[place], means, centres, own)

        if function is elementwise.SUBTRACT:
            return size(0) + size(1)
        if function is elementwise.NEGATIVE:
            return size(0)
        if function is elementwise.DIVIDE:
            return np.asarray(size(0) / own[id(inputs[1])])
        if function is elementwise.POWER:
            exponent = inputs[1]
            if not exponent.estimated and float(np.min(exponent.constant)) > 0:
                return np.asarray(size(0) ** exponent.constant)
        elif function.carries_size:
            return kernel_of(value)(*map(size, range(len(inputs))))
        return own[id(value)]


def means_of(sums: Floats, draws: int) -> Floats:
    """Averages over all blocks: [terms]."""
    means: Floats = np.add.reduce(sums, axis=0) / draws
    return means


OperatorValue = Callable[[Floats, Floats], Floats]
"""The value of an operator on the law, from averages [terms, points] and centres: [points]."""


@record
class FormulaStep:
    """One step of a formula: the positions of its inputs and of its result, and the function.

    `pole` is the input whose zeros are poles. For a power, they are poles if the `exponent` is
    negative.
    """

    place: int
    function: Function
    compute: Kernel
    inputs: tuple[int, ...]
    pole: int | None = None
    exponent: int | None = None


@record
class Formula:
    """A value with everything that it is computed from, inputs first.

    `known` has the values that do not depend on averages at their positions, and None at others;
    `operators` are the operators on the law.
    """

    known: tuple[Array | None, ...]
    operators: tuple[tuple[int, OperatorValue], ...]
    steps: tuple[FormulaStep, ...]
    places: Mapping[int, int]  # by id of the value

    def values(self, means: Floats, centres: Floats) -> list[Array]:
        """All values at averages of shape [terms, points], by position; the last is the result."""
        arrays: list[Array] = list(self.known)  # type: ignore[arg-type]  # filled in below
        for place, operator in self.operators:
            arrays[place] = operator(means, centres)
        for step in self.steps:
            computed = step.compute(*[arrays[place] for place in step.inputs])
            if step.pole is not None and _crosses_a_pole(step, arrays):
                computed = np.full_like(computed, np.nan, dtype=np.float64)
            arrays[step.place] = number(computed)
        return arrays

    def enclosed(self, averages: Affine, centres: Floats) -> Affine:
        """The result for averages [terms] that are known up to half-widths."""
        arrays: list[Any] = list(self.known)
        for place, operator in self.operators:
            arrays[place] = operator(averages, centres)  # type: ignore[arg-type]  # as numpy has it
        for step in self.steps:
            inputs = [arrays[place] for place in step.inputs]
            arrays[step.place] = applied(step.function, step.compute, inputs)
        return enclosed(arrays[-1], averages.box)


def laid_out(value: Value, operators: Mapping[int, OperatorValue]) -> Formula:
    """The formula of a value; `operators` are those on the law in it, by id of their values."""
    values = in_order([value], _below)
    places = {id(one): place for place, one in enumerate(values)}
    made = [one for one in values if one.estimated and one.kind != Kind.OPERATOR]
    return Formula(
        tuple(None if one.estimated else number(one.constant) for one in values),
        tuple((places[id(f)], operators[id(f)]) for f in values if f.kind == Kind.OPERATOR),
        tuple(_step(one, places) for one in made),
        places,
    )


def _below(value: Value) -> tuple[Value, ...]:
    """The inputs of a value that depend on averages; operators are not looked into."""
    return value.inputs if value.estimated and value.kind != Kind.OPERATOR else ()


def _step(value: Value, places: Mapping[int, int]) -> FormulaStep:
    inputs = tuple(places[id(below)] for below in value.inputs)
    step = FormulaStep(
        place=places[id(value)], function=value.function, compute=kernel_of(value), inputs=inputs
    )
    if value.function.divides and value.inputs[1].estimated:
        return replace(step, pole=inputs[1])
    if value.function is not POWER:
        return step
    power, (base, exponent) = value.inputs[1], inputs
    if power.estimated or bool(np.min(power.constant) < 0):
        return replace(step, pole=base, exponent=exponent)
    return step


def _crosses_a_pole(step: FormulaStep, arrays: list[Array]) -> bool:
    """Whether a quotient is evaluated at points on both sides of its pole.

    It may be finite at all of these points, but it is unbounded between them.
    """
    if step.pole is None:
        return False
    if step.exponent is not None and not min(arrays[step.exponent].ravel().tolist()) < 0:
        return False
    below = arrays[step.pole]
    return below.shape[-1] > 1 and bool(below.min() <= 0 <= below.max())
