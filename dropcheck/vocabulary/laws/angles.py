"""Von Mises' law of angles, on (-pi, pi)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.distributions.domains import FINITE, NOT_NEGATIVE, LawParameter
from dropcheck.vocabulary.distributions.standard import Standard
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.laws.bounded_support import bounded
from dropcheck.vocabulary.laws.quadrature import by_points, pieces
from dropcheck.vocabulary.laws.sampling import inside, scalar_or_array


def _von_mises_log_density(x: Array, mu: Array, kappa: Array) -> Any:
    """The exponent as -2 kappa sin((x - mu) / 2)**2, which keeps its digits for large kappa."""
    sine = np.sin((x - mu) / 2.0)
    return -2.0 * kappa * sine * sine - np.log(2.0 * math.pi * special.i0e(kappa))


# distances from the mode, in units of 1 / √(kappa + 1), between which the density is smooth and not
# steep; beyond the last, where kappa is large, it is below exp(-170) of its height
_STEPS = np.array([0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20])


def _centre(mu: Array) -> Any:
    """The mode, in [-pi, pi)."""
    return np.mod(mu + math.pi, 2.0 * math.pi) - math.pi


def _points(mu: Array, kappa: Array) -> tuple[Array, Array, Array]:
    """The mode, and how far points on a last axis are from it, with weights.

    An angle that leaves (-pi, pi) comes in again at the other end.
    """
    centre = _centre(mu)
    steps = _STEPS / np.sqrt(kappa + 1.0)[..., None]
    seam = math.pi - np.abs(centre)
    # edges at the ends of (-pi, pi), and at 0 for the sake of |x|^p
    edges = [steps, seam[..., None], np.abs(centre)[..., None], np.full((*seam.shape, 1), math.pi)]
    distances, weights = pieces(np.sort(np.minimum(np.concatenate(edges, axis=-1), math.pi)))
    sines = np.sin(distances / 2.0)
    weights = weights * np.exp(-2.0 * kappa[..., None] * sines * sines)
    across = (distances > seam[..., None]) * (2.0 * math.pi)
    rising = distances - np.where(centre[..., None] >= 0, across, 0.0)
    falling = -distances + np.where(centre[..., None] < 0, across, 0.0)
    both = np.concatenate([rising, falling], axis=-1)
    return centre, both, np.concatenate([weights, weights], axis=-1)


def _beyond(distance: Any, kappa: Any) -> Any:
    """The integral of exp(kappa (cos t - 1)) from a distance to pi."""
    distance, kappa = np.broadcast_arrays(np.asarray(distance, dtype=float), kappa)
    distance = np.clip(distance, 0.0, math.pi)
    # the pieces are short where the density is steep
    unit = 1.0 / (np.sqrt(kappa + 1.0) + kappa * np.sin(distance))
    room = (math.pi - distance)[..., None]
    offsets = np.concatenate([np.minimum(unit[..., None] * _LONG_STEPS, room), room], axis=-1)
    t, weights = pieces(offsets)
    # cos(d + t) - cos(d) = -2 sin(d + t / 2) sin(t / 2)
    fall = -2.0 * kappa[..., None] * np.sin(distance[..., None] + t / 2.0) * np.sin(t / 2.0)
    sine = np.sin(distance / 2.0)
    return (weights * np.exp(fall)).sum(axis=-1) * np.exp(-2.0 * kappa * sine * sine)


_LONG_STEPS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 64])


def _cdf(x: Any, mu: Any, kappa: Any) -> Any:
    """From -pi on, through the mode or through its image on the other side of the seam."""
    return _mass(x, mu, kappa) - _mass(-math.pi, mu, kappa)


def _mass(x: Any, mu: Any, kappa: Any) -> Any:
    """The share of a turn's mass up to x, from the mode's image on; x is within two turns of it."""
    half = math.pi * special.i0e(kappa)
    y = x - _centre(mu)
    turns = np.floor((y + math.pi) / (2.0 * math.pi))
    within = y - turns * (2.0 * math.pi)
    tail = _beyond(np.abs(within), kappa)
    return turns + np.where(within < 0, tail, 2.0 * half - tail) / (2.0 * half)


def _quantile(u: Any, mu: Any, kappa: Any) -> Any:
    """By Newton's method for the logarithm, halving the interval where a step would leave it."""
    first = _mass(-math.pi, mu, kappa)
    given = np.broadcast_arrays(np.asarray(u, dtype=float), mu, kappa, first)
    left = np.stack([one.ravel() for one in given])  # of the levels that are not settled
    found = np.empty(left.shape[1])
    places = np.arange(left.shape[1])
    x, low, high = np.zeros_like(found), np.full_like(found, -math.pi), np.full_like(found, math.pi)
    for _ in range(100):
        level, mean, sharpness, before = left
        below = _mass(x, mean, sharpness) - before
        low, high = np.where(below < level, x, low), np.where(below < level, high, x)
        density = np.exp(_von_mises_log_density(x, mean, sharpness))
        following = x + (np.log(level) - np.log(below)) * (below / density)
        inside_it = (following >= low) & (following <= high)
        following = np.where(inside_it, following, 0.5 * (low + high))
        # the next step would be rounding; or the level lies between two neighbours, at an end
        settled = (np.abs(following - x) <= 1e-13) & (np.abs(below - level) <= 1e-10 * level)
        settled |= (high - low <= 2.0**-51) | np.isnan(level)
        found[places] = x = following
        going = ~settled
        if not going.any():
            break
        left, places = left[:, going], places[going]
        x, low, high = x[going], low[going], high[going]
    return found.reshape(given[0].shape)


VON_MISES = bounded(
    name="von_mises",
    summary="angle in (-pi, pi) about mu, the more concentrated the larger kappa; 0 is uniform",
    parameters=(LawParameter("mu", FINITE), LawParameter("kappa", NOT_NEGATIVE)),
    ends=(-math.pi, math.pi),
    # about another angle it rises again beyond the opposite one
    mode=lambda mu, _kappa: np.where(mu == 0, 0.0, np.nan),
    near_ends=None,
    sampler=lambda generator, size, mu, kappa: inside(
        generator.vonmises(scalar_or_array(mu), scalar_or_array(kappa), size), -math.pi, math.pi
    ),
    log_density_inside=_von_mises_log_density,
    aliases=("vonmises",),
    standard=Standard(
        **by_points(_points),
        cdf=_cdf,
        survival=lambda x, mu, kappa: _cdf(-x, -mu, kappa),
        quantile=_quantile,
        upper_quantile=lambda v, mu, kappa: -_quantile(v, -mu, kappa),
        quantile_cost=1e5,
    ),
    greatest_at_corners=False,
)
