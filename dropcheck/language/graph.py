"""The typed graph of a case: every quantity once, with its shape and whether it is random.

What is fixed is worked out while the graph is built, and held as an array. Arrays have the axis of
draws last, of length 1 where nothing is random.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np

from dropcheck.claims.registry import Code, CodeRequest, Sample, Slot
from dropcheck.language.drawn_from import NO_DRAWS, Sources
from dropcheck.language.syntax import Position
from dropcheck.records import record
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.function import Array, Function, Kernel
from dropcheck.vocabulary.functions import operation
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.operators import OPERATORS, Operator
from dropcheck.vocabulary.shapes import Shape

Plain = float | tuple[Any, ...]
"""A known value in plain Python: a number, or tuples of them, nested as the shape is."""


# A longer array is not turned into plain Python, which takes four times its memory.
LARGEST_PLAIN = 2**16


# What draws the names that code stands in for: all of them, so that each may depend on the others.
# No name of a model ends so: as a source of draws it is none of them.
SAMPLE = "sample="


class Kind(StrEnum):
    """What sort of node a value is."""

    CONSTANT = "constant"
    DRAW = "draw"
    OPERATOR = "operator"
    COMPUTED = "computed"


@record
class Suspect:
    """A division by zero, or fixed numbers that work out to no number: where, and what to say.

    `hint` is added to the usual one. What works out to no number does no harm where it leads to
    one after all, as in `1 / exp(1000)`.
    """

    at: Position
    message: str
    hint: str = ""
    cured_if_finite: bool = False


@record
class CodeCall:
    """One call of code under test: what is called, for what, and what it is asked for.

    Calls with one `tag` are one: what it gives and its gradient come from the same random numbers.
    """

    slot: Slot
    code: Code
    asked: CodeRequest
    tag: str
    mode: str
    draws: bool  # whether it does by the slot's own mathematics

    @property
    def dependent(self) -> bool:
        """Whether draws of one call may depend on each other, by random numbers that they share."""
        apart = self.asked.single or self.slot.independent or self.slot.law is not None
        return self.draws and not apart


@record(eq=False)
class Value:
    """One quantity of a case.

    `operation` is the name of the function, operator or law that makes it from its `inputs`.
    `shape` is that of one draw. `estimated` means that an operator on the law is in it. `sources`
    are the draws it depends on. `constant` is the array of a fixed value, with an axis of draws of
    length 1; None for others, and for what a check leaves for a run to work out.
    """

    kind: Kind
    operation: str
    shape: Shape
    at: Position
    inputs: tuple[Value, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    name: str | None = None
    constant: Any = None
    random: bool = False
    estimated: bool = False
    truth: bool = False
    sources: Sources = NO_DRAWS
    law: Law | None = None
    # what is wrong with it, to be reported if it is looked at
    suspect: Suspect | None = None
    # code that draws the value, under its name, in place of a law
    sample: Sample | None = None
    # code under test that gives the value from its inputs
    call: CodeCall | None = None

    @property
    def known(self) -> Plain | None:
        """A fixed value in plain Python; None where it is not fixed, or is a large array."""
        if self.constant is None or self.constant.size > LARGEST_PLAIN:
            return None
        if self.shape == ():
            return float(self.constant[0])
        return _tuples(self.constant[..., 0].astype(float).tolist())

    @property
    def postponed(self) -> bool:
        """Whether it is fixed, and a check has not worked it out."""
        return self.constant is None and not self.random and not self.estimated

    @property
    def binary(self) -> bool:
        """Whether it is 1 or 0: a truth, or what gives no other numbers."""
        return self.truth or (self.law is not None and self.law.values is Values.TRUTHS)

    @property
    def function(self) -> Function:
        """The function that computes it, of a computed value."""
        return operation(self.operation)

    @property
    def elements(self) -> int:
        """How many numbers it holds of its own."""
        view = self.kind == Kind.COMPUTED and self.function.view
        return 0 if view else math.prod(self.shape)

    @property
    def level(self) -> float:
        """The level of a quantile, of such an operator."""
        return float(dict(self.options)["level"])

    @property
    def operator(self) -> Operator:
        """The operator on the law that it is, of such a value."""
        return OPERATORS[self.operation]

    def called(self, name: str) -> Value:
        """The same value under a name."""
        return dataclasses.replace(self, name=name)


def _tuples(value: list[Any]) -> Plain:
    return tuple(map(_tuples, value)) if value and isinstance(value[0], list) else tuple(value)


def joined_sources(values: Iterable[Value]) -> Sources:
    """The draws that any of some values depends on."""
    found = NO_DRAWS
    for value in values:
        if value.sources and value.sources is not found:
            found = found | value.sources if found else value.sources
    return found


def computed(function: Function, *inputs: Value, like: Value, shape: Shape | None = None) -> Value:
    """A function of values, one of which varies: of the shape of another unless it is given."""
    return Value(
        kind=Kind.COMPUTED,
        operation=function.name,
        shape=like.shape if shape is None else shape,
        at=like.at,
        inputs=inputs,
        random=True,
        truth=function.truth,
        sources=joined_sources(inputs),
    )


def constant_beside(value: Value, constant: float | Array) -> Value:
    """A number that is known, or an array with its axis of draws, at the place of another value."""
    array = constant if isinstance(constant, np.ndarray) else fixed_array(constant)
    return Value(
        kind=Kind.CONSTANT,
        operation="number",
        shape=array.shape[:-1],
        at=value.at,
        constant=array,
    )


def ordered(roots: Iterable[Value]) -> list[Value]:
    """Every random value below some, each once, inputs before what is made from them."""
    return in_order([value for value in roots if value.random], random_inputs)


def random_inputs(value: Value) -> list[Value]:
    """The random ones of the values that a value is made of."""
    return [below for below in value.inputs if below.random]


def calls_below(roots: Iterable[Value]) -> list[CodeCall]:
    """The calls of code that some values are made of."""
    return [value.call for value in ordered(roots) if value.call is not None]


def operators(values: Sequence[Value]) -> list[Value]:
    """Every operator on the law below some values, each once."""
    found: dict[int, Value] = {}
    stack = list(values)
    while stack:
        value = stack.pop()
        if value.kind == Kind.OPERATOR:
            found[id(value)] = value
        elif value.estimated:
            stack.extend(value.inputs)
    return list(found.values())


def in_order(roots: Sequence[Value], inputs: Callable[[Value], Sequence[Value]]) -> list[Value]:
    """Some values and all that is found below them, each once, inputs before what takes them.

    What walks a graph by recursion and keeps what it has seen may walk these first: a model can
    be thousands of lines deep.

    Args:
        roots: where the walk begins.
        inputs: what is looked at below a value.
    """
    done: set[int] = set()
    found: list[Value] = []
    stack = [(value, False) for value in reversed(roots)]
    while stack:
        value, inputs_done = stack.pop()
        if id(value) in done:
            continue
        if inputs_done:
            done.add(id(value))
            found.append(value)
        else:
            stack.append((value, True))
            stack.extend((below, False) for below in reversed(inputs(value)))
    return found


def hashable(value: Any) -> Any:
    """Options as keys: slices become marked tuples."""
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    if isinstance(value, tuple):
        return tuple(hashable(entry) for entry in value)
    return value


def thawed(value: Any) -> Any:
    """The inverse of the above."""
    if isinstance(value, tuple):
        if value and value[0] == "slice":
            return slice(*value[1:])
        return tuple(thawed(entry) for entry in value)
    return value


def kernel_of(value: Value) -> Kernel:
    """What computes a value from its inputs, with the options that it is written with."""
    kernel = value.function.kernel
    if not value.options:
        return kernel
    return partial(kernel, **{name: thawed(option) for name, option in value.options})


def computed_from(value: Value, held: Mapping[int, Array]) -> Array:
    """What a value is, from arrays of the random values below it, by their ids.

    Raises:
        KernelError: of a value that the function cannot take.
    """
    inputs = [held[id(one)] if one.random else one.constant for one in value.inputs]
    return kernel_of(value)(*(inputs if value.function.takes_truth else map(number, inputs)))


def number(array: Array) -> Array:
    """Truths as the numbers 1 and 0, everything else as it is."""
    return array.astype(np.float64) if array.dtype == np.bool_ else array


def fixed_array(value: Plain) -> Array:
    """A number or nested tuples as an array with an axis of draws."""
    return np.asarray(value, dtype=np.float64)[..., np.newaxis]


def folded(function: Function, constants: Sequence[Array], options: Mapping[str, Any]) -> Array:
    """The result of a function of fixed arrays, by the kernel that draws go through too.

    Raises:
        KernelError: of a value that the function cannot take.
    """
    values = constants if function.takes_truth else [number(value) for value in constants]
    with np.errstate(all="ignore"):
        return function.kernel(*values, **options)
