"""The report of a run for people: a table, a block on what did not pass, notes, and a summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dropcheck.report import Report, numbers, words
from dropcheck.report import conformance as pivoting
from dropcheck.report.conformance import Conformance, conformance
from dropcheck.report.facts import facts, summary
from dropcheck.report.screen import Terminal, cells, packed, plain, render, styled
from dropcheck.results import CaseResult, Outcome, RunResult

if TYPE_CHECKING:
    from rich.console import RenderableType

GAP = 2  # spaces between columns
LEAST = 20  # the least width of a column that is cut or wrapped
MOST_CELLS = 40  # of a conformance table, with a line each
MOST_BLOCKS = 20  # nobody reads more; the rest are counted, and are in JSON

Row = Mapping[str, str | tuple[str, str]]
"""A row by its columns: a text, or a text and its style."""


# ---- tables --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a table, by their names; a column in which no row has a text is left out."""

    names: Sequence[str]
    right: Sequence[str] = ()  # numbers, flush right
    cut: Sequence[str] = ()  # cut to the room that is left
    prose: Sequence[str] = ()  # wrapped to the room that is left
    dropped: Sequence[str] = ()  # left out where there is no room, in this order
    headings: Mapping[str, str] = field(default_factory=dict)  # where they are not the names


def table(rows: Sequence[Row], columns: Columns, terminal: Terminal) -> list[RenderableType]:
    """The rows as a table; where it has no room, each row as a block."""
    shown = [{name: _styled(cell, terminal) for name, cell in row.items()} for row in rows]
    heads = {name: columns.headings.get(name, name) for name in columns.names}
    width = {
        name: max(cells(line) for text in (head, *texts) for line in text.split("\n"))
        for name, head in heads.items()
        if any(texts := [row[name][0] for row in shown if name in row])
    }
    flexible = {*columns.cut, *columns.prose}
    least = {name: min(w, LEAST) if name in flexible else w for name, w in width.items()}
    room = (terminal.width or sum(width.values()) + GAP * len(width)) + GAP
    for name in columns.dropped:
        if sum(least.values()) + GAP * len(least) > room:
            least.pop(name, None)
    spare = room - sum(least.values()) - GAP * len(least)
    folded = spare < 0 and len(least) <= 2  # nothing more can go
    if spare < 0 and not folded:
        return _stacked(shown, list(width), heads)
    from rich import box
    from rich.table import Table

    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for name, wide in least.items():
        most = min(width[name], wide + spare) if name in columns.cut else None
        grid.add_column(
            styled(terminal.spell(heads[name]), "bold"),
            justify="right" if name in columns.right else "left",
            overflow="fold",
            no_wrap=not folded and name not in columns.prose,
            min_width=None if folded else most or wide,
            max_width=most,
        )
        for row in shown:
            if most and name in row:
                row[name] = _cut(row[name][0], most, terminal), row[name][1]
    for row in shown:
        grid.add_row(*(styled(*row.get(name, ("", ""))) for name in least))
    return [grid]


def _styled(cell: str | tuple[str, str], terminal: Terminal) -> tuple[str, str]:
    text, style = (cell, "") if isinstance(cell, str) else cell
    return terminal.spell(plain(text)), style


def _cut(text: str, width: int, terminal: Terminal) -> str:
    if cells(text) <= width:
        return text
    from rich.cells import set_cell_size

    mark = terminal.spell("…")
    return set_cell_size(text, width - len(mark)).rstrip() + mark


def _stacked(
    rows: Sequence[Mapping[str, tuple[str, str]]], names: Sequence[str], heads: Mapping[str, str]
) -> list[RenderableType]:
    items: list[RenderableType] = []
    first, *rest = names
    for row in rows:
        items.append(styled(row[first][0], "bold"))
        items.append(pairs({heads[name]: row[name] for name in rest if row.get(name, ("",))[0]}))
    return items


def pairs(said: Row) -> RenderableType:
    """Labels and texts in two columns; the right one is wrapped, never cut."""
    from rich.padding import Padding
    from rich.table import Table

    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for label, cell in said.items():
        grid.add_row(label, styled(cell) if isinstance(cell, str) else styled(*cell))
    return Padding(grid, (0, 0, 0, GAP), expand=False)


