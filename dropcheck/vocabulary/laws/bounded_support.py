"""The laws with a density between two ends.

Densities are as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (2nd
edition, 1994 and 1995), unless said.
"""

# ruff: noqa: ARG005 - each function of a law is given all of its parameters

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.distributions.domains import (
    FINITE,
    HIGH,
    LOW,
    POSITIVE,
    LawParameter,
)
from dropcheck.vocabulary.distributions.moment_lists import MomentList, pearson
from dropcheck.vocabulary.distributions.standard import Standard
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Generator, Law, Size
from dropcheck.vocabulary.laws.formulas import (
    beta_cdf,
    beta_quantile,
    beta_survival,
    beta_upper_quantile,
    log_rising,
)
from dropcheck.vocabulary.laws.quadrature import gauss_legendre, weighted_moments
from dropcheck.vocabulary.laws.sampling import (
    OUTERMOST,
    inside,
    scalar_or_array,
    scaled,
    uniforms,
)

# no law has a tail here: a truncated normal's falls faster than any exponential; and one is a
# constant where its ends meet
bounded = partial(
    Law,
    values=Values.NUMBERS,
    degenerate=None,
    moments=math.inf,
    tails=lambda *_: (math.inf, math.inf),
    rare=None,
    nanoseconds=40.0,
)


def room(low: Array, high: Array) -> Any:
    """Whether a float64 lies strictly between two ends: draws are never the ends themselves."""
    middle = low / 2 + high / 2
    endless = (high == math.inf) | (low == -math.inf)
    return (low == high) | endless | ((low < middle) & (middle < high))


NO_ROOM = "a number must lie strictly between low and high"


def _uniform_draws(generator: Generator, size: Size, low: Array, high: Array) -> Array:
    if low.size == high.size == 1:
        quick, width = _of_one_width(float(low.reshape(())), float(high.reshape(())))
    else:
        quick, width = _stays_inside(low, high)
    if not np.isfinite(width).all():  # it is beyond the largest float64
        out = uniforms(generator, size)
        return inside(low * (1.0 - out) + high * out, low, high)
    if quick:
        return scaled(uniforms(generator, size), low, width)
    return inside(scaled(generator.random(size), low, width), low, high)


def _stays_inside(low: Array, high: Array) -> tuple[bool, Array]:
    """Whether all uniforms stay between two ends when they are scaled; how far these are apart.

    Rounding is monotone: where the outermost uniforms stay inside, so do all others.
    """
    width = high - low
    ends = [scaled(np.full(width.shape, end), low, width) for end in OUTERMOST]
    return bool(np.less(low, ends[0]).all() and np.less(ends[1], high).all()), width


@lru_cache(maxsize=64)
def _of_one_width(low: float, high: float) -> tuple[bool, Array]:
    with np.errstate(all="ignore"):
        return _stays_inside(np.array([low]), np.array([high]))


UNIFORM = bounded(
    name="uniform",
    symmetric=True,
    summary="equally likely anywhere between low and high, never at either",
    parameters=(LOW, HIGH),
    conditions=(("low <= high is required", lambda low, high: low <= high), (NO_ROOM, room)),
    ends=lambda low, high: (low, high),
    mode=lambda low, high: low,
    near_ends=lambda low, high: (1.0, 1.0),
    sampler=_uniform_draws,
    # half of each: the width itself may overflow
    log_density_inside=lambda x, low, high: -np.log(high / 2.0 - low / 2.0) - math.log(2.0),
    nanoseconds=2.5,
    aliases=("U", "unif"),
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


def _beta_mode(a: Array, b: Array) -> Array:
    """At an end where the density only falls or only rises; none where it is least between."""
    within = (a - 1.0) / (a + b - 2.0)
    at_an_end = np.where(a <= 1, 0.0, 1.0)
    found = np.where((a > 1) & (b > 1), within, at_an_end)
    return np.where((a < 1) & (b < 1), np.nan, found)


STANDARD_BETA = Standard(
    mean=lambda a, b: a / (a + b),
    central=_beta_moments,
    norm=lambda p, a, b: np.exp((log_rising(a, p) - log_rising(a + b, p)) / p),
    cdf=lambda x, a, b: beta_cdf(a, b, x),
    survival=lambda x, a, b: beta_survival(a, b, x),
    quantile=lambda u, a, b: beta_quantile(a, b, u),
    upper_quantile=lambda v, a, b: beta_upper_quantile(a, b, v),
    quantile_cost=5000.0,
)

BETA = bounded(
    name="beta",
    summary="a share between 0 and 1 whose mean is a / (a + b)",
    parameters=(LawParameter("a", POSITIVE), LawParameter("b", POSITIVE)),
    ends=(0.0, 1.0),
    mode=_beta_mode,
    near_ends=lambda a, b: (a, b),
    sampler=lambda generator, size, a, b: inside(
        generator.beta(scalar_or_array(a), scalar_or_array(b), size), 0.0, 1.0
    ),
    log_density_inside=lambda x, a, b: (
        special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b)
    ),
    standard=STANDARD_BETA,
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


def _triangular_points(peak: Array) -> tuple[Array, Array]:
    """Points and weights, exact for moments up to order 8; the peak is between 0 and 1."""
    places, weights = gauss_legendre()
    peak = np.asarray(peak)[..., None]
    # the density rises from 0 to 2 at the peak and falls to 0 at 1
    points = np.concatenate([peak * places, 1.0 - (1.0 - peak) * places], axis=-1)
    height = 2.0 * places * weights
    return points, np.concatenate([peak * height, (1.0 - peak) * height], axis=-1)


def _triangular_cdf(x: Array, peak: Array) -> Any:
    falling = (1.0 - x) * ((1.0 - x) / np.where(peak < 1, 1.0 - peak, 1.0))
    return np.where(x < peak, x * (x / peak), 1.0 - falling)


def _triangular_quantile(u: Array, peak: Array) -> Any:
    return np.where(u < peak, np.sqrt(u * peak), 1.0 - np.sqrt((1.0 - u) * (1.0 - peak)))


TRIANGULAR = bounded(
    name="triangular",
    summary="density rising straight from low to mode and falling straight to high",
    parameters=(LOW, LawParameter("mode", FINITE), HIGH),
    conditions=(
        ("low <= mode <= high is required", lambda low, mode, high: (low <= mode) & (mode <= high)),
        (NO_ROOM, lambda low, mode, high: room(low, high)),
    ),
    ends=lambda low, mode, high: (low, high),
    mode=lambda low, mode, high: mode,
    near_ends=lambda low, mode, high: (2.0 - (mode == low), 2.0 - (mode == high)),
    sampler=_triangular_draws,
    log_density_inside=_triangular_log_density,
    standard=Standard(
        mean=lambda peak: (1.0 + peak) / 3.0,
        central=lambda peak: weighted_moments(*_triangular_points(peak))[1],
        cdf=_triangular_cdf,
        survival=lambda x, peak: _triangular_cdf(1.0 - x, 1.0 - peak),
        quantile=_triangular_quantile,
        upper_quantile=lambda v, peak: 1.0 - _triangular_quantile(v, 1.0 - peak),
    ),
    line=lambda low, mode, high: (low, high - low, (mode - low) / (high - low)),
    norm_of_random=lambda p, norm, hull: norm(0, p) + norm(2, p),
    greatest_at_corners=False,
)
