"""A file as text and as YAML nodes that know their places, with limits on hostile files.

Nodes are built from the events of the YAML parser, so that size, depth, aliases, tags and repeated
keys are looked at before anything is built from them.

Positions are (line, column) from 0, in characters. A `Location`, for the user, counts from 1.
"""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

import yaml

from dropcheck.claims import values
from dropcheck.claims.registry import SourceText
from dropcheck.claims.values import described, shortened
from dropcheck.errors import (
    MOST_PROBLEMS,
    DropcheckError,
    Location,
    NotebookCell,
    Problem,
    at_most,
    file_suggestion,
    in_file_order,
    reason,
)

LARGEST_FILE = 16 * 2**20  # bytes; a thousand claims take a twentieth of this
MOST_NODES = 200_000  # twice the largest grid; an error in each takes some 400 MB
DEEPEST = 20  # levels of lists and mappings
TOO_DEEP = (
    f"lists or mappings are nested more than {DEEPEST} deep",
    "the format itself needs five levels",
)

LineColumn = tuple[int, int]


# ---- the text of a file --------------------------------------------------------------------------

LINE_END = re.compile(r"\r\n|\r|\n")
# Not printable by YAML 1.2 (§5.1), or line breaks of YAML 1.1 only, which editors do not show.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)


@dataclass(frozen=True, slots=True)
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
        text = self.line(line)
        if not self.cells:
            return Location(self.name, line + 1, column + 1, text)
        at = bisect_right(self.cells, line, key=lambda one: one.first) - 1
        cell = self.cells[max(at, 0)]
        return Location(self.name, line - cell.first + 1, column + 1, text, cell=cell)

    def line(self, number: int) -> str:
        """The text of a line; nothing beyond the end."""
        return self.lines[number] if number < len(self.lines) else ""

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
        self.problems: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self.problems)

    def add(self, position: LineColumn, message: str, hint: str | None = None) -> None:
        """Report a problem at a position.

        Raises:
            DropcheckError: there are too many problems to go on.
        """
        self.problems.append(self.source.problem(position, message, hint))
        if len(self.problems) >= MOST_PROBLEMS:
            raise self.error()

    def error(self, *last: Problem) -> DropcheckError:
        """An error with all reported problems and `last`, in the order of the file."""
        return DropcheckError(at_most(in_file_order([*self.problems, *last])))


def read_bytes(path: Path, name: str) -> bytes:
    """The bytes of a file, up to one more than the limit of 16 MB, so that an excess shows.

    Raises:
        DropcheckError: it is missing, is a folder, or cannot be read.
    """
    at = Location(name)
    try:
        if path.is_dir():
            message = f"{name!r} is a folder, not a claims file"
            raise DropcheckError(Problem(message, at, "name the file in it"))
        with path.open("rb") as stream:
            return stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        message = f"there is no file {name!r}"
        raise DropcheckError(Problem(message, hint=_nearby(path))) from None
    except (OSError, ValueError) as error:  # ValueError: an impossible file name
        raise DropcheckError(Problem(f"{name!r} cannot be read: {reason(error)}", at)) from None


def _nearby(path: Path) -> str | None:
    try:
        return file_suggestion(path.name, path.parent)
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
        text = data.decode("utf-8").removeprefix("\ufeff")  # a byte order mark
    except UnicodeDecodeError as error:
        lines = LINE_END.split(data[: error.start].decode("utf-8"))
        rest = data[error.start : error.start + 200].decode("utf-8", "replace")
        place = Location(name, len(lines), len(lines[-1]) + 1, lines[-1] + LINE_END.split(rest)[0])
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        message = f"the file is not UTF-8: {byte} does not begin a character"
        raise DropcheckError(Problem(message, place, "save it as UTF-8")) from None
    return checked(Source(name, text, tuple(LINE_END.split(text))))


def checked(source: Source) -> Source:
    """A source whose text holds no forbidden character.

    Raises:
        DropcheckError: it does.
    """
    if (hidden := forbidden(source.text)) is not None:
        before = LINE_END.split(source.text[: hidden[0]])
        at = (len(before) - 1, len(before[-1]))
        message = f"the file contains {hidden[1]}"
        raise DropcheckError(source.problem(at, message, "delete it, or retype the line"))
    return source


