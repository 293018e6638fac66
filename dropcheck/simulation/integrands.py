"""Integrands in one span of draws: their values in each draw, and their sums in each block."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.known.enclosure import Enclosure, applied, enclosed
from dropcheck.language.graph import Kind, Value, in_order, kernel_of, number, operators
from dropcheck.vocabulary.function import Array, Function, Kernel
from dropcheck.vocabulary.functions import elementwise
from dropcheck.vocabulary.functions.elementwise import POWER
from dropcheck.vocabulary.functions.reductions import NORM
from dropcheck.vocabulary.operators import Averages, Operator

# Functions that make the size of their result of the sizes of their arguments.
_OF_SIZES = ("joins", "multiplies", "selects", "sums")
_GROWING = (elementwise.ADD, elementwise.ABS, elementwise.SQRT, NORM)


@dataclass(frozen=True, slots=True)
class Term:
    """One integrand: given · Π (value − centre)^power, by registers; without factors, it is 1."""

    factors: tuple[tuple[int, int], ...]
    given: int | None
    every: bool = False  # 1 in draws in which the factor fails for some element


def filled(array: Array | None) -> Array:
    """The array in a register, which an earlier step has filled."""
    assert array is not None
    return array


def counts(truths: Truths, blocks: int) -> Floats:
    """How many truths hold in each block, counting all elements: [blocks].

    >>> counts(np.arange(48) % 3 == 0, 2).tolist()
    [8.0, 8.0]
    """
    by_draw = truths.transpose(-1, *range(truths.ndim - 1))
    if truths.ndim > 1 and by_draw.flags.c_contiguous:  # blocks are contiguous
        truths = by_draw.reshape(-1)
    truths = np.ascontiguousarray(truths)
    # a truth is a byte that is 0 or 1: count the bits of eight bytes at once
    whole = truths.shape[-1] // blocks % 8 == 0
    held = np.bitwise_count(truths.view(np.uint64)) if whole else truths
    rows = held.reshape(-1, blocks, held.shape[-1] // blocks)
    return np.asarray(rows.sum(axis=(0, -1), dtype=np.float64))


def middle(array: Array) -> float:
    """A number near the middle of the finite values, or 0 if that is near enough.

    Centres are for averages far from 0, where powers would cancel. Within a few deviations of 0, at
    most two of sixteen digits are lost, and nothing needs to be subtracted from each draw.

    >>> middle(np.array([99.0, 100.0, 101.0])), middle(np.array([0.0, 2.0, 4.0]))
    (100.0, 0.0)
    """
    here = np.isfinite(array)
    finite = array.ravel() if here.all() else array[here]
    if not finite.size:
        return 0.0
    median = float(np.median(finite))
    return 0.0 if abs(median) <= 4 * float(np.median(np.abs(finite - median))) else median


@dataclass(frozen=True, slots=True, eq=False)
class SpanRegisters:
    """The registers after the draws of one span, which is divided into equal blocks.

    Powers are taken about `centres`, one number for each register.
    """

    registers: Sequence[Array | None]
    centres: Floats
    draws: int
    blocks: int = 1

    @property
    def block_draws(self) -> int:
        """How many draws a block has."""
        return self.draws // self.blocks

    def array(self, register: int) -> Array:
        """The array in a register."""
        return filled(self.registers[register])


class Moments:
    """Integrands in one span; each power of each quantity is computed once."""

    def __init__(self, span: SpanRegisters) -> None:
        self._span = span
        self._powers: dict[tuple[int, int, int | None], Array] = {}
        self._conditions: dict[int, Array] = {}

    def sums(self, term: Term) -> Floats:
        """The integrand's sum in each block: [blocks]."""
        truths = None if term.every else self._truths(term)
        if truths is not None:
            return counts(truths, self._span.blocks) * (self._span.draws / truths.size)
        if term.given is None and not term.every:
            product_sums = self._sums_of_product(*self._halves(term.factors))
            if product_sums is not None:
                return product_sums
        total: Floats = self.a_draw(term).reshape(self._span.blocks, -1).sum(axis=1)
        return total

    def _truths(self, term: Term) -> Array | None:
        """The integrand as an array of truths; None if it is not a product of truths."""
        if any(self._span.centres[register] for register, _ in term.factors):
            return None
        given = () if term.given is None else (term.given,)
        registers = {*given, *(register for register, _ in term.factors)}
        first, *others = (self._span.array(register) for register in registers)
        arrays = (first, *others)
        if any(one.dtype != np.bool_ or one.shape != first.shape for one in arrays):
            return None
        if first.shape[-1] != self._span.draws:
            return None
        return np.logical_and.reduce(arrays) if others else first

    def _halves(self, factors: tuple[tuple[int, int], ...]) -> list[Array]:
        """The integrand as one array, or as a product of two; empty if it has more factors."""
        match factors:
            case [(register, 1)]:
                return [self._power(register, 1, None)]
            case [(register, power)] if power <= 4:
                half = power // 2
                return [self._power(register, each, None) for each in (power - half, half)]
            case [(register, 1), (other, 1)]:
                return [self._power(register, 1, None), self._power(other, 1, None)]
        return []

    def _sums_of_product(self, *halves: Array) -> Floats | None:
        """Sums of products, without an array of the products; None if the shapes differ."""
        if not halves or halves[0].shape[-1] != self._span.draws:
            return None
        if any(half.shape != halves[0].shape for half in halves):
            return None
        elements = halves[0].size // self._span.draws
        by_draw = [half.transpose(-1, *range(half.ndim - 1)) for half in halves]
        if elements > 1 and all(half.flags.c_contiguous for half in by_draw):
            # draws come first in memory, as code returns them: a row is a whole block
            rows = [half.reshape(1, self._span.blocks, -1) for half in by_draw]
        else:  # a row is one element's draws in a block, or all its draws if there is one block
            length = self._span.block_draws if self._span.blocks > 1 else halves[0].size
            rows = [half.reshape(-1, self._span.blocks, length) for half in halves]
        by_row: Floats = np.vecdot(*rows) if len(rows) > 1 else np.add.reduce(rows[0], axis=-1)
        total: Floats = by_row[0] if len(by_row) == 1 else np.add.reduce(by_row, axis=0)
        return total if elements == 1 else total / elements

    def a_draw(self, term: Term) -> Array:
        """The integrand's mean over the elements of each draw: [draws]."""
        if term.every:
            return np.broadcast_to(self._every(term), (self._span.draws,))
        product: Array | None = None
        for register, power in term.factors:
            factor = self._power(register, power, term.given)
            product = factor if product is None else product * factor
        if term.given is not None:
            given = self._given(term.given)
            if product is None:
                product = given
            elif product.ndim < given.ndim:  # the condition has elements, and the quantity has none
                product = product * given
        if product is None:
            return np.ones(self._span.draws)
        if product.ndim > 1:
            product = product.reshape(-1, product.shape[-1]).mean(axis=0)
        if product.shape == (self._span.draws,):
            return product
        return np.broadcast_to(product, (self._span.draws,))

    def _every(self, term: Term) -> Array:
        """1 where the event fails for some element for which the condition holds, [draws]."""
        (register, _), *_ = term.factors
        event = self._span.array(register)
        if event.dtype == np.bool_ and term.given is None:
            each: Array = np.logical_and.reduce(event.reshape(-1, event.shape[-1]), axis=0)
            return number(~each)
        holds = event if event.dtype == np.bool_ else np.where(np.isnan(event), event, event != 0)
        if term.given is not None:
            given = self._given(term.given)
            holds = np.where(given == 0, 1.0, number(holds) + 0 * given)
        flat = np.atleast_2d(number(holds).reshape(-1, holds.shape[-1]))
        failed: Array = 1.0 - flat.min(axis=0)
        return failed

    def _given(self, register: int) -> Array:
        """1 where a condition holds, 0 where it fails, and NaN where it is NaN."""
        condition = self._conditions.get(register)
        if condition is None:
            given = self._span.array(register)
            condition = number(given != 0)
            lacking = np.isnan(given)
            if lacking.any():
                condition[lacking] = np.nan
            self._conditions[register] = condition
        return condition

    def _power(self, register: int, power: int, given: int | None) -> Array:
        key = (register, power, given)
        raised = self._powers.get(key)
        if raised is None:
            if power == 1:
                raised = number(self._span.array(register))
                if self._span.centres[register]:
                    raised = raised - self._span.centres[register]
                if given is not None:
                    condition = self._given(given)
                    if np.isfinite(raised).all():  # a product takes a fraction of the time
                        raised = raised * condition
                        raised += 0.0  # turns -0.0 into 0.0, as `where` below gives
                    else:
                        raised = np.where(condition == 0, 0.0, raised + 0 * condition)
            else:
                raised = self._power(register, power - 1, given) * self._power(register, 1, given)
            self._powers[key] = raised
        return raised

    def undefined(self, terms: Sequence[Term]) -> Truths:
        """Which draws have some integrand that is NaN or infinite, where its condition holds."""
        bad = np.zeros(self._span.draws, dtype=np.bool_)
        for term in terms:
            bad |= ~np.isfinite(self.a_draw(term))
        return bad


