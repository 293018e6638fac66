"""What a draw gives, from its law: its norm, its spread, its log-moment and its mean.

A draw with random arguments is, of most laws, loc + scale · z, where z has fixed arguments and is
independent of loc and scale, which are linear in the arguments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dropcheck.analysis.existence import AffineDraw
from dropcheck.language.graph import Value
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.majorants.bounds_arithmetic import (
    INF,
    ZERO,
    centring,
    plus,
    raised,
    times,
)
from dropcheck.vocabulary.majorants.rule import Argument

# central moments are known up to this order
_HIGHEST_CENTRAL = 8


def fixed_arguments(value: Value) -> list[Any] | None:
    """The arguments of a draw as numbers and arrays without an axis of draws; None if not fixed."""
    found: list[Any] = []
    for one in value.inputs:
        if one.constant is None:
            return None
        array = np.asarray(one.constant, dtype=np.float64)[..., 0]
        found.append(float(array) if array.ndim == 0 else array)
    return found


def largest(bounds: Any) -> float:
    """The largest of some bounds; one that is not known is infinite."""
    array = np.asarray(bounds, dtype=np.float64)
    return INF if not array.size or np.isnan(array).any() else float(array.max())


def draw_norm(value: Value, below: Sequence[Argument], p: float) -> float:
    """A bound of (E|x|^p)^(1/p)."""
    if value.law is None:
        return INF
    known = fixed_arguments(value)
    if known is None:
        return largest(
            value.law.random_norm(p, lambda i, q: below[i].norm(q), lambda i: below[i].hull)
        )
    return largest(value.law.norm(p, *known))


def draw_spread(value: Value, p: float) -> float:
    """A bound of the norm of x - E x, of a draw with fixed arguments."""
    known = fixed_arguments(value)
    if value.law is None or known is None:
        return INF
    order = max(2, 2 * math.ceil(p / 2))
    if order <= _HIGHEST_CENTRAL:
        return raised(largest(value.law.central(order, *known)), 1 / order)
    line = value.law.as_line(*known)
    if line is None:
        return INF
    _, scale, own = line
    of_z = centring(p) * largest(value.law.norm(p, *own))
    return times(largest(np.abs(scale)), of_z)


def draw_log_moment(value: Value, below: Sequence[Argument], t: float) -> float:
    """A bound of log E exp(t · x)."""
    law, known = value.law, fixed_arguments(value)
    if law is None:
        return INF
    if known is not None:
        return largest(law.log_mgf(t, *known))
    return _log_moment_of_line(law, below, t)


def variance_proxy(hull: Hull, line: AffineDraw | None) -> float:
    """A quarter of the squared width of the hull (Hoeffding 1963, 4.16), or a normal variance."""
    if hull.bounded:
        return (hull.width / 2) ** 2
    if line is None or line.law.parabola is None:
        return INF
    return float(line.factor * line.law.parabola(*line.arguments)[1]) ** 2


def draw_mean(value: Value, below: Sequence[Argument]) -> Hull:
    """Where the means of all elements lie."""
    law, known = value.law, fixed_arguments(value)
    if law is None:
        return EVERYWHERE
    if known is not None:
        means = np.asarray(law.mean(*known), dtype=np.float64)
        known_mean = means.size and not np.isnan(means).any()
        return Hull(float(means.min()), float(means.max())) if known_mean else EVERYWHERE
    line = _line_of(law, below)
    if line is None:
        return EVERYWHERE
    (loc, locs), (scale, scales), own = line
    of_z = float(law.mean(*own))
    if math.isnan(of_z):
        return EVERYWHERE
    found = Hull(loc + scale * of_z, loc + scale * of_z)
    for one, by_loc, by_scale in zip(below, locs, scales, strict=True):
        factor = by_loc + by_scale * of_z
        found = plus(found, one.mean.scaled(factor) if factor else ZERO)
    return found


def drawn_about_zero(value: Value, below: Sequence[Argument], mean: Hull) -> bool:
    """Whether each element has the mean 0, whatever the arguments and the other elements are."""
    law = value.law
    if law is None or law.own_axes is not None:
        return False
    if fixed_arguments(value) is not None:
        return mean == ZERO
    line = _line_of(law, below)
    return line is not None and not any((line[0][0], *line[0][1])) and law.mean(*line[2]) == 0


_Linear = tuple[float, tuple[float, ...]]
"""A number, and the factors of all arguments."""


def _line_of(
    law: Law, below: Sequence[Argument]
) -> tuple[_Linear, _Linear, tuple[float, ...]] | None:
    """Loc and scale of a draw as linear functions of its arguments, and the arguments of z."""
    units = law.standard_arguments
    if units is None or any(parameter.axes for parameter in law.parameters):
        return None
    own: list[float] = []
    for one, unit in zip(below, units, strict=True):
        if unit is None and one.hull.low != one.hull.high:
            return None  # a shape that is random, or differs from element to element
        own.append(one.hull.low if unit is None else unit)
    numbers = [one if unit is None else 0.0 for one, unit in zip(own, units, strict=True)]
    at_zero = law.as_line(*numbers)
    if at_zero is None:
        return None
    locs, scales = [], []
    for place, unit in enumerate(units):
        at_one = law.as_line(*[*numbers[:place], 1.0, *numbers[place + 1 :]])
        assert at_one is not None
        locs.append(0.0 if unit is None else at_one[0] - at_zero[0])
        scales.append(0.0 if unit is None else at_one[1] - at_zero[1])
    return (at_zero[0], tuple(locs)), (at_zero[1], tuple(scales)), tuple(own)


def _log_moment_of_line(law: Law, below: Sequence[Argument], t: float) -> float:
    """Given its arguments it is t · loc and that of t · scale · z, convex in the scale.

    So it is at most that of loc and the larger of both ends of the scale, where that is bounded.
    """
    line = _line_of(law, below)
    if line is None:
        return INF
    (loc, locs), (scale, scales), own = line
    total, moving = t * loc, 0
    range_ = Hull(scale, scale)
    for one, by_loc, by_scale in zip(below, locs, scales, strict=True):
        if by_loc:
            moving += one.fixed is None
            total += one.log_moment(t * by_loc)
        range_ = plus(range_, one.hull.scaled(by_scale) if by_scale else ZERO)
    if moving > 1 or not range_.bounded:
        return INF
    ends = [float(law.log_mgf(t * end, *own)) for end in {range_.low, range_.high}]
    found = total + max(ends)
    return INF if math.isnan(found) else found
