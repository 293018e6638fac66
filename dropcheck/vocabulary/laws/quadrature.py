"""Moments of a law by quadrature, where every formula for them loses digits by cancellation.

The Gauss-Legendre rule of 16 points, on pieces of the line on which the density is smooth and falls
by less than a factor of exp(20), is right to about 1e-14 (Davis and Rabinowitz 1984, section 2.7).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate, islice, repeat
from typing import Any

import numpy as np

from dropcheck.vocabulary.distributions.moment_lists import (
    HIGHEST_ORDER,
    MomentList,
    norm_by_whole_orders,
)
from dropcheck.vocabulary.function import Array

_POINTS = 16


@cache
def gauss_legendre(points: int = _POINTS) -> tuple[Array, Array]:
    """Points and weights of the Gauss-Legendre rule on [0, 1]."""
    places, weights = np.polynomial.legendre.leggauss(points)
    return (places + 1.0) / 2.0, weights / 2.0


def pieces(edges: Array, points: int = _POINTS) -> tuple[Array, Array]:
    """Points and weights of the rule on each piece between edges, which rise on the last axis."""
    places, weights = gauss_legendre(points)
    width = np.diff(edges)[..., None]
    shape = (*edges.shape[:-1], -1)
    inside = edges[..., :-1, None] + width * places
    return inside.reshape(shape), (width * weights).reshape(shape)


def weighted_moments(values: Array, weights: Array) -> tuple[Any, MomentList]:
    """The mean and central moments of values on the last axis; their weights may have any sum."""
    shares = weights / weights.sum(axis=-1, keepdims=True)
    mean = (shares * values).sum(axis=-1)
    deviations = values - mean[..., None]
    products = accumulate(repeat(deviations, HIGHEST_ORDER), operator.mul, initial=shares)
    return mean, [1.0, 0.0, *(one.sum(axis=-1) for one in islice(products, 2, None))]


def weighted_norm(p: float, values: Array, weights: Array) -> Any:
    """(E|x|^p)^(1/p) of values on the last axis; their weights may have any sum."""
    sizes = np.abs(values)
    largest = sizes.max(axis=-1, keepdims=True)
    scale = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    shares = weights / weights.sum(axis=-1, keepdims=True)
    return scale[..., 0] * (shares * (sizes / scale) ** p).sum(axis=-1) ** (1.0 / p)


def quadrature_norm(p: float, values: Array, weights: Array) -> Any:
    """(E|x|^p)^(1/p) by quadrature, where 0 lies between two pieces or outside all.

    Exact for whole p. For others, whose |x|^p is not smooth at 0, a bound.
    """
    return norm_by_whole_orders(p, lambda k: k * np.log(weighted_norm(k, values, weights)))


def by_points(points: Callable[..., tuple[Array, Array, Array]]) -> dict[str, Any]:
    """Mean, central moments and norms of a standard law by quadrature, as fields of `Standard`.

    Args:
        points: takes the shapes; returns a place, the distances of the points from it on a last
            axis, and their weights.
    """

    def moments(*shapes: Array) -> MomentList:
        place, distances, weights = points(*shapes)
        mean, central = weighted_moments(distances, weights)
        return [1.0, place + mean, *central[2:]]

    def norm(p: float, *shapes: Array) -> Any:
        place, distances, weights = points(*shapes)
        return quadrature_norm(p, place[..., None] + distances, weights)

    return {
        "mean": lambda *shapes: in_chunks(moments, *shapes)[1],
        "central": lambda *shapes: in_chunks(moments, *shapes),
        "norm": lambda p, *shapes: in_chunks(lambda *each: [norm(p, *each)], *shapes)[0],
    }


_CHUNK = 1000  # elements; times a few hundred points, they take a few megabytes


def in_chunks(function: Callable[..., Sequence[Any]], *arrays: Any) -> list[Array]:
    """The results of a function of arrays that broadcast, computed for some elements at a time."""
    given = np.broadcast_arrays(*(np.asarray(one, dtype=np.float64) for one in arrays))
    flat = [one.ravel() for one in given]
    parts = [
        [
            np.broadcast_to(one, flat[0][start : start + _CHUNK].shape)
            for one in function(*(array[start : start + _CHUNK] for array in flat))
        ]
        for start in range(0, max(flat[0].size, 1), _CHUNK)
    ]
    return [np.concatenate(row).reshape(given[0].shape) for row in zip(*parts, strict=True)]
