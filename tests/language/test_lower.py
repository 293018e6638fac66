"""Nodes to values: names, calls, randomness and laws."""

from __future__ import annotations

import numpy as np
import pytest
from lowered import ARRAYS, expressed, lowered, lowering, refusal

from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Kind, ordered
from dropcheck.language.lowering.loops import define_model
from dropcheck.language.parser import parse_model

# -- calls -----------------------------------------------------------------------------------------


CALLS = {
    "foo(s)": ("'foo' is not a function", "functions of your own are not part of a model"),
    "flor(s)": ("'flor' is not a function", "functions of your own are not part of a model"),
    "floot(s)": ("'floot' is not a function", "did you mean 'floor'"),
    "sqr(s)": ("'sqr' is not a function", "write x**2 for the square, sqrt(x)"),
    "ln(s)": ("'ln' is not a function", "log(x)"),
    "len(v)": ("'len' is not a function", "size(x)"),
    "Mode(s)": ("'Mode' is not a function", ""),
    "variance(s)": ("'variance' is not a function", "is Var(u)"),
    "normal(0, 1)": ("'normal' is a law", "or claim it of a quantity: x ~ normal(…)"),
    "independent(1, 2)": ("'independent' is a statement by itself", "and expect: refuted where"),
    "sum()": ("sum lacks 'x'", "sum(x, axis=…, keepdims=0)"),
    "sum(v, 0, 0, 0)": ("sum takes at most 3 arguments, and has 4", "sum(x"),
    "sum(v, dim=0)": ("sum has no argument 'dim'", "sum(x"),
    "sum(v, axes=0)": ("sum has no argument 'axes'", "did you mean 'axis'"),
    "sum(v, x=v)": ("'x' of sum is given twice", "sum(x"),
    "minimum(s)": ("minimum takes at least 2 arguments, and has 1", "minimum(a, b, …)"),
    "minimum(s, s, c=s)": ("minimum has no argument 'c'", "minimum(a, b, …)"),
    "E()": ("E lacks 'u'", "E(u, given=event)"),
    "E(s, s)": ("E takes 1 argument", "given=event"),
    "E(s, givn=s)": ("E has no argument 'givn'", "did you mean 'given'"),
    "Cov(s)": ("the matrix of all pairs of elements of a vector", "write Cov(u, v) of two"),
    "Cov()": ("Cov lacks 'u', 'v'", "Cov(u, v, given=event)"),
    "P(s > 0, given=s, u=s)": ("P has no argument 'u'", "given=event"),
    "E(Var(s))": ("an operator stands inside the operator E", "parameter m"),
    "E(s, given=P(s > 0))": ("an operator stands inside the operator E", "parameter m"),
    "E": ("'E' is an operator, and takes a quantity", "write E(…)"),
    "E[s]": ("'E' is an operator, and takes a quantity", "write E(…)"),
    "poisson": ("'poisson' is not defined", "'poisson' is a law"),
    "normal[0]": ("'normal' is a law", "a line of the model"),
    "S": ("'S' is not defined", "did you mean 's'"),
    "Pi": ("'Pi' is not defined", "did you mean 'pi'"),
    "unheard": ("'unheard' is not defined", "names defined here: f, g, i"),
    "mean(s)": ("'mean' is over the elements of one draw", "did you mean E(…)"),
    "var(s)": ("'var' is over the elements of one draw", "did you mean Var(…)"),
    "density(foo(1), s)": ("'foo' is not a law", "laws are"),
    "density(normal(0, 1))": ("density lacks 'x'", "density(law, x)"),
}


