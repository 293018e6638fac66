"""The truncated normal law, also where its interval is far out or very narrow.

Everything is reckoned in standard units, a = (low - mean) / sd and b = (high - mean) / sd, and
in the lower tail: an interval to the right of the mean is mirrored first. Three ways serve:

* bulk: the inverse of the distribution function, from the nearer tail;
* far out (b < -30, where the probabilities near the smallest float64): the same in logarithms;
* narrow or very far (b - a < 1e-6, or b < -1e6): the density falls from b to a like an
  exponential one, to within a share of 1e-12 (Robert 1995, Statistics and Computing 5, 121-125).
"""

from __future__ import annotations

import numpy as np

from dropcheck.vocabulary.sampler_parts import Array

FAR = -30.0
VERY_FAR = -1e6
NARROW = 1e-6


def truncated_normal(u: Array, mean: Array, sd: Array, low: Array, high: Array) -> Array:
    """The value that a uniform number u stands for, in float64; broadcasts.

    The result may be an end of the interval by rounding, which is the caller's to treat.
    """
    from scipy import special

    a, b = (low - mean) / sd, (high - mean) / sd
    mirrored = a + b > 0  # False for (-inf, inf), which needs none
    a, b = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
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


def _tilted(u: Array, slope: Array, width: Array) -> Array:
    """The point of [0, width] that u stands for where the density falls like exp(-slope * t)."""
    fall = slope * width
    flat = fall < 1e-12
    steep = -np.log1p(u * np.expm1(-fall)) / np.where(slope > 0, slope, 1.0)
    return np.where(flat, u * width, steep)
