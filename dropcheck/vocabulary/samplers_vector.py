"""Draws of the laws whose values are vectors; their own axis stands before that of draws."""

from __future__ import annotations

import numpy as np

from dropcheck.vocabulary.sampler_parts import (
    Arguments,
    Array,
    Sampler,
    Size,
    inside,
    whole,
)
from dropcheck.vocabulary.samplers_continuous import log_gammas


def _multinomial(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    n, p = arguments
    shares = np.moveaxis(p, -2, -1)
    shares = shares / shares.sum(axis=-1, keepdims=True)
    counts = generator.multinomial(whole(n), shares, (*size[:-2], size[-1]))
    return np.ascontiguousarray(np.moveaxis(counts, -1, -2), dtype=np.float64)


def _dirichlet(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    """Gamma variables over their sum; in logarithms, as small shapes underflow."""
    (a,) = arguments
    if size[-2] == 1:
        return np.ones(size)
    if a.min() >= 1.0:
        out = generator.standard_gamma(np.broadcast_to(a, size), size)
    else:
        out = log_gammas(generator, np.broadcast_to(a, size), size)
        out -= out.max(axis=-2, keepdims=True)
        np.exp(out, out=out)
    out /= out.sum(axis=-2, keepdims=True)
    return inside(out, 0.0, 1.0)


def _permutation(generator: np.random.Generator, _: Arguments, size: Size) -> Array:
    n = size[-2]
    ordered = np.broadcast_to(np.arange(n, dtype=np.float64), (*size[:-2], size[-1], n))
    shuffled = generator.permuted(ordered, axis=-1)
    return np.ascontiguousarray(np.moveaxis(shuffled, -1, -2))


def _multivariate_normal(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    mean, cov = arguments
    out = np.empty(size)
    generator.standard_normal(out=out)
    root = square_root(np.moveaxis(cov, -1, -3))
    if root.shape[-3] == 1:  # one matrix for all draws: one product
        out = root[..., 0, :, :] @ out
    else:
        out = np.einsum("...nij,...jn->...in", root, out)
    out += mean
    return out


def square_root(cov: Array) -> Array:
    """A matrix R with R @ R.T == cov, of each on the last two axes; a singular one serves too."""
    symmetric = (cov + np.swapaxes(cov, -1, -2)) / 2.0
    try:
        return np.linalg.cholesky(symmetric)
    except np.linalg.LinAlgError:  # singular somewhere
        values, vectors = np.linalg.eigh(symmetric)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])


VECTOR: dict[str, Sampler] = {
    "multinomial": _multinomial,
    "dirichlet": _dirichlet,
    "permutation": _permutation,
    "multivariate_normal": _multivariate_normal,
}
