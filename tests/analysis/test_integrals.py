"""Norms of functions of one draw as integrals, among the bounds of a case's quantities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from fresh_norms import centred_norm, norm
from lowered import expressed, lowered, lowering
from scipy import special, stats

from dropcheck.analysis import single_draw
from dropcheck.analysis.norms import Norms
from dropcheck.analysis.single_draw import Found
from dropcheck.known.cells import Estimate

PUT = "z ~ normal(0, 1); h ~ normal(0, 0.1); ST = 100 * exp(0.2 * z - 0.02)"


def put_squared() -> float:
    """E max(35 - ST, 0)², from the distribution function and moments of the lognormal law."""
    d = (math.log(0.35) + 0.02) / 0.2
    parts = (35.0**2, -2 * 35 * 100, 100.0**2 * math.exp(0.04))
    return sum(part * float(special.ndtr(d - 0.2 * k)) for k, part in enumerate(parts))


def test_a_sold_put_is_not_bounded_by_its_strike() -> None:
    scope = lowering(PUT)
    truth = math.sqrt(put_squared())
    by_rules = Norms(integrate=False).norm(expressed(scope, "relu(35 - ST)"), 2)
    assert by_rules > 1000 * truth
    assert norm(expressed(scope, "relu(35 - ST)"), 2) == pytest.approx(truth, rel=1e-9)
    # in a sum with an independent quantity
    found = norm(expressed(scope, "1 + h - 1e6 * relu(35 - ST)"), 2)
    assert 1e6 * truth < found < 1e6 * truth + 1.2


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
def test_about_a_centre(p: float) -> None:
    value = lowered("x ~ normal(0, 1)", "relu(x)")
    levels = (np.arange(400_000) + 0.5) / 400_000
    distances = np.abs(np.maximum(stats.norm.ppf(levels), 0) - 0.4)
    assert centred_norm(value, 0.4, p) == pytest.approx(np.mean(distances**p) ** (1 / p), rel=1e-3)


def test_products_with_what_is_independent_gain_too() -> None:
    value = lowered("x ~ normal(0, 1); y ~ normal(0, 1)", "(x > 2) * y")
    assert norm(value, 2) == pytest.approx(math.sqrt(special.ndtr(-2)), rel=1e-6)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("relu(x)", True), ("3 * exp(x) + 1", True), ("x", False), ("3 * x + 1", False),
        ("(2 - x) / 4", False), ("x * x", True), ("x + x ** 2", True), ("x + y", False),
        ("2", False),
    ],
)  # fmt: skip
def test_what_is_integrated(text: str, is_one: bool) -> None:
    scope = lowering("x ~ normal(0, 1); y ~ normal(0, 1)")
    assert Norms().quantity(expressed(scope, text)).of_one_draw is is_one


def test_no_more_integrals_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    mean = single_draw.mean_over

    def counted(*arguments: Any) -> Estimate:
        done.append(1)
        return mean(*arguments)

    monkeypatch.setattr(single_draw, "mean_over", counted)
    terms = " + ".join(f"relu(x{k} - {k})" for k in range(100))
    model = "; ".join(f"x{k} ~ normal(0, 1)" for k in range(100))
    norm(lowered(model, terms), 2)
    assert 0 < len(done) <= single_draw.MOST_INTEGRALS


def test_equal_functions_of_draws_from_one_law_are_integrated_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[int] = []
    mean = single_draw.mean_over

    def counted(*arguments: Any) -> Estimate:
        done.append(1)
        return mean(*arguments)

    monkeypatch.setattr(single_draw, "mean_over", counted)
    scope = lowering("; ".join(f"x{k} ~ normal(0, 1)" for k in range(30)))
    found: Found = {}
    for bounds in (Norms(found=found), Norms(found=found)):
        norms = [bounds.norm(expressed(scope, f"relu(x{k} - 1)"), 2) for k in range(30)]
        assert len({*norms}) == 1
    assert len(done) == 1
