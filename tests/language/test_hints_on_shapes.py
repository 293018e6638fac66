"""What a person is told whose shapes do not fit: the hint names what to write."""

from __future__ import annotations

import pytest
from hinted import checked, told

MATRICES = "Q ~ normal(0, 1)[4, 3]; K ~ normal(0, 1)[5, 3]; v ~ normal(0, 1)[3]; "


@pytest.mark.parametrize(
    ("product", "hint"),
    [
        ("Q @ K", "write Q @ K.T"),
        ("(Q + 1) @ K", "write a @ K.T"),
        ("K.T @ Q.T", "write K @ Q.T"),
        ("Q @ ones(4)", "write Q.T @ b"),
        ("Q @ ones(2, 2)", None),
        (
            "v.T @ v",
            "a vector needs no transpose: v @ v is the sum of its squares, and outer(v, v) has",
        ),
    ],
)
def test_products_that_do_not_fit(product: str, hint: str | None) -> None:
    problem = told(f"{MATRICES} s = {product}")
    assert (problem.hint or "").startswith(hint) if hint else problem.hint is None


def test_the_products_that_the_hints_name_fit() -> None:
    model = MATRICES + "a = Q @ K.T; b = K @ Q.T; c = Q.T @ ones(4); d = v @ v"
    assert checked(model).problems == ()


@pytest.mark.parametrize(
    ("law", "hint"),
    [
        ("normal(0, 1, size=10)", "write normal(0, 1)[10]"),
        ("normal(mean=0, sd=1, size=[2, 3])", "write normal(mean=0, sd=1)[2, 3]"),
        ("normal(0, 1, shape=10)", "write normal(0, 1)[10]"),
        ("choice([" + "1, " * 50 + "1], size=3)", "write normal(0, 1)[n]"),
    ],
)
def test_a_shape_by_name(law: str, hint: str) -> None:
    problem = told(f"x ~ {law}")
    assert "follows" in problem.message
    assert problem.hint == hint


def test_a_shape_that_is_an_argument_stays_one() -> None:
    assert checked("x ~ gamma(shape=2, scale=1)", "E(x) == 2").problems == ()


def test_one_index_is_one_too_many() -> None:
    problem = told("x ~ normal(0, 1)", "E(x[0]) == 0")
    assert problem.message == "1 index is too many for a single number"


@pytest.mark.parametrize(
    ("claim", "hint"),
    [
        ("Cov(x, y) == eye(2)", "write Cov([x, y]) for the matrix, or claim one entry: Cov(x, y)"),
        ("Corr(x, y) == eye(2)", "write Corr([x, y]) for the matrix"),
        ("eye(2) == Cov(x, y)", "write Cov([x, y]) for the matrix"),
        ("Var(x) == eye(2)", "Var(x) is one number: claim a number of it"),
        ("Var(z) == eye(3)", "the matrix of all pairs of elements is Cov(z) or Corr(z)"),
        ("Cov(z, z) == eye(3)", "write Cov(z) for the matrix of all pairs of elements"),
        ("Cov(z, w) == eye(3)", "claim one entry, such as Cov(z[0], w[1])"),
        ("Cov(z) == eye(2)", "give both one shape, or compare with a number"),
        ("E(z @ w) == [0, 0]", "pick an element, x[0], or reduce it: max(…), sum(…)"),
    ],
)
def test_a_matrix_claimed_of_what_is_none(claim: str, hint: str) -> None:
    problem = told("x, y ~ normal(0, 1); z, w ~ normal(0, 1)[3]", claim)
    assert problem.hint is not None
    assert hint in problem.hint


def test_what_the_hints_on_matrices_say_can_be_written() -> None:
    model = "x, y ~ normal(0, 1); z, w ~ normal(0, 1)[3]"
    for claim in ("Cov([x, y]) == eye(2)", "Corr(z) == eye(3)", "Cov(z[0], w[1]) == 0"):
        assert checked(model, claim).problems == ()


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        ("x = arange(4); y = x[4]", "indices count from 0: the last is 3"),
        ("x = arange(4); y = x[[0, 4]]", "indices count from 0: the last is 3"),
        ("x ~ normal(0, 1); y = x[0]", "it is one number in each draw"),
        ("x ~ normal(0, 1)(3)", "square brackets: write normal(…)[n]"),
        ("x = reshape(arange(6), 2, 3)", "several lengths are a list, [2, 3]: write reshape("),
        ("x ~ 2 * normal(0, 1)", "compute on the next, x = 1 + 2 * z"),
        ("x ~ 0.5 * normal(0, 1) + 0.5 * normal(3, 1)", "of a mixture draw each part"),
    ],
)
def test_what_to_write_where_a_shape_or_a_place_is_wrong(model: str, hint: str) -> None:
    assert hint in (told(model).hint or "")


@pytest.mark.parametrize(
    ("claim", "hint"),
    [
        ("E(x) == 0 within 0.1", "write it on a line below 'claim', as in within: 0.1"),
        ("E('x') == 0", "names need no quotes: write E(u)"),
    ],
)
def test_what_stands_in_no_statement(claim: str, hint: str) -> None:
    assert hint in (told("x ~ normal(0, 1)", claim).hint or "")


def test_a_slip_of_a_name_from_elsewhere() -> None:
    hint = told("x ~ gausian(0, 1)").hint or ""
    assert hint.startswith("write normal(mean, sd)")
