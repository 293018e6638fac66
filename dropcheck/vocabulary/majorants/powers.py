"""The rules of products, quotients and powers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

from dropcheck.vocabulary.hulls import EVERYWHERE, Hull
from dropcheck.vocabulary.majorants.rule import (
    INF,
    Applied,
    Argument,
    ArgumentPower,
    Majorant,
    combined,
    exponential,
    log_sum,
    logarithm,
    nearest_zero,
    raised,
    size,
    times,
)

# ---- growing -------------------------------------------------------------------------------------
#
# The rules of functions that grow no faster than their arguments.


def slack(p: float) -> float:
    """A factor s with ||f(x) - E f(x)||_p <= s ||x - E x||_p for all f with |f'| <= 1.

    With x' independent of x and with the same law, the left side is at most ||f(x) - f(x')||_p <=
    ||x - x'||_p <= 2 ||x - E x||_p; for p = 2 the variance is half of E(f(x) - f(x'))².
    """
    return 1.0 if p == 2 else 2.0


def about(x: Argument, p: float) -> float:
    """A bound of ||x - c||_p for some number c, the same for all elements: 0, or the middle mean.

    A mean square about the mean of the elements is no larger than that about c.
    """
    around = x.mean.width / 2 + x.spread(p) if x.mean.bounded else INF
    return min(x.norm(p), around)


class LinearGrowth(Majorant):
    """The rules of a function with |f(x)| <= summand + factor · |x|.

    `above` says that even f(x) <= summand + factor · max(x, 0). `slope` bounds |f(x) - f(y)| as a
    multiple of |x - y|.
    """

    def __init__(self, factor: float, summand: float, above: bool, slope: float) -> None:
        self._factor, self._summand, self._above, self._slope = factor, summand, above, slope
        self.holds_back = above

    def norm(self, use: Applied, p: float) -> float:
        """By Minkowski's inequality."""
        return self._summand + times(self._factor, use.arguments[0].norm(p))

    def spread(self, use: Applied, p: float) -> float:
        """By the slope."""
        return times(slack(p), self._slope, use.arguments[0].spread(p))

    def log_moment(self, use: Applied, t: float) -> float:
        """exp(t f) is at most exp(|t| summand) · (exp(t factor x) + exp(-t factor x))."""
        (x,), rate = use.arguments[:1], abs(t) * self._factor
        other = 0.0 if self._above and t > 0 else x.log_moment(-rate)
        return abs(t) * self._summand + log_sum([x.log_moment(rate), other])


class LeakySlope(Majorant):
    """The rules of x above 0, slope · x below: its size is at most |x| · max(1, |slope|)."""

    def norm(self, use: Applied, p: float) -> float:
        """By the larger of both slopes."""
        x, slope = use.arguments
        return times(max(1.0, size(slope.hull)), x.norm(p))

    def spread(self, use: Applied, p: float) -> float:
        """By the larger of both slopes, if they are fixed."""
        x, slope = use.arguments
        if slope.fixed is None:
            return INF
        return times(slack(p), max(1.0, size(slope.hull)), x.spread(p))


class Picked(Majorant):
    """The rules of a function that picks, element by element, one of the arguments from `first` on.

    `smooth` says that the value changes by no more than the argument that changes most.
    """

    def __init__(self, first: int, smooth: bool) -> None:
        self._first, self._smooth = first, smooth
        self.holds_back = smooth

    def norm(self, use: Applied, p: float) -> float:
        """E|f|^p is at most Σ E|u|^p."""
        return combined((one.norm(p) for one in use.arguments[self._first :]), p)

    def spread(self, use: Applied, p: float) -> float:
        """As for a slope of 1, with a distance of at most (Σ |u - u'|^p)^(1/p)."""
        if not self._smooth:
            return INF
        spreads = (one.spread(p) for one in use.arguments[self._first :])
        return times(slack(p), combined(spreads, p))

    def log_moment(self, use: Applied, t: float) -> float:
        """E exp(t f) is at most Σ E exp(t u)."""
        return log_sum(one.log_moment(t) for one in use.arguments[self._first :])

    def inverse(self, use: Applied, r: float) -> float:
        """E|f|^-r is at most Σ E|u|^-r."""
        return combined((one.inverse(r) for one in use.arguments[self._first :]), r)


