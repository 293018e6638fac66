"""What a plan foretells holds in the run; all seeds are fixed."""

from __future__ import annotations

import json
import math
import re
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plan_cases import planned, registry_of, tried

from dropcheck.claims.reader import load_registry
from dropcheck.cli import main
from dropcheck.errors import DropcheckError
from dropcheck.planning import CasePlan, plan_cases, shared_out
from dropcheck.report.numbers import count
from dropcheck.report.screen import Terminal
from dropcheck.report.trials import counts, plan_report
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation import blocks

pytestmark = pytest.mark.usefixtures("draws_alone")

SHIPPED = Path(__file__).parents[2] / "claims.yaml"


# draws to a verdict


def near(plans: list[CasePlan], results: list[CaseResult], factor: float) -> float:
    """The share of plans that are within a factor of the draws that a run made."""
    found = [
        plan.draws is not None and 1 / factor <= plan.draws / result.draws <= factor
        for plan, result in zip(plans, results, strict=True)
        if result.draws
    ]
    return sum(found) / len(found)


def test_a_plan_is_within_a_factor_of_two_of_the_run_for_most_shipped_claims() -> None:
    registry = load_registry([SHIPPED])
    some = registry.expand()[::10]
    plan = plan_cases(some, Settings(), registry)
    cheap = [
        case
        for case in plan.cases
        if case.draws is not None and 0 < case.draws <= 300_000
        if case.seconds is not None and case.seconds < 1.0
    ]
    assert len(cheap) >= 15
    results = list(verify_cases([case.case for case in cheap], Settings(), registry))
    assert near(cheap, results, 2.0) >= 0.8
    # a plan for another resolution is no plan for this one
    other = plan_cases([case.case for case in cheap], Settings(resolution=0.1), registry)
    assert near(list(other.cases), results, 2.0) < 0.8


def test_a_plan_is_the_same_whatever_the_threads() -> None:
    registry = registry_of(
        mean="x ~ normal(1, 1); E(x) == 1; resolution: 0.0001",
        unknown="x ~ normal(0, 1)[3]; P(x[0] * x[1] > x[2] + 1) == 0.2; resolution: 0.001",
    )
    plans = [planned(registry, max_draws=200_000, threads=threads) for threads in (1, 3)]
    numbers = [[(case.draws, case.budget, case.discrepancy) for case in one.cases] for one in plans]
    assert numbers[0] == numbers[1]
    other = planned(registry, max_draws=200_000, seed=1)
    assert numbers[0] != [(case.draws, case.budget, case.discrepancy) for case in other.cases]


def test_what_needs_no_draws_and_what_no_draws_can_tell_say_so() -> None:
    registry = registry_of(
        sum="; 1 + 1 == 2",
        cauchy="x ~ cauchy(0, 1); E(x) == 0",
        edge="x ~ normal(1, 1); E(x) > 1",
        sharp="x ~ normal(1, 1); E(x) == 1; resolution: 1.0e-5",
        never="x ~ normal(0, 1); E(x, given=x > 50) == 50",
    )
    found = dict(
        zip(registry.claims, planned(registry, max_draws=100_000, seed=2).cases, strict=True)
    )
    assert found["sum"].draws == 0
    assert found["sum"].within
    assert found["sum"].spent == 0
    assert found["cauchy"].draws is None
    assert "no finite moment" in str(found["cauchy"].explanation)
    assert found["cauchy"].spent == 0
    assert found["edge"].draws is None
    assert "edge of what is claimed" in str(found["edge"].explanation)
    assert found["edge"].spent > 0
    assert not found["sharp"].within
    assert (found["sharp"].draws or 0) > 1e9
    assert "never true" in str(found["never"].explanation)


def test_a_pilot_without_an_interval_says_why() -> None:
    registry = registry_of(pole="x, w ~ normal(0.001, 1); 1 / E(x * exp(w * x**2 / 90)) == 1000")
    plan = planned(registry, asymptotic=True)
    (case,) = plan.cases
    assert case.discrepancy is None
    assert str(case.explanation) == "it is undefined for some averages within the error"
    assert "may take more: it is undefined" in plan_report(plan, Terminal(width=200))


def test_what_the_limit_theorem_alone_would_decide_says_so() -> None:
    registry = registry_of(one="x, w ~ normal(0, 1); E(log(20 + x * w)) == 2.99446")
    (case,) = planned(registry).cases
    assert case.draws is None
    assert str(case.explanation).startswith("decided, but by the limit theorem (asymptotic)")
    (accepted,) = planned(registry, asymptotic=True).cases
    assert accepted.within
    assert accepted.draws == case.drawn


