r"""LaTeX documents: comments with the text before each, and the sections and sentences around them.

In TeX, category codes decide what a character is, and only running TeX shows them. This reader
knows what documents use: `\%` is not a comment, and nothing is one in verbatim text, in a listing,
between `\iffalse` and `\fi`, or after `\end{document}`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dropcheck.documents.marks import (
    BLOCK_KEYS,
    FORMULAS,
    LONGEST_BEFORE,
    NO_MARK,
    SHOWS_SOMETHING,
    UNREAD,
    WORD,
    Comment,
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
from dropcheck.errors import nearest

_VERBATIM = (
    "verbatim verbatim* Verbatim Verbatim* BVerbatim LVerbatim SaveVerbatim VerbatimOut alltt "
    "lstlisting minted minted* tcblisting filecontents filecontents* comment luacode luacode* "
    "pycode pyconsole sagesilent sageblock"
)
_DRAWN = ("tikzpicture", "tikzcd", "pgfpicture", "picture", "axis", "forest", "pspicture")
_DEFINES = r"lstnewenvironment|DefineVerbatimEnvironment|newtcblisting|excludecomment|newminted"
# A comment also removes the line break, and the white space that the next line begins with.
_SIGN = re.compile(
    r"(?P<comment>%.*)(?:\n[^\S\n]*(?=\S))?"
    r"|(?P<blank>\n(?:[^\S\n]*(?:\n|\Z))+)"
    r"|\\(?P<edge>begin|end)[ \t]*\{(?P<name>[^{}\\%\n]*)\}"
    rf"|\\(?P<defines>{_DEFINES})\*?(?:\[[^\]\n]{{0,200}}\])?\{{(?P<defined>[^{{}}\n]*)\}}"
    r"|(?P<verb>\\(?:verb\*?|lstinline(?:\[[^\]\n]{0,200}\])?"
    r"|mintinline(?:\[[^\]\n]{0,200}\])?\{[^{}\n]*\})(?![A-Za-z])"
    r"(?:\{[^}\n]*\}?|(?P<bar>.)(?:(?!(?P=bar)).)*.?)?)"
    r"|(?P<link>\\(?:url|href|path|nolinkurl)[ \t]*\{(?:[^{}\n\\]|\\.|\{[^{}\n]*\})*\}?)"
    r"|(?P<unread>\\iffalse(?![A-Za-z@]))"
    r"|\\(?:[A-Za-z@]+|.)"
)
_BLOCK = re.compile(
    rf"%+[ \t]*{WORD}[ \t]*(?:%.*)?(?P<lines>(?:\n[^\S\n]*%%?(?![ \t]*{WORD}\b).*)+)\n?"
)
# A mark before a line of text: TeX drops the end of its own line.
_GLUES = re.compile(rf"%+[ \t]*{WORD}\b.*\n[^\S\n]*[A-Za-z0-9$(]")
_TIES = re.compile(r"~(?:\s*~)*")
_BLOCK_LINE = re.compile(r"^[^\S\n]*%%?(.*)", re.MULTILINE)


def read_tex(page: Page) -> Marked:
    """The marks and blocks of a LaTeX document; `page` also collects their errors."""
    reader = _TexReader(page)
    parts = parts_of(list(reader.comments()), page)
    title = reader.title or page.source.name
    return Marked(title=title, parts=parts, passages=tuple(reader.passages))


class _TexReader:
    """Reads a document from its beginning to its end, paragraph by paragraph."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.title = self.section = ""
        self.passages: list[Prose] = []
        self.drawings = 0  # how many pictures are open
        self.preamble = r"\begin{document}" in page.text  # whether it is still to come
        self._begin()

    def _begin(self) -> None:
        """Begin a paragraph."""
        self.spans: list[tuple[int, int]] = []  # its parts in the document
        self.size = 0  # the length of these
        self.hidden: list[tuple[int, int]] = []
        # its comments and blocks, each with the length of the text before it
        self.pending: list[tuple[int, Comment | KeyBlock]] = []

    def _add(self, start: int, end: int, *, hidden: bool = False) -> None:
        self.spans.append((start, end))
        self.size += end - start
        if hidden or self.drawings:
            self.hidden.append((self.size - (end - start), self.size))

    def comments(self) -> Iterator[Comment | KeyBlock]:
        """The comments, and the blocks of several comment lines."""
        text = self.page.text
        verbatim = set(_VERBATIM.split())
        at = 0
        while (found := _SIGN.search(text, at)) is not None:
            start, end = found.span()
            self._add(at, start)
            at = end
            if found["comment"]:
                at = self._comment(found)
            elif found["blank"]:
                yield from self._paragraph()
            elif found["unread"] or (found["edge"] == "begin" and found["name"] in verbatim):
                closing = r"\fi" if found["unread"] else rf"\end{{{found['name']}}}"
                place = text.find(closing, end)
                at = len(text) if place < 0 else place + len(closing)
                if place < 0 and WORD in text[start:]:
                    message = f"{found.group()} is never ended, so that no mark after it is read"
                    self.page.refuse(start, message, "end it")
            elif found["edge"] == "end" and found["name"] == "document":
                at = len(text)
            elif found["edge"] and found["name"] in _DRAWN:
                self._add(start, end, hidden=True)
                self.drawings = max(0, self.drawings + (1 if found["edge"] == "begin" else -1))
            else:
                if found["defined"]:
                    minted = found["defines"] == "newminted"
                    verbatim.add(f"{found['defined']}code" if minted else found["defined"])
                self._add(start, end, hidden=bool(found["verb"] or found["link"]))
                if found["edge"] == "begin" and found["name"] == "document":
                    self.preamble = False
                    self.hidden.append((0, self.size))
        self._add(at, len(text))
        yield from self._paragraph()

    def _comment(self, found: re.Match[str]) -> int:
        """Add a comment or a block; return where to continue."""
        text, start = self.page.text, found.start()
        end = found.end("comment")
        own_line = not text[text.rfind("\n", 0, start) + 1 : start].strip()
        block = _BLOCK.match(text, start) if own_line else None
        if block is not None:
            lines = [line.span(1) for line in _BLOCK_LINE.finditer(text, *block.span("lines"))]
            lines = lines[: _end_of_block([text[slice(*one)] for one in lines])]
            spans = [(first, last + 1) for first, last in lines[:-1]] + lines[-1:]
            line = text.rfind("\n", 0, start) + 1
            self.pending.append((self.size, KeyBlock(text=self.page.piece(spans), start=line)))
            return lines[-1][1]
        if _GLUES.match(text, start) and not (own_line or text[start - 1] in " \t\\"):
            message = "this mark takes away the space before the next line"
            self.page.refuse(start, message, "write a space before the mark")
        first = start + len(found["comment"]) - len(found["comment"].lstrip("%"))
        shown = self.page.piece([(first, end)])
        comment = Comment(text=shown, start=start, own_line=own_line)
        self.pending.append((self.size, comment))
        return found.end()

    def _paragraph(self) -> Iterator[Comment | KeyBlock]:
        """Return the comments and blocks of a paragraph, and begin the next one."""
        piece = self.page.piece(self.spans)
        # a non-breaking space; several part the statements of a formula
        text = _TIES.sub(lambda ties: ties[0] if ties[0][1:] else " ", piece.text)
        piece = replace(piece, text=text)
        headings = list(_headings(text))
        named = [(end, name) for kind, name, _, end in headings if kind != "title"]
        formulas = list(formulas_in(text))
        for at, one in self.pending:
            if isinstance(one, KeyBlock):
                yield one
                continue
            sections = bisect_right(named, at, key=lambda heading: heading[0])
            before, behind = _before(piece, at)
            start = max((end for *_, end in headings if end <= at), default=0)
            formula, unread = formula_of(piece, formulas, behind)
            if one.own_line:
                formula, unread = None, "nothing stands before this mark on its line"
            yield replace(
                one,
                before=before,
                title=title_of(plain(text[max(start, at - LONGEST_BEFORE) : at])),
                section=named[sections - 1][1] if sections else self.section,
                formula=formula,
                unread=unread,
                after=" " * text[at - 1 : at].isspace() + text[at : at + LONGEST_BEFORE].lstrip(),
            )
        for kind, name, _, _ in headings:
            if kind == "title":
                self.title = self.title or name
            else:
                self.section = name
        if not self.preamble and SHOWS_SOMETHING.search(text):
            unread_spans = [one.span() for one in _NO_PROSE.finditer(text)]
            shown = hide(text, [*unread_spans, *self.hidden])
            for found in NO_MARK.finditer(shown):
                self.page.refuse(piece.at[found.start()], *UNREAD)
            heading = bool(headings) and text.lstrip().startswith("\\")
            self.passages.append(Prose(piece=Piece(shown, piece.at), heading=heading))
        self._begin()