def forbidden(text: str) -> tuple[int, str] | None:
    """The place and the description of the first forbidden character; None if there is none.

    Terminals obey control characters, and editors do not show them.
    """
    if (match := _FORBIDDEN.search(text)) is None:
        return None
    code = ord(match.group())
    named = {0: "a NUL character", 0xFEFF: "a byte order mark (U+FEFF) within the text"} | {
        one: f"a line break that YAML 1.2 does not know (U+{one:04X})"
        for one in (0x85, 0x2028, 0x2029)
    }
    return match.start(), named.get(code, f"the control character U+{code:04X}")


# ---- nodes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value in YAML: a scalar, a list of nodes or a mapping of names to nodes, with its place.

    A scalar has its text and its last line. `style` is the opening character, `'`, `"`, `|` or `>`,
    of a list or a mapping in brackets `[` or `{`. `written` is the text with its places, if a
    document has it in pieces; `key` the place of its name.
    """

    value: Any
    start: LineColumn
    last: int = 0
    text: str = ""
    style: str = ""
    key: LineColumn | None = None
    written: SourceText | None = None

    @property
    def entries(self) -> dict[str, Node]:
        """The values of a mapping by name; empty for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[Node]:
        """The items of a list; empty for anything else."""
        return self.value if isinstance(self.value, list) else []

    @property
    def begin(self) -> LineColumn:
        """Where it begins, with its key."""
        return self.key or self.start

    @property
    def place(self) -> LineColumn:
        """Where an error in it is reported: at its key, unless it stands on the line of that."""
        plain = not isinstance(self.value, dict | list) and self.value is not None
        return self.start if plain or self.key is None else self.key

    def at(self, name: str) -> Node:
        """The value of a name; one that holds nothing if there is none."""
        return self.entries.get(name, NOTHING)

    def below(self, part: str | int) -> Node | None:
        """The value of a name, or the item of a number; None if there is none."""
        if isinstance(part, str):
            return self.entries.get(part)
        return self.items[part] if part < len(self.items) else None


BROKEN = object()  # stands for a value that could not be read, which is reported
NOTHING = Node(value=BROKEN, start=(0, 0))


def shown(node: Node) -> str:
    """The node in a message: `'banana'`, `3`, `empty`, `a list`."""
    return node.text[:40] if isinstance(node.value, int | float) else described(node.value)


def compose(report: Problems) -> Node | None:
    """The root node of a file; None if the file is empty. Errors in the YAML are reported.

    Raises:
        DropcheckError: nothing after a place can be read: a syntax error, or a limit.
    """
    try:
        return _Composer(report, report.source.text, lambda place: place).document()
    except yaml.MarkedYAMLError as error:
        place, *said = _explained(error, report.source)
        raise report.error(report.source.problem(place, *said)) from None


def compose_piece(
    text: str, report: Problems, place: Callable[[LineColumn], LineColumn], at: LineColumn
) -> Node | None:
    """The root node of YAML in a document; None if it is empty.

    `place` maps a place in the text to one in the document; `at` is where the text stands.

    Raises:
        DropcheckError: a limit is exceeded.
    """
    try:
        return _Composer(report, text, place).document()
    except yaml.MarkedYAMLError as error:
        where, *said = _explained(error, Source("", text, tuple(text.split("\n"))))
        report.add(place(where), *said)
        return Node(value=BROKEN, start=at)


# The core schema of YAML 1.2 (§10.3.2): `1e-3` is a number, and `no` is text.
_WORDS = dict.fromkeys(("", "~", "null", "Null", "NULL")) | {
    cased: truth
    for word, truth in (("true", True), ("false", False))
    for cased in (word, word.title(), word.upper())
}
_NUMBER = re.compile(
    r"(?P<int>[-+]?[0-9]+)|(?P<base>0o[0-7]+|0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<inf>[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
)


