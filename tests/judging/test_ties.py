"""Comparisons that rounding decides are left undecided, and no others.

False alarms: at the default settings 1e-6 of a verdict; with the fixed seed every run is the same.
"""

from __future__ import annotations

import pytest
from trials import entry, judged, registry_of

from dropcheck.reasons import Reason
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

HALF = "m ~ bernoulli(0.5)[10]"


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        (HALF, "P(mean(m) - 0.5 >= 0.2) == 176 / 1024"),  # true on paper, where 0.7 - 0.5 is 0.2
        (HALF, "P(mean(m) - 0.5 < 0.2) == 848 / 1024"),  # 0.7 - 0.5 counts as below, on paper not
        ("x ~ binomial(10, 0.3)", "P(abs(x / 10 - 0.3) <= 0.1) == 0.7004"),
        ("x ~ binomial(10, 0.3)", "E(where(x / 10 - 0.3 <= 0.1, 1, 0)) == 0.85"),
        ("x ~ binomial(10, 0.3)", "Var(x * (x / 10 == 0.1 * 3)) == 2"),
        # in a condition, in part of an event, in what is certain, in quantiles and laws
        (HALF, "P(sum(m) == 7, given=mean(m) - 0.5 >= 0.2) == 0"),
        (HALF, "P(mean(m) - 0.5 >= 0.2 or sum(m) < 7) == 1"),
        (HALF, "P(mean(m) - 0.5 >= 0.2 and sum(m) == 7) == 0"),
        ("m ~ bernoulli(0.7)[10]", "Median(10 * (mean(m) - 0.5 >= 0.2)) == 10"),
        (f"{HALF}; y = mean(m) - 0.5 >= 0.2", "y ~ bernoulli(0.0546875)"),
    ],
)
def test_what_rounding_decides_is_undecided(model: str, claim: str) -> None:
    found = judged(model, claim)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason is Reason.TIED
    assert found.exact is None


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        (HALF, "P(sum(m) >= 7) == 176 / 1024"),
        (HALF, "P(mean(m) - 0.5 >= 0.2 or isclose(mean(m) - 0.5, 0.2)) == 176 / 1024"),
        (HALF, "P(mean(m) >= 0.65) == 176 / 1024"),
        (HALF, "E(0 * (mean(m) - 0.5 > 0.2) + sum(m)) == 5"),
        (HALF, "P(mean(m) - 0.5 > 0.2) == 56 / 1024"),  # neither 0.7 - 0.5 nor 0.2 is above 0.2
        (HALF, "P(mean(m) - 0.5 >= 0.2) <= 0.2"),  # 56 or 176 of 1024
        ("u ~ uniform(0, 1)", "P(u - 0.5 >= 0.2) == 0.3"),
    ],
)
def test_where_ties_make_no_difference_the_claim_is_decided(model: str, claim: str) -> None:
    assert judged(model, claim).verdict is Verdict.VERIFIED


def test_what_is_false_either_way_is_refuted() -> None:
    assert judged(HALF, "P(mean(m) - 0.5 >= 0.2) > 0.3").verdict is Verdict.REFUTED


@pytest.mark.parametrize("threads", [2, 3])
def test_ties_count_in_other_processes_too(threads: int) -> None:
    claims = {f"c{i}": "P(mean(m) - 0.5 >= 0.2) == 176 / 1024" for i in range(12)}
    registry = registry_of(*(entry(one, HALF, claim) for one, claim in claims.items()))
    found = verify_cases(registry.expand(), Settings(threads=threads), registry)
    assert {one.reason for one in found} == {Reason.TIED}