def block(
    heading: str, style: str, said: Mapping[str, str | None], repeat: str, terminal: Terminal
) -> list[RenderableType]:
    """A block on one result below a table, with the command that repeats it.

    Labels without a text are left out. The command is never broken, so that it can be copied.
    """
    shown = {label: terminal.spell(plain(text)) for label, text in said.items() if text}
    last = f"  {'repeat':<{max(map(len, shown))}}  {repeat}"
    return [styled(heading, style), pairs(shown), last]


# ---- a run ---------------------------------------------------------------------------------------


COLUMNS = Columns(
    names=(
        *("claim", "parameters", "claimed", "estimated", "exact", "interval", "within"),
        *("confidence", "guarantee", "draws", "passed", "result"),
    ),
    right=("claimed", "estimated", "exact", "within", "draws", "passed"),
    cut=("parameters",),
    dropped=(
        *("confidence", "guarantee", "exact", "draws", "within", "interval", "parameters"),
        *("claimed", "estimated", "passed"),
    ),
)
IN_FULL = replace(
    COLUMNS,
    cut=(),
    prose=("parameters",),
    dropped=[name for name in COLUMNS.dropped if name not in ("parameters", "passed")],
)
FEW = replace(
    COLUMNS, names=[name for name in COLUMNS.names if name not in ("confidence", "guarantee")]
)
UNTOLD = {  # of a case, by its block
    *("claim", "parameters", "result", "verdict", "expected", "warnings", "document"),
    *("section", "tags", "column", "dtype", "repeat"),
}


def table_report(report: Report) -> str:
    """The report of a run.

    It is empty where errors left nothing to report: totals of no case could be read as a result.
    """
    if report.problems and not (report.run.cases or report.run.warnings):
        return ""
    terminal = report.terminal or Terminal()
    return run_report(report.run, terminal, verbose=report.verbose, quiet=report.quiet)


def run_report(run: RunResult, terminal: Terminal, *, verbose: int = 0, quiet: bool = False) -> str:
    """The whole report; `quiet` leaves out the table and the warnings.

    A row is the worst case of a claim of the file; with `verbose` 1 that of a statement, and with 2
    each case. What is alone in a table is shown in its parts.
    """
    items: list[RenderableType] = []
    pivot = conformance(run.cases, each=verbose > 0)
    if pivot is not None:
        items += _by_columns(pivot, terminal, verbose=verbose > 0) if not quiet else []
        items += _said(pivot, terminal) if not verbose else []
    elif run.cases and not quiet:
        known, columns = rows(run.cases, verbose), IN_FULL if verbose else FEW
        shown: list[Row] = [
            {**row, "result": (row["result"], words.STYLES[case.result])} for row, case in known
        ]
        if any(row["passed"] for row, _ in known):
            columns = replace(columns, headings={"parameters": "worst case"})
        items += [*table(shown, columns, terminal), ""]
    if pivot is None or verbose:
        each = verbose > 1 or len(words.by_claim(run.cases)) == 1
        items += _blocks(run.cases, terminal, quiet=quiet, each=each)
    if not quiet:
        items += [*_notes(run.cases), *_warnings(run)]
    if verbose and run.draws:
        by = run.drawn_by.items()
        drawn = (f"{numbers.plural(count, 'case')} drawn by {who}" for who, count in by)
        items += packed(drawn, terminal)
    return render([*items, *packed(summary(run).values(), terminal)], terminal)


def rows(cases: Sequence[CaseResult], verbose: int) -> list[tuple[dict[str, str], CaseResult]]:
    """What is said of the worst case of each claim, of each statement, or of each case."""
    groups: dict[object, list[CaseResult]] = {}
    for place, case in enumerate(cases):
        of_file, _, statement = case.claim.partition(".")
        keys = (of_file, case.claim, place)
        groups.setdefault(keys[min(verbose, 2)], []).append(case)
    if len(groups) == 1 and verbose < 2:
        return rows(cases, verbose + 1)
    shown = []
    for group in groups.values():
        case, passed = words.worst(group), sum(one.result is Outcome.PASS for one in group)
        said = facts(case) | {"passed": f"{passed}/{len(group)}" if len(group) > 1 else ""}
        of_file, _, statement = case.claim.partition(".")
        if len({one.claim for one in group}) > 1:
            said["claim"] = of_file
            said["parameters"] = ", ".join(filter(None, (statement, said.get("parameters"))))
        shown.append((said, case))
    return shown


