"""Recurrences whose moments are carried from step to step, beside the same multiplied out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from fewer_draws_made import text_of

from dropcheck.analysis import exact, letters
from dropcheck.analysis.exact import ExactMoments, Integrand
from dropcheck.claims.reader import read_text
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.language.graph import Value

STEPS = "; for t in range({steps}):; "


def averaged(model: str, quantity: str) -> Value:
    claim = parse_claim(read_text(text_of(model, f"E({quantity}) == 0")).claims["c"])
    (operand, *_) = lower_case(claim, {}).operands
    return operand.inputs[0]


def by_steps(model: str, quantity: str) -> ExactMoments | None:
    return exact._by_steps([Integrand(factors=((averaged(model, quantity), 1),))], None)


def variance(moments: ExactMoments | None) -> float:
    assert moments is not None
    return float(moments.covariance(1)[0, 0])


RECURRENCES = [
    ("w = 1", "x ~ normal(0, 1)", "w = w - 0.3 * (w * x - 2) * x", "w**2 + w"),
    ("w = [1, 2, 3]", "x ~ normal(0.5, 1)[3]", "w = w - 0.1 * (w @ x - 1) * x", "w[0]"),
    ("w = [1, 2]", "m ~ bernoulli(0.3)[2]", "w = w * m + flip(w)", "sum(w)"),
    ("w = [1, 2]", "A ~ uniform(0, 1)[2, 2]", "w = A @ w + A[0] * w[1]", "w @ w"),
    ("W = eye(2)", "A ~ normal(0.1, 1)[2, 2]", "W = W @ A + A.T", "trace(W.T @ W)"),
    ("W = eye(2)", "u ~ exponential(1)[2]", "W = W + 0.5 * outer(u, W @ u)", "W[0, 1]"),
    ("w = [1, 2]", "s ~ rademacher()[2]", "w = w + s * mean(w) + w[1]", "mean(w**2)"),
    ("a = 1; b = 2", "z ~ gamma(2, 1)", "b = 0.5 * a * z + b; a = a - 0.1 * b * z", "a * b"),
    ("w = [1, 2]", "x ~ normal(0, 1)", "w = [w[1] * x + 1, w[0] + w[1]]", "prod(w)"),
    ("w = 1", "x ~ normal(w, 1)", "w = 0.5 * w * x + x", "w"),
]


@pytest.mark.parametrize(("first", "draw", "step", "quantity"), RECURRENCES)
def test_moments_are_those_multiplied_out(
    first: str, draw: str, step: str, quantity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "FEWEST_STEPS", 1)
    monkeypatch.setattr(letters, "MOST_WORK", 1e6)
    monkeypatch.setattr(letters, "MOST_WORK_BY_STEPS", 1e6)
    body = "; ".join(f"    {line}" for line in (draw, *step.split("; ")))
    value = averaged(f"{first}; for t in range(2):; {body}", quantity)
    integrands = [Integrand(factors=((value, 1),))]
    carried = exact._carried([value])
    found, plain = (exact._of_polynomials(integrands, None, None, one) for one in (carried, ()))
    assert carried
    assert found.means == pytest.approx(plain.means, rel=1e-11, abs=1e-11)
    assert found.covariance(1) == pytest.approx(plain.covariance(1), rel=1e-10)


def gradient_descent(size: str, product: str, steps: int) -> str:
    body = f"    x ~ normal(0, 1){size}; {' ' * 4}e ~ normal(0, 1); "
    first = "1" if not size else f"ones({size[1:-1]})"
    return f"w = {first}{STEPS.format(steps=steps)}{body}    w = w - 0.1 * ({product} - e) * x"


def test_stochastic_gradient_descent() -> None:
    """The moments of w' = (1 - 0.1 x²) w + 0.1 e x up to the fourth, by hand from those of w."""
    double = [1, 1, 3, 15, 105]  # E x^2k
    moments = [1.0] * 5
    for _ in range(50):
        factor = [
            sum(math.comb(j, i) * (-0.1) ** i * double[i + k] for i in range(j + 1))
            for j, k in ((4, 0), (2, 1), (0, 2), (2, 0), (0, 1))
        ]
        second = factor[3] * moments[2] + 0.01 * factor[4]
        fourth = factor[0] * moments[4] + 6 * 0.01 * factor[1] * moments[2] + 3e-4 * factor[2]
        moments = [1.0, 0.9 * moments[1], second, 0.0, fourth]
    found = by_steps(gradient_descent("", "w * x", 50), "w**2")
    assert found is not None
    assert found.means == pytest.approx([moments[2]], rel=1e-10)
    assert variance(found) == pytest.approx(moments[4] - moments[2] ** 2, rel=1e-8)
    assert found.error < 1e-8


@pytest.mark.parametrize("size", [3, 64])
def test_gradient_descent_in_many_dimensions(size: int) -> None:
    """E|w'|² = (1 - 0.2 + 0.01 (n + 2)) E|w|² + 0.01 n (Isserlis 1918)."""
    square = float(size)
    for _ in range(4):
        square = (0.8 + 0.01 * (size + 2)) * square + 0.01 * size
    found = by_steps(gradient_descent(f"[{size}]", "w @ x", 4), "sum(w**2)")
    assert found is not None
    assert found.means == pytest.approx([square], rel=1e-10)


def test_errors_of_steps_multiply_where_terms_do_not_go_by_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = gradient_descent("", "w * x", 30)
    careful = by_steps(model, "w**2")
    assert careful is not None

    def together(space: Any, terms: Any, sources: Any, free: Any) -> Any:
        last = max(atom.draw for term in terms for atom in term.atoms)
        return letters._without_last(space, terms, last, sources, free)

    monkeypatch.setattr(letters, "_of_last_step", together)
    careless = by_steps(model, "w**2")
    assert careless is None or careless.error > 1e3 * careful.error


def test_what_takes_too_much_work_is_left() -> None:
    """The power of v grows with each step."""
    body = "    z ~ normal(0, 1); " + "    s = s * (1 + v * z); " + "    v = v + v * z + 1"
    assert by_steps(f"s = 1; v = 1{STEPS.format(steps=40)}{body}", "s") is None


def test_nothing_is_carried_where_nothing_recurs() -> None:
    assert not exact._carried([averaged("x ~ normal(0, 1)[3]", "sum(x) + 1")])


def test_draws_confirm_it() -> None:
    """Of 200,000 descents the mean is within 6 deviations, a false alarm in 5e8."""
    generator = np.random.default_rng(0)
    w = np.ones((3, 200_000))
    for _ in range(5):
        x, e = generator.normal(size=w.shape), generator.normal(size=w.shape[1])
        w = w - 0.1 * ((w * x).sum(axis=0) - e) * x
    found = by_steps(gradient_descent("[3]", "w @ x", 5), "w[0]**2")
    assert found is not None
    seen = w[0] ** 2
    deviation = math.sqrt(variance(found))
    assert abs(seen.mean() - found.means[0]) < 6 * deviation / math.sqrt(seen.size)
    assert seen.std() == pytest.approx(deviation, rel=0.1)
