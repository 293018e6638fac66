"""Marks in documents: what every format yields, the figure before a mark, and what it claims.

A figure is read only if there is one way to read it. `2/3`, `3-4`, `1.0.68`, `v1.2` and `1,23` are
refused; a pair of marks can bound the number that is meant.
"""

from __future__ import annotations

import difflib
import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import overload

from dropcheck.claims.values import WORDS
from dropcheck.claims.yaml_places import LineColumn, Node, Problems, Source
from dropcheck.documents.latex import LONGEST, LatexError
from dropcheck.results import Written
from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS

WORD = "dropcheck"
LONGEST_BEFORE = 1_000  # characters before a mark that are read
_HEAD = re.compile(r"\s*(?P<word>/?[\w-]+)(?:[ \t]+#(?P<id>[\w.-]+))?[ \t]*(?P<colon>:)?")
_BEHIND_SIGNS = re.compile(
    rf"\s*[^\w\s<>#][^\w<>#]{{0,8}}/?{WORD}[ \t]*(?:#[\w.-]+[ \t]*)?:", re.IGNORECASE
)
MARK = re.compile(rf"<!--\s*/?{WORD}\b")
"""Matches the beginning of a mark, in formats with HTML comments."""
_LIKE = 0.78  # the similarity to WORD of a word with one letter added, dropped or changed


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """A passage as its reader sees it: a paragraph, a heading, or a row of a table.

    Each character that is not prose (comments, code, tags, targets of links) is replaced by
    `HIDDEN`. Formulas are kept as the document writes them, with their delimiters.
    """

    piece: Piece
    heading: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
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


# ---- the sentence around a mark, which becomes the title of its claim ----------------------------


LONGEST_TITLE = 100
# Abbreviations of papers whose full stop ends no sentence, in lower case.
_WORDS = (
    "al app appx approx ca cf ch chap cor def dr e.g ed eds eq eqn eqs ex fig figs i.e lem no nos "
    "nr p pp prof prop ref refs resp sec sect st tab thm vol vs w.r.t s.t"
)
_SHORT = frozenset(_WORDS.split())
_END = re.compile(r"[.!?][)\]\"'”’*_]*(?:\s+(?=\S)|\Z)")
_LAST_WORD = re.compile(r"[\w.]*\Z")


def sentence_at(before: str, after: str) -> str:
    """The sentence around a place, shortened to the length of a title.

    Args:
        before: the visible text of the paragraph before the place.
        after: the text after it.

    >>> sentence_at("It is so. Then, e.g. in Fig. 3, it rises by 41%", ", they say. No.")
    'Then, e.g. in Fig. 3, it rises by 41%, they say.'
    """
    ends = _ends(before)
    if ends and ends[-1] == len(before):  # the full stop before the place ends this sentence
        ends.pop()
    begun = before[ends[-1] :] if ends else before
    # "… 41%. Then": the full stop may follow the place
    rest = after[: next(iter(_ends(after)), len(after))]
    if before[len(before.rstrip()) - 1 :][:1] in (".", "!", "?") and begun.strip() and _ends(begun):
        rest = ""
    glue = "" if rest[:1] in ".,;:!?)" or rest[:1].isspace() or before[-1:].isspace() else " "
    return shortened(f"{begun}{glue}{rest}")


def shortened(text: str) -> str:
    """A text on one line, at most as long as a title."""
    text = " ".join(text.split())
    if len(text) > LONGEST_TITLE:
        text = text[: LONGEST_TITLE - 1].rpartition(" ")[0] + "…"
    return text


def _ends(text: str) -> list[int]:
    """The indices at which sentences end, after the white space that follows."""
    return [found.end() for found in _END.finditer(text) if not _shortened(text, found)]


def _shortened(text: str, found: re.Match[str]) -> bool:
    """Whether a full stop belongs to an abbreviation such as "Fig."."""
    if text[found.start()] != ".":
        return False
    last = _LAST_WORD.search(text, max(0, found.start() - 20), found.start())
    word = last.group().lower() if last is not None else ""
    return word in _SHORT


# ---- the figure right before a mark --------------------------------------------------------------


