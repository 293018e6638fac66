"""Lowers expressions: signs, calls, operators on the law, indices, entries of arrays."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dropcheck.claims.registry import DTYPE
from dropcheck.errors import DropcheckError, suggestion
from dropcheck.language import syntax
from dropcheck.language.alike import Integers, entries_alike, has_no_chance, is_event
from dropcheck.language.graph import (
    Kind,
    Plain,
    Suspect,
    Value,
    calls_below,
    hashable,
    joined_sources,
    kernel_of,
    tuples,
)
from dropcheck.language.hints import function_hint, slip_of, written_call
from dropcheck.language.lowering.builder import Context, shape_at
from dropcheck.language.lowering.model import (
    batch_shape,
    check_values,
    define_call,
    read_law,
    written_out,
)
from dropcheck.language.syntax import Call, Name, Node, Position, bind, unparse, walk
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.function import EVERY_AXIS, TRAIN, Function, slot_and_mode
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS, SIGNS
from dropcheck.vocabulary.functions.arrays import ARRAY, TAKE
from dropcheck.vocabulary.functions.elementwise import EXP, MULTIPLY, NEGATIVE, ROUND, ROUNDED
from dropcheck.vocabulary.functions.linear_algebra import DOT, MATMUL, TRANSPOSE
from dropcheck.vocabulary.functions.of_laws import DENSITY, LOG_DENSITY
from dropcheck.vocabulary.functions.reductions import SUM
from dropcheck.vocabulary.functions.truths import (
    AND,
    COMPARISONS,
    CONDITIONAL,
    IS_CLOSE,
    NOT,
    OR,
    WHERE,
)
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import INDEPENDENT, OPERATORS, SIGNATURE, operator_like
from dropcheck.vocabulary.shapes import Index, Shape, describe


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
            asked = context.lower(condition)
            branches = (context.lower(then), context.lower(otherwise))
            taken = context.graph.taken(asked, branches, node.at)
            if taken is not None:
                return taken
            return context.graph.elementwise(CONDITIONAL, (asked, *branches), node.at)
        case syntax.ArrayLiteral(items=items):
            return _array(context, items, node.at)
        case syntax.Subscript(base=base, index=index):
            return subscript(context, base, index, node.at)
        case syntax.Transpose(base=base):
            turned = context.lower(base)
            return context.graph.shaped(TRANSPOSE, (turned,), shapes.transpose, node.at)
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
        value = context.graph.shaped(MATMUL, (left, right), shapes.matmul, node.at)
        return product(context, (left, right), value.shape, node.at) if value.estimated else value
    function = SIGNS[node.operator]
    value = context.graph.elementwise(function, (left, right), node.at)
    if function.does != "divides" or right.shape != ():
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


# ---- calls -------------------------------------------------------------------------------------


# More axes, sizes or levels than anybody writes.
LONGEST_OPTION = 1_000


def call(context: Context, node: Call) -> Value:
    """The value of a function call.

    Raises:
        DropcheckError: there is no such function, or it does not take these arguments.
    """
    if slot_and_mode(node.name)[0] in context.slots.known:
        return define_call(context, node, None, ())
    if node.name in OF_LAWS:
        return _of_law(context, node)
    function = FUNCTIONS.get(node.name)
    if function is ROUND and len(node.arguments) == 2:
        return _rounded(context, *node.arguments)
    if function is None:
        if node.name not in context.scope:
            raise unknown_function(context, node)
        raise node.at.error(
            f"{node.name!r} is no function: it has a value",
            f"write {node.name}[…] for an element, and {node.name} * (…) for a product",
        )
    return _function(context, function, node)


def _rounded(context: Context, number: Node, to: Node) -> Value:
    """`round(x, dtype)`. In the model's own column, which has no number format, it is x."""
    name = to.name if isinstance(to, Name) else ""
    dtype = context.slots.formats.get(name, name)
    if dtype == DTYPE:
        dtype = context.slots.dtype or ""
        if not dtype:
            return context.lower(number)
    if dtype not in ROUNDED:
        raise to.at.error(
            "round takes a format of numbers as its second argument",
            f"write round(x, {next(iter(ROUNDED))}), or one of {', '.join(ROUNDED)}; "
            "to digits: round(100 * x) / 100",
        )
    return context.graph.elementwise(ROUNDED[dtype], (context.lower(number),), to.at)


