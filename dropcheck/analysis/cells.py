"""Cells in which draws are counted, for a law that a quantity is claimed to have.

They are fixed before the counted draws: by the law, and by other draws that are used for nothing
else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
# Tails are tested from this probability on, each smaller than the one before by this factor.
FIRST_TAIL = 0.25
TAIL_STEP = 2**0.125
# A law with at most this many values has a cell for each of them.
MOST_SINGLE = 2048
# The number of positions within a step of a lattice, and the steps as shares of the law's spread.
POSITIONS = 32
FINEST = 2.0**-30
FINEST_DECIMAL = 1e-9
# Lattices are used only between these levels of the law, where its density is smooth.
SMOOTH = (1 / 16, 15 / 16)
# The largest difference of a position's probability from 1/32 with which a lattice is used.
UNEVEN = 1e-6
# A cut is not used if rounding may move more than this probability to its other side.
MOVED = 1e-7
# Single values are not searched for if the law has them, up to rounding, more often than this.
RARE = 1e-5


@dataclass(frozen=True, slots=True)
class Lattice:
    """A small step: under a continuous law, all positions within the step are equally likely.

    Only draws between `low` and `high` are counted.
    """

    step: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LawCells:
    """Cells for one law: between neighbouring cuts, below the first cut, and above the last.

    `below` and `above`, [cuts], are the probabilities at or below each cut, and above it. `points`,
    [cuts + 1], says in which cells the law has at most one value. `low_tails` and `high_tails` are
    the indices of cuts in the tails, outermost last. `windows` are pairs of indices of cuts around
    single values that were drawn; together these cells have at most the probability `repeated`.
    `whole` says that draws must be whole numbers, `infinite` that the largest draws overflow the
    number format.
    """

    cuts: Floats
    below: Floats
    above: Floats
    points: Truths
    low_tails: Indices
    high_tails: Indices
    rounding: float
    windows: Indices = field(default_factory=lambda: np.zeros((0, 2), dtype=np.intp))
    repeated: float = 0.0
    lattices: tuple[Lattice, ...] = ()
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
    tails: float,
    magnitude: float,
    drawn: Floats,
    number_format: str = DOUBLE,
) -> LawCells:
    """The cells for a law, for draws that are rounded to a number format.

    Args:
        law: the law.
        arguments: its fixed arguments.
        resolution: the distance from the law that is to be detected.
        tails: the probability down to which its tails are tested.
        magnitude: the size of the numbers of which a draw is the sum or the difference.
        drawn: values of the quantity from draws that are not counted.
        number_format: the format of code that computes the quantity, else float64.
    """
    digits = Digits(number_format, magnitude)
    constant = law.constant(*arguments)
    if constant is not None:
        return _of_points(law, arguments, np.array([constant]), digits, tails)
    if law.discrete:
        points = law.points(*arguments, at_most=MOST_SINGLE)
        if points is not None:
            return _of_points(law, arguments, points[0], digits, tails)
        return _of_whole_numbers(law, arguments, resolution, digits, tails)
    cells = _of_numbers(law, arguments, resolution, digits, tails, drawn)
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


def _of_points(
    law: Law, arguments: Sequence[Any], points: Floats, digits: Digits, tails: float
) -> LawCells:
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
    return _table(cuts, below, above, tails, points=single, rounding=float(away.max()))


def _of_whole_numbers(
    law: Law, arguments: Sequence[Any], resolution: float, digits: Digits, tails: float
) -> LawCells:
    """Cells for whole numbers, cut at levels of the law; a cell may hold several numbers."""
    values = np.unique(np.floor(_at_levels(law, arguments, _levels(resolution, tails))))
    cuts = digits.cuts(values + 0.5)
    values = np.floor(cuts)
    # a whole number may lie between two numbers of the format, and is then rounded up or down
    values -= rounded(values, digits.number_format) > cuts
    below, above = _functions(law, arguments, values)
    least = _functions(law, arguments, values[:1] - 1.0)[0] == 0
    greatest = _functions(law, arguments, values[-1:] + 1.0)[1] == 0
    single = np.concatenate([least, np.diff(values) == 1.0, greatest])
    rounding = float(rounding_of(values, digits.magnitude).max()) * (TIES / ONE_VALUE_SHARE)
    return _table(
        cuts, below, above, tails, points=single, rounding=rounding, whole=rounding < 0.25
    )


def _of_numbers(
    law: Law,
    arguments: Sequence[Any],
    resolution: float,
    digits: Digits,
    tails: float,
    drawn: Floats,
) -> LawCells:
    """Cells for a continuous law, cut at levels of the law and around values that were drawn."""
    cuts = np.unique(_at_levels(law, arguments, _levels(resolution, tails)))
    cuts = digits.cuts(cuts[np.isfinite(cuts)])
    away = rounding_of(cuts, digits.magnitude)
    moved = _between(law, arguments, cuts - away, cuts + away)
    below, above = _functions(law, arguments, cuts)
    clear = moved <= np.minimum(MOVED, 1e-3 * np.minimum(below, above))
    ends = (below == 0) | (above == 0)
    cuts = cuts[clear | (ends & (moved <= MOVED * tails))]
    low, high = law.support(*arguments)  # no draw is beyond these ends, but for rounding
    away = digits.rounding(np.array([low, high]))
    outside = np.array([low - away[0], high + away[1]])
    # code may compute its numbers from others that are as large as the law is wide
    spread = float(np.ptp(_at_levels(law, arguments, np.array([0.25]))))
    wide = digits
    if digits.number_format != DOUBLE:
        wide = replace(digits, magnitude=max(digits.magnitude, spread))
    around, chance = _single_values(law, arguments, drawn, wide)
    every = np.unique(np.concatenate([cuts, around.ravel(), outside[np.isfinite(outside)]]))
    below, above = _functions(law, arguments, every)
    return _table(
        every,
        below,
        above,
        tails,
        points=np.zeros(len(every) + 1, dtype=bool),
        rounding=float(digits.rounding(np.zeros(1))[0]),
        windows=np.searchsorted(every, around),
        repeated=chance,
        lattices=_lattices(law, arguments, wide),
    )


def _table(cuts: Floats, below: Floats, above: Floats, tails: float, **more: Any) -> LawCells:
    return LawCells(
        cuts=cuts,
        below=below,
        above=above,
        low_tails=_tail(below, tails, rising=True),
        high_tails=_tail(above, tails, rising=False),
        **more,
    )


def _levels(resolution: float, tails: float) -> Floats:
    """The levels, at most one half, at which a law is cut in both of its tails."""
    count = int(min(max(CUTS_PER_RESOLUTION / resolution, FEWEST_CUTS), MOST_CUTS)) // 2 * 2
    even = np.arange(1, count // 2 + 1) / count
    return np.union1d(even, tail_levels(tails))


def tail_levels(tails: float) -> Floats:
    """Probabilities of tails, from large to small; the last is `tails`."""
    steps = math.ceil(math.log(FIRST_TAIL / tails) / math.log(TAIL_STEP))
    return np.geomspace(FIRST_TAIL, tails, max(steps, 1) + 1)


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


def _tail(chances: Floats, tails: float, *, rising: bool) -> Indices:
    """The indices of cuts in one tail, outermost last, each rarer than the one before."""
    order = np.arange(len(chances))[::-1] if rising else np.arange(len(chances))
    far = order[(chances[order] <= FIRST_TAIL * (1 + 1e-9)) & (chances[order] > 0)]
    far = far[chances[far] >= tails * (1 - 1e-9)]
    if len(far) < 2:
        return far
    kept = [far[0]]
    for place in far[1:]:
        if chances[place] <= chances[kept[-1]] / (TAIL_STEP * (1 - 1e-3)):
            kept.append(place)
    if kept[-1] != far[-1]:
        kept.append(far[-1])
    return np.array(kept)


# The most single values that are searched for again.
MOST_VALUES = 1024


def _single_values(
    law: Law, arguments: Sequence[Any], drawn: Floats, digits: Digits
) -> tuple[Floats, float]:
    """Pairs of cuts around values that were drawn, and the probability of all these cells.

    If there are too many values, those that were drawn most often are used.
    """
    values, counts = np.unique(drawn[np.isfinite(drawn)], return_counts=True)
    order = np.lexsort((np.arange(len(values)) * 7919 % max(len(values), 1), -counts))
    values = np.sort(values[order[:MOST_VALUES]])
    away = digits.rounding(values)
    if len(values):
        apart = np.concatenate([[True], np.diff(values) > 4 * away[1:] + 4 * away[:-1]])
        values, away = values[apart], away[apart]
    # rounding may move a draw over an end of its window
    chances = _between(law, arguments, values - 2 * away, values + 2 * away)
    usable = chances <= RARE
    values, away, chances = values[usable], away[usable], chances[usable]
    pairs = np.stack([values - away, values + away], axis=1)
    return pairs, float(chances.sum()) + 1e-15 * len(values)


def _lattices(law: Law, arguments: Sequence[Any], digits: Digits) -> tuple[Lattice, ...]:
    """A binary and a decimal step; none if the density is not smooth or has too few digits."""
    levels = np.array(SMOOTH)
    low, high = (float(end) for end in law.quantile(levels, *arguments))
    spread = high - low
    if not (math.isfinite(spread) and spread > 1e-280):
        return ()
    inner = np.asarray(law.quantile(np.linspace(*SMOOTH, 65), *arguments))
    widths = np.diff(inner)
    if not (widths > 0).all():
        return ()
    steepest = float((np.diff(np.linspace(*SMOOTH, 65)) / widths).max())
    needed = 64 * float(digits.rounding(np.array([max(abs(low), abs(high))]))[0])
    lattices: list[Lattice] = []
    for base, finest in ((2.0, FINEST), (10.0, FINEST_DECIMAL)):
        step = base ** math.floor(math.log(spread * finest, base))
        while step < needed:
            step *= base
        # a bound of the unevenness of positions, for a density that rises and falls a few times
        if 4 * step * steepest <= UNEVEN:
            lattices.append(Lattice(step, low, high))
    return tuple(lattices)


# ---- sample cells --------------------------------------------------------------------------------
#
# Cells in which draws are counted if no law is named; they are fixed by other draws.


# Numbers of cells of about equal probability: few and many.
SAMPLE_SHAPES = (8, 64)
# The most values with a cell of their own, because they were drawn more than once.
MOST_REPEATED = 1024
MOST_SAMPLE_CUTS = 2**14
# The tails that are tested: beyond the value of each of these ranks, counted from either end.
FAR_OUT = (1, 4, 16, 64, 256)
# Code that computes in float32 may lose some of its 24 binary digits, as exp of a logarithm up to
# 16 loses three. Values that agree in this many digits count as one value.
DIGITS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCells:
    """Cells for the values of some draws.

    `points`, [cuts + 1], says which cells contain a single value. Each of the `families` is a set
    of indices of cuts; its cells are used for one test. `windows` are pairs of indices of cuts
    around values that were drawn more than once. `widest` is the largest share of the draws in a
    cell that is no single value.
    """

    cuts: Floats
    points: Truths
    families: tuple[Indices, ...]
    windows: Indices
    widest: float


def sample_cells(values: Floats, magnitude: float, number_format: str = DOUBLE) -> SampleCells:
    """The cells for values of two quantities together.

    Args:
        values: the finite values that were drawn.
        magnitude: the size of the numbers of which a draw is the sum or the difference.
        number_format: the format of code that computes one of the quantities.

    >>> cells = sample_cells(np.array([0.0, 1.0] * 8), 1.0)
    >>> len(cells.windows), cells.widest
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
    ranks = np.array([(rank, -1 - rank) for rank in FAR_OUT if 2 * rank < len(ordered)], int)
    ends = ordered[ranks.ravel()]
    both = np.concatenate([even, np.searchsorted(ordered[first], ends, side="right") - 1])
    # a cut at a value that was drawn again would separate equal values
    parted = at[first[both]] + away[first[both]]
    plain = np.where(sizes[both] == 1, ordered[first[both]], parted)
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
    windows = np.searchsorted(cuts, around)
    points = np.zeros(len(cuts) + 1, dtype=bool)
    points[windows[:, 1]] = True
    at_most = np.searchsorted(ordered, cuts, side="right")
    shares = np.diff(at_most, prepend=0, append=len(ordered)) / len(ordered)
    return SampleCells(
        cuts=cuts,
        points=points,
        families=_families(at_most / len(ordered), np.unique(ends), cuts),
        windows=windows,
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


def _families(levels: Floats, far: Floats, cuts: Floats) -> tuple[Indices, ...]:
    """Sets of cuts: for few and for many cells of about equal probability, and for each tail."""
    families: list[Indices] = []
    for cells in SAMPLE_SHAPES:
        places = np.unique(np.searchsorted(levels, np.arange(1, cells) / cells))
        places = places[(places < len(levels))]
        places = places[levels[places] < 1]
        if len(places):
            families.append(places)
    for value in far:
        place = int(np.searchsorted(cuts, value))
        if place < len(cuts) and 0 < levels[place] < 1:
            families.append(np.array([place]))
    return tuple(families)
