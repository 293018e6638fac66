"""What follows from the facts of a law: moments, norms, exponential moments, laws of ranks.

Moments are held against closed forms in many digits, and norms against sums over all values, or
integrals of the density between many quantiles: the density is held against scipy's in test_laws.
Bounds are never below the truth, and equal to it where they say so.
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
from law_table import CASES, as_arrays
from numpy.typing import NDArray

from dropcheck.vocabulary import moments
from dropcheck.vocabulary.domains import Hull
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS

Array = NDArray[Any]
Arguments = tuple[Any, ...]

# ---- moments -------------------------------------------------------------------------------------

CLOSE = 4e-12  # of an even moment, relative; of an odd one, beside its even neighbours
HIGHEST = moments.HIGHEST_ORDER


def of_values(
    weight: Callable[..., Any], count: Callable[..., int], first: int = 0
) -> Callable[..., Callable[[int], Any]]:
    """E x^k of whole numbers from the first on, by sums; k before their arguments."""

    def raw(*arguments: float) -> Callable[[int], Any]:
        values = range(first, first + count(*arguments))
        weights = [mp.mpf(weight(v, *map(mp.mpf, arguments))) for v in values]
        return lambda k: mp.fdot([mp.mpf(v) ** k for v in values], weights) / mp.fsum(weights)

    return raw


def closed(form: Callable[..., Any]) -> Callable[..., Callable[[int], Any]]:
    return lambda *arguments: lambda k: form(k, *map(mp.mpf, arguments))


def student_t(k: int, df: Any) -> Any:
    if k % 2:
        return mp.mpf(0)
    return mp.fprod(df * (2 * j - 1) / (df - 2 * j) for j in range(1, k // 2 + 1))


# E x^k by the closed form of each law, or by sums
RAW: dict[str, Callable[..., Callable[[int], Any]]] = {
    "normal": closed(lambda k, m, s: mp.fsum(
        mp.binomial(k, 2 * j) * mp.fac2(2 * j - 1) * s ** (2 * j) * m ** (k - 2 * j)
        for j in range(k // 2 + 1))),
    "lognormal": closed(lambda k, m, s: mp.exp(k * m + k * k * s * s / 2)),
    "uniform": closed(lambda k, a, b: (b ** (k + 1) - a ** (k + 1)) / (k + 1) / (b - a)),
    "exponential": closed(lambda k, scale: mp.factorial(k) * scale**k),
    "gamma": closed(lambda k, a, scale: mp.rf(a, k) * scale**k),
    "chi_square": closed(lambda k, df: mp.rf(df / 2, k) * 2**k),
    "beta": closed(lambda k, a, b: mp.rf(a, k) / mp.rf(a + b, k)),
    "student_t": closed(student_t),
    "f": closed(lambda k, a, b: (b / a) ** k * mp.rf(a / 2, k) / mp.rf(b / 2 - k, k)),
    "weibull": closed(lambda k, a, scale: mp.gamma(1 + k / a) * scale**k),
    "rayleigh": closed(lambda k, scale: mp.gamma(1 + mp.mpf(k) / 2) * (mp.sqrt(2) * scale) ** k),
    "pareto": closed(lambda k, a, scale: a / (a - k) * scale**k),
    "laplace": closed(lambda k, m, s: mp.fsum(
        mp.binomial(k, 2 * j) * mp.factorial(2 * j) * s ** (2 * j) * m ** (k - 2 * j)
        for j in range(k // 2 + 1))),
    "binomial": of_values(
        lambda v, n, p: mp.binomial(n, v) * p**v * (1 - p) ** (n - v), lambda n, _: int(n) + 1),
    "geometric": of_values(lambda v, p: (1 - p) ** (v - 1), lambda p: 40 + int(150 / p), 1),
    "negative_binomial": of_values(
        lambda v, n, p: mp.rf(n, v) / mp.factorial(v) * (1 - p) ** v,
        lambda n, p: 40 + int(60 * (n + 1) / p)),
    "poisson": of_values(
        lambda v, rate: rate**v / mp.factorial(v), lambda rate: 60 + int(8 * rate)),
    "hypergeometric": of_values(
        lambda v, good, bad, drawn: mp.binomial(good, v) * mp.binomial(bad, drawn - v),
        lambda good, _, drawn: int(min(good, drawn)) + 1),
}  # fmt: skip
ARGUMENTS: dict[str, tuple[Arguments, ...]] = {
    "normal": ((0.0, 1.0), (3.0, 1e-3)), "lognormal": ((0.0, 1.0), (-3.0, 1e-3), (0.0, 2.5)),
    "uniform": ((-1.0, 3.0), (1e8, 1e8 + 1.0)), "exponential": ((1e-6,),),
    "gamma": ((1e-7, 1.0), (0.5, 2.0), (2e5, 1e-3)), "chi_square": ((1e-7,), (7.0,)),
    "beta": ((0.5, 0.5), (1e-7, 1.0), (1e8, 1e8), (3.0, 1e-6), (2.0, 5.0)),
    "student_t": ((8.1,), (9.0,), (20.0,), (1e15,)), "f": ((1.0, 17.0), (1e6, 1e6), (1e-5, 30.0)),
    "weibull": ((0.05, 2.0), (1.0, 3.0), (50.0, 1.0)), "rayleigh": ((0.1,),),
    "pareto": ((8.1, 2.0), (9.0, 2.0), (1e12, 3.0)), "laplace": ((-3.0, 0.5),),
    "binomial": ((10, 0.3), (30, 0.999), (60, 1e-9)), "geometric": ((0.5,), (1 - 1e-9,)),
    "negative_binomial": ((0.5, 0.5), (4.0, 0.999999)), "poisson": ((1e-7,), (20.0,)),
    "hypergeometric": ((10.0, 20.0, 12.0), (1.0, 1e7, 1.0), (1e9, 1e9, 50.0)),
}  # fmt: skip
# spreads so small beside the mean that float64 has few digits of them; there errors are known
NARROW = {
    ("lognormal", (-3.0, 1e-3)), ("gamma", (2e5, 1e-3)), ("beta", (1e8, 1e8)),
    ("beta", (3.0, 1e-6)), ("f", (1e6, 1e6)), ("weibull", (50.0, 1.0)), ("pareto", (1e12, 3.0)),
    ("geometric", (1 - 1e-9,)), ("student_t", (8.1,)), ("pareto", (8.1, 2.0)),
}  # fmt: skip
GIVEN = [(name, one) for name, several in ARGUMENTS.items() for one in several]


def truth_of(name: str, arguments: Arguments) -> tuple[list[Any], list[Any]]:
    """The mean with the central moments, and the cumulants by the recursion of Smith (1995)."""
    raw = [RAW[name](*arguments)(k) for k in range(HIGHEST + 1)]
    mean = raw[1]
    central = [
        mp.fsum(mp.binomial(k, j) * raw[j] * (-mean) ** (k - j) for j in range(k + 1))
        for k in range(HIGHEST + 1)
    ]
    cumulants = [mp.mpf(0), mean]
    for k in range(2, HIGHEST + 1):
        parts = (math.comb(k - 1, j - 1) * cumulants[j] * central[k - j] for j in range(2, k - 1))
        cumulants.append(central[k] - mp.fsum(parts))
    return [central[0], mean, *central[2:]], cumulants


def off(law: Law, arguments: Arguments, truth: Sequence[Any]) -> list[tuple[float, float]]:
    """How far each moment is from the truth, and how far it may be as the law says: relative."""
    found = []
    for order in range(1, HIGHEST + 1):
        value, error = law.moment(order, *arguments)
        if order == 1:
            unit = max(abs(truth[1]), mp.sqrt(truth[2]))
        elif order % 2 == 0 or order == HIGHEST:
            unit = truth[order]
        else:  # an odd one may be 0 by symmetry; it is below this (Cauchy and Schwarz)
            unit = mp.sqrt(truth[order - 1] * truth[order + 1])
        found.append((float(abs(mp.mpf(float(value)) - truth[order]) / unit), float(error / unit)))
    return found


@pytest.mark.parametrize(("name", "arguments"), GIVEN)
def test_moments_are_exact_to_within_their_errors(name: str, arguments: Arguments) -> None:
    law = LAWS[name]
    with mp.workdps(300):
        truth, cumulants = truth_of(name, arguments)
        found = off(law, arguments, truth)
        assert all(one <= error + 2.0**-50 for one, error in found), found
        assert (name, arguments) in NARROW or all(error <= CLOSE for _, error in found), found
        wrong = [one * (1 + mp.mpf("1e-11")) for one in truth]
        if (name, arguments) not in NARROW:  # a slip is seen
            assert all(one > error for one, error in off(law, arguments, wrong)[1::2])
        for order in range(2, HIGHEST + 1):
            value, error = law.cumulant(order, *arguments)
            rounding = 2.0**-45 * math.factorial(order) * abs(truth[order])
            assert abs(mp.mpf(float(value)) - cumulants[order]) <= float(error) + rounding


def test_elements_of_vectors() -> None:
    chances, a = np.array([0.2, 0.3, 0.5]), np.array([0.5, 2.0, 10.0])
    for order in (2, 4):
        alone = [float(LAWS["binomial"].moment(order, 8.0, p)[0]) for p in chances]
        found = LAWS["multinomial"].moment(order, 8.0, chances)[0]
        np.testing.assert_allclose(found, alone, rtol=1e-12)
        alone = [float(LAWS["beta"].moment(order, one, a.sum() - one)[0]) for one in a]
        np.testing.assert_allclose(LAWS["dirichlet"].moment(order, a)[0], alone, rtol=1e-12)
    several = LAWS["multinomial"].moment(1, np.array([3.0, 8.0]), np.array([chances, chances]))[0]
    np.testing.assert_allclose(several, [3 * chances, 8 * chances])
    assert [LAWS["permutation"].moment(k, 5.0)[0].tolist() for k in (1, 2)] == [[2.0], [2.0]]
    given = ((1.0, -2.0), np.array([[2.0, 0.6], [0.6, 0.5]]))
    assert LAWS["multivariate_normal"].moment(1, *given)[0].tolist() == [1.0, -2.0]
    np.testing.assert_allclose(LAWS["multivariate_normal"].moment(4, *given)[0], [12.0, 0.75])


# ---- norms ---------------------------------------------------------------------------------------

SLACK = 1e-9  # of the truth's own rounding
ORDERS = (1.0, 1.5, 2.0, 3.7, 4.0, 8.0, 31.5)


@cache
def values_of(law: Law, arguments: Arguments) -> tuple[Array, Array]:
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


def short_of(law: Law, arguments: Arguments) -> list[float]:
    """The orders of which a norm lies below the truth."""
    values, weights = values_of(law, arguments)
    least = [true_norm(values, weights, p) * (1 - SLACK) for p in ORDERS]
    return [p for p, one in zip(ORDERS, least, strict=True) if not law.norm(p, *arguments) >= one]


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_norms_and_exponential_moments_are_not_too_small_and_moments_those_of_the_density(
    name: str, arguments: Arguments
) -> None:
    law = LAWS[name]
    assert short_of(law, arguments) == []
    values, weights = values_of(law, arguments)
    lost = 1e-7 + 10 * (1 - weights.sum())  # where the density has a pole
    for k in (1, 2, 3, 4):
        if 2 * k < law.moment_order(*arguments):  # closer, the integral falls short
            centre = float(law.moment(1, *arguments)[0]) if k > 1 else 0.0
            if abs(centre) < 1e100 and law.moment(2, *arguments)[1] < 1e100:  # no overflow
                unit = true_norm(values - centre, weights, k) ** k
                truth = (weights * (values - centre) ** k).sum()
                assert abs(law.moment(k, *arguments)[0] - truth) <= lost * unit
    # steps that are comparable to the law's own unit
    unit = float(law.quantile(0.9, *arguments) - law.quantile(0.1, *arguments)) or 1.0
    for size in (-0.7, 0.3, 2.5):
        powers = size / unit * values
        truth = powers.max() + math.log((weights * np.exp(powers - powers.max())).sum())
        assert law.log_mgf(size / unit, *arguments) >= truth - SLACK * max(1.0, abs(truth)), size
    assert law.log_mgf(0.0, *arguments) == 0.0


def _t(df: float, p: float) -> float:
    logarithm = math.lgamma((p + 1) / 2) + math.lgamma((df - p) / 2)
    return math.exp(p / 2 * math.log(df) + logarithm - math.lgamma(0.5) - math.lgamma(df / 2))


# E|x|^p of laws that have moments of order below `order` alone, by their closed forms
POWER_TAILS: list[tuple[str, tuple[float, ...], Callable[[float], float]]] = [
    *(
        ("pareto", (alpha, 3.0), lambda p, a=alpha: 3.0**p * a / (a - p))
        for alpha in (1.01, 1.7, 3.5, 7.5)
    ),
    *(("student_t", (df,), lambda p, df=df: _t(df, p)) for df in (1.05, 2.3, 5.1)),
]


@pytest.mark.parametrize(("name", "arguments", "truth"), POWER_TAILS)
def test_no_norm_is_too_small_below_the_last_moment(
    name: str, arguments: tuple[float, ...], truth: Callable[[float], float]
) -> None:
    law, order = LAWS[name], arguments[0]
    assert law.norm(order, *arguments) == math.inf
    for p in np.linspace(1.0, order, 40, endpoint=False).tolist():
        bound = float(law.norm(p, *arguments))
        assert bound >= truth(p) ** (1 / p) * (1 - 1e-12), p
        assert bound < 1.001 * truth(p) ** (1 / p) or p > 0.9 * order, p


def test_rare_values_are_not_lost_between_orders() -> None:
    """E x^3 of a Poisson variable of rate 1e-9 is 1e-9, between orders that have a formula too."""
    for name in ("poisson", "bernoulli"):
        assert float(LAWS[name].norm(3, 1e-9)) ** 3 == pytest.approx(1e-9, rel=1e-6)
        assert float(LAWS[name].norm(2.5, 1e-9)) ** 2.5 == pytest.approx(1e-9, rel=1e-6)
    assert float(LAWS["binomial"].norm(3, 1e6, 1e-15)) ** 3 == pytest.approx(1e-9, rel=1e-6)


MGF: list[tuple[str, tuple[float, ...], float, float]] = [
    ("normal", (1.0, 2.0), 3.0, 3.0 + 18.0), ("exponential", (2.0,), 0.25, -math.log(0.5)),
    ("exponential", (2.0,), 0.5, math.inf), ("gamma", (3.0, 2.0), -1.0, -3 * math.log(3.0)),
    ("laplace", (0.0, 1.0), 0.5, -math.log(0.75)), ("laplace", (0.0, 1.0), 1.0, math.inf),
    ("logistic", (0.0, 1.0), 0.5, math.log(math.pi / 2)), ("gumbel", (0.0, 1.0), -1.0, 0.0),
    ("uniform", (0.0, 1.0), 2.0, math.log(math.expm1(2.0) / 2.0)),
    ("poisson", (3.0,), 1.0, 3 * math.expm1(1.0)),
    ("bernoulli", (0.25,), 1.0, math.log(0.75 + 0.25 * math.e)),
    ("negative_binomial", (2.0, 0.5), 0.1, 2 * math.log(0.5 / (1 - 0.5 * math.exp(0.1)))),
    ("geometric", (0.5,), 1.0, math.inf), ("student_t", (5.0,), 1e-9, math.inf),
    ("lognormal", (0.0, 1.0), 1e-9, math.inf), ("weibull", (0.5, 1.0), 0.5, math.inf),
]  # fmt: skip
# far out in a tail, where few levels or values count
FAR_MGF: list[tuple[str, tuple[float, ...], float, float]] = [
    *(("poisson", (rate,), 8.0, rate * math.expm1(8.0)) for rate in (0.005, 0.03)),
    *(("poisson", (300.0,), t, 300 * math.expm1(t)) for t in (-3.0, 2.0)),
    *(("normal", (0.0, 1.0), t, t * t / 2) for t in (-50.0, 36.9)),
    *(("gamma", (a, 1.0), 0.999, -a * math.log1p(-0.999)) for a in (0.1, 3.0)),
    ("gamma", (200.0, 1.0), -1e4, -200 * math.log1p(1e4)),
    ("beta", (5573.544611305992, 6.833144401932969), -7667.019481210946, -7419.170267324288),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "t", "truth"), MGF)
def test_exponential_moments_that_are_known(
    name: str, arguments: tuple[float, ...], t: float, truth: float
) -> None:
    found = float(LAWS[name].log_mgf(t, *arguments))
    assert found == pytest.approx(truth, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(("name", "arguments", "t", "truth"), FAR_MGF)
def test_exponential_moments_of_tails_are_not_too_small(
    name: str, arguments: tuple[float, ...], t: float, truth: float
) -> None:
    assert float(LAWS[name].log_mgf(t, *arguments)) >= truth - 1e-6 - 1e-12 * abs(truth)


# ---- random arguments ----------------------------------------------------------------------------

# laws, and arguments from which those of one draw are picked
MIXED: dict[str, tuple[tuple[float, ...], ...]] = {
    "normal": ((-3.0, 0.0, 1.0), (0.0, 1.0, 5.0)), "uniform": ((-3.0, 0.0, 1.0), (1.5, 2.0, 9.0)),
    "lognormal": ((-3.0, 0.0, 0.5), (0.0, 0.3, 0.8)),
    "exponential": ((0.0, 1.0, 5.0),), "gamma": ((1e-7, 1.0, 5.0), (0.0, 1.0, 5.0)),
    "beta": ((1e-3, 1.0, 5.0), (1e-3, 1.0, 5.0)), "student_t": ((20.0, 30.0, 1e6),),
    "f": ((0.5, 3.0, 100.0), (40.0, 80.0, 1e5)), "weibull": ((0.5, 1.0, 50.0), (0.0, 1.0, 5.0)),
    "pareto": ((20.0, 30.0, 80.0), (0.0, 1.0, 5.0)),
    "truncated_normal": ((-3.0, 3.0), (0.1, 5.0), (-1.0,), (0.5, 2.0)),
    "bernoulli": ((0.0, 1e-9, 1.0),), "binomial": ((0.0, 1.0, 40.0), (0.0, 1e-9, 0.9)),
    "geometric": ((0.1, 0.9, 1.0),), "negative_binomial": ((0.0, 0.3, 7.0), (0.1, 0.9, 1.0)),
    "poisson": ((0.0, 1e-9, 30.0),), "hypergeometric": ((3.0, 10.0), (0.0, 7.0), (0.0, 1.0, 3.0)),
    "discrete_uniform": ((-9.0, 0.0, 1.0), (1.0, 6.0, 40.0)),
}  # fmt: skip


class Mixture:
    """A draw whose arguments are picked at random, each from a few values."""

    def __init__(self, law: Law, seed: int, unbounded: bool) -> None:
        generator = np.random.default_rng([seed, *law.name.encode()])
        self.law, self.columns, self.unbounded = law, MIXED[law.name], unbounded
        self.weights = [generator.dirichlet(np.full(len(one), 0.3)) for one in self.columns]

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
    for seed in range(6):
        mixture = Mixture(LAWS[name], seed, unbounded=seed % 2 == 1)
        for p in (2.0, 4.0, 8.0):
            bound = mixture.bound(p)
            assert bound >= mixture.truth(p) * (1 - SLACK), (seed, p)
            assert mixture.unbounded or name == "truncated_normal" or math.isfinite(bound)


@pytest.mark.parametrize("name", ["normal", "uniform", "exponential", "gamma"])
def test_norms_follow_from_those_of_loc_and_scale(name: str) -> None:
    """No bounds of the arguments are known, but that what is no loc or scale is fixed."""
    mixture = Mixture(LAWS[name], 0, unbounded=True)
    units = LAWS[name].units or ()

    def hull(i: int) -> Hull:
        return Hull(2.0, 2.0) if units[i] is None else mixture.hull(i)

    assert math.isfinite(LAWS[name].random_norm(4.0, mixture.norm, hull))
    assert LAWS[name].random_norm(4.0, lambda _i, _q: math.inf, hull) == math.inf


def test_rarity_by_a_random_rate_is_in_the_bound() -> None:
    """P(x > 0) is 5e-8 where the rate is 1e-7 times a uniform variable; all moments are that."""
    for p in (2.0, 4.0):
        bound = LAWS["poisson"].random_norm(
            p, lambda _, q: 1e-7 * math.pow(q + 1, -1 / q), lambda _: Hull(0.0, 1e-7)
        )
        assert bound**p == pytest.approx(5e-8, rel=1e-6)
