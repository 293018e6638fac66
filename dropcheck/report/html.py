"""The HTML report: one file that needs no network, to read, to send and to keep.

It fetches nothing, and its content policy forbids everything but its one style sheet and its one
script, by their hashes. Without the script it is complete, but does not sort or filter. HTML is
safe by its type: all text is escaped, except `Markup`.

A browser takes seconds to parse and to lay out a page of 10,000 cases. So long parts stand in
folds: `noscript` elements, each of which is one text to a browser that runs scripts. The script
parses a fold when it comes into sight, or when there is time, and replaces it by a `sheaf`, whose
layout waits until it is seen. Without scripts a fold shows its content.

A picture is a small SVG of any width: places are percentages, and all text is HTML beside it, so
that it is legible on a phone too. Colours are those of the page, by class.
"""

from __future__ import annotations

import base64
import hashlib
import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files

from dropcheck import __version__
from dropcheck.claims.registry import Claim, Registry
from dropcheck.report import Report, pictures, words
from dropcheck.report import conformance as table_of
from dropcheck.report.conformance import (
    Conformance,
    ConformanceCell,
    ConformanceMark,
    Head,
    conformance,
)
from dropcheck.report.numbers import UNKNOWN, count, duration, exact, plural
from dropcheck.report.pictures import Placed
from dropcheck.report.screen import place, plain
from dropcheck.report.terminal.claim_cards import parameters_text, tolerance_text
from dropcheck.report.words import by_claim, not_passed, standing
from dropcheck.results import CaseResult, Outcome, Passage, RunResult, Verdict
from dropcheck.results.coverage import CoverageCounts

_VOID = frozenset({"br", "col", "input", "link", "meta", "line", "rect", "circle", "path"})


class Markup(str):
    """Text that is HTML already, made by the functions of this module alone."""

    __slots__ = ()


def text(value: str) -> Markup:
    """Any text of a user; controls and marks that reorder text are spelled out.

    >>> text('<script>"')
    '&lt;script&gt;&quot;'
    """
    return Markup(html.escape(plain(value)))


