"""Draws: what is right of `~`, with checks of the law's arguments and of the shape."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dropcheck.claims.registry import Sample
from dropcheck.errors import About, DropcheckError
from dropcheck.language.cost import memory_text
from dropcheck.language.drawn_from import Sources
from dropcheck.language.graph import SAMPLE, Kind, Value, joined_sources, number
from dropcheck.language.lowering.builder import Skipped, shape_at
from dropcheck.language.lowering.context import Context
from dropcheck.language.lowering.named_axes import names_of_lengths
from dropcheck.language.suggestions import law_hint, shape_by_name, square_for_sd, written_law
from dropcheck.language.syntax import Call, Name, Node, Position, Slice, Subscript, bind, walk
from dropcheck.records import record
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.distributions.domains import domain_problem
from dropcheck.vocabulary.law import Law, argument_problem, digits_problem
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.shapes import Shape, ShapeError, describe

MOST_AXES = 30  # numpy has 64, and kernels add a few of their own


@record
class Draw:
    """What is right of `~`: a law, its arguments in the order of its parameters, and a shape."""

    law: Law
    arguments: tuple[Node, ...]
    shape: tuple[Node, ...] | None
    at: Position


def draw(context: Context, node: Node, name: Name) -> Value:
    """A new draw from a law; a degenerate law gives a constant.

    Raises:
        DropcheckError: this is not a law, or its arguments or its shape are wrong.
    """
    sampler = _sampler(context, node)
    if sampler is not None and context.slots.define is not None:
        index = node.index if isinstance(node, Subscript) else ()
        size, names = _dimensions(context, index), names_of_lengths(context, index)
        return context.slots.define(context, sampler, size, names)
    drawn = read_draw(context, node)
    law = drawn.law
    context.notes += square_for_sd(law, drawn.arguments)
    arguments = [context.lower(argument) for argument in drawn.arguments]
    own = own_axes(law, arguments, drawn)
    shape = batch_shape(context, law, arguments, drawn) + own
    context.graph.spend_draw(law, shape, name)
    check_values(law, arguments, drawn)
    known = [argument.known for argument in arguments]
    if own == () and all(isinstance(one, float) for one in known):
        value = law.constant(*known)
        if value is not None:
            constant = np.broadcast_to(np.float64(value), (*shape, 1))
            return context.graph.constant(
                "degenerate", constant, shape=shape, at=name.at, name=name.name
            )
    return Value(
        kind=Kind.DRAW,
        operation=law.name,
        inputs=tuple(arguments),
        shape=shape,
        at=name.at,
        name=name.name,
        random=True,
        sources=Sources([name.name]) | joined_sources(arguments),
        law=law,
        suspect=next((a.suspect for a in arguments if a.suspect), None),
    )


def _sampler(context: Context, node: Node) -> Call | None:
    """The call right of '~', if it is the call of a slot."""
    base = node.base if isinstance(node, Subscript) else node
    return base if isinstance(base, Call) and base.name in context.slots.known else None


def sampled(context: Context, name: Name, sample: Sample) -> Value:
    """A draw from code; only its shape is known."""
    shape = sample.shapes[name.name]
    context.graph.spend_draw(None, shape, name)
    return Value(
        kind=Kind.DRAW,
        operation=SAMPLE,
        shape=shape,
        at=name.at,
        name=name.name,
        random=True,
        sources=Sources([SAMPLE]),
        sample=sample,
    )


def _in_place_of(node: Node) -> str:
    """The hint for an expression right of `~`, with or without a law in it."""
    if not any(isinstance(one, Call) and one.name in LAWS for one in walk(node)):
        return "write a law such as normal(0, 1)[n], or '=' for an expression"
    return (
        "draw on a line by itself, z ~ normal(0, 1), and compute on the next, x = 1 + 2 * z; of a "
        "mixture draw each part and which one it is: x = a if m else b, with m ~ bernoulli(p)"
    )


def read_draw(context: Context, node: Node) -> Draw:
    """The law that a node names, with its arguments in the order of the law's parameters.

    If the case defines a name that is also a law's, the case's meaning counts.

    Raises:
        DropcheckError: it is not a law.
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
        meaning = context.scope.look_up(base.name, base.at)
        if not isinstance(meaning, Call):
            raise base.at.error(
                f"{base.name!r} is a number, not a law",
                "write a law such as normal(0, 1), or '=' for an expression",
            )
        base = meaning
    if not isinstance(base, Call):
        raise base.at.error("a law is expected right of '~'", _in_place_of(base))
    if base.name not in LAWS:
        raise unknown_law(base)
    law = LAWS[base.name]
    names = [parameter.name for parameter in law.parameters]
    if any(name in ("size", "shape") and name not in names for name, _ in base.keywords):
        raise shape_by_name(base, names)
    more = f"; a shape follows in brackets, {law.name}(…)[n]"
    shape_hint = more if len(base.arguments) > len(names) else ""
    bound = bind(base, names, len(names), lambda: written_law(law) + shape_hint)
    return Draw(law, tuple(bound[name] for name in names), shape, base.at)


