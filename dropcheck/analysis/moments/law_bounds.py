"""Bounds for a draw from its law: its norm, its spread, its log-moment and its mean.

For most laws, a draw with random arguments is loc + scale · z, where z has fixed arguments and is
independent of loc and scale, and these are linear in the arguments.

A line a·x + b of a single draw x has the law of x, moved and scaled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dropcheck.analysis.moments.dissection import sum_of
from dropcheck.language.graph import Kind, Value
from dropcheck.records import record
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

# the highest order of central moments that laws know
_HIGHEST_CENTRAL = 8


# If 0 is nearer to an end of the support than this, rounding may decide on which side it lies.
_ROUNDING = 1e-9


@record
class AffineDraw:
    """The line factor · draw + shift of a draw with fixed arguments; the factor is not 0.

    `largest` is the largest shift in the computation, in the unit of the draw: rounding errors are
    relative to it.
    """

    law: Law
    arguments: tuple[float, ...]
    factor: float = 1.0
    shift: float = 0.0
    largest: float = 0.0

    def less(self, point: float) -> AffineDraw:
        """The line minus a number."""
        return replace(self, shift=self.shift - point)

    def near_zero(self) -> float | None:
        """The power of ε with which P(|line| < ε) falls, infinite if it is 0; None if unknown."""
        zero = -self.shift / self.factor
        if not math.isfinite(zero):
            return None
        low, high = self.law.support(*self.arguments)
        powers = self.law.near_ends
        at_low, at_high = (None, None) if powers is None else powers(*self.arguments)
        for end, power in ((low, at_low), (high, at_high)):
            if zero == end:
                return power
            if abs(zero - end) <= _ROUNDING * max(abs(zero), self.largest):
                return None
        if zero < low or zero > high:
            return math.inf
        return None if powers is None else 1.0

    def greatest_density(self) -> float:
        """A bound of its density; infinite if none is known."""
        law, arguments = self.law, tuple(map(np.float64, self.arguments))
        if law.discrete or law.mode is None or law.constant(*self.arguments) is not None:
            return math.inf
        with np.errstate(all="ignore"):
            mode = np.float64(law.mode(*arguments))
            density = float(np.exp(law.log_density_inside(mode, *arguments))) / abs(self.factor)
        return density * (1 + _ROUNDING) if math.isfinite(density) else math.inf

    def rates(self) -> tuple[float | None, float | None]:
        """The exponential rates of the tails towards -∞ and ∞; None for a rate that is unknown."""
        rates = self.law.tails
        tails = (None, None) if rates is None else rates(*self.arguments)
        down, up = (
            math.inf if math.isfinite(end) else None if tail is None else tail / abs(self.factor)
            for end, tail in zip(self.law.support(*self.arguments), tails, strict=True)
        )
        return (down, up) if self.factor > 0 else (up, down)


def line_of(value: Value, below: list[AffineDraw | None]) -> AffineDraw | None:
    """A random quantity as a line of one draw, from its inputs as lines; None if it is none."""
    if value.kind == Kind.DRAW:
        known = tuple(argument.known for argument in value.inputs)
        numbers = tuple(one for one in known if isinstance(one, float))
        if value.law is None or len(numbers) < len(known):
            return None
        return AffineDraw(law=value.law, arguments=numbers)
    if value.function.rearranges:  # elements of an array of draws have one law
        return below[0]
    parts, shift = sum_of(value)
    lines = {id(one): line for one, line in zip(value.inputs, below, strict=True)}
    return _moved(lines.get(id(parts[0][1])), parts[0][0], shift) if len(parts) == 1 else None


def _moved(line: AffineDraw | None, factor: float, shift: float) -> AffineDraw | None:
    if line is None:
        return None
    stretched, moved = line.factor * factor, line.shift * factor + shift
    if not (stretched and math.isfinite(stretched) and math.isfinite(moved)):
        return None
    largest = max(line.largest, abs(shift / stretched), abs(moved / stretched))
    return replace(line, factor=stretched, shift=moved, largest=largest)


# ---- bounds ----------------------------------------------------------------------------------


def fixed_arguments(value: Value) -> list[Any] | None:
    """The arguments of a draw as numbers and arrays without an axis of draws; None if not fixed."""
    if any(one.constant is None for one in value.inputs):
        return None
    arrays = (np.asarray(one.constant, dtype=np.float64)[..., 0] for one in value.inputs)
    return [float(one) if one.ndim == 0 else one for one in arrays]


def largest(bounds: Any) -> float:
    """The largest of some bounds; infinite if one of them is NaN."""
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
    """A bound of the norm of x - E x for a draw x with fixed arguments."""
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
    """A v with log E exp(t (x - E x)) <= v t² / 2: from the hull, or the variance of a normal draw.

    From a bounded hull it is a quarter of the squared width (Hoeffding 1963, 4.16).
    """
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
    mean = Hull(loc + scale * of_z, loc + scale * of_z)
    for one, by_loc, by_scale in zip(below, locs, scales, strict=True):
        factor = by_loc + by_scale * of_z
        mean = plus(mean, one.mean.scaled(factor) if factor else ZERO)
    return mean


def drawn_about_zero(value: Value, below: Sequence[Argument], mean: Hull) -> bool:
    """Whether each element of a draw has the mean 0 given the arguments and all other elements."""
    law = value.law
    if law is None or law.own_axes is not None:
        return False
    if fixed_arguments(value) is not None:
        return mean == ZERO
    line = _line_of(law, below)
    return line is not None and not any((line[0][0], *line[0][1])) and law.mean(*line[2]) == 0


_Linear = tuple[float, tuple[float, ...]]
"""A linear function of a law's arguments: its constant, and the factors of all arguments."""


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
            return None  # the shape is random, or differs from element to element
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
    """A bound of log E exp(t x) for a draw x = loc + scale · z with random arguments.

    Given the arguments it is t · loc plus the log-moment of z at t · scale, which is convex in the
    scale. So it is at most the log-moment of loc plus the larger value at the ends of the scale.
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
    bound = total + max(float(law.log_mgf(t * end, *own)) for end in {range_.low, range_.high})
    return INF if math.isnan(bound) else bound
