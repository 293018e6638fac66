"""Builds a graph: equal quantities once, fixed values computed at once, sizes limited."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dropcheck.language import cost, graph
from dropcheck.language.cost import memory_text, most_elements, time_text
from dropcheck.language.syntax import Name, Position
from dropcheck.settings import DEFAULT_MEMORY, LEAST_MEMORY, MOST_MEMORY
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.function import Array, Function
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, POWER, SUBTRACT
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.shapes import Shape, ShapeError

# Stands in for a random number: neither 0 nor 1, whose products and powers are special.
USUAL = 1.5
SMALL_WORK = 1e4  # nanoseconds; less work on fixed values is never postponed
VALUE_SIZE = 400  # bytes of a value that is one number, as measured
# The neutral right operand of each function, and the left one too if the function commutes.
_NEUTRAL = {
    **dict.fromkeys((ADD.name, SUBTRACT.name), 0.0),
    **dict.fromkeys((MULTIPLY.name, DIVIDE.name, POWER.name), 1.0),
}


class Skipped(Exception):  # noqa: N818 - not an error of its own
    """Raised if a value depends on an error that is reported already, or on a postponed value."""


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
    """Makes the values of a graph; equal expressions become one value, computed once."""

    def __init__(self, memory: int = DEFAULT_MEMORY, postpone: bool = False) -> None:
        self._memory = memory
        self._most_elements = most_elements(memory)
        self._known: dict[tuple[Any, ...], graph.Value] = {}
        self._drawn = _Spent(cost.MOST_WORK, "one draw of this claim")
        self._fixed = _Spent(cost.MOST_FIXED_WORK, "what is fixed in this claim")
        self._postpone = postpone
        self._checked_work = 0.0  # nanoseconds spent on fixed arrays by a check

    @property
    def size(self) -> int:
        """Approximate size of the graph so far in bytes, fixed arrays included."""
        return round(8 * self._fixed.elements) + VALUE_SIZE * len(self._known)

    def number(self, value: float, at: Position, name: str | None = None) -> graph.Value:
        """A constant number."""
        array = graph.fixed_array(value)
        options = (("value", float(value).hex()),)
        return self.constant("number", array, shape=(), at=at, name=name, options=options)

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
        options: tuple[tuple[str, Any], ...] = (),
    ) -> graph.Value:
        """A function whose shape follows from `rule` in place of the function's own rule."""
        shape = shape_at(at, "", rule, *(value.shape for value in values))
        return self.operation(function, values, shape, at, options)

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
        if known is None and function.name in _NEUTRAL:
            known = self._itself(function, values, shape)
        if known is not None:
            return known
        random = any(value.random for value in values)
        estimated = any(value.estimated for value in values)
        fixed = all(value.constant is not None for value in values)  # all that goes in is known
        suspect = next((value.suspect for value in values if value.suspect), None)
        self._check_size(shape, at, "this")
        work = 0.0
        if not estimated:
            held = 0 if function.view else math.prod(shape)
            work = function.cost(shape, [value.shape for value in values])
            self._spend(self._drawn if random else self._fixed, held, work, at)
        array = None
        thawed_options = {name: graph.thawed(value) for name, value in options}
        if fixed and not random and not estimated and not self._is_postponed(work):
            try:
                array = graph.folded(function, [value.constant for value in values], thawed_options)
            except ValueError as error:  # a value that the function cannot take
                raise at.error(str(error), getattr(error, "hint", None)) from None
        if function.guards:
            suspect = None
        elif suspect is not None and suspect.cured_if_finite:
            postponed = any(value.postponed for value in values)
            if postponed or _is_finite(array, function, values, thawed_options):
                suspect = None
        elif suspect is None and array is not None:
            suspect = _overflow(function, values, array, at)
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

    def _is_postponed(self, work: float) -> bool:
        """Whether fixed work of so many nanoseconds is left for a run."""
        if not self._postpone or work < SMALL_WORK:
            return False
        self._checked_work += work
        return self._checked_work > cost.MOST_CHECKED_WORK

    def _itself(
        self, function: Function, values: tuple[graph.Value, ...], shape: Shape
    ) -> graph.Value | None:
        """The operand itself where the other one is neutral: `s * x - m` is x if s = 1, m = 0."""
        for kept, one in (values, values[::-1])[: 1 + function.commutes]:
            if one.constant is None or one.shape != () or one.suspect is not None:
                continue
            if not kept.random or kept.truth or kept.shape != shape:
                continue
            if one.known == _NEUTRAL[function.name]:
                return kept
        return None

    def make(self, **fields: Any) -> graph.Value:
        """The value with these fields; an equal one that exists already is reused."""
        value = graph.Value(**fields)
        key = self._key(value)
        return self._known.setdefault(key, value) if key is not None else value

    def _key(self, value: graph.Value) -> tuple[Any, ...] | None:
        if value.operation == "degenerate":
            return None
        inputs = tuple(map(id, value.inputs))
        return (value.kind, value.operation, inputs, value.options, value.shape)

    def remember(self, value: graph.Value) -> None:
        """Let later equal expressions reuse this value, which has a name."""
        key = self._key(value)
        if key is not None:
            self._known[key] = value

    def spend_draw(self, law: Law | None, shape: Shape, name: Name) -> None:
        """Count the cost of an array of draws; refuse it if it is too much."""
        self._check_size(shape, name.at, f"{name.name!r}")
        self._spend(self._drawn, math.prod(shape), cost.draw_cost(law, shape), name.at)

    def _spend(self, spent: _Spent, count: int, nanoseconds: float, at: Position) -> None:
        if spent.elements > self._most_elements or spent.work > spent.most_work:
            raise Skipped
        spent.elements += count
        spent.work += nanoseconds
        if spent.elements > self._most_elements:
            raise at.error(
                f"{spent.what} takes {memory_text(8 * spent.elements)} in all by here, and "
                f"{self._allowed()}",
                _more_memory(spent.elements),
            )
        if spent.work > spent.most_work:
            raise at.error(
                f"{spent.what} takes about {time_text(spent.work)} to work out by here, and "
                f"{time_text(spent.most_work)} is allowed",
                "make the shapes smaller",
            )

    def _check_size(self, shape: Shape, at: Position, what: str) -> None:
        """Refuse a quantity that is too large by itself."""
        count = math.prod(shape)
        if count > self._most_elements:
            raise at.error(
                f"one draw of {what} alone, of shape {list(shape)}, takes "
                f"{memory_text(8 * count)}, and {self._allowed()}",
                _more_memory(count),
            )

    def _allowed(self) -> str:
        """What is allowed, and why it is less than the limit that the user set."""
        return (
            f"{memory_text(8 * self._most_elements)} is allowed "
            f"(of {memory_text(self._memory)}, half is for draws and half for what is fixed)"
        )


