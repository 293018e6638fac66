"""Where the values of a quantity can lie, by interval arithmetic over its expression."""

from __future__ import annotations

import math

import numpy as np

from dropcheck.language.graph import Kind, Value, ordered
from dropcheck.vocabulary.hulls import EVERYWHERE, UNIT, Hull, Use, union

# Rounding in the arithmetic of the ends: they are moved outward by this share.
OUTWARD = 1e-12


def support(value: Value) -> Hull:
    """The hull of a quantity's values, all its elements together."""
    hulls: dict[int, Hull] = {}
    with np.errstate(all="ignore"):
        for below in ordered([value]):  # inputs first: a model may be very deep
            hulls[id(below)] = _outward(_hull(below, hulls))
        return hulls[id(value)] if value.random else _outward(_of_known(value.known))


def _hull(value: Value, hulls: dict[int, Hull]) -> Hull:
    """The hull of a random value, from those of the random ones below it."""
    if value.kind == Kind.DRAW:
        return _of_draw(value)
    below = [
        hulls[id(one)] if one.random else _outward(_of_known(one.known)) for one in value.inputs
    ]
    shapes = tuple(one.shape for one in value.inputs)
    same = len(value.inputs) == 2 and value.inputs[0] is value.inputs[1]
    use = Use(value.function.kernel, value.shape, shapes, same)
    return value.function.bounds(below, use)


def _of_draw(value: Value) -> Hull:
    law = value.law
    if law is None:
        return EVERYWHERE
    if not callable(law.ends) and Hull(*law.ends).bounded:
        return Hull(*law.ends)
    known = [argument.known for argument in value.inputs]
    if any(argument is None for argument in known):
        return EVERYWHERE
    if any(
        isinstance(argument, tuple) and not parameter.axes
        for argument, parameter in zip(known, law.parameters, strict=True)
    ):
        return EVERYWHERE  # arrays of arguments: not worth a hull of their own
    low, high = law.support(*known)
    return Hull(float(low), float(high))


def _of_known(known: object) -> Hull:
    if isinstance(known, float):
        return Hull(known, known) if not math.isnan(known) else EVERYWHERE
    if isinstance(known, tuple) and known:
        return union([_of_known(entry) for entry in known])
    return EVERYWHERE


def _outward(hull: Hull) -> Hull:
    if math.isnan(hull.low) or math.isnan(hull.high) or hull.low > hull.high:
        return EVERYWHERE
    give = OUTWARD * max(abs(hull.low), abs(hull.high))
    if not math.isfinite(give) or hull.low == hull.high or hull in (UNIT, Hull(-1.0, 1.0)):
        return hull
    return Hull(hull.low - give, hull.high + give)
