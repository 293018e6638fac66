"""One number of the elements along some axes of one draw, and running sums.

`axis` is a per-draw axis or a list of them, the last one by default; `keepdims` keeps it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dropcheck.vocabulary import growth, hulls
from dropcheck.vocabulary.function import (
    AXIS,
    OVER,
    Array,
    Function,
    Kernel,
    Parameter,
    X,
    axes_of,
    option,
    usual,
)
from dropcheck.vocabulary.growth import Growth
from dropcheck.vocabulary.hulls import BoundsRule
from dropcheck.vocabulary.shapes import (
    along,
    flag,
    reduction,
)

# draws from which on a step for all of them pays for the call of numpy that it takes (measured)
_FEW = 300


def _length(x: Array, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[axis] for axis in axes)


def _sum(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
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


def _prod(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    result: Array = np.prod(x, axis=axes_of(x, axis), keepdims=flag(keepdims, "keepdims"))
    return result


def _mean(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Mean; NaN of no elements."""
    return np.divide(_sum(x, axis=axis, keepdims=keepdims), float(_length(x, axes_of(x, axis))))


def _var(x: Array, *, ddof: float = 0, axis: Any = None, keepdims: float = 0) -> Array:
    """Mean squared distance from the mean, over n − ddof; by two passes, so that nothing cancels.

    NaN where n − ddof is not positive.
    """
    axes = axes_of(x, axis)
    squares = x - _mean(x, axis=axes, keepdims=1)
    np.square(squares, out=squares)
    degrees = _length(x, axes) - ddof
    summed = np.sum(squares, axis=axes, keepdims=flag(keepdims, "keepdims"))
    result: Array = np.multiply(summed, 1.0 / degrees if degrees > 0 else np.nan)
    return result


def _std(x: Array, *, ddof: float = 0, axis: Any = None, keepdims: float = 0) -> Array:
    return np.sqrt(_var(x, ddof=ddof, axis=axis, keepdims=keepdims))


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
        powers = np.abs(x) if ord == 1 else np.power(np.abs(x), ord)
        result = np.power(np.sum(powers, axis=axes, keepdims=keep), 1.0 / ord)
    return result


def _peak(x: Array, axes: tuple[int, ...]) -> Array:
    result: Array = np.max(x, axis=axes, keepdims=True, initial=-np.inf)
    return result


def _softmax(x: Array, *, axis: Any = None) -> Array:
    """Exponentials divided by their sum; the largest is taken out first, against overflow."""
    axes = axes_of(x, axis)
    grown = x - _peak(x, axes)
    np.exp(grown, out=grown)
    grown /= np.sum(grown, axis=axes, keepdims=True)
    return grown


def _logsumexp(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Logarithm of the sum of exponentials, the largest taken out against overflow."""
    axes = axes_of(x, axis)
    peak = _peak(x, axes)
    peak[np.isinf(peak)] = 0.0  # an infinite one would give inf − inf; the sum then is 0 or inf
    grown = x - peak
    np.exp(grown, out=grown)
    result: Array = np.log(np.sum(grown, axis=axes, keepdims=True)) + peak
    return result if flag(keepdims, "keepdims") else result.squeeze(axes)


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


def _cumsum(x: Array, *, axis: Any = None) -> Array:
    return _running(np.add, x, axis)


def _cumprod(x: Array, *, axis: Any = None) -> Array:
    return _running(np.multiply, x, axis)


def _cummax(x: Array, *, axis: Any = None) -> Array:
    """Running maximum; NaN from the first NaN on."""
    return _running(np.maximum, x, axis)


def _diff(x: Array, *, axis: Any = None) -> Array:
    return np.diff(x, axis=axes_of(x, axis)[0])


# ---- the entries --------------------------------------------------------------------------------


def reducing(
    name: str,
    kernel: Kernel,
    summary: str,
    *parameters: Parameter,
    bounds: BoundsRule = hulls.unknown,
    growth: Growth = growth.ANY,
    empty: bool = True,
    several: bool = True,
    **more: Any,
) -> Function:
    """An entry of what makes one number of the elements along some axes."""
    facts: dict[str, Any] = {
        "shape": reduction(several=several, empty=empty),
        "cost": usual,
        **more,
    }
    return Function(
        name=name,
        parameters=(*X, *parameters, *OVER),
        summary=summary,
        kernel=kernel,
        bounds=bounds,
        growth=growth,
        **facts,
    )


def going_along(
    name: str,
    kernel: Kernel,
    summary: str,
    *,
    bounds: BoundsRule = hulls.unknown,
    growth: Growth = growth.ANY,
    shift: int = 0,
    several: bool = False,
    **more: Any,
) -> Function:
    """An entry of what keeps the shape, or alters the length of its one axis."""
    return Function(
        name=name,
        parameters=(*X, AXIS),
        summary=summary,
        shape=along(shift, several),
        kernel=kernel,
        bounds=bounds,
        growth=growth,
        **{"cost": usual, **more},
    )


_DDOF = option("ddof", 0.0)

SUM = reducing(
    *("sum", _sum, "sum"),
    bounds=hulls.total,
    growth=growth.SUM_OF_ELEMENTS,
    takes_truth=True,
    additive=True,
    carries_size=True,
)
MEAN = reducing(
    *("mean", _mean, "mean"),
    bounds=hulls.picking,
    growth=growth.SUM_OF_ELEMENTS,
    takes_truth=True,
    additive=True,
    carries_size=True,
)

ARRAYS = (
    SUM,
    reducing("prod", _prod, "product", bounds=hulls.total_product),
    MEAN,
    reducing(
        *("var", _var),
        "variance: squared distances from the mean, over n − ddof, which is n by default",
        _DDOF,
        growth=growth.SPREAD,
        mistaken_for="std",
    ),
    reducing(
        *("std", _std, "square root of var, over n − ddof likewise", _DDOF),
        growth=growth.NO_HEAVIER,
        mistaken_for="var",
    ),
    reducing(
        *("norm", _norm),
        "vector norm of order ord along the last axis; of a whole matrix with axis=[0, 1]",
        option("ord", 2.0),
        growth=growth.NO_HEAVIER,
        carries_size=True,
        latex=(r"\lVert ", r" \rVert"),
    ),
    reducing(
        *("logsumexp", _logsumexp, "log of the sum of exponentials"), growth=growth.NO_HEAVIER
    ),
    going_along(
        *("cumsum", _cumsum, "running sum"),
        bounds=hulls.running_total,
        growth=growth.NO_HEAVIER,
        additive=True,
    ),
    going_along("cumprod", _cumprod, "running product", bounds=hulls.running_product),
    going_along(
        "cummax", _cummax, "running maximum", bounds=hulls.picking, growth=growth.NO_HEAVIER
    ),
    going_along("diff", _diff, "differences of neighbours", growth=growth.NO_HEAVIER, shift=-1),
    going_along(
        *("softmax", _softmax, "exponentials, divided by their sum"),
        bounds=hulls.within(0.0, 1.0),
        growth=growth.BOUNDED,
        several=True,
    ),
)
