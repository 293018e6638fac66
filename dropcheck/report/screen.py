"""What a terminal can show: its width, colours and characters; and text for it.

Everything is rendered to one string first, so that a report is a pure function of its data and of a
`Terminal`; others write the string. The text of problems is made here too: the place, the message,
the line itself with a caret, and a hint.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Literal, TextIO

from dropcheck.errors import Location, Problem
from dropcheck.report.numbers import plural

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.padding import Padding
    from rich.text import Text


# without a terminal nothing is wrapped; rich needs a number
UNLIMITED = 100_000

INDENT = "    "
LONGEST = 100  # of a longer source line only the part around its column is shown
SHOWN = 200  # the most problems that are shown; the rest are counted

MessageKind = Literal["error", "note"]

# characters of the reports beyond ASCII, and what replaces them where they cannot be written
ASCII = str.maketrans(
    dict(zip("─·×−–—’‘“”", "--x---''\"\"", strict=True))
    | {"…": "..", "✓": "ok", "✗": "FAIL", "±": "+-", "≤": "<=", "≥": ">=", "≠": "!="}
    | {"α": "alpha", "ρ": "rho", "σ": "sigma", "√": "sqrt", "∞": "inf"}
)

# escape sequences, other controls, marks that reorder text, and what XML cannot hold: they are
# shown and have no effect
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


@dataclass(frozen=True, slots=True)
class Terminal:
    """What a stream can show; `width` is None where lines may have any length."""

    width: int | None = None
    colour: bool = False
    ascii: bool = False

    def spell(self, text: str) -> str:
        """The text in characters that can be written."""
        return text.translate(ASCII) if self.ascii else text


def terminal_of(stream: TextIO | None = None, environ: Mapping[str, str] | None = None) -> Terminal:
    """What the stream (standard output unless named) can show.

    `NO_COLOR` outranks `FORCE_COLOR` (no-color.org, force-color.org); `COLUMNS` outranks the
    width that the terminal reports.
    """
    stream = sys.stdout if stream is None else stream
    environ = os.environ if environ is None else environ
    interactive = is_terminal(stream)
    if environ.get("NO_COLOR"):
        colour = False
    elif environ.get("FORCE_COLOR"):
        colour = environ["FORCE_COLOR"] != "0"
    else:
        colour = interactive and not is_dumb(environ)
    return Terminal(_width(stream, environ, interactive), colour, not _writes_unicode(stream))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal."""
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # it is closed, or no stream
        return False


def is_dumb(environ: Mapping[str, str]) -> bool:
    """Whether the terminal has no colours and cannot rewrite a line."""
    return environ.get("TERM", "").lower() in {"dumb", "unknown"}


def _width(stream: TextIO, environ: Mapping[str, str], interactive: bool) -> int | None:
    columns = environ.get("COLUMNS", "")
    if columns.isdecimal() and 0 < int(columns[:6]) <= UNLIMITED:
        return int(columns)
    if not interactive:
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _writes_unicode(stream: TextIO) -> bool:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        "─…·×−≤α✓✗".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def plain(text: str) -> str:
    r"""A user's text with its control characters shown, not sent to the terminal.

    >>> plain("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    return _CONTROLS.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """A user's text on one line; blanks within it stay, as in the name of a file."""
    lines = (line.strip() for line in text.replace("\t", " ").splitlines())
    return plain(" ".join(filter(None, lines)))


def styled(text: str, style: str = "") -> Text:
    """A user's text for rich: without markup and emoji codes; long words are folded, not cut."""
    from rich.text import Text

    return Text(plain(text), style=style, overflow="fold")


def line(text: str, terminal: Terminal, style: str = "") -> RenderableType:
    """A user's text as it is where it fits one line of the terminal, else for rich to break."""
    fits = terminal.width is None or cells(text) <= terminal.width
    bare = not (style and terminal.colour) and "\n" not in text
    return text if fits and bare else styled(text, style)


