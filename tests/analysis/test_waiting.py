"""Waiting times that are infinite with a chance of at most 1e-15 are read given that they end."""

from __future__ import annotations

import pytest
from trials import entry, registry_of

from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings


def result(model: str, claim: str) -> CaseResult:
    registry = registry_of(entry("c", model, claim))
    (found,) = verify_cases(registry.expand(), Settings(), registry)
    return found


@pytest.mark.parametrize(
    ("model", "claim", "verdict"),
    [
        ("c ~ bernoulli(0.5)[200]; t = first(c) + 1", "E(t) == 2", Verdict.VERIFIED),
        ("c ~ bernoulli(0.5)[200]; t = first(c) + 1", "E(t) == 3", Verdict.REFUTED),
        ("d ~ discrete_uniform(1, 6)[400]; t = first(d == 6)", "E(t) == 5", Verdict.VERIFIED),
        ("d ~ discrete_uniform(1, 6)[400]; t = first(d == 6)", "Var(t) == 20", Verdict.REFUTED),
    ],
)
def test_a_waiting_time_that_surely_ends_has_a_mean(
    model: str, claim: str, verdict: Verdict
) -> None:
    found = result(model, claim)
    assert found.verdict is verdict
    assert any("read given that first(…) is finite" in text for text in found.warnings)


@pytest.mark.parametrize(
    "model",
    [
        "c ~ bernoulli(0.5)[20]; t = first(c) + 1",  # 1e-6 is no small chance
        "c ~ bernoulli(0.5)[40]; t = first(c) + 1",  # nor is 1e-12
        "z ~ normal(0, 1)[60]; t = first(cumsum(z) > 5) + 1",  # its chance is not known
    ],
)
def test_one_that_may_not_end_is_undecided(model: str) -> None:
    found = result(model, "E(t) == 2")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.warnings == ()
