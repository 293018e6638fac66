"""Moments that do not exist are never verified; true claims with heavy tails never refuted.

At α = 1e-6 a wrong verdict among these few hundred runs has a chance of less than 1e-3, even if
every run spent its whole error; `dropcheck audit --set moments` repeats each claim 100 times.
"""

from __future__ import annotations

import pytest

from dropcheck.audit.audited_claims import built_in
from dropcheck.audit.error_rates import Audit, Truth
from dropcheck.audit.measurement import AuditPlan, carry_out
from dropcheck.inference import interval

SUBJECTS = built_in("moments")


def audited(truth: Truth, seeds: int, most: int) -> Audit:
    subjects = tuple(subject for subject in SUBJECTS if subject.truth is truth)
    assert len(subjects) == 30
    plan = AuditPlan(subjects, (1e-6,), seeds, max_draws=most)
    return carry_out(plan, 1, "moments", lambda _: None)


def test_no_moment_that_does_not_exist_is_verified() -> None:
    assert [row.claim for row in audited(Truth.UNDEFINED, 2, 200_000).rows if row.wrong] == []


def test_no_true_claim_with_heavy_tails_is_refuted() -> None:
    found = audited(Truth.TRUE, 1, 200_000)
    assert [row.claim for row in found.rows if row.wrong] == []
    assert any(row.counts.verified for row in found.rows)  # nor is everything left open


def test_without_the_conditions_moments_are_verified_that_do_not_exist(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interval, "_neglected", lambda *_: 0.0)
    assert audited(Truth.UNDEFINED, 2, 200_000).wrong(Truth.UNDEFINED) > 0
