"""Programs for quantiles: one that leaves values themselves, and one that counts at thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dropcheck.language.graph import Kind, Value, fixed_array
from dropcheck.simulation.assemble import ProgramBuilder
from dropcheck.simulation.program import Program
from dropcheck.vocabulary.functions.truths import AT_MOST, BELOW


@dataclass(frozen=True, slots=True, order=True)
class Threshold:
    """The event u < at, or u <= at where it is closed; events that sort later hold more."""

    at: float
    closed: bool


@dataclass(frozen=True, slots=True)
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
    end = Value(
        kind=Kind.CONSTANT,
        operation="number",
        shape=(),
        at=quantity.at,
        constant=fixed_array(threshold.at),
    )
    return Value(
        kind=Kind.COMPUTED,
        operation=(AT_MOST if threshold.closed else BELOW).name,
        shape=(),
        at=quantity.at,
        inputs=(quantity, end),
        random=True,
        truth=True,
        sources=quantity.sources,
    )
