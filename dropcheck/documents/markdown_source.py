"""Markdown documents: comments outside code, with their headings and sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from dropcheck.claims.yaml_places import LineColumn, Problems, Source
from dropcheck.documents.marks import (
    HIDDEN,
    LONGEST_BEFORE,
    MARK,
    SHOWS_SOMETHING,
    WORD,
    Comment,
    KeyBlock,
    LinePlaces,
    Marked,
    Piece,
    Prose,
    parts_of,
    sentence_at,
    shortened,
)

_COMMENT = re.compile(r"<!--(?P<text>.*?)-->", re.DOTALL)
_CODE = re.compile(r"<(?P<close>/)?(?:code|kbd|samp|pre)\b", re.IGNORECASE)
_QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)*")
FRONT = re.compile(r"---[ \t]*\n(?P<text>.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*['\"]?(?P<title>[^\n]*?)['\"]?[ \t]*$", re.MULTILINE)
_TABLE = ("table_open", "tbody_open", "tr_open", "th_open", "td_open", "table_close")
_GLUED = 4  # comments right after a mark that are skipped
LONGEST_AFTER = 80


def read_markdown(source: Source, report: Problems) -> Marked:
    """The marks and blocks of a Markdown document, or of the Markdown cells of a notebook.

    Args:
        source: its text.
        report: collects the errors of the marks.
    """
    text = "\n".join(source.lines)
    front = FRONT.match(text) if not source.cells else None
    title = _FRONT_TITLE.search(front["text"]) if front is not None else None
    if front is not None:  # it is not Markdown, and would be read as a heading
        text = "\n" * front.group().count("\n") + text[front.end() :]
    tokens = _tokens_of(source, text)
    reader = _MarkdownReader(source, tokens, report)
    comments = list(reader.comments())
    name = title["title"] if title is not None else reader.title
    return Marked(
        title=name or source.name,
        parts=parts_of(comments, report),
        passages=tuple(prose_of(tokens, reader.region)),
    )


def _tokens_of(source: Source, text: str) -> list[Any]:
    """The tokens of a document; each cell of a notebook is parsed separately."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    if not source.cells:
        return parser.parse(text)
    tokens: list[Any] = []
    starts = [cell.first for cell in source.cells]
    for first, end in zip(starts, [*starts[1:], len(source.lines)], strict=True):
        for token in parser.parse("\n".join(source.lines[first:end])):
            if token.map is not None:
                token.map = [line + first for line in token.map]
            tokens.append(token)
    return tokens


