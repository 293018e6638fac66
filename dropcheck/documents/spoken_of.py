"""What a mark is about: the figure before it, the formula before it, or its own statement."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from dropcheck.claims.values import WORDS
from dropcheck.claims.yaml_places import Entry, LineColumn, Source
from dropcheck.documents.carrier import Mark, Piece
from dropcheck.documents.figures import Figure, FigureError, goes_on, read_before
from dropcheck.documents.latex import LONGEST, LatexError
from dropcheck.records import record
from dropcheck.results import Written
from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS

ROUNDED = "~="
_RELATION = re.compile(r"(~=|==|<=|>=|<|>)")
_FIGURE = re.compile(r"(?<![\w.\])])_(?![\w(\[])")
_FORMULA = re.compile(
    r"(?<!\\)(\$\$|\$)(?P<one>(?:(?!\1).)+?)\1\Z|\\\((?P<two>.+?)\\\)\Z|\\\[(?P<three>.+?)\\\]\Z",
    re.DOTALL,
)
_VOCABULARY = {*OPERATORS, *FUNCTIONS, *LAWS, *CONSTANTS}
_STATEMENT = "write the statement in it, as in dropcheck: E(y) == x"
_SPACE = "take away the space before the mark"


@record(kw_only=True)
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
    models: Mapping[str, Entry],
    words_of: Callable[[Entry], tuple[set[str], set[str]]],
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
    if _FIGURE.search(stated.text) is None:
        return Spoken(text=_one_line(stated), places=_places(stated, 0), start=stated.start)
    figure, printed = _figure(mark)
    value = _number(figure.digits)
    value = f"({value})" if value.startswith("-") else value
    first = _FIGURE.search(stated.text)
    assert first is not None
    text = _FIGURE.sub(value, _one_line(stated))
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
    if relation == ROUNDED:
        low = f"{_number(figure.digits - figure.unit / 2)} <= "
        high = f" <= {_number(figure.digits + figure.unit / 2)}"
        places = ((0, at), *_places(rest, len(low)), (len(low) + len(body), at))
        text = low + body + high
        return Spoken(
            text=text, places=places, start=at, figure=figure, printed=printed, rounded=True
        )
    value = _number(figure.digits)
    if relation == "==":
        places = (*_places(rest, 0), (len(body), at))
        text = f"{body} == {value}"
        return Spoken(text=text, places=places, start=rest.start, figure=figure, printed=printed)
    head = f"{value} {relation} "
    places = ((0, at), *_places(rest, len(head)))
    text = head + body
    return Spoken(text=text, places=places, start=at, figure=figure, printed=printed)


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
