"""The error budget and the rule of verdicts, case by case: nothing here is random."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dropcheck.inference.intervals import case_alpha, looks
from dropcheck.inference.region import decide, reach, widening
from dropcheck.results import Region, Verdict

counts = st.integers(min_value=1, max_value=10**9)


@example(planned=2, fewest=1, most=2, alpha=0.1)  # both early looks would be at the first draw
@given(planned=counts, fewest=counts, most=counts, alpha=st.sampled_from([0.1, 1e-6]))
def test_looks_spend_no_more_than_the_case_has_and_go_on_to_the_end(
    planned: int, fewest: int, most: int, alpha: float
) -> None:
    fewest = min(fewest, most)
    plan = list(looks(planned, fewest, most, alpha))
    assert sum(look.alpha for look in plan) <= alpha * (1 + 1e-12)
    assert all(look.alpha > 0 for look in plan)
    draws = [look.draws for look in plan]
    assert draws == sorted(set(draws))
    assert fewest <= draws[0] <= draws[-1] == most


def test_most_is_spent_where_the_verdict_is_expected() -> None:
    dearest = max(looks(16_000, 100, 10**6, 1.0), key=lambda look: look.alpha)
    assert dearest.draws == 16_000
    assert dearest.alpha > 0.5
    assert [look.draws for look in looks(0, 0, 3, 0.01)] == [1, 2, 3]
    # what seems out of reach is looked at on the way
    assert [look.draws for look in looks(10**15, 10, 1600, 0.01)] == [100, 400, 1600]


def test_each_case_has_its_share_of_the_registry() -> None:
    for registry, selected, share in [(200, 1, 200), (200, 200, 200), (3, 1000, 1000), (0, 0, 1)]:
        assert case_alpha(1e-6, registry, selected) == 1e-6 / share


INF = math.inf
VERIFIED, REFUTED, OPEN = Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNDECIDED
POINT, RANGE = Region(1.0, 1.0), Region(0.0, 1.0)
AT_MOST, BELOW = Region(-INF, 1.0), Region(-INF, 1.0, high_open=True)
AT_LEAST, ABOVE = Region(1.0, INF), Region(1.0, INF, low_open=True)
WITHIN = Region(0.0, 1.0, low_open=True, high_open=True)


@pytest.mark.parametrize(
    ("region", "low", "high", "verdict"),
    [
        # a point, widened by 0.1
        (POINT, 0.9, 1.1, VERIFIED), (POINT, 0.89, 1.05, OPEN), (POINT, 0.95, 1.11, OPEN),
        (POINT, 1.0, 1.05, VERIFIED),  # it touches at one end
        (POINT, 1.001, 1.05, REFUTED),  # inside the widened region, but it misses the point
        (POINT, 0.95, 0.999, REFUTED), (POINT, 1.0, 1.0, VERIFIED), (POINT, -INF, INF, OPEN),
        (POINT, math.nan, 1.0, OPEN), (POINT, 1.0, math.nan, OPEN),
        # a half-line with its end
        (AT_MOST, 0.5, 1.1, VERIFIED), (AT_MOST, 0.5, 1.11, OPEN), (AT_MOST, 1.0, 1.05, VERIFIED),
        (AT_MOST, 1.01, 1.05, REFUTED), (AT_MOST, -INF, 1.0, VERIFIED),
        (AT_LEAST, 0.9, 5.0, VERIFIED), (AT_LEAST, 0.89, 5.0, OPEN),
        (AT_LEAST, 0.89, 0.99, REFUTED),
        # a half-line without its end is not widened
        (BELOW, 0.5, 0.999, VERIFIED), (BELOW, 0.5, 1.0, OPEN), (BELOW, 0.5, 1.05, OPEN),
        (BELOW, 1.0, 1.05, REFUTED), (BELOW, 1.0, 1.0, REFUTED),
        (ABOVE, 1.001, 2.0, VERIFIED), (ABOVE, 1.0, 2.0, OPEN), (ABOVE, 0.5, 1.0, REFUTED),
        # a range
        (RANGE, -0.1, 1.1, VERIFIED), (RANGE, -0.11, 0.5, OPEN), (RANGE, 0.5, 1.11, OPEN),
        (RANGE, 1.01, 1.05, REFUTED), (RANGE, -1.0, -0.01, REFUTED),
        (WITHIN, 0.01, 0.99, VERIFIED), (WITHIN, 0.0, 0.5, OPEN), (WITHIN, 1.0, 1.5, REFUTED),
    ],
)  # fmt: skip
def test_verdict(region: Region, low: float, high: float, verdict: Verdict) -> None:
    assert decide(low, high, region, widen=0.1) is verdict


OF_ROUNDED = [  # differences from 1 that may be rounding, which is below 1e-12
    (POINT, 1e-13, 1e-13, VERIFIED), (POINT, -1e-13, -1e-13, VERIFIED),
    (POINT, 1e-11, 1e-11, REFUTED), (AT_MOST, 1e-13, 1e-13, VERIFIED),
    (AT_MOST, 1e-11, 1e-11, REFUTED), (AT_LEAST, -1e-13, 0.5, VERIFIED),
    # equal as far as rounding tells, and equal is not below
    (BELOW, -1e-13, -1e-13, REFUTED), (BELOW, -0.5, -1e-13, OPEN),
    (BELOW, -1e-11, -1e-11, VERIFIED), (ABOVE, 1e-13, 1e-13, REFUTED),
    (ABOVE, 1e-13, 0.5, OPEN), (ABOVE, 1e-11, 1e-11, VERIFIED),
]  # fmt: skip
OF_CODE = [  # which may be off by 0.025, a quarter of the widening; an open end is as it is
    (POINT, 0.02, 0.09, VERIFIED), (POINT, -0.09, -0.02, VERIFIED), (POINT, 0.03, 0.09, REFUTED),
    (POINT, -0.09, -0.03, REFUTED), (POINT, 0.02, 0.11, OPEN), (POINT, -0.11, -0.02, OPEN),
    (ABOVE, -0.01, 0.5, OPEN), (ABOVE, -0.02, 0.0, REFUTED), (BELOW, -0.5, 0.01, OPEN),
    (BELOW, 0.0, 0.02, REFUTED), (ABOVE, 0.01, 0.5, VERIFIED), (BELOW, -0.5, -0.01, VERIFIED),
]  # fmt: skip


@pytest.mark.parametrize(
    ("region", "low", "high", "verdict", "how"),
    [(*one, {"widen": 0.0, "rounding": 1e-12}) for one in OF_ROUNDED]
    + [(*one, {"widen": 0.1, "of_code": True}) for one in OF_CODE],
)
def test_what_rounding_may_do_is_allowed_for(
    region: Region, low: float, high: float, verdict: Verdict, how: dict[str, Any]
) -> None:
    assert decide(1 + low, 1 + high, region, **how) is verdict


def test_a_range_is_widened_by_a_tenth_of_its_half_width_at_most() -> None:
    narrow = Region(0.999, 1.001)
    asked = [(POINT, 0.5), (ABOVE, 0.5), (RANGE, 0.01), (RANGE, 0.5), (narrow, 0.01)]
    found = [widening(*each) for each in asked]
    assert found == pytest.approx([0.5, 0.5, 0.01, 0.05, 0.0001], rel=1e-9)


@pytest.mark.parametrize(
    ("estimate", "region", "half_width"),
    [
        (1.0, POINT, 0.1),
        (1.05, POINT, 0.05),  # refuted from 0.05 on, verified from 0.05 on
        (2.0, POINT, 1.0), (0.5, AT_MOST, 0.6), (0.5, BELOW, 0.5), (1.5, BELOW, 0.5),
        (0.5, RANGE, 0.6), (1.0, BELOW, 0.0), (1.5, ABOVE, 0.5), (0.5, ABOVE, 0.5),
    ],
)  # fmt: skip
def test_reach_is_the_half_width_that_decides(
    estimate: float, region: Region, half_width: float
) -> None:
    assert reach(estimate, 0.0, region, 0.1) == pytest.approx(half_width)
    if half_width:
        inside, beyond = 0.99 * half_width, 1.01 * half_width
        assert decide(estimate - inside, estimate + inside, region, 0.1) is not OPEN
        assert decide(estimate - beyond, estimate + beyond, region, 0.1) is OPEN
    # 1.2 might be 1.0 within the error: only what verifies 1.0 is promised
    assert reach(1.2, 0.2, POINT, 0.1) == pytest.approx(0.1)


def test_a_region_knows_its_relation() -> None:
    regions = (POINT, AT_LEAST, ABOVE, AT_MOST, BELOW, RANGE)
    assert [one.relation for one in regions] == ["==", ">=", ">", "<=", "<", None]
