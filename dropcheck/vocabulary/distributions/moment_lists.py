"""Lists of the moments of one law, and how one kind of moment gives another.

A list has an entry for each order from 0 to 8: order 8 is needed for the variance of a fourth
power. An entry is a number, or an array with one number for each element; all entries broadcast.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyval

from dropcheck.vocabulary.function import Array

HIGHEST_ORDER = 8
MomentList = Sequence[Any]


def central_from_cumulants(cumulants: MomentList) -> MomentList:
    """E(x - E x)^k of each order k (Smith 1995, The American Statistician 49, equation 3).

    The first two entries of `cumulants` are not read.

    >>> central_from_cumulants([0.0, 5.0, 1.0, 0.0, 0.0])
    [1.0, 0.0, 1.0, 0.0, 3.0]
    """
    central: list[Any] = [1.0, 0.0]
    for order in range(2, len(cumulants)):
        terms = (
            math.comb(order - 1, part - 1) * cumulants[part] * central[order - part]
            for part in range(2, order + 1)
        )
        central.append(sum(terms, 0.0))
    return central


def cumulants_from_central(mean: Any, central: MomentList) -> MomentList:
    """The cumulants of a law with this mean, by the equation of `central_from_cumulants`.

    >>> cumulants_from_central(5.0, [1.0, 0.0, 1.0, 0.0, 3.0])
    [0.0, 5.0, 1.0, 0.0, 0.0]
    """
    cumulants: list[Any] = [0.0, mean]
    for order in range(2, len(central)):
        terms = (
            math.comb(order - 1, part - 1) * cumulants[part] * central[order - part]
            for part in range(2, order - 1)
        )
        cumulants.append(central[order] - sum(terms, 0.0))
    return cumulants


def raw_from_central(mean: Any, central: MomentList) -> MomentList:
    """E x^k of each order k, for a law with this mean.

    >>> raw_from_central(1.0, [1.0, 0.0, 1.0, 0.0, 3.0])
    [1.0, 1.0, 2.0, 4.0, 10.0]
    """
    powers: list[Any] = [1.0]
    while len(powers) < len(central):
        powers.append(powers[-1] * mean)
    return [
        sum((math.comb(k, j) * powers[k - j] * central[j] for j in range(k + 1)), 0.0)
        for k in range(len(central))
    ]


def pearson(square: Any, slope: Any, level: Any) -> MomentList:
    """The central moments of a law of Pearson's system.

    With y = x - E x, such a law has E(y g(y)) = E((level + slope y + square y²) g'(y)) for smooth
    g: its Stein kernel is of degree 2 (Afendras, Papadatos and Papathanasiou 2011, Bernoulli 17,
    theorem 2.1). With g(y) = y^k this is a recursion, whose terms are all of one sign.

    >>> pearson(0.0, 0.0, 1.0)  # a standard normal law
    [1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0, 0.0, 105.0]
    """
    central: list[Any] = [1.0, 0.0]
    for k in range(1, HIGHEST_ORDER):
        central.append(k * (slope * central[k] + level * central[k - 1]) / (1.0 - k * square))
    return central


@cache
def _partition_polynomials() -> tuple[tuple[float, ...], ...]:
    """For each order k, the coefficients of κ_k as a polynomial in the odds, constant first."""
    rows: list[list[float]] = [[0.0], [0.0, 1.0]]
    while len(rows) <= HIGHEST_ORDER:
        slopes = [power * factor for power, factor in enumerate(rows[-1])][1:]
        # odds (1 + odds) times the derivative
        rows.append([0.0] + [a + b for a, b in zip([*slopes, 0.0], [0.0, *slopes], strict=True)])
    return tuple(map(tuple, rows))


def of_trials(odds: Any) -> MomentList:
    """The cumulants of the number of failures before a success, whose mean is `odds`.

    κ_(k+1) = odds (1 + odds) dκ_k / d odds, with all terms of one sign (Johnson, Kemp and Kotz
    2005, section 5.3). For odds = -p they are minus the cumulants of a Bernoulli variable (section
    3.2).
    """
    return [
        sum((factor * odds**power for power, factor in enumerate(polynomial) if factor), 0.0)
        for polynomial in _partition_polynomials()
    ]


# A lognormal variable x of mean 1 and variance u has E x^j = (1 + u)^(j (j - 1) / 2). So in
# E(x - 1)^k the coefficient of u^m is the number of graphs with k labelled points and m edges in
# which every point has an edge; in the cumulant it is the number of those that are connected. No
# coefficient is negative, so that nothing cancels.
_EDGES = math.comb(HIGHEST_ORDER, 2)


@cache
def _graphs() -> tuple[Array, Array]:
    """The numbers of graphs without a lone point, and of connected graphs: [points, edges]."""
    every = [
        [math.comb(math.comb(k, 2), edges) for edges in range(_EDGES + 1)]
        for k in range(HIGHEST_ORDER + 1)
    ]
    none_alone = [
        [
            sum((-1) ** (k - j) * math.comb(k, j) * every[j][edges] for j in range(k + 1))
            for edges in range(_EDGES + 1)
        ]
        for k in range(HIGHEST_ORDER + 1)
    ]
    connected = [[0] * (_EDGES + 1)]
    for k in range(1, HIGHEST_ORDER + 1):
        row = list(every[k])
        for j in range(1, k):  # less those in which the first point is connected to j - 1 others
            for a, b in itertools.product(range(_EDGES + 1), repeat=2):
                if a + b <= _EDGES:
                    row[a + b] -= math.comb(k - 1, j - 1) * connected[j][a] * every[k - j][b]
        connected.append(row)
    return np.array(none_alone, dtype=float), np.array(connected, dtype=float)


def log_normal_central(variance: Any) -> MomentList:
    """The central moments of a lognormal variable of mean 1, by sums in which nothing cancels."""
    return [polyval(variance, row) for row in _graphs()[0]]


def log_normal_cumulants(variance: Any) -> MomentList:
    """The cumulants of a lognormal variable of mean 1; entries 0 and 1 must not be read."""
    return [polyval(variance, row) for row in _graphs()[1]]


@cache
def log_stirling(order: int) -> tuple[float, ...]:
    """Logarithms of the Stirling numbers of the second kind S(order, j), for j from 1 to order.

    >>> [round(math.exp(one)) for one in log_stirling(4)]
    [1, 7, 6, 1]
    """
    row = [1]
    for size in range(2, order + 1):
        row = [j * a + b for j, a, b in zip(range(1, size + 1), [*row, 0], [0, *row], strict=True)]
    return tuple(math.log(one) for one in row)


def log_raw_of_counts(order: int, log_factorial_moment: Callable[[int], Any]) -> Any:
    """Log E x^order of a whole number x >= 0, from log E x (x - 1) … (x - j + 1) for each j.

    x^k is the sum over j of S(k, j) x (x - 1) … (x - j + 1) (Johnson, Kemp and Kotz 2005, section
    1.1.3). No term is negative.
    """
    total: Any = -math.inf
    for j, log_factor in enumerate(log_stirling(order), start=1):
        total = np.logaddexp(total, log_factor + log_factorial_moment(j))
    return total


def norm_between(p: float, lower: tuple[float, Any], upper: tuple[float, Any]) -> Any:
    """A bound of (E|x|^p)^(1/p) from two pairs (q, log E|x|^q), with p between both orders q.

    log E|x|^p is convex in p (Lyapunov 1901), and so lies below the line between the two.
    """
    share = (p - lower[0]) / (upper[0] - lower[0])
    logarithm = (1.0 - share) * lower[1] + share * upper[1]
    # a moment of 0 means x = 0
    return np.where(np.equal(upper[1], -math.inf), 0.0, np.exp(logarithm / p))


def norm_by_whole_orders(p: float, log_moment: Callable[[int], Any]) -> Any:
    """(E|x|^p)^(1/p) from log E|x|^k for whole k; a bound if p is not whole."""
    below, above = math.floor(p), math.ceil(p)
    if below == above:
        return np.exp(log_moment(below) / p)
    return norm_between(p, (below, log_moment(below)), (above, log_moment(above)))


def count_norm(p: float, log_factorial_moment: Callable[[int], Any]) -> Any:
    """(E x^p)^(1/p) of a whole number x >= 0; a bound if p is not whole."""
    return norm_by_whole_orders(p, lambda k: log_raw_of_counts(k, log_factorial_moment))
