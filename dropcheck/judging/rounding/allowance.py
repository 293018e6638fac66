"""What rounding may do to a quantity that is a function of averages."""

from __future__ import annotations

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference.comparison import Comparison
from dropcheck.inference.enclosure import Enclosed, enclose
from dropcheck.inference.interval import Theta
from dropcheck.simulation import Compiled
from dropcheck.vocabulary.enclosures import Affine
from dropcheck.vocabulary.operators import UNDERFLOW

# Differences below this share of the largest magnitude on the way are rounding.
LOOK_ROUNDING = 1e-12
# What is smaller than this share of the largest magnitude is looked at for the digits that it has.
SMALL = 1e-6


def theta_of(compiled: Compiled, comparison: Comparison, centres: Floats) -> Theta:
    """A comparison's quantity as a function of averages, [terms, points]."""

    def theta(points: Floats) -> Floats:
        found = compiled.functional.evaluate(points, centres, comparison.looked_at)
        return comparison.quantity(found)

    return theta


def rounding_of(
    compiled: Compiled,
    comparison: Comparison,
    means: Floats,
    centres: Floats,
    largest: float,
    sides: float,
) -> float:
    """What rounding can do to a quantity: a share of the largest magnitude on the way, or less.

    What is far smaller, as `P(x)**50` is, may still have all its digits: it has those of the
    averages that it is made of, and of the sides of which it is the difference.
    """
    with np.errstate(all="ignore"):
        value = float(theta_of(compiled, comparison, centres)(means[:, np.newaxis])[0])
    if not abs(value) < SMALL * largest:
        return LOOK_ROUNDING * largest
    sizes = np.zeros_like(means)
    for leaf in compiled.functional.leaves.values():
        for column, size in leaf.magnitudes(means, centres).items():
            sizes[column] = max(sizes[column], size)
    low, high = enclose(enclosing(compiled, comparison, centres), means, LOOK_ROUNDING * sizes)
    off = max(high - value, value - low, LOOK_ROUNDING * sides)
    return min(LOOK_ROUNDING * largest, off) if off > UNDERFLOW else 0.0


def enclosing(compiled: Compiled, comparison: Comparison, centres: Floats) -> Enclosed:
    """A comparison's quantity as a function of averages that are known to within half-widths."""

    def enclosed(averages: Affine) -> Affine:
        operands = compiled.functional.enclosed(averages, centres, comparison.looked_at)
        return comparison.enclosed(operands)

    return enclosed
