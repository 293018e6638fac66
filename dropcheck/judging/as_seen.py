"""An interval for averages of code that are too skewed for the limit theorem.

No bound is known of the numbers that code gives, and a sample says nothing of values that it does
not show: every verdict on their average supposes something of such values. The limit theorem
supposes that they hardly matter. Here it is supposed that the tail of a block's mean falls at least
as fast as x^(-3/2) beyond b, a multiple of the farthest distance of a pilot's block from their
middle. Then

    E(|D| - b)₊ = ∫ P(|D| > x) dx over x > b ≤ 2b P(|D| > b),

and of n later blocks, none of which is beyond b, P(|D| > b) ≤ log(1/α)/n. With deviations cut off
at b, the interval of `inference.spread` holds for every law, however skewed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference.enclosure import Enclosed, enclose, gradient
from dropcheck.inference.interval import Interval
from dropcheck.inference.spread import NetSpread, Reach
from dropcheck.simulation import Tally

# Share of the error that such an interval has: it enters through a logarithm.
SHARE = 0.1
# b over the farthest distance in the pilot. With tails that fall as x^(-3/2), one mean in a
# thousand is farther out than so many times what 128 blocks show.
TIMES = 4.0


def as_seen(
    estimate: Interval,
    enclosed: Enclosed,
    columns: Sequence[int],
    tally: Tally,
    pilot: Tally,
    alpha: float,
) -> Interval | None:
    """The interval of a quantity at confidence 1 - alpha; None where a block is too far out.

    Args:
        estimate: the quantity at the averages, with a standard error.
        enclosed: the quantity of averages that are known to within half-widths.
        columns: the averages that it is made of.
        tally: the sums, whose blocks are no shorter than the pilot's.
        pilot: sums of other draws.
        alpha: the chance, in both tails together, with which the interval may miss.
    """
    rows, before = tally.sums / tally.block_values, pilot.sums / pilot.block_values
    middle = rows.mean(axis=0)
    widths = np.zeros(len(middle))
    each = alpha / (2 * len(columns))
    for column in columns:
        interval = _of_average(rows[:, column], before[:, column], each)
        if interval is None:
            return None
        middle[column], widths[column] = sum(interval) / 2, (interval[1] - interval[0]) / 2
    slopes = gradient(enclosed, middle)
    along = float(np.abs(slopes) @ widths)
    low, high = enclose(enclosed, middle, widths, slopes, (-along, along))
    return Interval(estimate.estimate, low, high, estimate.standard_error)


def _of_average(rows: Floats, before: Floats, alpha: float) -> tuple[float, float] | None:
    """The interval of one average, which misses with chance 2 alpha; None where it has none."""
    centre = float(before.mean())
    far = TIMES * float(np.abs(before - centre).max())
    deviations = rows - centre
    if not (0 < far < math.inf and np.abs(deviations).max() <= far):
        return (centre, centre) if not far and not deviations.any() else None
    reach = Reach(far=far, cut=2 * far * math.log(1 / alpha) / len(rows))
    guess = float(np.mean((before - centre) ** 2))
    spread = NetSpread(centre=centre, below=reach, above=reach, guess=guess)
    mean, mean_square = float(deviations.mean()), float(np.mean(deviations * deviations))
    return spread.interval(mean, mean_square, len(rows), alpha)