# ---- powers --------------------------------------------------------------------------------------


def of_parts(groups: Sequence[Sequence[ArgumentPower]], p: float) -> float:
    """A bound of the norm of a product of powers: the product of the norms of independent groups.

    Within a group of total degree K, each factor contributes its norm of order p · K (Hölder's
    inequality with exponents in proportion to the powers), or its largest size if it is bounded.
    """
    return times(1.0, *(_of_group(group, p) for group in groups))


def _of_group(group: Sequence[ArgumentPower], p: float) -> float:
    bound = _by_hoelder(group, p)
    shorter = _shortened(group)
    if shorter is not None:
        bound = min(bound, times(shorter[0], _by_hoelder(shorter[1], p)))
    bound = min(bound, _by_terms(group, p))
    bounded = [part for part in group if _largest(part) < INF]
    if len(group) > 1 and bounded:
        others = [part for part in group if _largest(part) == INF]
        by_size = times(*map(_largest, bounded), _by_hoelder(others, p))
        bound = min(bound, by_size)
    return bound


def _shortened(group: Sequence[ArgumentPower]) -> tuple[float, Sequence[ArgumentPower]] | None:
    """A bound of x^a s^-b by c^t x^(a - t) s^(e t - b), where |x| <= c s^e: c^t and the factors.

    None if no two factors are of this kind. An example is an element of x over sum(x**2), which is
    at most 1 / norm(x).
    """
    for low, (bottom, below) in enumerate(group):
        for high, (top, above) in enumerate(group):
            held = top.held_by(bottom) if below < 0 < above else None
            if held is None:
                continue
            c, e = held
            t = min(above, -below / e)
            changed = [*group]  # by place, as a quantity may be a factor twice
            changed[low], changed[high] = (bottom, below + e * t), (top, above - t)
            left = [part for part in changed if part[1]]
            factor, rest = _shortened(left) or (1.0, left)
            return factor * raised(c, t), rest
    return None


def _by_terms(group: Sequence[ArgumentPower], p: float) -> float:
    """Minkowski's inequality for |u + v|^k x^a = (|u| x^(a/k) + |v| x^(a/k))^k; infinite if unused.

    It is used only if one of these terms can be shortened, as in (1 - c / sum(x**2)) x.
    """
    for at, (whole, k) in enumerate(group):
        if k <= 0 or len(whole.terms) < 2:
            continue
        others = [(one, power / k) for one, power in (*group[:at], *group[at + 1 :])]
        terms = [[*chain(*term.parts()), *others] for term in whole.terms]
        if any(map(_shortened, terms)):
            order = max(p * k, 1.0)  # the inequality does not hold below order 1
            return raised(math.fsum(_of_group(one, order) for one in terms), k)
    return INF


def _by_hoelder(group: Sequence[ArgumentPower], p: float) -> float:
    degree = math.fsum(abs(power) for part, power in group if part.fixed is None)
    sizes = [1.0]
    for part, power in group:
        one = part.norm(p * degree) if power > 0 else part.inverse(p * degree)
        sizes.append(raised(one, abs(power)))
    return times(*sizes)


def _largest(part: ArgumentPower) -> float:
    one, power = part
    if power > 0:
        return raised(size(one.hull), power)
    nearest = nearest_zero(one.hull)
    return raised(1 / nearest, -power) if nearest else INF


