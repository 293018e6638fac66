"""Rows of named fields, laid out as a table where one fits and one below the other where not.

Nothing is ever cut: where no table fits the width, each row becomes a small block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from dropcheck.records import dataclass
from dropcheck.report.terminal.screen import Terminal, cells, plain, styled

if TYPE_CHECKING:  # imported where something is to be wrapped
    from rich.console import RenderableType
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

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
            plainly = _lines(shown, fields, layout, terminal)
            return plainly or [_table(shown, fields, layout, terminal)]
    names = [name for column in last for name in column]
    return _stacked(shown, fields, names)


def _column_width(rows: Sequence[Mapping[str, Cell]], fields: Fields, column: Sequence[str]) -> int:
    """The least width that cuts nothing: prose may be wrapped, but not into a ribbon."""
    widths = []
    for name in column:
        texts = [row[name].text for row in rows if name in row]
        longest = max(map(cells, texts), default=0)
        widths.append(min(longest, WRAPPED) if name in fields.prose else longest)
        widths.append(cells(fields.headings[name]))
    return max(widths)


def _width(rows: Sequence[Mapping[str, Cell]], fields: Fields, layout: Layout) -> int:
    widths = [_column_width(rows, fields, column) for column in layout]
    return sum(widths) + GAP * (len(layout) - 1)


def _lines(
    rows: Sequence[Mapping[str, Cell]], fields: Fields, layout: Layout, terminal: Terminal
) -> list[RenderableType]:
    """The table line by line, as rich would set it, where nothing is to be wrapped or stacked.

    None otherwise. Rich takes twenty times as long: for `list`, longer than all else.
    """
    names = [column[0] for column in layout]
    headings = {name: Cell(terminal.spell(fields.headings[name]), "bold") for name in names}
    table = [headings, *({name: row.get(name, Cell("")) for name in names} for row in rows)]
    widths = {name: max(cells(row[name].text) for row in table) for name in names}
    width = sum(widths.values()) + GAP * (len(names) - 1)
    wrapped = terminal.width is not None and width > terminal.width
    stacked = any(len(column) > 1 for column in layout)
    if wrapped or stacked or not rows or not all(map(_single, table)):
        return []
    items = [_line(row, widths, fields, terminal) for row in table]
    return [items[0], terminal.spell("─") * width, *items[1:]]


def _single(row: Mapping[str, Cell]) -> bool:
    return not any("\n" in cell.text or "\t" in cell.text for cell in row.values())


def _line(
    row: Mapping[str, Cell], widths: Mapping[str, int], fields: Fields, terminal: Terminal
) -> RenderableType:
    parts = []
    for name, width in widths.items():
        cell = row[name]
        room = " " * (width - cells(cell.text))
        text = room + cell.text if name in fields.right else cell.text + room
        parts.append((text, cell.style))
    gap = " " * GAP
    if not terminal.colour:
        return gap.join(text for text, _ in parts)
    return styled(gap).join(styled(text, style) for text, style in parts)


def _table(
    rows: Sequence[Mapping[str, Cell]], fields: Fields, layout: Layout, terminal: Terminal
) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

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
    stacked = [row.get(name, Cell("")) for name in column]
    while len(stacked) > 1 and not stacked[-1].text:
        stacked.pop()
    return styled("\n").join(styled(cell.text, cell.style) for cell in stacked)


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
    from rich.padding import Padding
    from rich.table import Table

    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for label, cell in pairs:
        grid.add_row(label, styled(cell.text, cell.style))
    return Padding(grid, (0, 0, 0, indent), expand=False)


def packed(parts: Iterable[str], terminal: Terminal) -> list[RenderableType]:
    """The parts on one line, or on as few as the terminal needs: broken between parts."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else part
        fits = terminal.width is None or cells(terminal.spell(longer)) <= terminal.width
        lines[-1:] = [longer] if fits else [*lines[-1:], part]
    return [styled(line) for line in lines]