PAIR = "mark a number in decimals alone: <!-- dropcheck: … -->0.5<!-- /dropcheck -->"

_SEPARATOR = "write a thousands separator, as in 12,345, or bound it by a pair of marks"

# Ends of emphasis, code and mathematics, which may stand between a figure and its mark.
_CLOSERS = re.compile(r"[*_`$]*\Z")
MINUS = "-\N{MINUS SIGN}"
# Separators of thousands. A plain space is not one: "in 12 345 draws" may be two numbers.
GROUP = r"(?:,|\{,\}|_|'|’|\\,|[\N{NARROW NO-BREAK SPACE}\N{NO-BREAK SPACE}\N{THIN SPACE}])"
_NUMBER = rf"(?:[0-9]{{1,3}}(?:{GROUP}[0-9]{{3}})+|[0-9]+)?(?:\.[0-9]+)?"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
# A bare 10 is read as a power only with a minus sign: otherwise the raised number may be a note's.
_EXPONENT = (
    rf"(?:[eE](?P<e>[{MINUS}+]?[0-9]{{1,3}})"
    r"|(?:(?P<times>\s?(?:×|·|\\times|\\cdot)\s?10)"
    rf"|(?<=10)(?<![0-9.]10)(?=\^\{{?[{MINUS}]|⁻))"
    rf"(?:\^\{{?(?P<power>[{MINUS}]?[0-9]{{1,3}})\}}?"
    r"|(?P<raised>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})))"
)
_PERCENT = r"(?P<percent>(?:\\,|[ \N{NARROW NO-BREAK SPACE}\N{NO-BREAK SPACE}\N{THIN SPACE}])?\\?%)"
FIGURE = rf"(?P<number>{_NUMBER}){_EXPONENT}?{_PERCENT}?"
"""A regular expression for figures; it also matches the empty text."""
_FIGURE = re.compile(rf"{FIGURE}\Z")
_LAST = frozenset("0123456789%⁰¹²³⁴⁵⁶⁷⁸⁹")
# No figure is longer, so a search reads only so many characters.
LONGEST_FIGURE = 80


