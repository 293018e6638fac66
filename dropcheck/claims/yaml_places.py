"""A claims file as text and as YAML nodes that know their places, with limits on hostile files.

Nodes are built directly from the parser's events, so that depth, size, aliases, tags and duplicate
keys are checked before anything is built from them. A file of ten million brackets is refused at
the twenty-first, and aliases are never followed. Scalars are resolved by the core schema of YAML
1.2 (`1e-3` is a number, `no` is text), by yamlcore.

Within the package, positions are (line, column) from 0, in characters, like YAML's marks. A
`Location`, which the user sees, counts from 1.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from dropcheck.claims.registry import Jump, SourceText
from dropcheck.claims.values import DEEPEST, TOO_DEEP, TOO_SMALL, shortened, vanishes
from dropcheck.errors import (
    MOST_PROBLEMS,
    DropcheckError,
    Location,
    NotebookCell,
    Problem,
    in_file_order,
    suggestion,
)

LineColumn = tuple[int, int]

LARGEST_FILE = 16 * 2**20  # bytes; a thousand claims take a twentieth of this
LINE_END = re.compile(r"\r\n|\r|\n")
# Not printable by YAML 1.2 (§5.1), or line breaks of YAML 1.1 only, which editors do not show.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)
BYTE_ORDER_MARK = "\ufeff"


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


# ---- nodes ---------------------------------------------------------------------------------------

MOST_NODES = 500_000  # five times the largest grid; about a second

_TEXT = "tag:yaml.org,2002:str"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value: its text, its value in YAML, and its place (`start` to `end`).

    `style` is its opening character (`'`, `"`, `|`, `>`), or "" for a plain scalar. `written` is
    the text with its places, if it was joined from pieces of a document.
    """

    text: str
    value: str | int | float | bool | None
    start: LineColumn
    end: LineColumn
    style: str
    written: SourceText | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A YAML sequence."""

    items: tuple[YamlNode, ...]
    start: LineColumn


@dataclass(frozen=True, slots=True)
class Entry:
    """A value in a mapping, and the place of its key."""

    key_start: LineColumn
    node: YamlNode


@dataclass(frozen=True, slots=True)
class Tree:
    """A YAML mapping. Keys are kept as written, so that `no` and `1` are ordinary names.

    For a repeated key, the first entry is kept, and `repeated` names it.
    """

    entries: dict[str, Entry]
    start: LineColumn
    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """A node that could not be read; the error is reported, and nothing more is said about it."""

    start: LineColumn


YamlNode = Scalar | Listing | Tree | Broken


def shown(node: YamlNode) -> str:
    """The node in a message: `'banana'`, `3`, `empty`, `a list`."""
    if isinstance(node, Scalar):
        if isinstance(node.value, str):
            return repr(shortened(" ".join(node.text.split())))
        return "empty" if node.value is None else node.text[:40]
    return {Listing: "a list", Tree: "a mapping", Broken: "unreadable"}[type(node)]


def compose(report: Problems) -> YamlNode | None:
    """The root node of a file; None if the file is empty. Errors in the YAML are reported.

    Raises:
        DropcheckError: nothing after a place can be read: a syntax error, or a limit.
    """
    import yaml

    try:
        return _Composer(report, report.source.text, lambda place: place).document()
    except yaml.MarkedYAMLError as error:
        raise report.error(_explained(error, report.source)) from None


def compose_piece(
    text: str, report: Problems, place: Callable[[LineColumn], LineColumn], at: LineColumn
) -> YamlNode | None:
    """The root node of YAML in a document; None if it is empty.

    Args:
        text: the YAML.
        report: collects the errors.
        place: maps a place in the text to a place in the document.
        at: the place of errors that have no place in the text.

    Raises:
        DropcheckError: a limit is exceeded.
    """
    import yaml

    try:
        return _Composer(report, text, place).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = at if mark is None else place((mark.line, mark.column))
        report.add(where, f"this cannot be read as YAML: {error.problem}")
        return Broken(at)


class _Composer:
    """Builds nodes from events; errors that do not stop the parser are reported.

    `place` maps a place in the text to a place in the file.
    """

    def __init__(
        self, report: Problems, text: str, place: Callable[[LineColumn], LineColumn]
    ) -> None:
        import yaml
        from yamlcore import CCoreLoader  # type: ignore[import-untyped]  # it has no types

        self.report, self.loader, self.place = report, CCoreLoader(text), place
        self.events: Any = yaml.events
        self.count = 0
        # a cache of the values of plain scalars: most scalars are keys, which repeat
        self._values: dict[tuple[str, bool], Any] = {}

    def document(self) -> YamlNode | None:
        self.loader.get_event()  # the start of the stream
        if self.loader.check_event(self.events.StreamEndEvent):
            return None
        self.loader.get_event()  # the start of the document
        node = self._node(self.loader.get_event(), 0)
        self.loader.get_event()  # its end
        if not self.loader.check_event(self.events.StreamEndEvent):
            message = "the file holds more than one YAML document"
            hint = "one file is one registry: take out the line '---', or split the file"
            self.report.add(self._start(self.loader.peek_event()), message, hint)
        return node

    def _start(self, event: Any) -> LineColumn:
        return self.place((event.start_mark.line, event.start_mark.column))

    def _stop(self, position: LineColumn, message: str, hint: str | None = None) -> DropcheckError:
        return self.report.error(self.report.source.problem(position, message, hint))

    def _node(self, event: Any, depth: int) -> YamlNode:
        self.count += 1
        if self.count > MOST_NODES:
            raise self._stop(self._start(event), f"the file holds more than {MOST_NODES:,} entries")
        kind = type(event)
        if kind is self.events.ScalarEvent and event.anchor is None and event.tag is None:
            return self._scalar(event)
        start = self._start(event)
        if kind is self.events.AliasEvent:
            hint = "write the value out: aliases and anchors are not part of the format"
            self.report.add(start, f"'*{event.anchor}' is an alias", hint)
            return Broken(start)
        if event.anchor is not None:
            hint = "take it out: aliases and anchors are not part of the format"
            self.report.add(start, f"'&{event.anchor}' is an anchor", hint)
        node = self._content(event, depth)
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            hint = "take it out; to have a value read as text, put it in quotes"
            self.report.add(start, f"'{tag}' is a tag, and tags are not part of the format", hint)
            return Broken(start)
        return node

    def _content(self, event: Any, depth: int) -> YamlNode:
        if isinstance(event, self.events.ScalarEvent):
            return self._scalar(event)
        start = self._start(event)
        if depth >= DEEPEST:
            raise self._stop(start, *TOO_DEEP)
        if isinstance(event, self.events.MappingStartEvent):
            return self._tree(start, depth)
        items = []
        while type(event := self.loader.get_event()) is not self.events.SequenceEndEvent:
            items.append(self._node(event, depth + 1))
        return Listing(tuple(items), start)

    def _tree(self, start: LineColumn, depth: int) -> Tree:
        entries: dict[str, Entry] = {}
        repeated: list[str] = []
        following, end = self.loader.get_event, self.events.MappingEndEvent
        while type(event := following()) is not end:
            key = self._node(event, depth + 1)
            value = self._node(following(), depth + 1)
            if isinstance(key, Scalar) and key.text in entries:
                repeated.append(key.text)
            self._enter(entries, key, value)
        return Tree(entries, start, tuple(repeated))

    def _enter(self, entries: dict[str, Entry], key: YamlNode, value: YamlNode) -> None:
        if isinstance(key, Broken):
            return
        if not isinstance(key, Scalar):
            self.report.add(key.start, f"a key must be a name, and is {shown(key)}")
        elif key.text == "<<" and not key.style:
            hint = "write the keys out: merging is not part of the format"
            self.report.add(key.start, "'<<' is a merge key", hint)
        elif key.text in entries:
            line = self.report.source.line_of(entries[key.text].key_start)
            hint = "take one of them out, or rename it"
            self.report.add(key.start, f"{key.text!r} is given twice: first on {line}", hint)
        else:
            entries[key.text] = Entry(key.start, value)

    def _scalar(self, event: Any) -> Scalar | Broken:
        text, start = event.value, self._start(event)
        value: Any = text
        if not event.style:
            try:
                value = self._plain(text, event.implicit[0])
            except (OverflowError, ValueError):
                message = f"{text[:20]}{'…' if len(text) > 20 else ''} is too large a number"
                self.report.add(start, message, "numbers are float64, up to 1.8e308")
                return Broken(start)
            if value == 0 and isinstance(value, float) and vanishes(text):
                self.report.add(
                    start, f"{shortened(text)} {TOO_SMALL}", "write 0, or what is meant"
                )
                return Broken(start)
        hidden = forbidden(text) if event.style == '"' else None
        if hidden is not None:  # an escape for a character that the file must not hold
            self.report.add(start, f"the text holds {hidden[1]}", "take the escape out")
            return Broken(start)
        end = self.place((event.end_mark.line, event.end_mark.column))
        return Scalar(text=text, value=value, start=start, end=end, style=event.style or "")

    def _plain(self, text: str, implicit: bool) -> Any:
        """The value of an unquoted scalar.

        Raises:
            OverflowError, ValueError: the number is too large; int() refuses thousands of digits.
        """
        if (text, implicit) in self._values:
            return self._values[text, implicit]
        from yaml import ScalarNode

        tag = self.loader.resolve(ScalarNode, text, (implicit, False))
        value: Any = text
        if tag != _TEXT:
            value = self.loader.yaml_constructors[tag](self.loader, ScalarNode(tag, text))
            if isinstance(value, int | float) and math.isinf(value) and "inf" not in text.lower():
                raise OverflowError
        self._values[text, implicit] = value
        return value


# ---- from the text of a scalar to its places in the file -----------------------------------------

_WORD = re.compile(r"\S+")
_BLANKS = re.compile(r"\s*")


def source_text(scalar: Scalar, source: Source) -> SourceText:
    """The text of a scalar with its places, without line breaks at its end.

    The places are exact for `|` blocks, and for other text without escapes. After an escape they
    are off by at most its length.
    """
    if scalar.written is not None:
        return scalar.written
    text = scalar.text.rstrip("\n")
    if scalar.style == "|":
        origins, jumps = _literal(text, scalar, source), list[Jump]()
    else:
        origins, jumps = _aligned(text, scalar, source)
    if source.cells:  # their lines count from the beginning of a cell
        begins = [Jump(line, 0, source.location(place)) for line, place in enumerate(origins)]
        jumps = sorted((*begins, *jumps), key=lambda jump: (jump.line, jump.column))
    return SourceText(
        text=text,
        file=source.name,
        origins=tuple((line + 1, column + 1) for line, column in origins),
        lines=tuple(source.lines[line] if line < len(source.lines) else "" for line, _ in origins),
        jumps=tuple(jumps),
    )


def _literal(text: str, scalar: Scalar, source: Source) -> list[LineColumn]:
    """The places of a `|` block: its i-th line is i lines below its mark, and indented alike."""
    first = scalar.start[0] + 1
    texts = text.split("\n")
    numbers = [min(first + i, len(source.lines) - 1) for i in range(len(texts))]
    filled = [i for i, line in enumerate(texts) if line]
    indent = len(source.lines[numbers[filled[0]]]) - len(texts[filled[0]]) if filled else 0
    return [(number, indent) for number in numbers]


def _aligned(text: str, scalar: Scalar, source: Source) -> tuple[list[LineColumn], list[Jump]]:
    """The places of a folded or quoted text: its words are searched for one after another."""
    inside = (scalar.start[0], scalar.start[1] + (scalar.style in ("'", '"')))
    at = (scalar.start[0] + 1, 0) if scalar.style == ">" else inside
    origins: list[LineColumn] = []
    jumps: list[Jump] = []
    visible = True
    for number, line in enumerate(text.split("\n")):
        place = origin = None
        for match in _WORD.finditer(line):
            word, column = match.group(), match.start()
            after = _find(word, at, scalar.end, source) if visible else None
            visible = after is not None
            if after is None:
                break
            at = (after[0], after[1] + len(word))
            if origin is None:
                origin = place = (after[0], after[1] - column)
            elif (after[0], after[1] - column) != place:
                place = (after[0], after[1] - column)
                jumps.append(Jump(number, column, source.location(after)))
        origins.append(origin or at)
    return origins, jumps


def _after_blanks(line: str, column: int) -> int:
    blanks = _BLANKS.match(line, column)
    return len(line) if blanks is None else blanks.end()  # None if the column is beyond the line


def _find(word: str, at: LineColumn, end: LineColumn, source: Source) -> LineColumn | None:
    """The place of a word between `at` and `end`; None if an escape hides it."""
    number, column = at
    while number <= end[0] and number < len(source.lines):
        line = source.lines[number]
        rest = _after_blanks(line, column)
        if line.startswith("\\", rest):  # at the end of a line, it joins the next line
            rest = _after_blanks(line, rest + 1)
        if rest < len(line):
            place = line.find(word, column)
            return (number, place) if place >= 0 else None
        number, column = number + 1, 0
    return None


# ---- what the parser's errors mean ---------------------------------------------------------------

# For a title with a colon, libyaml says "mapping values are not allowed in this context". Each
# branch recognizes an error by words of its message, and finds the likely cause in the line.

_HAS_CLAIMS = re.compile(r"^\W*(dropcheck|claims)\W*:", re.MULTILINE)
_KEY_AND_TEXT = re.compile(r"\s*(?:- )*([\w-]+): +(.+)")


def _explained(error: Any, source: Source) -> Problem:
    """The YAML parser's error as a problem, at the place to change.

    `error` is a `yaml.MarkedYAMLError`.
    """
    ending = PurePath(source.name).suffix.lower()
    if ending not in ("", ".yaml", ".yml", ".json") and not _HAS_CLAIMS.search(source.text):
        hint = "a claims file begins with 'dropcheck: 1', and 'claims:' below"
        return source.problem((0, 0), "this is not a claims file", hint)
    problem = str(error.problem or error.context or "it breaks off")
    at = _position(error.problem_mark or error.context_mark)
    opened = _position(error.context_mark or error.problem_mark)
    mark = source.lines[opened[0]][opened[1] :][:1] if opened[0] < len(source.lines) else ""
    line = source.lines[at[0]] if at[0] < len(source.lines) else ""
    rest = line[at[1] :]
    indented = not line[: at[1]].strip()

    tab = line.find("\t", 0, len(line) - len(line.lstrip()))
    no_value = "mapping values are not allowed" in problem
    if "tab" in problem or (tab >= 0 and (indented or no_value)):
        place = (at[0], tab) if tab >= 0 else at
        return source.problem(place, "there is a tab where YAML needs spaces", "indent with spaces")
    if no_value:
        return _colon(source, at, line)
    if "cannot start any token" in problem:
        return _needs_quotes(source, at)
    if any(kind in str(error.context) for kind in ("an anchor", "an alias", "a tag")):
        return _needs_quotes(source, opened)
    if "sequence entries are not allowed" in problem:
        hint = "begin the list on the next line, or write [a, b]"
        return source.problem(at, "a list of '- …' cannot begin on this line", hint)
    if "unexpected end of stream" in problem or "unexpected document indicator" in problem:
        message = f"the quote {mark} that opens here is never closed"
        return source.problem(opened, message, f"close it with {mark} where the text ends")
    if "',' or ']'" in problem or "',' or '}'" in problem:
        kind, closing = ("list", "]") if "]" in problem else ("mapping", "}")
        ended = not "".join(source.lines[at[0] :])[at[1] :].strip()
        where = "by the end of the file" if ended else f"by line {at[0] + 1}, column {at[1] + 1}"
        message = f"the {kind} that '{mark}' opens here is not closed: "
        message += f"',' or '{closing}' is expected {where}"
        quotes = ", or put a text that has brackets in quotes" if rest[:1] in ("[", "{") else ""
        return source.problem(opened, message, f"close it with '{closing}'{quotes}")
    if "could not find expected ':'" in problem:
        hint = "write 'key: value'; text that goes on is indented deeper than its key"
        return source.problem(opened, "a key with ': ' after it is expected here", hint)
    if "did not find expected key" in problem and rest[:1] in ("]", "}"):
        return source.problem(at, f"'{rest[0]}' closes no bracket", "take it out")
    if "did not find expected key" in problem and indented:
        hint = f"indent it like the keys that it belongs with, such as column {opened[1] + 1}"
        message = "a key is expected here, and the indentation matches no other key"
        return source.problem(at, message, hint)
    if "did not find expected key" in problem:
        hint = "a quote within quoted text is doubled: 'it''s'"
        message = "a line break is expected here: the value has ended before"
        return source.problem(at, message, hint)
    if "expected '-' indicator" in problem:
        hint = f"indent it like the list's other items, in column {opened[1] + 1}"
        return source.problem(at, "an item of the list, '- …', is expected here", hint)
    if "unknown escape character" in problem or "escape" in str(error.context or ""):
        hint = "use single quotes, in which a backslash is an ordinary character"
        return source.problem(at, "YAML has no such escape after '\\'", hint)
    if "comment or line break" in problem:
        hint = f"after '{mark}' the text begins on the next line; or put the whole in quotes"
        return source.problem(at, f"there cannot be text on the line of '{mark}'", hint)
    if "expected node content" in problem:
        hint = f"{shortened(rest)!r} is not one" if rest else "the file ends too soon"
        return source.problem(at, "a value is expected here", hint)
    if "<document start>" in problem:
        hint = "every key of the file's top level begins in the first column"
        return source.problem(at, "the file's mapping has ended before this", hint)
    if "maximum nesting depth" in problem:  # the place is beyond the excess, since libyaml reads on
        return source.problem(at, *TOO_DEEP)
    return source.problem(at, f"this is not YAML: {problem}")


def _position(mark: Any) -> LineColumn:
    return (mark.line, mark.column)


def _needs_quotes(source: Source, at: LineColumn) -> Problem:
    text = source.lines[at[0]][at[1] :]
    message = f"a text cannot begin with {text[:1]!r} unless it is quoted"
    return source.problem(at, message, f"write it in quotes: '{shortened(text)}'")


def _colon(source: Source, at: LineColumn, line: str) -> Problem:
    found = _KEY_AND_TEXT.match(line)
    if found is not None and at[1] > found.end(1) and (": " in found[2] or found[2][-1] == ":"):
        key, text = found.groups()
        whose = "a title" if key == "title" else "a text"
        quoted = '"' + shortened(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
        return source.problem(at, f"{whose} that holds ': ' needs quotes", f"write {key}: {quoted}")
    message = "a key cannot be here: what is above already has a value"
    hint = "indent it like the keys it belongs with; a text that holds ': ' needs quotes"
    return source.problem(at, message, hint)
