"""The audit measures error rates, and raises the alarm where the procedure is broken.

Every alarm in it has a chance of at most 1e-6 of being false (`table.FALSE_ALARM`), and the seeds
are fixed. Beside each positive test stands one with the procedure broken on purpose.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import special

from dropcheck.audit import repeat as repeating
from dropcheck.audit.laws import Subject, built_in, own, twins, why_no_twin
from dropcheck.audit.repeat import Plan, cut, ready, repeat, trial
from dropcheck.audit.run import carry_out, own_subjects
from dropcheck.audit.table import Audit, Counts, Row, Truth
from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Case
from dropcheck.cli import main
from dropcheck.errors import DropcheckError
from dropcheck.inference import budget, interval
from dropcheck.inference.comparison import read_statement
from dropcheck.inference.region import Region, widening
from dropcheck.judging import block_means
from dropcheck.report.audit import audit_json, audit_report
from dropcheck.report.terminal import Terminal
from dropcheck.results import Settings, Verdict
from dropcheck.simulation.compile import Compiled

ALPHA = 0.05


def quiet(_: str) -> None:
    """No progress."""


def audited(subjects: tuple[Subject, ...], repetitions: int, **how: Any) -> Audit:
    return carry_out(Plan(subjects, (ALPHA,), repetitions, **how), 1, "test", quiet)


def subject_of(model: str, claim: str, truth: Truth = Truth.TRUE, block: int = 32) -> Subject:
    (case,) = cases(f"title: T\n    model: |\n      {model}\n    claim: {claim}")
    return Subject(case, truth, "", block)


def cases(body: str) -> tuple[Case, ...]:
    return read_text(f"dropcheck: 1\nclaims:\n  one:\n    {body}\n").expand()


# ---- the procedure keeps its promise, and the audit sees where it would not ------------------


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
    found = audited(built_in("laws", [name]), 150)
    assert found.alarms == 0
    assert all(row.counts.runs == 150 for row in found.rows)
    decided = sum(row.counts.verified + row.counts.refuted for row in found.rows)
    assert decided > 0.9 * found.runs  # it is no feat to be right by saying nothing


def test_a_true_claim_is_verified_and_a_false_one_refuted() -> None:
    rows = audited(built_in("laws", ["normal-mean"]), 100).rows
    assert [row.truth for row in rows] == [Truth.TRUE, Truth.FALSE, Truth.FALSE]
    assert rows[0].counts.verified > 80
    assert all(row.counts.refuted > 80 for row in rows[1:])


def few_blocks(monkeypatch: pytest.MonkeyPatch) -> Subject:
    """A mean of normals judged once, after 4 blocks, with the whole error spent there."""

    def once(planned: int, fewest: int, most: int, alpha: float) -> Iterator[budget.Look]:
        del planned, fewest, most
        yield budget.Look(4 * 64, alpha)

    monkeypatch.setattr(repeating, "SPAN_BLOCKS", 4)
    monkeypatch.setattr(interval, "FEWEST_BLOCKS", 4)
    monkeypatch.setattr(block_means, "FEWEST_BLOCKS", 4)
    monkeypatch.setattr(budget, "looks", once)
    return subject_of("x ~ normal(1, 1)", "E(x) == 1", block=64)


def test_student_at_few_blocks_keeps_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert audited((few_blocks(monkeypatch),), 2000).alarms == 0


def test_alarm_for_the_normal_quantile_at_few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = few_blocks(monkeypatch)

    monkeypatch.setattr(interval, "_student", lambda _, tail: -float(special.ndtri(tail)))
    found = audited((subject,), 2000)
    assert found.alarms == 1
    assert found.rows[0].at_least > ALPHA


def unhurried() -> Subject:
    """A true claim, looked at so sharply that it stays open: every look may refute it."""
    (case,) = cases(
        "title: T\n    resolution: 1e-6\n    model: x ~ normal(1, 1)\n    claim: E(x) == 1"
    )
    return Subject(case, Truth.TRUE, "", 32)


def many_looks(share: Callable[[float, int], float]) -> Callable[..., Iterator[budget.Look]]:
    """Looks after every 2,048 draws, each with a share of the error."""

    def looks(planned: int, fewest: int, most: int, alpha: float) -> Iterator[budget.Look]:
        del planned, fewest
        count = most // 2048
        for place in range(1, count + 1):
            yield budget.Look(2048 * place, share(alpha, count))

    return looks


def test_corrected_looks_keep_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "looks", many_looks(lambda alpha, count: alpha / count))
    assert audited((unhurried(),), 300, max_draws=16 * 2048).alarms == 0


def test_alarm_for_looks_that_are_not_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "looks", many_looks(lambda alpha, _: alpha))
    found = audited((unhurried(),), 300, max_draws=16 * 2048)
    assert found.alarms == 1


def test_alarm_without_the_second_order_term(monkeypatch: pytest.MonkeyPatch) -> None:
    true, *_ = built_in("laws", ["squared-means"])
    whole = audited((true,), 60).rows[0]
    assert whole.counts.refuted == 0
    monkeypatch.setattr(interval, "_second_order", lambda *_: 0.0)
    assert audited((true,), 60).alarms == 1


def test_alarm_for_a_claim_that_is_taken_for_true_and_is_false() -> None:
    lie = subject_of("x ~ normal(1.2, 1)", "E(x) == 1")
    assert audited((lie,), 30).alarms == 1


# ---- what is counted ------------------------------------------------------------------------


def test_wrong_is_refuted_where_true_and_verified_where_false() -> None:
    counts = Counts(verified=7, refuted=2, inconclusive=1, draws=100)
    row = Row("c", {}, "E(x) == 1", Truth.TRUE, "", ALPHA, counts)
    assert (row.wrong, row.rate, row.undecided, row.draws) == (2, 0.2, 0.1, 10)
    assert dataclasses.replace(row, truth=Truth.FALSE).wrong == 7
    assert dataclasses.replace(row, truth=Truth.UNDEFINED).wrong == 7


def test_bounds_are_the_exact_binomial_ones() -> None:
    from scipy import stats

    row = Row("c", {}, "", Truth.TRUE, "", ALPHA, Counts(verified=970, refuted=30), 1e-3)
    assert stats.binom.cdf(30, 1000, row.at_most) == pytest.approx(0.01)
    assert stats.binom.sf(29, 1000, row.at_least) == pytest.approx(1e-3)


def test_a_kept_promise_raises_no_alarm_and_a_broken_one_does() -> None:
    kept = Row("c", {}, "", Truth.TRUE, "", ALPHA, Counts(verified=18_900, refuted=1_100))
    assert kept.rate > ALPHA  # chance allows as much
    assert not kept.alarm
    broken = dataclasses.replace(kept, counts=Counts(verified=18_800, refuted=1_200))
    assert broken.alarm


def test_one_verified_claim_about_no_moment_is_an_alarm() -> None:
    counts = Counts(verified=1, inconclusive=99)
    assert Row("c", {}, "", Truth.UNDEFINED, "", 0.0, counts).alarm
    assert not Row("c", {}, "", Truth.UNDEFINED, "", 0.0, Counts(inconclusive=100)).alarm


# ---- what is repeated -----------------------------------------------------------------------


def test_a_trial_is_what_run_does() -> None:
    from dropcheck.verification import verify_cases

    text = "title: T\n    model: x ~ exponential(1)\n    resolution: 0.05\n    claim: Var(x) == 1"
    registry = read_text(f"dropcheck: 1\nclaims:\n  one:\n    {text}\n")
    (case,) = registry.expand()
    settings = Settings(alpha=0.01, seed=5, threads=1)
    (ran,) = verify_cases([case], settings, registry)
    tried = trial(ready(Subject(case, Truth.TRUE, "")), settings, 0.01)
    same = ("estimate", "interval", "draws", "blocks", "verdict", "confidence", "scale")
    assert all(getattr(ran, name) == getattr(tried, name) for name in same)


def test_repetitions_have_streams_of_their_own() -> None:
    subject = subject_of("x ~ normal(1, 1)", "E(x) == 1")
    prepared = ready(subject)
    estimates = {trial(prepared, Settings(seed=seed), ALPHA).estimate for seed in range(20)}
    assert len(estimates) == 20


def test_counts_do_not_depend_on_the_processes() -> None:
    plan = Plan(built_in("laws", ["normal-mean"]), (0.05, 0.01), 4)
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
    plan = Plan(built_in("laws", ["lognormal-mean-1"])[:1], (ALPHA,), 50)
    draws = [
        sum(counts.draws for _, counts in repeat(dataclasses.replace(plan, seed=seed), 1))
        for seed in (0, 1)
    ]
    assert draws[0] != draws[1]


def test_tasks_cover_every_repetition_once() -> None:
    plan = Plan(built_in("laws", ["normal-mean"]), (0.05,), 2 * repeating.CHUNK + 1)
    seen = [
        (task.subject, repetition)
        for task in plan.tasks()
        for repetition in range(task.first, task.first + task.count)
    ]
    assert len(seen) == len(set(seen)) == 3 * (2 * repeating.CHUNK + 1)


def test_cut_spans_keep_the_draws_of_a_rare_event_in_a_block() -> None:
    for name, least in (("normal-mean", 32), ("dropout-variance-0-99", 100)):
        subject = built_in("laws", [name])[0]
        means = ready(dataclasses.replace(subject, block=None)).means
        assert isinstance(means, Compiled)
        program = cut(means.program, 32)
        assert least <= program.block_draws <= 4 * least
        assert program.span_blocks == repeating.SPAN_BLOCKS


def test_an_interruption_keeps_what_was_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeating, "CHUNK", 5)
    done = []

    def interrupt(claim: str) -> None:
        done.append(claim)
        if len(done) == 2:
            raise KeyboardInterrupt

    plan = Plan(built_in("laws", ["normal-mean"]), (ALPHA,), 20)
    found = carry_out(plan, 1, "test", interrupt)
    assert found.interrupted
    assert found.runs == 10


# ---- the built-in sets ----------------------------------------------------------------------


def test_the_built_in_claims_are_off_by_what_they_say() -> None:
    """Each false claim's distance from the truth, in resolutions, is its `off`."""
    subjects = built_in("laws")
    by_claim: dict[str, list[Subject]] = {}
    for subject in subjects:
        by_claim.setdefault(subject.case.claim.id, []).append(subject)
    assert all(group[0].truth is Truth.TRUE for group in by_claim.values())
    assert sum(len(group) > 1 for group in by_claim.values()) > 20
    for name, group in by_claim.items():
        if name in ("certain-event", "shared-draws", "shared-deviations"):
            continue  # not off by a share of a known right side
        if "regions" in group[0].case.claim.tags:
            continue  # off by as much from an edge: the next test
        claimed = [claimed_value(subject) for subject in group]
        claim = group[0].case.claim
        for subject, value in zip(group[1:], claimed[1:], strict=True):
            unit = claim.within if claim.within is not None else claim.resolution * abs(value)
            off = float(subject.case.parameters["off"])
            sign = math.copysign(1, value)
            share = 1.0 if claim.within is not None else sign
            # 1e8 + 0.06 is rounded at 1e-8
            assert (value - claimed[0]) / unit == pytest.approx(share * off, rel=1e-6), name
            assert abs(value - claimed[0]) > unit


