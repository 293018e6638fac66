"""A place in the tokens of a formula, and what can be read from there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from dropcheck.claims.registry import SourceText
from dropcheck.documents.latex.tokens import LatexError, Token, tokens_of
from dropcheck.language.syntax import Node, Position


class Expressions(ABC):
    """The tokens of a formula, read from left to right; `at` is the number of the next one.

    Expressions are read by the names of a model and their numbers of axes.
    """

    def __init__(self, formula: str, axes: Mapping[str, int], notation: Mapping[str, str]) -> None:
        self.tokens = tokens_of(formula, notation)
        self.end = len(formula)
        self.at = 0
        self.axes = axes
        self.here = Position(SourceText.plain(formula or " "), 0, 0)
        self.bound: dict[str, Node | None] = {}  # letters of sums, with what they go through
        self.free: str | None = None  # the letter that stands for any element
        self.counted: set[str] = set()  # the letters that sums count by

    @property
    def token(self) -> Token:
        """The next token; at the end one without text."""
        return self.tokens[self.at] if self.at < len(self.tokens) else Token("end", "", self.end)

    def done(self) -> bool:
        """Whether no token is left."""
        return self.at >= len(self.tokens)

    def is_next(self, *texts: str) -> bool:
        """Whether the next token is one of these commands or signs."""
        return self.token.text in texts and self.token.kind in ("command", "symbol")

    def taken(self, *texts: str) -> bool:
        """Whether the next token was one of these, and is passed."""
        if not self.is_next(*texts):
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        """Pass a command or a sign that must stand here.

        Raises:
            LatexError: if it does not.
        """
        if not self.taken(text):
            found = "the formula ends" if self.done() else f"{self.token.text!r} stands"
            raise self.error(f"{found} where {text!r} is missing")

    def in_brackets(self, start: int, end: int) -> bool:
        """Whether brackets that open at one token close right before another."""
        depth = 0
        for at in range(start, end):
            text = self.tokens[at].text
            depth += (text in ("(", "[")) - (text in (")", "]"))
            if depth <= 0:
                return at == end - 1 and at > start
        return False

    def group_end(self) -> int:
        """Where a group in braces ends that the next token is in."""
        depth = 1
        for at in range(self.at, len(self.tokens)):
            depth += {"{": 1, "}": -1}.get(self.tokens[at].text, 0)
            if not depth:
                return at
        return len(self.tokens)

    def peek(self, by: int) -> str:
        """The text of a token further on, or behind."""
        return self.tokens[self.at + by].text if 0 <= self.at + by < len(self.tokens) else ""

    def error(self, message: str, hint: str | None = None, column: int | None = None) -> LatexError:
        """An error at a column, by default that of the next token."""
        return LatexError(self.token.column if column is None else column, message, hint)

    # ---- what a grammar adds -----------------------------------------------------------------

    @abstractmethod
    def sum(self) -> Node:
        """Terms with `+` and `-` between."""

    @abstractmethod
    def product(self) -> Node:
        """Factors, with signs or side by side."""

    @abstractmethod
    def atom(self) -> Node:
        """A number, a name, a call, or what stands in brackets."""

    @abstractmethod
    def argument(self) -> Node:
        """A group in braces, one letter or one digit."""

    @abstractmethod
    def call(self, name: str) -> Node:
        """A call of a function or an operator, from its bracket on."""
