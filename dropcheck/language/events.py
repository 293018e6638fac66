"""Which quantities are events, 0 or 1 in every draw, and which events have probability 0.

An event is what the model knows to be 0 or 1: a comparison, a Bernoulli draw, a product of events.
A number is none, and `P(x)` of it is an error: it would count every value but 0 as true.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dropcheck.language.graph import Kind, Value, in_order
from dropcheck.vocabulary.distribution import Values
from dropcheck.vocabulary.functions.elementwise import (
    ABS,
    ADD,
    DIVIDE,
    MODULO,
    MULTIPLY,
    NEGATIVE,
    POWER,
    SUBTRACT,
)
from dropcheck.vocabulary.functions.reductions import MEAN, SUM
from dropcheck.vocabulary.functions.truths import AND, COMPARISONS, CONDITIONAL, OR, WHERE

Ends = tuple[float, float]

# Functions whose value is one of the values of their arguments.
_ONE_OF = {"maximum", "minimum", "max", "min", "sort", "cummax", "prod", "cumprod", "cbrt"}
# Functions that take no value on more than countably many points: a continuous law stays so.
_STRICT = {
    *("exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "abs", "sin", "cos", "tan"),
    *("sinh", "cosh", "tanh", "arctan", "sigmoid", "softplus", "logit", "erf", "erfc", "Phi"),
}


def is_event(value: Value) -> bool:
    """Whether the model knows that a value is 0 or 1 in every draw."""
    ends = _whole_ends(value)
    return ends is not None and ends[0] >= 0 and ends[1] <= 1


def is_whole_from_0(value: Value) -> bool:
    """Whether the model knows that a value is a whole number of at least 0 in every draw."""
    ends = _whole_ends(value)
    return ends is not None and ends[0] >= 0


def _whole_ends(value: Value) -> Ends | None:
    known: dict[int, Ends | None] = {}
    for one in in_order([value], _inputs):
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
    if value.function.name == "one_hot":
        return 0.0, 1.0
    ends = [known[id(one)] for one in value.inputs]
    function = value.function
    if function in (WHERE, CONDITIONAL):
        ends = ends[1:]
    given = [one for one in ends if one is not None]
    if function is SUBTRACT and len(given) == 2:
        return given[0][0] - given[1][1], given[0][1] - given[1][0]
    if function is ADD and len(given) == 2:
        return given[0][0] + given[1][0], given[0][1] + given[1][1]
    if function is MULTIPLY and len(given) == 2:
        products = [a * b for a in given[0] for b in given[1]]
        return min(products), max(products)
    if function is SUM and given:
        count = math.prod(value.inputs[0].shape) // max(math.prod(value.shape), 1)
        return count * given[0][0], count * given[0][1]
    if function is NEGATIVE and given:
        return -given[0][1], -given[0][0]
    if function is ABS and given:
        low, high = given[0]
        return (0.0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
    if function is MODULO and len(given) == 2 and given[1][0] == given[1][1] > 0:
        return 0.0, given[1][0] - 1.0
    if function is POWER and len(given) == 2 and given[1][0] == given[1][1] > 0:
        if 0 <= given[0][0] <= given[0][1] <= 1:
            return given[0]
        return None
    picked = function.rearranges or function.joins or function.picks or function.view
    if picked or function.name in _ONE_OF or function in (WHERE, CONDITIONAL):
        values = [ends[0]] if function.picks and not function.joins else ends
        found = [one for one in values if one is not None]
        if len(found) < len(values):
            return None
        low, high = min(one[0] for one in found), max(one[1] for one in found)
        if function.name in ("prod", "cumprod") and not 0 <= low <= high <= 1:
            return None
        return low, high
    return None


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
    if not callable(law.ends):
        return float(law.ends[0]), float(law.ends[1])
    if any(one.constant is None for one in value.inputs):
        return None
    with np.errstate(all="ignore"):
        low, high = law.ends(*(np.asarray(one.constant, float) for one in value.inputs))
    return float(np.min(low)), float(np.max(high))


# ---- events of probability 0 ---------------------------------------------------------------------


def has_no_chance(event: Value) -> bool:
    """Whether an event has probability 0, as a continuous quantity at a point has."""
    if event.kind != Kind.COMPUTED or event.shape:
        return False
    if event.function is AND:
        return any(map(has_no_chance, event.inputs))
    if event.function is OR:
        return all(map(has_no_chance, event.inputs))
    if event.function is not COMPARISONS["=="]:
        return False
    left, right = event.inputs
    if not left.sources.isdisjoint(right.sources):
        return False
    return has_no_atoms(left) or has_no_atoms(right)


def has_no_atoms(value: Value) -> bool:
    """Whether a value has no atoms; False if that is not seen."""
    if value.kind == Kind.DRAW:
        return _continuous_draw(value)
    if value.kind != Kind.COMPUTED or not value.random or value.call is not None:
        return False
    function, inputs = value.function, value.inputs
    if function in (ADD, SUBTRACT):
        a, b = inputs
        return a.sources.isdisjoint(b.sources) and (has_no_atoms(a) or has_no_atoms(b))
    if function in (MULTIPLY, DIVIDE):
        a, b = inputs
        return a.sources.isdisjoint(b.sources) and all(map(_continuous_or_not_0, inputs))
    if function in (SUM, MEAN):
        (x,) = inputs
        return x.kind == Kind.DRAW and math.prod(x.shape) > 0 and has_no_atoms(x)
    one_draw = len(inputs) == 1 and function.name in _STRICT
    moved = function.rearranges or function.view or (function.picks and not inputs[1:])
    to_a_power = function is POWER and inputs[1].known not in (None, 0.0)
    return (one_draw or moved or function is NEGATIVE or to_a_power) and has_no_atoms(inputs[0])


def _continuous_or_not_0(value: Value) -> bool:
    if value.random:
        return has_no_atoms(value)
    return value.constant is not None and bool(np.all(np.asarray(value.constant) != 0))


def _continuous_draw(value: Value) -> bool:
    law = value.law
    if law is None or law.discrete or law.own_axes is not None:
        return False
    if any(one.constant is None for one in value.inputs):
        return False
    if law.degenerate is None:
        return True
    arguments = [np.asarray(one.constant, float) for one in value.inputs]
    return not np.any(law.degenerate(*arguments)[0])