def unknown_function(context: Context, node: Call) -> DropcheckError:
    """The error for a call of something that is neither a function nor one of the slots."""
    if node.name in LAWS:
        return node.at.error(
            f"{node.name!r} is a law, and cannot stand in an expression",
            f"draw from it on a line of the model, or claim it of a quantity: x ~ {node.name}(…)",
        )
    slot, mode = slot_and_mode(node.name)
    if mode != TRAIN:
        return node.at.error(
            f"there is no slot {slot!r}", "list it under 'slots' of the file, with its mathematics"
        )
    if node.name == INDEPENDENT:
        return node.at.error(
            f"{INDEPENDENT!r} is a statement by itself, and cannot be a part of an expression",
            f"write claim: {SIGNATURE}, and expect: refuted where they depend on each other",
        )
    hint = slip_of(node.name, context.slots.known) or function_hint(node.name)
    return node.at.error(f"{node.name!r} is not a function of the language", hint)


def _function(context: Context, function: Function, node: Call) -> Value:
    values, options = _bind_function(context, function, node)
    meant = operator_like(function.name)
    if meant is not None and values and values[0].shape == () and values[0].random:
        raise node.at.error(
            f"{function.name!r} is over the elements of one draw, and this is one number a draw",
            f"did you mean {meant.name}(…), which speaks of the law?",
        )
    if function is WHERE:
        taken = context.graph.taken(values[0], (values[1], values[2]), node.at)
        if taken is not None:
            return taken
    given = tuple(value.shape for value in values)
    if EVERY_AXIS in function.parameters and EVERY_AXIS.name not in options:
        options[EVERY_AXIS.name] = _every_axis(given[0], options, node)
    try:
        shape = function.shape(given, options)
    except (ValueError, OverflowError) as error:  # the latter, and numpy's own, of huge lengths
        raise node.at.error(f"{function.name}: {error}", getattr(error, "hint", None)) from None
    if function.does == "shape":
        constant = function.kernel(np.broadcast_to(0.0, (*given[0], 1)))
        written = (("value", constant.tobytes()),)
        return context.graph.constant("number", constant, shape=shape, at=node.at, options=written)
    if function is DOT and any(value.estimated for value in values):
        # of sums of products more is known
        function, values = SUM, (context.graph.elementwise(MULTIPLY, values, node.at),)
    chosen = tuple(sorted((name, hashable(value)) for name, value in options.items()))
    return context.graph.operation(function, values, shape, node.at, chosen)


def _bind_function(
    context: Context, function: Function, node: Call
) -> tuple[tuple[Value, ...], dict[str, Any]]:
    """The lowered values in order, and the options by name."""
    values: list[Value] = []
    options: dict[str, Any] = {}
    more = next((one.name for one in function.parameters if one.variadic), None)
    names = [one.name for one in function.parameters if not one.variadic]
    needed = sum(one.required and not one.variadic for one in function.parameters)
    bound = bind(node, names, needed, lambda: written_call(function), more)
    for parameter in function.parameters:
        given, default = bound.get(parameter.name), parameter.default
        if parameter.variadic:
            several = given or ()
            if parameter.option:
                entries = [_option(context, one) for one in several]
                listed = (one if isinstance(one, tuple) else (one,) for one in entries)
                options[parameter.name] = tuple(entry for one in listed for entry in one)
            else:
                values += [context.lower(one) for one in several]
        elif given is not None and parameter.option:
            options[parameter.name] = _option(context, given)
        elif given is not None:
            values.append(context.lower(given))
        elif default is not None:
            # values that differ by rounding only are close
            near = context.slots.near.get(parameter.name, 0.0) if function is IS_CLOSE else default
            options[parameter.name] = max(default, near)
    return tuple(values), options


