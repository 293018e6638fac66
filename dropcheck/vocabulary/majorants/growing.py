"""Functions of numbers that grow no faster than their arguments."""

from __future__ import annotations

from dropcheck.vocabulary.majorants.bounds_arithmetic import INF, combined, log_sum, size, times
from dropcheck.vocabulary.majorants.rule import Applied, Argument, Majorant


def slack(p: float) -> float:
    """||f(x) - E f(x)||_p is no larger than this times ||x - E x||_p, where |f'| <= 1.

    With x' independent of x and of its law, the left side is at most ||f(x) - f(x')||_p <=
    ||x - x'||_p <= 2 ||x - E x||_p; for p = 2 the variance is half of E(f(x) - f(x'))².
    """
    return 1.0 if p == 2 else 2.0


def about(x: Argument, p: float) -> float:
    """A bound of ||x - c||_p for one number c, the same for all elements: 0, or among their means.

    A mean square about the elements' own mean is no larger than that about c.
    """
    around = x.mean.width / 2 + x.spread(p) if x.mean.bounded else INF
    return min(x.norm(p), around)


class LinearGrowth(Majorant):
    """|f(x)| <= summand + factor · |x|.

    `above`: f(x) <= summand + factor · max(x, 0) even; `slope`: no two values of f are further
    apart than this times their arguments.
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
    """x above 0, slope · x below: of size |x| · max(1, |slope|)."""

    def norm(self, use: Applied, p: float) -> float:
        """The larger slope, where the second one is bounded."""
        x, slope = use.arguments
        return times(max(1.0, size(slope.hull)), x.norm(p))

    def spread(self, use: Applied, p: float) -> float:
        """By the slope, where it is fixed."""
        x, slope = use.arguments
        if slope.fixed is None:
            return INF
        return times(slack(p), max(1.0, size(slope.hull)), x.spread(p))


class Picked(Majorant):
    """One of the arguments from some place on, element by element.

    `smooth`: it moves no further than the one that moves furthest.
    """

    def __init__(self, first: int, smooth: bool) -> None:
        self._first, self._smooth = first, smooth
        self.holds_back = smooth

    def norm(self, use: Applied, p: float) -> float:
        """E|f|^p is at most Σ E|u|^p."""
        return combined((one.norm(p) for one in use.arguments[self._first :]), p)

    def spread(self, use: Applied, p: float) -> float:
        """As for a slope of 1, where the distance is at most (Σ |u - u'|^p)^(1/p)."""
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
