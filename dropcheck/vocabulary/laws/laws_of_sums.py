"""The laws of sums of independent draws, for families of laws that contain their sums.

A sum of n draws is start * n + unit * z, where z has the law given here; its arguments are those of
the draws, each times a number (Johnson, Kotz and Balakrishnan 1994, "Continuous Univariate
Distributions", sections 13.3, 16.2, 17.6 and 18.3; Johnson, Kemp and Kotz 2005, "Univariate
Discrete Distributions", sections 3.8, 4.8 and 5.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dropcheck.records import record
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws.discrete import (
    BERNOULLI,
    BINOMIAL,
    GEOMETRIC,
    NEGATIVE_BINOMIAL,
    POISSON,
    RADEMACHER,
)
from dropcheck.vocabulary.laws.positive_numbers import CHI_SQUARE, EXPONENTIAL, GAMMA
from dropcheck.vocabulary.laws.unbounded import CAUCHY, NORMAL


@record
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
