"""What is said of a case: digits, what a verdict promises, what a case needs."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from report_cases import EMPTY, FAILED, PASSED, UNDECIDED, run_of
from report_said import SAID, UNEXPECTED

from dropcheck.reasons import Reason
from dropcheck.report import Report, numbers, words
from dropcheck.report.facts import FACTS, facts
from dropcheck.report.formats import FORMATS
from dropcheck.results import CaseResult, Outcome, Region


@pytest.mark.parametrize(
    ("label", "case", "text"), [(label, *row) for label, rows in SAID.items() for row in rows]
)
def test_what_is_said(label: str, case: CaseResult, text: str | None) -> None:
    assert facts(case).get(label) == text
    if label in ("reading", "note"):
        assert "true" not in (text or "")  # nothing is called true


# ---- digits --------------------------------------------------------------------------------------


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
        (UNEXPECTED, "verified, expected refuted: claimed 512, estimated 511.8"),
    ],
)
def test_a_case_in_one_line(case: CaseResult, line: str) -> None:
    assert words.headline(case) == line


PICTURES = ("svg", "png")


def as_format(name: str, *cases: CaseResult) -> str:
    made = FORMATS[name].make(Report(run_of(*cases), EMPTY))
    return made if isinstance(made, str) else made.decode()


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in PICTURES])
def test_a_new_fact_is_one_entry_and_every_format_has_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FACTS, "weather", lambda case: f"rain over {case.claim}")
    text = html.unescape(as_format(name, PASSED, FAILED))
    assert re.search(r"weather\W", text)
    assert "rain over naive-dropout" in text


def test_every_text_is_plain_and_on_one_line() -> None:
    odd = replace(FAILED, title="\x1b[31mred\n\n\tand  blue\u202e", repeat="run --file 'a  b.yaml'")
    said = facts(odd)
    assert said["title"] == r"\x1b[31mred and  blue\u202e"
    assert said["repeat"] == "run --file 'a  b.yaml'"


def test_one_error_stands_for_equal_ones_and_counts_them() -> None:
    why = Reason.FAILED.explain(error="it is no number", hint="mend it")
    error = replace(UNDECIDED, result=Outcome.ERROR, explanation=why)
    told = [str(one.explanation) for one in words.not_passed([error, PASSED, error, FAILED])]
    assert told == ["it is no number (so in 2 cases)", str(FAILED.explanation)]
