"""Arithmetic of upper bounds: they may be infinite, and do not underflow to 0."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from dropcheck.vocabulary.hulls import Hull

INF = math.inf
# stands for a bound that underflows
_TINY = 1e-300
# the rounding error of a sum of two means, as a share of them: a thousand times that of float64
_ROUNDING = 1e-13
ZERO = Hull(0.0, 0.0)


def times(*factors: float) -> float:
    """The product; 0 if a factor is 0, even if another is infinite."""
    if 0.0 in factors:
        return 0.0
    return max(math.prod(factors), _TINY)


def raised(base: float, exponent: float) -> float:
    """A base that is not negative, to an exponent above 0."""
    if base == 0:
        return 0.0
    try:
        return max(math.pow(base, exponent), _TINY)
    except OverflowError:
        return INF


def summed(numbers: Iterable[float]) -> float:
    """The sum, rounded once; infinite or NaN where math.fsum raises an error."""
    numbers = list(numbers)
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):
        return sum(numbers)


def exponential(x: float) -> float:
    """The exponential function."""
    if x == -INF:
        return 0.0
    return INF if x > 709 else max(math.exp(x), _TINY)


def logarithm(x: float) -> float:
    """The natural logarithm of a bound."""
    return math.log(x) if x > 0 else -INF


def log_sum(exponents: Iterable[float]) -> float:
    """The logarithm of a sum of exponentials."""
    exponents = list(exponents)
    largest = max(exponents)
    if not math.isfinite(largest):
        return largest
    return largest + math.log(math.fsum(math.exp(one - largest) for one in exponents))


def combined(sizes: Iterable[float], p: float) -> float:
    """(Σ size^p)^(1/p): a bound of the norm of the largest of quantities with these norms."""
    sizes = list(sizes)
    largest = max(sizes, default=0.0)
    if largest in (0.0, INF):
        return largest
    return times(largest, raised(math.fsum(raised(one / largest, p) for one in sizes), 1 / p))


def centring(p: float) -> float:
    """A factor c with ||x - E x||_p <= c ||x||_p.

    The map x ↦ x - E x has the norm 1 on L², and at most 2 on L¹ and L^∞. Between them, by the
    theorem of Riesz and Thorin (Thorin 1948), its norm is at most 2^|1 - 2/p|.
    """
    return float(2 ** abs(1 - 2 / p))


def normal_norm(p: float) -> float:
    """The norm of order p > -1 of a standard normal variable.

    >>> round(normal_norm(4) ** 4, 12)
    3.0
    """
    return math.sqrt(2.0) * math.exp((math.lgamma((p + 1) / 2) - math.lgamma(0.5)) / p)


def size(hull: Hull) -> float:
    """The largest size of a number in a hull."""
    return max(abs(hull.low), abs(hull.high))


def plus(first: Hull, second: Hull) -> Hull:
    """The hull of the sums, widened: where the parts cancel, their rounding errors remain."""
    if ZERO in (first, second):
        return second if first == ZERO else first
    rounding = _ROUNDING * (size(first) + size(second))
    if rounding == INF:
        rounding = 0.0  # an infinite end has no rounding error
    return Hull(first.low + second.low - rounding, first.high + second.high + rounding)


def away(hull: Hull, centre: float) -> float:
    """The largest distance of a number in a hull from the centre."""
    return max(abs(hull.low - centre), abs(hull.high - centre))


def spread_within(hull: Hull, p: float) -> float:
    """A bound of ||x - E x||_p for x in a hull.

    For p >= 2, E|x - E x|^p is at most width^(p - 2) times a variance of at most width² / 4
    (Popoviciu 1935).
    """
    return hull.width * float(0.25 ** (1 / max(p, 2.0)))


def highest(hull: Hull, t: float) -> float:
    """The largest of t times the numbers of a hull."""
    return max(0.0 if end == 0 else t * end for end in (hull.low, hull.high))


def nearest_zero(hull: Hull) -> float:
    """The least size of a number in a hull."""
    return max(hull.low, -hull.high, 0.0)


def log_of(fixed: Any) -> float:
    """The largest |log|x|| of the numbers of an array; infinite for 0, and if there is no array.

    >>> round(log_of(np.array([2.0, -0.25])), 4), log_of(np.zeros(1)), log_of(None)
    (1.3863, inf, inf)
    """
    if fixed is None:
        return INF
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(np.abs(fixed))).max(initial=0.0))
