"""The part of each cell of a draw in the mean of a function of the draw, and its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from dropcheck.analysis.moments.cells import FUNCTION_DEGREE, Cells, can_be_split
from dropcheck.analysis.moments.draw_steps import FUNCTION_ROUNDING, Steps
from dropcheck.array_types import Floats, Truths
from dropcheck.language.graph import Value
from dropcheck.records import record
from dropcheck.vocabulary.smoothness.pieces import absolute
from dropcheck.vocabulary.smoothness.ranges import (
    Ranges,
    fixed,
    multiply,
    subtract,
    whole_power,
)
from dropcheck.vocabulary.smoothness.slopes import real_power

Norm = Callable[[Value, float], float]
"""Takes a quantity and an order p; returns an upper bound of (E|quantity|^p)^(1/p), which is
infinite if none is known."""

# The sum of the half axes of the ellipse around a cell, in halves of its width: large enough that a
# polynomial of degree 35 is right to 1e-14, small enough that most functions are analytic there
# after a few cuts.
ELLIPSE = 2.5
# The largest distance of the ellipse from the cell, in halves of the cell's width.
ELLIPSE_REACH = (ELLIPSE - 1 / ELLIPSE) / 2
POLYNOMIAL_ERROR = 2 / ((ELLIPSE - 1) * ELLIPSE**FUNCTION_DEGREE)
# A cell with a smaller probability is not cut further, even if the function is unbounded on it.
LEAST_UNBOUNDED = 1e-60


@record
class SingleDrawIntegrand:
    """The product of |φ - centre|^power over functions φ of one draw; with signs if `signed`."""

    steps: Steps
    powers: tuple[float, ...]
    centres: tuple[float, ...]
    signed: bool

    def evaluated(self, points: Floats) -> Floats:
        """Its values at these values of the draw."""
        return self._product(self.steps.evaluated(points))

    def listed(self, points: Floats) -> tuple[Floats, Floats]:
        """Its values at values of a discrete draw: in float64, and in exact arithmetic."""
        computed, paper = self.steps.listed(points)
        return self._product(computed), self._product(paper)

    def _product(self, factors: Sequence[Floats]) -> Floats:
        product = np.ones(1)
        for values, power, centre in zip(factors, self.powers, self.centres, strict=True):
            moved = values - centre if centre else values
            product = product * (moved if self.signed else np.abs(moved)) ** power
        return product

    def ranges(self, of_draw: Ranges) -> Ranges:
        """Its ranges, from the ranges of the draw."""
        cells = len(of_draw.low)
        product: Ranges | None = None
        for ranges, power, centre in zip(
            self.steps.ranges(of_draw), self.powers, self.centres, strict=True
        ):
            one = ranges
            if centre:
                one = subtract((ranges, fixed(centre, cells)), np.subtract, False)
                rounding = FUNCTION_ROUNDING * one.size
                one = Ranges(one.low, one.high, one.off + rounding)
            if power % 2 and not self.signed:
                one = absolute((one,), np.abs, False)
            one = whole_power(one, int(power)) if power % 1 == 0 else real_power(one, power)
            product = one if product is None else multiply((product, one), np.multiply, False)
        return fixed(1.0, cells) if product is None else product

    def norm(self, order: float, norm: Norm) -> float:
        """A bound of its norm of this order."""
        factors = zip(self.steps.values, self.powers, self.centres, strict=True)
        return norm_of_product(list(factors), order, norm)


def norm_of_product(
    factors: Sequence[tuple[Value, float, float]], order: float, norm: Norm
) -> float:
    """A bound of the norm of Π |x - c|^k over triples (x, k, c), by Hölder and Minkowski."""
    total = math.fsum(power for _, power, _ in factors)
    bound = 1.0
    for value, power, centre in factors:
        try:
            bound *= (norm(value, order * total) + abs(centre)) ** power
        except OverflowError:
            return math.inf
    return bound


@record
class CellMeans:
    """The parts of cells in an expectation of g: values, and bounds of their errors.

    Smaller cells would reduce `errors`, but not the further error `floor`. `sizes` are estimates of
    the parts in the mean of |g|. `smooth` says where the Gauss rule is used.
    """

    low: Floats
    high: Floats
    values: Floats
    errors: Floats
    floor: Floats
    sizes: Floats
    smooth: Truths
    splittable: Truths
    chances: Floats

    @property
    def hopeless(self) -> bool:
        """Whether cutting is useless: no cell has a bound, or one that cannot be cut has none."""
        unbounded = np.isinf(self.errors)
        return bool((unbounded & self.stuck).any() or unbounded.all())

    @property
    def stuck(self) -> Truths:
        """Which cells are so narrow or unlikely that they are not cut for want of a bound."""
        return ~self.splittable | (self.chances < LEAST_UNBOUNDED)

    def ends(self, chosen: Truths) -> tuple[Floats, Floats]:
        """The ends of some cells."""
        return self.low[chosen], self.high[chosen]

    def taken(self, chosen: NDArray[np.bool_ | np.intp]) -> CellMeans:
        """The parts of some of the cells."""
        return CellMeans(**{name: getattr(self, name)[chosen] for name in _NAMES})

    def joined(self, other: CellMeans) -> CellMeans:
        """The cells of both."""
        return CellMeans(
            **{name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _NAMES}
        )


def near_cells(low: Floats, high: Floats) -> Ranges:
    """The ranges of the draw itself on cells, and in the ellipses around them."""
    size = np.maximum(np.abs(low), np.abs(high))
    reach = ELLIPSE_REACH * (high / 2 - low / 2)
    return Ranges(low, high, np.stack([reach, FUNCTION_ROUNDING * size]))


def means_of(integrand: SingleDrawIntegrand, cells: Cells) -> CellMeans:
    """The part of each cell in the mean of an integrand."""
    ranges = integrand.ranges(near_cells(cells.low, cells.high))
    values = integrand.evaluated(cells.points.ravel()).reshape(cells.points.shape)

    # a positive value contributes least with the least probability, a negative one with the most
    lowest = ranges.low * np.where(ranges.low > 0, cells.least, cells.most)
    highest = ranges.high * np.where(ranges.high > 0, cells.most, cells.least)
    by_rule = (cells.weights * values).sum(axis=1)
    sizes = np.abs(cells.weights * values).sum(axis=1)
    clipped = np.clip(by_rule, lowest, highest)
    by_hull = np.maximum(highest - clipped, clipped - lowest)
    by_hull = np.where(np.isnan(by_hull), np.inf, by_hull)

    away = (ranges.high - ranges.low) / 2 + ranges.off[0]
    smooth_error = 2 * POLYNOMIAL_ERROR * away * cells.most + cells.stray * ranges.size
    smooth_floor = (
        ranges.off[1] * cells.most + cells.doubt * ranges.size + 16 * FUNCTION_ROUNDING * sizes
    )
    smooth_error = np.where(np.isnan(smooth_error), np.inf, smooth_error)
    smooth_floor = np.where(np.isnan(smooth_floor), np.inf, smooth_floor)
    smooth = smooth_error + smooth_floor < by_hull
    undefined = np.isnan(by_rule) & (cells.most > 0)
    values_of_cells = np.where(np.isfinite(clipped), clipped, 0.0)
    errors = np.where(smooth, smooth_error, by_hull)
    return CellMeans(
        low=cells.low,
        high=cells.high,
        values=values_of_cells,
        errors=np.where(undefined, np.inf, errors),
        floor=np.where(smooth, smooth_floor, 0.0),
        sizes=np.where(np.isfinite(sizes), sizes, 0.0),
        smooth=np.isfinite(smooth_error),
        splittable=can_be_split(cells.low, cells.high),
        chances=cells.most,
    )


_NAMES = tuple(field.name for field in fields(CellMeans))
