"""What every format of documents yields: its marks and blocks in order, with their places."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import overload

from dropcheck.claims.yaml_places import LineColumn, Problems
from dropcheck.records import record

MARKDOWN = (".md", ".markdown", ".qmd", ".rmd")
NOTEBOOK = (".ipynb",)
LATEX = (".tex",)
ENDINGS = (*MARKDOWN, *NOTEBOOK, *LATEX)
"""The suffixes of documents, in lower case."""
WORD = "dropcheck"
LONGEST_BEFORE = 1_000  # characters before a mark that are read
_HEAD = re.compile(r"\s*(?P<word>/?[\w-]+)(?:[ \t]+#(?P<id>[\w.-]+))?[ \t]*(?P<colon>:)?")
_BEHIND_SIGNS = re.compile(
    rf"\s*[^\w\s<>#][^\w<>#]{{0,8}}/?{WORD}[ \t]*(?:#[\w.-]+[ \t]*)?:", re.IGNORECASE
)
MARK = re.compile(rf"<!--\s*/?{WORD}\b")
"""Matches the beginning of a mark, in formats with HTML comments."""
_LIKE = 0.78  # the similarity to WORD of a word with one letter added, dropped or changed


@record
class Piece:
    """Text of a document, with the place of each of its characters."""

    text: str
    places: Sequence[LineColumn]  # one more than the characters: the last is the end

    def part(self, start: int, end: int) -> Piece:
        """The characters from `start` to `end`, without white space around them."""
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return Piece(self.text[start:end], self.places[start : end + 1])

    @property
    def start(self) -> LineColumn:
        """The place where it begins."""
        return self.places[0]


@record(kw_only=True)
class Comment:
    """A comment in a document, without its delimiters."""

    text: Piece
    start: LineColumn
    end: LineColumn  # of the comment with its delimiters
    before: Piece = Piece("", ((0, 0),))  # the text before it in its paragraph
    section: str = ""
    sentence: str = ""
    own_line: bool = False  # whether it begins its line
    formula: Piece | None = None  # the formula that ends right before it, if the format knows
    unread: str = ""  # why the text before it is neither a figure nor a formula
    after: str = ""  # some of the text after it and after the comments that follow at once


@record(kw_only=True)
class Mark(Comment):
    """A comment that is a mark, in parts."""

    id: str | None
    body: Piece
    pair: Piece | None  # the text up to its closing mark, if it has one

    def segments(self) -> Iterator[Piece]:
        """The parts of the mark's body between semicolons."""
        start = 0
        for found in re.finditer(r";|\Z", self.body.text):
            part = self.body.part(start, found.start())
            if part.text:
                yield part
            start = found.end()


@record(kw_only=True)
class KeyBlock:
    """A block with keys of a claims file."""

    text: Piece
    start: LineColumn


class LinePlaces(Sequence[LineColumn]):
    """The places of a text that consists of ends of lines, each followed by a line break.

    They are computed when asked for: a document may have millions of characters, and few are.

    Args:
        lines: of each line its number, the column from which it is taken, and its length.
        end: the place after the last character.

    >>> places = LinePlaces([(4, 0, 2), (5, 1, 3)], (6, 0))
    >>> len(places), places[1], places[3], places[-1], places[2:4]
    (8, (4, 1), (5, 1), (6, 0), ((4, 2), (5, 1)))
    """

    def __init__(self, lines: Sequence[tuple[int, int, int]], end: LineColumn) -> None:
        self._lines = lines
        self._end = end
        self._starts = [0]
        for _, _, length in lines:
            self._starts.append(self._starts[-1] + length + 1)

    def __len__(self) -> int:
        return self._starts[-1] + 1

    @overload
    def __getitem__(self, at: int) -> LineColumn: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[LineColumn, ...]: ...
    def __getitem__(self, at: int | slice) -> LineColumn | tuple[LineColumn, ...]:
        if isinstance(at, slice):
            return self._between(*at.indices(len(self)))
        at += len(self) if at < 0 else 0
        if not 0 <= at < len(self):
            raise IndexError(at)
        if at == len(self) - 1:
            return self._end
        line = bisect_right(self._starts, at) - 1
        number, column, _ = self._lines[line]
        return number, column + at - self._starts[line]

    def _between(self, start: int, stop: int, step: int) -> tuple[LineColumn, ...]:
        assert step == 1
        places: list[LineColumn] = []
        line = bisect_right(self._starts, start) - 1
        while start < min(stop, len(self) - 1):
            (number, column, _), first = self._lines[line], self._starts[line]
            end = min(stop, self._starts[line + 1])
            places += [(number, column + at - first) for at in range(start, end)]
            start, line = end, line + 1
        return (*places, self._end) if start < stop else tuple(places)


