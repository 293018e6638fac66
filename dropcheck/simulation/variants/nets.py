"""Programs that draw in nets of points."""

from __future__ import annotations

from dataclasses import replace

from dropcheck.simulation.program import Program
from dropcheck.simulation.sobol_nets import MOST_NUMBERS
from dropcheck.simulation.variants import step_by_step


def can_be_in_nets(program: Program) -> bool:
    """Whether it draws only a few numbers, from laws that have quantile functions."""
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
    return replace(step_by_step(program), net=size, cost=cost)
