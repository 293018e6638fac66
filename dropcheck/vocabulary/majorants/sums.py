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

Where the sign of each term may be turned by itself, the sum is no larger than with normal weights:

* p >= 2: ||Σ X_i||_p <= ||z||_p ||Σ X_i²||_(p/2)^(1/2) of a standard normal z (Khintchine's
  inequality with the constant of Haagerup 1981, "The best constants in the Khintchine inequality",
  Studia Math. 70);
* p = 2k: of independent w_i that lie alike on both sides of 0, independent of b, with
  ||w_i||_2j <= τ ||z||_2j for each j <= k, ||Σ w_i b_i||_p <= τ ||z||_p ||Σ b_i²||_(p/2)^(1/2).
  Given b, no product in E(Σ w_i b_i)^2k is negative, and none is larger than with τ z_i for w_i.
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
"""A bound of a norm, from its order."""

# orders that are asked for where a higher one may serve better
HIGHEST = 64.0


# ---- sums of what has the mean 0 ----------------------------------------------------------------


def added(first: NormBound, second: NormBound, p: float) -> float:
    """The norm of a sum whose second part has the mean 0, whatever the first one is."""
    if p >= 2:
        return combined((first(p), math.sqrt(p - 1) * second(p)), 2.0)
    found = combined((first(p), 2 ** (2 / p - 1) * second(p)), p)
    return min(found, combined((first(2.0), second(2.0)), 2.0))


def drifting(count: float, each: NormBound, p: float) -> float:
    """The norm of a sum of so many numbers, each of mean 0 whatever those before it are."""
    return weighted(count, math.sqrt(count), count, each, p)


def of_parts(sizes: Sequence[float], at_two: Sequence[float], p: float) -> float:
    """The norm of a sum of any number of parts, each of mean 0 whatever those before it are.

    Args:
        sizes: their norms of order p.
        at_two: those of order 2.
        p: the order.
    """
    first, *others = sorted(sizes, reverse=True)
    together = summed(sizes)
    if p >= 2:
        found = combined((first, *(math.sqrt(p - 1) * one for one in others)), 2.0)
    else:
        found = combined((first, *(2 ** (2 / p - 1) * one for one in others)), p)
        found = min(found, combined(at_two, 2.0))
    return min(found, together)


def weighted(largest: float, root: float, total: float, each: NormBound, p: float) -> float:
    """Of a sum with weights w: for Σ|w|, √Σw² and a bound of Σ|w|^p, each number of mean 0."""
    found = times(largest, each(p))
    if p >= 2:
        return min(found, times(math.sqrt(p - 1), root, each(p)))
    by_order = times(raised(2 ** (2 - p) * total, 1 / p), each(p))
    return min(found, by_order, times(root, each(2.0)))


def turning(count: float, each: NormBound, p: float) -> float:
    """The norm of a sum of so many numbers, whose signs may be turned one by one; p >= 2."""
    return times(normal_norm(p), math.sqrt(count), each(p)) if p >= 2 else INF


def as_normal(each: NormBound, p: float) -> tuple[float, float]:
    """The next even order q from p on, and τ ||z||_q, by the norms of one weight."""
    order = max(2.0, 2.0 * math.ceil(p / 2))
    orders = [2.0 * j for j in range(1, int(order / 2) + 1)]
    found = max(each(one) / normal_norm(one) for one in orders)
    return order, times(found, normal_norm(order))


def of_largest(count: int, each: NormBound, p: float) -> float:
    """The norm of the largest size of so many numbers: E max^q <= n E|x|^q, for any q >= p."""
    found, order = INF, p
    while order <= HIGHEST:
        found = min(found, times(raised(float(count), 1 / order), each(order)))
        order *= 2
    return found


ONE = Hull(1.0, 1.0)


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
            return a.mean.scaled(1 + self._sign)
        return plus(a.mean, b.mean.scaled(self._sign))

    def log_moment(self, use: Applied, t: float) -> float:
        """Of independent parts the sum, by the hull of a part, or by Cauchy and Schwarz."""
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
        """Of two that are not negative, no larger than that of either."""
        a, b = use.arguments
        if self._sign < 0 and b.even_share and a.hull == ONE and b.hull.low == 0:
            return b.inverse(r)  # which is no less, as the hull of b does not bound it
        if self._sign < 0 or min(a.hull.low, b.hull.low) < 0:
            return INF
        return min(a.inverse(r), b.inverse(r))

    def log_size(self, use: Applied, p: float) -> float:
        """Of two that are not negative log(a + b) lies between both logarithms, or log 2 above."""
        a, b = use.arguments
        if self._sign < 0 and b.even_share and a.hull == ONE:
            return b.log_size(p)
        if self._sign < 0 or min(a.hull.low, b.hull.low) < 0:
            return INF
        return math.log(2.0) + combined([a.log_size(p), b.log_size(p)], p)


