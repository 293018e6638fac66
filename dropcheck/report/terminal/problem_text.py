"""Problems as text: where, what, the line itself with a caret, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dropcheck.errors import Location, Problem
from dropcheck.report.numbers import plural
from dropcheck.report.terminal.screen import Terminal, cells, one_line, plain

INDENT = "    "
LONGEST = 100  # a source line longer than this is shown around its column only
SHOWN = 200  # problems beyond these are counted: nobody reads on, and the count says how far off

Kind = Literal["error", "note"]


def problems_text(
    problems: Sequence[Problem], terminal: Terminal, kind: Kind = "error", counted: bool = True
) -> str:
    """All problems, in the order of the file, then how many there are."""
    lines: list[str] = []
    for problem in problems[:SHOWN]:
        lines += _problem(problem, terminal, kind)
    if len(problems) > SHOWN:
        lines.append(f"and {len(problems) - SHOWN} more")
    located = any(problem.location is not None for problem in problems)
    if counted and problems and (located or len(problems) > 1):
        lines.append(plural(len(problems), kind))
    return terminal.spell("".join(f"{line}\n" for line in lines))


def _problem(problem: Problem, terminal: Terminal, kind: Kind) -> list[str]:
    where = place(problem.location)
    message = plain(problem.message)
    # an error with a place reads as compilers write it; editors find their way by that
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
    """A place as editors read it.

    >>> place(Location("claims.yaml", 12, 9))
    'claims.yaml:12:9'
    """
    if location is None:
        return ""
    parts = [one_line(location.file)]
    if location.line is not None:
        parts.append(str(location.line))
        if location.column is not None:
            parts.append(str(location.column))
    return ":".join(parts)


def _source(text: str, column: int | None, terminal: Terminal) -> list[str]:
    """The line, and a caret below its column (from 1)."""
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
    """At most `room` characters of the text with position `at` among them, and where it now is."""
    start = len(text) - len(text.lstrip())
    text, at = text[start:], max(at - start, 0)
    if len(text) <= room:
        return text, at
    low = min(max(at - room // 2, 0), len(text) - room)
    high = low + room
    left, right = ("…" if low else ""), ("…" if high < len(text) else "")
    middle = text[low + len(left) : high - len(right)]
    return left + middle + right, at - low
