"""Functions that the moments and the distribution functions of several laws share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dropcheck.vocabulary import special

EULER = 0.57721566490153286061  # the mean of a standard Gumbel variable
# Riemann's ζ(k), k from 0 on; ζ(0) and ζ(1) are not used
ZETA = (
    math.nan,
    math.nan,
    math.pi**2 / 6,
    1.2020569031595942854,
    math.pi**4 / 90,
    1.0369277551433699263,
    math.pi**6 / 945,
    1.0083492773819228268,
    math.pi**8 / 9450,
)

_STIRLING_FROM = 16.0


def log_rising(a: Any, h: Any) -> Any:
    """Log Γ(a + h) / Γ(a) of a > 0 and h >= 0, also where both are huge and nearly cancel.

    Stirling's series from 16 on (Abramowitz and Stegun 1964, 6.1.40), where its next term is
    below 1e-13.

    >>> float(log_rising(1.0, 4.0)), float(log_rising(1e15, 2.0) - 2 * math.log(1e15)) < 1e-13
    (3.1780538303479458, True)
    """
    a = np.asarray(a, dtype=float)
    large = np.maximum(a, _STIRLING_FROM)
    series = _stirling_rest(large + h) - _stirling_rest(large)
    by_series = (large + h - 0.5) * np.log1p(h / large) + h * np.log(large) - h + series
    return np.where(a >= _STIRLING_FROM, by_series, special.gammaln(a + h) - special.gammaln(a))


def _stirling_rest(a: Any) -> Any:
    square = 1.0 / (a * a)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680)))) / a


def sharper_beyond(order: Any) -> Any:
    """1 / (order - 1): the factor of y² in the Stein kernel of a law with moments below order.

    Infinite where there is no mean.
    """
    return np.where(np.greater(order, 1), 1.0 / (order - np.asarray(1.0)), np.inf)


def mirrored(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of -x, for a law symmetric about 0: its survival function from its cdf."""
    return lambda x, *shapes: function(-x, *shapes)


def opposite(function: Callable[..., Any]) -> Callable[..., Any]:
    """Minus a function, for a symmetric law: its upper quantile from its quantile."""
    return lambda u, *shapes: -function(u, *shapes)


def least_whole(reached: Callable[[Any], Any], size: Any, high: Any) -> Any:
    """The least whole number from 0 to high at which a condition holds that goes on holding.

    Args:
        reached: Of an array of whole numbers, where it holds; at `high` it is taken to hold.
        size: An array of the shape of the result.
        high: A whole number for each, or infinity.
    """
    shape = np.broadcast_shapes(np.shape(size), np.shape(high))
    last = np.broadcast_to(np.minimum(high, 2.0**53), shape)
    above = np.minimum(np.full(shape, 1.0), last)
    below = np.full(shape, -1.0)  # never holds there
    for _ in range(54):  # double until it holds
        short = ~np.asarray(reached(above)) & (above < last)
        if not short.any():
            break
        below = np.where(short, above, below)
        above = np.where(short, np.minimum(2 * above, last), above)
    while (above - below > 1).any():
        middle = np.floor((above + below) / 2)
        there = np.asarray(reached(middle)) | (middle >= last)
        there &= middle > below
        below, above = np.where(there, below, middle), np.where(there, middle, above)
        # where they are neighbours, the middle is `below` itself, and stays
    return above
