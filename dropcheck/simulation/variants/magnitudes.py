"""Single draws of a program, and how large its numbers are."""

from __future__ import annotations

import numpy as np

from dropcheck.language.graph import number
from dropcheck.simulation.integrands import filled
from dropcheck.simulation.program import Program
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.elementwise import ADD, SUBTRACT


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
