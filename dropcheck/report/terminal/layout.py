"""Rows of named fields, laid out as a table where one fits, else as blocks.

Nothing is ever cut: where no table fits the width, each row becomes a small block. Tables are
written here in the way of rich, which takes a second and a half for a thousand rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from dropcheck.records import record
from dropcheck.report.terminal.screen import Terminal, cells, plain, styled

if TYPE_CHECKING:  # imported where text has to be wrapped
    from rich.console import RenderableType
    from rich.padding import Padding

Layout = tuple[tuple[str, ...], ...]
"""The columns of a table: each has one field, or several below each other."""

GAP = 2  # spaces between columns
WRAPPED = 28  # the least width of a column of prose


def layout(columns: str) -> Layout:
    """A layout by the names of its fields; those that share a column have a slash between them.

    >>> layout("claim/parameters draws")
    (('claim', 'parameters'), ('draws',))
    """
    return tuple(tuple(column.split("/")) for column in columns.split())


@record
class TableCell:
    """The text of one field of one row, and its style."""

    text: str
    style: str = ""


Row = Mapping[str, TableCell | str]
"""A row by its fields; a text has no style of its own."""


@record
class Fields:
    """The form of the fields in their columns; `headings` has those that differ from the names."""

    right: Collection[str] = ()  # numbers, flush right
    prose: Collection[str] = ()  # may be wrapped
    optional: Collection[str] = ()  # left out where no row has a text in them
    headings: Mapping[str, str] = field(default_factory=dict)

    def heading(self, name: str) -> str:
        """The heading of a field."""
        return self.headings.get(name, name)


def arrange(
    rows: Sequence[Row],
    fields: Fields,
    layouts: Sequence[Layout],
    terminal: Terminal,
) -> list[RenderableType]:
    """The rows in the first of the layouts that fits the terminal; stacked where none does."""
    shown = [
        {
            name: TableCell(terminal.spell(plain(cell.text)).expandtabs(), cell.style)
            for name, cell in _cells(row).items()
        }
        for row in rows
    ]
    empty = {name for name in fields.optional if not any(row[name].text for row in shown)}
    for written in layouts:
        kept = (tuple(name for name in column if name not in empty) for column in written)
        columns = tuple(filter(None, kept))
        if fits(shown, fields, columns, terminal):
            return _table(shown, fields, columns, terminal)
    return _stacked(shown, fields, [name for column in layouts[-1] for name in column])


def _cells(row: Row) -> Mapping[str, TableCell]:
    return {name: TableCell(one) if isinstance(one, str) else one for name, one in row.items()}


def fits(
    rows: Sequence[Mapping[str, TableCell]], fields: Fields, columns: Layout, terminal: Terminal
) -> bool:
    """Whether the terminal is wide enough for a layout."""
    gaps = GAP * (len(columns) - 1)
    least = sum(_least_width(rows, fields, column) for column in columns)
    return terminal.width is None or least + gaps <= terminal.width


def _least_width(
    rows: Sequence[Mapping[str, TableCell]], fields: Fields, column: Sequence[str]
) -> int:
    """The least width that cuts nothing; prose may be wrapped, but not too narrowly."""
    widths = []
    for name in column:
        lines = (line for row in rows if name in row for line in row[name].text.split("\n"))
        longest = max(map(cells, lines), default=0)
        widths.append(min(longest, WRAPPED) if name in fields.prose else longest)
        widths += map(cells, fields.heading(name).split("\n"))
    return max(widths)


def _table(
    rows: Sequence[Mapping[str, TableCell]], fields: Fields, columns: Layout, terminal: Terminal
) -> list[RenderableType]:
    """The lines of the table."""
    names = chain.from_iterable(columns)
    headings = {name: TableCell(terminal.spell(fields.heading(name)), "bold") for name in names}
    grid = [[_stack(row, column) for column in columns] for row in [headings, *rows]]
    deepest = max(map(len, grid[0]))
    if all(len(column) == 1 for column in columns):  # else each name has the line of its field
        grid[0] = [[TableCell("")] * (deepest - len(stack)) + stack for stack in grid[0]]
    widths = [max(cells(one.text) for row in grid for one in row[i]) for i in range(len(columns))]
    prose = [i for i, column in enumerate(columns) if set(column) & set(fields.prose)]
    right = [bool(set(column) & set(fields.right)) for column in columns]
    gaps = GAP * (len(columns) - 1)
    while terminal.width is not None and sum(widths) + gaps > terminal.width:
        widths[max(prose, key=lambda i: widths[i])] -= 1
    lines: list[RenderableType] = []
    for row in grid:
        stacks = [
            [part for one in stack for part in _folded(one, width)]
            for stack, width in zip(row, widths, strict=True)
        ]
        parts = zip_longest(*stacks, fillvalue=TableCell(""))
        lines += [_line(one, widths, right, terminal) for one in parts]
    lines.insert(deepest, terminal.spell("─") * (sum(widths) + gaps))
    return lines


def _stack(row: Mapping[str, TableCell], column: Sequence[str]) -> list[TableCell]:
    """The lines of one column, field below field, without empty fields at the end."""
    fields = [row.get(name, TableCell("")) for name in column]
    while len(fields) > 1 and not fields[-1].text:
        fields.pop()
    return [TableCell(line, cell.style) for cell in fields for line in cell.text.split("\n")]


def _folded(line: TableCell, width: int) -> list[TableCell]:
    """A line of a column, broken into lines of at most this width, between words if possible."""
    if cells(line.text) <= width:
        return [line]
    from rich.console import Console

    wrapped = styled(line.text).wrap(Console(), width, overflow="fold")
    return [TableCell(part.plain.rstrip(), line.style) for part in wrapped]


def _line(
    parts: Sequence[TableCell], widths: Sequence[int], right: Sequence[bool], terminal: Terminal
) -> RenderableType:
    texts = []
    for part, width, flush_right in zip(parts, widths, right, strict=True):
        room = " " * (width - cells(part.text))
        texts.append(room + part.text if flush_right else part.text + room)
    if not terminal.colour:
        return (" " * GAP).join(texts)
    shown = (styled(text, part.style) for text, part in zip(texts, parts, strict=True))
    return styled(" " * GAP).join(shown)


def _stacked(
    rows: Sequence[Mapping[str, TableCell]], fields: Fields, names: Sequence[str]
) -> list[RenderableType]:
    items: list[RenderableType] = []
    head, *rest = names
    for row in rows:
        pairs = {
            fields.heading(name): row[name] for name in rest if row.get(name, TableCell("")).text
        }
        items += [styled(row[head].text, "bold"), pairs_table(pairs)]
    return items


def pairs_table(pairs: Row) -> Padding:
    """Labels and texts in two columns; the right one is wrapped, never cut."""
    from rich.padding import Padding
    from rich.table import Table

    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for label, cell in _cells(pairs).items():
        grid.add_row(label, styled(cell.text, cell.style))
    return Padding(grid, (0, 0, 0, GAP), expand=False)


def block(
    heading: TableCell, pairs: Mapping[str, str | None], repeat: str, terminal: Terminal
) -> list[RenderableType]:
    """A block on one result below a table, with the command that repeats it.

    Labels without a text are left out. The line of the command is never broken, so that it can be
    copied.
    """
    shown = {label: terminal.spell(text) for label, text in pairs.items() if text}
    last = f"  {'repeat':<{max(map(len, shown))}}  {repeat}"
    return [styled(heading.text, heading.style), pairs_table(shown), last]


def packed(parts: Iterable[str], terminal: Terminal) -> list[RenderableType]:
    """The parts on one line, or on as few lines as the terminal needs, broken between parts."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else part
        fits = terminal.width is None or cells(terminal.spell(longer)) <= terminal.width
        lines[-1:] = [longer] if fits else [*lines[-1:], part]
    return [styled(line) for line in lines]
