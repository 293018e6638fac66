"""A table set line by line is the one that rich sets, wherever nothing has to be wrapped."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dropcheck.report.terminal import layout
from dropcheck.report.terminal.layout import Cell, Fields, arrange
from dropcheck.report.terminal.screen import Terminal, line, render

FIELDS = Fields({"id": "claim", "title": "title", "n": "cases"}, right=("n",), prose=("title",))
COLUMNS = (("id",), ("title",), ("n",))
ROWS = [
    {
        "id": Cell("a", "bold"),
        "title": Cell("What it says, in more words than few"),
        "n": Cell("1"),
    },
    {"id": Cell("longer", "bold"), "title": Cell("漢字 é"), "n": Cell("1,000")},
    {"id": Cell("last", "bold"), "title": Cell("[bold]x[/bold] …")},
]
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def drawn(rows: Any, terminal: Terminal) -> str:
    return render(arrange(rows, FIELDS, [COLUMNS], terminal), terminal)


def seen(text: str) -> list[str]:
    """What is to be seen of a text: the colour of a blank is not."""
    return [line.rstrip() for line in _ESCAPES.sub("", text).splitlines()]


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("width", [None, *range(20, 60)])
def test_lines_are_those_of_rich(
    width: int | None, ascii_only: bool, colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(width, colour, ascii_only)
    for rows in (ROWS, ROWS[:1], [{**ROWS[0], "title": Cell("two\nlines")}], []):
        plainly = drawn(rows, terminal)
        with monkeypatch.context() as patched:
            patched.setattr(layout, "_lines", lambda *_: [])
            assert seen(plainly) == seen(drawn(rows, terminal))
        assert colour or plainly == "".join(f"{text}\n" for text in seen(plainly))


def test_lines_are_taken_where_they_fit_and_not_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "_table", lambda *_: "by rich")
    widest = max(map(len, drawn(ROWS, Terminal()).splitlines()))
    assert widest == 6 + 2 + 36 + 2 + 5
    assert drawn(ROWS, Terminal(widest)) != "by rich\n"
    assert drawn(ROWS, Terminal(widest - 1)) == "by rich\n"
    assert drawn([{**ROWS[0], "title": Cell("two\nlines")}], Terminal()) == "by rich\n"


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
