"""Logarithms of the densities of the laws of vectors, at x on the last axis but that of draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from dropcheck.vocabulary.densities_continuous import LOG_ROOT_TWO_PI, LogDensity
from dropcheck.vocabulary.sampler_parts import Array

# how far the shares of a Dirichlet variable may be from a sum of 1
SHARE_SUM_TOLERANCE = 1e-9


def _multinomial(x: Array, n: Array, p: Array) -> Any:
    inside = ((x >= 0) & (x == np.floor(x))).all(axis=-2) & (x.sum(axis=-2) == n)
    terms = special.xlogy(x, p) - special.gammaln(x + 1.0)
    mass = special.gammaln(n + 1.0) + terms.sum(axis=-2)
    return np.where(inside, mass, -np.inf)


def _dirichlet(x: Array, a: Array) -> Any:
    """Density of the first k - 1 shares, as the last one follows from them."""
    if max(a.shape[-2], x.shape[-2]) == 1:
        raise ValueError("a dirichlet of one share is a constant, and has no density")
    inside = (x >= 0).all(axis=-2) & (np.abs(x.sum(axis=-2) - 1.0) <= SHARE_SUM_TOLERANCE)
    constant = special.gammaln(a.sum(axis=-2)) - special.gammaln(a).sum(axis=-2)
    return np.where(inside, constant + special.xlogy(a - 1.0, x).sum(axis=-2), -np.inf)


def _permutation(x: Array, n: Array) -> Any:
    size = x.shape[-2]
    ordered = np.arange(size, dtype=np.float64)[:, None]
    complete = (np.sort(x, axis=-2) == ordered).all(axis=-2) & (n == size)
    return np.where(complete, -math.lgamma(size + 1.0), -np.inf)


def _multivariate_normal(x: Array, mean: Array, cov: Array) -> Any:
    size = mean.shape[-2]
    matrices = np.moveaxis(cov, -1, -3)
    try:
        root = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        raise ValueError("cov is singular, so that multivariate_normal has no density") from None
    deviations = np.moveaxis(x - mean, -1, -2)[..., None]  # (..., draws, size, 1)
    if root.shape[-3] == 1:  # one matrix for all draws: one system of equations
        columns = np.moveaxis(deviations[..., 0], -1, -2)
        z = np.linalg.solve(root[..., 0, :, :], columns)
        squares = (z * z).sum(axis=-2)
    else:
        z = np.linalg.solve(root, deviations)[..., 0]
        squares = (z * z).sum(axis=-1)
    log_volume = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
    return -0.5 * squares - log_volume - size * LOG_ROOT_TWO_PI


VECTOR: dict[str, LogDensity] = {
    "multinomial": _multinomial,
    "dirichlet": _dirichlet,
    "permutation": _permutation,
    "multivariate_normal": _multivariate_normal,
}
