"""One entry for each function of the language, with everything that the package knows about it.

Arrays have the axes of one draw first and the axis of draws last (of length 1 where nothing is
random). Options such as `axis` count the axes of one draw. The caller silences numpy's
floating-point warnings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dropcheck.vocabulary.shapes import (
    Options,
    Shape,
    ShapeError,
    ShapeRule,
    broadcast,
    need,
    normalise_axes,
)

Array = NDArray[Any]
Kernel = Callable[..., Array]


class KernelError(ShapeError):
    """A function cannot take a value, such as an index that is not whole; one sentence says why."""


# ---- parameters ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function.

    A *value* is an array that may be random. An *option* (such as `axis`) is a number or a list of
    numbers, fixed when the case is read. `variadic` takes all remaining positional arguments.
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
    """A parameter that is fixed when the case is read; required if it has no default."""
    return Parameter(name, option=True, required=default is None, default=default)


X = values("x")
PAIR = values("a b")
MORE = Parameter("more", required=False, variadic=True)
AXIS = option("axis", -1.0)
EVERY_AXIS = Parameter("axis", option=True, required=False)
"""The axes of a reduction, as numpy's: without it all axes of one draw."""
_KEEPDIMS = option("keepdims", 0.0)
OVER, OVER_ALL = (AXIS, _KEEPDIMS), (EVERY_AXIS, _KEEPDIMS)


# ---- what one draw costs ------------------------------------------------------------------------

CostRule = Callable[[Shape, Sequence[Shape]], float]
"""Takes the shapes of the result and of the arguments; returns rough nanoseconds for one use."""

# From this side on a product or a decomposition of matrices runs in blocks, with cheaper steps.
_BLOCKED = 64
PRODUCT_SHARE = 0.1
DECOMPOSITION_SHARE = 0.4


def blocked_share(side: int, blocked: float) -> float:
    """The cost of a step for matrices with this side, relative to a step for small matrices."""
    return blocked if side >= _BLOCKED else 1.0


def cheap(shape: Shape, _inputs: Sequence[Shape]) -> float:
    """The cost of one arithmetic operation for each element."""
    return float(math.prod(shape))


def usual(shape: Shape, inputs: Sequence[Shape]) -> float:
    """The cost of reading the arguments once and of one function call for each element."""
    return 10.0 * float(math.prod(shape)) + 3.0 * float(sum(map(math.prod, inputs)))


def sorting(_shape: Shape, inputs: Sequence[Shape]) -> float:
    """The cost of sorting the elements."""
    return 60.0 * float(sum(map(math.prod, inputs)))


def decomposition(_shape: Shape, inputs: Sequence[Shape]) -> float:
    """The cost of decomposing matrices."""
    side = (inputs[0] or (1,))[-1]
    read = float(sum(map(math.prod, inputs)))
    return 500.0 + read * side * blocked_share(side, DECOMPOSITION_SHARE)


# ---- what is done to elements -------------------------------------------------------------------

Does = Literal[
    "",
    "moves",  # each element of the result is an element of the one argument
    "views",  # the same, in the memory of the argument
    "picks",  # the same, of single elements
    "subscripts",  # the same, in the memory of the argument
    "takes",  # the same, by indices that are its second argument and may be random
    "gaps",  # moves elements, and puts 0 between them
    "joins",  # each element of the result is an element of an argument, each once
    "sums",  # adds elements up, none with a minus sign
    "adds",  # adds elements up, with known factors
    "multiplies",  # linear in each of its two arguments
    "divides",  # by its second argument
    "selects",  # one of its arguments, as maximum(x, y) does
    "ranks",  # picks elements by their ranks, or averages such elements
    "shape",  # its value depends only on the shape of its argument
]
"""What a function does to the elements of its arguments, in a word; "": anything else."""


# ---- the entry ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Function:
    """One function of the language, or one of its signs (`a + b`, `x[i]`, `a if c else b`).

    `kernel` takes the values in order, then the options by name. It gets truths as bool arrays if
    `takes_truth` is set, else as float64.
    """

    name: str
    parameters: tuple[Parameter, ...]
    summary: str
    kernel: Kernel
    cost: CostRule
    # whether each element of the result depends on one element of every argument
    by_element: bool = True
    # the shape of a result that the kernel cannot make of no draws, as it may take all the memory
    shape_rule: ShapeRule | None = None
    aliases: tuple[str, ...] = ()  # its names in papers and in other libraries
    written: str = ""  # how it is written, if it is not called by its name
    does: Does = ""
    truth: bool = False  # returns 1 or 0 (or NaN, where that is unknown)
    takes_truth: bool = False

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
        """How it is written, without optional arguments: `a @ b`, `arctan2(y, x)`."""
        needed = (one for one in self.parameters if one.required or one.variadic)
        names = ("…" if one.variadic else one.name for one in needed)
        return self.written or f"{self.name}({', '.join(names)})"

    def shape(self, shapes: tuple[Shape, ...], options: Options) -> Shape:
        """The shape of the result in one draw: that of what the kernel makes of no draws.

        Raises:
            ShapeError: it does not take these shapes and options.
        """
        if self.by_element:
            return broadcast(shapes)
        if self.shape_rule is not None:
            return self.shape_rule(shapes, options)
        with np.errstate(all="ignore"):
            return self.kernel(*(np.empty((*one, 0)) for one in shapes), **options).shape[:-1]

    @property
    def rearranges(self) -> bool:
        """Whether every element of the result is an element of its one argument."""
        return self.does in ("moves", "views", "picks", "subscripts")

    @property
    def moves(self) -> bool:
        """Whether it moves elements or adds them up: linear, with no minus sign."""
        return self.rearranges or self.does in ("joins", "gaps", "sums")

    @property
    def picks(self) -> bool:
        """Whether it picks single elements."""
        return self.does in ("picks", "subscripts", "takes")

    @property
    def view(self) -> bool:
        """Whether the result uses the memory of the argument."""
        return self.does in ("views", "subscripts")

    @property
    def additive(self) -> bool:
        """Whether it is a sum of elements of its arguments with known factors."""
        return self.does in ("sums", "adds")


