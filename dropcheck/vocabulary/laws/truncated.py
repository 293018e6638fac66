"""The truncated normal law; its interval may lie far out in a tail, or be very narrow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.distributions.domains import ANY_NUMBER, LawParameter
from dropcheck.vocabulary.distributions.standard import ArgumentHull, ArgumentNorm, Standard
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Generator, Size
from dropcheck.vocabulary.laws.bounded_support import NO_ROOM, bounded, room
from dropcheck.vocabulary.laws.quadrature import by_points, gauss_legendre, pieces
from dropcheck.vocabulary.laws.sampling import constant_where_zero, inside, uniforms
from dropcheck.vocabulary.laws.unbounded import LAW_MEAN, SD, normal_norm

# Quantiles are computed in standard units, a = (low - mean) / sd and b = (high - mean) / sd, and in
# the lower tail: an interval to the right of the mean is mirrored first. There are three methods:
# * usual: the inverse of the distribution function, from the nearer tail;
# * far out (b < -30, where probabilities come near the smallest float64): the same with logarithms;
# * narrow or very far out (b - a < 1e-6, or b < -1e6): the density falls from b to a like an
#   exponential, to within a share of 1e-12 (Robert 1995, Statistics and Computing 5, 121-125).
FAR = -30.0
VERY_FAR = -1e6
NARROW = 1e-6


def _truncated_normal_draws(
    generator: Generator, size: Size, mean: Array, sd: Array, low: Array, high: Array
) -> Array:
    spread = np.where(sd > 0, sd, 1.0)
    u = uniforms(generator, size)
    out = _quantile(u, 1.0 - u, mean, spread, low, high)
    return constant_where_zero(inside(out, low, high), sd, mean)


def _quantile(u: Array, v: Array, mean: Array, sd: Array, low: Array, high: Array) -> Array:
    """The quantile at level u = 1 - v; rounding may make it an end of the interval."""
    a, b = (low - mean) / sd, (high - mean) / sd
    mirrored, a, b = _in_lower_tail(a, b)
    u, v = np.where(mirrored, v, u), np.where(mirrored, u, v)
    near_end = np.where(mirrored, low, high)
    side = np.where(mirrored, -1.0, 1.0)
    narrow = (b - a < NARROW) | (b < VERY_FAR)
    far = (b < FAR) & ~narrow

    below_a = special.ndtr(a)
    mass = special.ndtr(b) - below_a
    from_left = below_a + u * mass
    from_right = special.ndtr(-b) + v * mass
    left = from_left <= from_right
    out = np.asarray(special.ndtri(np.where(left, from_left, from_right)))
    np.negative(out, out=out, where=~left)
    if far.any():
        log_a, log_b = special.log_ndtr(a), special.log_ndtr(b)
        # log(u * ndtr(b) + v * ndtr(a)); ndtr(a) is the smaller
        log_mix = log_b + np.log(u + v * np.exp(log_a - log_b))
        out = np.where(far, special.ndtri_exp(log_mix), out)
    out = mean + sd * side * out
    if narrow.any():
        # the distance t from the nearer end, of density in proportion to exp(b * t - t**2 / 2)
        distance = np.where(np.isfinite(b), _tilted(v, -b, b - a), 0.0)
        out = np.where(narrow, near_end - sd * side * distance, out)
    return np.asarray(out)


def _in_lower_tail(a: Array, b: Array) -> tuple[Array, Array, Array]:
    mirrored = np.asarray(a + b > 0)  # False for (-inf, inf), which need not be mirrored
    return mirrored, np.where(mirrored, -b, a), np.where(mirrored, -a, b)


def _tilted(u: Array, slope: Array, width: Array) -> Array:
    """The point of [0, width] at level u where the density falls like exp(-slope * t)."""
    fall = slope * width
    steep = -np.log1p(u * np.expm1(-fall)) / np.where(slope > 0, slope, 1.0)
    return np.where(fall < 1e-12, u * width, steep)


def _mode(a: Array, b: Array) -> Any:
    """Where the density is greatest."""
    return np.minimum(np.maximum(0.0, a), b)


def _mass(start: Array, stop: Array, mode: Array) -> Any:
    """The integral of exp((mode² - z²) / 2) from start to stop; the mode is not inside, or is 0.

    Large numbers never cancel: across 0 it is computed by the error function, on one side of 0 by
    the scaled complementary one, and by quadrature where two values of that are nearly equal.
    """
    below = np.where(stop <= 0, -stop, start)  # mirrored to the right of 0
    above = np.where(stop <= 0, -start, stop)
    mode = np.abs(mode)
    root = math.sqrt(0.5)

    def beyond(z: Array) -> Any:
        power = np.where(np.isinf(z), -np.inf, -0.5 * (z - mode) * (z + mode))
        return special.erfcx(root * np.maximum(z, 0.0)) * np.exp(power)

    across = special.erf(root * stop) + special.erf(-root * start)
    width = above - below
    places, weights = gauss_legendre()
    steps = np.where(np.isfinite(width), width, 0.0)[..., None] * places
    powers = (
        -steps * (below[..., None] + 0.5 * steps)
        - 0.5 * ((below - mode) * (below + mode))[..., None]
    )
    narrow = width * (np.exp(powers) @ weights)
    wide = math.sqrt(math.pi / 2) * np.where(
        (start < 0) & (stop > 0), across, beyond(below) - beyond(above)
    )
    one_side = (start >= 0) | (stop <= 0)
    return np.where(one_side & (width * (above + below) < 4.0), narrow, wide)


def _share(start: Any, stop: Any, a: Any, b: Any) -> Any:
    """P(start < Z < stop) of a standard normal Z between a and b."""
    start, stop, a, b = np.broadcast_arrays(start, stop, a, b)
    mode = _mode(a, b)
    return _mass(np.clip(start, a, b), np.clip(stop, a, b), mode) / _mass(a, b, mode)


def _log_density(x: Array, mean: Array, sd: Array, low: Array, high: Array) -> Any:
    z, a, b = np.broadcast_arrays((x - mean) / sd, (low - mean) / sd, (high - mean) / sd)
    mode = _mode(a, b)
    return -0.5 * (z - mode) * (z + mode) - np.log(_mass(a, b, mode)) - np.log(sd)


# Moments are taken from the range in which the density is above exp(-200) times its maximum: beyond
# it, even the 64th power of a value counts for nothing.
_FALL = 200.0
_PIECES = 24  # on either side of the mode


def _points(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The mode, and on a last axis the distances of points from it, and their weights."""
    mode = _mode(a, b)
    slope = np.abs(mode)
    # the distance t at which slope · t + t² / 2 is that fall
    range_ = 2.0 * _FALL / (slope + np.sqrt(slope * slope + 2.0 * _FALL))
    steps = np.linspace(0.0, 1.0, _PIECES + 1)
    sides = []
    for sign, reach in ((-1.0, mode - a), (1.0, b - mode)):
        distances, weights = pieces(np.minimum(reach, range_)[..., None] * steps)
        weights = weights * np.exp(-distances * (slope[..., None] + 0.5 * distances))
        sides.append((sign * distances, weights))
    places, weights = (np.concatenate(pair, axis=-1) for pair in zip(*sides, strict=True))
    # a law of no width has all its weight at one point
    return mode, places, np.where((a == b)[..., None], 1.0, weights)


