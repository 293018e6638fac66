"""Expectations of a function of one draw of a continuous law, with a bound of the error.

The values of the draw are cut into cells. The mean on a cell is computed by a Gauss rule for the
function times the density. Its error is known in advance, from the enclosure of that product:

* Let h be analytic in the ellipse with foci at the ends of a cell whose axes add up to ρ times the
  width of the cell, and there at most M away from the middle of its values. Then some polynomial of
  degree m is at most 2 M / ((ρ - 1) ρ^m) away from h on the cell (Trefethen 2013, "Approximation
  theory and approximation practice", theorem 8.2). The rule is exact for this polynomial.
* If no such M is known, or the bound is worse, the part of the cell is bounded by the smallest and
  the largest value of the function on it, times its probability.

Cells are cut until the sum of all bounds is small. So no kink and no spike between the points of a
rule is missed: where the function is not known to be smooth, its whole range counts as error. The
parts beyond the outermost cells, or at a pole, are bounded by Hölder's inequality,
E|g| 1_A <= ‖g‖_r P(A)^(1 - 1/r).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.known.enclosure import FUNCTION_ROUNDING, Enclosure, Near, enclosed
from dropcheck.vocabulary.law import Law

POINTS = 24
# The sum of the half axes of the ellipse around a cell, in halves of its width: large enough that a
# polynomial of degree 47 is right to 1e-14, small enough that most functions are analytic there
# after a few cuts.
ELLIPSE = 2.0
# The largest distance of the ellipse from the cell, in halves of the cell's width.
ELLIPSE_REACH = (ELLIPSE - 1 / ELLIPSE) / 2
POLYNOMIAL_ERROR = 2 / ((ELLIPSE - 1) * ELLIPSE ** (2 * POINTS - 1))
# The first cells end at the quantiles of these levels, on either side. Beyond the last level lies
# the tail.
LEVELS = (0.5, 0.1, 1e-2, 1e-4, 1e-7, 1e-12, 1e-20, 1e-35, 1e-60, 1e-100, 1e-170, 1e-300)
# The relative error of a distribution function.
DISTRIBUTION_ERROR = 1e-13
# Cells with a smaller probability are not used to measure the error of the density.
LEAST_TELLING = 1e-5
# A cell whose ends have one sign, and a larger ratio than this, is cut in equal ratios.
FAR_APART = 8.0
# Cells with a smaller relative width are not cut.
LEAST_WIDTH = 4e-15
# A cell with a smaller probability is not cut further, even if the function is unbounded on it.
LEAST_UNBOUNDED = 1e-60
# Cutting ends when the error is this share of E|g|, or with this many cells or rounds.
TOLERANCE = 1e-10
MOST_CELLS = 4000
MOST_ROUNDS = 30
# The number of pieces of a cell on which the function is smooth, and of one where it may not be;
# where a kink is located, there are more pieces of few cells, as each round takes a millisecond.
SMOOTH_PIECES, ROUGH_PIECES, KINK_PIECES = 4, 16, 512
# The most cuts to locate a kink, and the largest share of pieces that may then contain kinks.
MOST_CUTS, MOST_SHARE = 12, 0.3
# Orders for Hölder's inequality in the tails; none is tried after one that leaves so small a share.
TAIL_ORDERS = (2.0, 4.0, 8.0, 1.5, 1.25, 1.1, 1.02)
SMALL_SHARE = 1e-60
# A tail whose range bounds its part by less needs no norm.
NEGLIGIBLE_TAIL = 1e-200

_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(POINTS)


class Integrand(Protocol):
    """A function g of one draw."""

    def evaluated(self, points: Floats) -> Floats:
        """Its values at values of the draw."""

    def enclosed(self, draw: Enclosure) -> Enclosure:
        """Its enclosure, from that of the draw."""

    def norm(self, order: float) -> float:
        """A bound of (E|g|^order)^(1/order); infinite if none is known."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that is at most `error` away from `value`; an infinite error means: not known."""

    value: float
    error: float


UNKNOWN = Estimate(math.nan, math.inf)


class Cells(NamedTuple):
    """Intervals of the values of one draw.

    `density` is the enclosure of the density. The probability of each cell lies between `least` and
    `most`. `points` and `weights`, [cells, POINTS], are a rule for expectations on each cell.
    """

    draw: Enclosure
    density: Enclosure
    least: Floats
    most: Floats
    points: Floats
    weights: Floats


