"""Draws that are undefined, or of code under test wrong: how many there are, and what one is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dropcheck.reasons import Explanation, Reason
from dropcheck.simulation import PILOT, Compiled, Tally, example

Streams = Callable[[int, int], np.random.Generator]
"""The streams of a case, by what they are drawn for and the number of the span."""


def undefined_draws(tally: Tally) -> Explanation | None:
    """How many draws are NaN or infinite, where some are."""
    if not tally.undefined:
        return None
    return Reason.UNDEFINED_DRAWS.explain(
        undefined=tally.undefined,
        draws=tally.looked_at,
        percent=float(f"{100 * tally.undefined / tally.looked_at:.2g}"),
        first=(tally.first_undefined or 0) + 1,
    )


def why_undefined(compiled: Compiled, tally: Tally) -> Explanation:
    """What makes the quantity undefined at the averages themselves."""
    for leaf in compiled.functional.leaves.values():
        column = leaf.columns.get("g")
        if column is not None and tally.totals[column] == 0:
            return Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
    return Reason.UNDEFINED_AT_AVERAGES.explain()


def not_numbers(tally: Tally, streams: Streams, purpose: int) -> Explanation:
    """How many draws of code are NaN or infinite, and what it was given and gave in the first."""
    return Reason.NOT_NUMBERS.explain(
        undefined=tally.undefined,
        draws=tally.looked_at,
        first=first_wrong(tally, tally.first_undefined or 0, streams, purpose),
    )


def first_wrong(tally: Tally, draw: int, streams: Streams, purpose: int) -> str:
    """A draw of code that is wrong, in words: the span of one that is drawn once more.

    Args:
        tally: of the case.
        draw: a number of a draw, or of any draw in its span.
        streams: those of the case.
        purpose: what the tally was drawn for.
    """
    # the pilot's first stream is left to what is looked for in single draws
    span = draw // tally.program.span_values + (purpose == PILOT)
    shown = example(tally.program, streams(purpose, span))
    return f", the first with {shown}" if shown else ""
