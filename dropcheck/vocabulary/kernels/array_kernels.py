"""Building, joining, indexing and rearranging the array of one draw."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dropcheck.vocabulary.kernels.common import Array, KernelError, axes_of, spoil
from dropcheck.vocabulary.shapes import Index, count, flag, normalise_axis
from dropcheck.vocabulary.shapes import sizes as as_sizes


def transpose(x: Array) -> Array:
    """The last two axes of one draw change places."""
    return np.swapaxes(x, -3, -2)


def subscript(x: Array, index: tuple[Index, ...]) -> Array:
    """`x[index]`: per-draw axes stand first, so that numpy's own indexing serves."""
    return x[tuple(index)]


def _draws(arrays: tuple[Array, ...]) -> int:
    return max((array.shape[-1] for array in arrays), key=lambda n: (n != 1, n), default=1)


def array_of(*entries: Array) -> Array:
    """A list: entries of one shape behind a new first axis."""
    shape = entries[0].shape[:-1] if entries else ()
    result = np.empty((len(entries), *shape, _draws(entries)))
    for at, entry in enumerate(entries):
        result[at] = entry
    return result


def stack(*arrays: Array, axis: float = -1) -> Array:
    """Arrays of one shape along a new axis, the last one by default."""
    stacked = array_of(*arrays)
    return np.moveaxis(stacked, 0, normalise_axis(axis, stacked.shape[:-1]))


def concat(*arrays: Array, axis: float = -1) -> Array:
    """One after the other along an axis; a single number counts as a list of one."""
    parts = [array[None] if array.ndim == 1 else array for array in arrays]
    at = normalise_axis(axis, parts[0].shape[:-1])
    draws = _draws(arrays)
    return np.concatenate(
        [np.broadcast_to(part, (*part.shape[:-1], draws)) for part in parts], axis=at
    )


def _indices(i: Array, length: int, name: str, negative: bool) -> tuple[Array, Array | None]:
    """Whole indices into `length` places, and which of them are none (None: all are good).

    Random indices that are not finite, or out of range, belong to draws that may not be looked
    at (`given=`, a branch not taken): they become NaN. A fixed one is a mistake in the claim.

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


def take(x: Array, i: Array) -> Array:
    """Elements of a vector, or rows of a matrix, by index; within the same draw where x is random.

    Shapes: x (k, …, N or 1), i (…, N or 1) → i's per-draw shape, then x's without the first axis.
    """
    index, bad = _indices(i, x.shape[0], "take", negative=True)
    rest = x.ndim - 2
    if x.shape[0] == 0:  # every index is bad: any table will do for the shape
        x = np.full((1, *x.shape[1:]), np.nan)
    if i.shape[-1] == 1:
        result = np.take(x, index[..., 0], axis=0)
    elif x.shape[-1] == 1:
        # i (…, N), rows (…, N, rest): the draws go back to the end
        result = np.moveaxis(np.take(x[..., 0], index, axis=0), i.ndim - 1, -1)
    else:
        spread = index.reshape(*index.shape[:-1], *(1,) * rest, index.shape[-1])
        others = np.ogrid[tuple(slice(n) for n in x.shape[1:])]
        result = x[(spread, *others)] if others else x[spread]
    if bad is None:
        return result
    return np.where(bad.reshape(*bad.shape[:-1], *(1,) * rest, bad.shape[-1]), np.nan, result)


def one_hot(i: Array, *, n: float) -> Array:
    """1 at the index, else 0, along a new last axis; NaN where the index is none."""
    places = count(n, "n")
    index, bad = _indices(i, places, "one_hot", negative=False)
    result = (index[..., None, :] == np.arange(places)[:, None]).astype(np.float64)
    return result if bad is None else np.where(bad[..., None, :], np.nan, result)


def bincount(i: Array, *, n: float) -> Array:
    """How often each of 0 … n−1 occurs along the last axis; NaN where an index is none."""
    places = count(n, "n")
    index, bad = _indices(i, places, "bincount", negative=False)
    lines = np.moveaxis(index, -2, 0)  # the axis counted over, then one line of counts for each
    groups = math.prod(lines.shape[1:])
    offsets = np.arange(groups).reshape(lines.shape[1:]) * places
    counts = np.bincount((lines + offsets).ravel(), minlength=groups * places)
    result = np.moveaxis(counts.astype(np.float64).reshape(*lines.shape[1:], places), -1, -2)
    return result if bad is None else np.where(bad.any(axis=-2, keepdims=True), np.nan, result)


def argmax(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Index of the (first) largest element; NaN where any element is."""
    (at,), keep = axes_of(x, axis), flag(keepdims, "keepdims")
    return spoil(np.argmax(x, axis=at, keepdims=keep), x, at, keep)


def argmin(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Index of the (first) smallest element; NaN where any element is."""
    (at,), keep = axes_of(x, axis), flag(keepdims, "keepdims")
    return spoil(np.argmin(x, axis=at, keepdims=keep), x, at, keep)


def argsort(x: Array, *, axis: Any = None) -> Array:
    """The indices that sort, ties in their order; NaN throughout where any element is."""
    (at,) = axes_of(x, axis)
    return spoil(np.argsort(x, axis=at, kind="stable"), x, at)


def size(x: Array) -> Array:
    """Number of elements of one draw."""
    return np.array([float(math.prod(x.shape[:-1]))])


def shape(x: Array) -> Array:
    """Lengths of the axes of one draw."""
    return np.array(x.shape[:-1], dtype=np.float64)[:, None]


def arange(*, n: float) -> Array:
    """0, 1, …, n−1."""
    return np.arange(float(count(n, "n")))[:, None]


def linspace(a: Array, b: Array, *, n: float) -> Array:
    """As many numbers from a to b, both ends in."""
    return np.linspace(a, b, count(n, "n"), axis=0)


def ones(*, sizes: Any) -> Array:
    """All 1."""
    return np.ones((*as_sizes(sizes), 1))


def zeros(*, sizes: Any) -> Array:
    """All 0."""
    return np.zeros((*as_sizes(sizes), 1))


def full(v: Array, *, shape: Any) -> Array:
    """All v, or v stretched to the shape."""
    return np.broadcast_to(v, (*as_sizes(shape), v.shape[-1])).copy()


def eye(*, n: float) -> Array:
    """Identity matrix."""
    return np.eye(count(n, "n"))[:, :, None]