def _option(context: Context, node: Node) -> Plain:
    value = context.lower_fixed(
        node,
        "this argument must be fixed before any draw, and is random",
        "use a number, a parameter or an expression of them; of two quantities, "
        "maximum(a, b) and minimum(a, b) are the larger and the smaller",
    )
    known = value.known if math.prod(value.shape) <= LONGEST_OPTION else None
    if known is None:
        raise node.at.error(
            f"this argument is a number or a list of at most {LONGEST_OPTION}, and this has "
            f"shape {list(value.shape)}"
        )
    return known


def _of_law(context: Context, node: Call) -> Value:
    function = OF_LAWS[node.name]
    asked_at = function.parameters[-1].name
    bound = bind(node, ["law", asked_at], 2, lambda: function.usage)
    called = read_law(context, bound["law"])
    law, own = called.law, called.own
    if called.shape is not None:
        raise called.at.error(
            f"the law of {node.name!r} takes no shape",
            f"its arguments and {asked_at} give the shape",
        )
    if own and function not in (DENSITY, LOG_DENSITY):
        raise called.at.error(
            f"{node.name!r} is of laws of numbers, and {law.name} gives vectors",
            "draw from it on a line of the model, and claim P(…) of what is made of the draw",
        )
    check_values(called)
    x = context.lower(bound[asked_at])
    if own and x.shape[len(x.shape) - len(own) :] != own:
        raise bound[asked_at].at.error(
            f"a value of {law.name} has shape {list(own)}, and this has {list(x.shape)}"
        )
    batches = (batch_shape(context, called), x.shape[: len(x.shape) - len(own)])
    shape = shape_at(node.at, f"{node.name}: ", shapes.broadcast, batches)
    # A density is written out only for symmetric laws on the whole line. There the formula falls
    # with the distance from the centre, so bounds of its terms are bounds of the density. For other
    # laws, more is known from the law.
    if function is LOG_DENSITY or (function is DENSITY and law.symmetric):
        written = written_out(context.graph, law, called.values, x, node.at)
        if written is not None and function is DENSITY:
            written = context.graph.elementwise(EXP, (written,), node.at)
        if written is not None and written.shape == shape:
            return written
    options = (("law", law.name),)
    return context.graph.operation(function, (*called.values, x), shape, node.at, options)


def _every_axis(shape: Shape, options: Mapping[str, Any], node: Call) -> float | tuple[float, ...]:
    """All axes of one draw, for a reduction that names none."""
    if len(shape) < 2:
        return -1.0
    if "ord" in options and "ord" in {*dict(node.keywords), *("ord" for _ in node.arguments[1:2])}:
        raise node.at.error(
            f"{node.name} of shape {list(shape)} with 'ord' needs 'axis'",
            "write axis=-1 for the norms of the rows, or leave ord out for that of all elements",
        )
    return tuple(float(axis) for axis in range(len(shape)))


# ---- operator calls ------------------------------------------------------------------------------
#
# Operators on the law, `E(u)`, `Cov(u, v)`, `P(event, given=event)`.


SHORT = 20  # characters of an expression that a hint repeats


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
    _refuse_no_events(node, bound, operands)
    values = tuple(operands.values())
    mirrored = len(operands) - ("given" in operands) < operator.quantities
    if mirrored:
        values = _pairs(context, node, *values)
    known = [value.shape for value in values]
    shape = shape_at(node.at, f"{node.name}: ", shapes.broadcast, known)
    if level is not None and not values[0].random:
        return values[0]
    make = functools.partial(_operator, context, node, level)
    if not shape or context.certain:
        return make(values)
    return of_each_entry(
        context, values, shape, make, node.at, one_by_one=operator.quantile, mirrored=mirrored
    )