def unknown_law(node: Call) -> DropcheckError:
    """The error for a call right of `~` of something that is not a law."""
    return node.at.error(f"{node.name!r} is not a law", law_hint(node.name))


def own_axes(law: Law, arguments: Sequence[Value], drawn: Draw) -> Shape:
    """The last axes, those of one value of the law; the ranks and scalar arguments are checked.

    Raises:
        DropcheckError: the law does not take one of the arguments.
        Skipped: a scalar argument is postponed.
    """
    for parameter, value, node in zip(law.parameters, arguments, drawn.arguments, strict=True):
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
        if value.postponed and value.shape == ():
            raise Skipped  # a shape may depend on it, or whether the law is degenerate
        known = value.known
        reported = value.suspect is not None  # it has an error of its own
        if isinstance(known, float) and not parameter.axes and not reported:
            problem = domain_problem(parameter, known)
            if problem is not None:
                raise node.at.error(f"{law.name}: {problem}", _about(law), About.VALUES)
    if law.own_axes is None:
        return ()
    argument_shapes = tuple(value.shape for value in arguments)
    known_values = tuple(value.known for value in arguments)
    return shape_at(drawn.at, f"{law.name}: ", law.own_axes, argument_shapes, known_values)


def check_values(law: Law, arguments: Sequence[Value], drawn: Draw) -> None:
    """Check the arguments' values, if all are fixed; this looks at all elements.

    Raises:
        DropcheckError: a value is outside its domain, or the values contradict each other.
    """
    if any(value.random or value.constant is None or value.suspect for value in arguments):
        return
    fixed = [number(argument.constant) for argument in arguments]
    if law.restricted or not all(isinstance(value.known, float) for value in arguments):
        problem = argument_problem(law, fixed)  # of scalars, `own_axes` checks each domain
        if problem is not None:
            raise drawn.at.error(f"{law.name}: {problem}", _about(law), About.VALUES)
    problem = digits_problem(law, fixed)
    if problem is not None:
        hint = "draw around 0, and claim what does not depend on the place"
        raise drawn.at.error(f"{law.name}: {problem}", hint, About.VALUES)


def batch_shape(context: Context, law: Law, arguments: Sequence[Value], drawn: Draw) -> Shape:
    """The shape of the independent values: the one in brackets, or the arguments' common shape.

    Raises:
        DropcheckError: the arguments do not fit each other, or the brackets.
    """
    batches = [
        value.shape[: len(value.shape) - parameter.axes]
        for parameter, value in zip(law.parameters, arguments, strict=True)
    ]
    subject = f"the arguments of {law.name} do not go together: "
    common = shape_at(drawn.at, subject, shapes.broadcast, batches)
    if drawn.shape is None:
        return common
    given = _dimensions(context, drawn.shape)
    try:
        fits = shapes.broadcast((given, common)) == given
    except ShapeError:
        fits = False
    if not fits:
        raise drawn.at.error(
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
        known = value.known if math.prod(value.shape) <= MOST_AXES else None
        if known is None:
            raise node.at.error(f"a shape has at most {MOST_AXES} axes", "write [n, m]")
        entries = known if isinstance(known, tuple) else (known,)
        dimensions += [_dimension(entry, node.at) for entry in entries]
    if len(dimensions) > MOST_AXES:
        raise nodes[0].at.error(f"a shape has at most {MOST_AXES} axes", "write [n, m]")
    return tuple(dimensions)


def _dimension(entry: object, at: Position) -> int:
    if isinstance(entry, float) and entry > 2**62:
        hint = f"it would take {memory_text(8 * entry)} a draw"
        raise at.error(f"a shape of {entry:.3g} is too large", hint)
    if not isinstance(entry, float) or not entry >= 1 or entry != entry // 1:
        shown = f"{entry:.12g}" if isinstance(entry, float) else "a list"
        raise at.error(
            f"a shape needs whole numbers of at least 1, and this is {shown}",
            "write for example [10], or [n] with n a parameter",
        )
    return int(entry)


def _about(law: Law) -> str:
    """The hint for wrong arguments: the law in one line."""
    return f"{law.signature}: {law.summary}"
