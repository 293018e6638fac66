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