@dataclass(frozen=True, slots=True)
class CutLaw:
    """A continuous law with fixed arguments, to be cut into cells.

    `first` are the first cells; `tails` are the cells beyond them: low, high, probability.
    `error` is the relative error of the density, measured by the distribution function.
    """

    law: Law
    arguments: tuple[Any, ...]
    first: Cells
    tails: tuple[Floats, Floats, Floats]
    error: float


@lru_cache(maxsize=64)
def cut_law(law: Law, arguments: tuple[Any, ...]) -> CutLaw | None:
    """The first cells of a continuous law that is no constant; None if no quantiles are known."""
    with np.errstate(all="ignore"):
        low, high = law.support(*arguments)
        levels = np.array(LEVELS)
        lower = law.quantile(levels[::-1], *arguments)
        upper = law.upper_quantile(levels[1:], *arguments)
        if lower is None or upper is None:
            return None
        ends = [*lower, *upper]
        edges = np.unique([low, high, *(end for end in ends if low <= end <= high)])
        edges = edges[np.isfinite(edges)]
        beyond = [
            (low, edges[0], _chance(law.cdf, edges[0], arguments)),
            (edges[-1], high, _chance(law.survival, edges[-1], arguments)),
        ]
        infinite = [one for one in beyond if math.isinf(one[1] - one[0])]
        tails = np.array(infinite, np.float64).reshape(-1, 3).T
        first = _cells(law, arguments, edges[:-1], edges[1:])
        least, most = _chances(law, arguments, edges[:-1], edges[1:])
        total = first.weights.sum(axis=1)
        telling = (_error_of(first.density, first.draw) < 1e-9 * total) & (least > LEAST_TELLING)
        wrong = np.where(telling, np.abs(total / most - 1), 0.0)
        error = float(wrong.max(initial=0.0)) + DISTRIBUTION_ERROR
        return CutLaw(law, arguments, first, (tails[0], tails[1], tails[2]), error)


def _chance(probability: Callable[..., Any], end: float, arguments: tuple[Any, ...]) -> float:
    """A bound of the probability of a tail, which may underflow."""
    return max(float(probability(float(end), *arguments)) * 1.01, 1e-300)


def near_cells(low: Floats, high: Floats) -> Enclosure:
    """The draw itself on cells, and in the ellipses around them."""
    size = np.maximum(np.abs(low), np.abs(high))
    reach = ELLIPSE_REACH * (high / 2 - low / 2)
    return Enclosure(low, high, Near(reach, FUNCTION_ROUNDING * size))


def density_of(law: Law, arguments: tuple[Any, ...], draw: Enclosure) -> Enclosure:
    """The density on cells, from the law's own formula."""
    known = (np.atleast_1d(np.asarray(one, np.float64)) for one in arguments)
    found: Any = np.exp(enclosed(law.log_density_inside(draw, *known), draw) + 0.0 * draw)
    return cast("Enclosure", found)


def _cells(law: Law, arguments: tuple[Any, ...], low: Floats, high: Floats) -> Cells:
    draw = near_cells(low, high)
    density = density_of(law, arguments, draw)
    half = high / 2 - low / 2
    points = np.clip((low + half)[:, None] + half[:, None] * _PLACES, low[:, None], high[:, None])
    given = [np.atleast_1d(np.asarray(one, np.float64)) for one in arguments]
    at_points = law.density(given, points.ravel()).reshape(points.shape)
    least, most = 2 * half * np.maximum(density.low, 0.0), 2 * half * density.high
    rough = ~(most <= 2 * least) | np.isinf(density.smooth.off)
    if rough.any():
        least[rough], most[rough] = _chances(law, arguments, low[rough], high[rough])
    return Cells(draw, density, least, most, points, at_points * (half[:, None] * _WEIGHTS))


