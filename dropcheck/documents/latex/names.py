"""Cuts letters into names, and reads subscripts of names."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from dropcheck.claims.registry import SourceText
from dropcheck.documents.latex.cursor import Expressions
from dropcheck.documents.latex.tokens import NOTATION, LatexError, Token
from dropcheck.errors import DropcheckError
from dropcheck.language import syntax
from dropcheck.language.parser import parse_expression
from dropcheck.language.suggestions import name_hint, slip_of
from dropcheck.language.syntax import Node
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.latex_words import CALLED, GREEK, LETTERS
from dropcheck.vocabulary.operators import OPERATORS, hint_for


def unknown(column: int, name: str, names: Collection[str]) -> LatexError:
    """The error for an unknown name, with a hint at what may be meant."""
    head, below, _ = name.partition("_")
    if below and (head in OPERATORS or (head in FUNCTIONS and head not in GREEK)):
        every = "all draws" if head in OPERATORS else "all elements"
        hint = f"leave it out where it means {every}: {head}(…)"
        return LatexError(column, f"what stands below {head} is not read", hint)
    if name == "I":
        return LatexError(column, "the order of this matrix is not known", "write I_n")
    near = name_hint(name, list(names)) or hint_for(name) or slip_of(name, [*OPERATORS, *FUNCTIONS])
    own = ", ".join(sorted(set(names).difference(LETTERS.values())))
    return LatexError(column, f"{name!r} is no name of the model", near or f"its names: {own}")


def is_event(node: Node | None) -> bool:
    """Whether an expression is a condition."""
    return isinstance(node, syntax.Compare | syntax.Logic | syntax.Not | syntax.Member)


def indicator(reader: Expressions) -> Node:
    """Read the event of an indicator in its brackets; its value is 1 if it holds, and else 0."""
    column = reader.token.column
    node = reader.atom() if reader.is_next("(", "[", "\\{", "\\lbrace") else None
    if node is None or not is_event(node):
        raise reader.error("an indicator is of an event", "write \\mathbb{1}(x > 0)", column)
    return node


def unread(token: Token, names: Collection[str]) -> LatexError:
    """The error for a command or a symbol that is not read."""
    name = token.text.removeprefix("\\")
    if name in GREEK:
        return unknown(token.column, name, names)
    known = [one for one in names if len(one) > 1]
    hint = name_hint(name, known) if token.kind == "command" else None
    message = f"'{token.text}' is not part of what is read"
    return LatexError(token.column, message, hint or NOTATION)


def cut(token: Token, names: Collection[str], *, subscripted: bool) -> list[str]:
    """Letters cut into names; with `subscripted`, the last one may begin a name such as d_k.

    Raises:
        LatexError: there is no way to cut them, or more than one.
    """
    text = token.text

    @cache
    def ways(start: int) -> tuple[tuple[str, ...], ...]:
        if start == len(text):
            return ((),)
        cuts: list[tuple[str, ...]] = []
        for end in range(start + 1, len(text) + 1):
            part = text[start:end]
            if part in names or (subscripted and start == len(text) - 1):
                cuts += [(part, *rest) for rest in ways(end)]
        return tuple(cuts[:2])

    if len(text) > 40:  # the recursion is as deep as the text is long
        raise LatexError(token.column, f"{text[:12]}… is no name of the model")
    found = ways(0)
    if len(found) == 1:
        return list(found[0])
    if not found:
        raise unknown(token.column, text, names)
    shown = " or ".join(" ".join(way) for way in found)
    raise LatexError(
        token.column, f"{text!r} may be {shown}", rf"write \mathit{{{text}}}, or spaces"
    )


def words_below(reader: Expressions) -> list[str]:
    """The words and numbers of a subscript, which is passed; empty if it has anything else."""
    parts: list[str] = []
    braced = reader.taken("{")
    while True:
        token = reader.token
        if not braced and token.kind in ("letters", "number") and len(token.text) > 1:
            message = f"LaTeX takes {token.text[0]!r} of {token.text!r} alone"
            raise reader.error(message, "write braces")
        if token.kind in ("letters", "number", "word"):
            parts += token.text.replace(",", " ").split()
            reader.at += 1
        elif token.kind == "command" and token.text[1:].isalpha():
            parts.append(token.text[1:])
            reader.at += 1
        elif not (braced and reader.taken(",")):
            break
        if not braced:
            return parts
    return parts if not braced or reader.taken("}") else []


def refuse_superscript(reader: Expressions) -> None:
    """Refuse a superscript that may not be a power; the reader is after the `^`.

    Raises:
        LatexError: it is in brackets, like the number of a sample, or has a superscript itself.
    """
    if reader.is_next("{"):
        reader.at += 1
        start, end = reader.at, reader.group_end()
        reader.at -= 1
        if reader.in_brackets(start, end):
            raise reader.error("the brackets here may hold a power or the number of a sample",
                               "leave the brackets out if it is a power")  # fmt: skip
        end += 1
    else:
        end = reader.at + 1
    if end < len(reader.tokens) and reader.tokens[end].text == "^":
        column = reader.tokens[end].column
        raise reader.error("two powers stand one after the other", "write braces", column)


def refuse_more(reader: Expressions) -> None:
    """Refuse an argument without braces of which LaTeX would take only the beginning.

    Raises:
        LatexError: the next token is only a part of the argument.
    """
    token = reader.token
    if token.kind in ("number", "letters") and len(token.text) > 1:
        message = f"LaTeX takes {token.text[0]!r} of {token.text!r} alone"
        raise reader.error(message, "write braces")
    word = token.text.removeprefix("\\")
    called = token.text in CALLED or word in OPERATORS or word in FUNCTIONS
    if reader.peek(1) in ("_", "^") or (called and word not in reader.axes):
        raise reader.error(f"LaTeX takes {token.text!r} alone", "write braces")


def notated(token: Token) -> Node:
    """The expression that a piece of notation stands for.

    Raises:
        LatexError: it cannot be read.
    """
    try:
        return parse_expression(SourceText.plain(token.text))
    except DropcheckError as error:
        problem = error.problems[0]
        raise LatexError(
            token.column, f"notation {token.text!r}: {problem.message}", problem.hint
        ) from None
