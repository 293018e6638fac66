"""Operators on the law, `E(u)`, `Cov(u, v)`, `P(event, given=event)`, and sides made of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from dropcheck.claims.values import parameter_text
from dropcheck.errors import About, DropcheckError, Problem, suggestion
from dropcheck.language.graph import Kind, Value, joined_sources
from dropcheck.language.lowering.builder import Skipped, shape_at
from dropcheck.language.lowering.context import Context
from dropcheck.language.lowering.entries import (
    Index,
    array_of,
    entries_of_sides,
    entry_of,
    place_in,
)
from dropcheck.language.printing import unparse
from dropcheck.language.syntax import Call, Name, Node, Statement, bind, children
from dropcheck.records import dataclass
from dropcheck.results import Value as ParameterValue
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.operators import OPERATORS, operator_like


def operator_call(context: Context, node: Call) -> Value:
    """The value of an operator on the law.

    Raises:
        DropcheckError: where its operands are none that it can have.
    """
    operator = OPERATORS[node.name]
    names = [*operator.operands, "given"]
    bound = _bind_operator(node, names)
    operands = {name: context.lower(bound[name]) for name in names if name in bound}
    _refuse_operands(node, bound, operands)
    if len(operands) - ("given" in operands) < len(operator.operands):
        return _of_pairs(context, node, *operands.values())
    values = tuple(operands.values())
    _check_operand_shapes(node, values, pair=len(operator.operands) > 1)
    if context.entrywise:
        shape = shapes.broadcast([value.shape for value in values])
        return array_of(
            context,
            shape,
            lambda index: _operator(context, node, _entries(context, values, index)),
            node.at,
        )
    if operator.probability:
        context.notes += _notes_on_event(values[0], node, every=context.every_element)
    return _operator(context, node, values)


def _entries(context: Context, values: Sequence[Value], index: Index) -> tuple[Value, ...]:
    """The entries of some operands at one index of their common shape."""
    return tuple(entry_of(context, value, place_in(index, value.shape)) for value in values)


def _of_pairs(context: Context, node: Call, x: Value, *given: Value) -> Value:
    """The matrix of an operator of two quantities, of all pairs of elements of one vector.

    Raises:
        DropcheckError: it is no vector, or the condition is not one truth a draw.
    """
    written = f"write {OPERATORS[node.name].written}"
    if len(x.shape) != 1:
        raise node.at.error(
            f"{node.name} of one quantity is the matrix of all pairs of elements of a vector, and "
            f"this {'is one number' if x.shape == () else f'has shape {list(x.shape)}'}",
            f"{written} of two, or pick a vector: x[0], x[:, 0]",
        )
    if any(one.shape for one in given):
        raise node.at.error("the condition of a matrix of pairs is one truth a draw", written)
    count = x.shape[0]

    def of_pair(index: Index) -> Value:
        row, column = sorted(index)
        pair = (entry_of(context, x, (row,)), entry_of(context, x, (column,)))
        return _operator(context, node, (*pair, *given))

    return array_of(context, (count, count), of_pair, node.at)


def _operator(context: Context, node: Call, values: tuple[Value, ...]) -> Value:
    """An operator on the law of quantities that fit together."""
    given = len(values) > len(OPERATORS[node.name].operands)
    return context.graph.make(
        kind=Kind.OPERATOR,
        operation=node.name,
        inputs=values,
        options=(("given", given),),
        shape=(),
        at=node.at,
        estimated=True,
        sources=joined_sources(values),
        suspect=next((value.suspect for value in values if value.suspect), None),
    )


def _notes_on_event(event: Value, node: Call, *, every: bool) -> list[Problem]:
    """What may not have been meant, where 'P' is of something else than one truth."""
    notes = []
    if event.kind == Kind.DRAW and event.law is not None and not event.law.discrete:
        notes.append(
            Problem(
                "'P' of a number counts each value but 0 as true, and a draw of "
                f"{event.law.name} is never 0",
                node.at.location,
                "was a comparison meant, P(… > …), or E(…)?",
            )
        )
    if event.random and not event.truth and event.kind != Kind.DRAW:
        notes.append(
            Problem(
                "'P' of a quantity that is no truth is the probability that it is not 0",
                node.at.location,
                "was a comparison meant, P(… > …), or E(…)?",
            )
        )
    if event.random and event.shape != () and not every:
        notes.append(
            Problem(
                f"'P' of a quantity of shape {list(event.shape)} is the probability for one "
                "element picked at random",
                node.at.location,
                "was P(any(…)) or P(all(…)) meant?",
            )
        )
    return notes


def _bind_operator(node: Call, names: Sequence[str]) -> dict[str, Node]:
    """The arguments of an operator by name; the last name, the condition's, is never bare.

    Raises:
        DropcheckError: on too many, too few or unknown ones.
    """
    operator = OPERATORS[node.name]
    needed = len(names) - 1
    if len(node.arguments) > needed:
        hint = "the condition is named: given=event"
        if operator.probability:
            hint = f"join events by 'and', {node.name}(a and b); {hint}"
        several = "arguments" if needed > 1 else "argument"
        raise node.at.error(f"{node.name} takes {needed} {several} by position", hint)
    for name, value in node.keywords:
        meant = name in names or suggestion(name, names) is not None
        if not meant and len(node.arguments) < needed:
            raise value.at.error(
                "'=' does not compare", f"write '==' for equality: {name} == {unparse(value)}"
            )
    if operator.of_pairs and len(node.arguments) == 1 and names[1] not in dict(node.keywords):
        names, needed = [names[0], names[-1]], 1
    return bind(node, names, needed, lambda: f"{node.name}({', '.join(names[:-1])}, given=event)")


def _refuse_operands(node: Call, bound: Mapping[str, Node], operands: Mapping[str, Value]) -> None:
    """Refuse operators within operators, and what has no elements.

    Raises:
        DropcheckError: at the operand, or at the operator within.
    """
    for name, value in operands.items():
        if value.estimated:
            raise _inner(bound[name]).at.error(
                f"an operator stands inside the operator {node.name}",
                "put a number or a parameter m in place of the inner one, and claim E(…) == m "
                "of it apart",
            )
    for name, value in operands.items():
        if 0 in value.shape:
            raise bound[name].at.error(
                f"{node.name} of nothing: this has no elements, its shape is {list(value.shape)}",
                "look at the ends of slices, and at the shapes that parameters give",
            )


def _check_operand_shapes(node: Call, values: Sequence[Value], *, pair: bool) -> None:
    """See that the operands of an operator fit together, as far as their shapes are known.

    Raises:
        DropcheckError: they do not.
    """
    known = [value.shape for value in values]
    if pair and known[0] != known[1] and () not in known[:2]:
        raise node.at.error(
            f"{node.name}: its two sides pair element by element, and have shapes "
            f"{list(known[0])} and {list(known[1])}"
        )
    shape_at(node.at, f"{node.name}: ", shapes.broadcast, known)


def _inner(node: Node) -> Node:
    """The first operator in an expression, in the order of the text; else the expression."""
    if isinstance(node, Call) and node.name in OPERATORS:
        return node
    found = (_inner(child) for child in children(node))
    return next((one for one in found if isinstance(one, Call) and one.name in OPERATORS), node)


@dataclass(frozen=True, slots=True)
class Sides:
    """The sides of a statement, in their order; of a claim about arrays those of each entry.

    `entries` are then their indices, and it is empty else.
    """

    values: tuple[Value, ...]
    entries: tuple[Index, ...] = ()


def statement_sides(
    context: Context, statement: Statement, parameters: Mapping[str, ParameterValue]
) -> Sides:
    """The sides of a statement as values; where one has a shape, every entry is claimed.

    Raises:
        DropcheckError: with the problems of all sides, which are no numbers to be compared.
        Skipped: where one depends on what has an error, or is postponed.
    """
    nodes, notes = statement.operands, len(context.notes)
    context.entrywise = False
    values = _lowered_sides(context, nodes)
    if any(value.shape for value in values):
        del context.notes[notes:]
        context.entrywise = True  # what was pooled on another side is of each entry too
        values = _lowered_sides(context, nodes)
    if not any(value.shape for value in values):
        _check_all(parameters, zip(values, nodes, strict=True))
        return Sides(tuple(values))
    _check_shapes(nodes, values)
    empty = next((node for node, one in zip(nodes, values, strict=True) if 0 in one.shape), None)
    if empty is not None:
        raise empty.at.error("this side of the claim has no entries")
    entries, own = entries_of_sides(context, values)
    _check_all(parameters, zip(own, itertools.cycle(nodes), strict=False))
    return Sides(tuple(own), tuple(entries))


def _check_shapes(nodes: Sequence[Node], values: Sequence[Value]) -> None:
    """See that sides of which one has a shape go together: one shape, or a number beside it.

    Raises:
        DropcheckError: at the side that does not.
    """
    shaped = [one for one in values if one.shape]
    for node, value in zip(nodes, values, strict=True):
        if value.shape and value.shape != shaped[0].shape:
            raise node.at.error(
                "sides are compared entry by entry, and have shapes "
                f"{list(shaped[0].shape)} and {list(value.shape)}",
                "give both one shape, or compare with a number",
            )
    estimated = [one for one in values if one.estimated]
    if estimated and not any(one.shape for one in estimated):
        node = next(one for one, value in zip(nodes, values, strict=True) if value.shape)
        raise node.at.error(
            f"this side of the claim has shape {list(shaped[0].shape)}, and the other is a number",
            "pick an element, x[0], or reduce it: max(…), sum(…)",
        )


def _lowered_sides(context: Context, nodes: Sequence[Node]) -> list[Value]:
    problems: list[Problem] = []
    values: list[Value] = []
    skipped = False
    for node in nodes:
        try:
            value = context.lower(node)
            if value.random:
                raise _outside_an_operator(context, node)
            if value.postponed and value.shape:
                raise Skipped
            values.append(value)
        except Skipped:
            skipped = True
        except DropcheckError as error:
            problems.extend(error.problems)
    if problems:
        raise DropcheckError(problems)
    if skipped:
        raise Skipped
    return values


def _check_all(
    parameters: Mapping[str, ParameterValue], sides: Iterable[tuple[Value, Node]]
) -> None:
    problems: dict[Problem, None] = {}
    for value, node in sides:
        try:
            _check_side(value, node, parameters)
        except DropcheckError as error:
            problems |= dict.fromkeys(error.problems)
    if problems:
        raise DropcheckError(problems)


def _check_side(value: Value, node: Node, parameters: Mapping[str, ParameterValue]) -> None:
    """See that a side is a number that can be compared.

    Raises:
        DropcheckError: it is none.
    """
    known, suspect = value.known, value.suspect
    if (
        isinstance(known, float)
        and not math.isfinite(known)
        and (suspect is None or suspect.cured_if_finite)
    ):
        raise node.at.error(f"this side of the claim is {known}", "a claim compares finite numbers")
    if suspect is not None:
        where = f" where {parameter_text(parameters)}" if parameters else ""
        raise suspect.at.error(
            f"{suspect.message}{where}",
            "choose another value, add a condition such as 'requires: p < 1', or guard the "
            f"branch with where(…){suspect.hint}",
            About.NAMED_VALUES if parameters else About.TEXT,
        )


def _outside_an_operator(context: Context, node: Node) -> DropcheckError:
    # Point at the random name itself, which is nearer to the mistake than the whole side.
    culprit: Node = node
    for below in _walk_outside_operators(node):
        if isinstance(below, Name):
            try:
                found = context.scope.look_up(below.name, below.at)
            except (DropcheckError, Skipped):
                continue
            if isinstance(found, Value) and found.random:
                culprit = below
                break
    if isinstance(culprit, Name):
        message = f"{culprit.name!r} is random, and stands outside an operator"
    else:
        message = "this is random, and stands outside an operator"
    hint = "write what is claimed of it: E(…), Var(…), Std(…), P(…), …"
    meant = operator_like(node.name) if isinstance(node, Call) else None
    if isinstance(node, Call) and meant is not None:
        hint = (
            f"{node.name!r} is over the elements of one draw; did you mean {meant.name}(…), which "
            f"speaks of the law, or E({node.name}(…))?"
        )
    return culprit.at.error(message, hint)


def _walk_outside_operators(node: Node) -> list[Node]:
    if isinstance(node, Call) and node.name in OPERATORS:
        return []
    found = [node]
    for below in children(node):
        found.extend(_walk_outside_operators(below))
    return found


def check_range(statement: Statement, operands: Sequence[Value]) -> None:
    """Refuse a range that nothing can lie in.

    Raises:
        DropcheckError: where both ends are known, and the lower one is above the upper one.
    """
    if len(statement.operands) != 3:
        return
    for low, high in zip(operands[::3], operands[2::3], strict=True):
        _check_ends(statement, low.known, high.known)


def _check_ends(statement: Statement, low: object, high: object) -> None:
    if statement.operators[0].startswith(">"):
        low, high = high, low
    if isinstance(low, float) and isinstance(high, float) and low > high:
        raise statement.at.error(
            f"this range is empty: its lower end {low:.12g} is above its upper end {high:.12g}",
            "write the smaller number on the side of the smaller end",
        )
