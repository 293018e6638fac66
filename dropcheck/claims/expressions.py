"""Expression text from a YAML scalar, with the way back from each character to the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dropcheck.claims.nodes import Scalar
from dropcheck.claims.registry import Jump, SourceText
from dropcheck.claims.source import Position, Source

# the rest of a line without a word; a backslash at a line's end joins it to the next
_NOTHING_MORE = re.compile(r"\s*\\?\s*\Z")
_WORD = re.compile(r"\S+")


def source_text(scalar: Scalar, source: Source) -> SourceText:
    """The text of a scalar as a `SourceText`, without line breaks at its end.

    Exact for `|` blocks and for plain and quoted text without escapes, folded or not; after an
    escape, to within the escapes' length.
    """
    text = scalar.text.rstrip("\n")
    if scalar.style == "|":
        return _literal(text, scalar, source)
    return _aligned(text, scalar, source)


def _literal(text: str, scalar: Scalar, source: Source) -> SourceText:
    """Line i of a `|` block is the i-th line below its mark, less one indentation for all."""
    first = scalar.start[0] + 1
    texts = text.split("\n")
    numbers = [min(first + i, len(source.lines) - 1) for i in range(len(texts))]
    filled = [i for i, line in enumerate(texts) if line]
    indent = len(source.lines[numbers[filled[0]]]) - len(texts[filled[0]]) if filled else 0
    return SourceText(
        text,
        source.name,
        tuple((number + 1, indent + 1) for number in numbers),
        tuple(source.lines[number] for number in numbers),
    )


def _aligned(text: str, scalar: Scalar, source: Source) -> SourceText:
    """Find the words of the text one after the other in the file."""
    inside = (scalar.start[0], scalar.start[1] + (scalar.style in ("'", '"')))
    at = (scalar.start[0] + 1, 0) if scalar.style == ">" else inside
    origins: list[Position] = []
    jumps: list[Jump] = []
    found = True
    for number, line in enumerate(text.split("\n")):
        place = origin = None
        for column, word in _words(line):
            after = _find(word, at, scalar.end, source) if found else None
            found = after is not None
            if after is None:
                break
            at = (after[0], after[1] + len(word))
            if origin is None:
                origin = place = (after[0], after[1] - column)
            elif (after[0], after[1] - column) != place:
                place = (after[0], after[1] - column)
                shown = source.lines[after[0]]
                jumps.append(Jump(number, column, after[0] + 1, after[1] + 1, shown))
        origins.append(origin or at)
    return SourceText(
        text,
        source.name,
        tuple((line + 1, column + 1) for line, column in origins),
        tuple(source.lines[line] if line < len(source.lines) else "" for line, _ in origins),
        tuple(jumps),
    )


def _words(line: str) -> Iterator[tuple[int, str]]:
    for match in _WORD.finditer(line):
        yield match.start(), match.group()


def _find(word: str, at: Position, end: Position, source: Source) -> Position | None:
    """Where the next word stands, from `at` on and before `end`; None where an escape hides it."""
    number, column = at
    while number <= end[0] and number < len(source.lines):
        line = source.lines[number]
        if not _NOTHING_MORE.match(line, column):
            place = line.find(word, column)
            return (number, place) if place >= 0 else None
        number, column = number + 1, 0
    return None
