"""What an entry of the vocabulary is. Standard library only: checking a file imports no numpy.

A *shape* is that of one draw, a tuple of whole numbers; `()` is a single number. The axis of
draws is hidden: it never appears in a shape or an option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dropcheck.records import dataclass

Shape = tuple[int, ...]
Options = Mapping[str, Any]  # option name → int | float | tuple of these | None
ShapeRule = Callable[[tuple[Shape, ...], Options], Shape]


class ShapeError(ValueError):
    """Shapes that do not go together; the message says which and why, without a position."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function.

    A *value* is an array that may be random; an *option* (such as `axis`) is fixed when the case
    is read, and is a number or a list of numbers. `variadic` takes all remaining positionals.
    """

    name: str
    option: bool = False
    required: bool = True
    default: float | None = None
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the language.

    `kernel` names what computes it, looked up when first needed: "numpy.sqrt",
    "scipy.special.erf", or "kernels.softmax" for one of our own in `simulation/kernels.py`.
    A kernel takes the values in order, then the options by name. Values are float64 arrays with
    the axis of draws *last* (length 1 where nothing is random), so that arrays of unlike rank
    combine by numpy's own rule.
    """

    name: str
    parameters: tuple[Parameter, ...]
    shape: ShapeRule
    kernel: str
    summary: str
    truth: bool = False  # yields 1 or 0 (or NaN, where that cannot be told)
    takes_truth: bool = False  # its kernel takes bool arrays as they are; others get float64
    from_shape: Callable[[Shape], float | tuple[int, ...]] | None = None  # size, shape


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a parameter of a law may take."""

    low: float = float("-inf")
    high: float = float("inf")
    low_open: bool = True
    high_open: bool = True
    whole: bool = False

    def holds(self, value: float) -> bool:
        """Whether a number lies in the domain; NaN never does."""
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below and (not self.whole or value == value // 1)

    def describe(self, name: str) -> str:
        """The domain as a reader would write it: `0 <= p <= 1`, `df > 0`, `n >= 0, whole`."""
        low = "" if self.low == float("-inf") else f"{self.low:g} {'<' if self.low_open else '<='} "
        high = (
            "" if self.high == float("inf") else f" {'<' if self.high_open else '<='} {self.high:g}"
        )
        if low and not high:
            text = f"{name} {'>' if self.low_open else '>='} {self.low:g}"
        else:
            text = f"{low}{name}{high}" if (low or high) else f"{name} finite"
        return text + (", whole" if self.whole else "")


@dataclass(frozen=True, slots=True)
class LawParameter:
    """One parameter of a law; `axes` is its own rank: 0 a number, 1 a list, 2 a matrix."""

    name: str
    domain: Domain
    axes: int = 0


@dataclass(frozen=True, slots=True)
class Law:
    """One distribution of the language, as far as it is known before any draw.

    The callables take the law's arguments in order, as plain floats, and are asked only when
    every argument is a fixed number (`axes` 0) in its domain; for laws with parameters that are
    lists they are None or take tuples.
    """

    name: str
    parameters: tuple[LawParameter, ...]
    summary: str
    discrete: bool
    support: Callable[..., tuple[float, float]]  # closed hull of the values it can take
    # the supremum of the orders r for which E|x|^r is finite: inf for all, 1 for a Cauchy
    moments: Callable[..., float]
    # the one value of a degenerate law, None where it is not degenerate
    constant: Callable[..., float | None]
    # conditions between parameters, e.g. low <= high: a message where broken, else None
    joint: Callable[..., str | None] | None = None
    # last axes that one value of the law has of its own, from the shapes of the arguments and
    # their values where fixed (None where not); () for a law of numbers
    own_axes: Callable[[tuple[Shape, ...], tuple[Any, ...]], Shape] | None = None
