"""The conformance table at a terminal: as many columns side by side as fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dropcheck.report import numbers
from dropcheck.report.conformance import (
    ConformanceCell,
    ConformanceMark,
    ConformanceRow,
    Head,
    conformance,
    legend,
    measured,
    sign,
    to_say,
    where,
)
from dropcheck.report.screen import (
    Fields,
    TableCell,
    Terminal,
    arrange,
    fits,
    layout,
    one_line,
    packed,
    styled,
)
from dropcheck.report.words import STYLES
from dropcheck.results import CaseResult, Outcome

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST = 40  # cells with a line below the table; the rest are counted
MARK_STYLES = {
    ConformanceMark.ERROR: STYLES[Outcome.ERROR],
    ConformanceMark.FAILS: STYLES[Outcome.FAIL],
    ConformanceMark.UNDECIDED: STYLES[Outcome.UNDECIDED],
    ConformanceMark.HOLDS: STYLES[Outcome.PASS],
}


def conformance_table(
    cases: Sequence[CaseResult], terminal: Terminal, *, verbose: bool = False
) -> list[RenderableType]:
    """The table, with estimates and intervals where `verbose`; empty where no code was tested."""
    table = conformance(cases, each=verbose)
    if table is None:
        return []
    keys = [f"column {place}" for place in range(len(table.heads))]
    heads = {key: _head(head) for key, head in zip(keys, table.heads, strict=True)}
    fields = Fields(prose=("parameters",), headings=heads)
    rows = [_row(row, keys, verbose) for row in table.rows]
    items: list[RenderableType] = []
    for band in _bands(rows, keys, fields, terminal):
        if items:
            items.append("")
        items += arrange(rows, fields, _layouts(rows, band), terminal)
    explained = legend(table)
    return [*items, *packed(explained, terminal)]


def _head(head: Head) -> str:
    return head.name if head.dtype is None else f"{head.name}\n{head.dtype}"


def _row(row: ConformanceRow, keys: Sequence[str], verbose: bool) -> dict[str, TableCell]:
    cells = {key: _cell(one, verbose) for key, one in zip(keys, row.cells, strict=True)}
    return {
        "claim": TableCell(row.claim),
        "parameters": TableCell(one_line(row.parameters)),
        **cells,
    }


def _cell(judged: ConformanceCell, verbose: bool) -> TableCell:
    shown = sign(judged)
    if judged.mark is None:
        return TableCell(shown)
    below = measured(judged.worst) if verbose else ""
    return TableCell(f"{shown}\n{below}" if below else shown, MARK_STYLES[judged.mark])


def _layouts(
    rows: Sequence[dict[str, TableCell]], band: Sequence[str]
) -> list[tuple[tuple[str, ...], ...]]:
    """Layouts of a band of columns: claim and parameters side by side, or in one column."""
    behind = tuple((key,) for key in band)
    if not any(row["parameters"].text for row in rows):
        return [(*layout("claim"), *behind)]
    return [(*layout(one), *behind) for one in ("claim parameters", "claim/parameters")]


def _bands(
    rows: Sequence[dict[str, TableCell]], keys: Sequence[str], fields: Fields, terminal: Terminal
) -> list[list[str]]:
    """The columns split into as many tables as the terminal needs, one below the other."""
    bands: list[list[str]] = [[]]
    for key in keys:
        longer = [*bands[-1], key]
        if any(fits(rows, fields, one, terminal) for one in _layouts(rows, longer)):
            bands[-1] = longer
        else:
            bands.append([key])
    return [band for band in bands if band]


def said_below(cases: Sequence[CaseResult], terminal: Terminal) -> list[RenderableType]:
    """A line for each cell that does not hold, and the command that repeats it."""
    table = conformance(cases)
    if table is None:
        return []
    shown = to_say(table)
    items: list[RenderableType] = []
    for cell, mark, text in shown[:MOST]:
        line = f"{mark.sign} {where(cell)}: {one_line(text)}"
        items.append(styled(terminal.spell(line), MARK_STYLES[mark]))
        items.append(f"  {cell.worst.repeat}")
    if len(shown) > MOST:
        items.append(styled(f"and {numbers.plural(len(shown) - MOST, 'more cell')}"))
    return [*items, ""] if items else []
