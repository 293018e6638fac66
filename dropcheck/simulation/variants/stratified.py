"""Programs with strata for one of their draws."""

from __future__ import annotations

from dataclasses import replace

from dropcheck.language.graph import Value, computed, kernel_of
from dropcheck.simulation.program import Program
from dropcheck.simulation.steps import Step
from dropcheck.vocabulary.functions.arrays import SUBSCRIPT
from dropcheck.vocabulary.law_parts import MIXTURE_COST, Stratum, mixture_of


def stratified(
    program: Program, draw: Value, strata: tuple[Stratum, ...], shares: tuple[float, ...]
) -> Program:
    """The program with one draw from a mixture of its strata, and weights on every integrand.

    There are two more registers: one for pairs of the draw and its weight, and one for the weight,
    which is a factor of every integrand.

    Raises:
        ValueError: the program does not make this draw, or it has no law.
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
        own = replace(computed(SUBSCRIPT, pair, like=draw), options=(("index", (index,)),))
        frees = (both,) if index else ()
        steps.append(Step(target, own, (both,), kernel_of(own), frees=frees))
    return replace(
        program,
        size=program.size + 2,
        steps=(*program.steps[:place], *steps, *program.steps[place + 1 :]),
        terms=tuple(replace(term, factors=(*term.factors, (weight, 1))) for term in program.terms),
        targets=(*program.targets, weight),
        cost=program.cost + MIXTURE_COST,
        stratified=draw.name or drawn.value.operation,
    )
