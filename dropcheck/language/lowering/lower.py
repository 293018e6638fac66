"""Lowers expressions and lines of a model; every misuse is an error at its place."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from dropcheck.claims.registry import Sample
from dropcheck.language import syntax
from dropcheck.language.events import is_event
from dropcheck.language.graph import Suspect, Value
from dropcheck.language.lowering.builder import Context, note_axes, rounded_for_code, shape_at
from dropcheck.language.lowering.calls import call, operator_call, subscript
from dropcheck.language.lowering.draws import draw, sampled
from dropcheck.language.lowering.entries import product
from dropcheck.language.printing import unparse
from dropcheck.language.syntax import ModelLine, Node, Position
from dropcheck.results import Vector
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import SIGNS
from dropcheck.vocabulary.functions.arrays import ARRAY
from dropcheck.vocabulary.functions.elementwise import NEGATIVE
from dropcheck.vocabulary.functions.linear_algebra import MATMUL, TRANSPOSE
from dropcheck.vocabulary.functions.truths import (
    AND,
    COMPARISONS,
    CONDITIONAL,
    IS_CLOSE,
    NOT,
    NOT_EQUAL,
    OR,
)
from dropcheck.vocabulary.operators import OPERATORS
from dropcheck.vocabulary.shapes import Shape, ShapeError, describe

LONGEST_SHOWN = 40  # characters of the user's text in a hint


def define_parameter(
    context: Context, name: syntax.Name, value: float | Vector | syntax.Call | str
) -> None:
    """Define a parameter with its value in this case."""
    if isinstance(value, syntax.Call):
        context.scope.define(name, value, parameter=True)
    elif isinstance(value, str):
        context.slots.formats[name.name] = value
        context.scope.missing[name.name] = (
            f"{name.name!r} is a format of numbers, {value}, and no number",
            f"round to it: round(x, {name.name})",
        )
    elif isinstance(value, tuple):
        known = context.lower(_written(value, name.at)).called(name.name)
        context.graph.remember(known)
        context.scope.define(name, _for_code(context, known, name), parameter=True)
    else:
        known = context.graph.number(value, name.at, name.name)
        context.scope.define(name, _for_code(context, known, name), parameter=True)


def _for_code(context: Context, value: Value, name: syntax.Name) -> Value:
    """The value of a parameter, rounded if it is passed to code."""
    given = name.name in context.slots.given
    return rounded_for_code(context, value, name.at) if given else value


def _written(value: float | Vector, at: Position) -> Node:
    """A vector as the list of numbers that would stand in the language."""
    if isinstance(value, tuple):
        return syntax.ArrayLiteral(at, tuple(_written(one, at) for one in value))
    return syntax.Number(at, value)


def define_sampled(context: Context, name: syntax.Name, sample: Sample) -> None:
    """Define a name that code draws."""
    value = sampled(context, name, sample)
    if name.name in sample.truths:
        zero = context.graph.number(0.0, name.at)
        truth = context.graph.elementwise(NOT_EQUAL, (value, zero), name.at)
        value = truth.called(name.name)
        context.graph.remember(value)
    context.scope.define(name, value)


def define_line(context: Context, line: ModelLine) -> None:
    """Define the names of one line of the model."""
    _refuse_recurrence(context, line)
    for name in line.names:
        if line.drawn:
            value = draw(context, line.right, context.draw_name(name))
        else:
            value = context.lower(line.right)
            if value.estimated:
                raise line.right.at.error(
                    "an operator on the law stands in the model",
                    "operators such as E(…) belong in 'claim'; for the elements of one draw "
                    "use mean, var, std, …",
                )
            if value.name is None and not context.steps and not context.slots.within:
                value = value.called(name.name)
                context.graph.remember(value)
        if name.name in context.slots.given and not context.slots.within:
            value = rounded_for_code(context, value, name.at)
        context.scope.define(name, value)
    note_axes(context, line, value)


def _refuse_recurrence(context: Context, line: ModelLine) -> None:
    """Refuse a line, outside of loops, that uses the name it defines, as a recurrence does."""
    name, scope = line.names[0], context.scope
    if context.steps or name.name not in syntax.names_in(line.right):
        return
    if scope.is_parameter(name.name) or scope.constant(name.name) is not None:
        return
    message, first = f"{name.name!r} is defined by itself", f"{name.name} = 0, and below it "
    if name.name in scope:
        message, first = f"{name.name!r} is already defined by a line above", ""
    raise name.at.error(
        message,
        f"a recurrence is a loop: {first}for t in range(T): with this line indented below; "
        "otherwise choose another name",
    )


def lower(context: Context, node: Node) -> Value:
    """The value of an expression.

    Raises:
        DropcheckError: it breaks a rule of the language; the error points at the part.
    """
    match node:
        case syntax.Name(name=name):
            return _name(context, name, node.at)
        case syntax.Number(value=value):
            return context.graph.number(value, node.at)
        case syntax.Binary():
            return _binary(context, node, context.lower(node.left), context.lower(node.right))
        case syntax.Call():
            return (operator_call if node.name in OPERATORS else call)(context, node)
        case syntax.Negative(operand=inner):
            return context.graph.elementwise(NEGATIVE, (context.lower(inner),), node.at)
        case syntax.Compare(operators=operators, operands=operands):
            values = [context.lower(operand) for operand in operands]
            links = [
                _near(context, a, b, node.at)
                if sign == "==" and context.slots.rounds
                else context.graph.elementwise(COMPARISONS[sign], (a, b), node.at)
                for sign, a, b in zip(operators, values, values[1:], strict=False)
            ]
            return _joined(context, AND, links, node.at)
        case syntax.Logic(operator=operator, operands=operands):
            events = [context.lower(one) for one in operands]
            _refuse_numbers(operator, operands, events)
            return _joined(context, SIGNS[operator], events, node.at)
        case syntax.Member(item=item, options=options):
            asked = context.lower(item)
            near = [_near(context, asked, context.lower(one), node.at) for one in options]
            return _joined(context, OR, near, node.at)
        case syntax.Not(operand=inner):
            denied = context.lower(inner)
            _refuse_numbers("not", (inner,), [denied])
            return context.graph.elementwise(NOT, (denied,), node.at)
        case syntax.Conditional(condition=condition, then=then, otherwise=otherwise):
            return _conditional(context, condition, then, otherwise, node.at)
        case syntax.ArrayLiteral(items=items):
            return _array(context, items, node.at)
        case syntax.Subscript(base=base, index=index):
            return subscript(context, base, index, node.at)
        case syntax.Transpose(base=base):
            rule = partial(_transpose_shape, base)
            return context.graph.shaped(TRANSPOSE, (context.lower(base),), rule, node.at)
        case _:
            raise node.at.error("a slice, None and '...' stand only in an index", "write x[1:3]")


def _name(context: Context, name: str, at: Position) -> Value:
    constant = context.scope.constant(name)
    if constant is not None:
        return context.graph.number(constant, at)
    meaning = context.scope.look_up(name, at)
    if isinstance(meaning, syntax.Call):
        raise at.error(
            f"{name!r} is a law, not a number", f"draw from it on a line of the model: x ~ {name}"
        )
    return meaning


def _binary(context: Context, node: syntax.Binary, left: Value, right: Value) -> Value:
    if node.operator == "@":
        value = context.graph.shaped(MATMUL, (left, right), partial(_matmul_shape, node), node.at)
        return product(context, (left, right), value.shape, node.at) if value.estimated else value
    function = SIGNS[node.operator]
    value = context.graph.elementwise(function, (left, right), node.at)
    if not function.divides or right.shape != ():
        return value
    if right.known == 0 and not (left.suspect or right.suspect):
        return dataclasses.replace(value, suspect=Suspect(node.right.at, "division by zero"))
    return value


def _near(context: Context, left: Value, right: Value, at: Position) -> Value:
    """Whether two numbers are equal up to rounding, of code to its number format."""
    near = context.slots.near
    if not near:
        return context.graph.elementwise(IS_CLOSE, (left, right), at)
    shape = shape_at(at, "", shapes.broadcast, (left.shape, right.shape))
    return context.graph.operation(IS_CLOSE, (left, right), shape, at, tuple(near.items()))


def _refuse_numbers(operator: str, nodes: Sequence[Node], values: Sequence[Value]) -> None:
    """Refuse a number among events: `d == 1 or 2` is true in every draw."""
    if not any(value.random for value in values):
        return
    for place, (node, value) in enumerate(zip(nodes, values, strict=True)):
        if is_event(value):
            continue
        written = unparse(node) if isinstance(node, syntax.Name) else "x"
        hint = f"write a comparison, such as {written} > 0 or {written} != 0"
        before = nodes[place - 1] if place else None
        if isinstance(before, syntax.Compare) and len(before.operands) == 2 and not value.random:
            left, right = map(unparse, before.operands)
            sign, again = before.operators[0], unparse(node)
            hint = f"write {left} {sign} {right} {operator} {left} {sign} {again}"
        raise node.at.error(f"{operator!r} is of events, and this is a number", hint)


def _joined(context: Context, function: Function, values: list[Value], at: Position) -> Value:
    """Join values by `and` or `or`, in pairs, so that the depth is only logarithmic."""
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=False)
        odd = values[-1:] if len(values) % 2 else []
        values = [context.graph.elementwise(function, pair, at) for pair in pairs] + odd
    return values[0]


def _conditional(
    context: Context, condition: Node, then: Node, otherwise: Node, at: Position
) -> Value:
    asked = context.lower(condition)
    values = (context.lower(then), context.lower(otherwise))
    taken = context.graph.taken(asked, values, at)
    if taken is not None:
        return taken
    return context.graph.elementwise(CONDITIONAL, (asked, *values), at)


def _array(context: Context, items: tuple[Node, ...], at: Position) -> Value:
    values = tuple(context.lower(item) for item in items)
    first = values[0].shape
    for value, item in zip(values, items, strict=True):
        if value.shape != first:
            one, other = (
                f"of shape {describe(shape)}" if shape else describe(shape)
                for shape in (value.shape, first)
            )
            raise item.at.error(
                f"entries of a list need the same shape: this one is {one}, and the first is "
                f"{other}"
            )
    return context.graph.operation(ARRAY, values, (len(values), *first), at)


# ---- products: hints if the shapes do not match ------------------------------------------------


def _matmul_shape(node: syntax.Binary, left: Shape, right: Shape) -> Shape:
    """The shape of `left @ right`."""
    try:
        return shapes.matmul(left, right)
    except ShapeError as error:
        raise ShapeError(str(error), _that_fits(node, left, right)) from None


def _that_fits(node: syntax.Binary, left: Shape, right: Shape) -> str | None:
    """The product of the same matrices that is one, with one side transposed."""
    a, b = _factor(node.left, "a"), _factor(node.right, "b")
    for matrix, shapes_of, text in (
        (right, (left, right[::-1]), f"{a} @ {b}.T"),
        (left, (left[::-1], right), f"{a}.T @ {b}"),
    ):
        with suppress(ShapeError):
            shapes.matmul(*shapes_of)
            if len(matrix) == 2:
                return f"write {text.replace('.T.T', '')}"
    return None


def _transpose_shape(base: Node, shape: Shape) -> Shape:
    """The shape of `base.T`."""
    try:
        return shapes.transpose(shape)
    except ShapeError as error:
        hint = None
        if len(shape) == 1:
            x = _factor(base, "x")
            hint = (
                f"a vector needs no transpose: {x} @ {x} is the sum of its squares, and "
                f"outer({x}, {x}) has every product"
            )
        raise ShapeError(str(error), hint) from None


def _factor(node: Node, short: str) -> str:
    """The text of a factor if it is a name, or else a letter in its place."""
    match node:
        case syntax.Name(name=name) if len(name) <= LONGEST_SHOWN:
            return name
        case syntax.Transpose(base=base):
            return f"{_factor(base, short)}.T"
        case _:
            return short
