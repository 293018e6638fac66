"""Reductions along axes of one draw, running results, and sorting.

`axis` is an axis of one draw or a list of axes. As in numpy, a reduction without it is
over all axes, and what keeps the shape goes along the last one. `keepdims` keeps the axes.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from dropcheck.vocabulary.function import (
    AXIS,
    OVER_ALL,
    Array,
    Function,
    Kernel,
    Parameter,
    X,
    axes_of,
    axis_of,
    filled_axes,
    of_arrays,
    option,
    single_axis,
    sorting,
    spoil,
)
from dropcheck.vocabulary.shapes import ShapeError, flag, need
from dropcheck.vocabulary.special import power

# from this many draws on, one numpy call per step for all draws is faster (measured)
_FEW = 300


def _length(x: Array, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[axis] for axis in axes)


def _sum(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """The sum; of truths, the number of true ones."""
    axes, keep = axes_of(x, axis), flag(keepdims, "keepdims")
    if x.dtype == np.bool_:
        # sums of bytes in the narrowest sufficient type are six times as fast as float64 sums
        narrow = "u2" if _length(x, axes) < 2**16 else "i8"
        counts = np.sum(x.view(np.uint8), axis=axes, keepdims=keep, dtype=np.dtype(narrow))
        return np.asarray(counts, dtype=np.float64)
    result: Array = np.sum(x, axis=axes, keepdims=keep)
    return result


def _mean(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """The mean; NaN of no elements."""
    return np.divide(_sum(x, axis=axis, keepdims=keepdims), float(_length(x, axes_of(x, axis))))


def _var(x: Array, *, ddof: float = 0, axis: Any = None, keepdims: float = 0) -> Array:
    """The sum of squared distances from the mean, over n − ddof; NaN unless n − ddof is positive.

    The mean is computed first, so that nothing cancels.
    """
    axes = axes_of(x, axis)
    squares = x - _mean(x, axis=axes, keepdims=1)
    np.square(squares, out=squares)
    degrees = _length(x, axes) - ddof
    summed = np.sum(squares, axis=axes, keepdims=flag(keepdims, "keepdims"))
    result: Array = np.multiply(summed, 1.0 / degrees if degrees > 0 else np.nan)
    return result


def _norm(
    x: Array,
    *,
    ord: float = 2,  # noqa: A002 — the option's name in the language
    axis: Any = None,
    keepdims: float = 0,
) -> Array:
    """(Σ|x|^ord)^(1/ord); the largest or smallest size for ±inf, the count of non-zeros for 0."""
    axes, keep = axes_of(x, axis), flag(keepdims, "keepdims")
    if ord == 0:
        return _sum(x != 0, axis=axes, keepdims=keep)
    result: Array
    if ord == 2:
        result = np.sqrt(np.sum(np.square(x), axis=axes, keepdims=keep))
    elif ord == math.inf:
        result = np.max(np.abs(x), axis=axes, keepdims=keep, initial=0.0)
    elif ord == -math.inf:
        result = np.min(np.abs(x), axis=axes, keepdims=keep, initial=math.inf)
    else:
        powers = np.abs(x) if ord == 1 else power(np.abs(x), np.asarray(float(ord)))
        result = np.power(np.sum(powers, axis=axes, keepdims=keep), 1.0 / ord)
    return result


def _peak(x: Array, axes: tuple[int, ...]) -> Array:
    return np.asarray(np.max(x, axis=axes, keepdims=True, initial=-np.inf))


def _softmax(x: Array, *, axis: Any = None) -> Array:
    """Exponentials divided by their sum; the largest exponent is subtracted against overflow."""
    axes = axes_of(x, axis)
    grown = x - _peak(x, axes)
    np.exp(grown, out=grown)
    grown /= np.sum(grown, axis=axes, keepdims=True)
    return grown


def _logsumexp(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """The logarithm of the sum of exponentials; the largest is subtracted against overflow."""
    axes = axes_of(x, axis)
    peak = _peak(x, axes)
    peak[np.isinf(peak)] = 0.0  # an infinite one would give inf − inf; the sum then is 0 or inf
    grown = x - peak
    np.exp(grown, out=grown)
    result: Array = np.log(np.sum(grown, axis=axes, keepdims=True)) + peak
    return result if flag(keepdims, "keepdims") else result.squeeze(axes)


def _running(function: np.ufunc, x: Array, *, axis: Any = None) -> Array:
    """Running results of a function along an axis.

    numpy goes along the axis for one draw after the other. One step for all draws at once is up to
    ten times as fast, unless there are few draws.
    """
    at = axis_of(x, axis)
    if x.shape[-1] < _FEW:
        whole: Array = function.accumulate(x, axis=at)
        return whole
    result = np.empty_like(x)
    source, target = np.moveaxis(x, at, 0), np.moveaxis(result, at, 0)
    target[:1] = source[:1]
    for step in range(1, len(source)):
        function(target[step - 1], source[step], out=target[step])
    return result


def _over_axes(function: Kernel, x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """One of numpy's reductions; NaN where any element is."""
    return function(x, axis=axes_of(x, axis), keepdims=flag(keepdims, "keepdims"))