@dataclass(frozen=True, slots=True)
class FigureError(Exception):
    """Why no figure can be read before a mark; `column` counts from 0 in the text."""

    column: int
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A printed number: `text[start:end]`, including its sign, exponent and percent sign.

    `unit` is the value of the last printed digit: 0.01 for 41%, 0.001 for 0.900.
    """

    value: float
    digits: Decimal  # the exact number
    unit: Decimal
    start: int
    end: int
    percent: bool


def read_before(text: str, end: int) -> Figure | None:
    r"""The figure that ends at `end`, or before the ends of emphasis, code or mathematics there.

    Args:
        text: a passage of a document.
        end: where the mark begins.

    Returns:
        None if the text does not end in a digit or a percent sign.

    Raises:
        FigureError: there may be several ways to read it.

    >>> read_before("raises it by **41%**", 20).unit
    Decimal('0.01')
    >>> read_before(r"$1.20 \times 10^{-3}$", 21).digits
    Decimal('0.00120')
    """
    closed = _CLOSERS.search(text, max(0, end - LONGEST_FIGURE), end)
    stop = closed.start() if closed is not None else end
    last = text[stop - 1] if stop else ""
    if last not in _LAST and last != "}":
        return None
    found = _longest(text, stop)
    if found is None:
        if last == "}":  # it is not the end of $10^{-3}$
            return None
        raise FigureError(stop - 1, "no number stands before this sign", PAIR)
    printed = found["number"]
    start = _beginning(text, found.start(), stop)
    if is_power(found) and _FACTOR.search(seen(text[max(0, start - LONGEST_FIGURE) : start])):
        raise FigureError(start, "what this power multiplies is not read", PAIR)
    whole = re.sub(GROUP, "", printed)
    if re.match(rf"0+{GROUP}", printed):
        raise FigureError(start, f"{printed!r} may have a decimal comma", "write a decimal point")
    if re.match("0[0-9]", whole):
        raise FigureError(start, f"{printed!r} begins with 0, as a code does", PAIR)
    power = found["e"] or found["power"] or (found["raised"] or "").translate(_SUPERSCRIPTS) or "0"
    shift = int(power.replace("\N{MINUS SIGN}", "-")) - (2 if found["percent"] else 0)
    number = Decimal(1 if is_power(found) else whole)
    digits = number.scaleb(shift)
    if text[start] in MINUS:
        digits = -digits
    places = number.as_tuple().exponent
    assert isinstance(places, int)  # the number is finite
    unit = Decimal(1).scaleb(places + shift)
    return Figure(
        value=float(digits),
        digits=digits,
        unit=unit,
        start=start,
        end=stop,
        percent=bool(found["percent"]),
    )


def is_power(found: re.Match[str]) -> bool:
    """Whether a match of FIGURE is a bare power of ten, so that its number is the base, 10."""
    raised = found["power"] or found["raised"]
    return raised is not None and found["times"] is None


# A factor before a power of ten.
_FACTOR = re.compile(r"(?:[0-9)\]}]|times)\s*\Z")
# Characters between a figure and something that it may be a part of.
_BETWEEN = re.compile(r"(?:[\s*_`$]|\\[,;:! ])*\Z")
_TAG = re.compile(r"<(?P<raised>su[bp]\b)?[^<>]*>", re.IGNORECASE)
_BULLET = re.compile(r"(?:\A|\n)[ \t]*[-+*][ \t]+[*_`$]*\Z")
# A figure may begin after one of these: opening brackets, relations, arrows, cells, currency signs.
_RELATIONS = "=<>≈≤≥≃≅∼≲≳≪≫⩽⩾→⇒⟶⟹↑↓"
_BEFORE = frozenset(("", *_RELATIONS, *"([{\"'“‘«|&€£¥₹¢"))
# After white space, it may also follow a word, a number or the end of a sentence.
_BEFORE_SPACES = _BEFORE | frozenset(")]}.,;:!?”’»%—~#\\•…")
# Words and signs that belong to their operand even across a space.
_OPERATION = re.compile(
    r"(?:!=|[0-9]\s?[:x…]|\b(?:minus|negative|sqrt|log|ln|exp|mod)"
    r"|\\(?:times|cdot|sqrt|ln|exp|pm|mp|neq|ne|div|over|bmod|log(?:_(?:\w|\{\w+\}))?))\Z"
)
_SEVERAL_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}\Z")


def _beginning(text: str, start: int, stop: int) -> int:
    """Where a number begins, including its sign.

    Raises:
        FigureError: the text before it may make it a part of something else.
    """
    signed = start > 0 and text[start - 1] in MINUS
    first = start - 1 if signed else start
    written = text[max(0, first - LONGEST_FIGURE) : first]
    before = seen(written)
    if _BULLET.search(before):
        return first
    gap = _BETWEEN.search(before)
    between = gap.group() if gap is not None else ""
    head = before.removesuffix(between)
    last = head[-1:]
    apart = re.search(r"\s", between) is not None
    operation = _OPERATION.search(head) if between else None
    if _SEVERAL_GROUPS.search(head) and between and re.match(r"\d{3}(?!\d)", text[first:stop]):
        raise FigureError(first - 1, "this may be one number or two", _SEPARATOR)
    if operation is not None or re.search(r"\s\*+\s", between):
        last = operation.group() if operation is not None else between.strip()
    elif signed and apart and re.search(r"[0-9)\]]\Z", head):
        raise FigureError(first, "this sign may be that of a difference", PAIR)
    elif apart:
        if last in _BEFORE_SPACES or last.isalnum() or unicodedata.category(last) == "So":
            return first
    else:
        money = between == "$" and last.isalpha() and text[stop : stop + 1] != "$"  # US$5
        if money or last in _BEFORE or _OPENS.search(before):
            return first
    if before == written and not between:
        shown = re.split(r"\s", written[-12:] + text[first:stop])[-1]
        raise FigureError(first - 1, f"{shown!r} may be read in several ways", PAIR)
    at = max(0, first - len(between) - len(last))
    how = "stands before" if apart else "is glued to"
    raise FigureError(at, f"{last!r} {how} this figure", PAIR)


# Directly before a figure: "~" for about; a colon, a comma or a full stop, if it does not follow a
# number or a name, or if emphasis begins after it.
_OPENS = re.compile(r"(?:(?:\A|[\s(])~[*_`$]*|(?<![\w\\])[,:]|[.,:;][*_`$]+)\Z")


def seen(text: str) -> str:
    """A passage without tags and entities, as far as they matter beside a figure.

    >>> seen("10<sup>&minus;"), seen("<b>-</b>")
    ('10^−', '-')
    """
    if "<" in text:
        text = _TAG.sub(lambda tag: "^" if tag["raised"] else "", text)
    return html.unescape(text) if "&" in text else text


_GOES_ON = re.compile(
    r"[*_`$]*(?:[0-9]|[.,:][0-9]|[eE][-+−]?[0-9]|[/⁄^⁰¹²³⁴⁵⁶⁷⁸⁹⁻¼½¾⅓⅔⅛]"
    rf"|(?:{GROUP}|\\[;:! ])[0-9]{{3}}|(?:\\[,;: ]|\s)?(?:\\?%|[‰‱])"
    r"|(?:\\[,;: ]|\s)?(?:[×·⋅]|\\times|\\cdot)(?:\\[,;: ]|\s)?(?:10|\{10))"
)


def goes_on(after: str) -> bool:
    """Whether a figure continues after its mark, as 41 does before a percent sign.

    >>> goes_on("% more"), goes_on("</b>.5"), goes_on(" % more"), goes_on(", 5% more")
    (True, True, True, False)
    """
    return _GOES_ON.match(seen(after)) is not None


def _longest(text: str, stop: int) -> re.Match[str] | None:
    """The longest figure that ends at `stop`."""
    for start in range(max(0, stop - LONGEST_FIGURE), stop):
        found = _FIGURE.match(text, start, stop)
        if found is not None and found["number"]:
            return found
    return None


# ---- what a mark is about ------------------------------------------------------------------------


ROUNDED = "~="
_RELATION = re.compile(r"(~=|==|<=|>=|<|>)")
_STANDS_FOR_FIGURE = re.compile(r"(?<![\w.\])])_(?![\w(\[])")
_FORMULA = re.compile(
    r"(?<!\\)(\$\$|\$)(?P<one>(?:(?!\1).)+?)\1\Z|\\\((?P<two>.+?)\\\)\Z|\\\[(?P<three>.+?)\\\]\Z",
    re.DOTALL,
)
_VOCABULARY = {*OPERATORS, *FUNCTIONS, *LAWS, *CONSTANTS}
_STATEMENT = "write the statement in it, as in dropcheck: E(y) == x"
_SPACE = "take away the space before the mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What a mark claims: a statement with the places of its pieces, or a formula to be parsed.

    `places` are pairs of a column in the statement and the place in the document. `figure` is the
    figure that the statement is about. `rounded`: only its rounding is claimed.
    """

    text: str = ""
    places: tuple[tuple[int, LineColumn], ...] = ()
    start: LineColumn | None = None
    formula: Piece | None = None
    figure: Figure | None = None
    # the figure as printed, or the formula with its delimiters
    printed: Piece | None = None
    rounded: bool = False

    @property
    def prints(self) -> Piece | None:
        """The figure or formula in the document that the claim is about; None if there is none."""
        return self.printed or self.formula

    def words(self, notation: Mapping[str, str], known: set[str]) -> set[str]:
        """The words that may be names: `d_k` if that or `dk` is known, and otherwise d and k.

        Args:
            notation: pieces of the document's notation, and their meanings.
            known: names of the model and parameters.
        """
        if self.formula is None:
            return set(WORDS.findall(self.text))
        said = [self.formula.text.replace("\\", " ")]
        said += [meant for text, meant in notation.items() if text in self.formula.text]
        names: set[str] = set()
        for word in WORDS.findall(" ".join(said)):
            names |= {word, word.replace("_", "")} & known or {word, *word.split("_")}
        return names

    def written(self, source: Source) -> Written:
        """The figure or formula as data that goes with the claim and its results."""
        piece, figure = self.prints, self.figure
        assert piece is not None
        return Written(
            text=piece.text,
            start=source.location(piece.start),
            end=source.location(piece.places[-1]),
            digits=None if figure is None else figure.digits,
            unit=None if figure is None else figure.unit,
            percent=figure is not None and figure.percent,
            rounded=self.rounded,
        )


