"""The hull of a quantity, an interval of its values, by interval arithmetic on its expression."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dropcheck.analysis import shares
from dropcheck.analysis.shares import product_hull, quotient_hull
from dropcheck.language.graph import Kind, Value, in_order, kernel_of
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY, SUBTRACT
from dropcheck.vocabulary.hulls import EVERYWHERE, UNIT, Hull, Use

# Bounds are moved outward by this share, more than rounding in their arithmetic can change them.
OUTWARD = 1e-12
MOST_DEPTH = 4  # steps below a quotient in which signs are looked for


class Hulls:
    """The hulls of quantities, each computed once."""

    def __init__(self) -> None:
        self._known: dict[int, Hull] = {}

    def of(self, value: Value) -> Hull:
        """The hull of a quantity, of all its elements together."""
        known = self._known
        # inputs first, without recursion: a model may be very deep
        for one in in_order([value], self._missing):
            if id(one) not in known:
                varies = _varies(one)
                below = [known[id(other)] for other in one.inputs] if varies else []
                known[id(one)] = hull_of(one, below) if varies else hull_of_fixed(one)
        return known[id(value)]

    def _missing(self, value: Value) -> list[Value]:
        known = id(value) in self._known or not _varies(value)
        return [] if known else [one for one in value.inputs if id(one) not in self._known]


def support(value: Value) -> Hull:
    """The hull of one quantity."""
    return Hulls().of(value)


def _varies(value: Value) -> bool:
    return value.random or value.estimated


def hull_of(value: Value, below: Sequence[Hull]) -> Hull:
    """The hull of a random or estimated value, from the hulls of its inputs."""
    if value.kind == Kind.OPERATOR:
        operator = value.operator
        # the probability of a number means the probability that it is not 0
        averaged = operator.is_mean and (value.inputs[0].truth or not operator.probability)
        return below[0] if averaged or operator.quantile else Hull(*operator.ends)
    with np.errstate(all="ignore"):
        if value.kind == Kind.DRAW:
            return _outward(_of_draw(value))
        plain = value.function.bounds(below, use_of(value))
        hull = _outward(plain)
        cancels = value.function is SUBTRACT or any(one.low < 0 for one in below)
        if plain.low == 0 and not (value.function.additive and cancels):
            hull = Hull(0.0, hull.high)  # here rounding does not go below 0
        more = _OF_BOTH.get(value.function)
        return hull.common(more(value, _lowest)) if more else hull


def use_of(value: Value) -> Use:
    """The use of a function that computes a value."""
    shapes = tuple(one.shape for one in value.inputs)
    same = len(value.inputs) == 2 and value.inputs[0] is value.inputs[1]
    return Use(kernel_of(value), value.shape, shapes, same)


# tighter hulls from what both arguments have in common
_OF_BOTH = {DIVIDE: quotient_hull, MULTIPLY: product_hull}


def held_by(top: Value, bottom: Value) -> tuple[float, float] | None:
    """Numbers c and e with |top| <= c · bottom^e in every draw; None if none are known."""
    return shares.held_by(top, bottom, _lowest)


def _lowest(value: Value) -> float:
    """The lower end of a quantity's hull, from a few steps below it only."""
    return _shallow(value, MOST_DEPTH).low


def _shallow(value: Value, depth: int) -> Hull:
    if not value.random:
        return hull_of_fixed(value)
    if depth == 0 or value.computed_by(DIVIDE) or len(value.inputs) > MOST_DEPTH:
        return EVERYWHERE
    return hull_of(value, [_shallow(below, depth - 1) for below in value.inputs])


def hull_of_fixed(value: Value) -> Hull:
    """The hull of the elements of a fixed value."""
    array = value.constant
    if array is None or not array.size:
        return EVERYWHERE
    return _outward(Hull(float(array.min()), float(array.max())))  # NaN makes it everywhere


def _of_draw(value: Value) -> Hull:
    law = value.law
    if law is None:
        return EVERYWHERE
    if not callable(law.ends) and Hull(*law.ends).bounded:
        return Hull(*law.ends)
    known = [argument.known for argument in value.inputs]
    if any(argument is None for argument in known):
        return EVERYWHERE
    ranks = zip(value.inputs, law.parameters, strict=True)
    if any(len(argument.shape) > parameter.axes for argument, parameter in ranks):
        return EVERYWHERE  # arrays of arguments are not worth the work
    low, high = law.support(*known)
    return Hull(float(low), float(high))


def _outward(hull: Hull) -> Hull:
    if math.isnan(hull.low) or math.isnan(hull.high) or hull.low > hull.high:
        return EVERYWHERE
    give = OUTWARD * max(abs(hull.low), abs(hull.high))
    if not math.isfinite(give) or hull.low == hull.high or hull in (UNIT, Hull(-1.0, 1.0)):
        return hull
    return Hull(hull.low - give, hull.high + give)
