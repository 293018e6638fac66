"""A table is set as rich sets it, in a twentieth of the time."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from dropcheck.report.screen import (
    GAP,
    WRAPPED,
    Fields,
    Layout,
    TableCell,
    Terminal,
    arrange,
    cells,
    layout,
    line,
    render,
    styled,
)

FIELDS = Fields(right=("n",), prose=("title",), headings={"id": "claim", "n": "cases"})
LAYOUTS = (layout("id title n"), layout("id/title n"), layout("id n/title"), layout("title id/n"))
ROWS = [
    {
        "id": TableCell("a", "bold"),
        "title": TableCell("What it says, in more words than few"),
        "n": TableCell("1"),
    },
    {"id": TableCell("longer", "bold"), "title": TableCell("漢字 é"), "n": TableCell("1,000")},
    {"id": TableCell("last", "bold"), "title": TableCell("[bold]x[/bold] …")},
]
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def drawn(rows: Any, terminal: Terminal, columns: Layout = LAYOUTS[0]) -> str:
    return render(arrange(rows, FIELDS, [columns], terminal), terminal)


def least(rows: Any, column: tuple[str, ...]) -> int:
    widths = [cells(FIELDS.heading(name)) for name in column]
    for row in rows:
        for name in column:
            width = max(map(cells, row.get(name, TableCell("")).text.split("\n")))
            widths.append(min(width, WRAPPED) if name == "title" else width)
    return max(widths)


def by_rich(rows: Any, terminal: Terminal, columns: Layout) -> str:
    """The same table as rich sets it."""
    # the box puts one character between columns, and the padding the rest
    table = Table(box=SIMPLE_HEAD, padding=(0, GAP - 1, 0, 0), pad_edge=False, show_edge=False)
    heads = ["\n".join(map(FIELDS.heading, column)) for column in columns]
    deepest = max(head.count("\n") for head in heads)
    several = any(len(column) > 1 for column in columns)
    for column, head in zip(columns, heads, strict=True):
        # rich sets a heading at the foot; each name is to stand at the line of its field
        below = "\n" * (deepest - head.count("\n")) if several else ""
        table.add_column(
            Text(terminal.spell(head) + below),
            justify="right" if "n" in column else "left",
            no_wrap="title" not in column,
            overflow="fold",
            min_width=least(rows, column),
        )
    for row in rows:
        stacks = []
        for column in columns:
            texts = [row.get(name, TableCell("")).text for name in column]
            while len(texts) > 1 and not texts[-1]:
                texts.pop()
            stacks.append(styled(terminal.spell("\n".join(texts))))
        table.add_row(*stacks)
    return render([table], terminal)


def seen(text: str) -> list[str]:
    """What is to be seen of a text: the colour of a blank is not."""
    return [line.rstrip() for line in _ESCAPES.sub("", text).splitlines()]


@pytest.mark.parametrize("columns", LAYOUTS)
@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("width", [None, *range(20, 60)])
def test_tables_are_those_of_rich(
    width: int | None, ascii_only: bool, colour: bool, columns: Layout
) -> None:
    terminal = Terminal(width, colour, ascii_only)
    for rows in (ROWS, ROWS[:1], [{**ROWS[0], "title": TableCell("two\nlines")}], []):
        room = sum(least(rows, column) for column in columns) + GAP * (len(columns) - 1)
        if width is None or room <= width:
            ours = drawn(rows, terminal, columns)
            assert seen(ours) == seen(by_rich(rows, terminal, columns))
            assert colour or ours == "".join(f"{text}\n" for text in seen(ours))


def test_two_columns_of_prose_share_what_is_left() -> None:
    fields = Fields(prose=("a", "b"))
    rows = [{"a": TableCell("one two " * 20), "b": TableCell("three four " * 10)}]
    text = render(arrange(rows, fields, [layout("a b")], Terminal(80)), Terminal(80))
    assert max(map(len, text.splitlines())) == 80
    assert text.split().count("three") == 10


def test_bold_stays_bold() -> None:
    first, _, second, *_ = drawn(ROWS, Terminal(colour=True)).splitlines()
    assert first == f"\x1b[1mclaim \x1b[0m  \x1b[1m{'title':36}\x1b[0m  \x1b[1mcases\x1b[0m"
    assert second == "\x1b[1ma     \x1b[0m  What it says, in more words than few      1"


def test_a_line_that_does_not_fit_is_folded() -> None:
    assert line("one two", Terminal(7)) == "one two"
    assert render([line("one two", Terminal(5))], Terminal(5)) == "one\ntwo\n"
    assert render([line("one", Terminal(5, colour=True), "bold")], Terminal(5, colour=True)) == (
        "\x1b[1mone\x1b[0m\n"
    )
