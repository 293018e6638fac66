"""Which moments exist: what is settled before any draw must be so by theory."""

from __future__ import annotations

import math

import pytest
from lowered import expressed, lowering
from trials import entry, registry_of

from dropcheck.analysis.strategy import missing_moment, missing_variance, moment_order
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.vocabulary.laws import LAWS

INF = math.inf

# a quantity, and the order from which on no moment of it exists, as far as it is known
ORDERS = {
    "n": INF, "ca": 1, "t3": 3, "pa": 1.5, "fr": 4, "tv": 3, "-t3": 3, "2 * t3 + 1": 3, "t3 / 2": 3,
    "tv[0]": 3, "tt": INF, "ht": INF, "t3 + n": INF, "t3**2": INF, "1 / n": INF, "exp(t3)": INF,
    "t3 - t3": INF, "tanh(ca)": INF,
}  # fmt: skip
MODEL = (
    "n ~ normal(1, 2); u ~ uniform(1, 2); ca ~ cauchy(0, 1); t3 ~ student_t(3); pa ~ pareto(1.5, 1)"
    "; fr ~ f(3, 8); tv ~ student_t(3)[4]; tt ~ student_t([2, 3]); ht ~ student_t(u)"
)


@pytest.mark.parametrize("expression", ORDERS)
def test_orders(expression: str) -> None:
    assert moment_order(expressed(lowering(MODEL), expression)) == ORDERS[expression]


def test_a_fixed_quantity_has_every_moment() -> None:
    scope = lowering("x ~ cauchy(0, 1)")
    assert moment_order(expressed(scope, "3")) == INF


def test_moments_exist_of_every_other_law() -> None:
    heavy = {"student_t", "f", "cauchy", "pareto"}
    with_orders = set()
    arguments = {0: 2.5, 1: (0.5, 0.5), 2: ((1.0, 0.0), (0.0, 1.0))}
    for name, law in LAWS.items():
        values = [arguments[parameter.axes] for parameter in law.parameters]
        if name == "bernoulli":
            values = [0.5]
        if law.moment_order(*values) < INF:
            with_orders.add(name)
    assert with_orders == heavy


# -- statements ------------------------------------------------------------------------------------


def missing(model: str, claim: str) -> str | None:
    (case,) = registry_of(entry("c", model, claim)).expand()
    lowered = lower_case(parse_claim(case.claim), case.parameters)
    found = missing_moment(lowered) or missing_variance(lowered)
    return None if found is None else str(found)


NONE_EXISTS = "does not exist"
NO_INTERVAL = "no interval can be trusted"


@pytest.mark.parametrize(
    ("model", "claim", "reason"),
    [
        ("x ~ cauchy(0, 1)", "E(x) == 0", NONE_EXISTS),
        ("x ~ student_t(1)", "E(x) == 0", NONE_EXISTS),
        ("x ~ student_t(2)", "Var(x) == 1", NONE_EXISTS),
        ("x ~ student_t(2)", "Std(x) == 1", NONE_EXISTS),
        ("x ~ student_t(3)", "Skew(x) == 0", NONE_EXISTS),
        ("x ~ student_t(4)", "Kurt(x) == 3", NONE_EXISTS),
        ("x ~ pareto(1, 1)", "E(x) < 100", NONE_EXISTS),
        ("x ~ pareto(1.5, 1)", "Var(x) < 100", NONE_EXISTS),
        ("x ~ f(2, 2)", "E(x) < 100", NONE_EXISTS), ("x ~ f(2, 4)", "Var(x) < 100", NONE_EXISTS),
        ("x ~ student_t(2)", "Corr(x, x) == 1", NONE_EXISTS),
        ("x ~ student_t(2)", "E(x) == 0", NO_INTERVAL),
        ("x ~ student_t(3)", "Var(x) == 3", NO_INTERVAL),
        ("x ~ pareto(2, 1)", "E(x) == 2", NO_INTERVAL),
        # and where nothing is settled, or all is well
        ("x ~ student_t(3)", "E(x) == 0", None), ("x ~ student_t(5)", "Var(x) == 1", None),
        ("x ~ pareto(3, 1)", "E(x) == 1.5", None), ("x ~ normal(0, 1)", "E(exp(x)) == 2", None),
        ("x ~ exponential(0.4)", "E(exp(x)) == 5/3", None),
        ("x ~ normal(0, 1)", "E(abs(x)**-0.4) == 1.5", None),
        ("x ~ normal(0, 1)[5]", "E(1 / (x @ x)) == 1/3", None),
        ("x ~ exponential(0)", "E(1 / (1 + x)) == 1", None),
        ("x ~ laplace(0, 0)", "E(exp(x)) == 1", None),
        ("x ~ cauchy(0, 1)", "P(x > 0) == 0.5", None),
        ("x ~ cauchy(0, 1)", "E(tanh(x)) == 0", None), ("x ~ cauchy(0, 1)", "E(x - x) == 0", None),
        ("x ~ cauchy(0, 0)", "E(x) == 0", None),
        ("x ~ cauchy(0, 1)", "E(x, given=abs(x) < 1) == 0", None),
        ("x ~ uniform(1, 2)", "E(1 / x) == 0", None),
        ("x ~ cauchy(0, 1); y = [x, -x] @ [1, 1]", "E(y) == 0", None),
    ],
)  # fmt: skip
def test_what_is_settled_before_any_draw(model: str, claim: str, reason: str | None) -> None:
    found = missing(model, claim)
    if reason is None:
        assert found is None
    else:
        assert found is not None
        assert reason in found
