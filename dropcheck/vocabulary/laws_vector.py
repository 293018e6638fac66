"""The distributions whose values are vectors: each adds a last axis of its own."""

# ruff: noqa: ARG005 - each function of a law is given all of its parameters

from __future__ import annotations

import math
from typing import Any

from dropcheck.vocabulary.entries import Domain, Law, LawParameter, Shape, ShapeError
from dropcheck.vocabulary.law_parts import (
    COUNT,
    FINITE,
    POSITIVE,
    PROBABILITY,
    Matrix,
    Numbers,
    law,
    plain,
    unit_interval,
    whole_line,
)
from dropcheck.vocabulary.laws_discrete import probabilities_problem

# how far a covariance matrix may be from symmetric and from positive semi-definite, as a share
# of its largest variance: rounding of products of float64 matrices stays well below it
COVARIANCE_TOLERANCE = 1e-9
# a larger matrix takes seconds to factor in plain Python; numpy checks it before the first draw
LARGEST_PLAIN_MATRIX = 64


def covariance_problem(mean: Numbers, cov: Matrix) -> str | None:
    """What keeps a matrix from being the covariance of as many variables as `mean` has.

    >>> covariance_problem((0.0, 0.0), ((1.0, 2.0), (2.0, 1.0)))
    'cov must be positive semi-definite, and is not'
    """
    size = len(mean)
    if any(len(row) != size for row in cov) or len(cov) != size:
        columns = len(cov[0]) if cov else 0
        return (
            f"cov must be a {size} by {size} matrix, as mean has {size}, "
            f"and is {len(cov)} by {columns}"
        )
    slack = COVARIANCE_TOLERANCE * max((abs(cov[i][i]) for i in range(size)), default=0.0)
    for i in range(size):
        for j in range(i):
            if not abs(cov[i][j] - cov[j][i]) <= slack:
                return (
                    f"cov must be symmetric, and holds {plain(cov[i][j])} at [{i}, {j}] "
                    f"but {plain(cov[j][i])} at [{j}, {i}]"
                )
    if size <= LARGEST_PLAIN_MATRIX and not _semi_definite(cov, slack):
        return "cov must be positive semi-definite, and is not"
    return None


def _semi_definite(matrix: Matrix, slack: float) -> bool:
    """Cholesky's elimination with the largest pivot first (Higham 2002, section 10.3)."""
    rest = [list(row) for row in matrix]
    left = list(range(len(rest)))
    while left:
        pivot = max(left, key=lambda i: rest[i][i])
        if rest[pivot][pivot] <= slack:
            return all(abs(rest[i][j]) <= slack for i in left for j in left)
        left.remove(pivot)
        row = rest[pivot]
        for i in left:
            share = row[i] / row[pivot]
            target = rest[i]
            for j in left:
                target[j] -= share * row[j]
    return True


def _list_axis(law_name: str, name: str, shape: Shape) -> Shape:
    if not shape:
        raise ShapeError(f"'{law_name}' needs a list for {name}, and is given a number")
    if shape[-1] == 0:
        raise ShapeError(f"'{law_name}' needs a list for {name} that is not empty")
    return shape[-1:]


def _dirichlet_axes(shapes: tuple[Shape, ...], _: tuple[Any, ...]) -> Shape:
    return _list_axis("dirichlet", "a", shapes[0])


def _multinomial_axes(shapes: tuple[Shape, ...], _: tuple[Any, ...]) -> Shape:
    return _list_axis("multinomial", "p", shapes[1])


def _permutation_axes(shapes: tuple[Shape, ...], values: tuple[Any, ...]) -> Shape:
    n = values[0]
    if shapes[0] != () or n is None:
        raise ShapeError("'permutation' needs one fixed number for n: its values have n elements")
    if not 1 <= n < math.inf:  # a division by zero in it, which is told where it stands
        raise ShapeError(f"'permutation' needs a whole number of at least 1 for n, and has {n:g}")
    return (int(n),)


def _normal_axes(shapes: tuple[Shape, ...], _: tuple[Any, ...]) -> Shape:
    axis = _list_axis("multivariate_normal", "mean", shapes[0])
    if shapes[1][-2:] != axis * 2:
        raise ShapeError(
            f"'multivariate_normal' needs a {axis[0]} by {axis[0]} matrix for cov, as mean has "
            f"{axis[0]}, and is given shape {list(shapes[1])}"
        )
    return axis


def _multinomial_constant(n: float, p: Numbers) -> float | None:
    return float(n) if n == 0 or len(p) == 1 else None


def _normal_constant(mean: Numbers, cov: Matrix) -> float | None:
    still = all(entry == 0 for row in cov for entry in row)
    return float(mean[0]) if still and min(mean) == max(mean) else None


VECTOR: tuple[Law, ...] = (
    law(
        "multinomial",
        "how often each outcome comes up among n trials of probabilities p",
        LawParameter("n", COUNT),
        LawParameter("p", PROBABILITY, axes=1),
        hull=lambda n, p: (0.0, float(n)),
        discrete=True,
        constant=_multinomial_constant,
        joint=lambda n, p: probabilities_problem(p),
        own_axes=_multinomial_axes,
    ),
    law(
        "dirichlet",
        "shares that sum to 1, in the mean in proportion to a; every a > 0",
        LawParameter("a", POSITIVE, axes=1),
        hull=unit_interval,
        constant=lambda a: 1.0 if len(a) == 1 else None,
        own_axes=_dirichlet_axes,
    ),
    law(
        "permutation",
        "the numbers 0 to n - 1 in an order picked at random; n >= 1",
        LawParameter("n", Domain(1.0, 1e9, low_open=False, high_open=False, whole=True)),
        hull=lambda n: (0.0, n - 1.0),
        discrete=True,
        constant=lambda n: 0.0 if n == 1 else None,
        own_axes=_permutation_axes,
    ),
    law(
        "multivariate_normal",
        "jointly normal variables; cov may be singular",
        LawParameter("mean", FINITE, axes=1),
        LawParameter("cov", FINITE, axes=2),
        hull=whole_line,
        constant=_normal_constant,
        joint=covariance_problem,
        own_axes=_normal_axes,
    ),
)
