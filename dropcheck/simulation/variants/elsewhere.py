"""Draws from elsewhere: what a comparison says where rounding does not decide it.

Two quantities that come out equal may be equal on paper, as `x**3` and `x * x * x` are, or one of
them has lost what sets them apart, as `sigmoid(x)` and 1 have far out. What is equal on paper for
all values near one point is so for all values of the law, as far as the functions are analytic
(Mityagin 2015, "The zero set of a real analytic function"). So both are looked at for values of
moderate size that the law has too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dropcheck.language.graph import Kind, Value
from dropcheck.simulation.program import Program
from dropcheck.simulation.steps import Step
from dropcheck.vocabulary.function import Array


def drawn_elsewhere(program: Program) -> Program:
    """The program with draws from fixed laws as steps that whoever computes it works out."""
    steps = tuple(
        replace(step, kernel=_not_called) if _can_be_moved(step.value) else step
        for step in program.steps
    )
    return replace(program, steps=steps)


def draws_of(step: Step, generator: np.random.Generator, draws: int) -> Array:
    """Values of moderate size that the law of a draw has."""
    low, high = _support(step.value)
    shape = (*step.value.shape, draws)
    if step.value.law is not None and step.value.law.discrete:
        return low + generator.poisson(1.0, shape)
    if np.isfinite(low) and np.isfinite(high):
        return generator.uniform(low, high, shape)
    if np.isfinite(low) or np.isfinite(high):
        away = generator.standard_exponential(shape)
        return low + away if np.isfinite(low) else high - away
    return generator.standard_normal(shape)


def _can_be_moved(value: Value) -> bool:
    law = value.law
    if value.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return False
    if not all(isinstance(one.known, float) for one in value.inputs):
        return False
    low, high = _support(value)
    return low < high and (not law.discrete or (high == np.inf and np.isfinite(low)))


def _support(value: Value) -> tuple[float, float]:
    assert value.law is not None
    low, high = value.law.support(*(one.known for one in value.inputs))
    return float(low), float(high)


def _not_called(*_: Array) -> Array:
    raise AssertionError("draws from elsewhere are made by who computes the program")
