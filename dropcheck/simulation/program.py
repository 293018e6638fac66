"""A compiled case: steps that draw and compute, and integrands that are summed in blocks."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.claims.registry import Code
from dropcheck.errors import DropcheckError, Problem
from dropcheck.known.enclosure import Enclosure, applied, enclosed
from dropcheck.language.graph import (
    SAMPLE,
    CodeCall,
    Kind,
    Value,
    in_order,
    kernel_of,
    number,
    operators,
)
from dropcheck.vocabulary.domains import argument_problem
from dropcheck.vocabulary.function import EVAL, TRAIN, Array, Kernel
from dropcheck.vocabulary.functions import elementwise
from dropcheck.vocabulary.functions.reductions import NORM
from dropcheck.vocabulary.operators import Averages, Operator
from dropcheck.vocabulary.shapes import Shape

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
            held: Floats = truths.reshape(-1, self.blocks, self.draws // self.blocks).sum((0, -1))
            return held * (self.draws / truths.size)
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
        if product is None:
            product = np.ones(1) if term.given is None else self._given(term.given)
        if product.ndim > 1:
            product = product.reshape(-1, product.shape[-1]).mean(axis=0)
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

    def value(self, means: Any, centres: Floats) -> Any:
        """The operator's value at averages of shape [terms, points]: [points]."""
        return self.operator.value(self._averages(means, centres))

    def size(self, means: Floats, centres: Floats) -> Floats:
        """The size of what the operator measures, if the program has its averages: [points]."""
        return np.asarray(self.operator.size(self._averages(means, centres)))


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

    def values(self, place: int, means: Any, centres: Floats) -> dict[int, Any]:
        """All that an operand is computed from, by id; the operand itself is the last.

        Args:
            place: the operand.
            means: averages, [terms, points], or an enclosure of them, [terms].
            centres: what they are about, [registers].
        """
        found: dict[int, Any] = {}
        for value, kernel in self._steps[place]:
            if value.kind == Kind.OPERATOR:
                found[id(value)] = self.leaves[id(value)].value(means, centres)
            elif kernel is None:
                found[id(value)] = number(value.constant)
            else:
                inputs = [found[id(below)] for below in value.inputs]
                if any(isinstance(one, Enclosure) for one in inputs):
                    found[id(value)] = applied(value.function, kernel, inputs)
                else:
                    found[id(value)] = number(kernel(*inputs))
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
                values = self.values(place, averages, centres)
                found[place] = enclosed(values[id(self.operands[place])], averages)
        return found

    def columns(self, operands: Iterable[int]) -> list[int]:
        """The columns that some operands depend on."""
        below = operators([self.operands[operand] for operand in operands])
        return sorted({column for one in below for column in self.leaves[id(one)].looked_at})

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """What is stored of each unit along one direction: the deviation of its mean, and the square.

    A unit is a draw, or the draws of a call of code, which depend on each other.
    `weights` are factors of the integrands in `columns`. Deviations of the weighted mean from
    `centre` are clipped at `below` and `above`.
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...]
    centre: float
    below: float
    above: float


def with_clips(sums: Floats, clips: Sequence[Clip], size: int, blocks: int) -> Floats:
    """The sums of blocks from those of units of `size` draws, [terms, units].

    Returns:
        With two columns for each clip: [blocks, terms + 2 · clips].
    """
    rows = [*sums]
    for clip in clips:
        deviation = np.full(sums.shape[1], -clip.centre)
        for column, weight in zip(clip.columns, clip.weights, strict=True):
            deviation += sums[column] * (weight / size)
        deviation = deviation.clip(-clip.below, clip.above)
        rows += [deviation, deviation * deviation]
    in_blocks = np.array([row.reshape(blocks, -1).sum(axis=1) for row in rows])
    return np.ascontiguousarray(in_blocks.T)


# ---- steps ---------------------------------------------------------------------------------------
#
# Each fills one register, by a draw or from earlier registers.


# From this many numbers on each side of a batch, one call for each batch costs less than copying
# the sides (measured: from 2,000 on; at 65,000 the product takes half the time).
LARGE_SIDE = 4096


@dataclass(frozen=True, slots=True)
class Step:
    """Fill one register from others; one whose kernel is None makes a draw."""

    target: int
    value: Value
    inputs: tuple[int, ...]
    frees: tuple[int, ...] = ()  # registers that no later step needs
    crossed: bool = False  # whether it pairs the two sides, in a paired program
    kernel: Kernel | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kernel = None if self.value.kind == Kind.DRAW else kernel_of(self.value)
        object.__setattr__(self, "kernel", crossed_product if self.crossed else kernel)

    def __reduce__(self) -> tuple[type[Step], tuple[object, ...]]:
        """Send a step to another process, where its kernel is found by the function's name."""
        return Step, (self.target, self.value, self.inputs, self.frees, self.crossed)


