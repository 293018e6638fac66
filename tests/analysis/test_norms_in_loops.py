"""Bounds of norms in loops."""

from __future__ import annotations

import math
from typing import Any

import pytest
from fresh_norms import norm
from lowered import expressed, lowering
from norm_checks import below_the_truth

from dropcheck.analysis import norms
from dropcheck.language.graph import Value

# few outcomes, so that the truth is known: a body, what is asked after three steps
LOOPS = {
    "x = x - 0.3 * (x + g)": "x", "x = x - (x - g) / 4": "x**2",
    "v = 0.5 * v + g;x = x - 0.1 * v": "x", "v = 0.5 * v + x + g;x = x - 0.1 * v": "[x, v]",
    "x = x + x * w": "x", "x = x + 0.1 * x - x * w + g": "x", "x = x + w * (x + g)": "x * g[-1]",
    "x = x + abs(x) * w;p = x": "sum(p)", "x = x / 3 + g;p = x": "mean(p)",
    "v = b;x = v + b * (w + 2)": "x", "x = x / 2 + g;p = x": "p[-1] - p[-2] - g[-1]",
    "x = x + g - 0.5;p = -x": "sum(p) + x", "x = x + w * b;y = g * w": "x + y[-1]",
    "x = x + w;y = x * w": "x - y[-1]", "x = maximum(0, x + g)": "x", "x = relu(x - g)": "x",
    "x = minimum(0, x + g + w)": "x", "x = maximum(x, g)": "x - g[0]",
}  # fmt: skip


def of_loop(body: str, asked: str) -> Value:
    lines = "\n".join(f"  {line}" for line in body.split(";"))
    draws = "  g ~ choice([-1, 0.5, 2])\n  w ~ rademacher()\n"
    model = f"b ~ rademacher()\nx = 1 + b / 2\nv = 0\nfor t in range(3):\n{draws}{lines}"
    return expressed(lowering(model), asked)


@pytest.mark.parametrize("depth", [0, 64])
@pytest.mark.parametrize(("body", "asked"), LOOPS.items())
def test_no_bound_of_a_loop_is_below_the_truth(
    body: str, asked: str, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(norms, "MOST_DEPTH", depth)
    assert below_the_truth([of_loop(body, asked)], 1) == []


MISTAKES_IN_LOOPS: dict[str, Any] = {
    "exponentials": (norms, "_by_exponentials", lambda *_: 0.01),
}


@pytest.mark.parametrize("mistake", MISTAKES_IN_LOOPS)
def test_a_mistake_in_loops_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(norms, "MOST_DEPTH", 0)
    monkeypatch.setattr(*MISTAKES_IN_LOOPS[mistake])
    assert any(below_the_truth([of_loop(*loop)], 1) for loop in LOOPS.items())


def test_a_bound_of_a_queue_does_not_grow_with_the_steps() -> None:
    body = "  s, s1 ~ exponential(1)\n  x = maximum(0, x + s - 2 * s1)"
    value = expressed(lowering(f"x = 0\nfor t in range(300):\n{body}"), "x")
    assert 2 * (1 - 1e-2) <= norm(value, 2) <= 9


def test_a_square_of_squares_is_not_opened_without_end() -> None:
    value = expressed(lowering("x ~ normal(0, 1)\nfor t in range(200):\n  x = x * x"), "x")
    assert norm(value, 2) == math.inf
