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

# ---- numbers -------------------------------------------------------------------------------------


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
    ("region", "shown"),
    [
        (Region(512.0, 512.0), "512"),
        (Region(low=0.9, low_open=True), "> 0.9"),
        (Region(low=0.9), ">= 0.9"),
        (Region(high=2.0), "<= 2"),
        (Region(high=2.0, high_open=True), "< 2"),
        (Region(0.405, 0.415), "0.405 … 0.415"),
        (None, "-"),
    ],
)
def test_what_is_claimed_is_shown_with_its_relation(region: Region | None, shown: str) -> None:
    assert words.claimed(replace(PASSED, region=region)) == shown


@pytest.mark.parametrize(
    ("region", "shown"),
    [
        (Region(7.0400001, 7.0400001), "7.04"),
        (Region(1 / 120, 1 / 119), "0.008333 … 0.008403"),
        (Region(1 / 3, 1 / 3 + 1e-6), "0.333333 … 0.333334"),
        (Region(high=1234.56789), "<= 1235"),
    ],
)
def test_a_claimed_value_is_not_as_rough_as_a_rough_estimate(region: Region, shown: str) -> None:
    rough = replace(PASSED, region=region, estimate=30.0, interval=(-1e3, 1e3))
    assert words.claimed(rough) == shown


# ---- digits --------------------------------------------------------------------------------------


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


def test_a_tie_that_no_digits_tell_is_shown_as_usual() -> None:
    case = replace(PASSED, interval=(512.0 + 1e-10, 514.57), estimate=513.0)
    assert words.interval(case) == "[512.0, 514.6]"


def test_a_long_claimed_value_has_a_digit_more_than_its_interval() -> None:
    case = replace(PASSED, region=Region(2 / 3, 2 / 3), interval=(0.67, 0.70), estimate=0.682)
    assert words.claimed(case) == "0.6667"
    assert words.claimed(replace(case, region=Region(0.123456, 0.123456))) == "0.123456"
    ends = replace(case, region=Region(1 / 3, 2 / 3))
    assert words.claimed(ends) == "0.3333 … 0.6667"
    assert words.claimed(replace(case, draws=0, interval=None)) == "0.66666667"


def test_an_estimate_that_nothing_bounds_has_three_digits() -> None:
    case = replace(UNDECIDED, estimate=1.0192855, interval=(None, None))
    assert (words.estimated(case), words.interval(case)) == ("1.02", "(-inf, inf)")
    worked_out = replace(case, interval=(case.estimate, case.estimate), draws=0)
    assert words.estimated(worked_out) == "1.0192855"


def test_a_distance_without_an_error_is_short() -> None:
    case = replace(FAILED, estimate=0.9 - 0.017198947, standard_error=None, scale=None)
    assert words.distance(case) == "0.0172 below"


# ---- what the resolution comes to ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("region", "absolute", "shown"),
    [
        (Region(5.0, 5.0), None, "0.01 of 5: ±0.05"),
        (Region(5.0, 5.0), 0.3, "±0.3, absolute"),
        (Region(high=5.0), None, "0.01 of 5: ±0.05"),
        (Region(high=5.0, high_open=True), None, "±0: a strict inequality is not widened"),
        (Region(4.9, 5.0), None, "0.01 of 5: ±0.005, a tenth of the half-width"),
        (Region(4.9, 5.0), 0.3, "0.3, absolute: ±0.005, a tenth of the half-width"),
        # so little narrowed that it does not show in the digits
        (Region(4.0, 5.99999998), 0.1, "0.1, absolute: ±0.1, a tenth of the half-width"),
    ],
)
def test_what_the_resolution_comes_to(region: Region, absolute: float | None, shown: str) -> None:
    case = claiming(FAILED, region, scale=5.0)
    if absolute is not None:
        case = replace(case, sharpness=looked_at(region, absolute, absolute=True))
    assert facts(case)["resolution"] == shown


