"""The discrete distributions of numbers: parameters, domains, support."""

# ruff: noqa: ARG005 - each function of a law is given all of its parameters

from __future__ import annotations

import math

from dropcheck.vocabulary.entries import Domain, Law, LawParameter
from dropcheck.vocabulary.law_parts import (
    COUNT,
    FINITE,
    LARGEST_COUNT,
    NOT_NEGATIVE,
    POSITIVE_PROBABILITY,
    PROBABILITY,
    PROBABILITY_SUM_TOLERANCE,
    WHOLE,
    Condition,
    Numbers,
    law,
    plain,
    positive_half_line,
)

P = LawParameter("p", PROBABILITY)
N = LawParameter("n", COUNT)
# numpy's hypergeometric generator takes groups below 1e9
GROUP = Domain(0.0, 1e9, low_open=False, whole=True)
# numpy's Poisson generator counts in 64-bit integers
RATE = Domain(0.0, LARGEST_COUNT, low_open=False, high_open=False)


def probabilities_problem(p: Numbers) -> str | None:
    """What keeps numbers from being the probabilities of all outcomes, or None."""
    total = math.fsum(p)
    if abs(total - 1.0) <= PROBABILITY_SUM_TOLERANCE:
        return None
    return f"the probabilities p must sum to 1, and sum to {plain(total)}"


def _bernoulli_constant(p: float) -> float | None:
    return float(p) if p in (0, 1) else None


def _binomial_constant(n: float, p: float) -> float | None:
    if n == 0 or p == 0:
        return 0.0
    return float(n) if p == 1 else None


def _drawn_hull(good: float, bad: float, drawn: float) -> tuple[float, float]:
    return (float(max(0, drawn - bad)), float(min(drawn, good)))


def _drawn_constant(good: float, bad: float, drawn: float) -> float | None:
    low, high = _drawn_hull(good, bad, drawn)
    return low if low == high else None


def _possible(p: Numbers) -> tuple[float, float]:
    possible = [index for index, share in enumerate(p) if share > 0]
    return (float(possible[0]), float(possible[-1]))


def _only_outcome(p: Numbers) -> float | None:
    low, high = _possible(p)
    return low if low == high else None


def _only_value(v: Numbers) -> float | None:
    return float(v[0]) if min(v) == max(v) else None


DISCRETE: tuple[Law, ...] = (
    law(
        "bernoulli",
        "1 with probability p, otherwise 0",
        P,
        hull=lambda p: (0.0, 1.0),  # the same for all that are not degenerate
        discrete=True,
        constant=_bernoulli_constant,
    ),
    law(
        "rademacher",
        "1 or -1, equally likely",
        hull=lambda: (-1.0, 1.0),
        discrete=True,
    ),
    law(
        "binomial",
        "successes among n trials of probability p",
        N,
        P,
        hull=lambda n, p: (0.0, float(n)),
        discrete=True,
        constant=_binomial_constant,
    ),
    law(
        "geometric",
        "trials up to and including the first success, from 1; 0 < p <= 1",
        LawParameter("p", POSITIVE_PROBABILITY),
        hull=lambda p: (1.0, math.inf),
        discrete=True,
        constant=lambda p: 1.0 if p == 1 else None,
    ),
    law(
        "negative_binomial",
        "failures before the n-th success; n may be any number from 0, 0 < p <= 1",
        LawParameter("n", NOT_NEGATIVE),
        LawParameter("p", POSITIVE_PROBABILITY),
        hull=positive_half_line,
        discrete=True,
        constant=lambda n, p: 0.0 if n == 0 or p == 1 else None,
        # a draw stays below 2**53, where whole numbers end, but for a chance below 1e-1000
        conditions=(
            Condition(
                "(n + 1) * (1 - p) / p <= 1e12 is required",
                "p",
                lambda n, p: (n + 1) * (1 - p) <= 1e12 * p,
            ),
        ),
    ),
    law(
        "poisson",
        "events of a steady stream, rate on average",
        LawParameter("rate", RATE),
        hull=positive_half_line,
        discrete=True,
        constant=lambda rate: 0.0 if rate == 0 else None,
    ),
    law(
        "hypergeometric",
        "good ones among `drawn` taken without putting back; good and bad below 1e9",
        LawParameter("good", GROUP),
        LawParameter("bad", GROUP),
        LawParameter("drawn", COUNT),
        hull=_drawn_hull,
        discrete=True,
        constant=_drawn_constant,
        conditions=(
            Condition(
                "drawn <= good + bad is required",
                "drawn",
                lambda good, bad, drawn: drawn <= good + bad,
            ),
        ),
    ),
    law(
        "discrete_uniform",
        "equally likely whole numbers from low to high, both ends in",
        LawParameter("low", WHOLE),
        LawParameter("high", WHOLE),
        hull=lambda low, high: (float(low), float(high)),
        discrete=True,
        constant=lambda low, high: float(low) if low == high else None,
        conditions=(Condition("low <= high is required", "low", lambda low, high: low <= high),),
    ),
    law(
        "categorical",
        "index, from 0, of an outcome picked by its probability",
        LawParameter("p", PROBABILITY, axes=1),
        hull=_possible,
        discrete=True,
        constant=_only_outcome,
        joint=probabilities_problem,
    ),
    law(
        "choice",
        "one of the values v, equally likely",
        LawParameter("v", FINITE, axes=1),
        hull=lambda v: (float(min(v)), float(max(v))),
        discrete=True,
        constant=_only_value,
    ),
)
