"""Programs that draw otherwise than they were compiled to: in strata, in nets, or counted in cells.

Beside them stand single draws to make the cells from, and programs as they are on paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dropcheck.analysis.moments.exact import tied_somewhere
from dropcheck.analysis.on_paper import EXACT, Rounded, alike, value_on_paper
from dropcheck.language.graph import Kind, Value, kernel_of, number
from dropcheck.simulation.cell_counts import Counter
from dropcheck.simulation.integrands import filled
from dropcheck.simulation.program import Program
from dropcheck.simulation.roundings import NearJumps, may_jump
from dropcheck.simulation.sobol_nets import MOST_NUMBERS
from dropcheck.simulation.steps import Step, computed
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.arrays import SUBSCRIPT
from dropcheck.vocabulary.functions.elementwise import ADD, SUBTRACT
from dropcheck.vocabulary.law_parts import MIXTURE_COST, Stratum, mixture_of

# ---- cells ---------------------------------------------------------------------------------------


def counting_in_cells(program: Program, counter: Counter, draws: int) -> Program:
    """The program with draws counted in cells, a block for each span of so many.

    Where others make the same draws, spans are as long as theirs.
    """
    return replace(
        program,
        counter=counter,
        tables=(),
        separations=None,
        paired=False,
        span_draws=program.span_draws if program.shared else draws,
        span_blocks=1,
        cost=program.cost + counter.cost,
    )


def values_of(program: Program, generator: np.random.Generator, draws: int) -> list[Array]:
    """Some draws of the quantities that are looked at, [..., draws] each, or 1 where fixed."""
    with np.errstate(all="ignore"):
        held = program.registers(generator, draws)
    return [number(filled(held[register])) for register in program.targets]


def magnitude_of(program: Program, generator: np.random.Generator, draws: int) -> float:
    """The usual size of what is looked at, times what sums on the way to it cancel.

    A sum that is a thousandth of what is added has three digits fewer.
    """
    cancelled = 1.0
    sizes = [0.0] * program.size
    with np.errstate(all="ignore"):
        held = program.registers(generator, draws, keep=True)
        for register, array in enumerate(held):
            if array is not None:
                sizes[register] = float(np.median(np.abs(number(array))))
    for step in program.steps:
        if step.value.operation in (ADD.name, SUBTRACT.name) and sizes[step.target] > 0:
            largest = max(sizes[register] for register in step.inputs)
            cancelled = max(cancelled, largest / sizes[step.target])
    return cancelled * max(sizes[register] for register in program.targets)


def largest_of(program: Program, generator: np.random.Generator, draws: int) -> float:
    """The largest magnitude on the way to what is averaged, as so many draws of a span show it."""
    largest = 0.0

    def compute(step: Step, inputs: list[Array]) -> Array:
        nonlocal largest
        largest = max(largest, *(float(np.abs(number(one)).max(initial=0.0)) for one in inputs))
        return computed(step, inputs)

    with np.errstate(all="ignore"):
        _step_by_step(program).registers(generator, min(program.span_draws, draws), compute)
    return largest


# ---- strata --------------------------------------------------------------------------------------


def stratified(
    program: Program, draw: Value, strata: tuple[Stratum, ...], shares: tuple[float, ...]
) -> Program:
    """The program with one draw from a mixture of its strata, and every integrand weighted.

    The registers are the same, and two more: one for pairs of the draw and its weight, and one for
    the weight, which is a factor of every integrand.

    Raises:
        ValueError: the draw is none of the program's, or has no law.
    """
    place = next((at for at, step in enumerate(program.steps) if step.value is draw), None)
    if place is None or draw.law is None:
        raise ValueError("the program does not make this draw")
    both, weight = program.size, program.size + 1
    law = mixture_of(draw.law, strata, shares)
    pair = replace(draw, law=law, shape=(2,), name=None)
    drawn = program.steps[place]
    steps = [replace(drawn, target=both, value=pair)]
    for index, target in ((0, drawn.target), (1, weight)):
        own = replace(
            draw,
            kind=Kind.COMPUTED,
            operation=SUBSCRIPT.name,
            law=None,
            inputs=(pair,),
            options=(("index", (index,)),),
        )
        frees = (both,) if index else ()
        steps.append(Step(target, own, (both,), kernel_of(own), frees=frees))
    return replace(
        program,
        size=program.size + 2,
        steps=(*program.steps[:place], *steps, *program.steps[place + 1 :]),
        terms=tuple(replace(term, factors=(*term.factors, (weight, 1))) for term in program.terms),
        targets=(*program.targets, weight),
        cost=program.cost + MIXTURE_COST,
        tables=(),
        lean=(),
        stratified=draw.name or drawn.value.operation,
    )


# ---- nets ----------------------------------------------------------------------------------------


def can_be_in_nets(program: Program) -> bool:
    """Whether all that is drawn are a few numbers of laws that have quantile functions."""
    drawn = [step.value for step in program.steps if step.kernel is None]
    if program.whole or program.counter is not None or program.stratified is not None:
        return False
    if not 0 < sum(one.elements for one in drawn) <= MOST_NUMBERS:
        return False
    return all(one.law is not None and one.law.has_quantiles for one in drawn)


def in_nets(program: Program, size: int) -> Program:
    """The program with every `size` draws, a power of two, from the points of one net."""
    cost = program.cost
    for step in program.steps:
        if step.kernel is None and step.value.law is not None and step.value.law.standard:
            cost += step.value.elements * step.value.law.standard.quantile_cost
    return replace(_step_by_step(program), net=size, cost=cost)


def _step_by_step(program: Program) -> Program:
    """The program without its shortcuts, and without others that make the same draws."""
    return replace(
        program, tables=(), lean=(), paired=False, separations=None, apart=(), shared=False
    )


# ---- on paper ------------------------------------------------------------------------------------

# How many times as long a function takes on paper (measured; 10 to 40 with functions of arrays).
SLOWER = 20


@dataclass(frozen=True, slots=True)
class Tied:
    """A function that rounding keeps from a jump, and the program as it is on paper."""

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
    """Where rounding decides what is averaged, in so many draws, or for a value of a discrete one.

    Where numbers come again and again near where functions jump, or tie there with no difference,
    rare ones are looked for in so many whole spans; in any case where `closely`. `generator` gives
    the draws of each.
    """
    jumps = [step.value for step in program.steps if step.kernel is not None]
    jumps = [value for value in jumps if may_jump(value)]
    if not jumps:
        return None
    plain = _step_by_step(program)
    near = NearJumps()
    tied = _tied(plain, near, lambda: generator(0), draws)
    if tied is None and (closely or near.again or near.found is not None):
        for span in range(spans):
            tied = tied or _tied(plain, NearJumps(), partial(generator, span), plain.span_draws)
    if tied is None:
        by = next(filter(tied_somewhere, jumps), None)
        return None if by is None else Tied(by, on_paper(plain))
    return tied


def _tied(
    plain: Program, near: NearJumps, generator: Callable[[], np.random.Generator], draws: int
) -> Tied | None:
    with np.errstate(all="ignore"):
        held = plain.registers(generator(), draws, near)
        if near.found is None:
            return None
        other = on_paper(plain)
        again = other.registers(generator(), draws)
    factors = (register for term in plain.terms for register, _ in term.factors)
    given = (term.given for term in plain.terms if term.given is not None)
    same = all(
        alike(number(filled(held[one])), number(filled(again[one])))
        for one in {*plain.targets, *factors, *given}
    )
    return None if same else Tied(near.found, other)


def on_paper(program: Program) -> Program:
    """The program with each value that rounding keeps from a jump at the jump."""
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
