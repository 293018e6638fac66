"""Draws that are undefined, or that show an error of code: how many there are, and one of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dropcheck.reasons import Explanation, Reason
from dropcheck.simulation import PILOT, Compiled, Tally, example

Streams = Callable[[int, int], np.random.Generator]
"""The streams of a case, by their purpose and the number of the span."""


def undefined_draws(tally: Tally) -> Explanation | None:
    """The explanation where draws are NaN or infinite; None where none is."""
    if not tally.undefined:
        return None
    return Reason.UNDEFINED_DRAWS.explain(
        undefined=tally.undefined,
        draws=tally.looked_at,
        percent=float(f"{100 * tally.undefined / tally.looked_at:.2g}"),
        first=(tally.first_undefined or 0) + 1,
    )


def why_undefined(compiled: Compiled, tally: Tally) -> Explanation:
    """The explanation where the quantity is undefined at the averages themselves."""
    for leaf in compiled.functional.leaves.values():
        column = leaf.columns.get("g")
        if column is not None and tally.totals[column] == 0:
            return Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
    return Reason.UNDEFINED_AT_AVERAGES.explain()


def not_numbers(tally: Tally, streams: Streams, purpose: int) -> Explanation:
    """The explanation where draws of code are NaN or infinite, with the first such draw."""
    return Reason.NOT_NUMBERS.explain(
        undefined=tally.undefined,
        draws=tally.looked_at,
        first=first_wrong(tally, tally.first_undefined or 0, streams, purpose),
    )


def first_wrong(tally: Tally, draw: int, streams: Streams, purpose: int) -> str:
    """A wrong draw of code, in words; its span is drawn once more.

    Args:
        tally: of the case.
        draw: the number of the draw, or of any draw in its span.
        streams: those of the case.
        purpose: what the tally was drawn for.
    """
    # the pilot's first stream is left to what looks at single draws
    span = draw // tally.program.span_values + (purpose == PILOT)
    shown = example(tally.program, streams(purpose, span))
    return f", the first with {shown}" if shown else ""
