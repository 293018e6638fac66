"""Single draws of a program."""

from __future__ import annotations

import numpy as np

from dropcheck.language.graph import number
from dropcheck.simulation.integrands import filled
from dropcheck.simulation.program import Program
from dropcheck.vocabulary.function import Array


def values_of(program: Program, generator: np.random.Generator, draws: int) -> list[Array]:
    """Some draws of the quantities that are looked at, [..., draws] each, or 1 where fixed."""
    with np.errstate(all="ignore"):
        held = program.registers(generator, draws)
    return [number(filled(held[register])) for register in program.targets]
