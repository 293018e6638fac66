"""Errors in factors: dropped, doubled or repeated, p for 1 - p, roots and powers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dropcheck.language.syntax import Binary, Call, Name, Node, Number
from dropcheck.mutation.places import Facts, Spot, Texts, everywhere, is_number, more, two


def drop_factor(texts: Texts, _: Facts) -> Iterator[Texts]:
    """`a * b` → `b` or `a`; `a / b` → `a`."""

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Binary(operator="*", left=left, right=right):
                return tuple(
                    kept for kept, lost in ((left, right), (right, left)) if not is_number(lost, 1)
                )
            case Binary(operator="/", left=left, right=right) if not is_number(right, 1):
                return (left,)
            case _:
                return ()

    return everywhere(texts, rewrite)


def double(texts: Texts, _: Facts) -> Iterator[Texts]:
    """A side of the statement, or what a line of the model names, times 2."""

    def rewrite(spot: Spot) -> Iterable[Node]:
        node = spot.node
        apt = (spot.side or spot.line) and not is_number(node, 0)
        return (Binary(node.at, "*", two(node), node),) if apt else ()

    return everywhere(texts, rewrite)


def repeat_factor(texts: Texts, _: Facts) -> Iterator[Texts]:
    """`a * b` → `a * b * b`; `a / b` → `a / b / b`."""

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Binary(operator="*" | "/" as operator, right=right) as node if not is_number(
                right, 1
            ):
                return (Binary(node.at, operator, node, right),)
            case _:
                return ()

    return everywhere(texts, rewrite)


def complement(texts: Texts, facts: Facts) -> Iterator[Texts]:
    """`p` → `1 - p` for a name that stands for a probability; `1 - p` → `p`."""

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node, spot.above:
            case Name(), Binary(operator="-", left=Number(value=1.0)):
                return ()  # 1 - (1 - p) is what the next case makes of 1 - p
            case Name(at=at, name=name) as node, _ if name in facts.shares and not spot.counts:
                return (Binary(at, "-", Number(at, 1.0), node),)
            case Binary(operator="-", left=Number(value=1.0), right=right), _:
                return (right,)
            case _:
                return ()

    return everywhere(texts, rewrite)


def add_root(texts: Texts, facts: Facts) -> Iterator[Texts]:
    """A square root around a parameter, a probability or a side of the statement.

    Not around one side where the other is 0 or 1, which is its own root.
    """
    own_root = any(is_number(side, value) for side in texts.statement.operands for value in (0, 1))

    def rewrite(spot: Spot) -> Iterable[Node]:
        node = spot.node
        if spot.counts or spot.exponent:
            return ()
        named = isinstance(node, Name) and node.name in facts.numbers | facts.shares
        compound = spot.side and not own_root and not isinstance(node, Name | Number)
        return (Call(node.at, "sqrt", (node,)),) if named or compound else ()

    return everywhere(texts, rewrite)


def drop_root(texts: Texts, _: Facts) -> Iterator[Texts]:
    """`sqrt(x)` → `x`."""

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Call(name="sqrt", arguments=(inner,)):
                return (inner,)
            case _:
                return ()

    return everywhere(texts, rewrite)


def exponent(texts: Texts, _: Facts) -> Iterator[Texts]:
    """`x**n` → `x**(n + 1)` or `x`."""

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Binary(at=at, operator="**", left=left, right=right):
                return (Binary(at, "**", left, more(right, 1.0)), left)
            case _:
                return ()

    return everywhere(texts, rewrite)
