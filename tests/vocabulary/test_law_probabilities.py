"""Distribution functions, quantiles, points and lines of laws, beside those of others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from law_judges import distance_allowed, gap
from law_table import CASES, as_arrays, twin
from numpy.typing import NDArray

from dropcheck.vocabulary.law import Law, Values
from dropcheck.vocabulary.laws import LAWS

Array = NDArray[Any]

CLOSE = 1e-9
LEVELS = np.array([1e-300, 1e-100, 1e-20, 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])


# ---- against others ------------------------------------------------------------------------------

# what scipy has of another law, or with fewer digits than asked for here
NOT_THEIRS = {
    "von_mises",  # which goes round the circle there
    "truncated_normal",  # far out it loses digits there
    "hypergeometric",  # NaN between its values
}


@pytest.mark.parametrize(
    ("name", "arguments"), [case for case in CASES if case[0] not in NOT_THEIRS]
)
def test_distribution_functions_agree_with_scipy(name: str, arguments: tuple[Any, ...]) -> None:
    law, theirs = LAWS[name], twin(name, arguments)
    with np.errstate(all="ignore"):
        x = np.concatenate([theirs.ppf(LEVELS[3:]), [-1.5, 0.0, 0.25, 1.0, 2.0, 3.5, 40.0]])
        x = x[np.isfinite(x)]
        cdf, survival = theirs.cdf(x), theirs.sf(x)
    np.testing.assert_allclose(law.cdf(x, *arguments), cdf, rtol=1e-6, atol=1e-13)
    np.testing.assert_allclose(law.survival(x, *arguments), survival, rtol=1e-6, atol=1e-13)
    inside = (cdf > 1e-3) & (survival > 1e-3)
    np.testing.assert_allclose(law.cdf(x, *arguments)[inside], cdf[inside], rtol=CLOSE)


def beta_below(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def student_t_below(x: Any, df: float) -> Any:
    tail = beta_below(mp.mpf(df) / 2, 0.5, df / (df + mp.mpf(x) ** 2)) / 2
    return tail if x < 0 else 1 - tail


def gamma_below(x: Any, shape: float, scale: float) -> Any:
    return mp.gammainc(shape, 0, mp.mpf(x) / scale, regularized=True)


def f_below(x: Any, d1: float, d2: float) -> Any:
    return beta_below(mp.mpf(d1) / 2, mp.mpf(d2) / 2, d1 * mp.mpf(x) / (d2 + d1 * mp.mpf(x)))


def binomial_below(x: Any, n: float, p: float) -> Any:
    chance = mp.mpf(p)
    return mp.fsum(
        mp.binomial(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(int(x) + 1)
    )


def truncated_below(x: Any, mean: float, sd: float, low: float, high: float) -> Any:
    a, z, b = ((mp.mpf(one) - mean) / sd for one in (low, x, high))
    with mp.extradps(60):
        return (mp.ncdf(-a) - mp.ncdf(-z)) / (mp.ncdf(-a) - mp.ncdf(-b))


BELOW: dict[str, Callable[..., Any]] = {
    "normal": lambda x, mean, sd: mp.ncdf((mp.mpf(x) - mean) / sd),
    "lognormal": lambda x, mean, sd: mp.ncdf((mp.log(x) - mean) / sd),
    "student_t": student_t_below,
    "gamma": gamma_below,
    "beta": lambda x, a, b: beta_below(a, b, mp.mpf(x)),
    "f": f_below,
    "cauchy": lambda x, loc, scale: mp.atan2(1, -(mp.mpf(x) - loc) / scale) / mp.pi,
    "logistic": lambda x, loc, scale: 1 / (1 + mp.exp(-(mp.mpf(x) - loc) / scale)),
    "weibull": lambda x, shape, scale: -mp.expm1(-((mp.mpf(x) / scale) ** shape)),
    "binomial": binomial_below,
    "truncated_normal": truncated_below,
}
FAR: list[tuple[str, tuple[float, ...]]] = [
    *(("normal", (3.0, 2.0)), ("lognormal", (5.0, 0.1)), ("student_t", (0.5,)),
        ("student_t", (1.0,))),
    *(("student_t", (30.0,)), ("student_t", (600.0,)), ("gamma", (1e-3, 1.0)),
        ("gamma", (30.0, 0.1))),
    *(("beta", (0.5, 0.5)), ("beta", (2.0, 5.0)), ("beta", (300.0, 20.0)), ("beta", (1.0, 1e-7))),
    *(("f", (0.5, 8.0)), ("f", (5.0, 20.0)), ("f", (2000.0, 30.0)), ("cauchy", (0.0, 1.0))),
    *(("logistic", (1.0, 4.0)), ("weibull", (0.5, 2.0)), ("weibull", (4.0, 0.3))),
    *(("binomial", (900, 0.4)), ("truncated_normal", (0.0, 1.0, 8.0, 9.0))),
    *(("truncated_normal", (0.0, 1.0, 3.0, 3.1)), ("truncated_normal", (0.0, 1.0, -0.1, 0.2))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), FAR)
def test_lower_tails_keep_their_digits(name: str, arguments: tuple[float, ...]) -> None:
    law = LAWS[name]
    with mp.workdps(60):
        for level in LEVELS:
            x = float(law.quantile(level, *arguments))
            if not math.isfinite(x) or x in law.support(*arguments):
                continue
            truth = BELOW[name](x, *arguments)
            assert float(law.cdf(x, *arguments)) == pytest.approx(float(truth), rel=1e-11), level


@pytest.mark.parametrize(
    ("name", "arguments", "x", "exact"),
    [
        ("normal", (0.0, 1.0), 30.0, "4.906713927148187e-198"),
        ("poisson", (3.0,), 100.0, None),
        ("gumbel", (0.0, 1.0), 600.0, "2.650396552004025e-261"),
        ("pareto", (2.0, 1.0), 1e100, "1e-200"),
        ("exponential", (1.0,), 690.0, None),
        ("geometric", (0.5,), 900.0, None),
    ],
)
def test_upper_tails_keep_their_digits(
    name: str, arguments: tuple[float, ...], x: float, exact: str | None
) -> None:
    truth = {
        "poisson": mp.gammainc(101, 0, 3, regularized=True),
        "exponential": mp.exp(-690),
        "geometric": mp.mpf(2) ** -900,
    }
    wanted = truth[name] if exact is None else mp.mpf(exact)
    assert float(LAWS[name].survival(x, *arguments)) == pytest.approx(float(wanted), rel=1e-11)


def test_draws_without_putting_back() -> None:
    law = LAWS["hypergeometric"]
    for groups in ((10.0, 20.0, 12.0), (50.0, 3.0, 52.0), (1e9, 7.0, 1e9), (4e8, 1e9, 300.0)):
        low, high = law.support(*groups)
        theirs = twin("hypergeometric", tuple(map(int, groups)))
        values = np.arange(low, min(high, 12.0) + 1)
        np.testing.assert_allclose(law.cdf(values, *groups), theirs.cdf(values), rtol=1e-6)
        np.testing.assert_allclose(law.cdf(values + 0.5, *groups), theirs.cdf(values), rtol=1e-6)
    # exactly: P(X <= 0) of 1 bad one among 1e9 + 1, half of them drawn
    assert float(law.cdf(5e8 - 1, 1e9, 1.0, 5e8)) == pytest.approx(5e8 / (1e9 + 1), rel=1e-14)


# ---- quantiles -----------------------------------------------------------------------------------


def largest_of(law: Law, arguments: tuple[Any, ...]) -> float:
    """The largest number that values of a law between two ends are made of."""
    if law is LAWS["von_mises"]:
        return math.pi
    if law is not LAWS["truncated_normal"]:
        return 0.0
    return max(abs(float(one)) for one in arguments if math.isfinite(one))


def wrong_quantiles(law: Law, arguments: tuple[Any, ...]) -> list[tuple[str, float]]:
    """The levels at which a quantile is not the least value that reaches them."""
    wrong = []
    low, _ = law.support(*arguments)
    for name, inverse, function, sign in (
        ("quantile", law.quantile, law.cdf, 1.0),
        ("upper_quantile", law.upper_quantile, law.survival, -1.0),
    ):
        x = np.asarray(inverse(LEVELS, *arguments), dtype=float)
        # rounding is that of the value, or of the largest number that it is made of
        size = np.maximum(np.abs(x), largest_of(law, arguments))
        step = np.ones_like(x) if law.discrete else 4 * np.spacing(size)
        before = np.nextafter(x, -np.inf) if law.values is Values.LISTED else x - step
        after = x if law.discrete else np.maximum(x + step, 1e-307 if low == 0 else -np.inf)
        reached = sign * function(after, *arguments) >= sign * LEVELS * (1 - sign * CLOSE)
        short = sign * function(before, *arguments) <= sign * LEVELS * (1 + sign * CLOSE)
        # infinite only where the value is beyond the largest float64
        beyond = sign * (function(np.sign(x) * 1e307, *arguments) - LEVELS) * np.sign(x) <= 0
        good = np.where(np.isfinite(x), reached & (short | (x <= low)), np.isinf(x) & beyond)
        wrong += [(name, float(level)) for level in LEVELS[~good]]
    return wrong


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_a_quantile_is_the_least_value_that_reaches_its_level(
    name: str, arguments: tuple[Any, ...]
) -> None:
    assert wrong_quantiles(LAWS[name], arguments) == []


@pytest.mark.parametrize(("name", "arguments"), [("gamma", (30.0, 0.1)), ("poisson", (4.0,))])
def test_a_quantile_that_is_wrong_is_found(name: str, arguments: tuple[float, ...]) -> None:
    law = LAWS[name]
    step = 1.0 if law.discrete else 0.0

    def wrong(level: Any, *_: Any) -> Any:
        return law.quantile(level, *arguments) * (1 + 1e-7) + step

    assert wrong_quantiles(replace(law, quantiles=(wrong, wrong)), arguments)


FORMULAS = [
    *(("normal", (3.0, 2.0)), ("student_t", (0.5,)), ("gamma", (0.05, 2.0)), ("beta", (0.5, 0.5))),
    *(("lognormal", (5.0, 0.1)), ("pareto", (0.5, 2.0)), ("uniform", (2.0, 2.5))),
    *(("triangular", (0.0, 5.0, 5.0)), ("gumbel", (1.0, 0.2)), ("f", (0.5, 8.0))),
]


@pytest.mark.parametrize(("name", "arguments"), FORMULAS)
def test_a_law_needs_no_quantiles_and_no_sampler(name: str, arguments: tuple[Any, ...]) -> None:
    law, levels = LAWS[name], LEVELS[3:]
    plain = replace(law, quantiles=None, sampler=None)
    for at in ("quantile", "upper_quantile"):
        found, known = (getattr(one, at)(levels, *arguments) for one in (plain, law))
        np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-14)
    draws = replace(law, sampler=None).sample(
        np.random.default_rng(0), as_arrays(arguments), (), 20_000
    )
    assert gap(draws, lambda x: law.cdf(x, *arguments)) <= distance_allowed(20_000)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("beta", (2.0, 5.0)), ("truncated_normal", (0.0, 1.0, -2.0, 3.0)), ("uniform", (-1.0, 3.0))],
)
def test_a_density_between_two_ends_tells_all(name: str, arguments: tuple[float, ...]) -> None:
    law = LAWS[name]
    by_density = replace(law, chances=None, quantiles=None)
    x = law.quantile(LEVELS, *arguments)
    np.testing.assert_allclose(by_density.cdf(x, *arguments), law.cdf(x, *arguments), rtol=1e-10)
    np.testing.assert_allclose(by_density.quantile(LEVELS, *arguments), x, rtol=1e-9)
    for order in (1, 2, 3, 8):
        known = by_density.moment(order, *arguments)[0]
        assert known == pytest.approx(law.moment(order, *arguments)[0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_the_ends_of_a_law(name: str, arguments: tuple[Any, ...]) -> None:
    law = LAWS[name]
    low, high = law.support(*arguments)
    assert float(law.quantile(0.0, *arguments)) == float(law.upper_quantile(1.0, *arguments)) == low
    assert (
        float(law.quantile(1.0, *arguments)) == float(law.upper_quantile(0.0, *arguments)) == high
    )
    assert law.cdf(np.array([-math.inf, math.inf]), *arguments).tolist() == [0.0, 1.0]
    assert law.survival(np.array([-math.inf, math.inf]), *arguments).tolist() == [1.0, 0.0]
    assert np.isnan(law.cdf(math.nan, *arguments))
    assert np.isnan(law.quantile(np.array([-0.1, 1.1, math.nan]), *arguments)).all()


def test_points_and_arguments_broadcast() -> None:
    mean, x = np.array([[0.0], [1.0]]), np.array([0.0, 1.0, 2.0])
    assert LAWS["normal"].cdf(x, mean, 1.0).shape == (2, 3)
    n, u = np.array([[0.0], [3.0], [40.0]]), np.array([0.01, 0.5, 0.99])
    found = LAWS["binomial"].quantile(u, n, 0.5)
    alone = [[float(LAWS["binomial"].quantile(b, float(a[0]), 0.5)) for b in u] for a in n]
    assert found.tolist() == alone
    lists = np.array([[0.2, 0.8], [0.9, 0.1]])
    assert LAWS["categorical"].quantile(np.array([0.5, 0.5]), lists).tolist() == [1.0, 0.0]
    np.testing.assert_allclose(LAWS["categorical"].cdf(np.zeros(2), lists), [0.2, 0.9])


def test_vectors_have_none() -> None:
    for name, arguments in (("dirichlet", ((1.0, 2.0),)), ("permutation", (3.0,))):
        law = LAWS[name]
        assert law.cdf(0.5, *arguments) is None
        assert law.upper_quantile(0.5, *arguments) is None
        assert law.points(*arguments) is None


# ---- points --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "arguments"), [case for case in CASES if LAWS[case[0]].discrete])
def test_points_carry_all_probability(name: str, arguments: tuple[Any, ...]) -> None:
    law = LAWS[name]
    points = law.points(*arguments, at_most=10_000)
    assert points is not None
    values, chances, rest = points
    assert (np.diff(values) > 0).all()
    assert (chances > 0).all()
    assert chances.sum() + rest == pytest.approx(1.0, rel=1e-13)
    assert rest <= 1e-30
    with np.errstate(all="ignore"):
        density = law.density(as_arrays(arguments), values)
    np.testing.assert_allclose(chances, density, rtol=1e-9)
    mean = float(law.mean(*arguments))
    assert (values * chances).sum() == pytest.approx(mean, rel=1e-12, abs=1e-13)
    variance = float(law.central(2, *arguments))
    assert ((values - mean) ** 2 * chances).sum() == pytest.approx(variance, rel=1e-9, abs=1e-12)


def test_how_many_points_are_gone_through() -> None:
    assert LAWS["discrete_uniform"].points(1.0, 4096.0) is not None
    assert LAWS["discrete_uniform"].points(1.0, 4097.0) is None
    assert LAWS["discrete_uniform"].points(1.0, 4097.0, at_most=5000) is not None
    assert LAWS["geometric"].points(1e-3) is None
    assert LAWS["normal"].points(0.0, 1.0) is None
    values, _, rest = LAWS["binomial"].points(1e9, 1e-7) or ((), (), 1.0)
    assert len(values) < 300
    assert 0.0 < rest < 1e-30


# ---- lines ---------------------------------------------------------------------------------------

LINES = [case for case in CASES if LAWS[case[0]].units]


@pytest.mark.parametrize(("name", "arguments"), LINES)
def test_a_draw_is_a_line_of_a_standard_one(name: str, arguments: tuple[float, ...]) -> None:
    law = LAWS[name]
    line = law.as_line(*arguments)
    assert line is not None
    loc, scale, own = line
    levels = LEVELS[4:]
    alike = loc + scale * law.quantile(levels, *own)
    np.testing.assert_allclose(law.quantile(levels, *arguments), alike, rtol=1e-12, atol=1e-14)
    # what is standard is so in its own terms
    assert law.as_line(*own) == (0.0, 1.0, own)
