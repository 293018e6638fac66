"""The typed graph of a case: every quantity once, with its shape and whether it is random.

A graph is built by a `Folder`, which says what is known before any draw. While checking it is
`PlainFolder`: numbers only, pure Python. At run time it is one that holds arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dropcheck.language.syntax import Position
from dropcheck.language.vocabulary import Function, Law, Shape

Plain = float | tuple[Any, ...]
"""A known value in plain Python: a number, or tuples of them, nested as the shape is."""


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


class Folder(Protocol):
    """Works out what is known before any draw."""

    def constant(self, value: Plain) -> Any:
        """The folder's own form of a known value."""

    def plain(self, constant: Any) -> Plain:
        """The known value in plain Python."""

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


def _quotient(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)
    return a / b


def _power(a: float, b: float) -> float:
    try:
        result = a**b
    except OverflowError:
        odd = b == math.floor(b) and math.fmod(b, 2) != 0
        return -math.inf if a < 0 and odd else math.inf
    except ZeroDivisionError:
        return math.inf
    return result if isinstance(result, float) else math.nan  # a complex root is no number here


def _floor(a: float, b: float) -> float:
    quotient = _quotient(a, b)
    return float(math.floor(quotient)) if math.isfinite(quotient) and b else quotient


def _modulo(a: float, b: float) -> float:
    return a % b if b and math.isfinite(a) else math.nan


_ARITHMETIC: dict[str, Callable[..., float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "//": _floor,
    "%": _modulo,
    "**": _power,
    "negative": lambda a: -a,
    "==": lambda a, b: float(a == b),
    "!=": lambda a, b: float(a != b),
    "<": lambda a, b: float(a < b),
    "<=": lambda a, b: float(a <= b),
    ">": lambda a, b: float(a > b),
    ">=": lambda a, b: float(a >= b),
    "and": lambda a, b: float(bool(a) and bool(b)),
    "or": lambda a, b: float(bool(a) or bool(b)),
    "not": lambda a: float(not a),
    "conditional": lambda c, a, b: a if c else b,
}


class PlainFolder:
    """Folds numbers in pure Python and lists of known numbers; other arrays stay unknown."""

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
        if not all(isinstance(constant, float) for constant in constants):
            return None
        if function is not None:
            if function.scalar is None or options:
                return None
            return float(function.scalar(*constants))
        found = _ARITHMETIC.get(operation)
        return None if found is None else float(found(*constants))
