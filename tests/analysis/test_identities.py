"""What is 0 in every draw, as the normal form shows: sizes are letters, one for both signs."""

from __future__ import annotations

import pytest
from lowered import expressed, lowering

from dropcheck.analysis.exact import vanishes

MODEL = (
    "x ~ cauchy(0, 1); y ~ cauchy(0, 1); z ~ cauchy(0, 1); v ~ cauchy(0, 1)[3]; "
    "w ~ cauchy(0, 1)[3]; m ~ cauchy(0, 1)[3, 3]; p ~ cauchy(0, 1)[2, 3]"
)

ZERO = [
    "maximum(x, y) + minimum(x, y) - x - y", "minimum(x, y) - (x + y - maximum(y, x))",
    "maximum(x, y) - minimum(x, y) - abs(x - y)", "relu(x) - relu(-x) - x",
    "relu(v) + relu(-v) - abs(v)", "abs(2 * x - y) - abs(y - 2 * x)", "abs(v - w) - abs(w - v)",
    "maximum(x, 0) - relu(x)", "maximum(v, y) + minimum(v, y) - v - y",
    "leaky_relu(x, 0.1) - relu(x) + 0.1 * relu(-x)", "clip(x, -1, 2) - minimum(maximum(x, -1), 2)",
    "maximum(x, y, z) - maximum(maximum(x, y), z)",
    "sum(maximum(v, w)) + sum(minimum(v, w)) - sum(v) - sum(w)",
    "abs(m - 1) - abs(1 - m)",
]  # fmt: skip
NOT_ZERO = [
    "maximum(x, y) + minimum(x, y) - x - 1.0000001 * y",
    "maximum(x, y) - minimum(x, y) - (x - y)", "maximum(x, y) + minimum(x, z) - x - y",
    "relu(x) + relu(-x) - x", "abs(x - y) - abs(x + y)", "abs(x) - abs(2 * x)",
    "abs(v - w) - abs(v - w[::-1])", "abs(m) - abs(m.T)", "abs(v[0]) - abs(v[1])",
    "abs(v) - abs(w)", "abs(v) - abs(x)", "abs(m[0]) - abs(m[:, 0])",
    "leaky_relu(x, 0.1) - relu(x)", "clip(x, -1, 2) - clip(x, -1, 3)",
    "abs(v[:, None] - w) - abs(v[:, None] - w).T",
]  # fmt: skip


@pytest.mark.parametrize("text", ZERO)
def test_an_identity_is_seen(text: str) -> None:
    assert vanishes(expressed(lowering(MODEL), text))


@pytest.mark.parametrize("text", NOT_ZERO)
def test_what_differs_is_not_taken_for_one(text: str) -> None:
    assert not vanishes(expressed(lowering(MODEL), text))


def test_many_lines_take_no_recursion() -> None:
    lines = [f"v{n} = maximum(v{n - 1}, y) - y" for n in range(1, 3000)]
    scope = lowering("; ".join(["x ~ cauchy(0, 1)", "y ~ cauchy(0, 1)", "v0 = x", *lines]))
    assert not vanishes(expressed(scope, "v2999 - v2998"))
