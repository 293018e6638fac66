"""A claims file as text: reading, decoding, a check for forbidden characters, and places in it.

Within the package, positions are (line, column) from 0, in characters, like YAML's marks. A
`Location`, which the user sees, counts from 1.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path

from dropcheck.errors import (
    MOST_PROBLEMS,
    DropcheckError,
    Location,
    NotebookCell,
    Problem,
    in_file_order,
    suggestion,
)
from dropcheck.records import record

LineColumn = tuple[int, int]

LARGEST_FILE = 16 * 2**20  # bytes; a thousand claims take a twentieth of this
LINE_END = re.compile(r"\r\n|\r|\n")
# Not printable by YAML 1.2 (§5.1), or line breaks of YAML 1.1 only, which editors do not show.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)
BYTE_ORDER_MARK = "\ufeff"


@record
class Source:
    """The text of a claims file, and its name in messages.

    The text of a notebook is that of its cells, one below the other.
    """

    name: str
    text: str
    lines: tuple[str, ...]
    cells: tuple[NotebookCell, ...] = ()

    def location(self, position: LineColumn) -> Location:
        """The location of a position, with the text of its line."""
        line, column = position
        text = self.lines[line] if line < len(self.lines) else ""
        if not self.cells:
            return Location(self.name, line + 1, column + 1, text)
        at = bisect_right(self.cells, line, key=lambda one: one.first) - 1
        cell = self.cells[max(at, 0)]
        return Location(self.name, line - cell.first + 1, column + 1, text, cell=cell)

    def line_of(self, position: LineColumn) -> str:
        """The line of a position, in words."""
        return self.location(position).line_in_words

    def problem(self, position: LineColumn, message: str, hint: str | None = None) -> Problem:
        """A problem at a position."""
        return Problem(message, self.location(position), hint)


class Problems:
    """Collects the problems of a file while it is read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._problems: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self._problems)

    def add(self, position: LineColumn, message: str, hint: str | None = None) -> None:
        """Report a problem at a position.

        Raises:
            DropcheckError: there are too many problems to go on.
        """
        self._problems.append(self.source.problem(position, message, hint))
        if len(self._problems) >= MOST_PROBLEMS:
            raise self.error()

    def extend(self, problems: Iterable[Problem]) -> None:
        """Report problems that have their locations already."""
        self._problems.extend(problems)

    def error(self, *last: Problem) -> DropcheckError:
        """An error with all reported problems and `last`, in the order of the file."""
        ordered = list(in_file_order([*self._problems, *last]))
        if len(ordered) >= MOST_PROBLEMS:
            ordered[MOST_PROBLEMS:] = [Problem("there are more problems", hint="fix these first")]
        return DropcheckError(ordered)


def read_bytes(path: Path, name: str) -> bytes:
    """The bytes of a file, up to one more than the limit of 16 MB, so that an excess shows.

    Raises:
        DropcheckError: it is missing, is a folder, or cannot be read.
    """
    at = Location(name)
    try:
        if path.is_dir():
            inside = ", ".join(sorted(child.name for child in path.glob("*.yaml"))[:3])
            hint = "name the file in it" + (f": {inside}" if inside else "")
            raise DropcheckError(Problem(f"{name!r} is a folder, not a claims file", at, hint))
        with path.open("rb") as stream:
            return stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise DropcheckError(Problem(f"there is no file {name!r}", at, _nearby(path))) from None
    except (OSError, ValueError) as error:  # ValueError: an impossible file name
        reason = getattr(error, "strerror", None) or str(error)
        message = f"{name!r} cannot be read: {reason[:1].lower()}{reason[1:]}"
        raise DropcheckError(Problem(message, at)) from None


def _nearby(path: Path) -> str | None:
    if str(path) == "-":
        return "standard input is named /dev/stdin"
    try:
        return suggestion(path.name, [one.name for one in path.parent.iterdir() if one.is_file()])
    except OSError:
        return f"there is no folder {str(path.parent)!r} that can be read"


def decode(data: bytes, name: str) -> Source:
    """Decode a file.

    Raises:
        DropcheckError: it is larger than 16 MB, is not UTF-8, or contains a forbidden character.
    """
    if len(data) > LARGEST_FILE:
        message = f"the file is larger than {LARGEST_FILE // 2**20} MB, the most that is read"
        raise DropcheckError(Problem(message, Location(name)))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DropcheckError(_not_utf8(data, error.start, name)) from None
    text = text.removeprefix(BYTE_ORDER_MARK)
    source = Source(name, text, tuple(LINE_END.split(text)))
    hidden = forbidden(text)
    if hidden is not None:
        where, what = hidden
        before = LINE_END.split(text[:where])
        at = (len(before) - 1, len(before[-1]))
        hint = "delete it, or retype the line"
        raise DropcheckError(source.problem(at, f"the file contains {what}", hint))
    return source


def _not_utf8(data: bytes, start: int, name: str) -> Problem:
    lines = LINE_END.split(data[:start].decode("utf-8"))
    rest = data[start : start + 200].decode("utf-8", "replace")
    shown = lines[-1] + LINE_END.split(rest)[0]
    byte = f"byte 0x{data[start]:02x} at offset {start}"
    at = Location(name, len(lines), len(lines[-1]) + 1, shown)
    message = f"the file is not UTF-8: {byte} does not begin a character"
    return Problem(message, at, "save it as UTF-8")


def forbidden(text: str) -> tuple[int, str] | None:
    """The place and the description of the first forbidden character; None if there is none.

    Terminals obey control characters, and editors do not show them.
    """
    match = _FORBIDDEN.search(text)
    if match is None:
        return None
    code = ord(match.group())
    what = f"the control character U+{code:04X}"
    if code in (0x85, 0x2028, 0x2029):
        what = f"a line break that YAML 1.2 does not know (U+{code:04X})"
    named = {0: "a NUL character", 0xFEFF: "a byte order mark (U+FEFF) within the text"}
    return match.start(), named.get(code, what)
