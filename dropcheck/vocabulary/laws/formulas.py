"""Functions that several laws use for their moments and distribution functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.distributions.standard import ArgumentHull, ArgumentNorm

EULER = 0.57721566490153286061  # the mean of a standard Gumbel variable
# Riemann's ζ(k) for k = 0, 1, …, 8; ζ(0) and ζ(1) are not used
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
    """Log of Γ(a + h) / Γ(a) for a > 0 and h >= 0; also if both are huge and nearly cancel.

    From a = 16 on by Stirling's series (Abramowitz and Stegun 1964, 6.1.40), whose next term is
    there below 1e-13.

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
    """1 / (order - 1): the factor of y² in the Stein kernel of a law with moments below `order`.

    Infinite where the law has no mean.
    """
    return np.where(np.greater(order, 1), 1.0 / (order - np.asarray(1.0)), np.inf)


# Below this x the distribution function is a power of x: the next term of its series is smaller by
# a factor of about x.
_POWER_BELOW = 1e-100


def gamma_quantile(shape: Any, u: Any) -> Any:
    """The x with γ(shape, x) / Γ(shape) = u, also where x is too small for scipy's function."""
    small = np.exp((np.log(u) + special.gammaln(shape + 1.0)) / shape)
    return np.where(small < _POWER_BELOW, small, special.gammaincinv(shape, u))


def beta_cdf(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b), also where scipy's function returns 0 though the value is not too small."""
    value = np.asarray(special.betainc(a, b, x))
    lost = (value == 0) & np.greater(x, 0) & np.greater(b, 0)
    return np.where(lost, np.exp(_log_beta_tail(a, b, x)), value) if lost.any() else value


def beta_survival(a: Any, b: Any, x: Any) -> Any:
    """1 - I_x(a, b), with the same care as `beta_cdf`."""
    value = np.asarray(special.betaincc(a, b, x))
    lost = (value == 0) & np.less(x, 1) & np.greater(a, 0)
    return np.where(lost, np.exp(_log_beta_tail(b, a, 1.0 - x)), value) if lost.any() else value


_MOST_TERMS = 10_000  # enough for parameters up to 1e7; for larger ones the result is too small


def _log_beta_tail(a: Any, b: Any, x: Any) -> Any:
    """Log I_x(a, b) far out, by a series of falling terms (Abramowitz and Stegun 1964, 26.5.4)."""
    x = np.minimum(x, a / (a + b))
    total, term = np.zeros(np.shape(a + b + x)), np.ones(np.shape(a + b + x))
    for n in range(_MOST_TERMS):
        total = total + term
        term = term * (x * ((a + b + n) / (a + 1.0 + n)))
        if not (term > 1e-17 * total).any():
            break
    first = special.xlogy(a, x) + special.xlog1py(b, -x) - np.log(a) - special.betaln(a, b)
    return first + np.log(total)


# for levels below it scipy's inverse of the incomplete beta function may be wrong
_DEEP = 1e-200


def gamma_upper_quantile(shape: Any, v: Any) -> Any:
    """The x with Γ(shape, x) / Γ(shape) = v, from the lower tail where v is near 1."""
    upper = special.gammainccinv(shape, v)
    return np.where(np.less(v, 0.5), upper, gamma_quantile(shape, 1.0 - v))


def beta_quantile(a: Any, b: Any, u: Any) -> Any:
    """The x with I_x(a, b) = u, also where x or u is very small."""
    x_of_u = np.asarray(special.betaincinv(a, b, u))
    small = np.exp((np.log(u) + np.log(a) + special.betaln(a, b)) / a)
    unsure = np.isnan(x_of_u) & ~np.isnan(u)
    x_of_u = np.where(unsure | (small < _POWER_BELOW), small, x_of_u)
    deep = (unsure | np.less(u, _DEEP)) & (x_of_u >= _POWER_BELOW)
    if not deep.any():
        return x_of_u
    log_x = np.log(x_of_u)
    for _ in range(30):  # Newton's method for log u as a function of log x
        x = np.exp(log_x)
        log_tail = np.log(special.betainc(a, b, x))
        if not np.isfinite(log_tail).all():
            log_tail = np.where(np.isfinite(log_tail), log_tail, _log_beta_tail(a, b, x))
        log_density = special.xlogy(a, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b)
        log_x = np.minimum(log_x + (np.log(u) - log_tail) * np.exp(log_tail - log_density), 0.0)
    return np.where(deep, np.exp(log_x), x_of_u)


def beta_upper_quantile(a: Any, b: Any, v: Any) -> Any:
    """The x with 1 - I_x(a, b) = v; by `beta_quantile` if scipy may be wrong, or v is near 1."""
    upper = np.asarray(special.betainccinv(a, b, v))
    unsure = np.less(v, _DEEP) | np.isnan(upper)
    upper = np.where(unsure, 1.0 - beta_quantile(b, a, v), upper)
    return np.where(np.less(v, 0.5), upper, beta_quantile(a, b, 1.0 - v))


def mirrored(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function x ↦ f(-x): for a law symmetric about 0, its survival function from its cdf."""
    return lambda x, *shapes: function(-x, *shapes)


def opposite(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function u ↦ -f(u): for a law symmetric about 0, its upper quantile from its quantile."""
    return lambda u, *shapes: -function(u, *shapes)


def least_whole(reached: Callable[[Any], Any], size: Any, high: Any) -> Any:
    """The least whole number from 0 to `high` from which on a condition holds, by bisection.

    Args:
        reached: Takes an array of whole numbers, and returns where the condition holds. It is taken
            to hold at `high`.
        size: An array of the shape of the result.
        high: A whole number for each element, or infinity.
    """
    shape = np.broadcast_shapes(np.shape(size), np.shape(high))
    last = np.broadcast_to(np.minimum(high, 2.0**53), shape)
    above = np.minimum(np.full(shape, 1.0), last)
    below = np.full(shape, -1.0)  # the condition holds at none of these
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
        # where both are neighbours the middle is `below` itself, and nothing changes
    return above


def gamma_of_random(p: float, norm: ArgumentNorm, hull: ArgumentHull) -> float:
    """`Law.random_norm` of a gamma law: Γ(a + p) / Γ(a) <= (a + p)^p, with Minkowski and Hölder.

    With k the next whole number from p on, that ratio is E y^p <= (E y^k)^(p/k) (Lyapunov), and
    E y^k is the product of a + i over i < k, none of which is above a + p.
    """
    largest = max(abs(hull(1).low), abs(hull(1).high))
    return min(largest * (norm(0, p) + p), norm(1, 2 * p) * (norm(0, 2 * p) + p))
