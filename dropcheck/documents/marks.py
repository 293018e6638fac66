"""Marks in documents: what every format yields, where formulas stand, and what a mark claims."""

from __future__ import annotations

import difflib
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from dropcheck.claims.claimsfile import FileKeys
from dropcheck.claims.registry import SourceText
from dropcheck.claims.yaml_places import LineColumn, Problems
from dropcheck.documents.figures import WHOLE, Figure, UnreadError, goes_on, read_before
from dropcheck.documents.latex import LAYOUT, LONGEST, ROW_END
from dropcheck.errors import Location

WORD = "dropcheck"
BLOCK_KEYS = {*FileKeys.model_fields, "parameters", "notation"} - {"dropcheck", "documents"}
LONGEST_BEFORE = 1_000  # characters before a mark that are read
_HEAD = re.compile(r"\s*(?P<word>[\w-]+)(?:[ \t]+#(?P<id>[\w-]+))?[ \t]*(?P<colon>:)?")
_BEHIND_SIGNS = re.compile(
    rf"\s*[^\w\s<>#][^\w<>#]{{0,8}}{WORD}[ \t]*(?:#[\w-]+[ \t]*)?:", re.IGNORECASE
)
MARK = re.compile(rf"<!--\s*{WORD}\b")
"""Matches the beginning of a mark, in formats with HTML comments."""
NO_MARK = re.compile(rf"(?:<!|<?--|%)[\s!–—-]{{0,4}}{WORD}\s*(?:#[\w-]+\s*)?:")
"""Matches what was meant to begin a mark, and is text that a reader sees."""
UNREAD = (
    "a mark does not begin like this, and what is not read claims nothing",
    f"write <!-- {WORD}: … -->, so spelt, with two hyphens, and in LaTeX % {WORD}: …",
)
_LIKE = 0.78  # the similarity to WORD of a word with one letter added, dropped or changed


# ---- text and its places -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of a document, with the index in the document of each of its characters."""

    text: str
    at: Sequence[int]  # one more than the characters: the last is the end

    def part(self, start: int, end: int) -> Piece:
        """The characters from `start` to `end`, without white space around them."""
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return Piece(self.text[start:end], self.at[start : end + 1])

    def replaced(self, pattern: re.Pattern[str], put: str = "") -> Piece:
        """The piece with a text in place of each match of a pattern."""
        kept, last = array("I"), 0
        for found in pattern.finditer(self.text):
            kept.extend(self.at[last : found.start()])
            begin = self.at[found.start()]
            kept.extend(range(begin, begin + len(put)))
            last = found.end()
        kept.extend(self.at[last:])
        return Piece(pattern.sub(lambda _: put, self.text), kept)

    def __add__(self, other: Piece) -> Piece:
        return Piece(self.text + other.text, array("I", [*self.at[:-1], *other.at]))

    @property
    def start(self) -> int:
        """The index where it begins."""
        return self.at[0]

    @property
    def end(self) -> int:
        """The index after its last character."""
        return self.at[-1]


class Page:
    """The text of a document while it is read; its errors are collected in `report`."""

    def __init__(self, report: Problems) -> None:
        self.report = report
        self.source = report.source
        self.text = "\n".join(self.source.lines)
        self.starts = [0, *accumulate(len(line) + 1 for line in self.source.lines)]  # of lines

    def place(self, at: int) -> LineColumn:
        """The line and the column of an index."""
        line = max(0, bisect_right(self.starts, at, hi=len(self.source.lines)) - 1)
        return line, at - self.starts[line]

    def location(self, at: int) -> Location:
        """The location of an index, for messages."""
        return self.source.location(self.place(at))

    def refuse(self, at: int, message: str, hint: str | None = None) -> None:
        """Report an error at an index."""
        self.report.add(self.place(at), message, hint)

    def piece(self, spans: Sequence[tuple[int, int]]) -> Piece:
        """The parts of the text between these indices, one after the other."""
        text = "".join(self.text[start:end] for start, end in spans)
        if len(spans) == 1:
            return Piece(text, range(spans[0][0], spans[0][1] + 1))
        at = array("I")
        for start, end in spans:
            at.extend(range(start, end))
        at.append(spans[-1][1] if spans else 0)
        return Piece(text, at)

    def placed(self, piece: Piece) -> SourceText:
        """A statement on one line that knows where each part of it stands."""
        begins = [
            at for at in range(len(piece.at)) if not at or piece.at[at] - piece.at[at - 1] != 1
        ]
        return SourceText.placed(piece.text, *((at, self.location(piece.at[at])) for at in begins))


