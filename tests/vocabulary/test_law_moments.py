"""Means, central moments and cumulants of laws, beside the same in sixty digits and more.

The moments about 0 are known, or sums over all values, or integrals; those about the mean follow
from them with digits to spare, where float64 would keep none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from mpmath.calculus.quadrature import GaussLegendre

from dropcheck.vocabulary import moments
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.moments import HIGHEST_ORDER

CLOSE = 4e-12  # of an even moment, relative; of an odd one, beside its even neighbours
ORDERS = range(HIGHEST_ORDER + 1)
Truth = tuple[Any, list[Any]]


def from_raw(raw: Callable[[int], Any]) -> Truth:
    """The mean and the central moments, from E x^k of each k."""
    moments = [raw(k) for k in ORDERS]
    mean = moments[1]
    return mean, [
        mp.fsum(mp.binomial(k, j) * moments[j] * (-mean) ** (k - j) for j in range(k + 1))
        for k in ORDERS
    ]


def from_values(values: Sequence[float], weights: Sequence[Any]) -> Truth:
    total = mp.fsum(weights)
    return from_raw(
        lambda k: mp.fsum(mp.mpf(v) ** k * w for v, w in zip(values, weights, strict=True)) / total
    )


@cache
def gauss_legendre() -> list[tuple[Any, Any]]:
    """The rule of 48 points on (-1, 1), in 40 digits."""
    with mp.workdps(40):
        return list(GaussLegendre(mp.mp).calc_nodes(5, mp.mp.prec))


def from_density(density: Callable[[Any], Any], edges: Sequence[Any]) -> Truth:
    """By quadrature between edges: about the peak, and where the density is not smooth."""
    points, weights = [], []
    for low, high in itertools.pairwise(edges):
        half = (mp.mpf(high) - low) / 2
        for place, weight in gauss_legendre():
            points.append(low + half * (1 + place))
            weights.append(half * weight * density(points[-1]))
    mean = mp.fdot(points, weights) / mp.fsum(weights)
    return mean, [
        mp.fdot([(x - mean) ** k for x in points], weights) / mp.fsum(weights) for k in ORDERS
    ]


def rising(a: Any, k: int) -> Any:
    return mp.fprod(mp.mpf(a) + i for i in range(k))


def binomial(n: int, p: float) -> Truth:
    chance = mp.mpf(p)
    return from_values(
        range(n + 1),
        [mp.binomial(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)],
    )


def negative_binomial(n: float, p: float) -> Truth:
    count = 40 + int(90 * (n + 1) / p)
    return from_values(
        range(count), [rising(n, k) / mp.factorial(k) * (1 - mp.mpf(p)) ** k for k in range(count)]
    )


def geometric(p: float) -> Truth:
    count = 40 + int(150 / p)
    return from_values(range(1, count), [(1 - mp.mpf(p)) ** k for k in range(count - 1)])


def poisson(rate: float) -> Truth:
    count = 60 + int(8 * rate)
    return from_values(range(count), [mp.mpf(rate) ** k / mp.factorial(k) for k in range(count)])


def hypergeometric(good: float, bad: float, drawn: float) -> Truth:
    values = range(max(0, int(drawn - bad)), int(min(good, drawn)) + 1)
    return from_values(values, [mp.binomial(good, k) * mp.binomial(bad, drawn - k) for k in values])


def weibull(shape: float, scale: float) -> Truth:
    return from_raw(lambda k: mp.gamma(1 + k / mp.mpf(shape)) * mp.mpf(scale) ** k)


def f(d1: float, d2: float) -> Truth:
    falling = [mp.fprod(mp.mpf(d2) / 2 - i for i in range(1, k + 1)) for k in ORDERS]
    return from_raw(lambda k: (mp.mpf(d2) / d1) ** k * rising(mp.mpf(d1) / 2, k) / falling[k])


def student_t(df: float) -> Truth:
    even = [
        mp.fprod(df * (2 * j - 1) / (mp.mpf(df) - 2 * j) for j in range(1, k + 1)) for k in range(5)
    ]
    return from_raw(lambda k: mp.mpf(0) if k % 2 else even[k // 2])


def triangular(low: float, mode: float, high: float) -> Truth:
    """By the moments of each side about the mode, and all about low."""

    def side(width: Any) -> Callable[[int], Any]:  # of the distance from the mode
        return lambda k: 2 * width ** (k + 2) / ((k + 1) * (k + 2))

    left, right, whole = mp.mpf(mode) - low, mp.mpf(high) - mode, mp.mpf(high) - low
    about_mode = [
        (
            (-1) ** k * (side(left)(k) / left if left else 0)
            + (side(right)(k) / right if right else 0)
        )
        / whole
        for k in ORDERS
    ]
    return from_raw(
        lambda k: mp.fsum(
            mp.binomial(k, j) * about_mode[j] * mp.mpf(mode) ** (k - j) for j in range(k + 1)
        )
    )


def von_mises(mu: float, kappa: float) -> Truth:
    steps = [mp.mpf(j) / mp.sqrt(kappa + 1) for j in range(-20, 21)]
    turns = [mu + step + 2 * mp.pi * turn for step in steps for turn in (-1, 0, 1)]
    edges = sorted({-mp.pi, mp.pi, *(x for x in turns if -mp.pi < x < mp.pi)})
    return from_density(lambda x: mp.exp(-2 * kappa * mp.sin((x - mu) / 2) ** 2), edges)


def truncated_normal(mean: float, sd: float, low: float, high: float) -> Truth:
    """In units of sd from the mode: E t^k from one integral each."""
    a, b = (mp.mpf(low) - mean) / sd, (mp.mpf(high) - mean) / sd
    mode = min(max(a, mp.mpf(0)), b)
    reach = 500 / (abs(mode) + 25)
    start, stop = max(a - mode, -reach), min(b - mode, reach)
    edges = [start + (stop - start) * j / 24 for j in range(25)]
    centre, central = from_density(lambda t: mp.exp(-t * (mode + t / 2)), edges)
    return mean + sd * (mode + centre), [mp.mpf(sd) ** k * one for k, one in enumerate(central)]


def located(
    standard: Callable[[Any], Any], edges: Sequence[Any]
) -> Callable[[float, float], Truth]:
    def truth(loc: float, scale: float) -> Truth:
        mean, central = from_density(standard, edges)
        return loc + scale * mean, [mp.mpf(scale) ** k * one for k, one in enumerate(central)]

    return truth


TRUTHS: dict[str, Callable[..., Truth]] = {
    "normal": located(lambda x: mp.exp(-x * x / 2), range(-24, 25, 2)),
    "lognormal": lambda mean, sd: from_raw(
        lambda k: mp.exp(k * mp.mpf(mean) + k * k * mp.mpf(sd) ** 2 / 2)
    ),
    "uniform": lambda low, high: from_raw(
        lambda k: (
            (mp.mpf(high) ** (k + 1) - mp.mpf(low) ** (k + 1)) / (k + 1) / (mp.mpf(high) - low)
        )
    ),
    "exponential": lambda scale: from_raw(lambda k: mp.factorial(k) * mp.mpf(scale) ** k),
    "gamma": lambda shape, scale: from_raw(lambda k: rising(shape, k) * mp.mpf(scale) ** k),
    "chi_square": lambda df: from_raw(lambda k: rising(mp.mpf(df) / 2, k) * 2**k),
    "beta": lambda a, b: from_raw(lambda k: rising(a, k) / rising(mp.mpf(a) + b, k)),
    "student_t": student_t,
    "f": f,
    "laplace": located(
        lambda x: mp.exp(-abs(x)), (-200, -90, -50, -25, -12, -5, 0, 5, 12, 25, 50, 90, 200)
    ),
    "logistic": located(
        lambda x: mp.cosh(x / 2) ** -2, (-200, -90, -50, -25, -12, -5, 0, 5, 12, 25, 50, 90, 200)
    ),
    "gumbel": located(
        lambda x: mp.exp(-x - mp.exp(-x)), (-6, -4, -3, -2, -1, 0, 2, 5, 12, 25, 50, 90, 200)
    ),
    "weibull": weibull,
    "rayleigh": lambda scale: from_raw(
        lambda k: mp.gamma(1 + mp.mpf(k) / 2) * (mp.sqrt(2) * scale) ** k
    ),
    "pareto": lambda alpha, scale: from_raw(
        lambda k: alpha / (mp.mpf(alpha) - k) * mp.mpf(scale) ** k
    ),
    "triangular": triangular,
    "von_mises": von_mises,
    "truncated_normal": truncated_normal,
    "bernoulli": lambda p: binomial(1, p),
    "rademacher": lambda: from_values([-1, 1], [1, 1]),
    "binomial": binomial,
    "geometric": geometric,
    "negative_binomial": negative_binomial,
    "poisson": poisson,
    "hypergeometric": hypergeometric,
    "discrete_uniform": lambda low, high: from_values(
        range(int(low), int(high) + 1), [1] * int(high - low + 1)
    ),
    "categorical": lambda p: from_values(range(len(p)), [mp.mpf(one) for one in p]),
    "choice": lambda v: from_values(v, [1] * len(v)),
}

ARGUMENTS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "normal": ((0.0, 1.0), (3.0, 1e-3)),
    "lognormal": ((0.0, 1.0), (-3.0, 1e-3), (1.0, 1e-6), (0.0, 2.5)),
    "uniform": ((0.0, 1.0), (-1.0, 3.0), (1e8, 1e8 + 1.0)),
    "exponential": ((1.0,), (1e-6,)),
    "gamma": ((1e-7, 1.0), (0.5, 2.0), (3.0, 1.0), (2e5, 1e-3)),
    "chi_square": ((1e-7,), (7.0,), (4e5,)),
    "beta": ((0.5, 0.5), (1e-7, 1.0), (1e8, 1e8), (3.0, 1e-6), (1e6, 1.0), (2.0, 5.0)),
    "student_t": ((8.1,), (20.0,), (1e6,), (1e15,)),
    "f": ((1.0, 17.0), (1e6, 1e6), (0.5, 16.1), (1e-5, 30.0)),
    "laplace": ((0.0, 1.0), (-3.0, 0.5)), "logistic": ((0.0, 1.0), (1.0, 4.0)),
    "gumbel": ((0.0, 1.0), (1.0, 0.2)),
    "weibull": ((0.05, 2.0), (0.49, 1.0), (0.5, 1.0), (1.0, 3.0), (4.0, 0.3), (50.0, 1.0),
        (1e6, 1.0)),
    "rayleigh": ((1.0,), (0.1,)),
    "pareto": ((8.1, 2.0), (20.0, 1.0), (1e6, 1.0), (1e12, 3.0)),
    "triangular": ((0.0, 0.3, 1.0), (-1.0, -1.0, 2.0), (0.0, 5.0, 5.0), (10.0, 10.5, 11.0)),
    "von_mises": ((0.0, 0.0), (0.5, 4.0), (3.0, 0.3), (3.1, 500.0), (7.0, 2.0), (0.0, 1e6)),
    "truncated_normal": ((0.0, 1.0, -2.0, 2.0), (0.0, 1.0, 8.0, 9.0), (0.0, 1.0, -9.0, -8.0),
        (2.0, 3.0, -math.inf, 0.0), (0.0, 1.0, 1e4, math.inf), (1.0, 2.0, -math.inf, math.inf),
        (0.0, 1.0, -1e-7, 1e-7)),
    "bernoulli": ((0.5,), (1e-7,), (1 - 1e-7,), (0.1,)),
    "rademacher": ((),),
    "binomial": ((10, 0.3), (30, 0.5), (30, 0.999), (60, 1e-9), (3, 0.7887)),
    "geometric": ((0.5,), (0.9,), (0.2,), (1 - 1e-9,)),
    "negative_binomial": ((0.5, 0.5), (3.0, 0.9), (1e-3, 0.7), (4.0, 0.999999)),
    "poisson": ((1e-7,), (0.1,), (20.0,)),
    "hypergeometric": ((10.0, 20.0, 12.0), (50.0, 3.0, 52.0), (1e7 - 1, 1.0, 1.0), (1.0, 1e7, 1.0),
        (1e9, 1e9, 50.0), (1e9, 10.0, 1e9), (60.0, 1.0, 30.0)),
    "discrete_uniform": ((0.0, 1.0), (4.0, 4.0), (-3.0, 3.0), (0.0, 999.0)),
    "categorical": (((0.2, 0.0, 0.8),), ((0.25, 0.25, 0.5),)),
    "choice": (((1.0, 2.0, 2.0, 5.0),), ((3.0,),)),
}  # fmt: skip
BY_QUADRATURE = {"normal", "laplace", "logistic", "gumbel", "von_mises", "truncated_normal"}
CASES = [(name, one) for name, several in ARGUMENTS.items() for one in several]


# spreads so small beside the mean that float64 has few digits of them; there errors are known
NARROW = {
    *(("lognormal", (-3.0, 1e-3)), ("lognormal", (1.0, 1e-6)), ("gamma", (2e5, 1e-3))),
    *(("chi_square", (4e5,)), ("beta", (1e8, 1e8)), ("beta", (1e6, 1.0)), ("f", (1e6, 1e6))),
    *(("beta", (3.0, 1e-6)), ("weibull", (50.0, 1.0)), ("weibull", (1e6, 1.0))),
    *(("pareto", (1e6, 1.0)), ("pareto", (1e12, 3.0)), ("geometric", (1 - 1e-9,))),
    *(("truncated_normal", (0.0, 1.0, 8.0, 9.0)), ("truncated_normal", (0.0, 1.0, -9.0, -8.0))),
    *(("truncated_normal", (0.0, 1.0, 1e4, math.inf)), ("bernoulli", (1 - 1e-7,))),
    *(("hypergeometric", (1e9, 10.0, 1e9)), ("hypergeometric", (1e7 - 1, 1.0, 1.0))),
}


def errors(law: Law, arguments: tuple[Any, ...], truth: Truth) -> list[tuple[float, float]]:
    """How far each moment is from the truth, and how far it may be as the law says: relative."""
    mean, central = truth
    found = []
    for order in ORDERS[1:]:
        value, error = law.moment(order, *arguments)
        exact = mean if order == 1 else central[order]
        if order == 1:
            size = max(abs(mean), mp.sqrt(central[2]))
        elif order % 2 == 0 or order == HIGHEST_ORDER:
            size = central[order]
        else:  # an odd one may be 0 by symmetry; it is below this (Cauchy and Schwarz)
            size = mp.sqrt(central[order - 1] * central[order + 1])
        unit = size or 1
        found.append((float(abs(mp.mpf(float(value)) - exact) / unit), float(error / unit)))
    return found


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_moments_are_exact_to_within_their_errors(name: str, arguments: tuple[Any, ...]) -> None:
    with mp.workdps(40 if name in BY_QUADRATURE else 300):
        found = errors(LAWS[name], arguments, TRUTHS[name](*arguments))
    assert all(off <= error + 2.0**-50 for off, error in found), found
    assert (name, arguments) in NARROW or all(error <= CLOSE for _, error in found), found


# laws of more values than are summed over: the mean, and the central moments of order 2 and 4
MANY: list[tuple[str, tuple[float, ...], tuple[float, float, float]]] = [
    ("geometric", (2.0**-20,), (2.0**20, 2.0**40 - 2.0**20, 9.0 * 2.0**80 - 18.0 * 2.0**60)),
    ("discrete_uniform", (0.0, 2.0**31 - 1), (2.0**30 - 0.5, 2.0**62 / 12, 2.0**124 / 80)),
    ("poisson", (1e8,), (1e8, 1e8, 3e16 + 1e8)),
    ("binomial", (1e9, 0.5), (5e8, 2.5e8, 3 * 6.25e16)),
    ("negative_binomial", (2.0, 2.0**-20), (2.0**21, 2.0**41, 24.0 * 2.0**80)),
]


@pytest.mark.parametrize(("name", "arguments", "truth"), MANY)
def test_moments_of_many_values(
    name: str, arguments: tuple[float, ...], truth: tuple[float, ...]
) -> None:
    for order, exact in zip((1, 2, 4), truth, strict=True):
        value, error = LAWS[name].moment(order, *arguments)
        assert abs(value - exact) <= error + 1e-5 * abs(exact)
        assert error <= 1e-4 * abs(exact)


def test_a_rule_for_sums_is_exact_for_polynomials() -> None:
    for count in (1, 5, 16, 100, 5000):
        places, weights = moments._gram(float(count))
        t = (2 * places + 1) / count - 1
        x = (2 * np.arange(count) + 1) / count - 1
        for power in range(0, 32, 3):
            assert (weights * t**power).sum() == pytest.approx((x**power).sum(), abs=1e-9 * count)


@pytest.mark.parametrize(("name", "arguments"), [("gamma", (0.5, 2.0)), ("binomial", (10, 0.3))])
def test_a_moment_that_is_slightly_wrong_is_found(name: str, arguments: tuple[Any, ...]) -> None:
    law = LAWS[name]
    mean, central = TRUTHS[name](*arguments)
    wrong = [one * (1 + mp.mpf("1e-11")) for one in central]
    assert all(off > error for off, error in errors(law, arguments, (mean, wrong))[1:])


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_cumulants_are_those_of_the_central_moments(name: str, arguments: tuple[Any, ...]) -> None:
    law = LAWS[name]
    with mp.workdps(40 if name in BY_QUADRATURE else 300):
        mean, central = TRUTHS[name](*arguments)
        truth = [mp.mpf(0), mean]  # by the recursion of Smith (1995)
        for k in range(2, HIGHEST_ORDER + 1):
            parts = (math.comb(k - 1, j - 1) * truth[j] * central[k - j] for j in range(2, k - 1))
            truth.append(central[k] - mp.fsum(parts))
        for order in ORDERS[2:]:
            value, error = law.cumulant(order, *arguments)
            rounding = 2.0**-45 * math.factorial(order) * abs(central[order])
            assert abs(mp.mpf(float(value)) - truth[order]) <= float(error) + rounding


def test_exact_zeros() -> None:
    for order in (3, 4, 5, 6, 7, 8):
        assert float(LAWS["normal"].cumulant(order, 3.0, 2.0)[0]) == 0
    for name, arguments in (("laplace", (1.0, 2.0)), ("student_t", (20.0,)), ("rademacher", ())):
        assert [float(LAWS[name].central(k, *arguments)) for k in (3, 5, 7)] == [0, 0, 0]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_of_many_elements_broadcast(name: str) -> None:
    """An array of arguments gives what each gives by itself."""
    law = LAWS[name]
    rows = ARGUMENTS[name]
    lengths = {tuple(np.shape(one) for one in row) for row in rows}
    rows = tuple(row for row in rows if tuple(np.shape(one) for one in row) == min(lengths))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    if not columns:
        return
    asked: tuple[Callable[..., Any], ...] = (
        law.mean,
        lambda *a: law.central(4, *a),
        lambda *a: law.cumulant(3, *a)[0],
        lambda *a: law.norm(2.5, *a),
    )
    for function in asked:
        found = function(*columns)
        assert found.shape == (len(rows),)
        alone = np.array([float(function(*row)) for row in rows])
        np.testing.assert_allclose(found, alone, rtol=1e-12)