# ---- sums of elements ---------------------------------------------------------------------------


class Total(OverAxes):
    """The sum over some axes, or the mean."""

    def __init__(self, mean: bool) -> None:
        self._of_mean = mean

    def _factor(self, use: Applied) -> float:
        return 1 / max(use.length(), 1) if self._of_mean else 1.0

    def norm(self, use: Applied, p: float) -> float:
        """As many as there are; √n of those along axes where each has the mean 0.

        And no more than its mean, which is at most that of all sizes, and its spread together.
        """
        found = times(self._factor(use), _sum_of(use, p))
        if p <= 1 or found == INF:
            return found
        sizes = times(self._factor(use), use.length(), use.arguments[0].norm(1.0))
        return min(found, sizes + self.spread(use, p))

    def spread(self, use: Applied, p: float) -> float:
        """The same, along axes whose slices are independent."""
        x, factor = use.arguments[0], self._factor(use)
        return times(factor, _sum_along(use, x.apart | x.centred, x.spread, p))

    def mean(self, use: Applied) -> Hull:
        """The mean of each, as many times."""
        return use.arguments[0].mean.scaled(use.length() * self._factor(use))

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


def _sum_of(use: Applied, p: float) -> float:
    """The norm of a sum over the axes of the first argument."""
    x = use.arguments[0]
    found = _sum_along(use, x.centred, x.norm, p)
    signed = [axis for axis in use.axes() if axis in x.signed]
    if not signed:
        return found
    count = math.prod(x.shape[axis] for axis in signed)
    others = use.length() // max(count, 1)
    found = min(found, times(others, turning(count, x.norm, p)))
    if x.apart.issuperset(signed):
        order, factor = as_normal(x.norm, p)
        found = min(found, times(others, factor, math.sqrt(count)) if order <= HIGHEST else INF)
    return found


def _sum_along(use: Applied, centred: frozenset[int], each: NormBound, p: float) -> float:
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
    base = x if power == 2 else _squared(x) if power == 1 else None
    if count and base is not None:
        weights = base.weights_of_squares(use.axes(), centred=False)
        found = min(found, inverse_of_squares(weights, r))
    return found


def _squared(x: Argument) -> Argument | None:
    """What a quantity is the square of, element by element."""
    match x.parts():
        case [[(base, 2.0)]] if base.shape == x.shape:
            return base
    return None


class RunningTotal(Majorant):
    """The sum of all elements up to each one along an axis."""

    def norm(self, use: Applied, p: float) -> float:
        """That of the longest."""
        return _sum_of(use, p)

    def spread(self, use: Applied, p: float) -> float:
        """That of the longest."""
        x = use.arguments[0]
        return _sum_along(use, x.apart | x.centred, x.spread, p)

    def mean(self, use: Applied) -> Hull:
        """From that of one to that of all."""
        mean = use.arguments[0].mean
        return union([mean, mean.scaled(use.length())])

    def log_moment(self, use: Applied, t: float) -> float:
        """That of one or of all: each is convex in how many there are, so that an end is largest.

        Of k independent ones it is k times that of one; of others at most that of k times one
        (Hölder), and log E exp(t · x) is convex in t.
        """
        x, count = use.arguments[0], use.length()
        if not count:
            return 0.0
        alone = x.apart.issuperset(use.axes())
        whole = count * x.log_moment(t) if alone else x.log_moment(count * t)
        return max(x.log_moment(t), whole)


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
        return use.arguments[0].mean.scaled(use.arguments[0].shape[-1])


def _trace(x: Argument, centred: frozenset[int], each: NormBound, p: float) -> float:
    count, axes = x.shape[-1], {len(x.shape) - 1, len(x.shape) - 2}
    return drifting(count, each, p) if axes & centred else times(count, each(p))
