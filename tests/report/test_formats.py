"""The formats as such, what is markup to each, and what GitHub is told."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import xmlschema
from markdown_it import MarkdownIt
from report_cases import EMPTY, FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.reader import SHIPPED_NAME
from dropcheck.errors import Location, Problem
from dropcheck.report import Report, formats
from dropcheck.report.formats import PRINTED, WRITTEN, error_annotations, run_annotations
from dropcheck.results import CaseResult, Passage, Region


def made(name: str, *cases: CaseResult, verbose: int = 0) -> str:
    report = Report(run_of(*cases), EMPTY, verbose=verbose)
    text = PRINTED[name].make(replace(report, started=datetime(2024, 2, 13, 10, tzinfo=UTC)))
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize(("ending", "form"), WRITTEN.items())
def test_a_file_says_that_a_run_is_not_whole_or_is_not_written(
    ending: str, form: formats.Format
) -> None:
    report = Report(run_of(PASSED, interrupted=True), EMPTY)
    if form.shows_interruption and ending != ".png":  # the same picture as the SVG
        content = form.make(report)
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        assert "interrupted" in text.lower()


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
        made("junit", replace(ODD)),
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


@pytest.mark.parametrize("text", ["=1+1", "+1", "-E(x) == 1", "@SUM(1)", "  =1", "\t=1", "＝1"])
def test_no_text_runs_in_a_spreadsheet(text: str) -> None:
    odd = replace(PASSED, title=text, statement=text, sources=(Passage(text),), repeat=text)
    (row,) = rows_of(odd)
    for column in ("title", "statement", "document", "repeat"):
        assert row[column] == f"'{text.strip()}"


COMMANDS = "50% a:b,c\r\n::error::x\n::set-output name=a::b \x1b[31m"


def test_a_user_s_text_is_no_command() -> None:
    odd = replace(
        FAILED,
        title=COMMANDS,
        statement=COMMANDS,
        repeat=COMMANDS,
        parameters={"law": COMMANDS},
        location=Location(COMMANDS, 3),
    )
    text = run_annotations(Report(run_of(odd), EMPTY))
    text += error_annotations([Problem(COMMANDS, None, COMMANDS)], None)
    assert len(text.splitlines()) == 2
    for line in text.splitlines():
        properties, _, message = line.removeprefix("::error ").partition("::")
        assert "%25" in properties + message
        assert "\x1b" not in line
        # no property but those that are ours
        names = [part.partition("=")[0] for part in properties.split(",")]
        assert set(names) <= {"file", "line", "title"}
        assert "::set-output" not in properties


def test_a_file_outside_the_repository_is_named_in_the_message_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "repository"
    (inside / "docs").mkdir(parents=True)
    monkeypatch.chdir(inside / "docs")

    def told(file: str) -> str:
        case = replace(FAILED, location=Location(file, 40))
        return run_annotations(Report(run_of(case), EMPTY, workspace=inside))

    assert "::error file=docs/claims.yaml,line=40," in told("claims.yaml")
    assert "::error file=a b.yaml,line=40," in told(str(inside / "a b.yaml"))
    for file in ("/elsewhere/claims.yaml", "../../claims.yaml", SHIPPED_NAME, "a\x00b"):
        line = told(file)
        assert line.startswith("::error title=")
        assert "%0Awhere: " in line