def _chances(
    law: Law, arguments: tuple[Any, ...], low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Bounds of the probability of each cell, from the nearer tail."""
    ends = np.stack([low, high])
    below = np.asarray(law.cdf(ends, *arguments), dtype=np.float64)
    above = np.asarray(law.survival(ends, *arguments), dtype=np.float64)
    nearer = below[0] <= above[1]
    difference = np.where(nearer, below[1] - below[0], above[0] - above[1])
    error = DISTRIBUTION_ERROR * np.where(nearer, below[1], above[0]) + 1e-300
    return np.maximum(difference - error, 0.0), np.maximum(difference, 0.0) + error


def _can_besplit(low: Floats, high: Floats) -> Truths:
    """Whether cells are wide enough to be cut further: float64 has enough numbers in them."""
    return np.asarray(high - low > LEAST_WIDTH * np.maximum(np.abs(low), np.abs(high)))


def split(low: Floats, high: Floats, pieces: int) -> Floats:
    """The ends of the pieces of each cell, [cells, pieces + 1]; some pieces may be empty."""
    share = np.arange(pieces + 1) / pieces
    edges = low[:, None] + (high - low)[:, None] * share
    far = ((low > 0) & (high > FAR_APART * low)) | ((high < 0) & (low < FAR_APART * high))
    if far.any():
        start, stop = np.log(np.abs(low[far]))[:, None], np.log(np.abs(high[far]))[:, None]
        edges[far] = np.sign(low[far])[:, None] * np.exp(start + (stop - start) * share)
    edges[:, 0], edges[:, -1] = low, high
    return edges


class Parts(NamedTuple):
    """The parts of cells in an expectation of g: values, and bounds of their errors.

    Smaller cells would reduce `errors`, but not the further error `floor`. `sizes` are estimates of
    the parts in the mean of |g|. `smooth` says where g is analytic near the cell; `stuck`, which
    cells are so narrow or unlikely that they are not cut for want of a bound.
    """

    low: Floats
    high: Floats
    values: Floats
    errors: Floats
    floor: Floats
    sizes: Floats
    smooth: Truths
    stuck: Truths
    chances: Floats

    def taken(self, chosen: Any) -> Parts:
        """The parts of some of the cells."""
        return Parts(*(one[chosen] for one in self))

    def joined(self, other: Parts) -> Parts:
        """The cells of both."""
        both: Any = zip(self, other, strict=True)
        return Parts(*map(np.concatenate, both))


def _error_of(product: Enclosure, draw: Enclosure) -> Floats:
    """A bound of the error of the Gauss rule for a function on each cell, but for rounding."""
    away = (product.high - product.low) / 2 + product.smooth.off
    error = 2 * POLYNOMIAL_ERROR * away * (draw.high - draw.low)
    return np.where(np.isfinite(error), error, np.inf)


def _parts(integrand: Integrand, cells: Cells, density_error: float) -> Parts:
    """The part of each cell in the mean of an integrand."""
    low, high = cells.draw.low, cells.draw.high
    ranges = integrand.enclosed(cells.draw)
    weighted: Enclosure = ranges * cells.density
    values = integrand.evaluated(cells.points.ravel()).reshape(cells.points.shape)
    least, most = cells.least * (1 - density_error), cells.most * (1 + density_error)

    # a positive value contributes least with the least probability, a negative one with the most
    lowest = ranges.low * np.where(ranges.low > 0, least, most)
    highest = ranges.high * np.where(ranges.high > 0, most, least)
    by_rule = (cells.weights * values).sum(axis=1)
    sizes = np.abs(cells.weights * values).sum(axis=1)
    clipped = np.clip(by_rule, lowest, highest)
    by_hull = np.maximum(highest - clipped, clipped - lowest)
    by_hull = np.where(np.isnan(by_hull), np.inf, by_hull)

    error = _error_of(weighted, cells.draw)
    floor = weighted.smooth.error * (high - low) + (16 * FUNCTION_ROUNDING + density_error) * sizes
    floor = np.where(np.isfinite(floor), floor, np.inf)
    smooth = error + floor < by_hull
    undefined = np.isnan(by_rule) & (most > 0)
    splittable = _can_besplit(low, high)
    return Parts(
        low=low,
        high=high,
        values=np.where(np.isfinite(clipped), clipped, 0.0),
        errors=np.where(undefined, np.inf, np.where(smooth, error, by_hull)),
        floor=np.where(smooth, floor, 0.0),
        sizes=np.where(np.isfinite(sizes), sizes, 0.0),
        smooth=np.isfinite(ranges.smooth.off),
        stuck=~splittable | (most < LEAST_UNBOUNDED),
        chances=most,
    )


def mean(law: Law, arguments: tuple[Any, ...], integrand: Integrand) -> Estimate:
    """The expectation of a function of one draw."""
    with np.errstate(all="ignore"):
        start = cut_law(law, arguments)
        if start is None:
            return UNKNOWN
        beyond = float(tail_errors(integrand, *start.tails).sum())
        parts = _at_poles(_parts(integrand, start.first, start.error), integrand)
        for _ in range(MOST_ROUNDS):
            unbounded = np.isinf(parts.errors)
            if not math.isfinite(beyond) or (unbounded & parts.stuck).any() or unbounded.all():
                return UNKNOWN
            chosen = _worst(parts)
            if not chosen.any():
                break
            plain, rough = chosen & parts.smooth, chosen & ~parts.smooth
            edges = split(parts.low[plain], parts.high[plain], SMOOTH_PIECES)
            low, high = edges[:, :-1].ravel(), edges[:, 1:].ravel()
            if rough.any():
                some = parts.taken(rough)
                ends = _located(integrand, some, len(parts.low), _allowed(parts))
                low, high = np.append(low, ends[0]), np.append(high, ends[1])
            wide = low < high
            cells = _cells(law, arguments, low[wide], high[wide])
            finer = _at_poles(_parts(integrand, cells, start.error), integrand)
            parts = parts.taken(~chosen).joined(finer)
        poles = parts.stuck & (parts.values == 0)
        together = _together(parts.taken(poles), integrand)
        error = float(parts.errors[~poles].sum() + parts.floor.sum()) + together + beyond
        return Estimate(float(parts.values.sum()), error) if math.isfinite(error) else UNKNOWN


def _at_poles(parts: Parts, integrand: Integrand) -> Parts:
    """The parts of cells, with those of unlikely cells of large error, as at a pole, set to 0.

    Their errors are bounded as those of tails, if that is less.
    """
    poles = np.flatnonzero(parts.stuck & ~(parts.errors <= parts.sizes))
    if poles.size:
        ends = parts.low[poles], parts.high[poles]
        errors = tail_errors(integrand, *ends, parts.chances[poles])
        less = errors < parts.errors[poles]
        parts.errors[poles[less]], parts.values[poles[less]] = errors[less], 0.0
    return parts


def _together(parts: Parts, integrand: Integrand) -> float:
    """A bound of the parts of cells whose values are set to 0: of each, or of all as one tail."""
    each = float(parts.errors.sum())
    if len(parts.errors) < 2:
        return each
    ends = parts.low.min(keepdims=True), parts.high.max(keepdims=True)
    chance = np.minimum(parts.chances.sum(keepdims=True), 1.0)
    return min(each, float(tail_errors(integrand, *ends, chance)[0]))


def tail_errors(integrand: Integrand, low: Floats, high: Floats, chances: Floats) -> Floats:
    """Bounds of E|g| 1_A for each cell A from `low` to `high`, with these probabilities."""
    unknown = np.full(len(low), math.inf)
    best = integrand.enclosed(Enclosure(low, high, Near(unknown, unknown))).most * chances
    best = np.where(np.isnan(best), math.inf, best)
    for order in TAIL_ORDERS if (best > NEGLIGIBLE_TAIL).any() else ():
        share = chances ** (1 - 1 / order)
        best = np.fmin(best, integrand.norm(order) * share)
        if ((share <= SMALL_SHARE) & (best < math.inf)).all():
            break
    return best


# What is larger where draws are usual may overflow further out, though it hardly grows.
_FAR_FROM_OVERFLOW = 1e150


def diverges(law: Law, arguments: tuple[Any, ...], integrand: Integrand) -> bool:
    """Whether g >= 0 has no mean, as its parts in a tail or near 0 do not fall.

    The k-th part lies between the quantiles of 2^-k and of half as much, or between these distances
    from 0. The parts of a mean that exists fall: as k grows from 100 to 300 and to 900, by more
    than a millionth, unless g has no mean of an order above 1 + 1e-8. Some means that do not exist
    are not seen, such as that of 1 / (x |log x|).
    """
    share = np.exp2(-np.array([10.0, 100.0, 300.0, 900.0]))
    with np.errstate(all="ignore"):
        low, high = law.support(*arguments)
        # where floats do not reach a quantile, or round it to an end, g says nothing
        silent = [0.0, low, high, -math.inf, math.inf]
        cells = [
            (quantile(share / 2, *arguments), quantile(share, *arguments), share / 2)
            for quantile in (law.quantile, law.upper_quantile)
        ]
        if low < 0 < high:
            densities = [
                density_of(law, arguments, near_cells(*sorted(ends, key=np.sum))).low
                for ends in ((share / 2, share), (-share, -share / 2))
            ]
            cells += [
                (share / 2, share, share / 2 * densities[0]),
                (-share, -share / 2, share / 2 * densities[1]),
            ]
        for one, other, chances in cells:
            if one is None or other is None:
                continue
            draw = near_cells(np.minimum(one, other), np.maximum(one, other))
            sizes = integrand.enclosed(draw).low
            if sizes[0] > _FAR_FROM_OVERFLOW and not np.isfinite(sizes).all():
                continue  # it overflows where a mean exists
            within = ~(np.isin(one, silent) | np.isin(other, silent))
            parts = np.minimum(sizes * chances, np.finfo(np.float64).max)[1:][within[1:]]
            falls = np.log(parts[:-1] / parts[1:])
            if falls.size and parts[0] > 0 and (falls <= 1e-6).all():
                return True
    return False


def _located(
    integrand: Integrand, parts: Parts, cells: int, allowed: float
) -> tuple[Floats, Floats]:
    """The ends of smaller cells in place of some that are not smooth: narrow ones around kinks.

    Pieces that are not smooth are cut again until they no longer matter. The pieces between them
    are joined again, as the function is smooth between two kinks.
    """
    parts = parts.taken(np.argsort(parts.low))
    low, high = parts.low, parts.high
    density = parts.chances / (high - low)
    edges = [low, high]
    count = cells
    for _ in range(MOST_CUTS):
        pieces = split(low, high, max(KINK_PIECES // len(low), ROUGH_PIECES))
        first, last = pieces[:, :-1], pieces[:, 1:]
        ranges = integrand.enclosed(near_cells(first.ravel(), last.ravel()))
        rough = np.isinf(ranges.smooth.off).reshape(first.shape) & (first < last)
        # if no piece is rough, or many are, no kink has been located
        share = rough.mean(axis=1)
        plain = (share == 0) | (share > MOST_SHARE)
        edges.append(pieces[plain].ravel())
        rough &= ~plain[:, None]
        edges += [first[rough], last[rough]]
        matter = (ranges.high - ranges.low).reshape(first.shape) * (last - first) * density[:, None]
        going_on = rough & ~(matter <= allowed / 8) & _can_besplit(first, last)
        density = np.broadcast_to(density[:, None], first.shape)[going_on]
        low, high = first[going_on], last[going_on]
        count += pieces[plain].size + 2 * np.count_nonzero(rough)
        if not low.size or count + low.size > MOST_CELLS:
            break
    ends = np.unique(np.concatenate(edges))
    low, high = ends[:-1], ends[1:]
    whole = np.maximum(np.searchsorted(parts.low, low, side="right") - 1, 0)
    inside = (low >= parts.low[whole]) & (high <= parts.high[whole])
    return low[inside], high[inside]


def _allowed(parts: Parts) -> float:
    """The sum of errors that is small enough."""
    return TOLERANCE * float(parts.sizes.sum())


def _worst(parts: Parts) -> Truths:
    """The cells to be cut: without their errors the sum would be small; none if it is small now."""
    room = MOST_CELLS - len(parts.values)
    allowed = _allowed(parts)
    chosen = np.zeros(len(parts.values), dtype=bool)
    can = _can_besplit(parts.low, parts.high) & (parts.errors > 0.01 * parts.floor)
    if room < ROUGH_PIECES or float(parts.errors.sum()) <= allowed:
        return chosen
    errors = np.where(can, parts.errors, 0.0)
    order = np.argsort(-errors, kind="stable")
    ordered = errors[order]
    left = np.cumsum(ordered[::-1])[::-1]  # the error if all cells before had none
    needed = (left > allowed / 4) & (ordered > 0)
    cost = np.cumsum(np.where(parts.smooth[order], SMOOTH_PIECES, ROUGH_PIECES) - 1)
    chosen[order] = needed & (cost <= room)
    return chosen
