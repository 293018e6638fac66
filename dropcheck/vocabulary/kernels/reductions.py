"""One number of the elements along some axes of one draw, and running sums.

`axis` is a per-draw axis or a list of them, the last one by default; `keepdims` keeps it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dropcheck.vocabulary.kernels.common import Array, axes_of, single_axis
from dropcheck.vocabulary.shapes import flag

# draws from which on a step for all of them pays for the call of numpy that it takes (measured)
_FEW = 300


def _length(x: Array, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[axis] for axis in axes)


def total(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Sum; of truths, how many hold."""
    axes, keep = axes_of(x, axis), flag(keepdims, "keepdims")
    result: Array
    if x.dtype == np.bool_:
        # bytes summed into the narrowest sufficient type: six times as quick as float64 sums
        narrow = "u2" if _length(x, axes) < 2**16 else "i8"
        held = np.sum(x.view(np.uint8), axis=axes, keepdims=keep, dtype=np.dtype(narrow))
        result = np.asarray(held, dtype=np.float64)
    else:
        result = np.sum(x, axis=axes, keepdims=keep)
    return result


def product(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Product."""
    result: Array = np.prod(x, axis=axes_of(x, axis), keepdims=flag(keepdims, "keepdims"))
    return result


def mean(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Mean; NaN of no elements."""
    return np.divide(total(x, axis=axis, keepdims=keepdims), float(_length(x, axes_of(x, axis))))


def variance(x: Array, *, ddof: float = 0, axis: Any = None, keepdims: float = 0) -> Array:
    """Mean squared distance from the mean, over n − ddof; by two passes, so that nothing cancels.

    NaN where n − ddof is not positive.
    """
    axes = axes_of(x, axis)
    squares = x - mean(x, axis=axes, keepdims=1)
    np.square(squares, out=squares)
    degrees = _length(x, axes) - ddof
    summed = np.sum(squares, axis=axes, keepdims=flag(keepdims, "keepdims"))
    result: Array = np.multiply(summed, 1.0 / degrees if degrees > 0 else np.nan)
    return result


def deviation(x: Array, *, ddof: float = 0, axis: Any = None, keepdims: float = 0) -> Array:
    """Square root of the variance."""
    return np.sqrt(variance(x, ddof=ddof, axis=axis, keepdims=keepdims))


def largest(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Largest element; NaN where any is."""
    result: Array = np.max(x, axis=axes_of(x, axis), keepdims=flag(keepdims, "keepdims"))
    return result


def smallest(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Smallest element; NaN where any is."""
    result: Array = np.min(x, axis=axes_of(x, axis), keepdims=flag(keepdims, "keepdims"))
    return result


def norm(
    x: Array,
    *,
    ord: float = 2,  # noqa: A002 — the option's name in the language
    axis: Any = None,
    keepdims: float = 0,
) -> Array:
    """(Σ|x|^ord)^(1/ord); the largest or smallest size for ±inf, the count of non-zeros for 0."""
    axes, keep = axes_of(x, axis), flag(keepdims, "keepdims")
    if ord == 0:
        return total(x != 0, axis=axes, keepdims=keep)
    result: Array
    if ord == 2:
        result = np.sqrt(np.sum(np.square(x), axis=axes, keepdims=keep))
    elif ord == math.inf:
        result = np.max(np.abs(x), axis=axes, keepdims=keep, initial=0.0)
    elif ord == -math.inf:
        result = np.min(np.abs(x), axis=axes, keepdims=keep, initial=math.inf)
    else:
        powers = np.abs(x) if ord == 1 else np.power(np.abs(x), ord)
        result = np.power(np.sum(powers, axis=axes, keepdims=keep), 1.0 / ord)
    return result


def _peak(x: Array, axes: tuple[int, ...]) -> Array:
    result: Array = np.max(x, axis=axes, keepdims=True, initial=-np.inf)
    return result


def softmax(x: Array, *, axis: Any = None) -> Array:
    """Exponentials divided by their sum; the largest is taken out first, against overflow."""
    axes = axes_of(x, axis)
    grown = x - _peak(x, axes)
    np.exp(grown, out=grown)
    grown /= np.sum(grown, axis=axes, keepdims=True)
    return grown


def logsumexp(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Logarithm of the sum of exponentials, the largest taken out against overflow."""
    axes = axes_of(x, axis)
    peak = _peak(x, axes)
    peak[np.isinf(peak)] = 0.0  # an infinite one would give inf − inf; the sum then is 0 or inf
    grown = x - peak
    np.exp(grown, out=grown)
    result: Array = np.log(np.sum(grown, axis=axes, keepdims=True)) + peak
    return result if flag(keepdims, "keepdims") else result.squeeze(axes)


def dot(a: Array, b: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Sum of products along the axes."""
    keep = flag(keepdims, "keepdims")
    if axis in (None, -1) and not keep:
        result: Array = np.einsum("...kn,...kn->...n", a, b)
        return result
    return total(a * b, axis=axis, keepdims=keep)


def _running(function: np.ufunc, x: Array, axis: Any) -> Array:
    """The function of all elements up to each one.

    numpy goes along the axis for one draw after the other; taking a step for all draws at once
    is up to ten times as quick, unless they are few.
    """
    at = axes_of(x, axis)[0]
    if x.shape[-1] < _FEW:
        result: Array = function.accumulate(x, axis=at)
        return result
    result = np.empty_like(x)
    source, target = np.moveaxis(x, at, 0), np.moveaxis(result, at, 0)
    target[:1] = source[:1]
    for step in range(1, len(source)):
        function(target[step - 1], source[step], out=target[step])
    return result


def cumsum(x: Array, *, axis: Any = None) -> Array:
    """Running sum."""
    return _running(np.add, x, axis)


def cumprod(x: Array, *, axis: Any = None) -> Array:
    """Running product."""
    return _running(np.multiply, x, axis)


def cummax(x: Array, *, axis: Any = None) -> Array:
    """Running maximum; NaN from the first NaN on."""
    return _running(np.maximum, x, axis)


def diff(x: Array, *, axis: Any = None) -> Array:
    """Each element less the one before it."""
    return np.diff(x, axis=axes_of(x, axis)[0])


def _sorted(x: Array, axis: Any) -> tuple[Array, int]:
    """The elements in order along one axis, now the last; NaN, if any, at its end."""
    merged, at = single_axis(x, axis)
    # a contiguous last axis sorts twice as quickly as one across the draws
    lines = np.ascontiguousarray(np.moveaxis(merged, at, -1))
    if lines is x or np.shares_memory(lines, x):
        lines = lines.copy()
    lines.sort(axis=-1)
    return lines, at


def sort(x: Array, *, axis: Any = None) -> Array:
    """In ascending order; NaN throughout where any element is, as no rank is then known."""
    lines, at = _sorted(x, axis)
    if lines.size and np.isnan(lines[..., -1]).any():
        lines[np.isnan(lines[..., -1])] = np.nan
    return np.moveaxis(lines, -1, at)


def quantile(x: Array, *, u: Any, axis: Any = None, keepdims: float = 0) -> Array:
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


def median(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """The middle element, or the mean of the middle two."""
    return quantile(x, u=0.5, axis=axis, keepdims=keepdims)