def cells(text: str) -> int:
    """The width of a text in columns of a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def render(items: Iterable[RenderableType], terminal: Terminal) -> str:
    """The items as one string; an item of type `str` is a line that is never broken."""
    items = list(items)
    if all(isinstance(item, str) and "\t" not in item for item in items):
        text = "".join(f"{plain(item)}\n" for item in items if isinstance(item, str))
    else:
        text = _by_rich(items, terminal)
    lines = (line.rstrip() for line in text.splitlines())
    return terminal.spell("".join(f"{line}\n" for line in lines))


def _by_rich(items: Iterable[RenderableType], terminal: Terminal) -> str:
    from rich.console import Console
    from rich.text import Text

    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=terminal.width or UNLIMITED,
        force_terminal=terminal.colour,
        color_system="standard" if terminal.colour else None,
        no_color=not terminal.colour,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )
    for item in items:
        if isinstance(item, str):
            console.print(Text(plain(item)), soft_wrap=True)
        else:
            console.print(item, crop=False)
    return buffer.getvalue()


def problems_text(
    problems: Sequence[Problem],
    terminal: Terminal,
    kind: MessageKind = "error",
    counted: bool = True,
) -> str:
    """All problems in their order, and then how many there are."""
    lines: list[str] = []
    for problem in problems[:SHOWN]:
        lines += _problem(problem, terminal, kind)
    if len(problems) > SHOWN:
        lines.append(f"and {len(problems) - SHOWN} more")
    located = any(problem.location is not None for problem in problems)
    if counted and problems and (located or len(problems) > 1):
        lines.append(plural(len(problems), kind))
    return terminal.spell("".join(f"{line}\n" for line in lines))


def _problem(problem: Problem, terminal: Terminal, kind: MessageKind) -> list[str]:
    where = place(problem.location)
    message = plain(problem.message)
    # an error with a place has the form of compilers, which editors read
    if not where:
        lines = [f"{kind}: {message}"]
    elif kind == "error":
        lines = [f"{where}: {message}"]
    else:
        lines = [f"{where}: {kind}: {message}"]
    if problem.location is not None and problem.location.text is not None:
        lines += _source(problem.location.text, problem.location.column, terminal)
    if problem.hint:
        lines.append(f"{INDENT if where else ''}hint: {plain(problem.hint)}")
    return lines


def place(location: Location | None) -> str:
    """A place in the form that editors read.

    >>> place(Location("claims.yaml", 12, 9))
    'claims.yaml:12:9'
    >>> from dropcheck.errors import NotebookCell
    >>> place(Location("paper.ipynb", 2, 7, cell=NotebookCell(3, (8, 9), 6)))
    'paper.ipynb:cell 3:line 2:column 7'
    """
    if location is None:
        return ""
    cell = [] if location.cell is None else [f"cell {location.cell.number}"]
    line, column = ("line ", "column ") if cell else ("", "")
    parts = [one_line(location.file), *cell]
    if location.line is not None:
        parts.append(f"{line}{location.line}")
        if location.column is not None:
            parts.append(f"{column}{location.column}")
    return ":".join(parts)


def _source(text: str, column: int | None, terminal: Terminal) -> list[str]:
    """The line, and a caret below its column, which counts from 1."""
    text = text.rstrip("\r\n").replace("\t", " ")
    if not text.strip():
        return []
    room = min(LONGEST, (terminal.width or LONGEST) - len(INDENT))
    if column is None:
        return [INDENT + plain(_around(text, 0, max(room, 20))[0])]
    at = min(max(column - 1, 0), len(text))
    shown, at = _around(text, at, max(room, 20))
    before = terminal.spell(plain(shown[:at]))
    return [INDENT + plain(shown), INDENT + " " * cells(before) + "^"]


def _around(text: str, at: int, room: int) -> tuple[str, int]:
    """At most `room` characters of the text around position `at`, and the position in them."""
    start = len(text) - len(text.lstrip())
    text, at = text[start:], max(at - start, 0)
    if len(text) <= room:
        return text, at
    low = min(max(at - room // 2, 0), len(text) - room)
    high = low + room
    left, right = ("…" if low else ""), ("…" if high < len(text) else "")
    middle = text[low + len(left) : high - len(right)]
    return left + middle + right, at - low


# ---- layout --------------------------------------------------------------------------------------
#
# Rows of named fields, laid out as a table where one fits, else as blocks.
#
# Nothing is ever cut: where no table fits the width, each row becomes a small block. Tables are
# written here in the way of rich, which takes a second and a half for a thousand rows.


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


@dataclass(frozen=True, slots=True)
class TableCell:
    """The text of one field of one row, and its style."""

    text: str
    style: str = ""


Row = Mapping[str, TableCell | str]
"""A row by its fields; a text has no style of its own."""


@dataclass(frozen=True, slots=True)
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
