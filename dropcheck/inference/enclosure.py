"""Where a quantity lies when the averages that it is made of are known to within half-widths.

A quantity of a statement is θ = g(m), m the true averages. With a confidence interval for each, m
lies in a box about the centre c; with one more for the combination w·(m - c), where w is near the
gradient of g, it lies in a slab of the box too, and

    g(m) ∈ g(c) + w·(m - c) + (s - w)·(m - c) + remainder,

s the gradient at c and the remainder of second order in the half-widths: the interval for w·(m - c)
alone decides how wide the answer is, once the half-widths are small. `vocabulary.enclosures` has
the arithmetic, with its sources. No limit theorem is in it, nor a condition on g.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.vocabulary.enclosures import Affine, over

Enclosed = Callable[[Affine], Affine]
"""The quantity as a function of the averages [terms], all of them enclosures."""


def enclose(
    quantity: Enclosed,
    means: Floats,
    half_widths: Floats,
    direction: Floats | None = None,
    along: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """An interval for the quantity over a box of averages; (-inf, inf) if it may be anything.

    Negative values of a variance, or of an average of an even power, do not count.

    Args:
        quantity: of the averages.
        means: the centre of the box, [terms].
        half_widths: of the box, [terms].
        direction: w, [terms]: with it only m with along[0] ≤ w·(m - means) ≤ along[1] count.
        along: the interval for w·(m - means).

    >>> def variance(m: Affine) -> Affine:
    ...     return m[1] - m[0] ** 2
    >>> means, half_widths = np.array([0.0, 1.0]), np.array([0.1, 0.1])
    >>> low, high = enclose(variance, means, half_widths)
    >>> round(low, 6), round(high, 6)
    (0.89, 1.1)
    >>> low, high = enclose(variance, means, half_widths, np.array([0.0, 1.0]), (-0.03, 0.02))
    >>> round(low, 6), round(high, 6)
    (0.96, 1.02)
    """
    with np.errstate(all="ignore"):
        return quantity(over(means, half_widths)).within(direction, along)


def gradient(quantity: Enclosed, means: Floats) -> Floats:
    """The derivatives of the quantity at the averages, [terms]; 0 where there are none.

    >>> gradient(lambda m: np.sqrt(m[0]) / m[1], np.array([4.0, 2.0])).round(6).tolist()
    [0.125, -0.5]
    """
    slopes: Floats = quantity(over(means, np.zeros(len(means)))).slopes.reshape(-1, len(means))[0]
    return slopes
