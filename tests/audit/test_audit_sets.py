"""What the audit tries: its built-in sets, and one's own registry with shifted twins."""

from __future__ import annotations

import math

import pytest
from audits import ALPHA, OWN, cases, claimed_value, number_at, quiet

from dropcheck.audit.audited_claims import Subject, built_in, own, twins, why_no_twin
from dropcheck.audit.error_rates import Truth
from dropcheck.audit.measurement import AuditPlan, carry_out, own_subjects, ready
from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError
from dropcheck.inference.comparison import read_statement
from dropcheck.inference.region import widening
from dropcheck.results import Region
from dropcheck.settings import Settings

# ---- the built-in sets ---------------------------------------------------------------------------


def test_the_built_in_claims_are_off_by_what_they_say() -> None:
    """Each false claim's distance from the truth, in resolutions, is its `off`."""
    subjects = built_in("laws")
    by_claim: dict[str, list[Subject]] = {}
    for subject in subjects:
        by_claim.setdefault(subject.case.claim.id, []).append(subject)
    assert all(group[0].truth is Truth.TRUE for group in by_claim.values())
    assert sum(len(group) > 1 for group in by_claim.values()) > 20
    for name, group in by_claim.items():
        if name in ("certain-event", "shared-draws", "shared-deviations"):
            continue  # not off by a share of a known right side
        if "regions" in group[0].case.claim.tags:
            continue  # off by as much from an edge: the next test
        claimed = [claimed_value(subject) for subject in group]
        claim = group[0].case.claim
        for subject, value in zip(group[1:], claimed[1:], strict=True):
            unit = claim.within if claim.within is not None else claim.resolution * abs(value)
            off = number_at(subject, "off")
            sign = math.copysign(1, value)
            share = 1.0 if claim.within is not None else sign
            # 1e8 + 0.06 is rounded at 1e-8
            assert (value - claimed[0]) / unit == pytest.approx(share * off, rel=1e-6), name
            assert abs(value - claimed[0]) > unit


EDGES = {
    "mean-at-most": 1.0,
    "dropout-variance-at-least": 9.0,
    "square-at-least-variance": 0.0,
    "mean-in-a-range": 1.0,
    "dropout-deviation-within-a-tolerance": 1.0,
}


def test_the_truth_lies_at_the_edge_of_a_built_in_region_or_beyond_it() -> None:
    regions = [one for one in built_in("laws") if "regions" in one.case.claim.tags]
    assert {subject.case.claim.id for subject in regions} == set(EDGES)
    for subject in regions:
        claim = subject.case.claim
        truth, within = EDGES[claim.id], claim.within or 0.0
        (comparison,) = read_statement(ready(subject).lowered, claim.tolerance).comparisons
        region = comparison.region
        if comparison.against is not None:  # of two estimated sides: the whole difference
            off = number_at(subject, "off")
            assert region == Region(0.0, math.inf)
            truth -= off * within
        beyond = max(region.low - truth, truth - region.high)
        off = abs(number_at(subject, "off"))
        assert beyond == pytest.approx(off * within, abs=1e-12), claim.id
        assert widening(region, within) == within, claim.id


def test_thirty_moments_do_not_exist_and_thirty_do() -> None:
    truths = [subject.truth for subject in built_in("moments")]
    assert truths.count(Truth.UNDEFINED) == 30
    assert truths.count(Truth.TRUE) == 30


def test_an_unknown_claim_of_a_set_is_an_error() -> None:
    with pytest.raises(DropcheckError, match="normal-maen"):
        built_in("laws", ["normal-maen"])


# ---- one's own registry --------------------------------------------------------------------------


def test_own_claims_are_taken_to_be_what_they_are_expected_to_be() -> None:
    truths = [subject.truth for subject in map(own, read_text(OWN).expand())]
    assert truths == [Truth.TRUE, Truth.FALSE, Truth.TRUE, Truth.TRUE]


def test_twins_are_shifted_and_refuted() -> None:
    subjects, left_out = own_subjects(
        read_text(OWN).expand(), 0.2, None, Settings(max_draws=200_000)
    )
    names = [(s.case.claim.id, s.truth) for s in subjects]
    assert names.count(("mean", Truth.FALSE)) == names.count(("zero", Truth.FALSE)) == 2
    assert [text.split(":")[0] for text in left_out] == [
        "shifted twins of kept-false",
        "shifted twins of range",
    ]
    found = carry_out(AuditPlan(subjects, (ALPHA,), 3, max_draws=200_000), 1, "own", quiet)
    for row in found.rows:
        expected = "verified" if row.truth is Truth.TRUE else "refuted"
        assert getattr(row.counts, expected) >= 2, row


def test_a_twin_looks_as_sharply_as_its_case() -> None:
    (case,) = cases(
        "title: T\n    resolution: 0.1\n    model: x ~ normal(2, 1)\n    claim: E(x) == 2"
    )
    up, down = twins(case, 2.0, 0.5)
    assert up.case.claim.within == down.case.claim.within == pytest.approx(0.2)
    assert claimed_value(up) == pytest.approx(3.0)
    assert claimed_value(down) == pytest.approx(1.0)


def test_a_shift_within_the_resolution_is_an_error() -> None:
    (case,) = cases(
        "title: T\n    resolution: 0.1\n    model: x ~ normal(2, 1)\n    claim: E(x) == 2"
    )
    with pytest.raises(DropcheckError, match="within the resolution"):
        twins(case, 2.0, 0.1)


def test_a_region_has_no_twin() -> None:
    mean, false, zero, region = read_text(OWN).expand()
    assert why_no_twin(mean) is None
    assert why_no_twin(zero) is None
    assert why_no_twin(false) is not None
    assert why_no_twin(region) is not None
