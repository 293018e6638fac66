"""A run as a whole: the same every time, whoever works; limits; an end before its time."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from leftovers import no_workers_left, workers
from trials import N, entry, judged, registry_of, tried

from dropcheck.errors import DropcheckError, Location
from dropcheck.results import CaseResult, Outcome
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
    entry("median", N, "Median(x) == 0.05"),
]  # fmt: skip
SETTINGS = Settings(threads=1, max_draws=400_000, alpha=1e-4, draws_only=True)


def told(results: list[CaseResult]) -> list[str]:
    """Everything of results but the time they took and the line they stand in."""
    return [
        repr(replace(result, seconds=0.0, more_seconds=None, location=Location("")))
        for result in results
    ]


# ---- the same every time -------------------------------------------------------------------------


def test_neither_threads_nor_processes_nor_other_cases_change_a_bit_of_a_result() -> None:
    registry = registry_of(*MIXED)
    results = tried(registry, SETTINGS)
    whole = told(results)
    assert [one.claim for one in results] == [case.claim.id for case in registry.expand()]
    assert told(tried(registry, replace(SETTINGS, threads=4))) == whole
    two = replace(SETTINGS, threads=2)
    assert told([*verify_cases(registry.expand(), two, registry, processes=True)]) == whole
    alone = [told([*verify_cases([case], SETTINGS, registry)])[0] for case in registry.expand()]
    assert alone == whole
    # the budget is divided over more claims, so that α is set to give each the same share
    more = registry_of(entry("new", N, "E(x) <= 1"), *MIXED)
    share = replace(SETTINGS, alpha=SETTINGS.alpha * more.case_count / registry.case_count)
    assert told(tried(more, share))[1:] == whole
    assert {one.confidence for one in results} == {1 - SETTINGS.alpha / registry.case_count}
    for first, second in zip(results, tried(registry, replace(SETTINGS, seed=1)), strict=True):
        assert (first.estimate != second.estimate) is (first.claim not in ("certain", "fixed"))


# ---- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 63, 1000, 65_537])
@pytest.mark.parametrize("claim", ["E(x**3) < 0", "P(x > 0) < 0.5", "P(x < 99) == 1"])
def test_no_more_draws_than_allowed(claim: str, most: int) -> None:
    found = judged(N, claim, most=most)
    assert 0.95 * most < found.draws <= most


@pytest.mark.parametrize(
    ("claim", "keys", "few", "outcome"),
    [
        ("E(x**2) == 1", "", 1000, Outcome.PASS),
        # the estimate lies much nearer to the claim, by its error, than the quantity does
        ("E(x**2) == 1.004", "within: 0.0005", 100_000, Outcome.FAIL),
    ],
)
def test_what_is_open_says_how_many_draws_decide_it(
    claim: str, keys: str, few: int, outcome: Outcome
) -> None:
    found = judged(N, claim, keys, most=few)
    assert found.result is Outcome.UNDECIDED
    assert found.more_draws is not None
    enough = judged(N, claim, keys, most=few + 2 * found.more_draws)
    assert enough.result is outcome
    assert found.more_draws < 40 * enough.draws


@pytest.mark.parametrize(("quantity", "known"), [("1 / u", False), ("u**-0.25", True)])
def test_what_more_draws_would_do_is_told_where_their_shape_is_known(
    quantity: str, known: bool
) -> None:
    model = f"u ~ uniform(0, 1); y = {quantity} + 0 * u"
    found = judged(model, "E(y) == 4 / 3", "within: 0.001", most=100_000, asymptotic=True)
    assert (found.result, found.more_draws is not None) == (Outcome.UNDECIDED, known)


def test_a_condition_that_is_never_met_is_given_up_unless_a_limit_says_to_go_on() -> None:
    claim = "P(x > 0, given=x > 50) == 0.5"
    assert judged(N, claim).draws < 10_000_000
    assert judged(N, claim, most=12_000_000).draws >= 11_000_000


@pytest.mark.usefixtures("draws_alone")
def test_a_time_limit_ends_a_run() -> None:
    registry = registry_of(entry("slow", "u ~ normal(0, 1)", "E(u) < 0", "resolution: 1e-9"))
    started = time.perf_counter()
    (found,) = tried(registry, Settings(threads=1, time_limit=0.1))
    assert time.perf_counter() - started < 5
    assert found.result is Outcome.UNDECIDED
    assert found.draws > 0


# ---- ended early ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("draws_alone")
@pytest.mark.parametrize("threads", [2, 6])  # twelve cases: on processes, and on threads
def test_closing_early_leaves_nothing_behind(threads: int) -> None:
    registry = registry_of(*(entry(f"claim-{n}", N, "E(x**2) == 1") for n in range(12)))
    running: Any = verify_cases(
        registry.expand(), Settings(threads=threads), registry, processes=True
    )
    next(running)
    assert workers()
    running.close()
    assert no_workers_left()


def test_an_interruption_yields_what_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    from dropcheck.judging.judge import run_case

    def interrupted(prepared: Any, *rest: Any) -> Any:
        if prepared.case.claim.id == "claim-5":
            raise KeyboardInterrupt
        return run_case(prepared, *rest)

    monkeypatch.setattr("dropcheck.running.run_case", interrupted)
    registry = registry_of(*(entry(f"claim-{n}", N, "E(x**2) == 1") for n in range(12)))
    found: list[str] = []
    running = verify_cases(registry.expand(), Settings(threads=1), registry)
    with pytest.raises(KeyboardInterrupt):
        found.extend(one.claim for one in running)
    # what was under way beside it is lost, what came before is not
    assert 3 <= len(found) <= 5
    assert found == [f"claim-{n}" for n in range(len(found))]
    assert no_workers_left()


def test_an_interruption_whose_exception_was_lost_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry = registry_of(*(entry(f"claim-{n}", N, "E(x**2) == 1") for n in range(12)))
    running = verify_cases(registry.expand(), Settings(threads=1), registry)
    assert next(running).claim == "claim-0"
    monkeypatch.setattr("dropcheck.interrupt.heard", lambda: True)
    with pytest.raises(KeyboardInterrupt):
        assert len([*running]) < 11


@pytest.mark.parametrize("claim", ["E(log(y)) == 1", "P(log(y) > 0) == 1", "P(log(y) > 0) == 0.9"])
def test_an_error_in_one_case_stops_no_other(claim: str) -> None:
    registry = registry_of(
        entry("first", N, "E(x) <= 1"),
        entry("wrong", N + "; y = -1 - abs(x)", claim),
        entry("last", N, "E(x) <= 1"),
    )
    running = verify_cases(registry.expand(), Settings(threads=1), registry)
    assert [next(running).claim, next(running).claim] == ["first", "last"]
    with pytest.raises(DropcheckError, match=r"wrong.* NaN or infinite on every draw"):
        next(running)
