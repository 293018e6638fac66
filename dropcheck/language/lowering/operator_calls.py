"""Operators on the law, `E(u)`, `Cov(u, v)`, `P(event, given=event)`."""

from __future__ import annotations

import functools
import math
import operator as operators
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dropcheck.errors import Problem, suggestion
from dropcheck.language.drawn_from import NO_DRAWS, Sources
from dropcheck.language.graph import Kind, Value, in_order, joined_sources
from dropcheck.language.lowering.builder import shape_at
from dropcheck.language.lowering.context import Context
from dropcheck.language.lowering.entries import EntryIndex, array_of, entry_of, place_in
from dropcheck.language.printing import unparse
from dropcheck.language.syntax import Call, Node, bind, children
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.operators import OPERATORS

# The means of up to this many elements are listed; otherwise their range is given.
MOST_LISTED = 4


def operator_call(context: Context, node: Call) -> Value:
    """The value of an operator on the law.

    Raises:
        DropcheckError: the operator does not take these operands.
    """
    operator = OPERATORS[node.name]
    names = [*operator.operands, "given"]
    bound = _bind_operator(node, names)
    level = operator.level
    if operator.quantile and level is None:
        level = _level(context, bound.pop(operator.operands[-1]))
    operands = {name: context.lower(bound[name]) for name in names if name in bound}
    _refuse_operands(node, bound, operands)
    if len(operands) - ("given" in operands) < operator.quantities:
        return _of_pairs(context, node, *operands.values())
    values = tuple(operands.values())
    _check_operand_shapes(node, values, pair=operator.quantities > 1)
    if context.entrywise:
        shape = shapes.broadcast([value.shape for value in values])
        return array_of(
            context,
            shape,
            lambda index: _operator(context, node, _entries(context, values, index), level),
            node.at,
        )
    unlike = [value for value in values if value.random and value.shape and _unlike(value)]
    context.pooled = context.pooled or bool(unlike)
    if operator.probability:
        context.notes += _notes_on_event(values[0], node, every=context.every_element)
    elif unlike:
        context.notes.append(_note_on_pooling(node, unlike[0]))
    else:
        context.notes += _note_on_axis(context, node, values[0])
    return _operator(context, node, values, level)


def _level(context: Context, node: Node) -> float:
    """The level of a quantile.

    Raises:
        DropcheckError: it is not a fixed number between 0 and 1.
    """
    value = context.lower_fixed(
        node, "the level of a quantile is fixed, and this is random", "write Quantile(u, 0.9)"
    )
    known = value.known
    if not isinstance(known, float) or not 0 < known < 1:
        shown = f"{known:.12g}" if isinstance(known, float) else f"of shape {list(value.shape)}"
        raise node.at.error(
            f"the level of a quantile lies between 0 and 1, and this is {shown}",
            "for the ends of its support claim for example P(u <= 1) == 1",
        )
    return known


def _entries(context: Context, values: Sequence[Value], index: EntryIndex) -> tuple[Value, ...]:
    """The entries of the operands at one index of their common shape."""
    return tuple(entry_of(context, value, place_in(index, value.shape)) for value in values)


def _of_pairs(context: Context, node: Call, x: Value, *given: Value) -> Value:
    """The matrix of an operator of two quantities, for all pairs of elements of one vector.

    Raises:
        DropcheckError: x is not a vector, or the condition is not one truth a draw.
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

    def of_pair(index: EntryIndex) -> Value:
        row, column = sorted(index)
        pair = (entry_of(context, x, (row,)), entry_of(context, x, (column,)))
        return _operator(context, node, (*pair, *given))

    return array_of(context, (count, count), of_pair, node.at)


def _operator(
    context: Context, node: Call, values: tuple[Value, ...], level: float | None = None
) -> Value:
    """An operator on the law; the shapes of its operands are checked already."""
    if level is not None and not values[0].random:
        return values[0]
    given = len(values) > OPERATORS[node.name].quantities
    options: tuple[tuple[str, object], ...] = (("given", given),)
    if level is not None:
        options = (*options, ("level", level))
    return context.graph.make(
        kind=Kind.OPERATOR,
        operation=node.name,
        inputs=values,
        options=options,
        shape=(),
        at=node.at,
        estimated=True,
        sources=joined_sources(values),
        suspect=next((value.suspect for value in values if value.suspect), None),
    )


def _notes_on_event(event: Value, node: Call, *, every: bool) -> list[Problem]:
    """Notes if the operand of 'P' is not a single truth."""
    notes, compare = [], "was a comparison meant, P(… > …), or E(…)?"
    if event.kind == Kind.DRAW and event.law is not None and not event.law.discrete:
        message = "'P' of a number counts each value but 0 as true, and a draw of "
        notes.append((f"{message}{event.law.name} is never 0", compare))
    if event.random and not event.truth and event.kind != Kind.DRAW:
        message = "'P' of a quantity that is no truth is the probability that it is not 0"
        notes.append((message, compare))
    if event.random and event.shape != () and not every:
        message = f"'P' of a quantity of shape {list(event.shape)} is the probability for one "
        notes.append((f"{message}element picked at random", "was P(any(…)) or P(all(…)) meant?"))
    return [Problem(message, node.at.location, hint) for message, hint in notes]


def _bind_operator(node: Call, names: Sequence[str]) -> dict[str, Node]:
    """The arguments of an operator by name; the condition can be given by name only.

    Raises:
        DropcheckError: there are too many or too few arguments, or one has an unknown name.
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
    """Refuse an operator inside an operator, and operands without elements.

    Raises:
        DropcheckError: at the operand, or at the inner operator.
    """
    for name, value in operands.items():
        if value.estimated:
            raise _inner(bound[name]).at.error(
                f"an operator stands inside the operator {node.name}",
                "put a number or a parameter m in place of the inner one, and claim E(…) == m "
                "separately",
            )
    for name, value in operands.items():
        if 0 in value.shape:
            raise bound[name].at.error(
                f"{node.name} of nothing: this has no elements, its shape is {list(value.shape)}",
                "look at the ends of slices, and at the shapes that parameters give",
            )


