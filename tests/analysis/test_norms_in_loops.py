"""Bounds of norms in loops, whose sums meet a draw more than once."""

from __future__ import annotations

import math
from typing import Any

import pytest
from fresh_norms import norm
from lowered import expressed, lowering
from norm_checks import below_the_truth

from dropcheck.analysis import norms
from dropcheck.analysis.bounds import Dissection
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
    "what meets is taken apart": (Dissection, "_meets", lambda *_: False),
    "what does not turn": (Dissection, "_turns", lambda *_: True),
    "all turns": (norms, "turns_with", lambda one, *_: one.sources),
    "exponentials": (norms, "norm_by_exponentials", lambda *_: 0.01),
}


@pytest.mark.parametrize("mistake", MISTAKES_IN_LOOPS)
def test_a_mistake_in_loops_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(norms, "MOST_DEPTH", 0)
    monkeypatch.setattr(*MISTAKES_IN_LOOPS[mistake])
    assert any(below_the_truth([of_loop(*loop)], 1) for loop in LOOPS.items())


# after so many steps, and by what factor the bound of order 2 may be larger than the truth
LONG = [
    ("x = x - 0.1 * (x + z)", 200, 0.1 / math.sqrt(0.19), 1),
    ("v = 0.9 * v + z;x = x - 0.01 * v", 100, 0.92878, 1),
    ("x = x + W @ x / 4", 8, 16, 1),
    ("x = x + 0.02 * x * z", 250, 1.0004**125, 1),
    ("x = maximum(0, x + s - 2 * s1)", 300, 2, 4.5),
]


@pytest.mark.parametrize(("body", "steps", "truth", "factor"), LONG)
def test_bounds_do_not_grow_with_the_steps_where_the_truth_does_not(
    body: str, steps: int, truth: float, factor: float
) -> None:
    begins = "normal(0, 1)[16]" if "W" in body else "normal(0, 1)" if "* x *" in body else None
    first = f"x ~ {begins}" if begins else "x = 0"
    draws = "  z ~ normal(0, 1)\n  W ~ normal(0, 1)[16, 16]\n  s, s1 ~ exponential(1)\n"
    lines = "\n".join(f"  {line}" for line in body.split(";"))
    value = expressed(lowering(f"{first}\nv = 0\nfor t in range({steps}):\n{draws}{lines}"), "x")
    bound = norm(value, 2)
    assert truth * (1 - 1e-2) <= bound <= truth * factor * (1 + 1e-2)


def test_a_square_of_squares_is_not_opened_without_end() -> None:
    value = expressed(lowering("x ~ normal(0, 1)\nfor t in range(200):\n  x = x * x"), "x")
    assert norm(value, 2) == math.inf
