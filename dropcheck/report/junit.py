"""A run as JUnit XML, in the form that pytest writes: one suite, with a test case for each case.

By the schema of pytest's own reports (junit-10.xsd), a test case has neither properties nor a file;
so a case's properties stand with those of the suite, under its name. An undecided case is a failure
of the type `undecided`: viewers pass over skipped tests, and a claim that is not verified must be
seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from dropcheck import __version__
from dropcheck.errors import Problem
from dropcheck.report import Report, words
from dropcheck.report.csv_report import number_field
from dropcheck.report.screen import Terminal, one_line, problems_text
from dropcheck.report.terminal.run_table import case_block
from dropcheck.results import CaseResult, Outcome, RunResult

# XML 1.0 cannot hold these, not even as references (the specification, 2.2)
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_report(report: Report) -> str:
    """The whole document, in ASCII, which every stream and every locale can write."""
    run = report.run
    counts = {
        "errors": len(report.problems) + run.count(Outcome.ERROR),
        "failures": run.count(Outcome.FAIL) + run.count(Outcome.UNDECIDED),
        "skipped": 0,
        "tests": len(run.cases) + len(report.problems),
    }
    suites = Element("testsuites", name="dropcheck")
    suite = SubElement(suites, "testsuite", name="dropcheck")
    for name, count in counts.items():
        suite.set(name, str(count))
    suite.set("time", f"{run.seconds:.3f}")
    if report.started is not None:
        suite.set("timestamp", report.started.isoformat(timespec="seconds"))
    properties = SubElement(suite, "properties")
    for name, value in _properties(run):
        SubElement(properties, "property", name=_legal(name), value=_legal(value))
    for case in run.cases:
        _case(suite, case, class_name(run.registry))
    for problem in report.problems:
        _problem(suite, problem, run.registry)
    document = tostring(suites, encoding="us-ascii", xml_declaration=False).decode("ascii")
    return f'<?xml version="1.0" encoding="utf-8"?>{document}\n'


def class_name(registry: str) -> str:
    """The file as pytest would write it: from the folder of the run, with dots between.

    >>> class_name("docs/claims.yaml")
    'docs.claims.yaml'
    """
    path = Path(registry)
    if path.is_absolute():
        here = Path.cwd()
        path = path.relative_to(here) if path.is_relative_to(here) else Path(path.name)
    return _legal(one_line(".".join(part for part in path.parts if part not in (".", ".."))))


def _properties(run: RunResult) -> Iterator[tuple[str, str]]:
    """The properties of the run, then those of each case under its name."""
    yield "version", __version__
    yield "registry", one_line(run.registry)
    yield "seed", str(run.settings.seed)
    yield "alpha", number_field(run.settings.alpha)
    yield "interrupted", str(run.interrupted).lower()
    if (share := words.claimed_share(run.coverage)) is not None:
        yield "documents", share
    for case in run.cases:
        name = one_line(words.case_name(case))
        for key, value in _case_properties(case, run):
            yield f"{name}.{key}", value


def _case_properties(case: CaseResult, run: RunResult) -> Iterator[tuple[str, str]]:
    low, high = case.interval or (None, None)
    yield "statement", one_line(case.statement)
    yield "claimed", words.claimed(case)
    if case.written is not None:
        yield "written", one_line(case.written.text)
    yield "estimate", number_field(case.estimate)
    yield "interval", "" if case.interval is None else _interval(low, high)
    yield "within", number_field(case.within)
    if (note := words.note(case)) is not None:
        yield "note", note
    if case.exact is not None:
        yield "exact", number_field(case.exact.value)
        if case.confirmed is not None:
            yield "confirmed", str(case.confirmed).lower()
    yield "draws", str(case.draws)
    yield "seed", str(run.settings.seed)
    yield "alpha", number_field(run.settings.alpha)
    yield "confidence", number_field(case.confidence)
    yield "guarantee", str(case.guarantee or "")
    yield "verdict", str(case.verdict)
    yield "expect", str(case.expect)
    if case.column is not None:
        yield "column", one_line(case.column)
        yield "dtype", case.dtype or ""
    yield "file", one_line(case.location.file)
    yield "line", "" if case.location.file_line is None else str(case.location.file_line)
    yield "repeat", one_line(case.repeat)


def _interval(low: float | None, high: float | None) -> str:
    left = number_field(low)
    right = number_field(high)
    return f"{f'[{left}' if left else '(-inf'}, {f'{right}]' if right else 'inf)'}"


def _case(suite: Element, case: CaseResult, class_name: str) -> None:
    element = SubElement(
        suite,
        "testcase",
        classname=class_name,
        name=_legal(one_line(words.case_name(case))),
        time=f"{case.seconds:.3f}",
    )
    if case.result is Outcome.PASS:
        return
    message = f"{case.verdict}, expected {case.expect}: {words.reading(case)}"
    kind = "undecided" if case.result is Outcome.UNDECIDED else str(case.verdict)
    failure = SubElement(element, "failure", type=kind, message=_legal(message))
    if case.result is Outcome.ERROR:
        failure.tag, failure.attrib = "error", {"message": _legal(str(case.explanation))}
    block = case_block(case)
    failure.text = _legal(block)


def _problem(suite: Element, problem: Problem, registry: str) -> None:
    name = _legal(one_line(registry)) or "dropcheck"
    element = SubElement(suite, "testcase", classname="", name=name, time="0.000")
    text = problems_text([problem], Terminal(), counted=False)
    error = SubElement(element, "error", message=_legal(one_line(problem.message)))
    error.text = _legal(text)


def _legal(text: str) -> str:
    r"""The text in characters that XML may hold; others are shown as escapes.

    >>> _legal("a\x00b\uffff")
    'a\\x00b\\uffff'
    """
    return _ILLEGAL.sub(lambda match: match.group().encode("unicode_escape").decode(), text)
