"""The same draws once more, with each result a little off: how many digits are left.

A result is moved up or down, at random, by what one rounding may have moved it. How far that moves
what is averaged is how far rounding may have moved it (the CESTAC method: Vignes 1993, Mathematics
and Computers in Simulation 35, 233-261; Monte Carlo arithmetic: Parker 1997).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Kind, Value, kernel_of, number
from dropcheck.simulation.integrands import Sums, Term, filled
from dropcheck.simulation.program import Program
from dropcheck.simulation.steps import Step, computed
from dropcheck.simulation.variants import step_by_step
from dropcheck.vocabulary.function import Array

# What a result is moved by: the distance to the next number, which is two roundings at most.
SHARE = 2.0**-52
# How many times the change that is seen is allowed for: it is seen in few draws.
ALLOWED = 8.0
# Whole numbers up to here are exact where they come out of a step.
EXACT_WHOLE = 2.0**51


class Perturbed:
    """Works out steps as they stand and, beside them, a little off.

    `moved` holds what is off, by register; other registers are as they stand, and truths.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self.moved: dict[int, Array] = {}

    def __call__(self, step: Step, inputs: list[Array]) -> Array:
        """The value of a step as it stands."""
        result = computed(step, inputs)
        function = step.value.function
        given = [
            self._given(register, below, array)
            for register, below, array in zip(step.inputs, step.value.inputs, inputs, strict=True)
        ]
        if result.dtype != np.bool_:
            other = result
            if any(one is not array for one, array in zip(given, inputs, strict=True)):
                with suppress(DropcheckError):  # what it cannot take, it was not near
                    other = _beside(step, inputs, given, result)
            if not (function.rearranges or function.joins):
                other = self._off(other)
            if other is not result:
                self.moved[step.target] = other
        for register in step.frees:
            self.moved.pop(register, None)
        return result

    def _given(self, register: int, below: Value, array: Array) -> Array:
        continuous = below.kind == Kind.DRAW and below.law is not None and not below.law.discrete
        if continuous and register not in self.moved:
            self.moved[register] = self._off(array)
        return self.moved.get(register, array)

    def _off(self, array: Array) -> Array:
        """An array a little off, but for whole numbers."""
        exact = (array == np.rint(array)) & (np.abs(array) <= EXACT_WHOLE)
        if exact.all():
            return array
        signs = self.generator.integers(0, 2, array.shape) * (2.0 * SHARE) - SHARE
        return np.where(exact, array, array * (1.0 + signs))


def _beside(step: Step, inputs: list[Array], given: list[Array], result: Array) -> Array:
    """What a step makes of inputs that are a little off.

    What that keeps from a jump, or takes to it, is at the jump in both: ties are looked at by
    themselves.
    """
    jumps = step.value.function.jumps
    if jumps is None:
        return computed(step, given)
    as_is, off = list(map(number, inputs)), list(map(number, given))
    errors = [2.0 * np.abs(other - one) for one, other in zip(as_is, off, strict=True)]
    paper, other = computed(step, jumps(as_is, errors)[0]), computed(step, jumps(off, errors)[0])
    return np.where(other == paper, result, result + (other - paper))


def rounding_in(
    program: Program, generator: np.random.Generator, centres: Sums, draws: int
) -> Sums:
    """How far rounding may move the average of each integrand, as so many draws show it: [terms].

    0 for integrands that are not finite in some of these draws.
    """
    steps = tuple(
        replace(step, kernel=kernel_of(step.value), crossed=False) if step.crossed else step
        for step in program.steps
    )
    plain = replace(step_by_step(program), steps=steps, net=1, roundings=None)
    watch = Perturbed(generator)
    with np.errstate(all="ignore"):
        held = plain.registers(generator, min(draws, program.span_draws), watch)
        found = [_moved_by(term, held, watch.moved, centres) for term in program.terms]
    return ALLOWED * np.array([one if np.isfinite(one) else 0.0 for one in found])


def _moved_by(
    term: Term, held: list[Array | None], moved: dict[int, Array], centres: Sums
) -> float:
    """How far one integrand moves, on average over draws and elements."""
    if not any(register in moved for register, _ in term.factors):
        return 0.0
    as_is = other = np.ones(1)
    for register, power in term.factors:
        array, centre = filled(held[register]), centres[register]
        as_is = as_is * (number(array) - centre) ** power
        other = other * (number(moved.get(register, array)) - centre) ** power
    off = np.abs(other - as_is)
    if term.given is not None:
        off = off * number(filled(held[term.given]))
    return float(off.mean())
