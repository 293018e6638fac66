"""The HTML report: one file that needs no network, to read, to send and to keep.

Nothing in it is fetched, and its own content policy forbids all but its one style sheet and its
one script, by their hashes. Without the script it is whole, but does not sort or filter.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from dropcheck import __version__
from dropcheck.claims.registry import Registry
from dropcheck.report import Report, promises
from dropcheck.report import phrases as words
from dropcheck.report.html import Markup, element, join
from dropcheck.report.html.claim_sections import anchor, claim_section, key_picture
from dropcheck.report.html.conformance_section import conformance_parts
from dropcheck.report.html.document_view import document_sections
from dropcheck.report.numbers import UNKNOWN, count, duration, exact, plural
from dropcheck.report.phrases import by_claim, not_passed, standing
from dropcheck.results import CaseResult, Outcome, RunResult, Verdict
from dropcheck.results.coverage import Counts


def html_report(report: Report) -> str:
    """The report of a run as one HTML document."""
    run, registry = report.run, report.registry
    documents = document_sections(run, registry)
    kinds = ("report", "document") if documents else ("report",)
    style, script = (
        Markup("".join(_asset(f"{kind}.{ending}") for kind in kinds)) for ending in ("css", "js")
    )
    body = element(
        "body",
        element("a", "Skip to the cases", href="#cases-heading", class_="skip"),
        _header(run, None if documents else _summary(run)),
        element(
            "main",
            *documents,
            _summary(run) if documents else None,
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
    """A file that ships beside this module; it is ours, and no text of a user's is in it."""
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
    failed, undecided = run.count(Outcome.FAIL), run.count(Outcome.UNDECIDED)
    cases = plural(len(run.cases), "case")
    said = []
    if failed:
        said.append(f"{failed} of {cases} failed")
    if undecided:
        said.append(f"{undecided} {'' if failed else f'of {cases} '}undecided")
    if not said:
        said.append(f"all {cases} passed" if run.cases else "no case was finished")
    return ", ".join([*said, *(["interrupted"] if run.interrupted else [])])


def _header(run: RunResult, summary: Markup | None) -> Markup:
    bad = run.count(Outcome.FAIL) or run.interrupted
    outcome = _outcome(run)
    return element(
        "header",
        element("h1", run.registry, dir="auto"),
        element("p", outcome[:1].upper() + outcome[1:], class_="lead fail" if bad else "lead"),
        summary,
    )


def _summary(run: RunResult) -> Markup:
    figures = {
        "cases": str(len(run.cases)),
        "passed": str(run.count(Outcome.PASS)),
        "failed": str(run.count(Outcome.FAIL)),
        "undecided": str(run.count(Outcome.UNDECIDED)),
        "draws": count(run.draws),
        "time": duration(run.seconds),
        "seed": str(run.settings.seed),
        "error rate α": exact(run.settings.alpha),
    }
    if run.asymptotic:
        figures["on the limit theorem"] = str(run.asymptotic)
    if run.coverage:
        found = Counts.of(run.coverage)
        figures["figures claimed"] = f"{found.claimed_figures} of {found.figures}"
        figures["formulas claimed"] = f"{found.claimed_formulas} of {found.formulas}"
    tiles = (
        element("div", element("dt", name), element("dd", value)) for name, value in figures.items()
    )
    return element("dl", *tiles, class_="summary")


def _conformance(cases: Sequence[CaseResult]) -> Markup | None:
    """Claims by columns, where code was under test."""
    parts = conformance_parts(cases)
    return _section("conformance", "Conformance", *parts) if parts else None


def _attention(cases: Iterable[CaseResult]) -> Markup | None:
    """What did not pass, failures first."""
    claims = by_claim(not_passed(cases))
    if not claims:
        return None
    items = (
        element(
            "li", element("a", claim, href=f"#{anchor(claim)}"), element("ul", *map(_missed, cases))
        )
        for claim, cases in claims.items()
    )
    return _section("attention", "What did not pass", element("ul", *items))


def _missed(case: CaseResult) -> Markup:
    """A case that did not pass: what is claimed, what was estimated, and what it means."""
    figures = [
        join([f"{name} ", element("span", text, class_="figures"), ", "])
        for name, text in (("claimed", words.claimed(case)), ("estimated", words.estimated(case)))
        if text != UNKNOWN
    ]
    return element(
        "li",
        f"{words.parameters(case)} ".lstrip(),
        element("span", standing(case), class_=f"standing {case.verdict}"),
        ": ",
        *figures,
        words.reading(case),
    )


def _warnings(run: RunResult) -> Markup | None:
    notes = [
        f"{words.case_name(case)}: {note}"
        for case in run.cases
        if (note := promises.note(case)) is not None
    ]
    own = (text for case in run.cases for text in case.warnings)
    warnings = dict.fromkeys([*run.warnings, *own, *notes])
    if not warnings:
        return None
    items = (element("li", text, dir="auto") for text in warnings)
    return _section("warnings", "Warnings", element("ul", *items))


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
    return [
        _section("cases", "Cases", filter_form(run, registry), status, case_table(run)),
        _section(
            "claims",
            "Claims",
            _legend(run),
            *(claim_section(group, registry) for group in by_claim(run.cases).values()),
        ),
    ]


def _legend(run: RunResult) -> Markup:
    """How the pictures are read."""
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


