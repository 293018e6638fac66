"""The places of a claim where an error may be planted: its nodes, with their roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace

from dropcheck.language import syntax
from dropcheck.language.cases import ParsedClaim
from dropcheck.records import record
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.laws import LAWS


@record
class Spot:
    """A node, the statement of its claim, and the role of the node.

    A `side` is a whole side of the statement, a `line` the whole right side of a line with `=`.
    What `counts` is a shape, an index or an option, which must be a whole number. A `law` stands
    right of `~`, with or without its shape, an `exponent` right of `**`. A `term` is a summand of a
    side. `above` is the node that this one is a part of.
    """

    node: syntax.Node
    statement: syntax.Statement
    side: bool = False
    line: bool = False
    counts: bool = False
    law: bool = False
    exponent: bool = False
    above: syntax.Node | None = None
    term: bool = False


@record
class ClaimFacts:
    """The facts about a claim that the mutators use.

    `shares` are the names that stand for probabilities, `whole` the parameters that are whole,
    `numbers` all parameters that are numbers. A constant is changed by the share `step` of itself,
    a term of a side by the number `zero`, and by more where the result is not `far_enough`.
    """

    shares: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    step: float = 0.03
    zero: float = 0.03
    far_enough: Callable[[ParsedClaim], bool] = lambda _: True


Rewrite = Callable[[Spot], Iterable[syntax.Node]]
"""From a node to what may stand in its place by one kind of error."""


def everywhere(claim: ParsedClaim, rewrite: Rewrite) -> Iterator[ParsedClaim]:
    """The claim with one node rewritten, for every node that matters; the statement comes first."""
    statement = claim.statement
    for index, operand in enumerate(statement.operands):
        for side in _rewritten(Spot(operand, statement, side=True), rewrite):
            operands = _replaced(statement.operands, index, side)
            yield replace(claim, statement=replace(statement, operands=operands))
    for model in _models(claim.model, needed_names(claim), statement, rewrite):
        yield replace(claim, model=model)


def _models(
    model: syntax.Model, needed: Set[str], statement: syntax.Statement, rewrite: Rewrite
) -> Iterator[syntax.Model]:
    """A model, or a loop's body, with one node rewritten in a line that is needed."""
    for index, part in enumerate(model):
        if not any(name.name in needed for line in syntax.lines_of((part,)) for name in line.names):
            continue  # only other claims need this line
        if isinstance(part, syntax.Loop):
            for place, number in enumerate(part.over):
                for other in _rewritten(Spot(number, statement, counts=True), rewrite):
                    over = _replaced(part.over, place, other)
                    yield _replaced(model, index, replace(part, over=over))
            for body in _models(part.body, needed, statement, rewrite):
                yield _replaced(model, index, replace(part, body=body))
            continue
        spot = Spot(part.right, statement, line=not part.drawn, law=part.drawn)
        for right in _rewritten(spot, rewrite):
            yield _replaced(model, index, replace(part, right=right))


def _rewritten(spot: Spot, rewrite: Rewrite) -> Iterator[syntax.Node]:
    """The node, with itself or one node below it rewritten."""
    yield from rewrite(spot)
    below = syntax.children(spot.node)
    for index, child in enumerate(below):
        for other in _rewritten(_below(spot, index, child), rewrite):
            yield syntax.rebuilt(spot.node, _replaced(below, index, other))


def _below(spot: Spot, index: int, child: syntax.Node) -> Spot:
    """A child of a node, with its role."""
    node = spot.node
    at_subscript = isinstance(node, syntax.Subscript)
    return Spot(
        node=child,
        statement=spot.statement,
        counts=spot.counts
        or isinstance(node, syntax.Slice)
        or (at_subscript and index > 0)
        or (isinstance(node, syntax.Call) and _asks_whole(node, index)),
        law=spot.law and at_subscript and index == 0,
        exponent=isinstance(node, syntax.Binary) and node.operator == "**" and index == 1,
        above=node,
        term=(spot.side or spot.term) and _adds(node),
    )


def _adds(node: syntax.Node) -> bool:
    """Whether a node is the sum of its parts, each with its sign."""
    return isinstance(node, syntax.Negative) or (
        isinstance(node, syntax.Binary) and node.operator in ("+", "-")
    )


def _asks_whole(call: syntax.Call, index: int) -> bool:
    """Whether an argument must be fixed, or whole."""
    law, function = LAWS.get(call.name), FUNCTIONS.get(call.name)
    if law is not None:
        asked = {parameter.name: parameter.domain.whole for parameter in law.parameters}
    elif function is not None:
        asked = {parameter.name: parameter.option for parameter in function.parameters}
    else:
        return False
    if index >= len(call.arguments):
        return asked.get(call.keywords[index - len(call.arguments)][0], False)
    return list(asked.values())[min(index, len(asked) - 1)] if asked else False


def _replaced(items: tuple, index: int, item: object) -> tuple:  # type: ignore[type-arg]  # any
    return (*items[:index], item, *items[index + 1 :])


def is_number(node: syntax.Node, value: float) -> bool:
    """Whether a node is this number."""
    return isinstance(node, syntax.Number) and node.value == value


def more(node: syntax.Node, by: float) -> syntax.Node:
    """`n + 1` or `n - 1`, computed where n is a number."""
    if isinstance(node, syntax.Number):
        return syntax.Number(node.at, node.value + by)
    return syntax.Binary(node.at, "+" if by > 0 else "-", node, syntax.Number(node.at, abs(by)))


def needed_names(parsed: ParsedClaim) -> set[str]:
    """Every name that the statement or its conditions depend on, also through lines of the model.

    >>> from dropcheck.claims.reader import read_text
    >>> from dropcheck.language.cases import parse_claim
    >>> registry = read_text(
    ...     "{dropcheck: 1, claims: {c: {title: T, claim: E(x) == 0, model: 'x, z ~ f(2, 9)'}}}"
    ... )
    >>> needed_names(parse_claim(registry.claims["c"]))
    {'x'}
    """
    names = set().union(*map(syntax.names_in, (*parsed.statement.operands, *parsed.requires)))
    lines = [
        ({name.name for name in line.names}, syntax.names_in(line.right))
        for line in syntax.lines_of(parsed.model)
    ]
    while True:  # each loop that carries a name through another one takes a further pass
        known = len(names)
        for defined, used in reversed(lines):
            if defined & names:
                names |= used
        if len(names) == known:
            return names
