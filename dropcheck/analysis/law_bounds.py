"""What a law says of a draw: its norm, its mean, lines in it; and which slices of a draw are apart.

A line a·x + b of a single draw x has the law of x, moved and scaled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from dropcheck.analysis.bounds import sum_of
from dropcheck.language.graph import Kind, Sources, Value, thawed
from dropcheck.vocabulary.function import EVERY_AXIS
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.shapes import normalise_axes

# If 0 is nearer to an end of the support than this, rounding may decide on which side it lies.
_ROUNDING = 1e-9
# An error of a mean that is a smaller share of the spread counts as rounding.
_MEAN_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
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

    def near_zero(self) -> float | None:
        """The power of ε with which P(|line| < ε) falls, infinite if it is 0; None if unknown."""
        zero = -self.shift / self.factor
        if not math.isfinite(zero):
            return None
        low, high = self.law.support(*self.arguments)
        powers = self.law.near_ends(*self.arguments)
        at_low, at_high = powers or (None, None)
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
        mode = law.mode(*self.arguments)
        if math.isnan(mode):
            return math.inf
        with np.errstate(all="ignore"):
            density = float(np.exp(law.log_density_inside(np.float64(mode), *arguments)))
        return density / abs(self.factor) * (1 + _ROUNDING) if density < math.inf else math.inf


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
    return math.inf if not array.size or np.isnan(array).any() else float(array.max())


class Bounded(Protocol):
    """A quantity with bounds: see `analysis.norms`."""

    @property
    def hull(self) -> Hull:
        """Where its values lie."""

    def size(self, p: float) -> float:
        """A bound of (E|x|^p)^(1/p)."""


def draw_norm(value: Value, below: Sequence[Bounded], p: float) -> float:
    """A bound of (E|x|^p)^(1/p) for p >= 1."""
    if value.law is None:
        return math.inf
    known = fixed_arguments(value)
    if known is not None:
        return largest(value.law.norm(p, *known))
    return largest(value.law.random_norm(p, lambda i, q: below[i].size(q), lambda i: below[i].hull))


def draw_spread(value: Value, p: float) -> float:
    """A bound of the norm of x - E x for a draw x with fixed arguments."""
    known = fixed_arguments(value)
    return math.inf if value.law is None or known is None else largest(value.law.spread(p, *known))


def draw_log_moment(value: Value, t: float) -> float:
    """A bound of log E exp(t · x) for a draw x with fixed arguments."""
    known = fixed_arguments(value)
    return math.inf if value.law is None or known is None else largest(value.law.log_mgf(t, *known))


def draw_mean(value: Value) -> Hull:
    """Where the means of all elements of a draw with fixed arguments lie."""
    law, known = value.law, fixed_arguments(value)
    if law is None or known is None:
        return EVERYWHERE
    means, errors = law.moment(1, *known)
    if not np.size(means) or np.isnan(means).any():
        return EVERYWHERE
    errors = np.where(errors <= _MEAN_ROUNDING * law.spread(1.0, *known), 0.0, errors)
    return Hull(float(np.min(means - errors)), float(np.max(means + errors)))


# ---- independence --------------------------------------------------------------------------------
#
# Which slices of a quantity are independent of one another, within one draw.
#
# The elements of an array of draws are independent. A quantity that is computed from such arrays
# element by element, or from their elements along other axes, has independent slices along an axis
# if every draw lies along it with one axis of its own: its slice i then depends only on the slices
# i of the draws.


AxisOrigins = frozenset[tuple[str, int]] | None
"""The axes of draws that lie along one axis of a quantity; None if slices along the axis are not
known to be independent."""

# The most draws of a quantity whose axes are tracked.
MOST_PLACES = 1024
_Part = TypeVar("_Part")

Alignment = tuple[AxisOrigins, ...]
"""The origins of each axis of a quantity."""


def alignment_of(value: Value, below: Sequence[Alignment]) -> Alignment:
    """The alignment of a random value, from those of its random inputs."""
    rank = len(value.shape)
    if value.kind == Kind.DRAW:
        return _of_draw(value, below)
    if value.kind != Kind.COMPUTED:
        return (None,) * rank
    if value.function.by_element:
        return tuple(_joined(value, below, axis) for axis in range(rank))
    one = value.inputs[0] if value.inputs else value
    if EVERY_AXIS not in value.function.parameters or any(x.random for x in value.inputs[1:]):
        return (None,) * rank
    options = {name: thawed(option) for name, option in value.options}
    axes = normalise_axes(options.get("axis"), one.shape)
    if np.ndim(options.get("u", 0.0)):  # the levels are an axis of their own
        return (None,) * rank
    kept = [None if axis in axes else below[0][axis] for axis in range(len(one.shape))]
    if rank < len(kept):
        kept = [origins for axis, origins in enumerate(kept) if axis not in axes]
    return tuple(kept)


def _of_draw(value: Value, below: Sequence[Alignment]) -> Alignment:
    law, name, rank = value.law, value.name, len(value.shape)
    if law is None or name is None or law.own_axes is not None:
        return (None,) * rank
    pairs = zip(value.inputs, law.parameters, strict=True)
    if any(one.random and parameter.axes for one, parameter in pairs):
        return (None,) * rank
    return tuple(_joined(value, below, axis, {(name, axis)}) for axis in range(rank))


def _joined(
    value: Value, below: Sequence[Alignment], axis: int, own: set[tuple[str, int]] | None = None
) -> AxisOrigins:
    """The origins of one axis of a value that is computed element by element."""
    origins = set(own or ())
    from_right = len(value.shape) - axis
    for one, alignment in zip(value.inputs, below, strict=True):
        if not one.random:
            continue
        at = len(one.shape) - from_right
        if at < 0 or one.shape[at] != value.shape[axis]:
            return None  # one slice of this input is used in all slices
        places = alignment[at]
        if places is None:
            return None
        origins |= places
    if len(origins) > MOST_PLACES:
        return None
    names = [name for name, _ in origins]
    return frozenset(origins) if len(set(names)) == len(names) else None


def grouped(parts: Sequence[_Part], sources: Callable[[_Part], Sources]) -> list[list[_Part]]:
    """The parts in groups that share no draw."""
    groups: list[tuple[Sources, list[_Part]]] = []
    for part in parts:
        joined, members = sources(part), [part]
        apart: list[tuple[Sources, list[_Part]]] = []
        for group in groups:
            if group[0].isdisjoint(joined):
                apart.append(group)
            else:
                joined, members = joined | group[0], [*group[1], *members]
        groups = [*apart, (joined, members)]
    return [members for _, members in groups]


def disjoint(sources: Sequence[Sources]) -> bool:
    """Whether at most two quantities share no draw; False for more quantities."""
    return len(sources) < 2 or (len(sources) == 2 and sources[0].isdisjoint(sources[1]))


# ---- negative moments ----------------------------------------------------------------------------
#
# Bounds of E|x|^-r for a line x = a · draw + b of one draw.
#
# Inside the support: where the density is at most M, it is at most that of an even density on an
# interval of length 1 / M about 0 (Lieb and Loss 2001, "Analysis", theorem 1.14, the bathtub
# principle), (2 M)^r / (1 - r).
#
# At an end, with F(d) = P(|x| <= d), it is the integral of r d^(-r - 1) F(d) over d > 0. F rises,
# and is known from the law. On a grid of d, its value at the upper end of each cell is used. Below
# the grid, F falls as a power of d (`near_ends`): if F follows this power at the lowest points of
# the grid, twice the power is used below it.


# Points of the grid for each factor of 2, and the probabilities at which it may begin.
_FINENESS = 8
_BEGINNINGS = (1e-7, 1e-15, 1e-30, 1e-60, 1e-120)
# A distance from a number that is a smaller share of it has lost half of its digits.
_DIGITS = 1e-8
# The largest probability at which the grid may begin, and the largest factor between F and its
# power there.
_LOW_ENOUGH, _NEARLY = 1e-3, 1.2


def inverse_of_line(line: AffineDraw, r: float) -> float:
    """A bound of (E|x|^-r)^(1/r) for r > 0; infinite if none is known."""
    power, zero = line.near_zero(), -line.shift / line.factor
    if power is None or power <= r:
        return math.inf
    low, high = line.law.support(*line.arguments)
    with np.errstate(all="ignore"):
        if low < zero < high:
            return 2 * line.greatest_density() * float((1 - r) ** (-1 / r))
        if zero not in (low, high):  # it is bounded away from 0
            return math.inf
        fall = power if power < math.inf else r + 1
        for chance in _BEGINNINGS:
            lowest = max(_distance(line, zero, chance), _DIGITS * abs(zero), 1e-280)
            near = _near(line, zero, lowest * np.array([1.0, 2.0, 4.0]))
            rises = np.log2(near[1:] / near[:-1])
            off = fall - rises if power == math.inf else np.abs(rises - power)
            if 0 < near[0] <= _LOW_ENOUGH and (off <= math.log2(_NEARLY)).all():
                break
        else:
            return math.inf
        # at most up to the distance that contains half of the probability
        grid = lowest * 2.0 ** (np.arange(_FINENESS * 2000) / _FINENESS)
        chances = _near(line, zero, grid)
        last = min(int(np.searchsorted(chances, 0.5)) + 1, grid.size)
        sizes, chances = grid[:last] ** -r, chances[:last]
        cells = float(np.sum(chances[1:] * (sizes[:-1] - sizes[1:])))
        # below, 2 F(lowest) (d / lowest)^k
        below = 2 * near[0] * sizes[0] * r / (fall - r)
        total = float(cells + below + sizes[-1]) * (1 + _ROUNDING)
        bound = total ** (1 / r) / abs(line.factor)
    return bound if math.isfinite(bound) and total > 0 else math.inf


def _near(line: AffineDraw, zero: float, distance: Any) -> Any:
    """The probability that the draw is within a distance of the end at which the line is 0."""
    low, high = line.law.support(*line.arguments)
    if zero == low:
        return np.asarray(line.law.cdf(low + distance, *line.arguments))
    return np.asarray(line.law.survival(high - distance, *line.arguments))


def _distance(line: AffineDraw, zero: float, chance: float) -> float:
    """The distance from this end with this probability."""
    low, high = line.law.support(*line.arguments)
    if zero == low:
        return float(line.law.quantile(chance, *line.arguments) - low)
    return float(high - line.law.upper_quantile(chance, *line.arguments))