SHOWS_SOMETHING = re.compile(r"[0-9$]|\\[(\[b]")
"""Matches a character that a passage with a figure or a formula must contain."""
HIDDEN = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Replaces each character of a passage that is not prose."""


@record(kw_only=True)
class Prose:
    """A passage as its reader sees it: a paragraph, a heading, or a row of a table.

    Each character that is not prose (comments, code, tags, targets of links) is replaced by
    `HIDDEN`. Formulas are kept as the document writes them, with their delimiters.
    """

    piece: Piece
    heading: bool = False


@record(kw_only=True)
class Marked:
    """A document: its marks and blocks, and its passages, in which figures are counted."""

    title: str
    parts: tuple[Mark | KeyBlock, ...]
    passages: tuple[Prose, ...] = ()  # in order; those without a digit or a formula may be missing


def parts_of(
    comments: Sequence[Comment | KeyBlock], report: Problems
) -> tuple[Mark | KeyBlock, ...]:
    """The marks and blocks among comments; a misspelled mark is reported.

    Args:
        comments: in the order of the document; there may be blocks among them.
        report: collects the errors.
    """
    parts: list[Mark | KeyBlock] = []
    # the last part, if it is a mark that may still get a closing mark
    opened: tuple[Comment, re.Match[str]] | None = None
    for comment in comments:
        if isinstance(comment, KeyBlock):
            opened = None
            parts.append(comment)
            continue
        head = _HEAD.match(comment.text.text)
        word = head["word"] if head is not None else ""
        if head is None or word.strip("/") != WORD:
            _misspelt(comment, word.strip("/"), head, report)
            continue
        if "<!--" in comment.text.text:
            message = "a comment begins before this one is closed"
            report.add(comment.start, message, "close it first: -->")
            continue
        if word == f"/{WORD}":
            if opened is None:
                report.add(comment.start, "this closes a pair that was never opened")
            else:
                parts[-1] = _paired(opened, comment)
            opened = None
            continue
        opened = None
        rest = comment.text.text[head.end() :]
        if comment.own_line and not head["colon"] and "\n" in comment.text.text:
            text = comment.text.part(head.end(), len(comment.text.text))
            parts.append(KeyBlock(text=_whole_lines(comment.text, head.end()), start=text.start))
        elif not head["colon"] and rest.strip():
            report.add(comment.start, "a colon is missing", f"write {WORD}: …")
        else:
            opened = comment, head
            parts.append(_mark(comment, head, None))
    return tuple(parts)


def _whole_lines(text: Piece, start: int) -> Piece:
    """The lines after the first line of a comment, with their indentation."""
    line = text.text.find("\n", start) + 1
    return Piece(text.text[line:], text.places[line:])


def _mark(comment: Comment, head: re.Match[str], pair: Piece | None) -> Mark:
    known = {one.name: getattr(comment, one.name) for one in fields(comment)}
    body = comment.text.part(head.end(), len(comment.text.text))
    return Mark(**known, id=head["id"], body=body, pair=pair)


def _paired(opened: tuple[Comment, re.Match[str]], closing: Comment) -> Mark:
    comment, head = opened
    between = closing.before
    start = next((at for at, place in enumerate(between.places) if place >= comment.end), 0)
    return _mark(comment, head, between.part(start, len(between.text)))


def _misspelt(comment: Comment, word: str, head: re.Match[str] | None, report: Problems) -> None:
    if _BEHIND_SIGNS.match(comment.text.text):
        hint = f"write <!-- {WORD}: …; a mark that is not read claims nothing"
        report.add(comment.start, "signs stand before the word of this mark", hint)
        return
    like = difflib.SequenceMatcher(None, word.lower(), WORD).ratio()
    if head is not None and like >= _LIKE and (head["colon"] or comment.own_line):
        hint = f"write {WORD!r}; a mark that is not read claims nothing"
        report.add(comment.start, f"{word!r} is no mark", hint)
