"""The report of a run for people: a table, a block on what did not pass, notes, and a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dropcheck.claims.values import short_parameters
from dropcheck.report import numbers, words
from dropcheck.report.facts import facts, summary
from dropcheck.report.screen import UNLIMITED, Terminal, cells, packed, plain, render, styled
from dropcheck.results import CaseResult, Outcome, RunResult

if TYPE_CHECKING:
    from rich.console import RenderableType

GAP = 2  # spaces between columns
LEAST = 20  # the least width of a column that is cut or wrapped
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
    shown = [{name: _pair(cell) for name, cell in row.items()} for row in rows]
    heads = {name: columns.headings.get(name, name) for name in columns.names}
    width = {
        name: max(cells(line) for text in (head, *texts) for line in text.split("\n"))
        for name, head in heads.items()
        if any(texts := [row[name][0] for row in shown if name in row])
    }
    flexible = {*columns.cut, *columns.prose}
    least = {name: min(w, LEAST) if name in flexible else w for name, w in width.items()}
    room = (terminal.width or UNLIMITED) + GAP

    def fits() -> bool:
        return sum(least.values()) + GAP * len(least) <= room

    for name in columns.dropped:
        if not fits():
            least.pop(name, None)
    if not fits():
        first, *rest = width
        blocks = [
            item
            for row in shown
            for item in (
                styled(row[first][0], "bold"),
                pairs({heads[name]: row[name] for name in rest if row.get(name, ("",))[0]}),
                "",
            )
        ]
        return blocks[:-1]
    from rich import box
    from rich.table import Table

    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for name, wide in least.items():
        grid.add_column(
            styled(heads[name], "bold"),
            justify="right" if name in columns.right else "left",
            no_wrap=name not in flexible,
            min_width=wide,
        )
    for row in shown:
        cells_of_row = ((row.get(name, ("", "")), name in columns.cut) for name in least)
        grid.add_row(*(styled(*cell, cut=cut) for cell, cut in cells_of_row))
    return [grid]


def _pair(cell: str | tuple[str, str]) -> tuple[str, str]:
    text, style = (cell, "") if isinstance(cell, str) else cell
    return plain(text), style


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
    heading: str, style: str, said: Mapping[str, str | None], repeat: str = ""
) -> list[RenderableType]:
    """A block on one result below a table, with the command that repeats it.

    Labels without a text are left out. The command is never broken, so that it can be copied.
    """
    shown = {label: text for label, text in said.items() if text}
    last = [f"  {'repeat':<{max(map(len, shown))}}  {repeat}"] if repeat else []
    return [styled(heading, style), pairs(shown), *last]


# ---- a run ---------------------------------------------------------------------------------------


COLUMNS = Columns(
    names=(
        *("claim", "parameters", "claimed", "estimated", "exact", "interval", "within"),
        *("confidence", "guarantee", "draws", "passed", "result"),
    ),
    right=("claimed", "estimated", "exact", "within", "draws", "passed"),
    cut=("parameters",),
    dropped=(  # an estimate alone says nothing: of which case, against what?
        *("confidence", "guarantee", "draws", "passed", "within", "estimated"),
        *("parameters", "interval", "exact", "claimed"),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a report with a table holds, from top to bottom; a format only sets it."""

    rows: Sequence[Row]
    columns: Columns
    by_column: bool  # whether it is a conformance table
    legend: Sequence[str]
    cases: Sequence[CaseResult]  # that did not pass
    more: str  # how many of them are left out
    remarks: Sequence[tuple[str, str]]  # notes and warnings, by what they are


def contents(run: RunResult, verbose: int = 0) -> Contents:
    """What is reported of a run.

    A row is the worst case of a claim of the file; with `verbose` 1 that of a statement, and with 2
    each case. What is alone in a table is shown in its parts. Where code was under test, there is a
    column for each implementation; with `verbose` estimates are in the cells.
    """
    by_column = any(case.column for case in run.cases)
    legend: list[str] = []
    shown: list[Row]
    if by_column:
        shown, columns, legend = conformance(run.cases, verbose > 0)
    else:
        known, columns = rows(run.cases, verbose), IN_FULL if verbose else FEW
        shown = [{**row, "result": (row["result"], words.STYLES[one.result])} for row, one in known]
        if any(row["passed"] for row, _ in known):
            columns = replace(columns, headings={"parameters": "worst case"})
    cases = words.not_passed(run.cases)
    rest = len(cases) - MOST_BLOCKS
    more = numbers.plural(rest, "more case")
    return Contents(
        rows=shown,
        columns=columns,
        by_column=by_column,
        legend=legend,
        cases=cases[:MOST_BLOCKS],
        more=f"and {more} that did not pass: --format json has each" if rest > 0 else "",
        remarks=remarks(run),
    )