def _level(context: Context, node: Node) -> float:
    """The level of a quantile."""
    value = context.lower_fixed(
        node, "the level of a quantile is fixed, and this is random", "write Quantile(u, 0.9)"
    )
    known = value.known
    if not isinstance(known, float) or not 0 < known < 1:
        shown = f"{known:.12g}" if isinstance(known, float) else f"of shape {list(value.shape)}"
        raise node.at.error(
            f"the level of a quantile lies between 0 and 1, and this is {shown}",
            "write 0.95 for 95%, and several as a parameter, p: [0.1, 0.9]; for the ends of its "
            "support claim for example P(u <= 1) == 1",
        )
    return known


def _pairs(context: Context, node: Call, x: Value, *given: Value) -> tuple[Value, ...]:
    """The operands of an operator of two quantities for all pairs of elements of one vector."""
    written = f"write {OPERATORS[node.name].written}"
    if len(x.shape) != 1:
        raise node.at.error(
            f"{node.name} of one quantity is the matrix of all pairs of elements of a vector, and "
            f"this {'is one number' if x.shape == () else f'has shape {list(x.shape)}'}",
            f"{written} of two, or pick a vector: x[0], x[:, 0]",
        )
    if any(one.shape for one in given):
        raise node.at.error("the condition of a matrix of pairs is one truth a draw", written)
    rows = context.graph.indexed(x, (slice(None), None), node.at)
    return rows, x, *given


def _operator(
    context: Context, node: Call, level: float | None, values: tuple[Value, ...]
) -> Value:
    """An operator on the law: one number."""
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


def _bind_operator(node: Call, names: Sequence[str]) -> dict[str, Node]:
    """The arguments of an operator by name; the condition can be given by name only."""
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
        if not meant and operator.probability and len(node.arguments) < needed:
            raise value.at.error(
                "'=' does not compare", f"write '==' for equality: {name} == {unparse(value)}"
            )
    if operator.of_pairs and len(node.arguments) == 1 and names[1] not in dict(node.keywords):
        names, needed = [names[0], names[-1]], 1
    return bind(node, names, needed, lambda: f"{node.name}({', '.join(names[:-1])}, given=event)")


def _refuse_operands(node: Call, bound: Mapping[str, Node], operands: Mapping[str, Value]) -> None:
    """Refuse an operator inside an operator, and operands without elements."""
    for name, value in operands.items():
        if value.estimated:
            inner = (one for one in walk(bound[name]) if isinstance(one, Call))
            called = next((one for one in inner if one.name in OPERATORS), bound[name])
            raise called.at.error(
                f"an operator stands inside the operator {node.name}",
                "put a number or a parameter m in place of the inner one, and claim E(…) == m "
                "separately",
            )
        if 0 in value.shape:
            raise bound[name].at.error(
                f"{node.name} of nothing: this has no elements, its shape is {list(value.shape)}",
                "look at the ends of slices, and at the shapes that parameters give",
            )


def _refuse_no_events(node: Call, bound: Mapping[str, Node], operands: Mapping[str, Value]) -> None:
    """Refuse a number where an event is asked for, and a condition that has probability 0."""
    operator = OPERATORS[node.name]
    asked = [operator.operands[0]] if operator.probability else []
    for name in (*asked, "given"):
        if name not in operands:
            continue
        where, text = bound[name].at, _short(bound[name])
        if not is_event(operands[name]):
            role = f"{node.name!r} takes an event" if name != "given" else "a condition is an event"
            mean = f"; E({text}) is its mean" if name != "given" else ""
            raise where.error(
                f"{role}, which is 0 or 1 in every draw, and this is a number",
                f"write a comparison, such as {text} > 0 or {text} != 0{mean}",
            )
        if name == "given" and has_no_chance(operands[name]):
            raise where.error(
                "this condition has probability 0: no draw meets it, as a continuous quantity "
                "takes no single value",
                "give it a range, such as given=abs(x) < 0.01",
            )


def _short(node: Node) -> str:
    """An expression as it may stand in a hint."""
    text = unparse(node)
    return text if len(text) <= SHORT and text.isidentifier() else "x"


