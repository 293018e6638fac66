"""The laws with a density between two ends.

Densities are as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (2nd
edition, 1994 and 1995), unless said.
"""

# ruff: noqa: ARG005 - each function of a law is given all of its parameters

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.distribution import Values
from dropcheck.vocabulary.domains import (
    ANY,
    FINITE,
    HIGH,
    LOW,
    NOT_NEGATIVE,
    POSITIVE,
    LawParameter,
)
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Generator, Law, Size
from dropcheck.vocabulary.laws.formulas import log_rising
from dropcheck.vocabulary.laws.sampling import (
    OUTERMOST,
    constant_where_zero,
    fixed,
    inside,
    scalar_or_array,
    scaled,
    uniforms,
)
from dropcheck.vocabulary.laws.unbounded import LOG_ROOT_TWO_PI, MEAN, SD, normal_log_density
from dropcheck.vocabulary.moment_lists import MomentList, pearson
from dropcheck.vocabulary.standard import Standard

# no law has a tail here: a truncated normal's falls faster than any exponential; and one is a
# constant where its ends meet
_bounded = partial(
    Law,
    values=Values.NUMBERS,
    degenerate=None,
    moments=math.inf,
    tails=lambda *_: (math.inf, math.inf),
    rare=None,
    nanoseconds=40.0,
)


def _room(low: Array, high: Array) -> Any:
    """Whether a float64 lies strictly between two ends: draws are never the ends themselves."""
    middle = low / 2 + high / 2
    endless = (high == math.inf) | (low == -math.inf)
    return (low == high) | endless | ((low < middle) & (middle < high))


NO_ROOM = "a number must lie strictly between low and high"


def _uniform_draws(generator: Generator, size: Size, low: Array, high: Array) -> Array:
    out = uniforms(generator, size)
    if fixed(low) == 0.0 and fixed(high) == 1.0:
        return out
    width = high - low
    if np.isfinite(width).all():
        scaled(out, low, width)
        # rounding is monotone: where the outermost uniforms stay inside, so do all others
        ends = [scaled(np.full(width.shape, end), low, width) for end in OUTERMOST]
        if np.less(low, ends[0]).all() and np.less(ends[1], high).all():
            return out
    else:  # a width beyond the largest float64
        out = low * (1.0 - out) + high * out
    return inside(out, low, high)


UNIFORM = _bounded(
    name="uniform",
    summary="equally likely anywhere between low and high, never at either",
    parameters=(LOW, HIGH),
    conditions=(("low <= high is required", lambda low, high: low <= high), (NO_ROOM, _room)),
    ends=lambda low, high: (low, high),
    near_ends=lambda low, high: (1.0, 1.0),
    sampler=_uniform_draws,
    # half of each: the width itself may overflow
    log_density_inside=lambda x, low, high: -np.log(high / 2.0 - low / 2.0) - math.log(2.0),
    nanoseconds=2.5,
    elsewhere=("U", "unif"),
    standard=Standard(
        mean=lambda: 0.5,
        central=lambda: [0.0 if k % 2 else 0.5**k / (k + 1.0) for k in range(9)],
        norm=lambda p: (p + 1.0) ** (-1.0 / p),
        log_mgf=lambda t: np.maximum(t, 0.0) + np.log(-np.expm1(-np.abs(t)) / np.abs(t)),
        cdf=lambda x: x,
        survival=lambda x: 1.0 - x,
        quantile=lambda u: u,
        upper_quantile=lambda v: 1.0 - v,
    ),
    line=lambda low, high: (low, high - low),
    standard_arguments=(0.0, 1.0),
)


def _beta_moments(a: Array, b: Array) -> MomentList:
    """The Stein kernel is x (1 - x) / (a + b); with x = mean + y."""
    total = a + b
    return pearson(-1.0 / total, (b - a) / total / total, a / total * (b / total) / total)


