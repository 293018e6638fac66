"""What a mark speaks of: the figure before it, the formula before it, or a statement of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from dropcheck.claims.nodes import Entry
from dropcheck.claims.source import LineColumn, Source
from dropcheck.claims.values import WORDS
from dropcheck.documents.carrier import Mark, Piece
from dropcheck.documents.figures import Figure, FigureError, goes_on, read_before
from dropcheck.documents.latex.tokens import LatexError
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
# A formula is no longer, so that the search for its beginning is short.
_LONGEST_FORMULA = 5_000


@record(kw_only=True)
class Spoken:
    """What a mark claims: a statement with the places of its pieces, or a formula to be read.

    `places` are (column of the statement, its place in the document). `figure` is the figure that
    the statement is about, at `printed`, and `rounded` whether only its rounding is claimed.
    """

    text: str = ""
    places: tuple[tuple[int, LineColumn], ...] = ()
    start: LineColumn | None = None
    formula: Piece | None = None
    figure: Figure | None = None
    # the figure as it is printed, or the formula with what opens and closes it
    printed: Piece | None = None
    rounded: bool = False

    @property
    def prints(self) -> Piece | None:
        """The figure or formula of the document that the claim is about, if it is about one."""
        return self.printed or self.formula

    def words(self, notation: Mapping[str, str], known: set[str]) -> set[str]:
        """What may be names in it: `d_k` is a name where that or `dk` is known, else d and k.

        Args:
            notation: what is written in the document's own way, and what it stands for.
            known: names of the model and parameters.
        """
        if self.formula is None:
            return set(WORDS.findall(self.text))
        said = [self.formula.text.replace("\\", " ")]
        said += [meant for text, meant in notation.items() if text in self.formula.text]
        found: set[str] = set()
        for word in WORDS.findall(" ".join(said)):
            found |= {word, word.replace("_", "")} & known or {word, *word.split("_")}
        return found

    def written(self, source: Source) -> Written:
        """What the document prints, as data that goes with the claim and its results."""
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
    """Whether a colon stands outside brackets, which no statement has."""
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
    """The message and hint where a statement is of another model than the last one above it.

    Args:
        text: the statement.
        known: names of the last model and parameters.
        models: all models, in order.
        words_of: words of a model, and names it defines; asked only where a name is not known.
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
    """What a mark claims.

    Args:
        mark: the mark.
        stated: what its body begins with, if that is no key.

    Raises:
        LatexError: nothing stands before the mark that it could speak of; the column is that of
            what is refused in the text before it, and -1 is the mark itself.
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
    """The formula that a text ends in, with what opens and closes it."""
    first = max(0, len(text) - _LONGEST_FORMULA)
    found = None
    for opening in re.finditer(r"(?<!\\)\$\$?|\\\(|\\\[", text[first:]):
        found = _FORMULA.match(text, first + opening.start()) or found
    return found


def _figure_at_end(text: str) -> bool:
    """Whether a text ends in a figure, be it one that may be read in several ways."""
    try:
        return read_before(text, len(text)) is not None
    except FigureError:
        return True


def _no_formula(mark: Mark) -> LatexError:
    """Why a mark that says no more than its keys has nothing to speak of."""
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
    """Why a mark that speaks of a figure has none."""
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
    """The figure that a mark speaks of, and its text with the place of each character."""
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
            -1, "the figure goes on behind this mark", "write the mark behind all of it"
        )
    if mark.pair is not None and figure is not None and text[: figure.start].strip(" *_`$"):
        raise LatexError(-1, "more than a figure stands in this pair", "bound the figure alone")
    if figure is None:
        raise _no_figure(mark)
    return figure, piece.part(figure.start, figure.end)


def _number(digits: Decimal) -> str:
    """A number of the language: all its digits, or a power of ten where these are many."""
    exponent = digits.adjusted()
    return f"{digits:f}" if -9 <= exponent <= 15 else f"{digits:e}"


def _one_line(piece: Piece) -> str:
    return re.sub(r"\s*\n\s*", " ", piece.text)


def _places(piece: Piece, column: int) -> tuple[tuple[int, LineColumn], ...]:
    """Where the lines of a piece stand, in a text in which they follow each other."""
    found: list[tuple[int, LineColumn]] = []
    at = 0
    for line in re.split(r"\s*\n\s*", piece.text):
        start = piece.text.find(line, at)
        found.append((column, piece.places[start]))
        column += len(line) + 1
        at = start + len(line)
    return tuple(found)
