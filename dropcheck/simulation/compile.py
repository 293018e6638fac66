"""Compiles a strategy to a program and a functional; after this, there are no names."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter as Multiset
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dropcheck.analysis.strategy import (
    Arithmetic,
    BlockMeans,
    Certainty,
    Laws,
    Quantiles,
    Strategy,
)
from dropcheck.language.graph import (
    SAMPLE_ELEMENT_COST,
    Kind,
    Value,
    calls_below,
    computed,
    draw_cost,
    joined_sources,
    operators,
    ordered,
)
from dropcheck.simulation.program import (
    BLOCKS_OF_SPAN,
    MOST_SPAN_DRAWS,
    SHORTEST_SPAN,
    SMALLEST_BATCH,
    Functional,
    Leaf,
    Program,
    Step,
    Term,
    Uses,
    freeing,
    most_of_span,
)
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions.truths import AND, ANY, IS_TRUE, NOT

# ---- assemble ------------------------------------------------------------------------------------
#
# Assembles a program: registers in order, their costs, and the number of draws in a span.


# The arrays of one span together. With a quarter of it, a run of all claims takes a fifth longer;
# with twice as much, a twentieth less (measured), but fewer machines have such a cache per core.
SPAN_BYTES = 2**22
# Nanoseconds for a span that several programs share, unless that is fewer draws than SHORTEST_SPAN.
SPAN_NANOSECONDS = 2e6

# Nanoseconds for a multiply-add in a matrix product, and for each of its results afterwards.
PRODUCT_COST = 0.035
TERM_COST = 3.0
# With larger batches, an interval has too few blocks, and the blocks that it must have cost more
# than the batches save.
LARGEST_BATCH = 128
# Bytes of both sides of all batches of a span: larger than caches, and far below the memory.
SIDES_BYTES = 2**27


@dataclass(frozen=True, slots=True)
class Crossed:
    """A program that combines draws of several groups, and the group of each draw, by name."""

    program: Program
    groups: Mapping[str, int]


class Registers:
    """The values of one program, or of several that share draws, each with its register.

    Programs with the same registers make all `shared` draws in the same order and in spans of the
    same length. Then a stream gives all of them the same draws, whichever of them are run.
    """

    def __init__(self, shared: Iterable[Value] = ()) -> None:
        self.of: dict[int, int] = {}
        self.values: list[Value] = []
        read = {self.register(value) for value in shared}
        drawn = (value.random and value.kind == Kind.DRAW for value in self.values)
        self.draws = {at for at, is_draw in enumerate(drawn) if is_draw}
        self.span = self._common_span(read) if read else None

    def register(self, value: Value) -> int:
        """The register of a value; all its inputs have earlier ones."""
        known = self.of.get(id(value))
        if known is not None:
            return known
        # a fixed value needs no inputs: it is computed already
        needed = [one for each in ordered([value]) for one in (*each.inputs, each)] or [value]
        for one in needed:
            if id(one) not in self.of:
                self.of[id(one)] = len(self.values)
                self.values.append(one)
        return self.of[id(value)]

    def needed(self, wanted: set[int]) -> set[int]:
        """The wanted registers, and all that they are computed from."""
        needed = set(wanted)
        for at in range(len(self.values) - 1, -1, -1):
            if at in needed and self.values[at].random:
                needed |= {self.of[id(below)] for below in self.values[at].inputs}
        return needed

    def step(self, register: int, *, crossed: bool = False) -> Step:
        """The step that fills a register."""
        value = self.values[register]
        inputs = tuple(self.of[id(below)] for below in value.inputs)
        return Step(register, value, inputs, crossed=crossed)

    def _common_span(self, read: set[int]) -> int:
        """Draws of a span in which all values fit: a power of two.

        A span takes only a moment, so that a case that needs few draws does not wait for many.
        """
        random = [at for at, value in enumerate(self.values) if value.random]
        steps = freeing([self.step(at) for at in random], read)
        held = _held(steps, [self.values[at] for at in read])
        # code under test is called once for all draws of a span
        costs = (
            SAMPLE_ELEMENT_COST * one.elements if one.call is not None else _cost(one)
            for one in (self.values[at] for at in random)
        )
        cost = max(1.0, sum(costs))
        moment = max(SHORTEST_SPAN, int(SPAN_NANOSECONDS / cost))
        most = most_of_span(self.values)
        draws = max(1, min(most, SPAN_BYTES // held, moment))
        return 1 << (draws.bit_length() - 1)


class ProgramBuilder:
    """Collects the integrands and the values that they are computed from."""

    def __init__(self, registers: Registers | None = None) -> None:
        self._all = Registers() if registers is None else registers
        self._values, self.register = self._all.values, self._all.register
        self._terms: dict[Term, int] = {}
        self._targets: dict[int, None] = {}

    def term(self, factors: tuple[tuple[int, int], ...], given: int | None) -> int:
        """The column of an integrand in the array of sums; equal integrands share one."""
        for register, _ in factors:
            self._targets[register] = None
        return self._terms.setdefault(Term(factors, given), len(self._terms))

    @property
    def quantities(self) -> dict[int, Value]:
        """The quantities in integrands, including conditions, by register."""
        given = (term.given for term in self._terms if term.given is not None)
        return {register: self._values[register] for register in (*self._targets, *given)}

    def crossed(self, pairs: Value | None) -> Crossed | None:
        """The program with draws combined with each other; None if that is not possible.

        `pairs` is a matrix product whose two sides may be drawn separately and paired.
        """
        if pairs is None or any(one.call and one.call.dependent for one in self._values):
            return None
        program = self.build(pairs=pairs)
        if not program.paired:
            return None
        sides = enumerate(side.sources for side in pairs.inputs)
        return Crossed(program, {name: side for side, names in sides for name in names})

    def build(self, *, pairs: Value | None = None) -> Program:
        """The finished program; `pairs` as in `crossed`."""
        keep = set(self.quantities)
        own = self._all.needed(keep)
        values = [self._values[register] for register in sorted(own)]
        crossed = None if pairs is None else _batches(pairs, values)
        made = self._all.needed(keep | self._all.draws) if crossed is None else own
        steps: list[Step] = []
        fixed = []
        cost = 0.0
        for register, value in enumerate(self._values):
            if register not in made:
                continue
            if not value.random:
                fixed.append((register, value.constant))
                continue
            product = crossed is not None and value is pairs
            steps.append(self._all.step(register, crossed=product))
            cost += _cost(value)
        all_steps = freeing(steps, keep)
        # sums of powers and of products of two need no array of the products
        powers = [power for term in self._terms for _, power in term.factors]
        plain = max(powers, default=0) < 3 and all(term.given is None for term in self._terms)
        held = _held(all_steps, self.quantities.values(), 1 if plain else 2)
        whole = any(one.call is not None and one.call.dependent for one in values)
        most = most_of_span(self._values)
        draws = self._all.span or max(1, min(most, SPAN_BYTES // held))
        blocks = BLOCKS_OF_SPAN if draws >= 64 * BLOCKS_OF_SPAN and not whole else 1
        if crossed is not None:
            blocks, batch, cost = crossed
            draws = blocks * batch
        return Program(
            size=len(self._values),
            fixed=tuple(fixed),
            steps=all_steps,
            terms=tuple(self._terms),
            targets=tuple(self._targets),
            span_draws=draws // blocks * blocks,
            span_blocks=blocks,
            cost=max(cost, 1.0),
            rarest=_rarest(values),
            paired=crossed is not None,
            shared=self._all.span is not None and crossed is None,
            whole=whole,
        )


def _held(steps: Sequence[Step], read: Iterable[Value], powers: int = 2) -> int:
    """The most bytes for each draw that steps store at the same time, in this order.

    Integrands take those of what they read: floats, in so many powers. Truths are counted.
    """
    # bytes of a value for each draw: a truth takes 1, and the random bits behind it 2
    sizes = {
        one.target: (3 if one.value.binary else 8) * math.prod(one.value.shape) for one in steps
    }
    now = most = 0
    for step in steps:
        now += sizes[step.target]
        most = max(most, now)
        now -= sum(sizes.get(register, 0) for register in step.frees)
    return max(1, most + sum(8 * powers * math.prod(v.shape) for v in read if not v.binary))


def _batches(product: Value, values: list[Value]) -> tuple[int, int, float] | None:
    """The batches of a span, the draws of a side in each, and the cost of a draw, if sides pair.

    A batch is so large that pairs cost as much as the draws that they are made from. With smaller
    ones, pairs that are almost free are not used. With larger ones, pairs cost time and tell
    little: a part of the variance of an average over all pairs falls only with the number of draws
    (Hoeffding 1948, eq. 5.13).
    """
    sides = {id(one) for one in ordered(product.inputs)}
    drawn = sum(_cost(value) for value in values if id(value) in sides)
    count = float(math.prod(product.shape))
    inner = (product.inputs[0].shape or (1,))[-1]
    after = [v for v in values if v.random and id(v) not in sides and v is not product]
    pair = count * (PRODUCT_COST * inner + TERM_COST) + sum(map(_cost, after))
    numbers = SPAN_BYTES // (8 * sum(math.prod(v.shape) for v in (product, *after, product)))
    a_draw = max(1, 8 * sum(math.prod(v.shape) for v in values if id(v) in sides))
    batch = min(int(drawn / pair), math.isqrt(numbers), SIDES_BYTES // a_draw, LARGEST_BATCH)
    if batch < SMALLEST_BATCH:
        return None
    batches = min(MOST_SPAN_DRAWS, numbers) // batch**2
    batches = max(1, min(batches, SIDES_BYTES // (a_draw * batch)))
    return batches, batch, drawn + batch * pair


def _cost(value: Value) -> float:
    shape = value.shape
    if value.kind == Kind.DRAW:
        return draw_cost(value.law, shape)
    return value.function.cost(shape, [below.shape for below in value.inputs])


def _rarest(values: Sequence[Value]) -> float:
    """How many draws it takes to see the rarest known outcome of the laws; 0 if none is known.

    All elements of a draw count, unless the program picks single elements of it.
    """
    picking = (one for one in values if one.kind == Kind.COMPUTED and one.function.picks)
    picked, most = joined_sources(picking), 0.0
    for value in values:
        if value.kind != Kind.DRAW or value.law is None or not value.law.discrete:
            continue
        known = [None if one.constant is None else one.constant[..., 0] for one in value.inputs]
        pairs = zip(known, value.law.parameters, strict=True)
        if any(one is None and own.axes for one, own in pairs):
            continue
        chances = np.asarray(value.law.rarest(*(np.nan if one is None else one for one in known)))
        rare = chances[(chances > 0) & (chances < 1)]
        if rare.size:
            count = math.prod(value.shape) if value.sources.isdisjoint(picked) else 1
            most = max(most, 1.0 / (float(rare.min()) * count))
    return most


# ---- compile -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A program, and how its averages combine.

    `scaled`: the scale of the claim must be estimated, and the functional has sizes. `unbounded`
    are the columns for sizes whose mean may not exist by the model, where the others have bounds.
    `values` are the quantities in integrands, by register. `crossed` is the same program with draws
    combined with each other, if the model allows that.
    """

    program: Program
    functional: Functional
    scaled: bool
    values: Mapping[int, Value]
    crossed: Crossed | None = None
    unbounded: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Counted:
    """The program of a claim of certainty.

    Its first integrand is 1 in a counterexample. If there is a condition, the second is 1 where
    that holds.
    """

    program: Program
    conditional: bool


