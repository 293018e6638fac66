"""Integrands in one span of draws: their values in each draw, and their sums in each block."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.known.enclosure import Enclosure, applied, enclosed
from dropcheck.language.graph import Kind, Value, in_order, kernel_of, number, operators
from dropcheck.vocabulary.function import Array, Kernel
from dropcheck.vocabulary.functions import elementwise
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
class Moments:
    """Integrands in one span, which is divided into equal blocks, from its registers.

    Powers are taken about `centres`, one number for each register, and each is computed once.
    """

    registers: Sequence[Array | None]
    centres: Floats
    draws: int
    blocks: int = 1
    _powers: dict[tuple[int, int, int | None], Array] = field(default_factory=dict)
    _conditions: dict[int, Array] = field(default_factory=dict)

    def _array(self, register: int) -> Array:
        return filled(self.registers[register])

    def sums(self, term: Term) -> Floats:
        """The integrand's sum in each block: [blocks]."""
        truths = self._truths(term)
        if truths is not None:
            return counts(truths, self.blocks) * (self.draws / truths.size)
        if term.given is None:
            product_sums = self._sums_of_product(*self._halves(term.factors))
            if product_sums is not None:
                return product_sums
        total: Floats = self.a_draw(term).reshape(self.blocks, -1).sum(axis=1)
        return total

    def _truths(self, term: Term) -> Array | None:
        """The integrand as an array of truths; None if it is not a product of truths."""
        if any(self.centres[register] for register, _ in term.factors):
            return None
        given = () if term.given is None else (term.given,)
        registers = {*given, *(register for register, _ in term.factors)}
        first, *others = (self._array(register) for register in registers)
        arrays = (first, *others)
        if any(one.dtype != np.bool_ or one.shape != first.shape for one in arrays):
            return None
        if first.shape[-1] != self.draws:
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
        if not halves or halves[0].shape[-1] != self.draws:
            return None
        if any(half.shape != halves[0].shape for half in halves):
            return None
        elements = halves[0].size // self.draws
        by_draw = [half.transpose(-1, *range(half.ndim - 1)) for half in halves]
        if elements > 1 and all(half.flags.c_contiguous for half in by_draw):
            # draws come first in memory, as code returns them: a row is a whole block
            rows = [half.reshape(1, self.blocks, -1) for half in by_draw]
        else:  # a row is one element's draws in a block, or all its draws if there is one block
            length = self.draws // self.blocks if self.blocks > 1 else halves[0].size
            rows = [half.reshape(-1, self.blocks, length) for half in halves]
        by_row: Floats = np.vecdot(*rows) if len(rows) > 1 else np.add.reduce(rows[0], axis=-1)
        total: Floats = by_row[0] if len(by_row) == 1 else np.add.reduce(by_row, axis=0)
        return total if elements == 1 else total / elements

    def a_draw(self, term: Term) -> Array:
        """The integrand's mean over the elements of each draw: [draws]."""
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
            return np.ones(self.draws)
        if product.ndim > 1:
            product = product.reshape(-1, product.shape[-1]).mean(axis=0)
        if product.shape == (self.draws,):
            return product
        return np.broadcast_to(product, (self.draws,))

    def _given(self, register: int) -> Array:
        """1 where a condition holds, 0 where it fails, and NaN where it is NaN."""
        condition = self._conditions.get(register)
        if condition is None:
            given = self._array(register)
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
                raised = number(self._array(register))
                if self.centres[register]:
                    raised = raised - self.centres[register]
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
        bad = np.zeros(self.draws, dtype=np.bool_)
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


Computing = Callable[[Value, Kernel, list[Any]], Any]
"""Computes a value of a functional from its inputs, by its kernel."""


