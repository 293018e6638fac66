"""Cells in which draws are counted if no law is named; they are fixed by other draws."""

from __future__ import annotations

import numpy as np

from dropcheck.analysis.law_cells import ONE_VALUE_SHARE, TIES, rounding_of
from dropcheck.array_types import Floats, Indices, Truths
from dropcheck.records import record
from dropcheck.vocabulary.functions.number_formats import DOUBLE, SINGLE

# Numbers of cells of about equal probability: few and many.
SHAPES = (8, 64)
# The most values with a cell of their own, because they were drawn more than once.
MOST_REPEATED = 1024
MOST_CUTS = 2**14
# The tails that are tested: beyond the value of each of these ranks, counted from either end.
FAR_OUT = (1, 4, 16, 64, 256)
# Code that computes in float32 may lose some of its 24 binary digits, as exp of a logarithm up to
# 16 loses three. Values that agree in this many digits count as one value.
DIGITS = 18


@record(kw_only=True)
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
    even = places[:: max(4, -(-len(places) // MOST_CUTS))]
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
    for cells in SHAPES:
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
