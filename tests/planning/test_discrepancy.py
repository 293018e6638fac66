"""The smallest discrepancy that a plan says a budget can see.

All seeds are fixed, so that on one machine nothing here fails by chance. The probabilities: at 1.5
times the planned figure a case stays unrefuted with a chance below 1e-9, and at a tenth of it one
is refuted with a chance below 1e-6; there are 160 such runs.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from plan_cases import planned, registry_of, tried

from dropcheck.results import Verdict

pytestmark = pytest.mark.usefixtures("draws_alone")

BUDGET = 30_000
KINDS = {
    "a mean": ("x ~ normal({}, 1)", "E(x) == 1", 1.0),
    "a bounded mean": ("x ~ uniform({} - 0.5, {} + 0.5)", "E(x) == 1", 1.0),
    "a variance": ("x ~ normal(5, sqrt({}))", "Var(x) == 1", 1.0),
    "a probability": ("x ~ bernoulli({})", "P(x == 1) == 0.3", 0.3),
    "a half-line": ("x ~ normal({}, 1)", "E(x) <= 1", 1.0),
    "a range": ("x ~ normal({}, 1)", "0.5 <= E(x) <= 1", 1.0),
}


def share_refuted(kind: str, off: float) -> float:
    """How often a claim false by so much is refuted within the budget, over ten seeds."""
    model, claim, true = KINDS[kind]
    registry = registry_of(
        one=f"{model.replace('{}', str(true + off))}; {claim}; resolution: 0.0001"
    )
    verdicts = [tried(registry, max_draws=BUDGET, seed=seed)[0].verdict for seed in range(10)]
    return sum(verdict is Verdict.REFUTED for verdict in verdicts) / len(verdicts)


@pytest.mark.parametrize("kind", KINDS)
def test_the_budget_sees_the_discrepancy_of_the_plan_and_little_less(kind: str) -> None:
    model, claim, true = KINDS[kind]
    registry = registry_of(one=f"{model.replace('{}', str(true))}; {claim}; resolution: 0.0001")
    (case,) = planned(registry, max_draws=BUDGET).cases
    assert case.discrepancy is not None
    assert case.relative == pytest.approx(case.discrepancy / true)
    assert share_refuted(kind, 1.5 * case.discrepancy) == 1
    assert share_refuted(kind, 0.8 * case.discrepancy) >= 0.5  # it is no exaggeration
    assert share_refuted(kind, 0.1 * case.discrepancy) == 0


def test_a_violation_as_rare_as_planned_is_seen_and_a_tenth_of_it_seldom() -> None:
    def claim(rate: float) -> str:  # of two draws, so that the model does not settle it
        return f"u, v ~ uniform(0, 1); P(maximum(u, v) > {math.sqrt(rate)!r}) == 1"

    registry = registry_of(one=claim(1e-9))
    (case,) = planned(registry, max_draws=10_000).cases
    assert case.discrepancy is not None
    assert case.discrepancy == pytest.approx(-math.expm1(math.log(1e-6) / 10_000), rel=0.1)

    def seen(rate: float) -> int:
        found = registry_of(one=claim(rate))
        results = [tried(found, max_draws=10_000, seed=seed)[0] for seed in range(20)]
        return sum(result.verdict is Verdict.REFUTED for result in results)

    assert seen(case.discrepancy) == 20
    assert seen(case.discrepancy / 20) < 20


def test_more_draws_see_more_down_to_the_resolution() -> None:
    registry = registry_of(one="x ~ normal(1, 1); E(x) == 1", strict="x ~ normal(1, 1); E(x) > 0")
    found = [
        [case.discrepancy or math.inf for case in planned(registry, max_draws=10**power).cases]
        for power in range(3, 9)
    ]
    equal, strict = np.array(found).T
    assert (np.diff(equal) <= 0).all()
    assert equal[0] > 0.01
    assert equal[-1] == pytest.approx(0.01)  # less is verified, however many draws there are
    assert strict[-1] < 0.002  # a strict inequality has no resolution
    assert strict[-1] / strict[-2] == pytest.approx(10**-0.5, rel=0.05)
