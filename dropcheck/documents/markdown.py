"""Markdown documents: comments outside code, with their headings and sentences."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from dropcheck.documents.marks import (
    HIDDEN,
    LONGEST_BEFORE,
    MARK,
    NO_MARK,
    SHOWS_SOMETHING,
    UNREAD,
    WORD,
    Comment,
    FormulaSpan,
    KeyBlock,
    Marked,
    Page,
    Piece,
    Prose,
    formula_of,
    formulas_in,
    hide,
    parts_of,
    title_of,
)

_OPENED = re.compile(rf"<!--|{NO_MARK.pattern}")
_COMMENT = re.compile(r"<!--(?P<text>.*?)-->", re.DOTALL)
_QUOTED = re.compile(r"[ \t]*>(?:[ \t]?>)*[ \t]?")
_FRONT = re.compile(r"---[ \t]*\n(?P<text>.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*['\"]?(?P<title>[^\n]*?)['\"]?[ \t]*$", re.MULTILINE)
_AFTER = re.compile(r"(?:<!--.*?-->){0,4}(?P<text>.{0,80})", re.DOTALL)


def read_markdown(page: Page) -> Marked:
    """The marks and blocks of a Markdown document, or of the Markdown cells of a notebook.

    Args:
        page: its text; it also collects the errors of the marks.
    """
    text = page.text
    front = _FRONT.match(text) if not page.source.cells else None
    title = _FRONT_TITLE.search(front["text"]) if front is not None else None
    if front is not None:  # it is not Markdown, and would be read as a heading
        text = "\n" * front.group().count("\n") + text[front.end() :]
    reader = _MarkdownReader(page)
    parts = parts_of(list(reader.comments(_tokens_of(page, text))), page)
    name = title["title"] if title is not None else reader.title
    return Marked(title=name or page.source.name, parts=parts, passages=tuple(reader.passages))


def _tokens_of(page: Page, text: str) -> Iterator[Any]:
    """The tokens of a document; each cell of a notebook is parsed separately."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    firsts = [cell.first for cell in page.source.cells] or [0]
    lines = text.split("\n")
    for first, end in zip(firsts, [*firsts[1:], len(lines)], strict=True):
        for token in parser.parse("\n".join(lines[first:end])):
            if token.map is not None:
                token.map = [line + first for line in token.map]
            yield token


@dataclass(frozen=True, slots=True)
class _Passage:
    """A token with text, and what stands above it."""

    token: Any
    section: str
    heading: bool

    @property
    def where(self) -> tuple[str, list[int]]:
        """Its kind and its lines, which all cells of a row have in common."""
        return self.token.type, self.token.map


