"""Simulation: programs, which draw and leave sums of blocks of draws.

This module names everything that judging and planning use of it. A program's steps are internal.
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
from dropcheck.simulation.integrands import Term, means_of
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
    "Term",
    "compile_averages",
    "compile_strategy",
    "events_in",
    "example",
    "magnitude_of",
    "means_of",
    "rounding_in",
    "rounding_of_fixed",
    "rounding_of_values",
    "stream",
]
