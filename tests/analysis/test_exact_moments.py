"""Exact moments before any draw: against closed forms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from lowered import expressed, lowered, lowering

from dropcheck.analysis.moments.exact import (
    ExactMoments,
    Integrand,
    exact_mean,
    exact_moments,
    vanishes,
)


def moments(
    model: str,
    *expressions: str,
    powers: Sequence[int] = (1, 2),
    groups: Mapping[str, int] | None = None,
) -> ExactMoments:
    scope = lowering(model)
    values = [expressed(scope, expression) for expression in expressions]
    integrands = [
        Integrand(factors=((value, power),), centres=(0.0,)) for value in values for power in powers
    ]
    found = exact_moments(integrands, groups)
    assert found is not None
    return found


@pytest.mark.parametrize("d", [1, 64, 1_000_000])
def test_scalar_product(d: int) -> None:
    """E(q·k)² = d and E(q·k)⁴ = 3 d² + 6 d, so that the square has variance 2 d² + 6 d."""
    found = moments(f"q ~ normal(0, 1)[{d}]; k ~ normal(0, 1)[{d}]", "q @ k")
    assert found.means == pytest.approx([0, d])
    assert found.covariance(1) == pytest.approx(np.diag([d, 2 * d**2 + 6 * d]))


def test_scalar_product_of_crossed_sides() -> None:
    """The part of (q·k)² that one side alone explains is 2 d, of each side."""
    model = "q ~ normal(0, 1)[64]; k ~ normal(0, 1)[64]"
    found = moments(model, "q @ k", groups={"q": 0, "k": 1})
    assert found.components[frozenset({0})][1, 1] == pytest.approx(2 * 64)
    assert found.components[frozenset({1})][1, 1] == pytest.approx(2 * 64)
    assert found.components[frozenset({0, 1})][0, 0] == pytest.approx(64)
    expected = 2 * 128 / 10 + (2 * 64**2 + 6 * 64 - 256) / 100
    assert found.covariance(10)[1, 1] == pytest.approx(expected)


def test_dropout() -> None:
    found = moments("x ~ normal(1, 1); m ~ bernoulli(0.9)", "m * x / 0.9")
    assert found.means == pytest.approx([1, 2 / 0.9])
    fourth = 10 / 0.9**3
    assert found.covariance(1).diagonal() == pytest.approx([2 / 0.9 - 1, fourth - (2 / 0.9) ** 2])


def test_sample_variance_is_unbiased() -> None:
    found = moments("x ~ normal(3, 2)[5]", "var(x, ddof=1)", powers=(1,))
    assert found.means == pytest.approx([4])
    assert found.covariance(1) == pytest.approx(np.array([[2 * 4**2 / 4]]))


def test_products_of_many_factors() -> None:
    found = moments("x ~ normal(1, 0.5); m ~ bernoulli(0.9)[24]", "prod(m / 0.9) * x")
    assert found.means == pytest.approx([1, 1.25 * 0.9**-24])


def test_exact_mean() -> None:
    assert exact_mean(lowered("x ~ exponential(2)", "x**2")) == pytest.approx(8)
    assert exact_mean(lowered("x ~ cauchy(0, 1)", "x")) is None


@pytest.mark.parametrize(
    "expression", ["x - x", "m * m - m", "0 * c", "(x + c)**2 - x**2 - 2 * x * c - c**2", "s*s - 1"]
)
def test_what_vanishes(expression: str) -> None:
    model = "x ~ normal(0, 1); m ~ bernoulli(0.3); c ~ cauchy(0, 1); s ~ rademacher()"
    assert vanishes(lowered(model, expression))


@pytest.mark.parametrize("expression", ["x - m", "m * m", "x * x - x", "exp(x) - exp(2 * x)"])
def test_what_does_not_vanish(expression: str) -> None:
    assert not vanishes(lowered("x ~ normal(0, 1); m ~ bernoulli(0.3)", expression))


def test_error_is_small_and_grows_with_what_cancels() -> None:
    near = moments("x ~ normal(1, 1)", "x")
    far = moments("x ~ normal(1e6, 1)", "x")
    assert near.error < 1e-9 < far.error or far.error < 1e-9
    assert math.isfinite(far.error)
