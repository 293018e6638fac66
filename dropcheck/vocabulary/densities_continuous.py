"""Logarithms of the densities of the continuous laws of numbers.

Each takes the argument x first and the law's arguments after it, and is asked inside the support
alone: `densities` puts -inf elsewhere. Formulas as in Johnson, Kotz and Balakrishnan, Continuous
Univariate Distributions (2nd edition, 1994 and 1995), unless said.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from dropcheck.vocabulary.sampler_parts import Array

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
LogDensity = Callable[..., Any]


def _normal(x: Array, mean: Array, sd: Array) -> Any:
    z = (x - mean) / sd
    return -0.5 * z * z - LOG_ROOT_TWO_PI - np.log(sd)


def _lognormal(x: Array, mean: Array, sd: Array) -> Any:
    log_x = np.log(x)
    # at 0 the density's limit is 0, but the terms there are inf - inf
    return np.where(x > 0, _normal(log_x, mean, sd) - log_x, -np.inf)


def _uniform(x: Array, low: Array, high: Array) -> Any:  # noqa: ARG001  the same for all x
    # half of each: the width itself may overflow
    return -np.log(high / 2.0 - low / 2.0) - math.log(2.0)


def _exponential(x: Array, scale: Array) -> Any:
    return -x / scale - np.log(scale)


def _gamma(x: Array, shape: Array, scale: Array) -> Any:
    y = x / scale
    return special.xlogy(shape - 1.0, y) - y - special.gammaln(shape) - np.log(scale)


def _chi_square(x: Array, df: Array) -> Any:
    return _gamma(x, df / 2.0, np.full(1, 2.0))


def _beta(x: Array, a: Array, b: Array) -> Any:
    return special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b)


def _student_t(x: Array, df: Array) -> Any:
    # log(1 + x**2 / df), also where the square overflows
    ratio = np.abs(x) / np.sqrt(df)
    log_tail = np.where(ratio < 1e100, np.log1p(ratio * ratio), 2.0 * np.log(ratio))
    return -special.betaln(0.5, df / 2.0) - 0.5 * np.log(df) - (df + 1.0) / 2.0 * log_tail


def _f(x: Array, d1: Array, d2: Array) -> Any:
    y = d1 / d2 * x
    return (
        special.xlogy(d1 / 2.0 - 1.0, y)
        - (d1 + d2) / 2.0 * np.log1p(y)
        - special.betaln(d1 / 2.0, d2 / 2.0)
        + np.log(d1 / d2)
    )


def _cauchy(x: Array, loc: Array, scale: Array) -> Any:
    z = np.abs((x - loc) / scale)
    log_tail = np.where(z < 1e100, np.log1p(z * z), 2.0 * np.log(z))
    return -log_tail - math.log(math.pi) - np.log(scale)


def _laplace(x: Array, loc: Array, scale: Array) -> Any:
    return -np.abs(x - loc) / scale - np.log(2.0 * scale)


def _logistic(x: Array, loc: Array, scale: Array) -> Any:
    z = np.abs((x - loc) / scale)
    return -z - 2.0 * np.log1p(np.exp(-z)) - np.log(scale)


def _gumbel(x: Array, loc: Array, scale: Array) -> Any:
    z = (x - loc) / scale
    return -z - np.exp(-z) - np.log(scale)


def _weibull(x: Array, shape: Array, scale: Array) -> Any:
    y = x / scale
    return np.log(shape / scale) + special.xlogy(shape - 1.0, y) - y**shape


def _rayleigh(x: Array, scale: Array) -> Any:
    y = x / scale
    return np.log(y) - 0.5 * y * y - np.log(scale)


def _pareto(x: Array, alpha: Array, scale: Array) -> Any:
    return np.log(alpha / scale) - (alpha + 1.0) * np.log(x / scale)


def _triangular(x: Array, low: Array, mode: Array, high: Array) -> Any:
    width = high - low
    rising = (x - low) / (mode - low)
    falling = (high - x) / (high - mode)
    height = np.where(x < mode, rising, np.where(x > mode, falling, 1.0))
    return np.log(height) + math.log(2.0) - np.log(width)


def _von_mises(x: Array, mu: Array, kappa: Array) -> Any:
    """The exponent as -2 kappa sin((x - mu) / 2)**2, which keeps its digits for large kappa."""
    sine = np.sin((x - mu) / 2.0)
    return -2.0 * kappa * sine * sine - np.log(2.0 * math.pi * special.i0e(kappa))


def _truncated_normal(x: Array, mean: Array, sd: Array, low: Array, high: Array) -> Any:
    return _normal(x, mean, sd) - log_mass((low - mean) / sd, (high - mean) / sd)


def log_mass(a: Array, b: Array) -> Any:
    """Log P(a < Z < b) of a standard normal Z, also far out and where a and b nearly meet."""
    mirrored = a + b > 0
    a, b = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    log_a, log_b = special.log_ndtr(a), special.log_ndtr(b)
    tail = log_b + np.log(-np.expm1(log_a - log_b))
    around = np.log1p(-special.ndtr(a) - special.ndtr(-b))
    # narrow: density at the middle, times the width, times sinh(y) / y, where y is half the width
    # times the middle (the rest is of the order of width**2); logarithms, as sinh may overflow
    middle, width = (a + b) / 2.0, b - a
    y = np.abs(middle * width) / 2.0
    sinhc = np.where(y < 1e-8, 0.0, y + np.log(-np.expm1(-2.0 * y)) - np.log(2.0 * y))
    narrow = -0.5 * middle * middle - LOG_ROOT_TWO_PI + np.log(width) + sinhc
    return np.where(width < 1e-5, narrow, np.where(b > 0, around, tail))


CONTINUOUS: dict[str, LogDensity] = {
    "normal": _normal,
    "lognormal": _lognormal,
    "uniform": _uniform,
    "exponential": _exponential,
    "gamma": _gamma,
    "chi_square": _chi_square,
    "beta": _beta,
    "student_t": _student_t,
    "f": _f,
    "cauchy": _cauchy,
    "laplace": _laplace,
    "logistic": _logistic,
    "gumbel": _gumbel,
    "weibull": _weibull,
    "rayleigh": _rayleigh,
    "pareto": _pareto,
    "triangular": _triangular,
    "von_mises": _von_mises,
    "truncated_normal": _truncated_normal,
}
