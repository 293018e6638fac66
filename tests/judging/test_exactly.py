"""Claims decided by the values that their models give, without a draw.

The values are held to closed forms, and the verdicts to those of the draws.
"""

from __future__ import annotations

import math

import pytest
from trials import OPEN, REFUTED, VERIFIED, entry, judged, registry_of, tried

from dropcheck.analysis.strategy import Proportion
from dropcheck.judging.case import prepare
from dropcheck.judging.exact import exact_probability
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, Guarantee, Method, Verdict
from dropcheck.settings import Settings


def exactly_judged(model: str, claim: str, keys: str = "") -> CaseResult:
    registry = registry_of(entry("claim", model, claim, keys))
    (result,) = tried(registry, Settings(threads=1, exact=True))
    return result


N = "x ~ normal(0, 1)"
VALUES = [
    (N, "E(x**4)", 3.0),
    ("x ~ normal(1, 2)", "Var(x)", 4.0),
    ("x ~ normal(1e8, 1)", "Var(x)", 1.0),
    ("x ~ exponential(2)", "Skew(x)", 2.0),
    ("x ~ exponential(2)", "Kurt(x)", 9.0),
    ("x, w ~ normal(0, 1); y = 0.6 * x + 0.8 * w", "Corr(x, y)", 0.6),
    ("q, k ~ normal(0, 1)[64]", "Std(q @ k / 8)", 1.0),
    ("m ~ bernoulli(0.25); x ~ normal(3, 1); y = m * x / 0.25", "Var(y)", 10 / 0.25 - 9),
    ("m ~ bernoulli(0.25); x ~ normal(3, 1); y = m * x / 0.25", "E(y, given=m == 1)", 12.0),
    (N, "E(x, given=x > 0)", math.sqrt(2 / math.pi)),
    (N, "P(x > 1)", 0.15865525393145707),
    (N, "P(x > 5)", 2.866515718791946e-07),
    (N, "P(x > 1, given=x > 0)", 2 * 0.15865525393145707),
    ("k ~ poisson(3)", "P(k == 2)", 4.5 * math.exp(-3)),
    ("x ~ lognormal(0, 1)", "Var(x)", (math.e - 1) * math.e),
    ("u ~ uniform(0, 1)", "E(where(u < 0.2, 3, exp(u)))", 0.6 + math.e - math.exp(0.2)),
    (N, "2 * E(x**2) - 3 * E(x) + 1", 3.0),
    (N, "E(x**4) / E(x**2)**2", 3.0),
    ("x ~ normal(0, 1)[3]", "P(x > 1)", 0.15865525393145707),  # of all elements
    ("b ~ bernoulli(0.3)", "P(b)", 0.3),
    # what is averaged has no variance
    ("x ~ pareto(1.5, 1)", "E(x)", 3.0),
    ("x ~ student_t(5)", "E(x**4)", 25.0),
    ("x ~ student_t(5)", "Kurt(x)", 9.0),
    ("x ~ student_t(3)[5]", "Var(mean(x))", 0.6),
    ("x ~ pareto(1.5, 1); m ~ bernoulli(0.25)", "E(m * x, given=m == 1)", 3.0),
]
# and has no mean either
NONE = [
    ("x ~ pareto(0.9, 1)", "E(x)"),
    ("x ~ student_t(3)", "Kurt(x)"),
    ("x ~ cauchy(0, 1)", "E(x)"),
]


@pytest.mark.parametrize(("model", "quantity"), NONE)
def test_what_has_no_mean_has_no_exact_value(model: str, quantity: str) -> None:
    found = exactly_judged(model, f"{quantity} == 3")
    assert (found.verdict, found.exact) == (OPEN, None)


@pytest.mark.parametrize(("model", "quantity", "value"), VALUES)
def test_values_are_those_of_closed_forms(model: str, quantity: str, value: float) -> None:
    found = exactly_judged(model, f"{quantity} == {value!r}")
    assert (found.verdict, found.draws) == (VERIFIED, 0)
    assert (found.method, found.guarantee) == (Method.EXACT_VALUE, Guarantee.EXACT)
    assert found.exact is not None
    assert abs(found.exact.value - value) <= found.exact.error + 1e-12 * abs(value)
    assert found.exact.error <= 1e-6 * abs(value)
    assert exactly_judged(model, f"{quantity} == {1.02 * value!r}").verdict is REFUTED