def freeing(steps: Sequence[Step], keep: Iterable[int]) -> tuple[Step, ...]:
    """The same steps; each frees the registers that no later one needs."""
    later: set[int] = set(keep)
    freed: list[Step] = []
    for step in reversed(steps):
        frees = tuple(below for below in set(step.inputs) if below not in later)
        later |= set(step.inputs)
        freed.append(replace(step, frees=frees))
    return tuple(freed[::-1])


def computed_by(step: Step, inputs: list[Array], **extra: int) -> Array:
    """The value that a step computes from its inputs.

    Raises:
        DropcheckError: its function does not take a value; the error is at its place in the text.
    """
    assert step.kernel is not None  # it is not a draw
    try:
        return step.kernel(*inputs, **extra)
    except ValueError as error:
        raise step.value.at.error(str(error), getattr(error, "hint", None)) from None


def drawn_by_law(
    value: Value,
    generator: np.random.Generator,
    inputs: list[Array],
    draws: int,
    draws_first: bool = False,
) -> Array:
    """The draws of a value from its law, whose arguments are the inputs.

    With `draws_first`, the axis of draws may come first in memory, as code needs it.

    Raises:
        DropcheckError: an argument is outside the law's domain; the error is at the draw's place in
            the text.
    """
    law, arguments = value.law, [number(one) for one in inputs]
    assert law is not None
    if any(one.random for one in value.inputs):
        problem = argument_problem(law.parameters, arguments)
        if problem is not None:
            raise value.at.error(
                f"{law.name}: {problem}, in some draw",
                "keep it there on a line above, for example with clip(…), abs(…) or round(…)",
            )
    try:
        return law.sample(generator, arguments, value.shape, draws, draws_first)
    except ValueError as error:
        raise value.at.error(f"{law.name} cannot be drawn: {error}") from None


def crossed_product(left: Array, right: Array, batches: int) -> Array:
    """The products of each left side with each right side of the same batch.

    Args:
        left: [d, g·a] or [n, d, g·a]: g batches of a vectors, or of a matrices.
        right: [d, g·b] or [d, m, g·b].
        batches: g.

    Returns:
        [g·a·b], [n, g·a·b], [m, g·a·b] or [n, m, g·a·b]: batches one after another, and in each
        batch pair (i, j) at i·b + j.
    """
    g = batches
    a, b = left.shape[-1] // g, right.shape[-1] // g
    d = left.shape[-2]
    rows, columns = left.shape[:-2], right.shape[1:-1]
    n, m = rows[0] if rows else 1, columns[0] if columns else 1
    if not rows and not columns and d * min(a, b) >= LARGE_SIDE:
        numbers = np.empty((g, a, b))
        for batch in range(g):  # no copy of the sides
            lower, upper = left[:, batch * a : (batch + 1) * a], right[:, batch * b :][:, :b]
            np.matmul(lower.T, upper, out=numbers[batch])
        return numbers.reshape(g * a * b)
    lefts = left.reshape(n, d, g, a).transpose(2, 0, 3, 1).reshape(g, n * a, d)
    rights = right.reshape(d, m, g, b).transpose(2, 0, 1, 3).reshape(g, d, m * b)
    # matrix products of views fall back on a loop that is fifty times slower
    lefts, rights = np.ascontiguousarray(lefts), np.ascontiguousarray(rights)
    products = np.matmul(lefts, rights).reshape(g, n, a, m, b)
    pairs: Array = products.transpose(1, 3, 0, 2, 4).reshape(*rows, *columns, g * a * b)
    return pairs


# ---- code calls ----------------------------------------------------------------------------------
#
# Calls of code as steps of a program: how many draws one call makes, and what it returns.


