r"""LaTeX documents: comments with the text before each, and the sections and sentences around them.

In TeX, category codes decide what a character is, and only running TeX shows them. This reader
knows what documents use: `\%` is not a comment, and nothing is one in verbatim text, in a listing,
between `\iffalse` and `\fi`, or after `\end{document}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dropcheck.claims.yaml_places import LineColumn, Problems, Source
from dropcheck.documents.carrier import WORD, Comment, KeyBlock, Marked, Piece, parts_of
from dropcheck.documents.tex_paragraph import Paragraph

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
        self.paragraph = Paragraph(preamble=any(r"\begin{document}" in line for line in self.lines))
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
