"""What one draw of a quantity costs, from shapes alone: memory and rough nanoseconds on one core.

The figures are good to a factor of a few. They bound what a claim may ask for before anything is
drawn, and they plan spans and default budgets; no result depends on them.
"""

from __future__ import annotations

import math

from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.shapes import Shape

# One draw may take two seconds: then ten draws, of the thousands that a verdict takes, fill the
# budget that a case has by default. What is fixed is worked out once, and may take ten.
MOST_WORK = 2e9
MOST_FIXED_WORK = 1e10

# Code of one's own, a draw: a guess, so that the default budget depends on no machine.
_SAMPLE_COST = 1000.0
_SAMPLE_ELEMENT_COST = 40.0


def most_elements(memory: int) -> int:
    """How many numbers of 8 bytes all quantities of one draw together may have.

    What is fixed may have as many again.

    >>> most_elements(2**30)
    67108864
    """
    return memory // 16


def draw_cost(law: Law | None, shape: Shape) -> float:
    """Nanoseconds to draw an array of this shape, from a law or by code of one's own."""
    return (
        _SAMPLE_COST + _SAMPLE_ELEMENT_COST * math.prod(shape)
        if law is None
        else law.draw_cost(shape)
    )
