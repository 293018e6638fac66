"""The set `hostile`: what it holds, and that its claims are off by what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from audits import claimed_value, lowered, number_at

from dropcheck.audit.audited_claims import Subject, built_in
from dropcheck.audit.error_rates import Truth
from dropcheck.audit.measurement import ready
from dropcheck.inference.comparison import read_statement

SUBJECTS = built_in("hostile")
# |R| is the unit of the resolution; of a claimed 0 it is what the sides measure, which is 1 here
UNIT = 1.0
# Regions: the truth of the side that is measured.
REGIONS = {
    "mean-at-most-with-spike": 2.0,
    "mean-at-least-with-spike": 2.0,
    "mean-in-range-with-spike": 2.0,
    "variance-below-with-spike": 2.0,
    "bits-inequality": 2.0,
    "bits-range": 2.0,
}
# Both sides are measured: 2 against 1, times 3 or 1.5 and times 2 or 1.
TWO_SIDES = ("variance-of-two-with-spike", "means-with-spike")


def by_claim() -> dict[str, list[Subject]]:
    groups: dict[str, list[Subject]] = {}
    for subject in SUBJECTS:
        groups.setdefault(subject.case.claim.id, []).append(subject)
    return groups


def test_there_are_claims_of_every_class() -> None:
    classes = Counter(next(iter(group)).group for group in by_claim().values())
    assert sum(classes.values()) == 350
    assert len(classes) == 10
    assert min(classes.values()) >= 10
    truths = Counter(subject.truth for subject in SUBJECTS)
    assert truths[Truth.TRUE] == truths[Truth.FALSE] == 319
    assert truths[Truth.UNDEFINED] == 31


def test_blocks_and_error_rate_are_those_of_run() -> None:
    assert {subject.block for subject in SUBJECTS} == {None}


def test_every_tenth_is_made_ready() -> None:
    for subject in SUBJECTS[::10]:
        assert ready(subject).lowered.operands


PAIRS = [
    group
    for name, group in by_claim().items()
    if group[0].truth is not Truth.UNDEFINED and name not in {*REGIONS, *TWO_SIDES}
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].case.claim.id)
def test_a_false_claim_is_off_by_what_it_says(pair: Sequence[Subject]) -> None:
    true, false = pair
    assert (true.truth, false.truth) == (Truth.TRUE, Truth.FALSE)
    claim = false.case.claim
    truth, value = claimed_value(true), claimed_value(false)
    unit = claim.within if claim.within is not None else claim.resolution * (abs(value) or UNIT)
    off = number_at(false, "off")
    assert (value - truth) / unit == pytest.approx(off, rel=1e-5)
    assert abs(off) > 1.5


@pytest.mark.parametrize("name", REGIONS)
def test_a_false_region_is_off_by_what_it_says(name: str) -> None:
    true, false = by_claim()[name]
    inside, outside = (beyond(subject, REGIONS[name]) for subject in (true, false))
    within = false.case.claim.within
    assert within is not None
    assert inside < -within
    assert outside / within == pytest.approx(number_at(false, "off"))


def beyond(subject: Subject, truth: float) -> float:
    """How far the truth lies beyond the region that is claimed; below 0 within it."""
    comparisons = read_statement(lowered(subject), None).comparisons
    assert all(one.against is None for one in comparisons)
    return max(max(one.region.low - truth, truth - one.region.high) for one in comparisons)
