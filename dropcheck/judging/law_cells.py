"""Cells in which draws are counted, for a law that a quantity is claimed to have.

They are fixed before the counted draws: by the law, and by other draws that are used for nothing
else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dropcheck.array_types import Floats, Indices, Truths
from dropcheck.vocabulary.functions.number_formats import (
    DOUBLE,
    EPSILONS,
    SINGLE,
    below_numbers,
    rounded,
)
from dropcheck.vocabulary.law import Law

# Values closer than this share of their size, or of the numbers of which they are the difference,
# may be one value: no model keeps more digits. For a law of single values this share is TIES.
ONE_VALUE_SHARE = 1e-14
TIES = 1e-12
SMALLEST = 1e-306  # numbers below have fewer digits
# The same share for the numbers of code, in epsilons of their format.
UNITS = 2.0
# Values down to this tail probability are checked for an overflow of the number format.
RAREST = 1e-12
# Numbers of cells of equal probability, which show the shape of a law: few cells for a large
# difference, many for a fine one.
SHAPES = (8, 32, 128)
# Cuts per resolution: the distance is then known up to a sixteenth of the resolution.
CUTS_PER_RESOLUTION = 16
FEWEST_CUTS, MOST_CUTS = 512, 2**15
# A law with at most this many values has a cell for each of them.
MOST_SINGLE = 2048
# A cut is not used if rounding may move more than this probability to its other side, or to the
# other side of an end of the law.
MOVED, MOVED_AT_END = 1e-7, 1e-13


@dataclass(frozen=True, slots=True, kw_only=True)
class LawCells:
    """Cells for one law: between neighbouring cuts, below the first cut, and above the last.

    `below` and `above`, [cuts], are the probabilities at or below each cut, and above it. `points`,
    [cuts + 1], says in which cells the law has at most one value. `whole` says that draws must be
    whole numbers, `infinite` that the largest draws overflow the number format.
    """

    cuts: Floats
    below: Floats
    above: Floats
    points: Truths
    rounding: float
    whole: bool = False
    infinite: bool = False

    def chances(self, places: Indices) -> Floats:
        """The probabilities of the cells between some cuts, [places + 1], from the nearer tail."""
        below = np.concatenate([[0.0], self.below[places], [1.0]])
        above = np.concatenate([[1.0], self.above[places], [0.0]])
        return np.maximum(np.where(below[1:] < 0.5, np.diff(below), -np.diff(above)), 0.0)

    def shape(self, cells: int) -> Indices:
        """The indices of cuts that make about this many cells of about equal probability."""
        levels = np.arange(1, cells) / cells
        places = np.searchsorted(self.below, levels * (1 - 1e-9))
        places = np.unique(places[places < len(self.cuts)])
        rare = 0.25 / cells
        kept: Indices = places[(self.below[places] >= rare) & (self.above[places] >= rare)]
        return kept


def law_cells(
    law: Law,
    arguments: Sequence[Any],
    *,
    resolution: float,
    magnitude: float,
    number_format: str = DOUBLE,
) -> LawCells:
    """The cells for a law, for draws that are rounded to a number format.

    Args:
        law: the law.
        arguments: its fixed arguments.
        resolution: the distance from the law that is to be detected.
        magnitude: the size of the numbers of which a draw is the sum or the difference.
        number_format: the format of code that computes the quantity, else float64.
    """
    digits = Digits(number_format, magnitude)
    constant = law.constant(*arguments)
    if constant is not None:
        return _of_points(law, arguments, np.array([constant]), digits)
    if law.discrete:
        points = law.points(*arguments, at_most=MOST_SINGLE)
        if points is not None:
            return _of_points(law, arguments, points[0], digits)
        return _of_whole_numbers(law, arguments, resolution, digits)
    cells = _of_numbers(law, arguments, resolution, digits)
    ends = [law.quantile(RAREST, *arguments), law.upper_quantile(RAREST, *arguments)]
    if None in ends:
        return cells
    return replace(cells, infinite=bool(np.isinf(rounded(np.array(ends), number_format)).any()))


def rounding_of(values: Floats, magnitude: float, share: float = ONE_VALUE_SHARE) -> Floats:
    """The largest distance of two values that may be the same value but for rounding."""
    distance: Floats = np.maximum(share * np.maximum(np.abs(values), magnitude), SMALLEST)
    return distance


@dataclass(frozen=True, slots=True)
class Digits:
    """The rounding of values in a number format that are made of numbers of some magnitude."""

    number_format: str
    magnitude: float

    def rounding(self, values: Floats) -> Floats:
        """The largest distance of two values that may be the same value but for rounding."""
        if self.number_format == DOUBLE:
            return rounding_of(values, self.magnitude)
        return rounding_of(values, self.magnitude, UNITS * EPSILONS[self.number_format])

    def ties(self, values: Floats) -> Floats:
        """The same distance for a law of single values, where it may be larger."""
        rounding = self.rounding(values)
        return rounding * (TIES / ONE_VALUE_SHARE) if self.number_format == DOUBLE else rounding

    def cuts(self, values: Floats) -> Floats:
        """Cuts near some values, placed so that rounding moves no value over a cut."""
        if self.number_format == DOUBLE:
            return values
        cuts = below_numbers(values, self.number_format)
        return np.unique(cuts[np.isfinite(cuts)])


def _of_points(law: Law, arguments: Sequence[Any], points: Floats, digits: Digits) -> LawCells:
    """A cell for each value of the law, and between two values a cell without probability."""
    first = points[0] - 1.0
    # values that the format rounds to one number are counted as the last of them
    near = rounded(points, digits.number_format)
    last = np.append(np.diff(near) != 0, True)
    near, points = near[last], points[last]
    away = digits.ties(near)
    gaps = np.diff(near)
    if len(gaps):
        away = np.minimum(away, gaps.min() / 4)
    cuts = np.stack([near - away, near + away], axis=1).ravel()
    constant = law.constant(*arguments) is not None
    at = np.repeat(points, 2)
    if constant:
        below, above = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    else:
        below, above = _functions(law, arguments, at)
        # the probability below a point is that at or below the point before
        before, beyond = _functions(law, arguments, np.concatenate([[first], points[:-1]]))
        below[::2], above[::2] = before, beyond
    single = np.ones(len(cuts) + 1, dtype=bool)
    return LawCells(cuts=cuts, below=below, above=above, points=single, rounding=float(away.max()))


def _of_whole_numbers(
    law: Law, arguments: Sequence[Any], resolution: float, digits: Digits
) -> LawCells:
    """Cells for whole numbers, cut at levels of the law; a cell may hold several numbers."""
    values = np.unique(np.floor(_at_levels(law, arguments, _levels(resolution))))
    cuts = digits.cuts(values + 0.5)
    values = np.floor(cuts)
    # a whole number may lie between two numbers of the format, and is then rounded up or down
    values -= rounded(values, digits.number_format) > cuts
    below, above = _functions(law, arguments, values)
    least = _functions(law, arguments, values[:1] - 1.0)[0] == 0
    greatest = _functions(law, arguments, values[-1:] + 1.0)[1] == 0
    single = np.concatenate([least, np.diff(values) == 1.0, greatest])
    rounding = float(rounding_of(values, digits.magnitude).max()) * (TIES / ONE_VALUE_SHARE)
    return LawCells(
        cuts=cuts,
        below=below,
        above=above,
        points=single,
        rounding=rounding,
        whole=rounding < 0.25,
    )


def _of_numbers(law: Law, arguments: Sequence[Any], resolution: float, digits: Digits) -> LawCells:
    """Cells for a continuous law, cut at levels of the law."""
    cuts = np.unique(_at_levels(law, arguments, _levels(resolution)))
    cuts = digits.cuts(cuts[np.isfinite(cuts)])
    away = rounding_of(cuts, digits.magnitude)
    moved = _between(law, arguments, cuts - away, cuts + away)
    below, above = _functions(law, arguments, cuts)
    clear = moved <= np.minimum(MOVED, 1e-3 * np.minimum(below, above))
    ends = (below == 0) | (above == 0)
    cuts = cuts[clear | (ends & (moved <= MOVED_AT_END))]
    low, high = law.support(*arguments)  # no draw is beyond these ends, but for rounding
    away = digits.rounding(np.array([low, high]))
    outside = np.array([low - away[0], high + away[1]])
    every = np.unique(np.concatenate([cuts, outside[np.isfinite(outside)]]))
    below, above = _functions(law, arguments, every)
    return LawCells(
        cuts=every,
        below=below,
        above=above,
        points=np.zeros(len(every) + 1, dtype=bool),
        rounding=float(digits.rounding(np.zeros(1))[0]),
    )


def _levels(resolution: float) -> Floats:
    """The levels, at most one half, at which a law is cut from both of its ends."""
    count = int(min(max(CUTS_PER_RESOLUTION / resolution, FEWEST_CUTS), MOST_CUTS)) // 2 * 2
    levels: Floats = np.arange(1, count // 2 + 1) / count
    return levels


def _at_levels(law: Law, arguments: Sequence[Any], levels: Floats) -> Floats:
    return np.concatenate(
        [law.quantile(levels, *arguments), law.upper_quantile(levels, *arguments)]
    )


def _functions(law: Law, arguments: Sequence[Any], x: Floats) -> tuple[Floats, Floats]:
    """The probabilities at or below each x, and above it."""
    return (
        np.asarray(law.cdf(x, *arguments), dtype=np.float64),
        np.asarray(law.survival(x, *arguments), dtype=np.float64),
    )


def _between(law: Law, arguments: Sequence[Any], low: Floats, high: Floats) -> Floats:
    """The probabilities between pairs of values, from the nearer tail."""
    first, second = _functions(law, arguments, low), _functions(law, arguments, high)
    nearer = np.where(second[0] < 0.5, second[0] - first[0], first[1] - second[1])
    return np.maximum(nearer, 0.0)


# ---- sample cells --------------------------------------------------------------------------------
#
# Cells in which draws are counted if no law is named; they are fixed by other draws.


# Numbers of cells of about equal probability: few and many.
SAMPLE_SHAPES = (8, 64)
# The most values with a cell of their own, because they were drawn more than once.
MOST_REPEATED = 1024
MOST_SAMPLE_CUTS = 2**14
# Code that computes in float32 may lose some of its 24 binary digits, as exp of a logarithm up to
# 16 loses three. Values that agree in this many digits count as one value.
DIGITS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCells:
    """Cells for the values of some draws.

    `points`, [cuts + 1], says which cells contain a single value. Each of the `families` is a set
    of indices of cuts; its cells are used for one test. `widest` is the largest share of the draws
    in a cell that is no single value.
    """

    cuts: Floats
    points: Truths
    families: tuple[Indices, ...]
    widest: float


def sample_cells(values: Floats, magnitude: float, number_format: str = DOUBLE) -> SampleCells:
    """The cells for values of two quantities together.

    Args:
        values: the finite values that were drawn.
        magnitude: the size of the numbers of which a draw is the sum or the difference.
        number_format: the format of code that computes one of the quantities.

    >>> cells = sample_cells(np.array([0.0, 1.0] * 8), 1.0)
    >>> int(cells.points.sum()), cells.widest
    (2, 0.0)
    """
    ordered = np.sort(values)
    at, away = _single(ordered, magnitude, number_format)
    starts = np.concatenate([[True], np.diff(at) > away[1:] / 2])
    first = np.flatnonzero(starts)
    sizes = np.diff(first, append=len(ordered))
    several = np.flatnonzero(sizes > 1)  # values that were drawn more than once
    frequent = np.sort(several[np.argsort(-sizes[several], kind="stable")][:MOST_REPEATED])
    frequent = frequent[_apart(at[first[frequent]], away[first[frequent]])]
    repeated, margin = at[first[frequent]], away[first[frequent]]
    rest = np.ones(len(first), dtype=bool)
    rest[frequent] = False
    places = np.repeat(np.flatnonzero(rest), sizes[rest])  # as often as the value was drawn
    even = places[:: max(4, -(-len(places) // MOST_SAMPLE_CUTS))]
    # a cut at a value that was drawn again would separate equal values
    parted = at[first[even]] + away[first[even]]
    plain = np.where(sizes[even] == 1, ordered[first[even]], parted)
    if len(repeated):
        nearest = np.searchsorted(repeated, plain)
        for side in (np.maximum(nearest - 1, 0), np.minimum(nearest, len(repeated) - 1)):
            plain = np.where(
                np.abs(plain - repeated[side]) <= 2 * margin[side], repeated[side], plain
            )
        inside = np.isin(plain, repeated)
        index = np.searchsorted(repeated, plain[inside])
        plain[inside] = repeated[index] + margin[index]
    around = np.stack([repeated - margin, repeated + margin], axis=1)
    cuts = np.unique(np.concatenate([plain, around.ravel()]))
    points = np.zeros(len(cuts) + 1, dtype=bool)
    points[np.searchsorted(cuts, around[:, 1])] = True
    at_most = np.searchsorted(ordered, cuts, side="right")
    shares = np.diff(at_most, prepend=0, append=len(ordered)) / len(ordered)
    return SampleCells(
        cuts=cuts,
        points=points,
        families=_families(at_most / len(ordered)),
        widest=float(shares[~points].max(initial=0.0)),
    )


def _single(ordered: Floats, magnitude: float, number_format: str) -> tuple[Floats, Floats]:
    """The value that each draw counts as, and the largest distance of such a draw from it."""
    away = 2 * rounding_of(ordered, magnitude) * (TIES / ONE_VALUE_SHARE)
    if number_format != SINGLE:
        return ordered, away
    # cells of a fixed grid, not around drawn values: a continuous quantity then falls into them as
    # often as their width says
    step = np.exp2(np.frexp(ordered)[1] - float(DIGITS))
    wide = (step > 2 * away) & (ordered != 0)
    return np.where(wide, np.rint(ordered / step) * step, ordered), np.where(wide, step / 2, away)


def _apart(values: Floats, margin: Floats) -> Truths:
    """Which values, in rising order, are so far from the one before that cells do not overlap."""
    return np.diff(values, prepend=-np.inf) > 4 * margin


def _families(levels: Floats) -> tuple[Indices, ...]:
    """Sets of cuts: for few and for many cells of about equal probability."""
    inner = levels[levels < 1]  # no draw lies above a cut at 1
    several = (np.searchsorted(inner, np.arange(1, cells) / cells) for cells in SAMPLE_SHAPES)
    return tuple(np.unique(places[places < len(inner)]) for places in several)
