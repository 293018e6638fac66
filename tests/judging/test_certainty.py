"""What holds on every draw or on none, what rounding does to it, and what is undefined.

Verdicts are of the default seeds, at α = 1e-6 or as stated: they are the same every time.
"""

from __future__ import annotations

import re

import pytest
from trials import OPEN, REFUTED, VERIFIED, N, entry, judged, registry_of

from dropcheck.errors import DropcheckError
from dropcheck.results import Guarantee, Method
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

# ---- certainty -----------------------------------------------------------------------------------


def test_one_counterexample_refutes_certainty() -> None:
    found = judged("u, v ~ uniform(0, 1)", "P(u > 0.00004 * v) == 1")
    assert found.verdict is REFUTED
    assert re.fullmatch(r"\d+ counterexamples? in [\d,]+ draws", str(found.explanation))


def test_an_exception_whose_chance_the_model_says_refutes_certainty_however_rare() -> None:
    found = judged("u ~ uniform(0, 1)", "P(u > 0.00002) == 1", draws_only=False)
    assert (found.verdict, found.method) == (REFUTED, Method.EXACT_VALUE)
    assert found.exact is not None
    assert found.exact.value == pytest.approx(0.99998, abs=1e-9)


def test_certainty_is_verified_once_violations_are_rarer_than_one_in_ten_thousand() -> None:
    found = judged(N, "P(x < 100) == 1", alpha=0.01)
    assert found.interval is not None
    assert found.interval[0] is not None
    assert found.interval[0] > 1 - 1.2e-4
    assert found.draws >= 46_000
    assert judged(N, "P(x < 100) == 1", alpha=0.01, most=40_000).verdict is OPEN


def test_a_sharper_within_asks_for_more_of_certainty() -> None:
    plain = judged(N, "P(x < 100) == 1", alpha=0.01)
    sharp = judged(N, "P(x < 100) == 1", "within: 0.00001", alpha=0.01)
    blunt = judged(N, "P(x < 100) == 1", "within: 0.1", alpha=0.01)
    assert sharp.draws >= 460_000
    assert blunt.draws == plain.draws


def test_a_counterexample_is_a_draw_in_which_some_element_fails_where_its_condition_holds() -> None:
    found = judged("x ~ normal(0, 1)[3]", "P(x > 1, given=x > 0) == 1")
    words = re.fullmatch(r"([\d,]+) counterexamples in [\d,]+ draws", str(found.explanation))
    assert words is not None
    seen = int(words[1].replace(",", ""))
    # Φ(1) − Φ(0) = 0.3413 for each element; 8 standard errors
    chance = 1 - (1 - 0.341345) ** 3
    assert abs(seen / found.draws - chance) < 8 * (chance * (1 - chance) / found.draws) ** 0.5
    assert judged("x ~ normal(0, 1)[3]", "P(x > -1, given=x > 0) == 1").verdict is VERIFIED


DROPPED = "x ~ normal(0, 1)[3]; m ~ bernoulli(0.9)[3]; y = m * x / 0.9"


def test_every_element_is_one_of_a_set() -> None:
    found = judged(DROPPED, "y in {0, x / 0.9}")
    assert (found.verdict, found.guarantee) == (VERIFIED, Guarantee.EXACT)
    assert (found.expression, found.estimate, found.claimed) == ("P(y in {0, x / 0.9})", 1, 1)
    missed = judged(DROPPED, "y in {0, x}")
    assert (missed.verdict, missed.method) == (REFUTED, Method.CERTAINTY)


def test_a_set_that_lacks_a_rare_value_is_refuted() -> None:
    lacking = judged("k ~ binomial(3, 0.01)", "k in {0, 1, 2}", "within: 1e-7")
    assert lacking.verdict is REFUTED
    two = "k ~ binomial(3, 0.03); j ~ bernoulli(0.5); z = k + 4 * j"
    assert judged(two, "z in {0, 1, 2, 4, 5, 6, 7}").verdict is REFUTED
    assert judged(two, "z in {0, 1, 2, 3, 4, 5, 6, 7}").verdict is VERIFIED


