"""Expectations of functions of one draw, each with a bound of its error.

The values of a discrete draw are enumerated. The values of a continuous draw are cut into cells,
and the mean on each cell is computed by a Gauss rule. Its error is known in advance, from bounds of
the function at complex values of the draw (`vocabulary.smoothness`):

* Let g be analytic in the ellipse with foci at the ends of a cell whose axes add up to ρ times the
  width of the cell, and there at most M away from the middle of its values. Then some polynomial of
  degree m is at most 2 M / ((ρ - 1) ρ^m) away from g on the cell (Trefethen 2013, "Approximation
  theory and approximation practice", theorem 8.2). The rule is exact for this polynomial times the
  polynomial that is close to the density.
* If no such M is known, or the bound is worse, the part of the cell is bounded by the smallest and
  the largest value of g on it, times its probability.

Cells are cut until the sum of all bounds is small. So no kink and no spike between the points of a
rule is missed: where g is not known to be smooth, its whole range counts as error. The parts beyond
the outermost cells, or at a pole, are bounded by Hölder's inequality,
E|g| 1_A <= ‖g‖_r P(A)^(1 - 1/r).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dropcheck.analysis.bounds import OUTWARD
from dropcheck.analysis.moments.cell_means import (
    CellMeans,
    Norm,
    SingleDrawIntegrand,
    means_of,
    near_cells,
)
from dropcheck.analysis.moments.cells import between, can_be_split, cut_law, split
from dropcheck.analysis.moments.draw_steps import Steps, draw_below, law_of
from dropcheck.array_types import Floats, Truths
from dropcheck.language.graph import Plain, Value
from dropcheck.records import record
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.majorants.bounds_arithmetic import summed
from dropcheck.vocabulary.smoothness.ranges import Ranges

# Cutting ends when the error is this share of E|g|, or with this many cells or rounds.
TOLERANCE = 1e-10
MOST_CELLS = 4000
# fewer cells if a step has no rule for ranges, so that bounds are computed cell by cell
MOST_CELLS_BY_HULLS = 400
MOST_ROUNDS = 30
# The most values of a discrete law that are enumerated.
MOST_POINTS = 2**15
# The number of pieces of a cell on which the function is smooth, and of one where it may not be.
SMOOTH_PIECES, ROUGH_PIECES = 4, 16
# The most cuts to locate a kink, and the largest share of pieces that may then contain kinks.
MOST_CUTS, MOST_SHARE = 12, 0.3
# The relative error of the probability of a value.
CHANCE_ERROR = 1e-12
# A function of more steps counts as several integrals.
FEW_STEPS = 8
# The most integrals in one case, as each takes milliseconds.
MOST_INTEGRALS = 64
# Orders for Hölder's inequality in the tails.
TAIL_ORDERS = (8.0, 4.0, 2.0, 1.5, 1.25, 1.1, 1.02)


@record
class Estimate:
    """A number that is at most `error` away from `value`; an infinite error means: not known."""

    value: float
    error: float


UNKNOWN = Estimate(math.nan, math.inf)

Found = dict[tuple[object, ...], Estimate]
"""Expectations, by the law, its arguments and the steps of the function."""


class KnownMeans:
    """Expectations over one draw, each computed once.

    The steps of a loop need the same expectations again and again: the same function of draws of
    one law has one expectation. At most `most` different integrals are computed, which take a few
    milliseconds each; one of many steps counts as several.

    Args:
        most: how many integrals are computed at most.
        found: expectations that are known already; new ones are added.
    """

    def __init__(self, most: int, found: Found | None = None) -> None:
        self._left = most
        self._found: Found = {} if found is None else found

    def mean(self, draw: Value, integrand: SingleDrawIntegrand, norm: Norm | None) -> Estimate:
        """The expectation of a function of a draw; unknown if too many were computed."""
        single = SingleDraw.of(draw)
        how = integrand.powers, integrand.centres, integrand.signed, norm is None
        key = (single.law, single.arguments, *integrand.steps.written, how)
        if key not in self._found:
            if self._left <= 0:
                return UNKNOWN
            self._left -= 1 + len(integrand.steps.computed) // FEW_STEPS
            self._found[key] = single.mean(integrand, norm)
        return self._found[key]


@record
class SingleDraw:
    """A single drawn number whose law has fixed numbers as arguments."""

    law: Law
    arguments: tuple[Plain, ...]

    @classmethod
    def of(cls, draw: Value) -> SingleDraw:
        """From a result of `draw_below`."""
        origin = law_of(draw)
        assert origin.law is not None
        known = [argument.known for argument in origin.inputs]
        return cls(origin.law, tuple(one for one in known if one is not None))

    @property
    def points(self) -> tuple[Floats, Floats, float] | None:
        """As `Law.points`; None if there are too many."""
        if not self.law.discrete:
            return None
        return self.law.points(*self.arguments, at_most=MOST_POINTS)

    def mean(self, integrand: SingleDrawIntegrand, norm: Norm | None) -> Estimate:
        """The expectation of a function of the draw."""
        with np.errstate(all="ignore"):
            constant = self.law.constant(*self.arguments)
            if constant is not None:
                return _enumerated(integrand, np.array([constant]), np.ones(1))
            if self.law.discrete:
                return self._of_points(integrand, norm)
            return self._of_cells(integrand, norm)

    def _of_points(self, integrand: SingleDrawIntegrand, norm: Norm | None) -> Estimate:
        points = self.points
        if points is None:
            return UNKNOWN
        values, chances, rest = points
        listed = _enumerated(integrand, values, chances)
        tail = (*self.law.support(*self.arguments), rest)
        beyond = self._tail_error(integrand, norm, tail) if rest > 0 else 0.0
        return replace(listed, error=listed.error + beyond)

    def _of_cells(self, integrand: SingleDrawIntegrand, norm: Norm | None) -> Estimate:
        start = cut_law(self.law, self.arguments)
        if start is None:
            return UNKNOWN
        beyond = summed(self._tail_error(integrand, norm, tail) for tail in start.tails)
        means = self._at_poles(means_of(integrand, start.first), integrand, norm)
        most_cells = MOST_CELLS if integrand.steps.ruled else MOST_CELLS_BY_HULLS
        for _ in range(MOST_ROUNDS):
            if not math.isfinite(beyond) or means.hopeless:
                return UNKNOWN
            chosen = _worst(means, most_cells)
            if not chosen.any():
                break
            rough = chosen & ~means.smooth
            low, high = between(split(*means.ends(chosen & means.smooth), SMOOTH_PIECES))
            if rough.any():
                room = most_cells - len(means.values)
                ends = _located(integrand, means.taken(rough), _allowed(means) / 8, room)
                low, high = np.append(low, ends[0]), np.append(high, ends[1])
            finer = self._at_poles(means_of(integrand, start.cells(low, high)), integrand, norm)
            means = means.taken(~chosen).joined(finer)
        error = float(means.errors.sum() + means.floor.sum()) + beyond
        return Estimate(float(means.values.sum()), error) if math.isfinite(error) else UNKNOWN

    def _at_poles(
        self, means: CellMeans, integrand: SingleDrawIntegrand, norm: Norm | None
    ) -> CellMeans:
        """The parts of cells, with those of unlikely unbounded cells, as at a pole, set to 0.

        Their errors are bounded as those of tails.
        """
        for at in np.flatnonzero(np.isinf(means.errors) & means.stuck):
            tail = (float(means.low[at]), float(means.high[at]), float(means.chances[at]))
            means.values[at], means.errors[at] = 0.0, self._tail_error(integrand, norm, tail)
            if not math.isfinite(means.errors[at]):
                break
        return means

    def _tail_error(
        self, integrand: SingleDrawIntegrand, norm: Norm | None, tail: tuple[float, float, float]
    ) -> float:
        """A bound of E|g| 1_A for a tail A."""
        low, high, chance = tail
        unknown = np.array([[math.inf], [math.inf]])
        hull = integrand.ranges(Ranges(np.array([low]), np.array([high]), unknown))
        best = float(hull.size[0]) * chance
        best = math.inf if math.isnan(best) else best
        if norm is not None and best > 0:
            best = min(
                best,
                *(integrand.norm(order, norm) * chance ** (1 - 1 / order) for order in TAIL_ORDERS),
            )
        return best


def _located(
    integrand: SingleDrawIntegrand, cells: CellMeans, allowed: float, room: int
) -> tuple[Floats, Floats]:
    """The ends of smaller cells in place of some that are not smooth: narrow ones around kinks.

    Pieces that are not smooth are cut again until they no longer matter. The pieces between them
    are joined again, as the function is smooth between two kinks.
    """
    cells = cells.taken(np.argsort(cells.low))
    low, high = cells.low, cells.high
    density = cells.chances / (high - low)
    edges = [low, high]
    count = 0
    for _ in range(MOST_CUTS):
        pieces = split(low, high, ROUGH_PIECES)
        first, last = pieces[:, :-1], pieces[:, 1:]
        ranges = integrand.ranges(near_cells(first.ravel(), last.ravel()))
        rough = np.isinf(ranges.off[0]).reshape(first.shape) & (first < last)
        # if no piece is rough, or many are, no kink has been located
        share = rough.mean(axis=1)
        plain = (share == 0) | (share > MOST_SHARE)
        edges.append(pieces[plain].ravel())
        rough &= ~plain[:, None]
        edges += [first[rough], last[rough]]
        matter = (ranges.high - ranges.low).reshape(first.shape) * (last - first) * density[:, None]
        going_on = rough & ~(matter <= allowed) & can_be_split(first, last)
        density = np.broadcast_to(density[:, None], first.shape)[going_on]
        low, high = first[going_on], last[going_on]
        count += pieces[plain].size + 2 * np.count_nonzero(rough)
        if not low.size or count + low.size > room:
            break
    ends = np.unique(np.concatenate(edges))
    low, high = ends[:-1], ends[1:]
    whole = np.maximum(np.searchsorted(cells.low, low, side="right") - 1, 0)
    inside = (low >= cells.low[whole]) & (high <= cells.high[whole])
    return low[inside], high[inside]


def _allowed(means: CellMeans) -> float:
    """The sum of errors that is small enough."""
    return TOLERANCE * float(means.sizes.sum())


def _worst(means: CellMeans, most_cells: int) -> Truths:
    """The cells to be cut: without their errors the sum would be small; none if it is small now."""
    room = most_cells - len(means.values)
    allowed = _allowed(means)
    chosen = np.zeros(len(means.values), dtype=bool)
    can = means.splittable & (means.errors > 0.01 * means.floor)
    if room < ROUGH_PIECES or float(means.errors.sum()) <= allowed:
        return chosen
    errors = np.where(can, means.errors, 0.0)
    order = np.argsort(-errors, kind="stable")
    ordered = errors[order]
    left = np.cumsum(ordered[::-1])[::-1]  # the error if all cells before had none
    needed = (left > allowed / 4) & (ordered > 0)
    cost = np.cumsum(np.where(means.smooth[order], SMOOTH_PIECES, ROUGH_PIECES) - 1)
    chosen[order] = needed & (cost <= room)
    return chosen


def _enumerated(integrand: SingleDrawIntegrand, values: Floats, chances: Floats) -> Estimate:
    """The expectation of a function of a draw with few values.

    If rounding decides at a value, the result is the middle of float64 and exact arithmetic.
    """
    computed, paper = integrand.listed(values)
    zero = np.zeros(len(values))
    rounding = integrand.ranges(Ranges(values, values, np.stack([zero, zero]))).off[1]
    rounding = np.where(np.isfinite(rounding), rounding, 1e-12 * np.abs(computed))
    possible = chances > 0
    error = np.where(possible, chances * (rounding + np.abs(paper - computed) / 2), 0.0)
    terms = np.where(possible, chances * (computed + paper) / 2, 0.0)
    size, rounded = float(np.abs(terms).sum()), float(error.sum())
    if not math.isfinite(size + rounded):
        return UNKNOWN
    return Estimate(summed(terms), (rounded + CHANCE_ERROR * size) * (1 + 1e-9))


def joint_moment(
    functions: Sequence[Value],
    powers: Sequence[int],
    centres: Sequence[float],
    norm: Norm | None = None,
    means: KnownMeans | None = None,
) -> Estimate:
    """E Π (φ_k(x) - c_k)^(p_k) of functions φ_k of one draw x, with a bound of the error.

    Args:
        functions: quantities with the same draw below them, see `draw_below`.
        powers: whole exponents from 0 on.
        centres: the numbers that are subtracted from the functions.
        norm: gives bounds of norms, which the tails of unbounded functions need.
        means: the cache, if many expectations are needed.
    """
    draw = draw_below(functions[0])
    if draw is None or any(draw_below(one) is not draw for one in functions):
        return UNKNOWN
    kept = [at for at, power in enumerate(powers) if power]
    integrand = SingleDrawIntegrand(
        Steps.to([functions[at] for at in kept], draw),
        tuple(float(powers[at]) for at in kept),
        tuple(centres[at] for at in kept),
        True,
    )
    return (means or KnownMeans(1)).mean(draw, integrand, norm)


def expectation(
    value: Value, norm: Norm | None = None, means: KnownMeans | None = None
) -> Estimate:
    """E φ(x) of a function of one draw, with a bound of the error."""
    return joint_moment([value], [1], [0.0], norm, means)


def norm_of(
    value: Value,
    p: float,
    norm: Norm | None = None,
    centre: float = 0.0,
    means: KnownMeans | None = None,
) -> float:
    """An upper bound of (E|φ(x) - centre|^p)^(1/p) for a function of one draw and p >= 1."""
    draw = draw_below(value)
    if draw is None or not 1 <= p < math.inf:
        return math.inf
    integrand = SingleDrawIntegrand(Steps.to([value], draw), (float(p),), (centre,), False)
    found = (means or KnownMeans(1)).mean(draw, integrand, norm)
    most = found.value + found.error
    return math.inf if math.isnan(most) else max(most, 0.0) ** (1 / p)


class Integrals:
    """The integrals of a case.

    Args:
        norm: gives bounds of norms by other means, for the tails.
        found: integrals that are known already.
    """

    def __init__(self, norm: Norm, found: Found | None = None) -> None:
        self._norm = norm
        self._means = KnownMeans(MOST_INTEGRALS, found)

    def norm(self, value: Value, p: float, centre: float = 0.0) -> float:
        """A bound of (E|x - centre|^p)^(1/p) for a function of one draw; infinite if unknown."""
        return norm_of(value, p, self._norm, centre, self._means) * (1 + OUTWARD)

    def spread(self, value: Value, p: float) -> float:
        """A bound of (E|x - E x|^p)^(1/p) for a function of one draw; infinite if unknown."""
        mean = expectation(value, self._norm, self._means)
        if not math.isfinite(mean.error):
            return math.inf
        return self.norm(value, p, mean.value) + mean.error