def test_a_pilot_whose_average_a_few_draws_carry_is_a_doubt() -> None:
    registry = registry_of(
        heavy="x, w ~ normal(0, 1); E(exp(x * w)) == 1; resolution: 1",
        skew="x ~ exponential(1); E(x**2) == 2",
        sum="; 1 + 1 == 2",
    )
    plan = planned(registry, asymptotic=True)
    heavy, skew, sure = plan.cases
    assert (heavy.doubtful, heavy.within, heavy.beyond) == (True, False, False)
    assert (heavy.draws or 0) < heavy.budget
    assert (skew.doubtful, skew.within) == (False, True)
    assert (sure.doubtful, sure.within) == (False, True)
    assert counts(plan) == {"within": 2, "doubtful": 1, "beyond": 0, "unknown": 0}
    told = plan_report(plan, Terminal(width=200))
    assert "3 cases: 2 within the budget, 1 may take more ·" in told
    assert told.count("may take more: ") == 1
    assert f"≥{count(heavy.draws or 0)}" in told
    assert "a run takes at least " in told
    assert heavy.discrepancy is None  # its spread is not known either
    scant = planned(registry, max_draws=200_000, asymptotic=True)
    assert counts(scant) == {"within": 1, "doubtful": 0, "beyond": 2, "unknown": 0}
    told = plan_report(scant, Terminal(width=200))
    assert "beyond the budget of 200k draws; may take more: " in told


@pytest.mark.parametrize(
    "claim",
    [
        "x ~ normal(0, 1); E(x, given=x > 50) == 50",
        "x ~ normal(0, 1); P(x > 51, given=x > 50) == 0.5",
        "x ~ normal(0, 1); P(x > 51, given=x > 50) == 1",
        "x ~ normal(0, 1); E(log(x + 3)) == 1",
        "x ~ cauchy(0, 1); E(x) == 0",
        "x, w ~ normal(0, 1); E(log(20 + x * w)) == 2.99446",  # by the limit theorem alone
    ],
)
def test_what_a_run_gives_up_is_planned_to_be_given_up(claim: str) -> None:
    registry = registry_of(open=claim)
    (result,) = tried(registry)
    assert result.verdict is Verdict.INCONCLUSIVE
    plan = planned(registry)
    assert plan.cases[0].draws is None
    assert plan.draws <= result.draws <= 2 * plan.draws
    (limited,) = planned(registry, max_draws=10**8).cases  # a limit says to go on
    assert limited.drawn in (0, plan.draws, 10**8)


def test_too_fine_is_told_from_at_the_edge() -> None:
    registry = registry_of(
        fine="x ~ normal(0, 1); E(x**2) == 1; resolution: 1.0e-7",
        edge="x ~ normal(1, 1); E(x) > 1",
    )
    fine, edge = planned(registry).cases
    assert fine.draws is None
    assert "more draws than any run can make" in str(fine.explanation)
    assert edge.draws is None
    assert "at the edge of what is claimed" in str(edge.explanation)


def test_a_run_takes_as_long_as_its_threads_share_or_its_longest_case() -> None:
    registry = registry_of(
        short="x ~ normal(1, 1); E(x) == 1",
        long="x ~ normal(1, 1); E(x) == 1; resolution: 1.0e-4",
    )
    plan = planned(registry, threads=2)
    short, long = plan.cases
    assert plan.run_seconds == max(long.spent, (short.work + long.work) / 2)
    assert long.spent == pytest.approx(long.work / 2)
    alone = planned(registry, threads=1)
    assert alone.run_seconds == sum(case.work for case in alone.cases)


def test_an_error_that_only_a_draw_shows_is_told() -> None:
    registry = registry_of(
        nan="x ~ normal(0, 1); E(log(-abs(x))) == 0", fine="x ~ normal(1, 1); E(x) == 1"
    )
    with pytest.raises(DropcheckError, match=r"nan: .* on every draw"):
        planned(registry)


# budgets


def test_time_goes_to_those_that_need_it() -> None:
    assert shared_out(9.0, [math.inf, math.inf, math.inf]) == pytest.approx([3, 3, 3])
    assert shared_out(9.0, [1.0, 1.0, math.inf]) == pytest.approx([4, 4, 7])
    assert shared_out(9.0, [0.0, 0.0, 0.0]) == pytest.approx([9, 9, 9])
    assert shared_out(9.0, [5.0, 8.0, 7.0]) == pytest.approx([5, 2, 2])
    needs = [float(need) for need in np.random.default_rng(0).exponential(1.0, 40)]
    for place, level in enumerate(shared_out(10.0, needs)):
        left, others = 10.0, sorted(needs[:place] + needs[place + 1 :])
        while others and others[0] <= left:  # one after the other, the cheapest first
            left -= others.pop(0)
        alike = left / (len(others) + 1)
        assert level == pytest.approx(alike) or (level == needs[place] and level > alike)


