"""Calls of functions, of operators on the elements of a draw, and of densities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dropcheck.claims.registry import DTYPE
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Plain, Value, hashable
from dropcheck.language.lowering.builder import shape_at
from dropcheck.language.lowering.context import Context
from dropcheck.language.lowering.draws import batch_shape, check_values, own_axes, read_draw
from dropcheck.language.lowering.log_densities import written_out
from dropcheck.language.suggestions import function_hint, notation_hint
from dropcheck.language.syntax import Call, Name, Node, bind, unknown_keyword
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.function import AXIS, Function, Parameter
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.functions.arrays import ARRAY
from dropcheck.vocabulary.functions.elementwise import EXP, ROUND
from dropcheck.vocabulary.functions.number_formats import ROUNDED
from dropcheck.vocabulary.functions.of_laws import DENSITY, LOG_DENSITY
from dropcheck.vocabulary.functions.reductions import PAIRWISE
from dropcheck.vocabulary.functions.truths import IS_CLOSE, WHERE
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import operator_like
from dropcheck.vocabulary.relations import INDEPENDENT, SIGNATURE
from dropcheck.vocabulary.shapes import Shape, ShapeError
from dropcheck.vocabulary.slot_calls import TRAIN, slot_and_mode

# More axes, sizes or levels than anybody writes.
LONGEST_OPTION = 1_000


def call(context: Context, node: Call) -> Value:
    """The value of a function call.

    Raises:
        DropcheckError: there is no such function, or it does not take these arguments.
    """
    if slot_and_mode(node.name)[0] in context.slots.known and context.slots.define is not None:
        return context.slots.define(context, node, None, ())
    if node.name in OF_LAWS:
        return _of_law(context, node)
    function = FUNCTIONS.get(node.name)
    if function is ROUND and len(node.arguments) == 2:
        return _rounded(context, *node.arguments)
    if function is None:
        raise unknown_function(node)
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


def unknown_function(node: Call) -> DropcheckError:
    """The error for a call of something that is not a function."""
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
    hint = notation_hint(node.name, node.at) or function_hint(node.name)
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
    if (pairwise := _of_listed_numbers(context, function, values, node)) is not None:
        return pairwise
    given = tuple(value.shape for value in values)
    try:
        shape = function.shape(given, options)
    except ShapeError as error:
        hint = error.hint or _hint_of_one_number(function, given)
        raise node.at.error(f"{function.name}: {error}", hint) from None
    if given and len(shape) < len(given[0]) > 1 and _names_no_axis(function, node):
        context.along_last[node.at] = node.name, len(given[0])
    if function.of_shape:
        constant = function.kernel(np.broadcast_to(0.0, (*given[0], 1)))
        written = (("value", constant.tobytes()),)
        return context.graph.constant("number", constant, shape=shape, at=node.at, options=written)
    chosen = tuple(sorted((name, hashable(value)) for name, value in options.items()))
    return context.graph.operation(function, values, shape, node.at, chosen)


def _of_listed_numbers(
    context: Context, function: Function, values: tuple[Value, ...], node: Call
) -> Value | None:
    """`max([a, b])` as `maximum(a, b)`: more is known of two numbers than of an array."""
    if function.name not in PAIRWISE or len(node.arguments) > 1 or node.keywords:
        return None
    items = values[0].inputs if values[0].operation == ARRAY.name else ()
    if len(items) < 2 or items[0].shape:
        return None
    return context.graph.elementwise(FUNCTIONS[PAIRWISE[function.name]], items, node.at)


def _bind_function(
    context: Context, function: Function, node: Call
) -> tuple[tuple[Value, ...], dict[str, Any]]:
    """The lowered values in order, and the options by name."""
    parameters = function.parameters
    values: list[Value] = []
    options: dict[str, Any] = {}
    variadic = next((p for p in parameters if p.variadic), None)
    if variadic is not None:
        bound = _bind_variadic(function, variadic, node)
        if variadic.option:
            entries = [_option(context, argument) for argument in node.arguments]
            listed = (one if isinstance(one, tuple) else (one,) for one in entries)
            options[variadic.name] = tuple(entry for one in listed for entry in one)
        else:
            values = [context.lower(argument) for argument in node.arguments]
    else:
        needed = sum(p.required for p in parameters)
        bound = bind(node, [p.name for p in parameters], needed, lambda: function.signature)
    for parameter in parameters:
        if parameter.variadic:
            continue
        if not parameter.option:
            if parameter.name in bound:
                values.append(context.lower(bound[parameter.name]))
            elif parameter.default is not None and variadic is None:
                values.append(context.graph.number(parameter.default, node.at))
        elif parameter.name in bound:
            options[parameter.name] = _option(context, bound[parameter.name])
        elif parameter.default is not None:
            options[parameter.name] = parameter.default
            if function is IS_CLOSE:  # values that differ by rounding only are close
                own = context.slots.near.get(parameter.name, 0.0)
                options[parameter.name] = max(parameter.default, own)
    return tuple(values), options


def _bind_variadic(function: Function, variadic: Parameter, node: Call) -> dict[str, Node]:
    """The named arguments of a function that takes any number of positional arguments.

    Raises:
        DropcheckError: a name is unknown, or there are too few positional arguments.
    """
    fixed = [p for p in function.parameters if not p.variadic]
    known = [p.name for p in fixed]
    for name, _ in node.keywords:
        if name not in known:
            raise unknown_keyword(node, name, known, function.signature)
    least = sum(not p.option for p in fixed) + (1 if variadic.required else 0)
    if len(node.arguments) < least:
        raise node.at.error(
            f"{function.name} takes at least {least} arguments, and has {len(node.arguments)}",
            f"write {function.signature}",
        )
    return dict(node.keywords)


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
    drawn = read_draw(context, bound["law"])
    if drawn.shape is not None:
        raise drawn.at.error(
            f"the law of {node.name!r} takes no shape",
            f"its arguments and {asked_at} give the shape",
        )
    arguments = [context.lower(argument) for argument in drawn.arguments]
    own = own_axes(drawn.law, arguments, drawn)
    if own and not function.of_vectors:
        raise drawn.at.error(
            f"{node.name!r} is of laws of numbers, and {drawn.law.name} gives vectors",
            "draw from it on a line of the model, and claim P(…) of what is made of the draw",
        )
    check_values(drawn.law, arguments, drawn)
    batch = batch_shape(context, drawn.law, arguments, drawn)
    x = context.lower(bound[asked_at])
    if own and x.shape[len(x.shape) - len(own) :] != own:
        raise bound[asked_at].at.error(
            f"a value of {drawn.law.name} has shape {list(own)}, and this has {list(x.shape)}"
        )
    batches = (batch, x.shape[: len(x.shape) - len(own)])
    shape = shape_at(node.at, f"{node.name}: ", shapes.broadcast, batches)
    written = _written_out(context, function, drawn.law, arguments, x, node)
    if written is not None and written.shape == shape:
        return written
    return context.graph.operation(
        function, (*arguments, x), shape, node.at, (("law", drawn.law.name),)
    )


def _written_out(
    context: Context, function: Function, law: Law, arguments: list[Value], x: Value, node: Call
) -> Value | None:
    """A density, or its logarithm, as an expression; None if the law's own function is used.

    A density is written out only for symmetric laws on the whole line. There the formula falls with
    the distance from the centre, so bounds of its terms are bounds of the density. For other laws,
    more is known from the law.
    """
    if function not in (DENSITY, LOG_DENSITY):
        return None
    if function is DENSITY and (law.discrete or not law.symmetric or callable(law.ends)):
        return None
    log_density = written_out(context.graph, law, arguments, x, node.at)
    if log_density is None or function is LOG_DENSITY:
        return log_density
    return context.graph.elementwise(EXP, (log_density,), node.at)


def _names_no_axis(function: Function, node: Call) -> bool:
    """Whether the function takes an axis and the call does not give one."""
    names = [parameter.name for parameter in function.parameters]
    given = {*names[: len(node.arguments)], *dict(node.keywords)}
    return AXIS.name in names and AXIS.name not in given


def _hint_of_one_number(function: Function, given: tuple[Shape, ...]) -> str | None:
    """A hint if a function of a draw's elements is called with a single number."""
    over = any(parameter.name == "axis" for parameter in function.parameters)
    if not over or given[0] != ():
        return None
    return (
        f"{function.name!r} is over the elements of one draw: of several numbers write "
        f"{function.name}([a, b]), and n at once are drawn by x ~ normal(0, 1)[n]"
    )
