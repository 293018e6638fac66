"""The rules of sums, and what all functions of the elements of a draw share.

A sum of n elements has at most n times their norm (Minkowski). If each has the mean 0 given the
others, as independent elements minus their means have, the factor is about √n instead. Let D_1,
D_2, … have the mean 0 given those before, and a be one of those before:

* p >= 2: ||Σ D_i||_p² <= (p - 1) Σ ||D_i||_p² (Rio 2009, "Moment inequalities for sums of
  dependent random variables under projective conditions", J. Theor. Probab. 22, thm 2.1); for two,
  ||a + D||_p² <= ||a||_p² + (p - 1) ||D||_p² (proposition 2.1);
* 1 <= p <= 2: E|a + D|^p <= E|a|^p + 2^(2 - p) E|D|^p, as |a + d|^p is at most |a|^p +
  p sign(a) |a|^(p - 1) d + 2^(2 - p) |d|^p (von Bahr and Esseen 1965, "Inequalities for the r-th
  absolute moment of a sum of random variables, 1 <= r <= 2", Ann. Math. Statist. 36).

If the sign of each term can be changed without changing the law, normal weights give bounds:

* p >= 2: ||Σ X_i||_p <= ||z||_p ||Σ X_i²||_(p/2)^(1/2) of a standard normal z (Khintchine's
  inequality with the constant of Haagerup 1981, "The best constants in the Khintchine inequality",
  Studia Math. 70);
* p = 2k: let the w_i be independent, symmetric about 0, and independent of b. If ||w_i||_2j <=
  τ ||z||_2j for each j <= k, then ||Σ w_i b_i||_p <= τ ||z||_p ||Σ b_i²||_(p/2)^(1/2). For, given
  b, no term of E(Σ w_i b_i)^2k is negative, and none is larger than with τ z_i in place of w_i.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull, union
from dropcheck.vocabulary.majorants.powers import about
from dropcheck.vocabulary.majorants.rule import (
    INF,
    ZERO,
    Applied,
    Argument,
    Majorant,
    OverAxes,
    centring,
    combined,
    highest,
    normal_norm,
    plus,
    raised,
    size,
    times,
)
from dropcheck.vocabulary.shapes import broadcast, normalise_axes

# ---- sums of squares -----------------------------------------------------------------------------
#
# Bounds of E S^-r for a sum S of squares of independent numbers, from bounds of their densities.
#
# With S = Σ w_j (x_j - c_j)², E S^-r is ∫ λ^(r - 1) E exp(-λ S) dλ / Γ(r). Let x_j have a density
# of at most M given those before it, and let c_j depend only on those. Then E exp(-λ w (x - c)²) is
# largest if all probability is as near to c as M allows, on an interval of length 1 / M (Lieb and
# Loss, Analysis, 2001, theorem 1.14, the bathtub principle). With s = sqrt(λ w), it is at most M
# sqrt(π) erf(s / (2 M)) / s. The product of these bounds falls in λ, so that its value at the lower
# end of each cell of a grid bounds the integral; beyond the grid erf is at most 1. The weights here
# are in units in which M is 1.


# Points of the grid for each factor of 2, and its first and last λ times the largest weight.
_FINENESS = 16
_LOWEST, _HIGHEST = 2.0**-40, 2.0**20
MOST_WEIGHTS = 400  # if there are more weights, the least one stands for all
_ROUNDING = 1e-9


def weights_of_sample(count: int, density: float, *, centred: bool) -> list[float]:
    """The weights for `count` independent numbers whose densities are at most `density`.

    The squared distances from the mean add up to Σ_j (j - 1) / j (x_j - the mean of those before)²
    over j from 2 (Welford 1962), with each x_j independent of those before.
    """
    if not 0 < density < INF:
        return []
    if not centred:
        own = [1.0] * count
    elif count > MOST_WEIGHTS:
        own = [0.5] * (count - 1)
    else:
        own = [(j - 1) / j for j in range(2, count + 1)]
    return [one / density**2 for one in own]


def inverse_of_squares(weights: Sequence[float], r: float) -> float:
    """A bound of (E S^-r)^(1/r), where every density is at most 1.

    It is infinite if r is at least half the number of weights.

    >>> found = inverse_of_squares([2 * math.pi] * 10, 1.0)
    >>> 1 / 8 <= found < 0.22  # 1 / 8 for standard normal ones
    True
    """
    count = len(weights)
    least = min(weights, default=0.0)
    if not (least > 0 and 0 < r < count / 2):
        return INF
    unit = max(weights)
    different = Counter(one / unit for one in weights)
    if count > MOST_WEIGHTS:
        different = Counter({least / unit: count})
    steps = round(_FINENESS * math.log2(_HIGHEST / _LOWEST))
    grid = _LOWEST * 2.0 ** (np.arange(steps + 1) / _FINENESS)  # λ times the largest weight
    logs = np.zeros_like(grid)
    for weight, often in different.items():
        s = np.sqrt(grid * weight)
        logs += often * np.log(np.minimum(math.sqrt(math.pi) * special.erf(s / 2) / s, 1.0))
    powers = grid**r
    cells = float(np.sum(np.diff(powers) * np.exp(logs[:-1]))) / r
    # below the grid the product is at most 1; above the grid it falls as λ^(-count / 2)
    ends = float(powers[0]) / r + float(powers[-1] * math.exp(_of_tail(different, grid[-1]))) / (
        count / 2 - r
    )
    with np.errstate(all="ignore"):
        total = (cells + ends) * (1 + _ROUNDING)
        bound = (total / math.gamma(r)) ** (1 / r) / unit
    return float(bound) if math.isfinite(bound) else INF


def _of_tail(weights: Mapping[float, int], highest: float) -> float:
    """The logarithm of the product at the end of the grid, where erf is at most 1."""
    return math.fsum(
        times * 0.5 * math.log(math.pi / (highest * weight)) for weight, times in weights.items()
    )


# ---- sums ----------------------------------------------------------------------------------------


NormBound = Callable[[float], float]
"""Takes an order, and returns a bound of the norm of this order."""

# the highest order of a norm that is used for a bound of a lower one
HIGHEST = 64.0


# ---- sums of numbers with mean 0 ----------------------------------------------------------------


def added(first: NormBound, second: NormBound, p: float) -> float:
    """The norm of a sum of two parts, the second of which has the mean 0 given the first."""
    if p >= 2:
        return combined((first(p), math.sqrt(p - 1) * second(p)), 2.0)
    bound = combined((first(p), 2 ** (2 / p - 1) * second(p)), p)
    return min(bound, combined((first(2.0), second(2.0)), 2.0))


def drifting(count: float, each: NormBound, p: float) -> float:
    """The norm of a sum of `count` numbers, each of mean 0 given those before it."""
    return weighted(count, math.sqrt(count), count, each, p)


def weighted(largest: float, root: float, total: float, each: NormBound, p: float) -> float:
    """The norm of Σ w x, each x of mean 0 given those before it.

    Args:
        largest: Σ|w|.
        root: √Σw².
        total: a bound of Σ|w|^p.
        each: the norms of one x.
        p: the order.
    """
    bound = times(largest, each(p))
    if p >= 2:
        return min(bound, times(math.sqrt(p - 1), root, each(p)))
    by_order = times(raised(2 ** (2 - p) * total, 1 / p), each(p))
    return min(bound, by_order, times(root, each(2.0)))


def turning(count: float, each: NormBound, p: float) -> float:
    """The norm, for p >= 2, of a sum of `count` numbers whose signs can be changed one by one."""
    return times(normal_norm(p), math.sqrt(count), each(p)) if p >= 2 else INF


def as_normal(each: NormBound, p: float) -> tuple[float, float]:
    """The next even order q from p on, and τ ||z||_q, where `each` bounds the norms of a weight."""
    order = max(2.0, 2.0 * math.ceil(p / 2))
    orders = [2.0 * j for j in range(1, int(order / 2) + 1)]
    tau = max(each(one) / normal_norm(one) for one in orders)
    return order, times(tau, normal_norm(order))


def of_largest(count: int, each: NormBound, p: float) -> float:
    """The norm of the largest of `count` sizes: E max^q <= count · E|x|^q, for any q >= p."""
    bound, order = INF, p
    while order <= HIGHEST:
        bound = min(bound, times(raised(float(count), 1 / order), each(order)))
        order *= 2
    return bound


ONE = Hull(1.0, 1.0)


class Sum(Majorant):
    """The rules of a + b and a - b."""

    def __init__(self, sign: float) -> None:
        self._sign = sign

    def norm(self, use: Applied, p: float) -> float:
        """Minkowski's inequality, or that for an independent part of mean 0."""
        a, b = use.arguments
        if use.same:
            return times(1 + self._sign, a.norm(p))
        bound = a.norm(p) + b.norm(p)
        if use.independent and b.mean == ZERO:
            bound = min(bound, added(a.norm, b.norm, p))
        if use.independent and a.mean == ZERO:
            bound = min(bound, added(b.norm, a.norm, p))
        return bound

    def spread(self, use: Applied, p: float) -> float:
        """As for the norm: the distances from the means have the mean 0."""
        a, b = use.arguments
        if use.same:
            return times(1 + self._sign, a.spread(p))
        bound = a.spread(p) + b.spread(p)
        if use.independent:
            bound = min(bound, added(a.spread, b.spread, p), added(b.spread, a.spread, p))
        return bound

    def mean(self, use: Applied) -> Hull:
        """The sum of the means."""
        a, b = use.arguments
        if use.same:
            return a.mean.scaled(1 + self._sign)
        return plus(a.mean, b.mean.scaled(self._sign))

    def log_moment(self, use: Applied, t: float) -> float:
        """The sum for independent parts; else by the hull of a part, or by Cauchy-Schwarz."""
        a, b = use.arguments
        if use.same:
            return a.log_moment(2 * t) if self._sign > 0 else 0.0
        if use.independent:
            return a.log_moment(t) + b.log_moment(self._sign * t)
        return min(
            (a.log_moment(2 * t) + b.log_moment(2 * self._sign * t)) / 2,
            highest(a.hull, t) + b.log_moment(self._sign * t),
            a.log_moment(t) + highest(b.hull, self._sign * t),
        )

    def inverse(self, use: Applied, r: float) -> float:
        """If neither part is negative, at most that of either part."""
        a, b = use.arguments
        if self._sign < 0 and b.even_share and a.hull == ONE and b.hull.low == 0:
            return b.inverse(r)  # a bound for 1 - b too, as the hull does not bound b away from 0
        if self._sign < 0 or min(a.hull.low, b.hull.low) < 0:
            return INF
        return min(a.inverse(r), b.inverse(r))

    def log_size(self, use: Applied, p: float) -> float:
        """If neither part is negative, log(a + b) lies between log a and log b, or log 2 above."""
        a, b = use.arguments
        if self._sign < 0 and b.even_share and a.hull == ONE:
            return b.log_size(p)
        if self._sign < 0 or min(a.hull.low, b.hull.low) < 0:
            return INF
        return math.log(2.0) + combined([a.log_size(p), b.log_size(p)], p)


