"""The typed graph of a case: every quantity once, with its shape and whether it is random.

Fixed values are computed while the graph is built, and stored as arrays. The last axis of every
array is that of draws; its length is 1 where nothing is random.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np

from dropcheck.claims.registry import Code, CodeRequest, Slot
from dropcheck.language.syntax import Position
from dropcheck.vocabulary.function import Array, Function, Kernel
from dropcheck.vocabulary.functions import operation
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, NEGATIVE, SUBTRACT
from dropcheck.vocabulary.law import Law, Values
from dropcheck.vocabulary.operators import OPERATORS, Operator
from dropcheck.vocabulary.shapes import Shape

# ---- drawn from ----------------------------------------------------------------------------------
#
# Sets of the draws that a quantity depends on, stored as one bit for each draw.
#
# In a recurrence of a thousand steps, the quantities depend on one draw, on two, …, on a thousand.
# Sets of names would take gigabytes.


_PLACES: dict[str, int] = {}
_NAMES: dict[int, str] = {}
_NEXT = itertools.count()


class Sources(Set[str]):
    """An immutable set of names of draws.

    >>> both = Sources(["x"]) | Sources(["y"])
    >>> sorted(both), "x" in both, len(both & Sources(["y", "z"])), bool(Sources())
    (['x', 'y'], True, 1, False)
    >>> both == {"x", "y"}, both.isdisjoint(Sources(["z"])), Sources(["x"]) <= both
    (True, True, True)
    """

    __slots__ = ("bits",)

    def __init__(self, names: Iterable[str] = (), bits: int = 0) -> None:
        for name in names:
            if name not in _PLACES:
                # if threads race, the first one's bit counts, and the others' bits stay unused
                _NAMES[_PLACES.setdefault(name, next(_NEXT))] = name
            bits |= 1 << _PLACES[name]
        self.bits = bits

    def __contains__(self, name: object) -> bool:
        return bool(self.bits >> _PLACES[name] & 1) if name in _PLACES else False

    def __iter__(self) -> Iterator[str]:
        left = self.bits
        while left:
            lowest = left & -left
            yield _NAMES[lowest.bit_length() - 1]
            left ^= lowest

    def __len__(self) -> int:
        return self.bits.bit_count()

    def __or__(self, other: Iterable[str]) -> Sources:  # type: ignore[override]  # names alone
        return Sources(bits=self.bits | _bits_of(other))

    def __hash__(self) -> int:
        return hash(self.bits)

    def isdisjoint(self, other: Iterable[str]) -> bool:
        """Whether no draw is in both."""
        return not self.bits & _bits_of(other)

    def __reduce__(self) -> tuple[type[Sources], tuple[list[str]]]:
        return Sources, (list(self),)  # the bits have other meanings in another process


def _bits_of(other: Iterable[str]) -> int:
    return other.bits if isinstance(other, Sources) else Sources(other).bits


NO_DRAWS = Sources()


# ---- graph ---------------------------------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class Suspect:
    """A division by zero, or a fixed number that is undefined: where it is, and what to say."""

    at: Position
    message: str


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One quantity of a case.

    `operation` is the name of the function, operator or law that gives it from its `inputs`.
    `shape` is the shape in one draw. `estimated` means that it contains an operator on the law.
    `sources` are the draws it depends on. `constant` is the array of a fixed value, with an axis of
    draws of length 1; None for other values.
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
    # the call of code under test that gives this value
    call: CodeCall | None = None

    @property
    def known(self) -> Plain | None:
        """A fixed value in plain Python; None if it is not fixed, or is a large array."""
        if self.constant is None or self.constant.size > LARGEST_PLAIN:
            return None
        if self.shape == ():
            return float(self.constant[0])
        return tuples(self.constant[..., 0].astype(float).tolist())

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


def tuples(value: list[Any]) -> tuple[Any, ...]:
    """Nested lists as nested tuples."""
    return tuple(map(tuples, value)) if value and isinstance(value[0], list) else tuple(value)


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
    return bound(value.function, value.options)


def bound(function: Function, options: tuple[tuple[str, Any], ...]) -> Kernel:
    """A function with its options bound; it takes truths too, as numbers if it asks for these."""
    kernel = function.kernel
    if options:
        kernel = partial(kernel, **{name: thawed(option) for name, option in options})
    if function.takes_truth:
        return kernel
    return lambda *arrays: kernel(*map(number, arrays))


def computed_from(value: Value, arrays: Mapping[int, Array]) -> Array:
    """The array of a value, from the arrays of its random inputs, by their ids.

    Raises:
        KernelError: the function does not take these values.
    """
    inputs = (arrays[id(one)] if one.random else one.constant for one in value.inputs)
    return kernel_of(value)(*inputs)


def number(array: Array) -> Array:
    """Truths as the numbers 1 and 0; other arrays as they are."""
    return array.astype(np.float64) if array.dtype == np.bool_ else array


# ---- sums ----------------------------------------------------------------------------------------


WeightedValues = tuple[tuple[float, Value], ...]
"""Values, each with its factor in a sum."""


def sum_of(value: Value) -> tuple[WeightedValues, float]:
    """A value as a sum of values with factors, and a number; no parts if it is no sum.

    The parts are random, or made of operators.
    """
    if value.kind != Kind.COMPUTED:
        return (), 0.0
    function, inputs = value.function, value.inputs
    known = [None if _varies(one) else one.known for one in inputs]
    if function in (ADD, SUBTRACT):
        signs = (1.0, 1.0 if function is ADD else -1.0)
        parts = [(s, one) for s, one in zip(signs, inputs, strict=True) if _varies(one)]
        numbers = [s * n for s, n in zip(signs, known, strict=True) if isinstance(n, float)]
        return (tuple(parts), sum(numbers)) if len(parts) + len(numbers) == 2 else ((), 0.0)
    if function is NEGATIVE:
        return ((-1.0, inputs[0]),), 0.0
    if function in (MULTIPLY, DIVIDE):
        left, right = known
        number, one = (right, inputs[0]) if _varies(inputs[0]) else (left, inputs[1])
        by_it = function is DIVIDE and (one is inputs[1] or not number)
        if by_it or not isinstance(number, float):
            return (), 0.0
        return ((1 / number if function is DIVIDE else number, one),), 0.0
    return (), 0.0


def _varies(value: Value) -> bool:
    return value.random or value.estimated


@dataclass(frozen=True, slots=True)
class LinearCombination:
    """Σ factor · operator + constant; `terms` are the pairs of a factor and an operator."""

    terms: WeightedValues
    constant: float


def of_operators(value: Value) -> LinearCombination | None:
    """A side such as `E(y) - 2 * E(x) + 1` as a linear combination of operators; else None.

    An operator that stands in it twice is one term.
    """
    terms: dict[int, tuple[float, Value]] = {}
    constant, stack = 0.0, [(1.0, value)]
    while stack:
        factor, one = stack.pop()
        parts, shift = sum_of(one)
        if one.kind == Kind.OPERATOR:
            terms[id(one)] = (factor + terms.get(id(one), (0.0, one))[0], one)
        elif not one.estimated and isinstance(one.known, float):
            constant += factor * one.known
        elif parts and not one.shape:
            constant += factor * shift
            stack += [(factor * own, part) for own, part in reversed(parts)]
        else:
            return None
    return LinearCombination(tuple(terms.values()), constant)


# ---- cost ----------------------------------------------------------------------------------------
#
# What one draw of a quantity costs, by its shape: memory, and nanoseconds on one core.
#
# The figures are good to a factor of a few. They limit what a claim may ask for, and they plan
# spans and default budgets; no result depends on them.


# One draw may take two seconds. Then ten draws, of the thousands that a verdict needs, use up a
# case's default budget. Fixed values are computed once, and may take ten seconds.
MOST_WORK = 2e9
MOST_FIXED_WORK = 1e10

# Nanoseconds for a draw by the user's code: a guess, so that budgets depend on no machine.
_SAMPLE_COST = 1000.0
SAMPLE_ELEMENT_COST = 40.0


def draw_cost(law: Law | None, shape: Shape) -> float:
    """Nanoseconds to draw an array of this shape; without a law, the user's code draws it."""
    if law is not None:
        return law.draw_cost(shape)
    return _SAMPLE_COST + SAMPLE_ELEMENT_COST * math.prod(shape)


