"""The formats as such, and what is markup to each: JSON, JUnit XML, Markdown and CSV.

Their exact texts are in the transcripts of the contract.
"""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import xmlschema
from markdown_it import MarkdownIt
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.registry import Registry
from dropcheck.errors import Location, Problem
from dropcheck.report import Report, formats
from dropcheck.report.formats import PRINTED, WRITTEN
from dropcheck.results import CaseResult, Passage, Region

REGISTRY = Registry("claims.yaml", {}, {})
REPORT = Report(run_of(PASSED, FAILED, UNDECIDED), REGISTRY)
PROBLEM = Problem("undefined on every draw", Location("claims.yaml", 7, 3))


def made(
    name: str, *cases: CaseResult, problems: tuple[Problem, ...] = (), verbose: int = 0
) -> str:
    report = Report(run_of(*cases), REGISTRY, problems, verbose=verbose)
    text = PRINTED[name].make(replace(report, started=datetime(2024, 2, 13, 10, tzinfo=UTC)))
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("name", formats.FORMATS)
def test_every_format_tells_of_every_case(name: str) -> None:
    content = formats.FORMATS[name].make(REPORT)
    if name == "png":
        assert isinstance(content, bytes)
        assert content.startswith(b"\x89PNG")
        return
    text = content.decode("utf-8") if isinstance(content, bytes) else content
    assert text.endswith("\n")
    for case in (FAILED, UNDECIDED) if name == "github" else REPORT.run.cases:
        assert case.claim in text


@pytest.mark.parametrize(("ending", "form"), WRITTEN.items())
@pytest.mark.parametrize("broken", ["interrupted", "undefined on every draw"])
def test_a_file_says_that_a_run_is_not_whole_or_does_not_fit(
    ending: str, form: formats.Format, broken: str
) -> None:
    problems = (Problem(broken, Location("claims.yaml", 7, 3)),)
    report = Report(run_of(PASSED, interrupted=True), REGISTRY)
    if broken != "interrupted":
        report = Report(run_of(PASSED), REGISTRY, problems)
    if form.fits(report) and ending != ".png":  # the same picture as the SVG
        content = form.make(report)
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        assert broken in text.lower()
    else:
        assert not form.shows_problems or not form.shows_interruption or ending == ".png"