@dataclass(frozen=True, slots=True)
class InCells:
    """The program of a statement about laws or quantiles: draws, to be counted in cells.

    `uses` are its quantities, in order: places among the program's targets, and of conditions.
    """

    program: Program
    uses: Uses


def compile_strategy(
    strategy: Strategy,
    operands: Sequence[Value],
    *,
    scaled: bool,
    crossing: bool = True,
    registers: Registers | None = None,
) -> Compiled | Counted | InCells:
    """The program for the operands of a statement.

    `scaled`: the scale of the claim must be estimated. `crossing` allows to combine draws with each
    other. `registers` are given if other statements share the draws.
    """
    match strategy:
        case Laws():
            quantities = [_settled(one) if one.truth else one for one in operands]
            return _in_cells([[one] for one in quantities], registers)
        case Quantiles(estimated):
            return _in_cells([operator.inputs for operator in estimated], registers)
        case Certainty(event, condition, claimed):
            wrong = _settled(event)
            wrong = wrong if claimed == 0 else _made_of(wrong, NOT)
            if condition is not None:
                shape = np.broadcast_shapes(wrong.shape, condition.shape)
                wrong = computed(AND, _settled(condition), wrong, like=wrong, shape=shape)
            if wrong.shape:
                wrong = computed(ANY, wrong, like=wrong, shape=())
            builder = ProgramBuilder(registers)
            builder.term(((builder.register(wrong), 1),), None)
            if condition is not None:
                builder.term((), builder.register(_settled(condition)))
            return Counted(builder.build(), condition is not None)
        case BlockMeans(pairs) if crossing:
            return compile_averages(operands, pairs, scaled=scaled, registers=registers)
        case Arithmetic() | BlockMeans():
            return compile_averages(operands, scaled=scaled, registers=registers)


