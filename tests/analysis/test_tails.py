"""Which moments exist: what is settled before any draw must be so by theory."""

from __future__ import annotations

import math

import pytest
from trials import entry, registry_of

from dropcheck.analysis.strategy import divergent_moment
from dropcheck.language.compile import lower_case, parse_claim

INF = math.inf

# -- statements ------------------------------------------------------------------------------------


def missing(model: str, claim: str) -> str | None:
    (case,) = registry_of(entry("c", model, claim)).expand()
    lowered = lower_case(parse_claim(case.claim), case.parameters)
    found = divergent_moment(lowered)
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
