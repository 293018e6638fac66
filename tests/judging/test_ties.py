"""What rounding decides is left undecided, and nothing else.

False alarms: at the default settings 1e-6 of a verdict; with the fixed seed every run is the same.
"""

from __future__ import annotations

import pytest
from scipy.stats import poisson
from trials import entry, judged, registry_of

from dropcheck.judging.case import prepare
from dropcheck.judging.exact import of_proportion
from dropcheck.reasons import Reason
from dropcheck.results import Method, Verdict
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
        ("x ~ binomial(10, 0.3)", "Var(x * (x / 10 == 0.1 * 3)) == 1.7606"),
        # in a condition, in part of an event, in what is certain, in quantiles and laws
        (HALF, "P(sum(m) == 7, given=mean(m) - 0.5 >= 0.2) == 0"),
        (HALF, "P(mean(m) - 0.5 >= 0.2 and sum(m) == 7) == 0"),
        ("m ~ bernoulli(0.7)[10]", "Median(10 * (mean(m) - 0.5 >= 0.2)) == 10"),
        (f"{HALF}; y = mean(m) - 0.5 >= 0.2", "y ~ bernoulli(0.0546875)"),
    ],
)
def test_what_rounding_decides_is_undecided(model: str, claim: str) -> None:
    found = judged(model, claim)
    assert found.verdict is Verdict.UNDECIDED
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
        # infinity has no rounding
        ("m ~ rademacher(); x = m * [inf, 1e4]", "P(all(isclose(x, m * [inf, 1e4]))) == 1"),
    ],
)
def test_where_ties_make_no_difference_the_claim_is_decided(model: str, claim: str) -> None:
    assert judged(model, claim).verdict is Verdict.VERIFIED


def test_what_is_false_either_way_is_refuted() -> None:
    assert judged(HALF, "P(mean(m) - 0.5 >= 0.2) > 0.3").verdict is Verdict.REFUTED


K = "k ~ discrete_uniform(0, 10)"


@pytest.mark.parametrize(
    "claim",
    [
        "P(floor((k / 10 + 0.2) * 10) == 3) == 1 / 11",
        "E(ceil((1.1 * k - k) * 10)) == 5",
        "P(round((k / 10 + 0.2) * 5) == 2) == 3 / 11",
        "P(sign(1.1 * k - k - 0.1 * k) > 0) == 0",
        "E((0.1 * k) % 0.1) == 0",
        "E(k / 10 // 0.1) == 5",
        "P(argmax([0.1 * k, k / 10]) == 0) == 1",
        "P(argmin([1.1 * k - k, k / 10]) == 0) == 1",
        "E(argsort([1.1 * k - k, k / 10])[0]) == 0",
        "E(norm([1.1 * k - k - k / 10, 0], ord=0)) == 0",
        "P(where(1.1 * k - k - k / 10, 1, 0) == 1) == 0",
        "P(isclose(0.1 * k, 0.3, rtol=0, atol=0.2)) == 5 / 11",
        "P(sum([k, -0.7, 0.1]) >= 2.4) == 8 / 11",
        "P(([[0.1, 0.2]] @ [k, 1])[0] == (k + 2) / 10) == 1",
        "E(k) == 5 + (floor(0.3 / 0.1) - 3)",
    ],
)
def test_what_is_true_on_paper_is_not_refuted_where_a_function_jumps(claim: str) -> None:
    found = judged(K, claim)
    assert found.verdict is Verdict.VERIFIED or found.reason is Reason.TIED


@pytest.mark.parametrize(
    "claim",
    [
        "P(floor((k / 10 + 0.2) * 10) == 3) == 2 / 11",  # as float64 has it
        "E(k / 10 // 0.1) <= 4.5",
        "P(floor(1.1 * k - k) == 0) == 1",
        "P(argmax([0.1 * k, k / 10]) == 0) <= 0.8",
    ],
)
def test_what_is_false_on_paper_is_not_verified_where_a_function_jumps(claim: str) -> None:
    assert judged(K, claim).verdict is not Verdict.VERIFIED


