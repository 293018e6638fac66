"""Norms and exponential moments of laws: never below the truth, and equal to it where they say so.

The truth is a sum over all values, or an integral of the density between many quantiles, where the
density itself is held against scipy's in test_densities.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from law_table import CASES, as_arrays
from numpy.typing import NDArray

from dropcheck.vocabulary.hulls import Hull
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS

Array = NDArray[Any]

SLACK = 1e-9  # of the truth's own rounding
ORDERS = (1.0, 1.5, 2.0, 3.0, 3.7, 4.0, 6.5, 8.0, 12.0, 31.5, 64.0)
SIZES = (-0.7, -0.2, 0.3, 0.9, 2.5)


@cache
def values_of(law: Law, arguments: tuple[Any, ...]) -> tuple[Array, Array]:
    """Points and weights of a law: sums over them fall short of means, if anything."""
    if law.discrete:
        points = law.points(*arguments, at_most=10**6)
        assert points is not None
        return points[0], points[1]
    tails = np.concatenate([10.0 ** -np.arange(300, 2, -4.0), np.linspace(0.01, 0.5, 120)])
    ends = [law.quantile(tails, *arguments), law.upper_quantile(tails[::-1], *arguments)]
    edges = np.unique(np.concatenate([*ends, [0.0]]))
    low, high = law.support(*arguments)
    edges = edges[np.isfinite(edges) & (edges >= low) & (edges <= high)]
    places, weights = np.polynomial.legendre.leggauss(24)
    half = np.diff(edges)[:, None] / 2
    points = edges[:-1, None] + half * (1 + places)
    with np.errstate(all="ignore"):
        chances = law.density(as_arrays(arguments), points.ravel()) * (half * weights).ravel()
    # rounding may put a point on an end where the density is infinite, or weights above 1 in all
    some = np.isfinite(chances) & (chances > 0)
    return points.ravel()[some], chances[some] / max(1.0, chances[some].sum())


def true_norm(values: Array, weights: Array, p: float) -> float:
    largest = np.abs(values).max() or 1.0
    return float(largest * (weights * (np.abs(values) / largest) ** p).sum() ** (1 / p))


def short_of(law: Law, arguments: tuple[Any, ...]) -> list[float]:
    """The orders of which a norm lies below the truth."""
    values, weights = values_of(law, arguments)
    return [
        p
        for p in ORDERS
        if not law.norm(p, *arguments) >= true_norm(values, weights, p) * (1 - SLACK)
    ]


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_no_norm_is_too_small(name: str, arguments: tuple[Any, ...]) -> None:
    assert short_of(LAWS[name], arguments) == []


@pytest.mark.parametrize("name", ["gamma", "student_t", "weibull", "normal"])
def test_a_norm_that_is_too_small_is_found(name: str) -> None:
    law = LAWS[name]
    arguments = {"gamma": (0.7, 1.0), "student_t": (30.0,), "weibull": (2.0, 1.0)}

    def short(side: int) -> Callable[..., Any]:
        return lambda level, *own: 0.999 * law.quantile_of_z(side, level, own)

    small = replace(law, quantiles=(short(0), short(1)))
    assert short_of(small, arguments.get(name, (0.0, 1.0)))


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_moments_are_those_of_the_density(name: str, arguments: tuple[Any, ...]) -> None:
    law = LAWS[name]
    values, weights = values_of(law, arguments)
    lost = 1e-7 + 10 * (1 - weights.sum())  # where the density has a pole
    for k in (1, 2, 3, 4):
        if 2 * k < law.moment_order(*arguments):  # closer, the integral falls short
            centre = float(law.mean(*arguments)) if k > 1 else 0.0
            if abs(centre) < 1e100 and law.moment(2, *arguments)[1] < 1e100:  # no overflow
                unit = true_norm(values - centre, weights, k) ** k
                truth = (weights * (values - centre) ** k).sum()
                assert abs(law.moment(k, *arguments)[0] - truth) <= lost * unit


EXACT = [
    *(("normal", (0.0, 2.5)), ("lognormal", (-2.0, 0.3)), ("exponential", (0.02,))),
    *(("gamma", (0.7, 2.0)), ("chi_square", (7.0,)), ("beta", (2.0, 5.0)), ("laplace", (0.0, 0.5))),
    *(("student_t", (30.0,)), ("f", (5.0, 20.0)), ("logistic", (0.0, 4.0)),
        ("weibull", (4.0, 0.3))),
    *(("rayleigh", (0.1,)), ("pareto", (10.0, 3.0))),
    *(("bernoulli", (1e-7,)), ("rademacher", ())),
    *(("choice", ((1.0, -2.0, 5.0),)), ("categorical", ((0.2, 0.3, 0.5),)),
        ("uniform", (0.0, 3.0))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), EXACT)
def test_a_formula_is_exact_for_all_orders(name: str, arguments: tuple[Any, ...]) -> None:
    values, weights = values_of(LAWS[name], arguments)
    for p in ORDERS:
        if p < 0.6 * LAWS[name].moment_order(*arguments):  # closer, the integral falls short
            truth = true_norm(values, weights, p)
            assert float(LAWS[name].norm(p, *arguments)) == pytest.approx(truth, rel=1e-8), p


@pytest.mark.parametrize(
    ("name", "arguments", "order"),
    [
        ("cauchy", (0.0, 1.0), 1.0),
        ("student_t", (1.5,), 1.5),
        ("pareto", (1.5, 2.0), 1.5),
        ("f", (3.0, 3.0), 1.5),
        ("student_t", (4.0,), 4.0),
    ],
)
def test_norms_are_finite_as_far_as_moments_exist(
    name: str, arguments: tuple[float, ...], order: float
) -> None:
    law = LAWS[name]
    assert law.norm(order, *arguments) == math.inf
    if order > 1.0:
        assert math.isfinite(law.norm(1.0, *arguments))
        assert math.isfinite(law.norm(order - 0.01, *arguments))


def test_rare_values_are_not_lost_between_orders() -> None:
    """E x^3 of a Poisson variable of rate 1e-9 is 1e-9, between orders that have a formula too."""
    for name in ("poisson", "bernoulli"):
        assert float(LAWS[name].norm(3, 1e-9)) ** 3 == pytest.approx(1e-9, rel=1e-6)
        assert float(LAWS[name].norm(2.5, 1e-9)) ** 2.5 == pytest.approx(1e-9, rel=1e-6)
    assert float(LAWS["binomial"].norm(3, 1e6, 1e-15)) ** 3 == pytest.approx(1e-9, rel=1e-6)


# ---- exponential moments -------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_no_exponential_moment_is_too_small(name: str, arguments: tuple[Any, ...]) -> None:
    law = LAWS[name]
    values, weights = values_of(law, arguments)
    # steps that are comparable to the law's own unit
    unit = float(law.quantile(0.9, *arguments) - law.quantile(0.1, *arguments)) or 1.0
    for size in SIZES:
        t = size / unit
        powers = t * values
        top = powers.max()
        truth = top + math.log((weights * np.exp(powers - top)).sum())
        assert law.log_mgf(t, *arguments) >= truth - SLACK * max(1.0, abs(truth)), size
    assert law.log_mgf(0.0, *arguments) == 0.0


@pytest.mark.parametrize(
    ("name", "arguments", "t", "exact"),
    [
        ("normal", (1.0, 2.0), 3.0, 3.0 + 18.0), ("exponential", (2.0,), 0.25, -math.log(0.5)),
        ("exponential", (2.0,), 0.5, math.inf), ("gamma", (3.0, 2.0), -1.0, -3 * math.log(3.0)),
        ("laplace", (0.0, 1.0), 0.5, -math.log(0.75)), ("laplace", (0.0, 1.0), 1.0, math.inf),
        ("logistic", (0.0, 1.0), 0.5, math.log(math.pi / 2)),
        ("gumbel", (0.0, 1.0), -1.0, 0.0),
        ("uniform", (0.0, 1.0), 2.0, math.log(math.expm1(2.0) / 2.0)),
        ("poisson", (3.0,), 1.0, 3 * math.expm1(1.0)),
        ("bernoulli", (0.25,), 1.0, math.log(0.75 + 0.25 * math.e)),
        ("negative_binomial", (2.0, 0.5), 0.1, 2 * math.log(0.5 / (1 - 0.5 * math.exp(0.1)))),
        ("geometric", (0.5,), 1.0, math.inf), ("student_t", (5.0,), 1e-9, math.inf),
        ("lognormal", (0.0, 1.0), 1e-9, math.inf), ("weibull", (1.0, 1.0), 0.5, math.log(2.0)),
        ("weibull", (0.5, 1.0), 0.5, math.inf),
    ],
)  # fmt: skip
def test_exponential_moments_that_are_known(
    name: str, arguments: tuple[float, ...], t: float, exact: float
) -> None:
    assert float(LAWS[name].log_mgf(t, *arguments)) == pytest.approx(exact, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "arguments", "t", "truth"),
    [
        # far out in a tail, where few levels or values count
        *(("poisson", (rate,), 8.0, rate * math.expm1(8.0)) for rate in (0.005, 0.02, 0.03, 0.3)),
        *(("poisson", (300.0,), t, 300 * math.expm1(t)) for t in (-3.0, -1.0, 1.0, 2.0)),
        *(("normal", (0.0, 1.0), t, t * t / 2) for t in (-50.0, -36.0, 30.0, 36.9, 60.0)),
        *(("gamma", (a, 1.0), t, -a * math.log1p(-t)) for a in (0.1, 3.0) for t in (0.9, 0.999)),
        *(("gamma", (200.0, 1.0), t, -200 * math.log1p(-t)) for t in (-1e4, -30.0, 0.9)),
        ("beta", (5573.544611305992, 6.833144401932969), -7667.019481210946, -7419.170267324288),
    ],
)
def test_exponential_moments_of_tails_are_not_too_small(
    name: str, arguments: tuple[float, ...], t: float, truth: float
) -> None:
    assert float(LAWS[name].log_mgf(t, *arguments)) >= truth - 1e-6 - 1e-12 * abs(truth)


def _t(df: float, p: float) -> float:
    logarithm = math.lgamma((p + 1) / 2) + math.lgamma((df - p) / 2)
    logarithm -= math.lgamma(0.5) + math.lgamma(df / 2)
    return float(math.exp(p / 2 * math.log(df) + logarithm))


def _f(d1: float, d2: float, p: float) -> float:
    logarithm = math.lgamma(d1 / 2 + p) + math.lgamma(d2 / 2 - p)
    logarithm -= math.lgamma(d1 / 2) + math.lgamma(d2 / 2)
    return float(math.exp(p * math.log(d2 / d1) + logarithm))


# E|x|^p of laws that have moments of order below `order` alone, by their closed forms
POWER_TAILS: list[tuple[str, tuple[float, ...], float, Callable[[float], float]]] = [
    *(
        ("pareto", (alpha, 3.0), alpha, lambda p, a=alpha: 3.0**p * a / (a - p))
        for alpha in (1.01, 1.2, 1.7, 2.3, 3.5, 4.2, 5.1, 6.9, 7.5)
    ),
    *(("student_t", (df,), df, lambda p, df=df: _t(df, p)) for df in (1.05, 1.7, 2.3, 3.5, 5.1)),
    *(("f", (3.0, d2), d2 / 2, lambda p, d2=d2: _f(3.0, d2, p)) for d2 in (2.1, 3.4, 5.0, 9.0)),
]


@pytest.mark.parametrize(("name", "arguments", "order", "truth"), POWER_TAILS)
def test_no_norm_is_too_small_below_the_last_moment(
    name: str, arguments: tuple[float, ...], order: float, truth: Callable[[float], float]
) -> None:
    for p in np.linspace(1.0, order, 40, endpoint=False).tolist():
        bound = float(LAWS[name].norm(p, *arguments))
        assert bound >= truth(p) ** (1 / p) * (1 - 1e-12), p
        assert bound < 1.001 * truth(p) ** (1 / p) or p > 0.9 * order, p


# ---- random arguments ----------------------------------------------------------------------------

# laws, and arguments from which those of one draw are picked
MIXED: dict[str, tuple[tuple[float, ...], ...]] = {
    "normal": ((-3.0, 0.0, 1.0), (0.0, 1.0, 5.0)), "laplace": ((-3.0, 0.0, 1.0), (0.1, 1.0, 5.0)),
    "uniform": ((-3.0, 0.0, 1.0), (1.5, 2.0, 9.0)),
    "lognormal": ((-3.0, 0.0, 0.5), (0.0, 0.3, 0.8)),
    "exponential": ((0.0, 1.0, 5.0),), "gamma": ((1e-7, 1.0, 5.0), (0.0, 1.0, 5.0)),
    "chi_square": ((1e-7, 1.0, 50.0),), "beta": ((1e-3, 1.0, 5.0), (1e-3, 1.0, 5.0)),
    "student_t": ((20.0, 30.0, 1e6),), "f": ((0.5, 3.0, 100.0), (40.0, 80.0, 1e5)),
    "weibull": ((0.5, 1.0, 50.0), (0.0, 1.0, 5.0)), "rayleigh": ((0.0, 1.0, 5.0),),
    "pareto": ((20.0, 30.0, 80.0), (0.0, 1.0, 5.0)),
    "triangular": ((-3.0, 0.0, 1.0), (1.0, 1.5), (1.5, 2.0, 9.0)),
    "truncated_normal": ((-3.0, 0.0, 3.0), (0.1, 1.0, 5.0), (-1.0, -0.5), (0.5, 2.0)),
    "bernoulli": ((0.0, 1e-9, 1.0),),
    "binomial": ((0.0, 1.0, 40.0), (0.0, 1e-9, 0.9)),
    "geometric": ((0.1, 0.9, 1.0),),
    "negative_binomial": ((0.0, 0.3, 7.0), (0.1, 0.9, 1.0)),
    "poisson": ((0.0, 1e-9, 30.0),),
    "hypergeometric": ((3.0, 10.0), (0.0, 7.0), (0.0, 1.0, 3.0)),
    "discrete_uniform": ((-9.0, 0.0, 1.0), (1.0, 6.0, 40.0)),
}  # fmt: skip


def test_arguments_that_are_whole_are_so_in_the_bound() -> None:
    ends = ((10.0, 50.0), (3.0, 20.0), (12.0, 52.0))
    about = [Hull(low - 1e-10, high + 1e-10) for low, high in ends]
    law = LAWS["hypergeometric"]
    bound = law.random_norm(2.0, lambda i, _: about[i].high, lambda i: about[i])
    k = np.arange(49, 51)
    chances = [math.comb(50, j) * math.comb(3, 52 - j) / math.comb(53, 52) for j in k.tolist()]
    assert bound >= math.sqrt(k**2 @ chances)


class Mixture:
    """A draw whose arguments are picked at random, each from a few values."""

    def __init__(self, law: Law, seed: int) -> None:
        generator = np.random.default_rng([seed, *law.name.encode()])
        self.law, self.columns = law, MIXED[law.name]
        self.weights = [generator.dirichlet(np.full(len(one), 0.3)) for one in self.columns]
        # in half of the cases, of the extremes alone
        self.unbounded = bool(generator.random() < 0.5)

    def truth(self, p: float) -> float:
        total = 0.0
        for rows in itertools.product(*(range(len(one)) for one in self.columns)):
            arguments = [column[i] for column, i in zip(self.columns, rows, strict=True)]
            weight = math.prod(one[i] for one, i in zip(self.weights, rows, strict=True))
            total += weight * float(self.law.norm(p, *arguments)) ** p
        return float(total ** (1 / p))

    def bound(self, p: float) -> float:
        return self.law.random_norm(p, self.norm, self.hull)

    def norm(self, i: int, q: float) -> float:
        values, weights = np.abs(self.columns[i]), self.weights[i]
        return float((weights * values**q).sum() ** (1 / q))

    def hull(self, i: int) -> Hull:
        """Nothing may be known of an argument but its norms."""
        column = self.columns[i]
        return Hull(-math.inf, math.inf) if self.unbounded else Hull(min(column), max(column))


@pytest.mark.parametrize("name", MIXED)
def test_no_norm_is_too_small_where_arguments_are_random(name: str) -> None:
    """Orders for which the norm of fixed arguments is exact, so that the truth is."""
    for seed in range(10):
        mixture = Mixture(LAWS[name], seed)
        for p in (2.0, 4.0, 8.0):
            assert mixture.bound(p) >= mixture.truth(p) * (1 - SLACK), (seed, p)


@pytest.mark.parametrize("name", sorted(set(MIXED) - {"triangular", "truncated_normal"}))
def test_norms_are_known_where_arguments_are_bounded(name: str) -> None:
    mixture = Mixture(LAWS[name], 0)
    mixture.unbounded = False
    assert all(math.isfinite(mixture.bound(p)) for p in (1.0, 2.0, 4.0, 7.5, 8.0))


@pytest.mark.parametrize("name", ["normal", "laplace", "uniform", "exponential", "gamma"])
def test_norms_follow_from_those_of_loc_and_scale(name: str) -> None:
    """No bounds of the arguments are known, but that what is no loc or scale is fixed."""
    mixture = Mixture(LAWS[name], 0)
    mixture.unbounded = True
    units = LAWS[name].units or ()

    def hull(i: int) -> Hull:
        return Hull(2.0, 2.0) if units[i] is None else mixture.hull(i)

    assert math.isfinite(LAWS[name].random_norm(4.0, mixture.norm, hull))
    assert LAWS[name].random_norm(4.0, lambda _i, _q: math.inf, hull) == math.inf


@pytest.mark.parametrize(
    ("name", "fixed"),
    [("poisson", {}), ("gamma", {1: 2.0}), ("chi_square", {}), ("binomial", {1: 0.3})],
)
@pytest.mark.parametrize("p", [1.0, 2.0, 3.5, 8.0])
def test_norms_follow_from_those_of_how_many_are_summed(
    name: str, fixed: dict[int, float], p: float
) -> None:
    """By a mixture over three numbers, whose hull is not known."""
    law, counts, weights = LAWS[name], np.array([1.0, 4.0, 40.0]), np.array([0.9, 0.05, 0.05])

    def hull(i: int) -> Hull:
        return Hull(fixed[i], fixed[i]) if i in fixed else Hull(0.0, math.inf)

    def norm(i: int, q: float) -> float:
        return fixed[i] if i in fixed else float((weights @ counts**q) ** (1 / q))

    bound = law.random_norm(p, norm, hull)
    others = [fixed[i] for i in sorted(fixed)]
    order = math.ceil(p)
    truth = weights @ np.array([float(law.norm(order, n, *others)) ** order for n in counts])
    assert bound >= truth ** (1 / order) * (1 - 1e-9)
    assert name == "binomial" or bound == pytest.approx(truth ** (1 / order), rel=1e-6)


def test_rarity_by_a_random_rate_is_in_the_bound() -> None:
    """P(x > 0) is 5e-8 where the rate is 1e-7 times a uniform variable; all moments are that."""
    for p in (2.0, 4.0):
        bound = LAWS["poisson"].random_norm(
            p, lambda _, q: 1e-7 * math.pow(q + 1, -1 / q), lambda _: Hull(0.0, 1e-7)
        )
        assert bound**p == pytest.approx(5e-8, rel=1e-6)
