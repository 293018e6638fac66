"""A position in the tokens of a formula, and the basic steps of reading them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from dropcheck.claims.registry import SourceText
from dropcheck.documents.latex.tokens import LatexError, Token, tokens_of
from dropcheck.language.syntax import Node, Position


class Expressions(ABC):
    """The tokens of a formula, read from left to right; `at` is the index of the next one.

    `axes` has the names of the model with their numbers of axes.
    """

    def __init__(self, formula: str, axes: Mapping[str, int], notation: Mapping[str, str]) -> None:
        self.tokens = tokens_of(formula, notation)
        self.end = len(formula)
        self.at = 0
        self.axes = axes
        self.here = Position(SourceText.plain(formula or " "), 0, 0)
        self.bound: dict[str, Node | None] = {}  # index letters of sums, and their ranges
        self.free: str | None = None  # the index letter that stands for any element
        self.counted: set[str] = set()  # the index letters of sums

    @property
    def token(self) -> Token:
        """The next token; at the end, a token without text."""
        return self.tokens[self.at] if self.at < len(self.tokens) else Token("end", "", self.end)

    def done(self) -> bool:
        """Whether no token is left."""
        return self.at >= len(self.tokens)

    def is_next(self, *texts: str) -> bool:
        """Whether the next token is one of these commands or symbols."""
        return self.token.text in texts and self.token.kind in ("command", "symbol")

    def taken(self, *texts: str) -> bool:
        """Pass the next token if it is one of these; return whether it was."""
        if not self.is_next(*texts):
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        """Pass a required command or symbol.

        Raises:
            LatexError: the next token is another one.
        """
        if not self.taken(text):
            instead = "the formula ends" if self.done() else f"{self.token.text!r} stands"
            raise self.error(f"{instead} where {text!r} is missing")

    def in_brackets(self, start: int, end: int) -> bool:
        """Whether the tokens from `start` to before `end` are enclosed in one pair of brackets."""
        depth = 0
        for at in range(start, end):
            text = self.tokens[at].text
            depth += (text in ("(", "[")) - (text in (")", "]"))
            if depth <= 0:
                return at == end - 1 and at > start
        return False

    def group_end(self) -> int:
        """The index of the brace that closes the group around the next token."""
        depth = 1
        for at in range(self.at, len(self.tokens)):
            depth += {"{": 1, "}": -1}.get(self.tokens[at].text, 0)
            if not depth:
                return at
        return len(self.tokens)

    def peek(self, by: int) -> str:
        """The text of the token that is `by` tokens further on; `by` may be negative."""
        return self.tokens[self.at + by].text if 0 <= self.at + by < len(self.tokens) else ""

    def error(self, message: str, hint: str | None = None, column: int | None = None) -> LatexError:
        """An error at a column, by default at the next token."""
        return LatexError(self.token.column if column is None else column, message, hint)

    # ---- implemented by the grammar ------------------------------------------------------------

    @abstractmethod
    def sum(self) -> Node:
        """Read terms joined by `+` and `-`."""

    @abstractmethod
    def product(self) -> Node:
        """Read factors, with operators between them or side by side."""

    @abstractmethod
    def atom(self) -> Node:
        """Read a number, a name, a call, or an expression in brackets."""

    @abstractmethod
    def argument(self) -> Node:
        """Read a group in braces, one letter or one digit."""

    @abstractmethod
    def call(self, name: str) -> Node:
        """Read the call of a function or an operator, from its bracket on."""
