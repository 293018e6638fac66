"""The table of the HTML report with every case, and the form that filters and sorts it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dropcheck.report import phrases, promises
from dropcheck.report.html import MANY, Markup, element, fold, join
from dropcheck.report.html.claim_sections import anchor
from dropcheck.report.numbers import count
from dropcheck.results import CaseResult, Outcome, RunResult, Verdict

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
        _cell("parameters", phrases.parameters(case), phrases.parameters(case)),
        _cell(
            "claimed", phrases.claimed(case), _end(case), "number sides" if case.sides else "number"
        ),
        _cell("estimated", _estimated(case), case.estimate, "number"),
        _cell(
            "interval", phrases.interval(case), low if low is not None else high, "interval-text"
        ),
        _cell("within", promises.within(case), case.within, "number"),
        _cell("draws", count(case.draws), float(case.draws), "number"),
        _cell("verdict", verdict, str(case.verdict), "word"),
        _cell("result", phrases.outcome(case), str(case.result), "word"),
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
    known = phrases.exact(case)
    below = element("span", f"exact {known}", class_="exact") if known else None
    return join([phrases.estimated(case), below])


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
