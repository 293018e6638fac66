"""The lines of a model and the statements of a claim, which no sign or function stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dropcheck.language.syntax import ROUNDED
from dropcheck.vocabulary.function import EVALUATED, GRAD
from dropcheck.vocabulary.operators import FOLLOWS, INDEPENDENT, OVER_KEY, SIGNATURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Something that an author writes: how, what it says, and an example by the keys of a claim."""

    name: str
    written: str
    summary: str
    example: Mapping[str, str] = field(default_factory=dict)


def _form(name: str, written: str, summary: str, claim: str = "", model: str = "") -> Form:
    example = {label: text for label, text in (("model", model), ("claim", claim)) if text}
    return Form(name=name, written=written, summary=summary, example=example)


_DRAWN = "x ~ exponential(2)"
_PAIR = "x, y ~ normal(0, 1)"

LINES = (
    _form(
        FOLLOWS, f"x {FOLLOWS} law",
        "draws; brackets after the law are the shape of one draw, and x, y ~ law draws twice",
        model="x, y ~ normal(0, 1)[2, 3]",
    ),
    _form("=", "y = expression", "computes, from names above", model=f"{_DRAWN}\ny = x**2 + 1"),
    _form(
        "for", "for t in range(T):", "a loop: the indented lines below it, for t from 0 to T - 1",
        model="w = 0\nfor t in range(10):\n    z ~ normal(0, 1)\n    w = w / 2 + z",
    ),
    _form(
        "slot", "slot(x)", "a call of a slot: of the code under test, or of its mathematics",
        model="y = dropout(2, 0.5)",
    ),
    _form(
        EVALUATED, f"slot{EVALUATED}(x)", "the result of a slot in evaluation, not in training",
        model=f"y = dropout{EVALUATED}(2, 0.5)",
    ),
    _form(
        GRAD, f"{GRAD}(slot)(x)",
        "the gradient of the sum of a slot's results by its first argument, with the same draws",
        model=f"y = {GRAD}(dropout)(2, 0.5)",
    ),
)  # fmt: skip
"""The lines of a model, and how they call a slot."""

STATEMENTS = (
    _form("==", "L == R", "both sides are equal", "E(x) == 2", _DRAWN),
    _form(
        ROUNDED, f"L {ROUNDED} R", "both sides are equal, to the digits in which one is printed",
        f"P(x > 2) {ROUNDED} 0.37", _DRAWN,
    ),
    _form("<=", "L <= R", "L is at most R; < > >= likewise", "P(x > 2) < 0.5", _DRAWN),
    _form("range", "a <= L <= b", "L lies between two ends", "0.36 <= P(x > 2) <= 0.37", _DRAWN),
    _form(
        "in", "y in {a, b}", "every element of every draw is one of these values",
        "x * y in {-1, 1}", "x, y ~ rademacher()[4]",
    ),
    _form(
        "given", "E(u, given=event)", "any operator, over the draws in which an event happens",
        "E(x, given=x > 2) == 4", _DRAWN,
    ),
)  # fmt: skip
"""Statements about the law of a quantity, by operators."""

ABOUT_LAWS = (
    _form(
        FOLLOWS, f"y {FOLLOWS} law", "each entry of y has this law, whose arguments are fixed",
        f"x + y {FOLLOWS} normal(0, sqrt(2))", _PAIR,
    ),
    _form(
        FOLLOWS, f"x {FOLLOWS} y",
        "each entry of x has the law of the same entry of y; they may depend on each other",
        f"x + y {FOLLOWS} x - y", _PAIR,
    ),
    _form(
        INDEPENDENT, SIGNATURE,
        "the quantities do not depend on each other; there may be more than two",
        f"{INDEPENDENT}(x + y, x - y)", _PAIR,
    ),
    _form(
        INDEPENDENT, f"{INDEPENDENT}(u, {OVER_KEY}=[0])",
        "entries of u that differ in their place along axis 0 do not depend on each other",
        f"{INDEPENDENT}(x, {OVER_KEY}=[0])", "x ~ normal(0, 1)[3, 2]",
    ),
)  # fmt: skip
"""Statements about whole laws."""
