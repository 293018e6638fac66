r"""LaTeX documents: comments with the text before each, and the sections and sentences around them.

In TeX, category codes decide what a character is, and only running TeX shows them. This reader
knows what documents use: `\%` is not a comment, and nothing is one in verbatim text, in a listing,
between `\iffalse` and `\fi`, or after `\end{document}`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace

from dropcheck.claims.yaml_places import LineColumn, Problems, Source
from dropcheck.documents.latex import LONGEST
from dropcheck.documents.marks import (
    HIDDEN,
    LONGEST_BEFORE,
    SHOWS_SOMETHING,
    WORD,
    Comment,
    KeyBlock,
    Marked,
    Piece,
    Prose,
    parts_of,
    sentence_at,
    shortened,
)

_VERBATIM = (
    "verbatim verbatim* Verbatim Verbatim* BVerbatim LVerbatim SaveVerbatim VerbatimOut alltt "
    "lstlisting minted minted* tcblisting filecontents filecontents* comment luacode luacode* "
    "pycode pyconsole sagesilent sageblock"
)
_DEFINES = r"lstnewenvironment|DefineVerbatimEnvironment|newtcblisting|excludecomment|newminted"
_SIGN = re.compile(
    r"(?P<comment>%)"
    r"|\\(?P<edge>begin|end)[ \t]*\{(?P<name>[^{}\\%]*)\}"
    rf"|\\(?P<defines>{_DEFINES})\*?(?:\[[^\]]{{0,200}}\])?\{{(?P<defined>[^{{}}]*)\}}"
    r"|\\(?P<verb>verb\*?|lstinline(?:\[[^\]]{0,200}\])?|mintinline(?:\[[^\]]{0,200}\])?\{[^{}]*\})(?![A-Za-z])"
    r"|\\(?P<link>url|href|path|nolinkurl)[ \t]*\{"
    r"|(?P<hidden>\\iffalse(?![A-Za-z@]))"
    r"|\\(?P<display>[\[\]])"
    r"|(?P<row>\\\\)"
    r"|\\(?:[A-Za-z@]+|.)"
)
_CONDITION = re.compile(
    r"%|\\(?P<word>if(?!f(?![A-Za-z])|thenelse)[A-Za-z@]*|fi|else)(?![A-Za-z@])|\\."
)
_WITH_ARGUMENT = ("alignat", "alignat*", "IEEEeqnarray", "IEEEeqnarray*")
_ARGUMENT = re.compile(r"\s*\{[^{}]*\}")
_BRACE = re.compile(r"\\.|[{}]")
_BLOCK = re.compile(rf"\s*%+[ \t]*{WORD}[ \t]*(?:%.*)?\Z")
_BLOCK_LINE = re.compile(rf"\s*%%?(?![ \t]*{WORD}\b)(?P<text>.*)\Z")


def read_tex(source: Source, report: Problems) -> Marked:
    """The marks and blocks of a LaTeX document.

    Args:
        source: its text.
        report: collects the errors of the marks.
    """
    reader = _TexReader(source, report)
    comments = list(reader.comments())
    return Marked(
        title=reader.paragraph.title or source.name,
        parts=parts_of(comments, report),
        passages=tuple(reader.paragraph.passages),
    )


class _TexReader:
    """Reads the lines of a document in order."""

    def __init__(self, source: Source, report: Problems) -> None:
        self.lines = source.lines
        self.report = report
        self.paragraph = _Paragraph(
            preamble=any(r"\begin{document}" in line for line in self.lines)
        )
        self.verbatim = set(_VERBATIM.split())
        self.ends = ""  # the open environment of verbatim text
        self.opened: LineColumn = (0, 0)  # the place of it, or of \iffalse
        self.unread = 0  # the number of conditions open since \iffalse
        self.over = False  # whether \end{document} is passed
        self.held = False  # whether there may be a mark in what is open

    def comments(self) -> Iterator[Comment | KeyBlock]:
        """The comments, and the blocks of several comment lines."""
        number = 0
        while number < len(self.lines) and not self.over:
            if not self.ends and not self.unread and _BLOCK.match(self.lines[number]):
                block = self._block(number)
                if block is not None:
                    self.paragraph.add_block(block)
                    number += 1 + block.text.text.count("\n") + 1
                    continue
            self._line(number)
            if self.paragraph.over:
                yield from self.paragraph.flushed()
            number += 1
        yield from self.paragraph.flushed()
        if (self.ends or self.unread) and self.held:
            what = rf"\begin{{{self.ends}}}" if self.ends else r"\iffalse"
            message = f"{what} is never ended, so that no mark after it is read"
            self.report.add(self.opened, message, "end it")

    def _block(self, number: int) -> KeyBlock | None:
        """The block that begins on a line; None if no line of it follows."""
        text: list[str] = []
        places: list[LineColumn] = []
        for below in range(number + 1, len(self.lines)):
            found = _BLOCK_LINE.match(self.lines[below])
            if found is None:
                break
            text.append(found["text"])
            shift = found.start("text")
            places += [(below, shift + column) for column in range(len(found["text"]) + 1)]
        if not text:
            return None
        return KeyBlock(text=Piece("\n".join(text), (*places, places[-1])), start=(number, 0))

    def _line(self, number: int) -> None:
        line = self.lines[number]
        if not line.strip() and not self.ends and not self.unread:
            self.paragraph.end()
            return
        at = 0 if not self.paragraph.glued else len(line) - len(line.lstrip())
        while at < len(line) and not self.over:
            if self.ends or self.unread:
                self.held = self.held or WORD in line
            if self.ends:
                at = self._to_end(line, at)
            elif self.unread:
                at = self._to_fi(line, at)
            else:
                at = self._prose(number, at)
                if at < 0:  # a comment also removes the line break
                    self.paragraph.glued = True
                    return
        self.paragraph.glued = False
        if not self.ends and not self.unread:
            self.paragraph.add("\n", number, len(line))

    def _to_end(self, line: str, at: int) -> int:
        closing = rf"\end{{{self.ends}}}"
        place = line.find(closing, at)
        if place < 0:
            return len(line)
        self.ends, self.held = "", False
        return place + len(closing)

    def _to_fi(self, line: str, at: int) -> int:
        for found in _CONDITION.finditer(line, at):
            if found.group() == "%":
                break
            word = found["word"] or ""
            if word.startswith("if"):
                self.unread += 1
            elif word == "fi" or (word == "else" and self.unread == 1):
                self.unread -= 1
                if not self.unread:
                    self.held = False
                    return found.end()
        return len(line)

    def _prose(self, number: int, at: int) -> int:
        """Read text up to the next command; return where to continue, or -1 after a comment."""
        line, paragraph = self.lines[number], self.paragraph
        found = _SIGN.search(line, at)
        if found is None:
            paragraph.add(line[at:], number, at)
            return len(line)
        paragraph.add(line[at : found.start()], number, at)
        start, end = found.span()
        if found["comment"]:
            self._comment(number, start)
            return -1
        if found["edge"] == "begin" and found["name"] in self.verbatim:
            self.ends, self.opened = found["name"], (number, start)
            return end
        if found["edge"] == "end" and found["name"] == "document":
            self.over = True
            return end
        if found["hidden"]:
            self.unread, self.opened = 1, (number, start)
            return end
        if found["defined"]:
            given = found["defined"]
            self.verbatim.add(f"{given}code" if found["defines"] == "newminted" else given)
        elif found["verb"]:
            end = _verb_end(line, end)
        elif found["link"]:
            end = _group_end(line, end)
        elif found["edge"] == "begin" and found["name"] in _WITH_ARGUMENT:
            argument = _ARGUMENT.match(line, end)
            end = argument.end() if argument is not None else end
        paragraph.add(line[start:end], number, start, hidden=bool(found["verb"] or found["link"]))
        if found["edge"]:
            paragraph.edge(found["edge"] == "begin", found["name"], end - start)
        elif found["display"]:
            paragraph.edge(found["display"] == "[", "[", end - start)
        elif found["row"]:
            paragraph.row()
        return end

    def _comment(self, number: int, start: int) -> None:
        """Add a comment, which may be a mark."""
        line = self.lines[number]
        first = start + len(line[start:]) - len(line[start:].lstrip("%"))
        places = tuple((number, column) for column in range(first, len(line) + 1))
        comment = Comment(
            text=Piece(line[first:], places),
            start=(number, start),
            end=(number, len(line)),
            own_line=not line[:start].strip(),
        )
        self.paragraph.add_comment(comment)


def _verb_end(line: str, at: int) -> int:
    r"""Where `\verb|…|` ends; `at` is after the command. A brace is closed by its counterpart."""
    if at >= len(line):
        return at
    closing = "}" if line[at] == "{" else line[at]
    place = line.find(closing, at + 1)
    return place + 1 if place >= 0 else len(line)


def _group_end(line: str, at: int) -> int:
    """Where a group ends; `at` is after its brace. It is the end of the line if it goes on."""
    depth = 1
    for found in _BRACE.finditer(line, at):
        depth += {"{": 1, "}": -1}.get(found.group(), 0)
        if not depth:
            return found.end()
    return len(line)


# ---- paragraphs ----------------------------------------------------------------------------------


_NAMES = (
    "equation align gather multline eqnarray flalign alignat displaymath math dmath IEEEeqnarray"
)
_MATHS = _NAMES.split()
MATHS = frozenset(["[", *_MATHS, *(f"{name}*" for name in _MATHS)])
r"""What begins a formula: environments, and `\[`."""
_HEADING = re.compile(
    r"\\(?P<kind>title|part|chapter|(?:sub){0,2}section|(?:sub)?paragraph)\*?(?:\[[^\[\]]*\])?\{"
)
# Environments within a formula whose rows are not statements.
_CELLS = re.compile(r"(?:[pbBvV]?matrix|smallmatrix|cases|array|dcases|rcases)\*?\Z")
_ENDED = re.compile(r"\\(?:\]|end[ \t]*\{[^{}]*\})\s*")
_NOTHING = re.compile(
    r"\\(?:label|tag)\*?\{[^{}]*\}|\\(?:nonumber|notag|displaystyle)(?![A-Za-z])|&|\\\\(?:\[[^\]]{0,50}\])?"
)
_ALIGNED = re.compile(
    r"\\begin\{(?:split|aligned|gathered)\}(?:\[[^\]]*\])?|\\end\{(?:split|aligned|gathered)\}"
)
_EMPHASIS = re.compile(
    r"\\(?:emph|textbf|textit|textrm|textsf|texttt|textsl|underline|mathbf|mathrm|mathit|text|num|bm"
    r"|boldsymbol|mathbb|hl)[ \t]*\{(?P<inner>[^{}]*)\}\s*\Z"
)
# Commands whose arguments are not shown as text.
_NO_PROSE = re.compile(
    r"\\(?:begin|end|label|tag|[a-zA-Z]*cite[a-zA-Z]*|[a-zA-Z]*ref|bibliography|bibliographystyle|bibitem|input"
    r"|include|includegraphics|includesvg|usepackage|documentclass|vspace|hspace|setlength|addtolength|setcounter"
    r"|addtocounter|rule|raisebox|resizebox|scalebox|definecolor|color|textcolor|cmidrule|cline|pagestyle"
    r"|thispagestyle|newtheorem|hypersetup|geometry|parbox|rowcolor|cellcolor)\*?"
    r"(?:[ \t]*(?:\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}))+|\\\\\[[^\]]{0,50}\]"
)  # fmt: skip
_EDGE = re.compile(r"\\(?:begin|end)\{(?P<name>[a-zA-Z]+\*?)\}")


class _Paragraph:
    """Collects a paragraph; `flushed` returns its comments and blocks, and begins the next."""

    def __init__(self, *, preamble: bool) -> None:
        self.title = ""
        self.section = ""
        self.passages: list[Prose] = []
        self.preamble = preamble  # whether the text comes before \begin{document}
        self.over = False
        self.glued = False  # whether a comment removed the last line break
        self.text: list[str] = []
        self.places: list[LineColumn] = []
        self.hidden: list[tuple[int, int]] = []
        # comments and blocks of the paragraph, each with the length of the text before it
        self.pending: list[tuple[int, Comment | KeyBlock]] = []
        self.maths: list[str] = []  # the open environments, from that of a formula on
        self.rows: list[int] = []  # where the rows of the formula begin
        # the last formula: where it begins, where it ends, and how many rows it has
        self.ended: tuple[int, int, int] | None = None

    def add(self, text: str, line: int, column: int, *, hidden: bool = False) -> None:
        """Add a part of a line."""
        if hidden:
            self.hidden.append((len(self.text), len(self.text) + len(text)))
        self.text += text.replace("~", " ")  # a non-breaking space
        self.places += [(line, place) for place in range(column, column + len(text))]

    def add_block(self, block: KeyBlock) -> None:
        """Add a block."""
        self.pending.append((len(self.text), block))

    def end(self) -> None:
        """End the paragraph."""
        self.over = bool(self.text or self.pending)

    def edge(self, begins: bool, name: str, length: int) -> None:
        """Begin or end an environment; the command is the last `length` characters."""
        at = len(self.text)
        if begins and (self.maths or name in MATHS):
            if not self.maths:
                self.rows = [at]
            self.maths.append(name)
        elif begins and name == "document":
            self.preamble = False
            self.hidden.append((0, at))
        elif not begins and name in self.maths:
            while self.maths.pop() != name:
                pass
            if not self.maths:
                last = at - length
                empty = len(self.rows) > 1 and self._blank(self.rows[-1], last)
                self.ended = self.rows[0], last, len(self.rows) - empty

    def row(self) -> None:
        """End a row of a formula."""
        if self.maths and not any(map(_CELLS.match, self.maths)):
            self.rows.append(len(self.text))

    def add_comment(self, comment: Comment) -> None:
        """Add a comment, which may be a mark."""
        span, unread = None, ""
        if comment.own_line:
            unread = "nothing stands before this mark on its line"
        elif WORD not in comment.text.text:  # it is not a mark
            pass
        elif self.maths:
            blank = len(self.rows) > 1 and self._blank(self.rows[-1], len(self.text))
            span = self.rows[-2 if blank else -1], len(self.text)
        elif self.ended is not None:
            first, stop, count = self.ended
            closing = "".join(self.text[stop : stop + 100])
            if stop + 100 > len(self.text) and _ENDED.fullmatch(closing):
                if count > 1:
                    unread = "several rows stand before this mark: put it at the end of its row"
                span = first, stop
        if span is not None and span[1] - span[0] > LONGEST:
            unread = f"the formula before this mark is longer than {LONGEST:,} characters"
        formula = self._formula(*span) if span and not unread else None
        self.pending.append((len(self.text), replace(comment, formula=formula, unread=unread)))

    def _blank(self, first: int, end: int) -> bool:
        """Whether a part of the paragraph shows nothing."""
        text = "".join(self.text[first : min(end, first + LONGEST)])
        return not _NOTHING.sub("", text).strip()

    def _formula(self, first: int, end: int) -> Piece:
        """A part of the paragraph as a formula, without commands of layout."""
        text = "".join(self.text[first:end])
        places = [*self.places[first:end], *self.places[end : end + 1]]
        if len(places) == len(text):
            line, column = places[-1] if places else (0, 0)
            places.append((line, column + 1))
        kept = [True] * len(text)
        for pattern in (_NOTHING, _ALIGNED):
            for found in pattern.finditer(text):
                kept[found.start() : found.end()] = [False] * len(found.group())
        shown = [at for at, keep in enumerate(kept) if keep]
        piece = Piece(
            "".join(text[at] for at in shown), (*(places[at] for at in shown), places[-1])
        )
        return piece.part(0, len(piece.text))

    def flushed(self) -> Iterator[Comment | KeyBlock]:
        """Return the comments and blocks of the paragraph, and begin the next one."""
        text = "".join(self.text)
        last = (self.places[-1][0], self.places[-1][1] + 1) if self.places else (0, 0)
        places = (*self.places, last)
        headings = list(_headings(text))
        begins = [begin for _, _, begin, _ in headings]
        ends = [end for _, _, _, end in headings]
        named = [(end, name) for kind, name, _, end in headings if kind != "title"]
        for at, one in self.pending:
            if isinstance(one, KeyBlock):
                yield one
                continue
            passed = bisect_right(ends, at)
            start = max(ends[passed - 1] if passed else 0, at - LONGEST_BEFORE)
            following = begins[bisect_left(begins, at) :][:1]
            stop = min(*following, len(text), at + LONGEST_BEFORE)
            sections = bisect_right(named, at, key=lambda heading: heading[0])
            sentence = ""
            if one.formula is not None:
                sentence = shortened(one.formula.text)
            elif WORD in one.text.text:
                sentence = sentence_at(plain(text[start:at]), plain(text[at:stop]))
            yield replace(
                one,
                before=_before(text, places, at),
                section=named[sections - 1][1] if sections else self.section,
                sentence=sentence,
                after=" " * text[at - 1 : at].isspace() + text[at : at + LONGEST_BEFORE].lstrip(),
            )
        for kind, name, _, _ in headings:
            if kind == "title":
                self.title = self.title or name
            else:
                self.section = name
        if not self.preamble and SHOWS_SOMETHING.search(text):
            self._add_passage(text, places, bool(headings))
        self.text, self.places, self.pending, self.hidden = [], [], [], []
        self.rows, self.ended, self.over = [0], None, False

    def _add_passage(self, text: str, places: tuple[LineColumn, ...], heading: bool) -> None:
        """Add the paragraph to the passages."""
        shown = list(text)
        unread = [found.span() for found in _NO_PROSE.finditer(text) if not _of_formula(found)]
        for start, end in (*unread, *self.hidden):
            shown[start:end] = HIDDEN * (end - start)
        heading = heading and text.lstrip().startswith("\\")
        self.passages.append(Prose(piece=Piece("".join(shown), places), heading=heading))


def _of_formula(found: re.Match[str]) -> bool:
    """Whether a command begins or ends a formula; passages keep these."""
    edge = _EDGE.match(found.group())
    return edge is not None and edge["name"] in MATHS


def _headings(text: str) -> Iterator[tuple[str, str, int, int]]:
    """The headings of a paragraph: the kind, the text, and where each begins and ends."""
    last = 0
    for found in _HEADING.finditer(text):
        if found.start() < last:  # it is inside another heading
            continue
        end, depth = found.end(), 1
        while end < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1 + (text[end] == "\\")
        last = end = min(end, len(text))
        name = plain(text[found.end() : min(end - (not depth), found.end() + LONGEST_BEFORE)])
        yield found["kind"], " ".join(name.split()), found.start(), end


def _before(text: str, places: tuple[LineColumn, ...], at: int) -> Piece:
    """The text before a mark, without white space, emphasis and a full stop at its end.

    A mark extends to the end of its line, so the end of a sentence can only come before it.
    """
    first = max(0, at - LONGEST_BEFORE)
    piece = Piece(text[first:at], places[first : at + 1])
    end = len(piece.text.rstrip())
    if piece.text[:end].endswith((".", ",", ";", ":")):
        end = len(piece.text[: end - 1].rstrip())
    found = _EMPHASIS.search(piece.text, 0, end)
    if found is None:
        return Piece(piece.text[:end], piece.places[: end + 1])
    start, inner = found.start(), slice(*found.span("inner"))
    return Piece(
        piece.text[:start] + found["inner"],
        (*piece.places[:start], *piece.places[inner], piece.places[found.end("inner")]),
    )


_UNSEEN = re.compile(
    r"[ \t]*\\(?:label|[a-zA-Z]*cite[a-zA-Z]*|footnotemark)\*?(?:\[[^\]]*\])*\{[^{}]*\}"
)
_STYLED = re.compile(r"\\(?:emph|text[a-z]{2}|underline|textsuperscript)\{([^{}]*)\}")
_SIGNS = re.compile(r"&|\\([%&#_{}])|\\[,;! ]|``|''|\\item\b|\\(?:begin|end)\{[^{}]*\}|---?")
_SPELLED = {"``": "“", "''": "”", "--": "–", "---": "—", "\\,": " ", "\\;": " ", "\\ ": " "}


def plain(text: str) -> str:
    r"""The visible text of LaTeX, with formulas as they are written.

    >>> plain(r"rises by \emph{41\%}~\cite{srivastava}, see $d_k$")
    'rises by 41%, see $d_k$'
    """
    text = _STYLED.sub(r"\1", _UNSEEN.sub("", text.replace("~", " ")))

    def sign(found: re.Match[str]) -> str:
        return found[1] or _SPELLED.get(found.group(), "")

    return _SIGNS.sub(sign, text)