@pytest.mark.parametrize("expression", CALLS)
def test_calls_refused(expression: str) -> None:
    message, hint, _ = refusal(ARRAYS, expression)
    expected = CALLS[expression]
    assert expected[0] in message
    assert expected[1] in hint


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
        ("max([0, s])", "maximum(0, s)", True),
        ("min([s, v[0], 1])", "minimum(s, v[0], 1)", True),
        ("max([s])", "s", False),
        ("max([v, w[0:3]])", "maximum(v, w[0:3])", False),
        ("s + 1", "s + 1.0", True),
        ("0 + s / 1 - 0", "s", True),
        ("1 * v**1", "v", True),
        ("0 - s", "s", False),
        ("1 / s", "s", False),
        ("1**s", "s", False),
        ("s + [0, 0]", "s", False),
        ("(v*s) + 1", "v * s + 1", True),
        ("sum(m, axis=[0, 1])", "sum(m)", True),
        ("m[0, 1:]", "m[0, 1:]", True),
        ("E(s + 1)", "E(s + 1)", True),
        ("2**3", "2**3", True),
        ("-0.0", "0.0", False),
        ("s + 1", "1 + s", False),
        ("m[0, 1:]", "m[0, :1]", False),
        ("m[0]", "m[0, 0]", False),
        ("sum(m)", "sum(m, axis=0)", False),
        ("E(s)", "E(s, given=s > 0)", False),
        ("E(s)", "Var(s)", False),
        ("var(v)", "var(v, ddof=1)", False),
    ],
)
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
        ("x ~ normal(0, 1)", ()),
        ("x ~ normal(0, 1)[4]", (4,)),
        ("x ~ normal(0, 1)[4, 2]", (4, 2)),
        ("x ~ normal(0, 1)[[4, 2]]", (4, 2)),
        ("x ~ normal(0, 1)[n, size(ones(3))]", (5, 3)),
        ("x ~ normal([1, 2, 3], 1)", (3,)),
        ("x ~ normal([[1], [2]], [1, 2, 3])", (2, 3)),
        ("x ~ normal([1, 2, 3], 1)[4, 3]", (4, 3)),
        ("x ~ categorical([0.5, 0.5])", ()),
        ("x ~ categorical([0.5, 0.5])[7]", (7,)),
        ("x ~ categorical([[0.5, 0.5], [0.1, 0.9]])", (2,)),
        ("x ~ choice([1, 2, 3])[2]", (2,)),
        ("x ~ multinomial(10, [0.5, 0.5])", (2,)),
        ("x ~ multinomial(10, [0.5, 0.5])[4]", (4, 2)),
        ("x ~ multinomial([10, 20], [0.5, 0.3, 0.2])", (2, 3)),
        ("x ~ dirichlet([1, 1, 1])", (3,)),
        ("x ~ permutation(n)", (5,)),
        ("x ~ permutation(3)[2]", (2, 3)),
        ("x ~ multivariate_normal([0, 0], eye(2))[4]", (4, 2)),
    ],
)
def test_shapes_of_draws(line: str, shape: tuple[int, ...]) -> None:
    value = lowered(line, "x", {"n": 5.0})
    assert value.shape == shape
    assert value.kind == Kind.DRAW


