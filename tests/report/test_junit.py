"""JUnit XML: in the form that pytest writes, and accepted by the schema that pytest tests with."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.registry import Registry
from dropcheck.errors import Location, Problem
from dropcheck.report import Report
from dropcheck.report.junit import class_name, junit_report
from dropcheck.results import CaseResult

# pytest's own copy (testing/example_scripts), under the MIT licence that stands in it
SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "junit-10.xsd")
REGISTRY = Registry("claims.yaml", {}, {})
STARTED = datetime(2024, 2, 13, 10, 0, 0, tzinfo=UTC)


def report_of(*cases: CaseResult, problems: tuple[Problem, ...] = ()) -> str:
    return junit_report(Report(run_of(*cases), REGISTRY, problems, started=STARTED))


def properties_of(text: str) -> dict[str, str]:
    found = ElementTree.fromstring(text).findall("./testsuite/properties/property")
    return {one.get("name", ""): one.get("value", "") for one in found}


def test_the_report_is_exactly_this() -> None:
    case_properties = "".join(
        f'<property name="qk-variance[dk=512].{name}" value="{value}" />'
        for name, value in {
            "statement": "Var(q @ k) == dk", "claimed": "512", "estimate": "511.83",
            "interval": "[509.11, 514.57]", "within": "5.12", "draws": "262144", "seed": "0",
            "alpha": "1e-06", "confidence": "0.999999991", "guarantee": "moments",
            "verdict": "verified", "expect": "verified", "file": "claims.yaml", "line": "18",
            "repeat": "dropcheck run qk-variance --dk 512 --seed 0",
        }.items()
    )  # fmt: skip
    assert report_of(PASSED) == (
        '<?xml version="1.0" encoding="utf-8"?>'
        '<testsuites name="dropcheck"><testsuite name="dropcheck" errors="0" failures="0" '
        'skipped="0" tests="1" time="0.940" timestamp="2024-02-13T10:00:00+00:00"><properties>'
        '<property name="version" value="0.1.0" />'
        '<property name="registry" value="claims.yaml" />'
        '<property name="seed" value="0" />'
        '<property name="alpha" value="1e-06" />'
        '<property name="interrupted" value="false" />'
        f"{case_properties}</properties>"
        '<testcase classname="claims.yaml" name="qk-variance[dk=512]" time="0.010" />'
        "</testsuite></testsuites>\n"
    )


def test_a_failure_and_an_undecided_case_fail_and_say_why() -> None:
    suite = ElementTree.fromstring(report_of(PASSED, FAILED, UNDECIDED))[0]
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
    assert failed[0].get("message", "").startswith("refuted, expected verified: false as stated")
    assert "repeat      dropcheck run naive-dropout --p 0.3 --seed 0" in (failed[0].text or "")
    assert "the interval is still too wide" in (undecided[0].text or "")


def test_an_error_of_the_registry_is_an_error() -> None:
    problem = Problem(
        "'b' is no law", Location("claims.yaml", 12, 9, "    y ~ b(p)"), "did you mean 'a'?"
    )
    suite = ElementTree.fromstring(report_of(PASSED, problems=(problem,)))[0]
    assert (suite.get("errors"), suite.get("failures"), suite.get("tests")) == ("1", "0", "2")
    case = suite.findall("testcase")[1]
    assert (case.get("classname"), case.get("name")) == ("", "claims.yaml")
    error = case.find("error")
    assert error is not None
    assert error.get("message") == "'b' is no law"
    assert "claims.yaml:12:9: 'b' is no law" in (error.text or "")


HOSTILE = "]]> <script>&amp;\"' \x00\x07\x1b[31m \ufffe\uffff \ud800 \u202e ünïcode\n\ttwo"
ODD = replace(
    FAILED,
    title=HOSTILE,
    statement=HOSTILE,
    parameters={"law": HOSTILE},
    repeat=HOSTILE,
    location=Location(HOSTILE),
    estimate=float("nan"),
    interval=(None, float("inf")),
    region=None,
    scale=None,
)


@pytest.mark.parametrize(
    "text",
    [
        report_of(),
        report_of(PASSED, FAILED, UNDECIDED),
        report_of(replace(ODD), problems=(Problem(HOSTILE), Problem("no", Location(HOSTILE)))),
        junit_report(
            Report(replace(run_of(PASSED), registry=HOSTILE, seconds=12345.6789), REGISTRY)
        ),
    ],
    ids=["empty", "every outcome", "hostile", "hostile file"],
)
def test_pytest_s_schema_accepts_it(text: str) -> None:
    assert text.isascii()
    SCHEMA.validate(text)


def test_the_schema_refuses_what_is_wrong() -> None:
    wrong = report_of(PASSED).replace('time="0.010"', 'time="0.010" line="3"')
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        SCHEMA.validate(wrong)


def test_a_user_s_text_stays_text_and_what_xml_cannot_hold_is_shown() -> None:
    failure = ElementTree.fromstring(report_of(ODD)).find(".//failure")
    assert failure is not None
    assert "]]> <script>&amp;\"' \\x00\\x07\\x1b[31m \\ufffe\\uffff" in (failure.text or "")


def test_numbers_come_back_as_they_were_and_none_stands_for_nothing() -> None:
    exact = replace(PASSED, estimate=0.1 + 0.2, interval=(None, 1 / 3))
    properties = properties_of(report_of(exact))
    assert float(properties["qk-variance[dk=512].estimate"]) == 0.1 + 0.2
    assert properties["qk-variance[dk=512].interval"] == f"(-inf, {1 / 3!r}]"
    unknown = properties_of(report_of(replace(PASSED, estimate=None, interval=None)))
    assert unknown["qk-variance[dk=512].estimate"] == ""
    assert unknown["qk-variance[dk=512].interval"] == ""


def test_the_file_stands_as_a_test_s_module_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert class_name("claims.yaml") == "claims.yaml"
    assert class_name("../docs/claims.yaml") == "docs.claims.yaml"
    assert class_name(str(tmp_path / "a" / "claims.yaml")) == "a.claims.yaml"
    assert class_name("/elsewhere/claims.yaml") == "claims.yaml"