class _MarkdownReader:
    """Reads the tokens of a document in order."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.passages: list[Prose] = []
        self.title = ""

    def comments(self, tokens: Iterable[Any]) -> Iterator[Comment | KeyBlock]:
        """The comments outside of code, and the fenced blocks."""
        for (kind, where), group in groupby(self._passages(tokens), key=lambda one: one.where):
            if kind == "html_block":
                (one,) = group
                yield from self._of_html(one, self._region(*where))
            elif kind == "inline":
                yield from self._of_inline(list(group), self._region(*where))
            else:
                yield from self._of_fence(next(group).token)

    def _passages(self, tokens: Iterable[Any]) -> Iterator[_Passage]:
        """The tokens with text."""
        section = around = ""
        for token in tokens:
            if token.type == "inline" and around == "heading_open":
                section = _plain(token.children)
            elif token.type == "heading_close" and token.tag == "h1":
                self.title = self.title or section
            if token.type in ("inline", "html_block", "fence"):
                yield _Passage(token, section, around == "heading_open")
            around = token.type

    def _of_fence(self, token: Any) -> Iterator[KeyBlock]:
        if WORD not in token.info.split():
            return
        first = token.map[0] + 1
        lines = token.content.rstrip("\n").split("\n")
        ends = self.page.starts[first + 1 : first + 1 + len(lines)]
        spans = [(end - len(line) - 1, end) for end, line in zip(ends, lines, strict=False)]
        spans[-1:] = [(start, end - 1) for start, end in spans[-1:]]
        yield KeyBlock(text=self.page.piece(spans), start=self.page.starts[first - 1])

    def _of_html(self, passage: _Passage, region: Piece) -> Iterator[Comment]:
        parts = list(html_parts(region.text))
        first = len(region.text) - len(region.text.lstrip())
        if MARK.match(region.text, first) and hide(
            region.text, ((start, end) for _, start, end in parts)
        ).replace(HIDDEN, "").strip():  # fmt: skip
            message = "a mark that begins a line takes the line out of its paragraph"
            self.page.refuse(region.at[first], message, "begin the line with a word")
        formulas = self._shown(region, ((start, end) for _, start, end in parts), heading=False)
        for is_comment, start, end in parts:
            found = _COMMENT.match(region.text, start) if is_comment else None
            hidden = MARK.search(region.text, start, end)
            if found is not None:
                yield self._comment(passage, region, found, formulas)
            elif is_comment:
                self._refuse_open(region.text[start:], region.at[start])
            elif hidden is not None and not _NOT_READ.match(region.text, start):
                message = "a mark in a tag is not read"
                self.page.refuse(region.at[hidden.start()], message, "write it behind")

    def _refuse_open(self, text: str, at: int) -> None:
        """Report a mark that is never closed."""
        if re.match(rf"<!--\s*{WORD}", text) and "-->" not in text:
            self.page.refuse(
                at,
                "this mark is never closed",
                "close it with --> in its own paragraph, or its own cell",
            )
        elif NO_MARK.match(text) and not MARK.match(text):
            self.page.refuse(at, *UNREAD)

    def _of_inline(self, passages: Sequence[_Passage], region: Piece) -> Iterator[Comment]:
        """The comments of a paragraph, or of the cells of a row."""
        hidden: list[tuple[int, int]] = []
        marks: list[tuple[_Passage, re.Match[str]]] = []
        at = 0
        for passage in passages:
            within = 0  # the number of open code tags
            for child in passage.token.children:
                opened = _OPENED.search(child.content) if child.type in ("text", "image") else None
                if opened is not None:
                    where = region.at[max(region.text.find(opened[0], at), 0)]
                    self._refuse_open(child.content[opened.start() :], where)
                    if child.type == "image" and MARK.search(child.content):
                        message = "a mark in the text of a picture is not read"
                        self.page.refuse(where, message, "write it behind the picture")
                if child.type not in ("html_inline", "code_inline"):
                    continue
                start, at = _found(region.text, child, at)
                hidden.append((start, at))
                if child.type == "html_inline":
                    code = _CODE.match(child.content)
                    if code is not None:
                        within = max(0, within + (-1 if code["close"] else 1))
                    found = _COMMENT.match(region.text, start)
                    if found is not None and not within:
                        marks.append((passage, found))
        formulas = self._shown(region, hidden, heading=passages[0].heading)
        shown = self._refuse_shown(region, [found.span() for _, found in marks])
        for passage, found in marks:
            if found.start() not in shown:
                yield self._comment(passage, region, found, formulas)

    def _refuse_shown(self, region: Piece, comments: Sequence[tuple[int, int]]) -> list[int]:
        """Report marks in a formula, where a renderer shows them; return where they begin."""
        marks = [span for span in comments if MARK.match(region.text, span[0])]
        shown: list[int] = []
        if not marks:
            return shown
        inside = hide(region.text, marks).replace(HIDDEN, "x")
        formulas = list(formulas_in(inside))
        begins = [one.start for one in formulas]
        for start, _ in marks:
            at = bisect_left(begins, start) - 1
            if at >= 0 and formulas[at].end > start:
                message = "a mark inside a formula is shown where the page is rendered"
                closing = inside[formulas[at].inner_end : formulas[at].end]
                self.page.refuse(region.at[start], message, f"put it right behind {closing}")
                shown.append(start)
        return shown

    def _shown(
        self, region: Piece, hidden: Iterable[tuple[int, int]], *, heading: bool
    ) -> list[FormulaSpan]:
        """Add a passage if it may contain a figure or a formula; return its formulas."""
        if not SHOWS_SOMETHING.search(region.text):
            return []
        shown = hide(region.text, hidden)
        shown = hide(shown, (found.span() for found in _TARGET.finditer(shown)))
        self.passages.append(Prose(piece=Piece(shown, region.at), heading=heading))
        return list(formulas_in(shown))

    def _region(self, first: int, end: int) -> Piece:
        """Lines of the document, without the signs of quotation."""
        page = self.page
        starts = page.starts[first : end + 1]
        spans = [(starts[0], starts[-1] - 1)]
        if ">" in page.text[slice(*spans[0])]:
            lines = pairwise((*starts[:-1], starts[-1] - 1))
            quoted = [(_QUOTED.match(page.text, *line), line) for line in lines]
            spans = [(signs.end() if signs else line[0], line[1]) for signs, line in quoted]
        return page.piece(spans)

    def _comment(
        self,
        passage: _Passage,
        region: Piece,
        found: re.Match[str],
        formulas: Sequence[FormulaSpan],
    ) -> Comment:
        at = found.start()
        start = max(0, at - LONGEST_BEFORE)
        before = region.text[start:at]
        after = _AFTER.match(region.text, found.end())
        formula, unread = formula_of(region, formulas, start + len(before.rstrip()), behind=True)
        first, last = found.span("text")
        return Comment(
            text=Piece(found["text"], region.at[first : last + 1]),
            start=region.at[at],
            before=Piece(before, region.at[start : at + 1]),
            section=passage.section,
            title=title_of(before),
            own_line=not before.rpartition("\n")[2].strip(),
            formula=formula,
            unread=unread,
            after=after["text"] if after is not None else "",
        )


def _plain(children: Sequence[Any]) -> str:
    """The visible text of a passage."""
    parts = [" " if one.type in ("softbreak", "hardbreak") else one.content for one in children
             if one.type not in ("html_inline", "image")]  # fmt: skip
    return " ".join("".join(parts).split())


# ---- what is not prose ---------------------------------------------------------------------------


_RAW = "script|style|textarea|title|xmp|iframe|noembed|noframes"
# What is never closed goes on to the end, so that the time does not grow with the square of the
# length, as it does in the standard library's parser. Quotes are not a possessive group: with one,
# a tag was once, in thousands of runs, wrongly closed.
_ATTRIBUTES = r"(?:[^>\"'=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"']))|[\"'])*(?:>|\Z)"
_HTML = re.compile(
    r"<!--(?P<comment>-?>|.*?(?:--!?>|\Z))"
    rf"|<(?P<raw>{_RAW})(?=[\s/>]){_ATTRIBUTES}.*?(?:(?=</(?P=raw)[\s/>])|\Z)"
    rf"|<(?P<close>/)?(?P<name>[A-Za-z][^\s/>]*+){_ATTRIBUTES}",
    re.DOTALL | re.IGNORECASE,
)
_CODE_TAGS = ("code", "kbd", "samp", "pre", "template", "svg", "math")
_CODE = re.compile(rf"<(?P<close>/)?(?:{'|'.join(_CODE_TAGS)})\b", re.IGNORECASE)
_NOT_READ = re.compile(rf"<(?:{_RAW}|{'|'.join(_CODE_TAGS)})\b", re.IGNORECASE)


def html_parts(text: str) -> Iterator[tuple[bool, int, int]]:
    """The parts of a piece of HTML that are not prose: where each begins and ends, in order.

    The rules are those of the HTML standard
    (https://html.spec.whatwg.org/multipage/parsing.html#tokenization), as far as they matter.

    Args:
        text: the piece.

    Returns:
        Each with whether it is a comment, outside of code.

    >>> list(html_parts("<p>1<!-- 2 --><code>3<!-- 4 --></code>"))
    [(False, 0, 3), (True, 4, 14), (False, 14, 38)]
    """
    within = begun = 0
    for found in _HTML.finditer(text):
        inside = within
        if (found["name"] or "").lower() in _CODE_TAGS:
            within = max(0, within + (-1 if found["close"] else 1))
        begun = begun if inside else found.start()
        if not within:
            yield found["comment"] is not None, begun, found.end()
    if within:
        yield False, begun, len(text)


# The target of a link, in its three forms; the lengths are limited, so that the search is short.
_TARGET = re.compile(
    r"!\[[^\[\]]{0,500}(?=\])"  # the text in place of a picture
    r"|\]\([^()\n]{0,2000}(?:\([^()\n]{0,2000}\)[^()\n]{0,2000})?\)"
    r"|\]\[[^\[\]\n]{0,200}\]"
    r"|<[A-Za-z][\w.+-]{1,31}:[^<>\s]{0,2000}>"
)


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
