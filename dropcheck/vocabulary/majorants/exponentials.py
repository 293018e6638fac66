"""The rules of exponential functions and logarithms."""

from __future__ import annotations

import math

from dropcheck.vocabulary.majorants.bounds_arithmetic import (
    INF,
    exponential,
    log_sum,
    logarithm,
    raised,
    times,
)
from dropcheck.vocabulary.majorants.powers import log_moment_of_quadratic
from dropcheck.vocabulary.majorants.rule import Applied, Argument, Majorant


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
        """By 1 / F <= 2 exp(a |x| + b x²), split by the sign of x; it holds for 1 - F too."""
        x = use.arguments[0]
        ends = (-r * self._a, r * self._a)
        if self._b:
            total = log_sum([log_moment_of_quadratic(x, end, r * self._b) for end in ends])
        else:
            total = log_sum([x.log_moment(end) for end in ends])
        return 2 * exponential(total / r)


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