BETA = _bounded(
    name="beta",
    summary="a share between 0 and 1 whose mean is a / (a + b)",
    parameters=(LawParameter("a", POSITIVE), LawParameter("b", POSITIVE)),
    ends=(0.0, 1.0),
    near_ends=lambda a, b: (a, b),
    sampler=lambda generator, size, a, b: inside(
        generator.beta(scalar_or_array(a), scalar_or_array(b), size), 0.0, 1.0
    ),
    log_density_inside=lambda x, a, b: (
        special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b)
    ),
    standard=Standard(
        mean=lambda a, b: a / (a + b),
        central=_beta_moments,
        norm=lambda p, a, b: np.exp((log_rising(a, p) - log_rising(a + b, p)) / p),
        cdf=lambda x, a, b: special.betainc(a, b, x),
        survival=lambda x, a, b: special.betaincc(a, b, x),
        quantile=lambda u, a, b: special.betaincinv(a, b, u),
        upper_quantile=lambda v, a, b: special.betainccinv(a, b, v),
    ),
)


def _triangular_draws(
    generator: Generator, size: Size, low: Array, mode: Array, high: Array
) -> Array:
    """The inverse of the distribution function, from the nearer end."""
    width = high - low
    rise = np.where(width > 0, (mode - low) / np.where(width > 0, width, 1.0), 0.5)
    u = uniforms(generator, size)
    falling = u > rise
    np.subtract(1.0, u, out=u, where=falling)
    u *= np.where(falling, 1.0 - rise, rise)
    np.sqrt(u, out=u)
    u *= width
    return inside(np.where(falling, high - u, low + u), low, high)


def _triangular_log_density(x: Array, low: Array, mode: Array, high: Array) -> Any:
    width = high - low
    rising = (x - low) / (mode - low)
    falling = (high - x) / (high - mode)
    height = np.where(x < mode, rising, np.where(x > mode, falling, 1.0))
    return np.log(height) + math.log(2.0) - np.log(width)


TRIANGULAR = _bounded(
    name="triangular",
    summary="density rising straight from low to mode and falling straight to high",
    parameters=(LOW, LawParameter("mode", FINITE), HIGH),
    conditions=(
        ("low <= mode <= high is required", lambda low, mode, high: (low <= mode) & (mode <= high)),
        (NO_ROOM, lambda low, mode, high: _room(low, high)),
    ),
    ends=lambda low, mode, high: (low, high),
    near_ends=lambda low, mode, high: (2.0 - (mode == low), 2.0 - (mode == high)),
    sampler=_triangular_draws,
    log_density_inside=_triangular_log_density,
)


def _von_mises_log_density(x: Array, mu: Array, kappa: Array) -> Any:
    """The exponent as -2 kappa sin((x - mu) / 2)**2, which keeps its digits for large kappa."""
    sine = np.sin((x - mu) / 2.0)
    return -2.0 * kappa * sine * sine - np.log(2.0 * math.pi * special.i0e(kappa))


VON_MISES = _bounded(
    name="von_mises",
    summary="angle in (-pi, pi) about mu, the more concentrated the larger kappa; 0 is uniform",
    parameters=(LawParameter("mu", FINITE), LawParameter("kappa", NOT_NEGATIVE)),
    ends=(-math.pi, math.pi),
    near_ends=None,
    sampler=lambda generator, size, mu, kappa: inside(
        generator.vonmises(scalar_or_array(mu), scalar_or_array(kappa), size), -math.pi, math.pi
    ),
    log_density_inside=_von_mises_log_density,
    elsewhere=("vonmises",),
)

# The truncated normal law, also where its interval is far out or very narrow.
#
# All is in standard units, a = (low - mean) / sd and b = (high - mean) / sd, and in the lower
# tail: an interval to the right of the mean is mirrored first. There are three methods:
# * bulk: the inverse of the distribution function, from the nearer tail;
# * far out (b < -30, where the probabilities near the smallest float64): the same in logarithms;
# * narrow or very far (b - a < 1e-6, or b < -1e6): the density falls from b to a like an
#   exponential one, to within a share of 1e-12 (Robert 1995, Statistics and Computing 5, 121-125).
FAR = -30.0
VERY_FAR = -1e6
NARROW = 1e-6


