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

# Differences below this share of the largest magnitude in the computation are rounding.
LOOK_ROUNDING = 1e-12
# A quantity smaller than this share of the largest magnitude gets an allowance of its own.
SMALL = 1e-6


def theta_of(compiled: Compiled, comparison: Comparison, centres: Floats) -> Theta:
    """A comparison's quantity as a function of averages, [terms, points]."""

    def theta(points: Floats) -> Floats:
        operands = compiled.functional.evaluate(points, centres, comparison.looked_at)
        return comparison.quantity(operands)

    return theta


def rounding_of(
    compiled: Compiled,
    comparison: Comparison,
    means: Floats,
    centres: Floats,
    largest: float,
    sides: float,
) -> float:
    """A bound of what rounding can do to a quantity: a share of the largest magnitude, or less.

    A far smaller quantity, such as `P(x)**50`, may still have all its digits. Its bound follows
    from the rounding of the averages that it is made of, and of the `sides` that it compares.
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
    error = max(high - value, value - low, LOOK_ROUNDING * sides)
    return min(LOOK_ROUNDING * largest, error) if error > UNDERFLOW else 0.0


def enclosing(compiled: Compiled, comparison: Comparison, centres: Floats) -> Enclosed:
    """A comparison's quantity as a function of averages, all of them enclosures."""

    def enclosed(averages: Affine) -> Affine:
        operands = compiled.functional.enclosed(averages, centres, comparison.looked_at)
        return comparison.enclosed(operands)

    return enclosed
