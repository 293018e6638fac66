"""Where a quantile lies, from counts of draws below fixed thresholds.

A quantile of level p is any q with P(u < q) <= p <= P(u <= q). That it is no larger than t says
that P(u <= t) is at least p, and that it is larger that it is not: so an interval for it is the
sign test turned round, an interval between order statistics (David and Nagaraja 2003, "Order
Statistics", 3rd edition, section 7.1; Conover 1999, "Practical Nonparametric Statistics", section
3.2), whatever the law is, with atoms and without a density.

Events below rising thresholds hold one another, and so do their counts: an end is wrong only if
the count at the one threshold next to the quantile is. So the ends cost one tail each, however
many thresholds there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dropcheck.vocabulary import special

Floats = npt.NDArray[np.float64]


class Threshold(Protocol):
    """The event u < at, or u <= at where it is closed."""

    @property
    def at(self) -> float:
        """The number."""

    @property
    def closed(self) -> bool:
        """Whether the number itself is counted."""


def bounds(
    thresholds: Sequence[Threshold], counts: Floats, seen: int, level: float, alpha: float
) -> tuple[float, float]:
    """An interval that holds all quantiles of a level with at least 1 - alpha.

    Args:
        thresholds: rising.
        counts: in how many draws each holds, [thresholds].
        seen: of so many draws.
        level: of the quantile, between 0 and 1.
        alpha: the error, half of it at each end.

    >>> from dropcheck.simulation import Threshold as At
    >>> ends = [At(float(t), True) for t in range(1, 101)]
    >>> bounds(ends, np.arange(1.0, 101.0), 100, 0.5, 0.05)
    (39.00000000000001, 61.0)
    """
    low, high = -math.inf, math.inf
    if not seen or not len(thresholds):
        return low, high
    tails = _tails(counts, seen, level)
    for place in np.flatnonzero(tails[0] <= alpha / 2).tolist():
        found = thresholds[place]  # P(at or below) < level
        low = math.nextafter(found.at, math.inf) if found.closed else found.at
    for place in np.flatnonzero(tails[1] <= alpha / 2)[::-1].tolist():
        found = thresholds[place]  # P(at or below) >= level
        high = found.at if found.closed else math.nextafter(found.at, -math.inf)
    return low, max(low, high)


def _tails(counts: Floats, seen: int, level: float) -> tuple[Floats, Floats]:
    """The chances of at most, and of at least, so many hits, were the probability the level."""
    hits = np.asarray(counts, dtype=np.float64)
    inside = (hits > 0) & (hits < seen)
    some = np.where(inside, hits, 1.0)
    rest = np.where(inside, seen - hits, max(seen - 1.0, 0.5))
    most = np.where(inside, special.betainc(rest, some + 1.0, 1.0 - level), 1.0)
    most = np.where(hits <= 0, math.exp(seen * math.log1p(-level)), most)
    least = np.where(inside, special.betainc(some, rest + 1.0, level), 1.0)
    least = np.where(hits >= seen, math.exp(seen * math.log(level)), least)
    return most, least


def estimate(thresholds: Sequence[Threshold], counts: Floats, seen: int, level: float) -> float:
    """A quantile between the thresholds where its level is passed; NaN where it is at none.

    Where the level is passed at one threshold, from below it to at it, the quantile is that number.

    >>> from dropcheck.simulation import Threshold as At
    >>> ends = [At(1.0, True), At(2.0, False), At(2.0, True)]
    >>> estimate(ends, np.array([10.0, 30.0, 70.0]), 100, 0.5)
    2.0
    >>> estimate(ends, np.array([10.0, 30.0, 70.0]), 100, 0.2)
    1.5
    """
    if not seen or not len(thresholds):
        return math.nan
    shares = np.maximum.accumulate(np.asarray(counts, dtype=np.float64)) / seen
    place = int(np.searchsorted(shares, level))
    if place == len(shares) or (place == 0 and shares[0] > level):
        return math.nan
    at, before = thresholds[place].at, thresholds[max(place - 1, 0)].at
    rise = shares[place] - shares[max(place - 1, 0)]
    if at == before or rise <= 0:
        return at
    return before + (at - before) * float((level - shares[max(place - 1, 0)]) / rise)
