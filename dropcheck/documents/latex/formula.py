r"""Reads a formula as statements of the language, or raises an error with a column: no guesses.

The names of the model decide what a formula means: `d_k` is a name if the model has it, and else an
element of d; `qk` is a product if q and k are names and `qk` is not. Elements count from 1 in
formulas and from 0 in the language. `\cdot` between two vectors is their inner product; two vectors
side by side are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from dropcheck.documents.latex.grammar import Reader
from dropcheck.documents.latex.tokens import LatexError
from dropcheck.documents.latex.totals import elementwise, refuse_mixed
from dropcheck.language import syntax
from dropcheck.language.printing import unparse_statement

_PI = re.compile(r"\\pi(?![A-Za-z])(?!\s*_)")
_OWN_PI = re.compile(r"\\pi\s*_\s*(\{[^{}]{1,20}\}|\\?\w+)|(?<=[$(\[])\\pi\s*(=(?!\s*3\.1)|\\in\b)")
_LAST = re.compile(r"(?:[\s.,;$]|\\[,;: ])+\Z")


def statements(
    formula: str, axes: Mapping[str, int], notation: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    r"""The statements of a formula: one for each relation, or one for a range.

    Args:
        formula: LaTeX, with or without the dollars around it.
        axes: the names of the model and its parameters, with their numbers of axes.
        notation: pieces of LaTeX with the expressions that they stand for.

    Raises:
        LatexError: it is outside the subset, or there are several ways to read it.

    >>> statements(r"\operatorname{Var}(q \cdot k) = d_k", {"q": 1, "k": 1, "d_k": 0})
    ('Var(q @ k) == d_k',)
    >>> statements(r"\mathbb{E}[x] = \mu = 1 - p", {"x": 0, "mu": 0, "p": 0})
    ('E(x) == mu', 'mu == 1 - p')
    """
    try:
        return _statements(_LAST.sub("", formula), axes, notation or {})
    except RecursionError:
        raise LatexError(0, "this formula is too deep", "name a part of it in the model") from None


def refuse_doubtful_number(
    formula: str, document: str, axes: Mapping[str, int], notation: Mapping[str, str]
) -> None:
    r"""Refuse a π that may be the number, or a quantity that the document calls so, such as π_i.

    After a digit, as in 2π, it is the number.

    Raises:
        LatexError: the model has no pi, but the document gives π an index or begins a formula by
            π =.

    >>> refuse_doubtful_number(r"\sqrt{2\pi} = 2.5", r"weights $\pi_k$", {}, {})
    >>> refuse_doubtful_number(r"\operatorname{Var}(m) = \pi(1 - \pi)", "", {}, {})
    """
    own = _OWN_PI.search(document)
    if own is None or "pi" in axes or r"\pi" in notation:
        return
    for found in _PI.finditer(formula):
        if not formula[: found.start()].rstrip()[-1:].isdigit():
            raise LatexError(
                found.start(),
                rf"\pi may be the number 3.14159… or the document's own, as in {own[0].strip()!r}",
                r"""call it pi in the model, or say which: notation: {"\\pi": pi}""",
            )


def _statements(
    formula: str, axes: Mapping[str, int], notation: Mapping[str, str]
) -> tuple[str, ...]:
    reader = Reader(formula, axes, notation)
    operands, signs = [reader.sum()], []
    while not reader.done():
        signs.append(reader.relation())
        operands.append(reader.sum())
    if not signs:
        hint = "a mark speaks of the one formula that stands right before it"
        raise LatexError(len(formula), "a statement needs a relation such as = or \\le", hint)
    rising, falling = {"<", "<="}, {">", ">="}
    refuse_mixed(operands, 0, reader.axes)
    operands = [elementwise(one, None, 0, reader.axes, within=True) for one in operands]
    whole = len(signs) == 2 and (set(signs) <= rising or set(signs) <= falling)
    links = [(tuple(signs), tuple(operands))] if whole else [
        ((sign,), pair) for sign, pair in zip(signs, pairwise(operands), strict=True)
    ]  # fmt: skip
    return tuple(unparse_statement(syntax.Statement(reader.here, *link)) for link in links)
