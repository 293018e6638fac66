"""Builds a graph: equal quantities once, fixed values computed at once, sizes limited."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from dropcheck.claims.registry import Claim, Code, Column, Slot
from dropcheck.claims.values import WORDS
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language import graph
from dropcheck.language.graph import Value, memory_text
from dropcheck.language.hints import IN_PAPERS, name_hint
from dropcheck.language.syntax import Call, ModelLine, Name, Node, Position, Subscript, children
from dropcheck.settings import DEFAULT_MEMORY
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.function import Array, Function
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.arrays import ELEMENTS, RESHAPE, SUBSCRIPT
from dropcheck.vocabulary.functions.elementwise import EPSILONS, ROUNDED, SMALLEST_NORMAL
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import CONSTANTS, OPERATORS
from dropcheck.vocabulary.shapes import Shape, ShapeError

VALUE_SIZE = 400  # bytes of a value that is one number, as measured
_SMALLER = "make the shapes smaller, or allow more: dropcheck run --max-memory 8GiB"


class Skipped(Exception):  # noqa: N818 - not an error of its own
    """Raised if a value depends on an error that is reported already."""


@dataclass(slots=True)
class _Spent:
    """What one draw of the claim takes so far, or what all its fixed values take."""

    most_work: float  # nanoseconds
    what: str  # its name in messages
    elements: float = 0.0
    work: float = 0.0


def shape_at(at: Position, subject: str, rule: Callable[..., Shape], *given: Any) -> Shape:
    """The shape that a rule gives; a problem with its arguments is an error at this place."""
    try:
        return rule(*given)
    except ShapeError as error:
        raise at.error(f"{subject}{error}", error.hint) from None


class GraphBuilder:
    """Makes the values of a graph; equal expressions become one value, computed once.

    With `memory` None there is no limit, for values that are never drawn.
    """

    def __init__(self, memory: int | None = DEFAULT_MEMORY) -> None:
        self._memory = math.inf if memory is None else memory
        self._most_elements = self._memory // 16  # numbers of 8 bytes: half is drawn, half fixed
        self._known: dict[tuple[Any, ...], graph.Value] = {}
        most_work = math.inf if memory is None else graph.MOST_WORK
        self._drawn = _Spent(most_work, "one draw of this claim")
        self._fixed = _Spent(graph.MOST_FIXED_WORK, "what is fixed in this claim")

    @property
    def size(self) -> int:
        """Approximate size of the graph so far in bytes, fixed arrays included."""
        return round(8 * self._fixed.elements) + VALUE_SIZE * len(self._known)

    def number(self, value: float, at: Position) -> graph.Value:
        """A constant number."""
        array = np.full(1, value, dtype=np.float64)
        options = (("value", float(value).hex()),)
        return self.constant("number", array, shape=(), at=at, options=options)

    def constant(self, operation: str, array: Array, **more: Any) -> graph.Value:
        """A constant; the array has its axis of draws last."""
        return self.make(kind=graph.Kind.CONSTANT, operation=operation, constant=array, **more)

    def elementwise(
        self, function: Function, values: tuple[graph.Value, ...], at: Position
    ) -> graph.Value:
        """A function applied element by element, with numpy's rule for shapes."""
        return self.shaped(function, values, lambda *known: shapes.broadcast(known), at)

    def taken(
        self, asked: graph.Value, branches: tuple[graph.Value, graph.Value], at: Position
    ) -> graph.Value | None:
        """The branch that is always taken, if the condition is fixed and the shape is the same."""
        known = asked.known
        if not isinstance(known, float) or math.isnan(known):
            return None
        branch = branches[0] if known else branches[1]
        common = shape_at(at, "", shapes.broadcast, [value.shape for value in branches])
        return branch if branch.shape == common else None

    def shaped(
        self,
        function: Function,
        values: tuple[graph.Value, ...],
        rule: Callable[..., Shape],
        at: Position,
    ) -> graph.Value:
        """A function whose shape follows from `rule` in place of the function's own rule."""
        shape = shape_at(at, "", rule, *(value.shape for value in values))
        return self.operation(function, values, shape, at)

    def indexed(
        self, value: graph.Value, index: tuple[shapes.Index, ...], at: Position
    ) -> graph.Value:
        """`value[index]`, with whole numbers, slices, None, and tuples of places."""
        if all(entry == slice(None) for entry in index):
            return value
        function = ELEMENTS if any(isinstance(one, tuple) for one in index) else SUBSCRIPT
        shape = shape_at(at, "", function.shape, (value.shape,), {"index": index})
        options = (("index", graph.hashable(index)),)
        return self.operation(function, (value,), shape, at, options)

    def reshaped(self, value: graph.Value, shape: Shape, at: Position) -> graph.Value:
        """The same elements in another shape."""
        if value.shape == shape:
            return value
        options = (("shape", tuple(map(float, shape))),)
        return self.operation(RESHAPE, (value,), shape, at, options)

    def operation(
        self,
        function: Function,
        values: tuple[graph.Value, ...],
        shape: Shape,
        at: Position,
        options: tuple[tuple[str, Any], ...] = (),
    ) -> graph.Value:
        """A computed value; if all its inputs are fixed, it is computed here.

        Some functions guard against values that they do not take, such as a division by zero in
        one of two branches: then only the draws show whether it matters.
        """
        key = (graph.Kind.COMPUTED, function.name, tuple(map(id, values)), options, shape)
        known = self._known.get(key)
        if known is not None:
            return known
        random = any(value.random for value in values)
        estimated = any(value.estimated for value in values)
        suspect = next((value.suspect for value in values if value.suspect), None)
        held = 0 if function.view else math.prod(shape)
        work = partial(function.cost, shape, [value.shape for value in values])
        self._spend(self._drawn if random else self._fixed, held, work, at)
        array = None
        if not (random or estimated):
            try:
                with np.errstate(all="ignore"):
                    array = graph.bound(function, options)(*(value.constant for value in values))
            except ValueError as error:  # a value that the function cannot take
                raise at.error(str(error), getattr(error, "hint", None)) from None
        if function.takes_truth and function.by_element and len(function.parameters) > 1:
            suspect = None
        elif suspect is None and array is not None and array.shape == (1,):
            # arrays may hold elements that are never used, such as logarithms under a mask
            undefined = not function.takes_truth and math.isnan(array[0])
            if undefined and all(np.isfinite(value.constant).all() for value in values):
                suspect = graph.Suspect(at, "this works out to nan")
        self._known[key] = computed = graph.Value(
            kind=graph.Kind.COMPUTED,
            operation=function.name,
            inputs=values,
            options=options,
            shape=shape,
            at=at,
            constant=array,
            random=random,
            estimated=estimated,
            truth=function.truth,
            sources=graph.joined_sources(values),
            suspect=suspect,
        )
        return computed

    def make(self, **fields: Any) -> graph.Value:
        """The value with these fields; an equal one that exists already is reused."""
        value = graph.Value(**fields)
        return self._known.setdefault(self._key(value), value)

    def _key(self, value: graph.Value) -> tuple[Any, ...]:
        inputs = tuple(map(id, value.inputs))
        return (value.kind, value.operation, inputs, value.options, value.shape)

    def remember(self, value: graph.Value) -> None:
        """Let later equal expressions reuse this value, which has a name."""
        self._known[self._key(value)] = value

    def spend_draw(self, law: Law | None, shape: Shape, name: Name) -> None:
        """Count the cost of an array of draws; refuse it if it is too much."""
        cost = partial(graph.draw_cost, law, shape)
        self._spend(self._drawn, math.prod(shape), cost, name.at)

    def _spend(
        self, spent: _Spent, count: int, nanoseconds: Callable[[], float], at: Position
    ) -> None:
        if spent.elements > self._most_elements or spent.work > spent.most_work:
            raise Skipped
        spent.elements += min(count, 2.0**100)  # more may be no float
        if spent.elements > self._most_elements:
            raise at.error(
                f"{spent.what} takes {memory_text(8 * spent.elements)} in all by here, and "
                f"{memory_text(8 * self._most_elements)} is allowed (of "
                f"{memory_text(self._memory)}, half is for draws and half for what is fixed)",
                _SMALLER,
            )
        spent.work += nanoseconds()
        if spent.work > spent.most_work:
            raise at.error(
                f"{spent.what} takes about {spent.work / 1e9:.3g} seconds to work out by "
                f"here, and {spent.most_work / 1e9:g} are allowed",
                "make the shapes smaller",
            )


