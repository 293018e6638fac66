"""What the samplers of several laws share: standard random numbers, and how to scale them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import (
    ArgumentHull,
    ArgumentNorm,
    Generator,
    Size,
)

# numpy's uniform numbers are multiples of 2**-53, 0 included; 0 is replaced by half a step
HALF_CELL = 2.0**-54
# the least and the greatest number that `uniforms` draws
OUTERMOST = (HALF_CELL, 1.0 - 2.0**-53)
# [256, 8]: the eight bits of each byte, as 1 and -1
SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0


def fixed(argument: Array) -> float | None:
    """The number of an array with one element; None for an array with several.

    >>> fixed(np.array([[2.0]])), fixed(np.array([1.0, 2.0]))
    (2.0, None)
    """
    return float(argument.reshape(())) if argument.size == 1 else None


def scalar_or_array(argument: Array) -> Any:
    """The argument as a plain number, if it has one element: numpy's generators are then faster."""
    number = fixed(argument)
    return argument if number is None else number


def whole(argument: Array) -> Any:
    """A count as an integer: numpy's generators take no floats for counts."""
    number = fixed(argument)
    return argument.astype(np.int64) if number is None else int(number)


def uniforms(generator: Generator, size: Size) -> Array:
    """Uniform numbers strictly between 0 and 1."""
    out = generator.random(size)
    return np.maximum(out, HALF_CELL, out=out)


def exponentials(generator: Generator, size: Size) -> Array:
    """Exponential numbers of mean 1, above 0."""
    return inside(generator.standard_exponential(size), 0.0, None)


def log_gammas(generator: Generator, size: Size, shape: Array) -> Array:
    """Logarithms of standard gamma numbers, also where these underflow.

    G(a) has the law of G(a + 1) * U**(1 / a) (Marsaglia and Tsang 2000, section 6).
    """
    out = np.log(generator.standard_gamma(scalar_or_array(shape + 1.0), size))
    out -= exponentials(generator, size) / shape
    return out


def random_words(generator: Generator, count: int) -> Array:
    """At least `count` random bytes as 64-bit words, the same bytes on every machine."""
    words = generator.bit_generator.random_raw(-(-count // 8))
    return words.astype("<u8", copy=False)


def signs(generator: Generator, size: Size) -> Array:
    """1 or -1 with equal probabilities, from one random bit each."""
    count = math.prod(size)
    eighths = -(-count // 8)
    octets = random_words(generator, eighths).view(np.uint8)[:eighths]
    return SIGNS.take(octets, axis=0).reshape(-1)[:count].reshape(size)


def scaled(out: Array, loc: Array | None, scale: Array) -> Array:
    """`loc + scale * out`, computed in place."""
    if fixed(scale) != 1.0:
        out *= scale
    if loc is not None and fixed(loc) != 0.0:
        out += loc
    return out


def inside(out: Array, low: Array | float, high: Array | float | None) -> Array:
    """Move draws that rounding or underflow put on an end, or beyond it, to the next number inside.

    This is done in place. Where `low == high` the law is a constant: this number.
    """
    if high is None:
        return np.maximum(out, np.nextafter(low, np.inf), out=out)
    roomy = np.less(low, high)
    least = np.where(roomy, np.nextafter(low, np.inf), low)
    return np.clip(out, least, np.where(roomy, np.nextafter(high, -np.inf), high), out=out)


def constant_where_zero(out: Array, spread: Array, value: Array | float) -> Array:
    """Put `value` where `spread` is 0, in place: there 0 times an overflow would be NaN."""
    still = spread == 0
    if still.any():
        np.copyto(out, value, where=still)
    return out


def positive(out: Array, scale: Array) -> Array:
    """Draws of a law of positive numbers, scaled; the constant 0 where scale is 0."""
    return constant_where_zero(inside(scaled(out, None, scale), 0.0, None), scale, 0.0)


# ---- formulas ------------------------------------------------------------------------------------
#
# Functions that several laws use for their moments and distribution functions.


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


# Below this x the distribution function is a power of x: the next term of its series is smaller by
# a factor of about x.
_POWER_BELOW = 1e-100


# For larger shapes scipy's incomplete gamma function is wrong in the tails.
_LARGEST_SHAPE = 3e5


def gamma_quantile(shape: Any, u: Any) -> Any:
    """The x with γ(shape, x) / Γ(shape) = u, also where x is too small for scipy's function."""
    small = np.exp((np.log(u) + special.gammaln(shape + 1.0)) / shape)
    x = np.where(small < _POWER_BELOW, small, special.gammaincinv(shape, u))
    return np.where(shape > _LARGEST_SHAPE, _nearly_normal(shape, special.ndtri(u)), x)


def _nearly_normal(shape: Any, z: Any) -> Any:
    """The quantile of a gamma law of a large shape from that of a normal one.

    It is the expansion of Cornish and Fisher (Goldberg and Levine 1946, Annals of Mathematical
    Statistics 17, for chi-square laws), to within 1e-10 standard deviations down to 1e-300.
    """
    root = np.sqrt(shape)
    terms = (
        shape,
        root * z,
        (z**2 - 1.0) / 3.0,
        (z**3 - 7.0 * z) / (36.0 * root),
        (6.0 * z**4 + 14.0 * z**2 - 32.0) / (-1620.0 * shape),
        (9.0 * z**5 + 256.0 * z**3 - 433.0 * z) / (38880.0 * shape * root),
        (12.0 * z**6 - 243.0 * z**4 - 923.0 * z**2 + 1472.0) / (204120.0 * shape**2),
    )
    return sum(terms[1:], terms[0])


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
    upper = np.where(shape > _LARGEST_SHAPE, _nearly_normal(shape, -special.ndtri(v)), upper)
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


# ---- quadrature ----------------------------------------------------------------------------------
#
# Moments of a law by quadrature, where every formula for them loses digits by cancellation.
#
# The Gauss-Legendre rule of 16 points, on pieces of the line on which the density is smooth and
# falls
# by less than a factor of exp(20), is right to about 1e-14 (Davis and Rabinowitz 1984, section
# 2.7).


_POINTS = 16


@cache
def gauss_legendre(points: int = _POINTS) -> tuple[Array, Array]:
    """Points and weights of the Gauss-Legendre rule on [0, 1]."""
    places, weights = np.polynomial.legendre.leggauss(points)
    return (places + 1.0) / 2.0, weights / 2.0


def pieces(edges: Array, points: int = _POINTS) -> tuple[Array, Array]:
    """Points and weights of the rule on each piece between edges, which rise on the last axis."""
    places, weights = gauss_legendre(points)
    width = np.diff(edges)[..., None]
    shape = (*edges.shape[:-1], -1)
    inside = edges[..., :-1, None] + width * places
    return inside.reshape(shape), (width * weights).reshape(shape)
