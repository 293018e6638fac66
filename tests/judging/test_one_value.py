"""A claim that is exactly true at the one value of its parameter asks whether a range is meant."""

from __future__ import annotations

import pytest
from trials import judged

G = "g ~ normal(1, p / (1 - p))"
HALF = "parameters: {p: 0.5}"


@pytest.mark.parametrize(
    ("model", "claim", "keys", "note"),
    [
        (G, "Var(g) == p / (1 - p)", HALF, "true at p = 0.5, false at p = 0.3"),
        (G, "p / (1 - p) == Var(g)", HALF, "true at p = 0.5, false at p = 0.3"),
        ("x ~ normal(0, 1)[n]", "E(sum(x**2)) == n**2 - n", "parameters: {n: 2}", "true at n = 2"),
        ("x ~ normal(m, 1)", "E(x) == m**2 / 4", "parameters: {m: 4}", "true at m = 4"),
    ],
)
def test_it_is_asked(model: str, claim: str, keys: str, note: str) -> None:
    (warning,) = judged(model, claim, keys).warnings
    assert note in warning
    assert warning.endswith(f"is a range of {note[8]} meant?")


@pytest.mark.parametrize(
    ("model", "claim", "keys"),
    [
        ("g ~ bernoulli(p)", "E(g) == p", HALF),  # true at any
        ("x ~ normal(0, 1)", "Var(x) == v", "parameters: {v: 1}"),  # a figure, which has a name
        (G, "Var(g) == 1", HALF),  # nothing is said of p
        (G, "Var(g) == p / (1 - p)", HALF + "\nrequires: p == 0.5"),
        (G, "Var(g) == p / (1 - p)", HALF + "\ntolerance: 0.01"),
        (G, "Var(g) == p**2 / (1 - p)**2", HALF),
        (G, "Var(g) >= p / (1 - p)", HALF),
    ],
)
def test_it_is_not_asked(model: str, claim: str, keys: str) -> None:
    assert judged(model, claim, keys).warnings == ()