# ---- functional ----------------------------------------------------------------------------------
#
# The functional of a statement: how the averages of its integrands combine.
#
# What an operator on the law computes from averages is in its entry in the vocabulary.


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
        self, averages: Enclosure, centres: Floats, wanted: Iterable[int] | None = None
    ) -> dict[int, Enclosure]:
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

    def sizes(self, means: Floats, centres: Floats, unbounded: Container[int] = ()) -> list[float]:
        """The size of each operand: operators by their sizes, and every sign plus.

        Denominators and functions keep their values. Functions that preserve magnitudes (a root,
        a maximum) are applied to the sizes. Sizes made from `unbounded` columns are infinite.
        """
        means = np.where([column in unbounded for column in range(len(means))], np.inf, means)
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
        elif function.does in _OF_SIZES or function in _GROWING or function.rearranges:
            return kernel_of(value)(*map(size, range(len(inputs))))
        return own[id(value)]


def means_of(sums: Floats, draws: int) -> Floats:
    """Averages over all blocks: [terms]."""
    means: Floats = np.add.reduce(sums, axis=0) / draws
    return means


OperatorValue = Callable[[Floats, Floats], Floats]
"""The value of an operator on the law, from averages [terms, points] and centres: [points]."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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

    def enclosed(self, averages: Enclosure, centres: Floats) -> Enclosure:
        """The result for averages [terms] that are known up to half-widths."""
        arrays: list[Any] = list(self.known)
        for place, operator in self.operators:
            arrays[place] = operator(averages, centres)  # type: ignore[arg-type]  # as numpy has it
        for step in self.steps:
            inputs = [arrays[place] for place in step.inputs]
            arrays[step.place] = applied(step.function, step.compute, inputs)
        return enclosed(arrays[-1], averages)


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
    if value.function.does == "divides" and value.inputs[1].estimated:
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