def _in_cells(quantities: Sequence[Sequence[Value]], registers: Registers | None) -> InCells:
    """The program that draws quantities, each of which may have a condition after it."""
    builder = ProgramBuilder(registers)
    places: dict[int, int] = {}

    def place(value: Value) -> int:
        register = builder.register(value)
        builder.term(((register, 1),), None)
        return places.setdefault(register, len(places))

    uses = tuple((place(one), place(*given) if given else None) for one, *given in quantities)
    return InCells(builder.build(), uses)


def compile_averages(
    operands: Sequence[Value],
    pairs: Value | None = None,
    *,
    scaled: bool,
    registers: Registers | None = None,
) -> Compiled:
    """The program and the functional of a statement whose operators are averages.

    If the scale is not known, integrands for sizes are added. `pairs` as in `crossed`.
    """
    builder = ProgramBuilder(registers)
    first = operators(operands)[::-1]  # in the order of the text
    leaves = {id(one): _leaf(one, builder, sizes=scaled) for one in first}
    functional = Functional(tuple(operands), leaves)
    program = builder.build()
    return Compiled(
        program=program,
        functional=functional,
        scaled=scaled,
        values=builder.quantities,
        crossed=builder.crossed(pairs),
    )


def _truth(value: Value) -> Value:
    """A value as a truth: every number except 0 is true."""
    return _settled(value if value.truth else _made_of(_made_of(value, NOT), NOT))


