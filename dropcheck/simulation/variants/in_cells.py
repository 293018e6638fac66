"""Programs whose draws are counted in cells, or kept as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dropcheck.language.graph import number
from dropcheck.simulation.cell_counts import Counter
from dropcheck.simulation.integrands import filled
from dropcheck.simulation.program import Program
from dropcheck.vocabulary.function import Array


def counting_in_cells(program: Program, counter: Counter, draws: int) -> Program:
    """The program with draws counted in cells; each span of `draws` draws is one block.

    If others make the same draws, the spans are as long as theirs.
    """
    return replace(
        program,
        counter=counter,
        separations=None,
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
