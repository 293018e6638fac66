"""The typed graph of a case: every quantity once, with its shape and whether it is random.

Fixed values are computed while the graph is built, and stored as arrays. The last axis of every
array is that of draws; its length is 1 where nothing is random.
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
"""A fixed value in plain Python: a number, or tuples nested as the shape is."""


# Longer arrays are not turned into plain Python, which takes four times the memory.
LARGEST_PLAIN = 2**16


# The source of all names that code draws: one name for all, since they may depend on each other.
# No name of a model ends in "=".
SAMPLE = "sample="


class Kind(StrEnum):
    """What sort of node a value is."""

    CONSTANT = "constant"
    DRAW = "draw"
    OPERATOR = "operator"
    COMPUTED = "computed"


@record
class Suspect:
    """A division by zero, or a fixed result that is not finite: where it is, and what to say.

    `hint` is added to the usual hint. If `cured_if_finite`, it is harmless once a result is finite,
    as in `1 / exp(1000)`.
    """

    at: Position
    message: str
    hint: str = ""
    cured_if_finite: bool = False


@record
class CodeCall:
    """One call of code under test: which code, with which arguments, and what is wanted of it.

    Calls with the same `tag` are one call: its value and its gradient share random numbers.
    """

    slot: Slot
    code: Code
    asked: CodeRequest
    tag: str
    mode: str
    draws: bool  # whether the slot's own mathematics draws

    @property
    def dependent(self) -> bool:
        """Whether draws of one call may depend on each other, by shared random numbers."""
        apart = self.asked.single or self.slot.independent or self.slot.law is not None
        return self.draws and not apart


@record(eq=False)
class Value:
    """One quantity of a case.

    `operation` is the name of the function, operator or law that gives it from its `inputs`.
    `shape` is the shape in one draw. `estimated` means that it contains an operator on the law.
    `sources` are the draws it depends on. `constant` is the array of a fixed value, with an axis of
    draws of length 1; None for other values, and for those that a check leaves to a run.
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
    # a problem, to be reported if the value is used
    suspect: Suspect | None = None
    # the code that draws this value, by its name, in place of a law
    sample: Sample | None = None
    # the call of code under test that gives this value
    call: CodeCall | None = None

    @property
    def known(self) -> Plain | None:
        """A fixed value in plain Python; None if it is not fixed, or is a large array."""
        if self.constant is None or self.constant.size > LARGEST_PLAIN:
            return None
        if self.shape == ():
            return float(self.constant[0])
        return _tuples(self.constant[..., 0].astype(float).tolist())

    @property
    def postponed(self) -> bool:
        """Whether it is fixed, but not computed by this check."""
        return self.constant is None and not self.random and not self.estimated

    @property
    def binary(self) -> bool:
        """Whether it is 0 or 1 in every draw."""
        return self.truth or (self.law is not None and self.law.values is Values.TRUTHS)

    @property
    def function(self) -> Function:
        """The function that computes it (of a computed value)."""
        return operation(self.operation)

    def computed_by(self, *functions: Function) -> bool:
        """Whether it is computed by one of these functions."""
        return self.kind == Kind.COMPUTED and self.function in functions

    @property
    def elements(self) -> int:
        """How many numbers it stores; 0 for a view of its input."""
        view = self.kind == Kind.COMPUTED and self.function.view
        return 0 if view else math.prod(self.shape)

    @property
    def level(self) -> float:
        """The level of a quantile (of a quantile operator)."""
        return float(dict(self.options)["level"])

    @property
    def operator(self) -> Operator:
        """The operator on the law (of a value of that kind)."""
        return OPERATORS[self.operation]

    def called(self, name: str) -> Value:
        """The same value under another name."""
        return dataclasses.replace(self, name=name)


def _tuples(value: list[Any]) -> Plain:
    return tuple(map(_tuples, value)) if value and isinstance(value[0], list) else tuple(value)


def joined_sources(values: Iterable[Value]) -> Sources:
    """The draws that at least one of the values depends on."""
    sources = NO_DRAWS
    for value in values:
        if value.sources and value.sources is not sources:
            sources = sources | value.sources if sources else value.sources
    return sources