EDGES = {
    "mean-at-most": 1.0,
    "dropout-variance-at-least": 9.0,
    "square-at-least-variance": 0.0,
    "mean-in-a-range": 1.0,
    "dropout-deviation-within-a-tolerance": 1.0,
}


def test_the_truth_lies_at_the_edge_of_a_built_in_region_or_beyond_it() -> None:
    regions = [one for one in built_in("laws") if "regions" in one.case.claim.tags]
    assert {subject.case.claim.id for subject in regions} == set(EDGES)
    for subject in regions:
        claim = subject.case.claim
        truth, within = EDGES[claim.id], claim.within or 0.0
        (comparison,) = read_statement(ready(subject).lowered, claim.tolerance).comparisons
        region = comparison.region
        if comparison.against is not None:  # of two estimated sides: the whole difference
            off = float(subject.case.parameters["off"])
            assert region == Region(0.0, math.inf)
            truth -= off * within
        beyond = max(region.low - truth, truth - region.high)
        off = abs(float(subject.case.parameters["off"]))
        assert beyond == pytest.approx(off * within, abs=1e-12), claim.id
        assert widening(region, within) == within, claim.id


def claimed_value(subject: Subject) -> float:
    """The right side of a statement in which it is known."""
    means = ready(subject)
    value = means.lowered.operands[1].constant
    assert value is not None
    return float(np.asarray(value).ravel()[0])


