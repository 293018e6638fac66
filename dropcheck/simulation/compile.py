"""Compiles a strategy to a program and a functional; after this, there are no names."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter as Multiset
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dropcheck.analysis.strategy import (
    AveragingStrategy,
    BlockMeans,
    Certainty,
    Laws,
    Proportion,
    Quantiles,
    Strategy,
    Unanswerable,
)
from dropcheck.language.graph import (
    SAMPLE_ELEMENT_COST,
    Kind,
    Sources,
    Value,
    calls_below,
    computed,
    draw_cost,
    joined_sources,
    kernel_of,
    ordered,
)
from dropcheck.simulation.integrands import Functional, Leaf, Term
from dropcheck.simulation.program import (
    BLOCKS_OF_SPAN,
    SHORTEST_SPAN,
    SMALLEST_BATCH,
    Program,
    Uses,
)
from dropcheck.simulation.steps import (
    MOST_SPAN_DRAWS,
    Step,
    before_rounding,
    crossed_product,
    freeing,
    most_of_span,
)
from dropcheck.vocabulary.function import Function, Kernel
from dropcheck.vocabulary.functions.truths import IS_TRUE, NOT

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
        self.draws = {at for at, value in enumerate(self.values) if _is_draw(value)}
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

    def step(self, register: int, kernel: Kernel | None = None) -> Step:
        """The step that fills a register."""
        value = self.values[register]
        if kernel is None and not _is_draw(value):
            kernel = kernel_of(value)
        inputs = tuple(self.of[id(below)] for below in value.inputs)
        return Step(register, value, inputs, kernel, crossed=kernel is crossed_product)

    def _common_span(self, read: set[int]) -> int:
        """Draws of a span in which all values fit: a power of two.

        A span takes only a moment, so that a case that needs few draws does not wait for many.
        """
        random = [at for at, value in enumerate(self.values) if value.random]
        held = _held(freeing([self.step(at) for at in random], read))
        held += sum(16 * math.prod(self.values[at].shape) for at in read)  # with squares
        cost = max(1.0, sum(_cost_beside_others(self.values[at]) for at in random))
        moment = max(SHORTEST_SPAN, int(SPAN_NANOSECONDS / cost))
        most = most_of_span(self.values)
        draws = max(1, min(most, SPAN_BYTES // max(held, 1), moment))
        return 1 << (draws.bit_length() - 1)


def _is_draw(value: Value) -> bool:
    return value.random and value.kind == Kind.DRAW


class ProgramBuilder:
    """Collects the integrands and the values that they are computed from."""

    def __init__(self, registers: Registers | None = None) -> None:
        self._all = Registers() if registers is None else registers
        self._registers, self._values = self._all.of, self._all.values
        self._terms: dict[Term, int] = {}
        self._targets: dict[int, None] = {}

    def register(self, value: Value) -> int:
        """The register of a value; all its inputs have earlier ones."""
        return self._all.register(value)

    def term(self, factors: tuple[tuple[int, int], ...], given: int | None, **how: bool) -> int:
        """The column of an integrand in the array of sums; equal integrands share one."""
        for register, _ in factors:
            self._targets[register] = None
        return self._terms.setdefault(Term(factors, given, **how), len(self._terms))

    @property
    def quantities(self) -> dict[int, Value]:
        """The quantities in integrands, including conditions, by register."""
        given = (term.given for term in self._terms if term.given is not None)
        return {register: self._values[register] for register in (*self._targets, *given)}

    def crossed(self, pairs: Value | None) -> Crossed | None:
        """The program with draws combined with each other; None if that is not possible.

        Args:
            pairs: a matrix product whose two sides may be drawn separately and paired.
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
        keep = set(self._targets) | {t.given for t in self._terms if t.given is not None}
        own = self._all.needed(keep)
        values = [self._values[register] for register in sorted(own)]
        plan = None if pairs is None else _plan(pairs, values)
        made = own if plan is not None else self._all.needed(keep | self._all.draws)
        steps: list[Step] = []
        fixed = []
        cost = 0.0
        for register, value in enumerate(self._values):
            if register not in made:
                continue
            if not value.random:
                fixed.append((register, value.constant))
                continue
            crossed = plan is not None and value is plan.product
            steps.append(self._all.step(register, crossed_product if crossed else None))
            cost += _cost(value)
        picked = picked_sources(values)
        all_steps = freeing(before_rounding(steps, keep), keep)
        held = _held(all_steps) + _powers(self._terms, self._values)
        calls = [value.call for value in values if value.call is not None]
        whole = any(call.dependent for call in calls)
        most = most_of_span(self._values)
        draws = self._all.span or max(1, min(most, SPAN_BYTES // max(held, 1)))
        blocks = BLOCKS_OF_SPAN if draws >= 64 * BLOCKS_OF_SPAN and not whole else 1
        if plan is not None:
            numbers = SPAN_BYTES // (8 * plan.held)
            blocks = max(1, min(MOST_SPAN_DRAWS, numbers) // plan.batch**2)
            blocks = max(1, min(blocks, SIDES_BYTES // (plan.sides * plan.batch)))
            draws, cost = blocks * plan.batch, plan.cost
        return Program(
            size=len(self._values),
            fixed=tuple(fixed),
            steps=all_steps,
            terms=tuple(self._terms),
            targets=tuple(self._targets),
            span_draws=draws // blocks * blocks,
            span_blocks=blocks,
            cost=max(cost, 1.0),
            rarest=rarest(values, picked),
            paired=plan is not None,
            shared=self._all.span is not None and plan is None,
            whole=whole,
        )


def _held(steps: Sequence[Step]) -> int:
    """The most bytes for each draw that steps store at the same time, in this order."""
    sizes = {step.target: _bytes(step.value) for step in steps}
    now = most = 0
    for step in steps:
        now += sizes[step.target]
        most = max(most, now)
        now -= sum(sizes.get(register, 0) for register in step.frees)
    return most


def _powers(terms: Iterable[Term], values: list[Value]) -> int:
    """Bytes for each draw of the powers in integrands: each quantity as a float, and its square.

    Sums of powers and of products of two need no array of the products, and truths are counted.
    """
    sizes: dict[tuple[int, int], int] = {}
    for term in terms:
        if all(values[register].binary for register, _ in term.factors):
            continue
        for register, power in term.factors:
            size = 8 * math.prod(values[register].shape)
            sizes[register, 1] = size
            if power > 2 or term.given is not None:
                sizes[register, 2] = size
    return sum(sizes.values())


def _bytes(value: Value) -> int:
    """Bytes of a value for each draw. A truth takes 1 byte, and the random bits behind it 2."""
    size = 3 if value.binary else 8
    return size * math.prod(value.shape)


@dataclass(frozen=True, slots=True)
class _Crossing:
    """A product whose sides are paired: the size of the batches, and the cost of a draw."""

    product: Value
    batch: int
    cost: float
    held: int  # numbers stored for each pair
    sides: int  # bytes stored for each draw of both sides


def _plan(product: Value, values: list[Value]) -> _Crossing | None:
    """The batch size for which pairs cost as much as the draws that they are made from.

    With smaller batches, pairs that are almost free are not used. With larger ones, pairs cost time
    and tell little: a part of the variance of an average over all pairs falls only with the number
    of draws (Hoeffding 1948, eq. 5.13).
    """
    left, right = ({id(one) for one in ordered([side])} for side in product.inputs)
    drawn = sum(_cost(value) for value in values if id(value) in left | right)
    count = float(math.prod(product.shape))
    inner = (product.inputs[0].shape or (1,))[-1]
    after = [v for v in values if v.random and id(v) not in left | right and v is not product]
    pair = count * (PRODUCT_COST * inner + TERM_COST) + sum(map(_cost, after))
    held = sum(math.prod(value.shape) for value in (product, *after, product))
    sides = 8 * sum(math.prod(v.shape) for v in values if id(v) in left | right)
    batch = min(
        int(drawn / pair),
        math.isqrt(SPAN_BYTES // (8 * held)),
        SIDES_BYTES // max(sides, 1),
        LARGEST_BATCH,
    )
    if batch < SMALLEST_BATCH:
        return None
    return _Crossing(
        product=product, batch=batch, cost=drawn + batch * pair, held=held, sides=max(sides, 1)
    )


def _cost(value: Value) -> float:
    shape = value.shape
    if value.kind == Kind.DRAW:
        return draw_cost(value.law, shape)
    return value.function.cost(shape, [below.shape for below in value.inputs])


def _cost_beside_others(value: Value) -> float:
    """The cost of a draw in a span; code under test is called once for all draws of it."""
    return SAMPLE_ELEMENT_COST * value.elements if value.call is not None else _cost(value)


def rarest(values: Sequence[Value], picked: Sources) -> float:
    """How many draws it takes to see the rarest known outcome of the laws; 0 if none is known.

    All elements of a draw count, unless the program picks single elements of it.
    """
    return max((_rarity(value, picked) for value in values), default=0.0)


def picked_sources(values: Iterable[Value]) -> Sources:
    """The draws of which the program picks single elements."""
    picking = (one for one in values if one.kind == Kind.COMPUTED and one.function.picks)
    return joined_sources(picking)


def _rarity(value: Value, picked: Sources) -> float:
    if value.kind != Kind.DRAW or not value.random or value.law is None:
        return 0.0
    known = [None if one.constant is None else one.constant[..., 0] for one in value.inputs]
    pairs = zip(known, value.law.parameters, strict=True)
    if not value.law.discrete or any(one is None and own.axes for one, own in pairs):
        return 0.0
    chances = np.asarray(value.law.rarest(*(np.nan if one is None else one for one in known)))
    rare = chances[(chances > 0) & (chances < 1)]
    if not rare.size:
        return 0.0
    count = 1 if value.sources & picked else math.prod(value.shape)
    return 1.0 / (float(rare.min()) * count)


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
    """The program of a claim about one event.

    Its first integrand is 1 where the event holds. If there is a condition, the second is 1 where
    that holds. For a claim of certainty, the event is a counterexample.
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
    crossing: bool = True,
    registers: Registers | None = None,
) -> Compiled | Counted | InCells | None:
    """The program for the operands of a statement; None if the strategy needs no simulation.

    `crossing` allows to combine draws with each other. `registers` are given if other statements
    share the draws.
    """
    match strategy:
        case Unanswerable():
            return None
        case Laws():
            quantities = [_settled(one) if one.truth else one for one in operands]
            return _in_cells([[one] for one in quantities], registers)
        case Quantiles(estimated):
            return _in_cells([operator.inputs for operator in estimated], registers)
        case Certainty(event, condition, claimed):
            event = _settled(event)
            certain = _denied(event) if claimed == 0 else event
            program = _counting(certain, condition, registers, every=True)
            return Counted(program, condition is not None)
        case Proportion(event, condition):
            return Counted(_counting(_truth(event), condition, registers), condition is not None)
        case _:
            return compile_averages(strategy, operands, crossing=crossing, registers=registers)


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
    strategy: AveragingStrategy,
    operands: Sequence[Value],
    *,
    crossing: bool = True,
    registers: Registers | None = None,
) -> Compiled:
    """The program and the functional of a statement whose operators are averages.

    If the scale is not known, integrands for sizes are added.
    """
    builder = ProgramBuilder(registers)
    leaves: dict[int, Leaf] = {}
    for operand in operands:
        _collect(operand, builder, leaves, sizes=strategy.scaled)
    functional = Functional(tuple(operands), leaves)
    program = builder.build()
    crossed = None
    if crossing and isinstance(strategy, BlockMeans):
        crossed = builder.crossed(strategy.pairs)
    return Compiled(
        program=program,
        functional=functional,
        scaled=strategy.scaled,
        values=builder.quantities,
        crossed=crossed,
    )


def _counting(
    event: Value, condition: Value | None, registers: Registers | None, **how: bool
) -> Program:
    """The program that counts the draws in which an event holds, and those of a condition."""
    builder = ProgramBuilder(registers)
    given = None if condition is None else builder.register(_settled(condition))
    builder.term(((builder.register(event), 1),), given, **how)
    if given is not None:
        builder.term((), given)
    return builder.build()


def _truth(value: Value) -> Value:
    """A value as a truth: every number except 0 is true."""
    return _settled(value if value.truth else _denied(_denied(value)))


def _settled(value: Value) -> Value:
    """An event; if code computed it, it is false where it depends on NaN."""
    return _made_of(value, IS_TRUE) if calls_below([value]) else value


def _denied(value: Value) -> Value:
    """`not` of a value."""
    return _made_of(value, NOT)


def _made_of(value: Value, function: Function) -> Value:
    """A truth computed from a value by a function; a fixed one is computed at once."""
    made = computed(function, value, like=value)
    if value.random:
        return made
    return dataclasses.replace(made, random=False, constant=function.kernel(value.constant))


def _collect(
    value: Value, builder: ProgramBuilder, leaves: dict[int, Leaf], *, sizes: bool
) -> None:
    if value.kind == Kind.OPERATOR:
        if id(value) not in leaves:
            leaves[id(value)] = _leaf(value, builder, sizes=sizes)
        return
    if value.estimated:
        for below in value.inputs:
            _collect(below, builder, leaves, sizes=sizes)


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