@pytest.mark.parametrize(
    ("claim", "pilots"),
    [
        ("x ~ normal(1, 1); E(x) == 1", 0),  # the model says all that a pilot could
        ("x, w ~ normal(0, 1); E(log(20 + x * w)) == 2.99446", 65_536),
    ],
)
def test_a_time_limit_bounds_what_the_plan_spends(
    claim: str, pilots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = blocks.Request.carry_out

    def as_fast_as_ever(request: blocks.Request) -> Any:  # whatever else the machine does
        return replace(made(request), seconds=1e-8 * request.count * request.program.span_draws)

    monkeypatch.setattr(blocks.Request, "carry_out", as_fast_as_ever)
    registry = registry_of(
        **{
            name: f"{claim}; resolution: {resolution}"
            for name, resolution in [("easy", "0.01"), ("hard", "1.0e-6"), ("harder", "1.0e-7")]
        }
    )
    limited = planned(registry, time_limit=2.0, asymptotic=True)
    assert 2.0 - 0.05 < limited.run_seconds <= 2.0 - 3 * pilots * 1e-8 / 2
    easy, hard, harder = limited.cases
    assert easy.within
    assert not hard.within
    assert hard.spent == pytest.approx(harder.spent, rel=0.05)
    assert hard.spent > 5 * easy.spent  # not in equal parts
    longer = planned(registry, time_limit=20.0, asymptotic=True).cases[1]
    assert (longer.discrepancy or 1) < (hard.discrepancy or 0)


# the command

CLAIMS = """\
dropcheck: 1
claims:
  mean:
    title: A mean
    parameters: {m: [1, 2]}
    model: x ~ normal(m, 1)
    claim: E(x) == m
  sum:
    title: A sum
    claim: 1 + 1 == 2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


def test_the_command_takes_the_claims_parameters_and_gives_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "mean", "--m", "3,4", "--max-draws", "5e4", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [case["parameters"] for case in report["cases"]] == [{"m": 3}, {"m": 4}]
    assert report["summary"]["cases"] == 2
    for case in report["cases"]:
        assert case["budget"] == 50_000
        assert case["discrepancy"] == pytest.approx(case["relative"] * case["scale"])
        assert case["within"] == (case["draws"] <= 50_000)


def test_a_plan_is_of_the_run_with_the_same_crossing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    product = """
    dropcheck: 1
    claims:
      product:
        title: A product of normal vectors has variance 1
        model: |
          q, k ~ normal(0, 1)[64]
        claim: Var(q @ k / sqrt(64)) == 1
    """
    path = tmp_path / "product.yaml"
    path.write_text(textwrap.dedent(product), encoding="utf-8")

    def draws(*more: str) -> int:
        assert main(["plan", "--file", str(path), "--format", "json", *more]) == 0
        return int(json.loads(capsys.readouterr().out)["cases"][0]["draws"])

    # a draw is a left side with a right one: pairs save draws
    assert draws("--plain") > 2 * draws()


def test_the_table_has_a_row_a_case_and_a_line_of_totals(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--max-draws", "2000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["claim", "parameters", "draws", "time", "could", "see", "of",
                                "scale", "note"]  # fmt: skip
    assert sum("beyond the budget of 2k draws" in line for line in lines) == 2
    assert sum("arithmetic decides it" in line for line in lines) == 1
    assert lines[-1].startswith("3 cases: 1 within the budget, 2 beyond it · a run takes about 4k")
    assert main(["plan", "--max-draws", "1e8"]) == 0
    assert "beyond" not in capsys.readouterr().out


def test_a_narrow_terminal_loses_nothing(folder: Path) -> None:
    plan = planned(load_registry(["claims.yaml"]), max_draws=2000)
    text = plan_report(plan, Terminal(width=60))
    assert max(map(len, text.splitlines())) <= 60
    assert "m=2" in text
    assert " ".join(text.split()).count("beyond the budget") == 2


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["plan", "mean", "--dk", "3"], 2, "there is no option '--dk'"),
        (["plan", "--max-draws", "0"], 2, "option '--max-draws' cannot be '0'"),
        (["plan", "--time-limit", "soon", "--alpha", "2"], 2, "2 errors"),
        (["plan", "nothing-*"], 5, "nothing-*"),
        (["plan", "--help"], 0, "--time-limit"),
    ],
)
def test_errors_and_help(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, says: str
) -> None:
    assert main(arguments) == code
    told = capsys.readouterr()
    assert says in told.out + told.err


def test_an_undecided_case_says_what_it_needs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "mean", "--max-draws", "1000", "--format", "json"]) == 4
    cases = json.loads(capsys.readouterr().out)["cases"]
    assert all(case["more_draws"] > 1000 and case["more_seconds"] > 0 for case in cases)
    assert main(["run", "mean", "--max-draws", "1000"]) == 4
    said = r"reading +the model gives .*: --exact decides by that; by draws it needs about "
    assert re.search(said, capsys.readouterr().out)
    most = max(case["draws"] + case["more_draws"] for case in cases)
    assert main(["run", "mean", "--max-draws", str(2 * most)]) == 0  # and that is enough


def test_a_pilot_that_cannot_tell_how_far_the_edge_is_is_drawn_on() -> None:
    """A range whose edge lies a thousandth of a deviation away: the first pilot cannot see it."""
    inside = "x ~ normal(0, 1); 0.995 <= E(x + 1) <= 1.1"
    registry = registry_of(inside=inside, exact="x ~ normal(0, 1); E(x + 1) == 1")
    found = dict(zip(registry.claims, planned(registry).cases, strict=True))
    results = {
        result.claim: result
        for result in verify_cases(registry.expand(), Settings(threads=1), registry)
    }
    for case, result in results.items():
        assert result.verdict is Verdict.VERIFIED
        assert 0.4 <= result.draws / (found[case].draws or 1) <= 2.5