def entry(name: str, kernel: Kernel, summary: str, **more: Any) -> Function:
    """An entry; the defaults are those of a function of one number, element by element."""
    facts = {"parameters": X, "cost": usual, **more}
    return Function(name=name, kernel=kernel, summary=summary, **facts)


def of_arrays(*facts: Any, **more: Any) -> Function:
    """An entry of a function of arrays, whose shape its kernel tells."""
    return entry(*facts, **{"by_element": False, **more})


# ---- what kernels share -------------------------------------------------------------------------


def monotone(
    kernel: Kernel, rounding: float = 0.0, domain: tuple[float, float] = (-math.inf, math.inf)
) -> Kernel:
    """A kernel that never falls, or never rises, in its last argument.

    If an enclosure stands for that, the kernel is applied to the ends of its range.

    Args:
        kernel: for arrays.
        rounding: the relative error of its results.
        domain: where it has values.
    """

    def of_either(*arrays: Any, **options: Any) -> Any:
        x = arrays[-1]
        if not hasattr(x, "by_ends"):
            return kernel(*arrays, **options)
        return x.by_ends(
            lambda end: kernel(*arrays[:-1], np.clip(end, *domain), **options), rounding
        )

    return of_either


def floats(x: Array) -> Array:
    """The array as float64, truths as 1 and 0."""
    return x if x.dtype == np.float64 else x.astype(np.float64)


def axes_of(x: Array, axis: Any) -> tuple[int, ...]:
    """The axes that an option names, counted from the left; the axis of draws is not counted."""
    if x.ndim == 1:
        hint = (
            "x ~ normal(0, 1)[n] draws n numbers, and [a, b] is a list of two; maximum(a, b) is "
            "the larger one"
        )
        raise need("an array", (), hint)
    return _axes(tuple(axis) if isinstance(axis, list) else axis, x.shape[:-1])


_axes = lru_cache(maxsize=1024)(normalise_axes)  # called for each array of each span of draws


def axis_of(x: Array, axis: Any) -> int:
    """The same of an option that names one axis."""
    if isinstance(axis, tuple | list):
        raise ShapeError("'axis' must be one axis here, and is a list")
    return axes_of(x, axis)[0]


def filled_axes(x: Array, axis: Any) -> tuple[int, ...]:
    """The axes that an option names, for a function that has no value of no elements."""
    axes = axes_of(x, axis)
    if any(x.shape[one] == 0 for one in axes):
        raise ShapeError("there are no elements to choose from")
    return axes


def matrix(x: Array, square: bool = False) -> Array:
    """An array whose last two axes are those of a matrix."""
    if x.ndim < 3 or (square and x.shape[-2] != x.shape[-3]):
        raise need("a square matrix" if square else "a matrix", x.shape[:-1])
    return x


def has_nan(x: Array) -> bool:
    """Whether any element is NaN: then the minimum is, which needs no temporary array."""
    return x.dtype != np.bool_ and x.size > 0 and bool(np.isnan(x.min()))


def single_axis(x: Array, axis: Any) -> tuple[Array, int]:
    """The array with the named axes merged into one, and the place of this axis."""
    axes = axes_of(x, axis)
    if len(axes) == 1:
        return x, axes[0]
    kept = [at for at in range(x.ndim - 1) if at not in axes]
    moved = x.transpose(*kept, *axes, x.ndim - 1)
    count = math.prod(x.shape[at] for at in axes)
    merged = moved.reshape(*(x.shape[at] for at in kept), count, x.shape[-1])
    return merged, len(kept)


def spoil(result: Array, x: Array, axis: int, keepdims: bool = True) -> Array:
    """The result as float64, with NaN for every line of x that contains a NaN."""
    if not has_nan(x):
        return floats(result)
    return np.where(np.isnan(x).any(axis=axis, keepdims=keepdims), np.nan, floats(result))


