"""The audit measures error rates, and raises the alarm where the procedure is broken.

Every alarm in it has a chance of at most 1e-6 of being false (`table.FALSE_ALARM`), and the seeds
are fixed. Beside each positive test stands one with the procedure broken on purpose.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from audits import ALPHA, audited, cases, subject_of
from scipy import special

from dropcheck.analysis.averaged_products import ExactMoments
from dropcheck.audit import measurement
from dropcheck.audit.audited_claims import Subject, built_in
from dropcheck.audit.error_rates import AuditRow, Truth, VerdictCounts
from dropcheck.audit.measurement import AuditPlan, carry_out, ready, repeat, run_once
from dropcheck.claims.reader import read_text
from dropcheck.inference import budget, catoni, interval, spread
from dropcheck.judging import knowledge, limit_theorem, prepared
from dropcheck.results import Guarantee, Verdict
from dropcheck.settings import Settings
from dropcheck.simulation import program
from dropcheck.simulation.compile import Compiled

# ---- the procedure keeps its promise, and the audit sees where it would not ----------------------


@pytest.mark.parametrize(
    "name",
    [
        "dropout-variance-half",
        "dropout-variance-0-9",
        "lognormal-mean-1",
        "exponential-mean",
        "ratio-of-means",
        "correlation-high",
        "pooled-variance",
        "shared-draws",
        "large-mean-variance",
        "bernoulli-probability-1e-3",
    ],
)
def test_no_alarm_where_the_procedure_is_whole(name: str) -> None:
    # these take millions of draws a run
    times = 40 if name in ("bernoulli-probability-1e-3", "correlation-high") else 60
    found = audited(built_in("laws", [name]), times)
    assert found.alarms == 0
    assert all(row.counts.runs == times for row in found.rows)
    decided = sum(row.counts.verified + row.counts.refuted for row in found.rows)
    assert decided > 0.9 * found.runs  # it is no feat to be right by saying nothing


def test_a_true_claim_is_verified_and_a_false_one_refuted() -> None:
    rows = audited(built_in("laws", ["normal-mean"]), 100).rows
    assert [row.truth for row in rows] == [Truth.TRUE, Truth.FALSE, Truth.FALSE]
    assert rows[0].counts.verified > 80
    assert all(row.counts.refuted > 80 for row in rows[1:])


def by_the_limit_theorem(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge as where the model says nothing of the moments."""
    whole = knowledge.knowledge_of

    def nothing(*arguments: Any, **options: Any) -> Any:
        known = whole(*arguments, **options)
        return dataclasses.replace(known, exact=None, guarantee=Guarantee.ASYMPTOTIC)

    monkeypatch.setattr(prepared, "knowledge_of", nothing)


def one_look(monkeypatch: pytest.MonkeyPatch, draws: int) -> None:
    """Judge once, after so many draws, with the whole error spent there."""

    def once(planned: int, fewest: int, most: int, alpha: float) -> Iterator[budget.Look]:
        del planned, fewest, most
        yield budget.Look(draws, alpha)

    monkeypatch.setattr(budget, "looks", once)


def few_blocks(monkeypatch: pytest.MonkeyPatch) -> Subject:
    """A mean of normals judged once, after 4 blocks, with the whole error spent there."""
    by_the_limit_theorem(monkeypatch)
    one_look(monkeypatch, 4 * 64)
    monkeypatch.setattr(measurement, "SPAN_BLOCKS", 4)
    monkeypatch.setattr(program, "BLOCKS_OF_SPAN", 4)
    monkeypatch.setattr(program, "SHORTEST_SPAN", 1)
    monkeypatch.setattr(interval, "FEWEST_BLOCKS", 4)
    monkeypatch.setattr(limit_theorem, "FEWEST_BLOCKS", 4)
    return accepted(subject_of("x ~ normal(1, 1)", "E(x) == 1", block=64))


def accepted(subject: Subject) -> Subject:
    """The same with the limit theorem accepted for its verdicts."""
    return dataclasses.replace(subject, require="asymptotic")


