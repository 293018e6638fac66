"""Densities as expressions: what is written out of a law is what the law itself says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from law_table import CASES, as_arrays, log_density
from lowered import expressed, lowering

from dropcheck.analysis.norms import Norms, Quantity
from dropcheck.language.graph import Value
from dropcheck.simulation.compile import ProgramBuilder
from dropcheck.vocabulary.functions import OF_LAWS

DRAWS = 300

# of which draws are lists and vectors
BY_THE_LAW = {
    "categorical", "choice", "dirichlet", "multinomial", "multivariate_normal", "permutation",
}  # fmt: skip


def drawn(model: str, *expressions: str) -> tuple[list[Value], list[Any]]:
    """Quantities, and what they are in some draws."""
    scope, builder = lowering(model), ProgramBuilder()
    values = [expressed(scope, one) for one in expressions]
    places = [builder.register(one) for one in values]
    for place in places:
        builder.term(((place, 1),), None)
    with np.errstate(all="ignore"):
        held = builder.build().registers(np.random.default_rng(3), DRAWS)
    return values, [held[place] for place in places]


def written(name: str, arguments: tuple[Any, ...]) -> tuple[bool, Any, Any]:
    """Whether the log density of a law's own draws is written out, and the draws with it."""
    law = f"{name}({', '.join(repr(one) for one in arguments)})"
    values, (x, found) = drawn(f"x ~ {law}", "x", f"logdensity({law}, x)")
    return values[1].operation not in OF_LAWS, x, found


NUMBERS = [(name, given) for name, given in CASES if name not in BY_THE_LAW]


@pytest.mark.parametrize(("name", "arguments"), NUMBERS)
def test_a_log_density_is_what_the_law_says(name: str, arguments: tuple[Any, ...]) -> None:
    _, x, found = written(name, tuple(map(float, arguments)))
    wanted = log_density(name, as_arrays(arguments), np.asarray(x, dtype=np.float64))
    np.testing.assert_allclose(found, np.broadcast_to(wanted, found.shape), 1e-12, 1e-12)


def test_most_are_written_out() -> None:
    found = {name for name, given in NUMBERS if written(name, tuple(map(float, given)))[0]}
    assert found >= {
        "normal", "laplace", "logistic", "gumbel", "lognormal", "exponential", "gamma", "beta",
        "chi_square", "f", "weibull", "rayleigh", "pareto", "poisson", "bernoulli", "geometric",
    }  # fmt: skip


@pytest.mark.parametrize("law", ["normal(m, exp(v))", "laplace(m, 2)", "logistic(m, 1)"])
def test_arguments_may_be_random(law: str) -> None:
    values, (m, v, y, found, density) = drawn(
        "m, v ~ normal(0, 1); y ~ uniform(-3, 3)",
        *("m", "v", "y", f"logdensity({law}, y)", f"density({law}, y)"),
    )
    assert not {one.operation for one in values} & set(OF_LAWS)
    name, scale = law.split("(", maxsplit=1)[0], {"laplace": 2.0, "logistic": 1.0}
    wanted = log_density(name, [m, scale.get(name, np.exp(v))], y)
    np.testing.assert_allclose(found, wanted, 1e-12)
    np.testing.assert_allclose(density, np.exp(wanted), 1e-12)


@pytest.mark.parametrize(
    ("model", "expression"),
    [
        ("x ~ normal(0, 1)", "logdensity(exponential(1), x)"),  # below 0 it is -inf
        ("x ~ exponential(1)", "logdensity(uniform(0, 1), x)"),
        ("x ~ poisson(3)", "logdensity(binomial(5, 0.5), x)"),
        ("x ~ exponential(1)", "logdensity(poisson(3), x)"),  # no whole numbers
        ("x ~ normal(0, 1)", "logdensity(gamma(abs(x), 1), 2)"),  # random, and no scale
        ("x ~ normal(0, 1)", "density(gumbel(0, 1), x)"),  # the law knows its mode
        ("x ~ normal(0, 1)", "logdensity(cauchy(0, 1), x)"),  # a choice between two formulas
    ],
)
def test_others_are_left_to_the_law(model: str, expression: str) -> None:
    (value,), (found,) = drawn(model, expression)
    assert value.operation in OF_LAWS
    assert not np.isnan(found).any()


# ---- how large logarithms are -------------------------------------------------------------------

SIZES = [
    ("normal(0, 2)", "sigmoid(x)"),
    ("normal(0, 2)", "1 - sigmoid(x)"),
    ("normal(0, 3)", "Phi(x)"),
    ("normal(0, 1.5)", "1 - Phi(x)"),
    ("laplace(1, 2)", "2 * exp(x) / (0.1 * exp(-x))"),
    ("normal(0, 2)", "0.3 * exp(-(x**2)) + 0.7 * exp(-((x - 2) ** 2))"),
    ("normal(0, 2)[3]", "softmax(x)"),
    ("gamma(3, 1)", "x / (1 + x)"),
]


@pytest.mark.parametrize(("law", "expression"), SIZES)
def test_no_logarithm_is_larger_than_its_bound(law: str, expression: str) -> None:
    scope = lowering(f"x ~ {law}")
    value = expressed(scope, expression)
    known = Norms(integrate=False)
    _, (found,) = drawn(f"x ~ {law}", f"log({expression})")
    for p in (1.0, 2.0, 4.0):

        def log_size(quantity: Quantity, p: float = p) -> float:
            return quantity.log_size(p)

        bound = known.ask(value, log_size)
        assert np.mean(np.abs(found) ** p) ** (1 / p) <= bound < 200