# ---- sums of elements ---------------------------------------------------------------------------


class Total(OverAxes):
    """The rules of the sum over some axes, and of the mean."""

    def __init__(self, mean: bool) -> None:
        self._of_mean = mean

    def _factor(self, use: Applied) -> float:
        return 1 / max(use.length(), 1) if self._of_mean else 1.0

    def norm(self, use: Applied, p: float) -> float:
        """The number of elements times their norm; about √n along axes with the mean 0.

        It is also at most the mean of the sizes plus the spread.
        """
        bound = times(self._factor(use), _sum_of(use, p))
        if p <= 1 or bound == INF:
            return bound
        sizes = times(self._factor(use), use.length(), use.arguments[0].norm(1.0))
        return min(bound, sizes + self.spread(use, p))

    def spread(self, use: Applied, p: float) -> float:
        """As for the norm, with √n along axes whose slices are independent."""
        x, factor = use.arguments[0], self._factor(use)
        return times(factor, _sum_along(use, x.apart | x.centred, x.spread, p))

    def mean(self, use: Applied) -> Hull:
        """The mean of an element, times their number."""
        return use.arguments[0].mean.scaled(use.length() * self._factor(use))

    def log_moment(self, use: Applied, t: float) -> float:
        """The sum for independent elements; for n others at most that of n times one (Hölder)."""
        x, together, alone = use.arguments[0], 1, 1
        for axis in use.axes():
            if axis in x.apart:
                alone *= x.shape[axis]
            else:
                together *= x.shape[axis]
        one = x.log_moment(t * self._factor(use) * together)
        return alone * one if alone else 0.0

    def inverse(self, use: Applied, r: float) -> float:
        """For elements >= 0; see `inverse_of_sum`."""
        x = use.arguments[0]
        if x.hull.low < 0:
            return INF
        return times(1 / self._factor(use), inverse_of_sum(use, r, 1.0))


