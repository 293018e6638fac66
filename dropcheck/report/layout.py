"""Rows of named fields, laid out as a table where one fits and one below the other where not.

Nothing is ever cut: where no table fits the width, each row becomes a small block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dropcheck.report.terminal import Terminal, plain, styled

Layout = tuple[tuple[str, ...], ...]
"""The columns of a table: each is one field, or several, one below the other."""

GAP = 2  # spaces between columns
WRAPPED = 28  # the least width for a column of prose to be worth having


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of one row."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields that rows may have: their headings, and how they stand in a column."""

    headings: Mapping[str, str]
    right: Collection[str] = ()  # numbers, flush right
    prose: Collection[str] = ()  # may be wrapped


def arrange(
    rows: Sequence[Mapping[str, Cell]],
    fields: Fields,
    layouts: Iterable[Layout],
    terminal: Terminal,
) -> list[RenderableType]:
    """The rows in the first of the layouts that fits the terminal; stacked where none does."""
    shown = [
        {
            name: Cell(terminal.spell(plain(cell.text)), cell.style)
            for name, cell in row.items()
            if name in fields.headings
        }
        for row in rows
    ]
    last: Layout = ()
    for layout in layouts:
        last = layout
        if terminal.width is None or _width(shown, fields, layout) <= terminal.width:
            return [_table(shown, fields, layout, terminal)]
    names = [name for column in last for name in column]
    return _stacked(shown, fields, names)


def _column_width(rows: Sequence[Mapping[str, Cell]], fields: Fields, column: Sequence[str]) -> int:
    """The least width that cuts nothing: prose may be wrapped, but not into a ribbon."""
    widths = []
    for name in column:
        texts = [row[name].text for row in rows if name in row]
        longest = max(map(cell_len, texts), default=0)
        widths.append(min(longest, WRAPPED) if name in fields.prose else longest)
        widths.append(cell_len(fields.headings[name]))
    return max(widths)


def _width(rows: Sequence[Mapping[str, Cell]], fields: Fields, layout: Layout) -> int:
    widths = [_column_width(rows, fields, column) for column in layout]
    return sum(widths) + GAP * (len(layout) - 1)


def _table(
    rows: Sequence[Mapping[str, Cell]], fields: Fields, layout: Layout, terminal: Terminal
) -> Table:
    # the box puts one character between columns, and the padding the rest
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, GAP - 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    for column in layout:
        prose = bool(set(column) & set(fields.prose))
        width = _column_width(rows, fields, column)
        table.add_column(
            Text("\n".join(terminal.spell(fields.headings[name]) for name in column)),
            justify="right" if set(column) & set(fields.right) else "left",
            no_wrap=not prose,
            overflow="fold",
            min_width=width,
        )
    for row in rows:
        table.add_row(*(_stack(row, column) for column in layout))
    return table


def _stack(row: Mapping[str, Cell], column: Sequence[str]) -> Text:
    """The fields of one column, one below the other; the last ones left out where empty."""
    cells = [row.get(name, Cell("")) for name in column]
    while len(cells) > 1 and not cells[-1].text:
        cells.pop()
    return Text("\n").join(styled(cell.text, cell.style) for cell in cells)


def _stacked(
    rows: Sequence[Mapping[str, Cell]], fields: Fields, names: Sequence[str]
) -> list[RenderableType]:
    items: list[RenderableType] = []
    head, *rest = names
    for row in rows:
        items.append(styled(row[head].text, "bold"))
        pairs = [
            (fields.headings[name], row[name]) for name in rest if row.get(name, Cell("")).text
        ]
        items.append(pairs_table(pairs))
    return items


def pairs_table(pairs: Iterable[tuple[str, Cell]], indent: int = 2) -> Padding:
    """Labels and what they stand for, in two columns; the right one is wrapped, never cut."""
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for label, cell in pairs:
        grid.add_row(label, styled(cell.text, cell.style))
    return Padding(grid, (0, 0, 0, indent), expand=False)
