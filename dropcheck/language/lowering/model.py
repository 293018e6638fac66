"""Lowers the lines of a model: draws, names of expressions, loops and calls of slots."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dropcheck.claims.registry import BATCH, CALL, SEED, CodeRequest, Sample, Slot, SourceText
from dropcheck.errors import About, DropcheckError, Problem
from dropcheck.language import syntax
from dropcheck.language.graph import (
    SAMPLE,
    CodeCall,
    Kind,
    Sources,
    Value,
    joined_sources,
    number,
)
from dropcheck.language.hints import MIXTURE, law_hint, written_law
from dropcheck.language.lowering.builder import (
    Context,
    GraphBuilder,
    Later,
    Scope,
    Skipped,
    axis_names,
    names_of_lengths,
    note_axes,
    rounded_for_code,
    shape_at,
)
from dropcheck.language.parser import parse_expression, parse_model
from dropcheck.language.syntax import (
    Call,
    Loop,
    Model,
    ModelLine,
    Name,
    Node,
    Number,
    Position,
    Slice,
    Statement,
    Subscript,
    bind,
    children,
    lines_of,
    walk,
)
from dropcheck.results import Vector
from dropcheck.vocabulary import shapes, special
from dropcheck.vocabulary.domains import FINITE, NOT_NEGATIVE, argument_problem, domain_problem
from dropcheck.vocabulary.function import EVAL, GRAD, TRAIN, slot_and_mode
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.arrays import ARRAY
from dropcheck.vocabulary.functions.elementwise import ARITHMETIC_SIGNS
from dropcheck.vocabulary.functions.truths import NOT_EQUAL
from dropcheck.vocabulary.law import Law, Values, digits_problem
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS
from dropcheck.vocabulary.shapes import Shape, ShapeError, describe
from dropcheck.vocabulary.special import Special

MOST_AXES = 30  # numpy has 64, and kernels add a few of their own


@dataclass(frozen=True, slots=True)
class LawCall:
    """A law with its arguments in the order of its parameters, and the shape behind it.

    `own` are the last axes of a draw, those of one value of the law.
    """

    law: Law
    nodes: tuple[Node, ...]
    values: tuple[Value, ...]
    shape: tuple[Node, ...] | None
    at: Position
    own: Shape = ()


def draw(context: Context, node: Node, name: Name) -> Value:
    """A new draw from a law; a degenerate law gives a constant.

    Raises:
        DropcheckError: this is not a law, or its arguments or its shape are wrong.
    """
    base = node.base if isinstance(node, Subscript) else node
    sampler = base if isinstance(base, Call) and base.name in context.slots.known else None
    if sampler is not None:
        index = node.index if isinstance(node, Subscript) else ()
        size, names = _dimensions(context, index), names_of_lengths(context, index)
        return define_call(context, sampler, size, names)
    called = read_law(context, node)
    law, arguments = called.law, called.values
    shape = batch_shape(context, called) + called.own
    context.graph.spend_draw(law, shape, name)
    check_values(called)
    known = [argument.known for argument in arguments]
    if called.own == () and all(isinstance(one, float) for one in known):
        value = law.constant(*known)
        if value is not None:
            constant = np.broadcast_to(np.float64(value), (*shape, 1))
            own = {"at": name.at, "name": name.name, "options": (("drawn", name.name),)}
            return context.graph.constant("degenerate", constant, shape=shape, **own)
    return Value(
        kind=Kind.DRAW,
        operation=law.name,
        inputs=arguments,
        shape=shape,
        at=name.at,
        name=name.name,
        random=True,
        sources=Sources([name.name]) | joined_sources(arguments),
        law=law,
        suspect=next((a.suspect for a in arguments if a.suspect), None),
    )


def of_code(
    context: Context, call: CodeCall, values: Sequence[Value], shape: Shape, name: Name
) -> Value:
    """A value that code gives; only its shape is known."""
    context.graph.spend_draw(None, shape, name)
    return Value(
        kind=Kind.DRAW,
        operation=SAMPLE if call.tag == SAMPLE else name.name,
        shape=shape,
        at=name.at,
        inputs=tuple(values),
        random=True,
        sources=Sources([call.tag]) | joined_sources(values),
        suspect=next((value.suspect for value in values if value.suspect), None),
        call=call,
    )


def read_law(context: Context, node: Node) -> LawCall:
    """The law that a node names; its arguments' ranks are checked, and those that are numbers.

    If the case defines a name that is also a law's, the case's meaning counts.

    Raises:
        DropcheckError: it is not a law, or does not take one of the arguments.
    """
    shape: tuple[Node, ...] | None = None
    base = node
    if isinstance(node, Subscript):
        base, shape = node.base, node.index
    if isinstance(base, Name):
        if base.name in LAWS and base.name not in context.scope:
            raise base.at.error(
                f"{base.name!r} needs its arguments", f"write {LAWS[base.name].signature}"
            )
        if shape is not None and base.name not in context.scope:  # U[0, 1]
            hint = law_hint(base.name)
            if hint.startswith("write"):
                raise base.at.error("the arguments of a law stand in round brackets", hint)
        meaning = context.scope.look_up(base.name, base.at)
        if not isinstance(meaning, Call):
            raise base.at.error(
                f"{base.name!r} is a number, not a law",
                "write a law such as normal(0, 1), or '=' for an expression",
            )
        base = meaning
    if not isinstance(base, Call):
        raise base.at.error(
            "a law is expected right of '~'",
            "draw on a line by itself, z ~ normal(0, 1)[n], and compute on the next with '=', "
            "x = 1 + 2 * z; one of several numbers is choice([1, 2, 3]); of a mixture draw "
            f"{MIXTURE}",
        )
    if base.name not in LAWS:
        raise unknown_law(base)
    law = LAWS[base.name]
    names = [parameter.name for parameter in law.parameters]
    if any(name in ("size", "shape") and name not in names for name, _ in base.keywords):
        at = next(value.at for name, value in base.keywords if name not in names)
        message = f"the shape of a draw follows {base.name}(…) in brackets"
        raise at.error(message, f"write {law.signature}[n]")
    more = f"; a shape follows in brackets, {law.name}(…)[n]"
    shape_hint = more if len(base.arguments) > len(names) else ""
    bound = bind(base, names, len(names), lambda: written_law(law) + shape_hint)
    nodes = tuple(bound[name] for name in names)
    called = LawCall(law, nodes, tuple(map(context.lower, nodes)), shape, base.at)
    return replace(called, own=_own_axes(called))


def unknown_law(node: Call) -> DropcheckError:
    """The error for a call right of `~` of something that is not a law."""
    return node.at.error(f"{node.name!r} is not a law", law_hint(node.name))


def _own_axes(called: LawCall) -> Shape:
    law = called.law
    for parameter, value, node in zip(law.parameters, called.values, called.nodes, strict=True):
        if value.estimated:
            raise node.at.error(
                "an operator on the law stands in the model",
                "operators such as E(…) belong in 'claim'",
            )
        if len(value.shape) < parameter.axes:
            kind = "a list" if parameter.axes == 1 else "a matrix"
            of = "" if value.shape == () else "of shape "
            raise node.at.error(
                f"{parameter.name!r} of {law.name} must be {kind}, and is "
                f"{of}{describe(value.shape)}",
                f"write {law.signature}",
            )
        known = value.known
        reported = value.suspect is not None  # it has an error of its own
        if isinstance(known, float) and not parameter.axes and not reported:
            problem = domain_problem(parameter, known)
            if problem is not None:
                raise node.at.error(f"{law.name}: {problem}", _about(law), About.VALUES)
    if law.own_axes is None:
        return ()
    known_shapes = tuple(value.shape for value in called.values)
    known_values = tuple(value.known for value in called.values)
    return shape_at(called.at, f"{law.name}: ", law.own_axes, known_shapes, known_values)


def check_values(called: LawCall) -> None:
    """Check the arguments' values, if all are fixed; this looks at all elements.

    Raises:
        DropcheckError: a value is outside its domain, or the values contradict each other.
    """
    law, values = called.law, called.values
    if any(value.random or value.suspect for value in values):
        return
    fixed = [number(value.constant) for value in values]
    problem, hint = argument_problem(law.parameters, fixed), _about(law)
    if problem is None:
        problem = digits_problem(law, fixed)
        hint = "draw around 0, and claim what does not depend on the place"
    if problem is not None:
        raise called.at.error(f"{law.name}: {problem}", hint, About.VALUES)


def batch_shape(context: Context, called: LawCall) -> Shape:
    """The shape of the independent values: the one in brackets, or the arguments' common shape.

    Raises:
        DropcheckError: the arguments do not fit each other, or the brackets.
    """
    batches = [
        value.shape[: len(value.shape) - parameter.axes]
        for parameter, value in zip(called.law.parameters, called.values, strict=True)
    ]
    subject = f"the arguments of {called.law.name} do not go together: "
    common = shape_at(called.at, subject, shapes.broadcast, batches)
    if called.shape is None:
        return common
    given = _dimensions(context, called.shape)
    try:
        fits = shapes.broadcast((given, common)) == given
    except ShapeError:
        fits = False
    if not fits:
        raise called.at.error(
            f"arguments of shape {list(common)} do not fit draws of shape {list(given)}",
            "the shape in brackets must be at least that of the arguments",
        )
    return given


def _dimensions(context: Context, nodes: tuple[Node, ...]) -> Shape:
    dimensions: list[int] = []
    for node in nodes:
        if isinstance(node, Slice):
            raise node.at.error("a shape has whole numbers, and this is a slice", "write [n]")
        value = context.lower_fixed(
            node,
            "a shape must be fixed, and this one is random",
            "draw the largest shape, and mask the elements that are too many",
        )
        for entry in value.known if isinstance(value.known, tuple) else (value.known,):
            if not isinstance(entry, float) or not entry >= 1 or entry != entry // 1:
                shown = f"{entry:.12g}" if isinstance(entry, float) else "a list"
                raise node.at.error(
                    f"a shape needs whole numbers of at least 1, and this is {shown}",
                    "write for example [10], or [n] with n a parameter",
                )
            dimensions.append(int(entry))
    if len(dimensions) > MOST_AXES:
        raise nodes[0].at.error(f"a shape has at most {MOST_AXES} axes", "write [n, m]")
    return tuple(dimensions)


def _about(law: Law) -> str:
    """The hint for wrong arguments: the law in one line."""
    return f"{law.signature}: {law.summary}"


# ---- log densities -------------------------------------------------------------------------------
#
# Write out the logarithm of a law's density as an expression.
#
# Then all that is known of expressions is known of densities: exact means, bounds of moments,
# smoothness. The law's formula is called with stand-ins for arrays, which record its operations.


# Laws with other values have a density only at some points; the formulas do not show this.
_AT_ALL_POINTS = (Values.NUMBERS, Values.WHOLE, Values.TRUTHS)


_FUNCTIONS = (*FUNCTIONS.values(), *ARITHMETIC_SIGNS)
# The functions of the language, by the names of their ufuncs in scipy or numpy; our own `power`
# computes what numpy's does.
_KERNELS = {one.kernel.name: one for one in _FUNCTIONS if isinstance(one.kernel, Special)} | {
    name: one
    for one in _FUNCTIONS
    if isinstance(getattr(np, name := getattr(one.kernel, "__name__", ""), None), np.ufunc)
}


@dataclass(frozen=True, slots=True, eq=False)
class StandIn(NDArrayOperatorsMixin):
    """A value of the graph that stands in for an array."""

    value: Value
    graph: GraphBuilder
    at: Position

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply the language's function of that name; numpy raises a TypeError if there is none."""
        if ufunc in (special.xlogy, special.xlog1py) and method == "__call__":
            return self.times_log(ufunc, *inputs)
        function = _KERNELS.get(ufunc.__name__)
        numbers = all(isinstance(one, StandIn) or np.size(one) == 1 for one in inputs)
        if function is None or method != "__call__" or options or not numbers:
            return NotImplemented
        values = tuple(
            one.value
            if isinstance(one, StandIn)
            else self.graph.number(float(np.asarray(one).item()), self.at)
            for one in inputs
        )
        return StandIn(self.graph.elementwise(function, values, self.at), self.graph, self.at)

    def times_log(self, ufunc: np.ufunc, x: Any, y: Any) -> Any:
        """X log(y), or x log(1 + y); it is 0 where the number x is 0."""
        log = np.log if ufunc is special.xlogy else np.log1p
        if not isinstance(x, StandIn):
            return x * log(y) if np.all(x) else 0.0
        return x * log(y) if not isinstance(y, StandIn) and np.isfinite(log(y)) else NotImplemented

    def __array_function__(self, *_: Any) -> Any:
        """Refuse functions such as `numpy.where`, which the language has in another form."""
        return NotImplemented