# ---- indexing ------------------------------------------------------------------------------------
#
# Indices in brackets: numbers, slices, `None`, `...`, and fixed arrays of places or of truths.
#
# They mean the same as in numpy. They must be fixed before any draw, because all draws have the
# same shape. Only a single index may be random: `mu[k]`.


MOST_PLACES = 2**16  # in an array of indices


def subscript(context: Context, base: Node, index: tuple[Node, ...], at: Position) -> Value:
    """`base[index, …]`.

    Raises:
        DropcheckError: the index is not fixed, or not inside the array.
    """
    value = context.lower(base)
    alone = len(index) == 1 and not isinstance(index[0], _WITHOUT_VALUE)
    if alone and value.shape and not context.formula:  # a formula counts from 1, a model from 0
        places = context.lower(index[0])
        if places.random and not (places.estimated or _is_mask(places)):
            shape = places.shape + value.shape[1:]
            return context.graph.operation(TAKE, (value, places), shape, at)
    left = tuple(_entries(context, value.shape, index, at))
    while left and isinstance(left[0], int) and id(value) in context.collected:
        value, left = value.inputs[left[0]], left[1:]  # the value of one step of a loop
    return context.graph.indexed(value, left, at)


_WITHOUT_VALUE = (syntax.Axes, syntax.Slice)


def _entries(
    context: Context, shape: Shape, index: tuple[Node, ...], at: Position
) -> Iterator[Index]:
    """The entries of an index without `...`, for as many axes as there are."""
    rests = [node for node in index if isinstance(node, syntax.Axes) and node.sign is not None]
    if len(rests) > 1:
        raise rests[1].at.error("'...' stands twice in one index", "write ':' for a single axis")
    read = [(node, _read(context, node)) for node in index]
    used = sum(_axes_of(entry) for _, entry in read)
    if used > len(shape):
        raise at.error(
            f"{used} {'index is' if used == 1 else 'indices are'} too many for {describe(shape)}",
            "draws and steps of a loop have no index: write fewer, or the name without brackets",
        )
    axis = 0
    for node, entry in read:
        own = shape[axis : axis + _axes_of(entry)]
        if node in rests:
            axis += len(shape) - used
            yield from [slice(None)] * (len(shape) - used)
        elif isinstance(entry, np.ndarray) and entry.dtype == np.bool_:
            if entry.shape != own:
                raise node.at.error(
                    f"these truths are {describe(entry.shape)}, and stand for {describe(own)}",
                    "a fixed condition in brackets has the shape of what it picks from",
                )
            yield from (tuple(places.tolist()) for places in np.nonzero(entry))
        elif isinstance(entry, slice) or entry is None:
            if context.formula and entry is not None:
                _refuse_outside(entry, own[0], node)
            yield entry
        else:
            if context.formula and isinstance(entry, int):
                _refuse_outside(entry, own[0], node)
            for place in np.ravel(entry):
                if not -own[0] <= place < own[0]:
                    where = at if isinstance(entry, int) else node.at
                    raise where.error(
                        f"index {place} is out of range for an axis of length {own[0]}",
                        f"indices count from 0: the last is {own[0] - 1}" if own[0] else None,
                    )
            yield entry if isinstance(entry, int) else tuples(entry.tolist())
        axis += len(own)


def _refuse_outside(entry: int | slice, length: int, node: Node) -> None:
    """Refuse indices of a formula, converted from a count from 1, that are outside the array."""
    if isinstance(entry, int):
        if entry < 0:
            place = entry if isinstance(node, syntax.Negative) else entry + 1
            message = f"the formula asks for element {place}, and elements count from 1"
            raise node.at.error(message, "choose other values, or write the statement in the mark")
        if entry >= length:
            message = f"the formula asks for element {entry + 1}, and there are {length}"
            raise node.at.error(message, "elements of a formula count from 1")
        return
    first, last = entry.start or 0, length if entry.stop is None else entry.stop
    if first < 0 or last < 0 or (last > length and first < last):
        message = f"the formula counts elements {first + 1} to {last}, and there are {length}"
        raise node.at.error(message, "count to what the model has")