PROBE = """
import sys
sys.path.insert(0, {tests!r})
from report_cases import PASSED, run_of
from dropcheck.claims.registry import Registry
from dropcheck.report import Report
from dropcheck.report.formats import PRINTED
PRINTED[{name!r}].make(Report(run_of(PASSED), Registry("claims.yaml", {{}}, {{}})))
print(*({{"rich", "matplotlib", "xml", "csv", "numpy"}} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("json", {"rich", "matplotlib", "xml", "csv", "numpy"}),
        ("csv", {"matplotlib", "xml", "numpy"}),
        ("table", {"matplotlib", "xml", "numpy", "csv"}),
    ],
)
def test_a_format_is_loaded_alone(name: str, absent: set[str]) -> None:
    script = PROBE.format(tests=str(Path(__file__).parents[1] / "helpers"), name=name)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert not set(done.stdout.split()) & absent


# ---- JSON ----------------------------------------------------------------------------------------


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def test_json_holds_no_nan_no_infinity_and_no_numpy() -> None:
    odd = replace(
        PASSED,
        estimate=math.nan,
        interval=(-math.inf, np.float64(2.0)),
        region=Region(-math.inf, math.inf),
        scale=np.float64(math.nan),
        title="lone \ud800 and ünïcode",
    )
    text = made("json", odd)
    assert text.isascii()
    case = json.loads(text, parse_constant=_refuse)["cases"][0]
    assert case["estimate"] is None
    assert case["interval"] == [None, 2.0]
    assert case["claimed"] is None
    assert case["scale"] is None
    with pytest.raises(AssertionError):  # and the check itself can fail
        json.loads(json.dumps(math.nan), parse_constant=_refuse)


# ---- JUnit XML -----------------------------------------------------------------------------------


# pytest's own copy (testing/example_scripts), under the MIT licence that stands in it
SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "junit-10.xsd")


IN_XML = "]]> <script>&amp;\"' \x00\x07\x1b[31m \ufffe\uffff \ud800 \u202e ünïcode\n\ttwo"
ODD = replace(
    FAILED,
    title=IN_XML,
    statement=IN_XML,
    parameters={"law": IN_XML},
    repeat=IN_XML,
    location=Location(IN_XML),
    estimate=float("nan"),
    interval=(None, float("inf")),
    region=None,
    scale=None,
)


@pytest.mark.parametrize(
    "text",
    [
        made("junit"),
        made("junit", PASSED, FAILED, UNDECIDED),
        made("junit", replace(ODD), problems=(Problem(IN_XML), Problem("no", Location(IN_XML)))),
    ],
    ids=["empty", "every outcome", "hostile"],
)
def test_pytest_s_schema_accepts_it(text: str) -> None:
    assert text.isascii()
    SCHEMA.validate(text)


# ---- Markdown ------------------------------------------------------------------------------------


def page_of(text: str) -> str:
    """The report as HTML, raw HTML in it left as it is: what a careless reader would show."""
    return str(MarkdownIt("commonmark").enable("table").render(text))


def seen(page: str) -> str:
    """What a person reads on the page."""
    return html.unescape(re.sub(r"<!--.*?-->|<[^>]*>", "", page))


HOSTILE = [
    "<script>alert('x')</script> & <img src=x onerror=1> &lt;b&gt;",
    "a | b || c \\| d \\\\| e",
    "`code` ``more`` \\` ` |",
    "**bold** _em_ ~~gone~~ [link](javascript:1) ![i](x) <http://a.b> $x$",
    "\x1b[31m red \x00 \u202e back",
    "two\n\nparagraphs\n# heading\n| a | b |",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_user_s_text_is_read_as_it_was_written(text: str) -> None:
    odd = replace(FAILED, title=text, statement=text, parameters={"law": text}, repeat=text)
    page = page_of(made("markdown", odd))
    assert not re.search(r"<(script|img|a|em|s|h1|b)\b", page)
    shown = " ".join(text.split()).replace("\x1b", "\\x1b").replace("\x00", "\\x00")
    assert seen(page).count(shown.replace("\u202e", "\\u202e")) == 6
    assert page.count("<tr>") == 2
    # the cells of the row are those of the head
    assert page.count("<td") == page.count("<th") - page.count("<thead") == 8


@pytest.mark.parametrize("text", ["thanks @you", "see #12", "an :emoji: here", "www.a.b http://c"])
def test_github_makes_no_links_of_a_user_s_text(text: str) -> None:
    title = made("markdown", replace(FAILED, title=text)).split("title: ")[1].split("\n")[0]
    assert "<!-- -->" in title
    assert title.replace("<!-- -->", "") == text


# ---- CSV -----------------------------------------------------------------------------------------


def rows_of(*cases: CaseResult) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made("csv", *cases), newline="")))


def test_numbers_come_back_as_they_were_and_nothing_stands_for_what_is_unknown() -> None:
    exact = replace(PASSED, estimate=0.1 + 0.2, interval=(None, 1 / 3), region=None)
    (row,) = rows_of(exact)
    assert float(row["estimate"]) == 0.1 + 0.2
    assert (row["interval_low"], float(row["interval_high"])) == ("", 1 / 3)
    assert (row["claimed_low"], row["claimed_high"]) == ("", "")
    (row,) = rows_of(replace(PASSED, estimate=float("nan"), interval=None, scale=float("inf")))
    assert row["estimate"] == row["interval_low"] == row["interval_high"] == row["scale"] == ""
    (row,) = rows_of(UNDECIDED)
    assert (row["claimed_low"], row["claimed_high"]) == ("0.405", "0.415")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-E(x) == 1", "@SUM(1)", "  =1", "\t=1", "＝1"])
def test_no_text_runs_in_a_spreadsheet(text: str) -> None:
    odd = replace(PASSED, title=text, statement=text, sources=(Passage(text),), repeat=text)
    (row,) = rows_of(odd)
    for column in ("title", "statement", "document", "repeat"):
        assert row[column] == f"'{text.strip()}"


def test_a_user_s_text_is_one_field_of_one_line() -> None:
    hostile = 'a,"b"\r\n=cmd\x00\x1b[31m;\ttab'
    odd = replace(PASSED, title=hostile, parameters={"law": hostile}, tags=(hostile, "two"))
    text = made("csv", odd)
    assert text.count("\r\n") == 2
    assert len(rows_of(odd)) == 1
    (row,) = rows_of(odd)
    assert row["title"] == 'a,"b" =cmd\\x00\\x1b[31m; tab'
