"""A strategy to a program and a functional: after this no names remain."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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
from dropcheck.language.graph import Kind, Value, calls_below, computed, constant_beside
from dropcheck.records import record
from dropcheck.simulation.assemble import Crossed, ProgramBuilder, Registers
from dropcheck.simulation.functional import Functional, Leaf
from dropcheck.simulation.program import Program
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions.truths import AT_MOST, BELOW, IS_TRUE, NOT


@record(kw_only=True)
class Compiled:
    """What is simulated and how its averages combine.

    `scaled` says whether the scale of the claim must be estimated; the functional then has sizes.
    `values` are the quantities in the registers that integrands look at. `crossed` is the same
    program with draws combined with one another, where the model allows that.
    """

    program: Program
    functional: Functional
    scaled: bool
    values: Mapping[int, Value]
    crossed: Crossed | None = None


@record
class Counted:
    """What is simulated for a claim about one event.

    `program` has one integrand, 1 where the event holds, followed by that of the condition where
    there is one. For a claim of certainty the event is a counterexample.
    """

    program: Program
    conditional: bool


@record
class InCells:
    """What is simulated for a statement about laws: draws of its quantities, to be put in cells."""

    program: Program


def compile_strategy(
    strategy: Strategy,
    operands: Sequence[Value],
    *,
    crossing: bool = True,
    registers: Registers | None = None,
) -> Compiled | Counted | InCells | AtThresholds | None:
    """What a strategy simulates for the operands of a statement; None where it simulates nothing.

    Crossing combines draws with one another, where the model allows it. The registers are given
    where other statements share the draws.
    """
    match strategy:
        case Unanswerable():
            return None
        case Laws():
            builder = ProgramBuilder(registers)
            for operand in operands:
                of_code = operand.truth and bool(calls_below([operand]))
                looked_at = _settled(operand) if of_code else operand
                builder.term(((builder.register(looked_at), 1),), None)
            return InCells(builder.build())
        case Quantiles(quantities):
            return compile_values(quantities)
        case Certainty(event, condition, claimed):
            if calls_below([event]):
                event = _settled(event)
            certain = _denied(event) if claimed == 0 else event
            program = _counting(certain, condition, registers, every=True)
            return Counted(program, condition is not None)
        case Proportion(event, condition):
            return Counted(_counting(_truth(event), condition, registers), condition is not None)
        case _:
            return compile_averages(strategy, operands, crossing=crossing, registers=registers)


def compile_averages(
    strategy: AveragingStrategy,
    operands: Sequence[Value],
    *,
    crossing: bool = True,
    registers: Registers | None = None,
) -> Compiled:
    """The program and the functional of a statement whose operators are averages.

    Where the scale is not known beforehand the integrands that measure sizes are added.
    """
    builder = ProgramBuilder(registers)
    leaves: dict[int, Leaf] = {}
    for operand in operands:
        _collect(operand, builder, leaves, sizes=strategy.scaled)
    functional = Functional(tuple(operands), leaves)
    program = builder.build()
    crossed = None
    if crossing and isinstance(strategy, BlockMeans):
        judged = frozenset(functional.columns(range(len(operands))))
        crossed = builder.crossed(strategy.pairs, judged)
    return Compiled(
        program=program,
        functional=functional,
        scaled=strategy.scaled,
        values=builder.looked_at,
        crossed=crossed,
    )


def _counting(
    event: Value, condition: Value | None, registers: Registers | None, **how: bool
) -> Program:
    """The program that counts in how many draws an event holds, and a condition."""
    builder = ProgramBuilder(registers)
    given = None if condition is None else builder.register(_condition(condition))
    builder.term(((builder.register(event), 1),), given, **how)
    if given is not None:
        builder.term((), given)
    return builder.build()


def _truth(value: Value) -> Value:
    """A value asked as a truth: any number but 0 is 1."""
    asked = value if value.truth else _denied(_denied(value))
    return _settled(asked) if calls_below([asked]) else asked


def _settled(value: Value) -> Value:
    """An event of what code gave: false where it looks at what is no number."""
    return _made_of(value, IS_TRUE)


def _condition(value: Value) -> Value:
    return _settled(value) if calls_below([value]) else value


def _denied(value: Value) -> Value:
    """`not` of a value."""
    return _made_of(value, NOT)


def _made_of(value: Value, function: Function) -> Value:
    """A truth that a function makes of a value, worked out at once where this is fixed."""
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
    given = builder.register(_condition(value.inputs[-1])) if conditional else None
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
        powers = Counter(registers[letter] for letter in name)
        columns[name] = builder.term(tuple(powers.items()), given)
    return Leaf(operator, columns, tuple(registers.values()))


# ---- quantiles: values themselves, and counts at thresholds --------------------------------------


@dataclass(frozen=True, slots=True, order=True)
class Threshold:
    """The event u < at, or u <= at where it is closed; events that sort later hold more."""

    at: float
    closed: bool


@record
class AtThresholds:
    """What is simulated for some operators on the law: sums of their columns, by their places.

    `columns` are those of the quantity itself where no thresholds are given, and else of the counts
    at each of them; `given` is that of the condition, None where there is none.
    """

    program: Program
    columns: tuple[tuple[int, ...], ...]
    given: tuple[int | None, ...]


def compile_values(quantities: Sequence[Value]) -> AtThresholds:
    """A program that sums quantities, or in blocks of one draw leaves their values.

    Where a condition fails the value is 0.
    """
    return _compiled(quantities, lambda builder, quantity, _: [builder.register(quantity)])


def compile_counts(
    quantities: Sequence[Value], thresholds: Sequence[Sequence[Threshold]]
) -> AtThresholds:
    """A program that counts the draws at thresholds of each quantity, where its condition holds."""
    return _compiled(
        quantities,
        lambda builder, quantity, place: [
            builder.register(below(quantity, one)) for one in thresholds[place]
        ],
    )


def _compiled(
    operators: Sequence[Value], registers: Callable[[ProgramBuilder, Value, int], list[int]]
) -> AtThresholds:
    builder = ProgramBuilder()
    columns: list[tuple[int, ...]] = []
    conditions: list[int | None] = []
    for place, operator in enumerate(operators):
        quantity, *condition = operator.inputs
        given = builder.register(condition[0]) if condition else None
        own = registers(builder, quantity, place)
        columns.append(tuple(builder.term(((register, 1),), given) for register in own))
        conditions.append(None if given is None else builder.term((), given))
    return AtThresholds(builder.build(), tuple(columns), tuple(conditions))


def below(quantity: Value, threshold: Threshold) -> Value:
    """The truth that a quantity lies at or below a threshold, or below it."""
    end = constant_beside(quantity, threshold.at)
    return computed(AT_MOST if threshold.closed else BELOW, quantity, end, like=quantity, shape=())
