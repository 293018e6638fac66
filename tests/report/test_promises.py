"""What a verdict promises, in words."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from report_cases import CONFIRMED, FAILED, PASSED, UNDECIDED, claiming, run_of

from dropcheck.claims.registry import Registry
from dropcheck.report import Report, words
from dropcheck.report.csv_report import csv_report
from dropcheck.report.formats import PRINTED
from dropcheck.report.html import html_report
from dropcheck.report.screen import Terminal
from dropcheck.report.terminal.run_table import run_report
from dropcheck.results import (
    CallCount,
    CaseResult,
    Exact,
    Outcome,
    Quantity,
    Region,
    Resolution,
    Verdict,
)

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
NO_CLAIMS = Registry("claims.yaml", {}, {})
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


@pytest.mark.parametrize("name", [name for name in PRINTED if name not in ("table", "json")])
def test_every_report_has_the_note(name: str) -> None:
    shown = PRINTED[name].make(Report(run_of(SEEMS_OFF, PASSED), NO_CLAIMS))
    assert "though 0.63%" in str(shown)


def test_the_page_has_the_note_at_its_top_and_beside_the_case() -> None:
    page = html_report(Report(run_of(SEEMS_OFF), NO_CLAIMS))
    assert page.count("though 0.63% off") == 2


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
    assert words.estimated(two) == "difference -0.0050"
    chain = replace(two, sides=(0.1, 0.105, 0.2), relations=("<", "<="))
    assert words.claimed(chain) == "0.1000 < 0.1050 <= 0.2000"
    share = replace(two, region=Region(-0.001, 0.001))
    assert words.claimed(share) == "0.1000 == 0.1050 ±0.001"
    assert words.claimed(replace(two, sides=None)) == "-"
    unbounded = replace(two, interval=(None, None))
    assert words.claimed(unbounded) == "0.1 == 0.105"
    assert "left" in csv_report(Report(run_of(two), NO_CLAIMS)).splitlines()[0]