# ---- context -------------------------------------------------------------------------------------
#
# The state in which one case is lowered: the names defined, and the graph so far.


MOST_LISTED = 20  # names in a hint


Later = Callable[[], Value]
"""A function that gives the meaning of a name; it is called when the name is first used."""


class Scope:
    """The names of one case. A parameter that is a law is stored as the call of the law.

    In each step, a loop redefines the names that it carries from before the loop. `missing` holds
    the names that a loop defines but that have no value yet, with an error message and a hint.
    """

    def __init__(self) -> None:
        self._values: dict[str, Value | Call | Later | None] = {}
        self.parameters: set[str] = set()
        self.constants: set[str] = set()  # constants of the language that are used so far
        self.carried: frozenset[str] = frozenset()
        self.missing: dict[str, tuple[str, str]] = {}
        self.to_come: frozenset[str] = frozenset()  # names that lines of the model define
        # words that lines of the model may define, which cannot be parsed
        self.unsure: frozenset[str] = frozenset()
        self.claim: Claim | None = None  # the claim of this case
        self.home = "in 'model' or 'parameters'"  # where a name can be defined, for hints

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def define(self, name: Name, value: Value | Call | Later, parameter: bool = False) -> None:
        """Define a name; a name that a loop carries gets its next value.

        Raises:
            DropcheckError: the name is taken, by the language or by a line above.
        """
        constant = CONSTANTS.get(name.name)
        fixed = constant is not None and (not constant.yields or constant.name in self.constants)
        if fixed or name.name in OPERATORS:
            kind = "a constant" if fixed else "an operator"
            raise name.at.error(
                f"{name.name!r} is {kind} of the language and cannot be redefined",
                (constant and constant.note) or "choose another name",
            )
        if name.name in self._values and name.name not in self.carried:
            taken, recurs = "a line above", "; a recurrence is a loop of the model"
            if name.name in self.parameters:
                taken, recurs = "a parameter", ""
            message = f"{name.name!r} is already defined by {taken}"
            raise name.at.error(message, f"choose another name{recurs}")
        self._values[name.name] = value
        if parameter:
            self.parameters.add(name.name)

    def constant(self, name: str) -> float | None:
        """The number that the language gives to a name, unless a line gives it another meaning."""
        if name not in CONSTANTS or name in self._values or name in self.missing:
            return None
        self.constants.add(name)
        return CONSTANTS[name].value

    def meaning(self, name: str) -> Value | Call | Later | None:
        """The stored meaning of a name; None for a name with an error."""
        return self._values.get(name)

    def forget(self, names: Iterable[str]) -> None:
        """Remove names that are defined in a loop only."""
        for name in names:
            self._values.pop(name, None)

    def mark_broken(self, names: Iterable[Name]) -> None:
        """Mark names whose lines have errors: what uses them gets no error of its own."""
        for name in names:
            self._values.setdefault(name.name, None)

    def look_up(self, name: str, at: Position) -> Value | Call:
        """The meaning of a name in an expression.

        Raises:
            DropcheckError: the name is not defined.
            Skipped: the line that defines it has an error.
        """
        if name in self._values:
            meaning = self._values[name]
            if meaning is None:
                raise Skipped
            if not isinstance(meaning, Value | Call):
                meaning = self._values[name] = meaning()
            return meaning
        if name in self.missing:
            raise at.error(*self.missing[name])
        if name in self.unsure:
            raise Skipped
        self._ask_claim(name, at)
        known = [*self._values, *CONSTANTS]
        if name in OPERATORS:
            raise at.error(f"{name!r} is an operator, and takes a quantity", f"write {name}(…)")
        hint: str | None
        if name in self.to_come:
            hint = (
                "a line below gives it a value: move that line up; a recurrence is a loop with a "
                f"first value above it, such as {name} = 0"
            )
        elif name in FUNCTIONS:
            hint = f"it is a function: write {FUNCTIONS[name].usage}"
        elif name in LAWS:
            hint = f"{name!r} is a law: draw from it on a line of the model, x ~ {name}(…)"
        else:
            hint = name_hint(name, known)
        if hint is None and known:
            listed = sorted(islice(self._values, MOST_LISTED))
            more = ", …" if len(self._values) > MOST_LISTED else ""
            names = ", ".join(listed) + more or "none"
            hint = f"define it {self.home}; names defined here: {names}"
            hint += IN_PAPERS.get(name, "")
        raise at.error(f"{name!r} is not defined", hint)

    def _ask_claim(self, name: str, at: Position) -> None:
        """Report a name that a shared model expects from the claim."""
        model, claim = dict(enumerate(at.source.models)).get(at.line), self.claim
        if model is None or claim is None:
            return
        words = frozenset(WORDS.findall(at.source.text))
        unused = (one for one in claim.parameter_names if one not in words)
        slip = next((one for one in unused if name_hint(name, [one])), None)
        if slip is None and name_hint(name, self._values):
            return
        place = claim.location if slip is None else claim.parameter_locations[slip]
        message = f"the model {model!r} needs {name!r}, and this claim does not give it"
        hint = (
            name_hint(slip, [name])
            if slip
            else f"give it as a parameter, as in {name}: 8 or {name}: [8, 16]"
        )
        raise DropcheckError(Problem(message, place, hint))