def written_out(
    graph: GraphBuilder, law: Law, arguments: Sequence[Value], x: Value, at: Position
) -> Value | None:
    """The logarithm of a law's density at x as an expression; None where there is none.

    The formula holds between the ends of the law and for arguments in its domain. For a scale
    below 0 the logarithm is NaN: the density contains x / scale and 1 / scale.
    """
    values = (*arguments, x)
    if law.own_axes is not None or law.values not in _AT_ALL_POINTS:
        return None
    if not any(one.random for one in values):
        return None
    given: list[Any] = []
    for parameter, argument in zip(law.parameters, arguments, strict=True):
        varies = argument.random or parameter.axes or argument.shape != ()
        if varies and parameter.domain not in (FINITE, NOT_NEGATIVE):
            return None
        known = argument.known
        given.append(StandIn(argument, graph, at) if varies else known)
        scale = argument.constant if parameter.domain == NOT_NEGATIVE else None
        if scale is not None and not (scale > 0).all():
            return None  # a scale of 0 gives a constant, which has no density
    every_number = not law.discrete and law.ends == (-np.inf, np.inf)
    own = x.law is law and x.inputs == values[:-1]
    if not (every_number or own or _is_value_of(law, given, x)):
        return None  # x may be impossible
    try:
        with np.errstate(all="ignore"):
            log_density = law.log_density_inside(StandIn(x, graph, at), *given)
    except TypeError:
        return None
    return log_density.value if isinstance(log_density, StandIn) else None


