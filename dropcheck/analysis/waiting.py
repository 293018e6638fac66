"""Waiting times that are infinite too seldom to matter: read given that what is waited for comes.

`first(c)` is infinite where no element is true. With 200 tosses that has the chance 2**-200: no
run sees it, and no reader means it. The analysis puts an end to such a waiting time, and says so.
"""

from __future__ import annotations

import dataclasses

from dropcheck.analysis.averaged_products import Integrand
from dropcheck.analysis.exact import exact_means
from dropcheck.analysis.fewer_draws.sums import exchanged, varying
from dropcheck.language.compile import LoweredCase
from dropcheck.language.graph import Kind, Value, computed, constant_beside
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.elementwise import MINIMUM
from dropcheck.vocabulary.functions.truths import ALL, NOT

NEGLIGIBLE = 1e-15
"""The chance in a draw up to which a waiting time is taken to end: 10**9 draws see it with 1e-6."""

_FIRST = FUNCTIONS["first"]


def with_ends(lowered: LoweredCase) -> tuple[LoweredCase, tuple[str, ...]]:
    """The case with ends for its waiting times, and what to say of each; itself where it has none.

    The mean of what replaces a waiting time differs from the mean given that it is finite by the
    chance times the number of steps, at most.
    """
    values = varying(lowered.operands)
    stands: dict[int, Value] = {}
    notes: list[str] = []
    for value in values:
        chance = _chance_of_none(value)
        if chance is None or chance > NEGLIGIBLE:
            continue
        steps = value.inputs[0].shape[-1]
        stands[id(value)] = computed(
            MINIMUM, value, constant_beside(value, float(steps - 1)), like=value
        )
        notes.append(
            f"it is read given that first(…) is finite, which fails with a chance of {chance:.1g} "
            "a draw"
        )
    if not stands:
        return lowered, ()
    replaced = exchanged(values, stands)
    operands = tuple(map(replaced, lowered.operands))
    changed = dataclasses.replace(lowered, operands=operands, beside=(), place=0)
    return changed, tuple(dict.fromkeys(notes))


def _chance_of_none(value: Value) -> float | None:
    """A bound of the chance that a waiting time is infinite; None if it is none, or unknown."""
    if value.kind != Kind.COMPUTED or value.function is not _FIRST or value.shape:
        return None
    (event,) = value.inputs
    none = computed(ALL, computed(NOT, event, like=event), like=event, shape=())
    none = dataclasses.replace(none, options=(("axis", -1.0), ("keepdims", 0.0)))
    found = exact_means([Integrand(factors=((none, 1),))])
    return None if found is None else float(found[0][0] + found[1][0])
