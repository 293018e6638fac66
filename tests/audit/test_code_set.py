"""The built-in set of code whose law is known: sound code is refuted as seldom as is promised."""

from __future__ import annotations

from scipy import stats

from dropcheck.audit.audited_claims import SETS, built_in
from dropcheck.audit.audited_code import IMPLEMENTATIONS
from dropcheck.audit.error_rates import Truth
from dropcheck.audit.measurement import AuditPlan, carry_out

RUNS, ALPHA = 15, 0.05


def test_what_is_false_is_what_is_said_to_be() -> None:
    subjects = built_in("code")
    columns = {one.case.claim.column.name for one in subjects if one.case.claim.column}
    assert columns == {one.name for one in IMPLEMENTATIONS}
    assert all(one.case.claim.column is not None for one in subjects)
    false = {one.case.claim.id for one in subjects if one.truth is Truth.FALSE}
    assert {"die.law@kept", "dropout.mean@scaled", "masks@batch", "dropout.number@broken"} <= false
    assert not any("@sound" in claim for claim in false)
    for one in IMPLEMENTATIONS:  # a pattern that fits nothing says nothing
        for pattern in one.xfail:
            assert f"{pattern}@{one.name}" in false


def test_wrong_verdicts_are_as_rare_as_is_promised() -> None:
    subjects = built_in("code", ["die*", "masks*", "shared.share@wild", "shared.always@*"])
    plan = AuditPlan(subjects, (ALPHA,), RUNS, max_draws=SETS["code"].most_draws)
    rows = carry_out(plan, 1, "code", lambda _: None).rows
    true = [row for row in rows if row.truth is Truth.TRUE]
    runs = RUNS * len(true)
    # at most so many with a false-alarm rate of 1e-6, were each wrong as often as is promised
    assert sum(row.counts.refuted for row in true) <= stats.binom.isf(1e-6, runs, ALPHA)
    false = [row for row in rows if row.truth is Truth.FALSE]
    assert len(false) == 10
    runs = RUNS * len(false)
    assert sum(row.counts.verified for row in false) <= stats.binom.isf(1e-6, runs, ALPHA)
    # and the audit can tell: nearly every false claim is refuted
    assert sum(row.counts.refuted for row in false) >= 0.9 * runs