def _read(context: Context, node: Node) -> int | slice | NDArray[Any] | None:
    """One entry of an index: places and truths are arrays; None for a new axis and for `...`."""
    if isinstance(node, syntax.Axes):
        return None
    if isinstance(node, syntax.Slice):
        bounds = (node.start, node.stop, node.step)
        ends = [None if end is None else _whole(_fixed(context, end), end) for end in bounds]
        if ends[2] == 0:
            raise node.at.error("the step of a slice cannot be 0")
        return slice(*ends)
    value = _fixed(context, node)
    if not value.shape:
        return _whole(value, node)
    if value.constant.size > MOST_PLACES:
        raise node.at.error(
            f"an index has at most {MOST_PLACES:,} entries, and this has {value.constant.size:,}",
            "a slice such as x[::2] needs none",
        )
    array: NDArray[Any] = value.constant[..., 0]
    if _is_mask(value):
        return array.astype(np.bool_)
    places = [_index(float(number), node) for number in array.ravel()]
    return np.array(places, dtype=np.int64).reshape(array.shape)


def _axes_of(entry: int | slice | NDArray[Any] | None) -> int:
    """How many axes of the array an entry indexes."""
    if isinstance(entry, np.ndarray) and entry.dtype == np.bool_:
        return entry.ndim
    return 0 if entry is None else 1


def _fixed(context: Context, node: Node) -> Value:
    value = context.lower(node)
    if value.random and _is_mask(value) and value.shape:
        raise node.at.error(
            "this keeps a random number of elements, and an array has one shape in all draws",
            "keep the shape and replace the other elements: sum(where(c, x, 0)), or "
            "sum(x * c) / sum(c) for a mean; E(x, given=c) is the mean of x where c holds",
        )
    return context.lower_fixed(
        node,
        "an index in brackets must be fixed, and this one is random",
        "a random index stands by itself, as in x[i][0] or take(x, i)[0]",
    )


def _is_mask(value: Value) -> bool:
    """Whether an array holds truths only, possibly rearranged or joined."""
    stack = [value]
    while stack:
        one = stack.pop()
        if one.binary:
            continue
        if one.kind != Kind.COMPUTED or not (
            one.function.rearranges or one.function.does == "joins"
        ):
            return False
        stack += one.inputs
    return True


def _whole(value: Value, node: Node) -> int:
    known = value.known
    if not isinstance(known, float):
        raise node.at.error("an end of a slice is a number, and this is a list", "write x[1:3]")
    return _index(known, node)


def _index(number: float, node: Node) -> int:
    if number != number // 1:
        raise node.at.error(
            f"an index needs a whole number, and this is {number:.12g}", "indices count from 0"
        )
    return int(max(-(2.0**62), min(number, 2.0**62)))


# ---- entries -----------------------------------------------------------------------------------
#
# Operators on the law of each entry of arrays, and the entries of a statement about arrays.
#
# Such an operator is the array of its values, to which functions apply: entries that have one law
# of all that the operator reads have one value, which is averaged over all entries of an axis where
# these are alike. An entry of a side is then found by the entries of what it is made of.


EntryIndex = tuple[int, ...]
Part = Sequence[int | slice] | Integers
"""A part of arrays of one shape: an index, whose slices stand for whole axes, or the numbers of
entries."""
FULL = FUNCTIONS["full"]
# The most entries of one law over which values of code are averaged, if they fill no axis.
MOST_AVERAGED = 4096
# The most different entries in one claim; each is a comparison of its own.
MOST_ENTRIES = 10_000


def part_of(context: Context, value: Value, part: Part, shape: Shape) -> Value:
    """A part of a value that is broadcast to a shape: entries by number, or an index."""
    if value.shape == ():
        return value
    if isinstance(part, np.ndarray):
        own = np.broadcast_to(np.arange(math.prod(value.shape)).reshape(value.shape), shape)
        places = tuple(int(one) for one in own.ravel()[part])
        flat = context.graph.reshaped(value, (math.prod(value.shape),), value.at)
        return context.graph.indexed(flat, (places,), value.at)
    last = part[len(part) - len(value.shape) :]
    index = tuple(
        0 if n == 1 and isinstance(at, int) else at for at, n in zip(last, value.shape, strict=True)
    )
    entry = tuple(at for at in index if isinstance(at, int))
    if len(entry) == len(index):
        return entry_of(context, value, entry)
    return context.graph.indexed(value, index, value.at)


