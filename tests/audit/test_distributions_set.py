"""The set `distributions`: what it holds, and that its verdicts keep their promise.

False alarms: a rate that is kept raises the alarm with a chance of at most 1e-6 in each test.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from scipy import stats

from dropcheck.audit.audited_claims import Subject, built_in
from dropcheck.audit.error_rates import Truth
from dropcheck.audit.measurement import ready, run_once
from dropcheck.judging.laws import one_law
from dropcheck.judging.laws.looks import Shares
from dropcheck.settings import Settings

SUBJECTS = built_in("distributions")
REPETITIONS, ALPHA = 8, 0.05
TRUE = ("sum-of-poissons", "threshold", "log-of-uniform", "alike-counts", "any-two")
FALSE = ("atom", "nine-decimals", "count-2-percent", "alike-but-wider", "uncorrelated")


def wrong_in(names: Sequence[str], repetitions: int = REPETITIONS) -> int:
    """Wrong verdicts about some claims of the set, each repeated so often."""
    wrong = 0
    for subject in SUBJECTS:
        if subject.case.claim.id in names:
            prepared = ready(subject)
            for seed in range(repetitions):
                result = run_once(prepared, Settings(seed=seed, threads=1), ALPHA)
                wrong += result.verdict in subject.truth.wrong
    return wrong


def is_alarming(wrong: int, runs: int) -> bool:
    return bool(stats.binom.sf(wrong - 1, runs, ALPHA) < 1e-6)


def names_of(truth: Truth) -> list[str]:
    return [one.case.claim.id for one in SUBJECTS if one.truth is truth]


def test_thirty_are_true_and_thirty_are_false() -> None:
    assert len(names_of(Truth.TRUE)) == len(names_of(Truth.FALSE)) == 30
    assert set(TRUE) <= set(names_of(Truth.TRUE))
    assert set(FALSE) <= set(names_of(Truth.FALSE))
    assert all(isinstance(one, Subject) for one in SUBJECTS)


@pytest.mark.parametrize("names", [TRUE, FALSE])
def test_wrong_verdicts_are_as_rare_as_promised(names: tuple[str, ...]) -> None:
    assert not is_alarming(wrong_in(names), REPETITIONS * len(names))


def test_a_judge_that_takes_any_evidence_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    # an e-process of a millionth is taken for enough
    def careless(alpha: float, *, tails: bool = False) -> Shares:
        return Shares(distance=alpha, evidence=1e6, tails=alpha * tails)

    monkeypatch.setattr(one_law, "shares_of", careless)
    assert is_alarming(wrong_in(("threshold", "log-of-uniform"), 6), 12)
