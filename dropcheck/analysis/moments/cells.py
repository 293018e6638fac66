"""The values of a continuous law cut into cells, with a Gauss rule for expectations on each cell.

In a cell the density is close to a polynomial; its Legendre series tells how close. A Gauss rule of
n points is exact up to degree 2n - 1. The degrees that the density's polynomial does not need are
left for the function that is averaged (Davis and Rabinowitz 1984, "Methods of numerical
integration", section 2.7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dropcheck.array_types import Floats
from dropcheck.language.graph import Plain, fixed_array
from dropcheck.records import record
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.law_parts import LawPart

POINTS = 24
# the degree of the polynomial that stands for a density, and the degree left for the function
DENSITY_DEGREE = 12
FUNCTION_DEGREE = 2 * POINTS - 1 - DENSITY_DEGREE
# The first cells end at the quantiles of these levels, on either side. Beyond the last level lies
# the tail.
LEVELS = (0.5, 0.1, 1e-2, 1e-4, 1e-7, 1e-12, 1e-20, 1e-35, 1e-60, 1e-100, 1e-170, 1e-300)
# The relative error of a distribution function.
DISTRIBUTION_ERROR = 1e-13
# A cell whose ends have one sign, and a larger ratio than this, is cut in equal ratios.
FAR_APART = 8.0
# Cells with a smaller relative width are not cut.
LEAST_WIDTH = 4e-15
# Cells with a smaller probability are not used to measure the error of the density.
LEAST_TELLING = 1e-5


def _legendre() -> tuple[Floats, Floats, Floats]:
    """Points and weights of the Gauss rule, and the matrix from values to Legendre coefficients."""
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    values = np.polynomial.legendre.legvander(points, POINTS - 1)
    degrees = np.arange(POINTS)
    return points, weights, values.T * weights * (degrees[:, None] + 0.5)


_PLACES, _WEIGHTS, _SERIES = _legendre()


@record
class Cells:
    """Intervals of the values of one draw.

    The probability of each lies between `least` and `most`. `points` and `weights`, [cells,
    POINTS], are a rule for expectations on each cell. `stray` bounds the integral of the absolute
    difference between the density and the polynomial that the weights stand for; it is infinite
    where the rule must not be used. `doubt` is a further error, which smaller cells do not reduce.
    """

    low: Floats
    high: Floats
    least: Floats
    most: Floats
    points: Floats
    weights: Floats
    stray: Floats
    doubt: Floats

    def in_part(self, share: float) -> Cells:
        """The cells given that the draw lies in a part of the law with this probability."""
        return replace(
            self,
            least=self.least / share,
            most=self.most / share,
            weights=self.weights / share,
            stray=self.stray / share,
            doubt=self.doubt / share,
        )


@record
class CutLaw:
    """A continuous law with fixed arguments, to be cut into cells.

    `first` are the first cells; `tails` are the intervals beyond them: start, end, probability.
    `density_error` is the relative error of the density, measured by the distribution function. For
    a part of a law, `share` is the probability of the part.
    """

    law: Law
    arguments: tuple[Plain, ...]
    first: Cells
    tails: tuple[tuple[float, float, float], ...]
    density_error: float
    share: float = 1.0

    def cells(self, low: Floats, high: Floats) -> Cells:
        """The cells with these ends. The caller silences numpy's warnings."""
        cells = _cells(self.law, self.arguments, low, high, self.density_error)
        return cells if self.share == 1.0 else cells.in_part(self.share)


@lru_cache(maxsize=64)
def cut_law(law: Law, arguments: tuple[Plain, ...]) -> CutLaw | None:
    """The first cells of a continuous law that is no constant; None if no quantiles are known."""
    with np.errstate(all="ignore"):
        if isinstance(law, LawPart):
            return _cut_part(law, arguments)
        low, high = law.support(*arguments)
        levels = np.array(LEVELS)
        lower = law.quantile(levels[::-1], *arguments)
        upper = law.upper_quantile(levels[1:], *arguments)
        if lower is None or upper is None:
            return None
        ends = [*lower, *upper]
        edges = np.unique([low, high, *(end for end in ends if low <= end <= high)])
        edges = edges[np.isfinite(edges)]
        tails = [
            (-np.inf, float(edges[0]), _chance(law.cdf, edges[0], arguments)),
            (float(edges[-1]), np.inf, _chance(law.survival, edges[-1], arguments)),
        ]
        open_ended = (low == -np.inf, high == np.inf)
        first = _cells(law, arguments, edges[:-1], edges[1:], 1e-3)
        total = first.weights.sum(axis=1)
        telling = (first.stray < 1e-9 * total) & (first.least > LEAST_TELLING)
        wrong = np.where(telling, np.abs(total / first.most - 1), 0.0)
        error = float(wrong.max(initial=0.0)) + DISTRIBUTION_ERROR
        return CutLaw(
            law=law,
            arguments=arguments,
            first=_cells(law, arguments, edges[:-1], edges[1:], error),
            tails=tuple(tail for tail, one in zip(tails, open_ended, strict=True) if one),
            density_error=error,
        )