def memory_text(size: float) -> str:
    """A size in bytes, for people.

    >>> memory_text(8e12), memory_text(2**30)
    ('7.28 TiB', '1 GiB')
    """
    power = next(one for one in range(7) if size < 1024.0 ** (one + 1) or one == 6)
    number = size / 1024**power
    unit = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[power]
    return f"{number:.4g} {unit}" if number == round(number, 1) else f"{number:.3g} {unit}"


# ---- law claims ----------------------------------------------------------------------------------
#
# A statement about laws, once its names are resolved to values.


class Relation(StrEnum):
    """What a statement claims about the laws of quantities."""

    FOLLOWS = "follows a law"  # each entry of the quantity has the named law
    ALIKE = "have one law"  # corresponding entries of the two quantities have the same law
    INDEPENDENT = "are independent"


@dataclass(frozen=True, slots=True)
class LawClaim:
    """A statement about laws.

    `quantities` are one that follows a law, two that have the same law, or those that are
    independent. `arguments` are the fixed arguments of `law`, in plain Python as `Law.cdf` takes
    them. `over` are the axes of a single quantity along which its entries are independent.
    """

    relation: Relation
    quantities: tuple[Value, ...]
    law: Law | None = None
    arguments: tuple[Plain | None, ...] = ()
    over: tuple[int, ...] = ()

    @property
    def entries(self) -> int:
        """How many numbers one draw of the largest quantity has."""
        return max((math.prod(value.shape) for value in self.quantities), default=1)


def pairs(claim: LawClaim) -> tuple[tuple[int, int], ...]:
    """The pairs of entries that are claimed to be independent, as pairs of numbers.

    Entries are numbered through all quantities, each in row-major order.
    """
    groups = [at for at, value in enumerate(claim.quantities) for _ in np.ndindex(value.shape)]
    if claim.over:
        (value,) = claim.quantities
        indices = [tuple(index[axis] for axis in claim.over) for index in np.ndindex(*value.shape)]
        names = {index: place for place, index in enumerate(dict.fromkeys(indices))}
        groups = [names[index] for index in indices]
    both = itertools.combinations(range(len(groups)), 2)
    return tuple(pair for pair in both if groups[pair[0]] != groups[pair[1]])
