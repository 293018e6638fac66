"""Slopes of lines with normal noise: two numbers a draw, and the same law."""

from __future__ import annotations

import math

import pytest
from fewer_draws_made import are_alike, exactly, numbers_a_draw, programs
from scipy import stats

from dropcheck.analysis.fewer_draws import normal_noise

NORMAL = "x ~ normal(1, 2)[6]; e ~ normal(0, 0.5)[6]; y = 2 + 3 * x + e"
UNIFORM = "x ~ uniform(0, 1)[5]; e ~ normal([0, 1, 0, 1, 2], [1, 2, 1, 2, 3])[5]; y = 3 * x + e"
CENTRED = "xc = x - mean(x)"


@pytest.mark.parametrize(
    ("model", "numbers"),
    [
        (f"{NORMAL}; {CENTRED}; b = sum(xc * (y - mean(y))) / sum(xc**2)", 2),
        (f"{NORMAL}; {CENTRED}; b = sum(xc / sum(xc**2) * y)", 2),
        (f"{NORMAL}; b = mean((x - mean(x)) * y) / var(x)", 2),
        (f"{NORMAL}; b = (mean(x * y) - mean(x) * mean(y)) / var(x)", 2),
        ("x ~ normal(0, 1)[6]; e ~ normal(0, 2)[6]; b = x @ (3 * x - e) / norm(x)**2", 2),
        ("x ~ normal(0, 1)[6]; e ~ normal(0, 2)[6]; b = x @ (3 * x - e) / (2 + x @ x)", 2),
        ("x, u ~ normal(0, 1)[6]; y = x + 2 * (x / 2 + u); b = sum(x * y) / sum(x**2)", 2),
        ("x ~ laplace(0, 1)[4]; e ~ normal(0, 1)[4]; b = sum(x * (x - e)) / sum(x**2)", 5),
        ("x ~ normal(0, 1)[9]; e ~ normal(2, 1)[9]; b = (x - mean(x)) @ e / var(x)", 2),
    ],
)
def test_the_law_is_the_same(model: str, numbers: int) -> None:
    fewer, plain = programs(model, "E(tanh(b)) == 0")
    assert numbers_a_draw(fewer) == numbers < numbers_a_draw(plain)
    assert are_alike(fewer, plain)


def test_a_wrong_multiple_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    multiple = normal_noise._multiple
    monkeypatch.setattr(normal_noise, "_multiple", lambda pairs: 1.3 * (multiple(pairs) or 0.0))
    model = f"{NORMAL}; {CENTRED}; b = sum(xc * y) / sum(xc**2)"
    assert not are_alike(*programs(model, "E(tanh(b)) == 0"))


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        ("b = sum(x * (3 * x**2 + e)) / sum(x**2)", "E(b) == 0"),  # no line
        ("b = sum(x * (x + 1e-9 * x**3 + e)) / sum(x**2)", "E(b) == 0"),
        ("b = sum(x * (abs(x) + e)) / sum(x**2)", "E(b) == 0"),
        ("b = sum(x * where(x > 9, x, e)) / sum(x**2)", "E(b) == 0"),
        ("b = sum(x * (x + e**2)) / sum(x**2)", "E(b) == 0"),  # not linear in e
        ("b = sum(x * e) / (sum(x**2) + e[0]**2)", "E(b) == 0"),
        ("b = sum((x + e) * e) / sum(x**2)", "E(b) == 0"),
        ("b = sum(x * (x + u)) / sum(x**2)", "E(b) == 0"),  # no normal noise
        ("b = sum(x * (x + e)) / sum(x**2)", "E(b + e[0]) == 0"),  # it is seen elsewhere
        ("b = sum(x * (x + e)) / sum(x**2)", "E(b, given=max(e) > 0) == 0"),
        ("b = sum(x * (x + h)) / sum(x**2)", "E(b) == 0"),  # of random spread
        ("b = sum(x * (k - e)) / sum(x**2)", "E(b) == 0"),  # k is drawn about e
        ("b = sum(x * (x + e)) / sum(x**3)", "E(b) == 0"),  # may be below 0
        ("b = sum(x * (1e12 + x + e - 1e12)) / sum(x**2)", "E(b) == 0"),  # digits cancel
    ],
)
def test_others_stay(line: str, claim: str) -> None:
    model = "x ~ laplace(0, 1)[4]; e ~ normal(0, 1)[4]; u ~ uniform(0, 1)[4]; s ~ uniform(1, 2)"
    fewer, plain = programs(f"{model}; h ~ normal(0, s)[4]; k ~ normal(e, 1)[4]; {line}", claim)
    assert numbers_a_draw(fewer) == numbers_a_draw(plain)


def test_means_and_variances_are_exact() -> None:
    """Given x a slope has the variance σ² / Σ (x - mean)², of which E 1 / χ²(m) = 1 / (m - 2)."""
    model = "x ~ normal(1, 2)[10]; e ~ normal(0, 3)[10]; y = 1 - 2 * x + e"
    model += "; b = sum((x - mean(x)) * (y - mean(y))) / sum((x - mean(x))**2)"
    assert exactly(model, "E(b)") == pytest.approx(-2, rel=1e-12)
    assert exactly(model, "Var(b)") == pytest.approx(9 / 4 / 7, rel=1e-9)


def test_a_shrunk_slope_is_exact() -> None:
    """Its error 2 s / d + √s g / d - 2 of d = s + 5, s of χ²(8): 4 (5 / d)² + s / d² on average."""
    model = "x ~ normal(0, 1)[8]; e ~ normal(0, 1)[8]; b = sum(x * (2 * x + e)) / (sum(x**2) + 5)"
    truth = stats.chi2(8).expect(lambda s: (100 + s) / (s + 5) ** 2)
    assert exactly(model, "E((b - 2)**2)") == pytest.approx(truth, rel=1e-7)
    assert not math.isclose(truth, 1 / 6, rel_tol=0.1)  # as without it
