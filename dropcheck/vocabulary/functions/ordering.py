"""What depends on the order of the elements of one draw: largest, sorted, quantiles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dropcheck.vocabulary import growth, hulls
from dropcheck.vocabulary.function import Array, axes_of, option, single_axis, sorting, spoil
from dropcheck.vocabulary.functions.reductions import going_along, reducing
from dropcheck.vocabulary.shapes import Options, Shape, ShapeError, flag, reduction


def _max(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Largest element; NaN where any is."""
    result: Array = np.max(x, axis=axes_of(x, axis), keepdims=flag(keepdims, "keepdims"))
    return result


def _min(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Smallest element; NaN where any is."""
    result: Array = np.min(x, axis=axes_of(x, axis), keepdims=flag(keepdims, "keepdims"))
    return result


def _sorted(x: Array, axis: Any) -> tuple[Array, int]:
    """The elements in order along one axis, now the last; NaN, if any, at its end."""
    merged, at = single_axis(x, axis)
    # a contiguous last axis sorts twice as quickly as one across the draws
    lines = np.ascontiguousarray(np.moveaxis(merged, at, -1))
    if lines is x or np.shares_memory(lines, x):
        lines = lines.copy()
    lines.sort(axis=-1)
    return lines, at


def _sort(x: Array, *, axis: Any = None) -> Array:
    """In ascending order; NaN throughout where any element is, as no rank is then known."""
    lines, at = _sorted(x, axis)
    if lines.size and np.isnan(lines[..., -1]).any():
        lines[np.isnan(lines[..., -1])] = np.nan
    return np.moveaxis(lines, -1, at)


def _quantile(x: Array, *, u: Any, axis: Any = None, keepdims: float = 0) -> Array:
    """Quantile by linear interpolation (Hyndman & Fan, 1996, definition 7).

    A list of levels comes out as a new first axis.
    """
    lines, _ = _sorted(x, axis)
    unknown = np.isnan(lines[..., -1])

    def at_level(level: float) -> Array:
        place = level * (lines.shape[-1] - 1)
        below = math.floor(place)
        low, high = lines[..., below], lines[..., math.ceil(place)]
        # equal ends, infinite ones too, need no interpolation
        value = np.where(low == high, low, low + (place - below) * (high - low))
        result = np.where(unknown, np.nan, value)
        return np.expand_dims(result, axes_of(x, axis)) if keepdims else result

    flag(keepdims, "keepdims")
    if isinstance(u, tuple | list):
        return np.stack([at_level(level) for level in u])
    return at_level(u)


def _median(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """The middle element, or the mean of the middle two."""
    return _quantile(x, u=0.5, axis=axis, keepdims=keepdims)


def _argmax(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Index of the (first) largest element; NaN where any element is."""
    (at,), keep = axes_of(x, axis), flag(keepdims, "keepdims")
    return spoil(np.argmax(x, axis=at, keepdims=keep), x, at, keep)


def _argmin(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Index of the (first) smallest element; NaN where any element is."""
    (at,), keep = axes_of(x, axis), flag(keepdims, "keepdims")
    return spoil(np.argmin(x, axis=at, keepdims=keep), x, at, keep)


def _argsort(x: Array, *, axis: Any = None) -> Array:
    """The indices that sort, ties in their order; NaN throughout where any element is."""
    (at,) = axes_of(x, axis)
    return spoil(np.argsort(x, axis=at, kind="stable"), x, at)


def _quantile_shape(shapes: tuple[Shape, ...], options: Options) -> Shape:
    """As a reduction; a list of levels comes out as a new first axis."""
    level = options["u"]
    levels = level if isinstance(level, tuple | list) else (level,)
    if not all(0 <= entry <= 1 for entry in levels):
        raise ShapeError(f"'u' must satisfy 0 <= u <= 1, and is {level}")
    reduced = reduction(empty=False)(shapes, options)
    return reduced if levels is not level else (len(levels), *reduced)


_PICKED: dict[str, Any] = {"bounds": hulls.picking, "growth": growth.NO_HEAVIER}

ARRAYS = (
    reducing(*("max", _max, "largest"), **_PICKED, empty=False, latex=r"\max", elsewhere=("amax",)),
    reducing(
        *("min", _min, "smallest"), **_PICKED, empty=False, latex=r"\min", elsewhere=("amin",)
    ),
    reducing(
        *("argmax", _argmax, "index of the largest, the first of equals, from 0"),
        growth=growth.BOUNDED,
        empty=False,
        several=False,
    ),
    reducing(
        *("argmin", _argmin, "index of the smallest, the first of equals, from 0"),
        growth=growth.BOUNDED,
        empty=False,
        several=False,
    ),
    reducing(
        *("median", _median, "the middle element, or the mean of the middle two"),
        **_PICKED,
        empty=False,
        cost=sorting,
    ),
    reducing(
        *("quantile", _quantile),
        "quantile at level u, or at each of a list, interpolated between neighbours",
        option("u"),
        bounds=hulls.picking_first,
        growth=growth.NO_HEAVIER,
        shape=_quantile_shape,
        cost=sorting,
    ),
    going_along("sort", _sort, "in ascending order", **_PICKED, cost=sorting),
    going_along(
        *("argsort", _argsort, "the indices that sort, from 0, ties in order"),
        growth=growth.BOUNDED,
        cost=sorting,
    ),
)