def _truncated_normal_draws(
    generator: Generator, size: Size, mean: Array, sd: Array, low: Array, high: Array
) -> Array:
    spread = np.where(sd > 0, sd, 1.0)
    out = _truncated_normal_quantile(uniforms(generator, size), mean, spread, low, high)
    return constant_where_zero(inside(out, low, high), sd, mean)


def _truncated_normal_quantile(u: Array, mean: Array, sd: Array, low: Array, high: Array) -> Array:
    """The value at level u; by rounding it may be an end of the interval."""
    a, b = (low - mean) / sd, (high - mean) / sd
    mirrored, a, b = _in_lower_tail(a, b)
    near_end = np.where(mirrored, low, high)
    side = np.where(mirrored, -1.0, 1.0)
    narrow = (b - a < NARROW) | (b < VERY_FAR)
    far = (b < FAR) & ~narrow

    below_a = special.ndtr(a)
    mass = special.ndtr(b) - below_a
    from_left = below_a + u * mass
    from_right = special.ndtr(-b) + (1.0 - u) * mass
    left = from_left <= from_right
    out = np.asarray(special.ndtri(np.where(left, from_left, from_right)))
    np.negative(out, out=out, where=~left)
    if far.any():
        log_a, log_b = special.log_ndtr(a), special.log_ndtr(b)
        # log(u * ndtr(b) + (1 - u) * ndtr(a)); ndtr(a) is the smaller
        log_mix = log_b + np.log(u + (1.0 - u) * np.exp(log_a - log_b))
        out = np.where(far, special.ndtri_exp(log_mix), out)
    out = mean + sd * side * out
    if narrow.any():
        # the distance t from the nearer end, of density in proportion to exp(b * t - t**2 / 2)
        distance = np.where(np.isfinite(b), _tilted(u, -b, b - a), 0.0)
        out = np.where(narrow, near_end - sd * side * distance, out)
    return np.asarray(out)


def _in_lower_tail(a: Array, b: Array) -> tuple[Array, Array, Array]:
    mirrored = np.asarray(a + b > 0)  # False for (-inf, inf), which needs none
    return mirrored, np.where(mirrored, -b, a), np.where(mirrored, -a, b)


def _tilted(u: Array, slope: Array, width: Array) -> Array:
    """The point of [0, width] at level u where the density falls like exp(-slope * t)."""
    fall = slope * width
    steep = -np.log1p(u * np.expm1(-fall)) / np.where(slope > 0, slope, 1.0)
    return np.where(fall < 1e-12, u * width, steep)


def _log_mass(a: Array, b: Array) -> Any:
    """Log P(a < Z < b) of a standard normal Z, also far out and where a and b nearly meet."""
    _, a, b = _in_lower_tail(a, b)
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


TRUNCATED_NORMAL = _bounded(
    name="truncated_normal",
    summary="a normal variable given that it lies in (low, high); mean and sd before truncation",
    parameters=(MEAN, SD, LawParameter("low", ANY), LawParameter("high", ANY)),
    conditions=(
        (
            "low <= high is required, and not both the same infinity",
            lambda mean, sd, low, high: (low <= high) & (low < math.inf) & (high > -math.inf),
        ),
        (
            "where sd is 0, low <= mean <= high is required",
            lambda mean, sd, low, high: (sd > 0) | ((low <= mean) & (mean <= high)),
        ),
        (NO_ROOM, lambda mean, sd, low, high: _room(low, high)),
    ),
    ends=lambda mean, sd, low, high: (low, high),
    degenerate=lambda mean, sd, low, high: (
        (sd == 0) | (low == high),
        np.where(sd == 0, mean, low),
    ),
    near_ends=lambda mean, sd, low, high: (1.0, 1.0),
    sampler=_truncated_normal_draws,
    log_density_inside=lambda x, mean, sd, low, high: (
        normal_log_density(x, mean, sd) - _log_mass((low - mean) / sd, (high - mean) / sd)
    ),
    elsewhere=("truncnorm",),
    note="its second argument is the standard deviation before it is truncated",
)
