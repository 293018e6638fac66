"""Errors in what is said: another operator, relation, event or branch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from dropcheck.language.syntax import Binary, Call, Compare, Conditional, Logic, Node
from dropcheck.mutation.places import Facts, Spot, Texts, everywhere, two


def moment(texts: Texts, _: Facts) -> Iterator[Texts]:
    """`Var` for `Std`, and `Std` for `Var`; `var` and `std` of one draw likewise."""
    other = {"Var": "Std", "Std": "Var", "var": "std", "std": "var"}

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Call(name=name) as node if name in other:
                return (dataclasses.replace(node, name=other[name]),)
            case _:
                return ()

    return everywhere(texts, rewrite)


def inequality(texts: Texts, _: Facts) -> Iterator[Texts]:
    """`<` for `>`, and a range moved by its own width."""
    statement = texts.statement
    match statement.operators, statement.operands:
        case ((_, _), (low, quantity, high)):
            yield _within(texts, (high, quantity, _beyond(high, low)))
            yield _within(texts, (_beyond(low, high), quantity, low))
        case ((first,), _) if first != "==":
            turned = dataclasses.replace(statement, operators=(_TURNED[first],))
            yield Texts(texts.model, turned)


def _within(texts: Texts, operands: tuple[Node, ...]) -> Texts:
    return Texts(texts.model, dataclasses.replace(texts.statement, operands=operands))


def _beyond(end: Node, other: Node) -> Node:
    """As far beyond an end of a range as the other end lies on this side of it."""
    return Binary(end.at, "-", Binary(end.at, "*", two(end), end), other)


def event(texts: Texts, _: Facts) -> Iterator[Texts]:
    """A comparison in an event turned round; an alternative, or a condition, left out."""
    return everywhere(texts, _other_events)


def branch(texts: Texts, _: Facts) -> Iterator[Texts]:
    """`a if c else b` → `b if c else a`."""

    def rewrite(spot: Spot) -> Iterable[Node]:
        match spot.node:
            case Conditional(at=at, condition=condition, then=then, otherwise=otherwise):
                return (Conditional(at, condition=condition, then=otherwise, otherwise=then),)
            case _:
                return ()

    return everywhere(texts, rewrite)


_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "!=", "!=": "=="}


def _other_events(spot: Spot) -> Iterable[Node]:
    match spot.node:
        case Compare(operators=(first, *rest)) as node:
            return (dataclasses.replace(node, operators=(_TURNED[first], *rest)),)
        case Logic(operands=operands) as node if len(operands) > 2:
            return tuple(
                dataclasses.replace(node, operands=operands[:index] + operands[index + 1 :])
                for index in range(len(operands))
            )
        case Logic(operands=operands):
            return operands
        case Call(keywords=(("given", _),)) as node:
            return (dataclasses.replace(node, keywords=()),)
        case _:
            return ()
