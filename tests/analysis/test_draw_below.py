"""Which draw a value is a function of, and what has no expectation."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from integrals import expectation, joint_moment, norm_of
from lowered import expressed, lowered, lowering

from dropcheck.analysis.single_draw import draw_below
from dropcheck.known.cells import Estimate
from dropcheck.language.graph import Value


def bounded_by(size: float) -> Callable[[Value, float], float]:
    """A bound of all norms, for the tails: true of every function that it is used with here."""
    return lambda _value, _p: size


loose = bounded_by(1e9)


def holds(found: Estimate, truth: float, slack: float = 0.0) -> bool:
    return abs(found.value - truth) <= found.error + slack


# ---- what has no answer --------------------------------------------------------------------------

UNKNOWN = [
    ("u ~ uniform(0, 1)", "1 / u"),
    ("x ~ normal(0, 1)", "1 / x"),
    ("x ~ normal(0, 1)", "tan(x)"),
    ("x ~ normal(0, 1)", "sqrt(x)"),
    ("x ~ normal(0, 1)", "exp(x ** 2)"),
    ("x ~ cauchy(0, 1)", "x"),
]


@pytest.mark.parametrize(("model", "text"), UNKNOWN)
def test_an_expectation_that_there_is_not_has_an_infinite_error(model: str, text: str) -> None:
    norm = bounded_by(math.inf)
    assert expectation(lowered(model, text), norm).error == math.inf


def test_an_unbounded_function_needs_a_norm_for_its_tails() -> None:
    x = lowered("x ~ normal(0, 1)", "x")
    assert expectation(x).error == math.inf
    assert expectation(x, bounded_by(10.0)).error < 1e-9


def test_many_jumps_are_an_error_and_no_endless_search() -> None:
    found = expectation(lowered("x ~ normal(0, 1)", "floor(1e6 * x) % 2"), loose)
    assert holds(found, 0.5)
    assert 0.01 < found.error < 2


# ---- which draw ----------------------------------------------------------------------------------

MODEL = (
    "x ~ normal(0, 1); y ~ normal(0, 1); v ~ normal(0, 1)[3]; w ~ normal(x, 1); "
    "b ~ bernoulli(0.5); d ~ dirichlet([1, 1]); m = 2 * v + 1; "
    "s ~ normal(0, [1, 2, 3])[3]; a = arange(3)"
)


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("relu(x) + x ** 2", "x"), ("v ** 2 + 1", "v"), ("v[1] ** 2 + exp(v[1])", "v[1]"),
        ("max([x, x ** 2])", "x"), ("m * v", "v"), ("b", "b"), ("x + y", None),
        ("v[0] + v[1]", None), ("v + v[0]", None), ("sum(v)", None), ("v * a", None), ("w", None),
        ("d[0]", None), ("s", None), ("1", None),
    ],
)  # fmt: skip
def test_the_draw_below(text: str, of: str | None) -> None:
    scope = lowering(MODEL)
    found = draw_below(expressed(scope, text))
    assert found is (None if of is None else expressed(scope, of))


def test_functions_of_unlike_draws_have_no_joint_moment() -> None:
    scope = lowering(MODEL)
    two = [expressed(scope, "x > 0"), expressed(scope, "y > 0")]
    assert joint_moment(two, [1, 1], [0.0, 0.0]).error == math.inf


def test_elements_are_averaged_each_by_itself() -> None:
    scope = lowering(MODEL)
    found = joint_moment(
        [expressed(scope, "v > 0"), expressed(scope, "relu(v)")], [1, 2], [0.0, 0.0], loose
    )
    assert holds(found, 0.5, 1e-12)


def test_a_long_function_costs_nothing() -> None:
    lines = "; ".join(f"x{k} = x{k - 1} + 1" for k in range(1, 2000))
    assert draw_below(lowered(f"x0 ~ normal(0, 1); {lines}", "x1999")) is None


@pytest.mark.parametrize("law", ["normal(0, 1)", "bernoulli(0.5)", "poisson(3)"])
def test_what_a_function_cannot_take_is_left_to_a_draw(law: str) -> None:
    """A draw says which value it was, and where the function stands."""
    value = lowered(f"x ~ {law}", "take([1, 2], x / 2)")
    found = expectation(value)
    assert not math.isfinite(found.value + found.error)
    assert norm_of(value, 2.0) == math.inf