def _is_value_of(law: Law, arguments: Sequence[Any], x: Value) -> bool:
    """Whether a draw of a fixed law is a value of another fixed law."""
    drawn = [argument.known for argument in x.inputs]
    fixed = all(isinstance(one, float) for one in (*arguments, *drawn))
    if x.law is None or x.law.values != law.values or not fixed:
        return False
    (low, high), (least, most) = law.support(*arguments), x.law.support(*drawn)
    return bool(low <= least and most <= high)


# ---- lines -------------------------------------------------------------------------------------


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
    else:
        known = context.lower(_written(value, name.at))
        if name.name in context.slots.given:
            known = rounded_for_code(context, known, name.at)
        context.scope.define(name, known, parameter=True)


def _written(value: float | Vector, at: Position) -> Node:
    """A vector as the list of numbers that would stand in the language."""
    if isinstance(value, tuple):
        return syntax.ArrayLiteral(at, tuple(_written(one, at) for one in value))
    return syntax.Number(at, value)


def define_sampled(context: Context, name: syntax.Name, sample: Sample) -> None:
    """Define a name that code draws."""
    asked = CodeRequest(draws=1, shapes=(), dtype=None, modes=frozenset())
    call = CodeCall(
        slot=sample.slot, code=sample.code, asked=asked, tag=SAMPLE, mode=name.name, draws=True
    )
    value = of_code(context, call, (), sample.shapes[name.name], name).called(name.name)
    if name.name in sample.truths:
        zero = context.graph.number(0.0, name.at)
        truth = context.graph.elementwise(NOT_EQUAL, (value, zero), name.at)
        value = truth.called(name.name)
        context.graph.remember(value)
    context.scope.define(name, value)


