"""What an entry of a function holds: all that any part of the package knows about it.

Arrays have the shape of one draw first and the axis of draws last (of length 1 where nothing is
random), so that arrays of unlike rank combine by numpy's own rule; `axis` and the like speak of
one draw. The caller silences numpy's floating-point warnings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dropcheck.records import record
from dropcheck.vocabulary.defined_where import UNDEFINED_NOWHERE, DefinedWhere
from dropcheck.vocabulary.growth import Growth
from dropcheck.vocabulary.hulls import BoundsRule
from dropcheck.vocabulary.jumps import JumpRule
from dropcheck.vocabulary.shapes import Shape, ShapeRule, elementwise, normalise_axes
from dropcheck.vocabulary.smoothness.ranges import RangesRule

Array = NDArray[Any]
Kernel = Callable[..., Array]
PolynomialRule = Callable[..., Any]
"""A function made of arithmetic on what is `Algebraic`: operands in order, options by name."""
DegreeRule = Callable[[Mapping[str, Any]], float | None]
"""From the options, the d with f(s · x) = s^d · f(x) for every s >= 0 where f(x) is finite."""


def scaling(degree: float) -> DegreeRule:
    """The rule of a function with one degree, whatever its options."""
    return lambda _options: degree


LINEAR = scaling(1.0)


class KernelError(ValueError):
    """A value that a function cannot take, such as an index that is not whole; one sentence."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


# ---- parameters ---------------------------------------------------------------------------------


@record
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


def values(names: str) -> tuple[Parameter, ...]:
    """Parameters that are arrays, which may be random: `values("a b")`."""
    return tuple(Parameter(name) for name in names.split())


def option(name: str, default: float | None = None) -> Parameter:
    """A parameter that is fixed when the case is read; required where it has no default."""
    return Parameter(name, option=True, required=default is None, default=default)


X = values("x")
PAIR = values("a b")
MORE = Parameter("more", required=False, variadic=True)
AXIS = option("axis", -1.0)
OVER = (AXIS, option("keepdims", 0.0))


# ---- what one draw costs ------------------------------------------------------------------------

CostRule = Callable[[Shape, Sequence[Shape]], float]
"""Rough nanoseconds of one use, from the shapes of the result and of the arguments."""

# From this side on a product or a decomposition runs in blocks, at a fraction of the cost a step.
_BLOCKED = 64
PRODUCT_SHARE = 0.1
DECOMPOSITION_SHARE = 0.4


def blocked_share(side: int, blocked: float) -> float:
    """The cost of a step where matrices have this side, in steps of small ones."""
    return blocked if side >= _BLOCKED else 1.0


def cheap(shape: Shape, _inputs: Sequence[Shape]) -> float:
    """Cost of a step of arithmetic for each element."""
    return float(math.prod(shape))


def usual(shape: Shape, inputs: Sequence[Shape]) -> float:
    """Cost of what goes over its arguments once, with a call of a function for each element."""
    return 10.0 * float(math.prod(shape)) + 3.0 * float(sum(map(math.prod, inputs)))


def sorting(_shape: Shape, inputs: Sequence[Shape]) -> float:
    """Cost of what puts elements in order."""
    return 60.0 * float(sum(map(math.prod, inputs)))


def decomposition(_shape: Shape, inputs: Sequence[Shape]) -> float:
    """Cost of what decomposes a matrix."""
    side = (inputs[0] or (1,))[-1]
    read = float(sum(map(math.prod, inputs)))
    return 500.0 + read * side * blocked_share(side, DECOMPOSITION_SHARE)


# ---- the entry ----------------------------------------------------------------------------------