def _has_colon(text: str) -> bool:
    """Whether a text has a colon outside of brackets, which no statement has."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == ":" and depth <= 0 and text[at + 1 : at + 2] != "=":
            return True
    return False


def of_another_model(
    text: str,
    known: set[str],
    models: Mapping[str, Node],
    words_of: Callable[[Node], tuple[set[str], set[str]]],
) -> tuple[str, str] | None:
    """A message and a hint if a statement uses a name of an earlier model than the last one.

    Args:
        text: the statement.
        known: the names of the last model and its parameters.
        models: all models, in order.
        words_of: gives the words of a model, and the names it defines.
    """
    unknown = sorted(set(WORDS.findall(text)) - known - _VOCABULARY)
    *others, last = models if unknown else [""]
    for name in unknown:
        for model in reversed(others):
            if name in words_of(models[model])[1]:
                message = f"{name!r} is not defined in {last!r}, the last model above this mark"
                return message, f"{model!r} defines it: write 'model: {model}' in the mark"
    return None


def spoken_of(mark: Mark, stated: Piece | None) -> Spoken:
    """What a mark claims, from the beginning of its body.

    Args:
        mark: the mark.
        stated: the beginning of its body, unless that is a key.

    Raises:
        LatexError: there is nothing before the mark that it can be about. The column is that of
            the wrong text before it, or -1 for the mark itself.
    """
    if stated is None:
        return _of_formula(mark)
    if _has_colon(stated.text):
        hint = "';' stands between the parts of a mark: ~= E(y); p: 0.5"
        raise LatexError(-1, "a colon stands in the statement of this mark", hint)
    if stated.text[0] in "~≈" and not stated.text.startswith(ROUNDED):
        hint = "write ~= for the rounding of the figure before the mark, == for the number itself"
        raise LatexError(-1, f"no statement begins with '{stated.text[0]}'", hint)
    relation = _RELATION.match(stated.text)
    if relation is not None:
        rest = stated.part(relation.end(), len(stated.text))
        if not rest.text:
            raise LatexError(-1, "nothing stands after the relation", "write == E(y)")
        return _of_figure(mark, relation.group(), rest)
    if _STANDS_FOR_FIGURE.search(stated.text) is None:
        return Spoken(text=_one_line(stated), places=_places(stated, 0), start=stated.start)
    figure, printed = _figure(mark)
    value = _number(figure.digits)
    value = f"({value})" if value.startswith("-") else value
    first = _STANDS_FOR_FIGURE.search(stated.text)
    assert first is not None
    text = _STANDS_FOR_FIGURE.sub(value, _one_line(stated))
    shifted = _places(stated.part(first.end(), len(stated.text)), first.start() + len(value) + 1)
    places = (*_places(stated.part(0, first.start()), 0), *shifted)
    return Spoken(text=text, places=places, start=stated.start, figure=figure, printed=printed)


def _of_formula(mark: Mark) -> Spoken:
    if mark.pair is not None:
        return Spoken(formula=mark.pair, start=mark.pair.start)
    if mark.formula is not None:
        return Spoken(formula=mark.formula, start=mark.formula.start)
    found = _formula_at_end(mark.before.text)
    if found is None:
        raise _no_formula(mark)
    name = next(one for one in ("one", "two", "three") if found[one] is not None)
    piece = mark.before.part(found.start(name), found.end(name))
    whole = mark.before.part(found.start(), found.end())
    return Spoken(formula=piece, start=piece.start, printed=whole)


def _formula_at_end(text: str) -> re.Match[str] | None:
    """The formula at the end of a text, with its delimiters."""
    first = max(0, len(text) - LONGEST)  # a longer formula is not read, so the search is short
    found = None
    for opening in re.finditer(r"(?<!\\)\$\$?|\\\(|\\\[", text[first:]):
        found = _FORMULA.match(text, first + opening.start()) or found
    return found


def _figure_at_end(text: str) -> bool:
    """Whether a text ends in a figure, even if there are several ways to read it."""
    try:
        return read_before(text, len(text)) is not None
    except FigureError:
        return True


def _no_formula(mark: Mark) -> LatexError:
    """The error for a mark with keys only and no formula before it."""
    text = mark.before.text
    if mark.unread:
        return LatexError(-1, mark.unread, _STATEMENT)
    if _figure_at_end(text):
        message = "this mark does not say what the figure before it is"
        return LatexError(-1, message, "write ~= or == and what it is, as in dropcheck: ~= E(y)")
    shown = text.rstrip()
    near = shown != text and _formula_at_end(shown) is not None
    message = "neither a figure nor a formula stands right before this mark"
    return LatexError(-1, message, _SPACE if near else _STATEMENT)


def _no_figure(mark: Mark) -> LatexError:
    """The error for a mark about a figure with none before it."""
    text = mark.before.text
    message = mark.unread or "no figure stands right before this mark"
    shown = text.rstrip()
    if shown != text and _figure_at_end(shown):
        return LatexError(-1, message, _SPACE)
    if _formula_at_end(shown) is not None:
        return LatexError(-1, message, f"a formula does: {_STATEMENT}")
    return LatexError(-1, message, "let nothing stand between, or bound the figure by two marks")


def _of_figure(mark: Mark, relation: str, rest: Piece) -> Spoken:
    figure, printed = _figure(mark)
    at = printed.start
    body = _one_line(rest)
    value = _number(figure.digits)
    if relation == ROUNDED and figure.digits.as_tuple().exponent != figure.unit.adjusted():
        value = f"{figure.digits.quantize(figure.unit):e}"  # 2.5 million has two digits
    if relation == "==":
        places = (*_places(rest, 0), (len(body), at))
        text = f"{body} == {value}"
        return Spoken(text=text, places=places, start=rest.start, figure=figure, printed=printed)
    head = f"{value} {relation} "
    places = ((0, at), *_places(rest, len(head)))
    return Spoken(
        text=head + body,
        places=places,
        start=at,
        figure=figure,
        printed=printed,
        rounded=relation == ROUNDED,
    )


def _figure(mark: Mark) -> tuple[Figure, Piece]:
    """The figure that a mark is about, and its text with the place of each character."""
    piece = mark.before if mark.pair is None else mark.pair
    text = piece.text
    try:
        figure = read_before(text, len(text))
    except FigureError as error:
        if mark.pair is not None:
            raise LatexError(-1, error.message, "write the number out in decimals") from None
        raise LatexError(error.column, error.message, error.hint) from None
    if mark.pair is None and figure is not None and goes_on(mark.after):
        raise LatexError(
            -1, "the figure continues after this mark", "write the mark after the whole figure"
        )
    if mark.pair is not None and figure is not None and text[: figure.start].strip(" *_`$"):
        raise LatexError(
            -1, "more than a figure stands in this pair", "let the pair contain the figure only"
        )
    if figure is None:
        raise _no_figure(mark)
    return figure, piece.part(figure.start, figure.end)


def _number(digits: Decimal) -> str:
    """A number in the language: all its digits, or with a power of ten if there are many."""
    exponent = digits.adjusted()
    return f"{digits:f}" if -9 <= exponent <= 15 else f"{digits:e}"


def _one_line(piece: Piece) -> str:
    return re.sub(r"\s*\n\s*", " ", piece.text)


def _places(piece: Piece, column: int) -> tuple[tuple[int, LineColumn], ...]:
    """The places of the lines of a piece, by their columns in the text that joins them."""
    places: list[tuple[int, LineColumn]] = []
    at = 0
    for line in re.split(r"\s*\n\s*", piece.text):
        start = piece.text.find(line, at)
        places.append((column, piece.places[start]))
        column += len(line) + 1
        at = start + len(line)
    return tuple(places)
