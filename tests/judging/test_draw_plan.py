"""What is known of a case before its draws, and the interval that they then give.

The rates of misses are judged by the exact binomial test of `trials.alarm`, with a false alarm of
1e-6 each; the draws of plans are those of fixed seeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from trials import VERIFIED, alarm, entry, judged, registry_of, repeated

from dropcheck.execution.schedule import carried_out
from dropcheck.inference import budget
from dropcheck.judging import plan_draws as module
from dropcheck.judging.case import CaseRun, Prepared, prepare
from dropcheck.judging.knowledge import ExactAverages
from dropcheck.judging.plan_draws import DrawPlan, plan_draws, rows_of, targets_of
from dropcheck.results import Verdict
from dropcheck.settings import Settings
from dropcheck.simulation import Compiled


def prepared(model: str, claim: str, *, crossing: bool = True) -> Prepared:
    (case,) = registry_of(entry("claim", model, claim)).expand()
    return prepare(case, crossing=crossing)


def looked_ahead(model: str, claim: str, *, crossing: bool = True, alpha: float = 1e-6) -> DrawPlan:
    ready = prepared(model, claim, crossing=crossing)
    run = CaseRun(prepared=ready, settings=Settings(threads=1), alpha=alpha)
    assert isinstance(ready.compiled, Compiled)
    assert ready.knowledge is not None
    return carried_out(plan_draws(run, ready.compiled, ready.knowledge))


# ---- plans ---------------------------------------------------------------------------------------

PLANNED = [
    ("x ~ normal(0, 1)", "E(x**2) == 1"),
    ("x ~ exponential(1)", "Var(x) == E(x)**2"),
    ("x, w ~ normal(1, 1)", "E(x * w) == 1"),
    ("m ~ bernoulli(0.5); x ~ normal(0, 1)", "Std(m * x / 0.5) / Std(x) == sqrt(2)"),
    ("x ~ normal(0, 1)[2]", "E(max(x)) == 0.564189583"),
    ("x ~ normal(0, 1)[3]; y = relu(x[0] * x[1] + x[2])", "Std(y) / Std(y) == 1"),
    ("u ~ uniform(0, 1)", "0.4 <= E(u) <= 0.6"),
    ("x ~ normal(0, 1)", "E(x) <= 0.5 * E(x**2)"),
]


@pytest.mark.parametrize(("model", "claim"), PLANNED)
def test_most_true_claims_are_verified_at_the_planned_look_or_soon_after(
    model: str, claim: str
) -> None:
    """The estimate is off by more than a standard error once in three runs."""
    expected = looked_ahead(model, claim).expected
    found = repeated(model, claim, range(12), Settings(threads=1))
    assert {result.verdict for result in found} == {VERIFIED}
    soon = sum(result.draws <= 1.35 * budget.GROWTH * expected + 4096 for result in found)
    assert soon >= 8
    # nor is there a plan for many times the draws that it takes: the look before was too early
    late = sum(result.draws >= expected / 20 for result in found)
    assert late >= 8


@pytest.mark.parametrize(("model", "claim"), PLANNED[:4])
def test_the_plan_is_the_fewest_draws_that_decide(model: str, claim: str) -> None:
    ready = prepared(model, claim)
    run = CaseRun(prepared=ready, settings=Settings(threads=1), alpha=1e-6)
    assert isinstance(ready.compiled, Compiled)
    assert ready.knowledge is not None
    plan = carried_out(plan_draws(run, ready.compiled, ready.knowledge))
    targets = targets_of(run, ready.compiled, plan)
    assert targets is not None
    (target,) = targets.widths
    (direction,) = plan.directions

    def width(draws: int) -> float:
        alpha = run.alpha * budget.PLANNED
        error = direction.spread.standard_error(draws)
        return direction.spread.half_width(*rows_of(plan.program, draws), alpha) + error

    assert width(plan.expected) <= 1.02 * target
    assert width(int(plan.expected / 1.3)) > target


def test_where_the_model_says_the_covariances_no_pilot_is_drawn() -> None:
    assert looked_ahead("x ~ normal(0, 1)", "Var(x) == 1").pilot is None
    assert looked_ahead("x ~ normal(0, 1)[2]", "E(max(x) - min(x)) == 1.128").pilot is not None


# ---- crossed or plain ----------------------------------------------------------------------------

CROSSABLE = [
    ("a ~ normal(0, 1)[3, 32]; b ~ normal(0, 1)[32, 4]", "Var(a @ b) == 32", True),
    # what varies with the draws of one side alone: pairs say nothing of it
    ("x ~ normal(1, 0.01)[3, 32]; w ~ normal(1, 1)[32, 4]", "E(x @ w) == 32", False),
]


@pytest.mark.parametrize(("model", "claim", "crossed"), CROSSABLE)
def test_draws_are_crossed_where_that_is_known_to_cost_less(
    model: str, claim: str, crossed: bool
) -> None:
    plan = looked_ahead(model, claim)
    plain = looked_ahead(model, claim, crossing=False)
    assert plain.program.sampling == "plain"
    assert plan.program.paired is crossed
    cost, other = (one.expected * one.program.cost for one in (plan, plain))
    assert cost <= other * 1.1
    if crossed:
        assert plan.expected < plain.expected


# ---- linear or not -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "claim", "linear"),
    [
        ("x ~ normal(0, 1)", "E(x) + 2 * E(x**2) == 2", True),
        ("x ~ normal(0, 1)", "E(x**2) == E(x) + 1", True),
        ("x ~ normal(0, 1)", "Var(x) == 1", False),
        ("x ~ normal(1, 1)", "E(x) * E(x**2) == 2", False),
        ("x ~ normal(1, 1)", "E(x) / E(x**2) == 0.5", False),
        ("x, w ~ normal(1, 1)", "Cov(x, w) == 0", False),
        ("x ~ normal(0, 1)", "E(x, given=x > 0) == 0.8", False),
        ("x ~ normal(3, 1)", "abs(E(x)) == 3", False),  # it bends somewhere in the box
    ],
)
def test_a_quantity_is_known_to_be_linear(model: str, claim: str, linear: bool) -> None:
    (direction,) = looked_ahead(model, claim).directions
    assert direction.linear is linear


def test_the_direction_is_the_gradient() -> None:
    plan = looked_ahead("x ~ normal(1, 1)", "E(x) / E(x**2) == 0.5")
    columns = sorted(plan.spreads)
    (direction,) = plan.directions
    assert not plan.centres.any()
    assert plan.middle[columns] == pytest.approx([1, 2])
    assert direction.weights[columns] == pytest.approx([1 / 2, -1 / 4])


# ---- how often the interval misses ---------------------------------------------------------------

QUANTITIES = [
    # the first-order error of the variance of a fair coin is 0
    ("b ~ bernoulli(0.5)", "Var(b)", 0.25),
    ("x ~ exponential(1)", "Std(x) / E(x)", 1.0),
    ("x, w ~ normal(0, 1); y = 0.6 * x + 0.8 * w", "Corr(x, y)", 0.6),
    ("x ~ exponential(1)", "Skew(x)", 2.0),
    ("x ~ normal(0, 1)", "E(x)**2", 0.0),
    ("x ~ normal(0, 1)[2]", "E(max(x))", 0.5641895835477563),  # by bounds
    ("x ~ exponential(1)[2]", "Var(max(x))", 1.25),
    ("x ~ normal(1, 1); m ~ bernoulli(0.5)", "Var(m * x)", 0.75),  # crossed
    ("x ~ normal(0, 1)", "E(x, given=x > 1)", 1.525135276),
]
SEEDS = 60
ALPHA = 0.05


def misses(model: str, quantity: str, truth: float, alpha: float = ALPHA) -> int:
    """How many of the runs end with an interval that misses the truth."""
    settings = Settings(threads=1, alpha=alpha, resolution=0.2, max_draws=50_000)
    missed = 0
    for result in repeated(model, f"{quantity} == {truth}", range(SEEDS), settings):
        assert result.interval is not None
        low, high = result.interval
        missed += low is not None and high is not None and not low <= truth <= high
    return missed


@pytest.mark.parametrize(("model", "quantity", "truth"), QUANTITIES)
def test_the_truth_is_missed_no_more_often_than_promised(
    model: str, quantity: str, truth: float
) -> None:
    assert not alarm(misses(model, quantity, truth), SEEDS, ALPHA)


@pytest.mark.parametrize(("model", "quantity", "truth"), [QUANTITIES[1], QUANTITIES[7]])
def test_an_exact_variance_far_too_small_is_noticed(
    model: str, quantity: str, truth: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ExactAverages._variance
    monkeypatch.setattr(ExactAverages, "_variance", lambda *asked: whole(*asked) / 100)
    assert alarm(misses(model, quantity, truth), SEEDS, ALPHA)


def test_a_quantity_wrongly_taken_for_linear_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variance of a fair coin has no first order, and its estimate no error there."""
    whole = module._lines

    def linear(*asked: Any) -> list[tuple[np.ndarray, bool]]:
        return [(weights, True) for weights, _ in whole(*asked)]

    monkeypatch.setattr(module, "_lines", linear)
    assert alarm(misses(*QUANTITIES[0]), SEEDS, ALPHA)


# ---- what a look says ----------------------------------------------------------------------------


@pytest.mark.parametrize("claim", ["E(x) == 0", "Var(x) == 1", "E(x) - E(x) == 0"])
def test_the_interval_holds_the_estimate_and_the_exact_value(claim: str) -> None:
    found = judged("x ~ normal(0, 1)", claim)
    assert found.verdict is VERIFIED
    assert found.exact is not None
    assert found.interval is not None
    low, high = found.interval
    assert low is not None
    assert high is not None
    assert low <= found.exact.value <= high
    assert found.confirmed


def test_what_is_undefined_at_the_averages_is_no_verdict() -> None:
    for claim in ("1 / E(x) == 1", "Corr(x, x - x) == 0", "log(E(x) - 1) == 1"):
        assert judged("x ~ normal(0, 1)", claim, most=20_000).verdict is Verdict.UNDECIDED
