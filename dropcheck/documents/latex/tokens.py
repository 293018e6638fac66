"""Cuts a formula into tokens: commands, words, numbers, symbols; and the type of its errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dropcheck.records import record
from dropcheck.vocabulary.latex_words import CALLED, INDICATORS

LONGEST = 5_000  # characters
IN_MARK = "write the statement in the mark"
NOTATION = "name it in 'notation'"
REFUSED = {
    **dict.fromkeys(
        (r"\approx", r"\simeq", r"\lesssim", r"\gtrsim", r"\ll", r"\gg"),
        ("an approximation is no statement", "mark the figure with ~="),
    ),
    r"\propto": ("a proportion is no statement", "write the ratio: \\frac{x}{y} = c"),
    r"\sim": ("laws are not read from LaTeX", f"{IN_MARK}: y ~ normal(0, 1)"),
    r"\pm": ("a figure with an uncertainty is not a statement", "write a range: a \\le x \\le b"),
    r"\to": ("a limit is no statement", "claim a value at a large n"),
    r"\lim": ("a limit is no statement", "claim a value at a large n"),
    r"\int": ("integrals are not read", "write a mean: E(f(u)) of a uniform u"),
    **dict.fromkeys(
        (r"\quad", r"\qquad"),
        ("a formula may hold two statements here", "write a formula with its mark for each"),
    ),
    **dict.fromkeys(
        (r"\dots", r"\ldots", r"\cdots"),
        ("what is left out cannot be read", "write a sum with its range"),
    ),
}
"""Commands that make no statement, with a message and a hint."""
_SPACES = frozenset({"\\,", "\\;", "\\!", "\\:", "\\ ", "~"})
_SIZES = re.compile(r"\\(?:left|right|middle|[bB]igg?[lrm]?)(?![A-Za-z])")
_UPRIGHT = frozenset(
    rf"\{name}"
    for name in [*("operatorname", "mathrm", "mathit", "mathbb", "mathbf", "mathds", "text"),
                 *("mathsf", "boldsymbol", "bm")]
)  # fmt: skip
_TOKEN = re.compile(
    r"(?P<command>\\(?:[A-Za-z]+\*?|.))"
    r"|(?P<number>(?:[0-9]{1,3}(?:\{,\}[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    r"|(?P<letters>[A-Za-z]+)"
    r"|(?P<symbol>[-+*/^_=<>()\[\]{}|!,])"
)
_POWER_OF_TEN = re.compile(r"[eE][-+]?[0-9]")
_WORD = re.compile(
    r"\s*\{\s*(?P<word>[A-Za-z0-9 ,\\_-]*?)\s*\}|\s+(?P<letter>[A-Za-z1])(?![A-Za-z])"
)
FRACTIONS = (r"\frac", r"\tfrac", r"\dfrac")


class LatexError(Exception):
    """Why a formula cannot be read; `column` counts from 0 in the formula."""

    def __init__(self, column: int, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.column, self.message, self.hint = column, message, hint


@record
class Token:
    """One token: a "command", a "word" in braces, "letters", a "number", or a "symbol".

    The kind "given" is a piece that the document's notation names; its `text` is the meaning.
    """

    kind: str
    text: str
    column: int


def tokens_of(formula: str, notation: Mapping[str, str]) -> list[Token]:
    r"""The tokens of a formula, without spaces and sizes of brackets.

    Raises:
        LatexError: a character is outside the subset.

    >>> [token.text for token in tokens_of(r"\operatorname{Var}\left(x\right) = 1{,}000", {})]
    ['Var', '(', 'x', ')', '=', '1000']
    """
    if len(formula) > LONGEST:
        raise LatexError(0, f"this formula is longer than {LONGEST:,} characters")
    return list(_tokens(formula, notation))


def _tokens(formula: str, notation: Mapping[str, str]) -> Iterator[Token]:
    pieces = sorted(notation, key=len, reverse=True)
    at, before = 0, ""
    while at < len(formula):
        piece = next((one for one in pieces if one and formula.startswith(one, at)), None)
        if piece is not None and not _goes_on(formula, at, piece):
            yield Token("given", notation[piece], at)
            at += len(piece)
            continue
        if formula[at].isspace() or formula[at] in "~$":
            at += 1
            continue
        size = _SIZES.match(formula, at)
        found = _TOKEN.match(formula, at)
        if size is not None:
            at = size.end()
            if formula[at : at + 1] == ".":
                raise LatexError(at, "an invisible bracket has no meaning here")
            continue
        if found is None:
            raise LatexError(
                at, f"'{formula[at]}' is not part of what is read", "write it as LaTeX does"
            )
        kind, text, start = str(found.lastgroup), found.group(), at
        at = found.end()
        if text in _SPACES:
            continue
        if text in _UPRIGHT or text == r"\operatorname*":
            word = _WORD.match(formula, at)
            if word is None:
                raise LatexError(
                    at, f"{text} is followed by a word in braces", rf"write {text}{{E}}"
                )
            read = (word["word"] or word["letter"] or "").replace(r"\_", "_")
            kind, at = "word", word.end()
            for command in (f"{text}{{{read}}}", rf"\operatorname{{{read}}}"):
                if command in CALLED or command in INDICATORS:
                    kind, read = "command", command
            kind, text = ("command" if read.startswith("\\") else kind), read
        if kind == "number" and _POWER_OF_TEN.match(formula, at):
            message = f"{text}e… may be a power of ten or a product with e"
            raise LatexError(start, message, r"write 2 \cdot 10^{-3}")
        if before in FRACTIONS and kind == "number" and len(text) == 2 and text.isdigit():
            yield Token(kind, text[0], start)  # LaTeX takes one digit each: \frac12 is a half
            text, start = text[1], start + 1
        before = text.replace("{,}", "")
        yield Token(kind, before, start)


def _goes_on(formula: str, at: int, piece: str) -> bool:
    """Whether a piece that begins or ends in a letter is only a part of a longer word."""
    following = formula[at + len(piece) : at + len(piece) + 1]
    before = formula[at - 1 : at] if at else ""
    return (piece[-1].isalpha() and following.isalpha()) or (
        piece[0].isalpha() and (before.isalpha() or before == "\\")
    )