class _MarkdownReader:
    """Reads the tokens of a document in order."""

    def __init__(self, source: Source, tokens: Sequence[Any], report: Problems) -> None:
        self.lines = source.lines
        self.report = report
        self.tokens = tokens
        self.section = ""
        self.title = ""
        # of the current table: the heads of its columns, the row's cells, the index of the cell
        self.columns: list[str] = []
        self.row: list[str] = []
        self.column = -1
        self.head = False
        self.read: tuple[list[int] | None, int] = None, 0  # the lines of a row; how much is read

    def comments(self) -> Iterator[Comment | KeyBlock]:
        """The comments outside of code, and the fenced blocks."""
        heading = None
        for token in self.tokens:
            if token.type in _TABLE:
                self._in_table(token.type)
            elif token.type == "heading_open":
                heading = token.tag
            elif token.type == "fence" and WORD in token.info.split():
                yield self._fenced(token)
            elif token.type == "html_block":
                yield from self._of_html(token)
            elif token.type == "inline":
                if heading is not None:
                    self.section = _plain(token.children)
                    self.title = self.title or (self.section if heading == "h1" else "")
                    heading = None
                if self.column >= 0:
                    (self.columns if self.head else self.row).append(_plain(token.children))
                yield from self._of_inline(token)

    def _in_table(self, kind: str) -> None:
        """Keep track of the current cell of a table."""
        if kind == "table_open":
            self.columns, self.head = [], True
        elif kind == "tbody_open":
            self.head = False
        elif kind == "tr_open":
            self.row, self.column = [], -1
        elif kind == "table_close":
            self.column = -1
        else:
            self.column += 1

    def _fenced(self, token: Any) -> KeyBlock:
        first = token.map[0] + 1
        lines = token.content.rstrip("\n").split("\n")
        places: list[LineColumn] = []
        for number, line in enumerate(lines, first):
            raw = self.lines[number] if number < len(self.lines) else ""
            shift = max(len(raw) - len(line), 0)
            places += [(number, shift + column) for column in range(len(line) + 1)]
        return KeyBlock(text=Piece("\n".join(lines), (*places, places[-1])), start=(first - 1, 0))

    def _of_html(self, token: Any) -> Iterator[Comment]:
        region = self.region(*token.map)

        def refuse(at: int) -> None:
            self.report.add(region.places[at], "a mark in a tag is not read", "write it behind")

        for start in comments_in(region.text, refuse):
            found = _COMMENT.match(region.text, start)
            if found is None:  # there is no complete comment after it either
                self._refuse_open(region.text[start:], region.places[start])
                return
            yield self._comment(region, found, "")

    def _refuse_open(self, text: str, at: LineColumn) -> None:
        """Report a mark that is never closed."""
        if re.match(rf"<!--\s*/?{WORD}", text) and "-->" not in text:
            self.report.add(at, "this mark is never closed", "close it: -->")
        elif re.match(rf"<!---+\s*/?{WORD}\b", text):  # parsers differ on whether it is a comment
            message = "signs stand before the word of this mark"
            self.report.add(at, message, f"write <!-- {WORD}: … -->, with two hyphens")

    def _of_inline(self, token: Any) -> Iterator[Comment]:
        if "<!--" not in token.content:
            return
        region = self.region(*token.map)
        at = self.read[1] if self.read[0] == token.map else 0  # after the earlier cells of the row
        within = 0  # the number of open code tags
        for place, child in enumerate(token.children):
            opened = child.content.find("<!--") if child.type in ("text", "image") else -1
            if opened >= 0:
                where = region.places[max(region.text.find("<!--", at), 0)]
                self._refuse_open(child.content[opened:], where)
                if child.type == "image" and MARK.search(child.content):
                    message = "a mark in the text of a picture is not read"
                    self.report.add(where, message, "write it behind the picture")
            if child.type not in ("html_inline", "code_inline"):
                continue
            code = _CODE.match(child.content) if child.type == "html_inline" else None
            if code is not None:
                within = max(0, within + (-1 if code["close"] else 1))
            first = child.content.split("\n")[0]
            start = region.text.find(first, at)
            if start < 0:
                continue
            at = start + len(first)
            found = _COMMENT.match(region.text, start)
            if child.type == "html_inline" and found is not None:
                at = found.end()
                if not within:
                    yield self._comment(region, found, self._sentence(token.children, place))
        self.read = token.map, at

    def _sentence(self, children: Sequence[Any], place: int) -> str:
        """The sentence around a mark; in a table, with the heads of its row and column."""
        before = _near(children, range(place - 1, -1, -1))
        said = sentence_at(
            _plain(before[::-1]), _plain(_near(children, range(place, len(children))))
        )
        if self.column < 1 or self.head:
            return said
        heads = [*self.row[:1], *self.columns[self.column : self.column + 1]]
        return shortened(": ".join(filter(None, [", ".join(filter(None, heads)), said])))

    def region(self, first: int, end: int) -> Piece:
        """Lines of the document with their places, without the signs of quotation."""
        text: list[str] = []
        lines: list[tuple[int, int, int]] = []
        for number in range(first, min(end, len(self.lines))):
            line = self.lines[number]
            quoted = _QUOTED.match(line)
            start = quoted.end() if quoted is not None and ">" in quoted.group() else 0
            text.append(line[start:])
            lines.append((number, start, len(line) - start))
        return Piece("\n".join(text), LinePlaces(lines, (end, 0)))

    def _comment(self, region: Piece, found: re.Match[str], sentence: str) -> Comment:
        start = max(0, found.start() - LONGEST_BEFORE)
        before = region.text[start : found.start()]
        return Comment(
            text=Piece(found["text"], region.places[found.start("text") : found.end("text") + 1]),
            start=region.places[found.start()],
            end=region.places[found.end()],
            before=Piece(before, region.places[start : found.start() + 1]),
            section=self.section,
            sentence=sentence,
            own_line=not before.rpartition("\n")[2].strip(),
            after=_after(region.text, found.end()),
        )


def _after(text: str, at: int) -> str:
    """The text after a comment and after the comments that follow at once."""
    for _ in range(_GLUED):
        found = _COMMENT.match(text, at)
        if found is None:
            break
        at = found.end()
    return text[at : at + LONGEST_AFTER]


def _near(children: Sequence[Any], places: Iterable[int]) -> list[Any]:
    """The first pieces of a passage, about as many as a sentence needs."""
    pieces: list[Any] = []
    size = 0
    for place in places:
        if size > LONGEST_BEFORE:
            break
        pieces.append(children[place])
        size += len(children[place].content) if children[place].type != "html_inline" else 1
    return pieces


def _plain(children: Sequence[Any]) -> str:
    """The visible text of a passage."""
    parts = [" " if one.type in ("softbreak", "hardbreak") else one.content for one in children
             if one.type not in ("html_inline", "image")]  # fmt: skip
    return " ".join("".join(parts).split())


# ---- comments in HTML ----------------------------------------------------------------------------


_OPENS = re.compile(r"<(?=[A-Za-z/!?])")
_WHOLE_COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_WHOLE_TAG = re.compile(
    r"<(?P<close>/)?(?P<name>[A-Za-z][^\s/>]*+)"
    # not a possessive group: with one, a tag was once, in thousands of runs, wrongly closed
    r"(?:[^>\"'=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"']))|[\"'])*>"
)
_RAW = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
_SHOWN_AS_CODE = ("pre", "code", "template", "svg", "math")