LAWS_REFUSED = {
    "x ~ normal": ("'normal' needs its arguments", "normal(mean, sd)", 5),
    "x ~ nrmal(0, 1)": ("'nrmal' is not a law", "did you mean 'normal'", 5),
    "x ~ sqrt(2)": ("'sqrt' is not a law", "write '='", 5),
    "x ~ 3": ("a law is expected", "normal(0, 1)", 5),
    "x ~ n": ("'n' is a number, not a law", "normal(0, 1)", 5),
    "x ~ normal(0, 1)[2][3]": ("a law is expected", "", 5),
    "x ~ normal(0)": ("normal lacks 'sd'", "normal(mean, sd)", 5),
    "x ~ normal(0, 1, 2)": ("normal takes at most 2 arguments, and has 3", "normal(…)[n]", 5),
    "x ~ normal(0, std=1)": ("normal has no argument 'std'", "did you mean 'sd'", 5),
    "x ~ normal(0, 1, sd=1)": ("'sd' of normal is given twice", "normal(mean, sd)", 21),
    "x ~ normal(0, -1)": ("normal: sd must satisfy sd >= 0, and is -1", "normal(mean, sd): ", 15),
    "x ~ normal(inf, 1)": ("normal: mean must be finite", "", 12),
    "x ~ bernoulli(1.2)": ("bernoulli: p must satisfy 0 <= p <= 1, and is 1.2", "", 15),
    "x ~ binomial(2.5, 0.5)": ("binomial: n must be a whole number, and is 2.5", "", 14),
    "x ~ normal(1e16, 1)": ("normal: draws around 1e+16 are multiples of 2 in", "around 0", 5),
    "x ~ uniform([0, -4e12], 1 - 4e12 * [0, 1])": ("uniform: draws around -4e+12 are", "", 5),
    "x ~ uniform(2, 1)": ("uniform: low <= high is required", "uniform(low, high)", 5),
    "x ~ uniform([0, 2], 1)": ("uniform: low <= high is required", "", 5),
    "x ~ categorical([0.5, 0.6])": ("must sum to 1, and sum to 1.1", "", 5),
    "x ~ categorical(0.5)": ("'p' of categorical must be a list", "categorical([p…])", 17),
    "x ~ multivariate_normal([0, 0], [1, 1])": ("'cov' of multivariate_normal", "", 33),
    "x ~ multivariate_normal([0, 0], [[1, 2], [2, 1]])": ("positive semi-definite", "", 5),
    "x ~ permutation(1e12)": ("permutation: n must satisfy 1 <= n <= 1e+09", "", 17),
    "x ~ permutation(1 / 0)": ("'permutation' needs a whole number", "", 5),
    "x ~ multinomial(1e300, [0.5, 0.5])": ("multinomial: n must satisfy", "", 17),
    "x ~ normal(E(1), 1)": ("an operator on the law stands in the model", "'claim'", 12),
    "x ~ normal([1, 2], [1, 2, 3])": ("arguments of normal do not go together", "", 5),
    "x ~ normal([1, 2], 1)[3]": ("arguments of shape [2] do not fit draws of shape [3]", "", 5),
    "x ~ normal(0, 1)[0]": ("whole numbers of at least 1, and this is 0", "[10]", 18),
    "x ~ normal(0, 1)[-1]": ("whole numbers of at least 1, and this is -1", "[10]", 18),
    "x ~ normal(0, 1)[2.5]": ("whole numbers of at least 1, and this is 2.5", "[10]", 18),
    "x ~ normal(0, 1)[inf - inf]": ("whole numbers of at least 1, and this is nan", "", 18),
    "x ~ normal(0, 1)[1:2]": ("this is a slice", "[n]", 18),
    "x ~ normal(0, 1)[r]": ("must be fixed, and this one is random", "mask", 18),
    "x ~ normal(0, 1)[1e12]": ("takes 7.28 TiB", "smaller", 1),
    "x ~ normal(0, 1)[1e30]": ("a shape of 1e+30 is too large", "a draw", 18),
    "x ~ normal(0, 1)[9**9**9]": ("a shape of inf is too large", "more than any machine", 18),
    "x ~ normal(0, 1)[ones(40)]": ("at most 30 axes", "[n, m]", 18),
    "x = E(r)": ("an operator on the law stands in the model", "use mean", 5),
    "inf = 3": ("'inf' is a constant of the language", "another name", 1),
    "Var = 3": ("'Var' is an operator of the language", "another name", 1),
    "r = 3": ("'r' is already defined by a line above", "another name", 1),
    "n = 3": ("'n' is already defined by a parameter", "another name", 1),
}


@pytest.mark.parametrize("line", LAWS_REFUSED)
def test_lines_refused(line: str) -> None:
    scope = lowering("r ~ poisson(3)", {"n": 5.0})
    (parsed,) = parse_model(SourceText.plain(line))
    (problem,) = define_model(scope, (parsed,))
    message, hint, column = LAWS_REFUSED[line]
    assert message in problem.message
    assert hint in (problem.hint or "")
    assert problem.location is not None
    assert problem.location.column == column


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
        ("normal(3, 0)", 3.0),
        ("uniform(2, 2)", 2.0),
        ("bernoulli(0)", 0.0),
        ("bernoulli(1)", 1.0),
        ("binomial(7, 1)", 7.0),
        ("poisson(0)", 0.0),
        ("geometric(1)", 1.0),
        ("exponential(0)", 0.0),
        ("normal(0, 1e-300)", None),
        ("bernoulli(1e-300)", None),
        ("uniform(2, 2.1)", None),
    ],
)
def test_degenerate_laws_are_constants(law: str, constant: float | None) -> None:
    value = lowered(f"x ~ {law}", "x")
    assert value.random is (constant is None)
    assert value.constant == constant
    many = lowered(f"x ~ {law}[3]", "x + 0")
    if constant is not None:
        np.testing.assert_array_equal(many.constant, np.full((3, 1), constant))


# -- notes -----------------------------------------------------------------------------------------
