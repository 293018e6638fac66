"""Bounds of norms are never below the truth, and close to it where they can be."""

from __future__ import annotations

import math
from typing import Any

import pytest
from lowered import expressed, lowered, lowering
from made_expressions import made
from norm_checks import below_the_truth

from dropcheck.analysis import norms
from dropcheck.analysis.norms import Norms
from dropcheck.analysis.support import support
from dropcheck.language.graph import Kind, Value
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS, SIGNS
from dropcheck.vocabulary.majorants.rule import NONE, Applied, Majorant

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
    "slices": (norms, "alignment_of", lambda one, _: (frozenset(),) * len(one.shape)),
    "orders": (norms, "grouped", lambda parts, _: [[part] for part in parts]),
    "signs": (norms, "signed_axes", lambda one: one.apart),
    "centring": (norms, "centring", lambda _: 0.5),
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
    assert known.bounds <= 3 * lines + 100


def test_large_arrays_cost_nothing() -> None:
    scope = lowering("v ~ normal(0, 1)[1000000]; q ~ normal(0, 1)[1000000]")
    known = Norms()
    assert known.norm(expressed(scope, "mean(v)"), 2) == pytest.approx(1e-3)
    assert known.norm(expressed(scope, "q @ v"), 2) == pytest.approx(1e3)


# ---- what the vocabulary says --------------------------------------------------------------------

# nothing bounds them but their hull, where there is one
WITHOUT = {
    "tan", "arctanh", "logit", "gamma", "digamma", "factorial", "inv", "pinv",
    "first", "density", "logdensity", "quantile_of", "size", "shape", "arange", "ones", "zeros",
    "eye", "float64", "float32", "bfloat16", "float16",
}  # fmt: skip


def test_every_function_has_a_majorant_or_is_known_to_have_none() -> None:
    tables: list[dict[str, Any]] = [FUNCTIONS, SIGNS, OF_LAWS]
    functions = {name: one for table in tables for name, one in table.items()}
    bounded = {name for name, one in functions.items() if _bounded(one)}
    without = {name for name, one in functions.items() if one.growth is NONE}
    assert without - bounded == WITHOUT


def _bounded(function: Any) -> bool:
    of_law = function.name in OF_LAWS
    scope = lowering("a, b, c ~ cauchy(0, 1)[2, 2]")
    drawn = [expressed(scope, name) for name in "abc"]
    count = 3 if of_law else sum(not one.option for one in function.parameters)
    value = Value(
        kind=Kind.COMPUTED,
        operation=function.name,
        shape=(2, 2),
        at=drawn[0].at,
        inputs=tuple(drawn[:count]),
        options=(("law", "cauchy"),) if of_law else (),
        random=True,
    )
    return support(value).bounded


def test_a_rule_that_is_not_stated_knows_nothing() -> None:
    use = Applied(
        arguments=(), options={}, shape=(), independent=True, same=False, parts=lambda: ()
    )
    majorant = Majorant()
    assert majorant.norm(use, 2) == majorant.spread(use, 2) == majorant.inverse(use, 2) == INF