# ---- what every format yields --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment in a document."""

    text: Piece  # without its delimiters
    start: int
    before: Piece = Piece("", (0,))  # the text before it in its paragraph
    section: str = ""
    title: str = ""  # the sentence before it
    own_line: bool = False  # whether it begins its line
    formula: Formula | None = None  # the formula that ends before it
    unread: str = ""  # why the text before it is neither a figure nor a formula
    after: str = ""  # some of the text after it and after the comments that follow at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A comment that is a mark, in parts."""

    comment: Comment
    id: str | None
    body: Piece

    def segments(self) -> Iterator[Piece]:
        """The parts of the mark's body between semicolons."""
        start = 0
        for found in re.finditer(r";|\Z", self.body.text):
            part = self.body.part(start, found.start())
            if part.text:
                yield part
            start = found.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyBlock:
    """A block with keys of a claims file."""

    text: Piece
    start: int


SHOWS_SOMETHING = re.compile(r"[0-9$]|\\[(\[b]")
"""Matches a character that a passage with a figure or a formula must contain."""
HIDDEN = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Replaces each character of a passage that is not prose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """A passage as its reader sees it: a paragraph, a heading, or a row of a table.

    Each character that is not prose (comments, code, tags, targets of links) is replaced by
    `HIDDEN`. Formulas are kept as the document writes them, with their delimiters.
    """

    piece: Piece
    heading: bool = False


