"""What has no value too seldom to matter, or never under its condition, gets one in the analysis.

`first(c)` is infinite where no element is true, and `x / k` is undefined where k is 0. With 200
tosses either has the chance 2**-200: no run sees it, and no reader means it. They are read given
that they have a value, and the row says so. Under `given=any(c)` they have one in every draw that
counts. The analysis puts an end to such a waiting time, and 0 where a quotient has no value.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dropcheck.analysis.exact import Integrand, exact_means
from dropcheck.analysis.rewriting import exchanged, made_of, varying
from dropcheck.analysis.support import NEGLIGIBLE, Support, takes_all_numbers
from dropcheck.known.sure import NEVER
from dropcheck.language.compile import LoweredCase
from dropcheck.language.graph import Kind, Value, computed, constant_beside, ordered
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MINIMUM, SUBTRACT
from dropcheck.vocabulary.functions.reductions import SUM
from dropcheck.vocabulary.functions.truths import ALL, AND, ANY, COMPARISONS, IS_FINITE, NOT, WHERE

_FIRST, _MAXIMUM = FUNCTIONS["first"], FUNCTIONS["maximum"]
_LOGARITHMS = tuple(FUNCTIONS[name] for name in ("log", "log2", "log10"))


@dataclasses.dataclass(frozen=True, slots=True)
class Instead:
    """What stands for a value that may be undefined, `zeros` of which are then all 0."""

    stand: Value
    zeros: Value
    said: str


def with_values(lowered: LoweredCase) -> tuple[LoweredCase, tuple[str, ...]]:
    """The case with a value in every draw, and what to say of it; itself where nothing is changed.

    The mean of what replaces a waiting time differs from the mean given that it is finite by the
    chance times the number of steps, at most; that of what replaces a quotient or a logarithm by
    the chance times itself.
    """
    values = varying(lowered.operands)
    search = _Search()
    stands: dict[int, Value] = {}
    notes: dict[str, None] = {}
    for value in values:
        if value.kind == Kind.OPERATOR:
            stands |= search.under_condition(value)
            continue
        found = search.instead(value)
        chance = search.neglected(value) if found is None else search.chance(found.zeros)
        if chance is None or chance > NEGLIGIBLE:
            continue
        if found is not None:
            stands[id(value)] = found.stand
        said = f"{value.operation} is defined" if found is None else found.said
        if chance > 0:
            fails = f"which fails with a chance of {chance:.1g} a draw"
            notes[f"it is read given that {said}, {fails}"] = None
    if not stands:
        return lowered, tuple(notes)
    replaced = exchanged(values, stands)
    operands = tuple(map(replaced, lowered.operands))
    return dataclasses.replace(lowered, operands=operands, beside=(), place=0), tuple(notes)


class _Search:
    """What is known of the values of a case, each looked at once."""

    def __init__(self) -> None:
        self._walk = Support()
        self._chances: dict[int, float | None] = {}

    def instead(self, value: Value) -> Instead | None:
        """What stands for a waiting time, for a quotient or logarithm of a count; else None."""
        if value.computed_by(_FIRST) and not value.shape:
            (event,) = value.inputs
            last = constant_beside(value, float(event.shape[-1] - 1))
            stand = computed(MINIMUM, value, last, like=value)
            return Instead(stand=stand, zeros=event, said="first(…) is finite")
        if not value.computed_by(DIVIDE, *_LOGARITHMS):
            return None
        *above, count = value.inputs
        known = self._walk.known(count)
        if not (count.random and known.whole and known.low >= 0) or count.shape:
            return None
        at_least_1 = computed(_MAXIMUM, count, constant_beside(count, 1.0), like=count)
        stand = dataclasses.replace(value, inputs=(*above, at_least_1))
        if not all(one.sources.isdisjoint(count.sources) for one in above):
            some = computed(COMPARISONS[">"], count, constant_beside(count, 0.0), like=count)
            stand = computed(WHERE, some, stand, constant_beside(value, 0.0), like=value)
        said = f"what {'/ divides by' if above else f'{value.operation} takes'} is not 0"
        zeros = count.inputs[0] if count.computed_by(SUM) else count
        return Instead(stand=stand, zeros=zeros, said=said)

    def chance(self, terms: Value) -> float | None:
        """A bound of the chance that all entries are 0; None if it is unknown."""
        if id(terms) not in self._chances:
            self._chances[id(terms)] = _chance_of_zeros(terms)
        return self._chances[id(terms)]

    def neglected(self, value: Value) -> float | None:
        """The chance with which a function of one draw is undefined, where that is too small."""
        if value.kind != Kind.COMPUTED or takes_all_numbers(value.function):
            return None
        self._walk.known(value)
        return self._walk.neglected.get(id(value))

    def under_condition(self, operator: Value) -> dict[int, Value]:
        """An operator whose quantities have values where its condition holds, by its id."""
        count = operator.operator.quantities
        quantities, conditions = operator.inputs[:count], operator.inputs[count:]
        if len(conditions) != 1 or conditions[0].shape:
            return {}
        within = ordered(quantities)
        stands: dict[int, Value] = {}
        for value in within:
            found = self.instead(value)
            if found is not None and self._is_guarded(conditions[0], value, found.zeros):
                stands[id(value)] = found.stand
        if not stands:
            return {}
        replaced = exchanged(within, stands)
        return {id(operator): made_of(operator, (*map(replaced, quantities), *conditions))}

    def _is_guarded(self, condition: Value, value: Value, zeros: Value) -> bool:
        """Whether a value is defined in each draw in which a condition holds."""
        parts = [condition]
        while parts:
            part = parts.pop()
            if part.computed_by(AND):
                parts += part.inputs
                continue
            some = part.computed_by(ANY) and part.inputs[0] is zeros and not part.shape
            if some or (value.computed_by(_FIRST) and _is_finite(part, value)):
                return True
        return self._walk.under([(condition, True)], value).defined > NEVER


def _is_finite(condition: Value, time: Value) -> bool:
    """Whether a condition says that a waiting time, or a number more or less, is finite."""
    if condition.computed_by(IS_FINITE):
        (one,) = condition.inputs
    elif condition.computed_by(COMPARISONS["<"]) and condition.inputs[1].known == np.inf:
        one = condition.inputs[0]
    else:
        return False
    while one.computed_by(ADD, SUBTRACT) and one.inputs[1].constant is not None:
        one = one.inputs[0]
    return one is time


def _chance_of_zeros(terms: Value) -> float | None:
    """A bound of the chance that all entries of events or counts are 0; None if it is unknown."""
    if terms.kind == Kind.DRAW and all(one.constant is not None for one in terms.inputs):
        arguments = [np.asarray(one.constant)[..., 0] for one in terms.inputs]
        each = None if terms.law is None else terms.law.cdf(0.0, *arguments)
        if each is not None:
            return float(np.prod(np.broadcast_to(each, terms.shape)))
    zero = constant_beside(terms, 0.0)
    none = NOT if terms.truth else COMPARISONS["=="]
    event = computed(none, *([terms] if terms.truth else [terms, zero]), like=terms)
    while event.shape:
        event = computed(ALL, event, like=event, shape=event.shape[:-1])
        event = dataclasses.replace(event, options=(("axis", -1.0), ("keepdims", 0.0)))
    found = exact_means([Integrand(factors=((event, 1),))])
    return None if found is None else float(found[0][0] + found[1][0])