# ---- slot calls ----------------------------------------------------------------------------------
#
# How a model calls a slot: for its result, for its result in evaluation mode, for its gradient.


TRAIN, EVAL, GRAD = "train", "eval", "grad"
"""The modes of a call of code: its result, its result in evaluation mode, and the gradient of the
sum of its result with respect to its first argument."""

EVALUATED = f".{EVAL}"
"""The end of the name of a call in evaluation mode: `slot.eval(x)`."""
_GRADIENT = re.compile(rf"{GRAD}\(([^()]+)\)")


def slot_and_mode(name: str) -> tuple[str, str]:
    """The slot and the mode of a call, from its name.

    >>> slot_and_mode("dropout"), slot_and_mode("dropout.eval"), slot_and_mode("grad(dropout)")
    (('dropout', 'train'), ('dropout', 'eval'), ('dropout', 'grad'))
    """
    match = _GRADIENT.fullmatch(name)
    if match is not None:
        return match[1], GRAD
    if name.endswith(EVALUATED):
        return name.removesuffix(EVALUATED), EVAL
    return name, TRAIN


# ---- where elements come from --------------------------------------------------------------------
#
# Of functions that only move elements.
#
# A function that moves elements is applied to arrays of places in place of numbers, one for each
# axis of its argument: so what it does is read off its kernel, and needs no rule.


LARGEST_MOVED = 4_000_000  # the most elements of a result


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The elements of a result that come from one argument, and from where there.

    `axes` has for each axis of the argument the axes of the result that its places depend on, and
    these places, [length of each of these axes]. `kept` is 1 for elements of this argument and 0
    for others; it has length 1 along axes on which it does not vary.
    """

    shape: Shape
    axes: tuple[tuple[tuple[int, ...], NDArray[np.intp]], ...]
    kept: Array


def origin(kernel: Kernel, arguments: Sequence[Any], at: int) -> Origin:
    """Where the elements that a function takes from one argument stand in it.

    Args:
        kernel: moves elements, each to any number of places, or puts 0 where there is none.
        arguments: its arguments; arrays of the right shape will do for those that it moves.
        at: the place of the argument.

    Raises:
        ValueError: the result is too large, or the function does more than that.

    >>> found = origin(np.transpose, [np.zeros((2, 3))], 0)
    >>> found.shape, [(axes, places.tolist()) for axes, places in found.axes]
    ((3, 2), [((1,), [0, 1]), ((0,), [0, 1, 2])])
    """
    shape = arguments[at].shape
    others = list(arguments)
    others[at] = np.broadcast_to(0.0, shape)
    fixed = kernel(*others)  # the numbers of other arguments are no places

    def moved() -> Array:
        result = kernel(*others)
        return result - fixed if fixed.any() else result

    numbered = []
    for axis in range(len(shape)) if math.prod(shape) > 1 else ():
        places = np.arange(1.0, shape[axis] + 1.0).reshape(
            [-1 if one == axis else 1 for one in range(len(shape))]
        )
        others[at] = np.broadcast_to(places, shape)
        numbered.append(moved())
    if not numbered:
        others[at] = np.ones(shape)
        first = moved()
        return Origin(first.shape, ((((), np.zeros((), np.intp)),) * len(shape)), _narrow(first)[0])
    result = numbered[0].shape
    kept, _ = _narrow(np.asarray(numbered[0] != 0, dtype=np.float64))
    return Origin(result, tuple(map(_places, numbered, shape)), kept)


def _places(numbered: Array, most: int) -> tuple[tuple[int, ...], NDArray[np.intp]]:
    """The axes on which numbers 1 … `most` depend, and the numbers from 0 on; 0 may be any."""
    narrow, varying = _narrow(numbered)
    gaps = narrow == 0
    if gaps.any():  # what stands there does not matter: choose it so that fewer axes count
        for kept in ((), *((axis,) for axis in varying)):
            others = tuple(axis for axis in range(narrow.ndim) if axis not in kept)
            line = narrow.max(axis=others, keepdims=True)
            if (gaps | (narrow == line)).all():
                own = np.arange(1.0, line.size + 1.0).reshape(line.shape)
                narrow = np.where(line == 0, np.minimum(own, most), line)
                varying = kept
                break
        else:
            narrow = np.where(gaps, 1.0, narrow)
    if (narrow != np.clip(np.rint(narrow), 1, most)).any():
        raise ValueError  # these are no places
    places = narrow.reshape([narrow.shape[axis] for axis in varying])
    return varying, places.astype(np.intp) - 1


def _narrow(array: Array) -> tuple[Array, tuple[int, ...]]:
    """An array of length 1 along axes on which it does not vary, and the other axes."""
    still = tuple(slice(None) if step else slice(1) for step in array.strides)
    array = array[still] if array.size else array
    if array.size > LARGEST_MOVED:
        raise ValueError
    varying = []
    for axis, length in enumerate(array.shape):
        first = array.take([0], axis) if length else array
        if length > 1 and (array != first).any():
            varying.append(axis)
        else:
            array = first
    return array, tuple(varying)