def _standard_quantile(u: Any, v: Any, a: Any, b: Any) -> Any:
    return _quantile(*(np.asarray(one, dtype=np.float64) for one in (u, v, 0.0, 1.0, a, b)))


def _norm_of_random(p: float, norm: ArgumentNorm, hull: ArgumentHull) -> float:
    """By Minkowski's inequality for x = c + (x - c), c the point of the interval nearest the mean.

    |x - c| is stochastically at most sd |z| with a standard normal z, as the ratio of their
    densities never rises with the distance. And |c| is at most the sum of the sizes of the mean and
    of the finite ends.
    """
    ends = 0.0
    for i, infinity in ((2, -math.inf), (3, math.inf)):
        always_infinite = hull(i).low == hull(i).high == infinity
        ends += 0.0 if always_infinite else norm(i, p)
    return norm(0, p) + ends + norm(1, p) * float(normal_norm(p))


TRUNCATED_NORMAL = bounded(
    name="truncated_normal",
    summary="a normal variable given that it lies in (low, high); mean and sd before truncation",
    parameters=(LAW_MEAN, SD, LawParameter("low", ANY_NUMBER), LawParameter("high", ANY_NUMBER)),
    conditions=(
        (
            "low <= high is required, and not both the same infinity",
            lambda mean, sd, low, high: (low <= high) & (low < math.inf) & (high > -math.inf),
        ),
        (
            "where sd is 0, low <= mean <= high is required",
            lambda mean, sd, low, high: (sd > 0) | ((low <= mean) & (mean <= high)),
        ),
        (NO_ROOM, lambda mean, sd, low, high: room(low, high)),
    ),
    ends=lambda mean, sd, low, high: (low, high),
    degenerate=lambda mean, sd, low, high: (
        (sd == 0) | (low == high),
        np.where(sd == 0, mean, low),
    ),
    mode=lambda mean, sd, low, high: np.clip(mean, low, high),
    near_ends=lambda mean, sd, low, high: (1.0, 1.0),
    sampler=_truncated_normal_draws,
    log_density_inside=_log_density,
    standard=Standard(
        **by_points(_points),
        cdf=lambda x, a, b: _share(a, x, a, b),
        survival=lambda x, a, b: _share(x, b, a, b),
        quantile=lambda u, a, b: _standard_quantile(u, 1.0 - u, a, b),
        upper_quantile=lambda v, a, b: _standard_quantile(1.0 - v, v, a, b),
    ),
    line=lambda mean, sd, low, high: (mean, sd, (low - mean) / sd, (high - mean) / sd),
    norm_of_random=_norm_of_random,
    greatest_at_corners=False,
    aliases=("truncnorm",),
    note="its second argument is the standard deviation before it is truncated",
)
