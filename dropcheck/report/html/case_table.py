"""The table of the HTML report: a row a case, with what its rows are sorted and filtered by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dropcheck.claims.registry import Registry
from dropcheck.report import phrases as words
from dropcheck.report.html import Markup, element
from dropcheck.report.html.claim_sections import anchor
from dropcheck.report.numbers import count
from dropcheck.results import CaseResult, Outcome, RunResult, Verdict

COLUMNS = {  # what each is sorted by
    "claim": "text",
    "parameters": "text",
    "claimed": "number",
    "estimated": "number",
    "interval": "number",
    "draws": "number",
    "verdict": "text",
    "result": "text",
}


@dataclass(frozen=True, slots=True)
class _Choices:
    """The documents and tags of a run: rows and filters name them by their numbers."""

    documents: Mapping[str, int]
    tags: Mapping[str, int]


def _choices(cases: Iterable[CaseResult]) -> _Choices:
    cases = list(cases)
    documents = dict.fromkeys(case.document for case in cases if case.document is not None)
    tags = sorted({tag for case in cases for tag in case.tags})
    return _Choices(
        {name: index for index, name in enumerate(documents)},
        {name: index for index, name in enumerate(tags)},
    )


def filter_form(run: RunResult, registry: Registry) -> Markup:
    """The filters; hidden until the script that serves them has started."""
    choices = _choices(run.cases)
    verdicts = {str(one): str(one) for one in Verdict if any(c.verdict is one for c in run.cases)}
    results = {str(one): str(one) for one in Outcome if run.count(one)}
    documents = {
        str(index): registry.documents[name].title if name in registry.documents else name
        for name, index in choices.documents.items()
    }
    tags = {str(index): name for name, index in choices.tags.items()}
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
    choices = _choices(run.cases)
    heads = (
        element(
            "th",
            element("button", name, type="button"),
            scope="col",
            role="columnheader",
            data_kind=kind,
            class_="number" if name in ("claimed", "estimated", "draws") else None,
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
        element("tbody", *(_row(case, choices) for case in run.cases), role="rowgroup"),
        id="cases",
        class_="cases",
        role="table",
    )


def _row(case: CaseResult, choices: _Choices) -> Markup:
    low, high = case.interval or (None, None)
    document = "" if case.document is None else str(choices.documents[case.document])
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
        _cell("claimed", words.claimed(case), _end(case), "number"),
        _cell("estimated", words.estimated(case), case.estimate, "number"),
        _cell("interval", words.interval(case), low if low is not None else high, "interval-text"),
        _cell("draws", count(case.draws), float(case.draws), "number"),
        _cell("verdict", verdict, str(case.verdict), "word"),
        _cell("result", words.outcome(case), str(case.result), "word"),
        role="row",
        class_=str(case.result),
        data_claim=case.claim,
        data_verdict=str(case.verdict),
        data_result=str(case.result),
        data_document=document,
        data_tags=" ".join(str(choices.tags[tag]) for tag in case.tags),
    )


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