def test_thirty_moments_do_not_exist_and_thirty_do() -> None:
    truths = [subject.truth for subject in built_in("moments")]
    assert truths.count(Truth.UNDEFINED) == 30
    assert truths.count(Truth.TRUE) == 30


def test_an_unknown_claim_of_a_set_is_an_error() -> None:
    with pytest.raises(DropcheckError, match="normal-maen"):
        built_in("laws", ["normal-maen"])


# ---- one's own registry ---------------------------------------------------------------------

OWN = """\
dropcheck: 1
claims:
  mean:
    title: A mean, with a comment
    resolution: 0.1
    model: x ~ normal(2, 1)
    claim: |
      E(x) == 2  # as everybody knows
  kept-false:
    title: A false claim
    expect: refuted
    model: x ~ normal(2, 1)
    claim: E(x) == 1
  zero:
    title: A correlation of nothing
    within: 0.1
    model: |
      a ~ normal(0, 1)
      b ~ normal(0, 1)
    claim: Corr(a, b) == 0
  range:
    title: A range
    model: x ~ normal(2, 1)
    claim: 1 <= E(x) <= 3
"""


def test_own_claims_are_taken_to_be_what_they_are_expected_to_be() -> None:
    truths = [subject.truth for subject in own(read_text(OWN).expand())]
    assert truths == [Truth.TRUE, Truth.FALSE, Truth.TRUE, Truth.TRUE]