def _end_of_block(lines: Sequence[str]) -> int:
    """How many lines are of a block: a comment that is no key of one begins behind it."""
    outermost = len(lines[0]) - len(lines[0].lstrip())
    for count, line in enumerate(lines[1:], 1):
        key = re.match(r"\s*([^\W\d_][\w-]*)", line)
        if key and key.start(1) <= outermost and nearest(key[1], BLOCK_KEYS) is None:
            return count
    return len(lines)


# ---- paragraphs ----------------------------------------------------------------------------------


_HEADING = re.compile(
    r"\\(?P<kind>title|part|chapter|(?:sub){0,2}section|(?:sub)?paragraph)\*?(?:\[[^\[\]]*\])?\{"
)
_EMPHASIS = re.compile(
    r"\\(?:emph|textbf|textit|textrm|textsf|texttt|textsl|underline|mathbf|mathrm|mathit|text|num|bm"
    r"|boldsymbol|mathbb|hl)[ \t]*\{(?P<inner>[^{}]*)\}\s*\Z"
)
# Commands whose arguments are not shown as text.
_NO_PROSE = re.compile(
    rf"\\(?:(?:begin|end)(?!\{{{FORMULAS}\}})|label|tag|[a-zA-Z]*cite[a-zA-Z]*|[a-zA-Z]*ref|bibliography|bibliographystyle|bibitem|input"
    r"|include|includegraphics|includesvg|usepackage|documentclass|vspace|hspace|setlength|addtolength|setcounter"
    r"|addtocounter|rule|raisebox|resizebox|scalebox|definecolor|color|textcolor|cmidrule|cline|pagestyle"
    r"|thispagestyle|newtheorem|(?:re)?newcommand|hypersetup|geometry|parbox|rowcolor|cellcolor)\*?"
    r"(?:[ \t]*(?:\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}))+|\\\\\[[^\]]{0,50}\]"
)  # fmt: skip


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


def _before(piece: Piece, at: int) -> tuple[Piece, int]:
    """The text before a mark, without white space, emphasis and a full stop at its end.

    A mark extends to the end of its line, so the end of a sentence can only come before it.
    The index of its end in the paragraph comes with it.
    """
    text = piece.text
    first = max(0, at - LONGEST_BEFORE)
    end = first + len(text[first:at].rstrip())
    if text[first:end].endswith((".", ",", ";", ":")):
        end = first + len(text[first : end - 1].rstrip())
    found = _EMPHASIS.search(text, first, end)
    if found is None:
        return Piece(text[first:end], piece.at[first : end + 1]), end
    start, inner = found.start(), slice(*found.span("inner"))
    places = (*piece.at[first:start], *piece.at[inner.start : inner.stop + 1])
    return Piece(text[first:start] + found["inner"], places), inner.stop


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
