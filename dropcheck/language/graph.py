"""The typed graph of a case: every quantity once, with its shape and whether it is random.

A graph is built by a `Folder`, which says what is known before any draw. While checking it is
`PlainFolder`: numbers only, pure Python. At run time it is one that holds arrays.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from dropcheck.claims.registry import Sample
from dropcheck.language.syntax import Position
from dropcheck.records import dataclass
from dropcheck.settings import DEFAULT_MEMORY
from dropcheck.vocabulary import plain_functions as scalars
from dropcheck.vocabulary.entries import Function, Law, Shape
from dropcheck.vocabulary.law_table import argument_problem

Plain = float | tuple[Any, ...]
"""A known value in plain Python: a number, or tuples of them, nested as the shape is."""


# A longer array is not turned into plain Python, which takes four times its memory.
LARGEST_PLAIN = 2**16


# What draws the names that code stands in for: all of them, so that each may depend on the others.
# As a source of draws it is told from a name of the model by its last character.
SAMPLE = "sample="


class Kind:
    """What sort of node a value is."""

    CONSTANT = "constant"
    DRAW = "draw"
    OPERATOR = "operator"
    COMPUTED = "computed"


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One quantity of a case.

    `operation` is the kernel that computes it from its `inputs` (or the name of a law or operator,
    by `kind`). `shape` is that of one draw, None where it cannot be told without arrays.
    `estimated` means that an operator on the law is in it. `sources` are the draws it depends on.
    `constant` is in the folder's own form; None where it is not known.
    """

    kind: str
    operation: str
    inputs: tuple[Value, ...]
    options: tuple[tuple[str, Any], ...]
    shape: Shape | None
    at: Position
    name: str | None = None
    constant: Any = None
    random: bool = False
    estimated: bool = False
    truth: bool = False
    takes_truth: bool = False
    sources: frozenset[str] = frozenset()
    law: Law | None = None
    # a division by zero known beforehand: what to say if its result is looked at
    suspect: tuple[Position, str] | None = None
    # code that draws the value, under its name, in place of a law
    sample: Sample | None = None

    def called(self, name: str) -> Value:
        """The same value under a name."""
        return Value(
            self.kind,
            self.operation,
            self.inputs,
            self.options,
            self.shape,
            self.at,
            name,
            self.constant,
            self.random,
            self.estimated,
            self.truth,
            self.takes_truth,
            self.sources,
            self.law,
            self.suspect,
            self.sample,
        )


def joined_sources(values: Iterable[Value]) -> frozenset[str]:
    """The draws that any of some values depends on."""
    found: frozenset[str] = frozenset()
    for value in values:
        if value.sources and value.sources != found:
            found = found | value.sources if found else value.sources
    return found


def ordered(roots: Iterable[Value]) -> list[Value]:
    """Every random value below some, each once, inputs before what is made from them."""
    drawn = [value for value in roots if value.random]
    return in_order(drawn, lambda value: [below for below in value.inputs if below.random])


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


class Folder(Protocol):
    """Works out what is known before any draw."""

    @property
    def memory(self) -> int:
        """Bytes that one draw may take, together with what is fixed."""

    def constant(self, value: Plain) -> Any:
        """The folder's own form of a known value."""

    def plain(self, constant: Any) -> Plain | None:
        """A known value in plain Python, None where it is an array too large for that."""

    def full(self, value: float, shape: Shape) -> Any:
        """A known array with one value throughout, or None."""

    def apply(
        self,
        operation: str,
        function: Function | None,
        constants: Sequence[Any],
        options: dict[str, Any],
        *,
        takes_truth: bool,
    ) -> Any:
        """The result of an operation on known values, or None if it cannot be told here."""

    def argument_problem(self, law: Law, constants: Sequence[Any]) -> str | None:
        """What keeps known values from being the arguments of a law, or None."""


def _told(compare: Callable[[float, float], bool]) -> Callable[[float, float], float]:
    """A comparison as a number; NaN where it cannot be told."""

    def compared(a: float, b: float) -> float:
        return math.nan if math.isnan(a) or math.isnan(b) else float(compare(a, b))

    return compared


def _negation(a: float) -> float:
    return math.nan if math.isnan(a) else float(not a)


def _conjunction(a: float, b: float) -> float:
    if 0 in (a, b):
        return 0.0
    return math.nan if math.isnan(a) or math.isnan(b) else 1.0


def _disjunction(a: float, b: float) -> float:
    return _negation(_conjunction(_negation(a), _negation(b)))


_ARITHMETIC: dict[str, Callable[..., float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": scalars.divide,
    "//": scalars.floor_divide,
    "%": scalars.modulo,
    "**": scalars.power,
    "negative": lambda a: -a,
    "==": _told(operator.eq),
    "!=": _told(operator.ne),
    "<": _told(operator.lt),
    "<=": _told(operator.le),
    ">": _told(operator.gt),
    ">=": _told(operator.ge),
    "and": _conjunction,
    "or": _disjunction,
    "not": _negation,
    "conditional": lambda c, a, b: math.nan if math.isnan(c) else a if c else b,
}


def known_value(value: Value, folder: Folder) -> Plain | None:
    """What is known of a value before any draw; None where nothing is, or it is a large array."""
    return None if value.constant is None else folder.plain(value.constant)


def _picked(value: Any, index: tuple[int | slice, ...]) -> Any:
    """Elements of nested tuples; the index is known to fit."""
    if not index:
        return value
    first, *rest = index
    if isinstance(first, slice):
        return tuple(_picked(entry, tuple(rest)) for entry in value[first])
    return _picked(value[first], tuple(rest))


class PlainFolder:
    """Folds numbers in pure Python and lists of known numbers; other arrays stay unknown."""

    def __init__(self, memory: int = DEFAULT_MEMORY) -> None:
        self.memory = memory

    def constant(self, value: Plain) -> Plain:
        """A plain value is its own form."""
        return value

    def plain(self, constant: Any) -> Plain:
        """A plain value is its own form."""
        return constant  # type: ignore[no-any-return]  # it came from `constant` or `apply`

    def full(self, value: float, shape: Shape) -> Plain | None:
        """Numbers alone are kept."""
        return value if shape == () else None

    def apply(
        self,
        operation: str,
        function: Function | None,
        constants: Sequence[Any],
        options: dict[str, Any],
        *,
        takes_truth: bool,
    ) -> Plain | None:
        """Arithmetic and the functions that have a twin in pure Python, on numbers."""
        del takes_truth  # numbers serve as truths as they are
        if operation == "array":
            return tuple(constants)
        if operation == "subscript":
            picked: Plain = _picked(constants[0], options["index"])
            return picked
        if not all(isinstance(constant, float) for constant in constants):
            return None
        if function is not None:
            if function.scalar is None:
                return None
            return float(function.scalar(*constants, **options))
        found = _ARITHMETIC.get(operation)
        return None if found is None else float(found(*constants))

    def argument_problem(self, law: Law, constants: Sequence[Any]) -> str | None:
        """What keeps known values from being the arguments of a law, or None."""
        return argument_problem(law, tuple(constants))


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
