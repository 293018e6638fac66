"""The rule of verdicts, case by case: nothing here is random."""

from __future__ import annotations

import math

import pytest

from dropcheck.inference.region import decide, reach, widening
from dropcheck.results import Region, Verdict

INF = math.inf
VERIFIED, REFUTED, OPEN = Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNDECIDED

POINT = Region(1.0, 1.0)
AT_MOST = Region(-INF, 1.0)
BELOW = Region(-INF, 1.0, high_open=True)
AT_LEAST = Region(1.0, INF)
ABOVE = Region(1.0, INF, low_open=True)
RANGE = Region(0.0, 1.0)
WITHIN = Region(0.0, 1.0, low_open=True, high_open=True)


@pytest.mark.parametrize(
    ("region", "low", "high", "verdict"),
    [
        # a point, widened by 0.1
        (POINT, 0.95, 1.05, VERIFIED),
        (POINT, 0.9, 1.1, VERIFIED),
        (POINT, 0.89, 1.05, OPEN),
        (POINT, 0.95, 1.11, OPEN),
        (POINT, 1.0, 1.05, VERIFIED),  # it touches at one end
        (POINT, 1.001, 1.05, REFUTED),  # inside the widened region, but it misses the point
        (POINT, 0.95, 0.999, REFUTED),
        (POINT, 1.0, 1.0, VERIFIED),
        (POINT, -INF, INF, OPEN),
        (POINT, math.nan, 1.0, OPEN),
        (POINT, 1.0, math.nan, OPEN),
        # a half-line with its end
        (AT_MOST, 0.5, 0.9, VERIFIED),
        (AT_MOST, 0.5, 1.1, VERIFIED),
        (AT_MOST, 0.5, 1.11, OPEN),
        (AT_MOST, 1.0, 1.05, VERIFIED),
        (AT_MOST, 1.01, 1.05, REFUTED),
        (AT_MOST, -INF, 1.0, VERIFIED),
        (AT_LEAST, 0.9, 5.0, VERIFIED),
        (AT_LEAST, 0.89, 5.0, OPEN),
        (AT_LEAST, 0.89, 0.99, REFUTED),
        (AT_LEAST, 1.0, 1.0, VERIFIED),
        # a half-line without its end is not widened
        (BELOW, 0.5, 0.999, VERIFIED),
        (BELOW, 0.5, 1.0, OPEN),
        (BELOW, 0.5, 1.05, OPEN),
        (BELOW, 1.0, 1.05, REFUTED),
        (BELOW, 1.0, 1.0, REFUTED),
        (ABOVE, 1.001, 2.0, VERIFIED),
        (ABOVE, 1.0, 2.0, OPEN),
        (ABOVE, 0.5, 1.0, REFUTED),
        (ABOVE, 0.5, 1.001, OPEN),
        # a range
        (RANGE, 0.2, 0.8, VERIFIED),
        (RANGE, -0.1, 1.1, VERIFIED),
        (RANGE, -0.11, 0.5, OPEN),
        (RANGE, 0.5, 1.11, OPEN),
        (RANGE, 1.01, 1.05, REFUTED),
        (RANGE, -1.0, -0.01, REFUTED),
        (WITHIN, 0.01, 0.99, VERIFIED),
        (WITHIN, 0.0, 0.5, OPEN),
        (WITHIN, 1.0, 1.5, REFUTED),
    ],
)
def test_verdict(region: Region, low: float, high: float, verdict: Verdict) -> None:
    assert decide(low, high, region, widen=0.1) is verdict


@pytest.mark.parametrize(
    ("region", "value", "verdict"),
    [
        (POINT, 1.0 + 1e-13, VERIFIED),
        (POINT, 1.0 - 1e-13, VERIFIED),
        (POINT, 1.0 + 1e-11, REFUTED),
        (AT_MOST, 1.0 + 1e-13, VERIFIED),
        (AT_MOST, 1.0 + 1e-11, REFUTED),
        (BELOW, 1.0 - 1e-13, REFUTED),  # equal as far as rounding tells, and equal is not below
        (BELOW, 1.0 - 1e-11, VERIFIED),
        (ABOVE, 1.0 + 1e-13, REFUTED),
        (ABOVE, 1.0 + 1e-11, VERIFIED),
    ],
)
def test_difference_below_rounding_is_none(region: Region, value: float, verdict: Verdict) -> None:
    assert decide(value, value, region, widen=0.0, rounding=1e-12) is verdict


def test_without_the_rounding_rule_the_last_bit_refutes() -> None:
    assert decide(0.1 + 0.2, 0.1 + 0.2, Region(0.3, 0.3), widen=0.0) is REFUTED
    assert decide(0.1 + 0.2, 0.1 + 0.2, Region(0.3, 0.3), 0.0, rounding=1e-13) is VERIFIED


@pytest.mark.parametrize(
    ("region", "asked", "widened"),
    [
        (POINT, 0.5, 0.5),
        (AT_MOST, 0.5, 0.5),
        (ABOVE, 0.5, 0.5),
        (RANGE, 0.5, 0.05),  # a tenth of half its width
        (RANGE, 0.01, 0.01),
        (Region(0.999, 1.001), 0.01, 0.0001),
    ],
)
def test_range_is_widened_by_a_tenth_of_its_half_width_at_most(
    region: Region, asked: float, widened: float
) -> None:
    assert widening(region, asked) == pytest.approx(widened, rel=1e-9)


def test_within_a_thousandth_is_not_verified_at_a_hundredth() -> None:
    region = Region(0.999, 1.001)
    assert decide(1.004, 1.006, region, widening(region, 0.01)) is REFUTED
    assert decide(0.996, 1.004, region, widening(region, 0.01)) is OPEN
    assert decide(0.996, 1.004, region, 0.01) is VERIFIED  # without the rule


@pytest.mark.parametrize(
    ("estimate", "region", "half_width"),
    [
        (1.0, POINT, 0.1),
        (1.05, POINT, 0.05),  # refuted from 0.05 on, verified from 0.05 on
        (2.0, POINT, 1.0),
        (0.5, AT_MOST, 0.6),
        (0.5, BELOW, 0.5),
        (1.5, BELOW, 0.5),
        (0.5, RANGE, 0.6),
        (1.0, BELOW, 0.0),
    ],
)
def test_reach_is_the_half_width_that_decides(
    estimate: float, region: Region, half_width: float
) -> None:
    found = reach(estimate, 0.0, region, 0.1)
    assert found == pytest.approx(half_width)
    if half_width:
        inside, beyond = 0.99 * half_width, 1.01 * half_width
        assert decide(estimate - inside, estimate + inside, region, 0.1) is not OPEN
        assert decide(estimate - beyond, estimate + beyond, region, 0.1) is OPEN


def test_reach_does_not_bank_on_chance() -> None:
    # 1.2 might be 1.0 within the error: only what verifies 1.0 is promised
    assert reach(1.2, 0.2, POINT, 0.1) == pytest.approx(0.1)
    assert reach(1.2, 0.0, POINT, 0.1) == pytest.approx(0.2)