def define_line(context: Context, line: ModelLine) -> None:
    """Define the names of one line of the model."""
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


# ---- loops -------------------------------------------------------------------------------------
#
# Loops of a model: the lines of the body are lowered once for each step.
#
# The result is a graph like that of lines written one below the other, so everything that works for
# a model works for a loop. A name that is defined before the loop is carried from step to step.
# After the loop, a name that is new in the body is the array of its values.


# The most names, numbers, signs and calls in the lines of all steps of a case. A step of a queue
# has 16; lowering, compiling and analysing this many takes about ten seconds.
MOST_LOOPED = 100_000
FARTHEST = 2**60  # a bound on the ends of a range


def define_model(context: Context, model: Model) -> list[Problem]:
    """Define the lines of a model or of a loop's body in order, and return the problems."""
    problems: list[Problem] = []
    context.scope.to_come |= {name.name for part in model for name in _names_of(part)}
    for part in model:
        try:
            if isinstance(part, Loop):
                _define_loop(context, part)
            else:
                define_line(context, part)
        except Skipped:
            context.scope.mark_broken(_names_of(part))
        except DropcheckError as error:
            problems.extend(error.problems)
            context.scope.mark_broken(_names_of(part))
    return problems


def _names_of(part: ModelLine | Loop) -> tuple[Name, ...]:
    if isinstance(part, ModelLine):
        return part.names
    return tuple(name for line in lines_of(part.body) for name in line.names)