@pytest.mark.parametrize(("model", "quantity", "value"), VALUES[:12])
def test_draws_confirm_what_is_known(model: str, quantity: str, value: float) -> None:
    found = judged(model, f"{quantity} == {value!r}", "resolution: 0.1", draws_only=False)
    assert (found.verdict, found.confirmed) in ((VERIFIED, True), (VERIFIED, False))
    assert found.exact is not None
    assert found.exact.value == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    ("model", "claim", "keys", "verdict"),
    [
        (N, "E(x**2) == 1.005", "", REFUTED),  # off by half of the resolution
        (N, "E(x**2) == 1.02", "", REFUTED),
        (N, "E(x**2) == 1.02", "within: 0.05", REFUTED),
        (N, "E(x**2) == 1.02", "resolution: 0.001", REFUTED),
        (N, "E(x**2) < 1.001", "", VERIFIED),
        (N, "E(x**2) < 0.999", "", REFUTED),  # a strict end is not widened
        (N, "E(x**2) <= 0.999", "", REFUTED),
        (N, "E(x**2) <= 0.9", "", REFUTED),
        (N, "1 > E(x**2) > 0.5", "", OPEN),  # at an end that is left out, as far as digits go
        (N, "0.5 <= E(x**2) <= 1.5", "", VERIFIED),
        (N, "E(x) <= E(x**2) <= E(x**4)", "", VERIFIED),
        (N, "E(x) <= E(x**4) <= E(x**2)", "", REFUTED),
        (N, "E(x**2) == 1 + E(x)", "tolerance: 0.1", VERIFIED),
        (N, "1.3 * E(x**2) == 1 + E(x)", "tolerance: 0.1", REFUTED),
        (N, "P(x > 0) == 0.5", "", VERIFIED),
        (N, "1 - 2 * P(x > 0) == 0.1", "", REFUTED),
        ("x ~ normal(0, 1)", "P(x > 4) == 0", "", REFUTED),  # 3.2e-5
        ("x ~ normal(0, 1)", "P(x > 3) == 1", "", REFUTED),
    ],
)
def test_a_known_value_is_held_against_the_claim(
    model: str, claim: str, keys: str, verdict: Verdict
) -> None:
    found = exactly_judged(model, claim, keys)
    assert (found.verdict, found.draws) == (verdict, 0)


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("x ~ normal(0, 1)[2]", "E(max(x) - min(x)) == 1.128"),
        ("x, w ~ normal(0, 1)", "E(exp(x * w / 4)) == 1.03"),
        ("x ~ normal(0, 1)", "1 / E(x) == 1"),  # undefined
    ],
)
def test_what_is_not_known_is_left_undecided(model: str, claim: str) -> None:
    found = exactly_judged(model, claim)
    assert (found.verdict, found.draws) == (OPEN, 0)
    assert found.reason is Reason.NOT_KNOWN_EXACTLY


def test_arithmetic_stays_arithmetic() -> None:
    assert exactly_judged("", "2 + 2 == 4").guarantee is Guarantee.ARITHMETIC


@pytest.mark.parametrize(
    ("model", "claim", "value"),
    [
        (N, "P(x > 1, given=x > 0) == 1", 0.31731050786291415),
        ("x, w ~ normal(0, 1)", "P(x > 1, given=w > 0) == 1", 0.15865525393145707),
        ("b ~ bernoulli(0.3)", "P(b) == 1", 0.3),
    ],
)
def test_conditional_probabilities(model: str, claim: str, value: float) -> None:
    (case,) = registry_of(entry("c", model, claim.replace("== 1", "== 0.5"))).expand()
    strategy = prepare(case).strategy
    assert isinstance(strategy, Proportion)
    found = exact_probability(strategy.event, strategy.condition)
    assert found is not None
    assert abs(found.value - value) <= found.error + 1e-12
