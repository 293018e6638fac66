"""Replace quantities by others of the same law that need fewer draws or have known moments."""

from __future__ import annotations

import dataclasses

from dropcheck.analysis.fewer_draws.normal_noise import with_slopes
from dropcheck.analysis.fewer_draws.rotations import turned, with_marginals, with_roots, with_rows
from dropcheck.analysis.fewer_draws.sums import varying, with_ranks, with_sums
from dropcheck.language.compile import LoweredCase
from dropcheck.language.graph import Value


def with_fewer_draws(lowered: LoweredCase) -> LoweredCase:
    """The case with fewer draws; the case itself if no rule applies.

    The statements beside it share its draws, and are changed with it.
    """
    values: list[Value] = []
    for rule in (with_marginals, with_roots, with_slopes, turned, with_ranks, with_sums, with_rows):
        family = [one for one in lowered.beside if one is not None] or [lowered]
        operands = [value for one in family for value in one.operands]
        values = values or varying(operands)
        stands = rule(values, operands)
        if stands is None:
            continue
        values = []
        changed = {
            id(one): dataclasses.replace(one, operands=tuple(map(stands, one.operands)))
            for one in family
        }
        beside = tuple(None if one is None else changed[id(one)] for one in lowered.beside)
        own = beside[lowered.place] if beside else changed[id(lowered)]
        assert own is not None
        lowered = dataclasses.replace(lowered, operands=own.operands, beside=beside)
    return lowered