def test_what_rounding_moves_is_still_of_the_set() -> None:
    sums = "k ~ discrete_uniform(0, 9); z = 0.1 * k + 0.2 - 0.3"
    listed = "{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}"
    found = judged(sums, f"z + 0.1 in {listed}")
    assert (found.verdict, found.warnings) == (VERIFIED, ())
    assert judged("x ~ normal(0, 1)", "x * 3 / 3 in {x}").verdict is VERIFIED
    assert judged("x ~ uniform(1, 2)", "x * (1 + 1e-8) in {x}").verdict is REFUTED


def test_of_a_set_an_event_is_counted() -> None:
    assert judged("k ~ poisson(2)", "P(k in {0, 1}) == 3 * exp(-2)").verdict is VERIFIED
    assert judged("k ~ poisson(2)", "P(k not in {0, 1}) == 3 * exp(-2)").verdict is REFUTED


def test_a_counterexample_of_any_element_counts() -> None:
    assert judged("x ~ normal(0, 1)[100]", "P(x < 4.5) == 1").verdict is REFUTED
    assert judged("x ~ normal(0, 1)[100]", "P(x < 40) == 1").verdict is VERIFIED
    assert judged("x ~ normal(0, 1)[100]", "P(x > 4.5) == 0").verdict is REFUTED


def test_under_a_condition_only_what_meets_it_is_counted() -> None:
    found = judged(N, "P(x > 1.9, given=x > 2) == 1", alpha=0.01)
    assert found.verdict is VERIFIED
    assert found.draws >= 46_000 / 0.02275
    assert judged(N, "P(x > 2.1, given=x > 2) == 1", alpha=0.01).verdict is REFUTED


@pytest.mark.parametrize("claim", ["E(x, {}) == 9", "P(x > 2, {}) == 1", "P(x > 2, {}) < 0.5"])
def test_a_condition_that_is_never_met_is_undecided(claim: str) -> None:
    found = judged(N + "; w ~ normal(0, 1)", claim.format("given=max([x, w]) > 9"), most=100_000)
    assert found.verdict is OPEN
    assert str(found.explanation).startswith("the condition was never true in")


def test_a_rare_condition_on_one_draw_is_decided_by_an_exact_value_once_it_is_met() -> None:
    assert judged(N, "E(x, given=x > 4) == 4.2256", draws_only=False).verdict is VERIFIED
    assert judged(N, "E(x, given=x > 4) == 4.1", draws_only=False).verdict is REFUTED
    found = judged(N, "E(x, given=x > 9) == 9.1085", most=100_000, draws_only=False)  # true
    assert str(found.explanation).startswith("the condition was never true in")


# ---- rounding ------------------------------------------------------------------------------------


TIES = "u ~ uniform(0, 1); y = where(u < 0.5, 0.1 + 0.2, 0.3)"


def test_rounding_is_no_counterexample() -> None:
    assert judged(TIES, "P(y == 0.3) == 1").verdict is OPEN


@pytest.mark.parametrize("claim", ["P(y == 3) == 1", "P(y <= 3) == 1", "P(y != 3) == 0"])
def test_an_infinity_ties_with_nothing(claim: str) -> None:
    found = judged("x ~ bernoulli(0.5); y = inf if x == 1 else 3", claim)
    assert (found.verdict, found.warnings) == (REFUTED, ())


def test_a_tie_that_decides_leaves_the_claim_undecided() -> None:
    found = judged(TIES, "P(y == 0.3) == 0.5")  # so it is in float64, and 1 on paper
    assert found.verdict is OPEN
    assert found.explanation is not None
    assert "isclose" in found.explanation.reading


def test_where_nothing_ties_nothing_is_told() -> None:
    assert judged(N, "P(x**2 == x * x) == 1").warnings == ()
    assert judged(N, "P(x > 1) == 0.158655").warnings == ()


