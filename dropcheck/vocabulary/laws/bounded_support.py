"""The laws with a density between two ends.

Densities are as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (2nd
edition, 1994 and 1995), unless said.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.distributions.domains import (
    ANGLE,
    FINITE,
    HIGH,
    LOW,
    NOT_NEGATIVE,
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
from dropcheck.vocabulary.laws.quadrature import by_points, gauss_legendre, pieces, weighted_moments
from dropcheck.vocabulary.laws.sampling import (
    OUTERMOST,
    inside,
    scalar_or_array,
    scaled,
    uniforms,
)

# The tails of these laws fall faster than any exponential: they end, or are those of a truncated
# normal. A law whose ends meet is a constant.
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
    """Whether some float64 lies strictly between two ends, as a draw is never an end itself.

    True too where the ends meet, and the law is a constant.
    """
    middle = low / 2 + high / 2
    endless = (high == math.inf) | (low == -math.inf)
    return (low == high) | endless | ((low < middle) & (middle < high))


NO_ROOM = "a number must lie strictly between low and high"


def _uniform_draws(generator: Generator, size: Size, low: Array, high: Array) -> Array:
    if low.size == high.size == 1:
        quick, width = _of_one_width(float(low.reshape(())), float(high.reshape(())))
    else:
        quick, width = _stays_inside(low, high)
    if not np.isfinite(width).all():  # the width overflows
        out = uniforms(generator, size)
        return inside(low * (1.0 - out) + high * out, low, high)
    if quick:
        return scaled(uniforms(generator, size), low, width)
    return inside(scaled(generator.random(size), low, width), low, high)


def _stays_inside(low: Array, high: Array) -> tuple[bool, Array]:
    """Whether all uniform numbers stay inside two ends once scaled, and the width between these.

    Rounding is monotone: if the outermost uniform numbers stay inside, so do all others.
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
    # from half of each end, as the width may overflow
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
    """An end where the density only falls or only rises; NaN where it is least between the ends."""
    within = (a - 1.0) / (a + b - 2.0)
    at_an_end = np.where(a <= 1, 0.0, 1.0)
    mode = np.where((a > 1) & (b > 1), within, at_an_end)
    return np.where((a < 1) & (b < 1), np.nan, mode)


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
    """The inverse of the distribution function, computed from the nearer end."""
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
    """Points and weights that give moments up to order 8 exactly; the peak is between 0 and 1."""
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


# ---- angles -------------------------------------------------------------------------------------


def _von_mises_log_density(x: Array, mu: Array, kappa: Array) -> Any:
    """The exponent, -2 kappa sin((x - mu) / 2)**2, keeps its digits for large kappa."""
    sine = np.sin((x - mu) / 2.0)
    return -2.0 * kappa * sine * sine - np.log(2.0 * math.pi * special.i0e(kappa))


# Distances from the mode in units of 1 / √(kappa + 1): between two of them the density is smooth
# and not steep. Beyond the last one it is, for large kappa, below exp(-170) times its maximum.
_ANGLES = np.array([0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20])


def _mode_of_angles(mu: Array) -> Any:
    """The mode, in [-pi, pi)."""
    return np.mod(mu + math.pi, 2.0 * math.pi) - math.pi


def _angles_about(mu: Array, kappa: Array) -> tuple[Array, Array, Array]:
    """The mode, the distances of points from it on a last axis, and their weights.

    An angle that leaves (-pi, pi) enters again at the other end, at `seam` from the mode.
    """
    centre = _mode_of_angles(mu)
    steps = _ANGLES / np.sqrt(kappa + 1.0)[..., None]
    seam = math.pi - np.abs(centre)
    # with edges at the ends of (-pi, pi), and at 0, where |x|^p is not smooth
    edges = [steps, seam[..., None], np.abs(centre)[..., None], np.full((*seam.shape, 1), math.pi)]
    distances, weights = pieces(np.sort(np.minimum(np.concatenate(edges, axis=-1), math.pi)))
    sines = np.sin(distances / 2.0)
    weights = weights * np.exp(-2.0 * kappa[..., None] * sines * sines)
    across = (distances > seam[..., None]) * (2.0 * math.pi)
    rising = distances - np.where(centre[..., None] >= 0, across, 0.0)
    falling = -distances + np.where(centre[..., None] < 0, across, 0.0)
    both = np.concatenate([rising, falling], axis=-1)
    return centre, both, np.concatenate([weights, weights], axis=-1)