def _define_loop(context: Context, loop: Loop) -> None:
    """Carry out a loop."""
    scope = context.scope
    steps = _steps(context, loop)
    names = {name.name: name for name in reversed(_names_of(loop))}
    carried = frozenset(one for one in names if one in scope and one not in scope.parameters)
    for one in carried:
        scope.look_up(one, names[one].at)  # if it has an error, the loop is skipped
    new = [at for name, at in names.items() if name not in scope]
    lines = [part for part in loop.body if isinstance(part, ModelLine)]
    size = 1 + sum(1 for line in lines for _ in walk(line.right))
    if size * len(steps) > MOST_LOOPED - context.looped:
        raise loop.at.error(
            f"the loops of this claim come to {context.looped + size * len(steps):,} names, "
            f"numbers and signs by here, and {MOST_LOOPED:,} are allowed",
            "take fewer steps, or draw what does not depend on the last step as an array",
        )
    outer_carried = scope.carried
    kept: dict[str, list[Value | Later]] = {name.name: [] for name in new}
    for step in steps:
        before = {one: _shape_of(context, names[one]) for one in carried}
        scope.carried = carried
        scope.define(loop.name, context.graph.number(float(step), loop.name.at))
        context.steps += (step,)
        context.looped += size
        problems = define_model(context, loop.body)
        context.steps = context.steps[:-1]
        if problems:
            scope.carried = outer_carried
            scope.forget([*kept, loop.name.name])
            where = f" (at {loop.name.name} = {step})" if step != steps[0] else ""
            raise DropcheckError(
                dataclasses.replace(one, message=f"{one.message}{where}") for one in problems
            )
        for one, shape in before.items():
            after = _shape_of(context, names[one])
            if after != shape and (shape or step != steps[0]):  # a number may begin an array
                raise names[one].at.error(
                    f"{one!r} is {describe(shape)} before the step {loop.name.name} = {step} and "
                    f"{describe(after)} after it",
                    "what a loop carries keeps its shape; the values of all steps are an array "
                    "after the loop where the name is new in its body",
                )
        for written, values in kept.items():
            meaning = scope.meaning(written)
            assert not isinstance(meaning, Call)  # only parameters are laws
            if meaning is not None:
                values.append(meaning)
        scope.forget([*kept, loop.name.name])
    scope.carried = outer_carried
    for name in new:
        values = kept[name.name]
        if values and len(values) == len(steps):
            scope.define(name, partial(_collected, context, name, values))
        else:
            scope.missing[name.name] = (
                f"{name.name!r} is made in a loop that takes no step",
                "let it take one at least, or give the name a value on a line above the loop",
            )


