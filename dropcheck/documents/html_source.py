"""HTML documents: comments outside code with the text before each, headings and sentences.

In the standard library's parser, the time grows with the square of the length of what is never
closed: in Python 3.11, a minute for 60 kB. Documents may come from strangers, so this reader passes
over the text once, by the rules of the HTML standard
(https://html.spec.whatwg.org/multipage/parsing.html#tokenization). The tests compare the two.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate

from dropcheck.claims.source import LineColumn, Problems, Source
from dropcheck.documents.carrier import (
    HIDDEN,
    LONGEST_BEFORE,
    MARK,
    SHOWS_SOMETHING,
    Comment,
    Marked,
    Piece,
    Prose,
    parts_of,
)
from dropcheck.documents.sentences import sentence_at

_NEXT = re.compile(r"<(?=[A-Za-z/!?])|&[#\w]+;?")
_COMMENT = re.compile(r"<!--(?:-?>|(?P<text>.*?)--!?>)", re.DOTALL)
_TAG = re.compile(
    r"<(?P<close>/)?(?P<name>[A-Za-z][^\s/>]*+)"
    # not a possessive group: with one, a tag was once, in thousands of runs, wrongly closed
    r"(?:[^>\"'=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"']))|[\"'])*>"
)
_RAW = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
_UNREAD = ("pre", "code", "template", "svg", "math")
_UNSEEN = ("template", "svg")
_WITHIN = (
    "a abbr b bdi bdo big cite code data del dfn em font i img input ins kbd label mark math nobr "
    "q s samp small span strike strong sub sup svg time tt u var wbr"
)
_INLINE = frozenset(_WITHIN.split())
_HEADING = re.compile(r"h[1-6]\Z")


def comments_in(text: str, refuse: Callable[[int], None]) -> Iterator[int]:
    """The places where comments begin in a piece of HTML, outside of code and tags.

    Args:
        text: the piece.
        refuse: called with the places of marks in tags, which are not read.
    """
    at = within = 0
    while (found := _NEXT.search(text, at)) is not None:
        at = found.end()
        if text.startswith("<!--", found.start()):
            closed = _COMMENT.match(text, found.start())
            at = closed.end() if closed is not None else len(text)
            if not within:
                yield found.start()
        elif found.group() == "<" and text[at : at + 2].lstrip("/")[:1].isalpha():
            tag = _TAG.match(text, found.start())
            at = tag.end() if tag is not None else len(text)
            hidden = MARK.search(text, found.start(), at)
            if hidden is not None and not within:
                refuse(hidden.start())
            name = tag["name"].lower() if tag is not None else ""
            if name in _UNREAD:
                within = max(0, within + (-1 if tag and tag["close"] else 1))
            elif name in _RAW and tag and not tag["close"]:
                closing = _closing(name, text, at)
                at = len(text) if closing is None else closing.start()


def _closing(name: str, text: str, at: int) -> re.Match[str] | None:
    """The end tag of an element whose content is not HTML."""
    return re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, at)


def read_html(source: Source, report: Problems) -> Marked:
    """The marks and blocks of an HTML document.

    Args:
        source: its text.
        report: collects the errors of the marks.
    """
    reader = _HtmlReader(source, report)
    comments = list(reader.comments())
    return Marked(
        title=reader.title or reader.heading or source.name,
        parts=parts_of(comments, report),
        passages=tuple(reader.passages),
    )


def paragraphs_of_html(text: str) -> list[tuple[int, str]]:
    """The visible paragraphs of a piece of HTML, each with its level as a heading, or 0.

    >>> paragraphs_of_html("<h2>1 &lt; <b>2</b></h2><script>f(1)</script><p onclick=x>3<!-- 4 -->")
    [(2, '1 < 2'), (0, '3')]
    """
    source = Source("", text, tuple(text.split("\n")))
    reader = _HtmlReader(source, Problems(source))
    deque(reader.comments(), maxlen=0)
    return [(level, shown) for level, shown in reader.paragraphs if shown]


class _HtmlReader:
    """Reads a document in order, paragraph by paragraph."""

    def __init__(self, source: Source, report: Problems) -> None:
        self.source = source
        self.report = report
        self.whole = "\n".join(source.lines)
        self.starts = [0, *accumulate(len(line) + 1 for line in source.lines)]
        self.title = self.heading = self.section = ""
        self.passages: list[Prose] = []
        self.paragraphs: list[tuple[int, str]] = []  # the visible text
        self.within: Counter[str] = Counter()  # the open elements whose content is not read
        self.passed: dict[str, int] = {}  # the first mark in each of them
        self.level = ""  # of the current heading
        self.breaks = False  # whether the paragraph has ended
        self.closing = False  # whether it was a heading
        self.text: list[str] = []
        self.places: list[LineColumn] = []
        self.hidden: list[bool] = []
        self.seen: list[str] = []
        # the comments of the paragraph, each with the length of the text before it
        self.pending: list[tuple[int, Comment]] = []

    def place(self, at: int) -> LineColumn:
        """The line and column of a character."""
        line = min(bisect_right(self.starts, at) - 1, len(self.source.lines) - 1)
        return line, at - self.starts[line]

    def comments(self) -> Iterator[Comment]:
        """The comments outside of code."""
        at = 0
        while at < len(self.whole):
            found = _NEXT.search(self.whole, at)
            start = found.start() if found is not None else len(self.whole)
            self._take(at, start)
            if found is None:
                break
            if found.group() != "<":
                self._add(html.unescape(found.group()), start)
                at = found.end()
            elif self.whole.startswith("<!--", start):
                at = self._comment(start)
            else:
                tag = _TAG.match(self.whole, start)
                at = self._tag(tag) if tag is not None else self._other(start)
                if self.breaks:
                    yield from self._flushed()
        yield from self._flushed()
        for name, mark in self.passed.items():
            message = f"this mark is not read, for a <{name}> before it is never closed"
            self.report.add(self.place(mark), message, f"close it: </{name}>")

    # ---- text ----------------------------------------------------------------------------------

    def _take(self, start: int, end: int) -> None:
        """Add text from the document."""
        while start < end:
            line, column = self.place(start)
            stop = min(end, self.starts[line + 1])
            self._add(self.whole[start:stop], start)
            if not self.within["math"]:
                first = len(self.places) - (stop - start)
                self.places[first:] = [(line, column + shift) for shift in range(stop - start)]
            start = stop

    def _add(self, text: str, at: int) -> None:
        """Add text whose characters all have one place."""
        if not self.within["math"]:
            self.text += text
            self.places += [self.place(at)] * len(text)
            self.hidden += [self._unread()] * len(text)
            if not any(map(self.within.__getitem__, _UNSEEN)):
                self.seen.append(text)

    def _unread(self) -> bool:
        return any(self.within.values())

    # ---- comments and tags ---------------------------------------------------------------------

    def _comment(self, start: int) -> int:
        """Read a comment; return where to continue."""
        found = _COMMENT.match(self.whole, start)
        if found is None:  # it runs to the end of the document
            if MARK.match(self.whole, start):
                self.report.add(self.place(start), "this mark is never closed", "close it: -->")
            return len(self.whole)
        if self._unread():
            if MARK.match(self.whole, start):
                for name in +self.within:
                    self.passed.setdefault(name, start)
        elif found["text"] is not None:
            first, stop = found.span("text")
            places = tuple(self.place(at) for at in range(first, stop + 1))
            line, column = self.place(start)
            comment = Comment(
                text=Piece(found["text"], places),
                start=(line, column),
                end=self.place(found.end()),
                own_line=not self.source.lines[line][:column].strip(),
            )
            self.pending.append((len(self.text), comment))
        return found.end()

    def _tag(self, found: re.Match[str]) -> int:
        """Read a tag; return where to continue."""
        name, end = found["name"].lower(), found.end()
        hidden = MARK.search(found.group())
        if hidden is not None and not self._unread():
            place = self.place(found.start() + hidden.start())
            self.report.add(place, "a mark in a tag is not read", "write it behind the tag")
        if name in _UNREAD:
            self._unread_element(found, name)
        elif name in _RAW and not found["close"]:
            return self._raw(name, found)
        if name in ("sub", "sup"):  # so that 5<sup>2</sup> is not 52
            self._add("^" if not found["close"] else "", found.start())
        elif name not in _INLINE:
            self.breaks = True
        else:
            return end
        if _HEADING.match(name):
            self.closing = bool(found["close"])
            self.level = name
        return end

    def _unread_element(self, found: re.Match[str], name: str) -> None:
        if found.group().endswith("/>") and name in ("svg", "math"):
            return
        if not found["close"]:
            self.within[name] += 1
        elif self.within[name]:
            self.within[name] -= 1
            if not self.within[name]:
                self.passed.pop(name, None)
                if name == "math":
                    self._add(HIDDEN, found.start())

    def _raw(self, name: str, found: re.Match[str]) -> int:
        """Skip an element whose content is not HTML; return where to continue."""
        closing = _closing(name, self.whole, found.end())
        if closing is None:
            return self._rest(found.start(), f"<{name}>")
        if name == "title" and not self.title:
            text = self.whole[found.end() : closing.start()][:LONGEST_BEFORE]
            self.title = " ".join(html.unescape(text).split())
        return closing.start()

    def _other(self, start: int) -> int:
        """Skip a declaration, or a tag that is never closed; return where to continue."""
        if self.whole[start + 1 : start + 3].lstrip("/")[:1].isalpha():
            return self._rest(start, "this tag")
        data = self._unread() and self.whole.startswith("<![CDATA[", start)
        closing = "]]>" if data else ">"
        end = self.whole.find(closing, start)
        return self._rest(start, "this tag") if end < 0 else end + len(closing)

    def _rest(self, start: int, what: str) -> int:
        """Skip the rest of the document, which a browser does not show."""
        if MARK.search(self.whole, start):
            message = f"{what} is never closed, so that no mark after it is read"
            self.report.add(self.place(start), message, "close it")
        return len(self.whole)

    # ---- paragraphs ----------------------------------------------------------------------------

    def _flushed(self) -> Iterator[Comment]:
        """End a paragraph and return its comments."""
        text, places = "".join(self.text), (*self.places, self.place(len(self.whole)))
        if self.closing and text.strip():
            self.section = " ".join(text.split())[:LONGEST_BEFORE]
            self.heading = self.heading or (self.section if self.level == "h1" else "")
        for at, comment in self.pending:
            first = max(0, at - LONGEST_BEFORE)
            before, after = text[first:at], text[at : at + LONGEST_BEFORE]
            yield replace(
                comment,
                before=Piece(before, (*places[first:at], comment.start)),
                section=self.section,
                sentence=sentence_at(before, after),
                after=after,
                unread="MathML is not read" if before.endswith(HIDDEN) else "",
            )
        if SHOWS_SOMETHING.search(text):
            shown = (HIDDEN if hide else sign for sign, hide in zip(text, self.hidden, strict=True))
            self.passages.append(Prose(piece=Piece("".join(shown), places), heading=self.closing))
        seen = " ".join("".join(self.seen).replace(HIDDEN, "").split())
        self.paragraphs.append((int(self.level[1]) if self.closing else 0, seen))
        self.text, self.places, self.hidden, self.seen, self.pending = [], [], [], [], []
        self.breaks = self.closing = False