class ProductOfPowers(Majorant):
    """The rules of a function whose size is a product of fixed powers of the arguments' sizes."""

    def __init__(self, *powers: float) -> None:
        self._powers = powers

    def powers(self, use: Applied) -> Sequence[tuple[int, float]]:
        """The powers, by place."""
        return tuple(enumerate(self._powers))

    def norm(self, use: Applied, p: float) -> float:
        """The product of the norms of independent parts, otherwise by Hölder's inequality.

        An argument may have a bound though the parts that it is opened into have none.
        """
        bound = of_parts(use.parts(), p)
        whole = [(use.arguments[at], power) for at, power in self.powers(use)]
        if bound < INF or not any(_largest(part) < INF for part in whole):
            return bound
        return _of_group(whole, p)

    def inverse(self, use: Applied, r: float) -> float:
        """The norm of the reciprocal, which is such a product too."""
        return of_parts([[(one, -power) for one, power in group] for group in use.parts()], r)

    def log_size(self, use: Applied, p: float) -> float:
        """The sum of the log-sizes of the factors, times their exponents."""
        powers = self.powers(use)
        sizes = (times(abs(power), use.arguments[at].log_size(p)) for at, power in powers)
        return math.fsum(sizes) if powers else INF


class Negated(ProductOfPowers):
    """The rules of -x."""

    def linear_in(self, use: Applied) -> Sequence[int]:
        """The one argument."""
        return (0,)

    def spread(self, use: Applied, p: float) -> float:
        """The spread of x."""
        return use.arguments[0].spread(p)

    def log_moment(self, use: Applied, t: float) -> float:
        """The log-moment of x at -t."""
        return use.arguments[0].log_moment(-t)

    def mean(self, use: Applied) -> Hull:
        """Minus the mean of x."""
        return use.arguments[0].mean.scaled(-1.0)


class AbsoluteValue(ProductOfPowers):
    """The rules of |x|."""

    def spread(self, use: Applied, p: float) -> float:
        """By the slope of 1."""
        return times(slack(p), use.arguments[0].spread(p))

    def log_moment(self, use: Applied, t: float) -> float:
        """exp(t |x|) is at most exp(t x) + exp(-t x)."""
        x = use.arguments[0]
        return log_sum([x.log_moment(t), x.log_moment(-t)]) if t > 0 else 0.0


class Products(ProductOfPowers):
    """The rules of all products of an element of one argument and an element of the other."""

    def __init__(self) -> None:
        super().__init__(1.0, 1.0)

    def mean(self, use: Applied) -> Hull:
        """The product of the means of independent arguments."""
        x, y = use.arguments
        return x.mean.times(y.mean) if use.independent else EVERYWHERE


class ProductOfTwo(Products):
    """The rules of the product of two arguments, element by element."""

    def linear_in(self, use: Applied) -> Sequence[int]:
        """Both arguments, if they are independent."""
        return (0, 1) if use.independent else ()

    def spread(self, use: Applied, p: float) -> float:
        """For independent x and y: x y - E x E y = (x - E x) y + E x (y - E y), by Minkowski."""
        x, y = use.arguments
        if not use.independent:
            return INF
        one = times(x.spread(p), y.norm(p)) + times(size(x.mean), y.spread(p))
        return min(one, times(y.spread(p), x.norm(p)) + times(size(y.mean), x.spread(p)))

    def log_moment(self, use: Applied, t: float) -> float:
        """By the hull of either factor."""
        x, y = use.arguments
        return min(_with_factor(x, y.hull, use, t), _with_factor(y, x.hull, use, t))


class Quotient(ProductOfPowers):
    """The rules of a quotient."""

    def linear_in(self, use: Applied) -> Sequence[int]:
        """The numerator, if the denominator is independent of it."""
        return (0,) if use.independent else ()

    def spread(self, use: Applied, p: float) -> float:
        """A multiple of the numerator's spread, if the denominator is fixed."""
        x, y = use.arguments
        nearest = nearest_zero(y.hull)
        return times(x.spread(p), 1 / nearest) if y.fixed is not None and nearest else INF

    def mean(self, use: Applied) -> Hull:
        """For independent arguments, the numerator's mean times the hull of the reciprocal."""
        x, y = use.arguments
        if not use.independent or not nearest_zero(y.hull):
            return EVERYWHERE
        return x.mean.times(_reciprocal(y.hull))

    def log_moment(self, use: Applied, t: float) -> float:
        """By the hull of the reciprocal of the denominator."""
        x, y = use.arguments
        return _with_factor(x, _reciprocal(y.hull), use, t) if nearest_zero(y.hull) else INF


