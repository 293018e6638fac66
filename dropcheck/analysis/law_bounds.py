"""Bounds for a draw from its law: its norm, its spread, its log-moment and its mean.

For most laws, a draw with random arguments is loc + scale · z, where z has fixed arguments and is
independent of loc and scale, and these are linear in the arguments.

A line a·x + b of a single draw x has the law of x, moved and scaled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from dropcheck.analysis.bounds import sum_of
from dropcheck.language.graph import (
    Kind,
    Sources,
    Value,
    computed_from,
    ordered,
    random_inputs,
    thawed,
)
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.elementwise import DIVIDE
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.majorants.rule import (
    INF,
    ZERO,
    Applied,
    Argument,
    Majorant,
    plus,
)
from dropcheck.vocabulary.majorants.sums import MOST_WEIGHTS, weights_of_sample
from dropcheck.vocabulary.shapes import Shape

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

    def less(self, point: float) -> AffineDraw:
        """The line minus a number."""
        return replace(self, shift=self.shift - point)

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
    return largest(value.law.spread(p, *known))


def draw_log_moment(value: Value, below: Sequence[Argument], t: float) -> float:
    """A bound of log E exp(t · x)."""
    law, known = value.law, fixed_arguments(value)
    if law is None:
        return INF
    if known is not None:
        return largest(law.log_mgf(t, *known))
    return _log_moment_of_line(law, below, t)


def draw_mean(value: Value, below: Sequence[Argument]) -> Hull:
    """Where the means of all elements lie."""
    law, known = value.law, fixed_arguments(value)
    if law is None:
        return EVERYWHERE
    if known is not None:
        means, errors = law.moment(1, *known)
        if not np.size(means) or np.isnan(means).any():
            return EVERYWHERE
        errors = np.where(errors <= _MEAN_ROUNDING * law.spread(1.0, *known), 0.0, errors)
        return Hull(float(np.min(means - errors)), float(np.max(means + errors)))
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
    units = law.units
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
# The most factors into which a product is opened, and the most products that are opened.
MOST_PARTS = 32
MOST_SLICES_OPENED = 256

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
    origins: list[AxisOrigins] = []
    options = {name: thawed(option) for name, option in value.options}
    for kept in value.function.growth.kept_axes(value.inputs[0].shape, options):
        others = any(one.random for one in value.inputs[1:])
        origins.append(None if kept is None or others else below[0][kept])
    return tuple(origins) if len(origins) == rank else (None,) * rank


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


def carried(axes: frozenset[int], shape: Shape, into: Shape) -> frozenset[int]:
    """Axes of an argument as axes of an elementwise result; stretched axes are left out."""
    shift = len(into) - len(shape)
    return frozenset(axis + shift for axis in axes if shape[axis] == into[axis + shift])


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


class Described(Protocol):
    """A quantity, and what is known of its elements."""

    value: Value
    random: bool
    below: Sequence[Any]
    use: Applied
    shape: Shape
    mean: Hull
    apart: frozenset[int]
    centred: frozenset[int]

    @property
    def majorant(self) -> Majorant:
        """The rules of the function that makes it."""

    @property
    def density(self) -> float:
        """A bound of the density of each element."""

    @property
    def drawn(self) -> Callable[[Value], Described]:
        """A function from the draws that it is made of to their descriptions."""


_Product = TypeVar("_Product", bound=Described)


def factors(quantity: _Product) -> list[tuple[_Product, float]]:
    """The size of a quantity as a product of powers of others, if these are few.

    Equal factors are joined if their exponents have one sign. They may be different elements of one
    array, as in an outer product: Hölder's inequality holds all the same.
    """
    parts: dict[tuple[int, bool], tuple[_Product, float]] = {}
    stack = [(quantity, 1.0)]
    opened = 0
    while stack:
        one, power = stack.pop()
        powers = one.majorant.powers(one.use) if one.random else ()
        few = len(parts) + len(stack) + len(powers) <= MOST_PARTS
        if powers and few and opened < MOST_SLICES_OPENED:
            opened += 1  # a square of a square of … has few factors, and many products to open
            stack += [(one.below[place], power * own) for place, own in powers]
            continue
        if one.value.binary and power > 0:
            power = 1.0  # all powers of 1 and 0 are equal
        key = (id(one), power > 0)
        joined = power if one.value.binary and power > 0 else parts.get(key, (one, 0.0))[1] + power
        parts[key] = (one, joined)
    return list(parts.values())


def centred_axes(quantity: Described) -> frozenset[int]:
    """The axes along which each element has the mean 0 given those before it.

    The elements of a draw with mean 0 have this property, and keep it when they are multiplied by
    an independent quantity.
    """
    value, every = quantity.value, frozenset(range(len(quantity.shape)))
    if value.kind == Kind.DRAW:
        return every if drawn_about_zero(value, quantity.below, quantity.mean) else frozenset()
    apart = quantity.apart if quantity.mean == ZERO else frozenset[int]()
    return max(apart, _carried(quantity, lambda one: one.centred), key=len)


def signed_axes(quantity: Described) -> frozenset[int]:
    """The axes along which the signs of single elements can be changed without changing the law.

    The elements of a draw that is symmetric about 0 have this property, and keep it when they are
    multiplied by an independent quantity.
    """
    value = quantity.value
    if value.kind == Kind.DRAW:
        alike = value.law is not None and value.law.symmetric
        return quantity.centred if alike else frozenset()
    return _carried(quantity, lambda one: one.signed)


def _carried(quantity: Described, axes: Callable[[Any], frozenset[int]]) -> frozenset[int]:
    """The axes that a quantity has from a factor that is independent of the others; the most."""
    below = [quantity.below[place] for place in quantity.majorant.linear_in(quantity.use)]
    kept = [carried(axes(one), one.shape, quantity.shape) for one in below]
    return max(kept, key=len, default=frozenset[int]())


def disjoint(sources: Sequence[Sources]) -> bool:
    """Whether at most two quantities share no draw; False for more quantities."""
    return len(sources) < 2 or (len(sources) == 2 and sources[0].isdisjoint(sources[1]))


# ---- negative moments ----------------------------------------------------------------------------
#
# Bounds of E|x|^-r for a line x = a · draw + b of one draw, from the probability near 0.
#
# With F(d) = P(|x| <= d), E|x|^-r is the integral of r d^(-r - 1) F(d) over d > 0. F rises, and is
# known from the law. On a grid of d, its value at the upper end of each cell is used. Below the
# grid, F falls as a power of d that the law states (`near_ends`). If F follows this power at the
# lowest points of the grid, twice the power is used below it.
#
# For a sum of squares of linear forms in several draws, see `sums_of_squares`: as many of the forms
# count as are independent, one after the other.


# Points of the grid for each factor of 2; the probability at which it begins, and the largest one
# at which it may begin. At an end of the support it may begin at the lower probabilities, if F does
# not follow its power before: F keeps its digits there.
_FINENESS = 8
_LOWEST, _LOW_ENOUGH = 1e-7, 1e-3
_LOWER = (1e-15, 1e-30, 1e-60, 1e-120)
# A distance from a number that is a smaller share of it has lost half of its digits.
_DIGITS = 1e-8
# Linear forms with a smaller share of the largest one count as dependent on those before.
_LEAST_SHARE = 1e-7
# The largest factor between F and its power at the lowest points, and between the density and its
# mean there.
_NEARLY = 1.2


def inverse_of_line(line: AffineDraw, r: float) -> float:
    """A bound of (E|x|^-r)^(1/r) for r > 0; infinite if none is known."""
    power = line.near_zero()
    if power is None or power <= r or line.law.cdf(0.0, *line.arguments) is None:
        return math.inf
    zero = -line.shift / line.factor
    with np.errstate(all="ignore"):
        fall = power if power < math.inf else r + 1
        low, high = line.law.support(*line.arguments)
        for probability in (_LOWEST,) if low < zero < high else (_LOWEST, *_LOWER):
            lowest = _lowest(line, zero, probability)
            chance = float(_near(line, zero, np.array(lowest)))
            known = 0 < chance <= _LOW_ENOUGH
            if known and _follows(line, zero, lowest, (power, fall)):
                break
        else:
            return _inverse_far_out(line, zero, r)
        # at most up to the distance that contains half of the probability
        steps = np.arange(_FINENESS * 2000)
        grid = lowest * 2.0 ** (steps / _FINENESS)
        near = _near(line, zero, grid)
        last = min(int(np.searchsorted(near, 0.5)) + 1, grid.size)
        grid, near = grid[:last], near[:last]
        sizes = grid**-r
        cells = float(np.sum(near[1:] * (sizes[:-1] - sizes[1:])))
        # below, 2 F(lowest) (d / lowest)^k
        below = 2 * chance * sizes[0] * r / (fall - r)
        total = (cells + below + float(sizes[-1])) * (1 + 1e-9)
        bound = total ** (1 / r) / abs(line.factor)
    return bound if math.isfinite(bound) and total > 0 else math.inf


def _inverse_far_out(line: AffineDraw, zero: float, r: float) -> float:
    """A bound of (E|x|^-r)^(1/r) for r < 1, where 0 lies so far out that no chance is known there.

    Densities fall on either side of their mode. So within a distance d of 0 that ends before it
    the density is at most that at the near end, m, and E|x|^-r <= 2 m d^(1 - r) / (1 - r) + d^-r.
    """
    law, arguments = line.law, tuple(map(np.float64, line.arguments))
    away = law.mode(*line.arguments) - zero
    if r >= 1 or math.isnan(away):
        return math.inf
    bound = math.inf
    for share in (0.5, 0.8, 0.9, 0.95):
        d = share * abs(away)
        m = float(np.exp(law.log_density_inside(np.float64(zero + share * away), *arguments)))
        total = (2 * m * d ** (1 - r) / (1 - r) + d**-r) * (1 + _ROUNDING) if d > 0 else math.inf
        bound = min(bound, total ** (1 / r) / abs(line.factor)) if total > 0 else bound
    return bound


def _near(line: AffineDraw, zero: float, distance: Array) -> Array:
    """An upper bound of the probability that the draw is within a distance of the point `zero`."""
    law, arguments = line.law, line.arguments
    low, high = law.support(*arguments)
    if zero <= low:
        return np.asarray(law.cdf(zero + distance, *arguments))
    if zero >= high:
        return np.asarray(law.survival(zero - distance, *arguments))
    above = law.cdf(zero + distance, *arguments)
    return np.asarray(above - law.cdf(zero - distance, *arguments) + 1e-15)


def _lowest(line: AffineDraw, zero: float, probability: float) -> float:
    """A distance from the point `zero` with about this probability, if that can be computed."""
    law, arguments = line.law, line.arguments
    low, high = law.support(*arguments)
    if zero <= low:
        distance = float(law.quantile(probability, *arguments)) - zero
    elif zero >= high:
        distance = zero - float(law.upper_quantile(probability, *arguments))
    else:
        # halve a distance with a larger probability
        distance = float(law.quantile(0.75, *arguments)) - float(law.quantile(0.25, *arguments))
        while distance > 0 and _near(line, zero, np.array(distance)) > probability * 1e3:
            distance /= 2
    return max(distance, _DIGITS * abs(zero), 1e-280)


def _follows(line: AffineDraw, zero: float, lowest: float, powers: tuple[float, float]) -> bool:
    """Whether F follows its power of the distance near the lowest point.

    If the first power is infinite, whether F falls at least as fast as the second power.
    """
    law, arguments, (power, fall) = line.law, line.arguments, powers
    distances = lowest * np.array([1.0, 2.0, 4.0])
    near = _near(line, zero, distances)
    rises = near[1:] / near[:-1]
    if power == math.inf:
        return bool(rises[0] >= 2.0**fall)
    if not (np.abs(np.log(rises) - power * math.log(2.0)) <= math.log(_NEARLY)).all():
        return False
    low, high = law.support(*arguments)
    if not low < zero < high:
        return True
    points = zero + lowest * np.linspace(-1.0, 1.0, 33)
    density = law.density([np.array([one]) for one in arguments], points)
    return bool(density.max() <= _NEARLY * near[0] / (2 * lowest))


# ---- sums of squares ----------------------------------------------------------------------------


def weights_of_squares(x: Described, axes: Sequence[int], *, centred: bool) -> list[float]:
    """Weights w with Σ x² >= Σ w u² over some axes; with `centred`, for x minus its mean there.

    Each u has a density of at most 1 given those before it. There are no weights unless x is a
    linear image of draws with known densities.

    Let y = L x + c with independent x, in units in which their densities are at most 1. Then
    Q R = L has |y|² >= |R x + Q'c|², where row i of R involves only x_i and those after it (Golub
    and Van Loan 2013, "Matrix Computations", section 5.4.2, with column pivoting).
    """
    if x.apart.issuperset(axes) and x.density < math.inf:
        return weights_of_sample(math.prod(x.shape[at] for at in axes), x.density, centred=centred)
    whole = len(axes) == len(x.shape)
    image = _linear_image(x.value, lambda draw: x.drawn(draw).density) if whole else None
    if image is None:
        return []
    left = image - image.mean(axis=0) if centred else image
    weights: list[float] = []
    sizes = np.square(left).sum(axis=0)
    first = float(sizes.max(initial=0.0))
    while len(weights) < min(image.shape) and sizes.max() > _LEAST_SHARE * first:
        unit = left[:, int(sizes.argmax())] / math.sqrt(sizes.max())
        weights.append(float(sizes.max()) * (1 - _LEAST_SHARE))
        left = left - np.outer(unit, unit @ left)
        sizes = np.square(left).sum(axis=0)
    return weights


def _linear_image(value: Value, density: Callable[[Value], float]) -> Array | None:
    """The matrix L of y = L x + c, [elements, drawn numbers]; None if it is not known."""
    steps = ordered([value])
    drawn = [one for one in steps if one.kind == Kind.DRAW]
    densities = [density(one) for one in drawn]
    lengths = [math.prod(one.shape) for one in drawn]
    count = sum(lengths)
    small = all(math.prod(one.shape) <= MOST_WEIGHTS for one in steps) and count <= MOST_WEIGHTS
    known = all(0 < one < math.inf for one in densities)
    if not (small and known and all(map(_is_linear, steps))):
        return None
    units = np.eye(count, count + 1) / np.repeat(densities, lengths)[:, np.newaxis]
    rows = iter(np.split(units, np.cumsum(lengths)[:-1]))
    results: dict[int, Array] = {}
    for one in steps:
        if one.kind == Kind.DRAW:
            results[id(one)] = next(rows).reshape(*one.shape, count + 1)
            continue
        results[id(one)] = np.asarray(computed_from(one, results))
    images = results[id(value)].reshape(-1, count + 1)
    return images[:, :-1] - images[:, -1:]


def _is_linear(value: Value) -> bool:
    """Whether a value is a draw with fixed arguments, or linear in its random inputs."""
    random = random_inputs(value)
    if value.kind == Kind.DRAW:
        return not random and value.law is not None and value.law.own_axes is None
    if value.kind != Kind.COMPUTED or any(one.postponed for one in value.inputs):
        return False
    function = value.function
    if function.bilinear or function is DIVIDE:
        return len(random) == 1 and (function.bilinear or random[0] is value.inputs[0])
    return function.additive or function.moves
