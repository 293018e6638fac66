r"""Short notations of papers: `\bar{X}`, `\ln n`, `\|x\|_1`, `A^{-1}`."""

from __future__ import annotations

from operator import itemgetter

from dropcheck.documents.latex.cursor import Expressions
from dropcheck.documents.latex.names import unknown
from dropcheck.documents.latex.tokens import FRACTIONS, IN_MARK, NOTATION, Token
from dropcheck.language import syntax
from dropcheck.language.lowering.axes import axes_of
from dropcheck.language.syntax import Binary, Call, Negative, Node, Number
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.latex_words import (
    ACCENTS,
    CALLED,
    ENCLOSING,
    GROUPED,
    INVERSE_NAME,
    LETTERS,
    MEAN_NAME,
    RELATIONS,
)

# Tokens that end an argument without brackets. Before others, such as a power, it may go on.
_CLOSERS = map(itemgetter(0), ENCLOSING.values())
_ENDS = frozenset((*"+-,)]}|", r"\}", r"\rbrace", r"\mid", *RELATIONS, *CALLED, *_CLOSERS))


def accented(reader: Expressions) -> str:
    r"""The name of a letter with an accent: `\bar{X}` is Xbar or X_bar."""
    sign = reader.token
    reader.at += 1
    braced = reader.taken("{")
    letter = reader.token
    text = letter.text.removeprefix("\\")
    if not text.isalpha() or (not braced and letter.kind == "letters" and len(text) > 1):
        raise reader.error(f"{sign.text} stands above one name", rf"write {sign.text}{{x}}")
    reader.at += 1
    if braced:
        reader.expect("}")
    joined = f"{text}_{ACCENTS[sign.text]}", text + ACCENTS[sign.text]
    known = [name for name in joined if name in reader.axes]
    if len(known) > 1:
        message = f"this may be {' or '.join(known)}"
        raise reader.error(message, NOTATION, sign.column)
    if not known:
        raise unknown(sign.column, joined[1], reader.axes)
    return known[0]


def bare_argument(reader: Expressions, name: str) -> Node:
    r"""Read an argument without brackets, `\ln n`: one letter, number, root or fraction."""
    token = reader.token
    refused = reader.error(f"the argument of {name} stands in brackets", f"write {name}(…)")
    lone = {*ACCENTS, *GROUPED, *FRACTIONS, *LETTERS, *(f"\\{one}" for one in reader.axes)}
    short = token.kind == "number" or (token.kind == "letters" and len(token.text) == 1)
    if name not in FUNCTIONS or not FUNCTIONS[name].by_element:
        raise refused
    if not (short or (token.kind == "command" and token.text in lone)):
        raise refused
    node = reader.atom()
    if not (reader.done() or (reader.token.kind != "word" and reader.token.text in _ENDS)):
        raise refused
    return node


def norm_of_order(reader: Expressions, name: str, node: Node) -> Node:
    r"""Read `\|x\|_1` of a vector or `\|A\|_F` of a matrix, from the subscript on."""
    reader.at += 1
    braced = reader.taken("{")
    token, axes = reader.token, axes_of(node, reader.axes)
    if token.text == "F" and token.text not in reader.axes and axes == 2:
        reader.at += 1
        both = tuple(Number(reader.here, axis) for axis in (0, 1))
        keywords: tuple[tuple[str, Node], ...] = (("axis", syntax.ArrayLiteral(reader.here, both)),)
    else:
        if axes != 1 or (not braced and token.kind == "number" and len(token.text) > 1):
            raise reader.error("which norm is meant is not known", IN_MARK)
        order = reader.sum() if braced else reader.atom()
        keywords = () if order == Number(reader.here, 2) else (("ord", order),)
    if braced:
        reader.expect("}")
    return Call(reader.here, name, (node,), keywords)


def refuse_power_of_mean(reader: Expressions, node: Node) -> None:
    """Refuse a power after E(x - m), in round brackets, which may be a power within the mean.

    Papers write E(x - m)^2 for the mean of the square, and E(x)^2 for the square of the mean.

    Raises:
        LatexError: the power may be within the mean.
    """
    match node:
        case Call(name=name, arguments=(Binary(operator="+" | "-"), *_)) if name == MEAN_NAME:
            if reader.peek(-2) == ")":
                raise reader.error("the power may be of the mean or within it",
                                   "write E[(…)^2] or (E[…])^2")  # fmt: skip


def matrix_power(reader: Expressions, node: Node) -> Node:
    """Read the inverse of a matrix; other powers may be powers of its elements."""
    column, power = reader.token.column, reader.argument()
    if power != Negative(reader.here, Number(reader.here, 1)):
        raise reader.error("which power of a matrix is meant is not known", IN_MARK, column)
    return Call(reader.here, INVERSE_NAME, (node,))


def apart_from_transpose(reader: Expressions) -> None:
    """Split the T of `W^TW` from the letters after it, as LaTeX does."""
    token = reader.token
    if token.kind == "letters" and token.text[0] == "T" and len(token.text) > 1:
        parts = (token.text[0], 0), (token.text[1:], 1)
        reader.tokens[reader.at : reader.at + 1] = [
            Token("letters", text, token.column + by) for text, by in parts
        ]
