"""Functions that build, join and index the arrays of one draw."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dropcheck.vocabulary.function import (
    AXIS,
    MORE,
    PAIR,
    Array,
    KernelError,
    Parameter,
    X,
    axes_of,
    axis_of,
    cheap,
    matrix,
    of_arrays,
    option,
    values,
)
from dropcheck.vocabulary.shapes import (
    Options,
    Shape,
    ShapeError,
    broadcast,
    count,
    describe,
    need,
    normalise_axis,
    permutation,
    reshaped,
    sizes,
    whole,
)
from dropcheck.vocabulary.shapes import sizes as as_sizes

# ---- kernels ------------------------------------------------------------------------------------


def _draws(arrays: tuple[Array, ...]) -> int:
    return max((array.shape[-1] for array in arrays), key=lambda n: (n != 1, n), default=1)


def _array(*entries: Array) -> Array:
    """Arrays of one shape as a list: along a new first axis."""
    shape = entries[0].shape[:-1] if entries else ()
    result = np.empty((len(entries), *shape, _draws(entries)))
    for at, one in enumerate(entries):
        if one.shape[:-1] != shape:
            two = f"{describe(shape)} and {describe(one.shape[:-1])}"
            raise ShapeError(f"equal shapes are needed, and not {two}")
        result[at] = one
    return result


def _stack(*arrays: Array, axis: float = -1) -> Array:
    """Arrays of one shape along a new axis, the last one by default."""
    stacked = _array(*arrays)
    return np.moveaxis(stacked, 0, normalise_axis(axis, stacked.shape[:-1]))


def _concat(*arrays: Array, axis: float = -1) -> Array:
    """Arrays one after the other along an axis; a single number counts as a list of one."""
    parts = [array[None] if array.ndim == 1 else array for array in arrays]
    at = normalise_axis(axis, parts[0].shape[:-1])
    draws, first = _draws(arrays), parts[0].shape
    for one in (part.shape for part in parts):
        if one[:at] + one[at + 1 : -1] != first[:at] + first[at + 1 : -1]:
            raise ShapeError(f"{describe(first[:-1])} and {describe(one[:-1])} cannot be joined")
    return np.concatenate(
        [np.broadcast_to(part, (*part.shape[:-1], draws)) for part in parts], axis=at
    )


def _indices(i: Array, length: int, name: str, negative: bool) -> tuple[Array, Array | None]:
    """Indices as integers, and where they are invalid (None: nowhere).

    Random indices that are not finite or out of range may belong to draws that do not count
    (`given=`, a branch not taken): the results are then NaN. A fixed index out of range is an error
    in the claim.

    Raises:
        KernelError: for an index that is not whole, or a fixed one that is out of range.
    """
    lowest = -length if negative else 0
    with np.errstate(invalid="ignore"):
        good = (i >= lowest) & (i < length)
        fraction = np.isfinite(i) & (i != np.floor(i))
    if fraction.any():
        shown = f"{i[fraction][0]:g}"
        raise KernelError(
            f"an index in '{name}' must be a whole number, and is {shown}",
            "round it first: floor(…), ceil(…) or round(…)",
        )
    if good.all():
        return i.astype(np.intp), None
    if i.shape[-1] == 1 and not np.isnan(i).any():
        shown = f"{i[~good][0]:g}"
        raise KernelError(
            f"index {shown} in '{name}' is out of range for {length} places",
            f"indices count from 0: the last is {length - 1}" if length else "there are none",
        )
    return np.where(good, i, 0.0).astype(np.intp), ~good


def _take(x: Array, i: Array) -> Array:
    """Elements of a vector, or rows of a matrix, by index; a random x is indexed draw by draw.

    Shapes: x (k, …, N or 1), i (…, N or 1) → the shape of i, then that of x without its first axis.
    """
    if x.ndim == 1:
        hint = "the array stands first, then the indices: take([2, 3, 5], i)"
        raise need("an array to take from", (), hint)
    index, bad = _indices(i, x.shape[0], "take", negative=True)
    rest = x.ndim - 2
    if x.shape[0] == 0:  # every index is invalid: this table only sets the shape
        x = np.full((1, *x.shape[1:]), np.nan)
    if i.shape[-1] == 1:
        result = np.take(x, index[..., 0], axis=0)
    elif x.shape[-1] == 1:
        # i (…, N), rows (…, N, rest): the axis of draws is moved back to the end
        result = np.moveaxis(np.take(x[..., 0], index, axis=0), i.ndim - 1, -1)
    else:
        spread = index.reshape(*index.shape[:-1], *(1,) * rest, index.shape[-1])
        others = np.ogrid[tuple(slice(n) for n in x.shape[1:])]
        result = x[(spread, *others)] if others else x[spread]
    if bad is None:
        return result
    return np.where(bad.reshape(*bad.shape[:-1], *(1,) * rest, bad.shape[-1]), np.nan, result)


def _one_hot(i: Array, *, n: float) -> Array:
    """1 at the index, else 0, along a new last axis; NaN where the index is invalid."""
    places = count(n, "n")
    index, bad = _indices(i, places, "one_hot", negative=False)
    result = (index[..., None, :] == np.arange(places)[:, None]).astype(np.float64)
    return result if bad is None else np.where(bad[..., None, :], np.nan, result)


def _bincount(i: Array, *, n: float) -> Array:
    """How often each of 0 … n−1 occurs along the last axis; NaN where an index is invalid."""
    places = count(n, "n")
    if i.ndim == 1:
        raise need("an array", ())
    index, bad = _indices(i, places, "bincount", negative=False)
    lines = np.moveaxis(index, -2, 0)  # the counted axis first
    groups = math.prod(lines.shape[1:])
    offsets = np.arange(groups).reshape(lines.shape[1:]) * places
    counts = np.bincount((lines + offsets).ravel(), minlength=groups * places)
    result = np.moveaxis(counts.astype(np.float64).reshape(*lines.shape[1:], places), -1, -2)
    return result if bad is None else np.where(bad.any(axis=-2, keepdims=True), np.nan, result)


def _elements(x: Array, *, index: tuple[Any, ...]) -> Array:
    """Elements by an index in which tuples stand for arrays of places."""
    made = (np.array(one, dtype=np.intp) if isinstance(one, tuple) else one for one in index)
    found: Array = x[tuple(made)]
    return found


# ---- shapes -------------------------------------------------------------------------------------


def _count_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """The shape of `arange(n)` and `linspace(a, b, n)`, where a and b are single numbers."""
    if any(shapes):
        raise ShapeError("the ends must be single numbers")
    return (count(options["n"], "n"),)


def _full_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """The shape of `full(shape, v)`, to which v is broadcast."""
    wanted = as_sizes(options["shape"])
    if broadcast([wanted, *shapes]) != wanted:
        raise ShapeError(f"{describe(shapes[0])} does not fit into {describe(wanted)}")
    return wanted


# ---- the entries --------------------------------------------------------------------------------

ARRAY = of_arrays(
    "array", _array, "an array with a new first axis", parameters=(MORE,),
    does="joins",
    written="[a, b, c]",
)  # fmt: skip
SUBSCRIPT = of_arrays(
    "subscript", lambda x, index: x[tuple(index)], "elements by fixed indices, from 0",
    parameters=(*X, option("index")),
    cost=cheap, does="subscripts",
    written="x[i]",
)  # fmt: skip

ELEMENTS = of_arrays(
    "elements", _elements, "elements by several fixed indices",
    parameters=(*X, option("index")), cost=cheap,
    does="picks", written="x[[i, j]]",
)  # fmt: skip

SIGNS = (ARRAY, SUBSCRIPT, ELEMENTS)
TAKE = of_arrays(
    "take", _take, "elements of a vector, or rows of a matrix, by index, from 0; −1 is the last",
    parameters=values("x i"),
    does="takes",
)  # fmt: skip

_INDEX = (*values("i"), option("n"))
_SEVERAL = (*values("a"), MORE, AXIS)
ONE_HOT = of_arrays("one_hot", _one_hot, "1 at index i of n, else 0",
          parameters=_INDEX,
          shape_rule=lambda shapes, options: (*shapes[0], count(options["n"], "n")))  # fmt: skip
_FILLED: dict[str, Any] = {  # `ones(2, 3)` or `ones([2, 3])`
    "parameters": (Parameter("sizes", option=True, variadic=True),),
    "shape_rule": lambda _shapes, options: as_sizes(options["sizes"]),
}

ARRAYS = (
    of_arrays("size", lambda x: np.array([float(math.prod(x.shape[:-1]))]), "number of elements",
          does="shape", aliases=("len",)),
    of_arrays("shape", lambda x: np.array(x.shape[:-1], dtype=np.float64)[:, None],
          "lengths of the axes", does="shape"),
    ONE_HOT,
    of_arrays("bincount", _bincount, "how often each of 0 … n−1 occurs", parameters=_INDEX),
    TAKE,
    of_arrays("concat", _concat,
          "one after the other, along the last axis unless axis says otherwise",
          parameters=_SEVERAL, does="joins",
          aliases=("cat", "concatenate")),
    of_arrays("stack", _stack, "side by side along a new axis, the last unless axis says otherwise",
          parameters=_SEVERAL, does="joins"),
)  # fmt: skip

FIXED = (
    of_arrays("arange", lambda *, n: np.arange(float(count(n, "n")))[:, None], "0, 1, …, n−1",
          parameters=(option("n"),), shape_rule=_count_shape,
          aliases=("range",)),
    of_arrays("linspace", lambda a, b, *, n: np.linspace(a, b, count(n, "n"), axis=0),
          "n numbers from a to b, both included, evenly spaced",
          parameters=(*PAIR, option("n")), shape_rule=_count_shape),
    of_arrays("ones", lambda *, sizes: np.ones((*as_sizes(sizes), 1)),
          "all 1, of the shape given: ones(2, 3)", **_FILLED),
    of_arrays("zeros", lambda *, sizes: np.zeros((*as_sizes(sizes), 1)),
          "all 0, of the shape given: zeros(2, 3)", **_FILLED),
    of_arrays("full",
          lambda v, *, shape: np.broadcast_to(v, (*as_sizes(shape), v.shape[-1])).copy(),
          "all v, of the shape given: full([2, 3], v)",
          does="moves", parameters=(option("shape"), *values("v")),
          shape_rule=_full_shape),
    of_arrays("eye", lambda *, n: np.eye(count(n, "n"))[:, :, None], "identity matrix of n rows",
          parameters=(option("n"),), aliases=("identity",),
          shape_rule=lambda _shapes, options: (count(options["n"], "n"),) * 2),
)  # fmt: skip


# ---- rearranging ---------------------------------------------------------------------------------
#
# Functions that move the elements of one draw, repeat them, or put zeros between them.


# ---- kernels ------------------------------------------------------------------------------------


def _triangle(keep: Callable[..., Array]) -> Callable[..., Array]:
    def kernel(x: Array, *, k: float = 0) -> Array:
        rows, columns = matrix(x).shape[-3:-1]
        inside = keep(np.ones((rows, columns), dtype=np.bool_), whole(k, "k"))
        return np.where(inside[:, :, None], x, 0.0)

    return kernel


def _diag(x: Array, *, k: float = 0) -> Array:
    """The matrix with the vector x as its k-th diagonal, or the k-th diagonal of a matrix."""
    above = whole(k, "k")
    if x.ndim == 1:
        raise need("a vector or a matrix", ())
    if x.ndim > 2:
        return np.moveaxis(np.diagonal(x, above, axis1=-3, axis2=-2), -1, -2)
    n = x.shape[0]
    result = np.zeros((n + abs(above), n + abs(above), x.shape[-1]))
    result[np.arange(n) + max(-above, 0), np.arange(n) + max(above, 0)] = x
    return result


def _kron(a: Array, b: Array) -> Array:
    """All products of an element of a and one of b: a block of b for each element of a."""
    if 1 in (a.ndim, b.ndim):
        raise need("a vector or a matrix", ())
    rank = max(a.ndim, b.ndim) - 1
    m, n = ((1,) * (rank - one.ndim + 1) + one.shape[:-1] for one in (a, b))
    left = a.reshape(*(length for one in m for length in (one, 1)), a.shape[-1])
    right = b.reshape(*(length for one in n for length in (1, one)), b.shape[-1])
    product = left * right
    joined = (one * other for one, other in zip(m, n, strict=True))
    return product.reshape(*joined, product.shape[-1])


# ---- shapes -------------------------------------------------------------------------------------


def _repeat_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    shape = shapes[0]
    if not shape:
        raise need("an array", shape)
    axis = normalise_axis(options.get("axis", -1), shape)
    return (*shape[:axis], shape[axis] * count(options["n"], "n"), *shape[axis + 1 :])


# ---- the entries --------------------------------------------------------------------------------

_MOVED: dict[str, Any] = {"cost": cheap, "does": "moves"}
_VIEWED: dict[str, Any] = {**_MOVED, "does": "views"}
_GAPS: dict[str, Any] = {"cost": cheap, "does": "gaps"}
_K = option("k", 0.0)

RESHAPE = of_arrays(
    "reshape", lambda x, *, shape: x.reshape(*reshaped(x.shape[:-1], shape), x.shape[-1]),
    "the elements in their order, in another shape; −1 stands for what is left over",
    parameters=(*X, option("shape")), **_MOVED,
)  # fmt: skip

REARRANGING = (
    RESHAPE,
    of_arrays("transpose",
          lambda x, *, axes=None: x.transpose(*permutation(axes, x.shape[:-1]), x.ndim - 1),
          "the axes in the order given, or in reverse order",
          parameters=(*X, Parameter("axes", option=True, required=False)),
          aliases=("permute",), **_VIEWED),
    of_arrays("flip", lambda x, *, axis=None: np.flip(x, axes_of(x, axis)), "in reverse order",
          parameters=(*X, AXIS),
            aliases=("reverse", "rev"), **_VIEWED),
    of_arrays("roll",
            lambda x, *, shift, axis=None: np.roll(x, whole(shift, "shift"), axis_of(x, axis)),
            "shift places further on, and from the end back to the start",
            parameters=(*X, option("shift"), AXIS), **_MOVED),
    of_arrays("repeat", lambda x, *, n, axis=None: np.repeat(x, count(n, "n"), axis_of(x, axis)),
            "each element n times, one after another",
            parameters=(*X, option("n"), AXIS), shape_rule=_repeat_shape,
            aliases=("repeat_interleave",), **_MOVED),
    of_arrays("tile", lambda x, *, n: np.tile(x, (*sizes(n, "n"), 1)),
          "the whole n times along the last axis, or along each of a list",
          parameters=(*X, option("n")), **_MOVED),
    of_arrays("tril", _triangle(np.tril), "0 above the k-th diagonal",
          parameters=(*X, _K), **_GAPS),
    of_arrays("triu", _triangle(np.triu), "0 below the k-th diagonal",
          parameters=(*X, _K), **_GAPS),
    of_arrays("diag", _diag,
          "the matrix with this k-th diagonal, or a matrix's; above the main one " "k is positive",
          parameters=(*X, _K), aliases=("diagonal", "diagflat"),
          **_GAPS),
    of_arrays("kron", _kron, "Kronecker product: every element of a times the whole of b",
          parameters=PAIR, does="multiplies"),
)  # fmt: skip