def test_twins_are_shifted_and_refuted() -> None:
    subjects, left_out = own_subjects(
        read_text(OWN).expand(), 0.2, None, Settings(max_draws=200_000)
    )
    names = [(s.case.claim.id, s.truth) for s in subjects]
    assert names.count(("mean", Truth.FALSE)) == names.count(("zero", Truth.FALSE)) == 2
    assert [text.split(":")[0] for text in left_out] == [
        "shifted twins of kept-false",
        "shifted twins of range",
    ]
    found = carry_out(Plan(subjects, (ALPHA,), 3, max_draws=200_000), 1, "own", quiet)
    for row in found.rows:
        expected = "verified" if row.truth is Truth.TRUE else "refuted"
        assert getattr(row.counts, expected) >= 2, row


def test_a_twin_looks_as_sharply_as_its_case() -> None:
    (case,) = cases(
        "title: T\n    resolution: 0.1\n    model: x ~ normal(2, 1)\n    claim: E(x) == 2"
    )
    up, down = twins(case, 2.0, 0.5)
    assert up.case.claim.within == down.case.claim.within == pytest.approx(0.2)
    assert claimed_value(up) == pytest.approx(3.0)
    assert claimed_value(down) == pytest.approx(1.0)


def test_a_shift_within_the_resolution_is_an_error() -> None:
    (case,) = cases(
        "title: T\n    resolution: 0.1\n    model: x ~ normal(2, 1)\n    claim: E(x) == 2"
    )
    with pytest.raises(DropcheckError, match="within the resolution"):
        twins(case, 2.0, 0.1)