# ---- what is undefined ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "claim",
    [
        "E(log(x)) == 1",
        "P(log(x) > 0) == 1",
        "P(log(x) > 0) == 0.9",
        "P(x > 4, given=log(x) > 0) == 1",
        "P(x > 4, given=log(x) > 0) == 0.1",
    ],
)
def test_some_undefined_draws_are_counted_and_the_first_is_named(claim: str) -> None:
    found = judged("x ~ normal(3, 1)", claim)
    assert found.verdict is OPEN
    assert str(found.explanation).startswith("undefined: ")
    assert "the first of them draw " in str(found.explanation)


@pytest.mark.parametrize(
    ("claim", "tolerance", "claimed"),
    [
        ("E(log(x)) == 2", None, 2.0),
        ("E(log(x)) <= 2", None, 2.0),
        ("1 <= E(log(x)) <= 2", None, (1.0, 2.0)),
        ("E(log(x)) == E(x)", None, 0.0),
        ("E(log(x)) == E(x)", 0.1, None),  # a share, which is no value that the claim names
        ("E(x) <= E(log(x)) <= E(x**2)", None, None),
    ],
)
def test_what_is_claimed_is_told_of_an_undefined_quantity_too(
    claim: str, tolerance: float | None, claimed: object
) -> None:
    found = judged(
        "x ~ normal(0, 1)", claim, "" if tolerance is None else f"tolerance: {tolerance}"
    )
    assert found.verdict is OPEN
    assert found.estimate is None
    assert found.claimed == claimed


def test_the_share_of_undefined_draws_is_told_in_per_cent() -> None:
    reason = judged("x ~ normal(0, 1)", "E(log(x)) == 2").explanation
    assert reason is not None
    share = re.search(r" draws \((\d+)%\) are NaN", str(reason))
    assert share is not None
    assert abs(int(share[1]) - 50) <= 5  # six standard errors of the share among 4,096 draws


def test_the_first_undefined_draw_is_one_of_those_that_were_drawn() -> None:
    details = judged("x ~ normal(0, 1)", "E(log(x)) == 2").explanation
    assert details is not None
    assert int(details.details["first"]) <= 100 < int(details.details["draws"])


@pytest.mark.parametrize("claim", ["E(log(y)) == 1", "P(log(y) > 0) == 1", "P(log(y) > 0) == 0.9"])
def test_undefined_on_every_draw_is_an_error(claim: str) -> None:
    with pytest.raises(DropcheckError, match="NaN or infinite on every draw"):
        judged("x ~ normal(0, 1); y = -1 - abs(x)", claim)


def test_an_error_in_one_case_stops_no_other() -> None:
    registry = registry_of(
        entry("first", N, "E(x) <= 1"),
        entry("wrong", N + "; y = log(-1 - abs(x))", "E(y) == 0"),
        entry("last", N, "E(x) <= 1"),
    )
    running = verify_cases(registry.expand(), Settings(threads=1), registry)
    assert [next(running).claim, next(running).claim] == ["first", "last"]
    with pytest.raises(DropcheckError, match="wrong"):
        next(running)


# ---- conditions that are never met ---------------------------------------------------------------


def test_a_condition_that_is_never_met_is_given_up_unless_a_limit_says_to_go_on() -> None:
    model = "x ~ normal(0, 1)"
    for claim in ("P(x > 0, given=x > 50) == 1", "P(x > 0, given=x > 50) == 0.5"):
        assert judged(model, claim).draws < 10_000_000
        assert judged(model, claim, most=20_000_000).draws >= 19_000_000


@pytest.mark.parametrize("most", [30_000, None])
def test_a_certainty_that_rounding_makes_is_open_however_few_draws_are_made(
    most: int | None,
) -> None:
    for claim in ("P(1 + 1e-20 * n == 1) == 1", "P(Phi(50 + n) >= 1) == 1"):
        found = judged("n ~ poisson(3)", claim, most=most, draws_only=False)
        assert (found.verdict, found.exact) == (OPEN, None)
