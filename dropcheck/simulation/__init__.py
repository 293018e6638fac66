"""Simulation: programs that draw, and the sums that they leave behind.

This is the room's door: what judges and plans a case imports what is named here, and of a program
it uses only

- how it draws: `calls_own_code`, `tests_code`, `cost`, `sampling`, `combined`, `rarest`, `shared`,
  `whole`, where each span is one block, and `declared`, where each is a call of code whose draws
  count each, with the `fewest_planned`, and how many `calls` its draws come from;
- what it averages: `terms`, and `sums_about`, whether that can be done about some centres;
- in what portions: `span_draws`, `span_values`, `span_blocks`, `block_draws`, `fitted`,
  `in_blocks`, `in_blocks_of`;
- a pilot: `origin`, `centres` and `finite`;
- what rounding decides: `tied_in`, `rounding_in` averages, `rounding_of_values`, `magnitude_of`,
  `rounding_of_fixed`, `unclear_in`;
- cells: `values` of some draws, and `counting`, which counts draws in cells by
  `AtCuts`, `FarOut`, `TwoAtCuts` or `Tables` in place of sums, `columns` of them in each block;
- nets: `in_nets` makes a program that draws in them, where it `can_be_in_nets`; `unit_draws` are
  those of each, as of each call where it is `whole`; `clips` say what is kept of each, and
  `units` of a tally counts them;
- strata: `stratified` makes a program that draws one of its draws from them;
- draws: `span`.

What a program is made of, and the shortcuts that it takes, are the room's own.
"""

from dropcheck.simulation.assemble import Registers
from dropcheck.simulation.blocks import MOST_ROWS, Collected, CountTally, Request, Tally
from dropcheck.simulation.cell_counts import AtCuts, Counter, FarOut, Tables, TwoAtCuts
from dropcheck.simulation.code_calls import FEWEST_CALLS
from dropcheck.simulation.compile import (
    AtThresholds,
    Compiled,
    Counted,
    InCells,
    Threshold,
    below,
    compile_averages,
    compile_counts,
    compile_strategy,
)
from dropcheck.simulation.examples import example
from dropcheck.simulation.functional import means_of
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.simulation.sobol_nets import Clip
from dropcheck.simulation.streams import MAIN, PILOT, stream
from dropcheck.simulation.variants.digits_left import (
    magnitude_of,
    rounding_in,
    rounding_of_fixed,
    rounding_of_values,
    unclear_in,
)
from dropcheck.simulation.variants.in_cells import counting_in_cells
from dropcheck.simulation.variants.nets import can_be_in_nets, in_nets
from dropcheck.simulation.variants.single_draws import values_of
from dropcheck.simulation.variants.stratified import stratified
from dropcheck.simulation.variants.tied import tied_in

__all__ = [
    "FEWEST_CALLS",
    "MAIN",
    "MOST_ROWS",
    "PILOT",
    "AtCuts",
    "AtThresholds",
    "Clip",
    "Collected",
    "Compiled",
    "CountTally",
    "Counted",
    "Counter",
    "FarOut",
    "InCells",
    "Program",
    "Registers",
    "Request",
    "SpanSums",
    "Tables",
    "Tally",
    "Threshold",
    "TwoAtCuts",
    "below",
    "can_be_in_nets",
    "compile_averages",
    "compile_counts",
    "compile_strategy",
    "counting_in_cells",
    "example",
    "in_nets",
    "magnitude_of",
    "means_of",
    "rounding_in",
    "rounding_of_fixed",
    "rounding_of_values",
    "stratified",
    "stream",
    "tied_in",
    "unclear_in",
    "values_of",
]