def _settled(value: Value) -> Value:
    """An event; if code computed it, it is false where it depends on NaN."""
    return _made_of(value, IS_TRUE) if calls_below([value]) else value


def _made_of(value: Value, function: Function) -> Value:
    """A truth computed from a value by a function; a fixed one is computed at once."""
    made = computed(function, value, like=value)
    if value.random:
        return made
    return dataclasses.replace(made, random=False, constant=function.kernel(value.constant))


def _leaf(value: Value, builder: ProgramBuilder, *, sizes: bool) -> Leaf:
    operator = value.operator
    conditional = dict(value.options)["given"]
    quantities = value.inputs[:-1] if conditional else value.inputs
    given = builder.register(_settled(value.inputs[-1])) if conditional else None
    columns: dict[str, int] = {}
    if given is not None:
        columns["g"] = builder.term((), given)
    registers: dict[str, int] = {}
    for name in operator.averages if sizes else operator.looked_at:
        for letter in name:
            if letter not in registers:
                quantity = quantities["uv".index(letter)]
                registers[letter] = builder.register(
                    _truth(quantity) if operator.probability else quantity
                )
        powers = Multiset(registers[letter] for letter in name)
        columns[name] = builder.term(tuple(powers.items()), given)
    return Leaf(operator, columns, tuple(registers.values()))
