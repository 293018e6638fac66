"""Numbers and sentences: digits, what a verdict promises, what a case needs."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from report_cases import (
    CONFIRMED,
    FAILED,
    FIGURE,
    PASSED,
    PRINTED_IN_PAPER,
    UNDECIDED,
    claiming,
    looked_at,
    run_of,
)

from dropcheck.reasons import Explanation, Reason
from dropcheck.report import numbers, words
from dropcheck.report.facts import facts
from dropcheck.report.screen import Terminal
from dropcheck.report.table import run_report
from dropcheck.results import (
    CallCount,
    CaseResult,
    Exact,
    Guarantee,
    Method,
    Outcome,
    Quantity,
    Region,
    Resolution,
    Verdict,
)

CLAIMS_TWO = replace(
    FAILED,
    quantity=Quantity.LEFT_MINUS_RIGHT,
    region=Region(0.0, 0.0),
    estimate=-0.005,
    interval=(-0.009, -0.001),
    sides=(0.1, 0.105),
    relations=("==",),
)
SEEMS_OFF = replace(
    PASSED,
    region=Region(0.0, 0.0),
    estimate=-2.0,
    interval=(-2.7, 0.8),
    standard_error=0.3,
    scale=316.0,
    sharpness=Resolution(3.16, 3.16),
    within=3.16,
)
BELOW_ITS_BOUND = replace(
    CONFIRMED,
    region=Region(high=0.8463, high_open=True),
    estimate=0.8,
    interval=(-1.1, 2.3),
    exact=Exact(0.84628437532, 1e-9),
)
UNEXPECTED = replace(PASSED, expect=Verdict.REFUTED, result=Outcome.FAIL)
OPEN = replace(UNDECIDED, exact=Exact(0.41), confirmed=False)
SURE = replace(
    FAILED,
    region=Region(1.0, 1.0),
    method=Method.CERTAINTY,
    sharpness=Resolution(1e-4, 1e-4, absolute=True),
)
CODE = replace(
    claiming(UNDECIDED, Region(512.0, 512.0), interval=(500.0, 520.0), scale=512.0),
    calls=CallCount(64, declared=True),
    sharpness=Resolution(5.12, 5.12),
    estimate=511.0,
    more_seconds=54_000.0,
)


def claim(region: Region | None) -> CaseResult:
    return replace(PASSED, region=region)


def beside(region: Region, low: float, high: float, estimate: float) -> CaseResult:
    return replace(PASSED, region=region, interval=(low, high), estimate=estimate)


def looked(region: Region, absolute: float | None = None) -> CaseResult:
    case = claiming(FAILED, region, scale=5.0)
    if absolute is None:
        return case
    return replace(case, sharpness=looked_at(region, absolute, absolute=True))


def because(explanation: Explanation) -> CaseResult:
    return replace(UNDECIDED, more_draws=None, explanation=explanation)


def priced(region: Region, low: float | None, high: float) -> CaseResult:
    return claiming(UNDECIDED, region, interval=(low, high), scale=1.0)


def off(estimate: float, exact: Exact | None = None) -> CaseResult:
    return replace(PASSED, estimate=estimate, exact=exact)


NEEDS = "too few draws: needs about 1.3e6 more draws (--max-draws 1.5e6)"
THIRDS = Region(2 / 3, 2 / 3)

SAID: dict[str, list[tuple[CaseResult, str | None]]] = {
    "claimed": [
        (BELOW_ITS_BOUND, "< 0.8463"),
        (replace(PASSED, region=Region(0.0, 0.0), quantity=Quantity.DISTANCE), "distance 0"),
        (claim(Region(512.0, 512.0)), "512"),
        (claim(Region(low=0.9, low_open=True)), "> 0.9"),
        (claim(Region(low=0.9)), ">= 0.9"),
        (claim(Region(high=2.0)), "<= 2"),
        (claim(Region(high=2.0, high_open=True)), "< 2"),
        (claim(Region(0.405, 0.415)), "0.405 … 0.415"),
        (claim(None), None),
        # not as rough as a rough estimate
        (beside(Region(7.0400001, 7.0400001), -1e3, 1e3, 30.0), "7.04"),
        (beside(Region(1 / 120, 1 / 119), -1e3, 1e3, 30.0), "0.008333 … 0.008403"),
        (beside(Region(1 / 3, 1 / 3 + 1e-6), -1e3, 1e3, 30.0), "0.333333 … 0.333334"),
        (beside(Region(high=1234.56789), -1e3, 1e3, 30.0), "<= 1235"),
        # a digit more than the interval
        (beside(THIRDS, 0.67, 0.70, 0.682), "0.6667"),
        (beside(Region(0.123456, 0.123456), 0.67, 0.70, 0.682), "0.123456"),
        (replace(PASSED, region=THIRDS, draws=0, interval=None), "0.66666667"),
        # sides with their relations
        (CLAIMS_TWO, "0.1000 == 0.1050"),
        (
            replace(CLAIMS_TWO, sides=(0.1, 0.105, 0.2), relations=("<", "<=")),
            "0.1000 < 0.1050 <= 0.2000",
        ),
        (replace(CLAIMS_TWO, region=Region(-0.001, 0.001)), "0.1000 == 0.1050 ±0.001"),
        (replace(CLAIMS_TWO, sides=None), None),
        (replace(CLAIMS_TWO, interval=(None, None)), "0.1 == 0.105"),
        # what a document prints
        (PRINTED_IN_PAPER, "0.41 ± 0.005"),
        (replace(PRINTED_IN_PAPER, region=Region(0.305, 0.415)), "0.305 … 0.415"),
        (
            replace(
                PRINTED_IN_PAPER, written=replace(FIGURE, rounded=False), region=Region(0.41, 0.41)
            ),
            "0.41",
        ),
    ],
    "estimated": [
        (CLAIMS_TWO, "diff -0.0050"),
        (replace(UNDECIDED, estimate=1.0192855, interval=(None, None)), "1.02"),
        (
            replace(UNDECIDED, estimate=1.0192855, interval=(1.0192855, 1.0192855), draws=0),
            "1.0192855",
        ),
    ],
    "interval": [
        (replace(UNDECIDED, interval=(None, None)), "(-inf, inf)"),
        # no digits tell this tie
        (replace(PASSED, interval=(512.0 + 1e-10, 514.57), estimate=513.0), "[512.0, 514.6]"),
    ],
    "exact": [
        (replace(CONFIRMED, exact=Exact(512.0)), "512"),
        (replace(CONFIRMED, exact=Exact(511.123456)), "511.12"),
        (replace(CONFIRMED, exact=Exact(0.0)), "0"),
        (replace(CONFIRMED, exact=Exact(2 / 3)), "0.6667"),
        (BELOW_ITS_BOUND, "0.84628"),
        (replace(BELOW_ITS_BOUND, exact=Exact(0.8463 + 1e-12, 1e-11)), "0.8463"),  # no difference
        (replace(CONFIRMED, draws=0, method=Method.EXACT_VALUE), None),
    ],
    "guarantee": [(CONFIRMED, "moments, confirmed")],
    "within": [
        (PASSED, "±5.12"),
        (FAILED, None),
        (UNDECIDED, None),
        (replace(PASSED, within=0.0), "±0"),
    ],
    "resolution": [
        (looked(Region(5.0, 5.0)), "0.01 of 5: ±0.05"),
        (looked(Region(5.0, 5.0), 0.3), "±0.3, absolute"),
        (looked(Region(high=5.0)), "0.01 of 5: ±0.05"),
        (looked(Region(high=5.0, high_open=True)), "±0: a strict inequality is not widened"),
        (looked(Region(4.9, 5.0)), "0.01 of 5: ±0.005, a tenth of the half-width"),
        (looked(Region(4.9, 5.0), 0.3), "0.3, absolute: ±0.005, a tenth of the half-width"),
        # so little narrowed that it does not show in the digits
        (
            looked(Region(4.0, 5.99999998), 0.1),
            "0.1, absolute: ±0.1, a tenth of the half-width",
        ),
        (
            replace(claiming(FAILED, Region(low=0.0)), sharpness=Resolution(0.01, 0.0, False)),
            "±0: a range is widened by a tenth of its half-width at most",
        ),
        (SURE, "±0.0001: violations rarer than that"),
        (replace(UNDECIDED, sharpness=None), None),
    ],
    "distance": [
        (
            replace(FAILED, estimate=0.9 - 0.0172, standard_error=None, scale=None),
            "0.0172 below",
        ),
        (replace(FAILED, estimate=0.7), "200 standard errors below, 22.2% of the scale"),
        (
            replace(FAILED, estimate=0.9 - 0.9 * 9.9),
            "8910 standard errors below, 990% of the scale",
        ),
        (
            replace(FAILED, estimate=0.9 - 0.9 * 30.14),
            "2.71e4 standard errors below, 30 times the scale",
        ),
        (replace(FAILED, estimate=-9e9), "9e12 standard errors below, 1e10 times the scale"),
        (
            replace(FAILED, estimate=0.9 - 9e-8),
            "9e-5 standard errors below, 1e-5% of the scale",
        ),
    ],
    "reading": [
        (FAILED, "false as stated: the interval misses what is claimed"),
        (UNEXPECTED, "as claimed within ±5.12, although it is expected to be refuted"),
        (
            replace(UNEXPECTED, estimate=515.0),
            "within the resolution, though 0.59% off (3), and it is expected to be refuted",
        ),
        (UNDECIDED, NEEDS),
        (
            replace(UNDECIDED, more_draws=3_100_000, more_seconds=4.04),
            "too few draws: needs about 3.1e6 more draws, 4.0 s (--max-draws 3.4e6)",
        ),
        (  # longer than anybody waits
            replace(UNDECIDED, more_draws=3_100_000, more_seconds=4e4),
            "too few draws: needs about 3.1e6 more draws, 11 h (--max-draws 3.4e6); else claim a "
            "ratio, a bound or a probability, or a coarser --resolution",
        ),
        (
            replace(UNDECIDED, draws=10),
            "too few draws: how many more it needs cannot be told from so few",
        ),
        (
            replace(FAILED, exact=Exact(0.7), interval=(0.1, 0.95), draws=10),
            "false as stated: the exact value misses what is claimed",
        ),
        (
            replace(UNDECIDED, timed_out=True),
            "too few draws: needs about 1.3e6 more draws (--time-limit ended it: make it longer, "
            "or --max-draws 1.5e6)",
        ),
        (
            replace(UNDECIDED, timed_out=True, calls=CallCount(64, declared=True)),
            "too few draws: needs about 1.3e6 more draws (its seconds are up: --max-draws 1.5e6)",
        ),
        (because(Reason.HEAVY_SUM.explain()), Reason.HEAVY_SUM.reading),
        (because(Reason.TOO_WIDE.explain()), "not decided by these draws"),
        (
            replace(OPEN, more_draws=None),
            "the model gives the exact value, 0.41: --exact decides by that",
        ),
        (
            OPEN,
            "the model gives the exact value, 0.41: --exact decides by that; by draws it "
            "needs about 1.3e6 more draws (--max-draws 1.5e6)",
        ),
        # the promise that would do
        (
            priced(Region(0.0, 0.0), -0.0331, 0.02),
            f"{NEEDS}; within: 0.034 would do with these",
        ),
        (priced(Region(high=0.0), -0.5, 0.02), f"{NEEDS}; within: 0.02 would do with these"),
        (priced(Region(high=0.0, high_open=True), -0.5, 0.02), NEEDS),  # strict
        (priced(Region(-0.1, 0.1), -0.15, 0.02), NEEDS),  # a range is no wider for the asking
        (priced(Region(0.0, 0.0), -0.005, 0.002), NEEDS),  # narrow enough
        (priced(Region(0.0, 0.0), 0.02, 0.03), NEEDS),  # refuted
        (priced(Region(0.0, 0.0), None, 0.03), NEEDS),
        (
            CODE,
            "too few draws: resolution: 0.024 would do with these draws (or --max-draws 1.5e6)",
        ),
        (
            replace(CODE, sharpness=Resolution(5.12, 5.12, absolute=True)),
            "too few draws: within: 12 would do with these draws (or --max-draws 1.5e6)",
        ),
    ],
    "note": [
        (PASSED, None),
        (FAILED, None),
        (SEEMS_OFF, "verified within ±3.16, though 0.63% off (2)"),
        (
            replace(SEEMS_OFF, exact=Exact(-1.0)),
            "verified within ±3.16, though 0.32% off by the model (1)",
        ),
        (off(512.5), None),  # 1.1 standard errors
        (off(515.0), "verified within ±5.12, though 0.59% off (3)"),  # 6.7 standard errors
        (off(509.0), "verified within ±5.12, though 0.59% off (3)"),
        (off(515.0, Exact(512.0)), None),  # the model knows better
        (
            off(512.0, Exact(512.5)),
            "verified within ±5.12, though 0.098% off by the model (0.5)",
        ),
        (off(512.0, Exact(512.0 + 1e-8)), None),  # rounding
        (off(512.0, Exact(512.5, error=1.0)), None),
        # the mean of what is the same in every draw, but for its last digits
        (replace(PASSED, estimate=math.nextafter(512.0, 0), standard_error=1e-18), None),
    ],
}


@pytest.mark.parametrize(
    ("label", "case", "text"), [(label, *row) for label, rows in SAID.items() for row in rows]
)
def test_what_is_said(label: str, case: CaseResult, text: str | None) -> None:
    assert facts(case).get(label) == text
    if label in ("reading", "note"):
        assert "true" not in (text or "")  # nothing is called true


# ---- digits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((509.11, 514.57), "[509.1, 514.6]"),
        ((0.49996, 0.50009), "[0.49996, 0.50009]"),
        ((-2e-9, 3e-9), "[-2.0e-9, 3.0e-9]"),
        ((1.23456e9, 1.23466e9), "[1.23456e9, 1.23466e9]"),
        ((0.93, None), "[0.930, inf)"),
        ((None, 0.97), "(-inf, 0.970]"),
        ((4.0, 4.0), "[4, 4]"),
        (None, "-"),
    ],
)
def test_an_interval_has_the_digits_that_its_width_supports(
    ends: tuple[float | None, float | None] | None, shown: str
) -> None:
    known = [end for end in ends or () if end is not None]
    assert (
        numbers.interval(ends, sum(known) / len(known) + 0.01 if len(known) == 1 else None) == shown
    )


def test_the_digits_shown_tell_the_ends_of_any_interval_apart() -> None:
    rng = np.random.default_rng(1)  # no false alarm: a rule of arithmetic, not of chance
    for middle, asked in zip(
        rng.normal(size=2000) * 10.0 ** rng.integers(-12, 12, 2000),
        10.0 ** rng.uniform(-9, 3, 2000),
        strict=True,
    ):
        width = max(asked, abs(middle) * 1e-11)  # a float holds no more
        low, high = numbers.measured([middle - width / 2, middle + width / 2], width)
        assert float(low) < float(high)
        assert float(low) == pytest.approx(middle - width / 2, abs=0.051 * width)


def test_a_number_that_is_not_finite_never_stops_a_report() -> None:
    assert numbers.exact(math.nan) == numbers.exact(None) == "-"
    assert numbers.measured([math.inf, math.nan, 1.0], 0.1) == ("inf", "-", "1.00")


@pytest.mark.parametrize(
    ("claimed", "interval", "estimated", "shown"),
    [
        (0.0, (-0.0121, -0.0004), -0.0062, "[-0.0121, -0.0004]"),  # to three it would touch 0
        (0.0, (-0.0121, 0.0004), -0.0062, "[-0.012, 0.000]"),  # which this one does
        (0.0, (-0.0121, -0.00000004), -0.006, "[-0.01210000, -0.00000004]"),
        (0.0014, (0.0012, 0.0300), 0.015, "[0.001, 0.030]"),
        (0.10049, (0.1001, 0.1305), 0.115, "[0.100, 0.131]"),  # touches it either way
        (0.1007, (0.10065, 0.1305), 0.115, "[0.1007, 0.1305]"),  # 0.101 would miss it
        (2 / 3, (0.666672, 0.70), 0.68, "[0.667, 0.700]"),  # beside 0.6667
    ],
)
def test_an_interval_touches_what_is_claimed_in_print_where_it_does(
    claimed: float, interval: tuple[float, float], estimated: float, shown: str
) -> None:
    case = replace(PASSED, region=Region(claimed, claimed), interval=interval, estimate=estimated)
    assert words.interval(case) == shown
    low, high = (float(text) for text in shown.strip("[]").split(", "))
    touches = interval[0] <= claimed <= interval[1]
    assert (low <= float(words.claimed(case)) <= high) is touches
    # the estimate has the digits of its interval
    decimals = len(words.estimated(case).partition(".")[2])
    assert decimals == len(shown.partition(",")[0].partition(".")[2])


@pytest.mark.parametrize(
    ("digits", "unit", "shown"),
    [
        ("0.900", "0.001", "0.900 ± 0.0005"),
        ("0.00", "0.01", "0.00 ± 0.005"),
        ("-12345", "1", "-12345 ± 0.5"),
        ("1.20E-3", "1E-5", "0.00120 ± 0.000005"),
        ("3E+8", "1E+8", "3e8 ± 5e7"),
        ("6.02E+23", "1E+21", "6.02e23 ± 5e20"),
    ],
)
def test_the_digits_are_those_that_are_printed(digits: str, unit: str, shown: str) -> None:
    assert numbers.rounding(Decimal(digits), Decimal(unit)) == shown


# ---- a case in one line, and a run ------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "line"),
    [
        (FAILED, "refuted: claimed >= 0.9, estimated 0.700"),
        (UNDECIDED, "undecided: claimed 0.405 … 0.415, estimated 0.410"),
        (replace(UNDECIDED, region=None, estimate=None, interval=None), "undecided"),
        (
            replace(PASSED, expect=Verdict.REFUTED, result=Outcome.FAIL),
            "verified, expected refuted: claimed 512, estimated 511.8",
        ),
    ],
)
def test_a_case_in_one_line(case: CaseResult, line: str) -> None:
    assert words.headline(case) == line


ON_THE_LIMIT = replace(PASSED, guarantee=Guarantee.ASYMPTOTIC)


def test_the_summary_counts_the_verdicts_that_rest_on_the_limit_theorem() -> None:
    run = run_of(ON_THE_LIMIT, CONFIRMED, replace(ON_THE_LIMIT, verdict=Verdict.REFUTED))
    assert words.on_the_limit(run) == "2 of 3 rest on the limit theorem"
    assert words.on_the_limit(run_of(PASSED, ON_THE_LIMIT)) == "1 of 2 rests on the limit theorem"
    confirmed = replace(CONFIRMED, guarantee=Guarantee.ASYMPTOTIC)
    undecided = replace(UNDECIDED, guarantee=Guarantee.ASYMPTOTIC)
    assert words.on_the_limit(run_of(PASSED, confirmed, undecided)) is None


def test_the_table_has_one_note_a_claim_the_worst() -> None:
    pay = replace(SEEMS_OFF, claim="pay")
    finer = replace(pay, parameters={"p": 0.5}, within=2.0)
    table = run_report(run_of(finer, pay, PASSED), Terminal())
    assert "note: pay (2 cases): verified within ±3.16, though 0.63% off (2)\n" in table
    assert table.count("note: ") == 1
    assert "note: " not in run_report(run_of(SEEMS_OFF), Terminal(), quiet=True)
