"""Rewritings: quantities in place of others of the same law whose moments are known.

Only the analysis sees the rewritten case: what is drawn is what is written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from dropcheck.analysis.fewer_draws.rotations import turned, with_roots
from dropcheck.analysis.fewer_draws.sums import varying, with_ranks, with_sums
from dropcheck.language.compile import LoweredCase
from dropcheck.language.graph import Value

Rewriting = Callable[[Sequence[Value], Sequence[Value]], Callable[[Value], Value] | None]
"""Takes all values of a graph and its operands; returns what stands for each value, or None."""

REWRITINGS: dict[str, Rewriting] = {
    "a normal vector: a root of its covariances times independent numbers": with_roots,
    "a normal matrix times a vector: the vector's length times a normal vector": turned,
    "an element by its rank: one draw of its law": with_ranks,
    "a sum, or a sum of squares: one draw of its law": with_sums,
}


def with_fewer_draws(lowered: LoweredCase) -> LoweredCase:
    """The case, made of fewer draws, and by itself; the case itself if no rule applies."""
    values: list[Value] = []
    for rule in REWRITINGS.values():
        values = values or varying(lowered.operands)
        stands = rule(values, lowered.operands)
        if stands is not None:
            values = []
            operands = tuple(map(stands, lowered.operands))
            lowered = dataclasses.replace(lowered, operands=operands, beside=(), place=0)
    return lowered
