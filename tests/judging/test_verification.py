"""The program as a whole, from a claims file's text to results.

Verdicts here are of the default seeds at α = 1e-6 or as stated: they are the same every time, and
were any of them a matter of luck, a new seed would change it less often than α says.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from leftovers import no_workers_left, workers
from trials import OPEN, REFUTED, VERIFIED, N, entry, judged, registry_of, tried, verdicts

from dropcheck.claims.registry import Registry
from dropcheck.errors import Location
from dropcheck.judging import plan_draws
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, Guarantee, Outcome, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

MIXED = [
    entry("square", N, "E(x**2) == 1"),
    entry("share", N, "P(x > 1) == 0.158655"),
    entry("certain", N, "P(x**2 >= 0) == 1"),
    entry("product", "q ~ normal(0, 1)[dk]; k ~ normal(0, 1)[dk]", "Var(q @ k) == dk",
          "parameters: {dk: [4, 16]}"),
    entry("bounded", "u ~ uniform(0, 1)", "E(u) == 0.5"),
    entry("false", N, "E(x**4) == 2"),
    entry("open", "u ~ bernoulli(0.5)", "P(u) < 0.5"),
    entry("fixed", "", "2 + 2 == 4"),
]  # fmt: skip
SETTINGS = Settings(threads=1, max_draws=400_000)


def told(results: list[CaseResult]) -> list[str]:
    """Everything of results but the time they took and the line they stand in."""
    return [
        repr(replace(result, seconds=0.0, more_seconds=None, location=Location("")))
        for result in results
    ]


# ---- the same every time -------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_change_no_bit_of_a_result(threads: int) -> None:
    registry = registry_of(*MIXED)
    one = told(tried(registry, SETTINGS))
    assert told(tried(registry, replace(SETTINGS, threads=threads))) == one


def test_a_claim_alone_gives_the_numbers_of_a_full_run() -> None:
    registry = registry_of(*MIXED)
    full = told(tried(registry, SETTINGS))
    alone = [told(list(verify_cases([case], SETTINGS, registry)))[0] for case in registry.expand()]
    assert alone == full


@pytest.mark.usefixtures("draws_alone")
def test_a_claim_more_moves_no_other_claims_draws() -> None:
    fewer, more = registry_of(*MIXED[:3]), registry_of(entry("new", N, "E(x) <= 1"), *MIXED[:3])
    # the budget is divided over more claims, so that α is set to give each the same share
    before = told(tried(fewer, replace(SETTINGS, alpha=3e-6)))
    after = told(tried(more, replace(SETTINGS, alpha=4e-6)))
    assert after[1:] == before


@pytest.mark.usefixtures("draws_alone")
def test_another_seed_moves_every_estimate() -> None:
    registry = registry_of(*MIXED)
    zero, one = tried(registry, SETTINGS), tried(registry, replace(SETTINGS, seed=1))
    for first, second in zip(zero, one, strict=True):
        moved = first.estimate != second.estimate
        assert moved is (first.claim not in ("certain", "fixed"))


def test_the_share_of_a_case_is_that_of_the_registry() -> None:
    (first, *_) = tried(registry_of(*MIXED[:3]), SETTINGS)
    assert first.confidence == 1 - 1e-6 / 3


def test_results_come_in_the_order_of_the_cases() -> None:
    registry = registry_of(*MIXED)
    cases = registry.expand()
    results = tried(registry, replace(SETTINGS, threads=4))
    assert [result.claim for result in results] == [case.claim.id for case in cases]


# ---- every kind of statement ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "claim", "verdict", "guarantee"),
    [
        ("", "2 + 2 == 4", VERIFIED, Guarantee.ARITHMETIC),
        ("c = 3.7", "Var(c) == 0", VERIFIED, Guarantee.ARITHMETIC),
        ("c = 3.7 * ones(5)", "Cov(c, c) == 0", VERIFIED, Guarantee.ARITHMETIC),
        ("", "2 + 2 == 4.01", REFUTED, Guarantee.ARITHMETIC),  # no resolution excuses arithmetic
        ("", "0.1 + 0.2 == 0.3", VERIFIED, Guarantee.ARITHMETIC),
        ("", "1 < 1", REFUTED, Guarantee.ARITHMETIC),
        ("c = 3", "Var(c) == 0", VERIFIED, Guarantee.ARITHMETIC),
        ("c = 3", "E(c) == 3", VERIFIED, Guarantee.ARITHMETIC),
        ("c = 3", "Corr(c, c) == 1", OPEN, Guarantee.ARITHMETIC),
        (N, "P(x**2 >= 0) == 1", VERIFIED, Guarantee.EXACT),
        (N, "P(x > 4) == 0", REFUTED, Guarantee.EXACT),  # one in 31,574
        (N, "P(x > 1) == 0.158655", VERIFIED, Guarantee.EXACT),
        (N, "P(x > 1) == 0.165", REFUTED, Guarantee.EXACT),
        (N, "P(x > 1, given=x > 0) == 0.317311", VERIFIED, Guarantee.EXACT),
        (N, "P(x > 0, given=x > 1) == 1", VERIFIED, Guarantee.EXACT),
        ("u ~ uniform(0, 1)", "E(u) == 0.5", VERIFIED, Guarantee.FINITE_SAMPLE),
        ("u ~ uniform(0, 1)", "E(u) == 0.51", REFUTED, Guarantee.FINITE_SAMPLE),
        (N, "E(x**2) == 1", VERIFIED, Guarantee.MOMENTS),
        (N, "1 == E(x**2)", VERIFIED, Guarantee.MOMENTS),
        (N, "E(x**2) == 1.03", REFUTED, Guarantee.MOMENTS),
        (N, "0.5 > E(x**2)", REFUTED, Guarantee.MOMENTS),
        (N, "0.5 <= E(x**2)", VERIFIED, Guarantee.MOMENTS),
        (N, "E(x**2) >= 0.5", VERIFIED, Guarantee.MOMENTS),
        (N, "0.9 <= E(x**2) <= 1.1", VERIFIED, Guarantee.MOMENTS),
        (N, "1.1 >= E(x**2) > 0.9", VERIFIED, Guarantee.MOMENTS),
        (N, "1.1 <= E(x**2) <= 1.2", REFUTED, Guarantee.MOMENTS),
        (N, "E(x) < E(x**2) <= E(x**4)", VERIFIED, Guarantee.MOMENTS),
        (N, "E(x) < E(x**4) <= E(x**2)", REFUTED, Guarantee.MOMENTS),
        (N, "E(x**4) == 3 * E(x**2)", VERIFIED, Guarantee.MOMENTS),
        (N, "Var(x, given=x > 0) == 1 - 2 / pi", VERIFIED, Guarantee.MOMENTS),
        (N, "E(cos(x)**2 + sin(x)**2) == 1", VERIFIED, Guarantee.FINITE_SAMPLE),
        (N, "E(cos(x)**2 + sin(x)**2) == 1.02", REFUTED, Guarantee.FINITE_SAMPLE),
        # of an exponential of a product whose factors share a draw no moment is known
        (
            N + "; w ~ normal(0, 1)",
            "E(exp(x * (x + w) / 8)) == 1.16692",
            OPEN,
            Guarantee.ASYMPTOTIC,
        ),
    ],
)
def test_verdict_and_what_it_rests_on(
    model: str, claim: str, verdict: Verdict, guarantee: Guarantee
) -> None:
    found = judged(model, claim)
    assert found.verdict is verdict
    assert found.guarantee is guarantee
    assert (
        found.result
        is {
            VERIFIED: Outcome.PASS,
            REFUTED: Outcome.FAIL,
            OPEN: Outcome.UNDECIDED,
        }[verdict]
    )


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [("E(x) == 1", Outcome.PASS), ("E(x) == 0", Outcome.FAIL), ("E(x) < 0", Outcome.UNDECIDED)],
)
def test_a_claim_that_is_kept_as_false_passes_by_being_refuted(
    claim: str, outcome: Outcome
) -> None:
    assert judged(N, claim, "expect: refuted", most=1_000_000).result is outcome


@pytest.mark.parametrize(
    ("claim", "model"),
    [
        ("P(u) < 0.5", "u ~ bernoulli(0.5)"),
        ("P(u) > 0.5", "u ~ bernoulli(0.5)"),
        ("E(x) > 0", N),
        ("Var(x) < 1", N),
        ("0 < E(x) < 1", N),
    ],
)
def test_strictness_at_the_boundary_cannot_be_decided(claim: str, model: str) -> None:
    assert set(verdicts(model, claim, range(3), 0.01, most=100_000)) == {OPEN}
    lenient = claim.replace("<", "<=").replace(">", ">=")
    assert set(verdicts(model, lenient, range(3), 0.01, most=2_000_000)) == {VERIFIED}


@pytest.mark.parametrize(
    ("factor", "tolerance", "verdict"),
    [
        (1.015, 0.01, REFUTED),
        (0.985, 0.01, REFUTED),
        (1.015, 0.02, VERIFIED),
        (0.985, 0.02, VERIFIED),
    ],
)
@pytest.mark.parametrize("side", ["1", "E(x)", "-1", "-E(x)"])
def test_tolerance_is_a_share_of_the_right_side(
    factor: float, tolerance: float, verdict: Verdict, side: str
) -> None:
    sign = "-" if side.startswith("-") else ""
    model = f"x ~ normal(1, 0.5); z ~ normal(0, 0.5); y = {sign}({factor} * x + z)"
    found = judged(model, f"E(y) == {side}", f"tolerance: {tolerance}", most=3_000_000)
    assert found.verdict is verdict


@pytest.mark.parametrize(
    ("off", "verdict"), [(0.06, REFUTED), (-0.06, REFUTED), (0.04, VERIFIED), (-0.04, VERIFIED)]
)
@pytest.mark.parametrize(
    ("claim", "model"),
    [
        ("E(y) == 0", "y ~ normal({off}, 0.5)"),
        ("7 == E(y + 7)", "y ~ normal({off}, 0.5)"),
        ("E(y) == E(x)", "x, z ~ normal(0, 0.5); y = x + z + {off}"),
        ("E(x) == E(y)", "x ~ normal(0, 0.5); y ~ normal({off}, 0.5)"),
        ("E(x)**2 == E(y)", "x ~ normal(0, 0.5); y ~ normal({off}, 0.5)"),
        ("P(y < 0.5) == 0.5", "y ~ uniform(-{off}, 1 - {off})"),
        ("{off} == 0", "y ~ normal(0, 1)"),
    ],
)
def test_an_absolute_tolerance_is_a_number_of_its_own(
    claim: str, model: str, off: float, verdict: Verdict
) -> None:
    claim, model = (text.format(off=off) for text in (claim, model))
    found = judged(model, claim, "tolerance: {absolute: 0.05}", most=3_000_000)
    assert found.verdict is verdict


@pytest.mark.parametrize(
    ("claim", "tolerance", "verdict"),
    [
        ("P(sin(x) * y < 2) == 1", "0.05", VERIFIED),
        ("P(sin(x) * y < 2) == 1", "0.001", REFUTED),
        ("P(sin(x) * y > 2) == 0", "{absolute: 0.05}", VERIFIED),
        ("P(sin(x) * y > 2) == 0", "{absolute: 0.001}", REFUTED),
    ],
)
def test_what_may_be_off_is_no_certainty(claim: str, tolerance: str, verdict: Verdict) -> None:
    # the event is seen in 0.55% of all draws: one counterexample must not refute
    found = judged("x, y ~ normal(0, 1)", claim, f"tolerance: {tolerance}", most=1_000_000)
    assert found.verdict is verdict


@pytest.mark.parametrize("ends", ["0.99 * E(x) <= E(y) <= 1.01 * E(x)", "0.99 <= E(y) <= 1.01"])
def test_a_range_is_not_verified_beyond_a_tenth_of_its_half_width(ends: str) -> None:
    # off by 0.0108: within the resolution of 0.01 about the range, but beyond 0.01 + 0.001
    model = "x ~ normal(1, 0.1); z ~ normal(0, 0.1); y = 1.012 * x + z"
    assert judged(model, ends, most=2_000_000).verdict is REFUTED
    lenient = ends.replace("1.01", "1.02")
    assert judged(model, lenient, most=2_000_000).verdict is VERIFIED


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("2 * P(m == 1) - 0.6 == 0", VERIFIED),
        ("1 - P(m == 1) / 3 == 0.9", VERIFIED),
        ("3 - 2 * P(m == 1) <= 2.3", REFUTED),
        ("0.1 <= P(m == 1) - 0.1 <= 0.3", VERIFIED),
        ("1.4 == (1 - P(m == 1)) * 2", VERIFIED),
        ("0.7 == 2 * P(x > 0, given=m == 1) - 0.3", VERIFIED),
        ("0.75 == 2 * P(x > 0, given=m == 1) - 0.3", REFUTED),
    ],
)
def test_what_arithmetic_makes_of_a_probability_is_counted_too(
    claim: str, verdict: Verdict
) -> None:
    found = judged("m ~ bernoulli(0.3); x ~ normal(0, 1)", claim)
    assert found.verdict is verdict
    assert found.guarantee is Guarantee.EXACT


# ---- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 63, 1000, 20_000, 65_537])
@pytest.mark.parametrize("claim", ["E(x**3) < 0", "P(x > 0) < 0.5", "P(x < 99) == 1"])
def test_no_more_draws_than_allowed(claim: str, most: int) -> None:
    found = judged(N, claim, most=most)
    assert 0 < found.draws <= most
    assert found.draws > 0.95 * most or found.verdict is VERIFIED


def test_a_thousand_draws_leave_a_claim_undecided_and_say_what_it_takes() -> None:
    found = judged(N, "E(x**2) == 1", most=1000)
    assert found.result is Outcome.UNDECIDED
    assert found.more_draws is not None
    assert 30_000 < found.more_draws < 3_000_000
    enough = judged(N, "E(x**2) == 1", most=1000 + 2 * found.more_draws)
    assert enough.result is Outcome.PASS


def test_where_the_model_knows_the_quantity_that_says_what_more_draws_would_do() -> None:
    """The estimate lies much nearer to the claim, by its error, than the quantity does."""
    model, claim = N, "E(x**2) == 1.004"
    found = judged(model, claim, "within: 0.0005", most=100_000)
    assert found.more_draws is not None
    enough = judged(model, claim, "within: 0.0005", most=100_000 + 2 * found.more_draws)
    assert enough.result is Outcome.FAIL
    assert found.more_draws < 4 * enough.draws


@pytest.mark.parametrize(
    ("quantity", "known"),
    [("1 / u", False), ("u**-0.25", True)],  # one without a mean; one with three moments
)
def test_what_more_draws_would_do_is_told_where_their_shape_is_known(
    quantity: str, known: bool
) -> None:
    model = "u ~ uniform(0, 1); y = " + quantity + " + 0 * u"
    for seed in range(5):
        found = judged(
            model, "E(y) == 4 / 3", "within: 0.001", most=100_000, seed=seed, asymptotic=True
        )
        assert found.result is Outcome.UNDECIDED
        assert (found.more_draws is not None) is known


def test_a_case_whose_verdict_would_not_count_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_draws, "UNCOUNTED", 2**16)
    model, claim = "x, y, z ~ normal(1, 1)", "E(x / (y * z + 1)) == 1"  # which has no mean
    found = judged(model, claim, most=2**19)
    assert found.result is Outcome.UNDECIDED
    assert found.reason is Reason.NO_BOUND
    assert found.draws <= 2**17
    accepted = judged(model, claim, most=2**19, asymptotic=True)
    assert accepted.reason is not Reason.NO_BOUND
    assert accepted.draws > 2**18


@pytest.mark.usefixtures("draws_alone")
@pytest.mark.parametrize(
    "claim", ["Std(x) / E(x) == 1", "1 / E(x) > 5", "log(E(x)) < 5", "Corr(x, y) / Cov(x, y) == 1"]
)
def test_what_the_model_knows_to_have_no_value_is_not_drawn_to_the_end(claim: str) -> None:
    found = judged("x, y ~ normal(0, 1)", claim, most=2**22)
    assert found.reason is Reason.UNDEFINED_AT_AVERAGES
    assert found.draws <= 2**13


@pytest.mark.usefixtures("draws_alone")
def test_a_time_limit_ends_a_run() -> None:
    registry = registry_of(entry("slow", "u ~ normal(0, 1)", "E(u) < 0", "resolution: 1e-9"))
    started = time.perf_counter()
    (found,) = tried(registry, Settings(threads=1, time_limit=0.1))
    assert time.perf_counter() - started < 5
    assert found.result is Outcome.UNDECIDED
    assert found.draws > 0


# ---- ended early ---------------------------------------------------------------------------------


def many() -> Registry:
    return registry_of(*(entry(f"claim-{n}", N, "E(x**2) == 1") for n in range(12)))


@pytest.mark.usefixtures("draws_alone")
@pytest.mark.parametrize("threads", [2, 6])  # twelve cases: on processes, and on threads
def test_closing_early_leaves_nothing_behind(threads: int) -> None:
    registry = many()
    cases, settings = registry.expand(), Settings(threads=threads)
    running: Any = verify_cases(cases, settings, registry, processes=True)
    next(running)
    assert workers()
    running.close()
    assert no_workers_left()


def test_an_interruption_yields_what_is_finished_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dropcheck.judging.judge import run_case

    def interrupted(prepared: Any, *rest: Any) -> Any:
        if prepared.case.claim.id == "claim-5":
            raise KeyboardInterrupt
        return run_case(prepared, *rest)

    monkeypatch.setattr("dropcheck.running.run_case", interrupted)
    registry = many()
    found: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        found.extend(
            result.claim
            for result in verify_cases(registry.expand(), Settings(threads=1), registry)
        )
    # what was under way beside it is lost, what came before is not
    assert 3 <= len(found) <= 5
    assert found == sorted(set(found))
    assert set(found) <= {f"claim-{n}" for n in range(5)}
    assert no_workers_left()
