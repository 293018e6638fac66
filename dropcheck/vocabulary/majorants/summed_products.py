"""The rules of sums of products of elements of two arguments: of matrices, and of vectors."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dropcheck.vocabulary.hulls import EVERYWHERE, Hull
from dropcheck.vocabulary.majorants.bounds_arithmetic import (
    INF,
    centring,
    raised,
    size,
    times,
)
from dropcheck.vocabulary.majorants.powers import log_moment_of_product
from dropcheck.vocabulary.majorants.rule import Applied, Argument, Majorant
from dropcheck.vocabulary.majorants.sums import (
    HIGHEST,
    NormBound,
    as_normal,
    drifting,
    inverse_of_sum,
    turning,
    weighted,
)
from dropcheck.vocabulary.shapes import broadcast, normalise_axes

# The most fixed weights that are used one by one.
_MANY_WEIGHTS = 256


class SumOfProducts(Majorant):
    """The rules of sums of products of elements of two arguments.

    `inner` gives the number of terms, and the axis of each argument that is summed over; -1 stands
    for several axes.
    """

    def __init__(self, inner: Callable[[Applied], tuple[int, tuple[int, int]]]) -> None:
        self._inner = inner

    def norm(self, use: Applied, p: float) -> float:
        """The number n of terms times the norm of a product; about √n if a factor has the mean 0.

        The factor √n needs arguments that are independent of each other.
        """
        a, b = use.arguments
        count, (left, right) = self._inner(use)
        if not use.independent:
            return times(count, a.norm(2 * p), b.norm(2 * p))
        weighted_by_normal = min(
            _of_signed(a, left, b, right, count, p), _of_signed(b, right, a, left, count, p)
        )
        if a.fixed is not None or b.fixed is not None:
            x, weights, along, axis = (
                (b, a, right, left) if b.fixed is None else (a, b, left, right)
            )
            bound = _of_fixed(weights, axis, count, along in x.centred, x.norm, p)
            return min(bound, weighted_by_normal)
        each = _both(a.norm, b.norm)
        centred = left in a.centred or right in b.centred
        bound = drifting(count, each, p) if centred else times(count, each(p))
        return min(bound, weighted_by_normal)

    def spread(self, use: Applied, p: float) -> float:
        """By a b - E a E b = a (b - E b) + (a - E a) E b, with a bound for the sum of each part."""
        a, b = use.arguments
        count, (left, right) = self._inner(use)
        if not use.independent:
            return INF
        if a.fixed is not None or b.fixed is not None:
            x, weights, along, axis = (
                (b, a, right, left) if b.fixed is None else (a, b, left, right)
            )
            return _of_fixed(weights, axis, count, along in x.apart | x.centred, x.spread, p)
        apart = (left in a.apart | a.centred, right in b.apart | b.centred)
        bound = INF
        for (x, x_apart), (y, y_apart) in (
            ((a, apart[0]), (b, apart[1])), ((b, apart[1]), (a, apart[0]))
        ):  # fmt: skip
            first, second = _both(x.norm, y.spread), x.spread
            moved = drifting(count, first, p) if y_apart else times(count, first(p))
            rest = drifting(count, second, p) if x_apart else times(count, second(p))
            bound = min(bound, moved + times(size(y.mean), rest))
        return bound

    def mean(self, use: Applied) -> Hull:
        """For independent arguments, the number of terms times a product of means."""
        a, b = use.arguments
        if not use.independent:
            return EVERYWHERE
        return a.mean.times(b.mean).scaled(self._inner(use)[0])

    def log_moment(self, use: Applied, t: float) -> float:
        """The sum for independent products; for n others at most that of n times one (Hölder)."""
        a, b = use.arguments
        count, (left, right) = self._inner(use)
        if not count:
            return 0.0
        if use.same and len(a.shape) != 1:
            return INF  # the terms are not squares
        for x, along, weights, axis in ((a, left, b, right), (b, right, a, left)):
            if weights.fixed is not None and along in x.apart and axis >= 0:
                factors = np.moveaxis(np.asarray(weights.fixed, dtype=np.float64)[..., 0], axis, -1)
                if factors.size <= _MANY_WEIGHTS:
                    rows = factors.reshape(-1, count)
                    return max(sum(x.log_moment(t * one) for one in row) for row in rows.tolist())
                if x.variance_proxy < INF and x.mean.bounded:
                    means = np.maximum(t * factors * x.mean.low, t * factors * x.mean.high)
                    apart = means + t * t / 2 * x.variance_proxy * np.square(factors)
                    return float(apart.sum(axis=-1).max())
        if left in a.apart and right in b.apart:
            return count * log_moment_of_product(use, t)
        return log_moment_of_product(use, count * t)

    def inverse(self, use: Applied, r: float) -> float:
        """For a vector with itself, as a sum of squares."""
        a = use.arguments[0]
        if not use.same or len(a.shape) != 1:
            return INF
        return inverse_of_sum(use, r, 2.0)


def _of_signed(x: Argument, along: int, other: Argument, axis: int, count: int, p: float) -> float:
    """The norm of Σ x_i b_i, where the signs of the x_i can be changed one by one."""
    if along not in x.signed or not count:
        return INF
    bound = turning(count, _both(x.norm, other.norm), p) if other.fixed is None else INF
    if along in x.apart:
        order, factor = as_normal(x.norm, p)
        if order <= HIGHEST:
            bound = min(bound, times(factor, _length(other, axis, count, order)))
    return bound


def _length(b: Argument, axis: int, count: int, p: float) -> float:
    """A bound of ||Σ b_i²||_(p/2)^(1/2) along an axis, for p >= 2."""
    if b.fixed is not None:
        if axis < 0:
            return times(math.sqrt(count), size(b.hull))
        array = np.asarray(b.fixed, dtype=np.float64)[..., 0]
        return float(np.sqrt(np.square(array).sum(axis=axis).max()))
    bound = times(math.sqrt(count), b.norm(p))
    if p > 2 and axis in b.apart:
        # Σ E b_i², plus the norm of the sum's distance from it
        off = drifting(count, lambda q: times(centring(q), raised(b.norm(2 * q), 2.0)), p / 2)
        bound = min(bound, raised(times(count, raised(b.norm(2.0), 2.0)) + off, 0.5))
    return bound


def _both(first: NormBound, second: NormBound) -> NormBound:
    return lambda p: times(first(p), second(p))


def _of_fixed(
    weights: Argument, axis: int, count: int, centred: bool, each: NormBound, p: float
) -> float:
    """The norm of a sum with fixed weights, for the row of weights that makes it largest."""
    array = np.abs(np.asarray(weights.fixed, dtype=np.float64)[..., 0])
    if axis < 0 or not array.size:
        return times(count, size(weights.hull), each(p))
    rows = np.moveaxis(array, axis, -1)
    total = float(rows.sum(axis=-1).max())
    if not centred:
        return times(total, each(p))
    root = float(np.sqrt(np.square(rows).sum(axis=-1).max()))
    powers = float((rows ** min(p, 2.0)).sum(axis=-1).max())
    return weighted(total, root, powers, each, p)


def inner_of_matrices(use: Applied) -> tuple[int, tuple[int, int]]:
    """The number of terms of `a @ b`, and the axis of each argument that it sums over."""
    a, b = (one.shape for one in use.arguments)
    return a[-1], (len(a) - 1, 0 if len(b) == 1 else len(b) - 2)


def inner_of_vectors(use: Applied) -> tuple[int, tuple[int, int]]:
    """The number of terms of `dot(a, b)`, and the axis of each argument that it sums over."""
    a, b = (one.shape for one in use.arguments)
    common = broadcast((a, b))
    axes = normalise_axes(use.options.get("axis"), common)
    count = math.prod(common[axis] for axis in axes)
    if len(axes) > 1:
        return count, (-1, -1)
    from_right = len(common) - axes[0]
    return count, (len(a) - from_right, len(b) - from_right)
