"""The HTML report: one file that needs no network, to read, to send and to keep.

It fetches nothing, and its content policy forbids everything but its one style sheet and its one
script, by their hashes. Without the script it is complete, but does not sort or filter. Long parts
are drawn when they come into sight (`fold`).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from importlib.resources import files

from dropcheck import __version__
from dropcheck.claims.registry import Registry
from dropcheck.report import Report, phrases, promises
from dropcheck.report.html import MANY, SHEAF, Markup, element, fold, join, lists
from dropcheck.report.html.case_table import case_table, filter_form
from dropcheck.report.html.claim_sections import anchor, claim_section, key_picture
from dropcheck.report.html.conformance_section import conformance_parts
from dropcheck.report.numbers import UNKNOWN, count, duration, exact, plural
from dropcheck.report.phrases import by_claim, not_passed, standing
from dropcheck.results import CaseResult, Outcome, RunResult, Verdict
from dropcheck.results.coverage import CoverageCounts

# in rem, on a wide screen
CLAIM_HEIGHT = 22.0
CASE_HEIGHT = 2.5


def html_report(report: Report) -> str:
    """The report of a run as one HTML document."""
    run, registry = report.run, report.registry
    style, script = _asset("report.css"), _asset("report.js")
    body = element(
        "body",
        element("a", "Skip to the cases", href="#cases-heading", class_="skip"),
        _header(run),
        element(
            "main",
            _conformance(run.cases),
            _attention(run.cases),
            _warnings(run),
            *_cases(run, registry),
        ),
        element("footer", element("p", f"dropcheck {__version__}", class_="quiet")),
        element("script", script),
    )
    page = element("html", _head(run, style, script), body, lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _asset(name: str) -> Markup:
    """A file that ships beside this module; it has no text of a user in it."""
    return Markup(
        files("dropcheck.report.html").joinpath("assets", name).read_text(encoding="utf-8")
    )


def _head(run: RunResult, style: Markup, script: Markup) -> Markup:
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src {_hash(style)}; script-src {_hash(script)}"
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("link", rel="icon", href="data:,"),
        element("title", f"{run.registry}: {_outcome(run)}"),
        element("style", style),
    )


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _outcome(run: RunResult) -> str:
    """The run in one phrase."""
    cases = plural(len(run.cases), "case")
    parts: list[str] = []
    for outcome, what in (
        (Outcome.FAIL, "failed"),
        (Outcome.ERROR, "could not be judged"),
        (Outcome.UNDECIDED, "undecided"),
    ):
        if run.count(outcome):
            parts.append(f"{run.count(outcome)} {'' if parts else f'of {cases} '}{what}")
    if not parts:
        parts.append(f"all {cases} passed" if run.cases else "no case was finished")
    return ", ".join([*parts, *(["interrupted"] if run.interrupted else [])])


def _header(run: RunResult) -> Markup:
    bad = run.count(Outcome.FAIL) or run.count(Outcome.ERROR) or run.interrupted
    outcome = _outcome(run)
    return element(
        "header",
        element("h1", run.registry, dir="auto"),
        element("p", outcome[:1].upper() + outcome[1:], class_="lead fail" if bad else "lead"),
        _summary(run),
    )


def _summary(run: RunResult) -> Markup:
    figures = {
        "cases": str(len(run.cases)),
        "passed": str(run.count(Outcome.PASS)),
        "failed": str(run.count(Outcome.FAIL)),
        "undecided": str(run.count(Outcome.UNDECIDED)),
        **({"errors": str(run.count(Outcome.ERROR))} if run.count(Outcome.ERROR) else {}),
        "draws": count(run.draws),
        "time": duration(run.seconds),
        "seed": str(run.settings.seed),
        "error rate α": exact(run.settings.alpha),
    }
    if run.asymptotic:
        figures["on the limit theorem"] = str(run.asymptotic)
    if run.coverage:
        counts = CoverageCounts.of(run.coverage)
        figures["figures claimed"] = f"{counts.claimed_figures} of {counts.figures}"
        figures["formulas claimed"] = f"{counts.claimed_formulas} of {counts.formulas}"
    tiles = (
        element("div", element("dt", name), element("dd", value)) for name, value in figures.items()
    )
    return element("dl", *tiles, class_="summary")


def _conformance(cases: Sequence[CaseResult]) -> Markup | None:
    """Claims by columns, where code was under test."""
    parts = conformance_parts(cases)
    return _section("conformance", "Conformance", *parts) if parts else None


def _attention(cases: Iterable[CaseResult]) -> Markup | None:
    """The cases that did not pass, failures first."""
    claims = by_claim(not_passed(cases))
    if not claims:
        return None
    items = [
        element(
            "li",
            element("a", claim, href=f"#{anchor(claim)}"),
            *lists([_missed(case) for case in cases], height=3),
        )
        for claim, cases in claims.items()
    ]
    return _section("attention", "What did not pass", *lists(items, height=5))


def _missed(case: CaseResult) -> Markup:
    """A case that did not pass: what is claimed, what was estimated, and what it means."""
    figures = [
        join([f"{name} ", element("span", text, class_="figures"), ", "])
        for name, text in (
            ("claimed", phrases.claimed(case)),
            ("estimated", phrases.estimated(case)),
        )
        if text != UNKNOWN
    ]
    return element(
        "li",
        f"{phrases.parameters(case)} ".lstrip(),
        element("span", standing(case), class_=f"standing {case.verdict}"),
        ": ",
        *figures,
        phrases.reading(case),
    )


def _warnings(run: RunResult) -> Markup | None:
    notes = [
        f"{phrases.case_name(case)}: {note}"
        for case in run.cases
        if (note := promises.note(case)) is not None
    ]
    own = (text for case in run.cases for text in case.warnings)
    warnings = dict.fromkeys([*run.warnings, *own, *notes])
    if not warnings:
        return None
    items = [element("li", text, dir="auto") for text in warnings]
    return _section("warnings", "Warnings", *lists(items, height=3))


def _section(name: str, heading: str, *children: Markup | None) -> Markup:
    return element(
        "section",
        element("h2", heading, id=f"{name}-heading", tabindex="-1"),
        *children,
        aria_labelledby=f"{name}-heading",
    )


def _cases(run: RunResult, registry: Registry) -> list[Markup]:
    """The table with its filters, and the claims."""
    status = element("p", id="status", class_="status", role="status", aria_live="polite")
    titles = {name: document.title for name, document in registry.documents.items()}
    return [
        _section("cases", "Cases", filter_form(run, titles), status, case_table(run)),
        _section("claims", "Claims", _legend(run), *_claims(run, registry)),
    ]


def _claims(run: RunResult, registry: Registry) -> list[Markup]:
    """The sections of the claims, folded where there are many cases."""
    groups = by_claim(run.cases).values()
    if len(run.cases) <= MANY:
        return [claim_section(group, registry) for group in groups]
    sheaves: list[list[Sequence[CaseResult]]] = []
    room = 0
    for group in groups:
        if len(group) > room:
            sheaves.append([])
            room = SHEAF
        sheaves[-1].append(group)
        room -= len(group)
    return [
        fold(
            join(claim_section(group, registry) for group in sheaf),
            height=sum(CLAIM_HEIGHT + CASE_HEIGHT * len(group) for group in sheaf),
        )
        for sheaf in sheaves
    ]


def _legend(run: RunResult) -> Markup:
    """How to read the pictures."""
    verdicts = {case.verdict for case in run.cases}
    items = [
        element("li", key_picture(verdict), str(verdict))
        for verdict in Verdict
        if verdict in verdicts
    ]
    for name, meaning in (
        ("claimed", "what is claimed"),
        ("allowed", "what an inequality or a range allows"),
        ("band", "the resolution beside it"),
    ):
        swatch = element("span", class_=f"swatch {name}", aria_hidden="true")
        items.append(element("li", swatch, meaning))
    text = (
        "Each line is an interval that holds the quantity, with its estimate. A claim is verified "
        "where the line touches what is claimed and stays within the band, and refuted where it "
        "misses what is claimed. Beyond ±1 the scale is logarithmic."
    )
    return join([element("p", text, class_="quiet"), element("ul", *items, class_="legend")])
