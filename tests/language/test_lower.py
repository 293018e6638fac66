"""Nodes to values: names, calls, randomness and laws."""

from __future__ import annotations

import numpy as np
import pytest
from lowered import ARRAYS, expressed, lowered, lowering

from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Kind, ordered

# -- randomness and identity -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "random", "estimated", "sources"),
    [
        ("f + 1", False, False, ""),
        ("s", True, False, "s"),
        ("s * v + f", True, False, "s v"),
        ("E(s)", False, True, "s"),
        ("E(s) + sum(f)", False, True, "s"),
        ("size(v)", False, False, ""),
        ("shape(v)[0]", False, False, ""),
        ("where(0, s, 1)", False, False, ""),
        ("1 if 1 else s", False, False, ""),
    ],
)
def test_randomness(expression: str, random: bool, estimated: bool, sources: str) -> None:
    value = lowered(ARRAYS, expression)
    assert (value.random, value.estimated) == (random, estimated)
    assert value.sources == frozenset(sources.split())


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("max([s])", "s", False),
        ("max([v, w[0:3]])", "maximum(v, w[0:3])", False),
        ("s + 1", "s + 1.0", True),
        ("0 - s", "s", False), ("1 / s", "s", False), ("1**s", "s", False),
        ("s + [0, 0]", "s", False), ("(v*s) + 1", "v * s + 1", True),
        ("sum(m, axis=[0, 1])", "sum(m)", True), ("m[0, 1:]", "m[0, 1:]", True),
        ("E(s + 1)", "E(s + 1)", True), ("2**3", "2**3", True), ("-0.0", "0.0", False),
        ("s + 1", "1 + s", False), ("m[0, 1:]", "m[0, :1]", False), ("m[0]", "m[0, 0]", False),
        ("sum(m)", "sum(m, axis=0)", False), ("E(s)", "E(s, given=s > 0)", False),
        ("E(s)", "Var(s)", False), ("var(v)", "var(v, ddof=1)", False),
    ],
)  # fmt: skip
def test_equal_expressions_are_one_value(first: str, second: str, same: bool) -> None:
    scope = lowering(ARRAYS)
    assert (expressed(scope, first) is expressed(scope, second)) is same


def test_a_line_of_the_model_is_the_expression_that_it_names() -> None:
    scope = lowering("x ~ normal(0, 1); y = x**2 + 1; z = y")
    assert expressed(scope, "x**2 + 1") is expressed(scope, "y") is expressed(scope, "z")


def test_draws_are_never_one_value() -> None:
    scope = lowering("x ~ normal(0, 1); y ~ normal(0, 1); a, b ~ normal(0, 1)")
    values = [expressed(scope, name) for name in "xyab"]
    assert len({id(value) for value in values}) == 4


# -- laws ------------------------------------------------------------------------------------------


def test_arguments_of_laws_by_position_and_by_name() -> None:
    scope = lowering("a ~ normal(1, 2); b ~ normal(sd=2, mean=1); c ~ normal(1, sd=2)")
    for name in "abc":
        inputs = expressed(scope, name).inputs
        assert [value.constant for value in inputs] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("x ~ normal(0, 1)", ()), ("x ~ normal(0, 1)[4]", (4,)), ("x ~ normal(0, 1)[4, 2]", (4, 2)),
        ("x ~ normal(0, 1)[[4, 2]]", (4, 2)), ("x ~ normal(0, 1)[n, size(ones(3))]", (5, 3)),
        ("x ~ normal([1, 2, 3], 1)", (3,)), ("x ~ normal([[1], [2]], [1, 2, 3])", (2, 3)),
        ("x ~ normal([1, 2, 3], 1)[4, 3]", (4, 3)), ("x ~ categorical([0.5, 0.5])", ()),
        ("x ~ categorical([0.5, 0.5])[7]", (7,)),
        ("x ~ categorical([[0.5, 0.5], [0.1, 0.9]])", (2,)),
        ("x ~ choice([1, 2, 3])[2]", (2,)), ("x ~ multinomial(10, [0.5, 0.5])", (2,)),
        ("x ~ multinomial(10, [0.5, 0.5])[4]", (4, 2)),
        ("x ~ multinomial([10, 20], [0.5, 0.3, 0.2])", (2, 3)),
        ("x ~ dirichlet([1, 1, 1])", (3,)), ("x ~ permutation(n)", (5,)),
        ("x ~ permutation(3)[2]", (2, 3)),
        ("x ~ multivariate_normal([0, 0], eye(2))[4]", (4, 2)),
    ],
)  # fmt: skip
def test_shapes_of_draws(line: str, shape: tuple[int, ...]) -> None:
    value = lowered(line, "x", {"n": 5.0})
    assert value.shape == shape
    assert value.kind == Kind.DRAW


def test_a_law_may_be_a_parameter() -> None:
    scope = lowering("x ~ law[3]; y ~ law", {"s": 2.0, "law": "normal(0, s)"})
    assert expressed(scope, "x").shape == (3,)
    assert expressed(scope, "y").operation == "normal"
    with pytest.raises(DropcheckError, match="'law' is a law, not a number"):
        expressed(scope, "law + 1")


def test_a_hierarchy_draws_its_arguments_first() -> None:
    value = lowered("n ~ poisson(4); x ~ binomial(n, 0.5)", "x")
    assert value.sources == {"n", "x"}
    assert [below.name for below in ordered([value])] == ["n", "x"]


@pytest.mark.parametrize(
    ("law", "constant"),
    [
        ("normal(3, 0)", 3.0), ("uniform(2, 2)", 2.0), ("bernoulli(0)", 0.0), ("bernoulli(1)", 1.0),
        ("binomial(7, 1)", 7.0), ("poisson(0)", 0.0), ("geometric(1)", 1.0),
        ("exponential(0)", 0.0), ("normal(0, 1e-300)", None), ("bernoulli(1e-300)", None),
        ("uniform(2, 2.1)", None),
    ],
)  # fmt: skip
def test_degenerate_laws_are_constants(law: str, constant: float | None) -> None:
    value = lowered(f"x ~ {law}", "x")
    assert value.random is (constant is None)
    assert value.constant == constant
    many = lowered(f"x ~ {law}[3]", "x + 0")
    if constant is not None:
        np.testing.assert_array_equal(many.constant, np.full((3, 1), constant))