@dataclass(frozen=True, slots=True)
class Functional:
    """The operands of a statement as functions of the averages."""

    operands: tuple[Value, ...]
    leaves: Mapping[int, Leaf]  # by id of the operator's value
    # what each operand is computed from, inputs first, with its kernel; None if none is needed
    _steps: tuple[tuple[tuple[Value, Kernel | None], ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        orders = [in_order([operand], _below) for operand in self.operands]
        steps = [tuple((one, kernel_of(one) if _below(one) else None) for one in o) for o in orders]
        object.__setattr__(self, "_steps", tuple(steps))

    def values(
        self, place: int, means: Any, centres: Floats, compute: Computing | None = None
    ) -> dict[int, Any]:
        """All that an operand is computed from, by id; the operand itself is the last.

        Args:
            place: the operand.
            means: averages, [terms, points], or an enclosure of them, [terms].
            centres: what they are about, [registers].
            compute: computes a value from its inputs; by default its kernel does.
        """
        found: dict[int, Any] = {}
        for value, kernel in self._steps[place]:
            if value.kind == Kind.OPERATOR:
                found[id(value)] = self.leaves[id(value)].value(means, centres)
            elif kernel is None:
                found[id(value)] = number(value.constant)
            else:
                inputs = [found[id(below)] for below in value.inputs]
                made = kernel(*inputs) if compute is None else compute(value, kernel, inputs)
                found[id(value)] = number(made) if compute is None else made
        return found

    def evaluate(
        self, means: Floats, centres: Floats, wanted: Iterable[int] | None = None
    ) -> dict[int, Floats]:
        """The operands at averages of shape [terms, points], by position: each [points].

        If `wanted` is given, only those operands.
        """
        points = (means.shape[1],)
        evaluated: dict[int, Floats] = {}
        with np.errstate(all="ignore"):
            for place in range(len(self.operands)) if wanted is None else wanted:
                value = self.values(place, means, centres)[id(self.operands[place])]
                evaluated[place] = np.asarray(np.broadcast_to(value, points), dtype=np.float64)
        return evaluated

    def enclosed(
        self, averages: Enclosure, centres: Floats, wanted: Iterable[int]
    ) -> dict[int, Enclosure]:
        """The operands for averages [terms] that are known up to half-widths, by position."""
        found: dict[int, Enclosure] = {}
        with np.errstate(all="ignore"):
            for place in wanted:
                values = self.values(place, averages, centres, _applied)
                found[place] = enclosed(values[id(self.operands[place])], averages)
        return found

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
            values = [self.values(place, column, centres) for place in range(len(self.operands))]
        magnitudes = [float(centres[leaf.registers[0]]) for leaf in self.leaves.values()]
        for array in chain.from_iterable(sides.values() for sides in values):
            magnitudes += array.ravel().tolist()
        largest = max((abs(value) for value in magnitudes if math.isfinite(value)), default=0.0)
        each = zip(self.operands, values, strict=True)
        return [float(sides[id(operand)][..., 0]) for operand, sides in each], largest

    def sizes(self, means: Floats, centres: Floats, unbounded: Container[int] = ()) -> list[float]:
        """The size of each operand: operators by their sizes, and every sign plus.

        Denominators and functions keep their values. Functions that preserve magnitudes (a root,
        a maximum) are applied to the sizes. Sizes made from `unbounded` columns are infinite.
        """
        means = np.where([column in unbounded for column in range(len(means))], np.inf, means)
        column = means.reshape(-1, 1)
        largest: list[float] = []
        with np.errstate(all="ignore"):
            for place, operand in enumerate(self.operands):
                values = self.values(place, column, centres)
                own = {key: np.abs(value) for key, value in values.items()}
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


def _below(value: Value) -> tuple[Value, ...]:
    """The inputs of a value that depend on averages; operators are not looked into."""
    return value.inputs if value.estimated and value.kind != Kind.OPERATOR else ()


def _applied(value: Value, kernel: Kernel, inputs: list[Any]) -> Enclosure:
    return applied(value.function, kernel, inputs)
