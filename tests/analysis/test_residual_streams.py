"""Residual streams, `x = x + W @ x`: fewer draws and the same law, where lengths say all."""

from __future__ import annotations

import numpy as np
import pytest
from fewer_draws_made import are_alike, numbers_a_draw, programs, text_of

from dropcheck.analysis.fewer_draws import rotations
from dropcheck.claims.reader import read_text
from dropcheck.judging.case import Prepared, prepare

NORMAL, UNIFORM = "x ~ normal(0, 1)[{n}]", "x ~ uniform(0, 1)[{n}]"


def stream(step: str, first: str = NORMAL, after: str = "", n: int = 4, layers: int = 3) -> str:
    lines = (
        first.format(n=n),
        "h = x",
        f"for l in range({layers}):",
        f"    W ~ normal(0, 0.7)[{n}, {n}]",
        *(f"    {name} ~ normal(0, 0.5)[{n}, {n}]" for name in ("W1", "W2") if name in step),
        *(f"    {one}" for one in step.split(" then ")),
        *filter(None, [after]),
    )
    return "; ".join(lines)


def prepared(model: str, claim: str) -> Prepared:
    (case,) = read_text(text_of(model, claim)).expand()
    return prepare(case)


@pytest.mark.parametrize("n", [2, 64])
@pytest.mark.parametrize("claim", ["E(mean(x**2)) == 1", "Var(x) == 1", "E(x[0]**2) == 1"])
def test_moments_of_a_stream_are_exact(n: int, claim: str) -> None:
    """‖e + c g‖² is c² times a noncentral chi-square of n degrees, λ = 1 / c² (Patnaik 1949)."""
    model = stream(f"x = x + W @ x / {0.7 * n**0.5}", n=n, layers=5)
    known = prepared(model, claim).knowledge
    assert known is not None
    assert known.exact is not None
    means = known.exact.means + known.exact.centres[0]
    assert means[-1] == pytest.approx(2**5, rel=1e-9)
    if "mean" in claim:
        square, noncentrality = 1 / n, n  # E‖x‖⁴ / n² is (1 + 2 / n), then one factor a layer
        factor = square**2 * ((n + noncentrality) ** 2 + 2 * (n + 2 * noncentrality))
        variance = (1 + 2 / n) * factor**5 - 4.0**5
        assert known.exact.moments.covariance(1) == pytest.approx(np.array([[variance]]), rel=1e-9)


def test_moments_with_a_layer_inside_are_exact() -> None:
    """Given S = ‖relu(u)‖² a factor has the mean 1 + n S and the variance 2 n S² + 4 S."""
    step = "V ~ normal(0, 1 / sqrt(8))[5, 8] then x = x + V @ relu(U @ x)"
    model = stream(f"U ~ normal(0, sqrt(2 / 5))[8, 5] then {step}", n=5, layers=3)
    known = prepared(model, "E(mean(x**2)) == 1").knowledge
    assert known is not None
    assert known.exact is not None
    assert known.exact.means + known.exact.centres[0] == pytest.approx([2**3], rel=1e-9)
    mean, square = 1 / 5, (8 * 6 / 25 + 8 * 7 / 25) / 8**2  # of S: E relu(u)⁴ is 6 / 25
    factor = (1 + 10 * mean + 25 * square) + (10 * square + 4 * mean)
    variance = (1 + 2 / 5) * factor**3 - 8.0**2
    assert known.exact.moments.covariance(1) == pytest.approx(np.array([[variance]]), rel=1e-9)


@pytest.mark.parametrize(
    ("step", "first", "claim"),
    [
        ("x = x + W @ x", NORMAL, "E(x[0]**2)"),
        ("x = x - 0.5 * (W @ x)", NORMAL, "E(abs(x[0]))"),
        ("x = W @ x / 3 - 0.5 * x", NORMAL, "E(abs(x[1]) * norm(x))"),
        ("x = (x + W @ x) / sqrt(2)", UNIFORM, "E(norm(x))"),
        ("x = x + W1 @ relu(W @ x)", UNIFORM, "E(norm(x))"),
        ("x = x + W @ (2 * x) / (1 + norm(x))", UNIFORM, "E(log(x @ x))"),
        ("x = x + W @ x", UNIFORM, "E(norm(x) * h[0]**3)"),  # the first one lies as it lies
        ("x = x + W @ x / (1 + norm(x))", NORMAL, "E(cos(x[0]))"),
        ("x = x - (W @ relu(W1 @ relu(W2 @ x))) / 2", NORMAL, "E(abs(x[0]))"),
    ],
)
def test_the_law_is_the_same(step: str, first: str, claim: str) -> None:
    fewer, plain = programs(stream(step, first), f"{claim} == 0")
    assert numbers_a_draw(fewer) < numbers_a_draw(plain)
    assert are_alike(fewer, plain)


ODD = [
    ("x = x + W @ x", NORMAL, "E(x @ h)"),  # how they lie to each other
    ("x = x + W @ x", NORMAL, "E((x[0] * h[0])**2)"),
    ("x = x + W @ x", UNIFORM, "E(x[0] * x[1])"),  # a direction that is not as any other
    ("x = x + relu(W @ x)", NORMAL, "E(norm(x))"),  # a branch that has directions
    ("x = x + W @ h", NORMAL, "E(norm(x))"),  # of another length
    ("g = W @ x then x = x + g * relu(g[0])", NORMAL, "E(norm(x))"),  # it is looked at twice
    ("x = sort(x) + W @ x", NORMAL, "E(x[0])"),
    ("x = x + W @ x then x = abs(x)", NORMAL, "E(x[0] * x[1])"),
    ("h = x then x = x + W @ x", NORMAL, "E(h[0] * x[0])"),
]


@pytest.mark.parametrize(("step", "first", "claim"), ODD)
def test_what_lengths_do_not_say_is_kept(step: str, first: str, claim: str) -> None:
    assert are_alike(*programs(stream(step, first), f"{claim} == 0"))


def test_what_lengths_do_not_say_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken for what lengths say, those have another law of which a direction is looked at."""
    monkeypatch.setattr(rotations, "only_lengths_matter", lambda *_: True)
    seen = [are_alike(*programs(stream(*one[:2]), f"{one[2]} == 0")) for one in ODD[:3]]
    assert seen == [False] * 3
