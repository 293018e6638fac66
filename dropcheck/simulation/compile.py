"""Compiles a strategy to a program and a functional; after this, there are no names."""

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
    """A program, and how its averages combine.

    `scaled`: the scale of the claim must be estimated, and the functional has sizes. `values` are
    the quantities in integrands, by register. `crossed` is the same program with draws combined
    with each other, if the model allows that.
    """

    program: Program
    functional: Functional
    scaled: bool
    values: Mapping[int, Value]
    crossed: Crossed | None = None


@record
class Counted:
    """The program of a claim about one event.

    Its first integrand is 1 where the event holds. If there is a condition, the second is 1 where
    that holds. For a claim of certainty, the event is a counterexample.
    """

    program: Program
    conditional: bool


@record
class InCells:
    """The program of a statement about laws: draws of its quantities, to be counted in cells."""

    program: Program


def compile_strategy(
    strategy: Strategy,
    operands: Sequence[Value],
    *,
    crossing: bool = True,
    registers: Registers | None = None,
) -> Compiled | Counted | InCells | AtThresholds | None:
    """The program for the operands of a statement; None if the strategy needs no simulation.

    `crossing` allows to combine draws with each other. `registers` are given if other statements
    share the draws.
    """
    match strategy:
        case Unanswerable():
            return None
        case Laws():
            builder = ProgramBuilder(registers)
            for operand in operands:
                value = _settled(operand) if operand.truth else operand
                builder.term(((builder.register(value), 1),), None)
            return InCells(builder.build())
        case Quantiles(quantities):
            return compile_values(quantities)
        case Certainty(event, condition, claimed):
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
        judged = frozenset(functional.columns(range(len(operands))))
        crossed = builder.crossed(strategy.pairs, judged)
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
        powers = Counter(registers[letter] for letter in name)
        columns[name] = builder.term(tuple(powers.items()), given)
    return Leaf(operator, columns, tuple(registers.values()))


# ---- quantiles: values, and counts at thresholds -------------------------------------------------


@dataclass(frozen=True, slots=True, order=True)
class Threshold:
    """The event u < at, or u <= at if it is closed. Events that sort later contain earlier ones."""

    at: float
    closed: bool


@record
class AtThresholds:
    """The program for some quantiles, and its columns, by their positions.

    `columns` are those of the quantity itself, or of the counts at each threshold if there are any;
    `given` is the column of the condition, or None.
    """

    program: Program
    columns: tuple[tuple[int, ...], ...]
    given: tuple[int | None, ...]


def compile_values(quantities: Sequence[Value]) -> AtThresholds:
    """A program that sums quantities; in blocks of one draw, the sums are the values.

    The value is 0 where a condition fails.
    """
    return _compiled(quantities, lambda builder, quantity, _: [builder.register(quantity)])


def compile_counts(
    quantities: Sequence[Value], thresholds: Sequence[Sequence[Threshold]]
) -> AtThresholds:
    """A program that counts the draws below thresholds of each quantity, if its condition holds."""
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
    """The event that a quantity is below a threshold, or at it if that is closed."""
    end = constant_beside(quantity, threshold.at)
    return computed(AT_MOST if threshold.closed else BELOW, quantity, end, like=quantity, shape=())