def _steps(context: Context, loop: Loop) -> range:
    """The numbers that the loop's variable takes."""
    numbers = [_whole(context, node) for node in loop.over]
    if len(numbers) == 3 and numbers[2] == 0:
        raise loop.over[2].at.error("the step of a range cannot be 0", "write range(start, stop)")
    return range(*numbers)


def _whole(context: Context, node: Node) -> int:
    value = context.lower_fixed(
        node,
        "how often a loop runs must be fixed, and this is random",
        "let it run as often as it may need to, and freeze the state: s = where(t < n, next, s)",
    )
    known = value.known if value.shape == () else None
    if not isinstance(known, float):
        hint = "write range(size(x)); x[t] is element t of an array"
        raise node.at.error("range takes whole numbers, and this is an array", hint)
    if known != known // 1:
        raise node.at.error(
            f"range takes whole numbers, and this is {known:.12g}", "floor(x) rounds down"
        )
    return int(max(-FARTHEST, min(known, FARTHEST)))


def _shape_of(context: Context, name: Name) -> Shape:
    """The shape of a name's current value."""
    meaning = context.scope.look_up(name.name, name.at)
    assert not isinstance(meaning, Call)  # only parameters are laws
    return meaning.shape


def _collected(context: Context, name: Name, kept: list[Value | Later]) -> Value:
    """The array of a name's values at all steps."""
    values = tuple(one if isinstance(one, Value) else one() for one in kept)
    for value in values:
        if value.shape != values[0].shape:
            raise name.at.error(
                f"{name.name!r} is {describe(values[0].shape)} at one step and "
                f"{describe(value.shape)} at another",
                "give it one shape at all steps: after the loop it is the array of its values",
            )
    collected = context.graph.operation(ARRAY, values, (len(values), *values[0].shape), name.at)
    context.collected.add(id(collected))
    return collected


# ---- slot lowering -------------------------------------------------------------------------------
#
# Calls of slots: either the lines of the slot's own model, or a call of the code bound to it.
#
# In a column of code, the values that code gets are first rounded to its number format, and the
# statements are about the rounded values. Otherwise hardly any equation would hold in a format of
# eight binary digits.


# The most calls of slots in the lines of one claim, calls within slots included.
MOST_CALLS = 1_000
SLOT_HOME = "in the slot's 'model', or list it under its 'takes'"
"""Where a name of a slot can be defined, as messages say it."""


def names_given(
    model: Model, statements: Sequence[Statement], slots: Mapping[str, Slot]
) -> set[str]:
    """All names in a claim that are arguments of slots, whole or in part (`x[0]`)."""
    names: set[str] = set()
    texts = [line.right for line in lines_of(model)]
    for node in walk(*texts, *(operand for one in statements for operand in one.operands)):
        if isinstance(node, Call) and slot_and_mode(node.name)[0] in slots:
            parts = [one.base if isinstance(one, Subscript) else one for one in children(node)]
            names |= {one.name for one in parts if isinstance(one, Name)}
    return names


def counts_draws(statement: Statement) -> bool:
    """Whether a statement is judged by counting draws: it is about laws or quantiles."""
    return statement.about_laws or any(
        isinstance(node, Call) and node.name in OPERATORS and OPERATORS[node.name].quantile
        for node in walk(*statement.operands)
    )


