"""Rare events that are sampled where they are: decided with few draws, and never wrongly."""

from __future__ import annotations

import dataclasses
from itertools import cycle
from typing import Any

import pytest
from trials import alarm, entry, judged, registry_of, repeated, tried

from dropcheck.analysis import strata
from dropcheck.judging import plan_draws
from dropcheck.results import Guarantee, Verdict
from dropcheck.settings import Settings

PUTS = "h ~ normal(0, 0.1); z ~ normal(0, 1); ST = 100 * exp(0.2 * z - 0.02)"
NORMAL = "x ~ normal(0, 1)"

# Model, claim and truth of claims that no run without strata decides in its budget; the truths by
# closed forms: of the option by Black (1976), of the others as they stand in tables.
CARRIED_BY_FEW = [
    (PUTS, "E(1 + h - 1e6 * relu(35 - ST))", 0.83919664),
    (NORMAL, "P(x > 5)", 2.86651572e-7),
    (NORMAL, "E(relu(x - 6))", 1.56356980e-10),
    ("x ~ pareto(1.5, 1)", "E(x)", 3.0),
    ("u ~ uniform(0, 1)", "E(u ** 1e8)", 1e-8),
    ("z ~ normal(0, 1)", "E(exp(10 * z - 50))", 1.0),
    ("u ~ uniform(0, 1)", "E(1e8 * exp(-1e8 * u))", 1.0),
    ("h ~ normal(0, 1); z ~ normal(0, 1)", "Std(h + 1e4 * (z > 5))", 5.44657222),
    (f"{NORMAL}; y ~ normal(0, 1)", "P(x > 5 and y > 0)", 1.43325786e-7),
    (NORMAL, "E(x, given=x > 6)", 6.15847),
]


@pytest.mark.parametrize(("model", "quantity", "truth"), CARRIED_BY_FEW)
def test_true_claims_are_verified(model: str, quantity: str, truth: float) -> None:
    result = judged(model, f"{quantity} == {truth}")
    assert result.verdict is Verdict.VERIFIED
    assert result.sampling.startswith("stratified in ")
    assert result.draws < 1e7
    assert result.guarantee is not None
    assert result.guarantee is not Guarantee.ASYMPTOTIC


@pytest.mark.parametrize(
    ("model", "quantity", "truth", "share"),
    [(*one, share) for one, share in zip(CARRIED_BY_FEW, cycle([0.9, 1.1]), strict=False)],
)
def test_false_claims_are_refuted(model: str, quantity: str, truth: float, share: float) -> None:
    result = judged(model, f"{quantity} == {share * truth}")
    assert result.verdict is Verdict.REFUTED


def misses(model: str, quantity: str, truth: float, trials: int, alpha: float) -> int:
    """How many of so many runs have an interval that misses the truth."""
    missed = 0
    settings = Settings(threads=1, alpha=alpha)
    for result in repeated(model, f"{quantity} == {truth}", range(trials), settings):
        assert result.interval is not None
        low, high = result.interval
        missed += low is None or high is None or not low <= truth <= high
    return missed


@pytest.mark.parametrize(
    ("model", "quantity", "truth"), [CARRIED_BY_FEW[0], CARRIED_BY_FEW[1], CARRIED_BY_FEW[3]]
)
def test_intervals_miss_as_seldom_as_they_say(model: str, quantity: str, truth: float) -> None:
    trials, alpha = 40, 0.05
    assert not alarm(misses(model, quantity, truth, trials, alpha), trials, alpha)


def test_with_a_variance_far_too_small_they_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    shared_out = strata.DrawInStrata.shared_out

    def too_small(*args: Any, **how: Any) -> strata.Stratified:
        found = shared_out(*args, **how)
        return dataclasses.replace(found, covariance=found.covariance / 400)

    monkeypatch.setattr(strata.DrawInStrata, "shared_out", too_small)
    model, quantity, truth = CARRIED_BY_FEW[1]
    assert alarm(misses(model, quantity, truth, 40, 0.05), 40, 0.05)


def test_easy_claims_have_no_strata() -> None:
    for claim in ("E(x) == 0", "Var(x) == 1", "P(x > 1) == 0.15865525"):
        assert judged(NORMAL, claim).sampling == "plain"


def test_threads_change_nothing() -> None:
    registry = registry_of(entry("claim", PUTS, "E(1 + h - 1e6 * relu(35 - ST)) == 1"))
    found = [tried(registry, Settings(threads=threads))[0] for threads in (1, 3)]
    one, other = (dataclasses.replace(each, seconds=0.0, repeat="") for each in found)
    assert one == other


def test_what_strata_are_for_is_out_of_reach_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_draws, "plan_in_strata", lambda *_: None)
    model, quantity, truth = CARRIED_BY_FEW[2]
    result = judged(model, f"{quantity} == {truth}", most=1_000_000)
    assert result.verdict is Verdict.INCONCLUSIVE


def test_what_is_left_open_in_strata_ends_no_run() -> None:
    model = f"{NORMAL}; y ~ normal(0, 1)"
    result = judged(model, "P(x > 3 and y > 3) == 1.8222e-6", most=100_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.sampling == "stratified in x"
