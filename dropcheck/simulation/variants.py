"""Variants of programs, which draw or compute in another way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dropcheck.language.graph import number
from dropcheck.simulation.integrands import filled
from dropcheck.simulation.program import Counter, Program
from dropcheck.simulation.steps import MOST_NUMBERS
from dropcheck.vocabulary.function import Array


def step_by_step(program: Program) -> Program:
    """The program without shortcuts, and without others that make the same draws."""
    return replace(program, paired=False, shared=False)


# ---- in cells ------------------------------------------------------------------------------------
#
# Programs whose draws are counted in cells, or kept as they are.


def counting_in_cells(program: Program, counter: Counter, draws: int) -> Program:
    """The program with draws counted in cells; each span of `draws` draws is one block.

    If others make the same draws, the spans are as long as theirs.
    """
    return replace(
        program,
        counter=counter,
        paired=False,
        span_draws=program.span_draws if program.shared else draws,
        span_blocks=1,
        cost=program.cost + counter.cost,
    )


def values_of(program: Program, generator: np.random.Generator, draws: int) -> list[Array]:
    """Some draws of the quantities in integrands, [..., draws] each, or [..., 1] if fixed."""
    with np.errstate(all="ignore"):
        arrays = program.registers(generator, draws)
    return [number(filled(arrays[register])) for register in program.targets]


# ---- nets ----------------------------------------------------------------------------------------
#
# Programs that draw in nets of points.


def can_be_in_nets(program: Program) -> bool:
    """Whether it draws only a few numbers, from laws that have quantile functions."""
    drawn = [step.value for step in program.steps if step.kernel is None]
    if program.whole or program.counter is not None:
        return False
    if not 0 < sum(one.elements for one in drawn) <= MOST_NUMBERS:
        return False
    return all(one.law is not None and one.law.has_quantiles for one in drawn)


def in_nets(program: Program, size: int) -> Program:
    """The program with every `size` draws, a power of two, from the points of one net."""
    cost = program.cost
    for step in program.steps:
        if step.kernel is None and step.value.law is not None:
            cost += step.value.elements * step.value.law.quantile_cost
    return replace(step_by_step(program), net=size, cost=cost)