def comments_in(text: str, refuse: Callable[[int], None]) -> Iterator[int]:
    """The places where comments begin in a piece of HTML, outside of code and tags.

    In the standard library's parser, the time grows with the square of the length of what is never
    closed: in Python 3.11, a minute for 60 kB. Documents may come from strangers, so this passes
    over the text once, by the rules of the HTML standard
    (https://html.spec.whatwg.org/multipage/parsing.html#tokenization). The tests compare the two.

    Args:
        text: the piece.
        refuse: called with the places of marks in tags, which are not read.
    """
    at = within = 0
    while (found := _OPENS.search(text, at)) is not None:
        at = found.end()
        if text.startswith("<!--", found.start()):
            closed = _WHOLE_COMMENT.match(text, found.start())
            at = closed.end() if closed is not None else len(text)
            if not within:
                yield found.start()
        elif text[at : at + 2].lstrip("/")[:1].isalpha():
            tag = _WHOLE_TAG.match(text, found.start())
            at = tag.end() if tag is not None else len(text)
            hidden = MARK.search(text, found.start(), at)
            if hidden is not None and not within:
                refuse(hidden.start())
            name = tag["name"].lower() if tag is not None else ""
            if name in _SHOWN_AS_CODE:
                within = max(0, within + (-1 if tag and tag["close"] else 1))
            elif name in _RAW and tag and not tag["close"]:
                closing = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, at)
                at = len(text) if closing is None else closing.start()


# ---- passages that may hold a figure -------------------------------------------------------------


_TAG = re.compile(r"<[^<>]*>")
_UNREAD = re.compile(r"<(?:script|style|pre|textarea|svg)\b", re.IGNORECASE)
# The target of a link, in its three forms; the lengths are limited, so that the search is short.
_TARGET = re.compile(
    r"!\[[^\[\]]{0,500}(?=\])"  # the text in place of a picture
    r"|\]\([^()\n]{0,2000}(?:\([^()\n]{0,2000}\)[^()\n]{0,2000})?\)"
    r"|\]\[[^\[\]\n]{0,200}\]"
    r"|<[A-Za-z][\w.+-]{1,31}:[^<>\s]{0,2000}>"
)

PieceOfLines = Callable[[int, int], Piece]
"""Gives the lines of a document from one up to another, with their places."""


def prose_of(tokens: Sequence[Any], region: PieceOfLines) -> Iterator[Prose]:
    """The passages of a document that may contain a figure or a formula.

    Args:
        tokens: from markdown-it.
        region: gives the lines of a token, without the signs of quotation.
    """
    heading = False
    read = [one for one in tokens if one.type in ("inline", "html_block", "heading_open")]
    # all cells of a row have the row's lines; they make one passage
    for (kind, where), group in groupby(read, key=lambda token: (token.type, token.map)):
        if kind == "heading_open":
            heading = True
            continue
        piece = region(*where)
        if SHOWS_SOMETHING.search(piece.text):
            hide = _of_html if kind == "html_block" else _of_inline
            text = hide(piece.text, [child for one in group for child in one.children or ()])
            yield Prose(piece=Piece(text, piece.places), heading=heading)
        heading = False


def _of_html(text: str, _: Sequence[Any]) -> str:
    if _UNREAD.search(text):
        return HIDDEN * len(text)
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        closed = text.find("-->", start)
        end = closed + 3 if closed >= 0 else len(text)
        parts += [text[at:start], HIDDEN * (end - start)]
        at = end
    parts.append(text[at:])
    return _TAG.sub(_hidden, "".join(parts))


def _of_inline(text: str, children: Sequence[Any]) -> str:
    parts: list[str] = []
    at = 0
    for child in children:
        if child.type in ("html_inline", "code_inline"):
            start, end = _found(text, child, at)
            parts += [text[at:start], HIDDEN * (end - start)]
            at = end
    parts.append(text[at:])
    return _TARGET.sub(_hidden, "".join(parts))


def _found(text: str, child: Any, at: int) -> tuple[int, int]:
    """Where code or a tag is; all the rest of the text if it cannot be found."""
    written = f"{child.markup}{child.content}{child.markup}"
    start = text.find(written, at)
    if start >= 0:
        return start, start + len(written)
    # where a space is read, the text may have a line break; in a table, a bar has a backslash
    words = r"\s+".join(map(re.escape, child.content.split())).replace(r"\|", r"\\?\|")
    found = re.compile(rf"{child.markup}\s*{words}\s*{child.markup}").search(text, at)
    return found.span() if found is not None else (at, len(text))


def _hidden(found: re.Match[str]) -> str:
    return HIDDEN * len(found.group())