def _check_operand_shapes(node: Call, values: Sequence[Value], *, pair: bool) -> None:
    """Check that the shapes of the operands fit together.

    Raises:
        DropcheckError: they do not fit.
    """
    known = [value.shape for value in values]
    if pair and known[0] != known[1] and () not in known[:2]:
        raise node.at.error(
            f"{node.name}: its two sides pair element by element, and have shapes "
            f"{list(known[0])} and {list(known[1])}"
        )
    shape_at(node.at, f"{node.name}: ", shapes.broadcast, known)


def _inner(node: Node) -> Node:
    """The first operator in an expression, in the order of the text, or the expression itself."""
    if isinstance(node, Call) and node.name in OPERATORS:
        return node
    inner = (_inner(child) for child in children(node))
    return next((one for one in inner if isinstance(one, Call) and one.name in OPERATORS), node)


# ---- notes on operators over the elements of an array --------------------------------------------


def _note_on_pooling(node: Call, value: Value) -> Problem:
    """The note that an operator is over all elements of an array, which clearly differ in law."""
    count = int(np.prod(value.shape))
    means = _means(value)
    return Problem(
        f"{node.name!r} of a quantity of shape {list(value.shape)} is pooled over {count} "
        f"elements{means}: it is that of one picked at random",
        node.at.location,
        f"claim each, {node.name}(…) == [a, b], or pick one, x[0]",
    )


def _note_on_axis(context: Context, node: Call, value: Value) -> list[Problem]:
    """The note that a reduction kept an axis, where numpy's would reduce over all axes."""
    while value.at not in context.along_last:
        below = [one for one in value.inputs if one.shape == value.shape]
        if not value.shape or len(below) != 1:
            return []
        (value,) = below
    if not value.shape:
        return []
    name, count = context.along_last[value.at]
    return [
        Problem(
            f"{name!r} goes along the last axis alone, unlike numpy's: {node.name!r} is then "
            f"of an array of shape {list(value.shape)}, that is, of one element picked at random",
            node.at.location,
            f"write axis={list(range(count))} for all axes at once, or axis=-1 if this is meant",
        )
    ]


def _unlike(value: Value) -> bool:
    """Whether elements clearly differ in law, as the lines of the model show."""
    known: dict[int, bool] = {}
    picked: dict[int, Sources] = {}  # the draws of which single elements are in each value
    for one in in_order([value], _of_one_draw):
        inputs = _of_one_draw(one)
        picks = one.kind == Kind.COMPUTED and one.function.picks
        picked[id(one)] = one.sources if picks else _together(picked[id(each)] for each in inputs)
        known[id(one)] = (
            _differs_itself(one)
            or _meets_own_element(one, picked)
            or (bool(one.shape) and any(known[id(each)] and each.shape for each in inputs))
        )
    return known[id(value)]


def _of_one_draw(value: Value) -> Sequence[Value]:
    return value.inputs if value.kind != Kind.OPERATOR else ()


def _together(sources: Iterable[Sources]) -> Sources:
    return functools.reduce(operators.or_, sources, NO_DRAWS)


def _meets_own_element(value: Value, picked: Mapping[int, Sources]) -> bool:
    """Whether one element of an array meets all of its elements, as in `x - x[0]`."""
    if value.kind != Kind.COMPUTED or not value.function.by_element:
        return False
    whole = joined_sources(
        one for one in value.inputs if one.shape == value.shape and not picked[id(one)]
    )
    spread = (one for one in value.inputs if one.shape != value.shape)
    return any(not picked[id(one)].isdisjoint(whole) for one in spread)


def _differs_itself(value: Value) -> bool:
    """Whether a value's elements differ in law for a reason other than its inputs."""
    if value.constant is not None:
        numbers = np.asarray(value.constant, dtype=np.float64)
        return bool(value.shape) and numbers.size > 1 and bool(np.ptp(numbers) > 0)
    if value.kind != Kind.COMPUTED:
        return False
    if value.function.joins:
        return any(one is not value.inputs[0] for one in value.inputs)
    return value.function.by_place and math.prod(value.shape) > 1


def _means(value: Value) -> str:
    """The means of the elements as a text, for a draw whose law knows them."""
    law = value.law
    if value.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return ""
    known = [one.known for one in value.inputs]
    if any(one is None for one in known):
        return ""
    with np.errstate(all="ignore"):
        means = np.broadcast_to(np.asarray(law.mean(*known), dtype=np.float64), value.shape).ravel()
    if not np.isfinite(means).all() or np.ptp(means) == 0:
        return ""
    if len(means) > MOST_LISTED:
        return f" with means from {means.min():.6g} to {means.max():.6g}"
    *first, last = (f"{one:.6g}" for one in means)
    return f" with means {', '.join(first)} and {last}"