def _extreme(function: Kernel, x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """The same of a function that has no value of no elements."""
    return function(x, axis=filled_axes(x, axis), keepdims=flag(keepdims, "keepdims"))


def _place(function: Kernel, x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Index of the (first) extreme element, row by row over several axes; NaN where any is."""
    filled_axes(x, axis)
    merged, at = single_axis(x, axis)
    result = spoil(function(merged, axis=at), merged, at, keepdims=False)
    return np.expand_dims(result, axes_of(x, axis)) if flag(keepdims, "keepdims") else result


def _argsort(x: Array, *, axis: Any = None) -> Array:
    """The indices that sort, ties in their order; NaN for every line that contains a NaN."""
    at = axis_of(x, axis)
    return spoil(np.argsort(x, axis=at, kind="stable"), x, at)


def _diff(x: Array, *, axis: Any = None) -> Array:
    if x.ndim == 1:
        raise need("an array", (), f"it takes differences of neighbours; {DERIVATIVE}")
    return np.diff(x, axis=axis_of(x, axis))


def _sorted(x: Array, axis: Any) -> tuple[Array, int]:
    """The elements sorted along one axis, moved to the end, with NaN last; and the axis' place."""
    merged, at = single_axis(x, axis)
    # a contiguous last axis is sorted twice as fast as an axis across the draws
    lines = np.ascontiguousarray(np.moveaxis(merged, at, -1))
    if lines is x or np.shares_memory(lines, x):
        lines = lines.copy()
    lines.sort(axis=-1)
    return lines, at


def _sort(x: Array, *, axis: Any = None) -> Array:
    """In ascending order; NaN for every line that contains a NaN, as no rank is then known."""
    lines, at = _sorted(x, axis_of(x, axis))
    if lines.size and np.isnan(lines[..., -1]).any():
        lines[np.isnan(lines[..., -1])] = np.nan
    return np.moveaxis(lines, -1, at)


def _quantile(x: Array, *, u: Any, axis: Any = None, keepdims: float = 0) -> Array:
    """The quantile by linear interpolation (Hyndman & Fan, 1996, definition 7).

    A list of levels gives a new first axis.
    """
    levels = u if isinstance(u, tuple | list) else (u,)
    if not all(0 <= level <= 1 for level in levels):
        raise ShapeError(f"'u' must satisfy 0 <= u <= 1, and is {u}")
    lines, _ = _sorted(x, filled_axes(x, axis))
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


DERIVATIVE = (
    "there are no derivatives: write the formula of the derivative, or a quotient of differences, "
    "(y1 - y0) / h, with y0 at x and y1 at x + h; diff(y) has the differences of neighbours"
)


# ---- the entries --------------------------------------------------------------------------------


def _over(*facts: Any, more: tuple[Parameter, ...] = (), **others: Any) -> Function:
    """An entry of a reduction, over all axes if none is named."""
    return of_arrays(*facts, parameters=(*X, *more, *OVER_ALL), **others)


def _along(*facts: Any, **more: Any) -> Function:
    """An entry of a function along an axis that keeps the shape."""
    return of_arrays(*facts, parameters=(*X, AXIS), **more)


SUM = _over("sum", _sum, "sum", takes_truth=True, does="sums")  # fmt: skip
MEAN = _over("mean", _mean, "mean", takes_truth=True, does="sums")  # fmt: skip
_DDOF = (option("ddof", 0.0),)

VAR = _over("var", _var,
            "variance: squared distances from the mean, over n − ddof, which is n by " "default",
            more=_DDOF)  # fmt: skip
STD = _over("std", lambda x, **over: np.sqrt(_var(x, **over)),
      "square root of var, over n − ddof likewise", more=_DDOF)  # fmt: skip
NORM = _over("norm", _norm,
      "norm of order ord of the elements; of a matrix with ord, name the axis",
      more=(option("ord", 2.0),),
      )  # fmt: skip
PAIRWISE = {"max": "maximum", "min": "minimum"}
"""Functions of the elements of an array, and the functions of several numbers that do the same."""
MAX = _over("max", partial(_extreme, np.max), "largest", aliases=("amax",),
            does="ranks")  # fmt: skip
MIN = _over("min", partial(_extreme, np.min), "smallest", aliases=("amin",),
            does="ranks")  # fmt: skip

_RUNNING_SUM = partial(_running, np.add)
ARRAYS = (
    SUM,
    _over("prod", partial(_over_axes, np.prod), "product"),
    MEAN,
    VAR,
    STD,
    NORM,
    MAX,
    MIN,
    _over("argmax", partial(_place, np.argmax),
          "index of the largest, the first of equals, from 0"),
    _over("argmin", partial(_place, np.argmin),
          "index of the smallest, the first of equals, from 0"),
    _over("logsumexp", _logsumexp, "log of the sum of exponentials"),
    _over("median", partial(_quantile, u=0.5), "the middle element, or the mean of the middle two",
          cost=sorting, does="ranks"),
    _over("quantile", _quantile,
          "quantile at level u, or at each of a list, interpolated between neighbours",
          more=(option("u"),), cost=sorting, does="ranks"),
    _along("sort", _sort, "in ascending order", cost=sorting, does="ranks"),
    _along("argsort", _argsort, "the indices that sort, from 0, ties in order", cost=sorting),
    _along("cumsum", _RUNNING_SUM, "running sum", does="sums"),
    _along("cumprod", partial(_running, np.multiply), "running product"),
    _along("cummax", partial(_running, np.maximum), "running maximum"),
    _along("diff", _diff, "differences of neighbours", does="adds"),
    _along("softmax", _softmax, "exponentials, divided by their sum"),
)  # fmt: skip