def _overflow(
    function: Function, values: tuple[graph.Value, ...], array: Array, at: Position
) -> graph.Suspect | None:
    """The problem with a fixed number that is not finite although all its inputs are finite.

    An infinity that the user writes is meant, and so is what is computed from it. Arrays may hold
    elements that are never used, such as logarithms under a mask, so they are not reported.
    """
    if array.shape != (1,) or function.takes_truth or np.isfinite(array[0]):
        return None
    if not all(np.isfinite(value.constant).all() for value in values):
        return None
    known = float(array[0])
    infinite = "; where infinity is meant, write inf" if math.isinf(known) else ""
    return graph.Suspect(at, f"this works out to {known}", infinite, cured_if_finite=True)


def _is_finite(
    array: Array | None,
    function: Function,
    values: tuple[graph.Value, ...],
    options: dict[str, Any],
) -> bool:
    """Whether a value is finite, as one draw shows: `x / exp(1000)` is, for any finite x."""
    if array is None:
        drawn = [value for value in values if value.constant is None]
        if any(value.suspect or math.prod(value.shape) > graph.LARGEST_PLAIN for value in drawn):
            return False
        draw = [
            np.full((*value.shape, 1), USUAL) if value.constant is None else value.constant
            for value in values
        ]
        try:
            array = graph.folded(function, draw, options)
        except ValueError:  # for example a matrix without an inverse
            return False
    return bool(np.isfinite(array).all())


def _more_memory(count: float) -> str:
    """A hint for so many numbers: a memory limit that allows them, if there is one.

    >>> _more_memory(4e8)
    'make the shapes smaller; dropcheck run --max-memory 8GiB allows more'
    """
    smaller = "make the shapes smaller"
    size = LEAST_MEMORY
    while most_elements(size) < count:
        size *= 2
        if size > MOST_MEMORY:
            return smaller
    number, unit = (size >> 20, "MiB") if size < 2**30 else (size >> 30, "GiB")
    return f"{smaller}; dropcheck run --max-memory {number}{unit} allows more"
