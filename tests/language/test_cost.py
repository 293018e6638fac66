"""What is too large is refused before it is made, and what is large is not."""

from __future__ import annotations

import time

import pytest
from lowered import lowered, refusal

from dropcheck.language.graph import MOST_FIXED_WORK, MOST_WORK, ordered
from dropcheck.vocabulary.functions import operation

TOO_LARGE = {
    # one quantity
    ("", "ones(30000, 30000) @ ones(30000, 30000)"): "takes 6.71 GiB",
    ("x ~ normal(0, 1)[30000]", "outer(x, x)"): "takes 6.71 GiB",
    ("i ~ discrete_uniform(0, 9)", "one_hot(i, 1e9)"): "takes 7.45 GiB",
    ("", "arange(1e9)"): "takes 7.45 GiB",
    ("", "linspace(0, 1, 1e9)"): "takes 7.45 GiB",
    ("", "bincount([1, 2], 1e10)"): "takes 74.5 GiB",
    ("", "full([1e5, 1e5], 1)"): "takes 74.5 GiB",
    ("x ~ normal(0, 1)[2e4, 1]", "x + x.T"): "takes 2.98 GiB",
    ("x ~ normal(0, 1)[5e7]", "stack(x, x)"): "takes 763 MiB",
    # time
    ("x ~ normal(0, 1)[3000, 3000]", "x @ x"): "about 2.8 seconds",
    ("x ~ normal(0, 1)[8000, 8000]", "eigvalsh(x)"): "to work out by here",
    ("", "eigvalsh(eye(4000))"): "what is fixed in this claim takes about",
    ("", "eye(5000) @ eye(5000)"): "to work out by here",
    ("x ~ multivariate_normal(zeros(5000), eye(5000))", "x"): "to work out by here",
    ("x ~ poisson(3)[6e7]", "x"): "to work out by here",
}


@pytest.mark.parametrize("case", TOO_LARGE, ids=" / ".join)
def test_what_is_too_large_is_refused_before_it_is_made(case: tuple[str, str]) -> None:
    started = time.process_time()
    message, hint, _ = refusal(*case)
    assert TOO_LARGE[case] in message
    assert "allowed" in message
    assert "smaller" in hint
    assert time.process_time() - started < 2.5  # the largest that is made takes half a second


@pytest.mark.parametrize(
    ("first", "what"),
    [("a = ones(6e5)", "what is fixed in this claim"), ("a ~ normal(0, 1)[6e5]", "one draw of")],
)
def test_the_sum_of_all_is_bounded(first: str, what: str) -> None:
    # a million numbers of each kind are allowed in 16 MiB
    message, _, _ = refusal(f"{first}; b = a + 1; c = b + 1", "0", 2**24)
    assert what in message
    assert "in all by here, and 8 MiB is allowed" in message
    lowered(f"{first}; b = 1; c = b + 1", "a", memory=2**24)


@pytest.mark.parametrize(
    ("model", "expression", "shape"),
    [
        ("x ~ normal(0, 1)[6e7]", "x", (60_000_000,)),
        ("x ~ normal(0, 1)[2000, 2000]", "x @ x", (2000, 2000)),
        ("x ~ normal(0, 1)[1e7]", "cumsum(x)", (10_000_000,)),
        ("x ~ normal(0, 1)[1e7]", "sort(x)", (10_000_000,)),
        ("x ~ normal(0, 1)[1000, 1000]", "eigvalsh(x)", (1000,)),
        ("i ~ discrete_uniform(0, 9)", "one_hot(i, 1e7)", (10_000_000,)),
    ],
)
def test_what_is_large_is_not_refused(model: str, expression: str, shape: tuple[int, ...]) -> None:
    assert lowered(model, expression).shape == shape


def test_costs_grow_with_what_is_done() -> None:
    square = (100, 100)
    add, product = operation("+").cost, operation("matmul").cost
    assert add(square, [square, square]) == 1e4
    assert product(square, [square, square]) > 5 * add(square, [square, square])
    for side in (10, 100, 1000):
        small, large = (side, side), (2 * side, 2 * side)
        for name in ("matmul", "inv", "sort", "sum"):
            cost = operation(name).cost
            assert cost(large, [large, large]) > 3 * cost(small, [small, small])
    assert MOST_WORK < MOST_FIXED_WORK


def test_deep_and_wide_models() -> None:
    deep = "x0 ~ normal(0, 1);" + ";".join(f"x{i} = x{i - 1} + x{i - 1}" for i in range(1, 2000))
    wide = ";".join(f"x{i} ~ normal(0, 1)" for i in range(2000))
    started = time.process_time()
    assert len(ordered([lowered(deep, "x1999 * 2")])) == 2001
    assert lowered(wide, "x1999").sources == {"x1999"}
    assert time.process_time() - started < 5


def test_chains_are_not_deep() -> None:
    value = lowered("x ~ normal(0, 1)", " and ".join(f"x > {i}" for i in range(1000)))
    depth, below = 0, value
    while below.inputs and below.operation == "and":
        depth, below = depth + 1, below.inputs[0]
    assert depth == 10  # the logarithm of 1000 to base 2, rounded up
