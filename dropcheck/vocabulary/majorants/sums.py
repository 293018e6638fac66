"""What bounds the functions of all elements of a draw: sums, products, the largest, norms.

A sum of n elements has at most n times their norm (Minkowski). Where each has the mean 0 whatever
the others are, as independent ones about their means have, it is √n that counts. Such are, with
D_1, D_2, … of mean 0 given those before,

* p >= 2: ||Σ D_i||_p² <= (p - 1) Σ ||D_i||_p² (Rio 2009, "Moment inequalities for sums of
  dependent random variables under projective conditions", J. Theor. Probab. 22, thm 2.1); for two,
  ||a + D||_p² <= ||a||_p² + (p - 1) ||D||_p² (proposition 2.1);
* 1 <= p <= 2: E|a + D|^p <= E|a|^p + 2^(2 - p) E|D|^p, as |a + d|^p is at most |a|^p +
  p sign(a) |a|^(p - 1) d + 2^(2 - p) |d|^p (von Bahr and Esseen 1965, "Inequalities for the r-th
  absolute moment of a sum of random variables, 1 <= r <= 2", Ann. Math. Statist. 36).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dropcheck.vocabulary.hulls import EVERYWHERE, Hull, union
from dropcheck.vocabulary.majorants.bounds_arithmetic import (
    INF,
    ZERO,
    combined,
    plus,
    product,
    raised,
    scaled,
    size,
    times,
)
from dropcheck.vocabulary.majorants.growing import about
from dropcheck.vocabulary.majorants.powers import Powers
from dropcheck.vocabulary.majorants.rule import Applied, Argument, Majorant, OverAxes
from dropcheck.vocabulary.shapes import broadcast, normalise_axes

Size = Callable[[float], float]
"""A bound of a norm, from its order."""

# orders that are asked for where a higher one may serve better
_HIGHEST = 64.0


# ---- sums of what has the mean 0 ----------------------------------------------------------------


def added(first: Size, second: Size, p: float) -> float:
    """The norm of a sum whose second part has the mean 0, whatever the first one is."""
    if p >= 2:
        return combined((first(p), math.sqrt(p - 1) * second(p)), 2.0)
    found = combined((first(p), 2 ** (2 / p - 1) * second(p)), p)
    return min(found, combined((first(2.0), second(2.0)), 2.0))


def drifting(count: float, each: Size, p: float) -> float:
    """The norm of a sum of so many numbers, each of mean 0 whatever those before it are."""
    return weighted(count, math.sqrt(count), count, each, p)


def weighted(largest: float, root: float, total: float, each: Size, p: float) -> float:
    """Of a sum with weights w: for Σ|w|, √Σw² and a bound of Σ|w|^p, each number of mean 0."""
    found = times(largest, each(p))
    if p >= 2:
        return min(found, times(math.sqrt(p - 1), root, each(p)))
    by_order = times(raised(2 ** (2 - p) * total, 1 / p), each(p))
    return min(found, by_order, times(root, each(2.0)))


def of_largest(count: int, each: Size, p: float) -> float:
    """The norm of the largest size of so many numbers: E max^q <= n E|x|^q, for any q >= p."""
    found, order = INF, p
    while order <= _HIGHEST:
        found = min(found, times(raised(float(count), 1 / order), each(order)))
        order *= 2
    return found


class Sum(Majorant):
    """a + b, or a - b."""

    def __init__(self, sign: float) -> None:
        self._sign = sign

    def norm(self, use: Applied, p: float) -> float:
        """Minkowski's inequality, or that for a part of mean 0 that is independent."""
        a, b = use.arguments
        if use.same:
            return times(1 + self._sign, a.norm(p))
        found = a.norm(p) + b.norm(p)
        if use.independent and b.mean == ZERO:
            found = min(found, added(a.norm, b.norm, p))
        if use.independent and a.mean == ZERO:
            found = min(found, added(b.norm, a.norm, p))
        return found

    def spread(self, use: Applied, p: float) -> float:
        """The same of the distances from the means, which have the mean 0."""
        a, b = use.arguments
        if use.same:
            return times(1 + self._sign, a.spread(p))
        found = a.spread(p) + b.spread(p)
        if use.independent:
            found = min(found, added(a.spread, b.spread, p), added(b.spread, a.spread, p))
        return found

    def mean(self, use: Applied) -> Hull:
        """The sum of the means."""
        a, b = use.arguments
        if use.same:
            return scaled(a.mean, 1 + self._sign)
        return plus(a.mean, scaled(b.mean, self._sign))

    def log_moment(self, use: Applied, t: float) -> float:
        """Of independent parts the sum, by the hull of a part, or by Cauchy and Schwarz."""
        a, b = use.arguments
        if use.same:
            return a.log_moment(2 * t) if self._sign > 0 else 0.0
        if use.independent:
            return a.log_moment(t) + b.log_moment(self._sign * t)
        return min(
            (a.log_moment(2 * t) + b.log_moment(2 * self._sign * t)) / 2,
            _largest(a.hull, t) + b.log_moment(self._sign * t),
            a.log_moment(t) + _largest(b.hull, self._sign * t),
        )

    def inverse(self, use: Applied, r: float) -> float:
        """Of two that are not negative, no larger than that of either."""
        a, b = use.arguments
        if self._sign < 0 or min(a.hull.low, b.hull.low) < 0:
            return INF
        return min(a.inverse(r), b.inverse(r))


