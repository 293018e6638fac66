"""YAML to nodes that know their places, with limits against hostile files.

Nodes are built directly from the parser's events, so that depth, size, aliases, tags and duplicate
keys are checked before anything is built from them. A file of ten million brackets is refused at
the twenty-first, and aliases are never followed. Scalars are resolved by the core schema of YAML
1.2 (`1e-3` is a number, `no` is text), by yamlcore.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from dropcheck.claims.registry import Jump, SourceText
from dropcheck.claims.source import LineColumn, Problems, Source, forbidden
from dropcheck.claims.values import DEEPEST, TOO_DEEP, TOO_SMALL, shortened, vanishes
from dropcheck.errors import DropcheckError
from dropcheck.records import record

MOST_NODES = 500_000  # five times the largest grid; about a second

_TEXT = "tag:yaml.org,2002:str"


@record
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


@record
class Listing:
    """A YAML sequence."""

    items: tuple[YamlNode, ...]
    start: LineColumn


@record
class Entry:
    """A value in a mapping, and the place of its key."""

    key_start: LineColumn
    node: YamlNode


@record
class Tree:
    """A YAML mapping. Keys are kept as written, so that `no` and `1` are ordinary names.

    For a repeated key, the first entry is kept, and `repeated` names it.
    """

    entries: dict[str, Entry]
    start: LineColumn
    repeated: tuple[str, ...] = ()


@record
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
        from dropcheck.claims.syntax_errors import explain

        raise report.error(explain(error, report.source)) from None


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
