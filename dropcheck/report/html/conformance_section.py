"""The conformance table of the HTML report: claims by columns, and texts on single cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dropcheck.report import conformance as table_of
from dropcheck.report.conformance import (
    Conformance,
    ConformanceCell,
    ConformanceMark,
    Head,
    conformance,
)
from dropcheck.report.html import MANY, SHEAF, Markup, element, fold, join, lists
from dropcheck.report.html.claim_sections import anchor
from dropcheck.results import CaseResult

# in rem, on a wide screen
ROW_HEIGHT = 2.2
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
        *_tables(table),
        element("p", " · ".join(signs), class_="quiet"),
        *(lists(items, height=SAID_HEIGHT, class_="said") if items else []),
    ]


def _tables(table: Conformance) -> list[Markup]:
    """One table; with very many cells several folded ones, each with its head."""
    rows, columns = table.rows, len(table.heads)
    if len(rows) * columns <= MANY * CELLS_A_CASE:
        return [_table(table)]
    some = SHEAF * CELLS_A_CASE // columns + 1
    parts = (replace(table, rows=rows[at : at + some]) for at in range(0, len(rows), some))
    return [fold(_table(part), height=ROW_HEIGHT * (len(part.rows) + 2)) for part in parts]


def _table(table: Conformance) -> Markup:
    several = any(row.parameters for row in table.rows)
    heads = [element("th", "claim", scope="col")]
    heads += [element("th", "parameters", scope="col")] if several else []
    heads += [element("th", *_head(head), scope="col", class_="cell") for head in table.heads]
    rows = (
        element(
            "tr",
            element("th", row.claim, scope="row", title=row.title),
            element("td", row.parameters) if several else None,
            *map(_cell, row.cells),
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


def _head(head: Head) -> list[Markup | str]:
    return [head.name, *([element("br"), head.dtype] if head.dtype else [])]


def _cell(cell: ConformanceCell) -> Markup:
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
    return mark.name.lower().replace("_", "-")


def _said(cell: ConformanceCell, mark: ConformanceMark, said: str) -> Markup:
    command = None
    if mark is not ConformanceMark.FAILS_AS_EXPECTED:
        command = element("code", cell.worst.repeat)
    sign = element("span", mark.sign, class_=_class(mark), title=mark.meaning)
    name = element("a", table_of.where(cell), href=f"#{anchor(cell.worst.claim)}")
    return element("li", join([sign, " ", name, ": ", said, " "]), command)