def define_call(context: Context, node: Call, size: Shape | None, names: tuple[str, ...]) -> Value:
    """The value of a call of a slot; with a `size`, a draw from a slot that is a sampler.

    `names` are the names of the axes of `size`, if they have any.

    Raises:
        DropcheckError: the slot does not take these arguments, or does not give what is asked.
    """
    name, mode = slot_and_mode(node.name)
    slot = context.slots.known[name]
    signature = f"{node.name}({', '.join(slot.takes)})"
    bound = bind(node, slot.takes, len(slot.takes), lambda: signature)
    _check_use(slot, node, mode, drawn=size is not None)
    if any(one.split("()")[0] == name for one in context.slots.within.split(": ")):
        raise node.at.error(
            f"the slot {name!r} is defined by itself",
            f"in its own model {name!r} means the slot: give the slot a name that is not a law or "
            "a function",
        )
    context.slots.calls += 1
    if context.slots.calls > MOST_CALLS:
        raise node.at.error(
            f"the slots of this claim are called more than {MOST_CALLS:,} times",
            "call them for arrays, not step by step",
        )
    values = [_argument(context, bound[one]) for one in slot.takes]
    code = context.slots.code(name)
    key = (name, size, *map(id, values))
    again = mode != TRAIN and key in context.slots.made
    if code is None or context.slots.within:
        if mode == TRAIN and slot.shape is not None:
            raise node.at.error(
                f"the slot {name!r} says what shape its result has, and no more",
                f"bind code to it: --with mine:{name}=MODULE:FUNCTION",
                About.NO_CODE,
            )
        if not again:
            context.slots.made[key] = _expanded(context, slot, values, node, size)
        return _part(context, slot, context.slots.made[key], mode, node)
    dry = Context(context.lower_node, context.memory, slots=context.slots)  # a graph of its own
    if not again:
        scope = _expanded(dry, slot, values, node, size)
        context.slots.made[key] = (f"{name}() {context.slots.calls}", scope)
    tag, scope = context.slots.made[key]
    given = _part(dry, slot, scope, TRAIN, node)  # the slot's own model shows the shape
    evaluated = mode == EVAL and slot.evaluation is not None
    like = _part(dry, slot, scope, EVAL, node) if evaluated else given
    asked = _asked(context, slot, values, [bound[one] for one in slot.takes], size, names)
    draws = not like.sources <= joined_sources(values)
    call = CodeCall(slot=slot, code=code, asked=asked, tag=tag, mode=mode, draws=draws)
    shape = values[0].shape if mode == GRAD else given.shape
    value = of_code(context, call, values, shape, Name(node.at, node.name))
    if evaluated or slot.shape is None:
        context.slots.models[id(call)] = like
    return value


def _check_use(slot: Slot, node: Call, mode: str, *, drawn: bool) -> None:
    if drawn and slot.law is None:
        raise node.at.error(
            f"the slot {slot.name!r} is a function", f"write y = {slot.name}(…), with '='"
        )
    if slot.law is not None and not drawn:
        raise node.at.error(
            f"the slot {slot.name!r} is a sampler",
            f"draw from it on a line of the model: y ~ {slot.name}(…)[n]",
        )
    if mode == GRAD and not slot.takes:
        raise node.at.error(f"{slot.name!r} takes nothing, and has no gradient")


def _argument(context: Context, node: Node) -> Value:
    value = context.lower(node)
    if value.estimated:
        raise node.at.error(
            "an operator on the law is given to a slot", "operators such as E(…) belong in 'claim'"
        )
    # a name is rounded where it is defined, and a number is passed as it is
    return value if isinstance(node, Name | Number) else rounded_for_code(context, value, node.at)


# ---- the mathematics -----------------------------------------------------------------------------