def _cut_part(part: LawPart, arguments: tuple[Plain, ...]) -> CutLaw | None:
    """The cells and tails of the whole law that lie in a part of it."""
    whole = cut_law(part.whole, arguments)
    if whole is None:
        return None
    low, high = part.support(*arguments)
    ends = np.append(whole.first.low, whole.first.high[-1:])
    edges = np.unique([low, high, *ends[(low < ends) & (ends < high)]])
    edges = edges[np.isfinite(edges)]
    # the probability between the rounded ends
    least, most = _chances(part.whole, arguments, np.array([low]), np.array([high]))
    share = float(least[0] + most[0]) / 2
    if not share > 0:
        return None
    cells = _cells(part.whole, arguments, edges[:-1], edges[1:], whole.density_error)
    return CutLaw(
        law=part.whole,
        arguments=arguments,
        first=cells.in_part(share),
        tails=tuple(
            (start, end, chance / share)
            for start, end, chance in whole.tails
            if low <= start and end <= high
        ),
        density_error=whole.density_error,
        share=share,
    )


def _chance(probability: Callable[..., Any], end: float, arguments: tuple[Plain, ...]) -> float:
    """A bound of the probability of a tail, which may underflow."""
    return max(float(probability(float(end), *arguments)) * 1.01, 1e-300)


def _cells(
    law: Law, arguments: tuple[Plain, ...], low: Floats, high: Floats, density_error: float
) -> Cells:
    least, most = _chances(law, arguments, low, high)
    half = high / 2 - low / 2
    points = np.clip((low + half)[:, None] + half[:, None] * _PLACES, low[:, None], high[:, None])
    density = law.density([fixed_array(one) for one in arguments], points.ravel())
    density = density.reshape(points.shape)
    series = np.abs(density @ _SERIES.T)[:, DENSITY_DEGREE + 1 :].sum(axis=1)
    # times the width; twice, for the law and for the rule; twice again for higher degrees
    stray = 8 * half * series
    weights = density * (half[:, None] * _WEIGHTS)
    total = weights.sum(axis=1)
    # rounding moves the points: relative to the width this is much in a narrow cell far from 0
    moved = 2.0**-53 * (1 + np.maximum(np.abs(low), np.abs(high)) / half)
    noise = np.minimum(stray, 32 * POINTS * half * moved * density.max(axis=1))
    stray = stray - noise
    doubt = density_error * total + noise
    # both say what the probability is; where they disagree there is a kink between the points
    lowest = np.maximum(least, total - stray - doubt)
    highest = np.minimum(most, total + stray + doubt)
    good = np.isfinite(stray) & (half > 0) & (lowest <= highest)
    return Cells(
        low=low,
        high=high,
        least=np.where(good, lowest, least),
        most=np.where(good, highest, most),
        points=points,
        weights=np.where(good[:, None], weights, (least / POINTS)[:, None]),
        stray=np.where(good, stray, np.inf),
        doubt=np.where(good, doubt, np.inf),
    )


def _chances(
    law: Law, arguments: tuple[Plain, ...], low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Bounds of the probability of each cell, from the nearer tail."""
    ends = np.stack([low, high])
    below = np.asarray(law.cdf(ends, *arguments), dtype=np.float64)
    above = np.asarray(law.survival(ends, *arguments), dtype=np.float64)
    nearer = below[0] <= above[1]
    difference = np.where(nearer, below[1] - below[0], above[0] - above[1])
    error = DISTRIBUTION_ERROR * np.where(nearer, below[1], above[0]) + 1e-300
    return np.maximum(difference - error, 0.0), np.maximum(difference, 0.0) + error


def can_be_split(low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Whether cells are wide enough to be cut further: float64 has enough numbers in them."""
    wide: NDArray[np.bool_] = high - low > LEAST_WIDTH * np.maximum(np.abs(low), np.abs(high))
    return wide


def split(low: Floats, high: Floats, pieces: int) -> Floats:
    """The ends of the pieces of each cell, [cells, pieces + 1]; some pieces may be empty."""
    share = np.arange(pieces + 1) / pieces
    edges = low[:, None] + (high - low)[:, None] * share
    positive, negative = (low > 0) & (high > FAR_APART * low), (high < 0) & (low < FAR_APART * high)
    far = positive | negative
    if far.any():
        start, stop = np.log(np.abs(low[far]))[:, None], np.log(np.abs(high[far]))[:, None]
        edges[far] = np.sign(low[far])[:, None] * np.exp(start + (stop - start) * share)
    edges[:, 0], edges[:, -1] = low, high
    return edges


def between(edges: Floats) -> tuple[Floats, Floats]:
    """The ends of the pieces that `split` makes, without empty pieces."""
    low, high = edges[:, :-1].ravel(), edges[:, 1:].ravel()
    wide = low < high
    return low[wide], high[wide]