def _largest(hull: Hull, t: float) -> float:
    return max(0.0 if end == 0 else t * end for end in (hull.low, hull.high))


# ---- sums of elements ---------------------------------------------------------------------------


class Total(OverAxes):
    """The sum over some axes, or the mean."""

    def __init__(self, mean: bool) -> None:
        self._of_mean = mean

    def _factor(self, use: Applied) -> float:
        return 1 / max(use.length(), 1) if self._of_mean else 1.0

    def norm(self, use: Applied, p: float) -> float:
        """As many as there are; √n of those along axes where each has the mean 0."""
        x, factor = use.arguments[0], self._factor(use)
        return times(factor, _sum_along(use, x.centred, x.norm, p))

    def spread(self, use: Applied, p: float) -> float:
        """The same, along axes whose slices are independent."""
        x, factor = use.arguments[0], self._factor(use)
        return times(factor, _sum_along(use, x.apart | x.centred, x.spread, p))

    def mean(self, use: Applied) -> Hull:
        """The mean of each, as many times."""
        return scaled(use.arguments[0].mean, use.length() * self._factor(use))

    def log_moment(self, use: Applied, t: float) -> float:
        """Of independent ones the sum; of n others at most that of n times one (Hölder)."""
        x, together, alone = use.arguments[0], 1, 1
        for axis in use.axes():
            if axis in x.apart:
                alone *= x.shape[axis]
            else:
                together *= x.shape[axis]
        one = x.log_moment(t * self._factor(use) * together)
        return alone * one if alone else 0.0

    def inverse(self, use: Applied, r: float) -> float:
        """Of numbers >= 0: no larger than that of one; of independent ones, as said below."""
        x = use.arguments[0]
        if x.hull.low < 0:
            return INF
        return times(1 / self._factor(use), inverse_of_sum(use, r, 1.0))


def _sum_along(use: Applied, centred: frozenset[int], each: Size, p: float) -> float:
    """A sum over the axes of the first argument, some of which have terms of mean 0."""
    shape, axes = use.arguments[0].shape, use.axes()
    apart = math.prod(shape[axis] for axis in axes if axis in centred)
    others = math.prod(shape[axis] for axis in axes if axis not in centred)
    return times(others, drifting(apart, each, p))


def inverse_of_sum(use: Applied, r: float, power: float) -> float:
    """(E(Σ|x|^k)^-r)^(1/r) over the axes, of power k.

    A sum is at least n times the geometric mean of its terms (AM-GM), so that of independent ones
    E(Σ y)^-r <= n^-r Π E y^(-r/n).
    """
    (x,) = use.arguments[:1]
    count = use.length()
    found = raised(x.inverse(r * power), power) if count else INF
    if count and x.apart.issuperset(use.axes()):
        found = min(found, raised(x.inverse(r * power / count), power) / count)
    return found


class RunningTotal(Majorant):
    """The sum of all elements up to each one along an axis."""

    def norm(self, use: Applied, p: float) -> float:
        """That of the longest."""
        x = use.arguments[0]
        return _sum_along(use, x.centred, x.norm, p)

    def spread(self, use: Applied, p: float) -> float:
        """That of the longest."""
        x = use.arguments[0]
        return _sum_along(use, x.apart | x.centred, x.spread, p)

    def mean(self, use: Applied) -> Hull:
        """From that of one to that of all."""
        mean = use.arguments[0].mean
        return union([mean, scaled(mean, use.length())])