COLUMNS = {  # what each is sorted by
    "claim": "text",
    "parameters": "text",
    "claimed": "number",
    "estimated": "number",
    "interval": "number",
    "within": "number",
    "draws": "number",
    "verdict": "text",
    "result": "text",
}


Numbers = Mapping[str, int]


def _choices(cases: Sequence[CaseResult]) -> tuple[Numbers, Numbers]:
    """The documents and the tags of a run: rows and filters name them by their numbers."""
    sources = (one for case in cases for one in case.sources)
    documents = dict.fromkeys(one.document for one in sources if one.document is not None)
    tags = sorted({tag for case in cases for tag in case.tags})
    return (
        {name: index for index, name in enumerate(documents)},
        {name: index for index, name in enumerate(tags)},
    )


def filter_form(run: RunResult, registry: Registry) -> Markup:
    """The filters; hidden until the script that serves them has started."""
    document_numbers, tag_numbers = _choices(run.cases)
    verdicts = {str(one): str(one) for one in Verdict if any(c.verdict is one for c in run.cases)}
    results = {str(one): str(one) for one in Outcome if run.count(one)}
    documents = {
        str(index): registry.documents[name].title if name in registry.documents else name
        for name, index in document_numbers.items()
    }
    tags = {str(index): name for name, index in tag_numbers.items()}
    downward = {"descending": "descending"}
    columns = {str(index): name for index, name in enumerate(COLUMNS)}
    return element(
        "form",
        element("label", "Text", element("input", type="search", name="text", autocomplete="off")),
        _select("Verdict", "verdict", verdicts),
        _select("Result", "result", results),
        _select("Document", "document", documents) if documents else None,
        _select("Tag", "tag", tags) if tags else None,
        _select("Sort by", "sort", columns, first=("-1", "order of the file"), name="sorting"),
        _select("Order", "order", downward, first=("ascending", "ascending"), name="sorting"),
        element("button", "Reset", type="reset"),
        id="filters",
        hidden=True,
        role="search",
        aria_label="Filter the cases",
    )


def _select(
    label: str,
    field: str,
    options: Mapping[str, str],
    first: tuple[str, str] = ("", "any"),
    name: str | None = None,
) -> Markup:
    shown = [element("option", first[1], value=first[0])]
    shown += [element("option", text, value=value) for value, text in options.items()]
    return element("label", label, element("select", *shown, name=field), class_=name)


def case_table(run: RunResult) -> Markup:
    """Every case in the order of the file. Roles are spelled out, for a phone shows cards."""
    documents, tags = _choices(run.cases)
    heads = (
        element(
            "th",
            element("button", name, type="button"),
            scope="col",
            role="columnheader",
            data_kind=kind,
            class_="number" if name in ("claimed", "estimated", "within", "draws") else None,
        )
        for name, kind in COLUMNS.items()
    )
    return element(
        "table",
        element(
            "caption",
            "Every case.",
            # on a phone there is no head
            element("span", " The buttons in the head sort by their column.", class_="wide"),
        ),
        element("thead", element("tr", *heads, role="row"), role="rowgroup"),
        element("tbody", *(_row(case, documents, tags) for case in run.cases), role="rowgroup"),
        id="cases",
        class_="cases",
        role="table",
    )


def _row(case: CaseResult, documents: Numbers, tags: Numbers) -> Markup:
    low, high = case.interval or (None, None)
    of = dict.fromkeys(one.document for one in case.sources if one.document is not None)
    claim = element(
        "th",
        element("a", case.claim, href=f"#{anchor(case.claim)}"),
        element("span", case.title, class_="title", dir="auto"),
        scope="row",
        role="rowheader",
        data_key=case.claim,
    )
    verdict = element("span", str(case.verdict), class_=f"standing {case.verdict}")
    return element(
        "tr",
        claim,
        _cell("parameters", words.parameters(case), words.parameters(case)),
        _cell(
            "claimed", words.claimed(case), _end(case), "number sides" if case.sides else "number"
        ),
        _cell("estimated", _estimated(case), case.estimate, "number"),
        _cell("interval", words.interval(case), low if low is not None else high, "interval-text"),
        _cell("within", promises.within(case), case.within, "number"),
        _cell("draws", count(case.draws), float(case.draws), "number"),
        _cell("verdict", verdict, str(case.verdict), "word"),
        _cell("result", words.outcome(case), str(case.result), "word"),
        role="row",
        class_=str(case.result),
        data_claim=case.claim,
        data_verdict=str(case.verdict),
        data_result=str(case.result),
        data_documents=" ".join(str(documents[name]) for name in of),
        data_tags=" ".join(str(tags[tag]) for tag in case.tags),
    )


def _estimated(case: CaseResult) -> Markup:
    """The estimate, and below it the exact value where there is one."""
    known = words.exact(case)
    below = element("span", f"exact {known}", class_="exact") if known else None
    return join([words.estimated(case), below])


def _end(case: CaseResult) -> float | None:
    """What a claimed value is sorted by: the end that is known, the lower one of two."""
    ends = () if case.region is None else (case.region.low, case.region.high)
    return next((end for end in ends if math.isfinite(end)), None)


def _cell(
    label: str, shown: str | Markup, key: str | float | None, name: str | None = None
) -> Markup:
    known = "" if key is None or (isinstance(key, float) and not math.isfinite(key)) else str(key)
    return element(
        "td", element("span", shown), role="cell", class_=name, data_label=label, data_key=known
    )