@record(kw_only=True, eq=False)
class Function:
    """One function of the language, or one of its signs (`a + b`, `x[i]`, `a if c else b`).

    `kernel` takes the values in order, then the options by name. Inputs that are truths reach it
    as bool arrays where it `takes_truth`, else as float64.
    """

    name: str
    parameters: tuple[Parameter, ...]
    summary: str
    shape: ShapeRule
    kernel: Kernel
    bounds: BoundsRule
    growth: Growth
    cost: CostRule
    defined: DefinedWhere = UNDEFINED_NOWHERE  # where its arguments are, unless more is said
    # itself, or its square where it is none, as a polynomial in its arguments; None: neither is one
    polynomial: PolynomialRule | None = None
    square: PolynomialRule | None = None
    with_sizes: PolynomialRule | None = None  # a polynomial in its arguments and in sizes of such
    # a command, or what stands before, between and after the arguments; "" is the name upright
    latex: str | tuple[str, ...] = ""
    aliases: tuple[str, ...] = ()  # what it is called in papers and in other libraries
    written: str = ""  # how it is written, where it is not called by its name
    truth: bool = False  # yields 1 or 0 (or NaN, where that is unknown)
    indicator: bool = False  # yields 1 or 0, though it is no truth
    takes_truth: bool = False
    of_shape: bool = False  # its value follows from the shape of its argument alone
    guards: bool = False  # an argument may be left unused, with all that is wrong in it
    divides: bool = False  # by its second argument
    commutes: bool = False  # f(a, b) is f(b, a)
    additive: bool = False  # a sum of parts of its arguments, each with a factor that is known
    degree: DegreeRule | None = None  # how it scales with its first argument alone
    homogeneous: bool = False  # of degree 1 in all its arguments together
    bilinear: bool = False  # linear in either of its two arguments, with no other part
    carries_size: bool = False  # of sizes it makes the size of the result
    rearranges: bool = False  # every element of the result is an element of its one argument
    joins: bool = False  # every element of the result is an element of an argument, each once
    view: bool = False  # another way to look at what is there, without memory of its own
    picks: bool = False  # single elements
    moves: bool = False  # puts elements elsewhere, or adds them up: linear, with no minus sign
    by_rank: bool = False  # picks elements by their ranks, or averages such
    by_place: bool = False  # elements of one law become elements of laws that differ by place
    vector: bool = False  # makes a fixed vector
    of_vectors: bool = False  # takes laws of vectors, where it takes a law
    # where it is asked of one draw, cell by cell; None: by `bounds`, and not known to be smooth
    ranges: RangesRule | None = None
    # what its arguments are on paper where rounding alone keeps them from where it jumps
    jumps: JumpRule | None = None
    mistaken_for: str = ""  # the function that a slip of the pen puts in its place

    @property
    def signature(self) -> str:
        """The function as a call, with every default: `var(x, ddof=0, axis=-1, keepdims=0)`."""
        parts = []
        for parameter in self.parameters:
            if parameter.variadic:
                parts.append("…")
            elif parameter.required:
                parts.append(parameter.name)
            else:
                default = "…" if parameter.default is None else f"{parameter.default:g}"
                parts.append(f"{parameter.name}={default}")
        return f"{self.name}({', '.join(parts)})"

    @property
    def usage(self) -> str:
        """How it is written, without what may be left out: `a @ b`, `arctan2(y, x)`."""
        needed = (one for one in self.parameters if one.required or one.variadic)
        names = ("…" if one.variadic else one.name for one in needed)
        return self.written or f"{self.name}({', '.join(names)})"

    @property
    def by_element(self) -> bool:
        """Whether each element of the result depends on one element of every argument."""
        return self.shape is elementwise


def entry(
    name: str, kernel: Kernel, summary: str, bounds: BoundsRule, growth: Growth, **more: Any
) -> Function:
    """An entry, of a function of one number element by element unless more is said."""
    facts = {"parameters": X, "shape": elementwise, "cost": usual, "bounds": bounds, **more}
    return Function(name=name, kernel=kernel, summary=summary, growth=growth, **facts)


def degree_of(function: Function, options: Mapping[str, Any]) -> float | None:
    """How a function scales with its first argument alone; None where it does not, or unknown."""
    rule = LINEAR if function.rearranges else function.degree
    return None if rule is None else rule(options)


def scales_together(function: Function) -> bool:
    """Whether a function scales by s where all its arguments do."""
    return function.additive or function.homogeneous


# ---- what kernels share -------------------------------------------------------------------------


def floats(x: Array) -> Array:
    """The array as float64, truths as 1 and 0."""
    return x if x.dtype == np.float64 else x.astype(np.float64)


def axes_of(x: Array, axis: Any) -> tuple[int, ...]:
    """Which axes of the array are meant: per-draw axes count from the left as they stand."""
    return _axes(tuple(axis) if isinstance(axis, list) else axis, x.shape[:-1])


_axes = lru_cache(maxsize=1024)(normalise_axes)  # asked of each array of each span


def has_nan(x: Array) -> bool:
    """Whether any element is NaN; the minimum tells in one quick pass, with no temporary."""
    return x.dtype != np.bool_ and x.size > 0 and bool(np.isnan(x.min()))


def single_axis(x: Array, axis: Any) -> tuple[Array, int]:
    """The array with its chosen axes made into one, and where that one stands."""
    axes = axes_of(x, axis)
    if len(axes) == 1:
        return x, axes[0]
    kept = [at for at in range(x.ndim - 1) if at not in axes]
    moved = x.transpose(*kept, *axes, x.ndim - 1)
    merged = moved.reshape(*(x.shape[at] for at in kept), -1, x.shape[-1])
    return merged, len(kept)


def spoil(result: Array, x: Array, axis: int, keepdims: bool = True) -> Array:
    """The result as float64, NaN along every line of x that holds one."""
    if not has_nan(x):
        return floats(result)
    return np.where(np.isnan(x).any(axis=axis, keepdims=keepdims), np.nan, floats(result))
