"""Moments of laws where there are none, of constants, of vectors and beyond float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.moments import HIGHEST_ORDER


@pytest.mark.parametrize(
    ("name", "arguments", "order", "mean", "central"),
    [
        ("cauchy", (0.0, 1.0), 1, "nan", ["inf", "nan", "inf"]),
        ("student_t", (1.0,), 1, "nan", ["inf", "nan", "inf"]),
        ("student_t", (2.1,), 2.1, "0", ["21", "nan", "inf"]),
        ("pareto", (0.8, 1.0), 0.8, "inf", ["inf", "inf", "inf"]),
        ("pareto", (2.5, 1.0), 2.5, "1.66667", ["2.22222", "inf", "inf"]),
        ("f", (5.0, 4.0), 2, "2", ["inf", "inf", "inf"]),
        ("f", (5.0, 2.0), 1, "inf", ["inf", "inf", "inf"]),
        ("f", (5.0, 7.0), 3.5, "1.4", ["2.61333", "43.904", "inf"]),
    ],
)
def test_moments_that_do_not_exist(
    name: str, arguments: tuple[float, ...], order: float, mean: str, central: list[str]
) -> None:
    law = LAWS[name]
    assert f"{float(law.mean(*arguments)):g}" == mean
    assert [f"{float(law.central(k, *arguments)):g}" for k in (2, 3, 4)] == central
    found = {k: law.cumulant(k, *arguments)[0] for k in range(2, 9)}
    assert all(math.isfinite(found[k]) == (k < order) for k in found)


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("normal", (2.0, 0.0), 2.0), ("cauchy", (2.0, 0.0), 2.0), ("pareto", (0.5, 0.0), 0.0),
        ("lognormal", (0.0, 0.0), 1.0), ("exponential", (0.0,), 0.0), ("uniform", (3.0, 3.0), 3.0),
        ("triangular", (1.0, 1.0, 1.0), 1.0), ("truncated_normal", (0.5, 0.0, 0.0, 1.0), 0.5),
        ("truncated_normal", (0.5, 1.0, 1.0, 1.0), 1.0), ("bernoulli", (0.0,), 0.0),
        ("bernoulli", (1.0,), 1.0), ("binomial", (0.0, 0.5), 0.0), ("binomial", (4.0, 1.0), 4.0),
        ("geometric", (1.0,), 1.0), ("negative_binomial", (0.0, 0.5), 0.0),
        ("negative_binomial", (2.0, 1.0), 0.0), ("poisson", (0.0,), 0.0),
        ("hypergeometric", (3.0, 0.0, 2.0), 2.0), ("hypergeometric", (0.0, 0.0, 0.0), 0.0),
        ("discrete_uniform", (4.0, 4.0), 4.0), ("categorical", ((0.0, 1.0),), 1.0),
        ("choice", ((2.5, 2.5),), 2.5),
    ],
)  # fmt: skip
def test_a_constant_has_no_spread(name: str, arguments: tuple[Any, ...], value: float) -> None:
    law = LAWS[name]
    assert float(law.mean(*arguments)) == pytest.approx(value, rel=1e-15)
    orders = range(2, HIGHEST_ORDER + 1)
    assert {float(law.central(k, *arguments)) for k in orders} == {0.0}
    assert {float(law.cumulant(k, *arguments)[0]) for k in orders} == {0.0}
    for p in (1, 1.5, 2, 3, 4, 7.3, 8, 30):
        assert float(law.norm(p, *arguments)) == pytest.approx(abs(value), rel=1e-12)


def test_elements_of_vectors() -> None:
    chances = np.array([0.2, 0.3, 0.5])
    multinomial = LAWS["multinomial"]
    np.testing.assert_allclose(multinomial.mean(8.0, chances), 8 * chances)
    for order in (2, 3, 8):
        alone = [float(LAWS["binomial"].central(order, 8.0, p)) for p in chances]
        np.testing.assert_allclose(multinomial.central(order, 8.0, chances), alone, rtol=1e-12)
    several = multinomial.mean(np.array([3.0, 8.0]), np.array([chances, chances]))
    np.testing.assert_allclose(several, [3 * chances, 8 * chances])

    a = np.array([1e-7, 2.0, 1e9])
    shares = [(1e-7, 2.0 + 1e9), (2.0, 1e9 + 1e-7), (1e9, 2.0 + 1e-7)]
    for order in (2, 4):
        alone = [float(LAWS["beta"].central(order, *one)) for one in shares]
        np.testing.assert_allclose(LAWS["dirichlet"].central(order, a), alone, rtol=1e-12)
    assert LAWS["dirichlet"].central(2, np.array([3.0])).tolist() == [0.0]

    assert LAWS["permutation"].mean(5.0).tolist() == [2.0]
    assert LAWS["permutation"].central(2, 5.0).tolist() == [2.0]

    cov = np.array([[2.0, 0.6], [0.6, 0.5]])
    normal = LAWS["multivariate_normal"]
    assert normal.mean((1.0, -2.0), cov).tolist() == [1.0, -2.0]
    np.testing.assert_allclose(normal.central(4, (1.0, -2.0), cov), [12.0, 0.75])


def test_a_width_beyond_float64_has_no_known_moment() -> None:
    law = LAWS["uniform"]
    assert math.isnan(law.mean(-1e308, 1e308))
    assert float(law.norm(2, -1e308, 1e308)) == 1e308
