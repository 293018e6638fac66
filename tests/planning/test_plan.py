"""What a plan foretells holds in the run; all seeds are fixed."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import trials
from trials import entry, tried

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.cli import main
from dropcheck.errors import DropcheckError
from dropcheck.language.check import choose
from dropcheck.language.compile import CaseGraphs
from dropcheck.planning import Plan, plan_cases
from dropcheck.report.screen import Terminal
from dropcheck.report.trials import plan_report
from dropcheck.settings import Settings

by_draws = pytest.mark.usefixtures("draws_alone")


def registry_of(**claims: str) -> Registry:
    """A registry from `model; claim; a further key`."""
    parts = {name: [part.strip() for part in text.split(";")] for name, text in claims.items()}
    return trials.registry_of(*(entry(name, *texts) for name, texts in parts.items()))


def planned(registry: Registry, **settings: Any) -> Plan:
    """The plan of every case."""
    return plan_cases(choose(registry, CaseGraphs()), Settings(**settings))


# a claim for each way of judging
MANY = {
    "covariances": "x ~ normal(1, 1); E(x) == 1",
    "moments": "x, w ~ gamma(9, 1); E(sqrt(1 + x * w)) == 8.81388; within: 0.02",
    "limit": "x, w ~ normal(0, 1); E(log(20 + x * w)) == 2.99446; within: 0.02",
    "crossed": "q, k ~ normal(0, 1)[64]; Var(q @ k / sqrt(64)) == 1",
    "range": "x ~ normal(0, 1); 0.995 <= E(x + 1) <= 1.1",
    "hair": "x ~ normal(0.001, 1); E(x) > 0",
    "entries": "x ~ normal(0, 1)[3]; E(x) < [1, -1, 0.001]",
    # 0.005 below its edge, where a pilot of 8,192 draws has an error of 0.0025
    "votes": "x ~ binomial(1000, 0.5); P(abs(x - 500) > 30) < 1 / 17",
    "given": "x ~ normal(0, 1); P(x > 3.5, given=x > 3.29) == 0.4644; resolution: 0.1",
    # with 23 people it is 0.5073, which 8,192 draws do not tell from 1/2
    "birthday": "b ~ discrete_uniform(1, 365)[23]; P(any(diff(sort(b)) == 0)) > 0.5",
    "refuted": "x, y ~ normal(0, 1); P(x * y < x + y, given=x > 1.5) == 1",
    "certain": "x, y ~ normal(0, 1); P(x * y < x * y + x, given=x > 1.5) == 1",
    "median": "x, w ~ normal(0, 1); Median(x * w) == 0",
    "law": "x, y ~ normal(0, 1); x + y ~ normal(0, sqrt(2))",
    "alike": "x, y ~ normal(0, 1); x + y ~ x - y",
    "independent": "x, y ~ normal(0, 1); independent(x + y, x - y)",
}


@by_draws
def test_a_run_draws_about_as_planned() -> None:
    """A claim that a run refutes at its first look is refuted by a pilot of fewer draws."""
    registry = registry_of(**MANY)
    plans, results = planned(registry, asymptotic=True), tried(registry, Settings(asymptotic=True))
    ratios = {
        result.claim: (plan.draws or math.nan) / result.draws
        for plan, result in zip(plans.cases, results, strict=True)
    }
    assert {name: one for name, one in ratios.items() if not (one <= 8 or name == "refuted")} == {}
    assert sum(0.25 <= ratio <= 4 for ratio in ratios.values()) >= 0.8 * len(ratios)
    # a plan for another resolution is no plan for this one
    other = planned(registry, asymptotic=True, resolution=0.1)
    assert (other.cases[0].draws or math.inf) < results[0].draws / 2


@by_draws
def test_statements_of_one_claim_share_their_draws() -> None:
    text = "claims: {sharp: {claim: E(x) == 0, within: 0.002}, far: E(x) < 9}"
    text = f"c: {{title: T, model: 'x ~ normal(0, 1)', {text}}}"
    plan = planned(read_text(f"dropcheck: 1\nclaims: {{{text}}}"))
    draws = [one.draws or 0 for one in plan.cases]
    assert min(draws) < max(draws) == plan.draws
    assert plan.run_seconds == max(one.seconds for one in plan.cases)


@by_draws
def test_a_plan_is_the_same_whatever_the_threads() -> None:
    registry = registry_of(
        mean="x ~ normal(1, 1); E(x) == 1; resolution: 3.0e-5",
        unknown="x ~ normal(0, 1)[3]; P(x[0] * x[1] > x[2] + 1) == 0.2; resolution: 0.001",
    )
    plans = [planned(registry, max_draws=16_000, threads=threads) for threads in (1, 3)]
    numbers = [[case.draws for case in one.cases] for one in plans]
    assert numbers[0] == numbers[1]
    assert plans[0].cases[0].beyond
    # the default budget is of work, however many threads share it
    assert all(planned(registry, threads=threads).cases[0].beyond for threads in (1, 4096))


@by_draws
def test_what_needs_no_draws_and_what_no_draws_can_tell_say_so() -> None:
    registry = registry_of(
        sum="; 1 + 1 == 2",
        cauchy="x ~ cauchy(0, 1); E(x) == 0",
        edge="x ~ normal(1, 1); E(x) > 1",
        sharp="x ~ normal(1, 1); E(x) == 1; resolution: 1.0e-5",
        never="x ~ normal(0, 1); E(x, given=x > 50) == 50",
    )
    plan = planned(registry, max_draws=100_000, seed=1)
    found = dict(zip(registry.claims, plan.cases, strict=True))
    assert (found["sum"].draws, found["sum"].within) == (0, True)
    assert (found["sharp"].draws or 0) > 1e9
    assert found["sharp"].beyond
    told = plan_report(plan, Terminal())
    for name, why in {
        "cauchy": "by its law, the quantity has no",
        "edge": "at the edge of what is claimed",
        "never": "the condition is too rare",
    }.items():
        assert found[name].draws is None
        assert why in told
    assert "5 cases: 1 within the budget, 1 beyond it, 3 unknown · " in told


@by_draws
def test_an_error_that_only_a_draw_shows_is_told() -> None:
    registry = registry_of(
        nan="x ~ normal(0, 1); E(log(-abs(x))) == 0", fine="x ~ normal(1, 1); E(x) == 1"
    )
    with pytest.raises(DropcheckError, match=r"nan: .* on every draw"):
        planned(registry)


@by_draws
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


def test_the_draws_that_confirm_exact_values_are_planned() -> None:
    registry = registry_of(
        third="x ~ exponential(1); E(x**3) == 6",
        near="x ~ exponential(1); E(x**3) == 6.1",  # refuted by the value, and drawn to the end
        rare="x ~ bernoulli(1.0e-4); E(x) == 0.0001",  # not worth its draws
    )
    plans, results = planned(registry).cases, tried(registry)
    assert [one.confirmed for one in results] == [True, True, False]
    ratios = [(plan.draws or 0) / one.draws for plan, one in zip(plans, results, strict=True)]
    assert all(0.5 <= ratio <= 2 for ratio in ratios[:2])
    assert (plans[2].draws or 0) <= results[2].draws
    limited = planned(registry, max_draws=100_000)
    assert [one.draws for one in limited.cases] == [100_000, 100_000, plans[2].draws]
    assert all(one.within for one in limited.cases)