def _reciprocal(hull: Hull) -> Hull:
    return Hull(1 / hull.high, 1 / hull.low)


def _with_factor(x: Argument, factor: Hull, use: Applied, t: float) -> float:
    """A bound of log E exp(t · factor · x), for a factor in a hull.

    It is convex in the factor: for an independent factor it is largest at an end of the hull. For
    any other factor c, exp(t c x) is at most the sum of its values at both ends.
    """
    if not factor.bounded:
        return INF
    ends = [x.log_moment(t * end) if end else 0.0 for end in {factor.low, factor.high}]
    return max(ends) if use.independent else log_sum(ends)


class Raised(ProductOfPowers):
    """The rules of a base to an exponent."""

    def powers(self, use: Applied) -> Sequence[tuple[int, float]]:
        """The exponent, if it is one fixed number other than 0."""
        power = use.arguments[1].hull
        known = use.arguments[1].fixed is not None and power.low == power.high
        return ((0, power.low),) if known and power.low and power.bounded else ()

    def norm(self, use: Applied, p: float) -> float:
        """By the powers at the ends of the exponent, or for a fixed base, as an exponential."""
        if self.powers(use):
            return super().norm(use, p)
        return min(_raised_between(use, p), self._of_fixed_base(use, p))

    def inverse(self, use: Applied, r: float) -> float:
        """As for the norm, with the sign of the exponent changed."""
        return super().inverse(use, r) if self.powers(use) else self._of_fixed_base(use, -r)

    def _of_fixed_base(self, use: Applied, p: float) -> float:
        """||c^u||_p as the norm of exp(u log c); for a negative order, the bound of the inverse."""
        base, exponent = use.arguments
        if base.fixed is None or base.hull.low <= 0:
            return INF
        rates = {p * math.log(base.hull.low), p * math.log(base.hull.high)}
        return exponential(max(map(exponent.log_moment, rates)) / abs(p))


def _raised_between(use: Applied, p: float) -> float:
    """The sum of the norms of the powers with the least and the greatest exponent."""
    base, exponent = use.arguments
    if not exponent.hull.bounded:
        return INF
    total = 0.0
    for power in {exponent.hull.low, exponent.hull.high}:
        group: list[ArgumentPower] = [(base, power)] if power else []
        total += of_parts([group], p)
    return total


def remainder(use: Applied, p: float) -> float:
    """A remainder is at most as large as the divisor."""
    return use.arguments[1].norm(p)


def whole_quotient(use: Applied, p: float) -> float:
    """The quotient rounded down: at most 1 away from the quotient."""
    x, y = use.arguments
    both: Sequence[Sequence[ArgumentPower]] = [[(x, 1.0)], [(y, -1.0)]]
    return 1.0 + of_parts(both if use.independent else [[*both[0], *both[1]]], p)


# ---- exponentials --------------------------------------------------------------------------------
#
# The rules of exponential functions and logarithms.


class Exponential(Majorant):
    """The rules of exp(x), by the log-moments of x."""

    def log_size(self, use: Applied, p: float) -> float:
        """The norm of x."""
        return use.arguments[0].norm(p)

    def norm(self, use: Applied, p: float) -> float:
        """E exp(p x) to the power 1 / p."""
        return _exponential_norm(use.arguments[0], p)

    def inverse(self, use: Applied, r: float) -> float:
        """E exp(-r x) to the power 1 / r."""
        return _exponential_norm(use.arguments[0], -r)