def entry_of(context: Context, value: Value, index: EntryIndex) -> Value:
    """One entry of an array, by the entry of what it is made of where that is known."""
    moved = value.kind == Kind.COMPUTED and value.function.rearranges
    if value.shape == () and not (moved and value.estimated):
        return value
    if value.kind == Kind.COMPUTED:
        if value.function is ARRAY:
            return entry_of(context, value.inputs[index[0]], index[1:])
        if moved:
            (source,) = value.inputs
            return entry_of(context, source, _origin(context, value, index))
        if value.estimated and value.function.by_element:
            parts = tuple(
                entry_of(context, one, place_in(index, one.shape)) for one in value.inputs
            )
            return context.graph.operation(value.function, parts, (), value.at, value.options)
    return context.graph.indexed(value, index, value.at)


def place_in(index: EntryIndex, shape: Shape) -> EntryIndex:
    """The index in an input that is broadcast, from the index in the result."""
    last = index[len(index) - len(shape) :]
    return tuple(0 if length == 1 else place for place, length in zip(last, shape, strict=True))


def _origin(context: Context, value: Value, index: EntryIndex) -> EntryIndex:
    """Where an entry of a value that moves elements comes from."""
    (source,) = value.inputs
    if math.prod(source.shape) == 1:
        return (0,) * len(source.shape)
    origins = context.origins.get(id(value))
    if origins is None:
        numbers = np.arange(math.prod(source.shape)).reshape(*source.shape, 1)
        origins = context.origins[id(value)] = kernel_of(value)(numbers)[..., 0]
    return tuple(int(one) for one in np.unravel_index(int(origins[index]), source.shape))


def product(context: Context, sides: tuple[Value, Value], shape: Shape, at: Position) -> Value:
    """A product of arrays of operators, as sums of products: of these more is known."""
    left, right = sides
    every, axis = slice(None), -1.0 if len(right.shape) == 1 else -2.0
    if len(right.shape) > 1:
        left = context.graph.indexed(left, (*(every,) * len(left.shape), None), left.at)
    if len(left.shape) > 2 and len(right.shape) > 1:
        places = (*(every,) * (len(right.shape) - 2), None)
        right = context.graph.indexed(right, places, right.at)
    products = context.graph.elementwise(MULTIPLY, (left, right), at)
    options = (("axis", axis), ("keepdims", 0.0))
    return context.graph.operation(SUM, (products,), shape, at, options)


def too_many(at: Position, count: int) -> DropcheckError:
    """The error for an operator of too many different entries."""
    return at.error(
        f"an operator on the law speaks of every entry of an array: these are {count:,} different "
        f"ones, and at most {MOST_ENTRIES:,} are looked at",
        "an entry picked at random is x[pick], with pick ~ discrete_uniform(0, n - 1); what is "
        "made of all of them is mean(x), sum(x) or max(x)",
    )


