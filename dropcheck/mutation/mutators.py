"""The errors that are planted: what people get wrong in such mathematics, a function for each kind.

Each function gives, for every node of a claim, what could stand in its place by this error. Others
check whether the result is still a claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from dropcheck.language import syntax
from dropcheck.language.cases import ParsedClaim
from dropcheck.mutation.places import ClaimFacts, Spot, everywhere, is_number, more
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.elementwise import SQRT
from dropcheck.vocabulary.operators import OPERATORS

# How often the change of a constant is doubled at most, so that it can be seen.
MOST_DOUBLINGS = 10

RewriteByFacts = Callable[[Spot, ClaimFacts], Iterable[syntax.Node]]
Plant = Callable[[ParsedClaim, ClaimFacts], Iterator[ParsedClaim]]
"""From a claim to its mutants by one kind of error, one for each place."""


def _at_each_node(rewrite: RewriteByFacts) -> Plant:
    return lambda claim, facts: everywhere(claim, lambda spot: rewrite(spot, facts))


def _doubled(node: syntax.Node) -> syntax.Node:
    return syntax.Binary(node.at, "*", syntax.Number(node.at, 2.0), node)


# ---- factors -------------------------------------------------------------------------------------


def _factor_dropped(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """`a * b` → `b` or `a`; `a / b` → `a`."""
    match spot.node:
        case syntax.Binary(operator="*", left=left, right=right):
            pairs = ((left, right), (right, left))
            yield from (kept for kept, lost in pairs if not is_number(lost, 1))
        case syntax.Binary(operator="/", left=left, right=right) if not is_number(right, 1):
            yield left


def _factor_2_too_many(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """A side of the statement, or the right side of a line of the model, times 2."""
    if (spot.side or spot.line) and not is_number(spot.node, 0):
        yield _doubled(spot.node)


def _factor_repeated(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """`a * b` → `a * b * b`; `a / b` → `a / b / b`."""
    match spot.node:
        case syntax.Binary(operator="*" | "/" as operator, right=right) as node if not is_number(
            right, 1
        ):
            yield syntax.Binary(node.at, operator, node, right)


def _complement(spot: Spot, facts: ClaimFacts) -> Iterator[syntax.Node]:
    """`p` → `1 - p` for a name that stands for a probability; `1 - p` → `p`."""
    match spot.node, spot.above:
        case syntax.Name(), syntax.Binary(operator="-", left=syntax.Number(value=1.0)):
            return  # the last case gives the same for 1 - p
        case syntax.Name(at=at, name=name) as node, _ if name in facts.shares and not spot.counts:
            yield syntax.Binary(at, "-", syntax.Number(at, 1.0), node)
        case syntax.Binary(operator="-", left=syntax.Number(value=1.0), right=right), _:
            yield right


def _root_too_many(spot: Spot, facts: ClaimFacts) -> Iterator[syntax.Node]:
    """A square root around a parameter, a probability or a side of the statement.

    But not around a side where the other side is 0 or 1, the square roots of themselves.
    """
    node = spot.node
    if spot.counts or spot.exponent:
        return
    named = isinstance(node, syntax.Name) and node.name in facts.numbers | facts.shares
    sides = spot.statement.operands
    own_root = any(is_number(side, value) for side in sides for value in (0, 1))
    if named or (spot.side and not own_root and not isinstance(node, syntax.Name | syntax.Number)):
        yield syntax.Call(node.at, SQRT.name, (node,))


def _root_dropped(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """`sqrt(x)` → `x`."""
    match spot.node:
        case syntax.Call(name=SQRT.name, arguments=(inner,)):
            yield inner


def _another_power(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """`x**n` → `x**(n + 1)` or `x`."""
    match spot.node:
        case syntax.Binary(at=at, operator="**", left=left, right=right):
            yield syntax.Binary(at, "**", left, more(right, 1.0))
            yield left


# ---- terms ---------------------------------------------------------------------------------------


def _one_off(spot: Spot, facts: ClaimFacts) -> Iterator[syntax.Node]:
    """`n` → `n + 1` or `n - 1`, for a whole parameter and for a number that counts."""
    match spot.node:
        case syntax.Name(name=name) as node if name in facts.whole:
            yield more(node, 1.0)
            yield more(node, -1.0)
        case syntax.Number(value=value) as node if spot.counts and value == value // 1:
            yield more(node, 1.0)
            if value:
                yield more(node, -1.0)


def _term_too_many(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """`a + b` → `a + b + b`; `a - b` → `a - b - b`."""
    match spot.node:
        case syntax.Binary(at=at, operator="+" | "-" as operator, right=right) as node:
            yield syntax.Binary(at, operator, node, right)


def _term_dropped(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """`a + b` → `a` or `b`; `a - b` → `a`."""
    match spot.node:
        case syntax.Binary(operator="+" | "-" as operator, left=left, right=right):
            yield left
            if operator == "+":
                yield right


def _sign(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """`a + b` → `a - b`, `a - b` → `a + b`, `-a` → `a`; and a minus before the last side."""
    node = spot.node
    match node:
        case syntax.Binary(at=at, operator="+" | "-" as operator, left=left, right=right):
            yield syntax.Binary(at, "-" if operator == "+" else "+", left, right)
        case syntax.Negative(operand=operand):
            yield operand
            return
    if node is spot.statement.operands[-1] and not is_number(node, 0):
        yield syntax.Negative(node.at, node)


def _constant_changed(claim: ParsedClaim, facts: ClaimFacts) -> Iterator[ParsedClaim]:
    """A constant changed by three times the resolution.

    It is a share of the constant, or of the claim's scale for a term of a side, or for a side that
    is 0. Any other 0 becomes 1. The change is doubled until it can be seen; one that cannot is not
    planted, as it would test the size of the change and not the claim.
    """

    def by_times(times: int, spot: Spot) -> Iterator[syntax.Node]:
        match spot.node:
            case syntax.Number(at=at, value=value) if not (spot.counts or spot.exponent):
                if spot.term or (spot.side and value == 0):
                    change = facts.zero
                else:
                    change = value * facts.step if value else 1.0
                yield syntax.Number(at, float(f"{value + times * change:.12g}"))

    sizes = (everywhere(claim, partial(by_times, 2**power)) for power in range(MOST_DOUBLINGS + 1))
    for ever_larger in zip(*sizes, strict=True):
        large_enough = next(filter(facts.far_enough, ever_larger), None)
        if large_enough is not None:
            yield large_enough


# ---- statements and events -----------------------------------------------------------------------

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "!=", "!=": "=="}
_OTHER_MOMENT = {
    name: word.mistaken_for
    for words in (OPERATORS, FUNCTIONS)
    for name, word in words.items()
    if word.mistaken_for
}


def _other_moment(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """`Var` for `Std`, and `Std` for `Var`; `var` and `std` of one draw likewise."""
    match spot.node:
        case syntax.Call(name=name) as node if name in _OTHER_MOMENT:
            yield replace(node, name=_OTHER_MOMENT[name])


def _inequality_turned(claim: ParsedClaim, _: ClaimFacts) -> Iterator[ParsedClaim]:
    """`<` for `>`, and a range moved by its own width."""
    statement = claim.statement
    match statement.operators, statement.operands:
        case ((_, _), (low, middle, high)):
            for operands in ((high, middle, _beyond(high, low)), (_beyond(low, high), middle, low)):
                yield replace(claim, statement=replace(statement, operands=operands))
        case ((first,), _) if first in _TURNED and first != "==":
            yield replace(claim, statement=replace(statement, operators=(_TURNED[first],)))


def _beyond(end: syntax.Node, other: syntax.Node) -> syntax.Node:
    """The mirror image of the other end of a range beyond this end."""
    return syntax.Binary(end.at, "-", _doubled(end), other)


def _other_event(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """A comparison in an event is turned round; an alternative, or a condition, is left out."""
    match spot.node:
        case syntax.Compare(operators=(first, *rest)) as node:
            yield replace(node, operators=(_TURNED[first], *rest))
        case syntax.Logic(operands=operands) as node if len(operands) > 2:
            for index in range(len(operands)):
                yield replace(node, operands=operands[:index] + operands[index + 1 :])
        case syntax.Logic(operands=operands):
            yield from operands
        case syntax.Member(options=options) as node if len(options) > 1:
            for index in range(len(options)):
                yield replace(node, options=options[:index] + options[index + 1 :])
        case syntax.Call(keywords=(("given", _),)) as node:
            yield replace(node, keywords=())


def _branches_exchanged(spot: Spot, _: ClaimFacts) -> Iterator[syntax.Node]:
    """`a if c else b` → `b if c else a`."""
    match spot.node:
        case syntax.Conditional(at=at, condition=condition, then=then, otherwise=otherwise):
            yield syntax.Conditional(at, condition=condition, then=otherwise, otherwise=then)


MUTATORS: Mapping[str, Plant] = {
    "a factor dropped": _at_each_node(_factor_dropped),
    "a factor 2 too many": _at_each_node(_factor_2_too_many),
    "a constant changed": _constant_changed,
    "p for 1 - p": _at_each_node(_complement),
    "a sign": _at_each_node(_sign),
    "a square root too many": _at_each_node(_root_too_many),
    "a square root dropped": _at_each_node(_root_dropped),
    "Var for Std": _at_each_node(_other_moment),
    "one off": _at_each_node(_one_off),
    "a term too many": _at_each_node(_term_too_many),
    "a term dropped": _at_each_node(_term_dropped),
    "a factor repeated": _at_each_node(_factor_repeated),
    "another power": _at_each_node(_another_power),
    "an inequality turned round": _inequality_turned,
    "another event": _at_each_node(_other_event),
    "branches exchanged": _at_each_node(_branches_exchanged),
}
"""Every kind of error by its name, the likeliest first, as they take turns."""