def element(
    name: str, /, *children: str | Markup | None, **attributes: str | int | bool | None
) -> Markup:
    """An element with its children, escaped where they are not markup.

    An attribute that is None or False is left out, True stands alone; `class_` is `class`, and an
    underscore a hyphen.

    >>> element("a", "1 < 2", href="#x", hidden=True, class_="y")
    '<a href="#x" hidden class="y">1 &lt; 2</a>'
    """
    shown = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{text(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID and not children:
        return Markup(f"<{name}{shown}>" if name in _HTML_VOID else f"<{name}{shown}/>")
    return Markup(f"<{name}{shown}>{join(children)}</{name}>")


_HTML_VOID = frozenset({"br", "col", "input", "link", "meta"})


def join(children: Iterable[str | Markup | None], separator: str = "") -> Markup:
    """Children one after the other, without those that are None."""
    return Markup(
        separator.join(
            child if isinstance(child, Markup) else text(child)
            for child in children
            if child is not None
        )
    )


MANY = 300  # the most cases of a page without folds: a browser draws them at once
SHEAF = 100  # cases in a fold: a few screens, parsed within a frame or two


def fold(content: Markup, *, height: float, rows: bool = False) -> Markup:
    """Content that is drawn when it comes into sight; content with folds in it stays as it is.

    Args:
        content: a long part of the page.
        height: its approximate height, in rem, for the scroll bar.
        rows: whether it is a table, whose rows are drawn bit by bit.
    """
    if "<noscript" in content:  # the text of a noscript ends at the first end tag
        return content
    return element("noscript", content, class_="fold", data_rows=rows, data_height=f"{height:g}")


def lists(items: Sequence[Markup], *, height: float, **attributes: str | None) -> list[Markup]:
    """Items as one list, or many items as several folds. The height is that of one item, in rem."""
    if len(items) <= MANY:
        return [element("ul", *items, **attributes)]
    parts = (items[first : first + SHEAF] for first in range(0, len(items), SHEAF))
    return [fold(element("ul", *part, **attributes), height=height * len(part)) for part in parts]


# ---- the page ------------------------------------------------------------------------------------


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
    return Markup(files("dropcheck.report").joinpath("assets", name).read_text(encoding="utf-8"))


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
            ("claimed", words.claimed(case)),
            ("estimated", words.estimated(case)),
        )
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
        if (note := words.note(case)) is not None
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


# ---- the conformance table: claims by columns, and texts on single cells -------------------------


# in rem, on a wide screen
CONFORMANCE_ROW = 2.2
SAID_HEIGHT = 4.0
CELLS_A_CASE = 9  # in the table of all cases


def conformance_parts(cases: Sequence[CaseResult]) -> list[Markup]:
    """The table, the meaning of its signs, and a line for each cell that does not simply hold."""
    table = conformance(cases)
    if table is None:
        return []
    signs = [f"{one.sign} {one.meaning}" for one in table.marks]
    signs += [text for text in table_of.legend(table) if text not in signs]
    items = [_said(*one) for one in table_of.to_say(table)]
    return [
        *_conformance_tables(table),
        element("p", " · ".join(signs), class_="quiet"),
        *(lists(items, height=SAID_HEIGHT, class_="said") if items else []),
    ]


def _conformance_tables(table: Conformance) -> list[Markup]:
    """One table; with very many cells several folded ones, each with its head."""
    rows, columns = table.rows, len(table.heads)
    if len(rows) * columns <= MANY * CELLS_A_CASE:
        return [_conformance_table(table)]
    some = SHEAF * CELLS_A_CASE // columns + 1
    parts = (replace(table, rows=rows[at : at + some]) for at in range(0, len(rows), some))
    return [
        fold(_conformance_table(part), height=CONFORMANCE_ROW * (len(part.rows) + 2))
        for part in parts
    ]


def _conformance_table(table: Conformance) -> Markup:
    several = any(row.parameters for row in table.rows)
    heads = [element("th", "claim", scope="col")]
    heads += [element("th", "parameters", scope="col")] if several else []
    heads += [
        element("th", *_column_head(head), scope="col", class_="cell") for head in table.heads
    ]
    rows = (
        element(
            "tr",
            element("th", row.claim, scope="row", title=row.title),
            element("td", row.parameters) if several else None,
            *map(_conformance_cell, row.cells),
        )
        for row in table.rows
    )
    parts = element("thead", element("tr", *heads)), element("tbody", *rows)
    return element(
        "div",
        element("table", *parts, class_="conformance"),
        class_="wide-table",
        role="region",
        tabindex="0",
        aria_labelledby="conformance-heading",
    )


def _column_head(head: Head) -> list[Markup | str]:
    return [head.name, *([element("br"), head.dtype] if head.dtype else [])]


def _conformance_cell(cell: ConformanceCell) -> Markup:
    mark = cell.mark
    if mark is None:
        return element("td", table_of.NOTHING, class_="cell", title="says nothing of it")
    figures = table_of.measured(cell.worst).replace("\n", " ")
    link = element(
        "a",
        element("span", mark.sign, aria_hidden="true"),
        element("span", mark.meaning, class_="spoken"),
        href=f"#{anchor(cell.worst.claim)}",
        title=" ".join(filter(None, (mark.meaning, figures))),
    )
    return element("td", link, class_=f"cell {_class(mark)}")


def _class(mark: ConformanceMark) -> str:
    return mark.name.lower()


def _said(cell: ConformanceCell, mark: ConformanceMark, said: str) -> Markup:
    sign = element("span", mark.sign, class_=_class(mark), title=mark.meaning)
    name = element("a", table_of.where(cell), href=f"#{anchor(cell.worst.claim)}")
    command = element("code", cell.worst.repeat)
    return element("li", join([sign, " ", name, ": ", said, " "]), command)


# ---- the table of all cases, and the form that filters and sorts it ------------------------------


COLUMNS = {  # each with the kind of its sort keys
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


ROW_HEIGHT = 4.0  # in rem, on a wide screen

Numbers = Mapping[str, int]


def _choices(cases: Sequence[CaseResult]) -> tuple[Numbers, Numbers]:
    """The documents and the tags of a run, numbered: rows and filters use the numbers."""
    sources = (one for case in cases for one in case.sources)
    documents = dict.fromkeys(one.document for one in sources if one.document is not None)
    tags = sorted({tag for case in cases for tag in case.tags})
    return (
        {name: index for index, name in enumerate(documents)},
        {name: index for index, name in enumerate(tags)},
    )


def filter_form(run: RunResult, titles: Mapping[str, str]) -> Markup:
    """The filters, hidden until their script has started.

    Args:
        run: the run.
        titles: the titles of documents, by their names.
    """
    document_numbers, tag_numbers = _choices(run.cases)
    verdicts = {str(one): str(one) for one in Verdict if any(c.verdict is one for c in run.cases)}
    results = {str(one): str(one) for one in Outcome if run.count(one)}
    documents = {str(index): titles.get(name, name) for name, index in document_numbers.items()}
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
    """Every case in the order of the file. Roles are explicit, as a phone shows cards."""
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
    table = element(
        "table",
        element(
            "caption",
            "Every case.",
            # a phone shows no head
            element("span", " The buttons in the head sort by their column.", class_="wide"),
        ),
        element("thead", element("tr", *heads, role="row"), role="rowgroup"),
        element("tbody", *(_row(case, documents, tags) for case in run.cases), role="rowgroup"),
        id="cases",
        class_="cases",
        role="table",
    )
    return table if len(run.cases) <= MANY else fold(table, height=ROW_HEIGHT, rows=True)


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
        _cell("within", words.within(case), case.within, "number"),
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
    """The sort key of a claimed value: its finite end, the lower one of two."""
    ends = () if case.region is None else (case.region.low, case.region.high)
    return next((end for end in ends if math.isfinite(end)), None)


def _cell(
    label: str, shown: str | Markup, key: str | float | None, name: str | None = None
) -> Markup:
    known = "" if key is None or (isinstance(key, float) and not math.isfinite(key)) else str(key)
    return element(
        "td", element("span", shown), role="cell", class_=name, data_label=label, data_key=known
    )


# ---- the claims: each in full, with its cases as pictures and as commands ------------------------


FEW_COMMANDS = 3  # more commands are folded away


def anchor(claim: str) -> str:
    """The id of a claim's section."""
    return "claim-" + re.sub(r"[^\w.-]", "-", claim)


def claim_section(cases: Sequence[CaseResult], registry: Registry) -> Markup:
    """One claim: what it says, where it stands, and the results of its cases."""
    case = cases[0]
    claim = registry.claims.get(case.claim)
    heading = f"{anchor(case.claim)}-heading"
    return element(
        "article",
        element("h3", case.claim, id=heading),
        element("p", case.title, dir="auto", class_="searched"),
        _facts(cases, claim, registry),
        _figure(cases),
        _commands(cases),
        class_="claim",
        id=anchor(case.claim),
        data_claim=case.claim,
        aria_labelledby=heading,
    )


def _facts(cases: Sequence[CaseResult], claim: Claim | None, registry: Registry) -> Markup:
    case = cases[0]
    facts: dict[str, Markup | str | None] = {
        "written": _code(case.written.text, searched=True) if case.written else None,
        "claim" if case.written is None else "read": _code(case.statement, searched=True),
    }
    if claim is not None:
        facts |= {
            "model": _code(claim.model.text) if claim.model else None,
            "parameters": _code(parameters_text(claim)) if claim.parameter_names else None,
            "requires": _code("\n".join(one.text.strip() for one in claim.requires))
            if claim.requires
            else None,
            "says": element("q", claim.says, dir="auto") if claim.says else None,
            "note": element("span", claim.note, dir="auto") if claim.note else None,
            "truth": _truth(claim, registry),
            "tolerance": tolerance_text(claim.tolerance),
        }
    facts |= {
        "resolution": _resolution(cases),
        "guarantee": "; ".join(dict.fromkeys(words.basis(one) for one in cases)),
        "expected": f"{case.expect}: it is kept because it is false"
        if case.expect == "refuted"
        else None,
        "source": _sources(case, registry),
        "tags": ", ".join(case.tags) or None,
        "where": place(case.location) or None,
    }
    pairs = [
        join([element("dt", name), element("dd", value)])
        for name, value in facts.items()
        if value is not None
    ]
    return element("dl", *pairs, class_="facts")


def _resolution(cases: Sequence[CaseResult]) -> str | None:
    """How sharply the cases were looked at; as a share of the scale where scales differ."""
    texts = {words.resolution(case) for case in cases} - {None}
    if len(texts) == 1:
        return texts.pop()
    return f"{exact(cases[0].resolution)} of the scale of each case" if texts else None


def _code(text: str, *, searched: bool = False) -> Markup:
    code = element("code", text.strip("\n"))
    return element("pre", code, dir="ltr", class_="searched" if searched else None)


def _truth(claim: Claim, registry: Registry) -> Markup | None:
    """The claim that says what holds instead of a false one."""
    true = registry.claims.get(claim.truth or "")
    if true is None:
        return None
    return join([element("span", f"{true.id}:"), _code(true.statement.text)])


def _sources(case: CaseResult, registry: Registry) -> Markup | None:
    """Each passage that the claim comes from."""
    shown = [_source(one, registry) for one in case.sources]
    return element("span", join(shown, "; "), class_="searched") if shown else None


def _source(source: Passage, registry: Registry) -> Markup:
    """The document with its date and address, and the section in it."""
    document = registry.documents.get(source.document or "")
    parts: list[str | Markup | None] = [source.document]
    if document is not None:
        title: str | Markup = document.title
        url = document.url or ""
        if url.lower().startswith(("https://", "http://")):  # not one that runs a script
            title = element("a", document.title, href=url, rel="noopener noreferrer")
        parts = [title, document.date, None if isinstance(title, Markup) else document.url]
    parts.append(source.section)
    return join([element("bdi", part) for part in parts if part], ", ")


def _figure(cases: Sequence[CaseResult]) -> Markup:
    """A list of the cases as intervals, with the axis below them."""
    rows = [pictures.placed(case) for case in cases]
    ends = pictures.limits(rows)
    items = [
        element(
            "li",
            element("span", words.parameters(row.case) or "the one case"),
            interval_picture(row, ends),
            _result(row.case),
        )
        for row in rows
    ]
    axis = element("li", element("span"), axis_picture(ends), element("span"))
    caption = "Distance from the claim: ±1 is the edge of the band in which it is verified."
    return element(
        "figure",
        *lists(items, height=2.75, class_="intervals"),
        element("ul", axis, class_="intervals", aria_hidden="true"),
        element("figcaption", caption),
    )


def _result(case: CaseResult) -> Markup:
    """The verdict of a case and its figures; where it did not pass, also why."""
    drawn = f", {words.drawn(case)}" if case.draws else ""
    known = words.exact(case)
    figures = [
        element("span", words.estimated(case), class_="figures"),
        " in ",
        element("span", words.interval(case), class_="figures"),
        ", " if case.sides else None,
        element("span", words.claimed(case), class_="figures") if case.sides else None,
        f", exact {known}" if known else None,
        drawn,
    ]
    parts: list[str | Markup | None] = [
        element("span", words.standing(case), class_=f"standing {case.verdict}"),
        None if case.within is None else f" within {words.within(case)}",
        Markup("<br>"),
        join(figures) if case.interval is not None else None,
    ]
    note = words.note(case)
    if note is not None:
        parts.append(element("span", Markup("<br>"), note, class_="quiet"))
    if case.result is not Outcome.PASS:
        notes = [words.distance(case), words.reading(case)]
        notes += [None if case.explanation is None else str(case.explanation)]
        parts += [element("span", Markup("<br>"), one, class_="quiet") for one in notes if one]
    return element("span", *parts)


def _commands(cases: Sequence[CaseResult]) -> Markup:
    """The commands that repeat the cases, each with a button that copies it."""

    def item(case: CaseResult) -> Markup:
        label = f"Copy the command for {case.claim} {words.parameters(case)}".rstrip()
        button = element(
            "button", "Copy", type="button", class_="copy", hidden=True, aria_label=label
        )
        return element("li", element("code", case.repeat, dir="ltr"), button)

    listed = lists(
        [item(case) for case in cases],
        height=3,
        class_="commands",
        aria_label="Commands that repeat the cases",
    )
    if len(cases) <= FEW_COMMANDS:
        return element("div", element("span", "Repeat", class_="quiet"), *listed)
    summary = element("summary", f"{plural(len(cases), 'command')} to repeat each case")
    return element("details", summary, *listed)


HEIGHT = 28
MIDDLE = HEIGHT // 2
MOST_TICKS = 9  # labels that a phone has room for

# centred on the origin
_SHAPES = {
    Verdict.VERIFIED: element("circle", r="4.5"),
    Verdict.REFUTED: element("path", d="M-4.5,-4.5L4.5,4.5M-4.5,4.5L4.5,-4.5"),
    Verdict.INCONCLUSIVE: element("path", d="M-4,-4H4V4H-4Z"),
}

Ends = tuple[float, float]


def interval_picture(row: Placed, ends: Ends) -> Markup:
    """The picture of one case: its band, the allowed region, its interval and its estimate."""
    parts = [*_ground(row, ends), *([] if row.interval is None else _interval(row.interval, ends))]
    if row.estimate is not None and ends[0] <= row.estimate <= ends[1]:
        parts.append(_mark(row.case.verdict, _share(row.estimate, ends)))
    return element(
        "svg",
        *parts,
        class_=f"interval {row.case.verdict}",
        width="100%",
        height=HEIGHT,
        role="img",
        aria_label=description(row),
    )


def description(row: Placed) -> str:
    """The picture in words, for readers who cannot see it."""
    case = row.case
    if case.interval is None:
        return f"claimed {words.claimed(case)}; no interval; {words.standing(case)}"
    return (
        f"claimed {words.claimed(case)}; estimated {words.estimated_in_full(case)}; "
        f"{words.standing(case)}"
    )


def axis_picture(ends: Ends) -> Markup:
    """The axis that all pictures of a page share."""
    labels = [
        element("text", label, x=_share(place, ends), y=12, text_anchor="middle")
        for place, label in pictures.ticks_between(ends, MOST_TICKS)
    ]
    return element("svg", *labels, class_="axis", width="100%", height=16, aria_hidden="true")


def key_picture(verdict: Verdict) -> Markup:
    """A verdict's mark, for the legend."""
    return element(
        "svg",
        _line("0%", "100%", "reach"),
        _mark(verdict, "50%"),
        class_=f"interval key {verdict}",
        width=36,
        height=HEIGHT,
        aria_hidden="true",
    )


def _share(place: float, ends: Ends) -> str:
    """A place as a percentage, with a little room at both ends."""
    [shown] = pictures.within(ends, place)
    share = (shown - ends[0]) / (ends[1] - ends[0])
    return f"{3 + 94 * share:.2f}%"


def _ground(row: Placed, ends: Ends) -> list[Markup]:
    parts = []
    for span, name in ((row.verified, "band"), (row.allowed, "allowed")):
        if span is not None and span[0] < span[1]:
            low, high = pictures.within(ends, *span)
            width = 94 * (high - low) / (ends[1] - ends[0])
            rect = element(
                "rect", x=_share(low, ends), y=2, width=f"{width:.2f}%", height=24, class_=name
            )
            parts.append(rect)
    for end in sorted(set(row.allowed or ())):
        if math.isfinite(end):
            x = _share(end, ends)
            parts.append(element("line", x1=x, x2=x, y1=2, y2=26, class_="claimed"))
    return parts


def _interval(interval: tuple[float, float], ends: Ends) -> list[Markup]:
    low, high = (_share(end, ends) for end in interval)
    parts = [_line(low, high, "reach")]
    for end, x in zip(interval, (low, high), strict=True):
        if ends[0] <= end <= ends[1]:
            cap = element("path", d="M0,-5V5", class_="reach")
        else:
            cap = element("path", d="M-4,-5L4,0L-4,5Z" if end > 0 else "M4,-5L-4,0L4,5Z")
        parts.append(_at(x, cap))
    return parts


def _line(low: str, high: str, name: str) -> Markup:
    return element("line", x1=low, x2=high, y1=MIDDLE, y2=MIDDLE, class_=name)


def _mark(verdict: Verdict, x: str) -> Markup:
    return _at(x, element("g", _SHAPES[verdict], class_="mark"))


def _at(x: str, shape: Markup) -> Markup:
    """A shape moved to a point in per cent, which a path cannot have as coordinates."""
    return element("svg", join([shape]), x=x, y=MIDDLE, overflow="visible")
