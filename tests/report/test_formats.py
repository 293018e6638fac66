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
from xml.etree import ElementTree

import numpy as np
import pytest
import xmlschema
from markdown_it import MarkdownIt
from report_cases import CONFIRMED, FAILED, PASSED, PRINTED_IN_PAPER, UNDECIDED, run_of

from dropcheck.claims.registry import Registry
from dropcheck.errors import DropcheckError, Location, Problem
from dropcheck.report import Report, formats
from dropcheck.report.formats import PRINTED, WRITTEN, class_name, errors_json
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


@pytest.mark.parametrize(
    ("ending", "told"),
    [(".json", "errors"), (".xml", "<error message"), (".md", "**error**")],
)
def test_errors_are_told_where_there_are_words_for_them(ending: str, told: str) -> None:
    report = replace(REPORT, problems=(PROBLEM,))
    assert WRITTEN[ending].fits(report)
    content = WRITTEN[ending].make(report)
    assert isinstance(content, str)
    assert told in content
    assert PROBLEM.message in content


@pytest.mark.parametrize("ending", [".csv", ".html", ".svg", ".png"])
def test_a_format_without_words_for_errors_does_not_fit_them(ending: str) -> None:
    assert not WRITTEN[ending].fits(replace(REPORT, problems=(PROBLEM,)))
    assert WRITTEN[ending].fits(REPORT)


@pytest.mark.parametrize(("ending", "form"), WRITTEN.items())
def test_a_file_of_an_interrupted_run_says_so_or_does_not_fit(
    ending: str, form: formats.Format
) -> None:
    report = replace(REPORT, run=run_of(PASSED, interrupted=True))
    if form.fits(report) and ending != ".png":  # the same picture as the SVG
        content = form.make(report)
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        before = WRITTEN[ending].make(replace(report, run=run_of(PASSED)))
        assert "interrupted" in text.lower()
        assert content != before
    else:
        assert not form.shows_interruption or ending == ".png"


def test_what_a_picture_needs_is_seen_to_before_anything_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    formats.require_libraries([Path("a.svg")])
    monkeypatch.setattr(formats, "find_spec", lambda _: None)
    formats.require_libraries([Path("a.html"), Path("a.json")])
    with pytest.raises(DropcheckError, match="matplotlib"):
        formats.require_libraries([Path("a.json"), Path("a.PNG")])


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


OFF = replace(PASSED, estimate=515.0)  # by more than its error


@pytest.mark.parametrize("name", PRINTED)
def test_every_format_says_what_a_document_prints_and_what_is_off(name: str) -> None:
    text = html.unescape(made(name, PRINTED_IN_PAPER, OFF).replace("\\u00b1", "±"))
    assert ("41%25" if name == "github" else "41%") in text
    assert "0.41 ± 0.005" in text
    assert "0.405 … 0.415" not in text
    assert "though 0.59%" in text


# ---- JSON ----------------------------------------------------------------------------------------


def test_json_brings_back_every_number() -> None:
    text = made("json", PASSED, FAILED, CONFIRMED)
    assert json.dumps(json.loads(text), indent=2) + "\n" == text
    told, _, confirmed = json.loads(text)["cases"]
    assert told["estimate"] == PASSED.estimate
    assert told["interval"] == list(PASSED.interval or ())
    assert told["confidence"] == PASSED.confidence
    assert (told["exact"], confirmed["exact"]) == (None, {"value": 512.0, "error": 0.0})
    assert told["parameters"] == {"dk": 512}
    assert told["facts"]["estimated"] == "511.8"


KEYS = """claim parameters title statement document section sources written rounding edge tags
claimed estimate interval confidence scale resolution draws blocks calls seconds guarantee verdict
expect result reason location repeat standard_error sides relations within exact confirmed
sampling more_draws more_seconds warnings quantity expression entry region sharpness method
reason_code column dtype of details"""


def test_json_has_every_key_of_its_schema() -> None:
    report = json.loads(made("json", UNDECIDED, PRINTED_IN_PAPER))
    undecided, printed = report["cases"]
    assert set(KEYS.split()) <= undecided.keys()
    keys = "registry seed alpha seconds interrupted summary documents conformance warnings"
    assert set(keys.split()) <= report.keys()
    assert (undecided["reason"], undecided["reason_code"]) == (
        "the interval is still too wide", "too_wide",
    )  # fmt: skip
    assert undecided["location"] == {"file": "claims.yaml", "line": 18, "column": None}
    assert printed["written"] == {
        "text": "41%", "line": 13, "column": 43, "value": 0.41, "half_unit": 0.005,
    }  # fmt: skip


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


def test_the_json_of_errors() -> None:
    located = Problem("'b' is unknown", Location("claims.yaml", 12, 9, "b"), "did you mean 'a'?")
    assert json.loads(errors_json([located, Problem("no")])) == {
        "schema": 1,
        "errors": [
            {
                "file": "claims.yaml",
                "line": 12,
                "column": 9,
                "message": "'b' is unknown",
                "hint": "did you mean 'a'?",
            },
            {"file": None, "line": None, "column": None, "message": "no", "hint": None},
        ],
    }


