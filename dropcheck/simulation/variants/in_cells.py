"""Programs whose draws are counted in cells."""

from __future__ import annotations

from dataclasses import replace

from dropcheck.simulation.cell_counts import Counter
from dropcheck.simulation.program import Program


def counting_in_cells(program: Program, counter: Counter, draws: int) -> Program:
    """The program with draws counted in cells, a block for each span of so many.

    Where others make the same draws, spans are as long as theirs.
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
