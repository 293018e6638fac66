"""Draws: what is right of `~`, with checks of the law's arguments and of the shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dropcheck.claims.registry import CodeRequest, Sample
from dropcheck.errors import About, DropcheckError
from dropcheck.language.graph import (
    SAMPLE,
    CodeCall,
    Kind,
    Sources,
    Value,
    joined_sources,
    memory_text,
    number,
)
from dropcheck.language.hints import MIXTURE, law_hint, shape_by_name, square_for_sd, written_law
from dropcheck.language.lowering.builder import (
    Context,
    GraphBuilder,
    names_of_lengths,
    shape_at,
)
from dropcheck.language.syntax import (
    ArrayLiteral,
    Binary,
    Call,
    Name,
    Node,
    Position,
    Slice,
    Subscript,
    bind,
    walk,
)
from dropcheck.vocabulary import shapes, special
from dropcheck.vocabulary.domains import FINITE, NOT_NEGATIVE, argument_problem, domain_problem
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.elementwise import ARITHMETIC_SIGNS
from dropcheck.vocabulary.law import Law, Values, digits_problem
from dropcheck.vocabulary.laws import LAWS
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
    if sampler is not None and context.slots.define is not None:
        index = node.index if isinstance(node, Subscript) else ()
        size, names = _dimensions(context, index), names_of_lengths(context, index)
        return context.slots.define(context, sampler, size, names)
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
            return context.graph.constant(
                "degenerate", constant, shape=shape, at=name.at, name=name.name
            )
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


def sampled(context: Context, name: Name, sample: Sample) -> Value:
    """A draw from code; only its shape is known."""
    asked = CodeRequest(draws=1, shapes=(), dtype=None, modes=frozenset())
    call = CodeCall(
        slot=sample.slot, code=sample.code, asked=asked, tag=SAMPLE, mode=name.name, draws=True
    )
    return of_code(context, call, (), sample.shapes[name.name], name).called(name.name)


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


def _in_place_of(node: Node) -> str:
    """The hint for an expression right of `~`, with or without a law in it."""
    if isinstance(node, Binary) and node.operator in ("//", "%"):
        return "a comment begins with '#'"
    if isinstance(node, ArrayLiteral):
        return "write choice([1, 2, 3]) for one of these numbers, all equally likely"
    if not any(isinstance(one, Call) and one.name in LAWS for one in walk(node)):
        return "write a law such as normal(0, 1)[n], or '=' for an expression"
    return (
        "draw on a line by itself, z ~ normal(0, 1), and compute on the next, x = 1 + 2 * z; of a "
        f"mixture draw {MIXTURE}"
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
    nodes = tuple(bound[name] for name in names)
    context.notes += square_for_sd(law, nodes)
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
    problem, hint = None, _about(law)
    if law.conditions or not all(isinstance(value.known, float) for value in values):
        problem = argument_problem(law.parameters, fixed)  # of numbers each domain is checked
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
class _StandIn(NDArrayOperatorsMixin):
    """A value of the graph that stands in for an array."""

    value: Value
    graph: GraphBuilder
    at: Position

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply the language's function of that name; numpy raises a TypeError if there is none."""
        if ufunc in (special.xlogy, special.xlog1py) and method == "__call__":
            return self.times_log(ufunc, *inputs)
        function = _KERNELS.get(ufunc.__name__)
        numbers = all(isinstance(one, _StandIn) or np.size(one) == 1 for one in inputs)
        if function is None or method != "__call__" or options or not numbers:
            return NotImplemented
        values = tuple(
            one.value
            if isinstance(one, _StandIn)
            else self.graph.number(float(np.asarray(one).item()), self.at)
            for one in inputs
        )
        return _StandIn(self.graph.elementwise(function, values, self.at), self.graph, self.at)

    def times_log(self, ufunc: np.ufunc, x: Any, y: Any) -> Any:
        """X log(y), or x log(1 + y); it is 0 where the number x is 0."""
        log = np.log if ufunc is special.xlogy else np.log1p
        if not isinstance(x, _StandIn):
            return x * log(y) if np.all(x) else 0.0
        return x * log(y) if not isinstance(y, _StandIn) and np.isfinite(log(y)) else NotImplemented

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
        given.append(_StandIn(argument, graph, at) if varies else known)
        scale = argument.constant if parameter.domain == NOT_NEGATIVE else None
        if scale is not None and not (scale > 0).all():
            return None  # a scale of 0 gives a constant, which has no density
    every_number = not law.discrete and law.ends == (-np.inf, np.inf)
    if not (every_number or (x.law is law and x.inputs == values[:-1])):
        return None  # x may be impossible
    try:
        with np.errstate(all="ignore"):
            log_density = law.log_density_inside(_StandIn(x, graph, at), *given)
    except TypeError:
        return None
    return log_density.value if isinstance(log_density, _StandIn) else None
