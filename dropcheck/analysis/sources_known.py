"""What is known of draws and of fixed values, as `Known` facts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dropcheck.language.graph import Kind, Value, computed_from, joined_sources, number
from dropcheck.vocabulary.defined_where import ANALYTIC, GENERIC, NEVER, ROUGH, SURE, Known
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull, proper
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.law_known import arguments_fit, ends_of, has_density


def is_finite(array: Array) -> bool:
    """Whether all numbers of an array are finite."""
    return math.isfinite(array.flat[0]) if array.size == 1 else bool(np.isfinite(array).all())


def of_fixed(value: Value) -> Known:
    """What is known of a fixed value."""
    array = value.constant
    if array is None or not array.size:
        return Known(smooth=ANALYTIC)
    low, high = float(array.min()), float(array.max())
    number = not math.isnan(low)
    return Known(
        hull=Hull(low, high) if number else EVERYWHERE,
        number=SURE if number else GENERIC,
        finite=SURE if is_finite(array) or not number else GENERIC,
        nonzero=SURE if array.all() else NEVER,
        smooth=ANALYTIC,
        whole=number and bool((array == np.floor(array)).all()),
    )


def of_draw(value: Value, below: Sequence[Known]) -> Known:
    """What is known of a draw, from what is known of the arguments of its law."""
    law = value.law
    if law is None:
        return Known()
    hull, fits, dense = _support(law, value, below), SURE, not law.discrete
    if any(one.random for one in value.inputs):
        apart = sum(len(one.sources) for one in value.inputs) == len(joined_sources(value.inputs))
        fits = min([arguments_fit(law, below, apart), *(one.defined for one in below)])
        dense = dense and has_density(law, below)
    smooth = ANALYTIC if dense else ROUGH
    return Known(
        hull=hull,
        number=fits,
        nonzero=SURE if not hull.low <= 0 <= hull.high else GENERIC if smooth else NEVER,
        smooth=smooth,
        whole=law.values in (Values.WHOLE, Values.TRUTHS, Values.SIGNS),
    )


def _support(law: Law, value: Value, below: Sequence[Known]) -> Hull:
    """An interval that holds all values of a draw."""
    ranks = zip(value.inputs, law.parameters, strict=True)
    if any(one.constant is None or len(one.shape) != parameter.axes for one, parameter in ranks):
        return ends_of(law, below)
    known = [one.known for one in value.inputs]
    return EVERYWHERE if None in known else proper(Hull(*law.support(*known)))


def one_draw(values: Sequence[Value]) -> dict[int, Array]:
    """The values, given with inputs first, in one draw; NaN where they cannot be computed."""
    generator = np.random.default_rng(0)
    drawn: dict[int, Array] = {}
    for value in values:
        inputs = [drawn[id(one)] if one.random else one.constant for one in value.inputs]
        unknown = np.full((*value.shape, 1), np.nan)
        try:
            if any(one is None for one in inputs):
                drawn[id(value)] = unknown
            elif value.law is not None:
                arguments = [number(one) for one in inputs]
                drawn[id(value)] = number(value.law.sample(generator, arguments, value.shape, 1))
            elif value.kind == Kind.DRAW:
                drawn[id(value)] = generator.normal(size=(*value.shape, 1))
            else:
                drawn[id(value)] = number(computed_from(value, drawn))
        except ValueError:  # a function or a law does not take a value
            drawn[id(value)] = unknown
    return drawn
