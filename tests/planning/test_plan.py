"""What a plan foretells holds in the run: how many draws, and what the budget can see.

All seeds are fixed. At 1.5 times the planned discrepancy a case stays unrefuted with a chance below
1e-9, and at a tenth of it one is refuted with a chance below 1e-6.
"""

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
    "refuted": "'x, y ~ normal(0, 1)'; 'P(x * y < x + y, given=x > 1.5) == 1'",
    "certain": "'x, y ~ normal(0, 1)'; 'P(x * y < x * y + x, given=x > 1.5) == 1'",
    "median": "x, w ~ normal(0, 1); Median(x * w) == 0",
    "law": "x, y ~ normal(0, 1); x + y ~ normal(0, sqrt(2))",
    "alike": "x, y ~ normal(0, 1); x + y ~ x - y",
    "independent": "'x, y ~ normal(0, 1)'; 'independent(x + y, x - y)'",
}


def test_a_run_draws_as_planned_within_a_factor_of_two_whatever_the_threads() -> None:
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
    on_three = planned(registry, asymptotic=True, threads=3).cases
    assert [one.draws for one in on_three] == [one.draws for one in plans.cases]
    other = planned(registry, asymptotic=True, resolution=0.1)
    assert (other.cases[0].draws or math.inf) < results[0].draws / 2


@pytest.mark.parametrize(
    "claim",
    [
        # by the model no draws decide, at the edge of what is claimed
        "x ~ normal(0, 1); E(x) < 0",
        "'x ~ normal(0, 1)[3]'; 'E(x) < [1, 0, 2]'",
        "x ~ normal(0, 1); P(x > 0) > 1/2",
        # a run gives up
        "x ~ normal(0, 1); E(x, given=x > 50) == 50",
        "x ~ normal(0, 1); P(x > 51, given=x > 50) == 1",
        "x ~ normal(0, 1); E(log(x + 3)) == 1",
        "x ~ cauchy(0, 1); E(x) == 0",
        "x, w ~ normal(0, 1); E(log(20 + x * w)) == 2.99446",  # by the limit theorem alone
    ],
)
def test_what_a_run_gives_up_is_planned_to_be_given_up(claim: str) -> None:
    registry = registry_of(open=claim)
    (result,), plan = tried(registry), planned(registry)
    assert result.verdict is Verdict.UNDECIDED
    assert plan.cases[0].draws is None
    assert plan.draws <= result.draws <= 2 * plan.draws
    assert "<" not in claim or result.draws < plan.cases[0].budget / 50
    (limited,) = planned(registry, max_draws=10**8).cases  # a limit says to go on
    assert limited.drawn in (0, plan.draws, 10**8)


def test_what_needs_no_draws_and_what_no_draws_can_tell_say_so() -> None:
    registry = registry_of(
        sum="; 1 + 1 == 2",
        cauchy="x ~ cauchy(0, 1); E(x) == 0",
        edge="x ~ normal(1, 1); E(x) > 1",
        sharp="x ~ normal(1, 1); E(x) == 1; resolution: 1.0e-5",
        never="x ~ normal(0, 1); E(x, given=x > 50) == 50",
        fine="x ~ normal(0, 1); E(x**2) == 1; resolution: 1.0e-7",
        heavy="x, w ~ normal(0, 1); E(exp(x * w)) == 1; resolution: 1",
    )
    plan = planned(registry, max_draws=100_000, seed=2, asymptotic=True)
    found = dict(zip(registry.claims, plan.cases, strict=True))
    assert (found["sum"].draws, found["sum"].within, found["sum"].spent) == (0, True, 0)
    assert (found["cauchy"].draws, found["cauchy"].spent) == (None, 0)
    assert not found["sharp"].within
    assert (found["sharp"].draws or 0) > 1e9
    said = {
        "cauchy": "no finite moment", "edge": "edge of what is claimed", "never": "never true",
        "fine": "more draws than any run can make",
    }  # fmt: skip
    for name, words in said.items():
        assert words in str(found[name].explanation)
    # an average that few draws of a pilot carry
    carried = registry_of(one="x, w ~ normal(0, 1); E(exp(x * w)) == 1; resolution: 1")
    (heavy,) = planned(carried, asymptotic=True).cases
    assert (heavy.doubtful, heavy.within, heavy.discrepancy) == (True, False, None)
    told = plan_report(plan, Terminal(width=200))
    assert sum(counts(plan).values()) == 7
    assert f"≥{count(found['heavy'].draws or 0)}" in told
    with pytest.raises(DropcheckError, match=r"nan: .* on every draw"):
        planned(registry_of(nan="x ~ normal(0, 1); E(log(-abs(x))) == 0"))


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


# ---- the smallest discrepancy that a budget can see ----------------------------------------------

BUDGET, SEEDS = 20_000, 6
KINDS = {
    "a mean": ("x ~ normal({}, 1)", "E(x) == 1", 1.0),
    "a bounded mean": ("x ~ uniform({} - 0.5, {} + 0.5)", "E(x) == 1", 1.0),
    "a variance": ("x ~ normal(5, sqrt({}))", "Var(x) == 1", 1.0),
    "a probability": ("x ~ bernoulli({})", "P(x == 1) == 0.3", 0.3),
    "a range": ("x ~ normal({}, 1)", "0.5 <= E(x) <= 1", 1.0),
}


def refuted(claim: str, most: int) -> int:
    """How often a claim is refuted within the budget."""
    runs = [tried(registry_of(one=claim), max_draws=most, seed=seed)[0] for seed in range(SEEDS)]
    return sum(one.verdict is Verdict.REFUTED for one in runs)


@pytest.mark.parametrize("kind", KINDS)
def test_the_budget_sees_the_discrepancy_of_the_plan_and_little_less(kind: str) -> None:
    model, claim, true = KINDS[kind]

    def text(off: float) -> str:
        return f"{model.replace('{}', str(true + off))}; {claim}; resolution: 0.0001"

    (case,) = planned(registry_of(one=text(0)), max_draws=BUDGET).cases
    seen = case.discrepancy
    assert seen is not None
    assert case.relative == pytest.approx(seen / true)
    assert refuted(text(1.5 * seen), BUDGET) == SEEDS
    assert refuted(text(0.8 * seen), BUDGET) >= SEEDS / 2  # it is no exaggeration
    assert refuted(text(0.1 * seen), BUDGET) == 0
    (more,) = planned(registry_of(one=text(0)), max_draws=100 * BUDGET).cases
    assert 0.0001 <= (more.discrepancy or 0) < seen / 4


def test_a_violation_as_rare_as_planned_is_seen_and_a_tenth_of_it_seldom() -> None:
    def claim(rate: float) -> str:  # of two draws, so that the model does not settle it
        return f"u, v ~ uniform(0, 1); P(maximum(u, v) > {math.sqrt(rate)!r}) == 1"

    (case,) = planned(registry_of(one=claim(1e-9)), max_draws=10_000).cases
    assert case.discrepancy == pytest.approx(-math.expm1(math.log(1e-6) / 10_000), rel=0.1)
    assert refuted(claim(case.discrepancy or 0), 10_000) == SEEDS
    assert refuted(claim((case.discrepancy or 0) / 100), 10_000) < SEEDS
