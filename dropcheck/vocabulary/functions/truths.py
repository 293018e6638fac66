"""Comparisons, logic and choices; a truth that is unknown, as of a comparison with NaN, is NaN.

Truths are a bool array, or a float64 array if some are NaN. `and`, `or` and `not` follow Kleene's
strong three-valued logic (Kleene, Introduction to Metamathematics, 1952, §64): the result is known
if one known side decides it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dropcheck.vocabulary.function import (
    OVER,
    OVER_ALL,
    PAIR,
    Array,
    Function,
    Kernel,
    X,
    axes_of,
    axis_of,
    cheap,
    entry,
    floats,
    has_nan,
    option,
    values,
)
from dropcheck.vocabulary.shapes import flag

# defaults of isclose: the relative one is Python's; the absolute one allows for rounding about 0
RTOL, ATOL = 1e-9, 1e-12

# ---- kernels ------------------------------------------------------------------------------------


def _known(x: Array) -> Array:
    """The truth of each number: bool; or float64, with NaN, where some truth is unknown."""
    if x.dtype == np.bool_:
        return x
    return np.where(np.isnan(x), np.nan, x != 0) if has_nan(x) else x != 0


def _beside(found: Array, *numbers: Array) -> Array:
    """What is found; NaN where one of the numbers is."""
    for one in numbers:
        if has_nan(one):
            found = np.where(np.isnan(one), np.nan, found)
    return found


def _compare(a: Array, b: Array, *, how: np.ufunc) -> Array:
    """A comparison by element; NaN where either side is NaN."""
    return _beside(how(a, b), a, b)


def _and(a: Array, b: Array) -> Array:
    """False where either side is false; else NaN where either is unknown."""
    a, b = _known(a), _known(b)
    if not (has_nan(a) or has_nan(b)):
        return np.logical_and(a, b)
    return _known(np.where((a == 0) | (b == 0), 0.0, np.add(a, b, dtype=np.float64)))


def _or(a: Array, b: Array) -> Array:
    """True where either side is true; else NaN where either is unknown."""
    a, b = _known(a), _known(b)
    return _not(_and(_not(a), _not(b))) if has_nan(a) or has_nan(b) else np.logical_or(a, b)


def _not(a: Array) -> Array:
    """True where a is false; NaN where a is unknown."""
    a = _known(a)
    return 1.0 - a if has_nan(a) else ~a


def _is_true(a: Array) -> Array:
    """True where a is true; False where it is false or unknown."""
    a = _known(a)
    return a == 1 if has_nan(a) else a


def _choose(c: Array, a: Array, b: Array) -> Array:
    """The value a where c holds, else b; NaN where c is unknown or the value taken is NaN."""
    return _beside(np.where(_is_true(c), floats(a), floats(b)), c)


def _isclose(a: Array, b: Array, *, rtol: float = RTOL, atol: float = ATOL) -> Array:
    same = np.equal(a, b)
    if same.all():  # the usual case
        return same
    gap = np.abs(a - b)
    bound = np.maximum(rtol * np.maximum(np.abs(a), np.abs(b)), atol)
    return _beside(same | ((gap <= bound) & np.isfinite(gap)), a, b)


def _any(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Whether any element is true; NaN where none is true and one is unknown."""
    axes, keep = axes_of(x, axis), flag(keepdims, "keepdims")
    some: Array = np.any(_is_true(x), axis=axes, keepdims=keep)
    if not has_nan(x):
        return some
    unknown = np.any(np.isnan(x), axis=axes, keepdims=keep)
    return _known(np.where(unknown & ~some, np.nan, some))


def _all(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Whether all elements are true; NaN if none is false and one is unknown."""
    return _not(_any(_not(x), axis=axis, keepdims=keepdims))


def _first(event: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """The index of the first true element, inf if there is none; NaN where it is unknown."""
    at, keep = axis_of(event, axis), flag(keepdims, "keepdims")

    def position(truth: Array) -> Array:
        if truth.shape[at] == 0:
            return np.full(truth.any(axis=at, keepdims=keep).shape, np.inf)
        some = truth.any(axis=at, keepdims=keep)
        return np.where(some, truth.argmax(axis=at, keepdims=keep).astype(np.float64), np.inf)

    index = position(_is_true(event))
    if not has_nan(event):
        return index
    return np.where(position(np.isnan(event)) < index, np.nan, index)


# ---- the entries --------------------------------------------------------------------------------


def _truth(name: str, kernel: Kernel, summary: str, **more: Any) -> Function:
    facts = {"truth": True, **more}
    return entry(name, kernel, summary, **facts)


_UFUNCS = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal,
}  # fmt: skip
COMPARISONS = {
    sign: _truth(sign, partial(_compare, how=how), f"1 where a {sign} b, else 0",
                 parameters=PAIR, cost=cheap, written=f"a {sign} b")
    for sign, how in _UFUNCS.items()
}  # fmt: skip
NOT_EQUAL = COMPARISONS["!="]


AND = _truth(
    "and", _and, "whether both are true", parameters=PAIR, cost=cheap, takes_truth=True,
    written="a and b",
)  # fmt: skip
OR = _truth(
    "or", _or, "whether either is true", parameters=PAIR, cost=cheap, takes_truth=True,
    written="a or b",
)  # fmt: skip
NOT = _truth("not", _not, "whether it is false", cost=cheap, takes_truth=True, written="not x")

IS_TRUE = _truth(
    "is true", _is_true, "1 where it is true; 0 where it is false or is unknown",
    takes_truth=True, cost=cheap, written="x",
)  # fmt: skip

_CHOICE = "a where c holds, else b"
CONDITIONAL = entry(
    "conditional", _choose, _CHOICE, parameters=values("c a b"), takes_truth=True,
    cost=cheap, written="a if c else b",
)  # fmt: skip
WHERE = entry("where", _choose, _CHOICE, parameters=values("c a b"), takes_truth=True)

SIGNS = (*COMPARISONS.values(), AND, OR, NOT, IS_TRUE, CONDITIONAL)

IS_CLOSE = _truth(
    "isclose", _isclose, "whether |a − b| ≤ max(rtol · max(|a|, |b|), atol)",
    parameters=(*PAIR, option("rtol", RTOL), option("atol", ATOL)),
)  # fmt: skip

IS_FINITE = _truth("isfinite", np.isfinite, "neither NaN nor infinite")
IS_NAN = _truth("isnan", np.isnan, "no number, as 0 / 0 and sqrt(-1) are")

NUMBERS = (
    WHERE,
    IS_CLOSE,
    IS_FINITE,
    IS_NAN,
    _truth("isinf", np.isinf, "infinite, of either sign"),
)  # fmt: skip

_OVER: dict[str, Any] = {"takes_truth": True, "by_element": False, "parameters": (*X, *OVER_ALL)}

ANY = _truth("any", _any, "whether any is true", **_OVER)
ALL = _truth("all", _all, "whether all are true", **_OVER)

ARRAYS = (
    ANY,
    ALL,
    entry("first", _first, "index of the first true element, from 0; inf if none",
          parameters=(*values("event"), *OVER), by_element=False, takes_truth=True),
)  # fmt: skip
