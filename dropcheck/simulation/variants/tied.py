"""Programs in exact arithmetic, and where rounding makes a difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dropcheck.analysis.moments.draw_steps import Steps, draw_below
from dropcheck.analysis.moments.enumeration import outcomes_of
from dropcheck.analysis.moments.exact import MOST_OUTCOMES
from dropcheck.analysis.moments.single_draw import SingleDraw
from dropcheck.analysis.on_paper import EXACT, Rounded, alike, value_on_paper
from dropcheck.language.graph import Value, number
from dropcheck.records import record
from dropcheck.simulation.integrands import filled
from dropcheck.simulation.program import Program
from dropcheck.simulation.roundings import NearJumps, may_jump
from dropcheck.simulation.variants import step_by_step

# How many times longer a step takes in exact arithmetic (measured; 10 to 40 for array functions).
SLOWER = 20


@record
class Tied:
    """A function that rounding keeps from a jump, and the program in exact arithmetic."""

    by: Value
    program: Program


def tied_in(
    program: Program,
    generator: Callable[[int], np.random.Generator],
    draws: int,
    spans: int,
    *,
    closely: bool = False,
) -> Tied | None:
    """Where rounding decides what is averaged, in some draws or for a value of a discrete draw.

    If numbers repeat near where functions jump, or tie there without a difference, rare ties are
    searched for in whole spans, at most `spans`; with `closely`, in any case. `generator` gives the
    stream of each span.
    """
    jumps = [step.value for step in program.steps if step.kernel is not None]
    jumps = [value for value in jumps if may_jump(value)]
    if not jumps:
        return None
    plain = step_by_step(program)
    near = NearJumps()
    tied = _tied(plain, near, lambda: generator(0), draws)
    if tied is None and (closely or near.again or near.found is not None):
        for span in range(spans):
            tied = tied or _tied(plain, NearJumps(), partial(generator, span), plain.span_draws)
    if tied is None:
        by = next(filter(_tied_somewhere, jumps), None)
        return None if by is None else Tied(by, on_paper(plain))
    return tied


def _tied(
    plain: Program, near: NearJumps, generator: Callable[[], np.random.Generator], draws: int
) -> Tied | None:
    with np.errstate(all="ignore"):
        arrays = plain.registers(generator(), draws, near)
        if near.found is None:
            return None
        other = on_paper(plain)
        again = other.registers(generator(), draws)
    factors = (register for term in plain.terms for register, _ in term.factors)
    given = (term.given for term in plain.terms if term.given is not None)
    same = all(
        alike(number(filled(arrays[one])), number(filled(again[one])))
        for one in {*plain.targets, *factors, *given}
    )
    return None if same else Tied(near.found, other)


def on_paper(program: Program) -> Program:
    """The program in exact arithmetic: values that rounding keeps from a jump are at the jump."""
    known: dict[int, Rounded] = {}
    fixed = {register: Rounded(array, EXACT) for register, array in program.fixed}
    cost = program.cost
    for step in program.steps:
        if step.kernel is not None:
            shapes = [below.shape for below in step.value.inputs]
            cost += SLOWER * step.value.function.cost(step.value.shape, shapes)
        for register, value in zip(step.inputs, step.value.inputs, strict=False):
            if register in fixed and value.constant is not None:
                fixed[register] = value_on_paper(value, known)
    return replace(
        program,
        fixed=tuple((register, one.value) for register, one in fixed.items()),
        roundings=tuple((register, one.error) for register, one in fixed.items()),
        cost=cost,
    )


def _tied_somewhere(value: Value) -> bool:
    """Whether rounding decides a quantity for some values of discrete draws, however rare.

    This is tested if the quantity depends on one draw, or if all draws have few outcomes.
    """
    draw = draw_below(value)
    with np.errstate(all="ignore"):
        points = None if draw is None else SingleDraw.of(draw).points
        if draw is not None and points is not None:
            found, paper = Steps.to([value], draw).listed(points[0])
            return not alike(found[0], paper[0])
        table = outcomes_of([value], MOST_OUTCOMES)
        other = None if table is None else table.on_paper([value])
        if table is None or other is None:
            return table is not None
        return not alike(table.values(value), other.values(value))