# Draws of a span: enough to hide numpy's cost of a call, few enough for an early decision.
MOST_SPAN_DRAWS = 131_072
# Draws of a span by the user's code: enough to hide the cost of a call, few enough for its memory,
# which is not known. A span of code under test has more draws if each is of few numbers.
MOST_SAMPLE_DRAWS = 8192
# Numbers in a call whose draws the slot declares independent: few enough for many calls, which show
# if they are not, and enough to hide the cost of a span.
DECLARED_NUMBERS = 2**16
# Numbers in a call whose draws may depend on each other, and its fewest draws. Verdicts then rest
# on the number of calls, and larger calls take longer.
DEPENDENT_NUMBERS = 4096
FEWEST_DEPENDENT = 16
# Draws of a span in which each draw is a call of code.
MOST_CALLS = 256
# For code whose draws count one by one: with this many calls, for an error of 1e-9, Student's
# quantile is within a fifth of the normal quantile.
FEWEST_CALLS = 64


def counts_each(call: CodeCall) -> bool:
    """Whether the draws of one call count one by one, because its slot declares so."""
    return call.draws and not (call.dependent or call.asked.single)


@dataclass(frozen=True, slots=True)
class CallsAsked:
    """What a program asks of its calls of code in every span.

    `modes` are those that something reads, by the tag of each call: all are computed together.
    `declared`: draws of one call count one by one, as its slot declares. `single`: each draw is a
    call. `codes` are what is called.
    """

    modes: Mapping[str, frozenset[str]]
    declared: bool
    single: bool
    codes: tuple[Code, ...] = ()

    @classmethod
    def of(
        cls, steps: Sequence[Step], targets: Iterable[int], terms: Iterable[Term] = ()
    ) -> CallsAsked:
        """From the steps of a program, and the registers read when all are done."""
        read = {*targets, *(term.given for term in terms)}
        read |= {register for step in steps for register in step.inputs}
        calls = [(step.value.call, step.target) for step in steps if step.value.call is not None]
        modes: dict[str, frozenset[str]] = {}
        for call, register in calls:
            seen = frozenset({call.mode} if register in read else ())
            modes[call.tag] = modes.get(call.tag, frozenset()) | seen
        return cls(
            modes=modes,
            declared=any(counts_each(call) for call, _ in calls),
            single=any(call.asked.single for call, _ in calls),
            codes=tuple({id(call.code): call.code for call, _ in calls}.values()),
        )

    @property
    def set_up(self) -> float:
        """The seconds that first calls of the code took, which no case's time counts."""
        return sum(code.set_up for code in self.codes)


class SpanCalls:
    """The calls of code in one span; each seeds first, and results are stored by tag.

    Args:
        asked: what the program asks of each call.
        generator: seeds the code.
    """

    def __init__(self, asked: CallsAsked, generator: np.random.Generator) -> None:
        self._generator = generator
        self._asked = asked
        self._given: dict[str, Mapping[str, Array]] = {}

    def given(self, value: Value, inputs: Sequence[Array], draws: int) -> Array:
        """The array that a call gives: float64, [*shape, draws].

        Args:
            value: the value of the call in the graph.
            inputs: float64 or truths, [*shape, draws], or [*shape, 1] if they do not vary.
            draws: how many draws.

        Raises:
            DropcheckError: the code raises an error, or returns something else.
        """
        call = value.call
        assert call is not None
        if call.tag not in self._given:
            own = replace(call.asked, draws=draws, modes=self._asked.modes[call.tag])
            numbers = [np.asarray(array, dtype=np.float64) for array in inputs]
            self._given[call.tag] = call.code.drawn(self._generator, own, numbers)
        if call.mode not in self._given[call.tag]:
            return np.zeros((*value.shape, 1))  # nothing reads it
        given = self._given[call.tag][call.mode]
        if given.shape[:-1] != value.shape:  # or it would be broadcast in comparisons
            raise DropcheckError(_other_shape(call, value.shape, given.shape[:-1]))
        return given


def _other_shape(call: CodeCall, shape: Shape, given: Shape) -> Problem:
    model, code = (str(list(one)) if one else "one number" for one in (shape, given))
    what = {TRAIN: "gives", EVAL: "gives in evaluation"}.get(call.mode, "has a gradient of")
    message = f"code for {call.slot.name!r} {what} {code} a draw, and by the slot's model {model}"
    name = getattr(call.code, "name", "the code")
    hint = f"{name} is to return, for each draw, what the slot in the file does"
    return Problem(message, hint=hint)


