"""The errors that are planted: what people get wrong in such mathematics, a function for each kind.

Each function gives, for every node of a claim, what could stand in its place by this error. Others
check whether the result is still a claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import partial

from dropcheck.claims.registry import Case, Claim
from dropcheck.errors import DropcheckError
from dropcheck.language import syntax
from dropcheck.language.compile import CaseGraphs, LoweredCase, ParsedClaim, parse_claim
from dropcheck.language.graph import Kind, LawClaim, Plain, Value
from dropcheck.language.syntax import Model, Statement
from dropcheck.results import ParameterValue
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.elementwise import SQRT
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS

# ---- places --------------------------------------------------------------------------------------
#
# The places of a claim where an error may be planted: its nodes, with their roles.


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
    >>> from dropcheck.language.compile import parse_claim
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


# ---- mutators ------------------------------------------------------------------------------------


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


# ---- readings ------------------------------------------------------------------------------------
#
# A claim and its mutants at the claim's cases, as far as arithmetic compares them.


# The relative rounding of a change that has exactly the size that is needed.
ROUNDED_CHANGE = 1e-9
# Two known numbers are the same to within this share of the larger: rounding in another order.
READING_ROUNDING = 1e-12
# Bytes that the graphs of one mutant may hold: there may be a hundred mutants at a time.
MOST_KEPT_OF_A_MUTANT = 2**22


_Text = tuple[Model, Statement]
"""The parts in which a claim and its mutants differ."""


@dataclass(frozen=True, slots=True)
class Readings:
    """The graphs of one claim and of its mutants: each is parsed once, and each case lowered once.

    Attributes:
        parsed: the claim.
        cases: the cases at which a mutant is compared with it, in order.
        graphs: the graphs of the claim itself, which are kept.
    """

    parsed: ParsedClaim
    cases: tuple[Case, ...]
    graphs: CaseGraphs = field(default_factory=lambda: CaseGraphs(forget=False))
    _mutants: dict[_Text, CaseGraphs] = field(default_factory=dict)
    _parsed: dict[str, ParsedClaim] = field(default_factory=dict)  # mutants by their texts
    _refused: dict[tuple[_Text, str], DropcheckError] = field(default_factory=dict)

    def mutant(self, claim: Claim) -> ParsedClaim:
        """A mutant, parsed.

        Raises:
            DropcheckError: its texts cannot be read.
        """
        key = f"{claim.statement.text}\0{'' if claim.model is None else claim.model.text}"
        if key not in self._parsed:
            self._parsed[key] = parse_claim(claim)
            self.graphs_of(self._parsed[key]).put(self._parsed[key])
        return self._parsed[key]

    def graphs_of(self, parsed: ParsedClaim) -> CaseGraphs:
        """The graphs of the claim itself, or of one of its mutants."""
        text = _text(parsed)
        if text == _text(self.parsed):
            return self.graphs
        if text not in self._mutants:
            keep = min(self.graphs.keep, MOST_KEPT_OF_A_MUTANT)
            self._mutants[text] = CaseGraphs(self.graphs.memory, keep, forget=False)
            self._mutants[text].put(parsed)
        return self._mutants[text]

    def forget(self, mutated: ParsedClaim) -> None:
        """Free the graphs of a mutant."""
        self._mutants.pop(_text(mutated), None)

    def lowered(self, parsed: ParsedClaim, parameters: Mapping[str, ParameterValue]) -> LoweredCase:
        """The graph of the claim or of a mutant.

        Raises:
            DropcheckError: it is no claim at these parameters; the same error each time.
        """
        graphs = self.graphs_of(parsed)
        case = Case(parsed.claim, parameters)
        key = (_text(parsed), case.key)
        if key in self._refused:
            raise self._refused[key]
        try:
            return graphs.lowered(case)
        except DropcheckError as error:
            self._refused[key] = error
            raise

    def own(self, parameters: Mapping[str, ParameterValue]) -> LoweredCase | None:
        """The graph of the claim itself; None where it is no claim at these parameters."""
        return self._read(self.parsed, parameters)

    def _read(
        self, parsed: ParsedClaim, parameters: Mapping[str, ParameterValue]
    ) -> LoweredCase | None:
        try:
            return self.lowered(parsed, parameters)
        except DropcheckError:
            return None

    def differs(self, mutated: ParsedClaim, parameters: Mapping[str, ParameterValue]) -> bool:
        """Whether a mutant is a claim at these parameters, and another one than its claim."""
        own, other = self.own(parameters), self._read(mutated, parameters)
        return own is not None and other is not None and not same_case(own, other)

    def refused(self, mutated: ParsedClaim) -> tuple[Case, str] | None:
        """The first case at which a mutant is no claim although its claim is one, and why not."""
        for case in self.cases:
            if self.own(case.parameters) is not None:
                try:
                    self.lowered(mutated, case.parameters)
                except DropcheckError as error:
                    return case, error.problems[0].message
        return None

    def change(
        self, mutated: ParsedClaim, parameters: Mapping[str, ParameterValue]
    ) -> float | None:
        """The relative change of the claimed number; None where it is not fixed, or 0."""
        own, other = self.own(parameters), self._read(mutated, parameters)
        if own is None or other is None:
            return None
        change = fixed_change(own, other)
        return change if change is not None and math.isfinite(change) else None

    def far_enough(self, mutated: ParsedClaim, share: float, least: float) -> bool:
        """Whether an error moves a fixed claimed number so far that it can be seen.

        It has to move it by a share of it, or by the number `least` where that is 0. A constant may
        hardly matter, as the 1 of `n / (n + 1)` where n is 1000: a small change of it is less than
        any verdict can see. The first case counts at which the two differ, where the mutant is
        judged. Errors that only draws can show are always far enough.
        """
        if "==" not in self.parsed.statement.operators:
            return True  # a bound may have any room to spare
        for case in self.cases:
            own, other = self.own(case.parameters), self._read(mutated, case.parameters)
            if own is None or other is None or same_case(own, other):
                continue
            sides = fixed_sides(own, other)
            if sides is None:
                return True
            old, new = sides
            return abs(new - old) >= (1 - ROUNDED_CHANGE) * (share * abs(old) or least)
        return True


def _text(parsed: ParsedClaim) -> _Text:
    return parsed.model, parsed.statement


def same_case(first: LoweredCase, second: LoweredCase) -> bool:
    """Whether two cases have the same graph, after all known numbers are computed.

    Equal graphs are the same claim. Different ones may be so too, which only draws can show.
    """
    return _comparable(first, second) and all(
        same_value(a, b) for a, b in zip(first.operands, second.operands, strict=True)
    )


def _comparable(first: LoweredCase, second: LoweredCase) -> bool:
    """Whether two cases have as many sides, the same operators and entries, and the same law."""
    return (
        (first.operators, first.entries) == (second.operators, second.entries)
        and _same_law(first.law, second.law)
        and len(first.operands) == len(second.operands)
    )


def _same_law(first: LawClaim | None, second: LawClaim | None) -> bool:
    """Whether two statements on laws claim the same, apart from their quantities."""
    if first is None or second is None:
        return first is second
    return (first.relation, first.law, first.arguments, first.over) == (
        second.relation,
        second.law,
        second.arguments,
        second.over,
    )


def same_value(first: Value, second: Value) -> bool:
    """Whether two quantities are computed in the same way from the same draws."""
    known: dict[tuple[int, int], bool] = {}
    stack = [(first, second)]
    while stack:  # a model may be too deep for recursion
        outcome = _compared(*stack[-1], known)
        if isinstance(outcome, bool):
            one, other = stack.pop()
            known[id(one), id(other)] = outcome
        else:
            stack.extend(outcome)
    return known[id(first), id(second)]


def _compared(
    first: Value, second: Value, known: Mapping[tuple[int, int], bool]
) -> bool | list[tuple[Value, Value]]:
    """Whether two quantities are computed in the same way, or the pairs to compare first."""
    one, other = first.known, second.known
    if one is not None and other is not None:
        return first.shape == second.shape and _close(one, other)
    # two draws from one law are two quantities, which their names tell apart
    draw = first.kind == Kind.DRAW
    if _head(first, named=draw) != _head(second, named=draw):
        return False
    orders = [second.inputs]
    if first.kind == Kind.COMPUTED and first.function.commutes:
        orders.append(second.inputs[::-1])
    for inputs in orders:
        pairs = list(zip(first.inputs, inputs, strict=True))
        unknown = [pair for pair in pairs if (id(pair[0]), id(pair[1])) not in known]
        if unknown:
            return unknown
        if all(known[id(a), id(b)] for a, b in pairs):
            return True
    return False


def _head(value: Value, *, named: bool) -> tuple[object, ...]:
    """The description of a quantity without its inputs, to compare two quantities by."""
    name = value.name if named else None
    return value.kind, value.operation, value.options, value.shape, name, len(value.inputs)


def fixed_change(first: LoweredCase, second: LoweredCase) -> float | None:
    r"""The relative change of the one fixed side in which two cases differ; None without one.

    >>> from dropcheck.claims.reader import read_text
    >>> from dropcheck.language.compile import lower_case, parse_claim
    >>> def read(claim):
    ...     text = f"dropcheck: 1\nclaims: {{c: {{title: t, model: 'x ~ normal(0, 1)', {claim}}}}}"
    ...     case = read_text(text).expand()[0]
    ...     return lower_case(parse_claim(case.claim), case.parameters)
    >>> fixed_change(read("claim: Var(x) == 1"), read("claim: Var(x) == 5/4"))
    0.25
    """
    numbers = fixed_sides(first, second)
    if numbers is None:
        return None
    old, new = numbers
    return abs(new - old) / abs(old) if old else math.inf


def fixed_sides(first: LoweredCase, second: LoweredCase) -> tuple[float, float] | None:
    """The one fixed side in which two cases differ, in each of them; None without one.

    For arrays it is the side of the entry that changes most.
    """
    if not _comparable(first, second) or first.law is not None:
        return None
    changes = [
        (a, b) for a, b in zip(first.operands, second.operands, strict=True) if not same_value(a, b)
    ]
    if not changes or (len(changes) > 1 and not first.entries):
        return None
    known = [(old.known, new.known) for old, new in changes]
    sides = [(old, new) for old, new in known if isinstance(old, float) and isinstance(new, float)]
    if len(sides) < len(changes):
        return None
    return max(sides, key=lambda side: abs(side[1] - side[0]) / (abs(side[0]) or 1.0))


def _close(first: Plain, second: Plain) -> bool:
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(_close, first, second))
    if isinstance(first, float) and isinstance(second, float):
        both_nan = math.isnan(first) and math.isnan(second)
        return both_nan or first == second or math.isclose(first, second, rel_tol=READING_ROUNDING)
    return False
