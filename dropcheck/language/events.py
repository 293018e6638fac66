"""Which quantities are events, 0 or 1 in every draw, and which events have probability 0.

An event is what the model knows to be 0 or 1: a comparison, a Bernoulli draw, a product of events.
A number is none, and `P(x)` of it is an error: it would count every value but 0 as true.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dropcheck.language.graph import Kind, Value, in_order, number
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.elementwise import (
    ADD,
    DIVIDE,
    MULTIPLY,
    NEGATIVE,
    POWER,
    SUBTRACT,
)
from dropcheck.vocabulary.functions.reductions import MEAN, SUM
from dropcheck.vocabulary.functions.truths import AND, COMPARISONS, OR
from dropcheck.vocabulary.law import Values

Ends = tuple[float, float]

MOST_VALUES = 8  # of each argument, at which a function is computed to see whether it is whole
# Functions of several elements whose value is one of them, and products of truths.
_ONE_OF = {"max", "min", "sort", "cummax", "prod", "cumprod"}
# Functions that take whole numbers to whole numbers, and are farthest where these are.
_FARTHEST_AT_ENDS = (ADD, SUBTRACT, MULTIPLY, NEGATIVE, *map(FUNCTIONS.get, ("maximum", "minimum")))
# Functions that take no value on more than countably many points: a continuous law stays so.
_STRICT = {
    *("exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "abs", "sin", "cos", "tan"),
    *("sinh", "cosh", "tanh", "arctan", "sigmoid", "softplus", "logit", "erf", "erfc", "Phi"),
}


def is_event(value: Value) -> bool:
    """Whether the model knows that a value is 0 or 1 in every draw."""
    ends = _whole_ends(value, {})
    return ends is not None and ends[0] >= 0 and ends[1] <= 1


def is_whole_from_0(value: Value, known: dict[int, Ends | None]) -> bool:
    """Whether the model knows that a value is a whole number of at least 0 in every draw.

    `known` keeps the ends of the values that were looked at, by their ids, for the next question.
    """
    ends = _whole_ends(value, known)
    return ends is not None and ends[0] >= 0


def _whole_ends(value: Value, known: dict[int, Ends | None]) -> Ends | None:
    for one in in_order([value], lambda v: [w for w in _inputs(v) if id(w) not in known]):
        if id(one) not in known:
            known[id(one)] = _whole_between(one, known)
    return known[id(value)]


def _inputs(value: Value) -> tuple[Value, ...]:
    return value.inputs if value.kind == Kind.COMPUTED and not value.truth else ()


def _whole_between(value: Value, known: Mapping[int, Ends | None]) -> Ends | None:
    """The ends between which a value is a whole number in every draw; None if that is unknown."""
    if value.binary or value.call is not None:
        return 0.0, 1.0  # of code it is seen in its draws
    if value.constant is not None:
        return _of_numbers(value.constant)
    if value.kind == Kind.DRAW:
        return _of_draw(value)
    if value.kind != Kind.COMPUTED:
        return None
    function = value.function
    if function.name == "one_hot":
        return 0.0, 1.0
    read = value.inputs[:1] if function.picks and function.does != "joins" else value.inputs
    ends = [known[id(one)] for one in read]
    given = [one for one in ends if one is not None]
    if not given or len(given) < len(ends):
        return None
    if function.by_element and not function.view:
        return _of_points(function, given)
    low, high = min(one[0] for one in given), max(one[1] for one in given)
    if function is SUM:
        count = math.prod(value.inputs[0].shape) // max(math.prod(value.shape), 1)
        return count * low, count * high
    if function.name in ("prod", "cumprod") and not 0 <= low <= high <= 1:
        return None
    picked = function.rearranges or function.does == "joins" or function.picks or function.view
    return (low, high) if picked or function.name in _ONE_OF else None


def _of_points(function: Function, ends: Sequence[Ends]) -> Ends | None:
    """The ends of a function of whole numbers, from its values at all of them, or at their ends."""
    few = all(high - low < MOST_VALUES for low, high in ends)
    if not few and function not in _FARTHEST_AT_ENDS:
        return None
    sides = [np.arange(low, high + 1) if few else np.array([low, high]) for low, high in ends]
    with np.errstate(all="ignore"):
        values = number(function.kernel(*np.meshgrid(*sides)))
    return (
        (float(values.min()), float(values.max())) if (values == np.floor(values)).all() else None
    )


def _of_numbers(numbers: Any) -> Ends | None:
    values = np.asarray(numbers, dtype=np.float64)
    if not values.size or not np.isfinite(values).all() or (values != np.floor(values)).any():
        return None
    return float(values.min()), float(values.max())


def _of_draw(value: Value) -> Ends | None:
    law = value.law
    if law is None or not law.discrete:
        return None
    if law.values is Values.SIGNS:
        return -1.0, 1.0
    if law.values is Values.LISTED:
        listed = value.inputs[0].constant
        return None if listed is None else _of_numbers(listed)
    if law.values is not Values.WHOLE or law.own_axes is not None:
        return None
    if any(one.constant is None for one in value.inputs):
        return law.ends_between([(one.domain.low, one.domain.high) for one in law.parameters])
    low, high = law.ends_at([np.asarray(one.constant, float) for one in value.inputs])
    return float(np.min(low)), float(np.max(high))


# ---- events of probability 0 ---------------------------------------------------------------------


def has_no_chance(event: Value) -> bool:
    """Whether an event has probability 0, as a continuous quantity at a point has."""
    known: dict[int, bool] = {}
    for one in in_order([event], lambda v: v.inputs if v.computed_by(AND, OR) else ()):
        parts = [known[id(part)] for part in one.inputs if id(part) in known]
        if one.computed_by(AND, OR) and not one.shape:
            known[id(one)] = any(parts) if one.function is AND else all(parts)
        else:
            known[id(one)] = not one.shape and _meets_a_point(one)
    return known[id(event)]


def _meets_a_point(event: Value) -> bool:
    """Whether an event is that a continuous quantity equals one that it has nothing to do with."""
    if not event.computed_by(COMPARISONS["=="]):
        return False
    left, right = event.inputs
    return left.sources.isdisjoint(right.sources) and (has_no_atoms(left) or has_no_atoms(right))


def has_no_atoms(value: Value) -> bool:
    """Whether a value has no atoms; False if that is not seen.

    It has none if it is a continuous draw, strict in what has none, or a sum with such a part that
    is independent of the rest.
    """
    stack = [value]
    while stack:
        one = stack.pop()
        if one.kind == Kind.DRAW and _continuous_draw(one):
            return True
        if one.kind != Kind.COMPUTED:
            continue
        function, first = one.function, one.inputs[0]
        random = [below for below in one.inputs if below.random]
        apart = random[0].sources.isdisjoint(random[-1].sources) if random[1:] else bool(random)
        by_fixed = (
            apart
            and not random[1:]
            and all(np.all(number(below.constant) != 0) for below in one.inputs if not below.random)
        )
        if (
            (function in (ADD, SUBTRACT) and apart)
            or (function in (MULTIPLY, DIVIDE) and by_fixed)
            or (function is POWER and by_fixed and first.random)
            or (function in (SUM, MEAN) and first.kind == Kind.DRAW and math.prod(first.shape) > 0)
            or (function is NEGATIVE or function.name in _STRICT)
            or function.rearranges
            or function.view
            or (function.picks and not one.inputs[1:])
        ):
            stack += random
    return False


def _continuous_draw(value: Value) -> bool:
    law = value.law
    if law is None or law.discrete or law.own_axes is not None:
        return False
    if any(one.constant is None for one in value.inputs):
        return False
    arguments = [np.asarray(one.constant, float) for one in value.inputs]
    return not np.any(np.equal(*law.ends_at(arguments)))
