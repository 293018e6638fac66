"""What a document prints: a figure with half a unit of its last digit, in every report."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from decimal import Decimal

import pytest
from report_cases import FAILED, PASSED, run_of

from dropcheck.claims.registry import Registry
from dropcheck.errors import Location
from dropcheck.report import Report, numbers, words
from dropcheck.report.csv_report import csv_report
from dropcheck.report.formats import FORMATS
from dropcheck.report.json_report import json_report
from dropcheck.results import Region, Written

FIGURE = Written(
    text="41%",
    start=Location("paper.md", 13, 43),
    end=Location("paper.md", 13, 46),
    digits=Decimal("0.41"),
    unit=Decimal("0.01"),
    percent=True,
    rounded=True,
)
CASE = replace(
    FAILED,
    written=FIGURE,
    region=Region(0.405, 0.415),
    estimate=0.4241,
    interval=(0.4226, 0.4256),
    scale=0.415,
)
REPORT = Report(run_of(CASE), Registry("paper.md", {}, {}))
# those that say what is claimed; CSV and JSON have it in a field of its own
SAYING = ("table", "json", "junit", "markdown", "github", "csv", "html")


@pytest.mark.parametrize("name", SAYING)
def test_every_report_says_what_the_printed_digits_claim(name: str) -> None:
    text = FORMATS[name].make(REPORT)
    assert isinstance(text, str)
    if name == "json":
        text = json.loads(text)["cases"][0]["rounding"]
    assert "0.41 ± 0.005" in html.unescape(text)
    assert "0.405 … 0.415" not in text


@pytest.mark.parametrize("name", [name for name in SAYING if name != "json"])
def test_every_report_says_what_the_document_wrote(name: str) -> None:
    text = FORMATS[name].make(REPORT)
    assert isinstance(text, str)
    assert ("41%25" if name == "github" else "41%") in text


def test_json_has_the_number_and_its_half_unit() -> None:
    (case,) = json.loads(json_report(REPORT))["cases"]
    assert case["written"] == {
        "text": "41%", "line": 13, "column": 43, "value": 0.41, "half_unit": 0.005,
    }  # fmt: skip
    assert csv_report(REPORT).endswith(",41%,0.41 ± 0.005,,,\r\n")


def test_a_claim_of_another_region_is_shown_as_that() -> None:
    mutant = replace(CASE, region=Region(0.305, 0.415))
    assert words.claimed(mutant) == "0.305 … 0.415"
    equal = replace(CASE, written=replace(FIGURE, rounded=False), region=Region(0.41, 0.41))
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