@lru_cache(maxsize=4096)  # most of them are keys, which repeat
def _plain_scalar(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar.

    Raises:
        OverflowError, ValueError: the number is too large; int() refuses thousands of digits.
    """
    if text in _WORDS:
        return _WORDS[text]
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    if found["inf"]:
        return float(text.replace(".", ""))
    value = int(text) if found["int"] else int(text, 0) if found["base"] else float(text)
    if math.isinf(float(value)):
        raise OverflowError
    return value


class _Composer:
    """Builds nodes from events; errors that do not stop the parser are reported."""

    def __init__(
        self, report: Problems, text: str, place: Callable[[LineColumn], LineColumn]
    ) -> None:
        self.report, self.place, self.count = report, place, 0
        self.open = 0  # brackets of a text that a comma ended
        self.events: Iterator[Any] = iter(yaml.parse(text, Loader=yaml.CSafeLoader))

    def document(self) -> Node | None:
        next(self.events)  # the start of the stream
        if isinstance(next(self.events), yaml.StreamEndEvent):
            return None
        node = self._node(next(self.events), 0)
        next(self.events)  # the end of the document
        following = next(self.events)
        if not isinstance(following, yaml.StreamEndEvent):
            hint = "one file is one registry: take out the line '---', or split the file"
            at = self._at(following.start_mark)
            self.report.add(at, "the file holds more than one YAML document", hint)
        return node

    def _at(self, mark: Any) -> LineColumn:
        return self.place((mark.line, mark.column))

    def _node(
        self, event: Any, depth: int, key: LineColumn | None = None, *, flow: bool = False
    ) -> Node:
        self.count += 1
        start, add = self._at(event.start_mark), self.report.add
        apart = "aliases and anchors are not part of the format"
        if self.count > MOST_NODES:
            message = f"the file holds more than {MOST_NODES:,} entries"
            raise self.report.error(self.report.source.problem(start, message))
        if isinstance(event, yaml.AliasEvent):
            add(start, f"'*{event.anchor}' is an alias", f"write the value out: {apart}")
            return Node(value=BROKEN, start=start, key=key)
        if event.anchor is not None:
            add(start, f"'&{event.anchor}' is an anchor", f"take it out: {apart}")
        last, text, style = start[0], "", ""
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            last, _ = self._at(event.end_mark)
            text, style = event.value, event.style or ""
            cut = flow and not style and self._is_cut(text, start)
            value = BROKEN if cut else self._scalar(text, style, start)
        elif depth >= DEEPEST:
            raise self.report.error(self.report.source.problem(start, *TOO_DEEP))
        else:
            mapping, flow = isinstance(event, yaml.MappingStartEvent), bool(event.flow_style)
            style, self.open = ("{" if mapping else "[") * flow, 0
            value = (self._mapping if mapping else self._list)(depth, flow)
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            hint = "take it out; to have a value read as text, put it in quotes"
            add(start, f"'{tag}' is a tag, and tags are not part of the format", hint)
            value = BROKEN
        return Node(value=value, start=start, last=last, text=text, style=style, key=key)

    def _scalar(self, text: str, style: str, start: LineColumn) -> Any:
        report, hidden = self.report.add, forbidden(text) if style == '"' else None
        if hidden is not None:  # an escape for a character that the file must not hold
            report(start, f"the text holds {hidden[1]}", "take the escape out")
            return BROKEN
        if style:
            return text
        try:
            value = _plain_scalar(text)
        except (OverflowError, ValueError):
            message = f"{text[:20]}{'…' if len(text) > 20 else ''} is too large a number"
            report(start, message, "numbers are float64, up to 1.8e308")
            return BROKEN
        if value == 0 and isinstance(value, float) and values.vanishes(text):
            report(start, f"{shortened(text)} {values.TOO_SMALL}", "write 0, or what is meant")
            return BROKEN
        return value

    def _list(self, depth: int, flow: bool) -> list[Node]:
        items = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1, flow=flow))
        return items

    def _mapping(self, depth: int, flow: bool) -> dict[str, Node]:
        """The entries of a mapping; of a repeated key the first.

        Keys are kept as written, so that `no` and `1` are ordinary names.
        """
        entries: dict[str, Node] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1, flow=flow)
            value = self._node(next(self.events), depth + 1, key.start, flow=flow)
            add, at = self.report.add, key.start
            if key.value is BROKEN:
                continue
            if isinstance(key.value, dict | list):
                add(at, f"a key must be a name, and is {shown(key)}")
            elif key.text == "<<" and not key.style:
                hint = "write the keys out: merging is not part of the format"
                add(at, "'<<' is a merge key", hint)
            elif key.text in entries:
                line = self.report.source.line_of(entries[key.text].begin)
                message = f"{key.text!r} is given twice: first on {line}"
                add(at, message, "take one of them out, or rename it")
            else:
                entries[key.text] = value
        return entries

    def _is_cut(self, text: str, start: LineColumn) -> bool:
        """Whether a comma between brackets ends a text, such as that in `{law: normal(0, 1)}`.

        It is reported once for all pieces of the text.
        """
        opened = sum((one in "([") - (one in ")]") for one in text)
        if opened > 0 and not self.open:
            message = f"a comma ends {shortened(text)!r}: between brackets every comma ends a value"
            self.report.add(start, message, "put the whole text in quotes")
        cut = self.open > 0 or opened > 0
        self.open = max(0, self.open + opened)
        return cut


# ---- from the text of a scalar to its places in the file -----------------------------------------


_WORD = re.compile(r"\S+")
# a backslash at the end of a line joins the next; blocks of LaTeX are comments
_BETWEEN_WORDS = re.compile(r"(?:\s|\\\n|(?<=\n)%)*")
_REST_OF_WORD = re.compile(r"\S*")


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the match of a pattern at a place ends; the place itself if there is none."""
    found = pattern.match(text, at)
    return at if found is None else found.end()


def source_text(node: Node, source: Source) -> SourceText:
    """The text of a scalar with its places, without line breaks at its end.

    The places are exact for `|` blocks, and for other text without escapes. After an escape they
    are off by at most its length.
    """
    if node.written is not None:
        return node.written
    # words follow each other in the file; what comes after an escape is taken to stand where it
    # would without
    text, first, folded = node.text.rstrip("\n"), node.start[0], node.style in (">", "|")
    lines = source.lines[first : node.last + 1]
    raw, starts = "\n".join(lines), [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    at = starts[1] if folded else node.start[1] + (node.style in ("'", '"'))
    visible, end = True, (first + folded, 0 if folded else at)  # of the last word
    found: list[list[tuple[int, LineColumn]]] = []
    moved: LineColumn = (0, 0)
    for line in text.split("\n"):
        pieces: list[tuple[int, LineColumn]] = []
        for match in _WORD.finditer(line) if visible else ():
            word, column = match.group(), match.start()
            begin = _end_of(_BETWEEN_WORDS, raw, at)
            begin = raw.find(word, begin, _end_of(_REST_OF_WORD, raw, begin))
            if begin < 0:  # an escape hides it
                visible = False
                break
            at = begin + len(word)
            row = bisect_right(starts, begin) - 1
            end = (first + row, at - starts[row])
            column_0 = begin - starts[row] - column  # where the line would begin
            if not pieces or moved != (first + row, column_0):
                moved = (first + row, column_0)
                pieces.append(
                    (column, (first + row, begin - starts[row])) if pieces else (0, moved)
                )
        found.append(pieces or [(0, end)])
    place = source.location
    return SourceText(text, tuple(tuple((c, place(at)) for c, at in pieces) for pieces in found))


# ---- what the parser's errors mean ---------------------------------------------------------------

_HAS_CLAIMS = re.compile(r"^\W*(dropcheck|claims)\W*:", re.MULTILINE)
_KEY_AND_TEXT = re.compile(r"\s*(?:- )*([\w-]+): +(.+)")


_NO_SPACE = "a space is missing behind ':'", "write 'key: value'"


def _explained(error: yaml.MarkedYAMLError, source: Source) -> tuple[LineColumn, str, str]:
    """The place to change for an error of the YAML parser, what is wrong, and what to do.

    For a title with a colon, libyaml says "mapping values are not allowed in this context". Each
    row recognizes an error by words of its message, and says what is wrong and what to do.
    """
    ending = PurePath(source.name).suffix.lower()
    if ending not in ("", ".yaml", ".yml", ".json") and not _HAS_CLAIMS.search(source.text):
        hint = "a claims file begins with 'dropcheck: 1', and 'claims:' below"
        return (0, 0), "this is not a claims file", hint
    said, context = str(error.problem or error.context or "it breaks off"), str(error.context)
    marks: Any = (error.problem_mark or error.context_mark, error.context_mark)
    at = (marks[0].line, marks[0].column)
    opened = at if marks[1] is None else (marks[1].line, marks[1].column)
    mark, line = source.line(opened[0])[opened[1] :][:1], source.line(at[0])
    rest, indented = line[at[1] :], not line[: at[1]].strip()
    tab = line.find("\t", 0, len(line) - len(line.lstrip()))
    a_tab = "tab" in said or (tab >= 0 and (indented or "mapping values are not" in said))
    refers = any(kind in context for kind in ("an anchor", "an alias", "a tag"))
    first = opened if refers else at
    text = source.line(first[0])[first[1] :]
    kind, closing = ("list", "]") if "]" in said else ("mapping", "}")
    ended = not "".join(source.lines[at[0] :])[at[1] :].strip()
    where = "by its end" if ended else f"by line {at[0] + 1}, column {at[1] + 1}"
    quotes = ", or put a text that has brackets in quotes" if rest[:1] in ("[", "{") else ""
    a_key = "did not find expected key" in said
    glued = re.match(r"\s*[\w-]+:(?=[^\s:/])", source.line(max(at[0] - 1, 0)))
    glued_at = (at[0] - 1, glued.end() - 1) if glued is not None else at
    rows = (
        (a_tab, (at[0], tab) if tab >= 0 else at,
         "there is a tab where YAML needs spaces", "indent with spaces"),
        ("unexpected ':'" in said, at, *_NO_SPACE),
        (glued is not None and "mapping values are not" in said, glued_at, *_NO_SPACE),
        ("mapping values are not allowed" in said, at, *_colon(at, line)),
        (refers or "cannot start any token" in said, first,
         f"a text cannot begin with {text[:1]!r} unless it is quoted",
         f"write it in quotes: '{shortened(text)}'"),
        ("unexpected end of stream" in said or "unexpected document indicator" in said, opened,
         f"the quote {mark} that opens here is never closed",
         f"close it with {mark} where the text ends"),
        ("',' or ']'" in said or "',' or '}'" in said, opened,
         f"the {kind} that '{mark}' opens here is not closed: ',' or '{closing}' is expected "
         f"{where}", f"close it with '{closing}'{quotes}"),
        ("could not find expected ':'" in said, opened,
         "a key with ': ' after it is expected here",
         "write 'key: value'; text that goes on is indented deeper than its key"),
        (a_key and rest[:1] in ("]", "}"), at, f"'{rest[:1]}' closes no bracket", "take it out"),
        (a_key and indented, at, "a key is expected here, and the indentation matches no other key",
         "indent it like the keys that it belongs with"),
        ("expected node content" in said, at, "a value is expected here",
         f"{shortened(rest)!r} is not one" if rest else "write one: nothing follows"),
        ("escape" in said + context, at, "YAML has no such escape after '\\'",
         "use single quotes, in which a backslash is an ordinary character"),
        ("<document start>" in said, at, "the file's mapping has ended before this",
         "every key of the file's top level begins in the first column"),
        ("maximum nesting depth" in said, at, *TOO_DEEP),  # the place is beyond the excess
        (a_key, at, "a line break is expected here: the value has ended before",
         "a quote within quoted text is doubled: 'it''s'"),
        (True, at, f"this is not YAML: {said}",
         "what belongs together is indented alike; a text with signs of YAML needs single quotes"),
    )  # fmt: skip
    return next((place, message, hint) for holds, place, message, hint in rows if holds)


def _colon(at: LineColumn, line: str) -> tuple[str, str]:
    found = _KEY_AND_TEXT.match(line)
    if found is not None and at[1] > found.end(1) and (": " in found[2] or found[2][-1] == ":"):
        key, text = found.groups()
        whose = "a title" if key == "title" else "a text"
        quoted = '"' + shortened(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
        return f"{whose} that holds ': ' needs quotes", f"write {key}: {quoted}"
    hint = "indent it like the keys it belongs with; a text that holds ': ' needs quotes"
    return "a key cannot be here: what is above already has a value", hint
