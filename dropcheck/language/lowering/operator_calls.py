"""Operators on the law, `E(u)`, `Cov(u, v)`, `P(event, given=event)`, and sides made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dropcheck.claims.values import parameter_text
from dropcheck.errors import About, DropcheckError, Problem, suggestion
from dropcheck.language.graph import Kind, Value, joined_sources
from dropcheck.language.lowering.builder import Skipped, shape_at
from dropcheck.language.lowering.context import Context
from dropcheck.language.printing import unparse
from dropcheck.language.syntax import Call, Name, Node, Statement, bind, children
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
    values = tuple(operands.values())
    _check_operand_shapes(node, values, pair=len(operator.operands) > 1)
    if operator.probability:
        context.notes += _notes_on_event(values[0], node, every=context.every_element)
    return context.graph.make(
        kind=Kind.OPERATOR,
        operation=node.name,
        inputs=values,
        options=(("given", "given" in bound),),
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
    needed = len(names) - 1
    if len(node.arguments) > needed:
        hint = "the condition is named: given=event"
        if OPERATORS[node.name].probability:
            hint = f"join events by 'and', {node.name}(a and b); {hint}"
        several = "arguments" if needed > 1 else "argument"
        raise node.at.error(f"{node.name} takes {needed} {several} by position", hint)
    for name, value in node.keywords:
        meant = name in names or suggestion(name, names) is not None
        if not meant and len(node.arguments) < needed:
            raise value.at.error(
                "'=' does not compare", f"write '==' for equality: {name} == {unparse(value)}"
            )
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


def operand_value(context: Context, node: Node, parameters: Mapping[str, ParameterValue]) -> Value:
    """One side of a statement as a value.

    Raises:
        DropcheckError: where it is not one number that can be compared.
    """
    value = context.lower(node)
    if value.random:
        raise _outside_an_operator(context, node)
    if value.shape != ():
        raise node.at.error(
            f"a side of a claim is one number, and this has shape {list(value.shape)}",
            "pick an element, x[0], or reduce it: max(…), sum(…)",
        )
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
    return value


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


def check_range(statement: Statement, operands: list[Value]) -> None:
    """Refuse a range that nothing can lie in.

    Raises:
        DropcheckError: where both ends are known, and the lower one is above the upper one.
    """
    if len(operands) != 3:
        return
    low, high = operands[0].known, operands[2].known
    if statement.operators[0].startswith(">"):
        low, high = high, low
    if isinstance(low, float) and isinstance(high, float) and low > high:
        raise statement.at.error(
            f"this range is empty: its lower end {low:.12g} is above its upper end {high:.12g}",
            "write the smaller number on the side of the smaller end",
        )
