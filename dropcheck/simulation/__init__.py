"""Simulation: programs, which draw and leave sums of blocks of draws.

This module names everything that judging and planning may use of the simulation. Of a program they
use only

- how it draws: `tests_code`, `cost`, `sampling`, `paired`, `rarest`, `shared`;
  `whole`, if each span is one block; `declared`, if each span is a call of code whose draws count
  one by one; then `fewest_planned` draws, and the number of `calls`;
- what it averages: `terms`, and `sums_about`, whether they can be summed about given centres;
- in what portions: `span_draws`, `span_values`, `span_blocks`, `block_draws`, `fitted`,
  `in_blocks`, `in_blocks_of`;
- a pilot: `origin`, `centres` and `finite`;
- the effect of rounding: `rounding_in` averages, `rounding_of_values`, `magnitude_of`,
  `rounding_of_fixed`, and `events_in`, which it may decide;
- cells: `values` of some draws, and `counting`, which counts draws in cells by a counter (`AtCuts`
  or `Tables`) in place of sums, with `columns` counts in each block;
- nets of points: `in_nets` makes a program that draws them, if it `can_be_in_nets`; each net has
  `unit_draws`, as each call has in a `whole` program; `clips` say what is stored of each net, and
  `units` of a tally counts the nets;
- draws: `span`.

The parts of a program, and its shortcuts, are internal.
"""

from dropcheck.simulation.blocks import MOST_ROWS, CountTally, Request, Tally
from dropcheck.simulation.compile import (
    Compiled,
    Counted,
    InCells,
    Registers,
    compile_averages,
    compile_strategy,
)
from dropcheck.simulation.examples import example
from dropcheck.simulation.integrands import means_of
from dropcheck.simulation.program import AtCuts, Counter, Program, SpanSums, Tables
from dropcheck.simulation.rounding import (
    events_in,
    magnitude_of,
    rounding_in,
    rounding_of_fixed,
    rounding_of_values,
)
from dropcheck.simulation.steps import FEWEST_CALLS, Clip
from dropcheck.simulation.streams import MAIN, PILOT, stream
from dropcheck.simulation.variants import (
    can_be_in_nets,
    counting_in_cells,
    in_nets,
    values_of,
)

__all__ = [
    "FEWEST_CALLS",
    "MAIN",
    "MOST_ROWS",
    "PILOT",
    "AtCuts",
    "Clip",
    "Compiled",
    "CountTally",
    "Counted",
    "Counter",
    "InCells",
    "Program",
    "Registers",
    "Request",
    "SpanSums",
    "Tables",
    "Tally",
    "can_be_in_nets",
    "compile_averages",
    "compile_strategy",
    "counting_in_cells",
    "events_in",
    "example",
    "in_nets",
    "magnitude_of",
    "means_of",
    "rounding_in",
    "rounding_of_fixed",
    "rounding_of_values",
    "stream",
    "values_of",
]