def test_student_at_few_blocks_keeps_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert audited((few_blocks(monkeypatch),), 2000).alarms == 0


def test_alarm_for_the_normal_quantile_at_few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = few_blocks(monkeypatch)

    share = (1 - interval.SECOND_ORDER_SHARE) / 2
    monkeypatch.setattr(
        interval, "student_quantile", lambda alpha, _: -float(special.ndtri(share * alpha))
    )
    found = audited((subject,), 2000)
    assert found.alarms == 1
    assert found.rows[0].at_least > ALPHA


def unhurried() -> Subject:
    """A true claim, looked at so sharply that it stays open: every look may refute it."""
    (case,) = cases(
        "title: T\n    resolution: 1e-6\n    model: x ~ normal(1, 1)\n    claim: E(x) == 1"
    )
    return accepted(Subject(case, Truth.TRUE, "", 32))


def many_looks(share: Callable[[float, int], float]) -> Callable[..., Iterator[budget.Look]]:
    """Looks after every 2,048 draws, each with a share of the error."""

    def looks(planned: int, fewest: int, most: int, alpha: float) -> Iterator[budget.Look]:
        del planned, fewest
        count = most // 2048
        for place in range(1, count + 1):
            yield budget.Look(2048 * place, share(alpha, count))

    return looks


def test_corrected_looks_keep_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    by_the_limit_theorem(monkeypatch)
    monkeypatch.setattr(budget, "looks", many_looks(lambda alpha, count: alpha / count))
    assert audited((unhurried(),), 300, max_draws=16 * 2048).alarms == 0


def test_alarm_for_looks_that_are_not_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    by_the_limit_theorem(monkeypatch)
    monkeypatch.setattr(budget, "looks", many_looks(lambda alpha, _: alpha))
    found = audited((unhurried(),), 300, max_draws=16 * 2048)
    assert found.alarms == 1


def test_alarm_without_the_second_order_term(monkeypatch: pytest.MonkeyPatch) -> None:
    by_the_limit_theorem(monkeypatch)
    true = accepted(built_in("laws", ["squared-means"])[0])
    whole = audited((true,), 60).rows[0]
    assert whole.counts.refuted == 0
    monkeypatch.setattr(interval, "_second_order", lambda *_: 0.0)
    assert audited((true,), 60).alarms == 1


# ---- what rests on moments, and the mistakes that would undo it ----------------------------------


def resting_on_moments(model: str, claim: str) -> Subject:
    """A true claim that is judged by moments, and refuted or open."""
    lines = model.replace("; ", "\n      ")
    (case,) = cases(f"title: T\n    within: 0.01\n    model: |\n      {lines}\n    claim: {claim}")
    subject = Subject(case, Truth.TRUE, "", 32)
    known = ready(subject).knowledge
    assert known is not None
    assert known.guarantee is Guarantee.MOMENTS
    return subject


NORMAL = "x ~ normal(1, 1)"
SHARED = "x ~ normal(1, 1); z ~ normal(0, 0.1); y = x + z"
CROSSED = "q, k ~ normal(1, 1)[4]"


def half_the_variance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound of the variance that is too small by half."""

    def half(values: Any, variance: float, tuning: float, alpha: float) -> tuple[float, float]:
        return catoni.catoni_interval(values, variance / 2, tuning / 2, alpha)

    monkeypatch.setattr(spread, "catoni_interval", half)


def small_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    """An influence that flattens too early: Catoni's inequality does not hold for it."""
    monkeypatch.setattr(catoni, "_constant", lambda _: 0.1)


