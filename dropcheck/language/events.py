"""Which quantities are events, 0 or 1 in every draw, and which events have probability 0.

An event is what the model knows to be 0 or 1: a comparison, a Bernoulli draw, a product of events.
A number is none, and `P(x)` of it is an error: it would count every value but 0 as true.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dropcheck.language.graph import Kind, Value, in_order, kernel_of, number
from dropcheck.vocabulary.functions.truths import AND, COMPARISONS, OR

FewValues = frozenset[float]

MOST_VALUES = 8  # of a quantity, if those of a function of it are to be worked out
TRUTHS = frozenset((0.0, 1.0))
# Functions of several elements whose value is one of them; and those of which that is so of truths.
_ONE_OF, _ONE_OF_TRUTHS = {"max", "min", "sort", "cummax"}, {"prod", "cumprod"}

# Functions that take no value on more than countably many points; and those beside fixed numbers
# that are not 0.
_STRICT = {
    *("exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "abs", "sin", "cos", "tan"),
    *("sinh", "cosh", "tanh", "arctan", "sigmoid", "softplus", "logit", "erf", "erfc", "Phi"),
    *("+", "-", "negative"),
}
_STRICT_BESIDE = {"*", "/", "**"}


def is_event(value: Value) -> bool:
    """Whether the model knows that a value is 0 or 1 in every draw."""
    known: dict[int, FewValues | None] = {}
    for one in in_order([value], _inputs):
        known[id(one)] = _few_values(one, [known.get(id(below)) for below in one.inputs])
    found = known[id(value)]
    return found is not None and found <= TRUTHS


def _inputs(value: Value) -> tuple[Value, ...]:
    return value.inputs if value.kind == Kind.COMPUTED and not value.truth else ()


def _few_values(value: Value, below: list[FewValues | None]) -> FewValues | None:
    """All values that a quantity takes, from those of its inputs; None for many, or unknown ones.

    Those of code are seen in its draws.
    """
    if value.binary or value.call is not None or value.operation == "one_hot":
        return TRUTHS
    if value.constant is not None:
        return _listed(value.constant.ravel())
    function = value.function if value.kind == Kind.COMPUTED else None
    if function is None:
        return None
    read = below[:1] if function.picks and function.does != "joins" else below
    known = [one for one in read if one is not None]
    if not known or len(known) < len(read):
        return None
    if function.by_element and not function.view:
        with np.errstate(all="ignore"):
            sides = np.meshgrid(*(np.array(sorted(one)) for one in known))
            return _listed(number(kernel_of(value)(*(side.ravel() for side in sides))))
    found = frozenset[float]().union(*known)
    moves = function.rearranges or function.picks or function.view or function.does == "joins"
    truths = function.name in _ONE_OF_TRUTHS and found <= TRUTHS
    return found if moves or truths or function.name in _ONE_OF else None


def _listed(values: Iterable[float]) -> FewValues | None:
    found = np.unique(np.asarray(values, dtype=np.float64))
    return frozenset(found.tolist()) if len(found) <= MOST_VALUES else None


def has_no_chance(event: Value) -> bool:
    """Whether an event has probability 0, as a continuous draw at a point has."""
    known: dict[int, bool] = {}
    for one in in_order([event], lambda v: v.inputs if v.computed_by(AND, OR) else ()):
        parts = [known[id(part)] for part in one.inputs if id(part) in known]
        if one.computed_by(AND, OR) and not one.shape:
            known[id(one)] = any(parts) if one.function is AND else all(parts)
        else:
            known[id(one)] = not one.shape and _meets_a_point(one)
    return known[id(event)]


def _meets_a_point(event: Value) -> bool:
    """Whether an event is that a continuous draw equals what it has nothing to do with."""
    if not event.computed_by(COMPARISONS["=="]):
        return False
    left, right = event.inputs
    return left.sources.isdisjoint(right.sources) and any(map(_is_continuous, (left, right)))


def _is_continuous(value: Value) -> bool:
    """Whether a value is a draw of a law with a density, an element of one, or strict in that."""
    while value.kind == Kind.COMPUTED:
        random = [one for one in value.inputs if one.random]
        fixed = [number(one.constant) for one in value.inputs if not one.random]
        function = value.function
        strict = function.rearranges or function.name in _STRICT
        strict |= function.name in _STRICT_BESIDE and all(np.all(one != 0) for one in fixed)
        if len(random) != 1 or not strict:
            return False
        (value,) = random
    law, arguments = value.law, [one.constant for one in value.inputs]
    if law is None or law.discrete or law.own_axes or any(one is None for one in arguments):
        return False
    return not np.any(np.equal(*law.ends_at(arguments)))
