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
from collections.abc import Callable, Sequence

from dropcheck.vocabulary.hulls import Hull, union
from dropcheck.vocabulary.majorants.bounds_arithmetic import (
    INF,
    ZERO,
    combined,
    highest,
    normal_norm,
    plus,
    raised,
    summed,
    times,
)
from dropcheck.vocabulary.majorants.growing import about
from dropcheck.vocabulary.majorants.rule import Applied, Argument, Majorant, OverAxes
from dropcheck.vocabulary.majorants.sums_of_squares import inverse_of_squares

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


def of_parts(sizes: Sequence[float], at_two: Sequence[float], p: float) -> float:
    """The norm of a sum of parts, each of mean 0 given those before it.

    Args:
        sizes: the norms of the parts, of order p.
        at_two: their norms of order 2.
        p: the order.
    """
    first, *others = sorted(sizes, reverse=True)
    if p >= 2:
        bound = combined((first, *(math.sqrt(p - 1) * one for one in others)), 2.0)
    else:
        bound = combined((first, *(2 ** (2 / p - 1) * one for one in others)), p)
        bound = min(bound, combined(at_two, 2.0))
    return min(bound, summed(sizes))


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
    E(Σ y)^-r <= n^-r Π E y^(-r/n).
    """
    x, count = use.arguments[0], use.length()
    if not count:
        return INF
    bound = raised(x.inverse(r * power), power)
    if x.apart.issuperset(use.axes()):
        bound = min(bound, raised(x.inverse(r * power / count), power) / count)
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
