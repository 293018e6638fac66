"""The claims of known truth are what they are said to be: true, false by so much, undefined."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from known_cases import by_claim, claimed_value, lowered, off

from benchmarks.calibration import Known, Truth, known
from benchmarks.known_code import IMPLEMENTATIONS
from dropcheck.inference.region import read_statement, widening
from dropcheck.results import Region

# ---- laws ----------------------------------------------------------------------------------------


def test_laws_are_off_by_what_they_say() -> None:
    """Each false claim's distance from the truth, in resolutions, is its `off`."""
    groups = by_claim(known("laws"))
    assert all(group[0].truth is Truth.TRUE for group in groups.values())
    assert sum(len(group) > 1 for group in groups.values()) > 20
    for name, group in groups.items():
        if name in ("certain-event", "shared-draws", "shared-deviations"):
            continue  # not off by a share of a known right side
        claim = group[0].case.claim
        if "regions" in claim.tags:
            continue  # off by as much from an edge: the next test
        claimed = [claimed_value(one) for one in group]
        for one, value in zip(group[1:], claimed[1:], strict=True):
            unit = claim.within if claim.within is not None else claim.resolution * abs(value)
            share = 1.0 if claim.within is not None else math.copysign(1, value)
            # 1e8 + 0.06 is rounded at 1e-8
            assert (value - claimed[0]) / unit == pytest.approx(share * off(one), rel=1e-6), name
            assert abs(value - claimed[0]) > unit


EDGES = {
    "mean-at-most": 1.0,
    "dropout-variance-at-least": 9.0,
    "square-at-least-variance": 0.0,
    "mean-in-a-range": 1.0,
    "dropout-deviation-within-a-tolerance": 1.0,
}


def test_the_truth_lies_at_the_edge_of_a_region_or_beyond_it() -> None:
    regions = [one for one in known("laws") if "regions" in one.case.claim.tags]
    assert {one.case.claim.id for one in regions} == set(EDGES)
    for one in regions:
        claim = one.case.claim
        truth, within = EDGES[claim.id], claim.within or 0.0
        (comparison,) = read_statement(lowered(one), claim.tolerance).comparisons
        region = comparison.region
        if comparison.against is not None:  # of two estimated sides: the whole difference
            assert region == Region(0.0, math.inf)
            truth -= off(one) * within
        beyond = max(region.low - truth, truth - region.high)
        assert beyond == pytest.approx(abs(off(one)) * within, abs=1e-12), claim.id
        assert widening(region, within) == within, claim.id


# ---- hostile -------------------------------------------------------------------------------------

HOSTILE = known("hostile")
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
PAIRS = [
    group
    for name, group in by_claim(HOSTILE).items()
    if group[0].truth is not Truth.UNDEFINED and name not in {*REGIONS, *TWO_SIDES}
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].case.claim.id)
def test_a_hostile_claim_is_off_by_what_it_says(pair: list[Known]) -> None:
    true, false = pair
    assert (true.truth, false.truth) == (Truth.TRUE, Truth.FALSE)
    claim = false.case.claim
    truth, value = claimed_value(true), claimed_value(false)
    unit = claim.within if claim.within is not None else claim.resolution * (abs(value) or UNIT)
    assert (value - truth) / unit == pytest.approx(off(false), rel=1e-5)
    assert abs(off(false)) > 1.5


@pytest.mark.parametrize("name", REGIONS)
def test_a_hostile_region_is_off_by_what_it_says(name: str) -> None:
    true, false = by_claim(HOSTILE)[name]
    inside, outside = (beyond(one, REGIONS[name]) for one in (true, false))
    within = false.case.claim.within
    assert within is not None
    assert inside < -within
    assert outside / within == pytest.approx(off(false))


def beyond(one: Known, truth: float) -> float:
    """How far the truth lies beyond the region that is claimed; below 0 within it."""
    comparisons = read_statement(lowered(one), None).comparisons
    assert all(each.against is None for each in comparisons)
    return max(max(each.region.low - truth, truth - each.region.high) for each in comparisons)


# ---- all sets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "true", "false", "undefined"),
    [("moments", 30, 0, 30), ("distributions", 40, 15, 0), ("hostile", 319, 319, 31)],
)
def test_so_many_are_true_false_and_undefined(
    name: str, true: int, false: int, undefined: int
) -> None:
    truths = Counter(one.truth for one in known(name))
    assert truths[Truth.TRUE] == true
    assert truths[Truth.FALSE] == false
    assert truths[Truth.UNDEFINED] == undefined


def test_what_is_false_of_code_is_what_is_said_to_be() -> None:
    cases = known("code")
    columns = {one.case.claim.column.name for one in cases if one.case.claim.column}
    assert columns == {one.name for one in IMPLEMENTATIONS}
    false = {one.case.claim.id for one in cases if one.truth is Truth.FALSE}
    assert {"die.law@kept", "dropout.mean@scaled", "masks@batch", "dropout.number@broken"} <= false
    assert not any("@sound" in claim for claim in false)
    assert false == {f"{claim}@{one.name}" for one in IMPLEMENTATIONS for claim in one.false}
