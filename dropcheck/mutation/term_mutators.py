"""Errors in terms: one off, one too many or too few, a sign, a constant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from dropcheck.language.syntax import Binary, Name, Negative, Node, Number
from dropcheck.mutation.places import Facts, Spot, Texts, everywhere, is_number, more

# A constant is changed by a thousand times as much at most, to be told from the true one.
MOST_DOUBLINGS = 10


def one_off(texts: Texts, facts: Facts) -> Iterator[Texts]:
    """`n` → `n + 1` or `n - 1`, for a whole parameter and for a number that counts."""

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Name(name=name) as node if name in facts.whole:
                return (more(node, 1.0), more(node, -1.0))
            case Number(value=value) as node if spot.counts and value == value // 1:
                return (more(node, 1.0), more(node, -1.0)) if value else (more(node, 1.0),)
            case _:
                return ()

    return everywhere(texts, rewrite)


def extra_term(texts: Texts, _: Facts) -> Iterator[Texts]:
    """`a + b` → `a + b + b`; `a - b` → `a - b - b`."""

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Binary(at=at, operator="+" | "-" as operator, right=right) as node:
                return (Binary(at, operator, node, right),)
            case _:
                return ()

    return everywhere(texts, rewrite)


def drop_term(texts: Texts, _: Facts) -> Iterator[Texts]:
    """`a + b` → `a` or `b`; `a - b` → `a`."""

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Binary(operator="+", left=left, right=right):
                return (left, right)
            case Binary(operator="-", left=left):
                return (left,)
            case _:
                return ()

    return everywhere(texts, rewrite)


def sign(texts: Texts, _: Facts) -> Iterator[Texts]:
    """`a + b` → `a - b`, `a - b` → `a + b`, `-a` → `a`; and the last side with a minus."""
    last = texts.statement.operands[-1]

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Binary(at=at, operator="+" | "-" as operator, left=left, right=right):
                found: tuple[Node, ...] = (
                    Binary(at, "-" if operator == "+" else "+", left, right),
                )
            case Negative(operand=operand):
                return (operand,)
            case _:
                found = ()
        if spot.node is last and not is_number(last, 0):
            found = (*found, Negative(last.at, last))
        return found

    return everywhere(texts, rewrite)


def constant(texts: Texts, facts: Facts) -> Iterator[Texts]:
    """A constant changed by three times the resolution.

    That is by a share of itself, and by a share of the claim's scale where it is a term of a side
    or 0 as a whole side. A 0 within becomes 1. The change is doubled until it reaches far enough;
    one that never does is not planted, as it would show the size of the change and not the claim.
    """

    def by_times(times: int, spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Number(at=at, value=value) if not (spot.counts or spot.exponent):
                if spot.term or (spot.side and value == 0):
                    change = facts.zero
                else:
                    change = value * facts.step if value else 1.0
                return (Number(at, float(f"{value + times * change:.12g}")),)
            case _:
                return ()

    sizes = (everywhere(texts, partial(by_times, 2**power)) for power in range(MOST_DOUBLINGS + 1))
    for ever_larger in zip(*sizes, strict=True):
        found = next(filter(facts.far_enough, ever_larger), None)
        if found is not None:
            yield found