def _sum_of(use: Applied, p: float) -> float:
    """The norm of a sum over axes of the first argument."""
    x = use.arguments[0]
    bound = _sum_along(use, x.centred, x.norm, p)
    signed = [axis for axis in use.axes() if axis in x.signed]
    if not signed:
        return bound
    count = math.prod(x.shape[axis] for axis in signed)
    others = use.length() // max(count, 1)
    bound = min(bound, times(others, turning(count, x.norm, p)))
    if x.apart.issuperset(signed):
        order, factor = as_normal(x.norm, p)
        bound = min(bound, times(others, factor, math.sqrt(count)) if order <= HIGHEST else INF)
    return bound


def _sum_along(use: Applied, centred: frozenset[int], each: NormBound, p: float) -> float:
    """The norm of a sum over axes of the first argument, along some of which terms have mean 0."""
    shape, axes = use.arguments[0].shape, use.axes()
    apart = math.prod(shape[axis] for axis in axes if axis in centred)
    others = math.prod(shape[axis] for axis in axes if axis not in centred)
    return times(others, drifting(apart, each, p))


def inverse_of_sum(use: Applied, r: float, power: float) -> float:
    """A bound of (E(Σ|x|^k)^-r)^(1/r) over the axes, for the power k.

    A sum is at least n times the geometric mean of its terms (AM-GM). So for independent y,
    E(Σ y)^-r <= n^-r Π E y^(-r/n), and the bound of a larger order is one of a smaller order.
    """
    x, count = use.arguments[0], use.length()
    if not count:
        return INF
    bound = raised(x.inverse(r * power), power)
    if x.apart.issuperset(use.axes()):
        order = r * power / count
        each = min(x.inverse(one) for one in {order, max(order, 0.25), max(order, 0.5)})
        bound = min(bound, raised(each, power) / count)
    base = x if power == 2 else _squared(x) if power == 1 else None
    if base is not None:
        weights = base.weights_of_squares(use.axes(), centred=False)
        bound = min(bound, inverse_of_squares(weights, r))
    return bound