@dataclass(slots=True)
class Slots:
    """The slots of a claim's file, the code under test, and the calls of slots so far."""

    known: Mapping[str, Slot] = field(default_factory=dict)
    column: Column | None = None  # the code under test; None: the slots' own mathematics is used
    dtype: str | None = None  # in which the code computes; None for float64
    given: frozenset[str] = frozenset()  # names that are passed to code: rounded to the format
    # whether each draw is one call, unless a slot says that the draws of one call are independent,
    # as statements that count draws need
    single: bool = False
    # the last call by slot and arguments: its gradient needs the same random numbers
    made: dict[tuple[object, ...], Any] = field(default_factory=dict)
    calls: int = 0
    # by id of a call of code, the slot's own mathematics of what it gives
    models: dict[int, Value] = field(default_factory=dict)
    axes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of names: those of their axes
    formats: dict[str, str] = field(default_factory=dict)  # parameters that are number formats
    within: str = ""  # the call whose lines are being lowered

    @property
    def rounds(self) -> bool:
        """Whether code computed the compared values: a column's, or a test's in a short format."""
        return self.column is not None or (not self.known and self.dtype is not None)

    @property
    def near(self) -> dict[str, float]:
        """The tolerances of `isclose` where code rounds; empty if no number format is known.

        A factor, a product and the value that it is compared with are each off by at most half a
        unit in the last place. In all, that is less than twice the machine epsilon.
        """
        if not self.rounds or self.dtype is None:
            return {}
        return {"atol": SMALLEST_NORMAL[self.dtype], "rtol": 2 * EPSILONS[self.dtype]}

    def code(self, slot: str) -> Code | None:
        """The code that is bound to a slot."""
        return None if self.column is None else self.column.code.get(slot)