def run_report(run: RunResult, terminal: Terminal, *, verbose: int = 0, quiet: bool = False) -> str:
    """The whole report; `quiet` leaves out the table, notes and warnings."""
    items: list[RenderableType] = []
    held = contents(run, verbose)
    if held.rows and not quiet:
        items += [*table(held.rows, held.columns, terminal), *packed(held.legend, terminal), ""]
    for case in held.cases:
        items += [*_block(case), ""]
    items += [styled(held.more), ""] if held.more else []
    if held.remarks and not quiet:
        styles = {"note": "", "warning": "yellow"}
        items += [*(styled(f"{kind}: {text}", styles[kind]) for kind, text in held.remarks), ""]
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


SIGNS = {  # of a cell by its worst case, with their meanings
    Outcome.ERROR: ("error", "could not be judged"),
    Outcome.FAIL: ("✗", "does not hold"),
    Outcome.UNDECIDED: ("?", "undecided"),
    Outcome.PASS: ("✓", "holds"),
}
NOTHING = "-"


def conformance(cases: Sequence[CaseResult], each: bool) -> tuple[list[Row], Columns, list[str]]:
    """Claims by columns: the mathematics, and each implementation in each of its number formats.

    A claim has one row, or with `each` one for each of its parameter values, and its estimates. The
    meanings of the signs come with it, without those that a reader knows.
    """
    groups: dict[tuple[str, str], dict[str, list[CaseResult]]] = {}
    names = dict.fromkeys(map(_column, sorted(cases, key=lambda case: bool(case.column))))
    for case in cases:
        key = case.of or case.claim, short_parameters(case.point) if each else ""
        groups.setdefault(key, {}).setdefault(_column(case), []).append(case)
    found = {words.worst(cell).result for own in groups.values() for cell in own.values()}
    signs = (SIGNS[one] for one in SIGNS if one in found - {Outcome.PASS, Outcome.FAIL})
    legend = [f"{sign} {meaning}" for sign, meaning in signs]
    if any(case.calls and case.calls.declared for case in cases):
        legend.append("draws of a call count each where slots say elements: independent")
    if any(len(own) < len(names) for own in groups.values()):
        legend.append(f"{NOTHING} says nothing of it")
    shown: list[Row] = []
    for (claim, at), own in groups.items():
        signs_of = {name: _cell(own.get(name, ()), each) for name in names}
        shown.append({"claim": claim, "parameters": at, **signs_of})
    return shown, Columns(names=("claim", "parameters", *names), prose=("parameters",)), legend


def _column(case: CaseResult) -> str:
    return "\n".join(filter(None, (case.column or "model", case.dtype)))


def _cell(cases: Sequence[CaseResult], each: bool) -> tuple[str, str]:
    """The sign of the worst case, with its estimate, interval and draws; and its style."""
    if not cases:
        return NOTHING, ""
    case = words.worst(cases)
    said, labels = facts(case), ("estimated", "interval", *["draws"] * (case.draws > 0))
    more = [said[one].removeprefix("diff ") for one in labels if each and one in said]
    return "\n".join([SIGNS[case.result][0], *more]), words.STYLES[case.result]


def told(said: Mapping[str, str]) -> list[tuple[str, str]]:
    """What a text on a case that did not pass tells, by label, below its name and its result."""
    return [(label, text) for label, text in said.items() if label not in UNTOLD]


def case_block(case: CaseResult) -> str:
    """The block on one case that did not pass, as plain text."""
    return render(_block(case), Terminal())


def _block(case: CaseResult) -> list[RenderableType]:
    said = facts(case)
    heading = "  ".join(filter(None, map(said.get, ("result", "claim", "parameters"))))
    return block(heading, words.STYLES[case.result], dict(told(said)), said.get("repeat", ""))


def remarks(run: RunResult) -> list[tuple[str, str]]:
    """What to know before one relies on a run, by what it is: each once, with its claims.

    Of a claim's notes, that with the largest weight is told.
    """
    told: list[tuple[str, str]] = []
    for claim, group in words.by_claim(run.cases).items():
        if noted := [case for case in group if words.note(case)]:
            worst = facts(max(noted, key=words.weight))
            told.append(("note", f"{_counted(claim, len(noted))}: {worst['note']}"))
    concerned: dict[str, list[str]] = {text: [] for text in run.warnings}
    for case in run.cases:
        for text in dict.fromkeys(one.removeprefix(f"{case.claim}: ") for one in case.warnings):
            concerned.setdefault(text, []).append(case.claim)
    for text, claims in concerned.items():
        names = [_counted(claim, claims.count(claim)) for claim in dict.fromkeys(claims)]
        names[3:] = [f"{len(names) - 3} more"] if len(names) > 3 else []
        told.append(("warning", ": ".join(filter(None, (", ".join(names), text)))))
    return told


def _counted(claim: str, cases: int) -> str:
    return claim if cases == 1 else f"{claim} ({numbers.plural(cases, 'case')})"
