"""Bounds of norms are never below the truth, and close to it where they can be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from lowered import expressed, lowered, lowering
from made_expressions import made
from norm_checks import below_the_truth

from dropcheck.analysis import norms
from dropcheck.analysis.norms import Norms, Rules, rules_of, steepness
from dropcheck.vocabulary.function import X
from dropcheck.vocabulary.functions import FUNCTIONS, FUNCTIONS_OF_ARRAYS, SIGNS

INF = math.inf

# ---- small discrete models, all outcomes of which are known --------------------------------------


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_no_bound_of_a_made_model_is_below_the_truth(first: int) -> None:
    values = {seed: made(seed) for seed in range(first, first + 20)}
    assert {
        seed: found for seed, of in values.items() if (found := below_the_truth(of, seed))
    } == {}


OF_WEIGHTS = (
    "w ~ rademacher()[4]; u ~ discrete_uniform(-1, 1)[3]; b ~ choice([-1, 0.5, 2])[3]; m ~ "
    "bernoulli(0.3)[4]; s ~ rademacher()[3]; l ~ choice([-1, 0, 5]); g ~ binomial(2, 0.2)"
)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "text",
    ["sum(w)", "w @ m", "w @ (m + 3)", "sum(w * m)", "mean(w * (m - 0.3))", "u @ b", "(u * s) @ b",
     "sum(u * b)", "sum(u)", "u @ [1, -2, 5]", "dot(w, arange(4))", "cumsum(w * l)", "(u * l) @ b",
     "sum(w * sum(m))", "w @ (m * sum(m))", "sum(u * g * b)", "sum(u + s)", "u @ (b * sum(b))",
     "outer(u, s) @ b", "sum(outer(u, b), axis=0)", "relu(u @ b)**2", "(2 * u - s) @ b",
     # over a sum of which they are a part
     "b * (1 - 2 / sum(b**2))", "sum((b * (1 - 2 / sum(b**2)) - s)**2)", "b[0]**3 / (b @ b)",
     "((3 / norm(b) - 2) * b[1])**3", "(1 - g / (g + 2 * b[0]**2)) * b[0]",
     "b * (b + 1) * b / norm(b)"],
)  # fmt: skip
def test_no_bound_of_a_sum_with_weights_is_below_the_truth(text: str, seed: int) -> None:
    assert below_the_truth([lowered(OF_WEIGHTS, text)], seed) == []


MISTAKES: dict[str, Any] = {
    "what depends is taken for independent": (norms, "disjoint", lambda _: True),
    "elements": (norms, "is_apart", lambda *_: True),
    "orders": (norms, "grouped", lambda parts, _: [[part] for part in parts]),
    "centring": (norms, "centring", lambda _: 0.5),
    "slopes": (norms, "steepness", lambda *_: 0.9),
    "sums": (
        norms,
        "_of_mean_0",
        lambda parts, _: 0.7 * sum(count * norm(2.0) ** 2 for count, norm in parts) ** 0.5,
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*MISTAKES[mistake])
    dependent = [lowered("x ~ binomial(2, 0.05)", "x * (x + 0.01)")]
    assert below_the_truth(dependent, 1) or any(
        below_the_truth(made(seed), seed) for seed in range(150)
    )


# ---- large models --------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["{0} + x", "{0} * b", "maximum({0}, y)", "tanh({0}) + {0}"])
def test_the_work_grows_with_the_lines(step: str) -> None:
    lines = 2000
    model = [f"v{n} = {step.format(f'v{n - 1}')}" for n in range(1, lines)]
    start = "x ~ normal(0, 1); b ~ bernoulli(0.5); y ~ normal(0, 1); v0 = x"
    value = expressed(lowering("; ".join([start, *model])), f"v{lines - 1}")
    known = Norms()
    assert known.norm(value, 2) > 0
    assert known.bounds <= 4 * lines + 100


def test_large_arrays_cost_nothing() -> None:
    scope = lowering("v ~ normal(0, 1)[1000000]; q ~ normal(0, 1)[1000000]")
    known = Norms()
    assert known.norm(expressed(scope, "mean(v)"), 2) == pytest.approx(1e-3)
    assert known.norm(expressed(scope, "q @ v"), 2) == pytest.approx(1e3)


# ---- how steep a function is ---------------------------------------------------------------------

OF_ONE = sorted(name for name, one in FUNCTIONS.items() if one.parameters == X and one.by_element)
ENDS = [(-INF, INF), (0.0, INF), (1.0, INF), (-3.0, 0.5), (0.2, 0.8), (0.3, 0.3)]
JUMPS = {"sign", "floor", "ceil", "round", "float32", "float16", "bfloat16"}
# of numbers that are far out: each is as steep as this at most, and its bound is near it
STEEP = {
    "abs": 1, "sin": 1, "cos": 1, "tanh": 1, "relu": 1, "elu": 1, "selu": 1.7581, "gelu": 1.1290,
    "silu": 1.0998, "softplus": 1, "sigmoid": 0.25, "Phi": 0.39895,
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ONE)
def test_no_function_is_steeper_than_its_bound(name: str) -> None:
    """By differences over many pairs of neighbours, and at the places where pieces meet."""
    generator = np.random.default_rng(4)
    for low, high in ENDS:
        bound = steepness(name, (), (None,), low, high)
        assert bound >= 0
        if bound == INF or low == high:
            continue
        start, end = max(low, -50.0), min(high, 50.0)
        whole = np.arange(math.ceil(2 * start), math.floor(2 * end)) / 2
        points = np.sort([*generator.uniform(start, end, 4000), *whole, *(whole[1:] - 1e-6)])
        values = FUNCTIONS[name].kernel(points)
        with np.errstate(all="ignore"):
            assert np.nanmax(np.abs(np.diff(values)) - bound * np.diff(points)) <= 1e-12


@pytest.mark.parametrize("name", STEEP)
def test_the_slope_is_known_where_it_is_bounded(name: str) -> None:
    assert STEEP[name] * (1 - 1e-4) <= steepness(name, (), (None,), -INF, INF) <= 1.05 * STEEP[name]


@pytest.mark.parametrize("name", sorted(JUMPS & {*OF_ONE}))
def test_a_jump_has_no_slope(name: str) -> None:
    assert steepness(name, (), (None,), -1.0, 2.0) == INF


def test_a_fixed_argument_counts() -> None:
    assert steepness("leaky_relu", (), (None, (0.1, 3.0)), -INF, INF) == pytest.approx(3, rel=1e-6)
    assert steepness("**", (), (None, (2.0, 2.0)), -1.0, 3.0) == pytest.approx(6, rel=1e-2)


# ---- what has no rule ----------------------------------------------------------------------------

# nothing bounds them but their hull, where there is one
WITHOUT = {
    "bincount", "argmax", "argmin", "argsort", "cholesky", "det",
    "eigvecsh", "first", "inv", "linspace", "one_hot", "pinv", "qr_q", "shape", "size", "solve",
    "arange", "ones", "zeros", "eye",
}  # fmt: skip


def test_every_function_has_rules_or_is_known_to_have_none() -> None:
    tables: list[dict[str, Any]] = [FUNCTIONS_OF_ARRAYS, SIGNS]
    functions = {name: one for table in tables for name, one in table.items() if not one.truth}
    without = {name for name, one in functions.items() if rules_of(one) == Rules()}
    assert without == WITHOUT