@dataclass(slots=True)
class Context:
    """The graph of a case so far, and its names.

    `lower_node` lowers an expression in this context. It is passed in, so that modules that lower
    parts of an expression do not import the module that lowers all of it.
    """

    lower_node: Callable[[Context, Node], Value]
    memory: int = DEFAULT_MEMORY  # bytes that one draw may take, with all fixed values
    slots: Slots = field(default_factory=Slots)
    graph: GraphBuilder = field(init=False)
    scope: Scope = field(default_factory=Scope)
    steps: tuple[int, ...] = ()  # the current step of each enclosing loop, the outermost first
    looped: int = 0  # nodes in lines of loops that are lowered so far
    collected: set[int] = field(default_factory=set)  # ids of arrays of values at all steps
    drawn: set[str] = field(default_factory=set)
    origins: dict[int, Array] = field(default_factory=dict)  # of values that move elements, by id
    formula: bool = False  # whether a formula is lowered: indices beyond an array are errors
    certain: bool = False  # the statement says that an event is certain: all entries are one event

    def __post_init__(self) -> None:
        self.graph = GraphBuilder(self.memory)

    def lower(self, node: Node) -> Value:
        """The value of an expression.

        Raises:
            DropcheckError: it breaks a rule of the language; the error points at the part.
        """
        return self.lower_node(self, node)

    def draw_name(self, name: Name) -> Name:
        """The name of a draw; in a loop, it includes the step: x[3]."""
        if not self.steps and not self.slots.within:
            return name
        step = f"[{', '.join(map(str, self.steps))}]" if self.steps else ""
        written = f"{self.slots.within}{name.name}{step}"
        while written in self.drawn:  # by another loop, or by another line
            written += "'"
        self.drawn.add(written)
        return Name(name.at, written)

    def lower_fixed(self, node: Node, message: str, hint: str) -> Value:
        """The value of an expression that must be fixed before any draw.

        Raises:
            DropcheckError: it is random; the error has this message and hint.
        """
        value = self.lower(node)
        if value.random or value.estimated:
            raise node.at.error(message, hint)
        return value


