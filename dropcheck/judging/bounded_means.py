"""Means of quantities that the model bounds: what bounds say beside a limit, or in its place."""

from __future__ import annotations

import math
from dataclasses import replace

from dropcheck.inference.bounded import empirical_bernstein
from dropcheck.inference.interval import Interval
from dropcheck.judging.trial import Floats
from dropcheck.simulation import MeanColumns, Tally


def mean_within_bounds(mean: MeanColumns, tally: Tally, centres: Floats, alpha: float) -> Interval:
    """The empirical Bernstein interval for the statement's quantity."""
    totals = tally.totals
    return empirical_bernstein(
        float(totals[mean.column]),
        float(totals[mean.square]),
        tally.drawn,
        mean.hull.width,
        float(centres[mean.register]) + mean.constant,
        alpha,
    )


def allowing_for_unseen(
    mean: MeanColumns, interval: Interval, draws: int, alpha: float
) -> Interval:
    """The interval, widened by what draws that were not met could do within the bounds.

    A share ε of the law is missed by n draws with chance (1 - ε)^n, so that what was missed has
    ε ≤ ln(1/α)/n; the bounds say how far it can be. A product of thirty 0-or-2 has mean 1, and is 0
    in every draw; with noise added no two draws agree, and it is missing from them all the same.
    """
    if not math.isfinite(interval.half_width):
        return interval
    share = min(1.0, math.log(1 / alpha) / draws)
    below = share * max(interval.estimate - mean.constant - mean.hull.low, 0.0)
    above = share * max(mean.hull.high + mean.constant - interval.estimate, 0.0)
    return replace(
        interval,
        low=interval.low - below,
        high=interval.high + above,
        second_order=interval.second_order + max(below, above),
    )