def computed(function: Function, *inputs: Value, like: Value, shape: Shape | None = None) -> Value:
    """A random value computed by a function, of the shape of `like` unless `shape` is given."""
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
    """A constant, a number or an array with its axis of draws, at the place of another value."""
    array = constant if isinstance(constant, np.ndarray) else fixed_array(constant)
    return Value(
        kind=Kind.CONSTANT, operation="number", shape=array.shape[:-1], at=value.at, constant=array
    )


def ordered(roots: Iterable[Value]) -> list[Value]:
    """All random values that the roots are computed from, and they, each once, inputs first."""
    return in_order([value for value in roots if value.random], random_inputs)


def random_inputs(value: Value) -> list[Value]:
    """The inputs of a value that are random."""
    return [below for below in value.inputs if below.random]


def calls_below(roots: Iterable[Value]) -> list[CodeCall]:
    """The calls of code that the values are computed from."""
    return [value.call for value in ordered(roots) if value.call is not None]


def operators(values: Sequence[Value]) -> list[Value]:
    """All operators on the law that the values are computed from, each once."""
    by_id: dict[int, Value] = {}
    stack = list(values)
    while stack:
        value = stack.pop()
        if value.kind == Kind.OPERATOR:
            by_id[id(value)] = value
        elif value.estimated:
            stack.extend(value.inputs)
    return list(by_id.values())


def in_order(roots: Sequence[Value], inputs: Callable[[Value], Sequence[Value]]) -> list[Value]:
    """The roots and all values that they are computed from, each once, inputs first.

    A recursive function that caches its results can visit these first, so that its recursion stays
    shallow: a model can be thousands of lines deep.

    Args:
        roots: where the walk begins.
        inputs: the inputs of a value that are to be visited.
    """
    done: set[int] = set()
    walked: list[Value] = []
    stack = [(value, False) for value in reversed(roots)]
    while stack:
        value, inputs_done = stack.pop()
        if id(value) in done:
            continue
        if inputs_done:
            done.add(id(value))
            walked.append(value)
        else:
            stack.append((value, True))
            stack.extend((below, False) for below in reversed(inputs(value)))
    return walked


def hashable(value: Any) -> Any:
    """An option's value as a hashable key: slices become marked tuples."""
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    if isinstance(value, tuple):
        return tuple(hashable(entry) for entry in value)
    return value


def thawed(value: Any) -> Any:
    """The inverse of `hashable`."""
    if isinstance(value, tuple):
        if value and value[0] == "slice":
            return slice(*value[1:])
        return tuple(thawed(entry) for entry in value)
    return value


def kernel_of(value: Value) -> Kernel:
    """The function that computes a value from its inputs, with its options bound."""
    kernel = value.function.kernel
    if not value.options:
        return kernel
    return partial(kernel, **{name: thawed(option) for name, option in value.options})


def computed_from(value: Value, arrays: Mapping[int, Array]) -> Array:
    """The array of a value, from the arrays of its random inputs, by their ids.

    Raises:
        KernelError: the function does not take these values.
    """
    inputs = [arrays[id(one)] if one.random else one.constant for one in value.inputs]
    return kernel_of(value)(*(inputs if value.function.takes_truth else map(number, inputs)))


def number(array: Array) -> Array:
    """Truths as the numbers 1 and 0; other arrays as they are."""
    return array.astype(np.float64) if array.dtype == np.bool_ else array


def fixed_array(value: Plain) -> Array:
    """A number or nested tuples as an array with an axis of draws, of length 1."""
    return np.asarray(value, dtype=np.float64)[..., np.newaxis]


def folded(function: Function, constants: Sequence[Array], options: Mapping[str, Any]) -> Array:
    """The value of a function of fixed arrays, by the same kernel as for draws.

    Raises:
        KernelError: the function does not take these values.
    """
    values = constants if function.takes_truth else [number(value) for value in constants]
    with np.errstate(all="ignore"):
        return function.kernel(*values, **options)