def of_each_entry(
    context: Context,
    values: Sequence[Value],
    shape: Shape,
    make: Callable[[tuple[Value, ...]], Value],
    at: Position,
    *,
    one_by_one: bool,
    mirrored: bool,
) -> Value:
    """An operator on the law of arrays, as the array of what it is at each entry.

    Entries that have one law of all that the operator reads have one value.

    An operator `one_by_one` is of single numbers, and cannot be averaged over entries; one that is
    `mirrored` has the same value at [i, j] and [j, i].

    Raises:
        DropcheckError: there are too many different entries.
    """
    kinds = entries_alike(values, shape, context.slots.models)
    if mirrored:
        kinds = np.minimum(kinds, kinds.T)
    every = not one_by_one and bool(calls_below(values))  # code may differ among entries alike
    axes = zip(kinds.strides, kinds.shape, strict=True)
    whole = [stride == 0 and length > 1 for stride, length in axes]
    one_of_each = kinds[tuple(slice(1) if one else slice(None) for one in whole)]
    found, firsts, which = np.unique(one_of_each, return_index=True, return_inverse=True)
    if found.size > MOST_ENTRIES:
        raise too_many(at, found.size)
    made: list[Value] = []
    for kind, first in zip(found, firsts, strict=True):
        index = np.unravel_index(int(first), one_of_each.shape)
        part: Part = [
            slice(None) if one and not one_by_one else int(place)
            for one, place in zip(whole, index, strict=True)
        ]
        if every and np.count_nonzero(one_of_each == kind) > 1:
            places = np.flatnonzero(kinds == kind)
            part = places[:: math.ceil(len(places) / MOST_AVERAGED)]
        made.append(make(tuple(part_of(context, one, part, shape) for one in values)))
    table = context.graph.operation(ARRAY, tuple(made), (len(made),), at)
    places_of = tuple(int(one) for one in which.ravel())
    listed = context.graph.indexed(table, (places_of,), at)
    value = context.graph.reshaped(listed, one_of_each.shape, at)
    if value.shape == shape:
        return value
    return context.graph.operation(
        FULL, (value,), shape, at, (("shape", tuple(map(float, shape))),)
    )


def entries_of_sides(
    context: Context, sides: Sequence[Value], shape: Shape, at: Position
) -> tuple[list[EntryIndex], list[Value]]:
    """The index of each entry of a statement, and the sides of each entry, in one list.

    Entries that state the same are given once, such as the two halves of a symmetric matrix.

    Raises:
        DropcheckError: there are too many.
    """
    if not shape:
        return [()], [entry_of(context, side, ()) for side in sides]
    kinds = _together([kinds_of(context, side) for side in sides], shape)
    firsts = np.sort(np.unique(kinds, return_index=True)[1])
    if firsts.size > MOST_ENTRIES:
        raise too_many(at, firsts.size)
    found: list[EntryIndex] = []
    values: list[Value] = []
    for first in firsts:
        index = tuple(int(one) for one in np.unravel_index(int(first), shape))
        found.append(index)
        values += [entry_of(context, side, place_in(index, side.shape)) for side in sides]
    return found, values


def kinds_of(context: Context, value: Value) -> Integers:
    """For each entry of a side a number; entries of one number have the same value."""
    if value.shape == ():
        return np.zeros((), dtype=np.intp)
    if not value.estimated:
        numbers = value.constant[..., 0]
        return np.unique(numbers, return_inverse=True)[1].reshape(value.shape)
    if value.function.by_element:
        return _together([kinds_of(context, one) for one in value.inputs], value.shape)
    if value.function is ARRAY:
        first = {id(one): place for place, one in reversed([*enumerate(value.inputs)])}
        which = np.array([first[id(one)] for one in value.inputs])
        which = which.reshape(-1, *(1,) * (len(value.shape) - 1))
        kinds = np.stack([kinds_of(context, one) for one in value.inputs])
        return _together([kinds, which], value.shape)
    if value.function.rearranges:
        kinds = kinds_of(context, value.inputs[0])
        if kinds.size == 1:
            return np.broadcast_to(np.zeros((), dtype=np.intp), value.shape)
        return np.asarray(kernel_of(value)(kinds[..., np.newaxis])[..., 0], dtype=np.intp)
    return np.arange(math.prod(value.shape)).reshape(value.shape)


def _together(columns: Sequence[Integers], shape: Shape) -> Integers:
    """Numbers that are equal where all columns are."""
    code = np.zeros((), dtype=np.intp)
    for column in columns:
        if any(column.strides):
            code = code * (int(column.max()) + 1) + column
            code = np.unique(code, return_inverse=True)[1].reshape(code.shape)
    return np.broadcast_to(code, shape)