@pytest.mark.parametrize(
    "claim",
    [
        "P(floor(k / 2) == 2) == 2 / 11",
        "E(k // 3) == 15 / 11",
        "P(k % 4 == 1) == 3 / 11",
        "P(argmax([k, 10 - k, 5]) == 0) == 6 / 11",
        "E(sign(k / 4 - 1.25)) == 0",
        "E(floor(k / 10 + 0.25)) == 3 / 11",
        "E(k / 10 // 0.1) >= 3",  # 5, and 4.6 as float64 has it
    ],
)
def test_what_float64_holds_exactly_or_makes_no_difference_is_decided(claim: str) -> None:
    assert judged(K, claim).verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    "claim",
    [
        "P(sum(x) - x[0] == x[1] + x[2]) == 1",
        "P(var(x) == mean(x**2) - mean(x)**2) == 1",
        "P(det([[x[0], x[1]], [x[1], x[2]]]) == x[0] * x[2] - x[1]**2) == 1",
    ],
)
def test_a_certainty_is_not_refuted_by_what_cancels(claim: str) -> None:
    found = judged("x ~ normal(0, 1)[3]", claim)
    assert found.verdict is Verdict.VERIFIED
    assert any("rounding alone" in one for one in found.warnings)


def test_a_certainty_that_rounding_does_not_explain_is_refuted() -> None:
    claim = "P(sum(x) - x[0] <= x[1] + x[2] + 1e-15 * x[1]) == 1"
    assert judged("x ~ normal(0, 1)[3]", claim.replace("1e-15", "1e-9")).verdict is Verdict.REFUTED


def test_ties_that_are_rarer_than_a_pilot_shows_count() -> None:
    # P(k >= 7) is 8.3e-5, and in float64 0.7 - 0.5 is below 0.2
    found = judged("k ~ poisson(1)", "P(k / 10 - 0.5 >= 0.2) <= 5e-5")
    assert found.verdict is not Verdict.VERIFIED


U = "u ~ uniform(0, 1); y = where(u < 1e-5, 0.3, 0.2); k = where(u < 1e-5, 3, 2)"


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        # of one draw, of all outcomes of several, and of what is rare among continuous values
        ("k ~ poisson(0.5)", "P(k / 10 - 0.3 <= 0.6 or k > 9) == 1"),
        ("k ~ binomial(12, 0.02)", "P(k / 100 - 2.8 <= -2.74 or k > 6) == 1"),
        ("k ~ negative_binomial(2, 0.9)", "P(k / 10 // 0.1 == 6 and k != 6) == 0"),
        (
            "k ~ binomial(4, 0.01); j ~ bernoulli(0.01)",
            "P(floor((k + j) / 10 / 0.1) == k + j) == 1",
        ),
        (U, "P(floor(y / 0.1) == k) == 1"),
    ],
)
def test_a_certainty_is_not_refuted_by_a_tie_however_rare(model: str, claim: str) -> None:
    assert judged(model, claim).verdict is Verdict.VERIFIED


def test_ties_of_one_draw_are_seen_however_rare() -> None:
    found = judged("b ~ bernoulli(1e-5)", "P(0.7 * b - 0.5 >= 0.2) <= 5e-6")  # never, in float64
    assert found.reason is Reason.TIED


@pytest.mark.parametrize("threads", [2, 3])
def test_ties_count_in_other_processes_too(threads: int) -> None:
    claims = {f"c{i}": "P(mean(m) - 0.5 >= 0.2) == 176 / 1024" for i in range(12)}
    registry = registry_of(*(entry(one, HALF, claim) for one, claim in claims.items()))
    found = verify_cases(registry.expand(), Settings(threads=threads), registry)
    assert {one.reason for one in found} == {Reason.TIED}


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        # 9 is allowed on paper alone, where 10 and more have a tenth of its chance
        ("k ~ poisson(1)", "P(k / 10 - 0.3 <= 0.6) == 1"),
        ("k ~ binomial(12, 0.1); j ~ bernoulli(0.5)", "P((k + j) / 10 - 0.3 <= 0.6) == 1"),
    ],
)
def test_a_tie_hides_no_exception_that_is_one_either_way(model: str, claim: str) -> None:
    found = judged(model, claim, draws_only=False)
    assert (found.verdict, found.method) == (Verdict.REFUTED, Method.EXACT_VALUE)


def test_what_rounding_decides_is_part_of_the_error_of_an_exact_value() -> None:
    for model, claim, low, high in (
        ("k ~ poisson(1)", "P(k / 10 - 0.3 <= 0.6) == 0.5", poisson.cdf(8, 1), poisson.cdf(9, 1)),
        (HALF, "P(mean(m) - 0.5 >= 0.2) == 0.1", 56 / 1024, 176 / 1024),
    ):
        (case,) = registry_of(entry("claim", model, claim)).expand()
        exact = of_proportion(prepare(case).strategy)
        assert exact is not None
        assert abs(exact.value - low) <= exact.error
        assert abs(exact.value - high) <= exact.error
        assert exact.error < 0.6 * (high - low)
