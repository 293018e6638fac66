"""Quotients whose sides share what they are made of: bounded where they are, and nowhere else."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from trials import compiled

from dropcheck.analysis import bounds
from dropcheck.analysis.support import support
from dropcheck.vocabulary.hulls import Hull

# Tails so heavy that single elements stand out, and with them the ends of the quotients.
MODEL = (
    "x ~ cauchy(0, 1)[6]; y ~ cauchy(0, 1)[6]; m ~ cauchy(0, 1)[4, 3]; k ~ cauchy(0, 1)[3, 3]; "
    "g ~ pareto(0.3, 1); h ~ pareto(0.3, 1); v ~ pareto(0.3, 1)[6]; s ~ cauchy(0, 1); "
    "t ~ cauchy(0, 1); w ~ pareto(0.3, 1)[4, 3]; c = [1, -2, 3, 0, 1, 1]"
)
DRAWS = 20_000


def drawn(quantity: str) -> tuple[Hull, npt.NDArray[np.float64]]:
    found = compiled(MODEL, f"E({quantity}) == 1")
    (register,) = found.program.targets
    with np.errstate(all="ignore"):
        held = found.program.registers(np.random.default_rng(1), DRAWS)
    values = np.asarray(held[register], dtype=np.float64)
    return support(found.values[register]), values[np.isfinite(values)]


BOUNDED: list[tuple[str, float, float]] = [
    # shares of sums
    ("g / (g + h)", 0, 1), ("h / (1 + (g + h))", 0, 1), ("v / sum(v)", 0, 1),
    ("v[2] / sum(v)", 0, 1), ("w / sum(w, axis=0, keepdims=1)", 0, 1),
    ("w / sum(w, axis=[0, 1])", 0, 1), ("exp(s) / (exp(s) + exp(t))", 0, 1),
    ("s**2 / (s**2 + t**2)", 0, 1),
    # lengths
    ("x / norm(x)", -1, 1), ("-2 * x[1] / norm(x)", -2, 2),
    ("x / sqrt(mean(x**2))", -math.sqrt(6), math.sqrt(6)),
    ("x / sqrt(sum(x * x) + 0.5)", -1, 1), ("x / (x @ x)**0.5", -1, 1),
    ("m / norm(m, axis=1, keepdims=1)", -1, 1),
    ("m / sqrt(mean(m**2, axis=0, keepdims=1) + 1e-5)", -2, 2),
    ("x / (norm(x) + 1e-8)", -1, 1),
    ("x / (2 * (1e-8 + norm(x, ord=1)) + g)", -0.5, 0.5),
    # products of two
    ("x @ y / (norm(x, ord=1) * norm(y))", -1, 1), ("x @ y / (norm(x) * norm(y))", -1, 1),
    ("dot(x, y) / (2 * norm(y) * sqrt(sum(x**2)))", -0.5, 0.5),
    # distances from the mean
    ("(x - mean(x)) / std(x)", -math.sqrt(5), math.sqrt(5)),
    ("(x - mean(x))[0] / std(x, ddof=1)", -5 / math.sqrt(6), 5 / math.sqrt(6)),
    ("(x - mean(x)) / sqrt(var(x) + 1e-5)", -math.sqrt(5), math.sqrt(5)),
    ("(m - mean(m, axis=0, keepdims=1)) / std(m, axis=0, keepdims=1)", -(3**0.5), 3**0.5),
]  # fmt: skip


@pytest.mark.parametrize(("quantity", "low", "high"), BOUNDED)
def test_a_share_is_bounded_and_the_bound_is_reached(
    quantity: str, low: float, high: float
) -> None:
    hull, values = drawn(quantity)
    assert (hull.low, hull.high) == pytest.approx((low, high), abs=1e-9)
    assert values.min() >= hull.low
    assert values.max() <= hull.high
    assert values.max() > 0.99 * high  # else the tails are not heavy enough to find a mistake


@pytest.mark.parametrize(
    "quantity",
    [
        "s / (s + t)",  # either may be negative
        "g / (g - h)", "g / (h + 1)", "x / sum(x)", "v / sum(w, axis=[0, 1])", "x / norm(y)",
        "x / norm(x, ord=1)**2",
        "x / norm(x, ord=0.5)",  # it is no larger than 1, but not by these rules
        "x @ y / (norm(x, ord=inf) * norm(y))", "x / (norm(x) - 1)", "x / (1 - norm(x))",
        "x / max(x)",
        "x / (norm(x) + s)", "k / norm(k, axis=0)",
        "x / sqrt(sum(x**2) - 0.5)", "x / sqrt(-(-(x @ x) + 9))",
        "x / sqrt(s + sum(x**2))", "(x - mean(y)) / std(x)", "(x - 1) / std(x)", "x / std(x)",
        "(k - mean(k, axis=0)) / std(k, axis=1, keepdims=1)",
        "x @ y / (norm(x) * norm(x))", "x @ y / (norm(x) + norm(y))", "x @ y / norm(x) / norm(x)",
        "x @ y / sqrt((x @ x) + (y @ y))",
        "mean((x - mean(x)) * (y - mean(x))) / (std(x) * std(y))",
        "mean((x - mean(x)) * y) / (std(x) * std(y))",  # it is: not by these rules
        "mean((x - mean(x)) * (y - mean(y))) / (norm(x) * std(y))",
        "x @ c / norm(x)",  # it is bounded, by norm(c): not by these rules
        "x * inf / norm(x)", "x / (0 * norm(x))", "mean(x) / std(x)",
    ],
)  # fmt: skip
def test_no_bound_is_made_up(quantity: str) -> None:
    hull, _ = drawn(quantity)
    assert hull.width == math.inf


def test_a_bound_that_is_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "QUOTIENT_ROUNDING", -0.01)
    hull, values = drawn("(x - mean(x)) / std(x)")
    assert values.max() > hull.high