def blocks_for_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of a block taken for the mean of four times as many draws."""
    exact = knowledge.ExactAverages.spread

    def larger(self: Any, weights: Any, program: Any) -> Any:
        own = exact(self, weights, program)
        variance = own.exact
        assert variance is not None
        return dataclasses.replace(own, exact=lambda draws: variance(4 * draws))

    monkeypatch.setattr(knowledge.ExactAverages, "spread", larger)


def no_covariances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Averages of the same draws taken for independent."""
    whole = ExactMoments.covariance

    def diagonal(self: ExactMoments, draws: int) -> Any:
        return np.diag(whole(self, draws).diagonal())

    monkeypatch.setattr(ExactMoments, "covariance", diagonal)


def pairs_for_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Combinations of crossed draws, each used many times, taken for independent."""
    whole = ExactMoments.covariance

    def independent(self: ExactMoments, draws: int) -> Any:
        return whole(self, 1) / draws**2

    monkeypatch.setattr(ExactMoments, "covariance", independent)


MISTAKES = {
    "small-constant": (small_constant, NORMAL, "E(x) == 1"),
    "blocks-for-draws": (blocks_for_draws, NORMAL, "E(x) == 1"),
    "no-covariances": (no_covariances, SHARED, "E(x) + E(y) + E(y + z) + E(x - z) == 4"),
    "pairs-for-draws": (pairs_for_draws, CROSSED, "E(q @ k) == 4"),
}


@pytest.mark.parametrize(("mistake", "model", "claim"), MISTAKES.values(), ids=MISTAKES)
def test_moments_keep_the_promise_and_a_mistake_in_them_raises_the_alarm(
    mistake: Callable[[pytest.MonkeyPatch], None],
    model: str,
    claim: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    subject = resting_on_moments(model, claim)
    one_look(monkeypatch, 8192)
    assert audited((subject,), 200).alarms == 0
    mistake(monkeypatch)
    assert audited((subject,), 200).alarms == 1


def test_alarm_for_a_bound_of_the_variance_that_is_too_small_by_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # at an error rate of 0.05 Catoni's interval has as much to spare
    subject = resting_on_moments(NORMAL, "E(x) == 1")
    one_look(monkeypatch, 64 * 32)
    plan = AuditPlan((subject,), (0.001,), 5000)
    half_the_variance(monkeypatch)
    assert carry_out(plan, 1, "test", lambda _: None).alarms == 1


def test_alarm_for_a_claim_that_is_taken_for_true_and_is_false() -> None:
    lie = subject_of("x ~ normal(1.2, 1)", "E(x) == 1")
    assert audited((lie,), 30).alarms == 1


# ---- what is counted -----------------------------------------------------------------------------


def test_wrong_is_refuted_where_true_and_verified_where_false() -> None:
    counts = VerdictCounts(verified=7, refuted=2, inconclusive=1, draws=100)
    row = AuditRow("c", {}, "E(x) == 1", Truth.TRUE, "", ALPHA, counts)
    assert (row.wrong, row.rate, row.undecided, row.draws) == (2, 0.2, 0.1, 10)
    assert dataclasses.replace(row, truth=Truth.FALSE).wrong == 7
    assert dataclasses.replace(row, truth=Truth.UNDEFINED).wrong == 9  # neither is right


def test_bounds_are_the_exact_binomial_ones() -> None:
    from scipy import stats

    row = AuditRow(
        "c", {}, "", Truth.TRUE, "", ALPHA, VerdictCounts(verified=970, refuted=30), 1e-3
    )
    assert stats.binom.cdf(30, 1000, row.at_most) == pytest.approx(0.01)
    assert stats.binom.sf(29, 1000, row.at_least) == pytest.approx(1e-3)


def test_a_kept_promise_raises_no_alarm_and_a_broken_one_does() -> None:
    kept = AuditRow(
        "c", {}, "", Truth.TRUE, "", ALPHA, VerdictCounts(verified=18_900, refuted=1_100)
    )
    assert kept.rate > ALPHA  # chance allows as much
    assert not kept.alarm
    broken = dataclasses.replace(kept, counts=VerdictCounts(verified=18_800, refuted=1_200))
    assert broken.alarm


def test_one_verified_claim_about_no_moment_is_an_alarm() -> None:
    counts = VerdictCounts(verified=1, inconclusive=99)
    assert AuditRow("c", {}, "", Truth.UNDEFINED, "", 0.0, counts).alarm
    assert not AuditRow(
        "c", {}, "", Truth.UNDEFINED, "", 0.0, VerdictCounts(inconclusive=100)
    ).alarm


def test_verdicts_are_data() -> None:
    assert Truth.TRUE.wrong == (Verdict.REFUTED,)
    assert Truth.FALSE.wrong == (Verdict.VERIFIED,)
    assert Truth.UNDEFINED.wrong == (Verdict.VERIFIED, Verdict.REFUTED)


# ---- what is repeated ----------------------------------------------------------------------------


def test_a_trial_is_what_run_does() -> None:
    from dropcheck.running import verify_cases

    text = "title: T\n    model: x ~ exponential(1)\n    resolution: 0.05\n    claim: Var(x) == 1"
    registry = read_text(f"dropcheck: 1\nclaims:\n  one:\n    {text}\n")
    (case,) = registry.expand()
    settings = Settings(alpha=0.01, seed=5, threads=1)
    (ran,) = verify_cases([case], settings, registry)
    result = run_once(ready(Subject(case, Truth.TRUE, "")), settings, 0.01)
    same = ("estimate", "interval", "draws", "blocks", "verdict", "confidence", "scale")
    assert all(getattr(ran, name) == getattr(result, name) for name in same)


def test_repetitions_have_streams_of_their_own() -> None:
    subject = subject_of("x ~ normal(1, 1)", "E(x) == 1")
    prepared = ready(subject)
    estimates = {run_once(prepared, Settings(seed=seed), ALPHA).estimate for seed in range(20)}
    assert len(estimates) == 20


def test_counts_do_not_depend_on_the_processes() -> None:
    plan = AuditPlan(built_in("laws", ["normal-mean"]), (0.05, 0.01), 4)
    counted = []
    for processes in (1, 2):
        found = sorted(
            (task.subject, task.alpha, dataclasses.replace(counts, seconds=0.0))
            for task, counts in repeat(plan, processes)
        )
        counted.append(found)
    assert counted[0] == counted[1]
    assert sum(counts.runs for _, _, counts in counted[0]) == 3 * 2 * 4


def test_another_seed_repeats_with_other_draws() -> None:
    plan = AuditPlan(built_in("laws", ["lognormal-mean-1"])[:1], (ALPHA,), 50)
    draws = [
        sum(counts.draws for _, counts in repeat(dataclasses.replace(plan, seed=seed), 1))
        for seed in (0, 1)
    ]
    assert draws[0] != draws[1]


def test_tasks_cover_every_repetition_once() -> None:
    plan = AuditPlan(built_in("laws", ["normal-mean"]), (0.05,), 2 * measurement.CHUNK + 1)
    seen = [
        (task.subject, repetition)
        for task in plan.tasks()
        for repetition in range(task.first, task.first + task.count)
    ]
    assert len(seen) == len(set(seen)) == 3 * (2 * measurement.CHUNK + 1)


def test_spans_are_cut_to_what_pays_for_a_stream() -> None:
    for name in ("normal-mean", "dropout-variance-0-99"):
        subject = built_in("laws", [name])[0]
        means = ready(dataclasses.replace(subject, block=None)).compiled
        assert isinstance(means, Compiled)
        cut = means.program.in_blocks_of(32, measurement.SPAN_BLOCKS * 32)
        assert cut.block_draws == 32
        assert cut.span_draws == program.SHORTEST_SPAN < means.program.span_draws


def test_an_interruption_keeps_what_was_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "CHUNK", 5)
    done = []

    def interrupt(claim: str) -> None:
        done.append(claim)
        if len(done) == 2:
            raise KeyboardInterrupt

    plan = AuditPlan(built_in("laws", ["normal-mean"]), (ALPHA,), 20)
    found = carry_out(plan, 1, "test", interrupt)
    assert found.interrupted
    assert found.runs == 10
