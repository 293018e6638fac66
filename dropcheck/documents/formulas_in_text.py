r"""Formulas in text: `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and the environments of LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dropcheck.documents.latex import LONGEST
from dropcheck.records import record

_ENVIRONMENTS = "equation|align|gather|multline|eqnarray|math|displaymath|alignat|flalign"
_OPENS = re.compile(
    rf"(?<!\\)(?:\$\$?|\\\(|\\\[)|\\begin\{{(?P<environment>(?:{_ENVIRONMENTS})\*?)\}}"
)
_CLOSERS = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
# A relation counts only outside of brackets, indices, exponents, words and names.
_TOKEN = re.compile(
    r"(?P<hiding>(?:[_^]|\\(?:text\w*|mbox|label|tag|ref|eqref|begin|end|operatorname|mathrm)\*?)"
    r"\s*\{|\\\{|[(\[])"
    r"|(?P<open>\{)|(?P<close>\\?\}|[)\]])"
    r"|(?P<relation>(?<![:\\])=|[<>≤≥≈]"
    r"|\\(?:leq?|geq?|leqslant|geqslant|lt|gt|approx|neq?|simeq)(?![A-Za-z]))"
)


@record
class FormulaSpan:
    """A formula in a text: `text[start:end]` includes its delimiters."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    has_relation: bool  # whether it is a statement, like `a = b` and unlike `x^2`


def formulas_in(text: str) -> Iterator[FormulaSpan]:
    r"""The formulas of a text, in order; the two dollar signs of "$5 and $6" make none.

    >>> text = r"$5 and $6, $x_{i=1}$ and \(a < b\)"
    >>> [text[one.start : one.end] for one in formulas_in(text)]
    ['$x_{i=1}$', '\\(a < b\\)']
    """
    closers: dict[str, int] = {}  # the next place of each delimiter, so that no search is repeated
    at = 0
    while (opened := _OPENS.search(text, at)) is not None:
        close = _CLOSERS.get(opened.group()) or f"\\end{{{opened['environment']}}}"
        inner = opened.end()
        if closers.get(close, 0) < inner:
            closers[close] = _next(text, close, inner)
        end = closers[close]
        at = inner
        if end - inner > LONGEST or end == len(text):
            continue
        content = text[inner:end]
        behind = end + len(close)
        money = close == "$" and content[:1].isdigit()
        if not content.strip() or (
            money and (content[-1].isspace() or text[behind : behind + 1].isdigit())
        ):
            continue
        yield FormulaSpan(
            start=opened.start(),
            end=behind,
            inner_start=inner,
            inner_end=end,
            has_relation=has_relation(content),
        )
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
    hidden: list[bool] = []  # for each open bracket, whether a relation in it does not count
    for found in _TOKEN.finditer(formula):
        match found.lastgroup:
            case "relation" if not any(hidden):
                return True
            case "hiding" | "open" as kind:
                hidden.append(kind == "hiding")
            case "close" if hidden:
                hidden.pop()
    return False
