"""What each cell of a draw adds to the mean of a function of it, and how wrong that can be."""

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
"""An upper bound of (E|quantity|^p)^(1/p), infinite where none is known."""

# Of the ellipse around a cell: large enough that degree 35 leaves a share of 1e-14, small enough
# that most functions are analytic there after a few cuts.
ELLIPSE = 2.5
# Its points are at most so many halves of the cell's width away from it.
ELLIPSE_REACH = (ELLIPSE - 1 / ELLIPSE) / 2
POLYNOMIAL_ERROR = 2 / ((ELLIPSE - 1) * ELLIPSE**FUNCTION_DEGREE)
# A cell of a smaller probability on which the function has no bound is not cut further.
LEAST_UNBOUNDED = 1e-60


@record
class SingleDrawIntegrand:
    """The product of |φ - centre|^power over functions φ of one draw, signs kept where `signed`."""

    steps: Steps
    powers: tuple[float, ...]
    centres: tuple[float, ...]
    signed: bool

    def evaluated(self, points: Floats) -> Floats:
        """Its values where the draw has these."""
        return self._product(self.steps.evaluated(points))

    def listed(self, points: Floats) -> tuple[Floats, Floats]:
        """The same of a draw that has a value with some chance, and that on paper beside it."""
        found, paper = self.steps.listed(points)
        return self._product(found), self._product(paper)

    def _product(self, factors: Sequence[Floats]) -> Floats:
        product = np.ones(1)
        for values, power, centre in zip(factors, self.powers, self.centres, strict=True):
            moved = values - centre if centre else values
            product = product * (moved if self.signed else np.abs(moved)) ** power
        return product

    def ranges(self, of_draw: Ranges) -> Ranges:
        """Its ranges, from those of the draw."""
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
        """A bound of its norm of an order."""
        factors = zip(self.steps.values, self.powers, self.centres, strict=True)
        return norm_of_product(list(factors), order, norm)


def norm_of_product(
    factors: Sequence[tuple[Value, float, float]], order: float, norm: Norm
) -> float:
    """A bound of the norm of Π |x - c|^k, given x, k, c, by Hölder's and Minkowski's inequality."""
    total = math.fsum(power for _, power, _ in factors)
    found = 1.0
    for value, power, centre in factors:
        try:
            found *= (norm(value, order * total) + abs(centre)) ** power
        except OverflowError:
            return math.inf
    return found


@record
class CellMeans:
    """What each cell adds to an expectation: a value, and how wrong it can be.

    Of the error, `floor` is what smaller cells would not mend; `sizes` is the mean of |g| as far
    as it was seen; `smooth` says where the rule is trusted.
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
        """Whether it is not worth cutting further, as a cell that can be cut no more is unbounded.

        Or all are: then a function in it has no bounds at all.
        """
        unbounded = np.isinf(self.errors)
        return bool((unbounded & self.stuck).any() or unbounded.all())

    @property
    def stuck(self) -> Truths:
        """Which cells are cut no further where they are unbounded: narrow or unlikely ones."""
        return ~self.splittable | (self.chances < LEAST_UNBOUNDED)

    def ends(self, chosen: Truths) -> tuple[Floats, Floats]:
        """The ends of some cells."""
        return self.low[chosen], self.high[chosen]

    def taken(self, chosen: NDArray[np.bool_ | np.intp]) -> CellMeans:
        """Those of some cells."""
        return CellMeans(**{name: getattr(self, name)[chosen] for name in _NAMES})

    def joined(self, other: CellMeans) -> CellMeans:
        """Those of both."""
        return CellMeans(
            **{name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _NAMES}
        )


def near_cells(low: Floats, high: Floats) -> Ranges:
    """The draw itself on cells, and in the ellipses around them."""
    size = np.maximum(np.abs(low), np.abs(high))
    reach = ELLIPSE_REACH * (high / 2 - low / 2)
    return Ranges(low, high, np.stack([reach, FUNCTION_ROUNDING * size]))


def means_of(integrand: SingleDrawIntegrand, cells: Cells) -> CellMeans:
    """The mean over each cell."""
    found = integrand.ranges(near_cells(cells.low, cells.high))
    values = integrand.evaluated(cells.points.ravel()).reshape(cells.points.shape)

    # a number that is at least 0 adds least where the probability is least
    lowest = found.low * np.where(found.low > 0, cells.least, cells.most)
    highest = found.high * np.where(found.high > 0, cells.most, cells.least)
    by_rule = (cells.weights * values).sum(axis=1)
    sizes = np.abs(cells.weights * values).sum(axis=1)
    clipped = np.clip(by_rule, lowest, highest)
    by_hull = np.maximum(highest - clipped, clipped - lowest)
    by_hull = np.where(np.isnan(by_hull), np.inf, by_hull)

    away = (found.high - found.low) / 2 + found.off[0]
    smooth_error = 2 * POLYNOMIAL_ERROR * away * cells.most + cells.stray * found.size
    smooth_floor = (
        found.off[1] * cells.most + cells.doubt * found.size + 16 * FUNCTION_ROUNDING * sizes
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
