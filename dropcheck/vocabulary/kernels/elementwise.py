"""Functions of numbers that numpy and scipy.special do not have as they are."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from dropcheck.vocabulary.kernels.common import Array
from dropcheck.vocabulary.kernels.truths import join, unknown_in

# each correctly rounded; from 171! on float64 has only infinity
_FACTORIALS = np.array([float(math.factorial(n)) for n in range(171)] + [math.inf])
_ROOT_2PI = math.sqrt(2.0 * math.pi)
# Klambauer et al., Self-Normalizing Neural Networks (2017), equation 14
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
# defaults of isclose: relative as Python's; absolute so that 0 is near to rounding errors
RTOL, ATOL = 1e-9, 1e-12

floor_divide = np.floor_divide  # rounds down
modulo = np.remainder  # of the divisor's sign
power = np.power  # of float64: an overflow is infinite, a root of a negative number NaN


def minimum(*arrays: Array) -> Array:
    """The smallest, element by element; NaN where any is."""
    return reduce(np.minimum, arrays)


def maximum(*arrays: Array) -> Array:
    """The largest, element by element; NaN where any is."""
    return reduce(np.maximum, arrays)


def clip(x: Array, low: Array, high: Array) -> Array:
    """x, or the bound that it lies beyond."""
    return np.minimum(np.maximum(x, low), high)


def isclose(a: Array, b: Array, *, rtol: float = RTOL, atol: float = ATOL) -> Array:
    """Where |a − b| ≤ max(rtol · max(|a|, |b|), atol), or a equals b."""
    gap = np.abs(a - b)
    bound = np.maximum(rtol * np.maximum(np.abs(a), np.abs(b)), atol)
    near = (a == b) | ((gap <= bound) & np.isfinite(gap))
    return join(near, unknown_in(a, b))


def relu(x: Array) -> Array:
    """max(x, 0)."""
    return np.maximum(x, 0.0)


def leaky_relu(x: Array, slope: Array) -> Array:
    """The number above 0, slope · x below."""
    return np.where(x > 0, x, slope * x)


def elu(x: Array) -> Array:
    """The number above 0, exp(x) − 1 below (Clevert et al., 2015, with α = 1)."""
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0.0)))


def selu(x: Array) -> Array:
    """The self-normalising unit (Klambauer et al., 2017, equation 2)."""
    below = SELU_ALPHA * np.expm1(np.minimum(x, 0.0))
    return SELU_SCALE * np.where(x > 0, x, below)


def gelu(x: Array) -> Array:
    """Product x Φ(x) (Hendrycks & Gimpel, 2016)."""
    from scipy.special import ndtr

    result: Array = np.multiply(x, ndtr(x))
    return result


def silu(x: Array) -> Array:
    """Product x · sigmoid(x)."""
    from scipy.special import expit

    result: Array = np.multiply(x, expit(x))
    return result


def softplus(x: Array) -> Array:
    """log(1 + exp(x))."""
    return np.logaddexp(x, 0.0)


def normal_density(x: Array) -> Array:
    """φ(x)."""
    return np.exp(-0.5 * x * x) / _ROOT_2PI


def factorial(n: Array) -> Array:
    """n!, NaN unless n is whole and not negative."""
    known = (n >= 0) & (n == np.floor(n))
    index = np.where(known, np.minimum(n, 171.0), 0.0).astype(np.intp)
    return np.where(known, _FACTORIALS[index], np.nan)


def comb(n: Array, k: Array) -> Array:
    """Ways to choose k of n ≥ 0; 0 for k outside 0 … n, NaN unless both are whole and finite."""
    from scipy.special import binom

    known = np.isfinite(n) & np.isfinite(k) & (n >= 0) & (n == np.floor(n)) & (k == np.floor(k))
    fewer = np.minimum(k, n - k)
    # over 1000 chosen is at least 2002 over 1001, above 1e600: infinite, whatever binom makes of it
    ways = np.where(fewer > 1000, np.inf, binom(n, fewer))
    ways = np.where(ways < 2.0**53, np.rint(ways), ways)
    return np.where(known, np.where((k < 0) | (k > n), 0.0, ways), np.nan)
