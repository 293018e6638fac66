"""The note on what is pooled: where elements plainly differ in law, and nowhere else."""

from __future__ import annotations

import pytest
from trials import entry, registry_of

from dropcheck.language.check import check_registry


def notes(model: str, claim: str) -> list[str]:
    registry = registry_of(entry("c", model, claim))
    return [note.message for note in check_registry(registry).notes]


UNLIKE = {
    "x ~ normal([0, 10], 1)": "is pooled over 2 elements with means 0 and 10:",
    "x ~ exponential([1, 2, 3])": "is pooled over 3 elements with means 1, 2 and 3:",
    "x ~ normal(arange(9), 1)": "is pooled over 9 elements with means from 0 to 8:",
    "z ~ normal([0, 10], 1); x = 2 * z": "is pooled over 2 elements:",
    "z ~ normal(0, 1)[2]; x = z * [1, 2]": "is pooled over 2 elements:",
    "u, v ~ normal(0, 1); x = [u, 2 * v]": "is pooled over 2 elements:",
    "u, v ~ normal(0, 1)[2]; x = concat(u, 2 * v)": "is pooled over 4 elements:",
    "u ~ normal(0, 1)[2]; x = stack(u, 2 * u)": "is pooled over 4 elements:",
    "x ~ normal(0, [1, 2])": "is pooled over 2 elements:",
    "z ~ normal(0, 1)[3]; x = z - z[0]": "is pooled over 3 elements:",
    "z ~ normal(0, 1)[3, 2]; x = 2 * z * z[:, :1]": "is pooled over 6 elements:",
    "z ~ normal(0, 1)[3]; x = cumsum(z)": "is pooled over 3 elements:",
    "z ~ normal(0, 1)[3]; x = 2 * sort(z)**2": "is pooled over 3 elements:",
    "Z ~ normal(0, 1)[3, 3]; x = svdvals(Z)": "is pooled over 3 elements:",
    "z ~ normal(0, 1)[3]; x = tril(ones([3, 3])) @ z": "is pooled over 3 elements:",
}


@pytest.mark.parametrize("model", UNLIKE)
def test_unlike_elements_are_noted(model: str) -> None:
    (note,) = notes(model, "Var(x) < 1e9")
    assert "'Var' of a quantity of shape" in note
    assert UNLIKE[model] in note


ALIKE = [
    ("x ~ normal(0, 1)[3]", "Var(x) == 1"),
    ("x ~ normal(0, 1)[3]", "Var(2 * x + 1) == 4"),
    ("x ~ normal(0, [1, 1])", "Var(x) == 1"),
    ("x ~ normal([0, 10], 1)", "E(x) == [0, 10]"),  # each is claimed
    ("x ~ normal([0, 10], 1)", "E(x[0]) == 0"),
    ("x ~ normal([0, 10], 1)", "E(sum(x)) == 10"),
    ("x ~ normal(0, 1)[3]", "Var(cumsum(x)) == [1, 2, 3]"),
    ("x ~ normal(0, 1)[3]", "Var(cumsum(x)[2]) == 3"),
    ("x ~ normal(0, 1)[3]", "E(max(sort(x)) - max(x)) == 0"),
    ("x ~ normal(0, 1)[3]", "Var(x[1:] - x[0]) == 2"),
    ("x, y ~ normal(0, 1)[3]", "Var(x - y[0]) == 2"),
    ("x ~ normal(0, 1)[3]", "Var(x - mean(x)) == 2 / 3"),
    ("x ~ normal(0, 1)[3]", "Var(softmax(x)) < 1"),
    ("x ~ normal([0, 10], 1)", "Cov(x) == eye(2)"),
]


@pytest.mark.parametrize(("model", "claim"), ALIKE)
def test_nothing_else_is_noted(model: str, claim: str) -> None:
    assert notes(model, claim) == []