def _squared(x: Argument) -> Argument | None:
    """The quantity whose square x is, element by element; None if there is none."""
    match x.parts():
        case [[(base, 2.0)]] if base.shape == x.shape:
            return base
    return None


class RunningTotal(Majorant):
    """The rules of running sums along an axis."""

    def norm(self, use: Applied, p: float) -> float:
        """The bound of the longest sum."""
        return _sum_of(use, p)

    def spread(self, use: Applied, p: float) -> float:
        """The bound of the longest sum."""
        x = use.arguments[0]
        return _sum_along(use, x.apart | x.centred, x.spread, p)

    def mean(self, use: Applied) -> Hull:
        """Between the mean of one element and the mean of the sum of all."""
        mean = use.arguments[0].mean
        return union([mean, mean.scaled(use.length())])

    def log_moment(self, use: Applied, t: float) -> float:
        """The larger of the bounds for one element and for all: both are convex in their number k.

        For k independent elements it is k times that of one. For others it is at most that of k
        times one element (Hölder), and log E exp(t · x) is convex in t.
        """
        x, count = use.arguments[0], use.length()
        if not count:
            return 0.0
        alone = x.apart.issuperset(use.axes())
        whole = count * x.log_moment(t) if alone else x.log_moment(count * t)
        return max(x.log_moment(t), whole)


class Differences(Majorant):
    """The rules of differences of neighbours."""

    def norm(self, use: Applied, p: float) -> float:
        """At most twice the norm of an element minus any number."""
        return 2 * about(use.arguments[0], p)

    def spread(self, use: Applied, p: float) -> float:
        """At most twice the spread of an element."""
        return 2 * use.arguments[0].spread(p)


class Trace(Majorant):
    """The rules of the sum of the diagonal."""

    def norm(self, use: Applied, p: float) -> float:
        """The number n of elements times their norm; about √n along an axis with the mean 0."""
        x = use.arguments[0]
        return _trace(x, x.centred, x.norm, p)

    def spread(self, use: Applied, p: float) -> float:
        """As for the norm, with √n if along an axis the slices are independent."""
        x = use.arguments[0]
        return _trace(x, x.apart | x.centred, x.spread, p)

    def mean(self, use: Applied) -> Hull:
        """The mean of an element, times their number."""
        return use.arguments[0].mean.scaled(use.arguments[0].shape[-1])


def _trace(x: Argument, centred: frozenset[int], each: NormBound, p: float) -> float:
    count, axes = x.shape[-1], {len(x.shape) - 1, len(x.shape) - 2}
    return drifting(count, each, p) if axes & centred else times(count, each(p))


# ---- summed products -----------------------------------------------------------------------------
#
# The rules of sums of products of elements of two arguments: of matrices, and of vectors.


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
        """The sum for independent elements with few fixed weights."""
        a, b = use.arguments
        count, (left, right) = self._inner(use)
        if not count:
            return 0.0
        for x, along, weights, axis in ((a, left, b, right), (b, right, a, left)):
            if weights.fixed is not None and along in x.apart and axis >= 0:
                factors = np.moveaxis(np.asarray(weights.fixed, dtype=np.float64)[..., 0], axis, -1)
                if factors.size <= _MANY_WEIGHTS:
                    rows = factors.reshape(-1, count)
                    return max(sum(x.log_moment(t * one) for one in row) for row in rows.tolist())
        return INF

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