def test_a_range_whose_ends_are_equal_is_not_called_strict() -> None:
    case = replace(claiming(FAILED, Region(low=0.0)), sharpness=Resolution(0.01, 0.0, False))
    shown = "±0: a range is widened by a tenth of its half-width at most"
    assert facts(case)["resolution"] == shown


def test_certainty_is_looked_at_by_violations() -> None:
    sure = replace(
        FAILED,
        region=Region(1.0, 1.0),
        method=Method.CERTAINTY,
        sharpness=Resolution(1e-4, 1e-4, absolute=True),
    )
    assert facts(sure)["resolution"] == "±0.0001: violations rarer than that"
    assert "resolution" not in facts(replace(UNDECIDED, sharpness=None))


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [
        (0.9 - 0.2, "200 standard errors below, 22.2% of the scale"),
        (0.9 - 0.9 * 9.9, "8910 standard errors below, 990% of the scale"),
        (0.9 - 0.9 * 30.14, "2.71e4 standard errors below, 30 times the scale"),
        (0.9 - 9e9, "9e12 standard errors below, 1e10 times the scale"),
        (0.9 - 9e-8, "9e-5 standard errors below, 1e-5% of the scale"),
    ],
)
def test_a_distance_is_told_in_plain_numbers(estimate: float, shown: str) -> None:
    assert words.distance(replace(FAILED, estimate=estimate)) == shown


# ---- readings ------------------------------------------------------------------------------------


def because(explanation: Explanation) -> CaseResult:
    return replace(UNDECIDED, more_draws=None, explanation=explanation)