# ---- named axes ----------------------------------------------------------------------------------
#
# The names of axes, and the rounding of values that are passed to code.


def axis_names(context: Context, node: Node, axes: int) -> tuple[str, ...]:
    """The names of the axes of an expression with `axes` axes; empty if they have no names.

    An axis is named after the parameter that gives its length. Element-by-element results have the
    names of their operands.
    """
    candidates: set[tuple[str, ...]] = set()
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, Name):
            candidates.add(context.slots.axes.get(one.name, ()))
        elif not isinstance(one, Subscript):
            stack.extend(children(one))
    candidates.discard(())
    (names,) = candidates if len(candidates) == 1 else ((),)
    return names if len(names) == axes else ()


def note_axes(context: Context, line: ModelLine, value: Value) -> None:
    """Store the names of the axes of the names that a line of the model defines."""
    if not context.slots.known:
        return
    right = line.right
    if line.drawn and isinstance(right, Subscript):
        names = names_of_lengths(context, right.index)
    else:
        names = axis_names(context, right, len(value.shape))
    if len(names) == len(value.shape) and any(names):
        for name in line.names:
            context.slots.axes[name.name] = names


def names_of_lengths(context: Context, index: Sequence[Node]) -> tuple[str, ...]:
    """The names of the axes of a draw of this shape."""
    names: list[str] = []
    for one in index:
        several = context.lower(one).shape  # a vector has the lengths of axes without names
        own = one.name if isinstance(one, Name) else ""
        names += [""] * several[0] if several else [own]
    return tuple(names)


def rounded_for_code(context: Context, value: Value, at: Position) -> Value:
    """A value as it is passed to code: rounded to its number format, unless a fixed integer."""
    dtype = context.slots.dtype
    if context.slots.column is None or dtype is None or value.truth:
        return value
    known = value.known
    if isinstance(known, float) and known == round(known):
        return value
    return context.graph.elementwise(ROUNDED[dtype], (value,), at)