def most_of_span(values: Iterable[Value]) -> int:
    """The most draws in a span of a program with these values."""
    most = MOST_SPAN_DRAWS
    for value in values:
        if value.call is not None and value.call.asked.single:
            return MOST_CALLS
        if value.call is not None and value.call.tag == SAMPLE:
            most = min(most, MOST_SAMPLE_DRAWS)
        if value.call is not None and value.call.dependent:
            most = min(most, max(FEWEST_DEPENDENT, DEPENDENT_NUMBERS // _largest(value)))
        elif value.call is not None and value.call.draws:
            most = min(most, max(FEWEST_DEPENDENT, DECLARED_NUMBERS // _largest(value)))
        elif value.call is not None:
            most = min(most, max(MOST_SAMPLE_DRAWS, MOST_SPAN_DRAWS // _largest(value)))
    return most


def _largest(value: Value) -> int:
    """The most numbers in one draw of a call's inputs or of its result."""
    return max(one.elements for one in (value, *value.inputs))


# ---- cell counts ---------------------------------------------------------------------------------
#
# Counts draws in cells, in place of sums of integrands.
#
# A counter takes the values of some quantities, [..., draws] each; one that does not vary has one
# draw, which stands for all. A span is one block. Where infinity is `infinite`, a valid value, it
# is beyond every cut.


# If there are this many times more cuts than draws, it is faster not to sort the draws.
FEW = 2
# Nanoseconds to sort one number among others, and to find its cell.
SORTING = 25.0
FINDING = 12.0


Uses = tuple[tuple[int, int | None], ...]
"""The quantities that are counted, as places of values, each with the place of its condition."""


def entries_of(array: Array, draws: int) -> Floats:
    """The entries of a quantity: [entries, draws]."""
    flat = np.asarray(array, dtype=np.float64).reshape(-1, array.shape[-1])
    return np.broadcast_to(flat, (len(flat), draws))


@dataclass(frozen=True, slots=True, kw_only=True)
class AtCuts:
    """How many draws of each entry are at or below each of its cuts, and how many count.

    Draws in which the condition of a quantity fails do not count. The columns: by entry, one for
    each cut, and one for all draws.
    """

    cuts: tuple[Floats, ...]  # by entry of all quantities, in row-major order
    uses: Uses
    infinite: bool = False

    @property
    def columns(self) -> int:
        """How many counts a block has."""
        return sum(len(cuts) + 1 for cuts in self.cuts)

    @property
    def cost(self) -> float:
        """Rough nanoseconds for one draw."""
        return len(self.cuts) * SORTING

    def of_entries(self, totals: Floats) -> list[Floats]:
        """The counts of each entry: [columns] to [cuts + 1]."""
        return np.split(totals, np.cumsum([len(cuts) + 1 for cuts in self.cuts])[:-1])

    def counts(self, values: Sequence[Array], draws: int) -> Floats:
        """The counts of a span: [columns]."""
        parts: list[Floats] = []
        cuts = iter(self.cuts)
        for place, condition in self.uses:
            held = None if condition is None else entries_of(values[condition], draws)[0] != 0
            for row in entries_of(values[place], draws):
                kept = row if held is None else row[held]
                parts.append(at_most(kept, next(cuts)))
        return np.concatenate(parts).astype(np.float64)


def at_most(row: Floats, cuts: Floats) -> Floats:
    """How many numbers are at or below each cut, and how many there are: [cuts + 1]."""
    if len(row) * FEW < len(cuts):  # each number among the cuts, not each cut among the numbers
        places = np.searchsorted(cuts, row, side="left")
        return np.cumsum(np.bincount(places, minlength=len(cuts) + 1))
    return np.append(np.searchsorted(np.sort(row), cuts, side="right"), len(row))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """How many draws are in each cell of some tables, whose axes are the cells of entries.

    `cuts` are given by entry, for all quantities together, in row-major order. A table is a tuple
    of the entries that are its axes.
    """

    cuts: tuple[Floats, ...]
    tables: tuple[tuple[int, ...], ...]
    uses: Uses
    infinite: ClassVar[bool] = False

    def shape(self, table: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a table."""
        return tuple(len(self.cuts[entry]) + 1 for entry in table)

    @property
    def columns(self) -> int:
        """How many counts a block has."""
        return sum(math.prod(self.shape(table)) for table in self.tables)

    @property
    def cost(self) -> float:
        """Rough nanoseconds for one draw."""
        return FINDING * (2 * len(self.cuts) + len(self.tables))

    def counts(self, values: Sequence[Array], draws: int) -> Floats:
        """The counts of a span: [columns]."""
        entries = np.concatenate([entries_of(values[at], draws) for at, _ in self.uses])
        pairs = zip(self.cuts, entries, strict=True)
        cells = [np.searchsorted(cuts, row, side="left") for cuts, row in pairs]
        parts = []
        for table in self.tables:
            shape = self.shape(table)
            flat = np.ravel_multi_index([cells[entry] for entry in table], shape)
            parts.append(np.bincount(flat, minlength=math.prod(shape)))
        return np.concatenate(parts).astype(np.float64)


Counter = AtCuts | Tables
"""What counts draws in cells."""


def counted(counter: Counter, values: Sequence[Array], draws: int) -> tuple[Floats, Truths | None]:
    """The counts of a span, [1, columns], and which draws are undefined; None if no draw is.

    Where its condition fails, a quantity may have any value.
    """
    counts = counter.counts(values, draws)[np.newaxis]
    if all(np.isfinite(array).all() for array in values):
        return counts, None
    bad = np.zeros(draws, dtype=bool)
    for place, condition in counter.uses:
        array = values[place]
        there = ~np.isnan(array) if counter.infinite else np.isfinite(array)
        failed = False if condition is None else (values[condition] == 0).reshape(-1)
        bad |= ~(there.reshape(-1, array.shape[-1]).all(axis=0) | failed)
    return counts, bad if bad.any() else None


# ---- program -------------------------------------------------------------------------------------


BLOCKS_OF_SPAN = 16
# The shortest block: this many draws, or fewer if those take this long, in nanoseconds. Then the
# cost of numpy's calls is small.
SHORTEST_BLOCK = 512
SHORTEST_WORK = 1e5
FEWEST_IN_BLOCK = 8
# Pairing draws in smaller batches saves less than it costs.
SMALLEST_BATCH = 8
# In shorter spans, creating the stream costs more than the draws.
SHORTEST_SPAN = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanSums:
    """The sums of a span's blocks, and how many draws are undefined.

    `sums` has shape [blocks, terms]. `undefined` counts the draws in which a value in an integrand
    is NaN or infinite; `first_undefined` is the number of the first one within the case, or None.
    `seconds` is the time that the span took.
    """

    sums: Floats
    undefined: int = 0
    first_undefined: int | None = None
    seconds: float = 0.0
    # if several programs were drawn together, the sums of each
    members: tuple[SpanSums, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """Draws in spans, each from a stream of its own; integrands are summed in blocks.

    There are `size` registers; those in `fixed` do not vary. `terms` are the integrands.
    """

    size: int
    fixed: tuple[tuple[int, Array], ...]
    steps: tuple[Step, ...]
    terms: tuple[Term, ...]
    targets: tuple[int, ...]  # the registers in integrands
    span_draws: int
    span_blocks: int
    cost: float  # nanoseconds for each draw, roughly
    # how many draws it takes to see the rarest known outcome of the laws
    rarest: float
    # each block is a batch of left sides and one of right sides; every pair of them is evaluated
    paired: bool = False
    clips: tuple[Clip, ...] = ()  # what is stored of each unit: a draw, or a call
    # whether others make the same draws; then spans have the same length, a power of two
    shared: bool = False
    # counts draws in cells, in place of integrands
    counter: Counter | None = None
    # whether each span is one call of code, whose draws may depend on each other, and one block
    whole: bool = False
    # programs that make the same draws; each gets the sums that it would have alone
    members: tuple[Program, ...] = ()
    code: CallsAsked = field(init=False, repr=False, compare=False)  # what is asked of code

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", CallsAsked.of(self.steps, self.targets, self.terms))

    @classmethod
    def joined(cls, programs: Sequence[Program]) -> Program:
        """The program that makes the draws of several `shared` ones once, for all of them.

        Its centres are those of each: [programs, size].

        Raises:
            ValueError: a register has different values in two of them.
        """
        steps: dict[int, Step] = {}
        keep: set[int] = set()
        for program in programs:
            for step in program.steps:
                if steps.setdefault(step.target, step).value is not step.value:
                    raise ValueError("programs of other registers make other draws")
            freed = {register for step in program.steps for register in step.frees}
            keep |= {step.target for step in program.steps} - freed
        fixed = dict(one for program in programs for one in program.fixed)
        inputs = {register for step in steps.values() for register in step.inputs}
        return replace(
            programs[0],
            size=max(program.size for program in programs),
            fixed=tuple(fixed.items()),
            steps=freeing([steps[one] for one in sorted(steps)], keep | (inputs & fixed.keys())),
            terms=(),
            targets=tuple({register for program in programs for register in program.read}),
            cost=max(program.cost for program in programs),
            counter=None,
            members=tuple(programs),
        )

    @property
    def read(self) -> set[int]:
        """The registers that are read when its steps are done."""
        return {*self.targets, *(term.given for term in self.terms if term.given is not None)}

    @property
    def columns(self) -> int:
        """How many numbers are stored for each block."""
        terms = len(self.terms) + 2 * len(self.clips)
        return terms if self.counter is None else self.counter.columns

    @property
    def block_draws(self) -> int:
        """How many draws a block has."""
        return self.span_draws // self.span_blocks

    @property
    def span_values(self) -> int:
        """How many values of each quantity a span has: one for each draw, or for each pair."""
        return self.span_draws * (self.block_draws if self.paired else 1)

    @property
    def block_values(self) -> int:
        """How many values of each quantity a block has."""
        return self.span_values // self.span_blocks

    @property
    def unit_draws(self) -> int:
        """How many draws depend on each other, and on no others: those of one call of code."""
        return self.span_draws if self.whole else 1

    @property
    def sampling(self) -> str:
        """How values are drawn, in words: "plain" or "crossed 96×96"."""
        return f"crossed {self.block_draws}×{self.block_draws}" if self.paired else "plain"

    @property
    def origin(self) -> Floats:
        """Centres that are all 0: [size]."""
        return np.zeros(self.size)

    def fitted(self, most: int, blocks: int) -> Program:
        """The program in shorter spans, so that `blocks` spans need at most `most` draws."""
        if self.whole or most >= max(blocks * self.block_draws, self.span_draws):
            return self
        draws = max(1, min(self.span_draws, most // blocks))
        return replace(self, span_draws=draws, span_blocks=1, shared=False)

    def in_blocks(self, draws: int) -> Program:
        """The program in blocks of about `draws` draws, so that easy claims need few draws.

        A block is long enough for its overhead, and to show the rarest known outcome of the model.
        """
        cheapest = min(max(FEWEST_IN_BLOCK, int(SHORTEST_WORK / self.cost)), SHORTEST_BLOCK)
        block = max(cheapest, draws, math.ceil(min(self.rarest, self.span_draws)))
        return self.in_blocks_of(1 << (block - 1).bit_length() if self.shared else block)

    def in_blocks_of(self, block: int, draws: int = 0) -> Program:
        """The program in blocks of at most `block` draws, and in spans of at least `draws`.

        In a crossed program, a block is a batch. A span is at least one block, and long enough for
        the cost of its stream. Where others make the same draws, it stays as it is, and its blocks
        are powers of two.
        """
        if self.whole:
            return self
        block = min(max(SMALLEST_BATCH if self.paired else 1, block), self.block_draws)
        if self.paired:
            blocks = min(BLOCKS_OF_SPAN, self.span_values // block**2)
        elif self.shared:
            block = 1 << (block.bit_length() - 1)
            blocks = self.span_draws // block
        else:
            draws = min(max(draws, BLOCKS_OF_SPAN * block, SHORTEST_SPAN), self.span_draws)
            blocks = draws // block
        blocks = max(1, blocks)
        return replace(self, span_draws=blocks * block, span_blocks=blocks)

    def counting(self, counter: Counter, draws: int) -> Program:
        """The program with draws counted in cells; each span of `draws` draws is one block.

        If others make the same draws, the spans are as long as theirs.
        """
        return replace(
            self,
            counter=counter,
            span_draws=self.span_draws if self.shared else draws,
            span_blocks=1,
            cost=self.cost + counter.cost,
        )

    @property
    def tests_code(self) -> bool:
        """Whether code is under test: values may be NaN, and it may store data in its thread."""
        return bool(self.code.modes)

    @property
    def declared(self) -> bool:
        """Whether the draws of one call of code count one by one, as its slot declares."""
        return self.code.declared

    @property
    def fewest_planned(self) -> int:
        """The fewest draws that a plan may have: enough calls to show if draws are dependent."""
        return FEWEST_CALLS * self.span_draws if self.declared else 0

    def calls(self, spans: int, draws: int) -> int:
        """How many calls of code these draws in these spans come from."""
        return draws if self.code.single else spans

    def registers(
        self,
        generator: np.random.Generator,
        draws: int,
        keep: bool = False,
    ) -> list[Array | None]:
        """Run steps for `draws` draws; in a crossed program, for those of a span.

        Targets stay filled; with `keep`, all registers do.
        """
        arrays: list[Array | None] = [None] * self.size
        code, calls_code = SpanCalls(self.code, generator), self.tests_code
        for register, constant in self.fixed:
            arrays[register] = constant
        for step in self.steps:
            inputs = [filled(arrays[register]) for register in step.inputs]
            if step.kernel is None:
                count = self.span_draws if self.paired else draws
                if step.value.law is not None:
                    drawn = drawn_by_law(step.value, generator, inputs, count, calls_code)
                    arrays[step.target] = drawn
                elif step.value.call is not None:
                    arrays[step.target] = code.given(step.value, inputs, count)
            else:
                extra = {"batches": self.span_blocks} if step.crossed else {}
                arrays[step.target] = computed_by(step, inputs, **extra)
            for register in () if keep else step.frees:
                arrays[register] = None
        return arrays

    def values(self, generator: np.random.Generator, draws: int) -> dict[int, Array]:
        """Some draws of the quantities in integrands, [..., draws] each, or [..., 1] if fixed."""
        with np.errstate(all="ignore"):
            arrays = self.registers(generator, draws)
        return {register: number(filled(arrays[register])) for register in self.targets}

    def centres(self, generator: np.random.Generator, draws: int) -> Floats:
        """The centres about which integrands are to be summed, from a few draws.

        Returns:
            A number near the middle of each target, [size]; 0 where none is needed.
        """
        centres = np.zeros(self.size)
        for register, values in self.values(generator, draws).items():
            centres[register] = middle(values)
        return centres

    def finite(self, generator: np.random.Generator, draws: int) -> bool:
        """Whether each quantity in an integrand is finite in at least one of the draws."""
        return all(np.isfinite(one).any() for one in self.values(generator, draws).values())

    def span(
        self, generator: np.random.Generator, centres: Floats, number_of_span: int
    ) -> SpanSums:
        """The sums of every integrand in each block of one span: [span_blocks, terms]."""
        with np.errstate(all="ignore"):
            arrays = self.registers(generator, self.span_draws)
            if not self.members:
                return self._summed(arrays, centres, number_of_span)
            each = zip(self.members, centres, strict=True)
            members = [one._summed(arrays, about, number_of_span) for one, about in each]
        return SpanSums(sums=np.zeros((1, 0)), members=tuple(members))

    def _summed(self, arrays: list[Array | None], centres: Floats, number_of_span: int) -> SpanSums:
        sums, bad = self._sums_of(arrays, centres)
        if bad is None:
            return SpanSums(sums=sums)
        places = np.flatnonzero(bad)
        before = number_of_span * self.span_values
        first = before + int(places[0]) if len(places) else None
        return SpanSums(sums=sums, undefined=len(places), first_undefined=first)

    def _sums_of(self, arrays: list[Array | None], centres: Floats) -> tuple[Floats, Truths | None]:
        """The sums in each block, and which draws are undefined (None: none is)."""
        if self.counter is not None:
            values = [number(filled(arrays[register])) for register in self.targets]
            return counted(self.counter, values, self.span_draws)
        blocks = self.span_draws // self.unit_draws if self.clips else self.span_blocks
        moments = Moments(arrays, centres, self.span_values, blocks)
        sums = np.empty((len(self.terms), blocks))
        for index, term in enumerate(self.terms):
            single = blocks == self.span_values
            sums[index] = moments.a_draw(term) if single else moments.sums(term)
        bad = None if np.isfinite(sums).all() else moments.undefined(self.terms)
        if self.clips:
            return with_clips(sums, self.clips, self.unit_draws, self.span_blocks), bad
        return np.ascontiguousarray(sums.T), bad
