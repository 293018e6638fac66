"""The laws of sums of independent draws, for families of laws that contain their sums.

A sum of n draws is start * n + unit * z, where z has the law given here; its arguments are those of
the draws, each times a number (Johnson, Kotz and Balakrishnan 1994, "Continuous Univariate
Distributions", sections 13.3, 16.2, 17.6 and 18.3; Johnson, Kemp and Kotz 2005, "Univariate
Discrete Distributions", sections 3.8, 4.8 and 5.5).
"""

from __future__ import annotations

import copyreg
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws.continuous import (
    BETA,
    CAUCHY,
    CHI_SQUARE,
    EXPONENTIAL,
    GAMMA,
    NORMAL,
)
from dropcheck.vocabulary.laws.discrete import (
    BERNOULLI,
    BINOMIAL,
    GEOMETRIC,
    NEGATIVE_BINOMIAL,
    POISSON,
    RADEMACHER,
)


@dataclass(frozen=True, slots=True)
class LawOfSum:
    """The law of a sum of n draws."""

    law: Law
    # takes n and the arguments of the draws; returns each argument of the sum's law as a pair: a
    # number or an argument of the draws, and its factor
    arguments: Callable[..., tuple[tuple[Any, float], ...]]
    start: float = 0.0
    unit: float = 1.0


SUMS = {
    NORMAL: LawOfSum(NORMAL, lambda n, mean, sd: ((mean, n), (sd, math.sqrt(n)))),
    CAUCHY: LawOfSum(CAUCHY, lambda n, loc, scale: ((loc, n), (scale, n))),
    EXPONENTIAL: LawOfSum(GAMMA, lambda n, scale: ((1.0, n), (scale, 1.0))),
    GAMMA: LawOfSum(GAMMA, lambda n, shape, scale: ((shape, n), (scale, 1.0))),
    CHI_SQUARE: LawOfSum(CHI_SQUARE, lambda n, df: ((df, n),)),
    POISSON: LawOfSum(POISSON, lambda n, rate: ((rate, n),)),
    BERNOULLI: LawOfSum(BINOMIAL, lambda n, p: ((1.0, n), (p, 1.0))),
    BINOMIAL: LawOfSum(BINOMIAL, lambda n, size, p: ((size, n), (p, 1.0))),
    RADEMACHER: LawOfSum(BINOMIAL, lambda n: ((1.0, n), (0.5, 1.0)), -1.0, 2.0),
    NEGATIVE_BINOMIAL: LawOfSum(NEGATIVE_BINOMIAL, lambda n, size, p: ((size, n), (p, 1.0))),
    # the number of trials up to the first success is one more than the failures before it
    GEOMETRIC: LawOfSum(NEGATIVE_BINOMIAL, lambda n, p: ((1.0, n), (p, 1.0)), 1.0),
}


# ---- ranked law ----------------------------------------------------------------------------------
#
# The law of an order statistic: the element of a given rank among independent draws of one law.
#
# The element with k of n draws below it has the distribution function I_F(x)(k + 1, n - k). It is
# Q(u), where Q is the quantile function of the draws, and u has the beta law with the parameters
# k + 1 and n - k (David and Nagaraja 2003, "Order statistics", section 2.1).


# The relative error of a distribution function.
_ROUNDING = 1e-13


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranked(Law):
    """The law of an order statistic; it takes the arguments of the law of the draws.

    It serves the analysis alone: no draw is made from it, but for tests.
    """

    whole: Law
    rank: int
    count: int

    def rate(self, side: float, arguments: Sequence[Any]) -> Any:
        """Each tail falls as a power of the tail of one draw."""
        power = self.count - self.rank if side > 0 else self.rank + 1
        return power * self.whole.rate(side, arguments)

    @property
    def symmetric(self) -> bool:
        """The middle one of draws from a symmetric law has a symmetric law."""
        return self.whole.symmetric and 2 * self.rank + 1 == self.count


@cache
def ranked(law: Law, rank: int, count: int) -> Ranked:
    """The law of the element with `rank` elements below it, among `count` draws of a law."""
    below, above = rank + 1, count - rank

    def log_density(x: Any, *arguments: Array) -> Any:
        own = law.log_density_inside(x, *arguments)
        if hasattr(x, "by_ends"):  # an enclosure: the density is the slope of both
            slope = np.exp(own + 0.0 * x)
            under = x.by_ends(lambda end: law.cdf(end, *arguments), _ROUNDING, slope)
            over = x.by_ends(lambda end: law.survival(end, *arguments), _ROUNDING, slope)
        else:
            under, over = law.cdf(x, *arguments), law.survival(x, *arguments)
        of_rank = special.xlogy(rank, under) + special.xlogy(above - 1, over)
        return own + of_rank - special.betaln(below, above)

    def chance(side: int, x: Any, *own: Any) -> Any:
        """I_F(below, above) with F = P(z <= x), computed from the smaller tail."""
        under, over = law.chance_of_z(side, x, own), law.chance_of_z(1 - side, x, own)
        a, b = (above, below) if side else (below, above)
        return np.where(under < 0.5, special.betainc(a, b, under), special.betaincc(b, a, over))

    def quantile(side: int, level: Any, *own: Any) -> Any:
        a, b = (above, below) if side else (below, above)
        near, far = BETA.quantile(level, a, b), BETA.upper_quantile(level, b, a)
        inverse = (law.quantile, law.upper_quantile)
        of_near, of_far = (
            inverse[at](levels, *law.standard(own))
            for at, levels in ((side, near), (1 - side, far))
        )
        return np.where(near < 0.5, of_near, of_far)

    facts: dict[str, Any] = {one.name: getattr(law, one.name) for one in fields(Law)}
    facts |= {
        "sampler": None,
        "log_density_inside": log_density,
        "moments": lambda *arguments: _order(law, below, above, arguments),
        "chances": (partial(chance, 0), partial(chance, 1)),
        "quantiles": (partial(quantile, 0), partial(quantile, 1)),
    }
    return Ranked(**facts, whole=law, rank=rank, count=count)


def can_be_ranked(law: Law, arguments: tuple[float, ...]) -> bool:
    """Whether `ranked` knows the law of order statistics of this law with these arguments."""
    if law.discrete or law.own_axes is not None or law.constant(*arguments) is not None:
        return False
    low, high = law.support(*arguments)
    one_tail = law.symmetric or math.isfinite(low) or math.isfinite(high)
    return law.has_quantiles and (one_tail or law.moment_order(*arguments) == math.inf)


def _order(law: Law, below: int, above: int, arguments: tuple[Any, ...]) -> float:
    """The order of the moments: each tail falls as a power of the tail of one draw."""
    order = law.moment_order(*arguments)
    low, high = law.support(*arguments)
    tails = [side for side, end in ((below, low), (above, high)) if math.isinf(end)]
    return order * min(tails, default=1)


copyreg.pickle(Ranked, lambda one: (ranked, (one.whole, one.rank, one.count)))
