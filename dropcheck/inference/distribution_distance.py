"""How far two distribution functions are apart, from counts at fixed cuts, and how sure that is.

The distance is the largest difference of the two functions anywhere (Kolmogorov's). Arrays of
distribution functions have an entry for each cut, in rising order: the chance, or the share of
draws, at or below the cut. A cell is what lies above one cut and at or below the next; there is one
more below all cuts and one above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Distance:
    """What counts at cuts say of the largest difference of two distribution functions.

    It is at least `seen`, its value at the cuts, and at most `most` anywhere between them.
    """

    seen: float
    most: float

    def interval(self, error: float) -> tuple[float, float]:
        """What holds the distance of the laws, where each is known to within this error."""
        return max(0.0, self.seen - error), min(1.0, self.most + error)


def distance(first: Floats, second: Floats, points: Truths) -> Distance:
    """The distance of two distribution functions that are known at cuts.

    Within a cell both functions rise, so that neither is farther from the other than its value at
    one end is from the other's value at the other end. Where a cell holds one point alone, and
    nothing else, the ends say it all.

    Args:
        first: one function at the cuts, [cuts].
        second: the other, [cuts].
        points: whether a cell holds a single point, [cuts + 1].

    >>> half = np.array([0.5])
    >>> distance(half, half, np.array([False, False]))
    Distance(seen=0.0, most=0.5)
    >>> distance(half, half, np.array([True, True]))
    Distance(seen=0.0, most=0.0)
    """
    one, other = (np.concatenate([[0.0], array, [1.0]]) for array in (first, second))
    seen = float(np.abs(one - other).max())
    across = np.maximum(one[1:] - other[:-1], other[1:] - one[:-1])[~points]
    return Distance(seen, max(seen, float(across.max(initial=0.0))))


def massart(draws: int, alpha: float) -> float:
    """How far the share of draws at or below any point is from its chance, but with chance alpha.

    The Dvoretzky-Kiefer-Wolfowitz inequality with the constant of Massart (1990), "The tight
    constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability 18, corollary 1:
    P(sup |F_n - F| > e) <= 2 exp(-2 n e²), for any law.

    >>> round(massart(1000, 0.05), 6)
    0.042947
    """
    return math.sqrt(math.log(2.0 / alpha) / (2.0 * draws)) if draws else math.inf


def hoeffding(draws: int, width: float, alpha: float) -> float:
    """How far a mean of draws within an interval of this width is from its expectation.

    On either side, but with chance alpha: Hoeffding (1963), theorem 2.
    """
    return width * math.sqrt(math.log(2.0 / alpha) / (2.0 * draws)) if draws else math.inf


def draws_for_distance(target: float, alpha: float, bands: int = 1) -> float:
    """Draws after which a true claim is likely to be verified.

    Args:
        target: the resolution, less what cells leave open.
        alpha: the error of the look, shared by the bands.
        bands: distribution functions that are estimated, each with an error of its own.
    """
    if target <= 0:
        return math.inf
    # the distance seen is below 1.2/√n in 9 runs of 10 (Kolmogorov's law), and each band adds ε
    error = math.sqrt(math.log(2.0 * bands / alpha) / 2.0)
    return (bands * error + 1.3 * math.sqrt(bands)) ** 2 / target**2
