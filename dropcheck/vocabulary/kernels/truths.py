"""Comparisons and logic, where a truth that cannot be told (a NaN took part) is NaN.

A truth is a bool array, or float64 where some are NaN. `and`, `or` and `not` follow Kleene's
strong three-valued logic (Kleene, Introduction to Metamathematics, 1952, §64): what the known
side decides, it decides.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from dropcheck.vocabulary.kernels.common import Array, axes_of, floats, has_nan
from dropcheck.vocabulary.shapes import flag

_COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def split(x: Array) -> tuple[Array, Array | None]:
    """Where x is true, and where that cannot be told (None: nowhere)."""
    if x.dtype == np.bool_:
        return x, None
    if has_nan(x):
        unknown = np.isnan(x)
        return (x != 0) & ~unknown, unknown
    return x != 0, None


def join(yes: Array, unknown: Array | None) -> Array:
    """The truth again: bool, or float64 with NaN where it cannot be told."""
    if unknown is None or not unknown.any():
        return yes
    return np.where(unknown, np.nan, yes)


def unknown_in(*arrays: Array) -> Array | None:
    """Where any of the arrays is NaN, in their common shape; None if nowhere."""
    found = [np.isnan(array) for array in arrays if has_nan(array)]
    return reduce(np.logical_or, found) if found else None


def compare(name: str, a: Array, b: Array) -> Array:
    """`a == b`, `a < b` … by element; NaN where either side is.

    Args:
        name: one of == != < <= > >=.
        a: left side.
        b: right side; the two broadcast.
    """
    return join(_COMPARISONS[name](a, b), unknown_in(a, b))


def logical_and(a: Array, b: Array) -> Array:
    """False where either side is; else NaN where either cannot be told."""
    yes_a, unknown_a = split(a)
    yes_b, unknown_b = split(b)
    if unknown_a is None and unknown_b is None:
        return np.logical_and(yes_a, yes_b)
    may_a = yes_a if unknown_a is None else yes_a | unknown_a
    may_b = yes_b if unknown_b is None else yes_b | unknown_b
    both = yes_a & yes_b
    return join(both, (may_a & may_b) & ~both)


def logical_or(a: Array, b: Array) -> Array:
    """True where either side is; else NaN where either cannot be told."""
    yes_a, unknown_a = split(a)
    yes_b, unknown_b = split(b)
    either = yes_a | yes_b
    unknown = [part for part in (unknown_a, unknown_b) if part is not None]
    return join(either, reduce(np.logical_or, unknown) & ~either) if unknown else either


def logical_not(a: Array) -> Array:
    """True where a is false; NaN where that cannot be told."""
    yes, unknown = split(a)
    return join(~yes, unknown)


def conditional(c: Array, a: Array, b: Array) -> Array:
    """Value a where c holds, else b; NaN where c is. What is not taken does not count."""
    yes, unknown = split(c)
    chosen = np.where(yes, floats(a), floats(b))
    return chosen if unknown is None else np.where(unknown, np.nan, chosen)


def some(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Whether any element is true; NaN where none is and one cannot be told."""
    axes, keep = axes_of(x, axis), flag(keepdims, "keepdims")
    yes, unknown = split(x)
    found = np.any(yes, axis=axes, keepdims=keep)
    return join(found, None if unknown is None else unknown.any(axis=axes, keepdims=keep) & ~found)


def every(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Whether all elements are true; NaN where none is false and one cannot be told."""
    return logical_not(some(logical_not(x), axis=axis, keepdims=keepdims))


def first(event: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Index of the first true element, inf if there is none; NaN where that cannot be told."""
    (at,), keep = axes_of(event, axis), flag(keepdims, "keepdims")
    yes, unknown = split(event)

    def position(truth: Array) -> Array:
        if truth.shape[at] == 0:
            return np.full(truth.any(axis=at, keepdims=keep).shape, np.inf)
        found = truth.any(axis=at, keepdims=keep)
        return np.where(found, truth.argmax(axis=at, keepdims=keep).astype(np.float64), np.inf)

    index = position(yes)
    return index if unknown is None else np.where(position(unknown) < index, np.nan, index)
