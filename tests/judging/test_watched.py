"""Which outcomes are watched for rarity: conditions however many, and what a law announces."""

from __future__ import annotations

import pytest
from trials import OPEN, VERIFIED, judged, verdicts

from dropcheck.analysis import strategy
from dropcheck.simulation import assemble

MOST = 300_000


def spike_after(conditions: int) -> str:
    """A rare spike, whose mean is 5, after so many conditions that matter little."""
    lines = ["w, u ~ uniform(0, 1)", "z ~ normal(0, 1)", "s0 = z"]
    lines += [
        f"s{i + 1} = s{i} + where(w < {(i + 1) / (conditions + 1)!r}, 1e-4, 0)"
        for i in range(conditions)
    ]
    return "; ".join([*lines, f"y = s{conditions} + where(u < 1e-9, 5e9, 0)"])


@pytest.mark.parametrize("conditions", [1, 63, 64, 100])
def test_a_rare_event_is_seen_behind_many_conditions(conditions: int) -> None:
    claim = f"E(y) == {1e-4 * conditions / 2!r}"
    assert judged(spike_after(conditions), claim, "within: 0.1", most=MOST).verdict is OPEN


def test_a_model_with_more_conditions_than_are_watched_is_not_trusted() -> None:
    found = judged(spike_after(strategy.MOST_CONDITIONS), "E(y) == 0.0256", most=MOST)
    assert found.verdict is OPEN
    assert "the model has 513 conditions" in str(found.explanation)
    assert not found.draws


def test_unwatched_the_same_claim_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "is_condition", lambda _: False)
    found = judged(spike_after(3), "E(y) == 0.00015", "within: 0.1", most=MOST)
    assert found.verdict is VERIFIED


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("c ~ choice(concat(zeros(9999999), ones(1))); y = z + 5e7 * c", "rarest outcome"),
        ("c ~ discrete_uniform(0, 9999); y = z + 5e4 * one_hot(c, 10000)[7]", ""),
    ],
)
def test_rare_values_that_a_law_announces_are_waited_for(model: str, reason: str) -> None:
    found = judged(f"z ~ normal(0, 1); {model}", "E(y) == 0", "within: 1", most=20_000)
    assert found.verdict is OPEN
    assert reason in str(found.explanation)


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("c ~ choice([1, 2, 3, 4])", "E(c) == 2.5"),
        ("c ~ choice(arange(1000))", "E(c) == 499.5"),
        ("c ~ discrete_uniform(0, 99); y = one_hot(c, 100)", "E(y) == 0.01"),
        ("c ~ discrete_uniform(0, 9); y = one_hot(c, 10)[7]", "E(y) == 0.1"),
    ],
)
def test_what_is_not_rare_is_not_waited_for(model: str, claim: str) -> None:
    assert verdicts(model, claim, [0], 1e-6) == [VERIFIED]
