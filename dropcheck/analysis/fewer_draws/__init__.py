"""Replace quantities by others of the same law that need fewer draws or have known moments."""

from __future__ import annotations

import dataclasses

from dropcheck.analysis.fewer_draws.entries import with_entries
from dropcheck.analysis.fewer_draws.rotations import turned, with_roots
from dropcheck.analysis.fewer_draws.sums import varying, with_ranks, with_sums
from dropcheck.analysis.fewer_draws.zeros import with_zeros
from dropcheck.language.compile import LoweredCase
from dropcheck.language.graph import Value


def with_fewer_draws(lowered: LoweredCase) -> LoweredCase:
    """The case, made of fewer draws, and by itself; the case itself if no rule applies.

    Only the analysis sees it: what is drawn is what is written.
    """
    values: list[Value] = []
    for rule in (with_zeros, with_entries, with_roots, turned, with_ranks, with_sums):
        values = values or varying(lowered.operands)
        stands = rule(values, lowered.operands)
        if stands is not None:
            values = []
            operands = tuple(map(stands, lowered.operands))
            lowered = dataclasses.replace(lowered, operands=operands, beside=(), place=0)
    return lowered
