"""The errors that are planted: what people get wrong in such mathematics, one function a kind.

Each takes the nodes of a claim and yields them with the error in one place, for every place where
it could stand. Whether the result is still a claim is not asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dropcheck.mutation import (
    factor_mutators as factors,
)
from dropcheck.mutation import (
    statement_mutators as statements,
)
from dropcheck.mutation import (
    term_mutators as terms,
)
from dropcheck.mutation.places import Facts, Texts


@dataclass(frozen=True, slots=True)
class Operator:
    """One kind of error: its name, as reports print it, and what plants it."""

    name: str
    plant: Callable[[Texts, Facts], Iterator[Texts]]


OPERATORS: tuple[Operator, ...] = (
    Operator("a factor dropped", factors.drop_factor),
    Operator("a factor 2 too many", factors.double),
    Operator("a constant changed", terms.constant),
    Operator("p for 1 - p", factors.complement),
    Operator("a sign", terms.sign),
    Operator("a square root too many", factors.add_root),
    Operator("a square root dropped", factors.drop_root),
    Operator("Var for Std", statements.moment),
    Operator("one off", terms.one_off),
    Operator("a term too many", terms.extra_term),
    Operator("a term dropped", terms.drop_term),
    Operator("a factor repeated", factors.repeat_factor),
    Operator("another power", factors.exponent),
    Operator("an inequality turned round", statements.inequality),
    Operator("another event", statements.event),
    Operator("branches exchanged", statements.branch),
)
"""Every kind of error, the likeliest first: they take turns until a claim has enough mutants."""