def _by_columns(pivot: Conformance, terminal: Terminal, *, verbose: bool) -> list[RenderableType]:
    """Claims by columns where code was under test, with estimates where `verbose`."""
    keys = [f"column {place}" for place in range(len(pivot.heads))]
    shown = []
    for row in pivot.rows:
        cells_of_row: dict[str, str | tuple[str, str]] = {
            key: (pivoting.shown(cell, verbose=verbose), _style(cell))
            for key, cell in zip(keys, row.cells, strict=True)
        }
        shown.append({"claim": row.claim, "parameters": row.parameters, **cells_of_row})
    heads = ["\n".join(filter(None, head)) for head in pivot.heads]
    columns = Columns(
        names=("claim", "parameters", *keys),
        prose=("parameters",),
        headings=dict(zip(keys, heads, strict=True)),
    )
    legend = pivot.legend(Outcome.PASS, Outcome.FAIL)
    return [*table(shown, columns, terminal), *packed(legend, terminal), ""]


def _style(cell: pivoting.Cell) -> str:
    outcome = pivoting.outcome(cell)
    return words.STYLES[outcome] if outcome else ""


def _said(pivot: Conformance, terminal: Terminal) -> list[RenderableType]:
    """A line for each cell that does not hold, and the command that repeats it."""
    told = pivot.said()
    items: list[RenderableType] = []
    for cell, text in told[:MOST_CELLS]:
        said = terminal.spell(f"{pivoting.sign(cell)} {pivoting.where(cell)}: {text}")
        items += [styled(said, _style(cell)), f"  {words.worst(cell).repeat}"]
    if len(told) > MOST_CELLS:
        items.append(styled(f"and {numbers.plural(len(told) - MOST_CELLS, 'more cell')}"))
    return [*items, ""] if items else []


def told(said: Mapping[str, str]) -> list[tuple[str, str]]:
    """What a text on a case that did not pass tells, by label, below its name and its result."""
    return [(label, text) for label, text in said.items() if label not in UNTOLD]


def case_block(case: CaseResult) -> str:
    """The block on one case that did not pass, as plain text."""
    return render(_block(case, Terminal()), Terminal())


def _block(case: CaseResult, terminal: Terminal) -> list[RenderableType]:
    said = facts(case)
    heading = "  ".join(filter(None, map(said.get, ("result", "claim", "parameters"))))
    return block(heading, words.STYLES[case.result], dict(told(said)), said["repeat"], terminal)


def _blocks(
    cases: Sequence[CaseResult], terminal: Terminal, *, quiet: bool, each: bool
) -> list[RenderableType]:
    bad = words.not_passed(cases)
    items = [item for case in bad[:MOST_BLOCKS] for item in (*_block(case, terminal), "")]
    if len(bad) > MOST_BLOCKS:
        rest = "each has a row above" if each else "-vv shows a row for each"
        rest = "--format json shows each" if quiet else rest
        more = numbers.plural(len(bad) - MOST_BLOCKS, "more case")
        items += [styled(f"and {more} that did not pass ({rest})"), ""]
    return items


def _notes(cases: Iterable[CaseResult]) -> list[RenderableType]:
    """What to know of verified cases before one relies on them: a line for each claim."""
    items: list[RenderableType] = []
    for claim, group in words.by_claim(cases).items():
        noted = [case for case in group if words.note(case)]
        if noted:
            more = f" ({numbers.plural(len(noted), 'case')})" if len(noted) > 1 else ""
            worst = facts(max(noted, key=words.weight))
            items.append(styled(f"note: {claim}{more}: {worst['note']}"))
    return [*items, ""] if items else []


def _warnings(run: RunResult) -> list[RenderableType]:
    """Each warning once, with the claims that it concerns."""
    concerned: dict[str, list[str]] = {text: [] for text in run.warnings}
    for case in run.cases:
        for text in dict.fromkeys(one.removeprefix(f"{case.claim}: ") for one in case.warnings):
            concerned.setdefault(text, []).append(case.claim)
    items: list[RenderableType] = []
    for text, claims in concerned.items():
        counted = {claim: claims.count(claim) for claim in claims}
        names = [
            claim if cases == 1 else f"{claim} ({numbers.plural(cases, 'case')})"
            for claim, cases in counted.items()
        ]
        names[3:] = [f"{len(names) - 3} more"] if len(names) > 3 else []
        items.append(styled(": ".join(filter(None, ("warning", ", ".join(names), text))), "yellow"))
    return [*items, ""] if items else []
