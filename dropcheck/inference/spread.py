"""The spread of one average, as the model bounds it, and the interval that follows from it.

Where the variance of a block mean is known, it goes into Catoni's interval as it is. Where the
model gives bounds of moments only, the second moment's bound may be far above the truth. Then the
blocks themselves bound the variance from above, at a confidence of its own: that takes a bound of
the fourth moment alone, and how loose that is matters little once there are many draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dropcheck.inference.catoni import (
    catoni_interval,
    half_width,
    moment_of_means,
    order_p_half_width,
    order_p_interval,
    variance_above,
    variance_expected,
)

Floats = npt.NDArray[np.float64]

# Share of the error that pays for the bound of the variance, where that comes from the blocks.
VARIANCE_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What is known of the spread of one average.

    `exact` gives the variance of the mean of a block of so many draws, where the model says it.
    Else `variance` and `fourth` bound the second and the fourth central moment of one draw, and
    `width` is that of an interval which holds it; each infinite where nothing is known. `centre`
    and `guess` are the mean and the variance of one draw as an independent pilot shows them.

    Where the variance is infinite, `order` p < 2 and `moment` say that E|X - EX|^p <= moment.

    `left_out` is how far the mean of what is drawn may be from the average that is asked for.
    """

    exact: Callable[[int], float] | None = None
    variance: float = math.inf
    fourth: float = math.inf
    width: float = math.inf
    centre: float = 0.0
    guess: float = 0.0
    order: float = 2.0
    moment: float = math.inf
    left_out: float = 0.0

    def of_block(self, draws: int) -> float:
        """An upper bound of the variance of the mean of so many draws."""
        return self.exact(draws) if self.exact is not None else self.variance / draws

    def interval(self, values: Floats, draws: int, alpha: float) -> tuple[float, float]:
        """An interval that holds the mean with probability 1 − alpha at least.

        Args:
            values: means of independent blocks, [blocks].
            draws: of each block.
            alpha: the chance, in both tails together, with which the interval may miss.
        """
        if self.exact is not None:
            variance = self.exact(draws)
            low, high = catoni_interval(values, variance, variance, alpha)
            return low - self.left_out, high + self.left_out
        if self.order < 2:
            moment = moment_of_means(self.order, self.moment, draws)
            return order_p_interval(values, self.order, moment, moment, alpha)
        share = VARIANCE_SHARE * alpha
        above = variance_above(
            values, draws, self.fourth, share, width=self.width, centre=self.centre
        )
        tuning = self._expected(len(values), draws, share)
        return catoni_interval(values, min(self.of_block(draws), above), tuning, alpha - share)

    def half_width(self, rows: int, draws: int, alpha: float) -> float:
        """The half-width to be expected of the interval from so many blocks of so many draws."""
        # plans ask for many numbers of rows: few of them are worked out, a little below each
        rows = int(2 ** (math.floor(32 * math.log2(rows)) / 32)) if rows > 64 else rows
        if self.exact is not None:
            return half_width(rows, self.exact(draws), alpha) + self.left_out
        if self.order < 2:
            moment = moment_of_means(self.order, self.moment, draws)
            return order_p_half_width(rows, self.order, moment, alpha)
        share = VARIANCE_SHARE * alpha
        return half_width(rows, self._expected(rows, draws, share), alpha - share)

    def standard_error(self, draws: int) -> float:
        """The standard error of the mean of so many draws, as far as it is known or guessed."""
        if self.exact is not None:
            return math.sqrt(self.exact(draws))
        return math.sqrt(min(self.variance, self.guess) / draws)

    def _expected(self, rows: int, draws: int, alpha: float) -> float:
        """The bound of a block mean's variance that so many blocks are expected to give."""
        seen = variance_expected(
            self.guess / draws, rows, draws, self.fourth, alpha, width=self.width, centred=True
        )
        return min(self.of_block(draws), seen)


def seen_variance(values: Floats, draws: int) -> float:
    """The variance of one draw as means of blocks of so many show it; infinite if they do not.

    They do not where there are less than two, or where a square is beyond the largest number.

    >>> seen_variance(np.array([1.0, 3.0]), 10), seen_variance(np.array([1.0]), 10)
    (20.0, inf)
    """
    if len(values) < 2:
        return math.inf
    with np.errstate(over="ignore"):
        return float(np.var(values, ddof=1)) * draws
