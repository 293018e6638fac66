"""Formulas in LaTeX as HTML, where their signs are simple; else as they are written.

This is only about how a formula looks; `documents.latex` reads what it claims.
"""

from __future__ import annotations

import re

from dropcheck.report.html import Markup, element, join, text
from dropcheck.vocabulary.latex_words import ACCENT_SIGNS, ACCENTS, GREEK

DEEPEST = 12
LONGEST = 2_000
_TOKEN = re.compile(
    r"(?P<word>\\(?:operatorname|mathrm|mathbb|mathbf|mathds|mathit|mathsf|mathcal|text|mbox)\*?"
    r"(?:\s*\{[\w .,:;'()-]*\}|\s+[A-Za-z1](?![A-Za-z])))"
    r"|(?P<command>\\(?:[A-Za-z]+|.))|(?P<letters>[A-Za-z]+)"
    r"|(?P<held>[\ue000-\uf8ff]+)|(?P<number>[0-9]+(?:\{,\}[0-9]{3})*(?:\.[0-9]+)?)"
    r"|(?P<space>\s+|~)|(?P<sign>.)",
    re.DOTALL,
)
_INNER = re.compile(r"(?:\{|\s)([^{}]*)\}?\Z")


def _pairs(table: str) -> dict[str, str]:
    """Signs and what is shown for them, from a text that has them by turns."""
    words = table.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_BETWEEN = _pairs(
    r"\cdot · \times × \odot ⊙ \circ ∘ \pm ± \le ≤ \leq ≤ \ge ≥ \geq ≥ \lt < \gt > \ne ≠ \neq ≠ "
    r"\approx ≈ \sim ∼ \propto ∝ \mid | \in ∈ \to →"
)
_NAMES = (
    *("max", "min", "exp", "log", "ln", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("Pr", "det", "lim", "sup", "inf", "arg", "gcd"),
)
_UNSEEN = r"\! \left \right \big \Big \bigl \bigr \Bigl \Bigr \limits \displaystyle \textstyle"
_SIGNS = {
    **{rf"\{name}": letter for name, letter in GREEK.items()},
    **_pairs(r"\varepsilon ε \varphi φ \vartheta ϑ \ell ℓ \vert | \lvert | \rvert | \| ‖"),
    **_pairs(
        r"\sum ∑ \prod ∏ \int ∫ \infty ∞ \top ⊤ \ldots … \dots … \cdots ⋯ \partial ∂ \nabla ∇"
    ),
    **{sign: f" {shown} " for sign, shown in _BETWEEN.items()},
    **{rf"\{sign}": sign for sign in (*"{}%$_#&", *_NAMES)},
    **dict.fromkeys((*(rf"\{sign}" for sign in ",;: "), r"\quad", r"\qquad"), " "),
    **dict.fromkeys(_UNSEEN.split(), ""),
}
_RELATIONS = {"=": " = ", "<": " < ", ">": " > ", "+": " + ", "-": " − ", "*": " * "}


class _UnknownError(Exception):
    """The formula has a sign that is not known here."""


def formula_markup(latex: str) -> Markup:
    r"""The markup of a formula, given without its delimiters.

    >>> formula_markup(r"\operatorname{Var}(q \cdot k) = d_k")
    '<span class="formula">Var(<i>q</i> · <i>k</i>) = <i>d</i><sub><i>k</i></sub></span>'
    >>> formula_markup(r"\frac{1}{1-p} \foo")
    '<code class="formula">\\frac{1}{1-p} \\foo</code>'
    """
    try:
        shown = _TokenReader(latex).sequence(0) if len(latex) <= LONGEST else None
    except _UnknownError:
        shown = None
    if shown is None:
        return element("code", " ".join(latex.split()), class_="formula")
    return element("span", Markup(re.sub(r"\s+", " ", join(shown)).strip()), class_="formula")


class _TokenReader:
    """Goes through the tokens of a formula once."""

    def __init__(self, latex: str) -> None:
        self.tokens = [(str(one.lastgroup), one.group()) for one in _TOKEN.finditer(latex)]
        self.at = 0

    def sequence(self, depth: int) -> list[Markup]:
        """The markup up to the closing brace, or to the end of the formula."""
        if depth > DEEPEST:
            raise _UnknownError
        parts: list[Markup] = []
        while self.at < len(self.tokens):
            if self.tokens[self.at][1] == "}":
                if not depth:
                    raise _UnknownError
                return parts
            first = not parts or parts[-1].endswith(("(", "[", " ", "|"))
            if part := self.atom(depth, first=first):
                parts.append(part)
        if depth:
            raise _UnknownError
        return parts

    def atom(self, depth: int, *, first: bool = True) -> Markup:
        """One letter, number, sign or group, or a command with its arguments."""
        if self.at >= len(self.tokens):
            raise _UnknownError
        kind, token = self.tokens[self.at]
        self.at += 1
        match kind:
            case "word":
                inner = _INNER.search(token)
                return text(inner[1] if inner is not None else token)
            case "letters":
                return element("i", token)
            case "number":
                return text(token.replace("{,}", ","))
            case "held":
                return text(token)
            case "space":
                return Markup(" " if token == "~" else "")
        match token:
            case "{":
                inside = join(self.sequence(depth + 1))
                self.at += 1  # the closing brace
                return inside
            case "_" | "^":
                return element("sub" if token == "_" else "sup", Markup(self.group(depth).strip()))
            case r"\frac" | r"\dfrac" | r"\tfrac":
                above, below = self.group(depth), self.group(depth)
                whole = join([_bracketed(above), "/", _bracketed(below)])
                return whole if first and self.alone() else join(["(", whole, ")"])
            case r"\sqrt":
                under = self.group(depth)
                return join(["√", _bracketed(under) if self.alone() else join(["(", under, ")"])])
            case _ if token in ACCENTS:
                letter = _ONE_LETTER.fullmatch(self.group(depth).strip())
                if letter is None:
                    raise _UnknownError
                opened, name, closed = letter.groups()
                return Markup(f"{opened}{name}{ACCENT_SIGNS[ACCENTS[token]]}{closed}")
            case "-" if first:
                return text("−")
            case _ if kind == "sign" and token not in "&}\\":
                return text(_RELATIONS.get(token, token))
            case _ if token in _SIGNS:
                return text(_SIGNS[token])
        raise _UnknownError

    def alone(self) -> bool:
        """Whether the term ends here, so that nothing after it seems to belong to it."""
        self._skip_spaces()
        if self.at >= len(self.tokens):
            return True
        token = self.tokens[self.at][1]
        return token in "})]=<>+-,;|" or _SIGNS.get(token, "").startswith(" ")

    def group(self, depth: int) -> Markup:
        """An argument of a command: a group, one sign, or the first of letters without braces."""
        self._skip_spaces()
        if self.at < len(self.tokens):
            kind, token = self.tokens[self.at]
            if kind in ("letters", "number") and len(token) > 1:
                self.tokens[self.at : self.at + 1] = [(kind, token[0]), (kind, token[1:])]
        return self.atom(depth)

    def _skip_spaces(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "space":
            self.at += 1


_ONE_LETTER = re.compile(r"(<i>|)([A-Za-z\u0370-\u03ff])(</i>|)")
_SIMPLE = re.compile(
    r"(?:<i>[A-Za-z][\u0302-\u0307\u20d7]?</i>|[0-9.,]+|[\u0370-\u03ff][\u0302-\u0307\u20d7]?)"
    r"(?:<su[bp]>[^()]*</su[bp]>)?"
)


def _bracketed(inside: Markup) -> Markup:
    """The markup, in brackets if it is more than one sign."""
    inside = Markup(inside.strip())
    return inside if _SIMPLE.fullmatch(inside) else join(["(", inside, ")"])
