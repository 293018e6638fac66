"""Simulation: programs that draw, and the sums that they leave behind.

This is the room's door: what judges and plans a case imports what is named here, and of a program
it uses only

- how it draws: `calls_own_code`, `cost`, `sampling`, `combined`, `rarest`;
- what it averages: `terms`, and `sums_about`, whether that can be done about some centres;
- in what portions: `span_draws`, `span_values`, `block_draws`, `fitted`, `in_blocks`,
  `in_blocks_of`;
- a pilot: `origin`, `centres`, `near_ties`, `largest`;
- strata: `stratified` makes a program that draws one of its draws from them;
- draws: `span`.

What a program is made of, and the shortcuts that it takes, are the room's own.
"""

from dropcheck.simulation.assemble import Registers
from dropcheck.simulation.blocks import MOST_ROWS, Request, Tally
from dropcheck.simulation.compile import (
    Compiled,
    Counted,
    compile_averages,
    compile_strategy,
)
from dropcheck.simulation.functional import means_of
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.simulation.streams import MAIN, PILOT, stream
from dropcheck.simulation.weighted import stratified

__all__ = [
    "MAIN",
    "MOST_ROWS",
    "PILOT",
    "Compiled",
    "Counted",
    "Program",
    "Registers",
    "Request",
    "SpanSums",
    "Tally",
    "compile_averages",
    "compile_strategy",
    "means_of",
    "stratified",
    "stream",
]