# ---- JUnit XML -----------------------------------------------------------------------------------


# pytest's own copy (testing/example_scripts), under the MIT licence that stands in it
SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "junit-10.xsd")


def test_a_failure_and_an_undecided_case_fail_and_say_why() -> None:
    suite = ElementTree.fromstring(made("junit", PASSED, FAILED, UNDECIDED))[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    passed, failed, undecided = suite.findall("testcase")
    assert len(passed) == 0
    assert failed[0].tag == undecided[0].tag == "failure"
    assert (failed[0].get("type"), undecided[0].get("type")) == ("refuted", "undecided")
    assert failed[0].get("message", "").startswith("FAIL: refuted; false as stated")
    assert "repeat      dropcheck run naive-dropout --p 0.3 --seed 0" in (failed[0].text or "")
    assert "the interval is still too wide" in (undecided[0].text or "")


def test_an_error_of_the_registry_is_an_error() -> None:
    problem = Problem(
        "'b' is no law", Location("claims.yaml", 12, 9, "    y ~ b(p)"), "did you mean 'a'?"
    )
    suite = ElementTree.fromstring(made("junit", PASSED, problems=(problem,)))[0]
    assert (suite.get("errors"), suite.get("failures"), suite.get("tests")) == ("1", "0", "2")
    case = suite.findall("testcase")[1]
    assert (case.get("classname"), case.get("name")) == ("", "claims.yaml")
    error = case.find("error")
    assert error is not None
    assert error.get("message") == "'b' is no law"
    assert "claims.yaml:12:9: 'b' is no law" in (error.text or "")


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


def test_the_schema_refuses_what_is_wrong() -> None:
    wrong = made("junit", PASSED).replace('time="0.010"', 'time="0.010" line="3"')
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        SCHEMA.validate(wrong)


def test_a_user_s_text_stays_text_and_what_xml_cannot_hold_is_shown() -> None:
    failure = ElementTree.fromstring(made("junit", ODD)).find(".//failure")
    assert failure is not None
    assert "]]> <script>&amp;\"' \\x00\\x07\\x1b[31m \\ufffe\\uffff" in (failure.text or "")


def test_the_file_stands_as_a_test_s_module_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert class_name("claims.yaml") == "claims.yaml"
    assert class_name("../docs/claims.yaml") == "docs.claims.yaml"
    assert class_name(str(tmp_path / "a" / "claims.yaml")) == "a.claims.yaml"
    assert class_name("/elsewhere/claims.yaml") == "claims.yaml"


# ---- Markdown ------------------------------------------------------------------------------------


def page_of(text: str) -> str:
    """The report as HTML, raw HTML in it left as it is: what a careless reader would show."""
    return str(MarkdownIt("commonmark").enable("table").render(text))


def seen(page: str) -> str:
    """What a person reads on the page."""
    return html.unescape(re.sub(r"<!--.*?-->|<[^>]*>", "", page))


def test_a_grid_has_one_row_and_verbose_has_all() -> None:
    other = replace(PASSED, parameters={"dk": 64.0})
    rows = made("markdown", PASSED, other, FAILED).splitlines()[2:4]
    assert [row.split(" | ")[-2:] for row in rows] == [
        ["2/2", "verified |"],
        ["", "**FAIL: refuted** |"],
    ]
    assert made("markdown", PASSED, other, FAILED, verbose=2).count("| `qk-variance` |") == 2
    assert (
        made("markdown", PASSED, other).count("| `qk-variance` |") == 2
    )  # a single claim likewise


def test_many_failures_are_counted() -> None:
    cases = [replace(FAILED, parameters={"p": float(n)}) for n in range(25)]
    assert "\n- and 5 more cases\n" in made("markdown", *cases)


def test_errors_stand_below_and_alone_where_nothing_was_tried() -> None:
    problem = Problem("'b|c' is no law", Location("claims.yaml", 12, 9), "did you mean 'a'?")
    assert made("markdown", problems=(problem,)) == (
        "- **error** `claims.yaml:12:9` 'b\\|c' is no law (did you mean 'a'?)\n"
        "\n"
        "1 error · claims.yaml\n"
    )
    both = made("markdown", PASSED, problems=(problem,))
    assert "\n1 error · 1 case: 1 passed" in both


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


def test_the_judge_of_hostile_text_would_see_a_tag() -> None:
    assert "<script>" in page_of("| a |\n| --- |\n| <script> |")


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


def test_a_negative_number_and_a_harmless_text_are_left_alone() -> None:
    (row,) = rows_of(replace(PASSED, estimate=-1.5, title="a = b, - c"))
    assert (row["estimate"], row["title"]) == ("-1.5", "a = b, - c")


def test_a_user_s_text_is_one_field_of_one_line() -> None:
    hostile = 'a,"b"\r\n=cmd\x00\x1b[31m;\ttab'
    odd = replace(PASSED, title=hostile, parameters={"law": hostile}, tags=(hostile, "two"))
    text = made("csv", odd)
    assert text.count("\r\n") == 2
    assert len(rows_of(odd)) == 1
    (row,) = rows_of(odd)
    assert row["title"] == 'a,"b" =cmd\\x00\\x1b[31m; tab'