def hide(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text in which what is not prose is replaced.

    >>> hide("a `b` c", [(2, 5)]).count(HIDDEN)
    3
    """
    shown = list(text)
    for start, end in spans:
        shown[start:end] = HIDDEN * (end - start)
    return "".join(shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A document: its marks and blocks, and its passages, in which figures are counted."""

    title: str
    parts: tuple[Mark | KeyBlock, ...]
    passages: tuple[Prose, ...] = ()  # in order; those without a digit or a formula may be missing


def parts_of(comments: Iterable[Comment | KeyBlock], page: Page) -> tuple[Mark | KeyBlock, ...]:
    """The marks and blocks among comments; a misspelled mark is reported.

    Args:
        comments: in the order of the document; there may be blocks among them.
        page: the document.
    """
    parts: list[Mark | KeyBlock] = []
    for comment in comments:
        if isinstance(comment, KeyBlock):
            parts.append(comment)
            continue
        head = _HEAD.match(comment.text.text)
        word = head["word"] if head is not None else ""
        if head is None or word != WORD:
            _misspelt(comment, word, head, page)
            continue
        if "<!--" in comment.text.text:
            message = "a comment begins before this one is closed"
            page.refuse(comment.start, message, "close it first: -->")
            continue
        rest = comment.text.part(head.end(), len(comment.text.text))
        if comment.own_line and not head["colon"] and "\n" in comment.text.text:
            line = comment.text.text.find("\n", head.end()) + 1
            lines = Piece(comment.text.text[line:], comment.text.at[line:])
            parts.append(KeyBlock(text=lines, start=rest.start))
        elif (not head["colon"] and rest.text) or rest.text.startswith("#"):
            message = f"this mark begins with neither '{WORD}:' nor '{WORD} #id:'"
            page.refuse(comment.start, message, "write one of the two; an id is one word")
        else:
            parts.append(Mark(comment=comment, id=head["id"], body=rest))
    return tuple(parts)


def _misspelt(comment: Comment, word: str, head: re.Match[str] | None, page: Page) -> None:
    like = difflib.SequenceMatcher(None, word.lower(), WORD).ratio() >= _LIKE
    meant = like and head is not None and (head["colon"] or comment.own_line)
    if meant or _BEHIND_SIGNS.match(comment.text.text):
        page.refuse(comment.start, *UNREAD)


LONGEST_TITLE = 100
_UNSEEN = re.compile(rf"<!--.*?-->|\*\*|`|{ROW_END}", re.DOTALL)


def title_of(before: str) -> str:
    r"""A title for a mark: the sentence before it, or the end of a long one.

    >>> title_of("It is so. Then, e.g. here,\n<!-- dropcheck: … --> it rises by **41%**")
    'Then, e.g. here, it rises by 41%'
    """
    words = " ".join(_UNSEEN.sub("", before).split())
    words = re.split(r"[.!?]\s+(?=[A-Z])", words)[-1].rstrip("\\ ")
    return words if len(words) <= LONGEST_TITLE else f"…{words[-LONGEST_TITLE:].partition(' ')[2]}"


# ---- formulas in text ----------------------------------------------------------------------------


_WITH_ARGUMENT = "alignat|IEEEeqnarray"
_MATHS = "equation|align|gather|multline|eqnarray|flalign|displaymath|math|dmath"
_OPENS = re.compile(
    r"(?<!\\)(?:\$\$?|\\\(|\\\[)|\\begin[ \t]*"
    rf"\{{(?P<environment>(?:(?P<argument>{_WITH_ARGUMENT})|{_MATHS})\*?)\}}"
    r"(?(argument)\s*\{[^{}]*\}|)"
)
FORMULAS = rf"(?:{_WITH_ARGUMENT}|{_MATHS})\*?"
"""A regular expression for the names of environments that are formulas."""
_CLOSES = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
# A relation counts only outside of brackets, indices, exponents, words and names.
_ENCLOSED = re.compile(
    r"(?:[_^]|\\(?:text\w*|mbox|label|tag|ref|eqref|begin|end|operatorname|mathrm)\*?)\s*\{[^{}]*\}"
    r"|\\\{[^{}]*\\\}|\{[^{}=<>≤≥≈]*\}|\([^()]*\)|\[[^\[\]]*\]"
)
_RELATES = re.compile(
    r"(?<![:\\])=|[<>≤≥≈]|\\(?:leq?|geq?|leqslant|geqslant|lt|gt|approx|neq?|simeq)(?![A-Za-z])"
)
_DEEPEST = 20  # brackets in brackets
_NOTHING = re.compile(rf"{LAYOUT}|&|{ROW_END}")
# How a row begins that goes on with the statement of the row before: compare `latex.rows_of`.
_CONTINUES = re.compile(
    r"(?:[\s&~]|\\[,;:! ]|\\q?quad(?![A-Za-z]))*"
    r"(?:[-+=<>≤≥]|\\(?:leq?|geq?|lt|gt|approx|neq?|cdot|times)(?![A-Za-z]))"
)
# In an environment of cells, an end of a row does not end a statement.
_CELLS = r"(?:[pbBvV]?matrix|smallmatrix|cases|array|dcases|rcases)\*?\}"
_ROW = re.compile(rf"(?P<row>{ROW_END})|\\(?:(?P<opens>begin)|(?P<closes>end))\{{{_CELLS}|\\.")


@dataclass(frozen=True, slots=True)
class FormulaSpan:
    """A formula in a text: `text[start:end]` includes its delimiters."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    rows: tuple[tuple[int, int], ...]  # those that show something; none of `$…$` and `\(…\)`
    has_relation: bool  # whether it is a statement, like `a = b` and unlike `x^2`


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula that a mark may be about, and as it is printed."""

    inner: Piece
    printed: Piece
    last_row: bool = False  # a mark behind a row is about the relations of this row alone


def formulas_in(text: str) -> Iterator[FormulaSpan]:
    r"""The formulas of a text, in order; the two dollar signs of "$5 and $6" make none.

    >>> text = r"$5 and $6, $x_{i=1}$ and \(a < b\)"
    >>> [text[one.start : one.end] for one in formulas_in(text)]
    ['$x_{i=1}$', '\\(a < b\\)']
    """
    closers: dict[str, int] = {}  # the next place of each delimiter, so that no search is repeated
    at = 0
    while (opened := _OPENS.search(text, at)) is not None:
        close = _CLOSES.get(opened.group()) or f"\\end{{{opened['environment']}}}"
        inner = opened.end()
        if closers.get(close, 0) < inner:
            closers[close] = _next(text, close, inner)
        end = closers[close]
        at = inner
        if end == len(text) or (close[0] == "$" and end - inner > LONGEST):
            continue
        content = text[inner:end]
        behind = end + len(close)
        before = text[max(0, opened.start() - 1) : opened.start()]
        doubtful = close == "$" and (content[:1].isdigit() or before.isalnum() or HIDDEN in content)
        apart = content.strip(f"{HIDDEN} \n") == content and not text[behind : behind + 1].isdigit()
        if not content.strip() or (doubtful and not apart):
            continue
        rows = () if close in ("$", r"\)") else tuple(_rows(text, inner, end))
        yield FormulaSpan(opened.start(), behind, inner, end, rows, has_relation(content))
        at = behind


def _next(text: str, close: str, at: int) -> int:
    """The place of the next closing delimiter that is not escaped; the end if there is none."""
    while (place := text.find(close, at)) >= 0:
        if close[0] != "$" or text[place - 1] != "\\":
            return place
        at = place + 1
    return len(text)


def has_relation(formula: str) -> bool:
    r"""Whether a formula has a relation outside of brackets, indices and words.

    >>> has_relation(r"\operatorname{Var}(q \cdot k) = d_k"), has_relation(r"\sum_{i=1}^n P(x > i)")
    (True, False)
    """
    for _ in range(_DEEPEST):
        outer = _ENCLOSED.sub("", formula)
        if outer == formula:
            break
        formula = outer
    return _RELATES.search(formula) is not None


def formula_of(
    piece: Piece, formulas: Sequence[FormulaSpan], at: int, *, behind: bool = False
) -> tuple[Formula | None, str]:
    """The formula of a mark at an index of a passage, or why the one before it is not read.

    Args:
        piece: the passage.
        formulas: all its formulas.
        at: where the mark stands: behind a formula, or behind a row of one.
        behind: it stands behind a whole formula.
    """
    found = bisect_left(formulas, at, key=lambda one: one.start) - 1
    one = formulas[found] if found >= 0 else None
    if one is None or at > one.end or (at < one.end and (behind or not one.rows)):
        return None, ""
    if not one.rows:
        inner = piece.part(one.inner_start, one.inner_end)
        return Formula(inner, piece.part(one.start, one.end)), ""
    rows, last_row = one.rows, at < one.end
    if last_row:
        last = bisect_left(rows, (at,)) - 1
        last -= last >= 0 and not _shows(piece.text, rows[last][0], at)
        if last < 0:
            return None, ""
        if _shows(piece.text, at, rows[last][1]):
            return None, "the formula continues after this mark: put it at the end of its row"
        first = last
        while first and _CONTINUES.match(piece.text, *rows[first]):
            first -= 1
            if rows[last][1] - rows[first][0] > LONGEST:
                break
        rows = rows[first : last + 1]
    if rows and rows[-1][1] - rows[0][0] > LONGEST:
        return None, f"the formula before this mark is longer than {LONGEST:,} characters"
    whole = piece.part(rows[0][0], rows[-1][1]) if rows else piece.part(one.start, one.start)
    printed = piece.part(one.start, one.end)
    if rows and (last_row or one.inner_start - one.start > len("$$")):
        shown = (piece.part(*rows[-1]) if last_row else whole).replaced(_NOTHING)
        printed = shown.part(0, len(shown.text))
    return Formula(whole, printed, last_row), ""


def _rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the rows of a formula begin and end, except those that show nothing."""
    cells = 0
    ends: list[tuple[int, int]] = []
    for found in _ROW.finditer(text, start, end):
        cells += bool(found["opens"]) - bool(found["closes"])
        if found["row"] and not cells:
            ends.append(found.span())
    for stop, after in (*ends, (end, end)):
        if _shows(text, start, stop):
            yield start, stop
        start = after


def _shows(text: str, start: int, end: int) -> bool:
    """Whether a part of a formula shows anything."""
    return bool(_NOTHING.sub("", text[start:end]).strip(" \n\t.,;"))


# ---- what a mark is about ------------------------------------------------------------------------


ROUNDED = "~="
_RELATION = re.compile(r"(~=|==|<=|>=|<|>)")
_STANDS_FOR_FIGURE = re.compile(r"(?<![\w.\])])_(?![\w(\[])")
_LINE_BREAK = re.compile(r"\s*\n\s*")
_STATEMENT = "write the statement in it, as in dropcheck: E(y) == x"
_BEHIND = "let nothing stand between, in Markdown not even a space"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What a mark claims: a statement, or a formula to be parsed.

    `figure` is the figure that the statement is about. `rounded`: only its rounding is claimed.
    """

    statement: Piece
    is_formula: bool = False
    figure: Figure | None = None
    printed: Piece | None = None  # the figure as printed, or the formula with its delimiters
    rounded: bool = False
    last_row: bool = False  # of a formula with several rows, only the last one
    each_step: bool = False  # or each, in place of the two ends of the chain


def spoken_of(mark: Mark, stated: Piece | None) -> Spoken:
    """What a mark claims, from the beginning of its body.

    Args:
        mark: the mark.
        stated: the beginning of its body, unless that is a key.

    Raises:
        UnreadError: there is nothing before the mark that it can be about. The column is that of
            the wrong text before it, or -1 for the mark itself.
    """
    if stated is None:
        return _of_formula(mark)
    if stated.text[0] in "~≈" and not stated.text.startswith(ROUNDED):
        hint = "write ~= for the rounding of the figure before the mark, == for the number itself"
        raise UnreadError(-1, f"no statement begins with '{stated.text[0]}'", hint)
    relation = _RELATION.match(stated.text)
    line = stated.replaced(_LINE_BREAK, " ")
    if relation is None and _STANDS_FOR_FIGURE.search(line.text) is None:
        return Spoken(statement=line)
    sign = "" if relation is None else relation.group()
    rest = line.part(len(sign), len(line.text))
    if not rest.text:
        raise UnreadError(-1, "nothing stands after the relation", "write == E(y)")
    figure, printed = _figure(mark)
    value, fraction = figure.written, figure.digits is None
    if fraction and sign == ROUNDED:
        raise UnreadError(-1, "a fraction is not rounded", "write ==, or print it in decimals")
    if not sign:
        put = f"({value})" if value.startswith("-") or fraction else value
        statement = rest.replaced(_STANDS_FOR_FIGURE, put)
    elif sign == "==":
        statement = rest + _at(f" == {value}", printed.start)
    else:
        statement = _at(f"{value} {sign} ", printed.start) + rest
    return Spoken(statement=statement, figure=figure, printed=printed, rounded=sign == ROUNDED)


def _at(text: str, start: int) -> Piece:
    """A text that the document does not have, at a place in it."""
    return Piece(text, range(start, start + len(text) + 1))


def _of_formula(mark: Mark) -> Spoken:
    comment, formula = mark.comment, mark.comment.formula
    text = comment.before.text
    if formula is not None and not text[-1:].isspace():
        return Spoken(
            statement=formula.inner,
            is_formula=True,
            printed=formula.printed,
            last_row=formula.last_row,
        )
    if comment.unread:
        raise UnreadError(-1, comment.unread, _STATEMENT)
    try:
        is_figure = read_before(text, len(text)) is not None
    except UnreadError:  # there are several ways to read it
        is_figure = True
    if is_figure:
        message = "this mark does not say what the figure before it is"
        raise UnreadError(-1, message, "write ~= or == and what it is, as in dropcheck: ~= E(y)")
    message = "neither a figure nor a formula stands right before this mark"
    raise UnreadError(-1, message, f"{_BEHIND}, or {_STATEMENT}")


def _figure(mark: Mark) -> tuple[Figure, Piece]:
    """The figure that a mark is about, and its text."""
    comment, piece = mark.comment, mark.comment.before
    text = piece.text
    figure = read_before(text, len(text))
    if figure is None:
        message = comment.unread or "no figure stands right before this mark"
        hint = f"{_BEHIND}, or {WHOLE}"
        if comment.formula is not None:
            hint = f"a formula does: {_STATEMENT}"
        raise UnreadError(-1, message, hint)
    if goes_on(comment.after):
        message = "the figure continues after this mark"
        raise UnreadError(-1, message, f"write the mark after the whole figure, or {WHOLE}")
    return figure, piece.part(figure.start, figure.end)