class Differences(Majorant):
    """Differences of neighbours."""

    def norm(self, use: Applied, p: float) -> float:
        """No larger than twice that of one, about any number."""
        return 2 * about(use.arguments[0], p)

    def spread(self, use: Applied, p: float) -> float:
        """Twice that of one."""
        return 2 * use.arguments[0].spread(p)


class Trace(Majorant):
    """The sum of the diagonal."""

    def norm(self, use: Applied, p: float) -> float:
        """As many as there are; √n if along either axis each has the mean 0."""
        x = use.arguments[0]
        return _trace(x, x.centred, x.norm, p)

    def spread(self, use: Applied, p: float) -> float:
        """The same, if along either axis the slices are independent."""
        x = use.arguments[0]
        return _trace(x, x.apart | x.centred, x.spread, p)

    def mean(self, use: Applied) -> Hull:
        """The mean of each, as many times."""
        return scaled(use.arguments[0].mean, use.arguments[0].shape[-1])


def _trace(x: Argument, centred: frozenset[int], each: Size, p: float) -> float:
    count, axes = x.shape[-1], {len(x.shape) - 1, len(x.shape) - 2}
    return drifting(count, each, p) if axes & centred else times(count, each(p))


# ---- sums of products ---------------------------------------------------------------------------


class Products(Powers):
    """Every product of an element of one and an element of the other."""

    def __init__(self) -> None:
        super().__init__(1.0, 1.0)

    def mean(self, use: Applied) -> Hull:
        """Of independent ones the product of the means."""
        a, b = use.arguments
        return product(a.mean, b.mean) if use.independent else EVERYWHERE


class SumOfProducts(Majorant):
    """Sums of products of elements of two arguments.

    `inner` says how many terms there are, and along which axis of each argument, -1 if several.
    """

    def __init__(self, inner: Callable[[Applied], tuple[int, tuple[int, int]]]) -> None:
        self._inner = inner

    def norm(self, use: Applied, p: float) -> float:
        """As many as there are; √n if either of two independent ones has the mean 0."""
        a, b = use.arguments
        count, (left, right) = self._inner(use)
        if not use.independent:
            return times(count, a.norm(2 * p), b.norm(2 * p))
        if a.fixed is not None or b.fixed is not None:
            x, weights, along, axis = (
                (b, a, right, left) if b.fixed is None else (a, b, left, right)
            )
            return _of_fixed(weights, axis, count, along in x.centred, x.norm, p)
        each = _both(a.norm, b.norm)
        centred = left in a.centred or right in b.centred
        return drifting(count, each, p) if centred else times(count, each(p))

    def spread(self, use: Applied, p: float) -> float:
        """A b - E a E b = a (b - E b) + (a - E a) E b, and the sum of either by itself."""
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
        found = INF
        for (x, x_apart), (y, y_apart) in (
            ((a, apart[0]), (b, apart[1])), ((b, apart[1]), (a, apart[0]))
        ):  # fmt: skip
            first, second = _both(x.norm, y.spread), x.spread
            moved = drifting(count, first, p) if y_apart else times(count, first(p))
            rest = drifting(count, second, p) if x_apart else times(count, second(p))
            found = min(found, moved + times(size(y.mean), rest))
        return found

    def mean(self, use: Applied) -> Hull:
        """Of independent ones the products of the means, as many times."""
        a, b = use.arguments
        if not use.independent:
            return EVERYWHERE
        return scaled(product(a.mean, b.mean), self._inner(use)[0])

    def inverse(self, use: Applied, r: float) -> float:
        """Of a vector with itself, a sum of squares."""
        a = use.arguments[0]
        if not use.same or len(a.shape) != 1:
            return INF
        return inverse_of_sum(use, r, 2.0)


def _both(first: Size, second: Size) -> Size:
    return lambda p: times(first(p), second(p))


def _of_fixed(
    weights: Argument, axis: int, count: int, centred: bool, each: Size, p: float
) -> float:
    """A sum with weights that are known, the worst row of them."""
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
    """The axis that `a @ b` sums over."""
    a, b = (one.shape for one in use.arguments)
    return a[-1], (len(a) - 1, 0 if len(b) == 1 else len(b) - 2)


def inner_of_vectors(use: Applied) -> tuple[int, tuple[int, int]]:
    """The axis that `dot(a, b)` sums over."""
    a, b = (one.shape for one in use.arguments)
    common = broadcast((a, b))
    axes = normalise_axes(use.options.get("axis"), common)
    count = math.prod(common[axis] for axis in axes)
    if len(axes) > 1:
        return count, (-1, -1)
    from_right = len(common) - axes[0]
    return count, (len(a) - from_right, len(b) - from_right)
