"""What a plan foretells holds in the run; all seeds are fixed."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from plan_cases import planned, registry_of, tried

from dropcheck.cli import main
from dropcheck.errors import DropcheckError
from dropcheck.report.numbers import count
from dropcheck.report.screen import Terminal
from dropcheck.report.trials import counts, plan_report
from dropcheck.results import Verdict

pytestmark = pytest.mark.usefixtures("draws_alone")


# a claim for each way of judging
MANY = {
    "covariances": "x ~ normal(1, 1); E(x) == 1",
    "moments": "x, w ~ gamma(9, 1); E(sqrt(1 + x * w)) == 8.81388; within: 0.02",
    "limit": "x, w ~ normal(0, 1); E(log(20 + x * w)) == 2.99446; within: 0.02",
    "crossed": "'q, k ~ normal(0, 1)[64]'; Var(q @ k / sqrt(64)) == 1",
    "range": "x ~ normal(0, 1); 0.995 <= E(x + 1) <= 1.1",
    "hair": "x ~ normal(0.001, 1); E(x) > 0",
    "entries": "'x ~ normal(0, 1)[3]'; 'E(x) < [1, -1, 0.001]'",
    # 0.005 below its edge, where a pilot of 8,192 draws has an error of 0.0025
    "votes": "x ~ binomial(1000, 0.5); P(abs(x - 500) > 30) < 1 / 17",
    "given": "x ~ normal(0, 1); P(x > 3.5, given=x > 3.29) == 0.4644; resolution: 0.1",
    # with 23 people it is 0.5073, which 8,192 draws do not tell from 1/2
    "birthday": "'b ~ discrete_uniform(1, 365)[23]'; P(any(diff(sort(b)) == 0)) > 0.5",
    "refuted": "'x, y ~ normal(0, 1)'; 'P(x * y < x + y, given=x > 1.5) == 1'",
    "certain": "'x, y ~ normal(0, 1)'; 'P(x * y < x * y + x, given=x > 1.5) == 1'",
    "median": "x, w ~ normal(0, 1); Median(x * w) == 0",
    "law": "x, y ~ normal(0, 1); x + y ~ normal(0, sqrt(2))",
    "alike": "x, y ~ normal(0, 1); x + y ~ x - y",
    "independent": "'x, y ~ normal(0, 1)'; 'independent(x + y, x - y)'",
}


def test_a_run_draws_as_planned_within_a_factor_of_two() -> None:
    """Or a quarter of what is planned: an early look, made then, may decide by chance."""
    registry = registry_of(**MANY)
    plans, results = planned(registry, asymptotic=True), tried(registry, asymptotic=True)
    ratios = {
        result.claim: (plan.draws or math.nan) / result.draws
        for plan, result in zip(plans.cases, results, strict=True)
    }
    assert all(plan.within for plan in plans.cases)
    assert {name: ratio for name, ratio in ratios.items() if not 0.5 <= ratio <= 4} == {}
    assert sum(ratio <= 2 for ratio in ratios.values()) >= 0.9 * len(ratios)
    # a plan for another resolution is no plan for this one
    other = planned(registry, asymptotic=True, resolution=0.1)
    assert (other.cases[0].draws or math.inf) < results[0].draws / 2
    # what the model gives is planned by that, whatever a pilot shows
    again = planned(registry, asymptotic=True, seed=1).cases
    both = dict(zip(MANY, zip(plans.cases, again, strict=True), strict=True))
    alike = {name for name, (one, same) in both.items() if one.draws == same.draws}
    assert {"votes", "given"} <= alike < set(MANY)


@pytest.mark.parametrize(
    "claim",
    [
        "x ~ normal(0, 1); E(x) < 0",
        "'x ~ normal(0, 1)[3]'; 'E(x) < [1, 0, 2]'",
        "x ~ normal(0, 1); P(x > 0) > 1/2",
        "x ~ normal(0, 1); P(x > 1, given=x > 1) < 1",
    ],
)
def test_a_run_ends_early_where_the_model_says_that_no_draws_decide(claim: str) -> None:
    registry = registry_of(edge=claim)
    (plan,), (result,) = planned(registry).cases, tried(registry)
    assert plan.draws is None
    assert "no interval can decide, at the edge of what is claimed" in str(plan.explanation)
    assert result.verdict is Verdict.UNDECIDED
    assert result.draws == pytest.approx(plan.drawn, rel=0.1)
    assert result.draws < plan.budget / 50
    # and yet they show how near the quantity is: the resolution is a hundredth
    low, high = result.interval or (None, None)
    assert (high or math.inf) - (low or 0.0) < 0.025


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
        fine="x ~ normal(0, 1); E(x**2) == 1; resolution: 1.0e-7",
    )
    found = dict(
        zip(registry.claims, planned(registry, max_draws=100_000, seed=2).cases, strict=True)
    )
    assert (found["sum"].draws, found["sum"].within, found["sum"].spent) == (0, True, 0)
    assert (found["cauchy"].draws, found["cauchy"].spent) == (None, 0)
    assert "no finite moment" in str(found["cauchy"].explanation)
    assert found["edge"].draws is None
    assert "edge of what is claimed" in str(found["edge"].explanation)
    assert found["edge"].spent > 0
    assert not found["sharp"].within
    assert (found["sharp"].draws or 0) > 1e9
    assert "never true" in str(found["never"].explanation)
    assert "more draws than any run can make" in str(found["fine"].explanation)


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
    assert result.verdict is Verdict.UNDECIDED
    plan = planned(registry)
    assert plan.cases[0].draws is None
    assert plan.draws <= result.draws <= 2 * plan.draws
    (limited,) = planned(registry, max_draws=10**8).cases  # a limit says to go on
    assert limited.drawn in (0, plan.draws, 10**8)


def test_an_error_that_only_a_draw_shows_is_told() -> None:
    registry = registry_of(
        nan="x ~ normal(0, 1); E(log(-abs(x))) == 0", fine="x ~ normal(1, 1); E(x) == 1"
    )
    with pytest.raises(DropcheckError, match=r"nan: .* on every draw"):
        planned(registry)


def test_the_command_takes_the_claims_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = "{title: A mean, parameters: {m: [1, 2]}, model: 'x ~ normal(m, 1)', claim: E(x) == m}"
    file = tmp_path / "claims.yaml"
    file.write_text(f"dropcheck: 1\nclaims: {{mean: {claim}}}\n", encoding="utf-8")
    plan = ["plan", "mean", "--file", str(file)]
    assert main([*plan, "--m", "3,4", "--max-draws", "5e4"]) == 0
    assert re.findall("m=.", capsys.readouterr().out) == ["m=3", "m=4"]
    assert main([*plan, "--max-draws", "2000"]) == 0
    assert "2 cases: 0 within the budget, 2 beyond it" in capsys.readouterr().out
