"""Rows of arrays that loops take one by one, as draws of their own: of the same law."""

from __future__ import annotations

import numpy as np
import pytest
from fewer_draws_made import are_alike, programs, text_of

from dropcheck.analysis.fewer_draws import rotations
from dropcheck.claims.reader import read_text
from dropcheck.judging.case import prepare
from dropcheck.language.graph import Kind, Value, in_order
from dropcheck.results import Guarantee, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.program import Program

ROWS = [
    ("z ~ gamma(2, 1)[9]", f"E({' + '.join(f'{k + 1} * z[{k}]' for k in range(9))}) == 0", 9),
    ("z ~ normal([1, 2, 3, 4, 5, 6, 7, 8], 0.5)", "E(z[0] * z[-1] + z[3]**2 + z[3]) == 0", 3),
    ("z ~ exponential(1)[8, 3]", "E(sum(z[0] * z[5]) + z[5, 2] + z[-3][1]) == 0", 2),
    ("s ~ uniform(1, 2); z ~ normal(s, s)[8]", "E(z[2] * z[4] + s * z[6]) == 0", 3),
    ("z ~ uniform(0, [[1], [2], [3], [4], [5], [6], [7], [8]])", "E(z[0, 0] + z[7, 0]**2) == 0", 2),
    ("z ~ normal(1, 1)[8]; x ~ normal(z[2], 1)[8]", "E(x[1] * x[3] * z[2] + z[0]) == 0", 3),
    ("z ~ gamma(2, 1)[8]; x ~ exponential(z[2])", "E(x * z[2]) == 0", 1),
    (
        "z ~ normal(1, 1)[8]; y = z[0]; for t in range(1):;  z ~ normal(z[0], 1)[8]",
        "E(z @ z * y) == 0",
        2,
    ),
    ("z ~ normal(0, 1)[8, 2, 3]", "E(sum(z[1, 0] * z[1, 1]) + sum(z[2, 1, :2])) == 0", 2),
]


def drawn(program: Program) -> list[Value]:
    values = in_order([step.value for step in program.steps], lambda one: one.inputs)
    return [one for one in values if one.kind == Kind.DRAW]


@pytest.mark.parametrize(("model", "claim", "rows"), ROWS)
def test_the_law_is_the_same(model: str, claim: str, rows: int) -> None:
    apart, plain = programs(model, claim)
    assert len(drawn(apart)) - len(drawn(plain)) == rows - 1
    assert are_alike(apart, plain)
    names = [one.name for one in drawn(apart)]
    assert len(set(names)) == len(names)


def test_wrong_rows_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn_as, row_of = rotations._drawn, rotations._row
    monkeypatch.setattr(rotations, "_drawn", lambda draw, _: drawn_as(draw, 0))
    assert not any(are_alike(*programs(*ROWS[at][:2])) for at in (1, 4))
    monkeypatch.setattr(rotations, "_row", lambda value: (0, ()) if row_of(value) else None)
    assert not are_alike(*programs(*ROWS[0][:2]))


@pytest.mark.parametrize(
    "quantity",
    [
        "z[0] * z[1] + sum(z)",  # something looks at all of them
        "z[0]) + E(z",  # a claim about it as a whole
        "sum(z[2:5])",
        "z[[0, 1]] @ [1, 2]",
        "y[0] * y[1]",  # few rows
        "p[0] + p[1]",  # rows of a permutation share what they are drawn from
        "m[0] + m[1]",  # what they are drawn with differs by row, and is random
    ],
)
def test_others_stay(quantity: str) -> None:
    model = (
        "z ~ normal(0, 1)[9]; y ~ normal(0, 1)[3]; p ~ permutation(9); "
        "u ~ uniform(1, 2)[9]; m ~ normal(u, 1)"
    )
    apart, plain = programs(model, f"E({quantity}) == 0")
    assert [one.shape for one in drawn(apart)] == [one.shape for one in drawn(plain)]


def test_what_a_loop_adds_up_of_an_array_is_known_exactly() -> None:
    """An autoregression of n steps has the variance (1 - 0.81^n) / 0.19."""
    model = "z ~ normal(0, 1)[200]; w = 0; for t in range(200):;   w = 0.9 * w + z[t]"
    (case,) = read_text(text_of(model, "Var(w) == 1 / 0.19")).expand()
    knowledge = prepare(case).knowledge
    assert knowledge is not None
    assert knowledge.exact is not None
    variance = (1 - 0.81**200) / 0.19
    assert knowledge.exact.moments.covariance(1)[0, 0] == pytest.approx(variance)


def test_a_queue_has_the_bounds_of_independent_customers() -> None:
    steps = 60
    lines = [f"a ~ exponential(1)[{steps}]", f"s ~ exponential(0.5)[{steps}]", "w = 0"]
    lines += [f"for t in range({steps}):", "  w = relu(w + s[t] - a[t])"]
    registry = read_text(text_of("; ".join(lines), "E(w) < 0.6"))
    (found,) = verify_cases(registry.expand(), Settings(threads=1), registry)
    assert (found.verdict, found.guarantee) == (Verdict.VERIFIED, Guarantee.MOMENTS)
    # by Lindley's recursion of the same numbers (Lindley 1952)
    generator = np.random.default_rng(0)
    waits = np.zeros(20_000)
    for _ in range(steps):
        waits = np.maximum(
            waits + generator.exponential(0.5, 20_000) - generator.exponential(1, 20_000), 0
        )
    assert found.interval is not None
    assert found.interval[0] < waits.mean() < found.interval[1]
