"""What has no value too seldom to matter is read given that it has one, and the row says so.

`first(c)` is infinite where no element is true, and `x / k` is undefined where k is 0. With 200
tosses either has the chance 2**-200: no run sees it, and no reader means it. The analysis puts an
end to such a waiting time, and 0 where a quotient has no value.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dropcheck.analysis.averaged_products import Integrand
from dropcheck.analysis.exact import exact_means
from dropcheck.analysis.fewer_draws.sums import exchanged, varying
from dropcheck.language.compile import LoweredCase
from dropcheck.language.events import is_whole_from_0
from dropcheck.language.graph import Kind, Value, computed, constant_beside
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MINIMUM
from dropcheck.vocabulary.functions.reductions import SUM
from dropcheck.vocabulary.functions.truths import ALL, COMPARISONS, NOT, WHERE

NEGLIGIBLE = 1e-15
"""The chance in a draw up to which a value is taken to exist: 10**9 draws see it with 1e-6."""

_FIRST, _MAXIMUM = FUNCTIONS["first"], FUNCTIONS["maximum"]
_LOGARITHMS = tuple(FUNCTIONS[name] for name in ("log", "log2", "log10"))


def with_values(lowered: LoweredCase) -> tuple[LoweredCase, tuple[str, ...]]:
    """The case with a value in every draw, and what to say of it; itself where nothing is changed.

    The mean of what replaces a waiting time differs from the mean given that it is finite by the
    chance times the number of steps, at most; that of what replaces a quotient or a logarithm by
    the chance times itself.
    """
    values = varying(lowered.operands)
    stands: dict[int, Value] = {}
    notes: list[str] = []
    for value in values:
        found = _instead(value)
        if found is not None:
            stands[id(value)], what, chance = found
            notes.append(
                f"it is read given that {what}, which fails with a chance of {chance:.1g} a draw"
            )
    if not stands:
        return lowered, ()
    replaced = exchanged(values, stands)
    operands = tuple(map(replaced, lowered.operands))
    changed = dataclasses.replace(lowered, operands=operands, beside=(), place=0)
    return changed, tuple(dict.fromkeys(notes))


def _instead(value: Value) -> tuple[Value, str, float] | None:
    """What stands for a value, given what it is read, and the chance that this fails."""
    if value.computed_by(_FIRST) and not value.shape:
        (event,) = value.inputs
        chance = _chance(_all(computed(NOT, event, like=event)))
        last = constant_beside(value, float(event.shape[-1] - 1))
        ended = computed(MINIMUM, value, last, like=value)
        return None if chance is None else (ended, "first(…) is finite", chance)
    if not value.computed_by(DIVIDE, *_LOGARITHMS):
        return None
    *above, count = value.inputs
    if not count.random or count.shape or not is_whole_from_0(count):
        return None
    chance = _chance_of_0(count)
    if chance is None:
        return None
    at_least_1 = computed(_MAXIMUM, count, constant_beside(count, 1.0), like=count)
    defined = dataclasses.replace(value, inputs=(*above, at_least_1))
    if not all(one.sources.isdisjoint(count.sources) for one in above):
        some = computed(COMPARISONS[">"], count, constant_beside(count, 0.0), like=count)
        defined = computed(WHERE, some, defined, constant_beside(value, 0.0), like=value)
    what = f"what {'/ divides by' if above else f'{value.operation} takes'} is not 0"
    return defined, what, chance


def _chance_of_0(count: Value) -> float | None:
    """A bound of the chance that a whole number of at least 0 is 0, where it can be neglected."""
    terms = count.inputs[0] if count.computed_by(SUM) else count
    if terms.kind == Kind.DRAW and all(one.constant is not None for one in terms.inputs):
        arguments = [np.asarray(one.constant)[..., 0] for one in terms.inputs]
        each = None if terms.law is None else terms.law.cdf(0.0, *arguments)
        if each is not None:
            chance = float(np.prod(np.broadcast_to(each, terms.shape)))
            return chance if chance <= NEGLIGIBLE else None
    zero = constant_beside(terms, 0.0)
    return _chance(_all(computed(COMPARISONS["=="], terms, zero, like=terms)))


def _all(event: Value) -> Value:
    """Whether an event holds at all entries."""
    along = (("axis", -1.0), ("keepdims", 0.0))
    while event.shape:
        event = computed(ALL, event, like=event, shape=event.shape[:-1])
        event = dataclasses.replace(event, options=along)
    return event


def _chance(event: Value) -> float | None:
    """A bound of the chance of an event, where that is small enough to be neglected."""
    if event.kind != Kind.COMPUTED or not event.random:
        return None
    found = exact_means([Integrand(factors=((event, 1),))])
    bound = None if found is None else float(found[0][0] + found[1][0])
    return None if bound is None or bound > NEGLIGIBLE else bound