def _von_mises_beyond(distance: Any, kappa: Any) -> Any:
    """The integral of exp(kappa (cos t - 1)) from a distance to pi."""
    distance, kappa = np.broadcast_arrays(np.asarray(distance, dtype=float), kappa)
    distance = np.clip(distance, 0.0, math.pi)
    # pieces are short where the density is steep
    unit = 1.0 / (np.sqrt(kappa + 1.0) + kappa * np.sin(distance))
    room = (math.pi - distance)[..., None]
    offsets = np.concatenate([np.minimum(unit[..., None] * _LONG_STEPS, room), room], axis=-1)
    t, weights = pieces(offsets)
    # cos(d + t) - cos(d) = -2 sin(d + t / 2) sin(t / 2)
    fall = -2.0 * kappa[..., None] * np.sin(distance[..., None] + t / 2.0) * np.sin(t / 2.0)
    sine = np.sin(distance / 2.0)
    return (weights * np.exp(fall)).sum(axis=-1) * np.exp(-2.0 * kappa * sine * sine)


_LONG_STEPS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 64])


def _von_mises_cdf(x: Any, mu: Any, kappa: Any) -> Any:
    """P(-pi < X <= x)."""
    return _von_mises_mass(x, mu, kappa) - _von_mises_mass(-math.pi, mu, kappa)


def _von_mises_mass(x: Any, mu: Any, kappa: Any) -> Any:
    """The mass of the periodic density from the mode minus pi up to x; a whole turn has mass 1."""
    half = math.pi * special.i0e(kappa)
    y = x - _mode_of_angles(mu)
    turns = np.floor((y + math.pi) / (2.0 * math.pi))
    within = y - turns * (2.0 * math.pi)
    tail = _von_mises_beyond(np.abs(within), kappa)
    return turns + np.where(within < 0, tail, 2.0 * half - tail) / (2.0 * half)


def _von_mises_quantile(u: Any, mu: Any, kappa: Any) -> Any:
    """Newton's method for the logarithm of the level; a step that leaves the interval halves it."""
    first = _von_mises_mass(-math.pi, mu, kappa)
    given = np.broadcast_arrays(np.asarray(u, dtype=float), mu, kappa, first)
    left = np.stack([one.ravel() for one in given])  # the levels that are not settled yet
    result = np.empty(left.shape[1])
    places = np.arange(left.shape[1])
    x, low, high = (
        np.zeros_like(result),
        np.full_like(result, -math.pi),
        np.full_like(result, math.pi),
    )
    for _ in range(100):
        level, mean, sharpness, before = left
        below = _von_mises_mass(x, mean, sharpness) - before
        low, high = np.where(below < level, x, low), np.where(below < level, high, x)
        density = np.exp(_von_mises_log_density(x, mean, sharpness))
        following = x + (np.log(level) - np.log(below)) * (below / density)
        inside_it = (following >= low) & (following <= high)
        following = np.where(inside_it, following, 0.5 * (low + high))
        # settled: the next step would be rounding, or no float64 lies between low and high
        settled = (np.abs(following - x) <= 1e-13) & (np.abs(below - level) <= 1e-10 * level)
        settled |= (high - low <= 2.0**-51) | np.isnan(level)
        result[places] = x = following
        going = ~settled
        if not going.any():
            break
        left, places = left[:, going], places[going]
        x, low, high = x[going], low[going], high[going]
    return result.reshape(given[0].shape)


VON_MISES = bounded(
    name="von_mises",
    summary="angle in (-pi, pi) about mu, the more concentrated the larger kappa; 0 is uniform",
    parameters=(LawParameter("mu", ANGLE), LawParameter("kappa", NOT_NEGATIVE)),
    ends=(-math.pi, math.pi),
    # about another angle the density rises again beyond the opposite angle
    mode=lambda mu, _kappa: np.where(mu == 0, 0.0, np.nan),
    near_ends=None,
    sampler=lambda generator, size, mu, kappa: inside(
        generator.vonmises(scalar_or_array(mu), scalar_or_array(kappa), size), -math.pi, math.pi
    ),
    log_density_inside=_von_mises_log_density,
    aliases=("vonmises",),
    standard=Standard(
        **by_points(_angles_about),
        cdf=_von_mises_cdf,
        survival=lambda x, mu, kappa: _von_mises_cdf(-x, -mu, kappa),
        quantile=_von_mises_quantile,
        upper_quantile=lambda v, mu, kappa: -_von_mises_quantile(v, -mu, kappa),
        quantile_cost=1e5,
    ),
    greatest_at_corners=False,
)
