"""Exact moments given each outcome of discrete numbers: against closed forms and enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lowered import expressed, lowering
from scipy import stats

from dropcheck.analysis import exact
from dropcheck.analysis.exact import ExactMoments, Integrand, exact_moments

# A sum of N terms has the mean E N · mu, and the variance E N · sd² + Var N · mu² (Wald 1944;
# Blackwell and Girshick 1946).
TERMS = "x ~ normal(1, 2)[40]; s = sum(x * (arange(40) < n))"
RANDOM_SUMS = [
    (f"n ~ poisson(3); {TERMS}", 3.0, 3 * 5.0),
    (f"n ~ binomial(20, 0.3); {TERMS}", 6.0, 6 * 4 + 4.2),
    (f"n ~ discrete_uniform(0, 12); {TERMS}", 6.0, 6 * 4 + 14.0),
    ("n ~ poisson(2); x ~ exponential(3)[50]; s = sum(x if arange(50) < n else 0)", 6.0, 2 * 18.0),
    ("n ~ poisson(2); x ~ normal(0, 1)[50]; s = take(cumsum(x), n)", 0.0, 3.0),
    # mixtures by a random index
    ("k ~ categorical([0.2, 0.5, 0.3]); x ~ normal(take([1, -2, 4], k), 1); s = x", 0.4, None),
    ("k ~ discrete_uniform(0, 4); x ~ normal(0, 1)[5]; s = 3 + take(x, k)", 3.0, 1.0),
    # two numbers
    ("a, b ~ binomial(4, 0.5); x ~ normal(0, 1)[9]; s = sum(x * (arange(9) < a + b))", 0.0, 4.0),
]


def moments(model: str, given: str | None = None) -> ExactMoments | None:
    scope = lowering(model)
    condition = None if given is None else expressed(scope, given)
    own = Integrand(factors=((expressed(scope, "s"), 1),), given=condition)
    return exact_moments([own])


@pytest.mark.parametrize(("model", "mean", "variance"), RANDOM_SUMS)
def test_random_sums(model: str, mean: float, variance: float | None) -> None:
    found = moments(model)
    assert found is not None
    if variance is None:
        variance = 1 + 0.2 * 1 + 0.5 * 4 + 0.3 * 16 - 0.4**2
    assert found.means == pytest.approx([mean], abs=1e-8)
    assert found.covariance(1) == pytest.approx(np.array([[variance]]), rel=1e-8)
    assert found.error < 1e-6
    assert abs(found.means[0] - mean) <= found.mean_errors[0]


def test_a_condition_is_known_too() -> None:
    found = moments(f"n ~ poisson(3); {TERMS}", "n > 4")
    n = np.arange(5, 41)
    assert found is not None
    assert found.means == pytest.approx([float((n * stats.poisson.pmf(n, 3)).sum())], rel=1e-8)


def test_what_is_left_out_is_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = moments(f"n ~ poisson(3); {TERMS}")
    first = exact._outcomes

    def cut(values):  # type: ignore[no-untyped-def]  # as what it stands for
        outcomes, chances, _ = first(values)
        return outcomes[:9], chances[:9], float(chances[9:].sum())

    monkeypatch.setattr(exact, "_outcomes", cut)
    found = moments(f"n ~ poisson(3); {TERMS}")
    assert plain is not None
    assert found is not None
    off = abs(found.means - plain.means)[0]
    assert 1e-3 < off <= found.mean_errors[0]
    off = abs(found.covariance(1) - plain.covariance(1))[0, 0]
    assert 1e-3 < off <= found.error * found.covariance(1)[0, 0]


@pytest.mark.parametrize(
    "model",
    [
        f"n ~ poisson(200); {TERMS}",  # many outcomes
        # at 3 / 10 - 0.3 rounding decides
        "n ~ poisson(3); x ~ normal(0, 1)[40]; s = sum(x * (n / 10 - 0.3 >= 0)) + abs(take(x, n))",
    ],
)
def test_others_are_unknown(model: str) -> None:
    assert moments(model) is None


def test_a_variance_between_outcomes_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of random sums can fail."""
    joined = exact._joined

    def within_alone(chances, found):  # type: ignore[no-untyped-def]  # as what it stands for
        for one in found:
            one.means[:] = float(chances @ np.array([other.means[0] for other in found]))
        return joined(chances, found)

    monkeypatch.setattr(exact, "_joined", within_alone)
    found = moments(RANDOM_SUMS[0][0])
    assert found is not None
    assert not math.isclose(found.covariance(1)[0, 0], RANDOM_SUMS[0][2] or 0.0, rel_tol=1e-3)
