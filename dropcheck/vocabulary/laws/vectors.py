"""The laws of vectors; the axis of the elements lies just before the axis of draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.domains import COUNT, FINITE, POSITIVE, Domain, LawParameter, plain
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import (
    Generator,
    Law,
    Size,
    Values,
    Vector,
    limits,
    log_gammas,
    moved_between,
    plain_argument,
)
from dropcheck.vocabulary.laws.continuous import BETA, LOG_ROOT_TWO_PI, NORMAL
from dropcheck.vocabulary.laws.discrete import BERNOULLI, BINOMIAL, DISCRETE_UNIFORM, OUTCOMES
from dropcheck.vocabulary.shapes import Shape, ShapeError

# how far the sum of a Dirichlet vector may be from 1
SHARE_SUM_TOLERANCE = 1e-9
# how far a covariance matrix may be from symmetric and from positive semi-definite, as a share
# of its largest variance: rounding of products of float64 matrices stays well below it
COVARIANCE_TOLERANCE = 1e-9


def _multinomial_draws(generator: Generator, size: Size, n: Array, p: Array) -> Array:
    shares = np.moveaxis(p, -2, -1)
    shares = shares / shares.sum(axis=-1, keepdims=True)
    counts = generator.multinomial(plain_argument(n, whole=True), shares, (*size[:-2], size[-1]))
    return np.ascontiguousarray(np.moveaxis(counts, -1, -2), dtype=np.float64)


def _multinomial_log_mass(x: Array, n: Array, p: Array) -> Any:
    possible = ((x >= 0) & (x == np.floor(x))).all(axis=-2) & (x.sum(axis=-2) == n)
    terms = special.xlogy(x, p) - special.gammaln(x + 1.0)
    return np.where(possible, special.gammaln(n + 1.0) + terms.sum(axis=-2), -np.inf)


MULTINOMIAL = Law(
    names=("multinomial",),
    summary="how often each outcome comes up among n trials of probabilities p",
    parameters=(LawParameter("n", COUNT), OUTCOMES),
    values=Values.WHOLE,
    ends=lambda n, p: (0.0, n),
    sampler=_multinomial_draws,
    log_density_inside=_multinomial_log_mass,
    chances=Vector(
        axes=lambda shapes, values: shapes[1][-1:],
        elements=lambda n, p: (BINOMIAL, n[..., None], p / p.sum(axis=-1, keepdims=True)),
    ),
)


def _dirichlet_draws(generator: Generator, size: Size, a: Array) -> Array:
    """Gamma variables divided by their sum; for small shapes, which underflow, by logarithms."""
    if size[-2] == 1:
        return np.ones(size)
    if a.min() >= 1.0:
        out = generator.standard_gamma(np.broadcast_to(a, size), size)
    else:
        out = log_gammas(generator, size, np.broadcast_to(a, size))
        out -= out.max(axis=-2, keepdims=True)
        np.exp(out, out=out)
    out /= out.sum(axis=-2, keepdims=True)
    return moved_between(out, *limits(0.0, 1.0))


def _dirichlet_log_density(x: Array, a: Array) -> Any:
    """The log density of the first k - 1 shares; the last share follows from them."""
    if max(a.shape[-2], x.shape[-2]) == 1:
        raise ValueError("a dirichlet of one share is a constant, and has no density")
    shares = (x >= 0).all(axis=-2) & (np.abs(x.sum(axis=-2) - 1.0) <= SHARE_SUM_TOLERANCE)
    constant = special.gammaln(a.sum(axis=-2)) - special.gammaln(a).sum(axis=-2)
    return np.where(shares, constant + special.xlogy(a - 1.0, x).sum(axis=-2), -np.inf)


def _others(a: Array) -> Any:
    """For each entry of a list the sum of all others, from sums of both sides: nothing cancels."""
    before = np.concatenate(
        [np.zeros((*a.shape[:-1], 1)), np.cumsum(a, axis=-1)[..., :-1]], axis=-1
    )
    backwards = np.cumsum(a[..., ::-1], axis=-1)[..., ::-1]
    after = np.concatenate([backwards[..., 1:], np.zeros((*a.shape[:-1], 1))], axis=-1)
    return before + after


DIRICHLET = Law(
    names=("dirichlet",),
    summary="shares that sum to 1, in the mean in proportion to a; every a > 0",
    parameters=(LawParameter("a", POSITIVE, axes=1),),
    ends=(0.0, 1.0),
    sampler=_dirichlet_draws,
    log_density_inside=_dirichlet_log_density,
    chances=Vector(
        axes=lambda shapes, values: shapes[0][-1:],
        # a share of all is 1
        elements=lambda a: (
            (BETA, a, _others(a)) if a.shape[-1] > 1 else (BERNOULLI, np.ones_like(a))
        ),
    ),
)


def _permutation_axes(shapes: tuple[Shape, ...], values: tuple[Any, ...]) -> Shape:
    n = values[0]
    if shapes[0] != () or n is None:
        raise ShapeError("'permutation' needs one fixed number for n: its values have n elements")
    if not 1 <= n < math.inf:  # a division by zero in it, which is an error of its own
        raise ShapeError(f"'permutation' needs a whole number of at least 1 for n, and has {n:g}")
    return (int(n),)


def _permutation_draws(generator: Generator, size: Size, n: Array) -> Array:
    places = np.arange(size[-2], dtype=np.float64)
    ordered = np.broadcast_to(places, (*size[:-2], size[-1], size[-2]))
    return np.ascontiguousarray(np.moveaxis(generator.permuted(ordered, axis=-1), -1, -2))


def _permutation_log_mass(x: Array, n: Array) -> Any:
    size = x.shape[-2]
    ordered = np.arange(size, dtype=np.float64)[:, None]
    complete = (np.sort(x, axis=-2) == ordered).all(axis=-2) & (n == size)
    return np.where(complete, -math.lgamma(size + 1.0), -np.inf)


PERMUTATION = Law(
    names=("permutation", "randperm"),
    summary="the numbers 0 to n - 1 in an order picked at random; n >= 1",
    parameters=(LawParameter("n", Domain(1.0, 1e9, low_open=False, high_open=False, whole=True)),),
    values=Values.WHOLE,
    ends=lambda n: (0.0, n - 1.0),
    sampler=_permutation_draws,
    log_density_inside=_permutation_log_mass,
    chances=Vector(
        axes=_permutation_axes,
        elements=lambda n: (DISCRETE_UNIFORM, 0.0, n[..., None] - 1.0),
    ),
)


def _normal_axes(shapes: tuple[Shape, ...], values: tuple[Any, ...]) -> Shape:
    axis = shapes[0][-1:]
    if shapes[1][-2:] != axis * 2:
        needed = f"a {axis[0]} by {axis[0]} matrix for cov, as mean has {axis[0]}"
        is_given = f"is given shape {list(shapes[1])}"
        raise ShapeError(f"it needs {needed}, and {is_given}")
    return axis


def _covariance_problem(mean: Array, cov: Array) -> str | None:
    """A sentence if matrices of the right shape are no covariance matrices, else None."""
    matrices = np.moveaxis(cov, -1, -3)
    slack = COVARIANCE_TOLERANCE * np.abs(np.diagonal(matrices, axis1=-2, axis2=-1)).max(axis=-1)
    mirrored = np.swapaxes(matrices, -1, -2)
    unlike = np.argwhere(np.abs(np.tril(matrices - mirrored)) > slack[..., None, None])
    if unlike.size:
        *batch, i, j = unlike[0].tolist()
        one = matrices[tuple(batch)]
        return (
            f"cov must be symmetric, and holds {plain(one[i, j])} at [{i}, {j}] "
            f"but {plain(one[j, i])} at [{j}, {i}]"
        )
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:  # singular, or not positive semi-definite: eigenvalues tell
        smallest = np.linalg.eigvalsh(matrices)[..., 0]
        # rounding grows with the order of the matrix
        wrong = smallest < -slack * math.sqrt(matrices.shape[-1])
        if wrong.any():
            value = plain(smallest[wrong][0])
            return f"cov must be positive semi-definite, and has the eigenvalue {value}"
    return None


def _normal_draws(generator: Generator, size: Size, mean: Array, cov: Array) -> Array:
    out = generator.standard_normal(size)
    root = square_root(np.moveaxis(cov, -1, -3))
    if root.shape[-3] == 1:  # one matrix for all draws: one product
        out = root[..., 0, :, :] @ out
    else:
        out = np.einsum("...nij,...jn->...in", root, out)
    out += mean
    return out


def square_root(cov: Array) -> Array:
    """A matrix R with R @ R.T == cov for each matrix on the last two axes; cov may be singular."""
    symmetric = (cov + np.swapaxes(cov, -1, -2)) / 2.0
    try:
        return np.linalg.cholesky(symmetric)
    except np.linalg.LinAlgError:  # one of them is singular
        values, vectors = np.linalg.eigh(symmetric)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])


def _normal_log_density(x: Array, mean: Array, cov: Array) -> Any:
    size = mean.shape[-2]
    matrices = np.moveaxis(cov, -1, -3)
    try:
        root = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        raise ValueError("cov is singular, so that multivariate_normal has no density") from None
    if root.shape[-3] == 1:  # one matrix for all draws: one system of equations
        z = np.linalg.solve(root[..., 0, :, :], x - mean)
        squares = (z * z).sum(axis=-2)
    else:
        z = np.linalg.solve(root, np.moveaxis(x - mean, -1, -2)[..., None])[..., 0]
        squares = (z * z).sum(axis=-1)
    log_volume = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
    return -0.5 * squares - log_volume - size * LOG_ROOT_TWO_PI


MULTIVARIATE_NORMAL = Law(
    names=("multivariate_normal", "multinormal", "mvn", "mvnormal"),
    summary="jointly normal variables; cov may be singular",
    parameters=(
        LawParameter("mean", FINITE, axes=1),
        LawParameter("cov", FINITE, axes=2, conditions=(_covariance_problem,)),
    ),
    ends=(-math.inf, math.inf),
    sampler=_normal_draws,
    log_density_inside=_normal_log_density,
    chances=Vector(
        axes=_normal_axes,
        elements=lambda mean, cov: (
            NORMAL,
            mean,
            np.sqrt(np.maximum(np.diagonal(cov, axis1=-2, axis2=-1), 0.0)),
        ),
    ),
)