def _expanded(
    context: Context, slot: Slot, values: Sequence[Value], node: Call, size: Shape | None
) -> Scope:
    """The scope of a slot's model, for these values of its arguments."""
    scope = Scope()
    scope.home = SLOT_HOME
    text = slot.gives or slot.law or SourceText.plain(slot.name, slot.location.file)
    at = Position(text, 0, 0)
    for name, value in zip(slot.takes, values, strict=True):
        scope.define(Name(at, name), value, parameter=True)
    with _inside(context, slot, scope):
        problems = define_model(context, () if slot.model is None else parse_model(slot.model))
        if problems:
            raise DropcheckError(problems)
        if slot.law is not None or slot.shape is not None:
            lengths: Sequence[Node] = [Number(node.at, float(n)) for n in size or ()]
            lengths = [*map(parse_expression, slot.shape)] if slot.shape is not None else lengths
            law = parse_expression(slot.law or SourceText.plain(_STAND_IN))
            shaped = Subscript(node.at, law, tuple(lengths)) if lengths else law
            drawn = context.draw_name(Name(node.at, slot.name))
            scope.define(Name(at, _GIVEN), draw(context, shaped, drawn))
    return scope


_GIVEN = "what it gives"  # no name of a model
_STAND_IN = "normal(0, 1)"  # where only a shape is said: nothing else of it is used


def _part(context: Context, slot: Slot, scope: Scope, mode: str, node: Call) -> Value:
    """The value, the evaluation or the gradient that a slot's model defines."""
    text = {TRAIN: slot.gives, EVAL: slot.evaluation, GRAD: slot.gradient}[mode]
    if slot.law is not None or (mode == TRAIN and slot.shape is not None):
        drawn = scope.look_up(_GIVEN, node.at)
        assert isinstance(drawn, Value)
        return drawn
    if text is None:
        key = {EVAL: "evaluation", GRAD: "gradient"}[mode]
        raise node.at.error(
            f"the slot {slot.name!r} does not say what {node.name}(…) is",
            f"add '{key}: …' to the slot, or run the claim of code: --with NAME",
            About.NO_CODE,
        )
    with _inside(context, slot, scope):
        return context.lower(parse_expression(text))


@contextmanager
def _inside(context: Context, slot: Slot, scope: Scope) -> Iterator[None]:
    """The names of a slot's model, in which the slots that it calls are mathematics."""
    outer, within = context.scope, context.slots.within
    context.scope = scope
    context.slots.within = f"{within}{slot.name}() {context.slots.calls}: "
    try:
        yield
    finally:
        context.scope, context.slots.within = outer, within


# ---- the code ------------------------------------------------------------------------------------


def _asked(
    context: Context,
    slot: Slot,
    values: Sequence[Value],
    nodes: Sequence[Node],
    size: Shape | None,
    names: tuple[str, ...],
) -> CodeRequest:
    """What a call asks of code, except its mode; leading axes say how often code is called.

    Where nothing varies from draw to draw, a call is a draw; but where draws of a call are
    independent, the first array is given once for each.
    """
    lengths: Shape = size or ()
    for value, node in zip(values, nodes, strict=True):
        if value.random and not names:
            names, lengths = axis_names(context, node, len(value.shape)), value.shape
    length = dict(zip(names, lengths, strict=False))
    in_front = [name for name in names[:2] if name in (SEED, CALL)]
    one_call = bool(in_front) or names[:1] == (BATCH,)
    varying = [value.random for value in values]
    if size is None and not any(varying):
        arrays = [place for place, value in enumerate(values) if value.shape]
        if slot.independent and arrays:
            varying[arrays[0]] = True
        else:
            one_call = True
    if size is None:
        one_call |= context.slots.single and not slot.independent
    return CodeRequest(
        draws=1,
        shapes=tuple(
            value.shape if varies else None for value, varies in zip(values, varying, strict=True)
        ),
        dtype=context.slots.dtype,
        modes=frozenset(),
        size=size,
        seeds=length[SEED] if SEED in in_front else 1,
        calls=length[CALL] if CALL in in_front else 1,
        single=one_call,
    )