@pytest.mark.parametrize(
    ("case", "reading"),
    [
        (FAILED, "false as stated"),
        (
            replace(PASSED, expect=Verdict.REFUTED, result=Outcome.FAIL),
            "as claimed within ±5.12, although it is expected to be refuted",
        ),
        (UNDECIDED, "too few draws: needs about 1.3e6 more draws (--max-draws 1.5e6)"),
        (
            replace(UNDECIDED, more_draws=3_100_000, more_seconds=4.04),
            "too few draws: needs about 3.1e6 more draws, 4.0 s (--max-draws 3.4e6)",
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
        (because(Reason.HEAVY_SUM.explain()), "heavy-tailed"),
        (
            because(Reason.NO_MOMENT.explain(operator="E", order=1, moment="mean")),
            "no draw was made: by its law, the quantity has no mean",
        ),
        (because(Reason.TOO_WIDE.explain()), "not decided by these draws"),
    ],
)
def test_the_likely_reading(case: CaseResult, reading: str) -> None:
    assert words.reading(case).startswith(reading)


# ---- a case in one line --------------------------------------------------------------------------


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


# ---- the exact value -----------------------------------------------------------------------------

OPEN = replace(UNDECIDED, exact=Exact(0.41), confirmed=False)
ON_THE_LIMIT = replace(PASSED, guarantee=Guarantee.ASYMPTOTIC)


@pytest.mark.parametrize(
    ("value", "text"),
    [(512.0, "512"), (511.123456, "511.12"), (0.0, "0"), (2 / 3, "0.6667")],
)
def test_an_exact_value_has_a_digit_more_than_the_estimate(value: float, text: str) -> None:
    assert words.exact(replace(CONFIRMED, exact=Exact(value))) == text


def test_an_undecided_case_with_an_exact_value_can_be_decided_by_that() -> None:
    reading = "the model gives the exact value, 0.41: --exact decides by that"
    assert words.reading(replace(OPEN, more_draws=None)) == reading
    assert words.reading(OPEN) == f"{reading}; by draws it {words.needs(OPEN)}"


def test_a_case_that_is_decided_by_its_exact_value_shows_it_once() -> None:
    by_value = replace(PASSED, draws=0, method=Method.EXACT_VALUE, guarantee=Guarantee.EXACT)
    case = replace(by_value, estimate=512.0, interval=(512.0, 512.0), exact=Exact(512.0))
    assert "exact" not in facts(case)
    assert facts(CONFIRMED)["exact"] == "512"
    assert facts(CONFIRMED)["guarantee"] == "moments, confirmed"


def test_the_summary_counts_the_verdicts_that_rest_on_the_limit_theorem() -> None:
    run = run_of(ON_THE_LIMIT, CONFIRMED, replace(ON_THE_LIMIT, verdict=Verdict.REFUTED))
    assert words.on_the_limit(run) == "2 of 3 rest on the limit theorem"
    assert words.on_the_limit(run_of(PASSED, ON_THE_LIMIT)) == "1 of 2 rests on the limit theorem"
    confirmed = replace(CONFIRMED, guarantee=Guarantee.ASYMPTOTIC)
    undecided = replace(UNDECIDED, guarantee=Guarantee.ASYMPTOTIC)
    assert words.on_the_limit(run_of(PASSED, confirmed, undecided)) is None


# ---- promises ------------------------------------------------------------------------------------

SEEMS_OFF = replace(
    PASSED,
    claim="pay",
    parameters={},
    statement="E(1e5 * pay - 2) == 0",
    region=Region(0.0, 0.0),
    estimate=-2.0,
    interval=(-2.7, 0.8),
    standard_error=0.3,
    scale=316.0,
    sharpness=Resolution(3.16, 3.16),
    within=3.16,
)
NOTE = "verified within ±3.16, though 0.63% off (2)"


def test_only_what_is_verified_promises_anything() -> None:
    assert words.within(PASSED) == "±5.12"
    assert words.within(FAILED) == words.within(UNDECIDED) == "-"
    assert words.within(replace(PASSED, within=0.0)) == "±0"
    assert words.within(SEEMS_OFF) == "±3.16"


def test_what_is_verified_and_seems_to_be_off_has_a_note() -> None:
    assert words.note(SEEMS_OFF) == NOTE
    known = replace(SEEMS_OFF, exact=Exact(-1.0))
    assert (words.note(known) or "").endswith("though 0.32% off by the model (1)")
    assert words.note(PASSED) is None
    assert words.note(FAILED) is None


def test_the_table_has_one_note_a_claim_the_worst() -> None:
    finer = replace(SEEMS_OFF, parameters={"p": 0.5}, within=2.0)
    table = run_report(run_of(finer, SEEMS_OFF, PASSED), Terminal())
    assert f"note: pay (2 cases): {NOTE}\n" in table
    assert table.count("note: ") == 1
    assert "note: " not in run_report(run_of(SEEMS_OFF), Terminal(), quiet=True)


@pytest.mark.parametrize(
    ("estimate", "exact", "off"),
    [
        (512.5, None, None),  # 1.1 standard errors
        (514.0, None, None),
        (515.0, None, "0.59% off (3)"),  # 6.7 standard errors
        (509.0, None, "0.59% off (3)"),
        (515.0, Exact(512.0), None),  # the model knows better
        (512.0, Exact(512.5), "0.098% off by the model (0.5)"),
        (512.0, Exact(512.0 + 1e-8), None),  # rounding
        (512.0, Exact(512.5, error=1.0), None),
    ],
)
def test_what_is_off_is_said_to_be(estimate: float, exact: Exact | None, off: str | None) -> None:
    case = replace(PASSED, estimate=estimate, exact=exact)
    assert words.off(case) == off
    note = None if off is None else f"verified within ±5.12, though {off}"
    assert words.note(case) == note
    unexpected = replace(case, expect=Verdict.REFUTED, result=Outcome.FAIL)
    if off is None:
        reading = "as claimed within ±5.12, although it is expected to be refuted"
    else:
        reading = f"within the resolution, though {off}, and it is expected to be refuted"
    assert words.reading(unexpected) == reading


def test_rounding_is_not_said_to_be_off() -> None:
    # the mean of what is the same in every draw, but for its last digits
    case = replace(PASSED, estimate=math.nextafter(512.0, 0), standard_error=1e-18)
    assert words.off(replace(case, region=Region(512.0, 512.0))) is None
    assert words.off(replace(case, region=Region(513.0, 513.0))) == "0.2% off (1)"


@pytest.mark.parametrize("case", [PASSED, CONFIRMED, FAILED, UNDECIDED, SEEMS_OFF])
def test_nothing_is_called_true(case: CaseResult) -> None:
    for expect in (Verdict.VERIFIED, Verdict.REFUTED):
        shown = replace(case, expect=expect, result=Outcome.FAIL)
        assert "true" not in words.reading(shown)
        assert "true" not in (words.note(shown) or "")


@pytest.mark.parametrize(
    ("region", "interval", "price"),
    [
        (Region(0.0, 0.0), (-0.0331, 0.02), "within: 0.034 would do with these"),
        (Region(high=0.0), (-0.5, 0.02), "within: 0.02 would do with these"),
        (Region(high=0.0, high_open=True), (-0.5, 0.02), None),  # strict
        (Region(-0.1, 0.1), (-0.15, 0.02), None),  # a range is no wider for the asking
        (Region(0.0, 0.0), (-0.005, 0.002), None),  # narrow enough
        (Region(0.0, 0.0), (0.02, 0.03), None),  # refuted
        (Region(0.0, 0.0), (None, 0.03), None),
    ],
)
def test_an_undecided_case_names_the_promise_that_would_do(
    region: Region, interval: tuple[float | None, float], price: str | None
) -> None:
    case = claiming(UNDECIDED, region, interval=interval, scale=1.0)
    assert words.price(case) == price
    assert words.reading(case).endswith(price or "(--max-draws 1.5e6)")


def test_an_undecided_case_of_code_names_the_resolution_that_its_time_allows() -> None:
    sharp = Resolution(5.12, 5.12)  # 0.01 of 512
    code = replace(
        claiming(UNDECIDED, Region(512.0, 512.0), interval=(500.0, 520.0), scale=512.0),
        calls=CallCount(64, declared=True),
        sharpness=sharp,
        estimate=511.0,
        more_seconds=54_000.0,
    )
    assert words.reading(code) == (
        "too few draws: resolution: 0.024 would do with these draws (or --max-draws 1.5e6)"
    )
    absolute = replace(code, sharpness=replace(sharp, absolute=True))
    assert "within: 12 would do with these draws" in words.reading(absolute)


def test_sides_are_shown_with_their_relations() -> None:
    two = replace(
        FAILED,
        quantity=Quantity.LEFT_MINUS_RIGHT,
        region=Region(0.0, 0.0),
        estimate=-0.005,
        interval=(-0.009, -0.001),
        sides=(0.1, 0.105),
        relations=("==",),
    )
    assert words.claimed(two) == "0.1000 == 0.1050"
    assert words.estimated(two) == "diff -0.0050"
    chain = replace(two, sides=(0.1, 0.105, 0.2), relations=("<", "<="))
    assert words.claimed(chain) == "0.1000 < 0.1050 <= 0.2000"
    share = replace(two, region=Region(-0.001, 0.001))
    assert words.claimed(share) == "0.1000 == 0.1050 ±0.001"
    assert words.claimed(replace(two, sides=None)) == "-"
    unbounded = replace(two, interval=(None, None))
    assert words.claimed(unbounded) == "0.1 == 0.105"


# ---- what a document prints ----------------------------------------------------------------------


def test_a_claim_of_another_region_is_shown_as_that() -> None:
    mutant = replace(PRINTED_IN_PAPER, region=Region(0.305, 0.415))
    assert words.claimed(mutant) == "0.305 … 0.415"
    equal = replace(
        PRINTED_IN_PAPER, written=replace(FIGURE, rounded=False), region=Region(0.41, 0.41)
    )
    assert words.claimed(equal) == "0.41"
    assert words.rounding(PASSED) is None


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
