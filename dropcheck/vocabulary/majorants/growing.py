"""The rules of functions that grow no faster than their arguments."""

from __future__ import annotations

from dropcheck.vocabulary.majorants.bounds_arithmetic import INF, combined, log_sum, size, times
from dropcheck.vocabulary.majorants.rule import Applied, Argument, Majorant


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
