"""What one draw of a quantity costs, by its shape: memory, and nanoseconds on one core.

The figures are good to a factor of a few. They limit what a claim may ask for, and they plan spans
and default budgets; no result depends on them.
"""

from __future__ import annotations

import math

from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.shapes import Shape

# One draw may take two seconds. Then ten draws, of the thousands that a verdict needs, use up a
# case's default budget. Fixed values are computed once, and may take ten seconds.
MOST_WORK = 2e9
MOST_FIXED_WORK = 1e10
# The largest total of fixed arrays that a check computes, since it may read a stranger's file:
# enough for one array of 200,000 numbers. Larger ones are computed by a run.
MOST_CHECKED_WORK = 5e6

# Nanoseconds for a draw by the user's code: a guess, so that budgets depend on no machine.
_SAMPLE_COST = 1000.0
SAMPLE_ELEMENT_COST = 40.0


def most_elements(memory: int) -> int:
    """How many numbers of 8 bytes all random quantities together may have in one draw.

    Fixed values may have as many again.

    >>> most_elements(2**30)
    67108864
    """
    return memory // 16


def draw_cost(law: Law | None, shape: Shape) -> float:
    """Nanoseconds to draw an array of this shape; without a law, the user's code draws it."""
    if law is not None:
        return law.draw_cost(shape)
    return _SAMPLE_COST + SAMPLE_ELEMENT_COST * math.prod(shape)


def memory_text(size: float) -> str:
    """A size in bytes, for people.

    >>> memory_text(8e12), memory_text(2**30)
    ('7.28 TiB', '1 GiB')
    """
    if size == float("inf"):
        return "more than any machine has"
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if size != round(size, 1) else f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.2g} EiB"


def time_text(nanoseconds: float) -> str:
    """A duration, for people.

    >>> time_text(2e9), time_text(9e13), time_text(4e20)
    ('2 seconds', '25 hours', 'more than a year')
    """
    seconds = nanoseconds / 1e9
    if seconds > 366 * 86400:
        return "more than a year"
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} seconds"
