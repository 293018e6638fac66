"""Products, decompositions and inverses of the matrices of each draw.

If a matrix is singular, not positive definite or not finite, the result of its draw is NaN; other
draws are not affected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dropcheck.vocabulary.function import (
    OVER,
    PAIR,
    PRODUCT_SHARE,
    Array,
    Kernel,
    blocked_share,
    decomposition,
    matrix,
    of_arrays,
    values,
)
from dropcheck.vocabulary.functions.reductions import SUM
from dropcheck.vocabulary.shapes import (
    Options,
    Shape,
    ShapeError,
    broadcast,
    describe,
    flag,
    need,
    normalise_axes,
)

# Products of matrices with at most this many entries are made by einsum, along the axis of draws;
# for larger ones, one BLAS product per draw is faster (measured from 3×8 @ 8×3 to 64×64 @ 64×4).
_SMALL = 128


def _matmul(a: Array, b: Array) -> Array:
    """`a @ b` of each draw: a vector is a row on the left and a column on the right.

    Shapes: a (…, m, k, N or 1) or (k, …), b (…, k, p, N or 1) or (k, …), for N draws. A fixed
    matrix times random vectors is one BLAS product for all draws.
    """
    left, right = a.ndim - 1, b.ndim - 1
    if left == right == 1 and a.shape[-1] != 1 and b.shape[-1] != 1:
        result: Array = np.einsum("kn,kn->n", a, b)
    elif left == 1:
        result = np.squeeze(_matmul(a[None], b), axis=-2 if right == 1 else -3)
    elif right == 1:
        result = np.squeeze(_matmul(a, b[:, None]), axis=-2)
    elif left == right == 2 and a.shape[-1] == 1:
        columns = np.matmul(a[:, :, 0], b.reshape(b.shape[0], -1))
        result = columns.reshape(a.shape[0], *b.shape[1:])
    elif left == right == 2 and b.shape[-1] == 1:
        result = np.matmul(b[:, :, 0].T, a)
    else:
        result = _matmul_each(a, b)
    return result


def _matmul_each(a: Array, b: Array) -> Array:
    """The product if both matrices differ from draw to draw, or one draw has several of them."""
    rows, columns = a.shape[-3], b.shape[-2]
    if min(rows, columns) <= 4 or rows * columns <= _SMALL:
        result: Array = np.einsum("...ikn,...kjn->...ijn", a, b)
    else:
        rank = max(a.ndim, b.ndim) - 1
        result = np.moveaxis(np.matmul(_front(a, rank), _front(b, rank)), 0, -1)
    return result


def _front(x: Array, rank: int) -> Array:
    """The array with the draws first, then axes of length 1 up to the rank, then its other axes."""
    padded = x.reshape((1,) * (rank - x.ndim + 1) + x.shape)
    return np.moveaxis(padded, -1, 0)


def _bad(matrices: Array) -> Array | None:
    """Which matrices [draws, …] contain a NaN or an infinity; None if none does."""
    if np.isfinite(matrices.sum()):
        return None
    bad = ~np.asarray(np.isfinite(matrices).all(axis=(-2, -1)))
    return bad if bad.any() else None


def _guarded(function: Callable[[Array], Array], matrices: Array, singular: bool = False) -> Array:
    """The function of every matrix; NaN for matrices on which it fails.

    LAPACK fails on a whole batch for one bad matrix, so that bad matrices are first replaced by
    identity matrices. `singular`: an exactly singular matrix is bad, too.
    """
    bad = _bad(matrices)
    if bad is not None:
        matrices = _replaced(matrices, bad)
    try:
        result = function(matrices)
    except np.linalg.LinAlgError:
        if not singular:
            raise
        # a determinant of 0 means a pivot of 0, which is what made the function fail
        flat = np.linalg.slogdet(matrices)[0] == 0
        bad = flat if bad is None else bad | flat
        result = function(_replaced(matrices, bad))
    if bad is not None:
        result[bad] = np.nan
    return result


def _replaced(matrices: Array, bad: Array) -> Array:
    good = matrices.copy()
    good[bad] = np.eye(*matrices.shape[-2:])
    return good


def _of_each(
    function: Callable[[Array], Array], singular: bool = False, square: bool = True
) -> Kernel:
    """The kernel for a function of matrices [draws, …, rows, columns]."""

    def kernel(x: Array) -> Array:
        matrices = _front(matrix(x, square=square), 0)
        return np.moveaxis(_guarded(function, matrices, singular), 0, -1)

    return kernel


def _trace(x: Array) -> Array:
    traces: Array = np.einsum("...iin->...n", matrix(x, square=True))
    return traces


def _solve(a: Array, b: Array) -> Array:
    """The x with a @ x == b; NaN where a is singular.

    A vector b is one right-hand side; a matrix has one in each column.
    """
    if b.ndim == 2:
        return np.squeeze(_solve(a, b[:, None]), axis=-2)
    if a.ndim == 3 and b.ndim == 3 and a.shape[-1] == 1:
        # one matrix for all draws: all right-hand sides are columns of one system
        columns = b.reshape(b.shape[0], -1)
        fixed = _guarded(lambda m: np.linalg.solve(m, columns[None]), _front(a, 0), singular=True)
        result: Array = fixed[0].reshape(b.shape)
        return result
    rank = max(a.ndim, b.ndim) - 1
    left, right = _front(a, rank), _front(b, rank)
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left = np.broadcast_to(left, batch + left.shape[-2:])
    solved = _guarded(lambda m: np.linalg.solve(m, right), left, singular=True)
    return np.moveaxis(solved, 0, -1)


def _qr_q(matrices: Array) -> Array:
    """The Q of QR whose R has a positive diagonal: unique, and uniform (Haar) for Gaussian input.

    Source: Mezzadri, How to generate random matrices from the classical compact groups (2007).
    """
    q, r = np.linalg.qr(matrices)
    signs = np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    return np.asarray(np.multiply(q, signs[..., None, :]))


def _eigenvectors(matrices: Array) -> Array:
    """Unit eigenvectors as columns, by ascending eigenvalue; only the lower triangle is read.

    The sign of an eigenvector is arbitrary: here its element of largest size is positive.
    """
    vectors = np.linalg.eigh(matrices)[1]
    largest = np.abs(vectors).argmax(axis=-2, keepdims=True)
    signs = np.where(np.take_along_axis(vectors, largest, axis=-2) < 0, -1.0, 1.0)
    return np.asarray(vectors * signs)


def _cholesky(matrices: Array) -> Array:
    """The lower triangular L with L @ L.T == x; NaN where x is not positive definite.

    Only the lower triangle is read.
    """
    try:
        return np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:  # for one of them: one by one
        result = np.full(matrices.shape, np.nan)
        for at in np.ndindex(matrices.shape[:-2]):
            with suppress(np.linalg.LinAlgError):
                result[at] = np.linalg.cholesky(matrices[at])
        return result


def _dot(a: Array, b: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """The sum of products along axes."""
    keep = flag(keepdims, "keepdims")
    if axis in (None, -1) and not keep:
        result: Array = np.einsum("...kn,...kn->...n", a, b)
        return result
    return SUM.kernel(a * b, axis=axis, keepdims=keep)


# ---- shapes -------------------------------------------------------------------------------------


def _dot_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """The shape of a sum of products; both arguments have the same length along the axis."""
    a, b = shapes
    common = broadcast(shapes)
    for at in normalise_axes(options.get("axis", -1), common) if common else ():
        from_right = len(common) - at
        lengths = [shape[-from_right] for shape in shapes if len(shape) >= from_right]
        if len(lengths) < 2 or lengths[0] != lengths[1]:
            raise ShapeError(f"the elements of {describe(a)} and {describe(b)} do not pair")
    return SUM.shape((common,), options)


def _outer(a: Array, b: Array) -> Array:
    if 1 in (a.ndim, b.ndim):
        raise need("a vector", ())
    broadcast([a.shape[:-2], b.shape[:-2]])
    return a[..., :, None, :] * b[..., None, :, :]


def _solve_shape(shapes: tuple[Shape, ...], _options: Options) -> Shape:
    """The shape of `solve(A, b)`: a vector b is one right-hand side, a matrix has one a column."""
    a, b = shapes
    matrix(np.empty((*a, 0)), square=True)
    if not b or (b[0] if len(b) == 1 else b[-2]) != a[-1]:
        raise ShapeError(f"the right-hand side {describe(b)} does not fit a matrix {describe(a)}")
    return a[:-1] if len(b) == 1 else broadcast([a[:-2], b[:-2]]) + b[-2:]


# ---- the entries --------------------------------------------------------------------------------


def _product_cost(shape: Shape, inputs: Sequence[Shape]) -> float:
    inner = (inputs[0] or (1,))[-1]
    sides = (inner, *(side[-2] if len(side) > 1 else 1 for side in (inputs[0], shape)))
    read = float(sum(map(math.prod, inputs)))
    return float(math.prod(shape)) * inner * blocked_share(min(sides), PRODUCT_SHARE) + read


MATMUL = of_arrays(
    "matmul", _matmul, "product of matrices",
    parameters=PAIR, cost=_product_cost,
    written="a @ b", aliases=("bmm", "mm"), does="multiplies",
)  # fmt: skip
TRANSPOSE = of_arrays(
    ".T", lambda x: np.swapaxes(x, -3, -2), "the last two axes change places",
    does="views",
    written="A.T", aliases=("swapaxes", "matrix_transpose"),
)  # fmt: skip

SIGNS = (MATMUL, TRANSPOSE)

_MATRIX: dict[str, Any] = {"cost": decomposition}

DOT = of_arrays("dot", _dot, "sum of products",
                parameters=(*PAIR, *OVER), shape_rule=_dot_shape, does="multiplies")  # fmt: skip

ARRAYS = (
    DOT,
    of_arrays("outer", _outer, "all products of two vectors", parameters=PAIR, does="multiplies"),
    of_arrays("trace", _trace, "sum of the diagonal", aliases=("tr",)),
    of_arrays("det", _of_each(np.linalg.det), "determinant", **_MATRIX),
    of_arrays("inv", _of_each(np.linalg.inv, singular=True), "inverse matrix", **_MATRIX,
              aliases=("inverse",)),
    of_arrays("solve", _solve, "the x with A @ x == b", parameters=values("A b"),
              shape_rule=_solve_shape, **_MATRIX),
    of_arrays("qr_q", _of_each(_qr_q, square=False),
              "Q of the QR decomposition whose R has a positive diagonal", **_MATRIX),
    of_arrays("cholesky", _of_each(_cholesky),
              "the lower triangular L with L @ L.T == x, of a positive definite x", **_MATRIX),
    of_arrays("eigvalsh", _of_each(np.linalg.eigvalsh),  # its lower triangle is read
              "eigenvalues of a symmetric matrix, ascending", aliases=("eigvals",), **_MATRIX),
    of_arrays("eigvecsh", _of_each(_eigenvectors),
              "unit eigenvectors of a symmetric matrix as columns, in the order of eigvalsh; the "
              "largest element of each is positive", **_MATRIX),
    of_arrays("svdvals", _of_each(lambda m: np.linalg.svd(m, compute_uv=False), square=False),
              "singular values, descending", aliases=("singular_values",), **_MATRIX),
    of_arrays("pinv", _of_each(np.linalg.pinv, square=False), "pseudo-inverse (Moore-Penrose)",
              **_MATRIX),
)  # fmt: skip