def test_a_region_has_no_twin() -> None:
    mean, false, zero, region = read_text(OWN).expand()
    assert why_no_twin(mean) is None
    assert why_no_twin(zero) is None
    assert why_no_twin(false) is not None
    assert why_no_twin(region) is not None


# ---- reports and the command line -----------------------------------------------------------


def an_audit(wrong: int) -> Audit:
    counts = Counts(verified=1000 - wrong, refuted=wrong, draws=2_000_000)
    row = Row("normal-mean", {"off": 0.0}, "E(x) == 1", Truth.TRUE, "", ALPHA, counts)
    return Audit("the built-in set 'laws'", (row,), 3, 1.5, 2)


def test_the_report_says_that_the_promise_is_kept() -> None:
    text = audit_report(an_audit(20), Terminal())
    assert text.splitlines()[2].split() == (
        ["normal-mean", "true", "1,000", "20", "0.02", "0.033", "0.05", "0", "2k", "kept"]
    )
    assert "0 above the promise" in text
    assert "ALARM" not in text


def test_the_report_raises_the_alarm() -> None:
    text = audit_report(an_audit(200), Terminal())
    assert "ALARM  normal-mean, true: refuted in 200 of 1,000 runs" in text
    assert "where 0.05 is promised" in text
    assert "1 above the promise" in text


def test_the_report_fits_a_narrow_terminal() -> None:
    text = audit_report(an_audit(200), Terminal(width=60))
    assert max(map(len, text.splitlines())) <= 60


def test_json_holds_every_count() -> None:
    data = json.loads(audit_json(an_audit(200)))
    assert data["summary"] == {
        "rows": 1,
        "runs": 1000,
        "alarms": 1,
        "true_refuted": 200,
        "false_verified": 0,
    }
    (row,) = data["rows"]
    assert (row["verified"], row["refuted"], row["inconclusive"]) == (800, 200, 0)
    assert row["at_least"] < row["rate"] < row["at_most"]
    assert row["parameters"] == {"off": 0}


def test_the_command_passes_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["audit", "normal-mean", "-n", "5", "--processes", "1", "--seed", "3"]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    assert "3 rows, 15 runs" in first
    assert main([*arguments, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["seed"] == 3


def test_the_command_fails_on_an_alarm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(interval, "_second_order", lambda *_: 0.0)
    arguments = ["audit", "squared-means", "-n", "60", "--processes", "1"]
    assert main(arguments) == 1
    assert "ALARM" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "lawss"], "it must be laws or moments"),
        (["--alpha", "0.05,2"], "numbers between 0 and 1"),
        (["--shift", "2%"], "of use with '--file' only"),
        (["--full", "-n", "3"], "both say how many trials"),
        (["--file", "x.yaml", "--set", "laws"], "both say which claims"),
        (["--repetitions", "0"], "a whole number"),
        (["--processes", "0"], "from 1 to"),
        (["no-such-claim"], "no-such-claim"),
    ],
)
def test_bad_options_are_told(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_command_audits_a_file(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    arguments = ["audit", "mean", "--file", str(path), "--shift", "20%", "-n", "2"]
    assert main([*arguments, "--processes", "1", "--max-draws", "1e5"]) == 0
    text = capsys.readouterr().out
    assert "off by +0.2 of the scale" in text
    assert "3 rows, 6 runs" in text


def test_verdicts_are_data() -> None:
    assert Truth.TRUE.wrong is Verdict.REFUTED
    assert Truth.FALSE.wrong is Truth.UNDEFINED.wrong is Verdict.VERIFIED


def test_crossing_is_left_out_where_it_is_not_wanted() -> None:
    (true, _) = built_in("laws", ["crossed-tails"])
    crossed, plain = (
        carry_out(Plan((true,), (ALPHA,), 30, crossing=crossing), 1, "test", quiet).rows[0].draws
        for crossing in (True, False)
    )
    assert plain > 2 * crossed