class Softmax(Majorant):
    """The rules of exp(x_i) / Σ exp(x_j), which lies between 0 and 1."""

    def log_size(self, use: Applied, p: float) -> float:
        """Its logarithm is x_i - log Σ exp(x_j), between 0 and -log n - 2 max |x|."""
        n = use.length()
        return math.log(n) + 2 * times(raised(float(n), 1 / p), use.arguments[0].norm(p))

    def inverse(self, use: Applied, r: float) -> float:
        """The inverse is 1 + Σ exp(x_j) exp(-x_i) over j other than i, by Minkowski.

        Each product is bounded by independence, or else by Hölder. The bound of order 1 holds for
        orders below 1 too (Lyapunov).
        """
        x, r = use.arguments[0], max(r, 1.0)
        axes = use.axes()
        order = r if len(axes) == 1 and axes[0] in x.apart else 2 * r
        other = times(_exponential_norm(x, order), _exponential_norm(x, -order))
        return 1 + (use.length() - 1) * other


# The rates t of exp(t x) that are tried; they suit quantities of sizes around 1.
RATES = tuple(3.0**k for k in range(-4, 2))


def norm_by_exponentials(x: Argument, p: float) -> float:
    """A bound of the norm of a quantity that is never below 0, or never above 0.

    For x >= 0, x^p is at most (p / (e t))^p exp(t x), as x^p exp(-t x) is largest at x = p / t. For
    a walk that is kept above 0 and drifts towards it, E exp(t x) does not grow from step to step
    (Lundberg's inequality; Kingman 1964 for queues), where bounds by the norms of the steps do.
    """
    side = 1.0 if x.hull.low >= 0 else -1.0 if x.hull.high <= 0 else 0.0
    if not side:
        return INF
    bounds = (p / (math.e * t) * exponential(x.log_moment(side * t) / p) for t in RATES)
    return min(bounds, default=INF)


def _exponential_norm(x: Argument, p: float) -> float:
    return exponential(x.log_moment(p) / abs(p))


def exponential_less_one(use: Applied, p: float) -> float:
    """The size of exp(x) - 1 is at most max(1, exp(x)), and |x| · exp(max(x, 0)); by Hölder."""
    x = use.arguments[0]
    rising = exponential(log_sum([0.0, x.log_moment(2 * p)]) / (2 * p))
    either = exponential(log_sum([0.0, x.log_moment(p)]) / p)
    return min(either, times(x.norm(2 * p), rising))


def hyperbolic(use: Applied, p: float) -> float:
    """The sizes of sinh and cosh are at most (exp(x) + exp(-x)) / 2; by Minkowski's inequality."""
    x = use.arguments[0]
    return (_exponential_norm(x, p) + _exponential_norm(x, -p)) / 2


class Logarithm(Majorant):
    """The rules of a logarithm to any base, as a multiple of the natural one."""

    def __init__(self, factor: float) -> None:
        self._factor = factor

    def norm(self, use: Applied, p: float) -> float:
        """A multiple of the log-size of x."""
        return self._factor * use.arguments[0].log_size(p)

    def spread(self, use: Applied, p: float) -> float:
        """At most twice the norm of the distance from any number."""
        x = use.arguments[0]
        unit = x.norm(1.0)
        return 2 * self._factor * distance_of_log(x, unit, p) if 0 < unit < INF else INF

    def inverse(self, use: Applied, r: float) -> float:
        """By |log x| >= |x - 1| / max(1, x), with Hölder's inequality if x may exceed 1."""
        x = use.arguments[0]
        if x.hull.high <= 1:
            return x.inverse(r, 1.0) / self._factor
        return times(1 + x.norm(2 * r), x.inverse(2 * r, 1.0)) / self._factor

    def log_moment(self, use: Applied, t: float) -> float:
        """exp(t log x) is a power of x."""
        x, rate = use.arguments[0], t * self._factor
        if rate > 0:
            return rate * logarithm(x.norm(rate))
        return -rate * logarithm(x.inverse(-rate))


def log_size_by_powers(x: Argument, p: float) -> float:
    """A bound of ||log|x| ||_p: |log c| plus a bound of ||log|x / c| ||_p, for c near E|x|."""
    unit = x.norm(1.0)
    return abs(math.log(unit)) + distance_of_log(x, unit, p) if 0 < unit < INF else INF


def distance_of_log(x: Argument, unit: float, p: float) -> float:
    """A bound of ||log|x / c| ||_p for the number c = unit.

    For each s > 0, s |log(x / c)| <= exp(s |log(x / c)|) / e, and this exponential is at most
    (x / c)^s + (c / x)^s.
    """
    bound = INF
    for s in (1.0, 1 / p, 0.5 / p, 0.05 / p):
        if s * p < 0.5 and bound < INF:
            break  # a smaller s gives a worse bound
        above = raised(x.norm(s * p) / unit, s)
        below = raised(times(x.inverse(s * p), unit), s)
        bound = min(bound, (above + below) / (math.e * s))
    return bound


class Share(Majorant):
    """The rules of a distribution function F with 1 - F(x) = F(-x).

    -log F(x) is at most log 2 + a |x| + b x².
    """

    even_share = True

    def __init__(self, a: float, b: float) -> None:
        self._a, self._b = a, b

    def log_size(self, use: Applied, p: float) -> float:
        """By Minkowski's inequality."""
        x = use.arguments[0]
        square = times(self._b, raised(x.norm(2 * p), 2.0)) if self._b else 0.0
        return math.log(2.0) + self._a * x.norm(p) + square

    def inverse(self, use: Applied, r: float) -> float:
        """By 1 / F <= 2 exp(a |x|), split by the sign of x, if b is 0; it holds for 1 - F too."""
        if self._b:
            return INF
        log_moment = use.arguments[0].log_moment
        return 2 * exponential(log_sum([log_moment(-r * self._a), log_moment(r * self._a)]) / r)


def log_gamma(use: Applied, p: float) -> float:
    """The norm of the log of the gamma function of numbers above 0, by Minkowski's inequality.

    For x >= 1 it is at least -0.1215, and at most (x - 1/2) log x - x + log(2 pi) / 2 + 1/12 (DLMF
    5.6.1), which is below x log x + 1/8. For x < 1 it is its value at x + 1 minus log x. And
    s log x < x^s / e for each s > 0.
    """
    x, bound = use.arguments[0], INF
    if x.hull.low < 0:
        return INF
    for s in (1.0, 0.25):
        near_0 = 0.0 if x.hull.low >= 1 else raised(x.inverse(s * p), s)
        above = raised(x.norm((1 + s) * p), 1 + s)
        bound = min(bound, (above + near_0) / (math.e * s))
    return 1 / 8 + bound


class LogarithmOfOneMore(Majorant):
    """The rules of log(1 + x) for x that stay above -1.

    It lies below its tangent at any n >= 0, log(1 + n) + (x - n) / (1 + n), and above its value at
    the low end of the hull.
    """

    def norm(self, use: Applied, p: float) -> float:
        """The tangent at the norm of x."""
        x = use.arguments[0]
        if x.hull.low <= -1:
            return INF
        below = -math.log1p(min(x.hull.low, 0.0))
        n = x.norm(p)
        return below + min(n, math.log1p(n) + n / (1 + n)) if n < INF else INF

    def log_moment(self, use: Applied, t: float) -> float:
        """For t > 0, by a power of 1 + x."""
        x = use.arguments[0]
        return t * math.log1p(x.norm(t)) if t > 0 and x.hull.low >= -1 else INF


def times_logarithm(use: Applied, p: float) -> float:
    """The norm of x log y by Hölder; x log x lies between -1/e and x^(1 + s) / (e s) for s > 0."""
    x, y = use.arguments
    if use.same:
        return min(
            1 / math.e + raised(x.norm((1 + s) * p), 1 + s) / (math.e * s) for s in (1.0, 0.25)
        )
    order = p if use.independent else 2 * p
    return times(x.norm(order), y.log_size(order))


def choose(use: Applied, p: float) -> float:
    """The number of ways to choose k of n is at most 2^n."""
    return exponential(use.arguments[0].log_moment(p * math.log(2.0)) / p)
