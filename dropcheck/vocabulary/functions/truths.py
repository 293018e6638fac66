"""Comparisons, logic and choices; a truth that is unknown, as of a comparison with NaN, is NaN.

Truths are a bool array, or a float64 array if some are NaN. `and`, `or` and `not` follow Kleene's
strong three-valued logic (Kleene, Introduction to Metamathematics, 1952, §64): the result is known
if one known side decides it.
"""

from __future__ import annotations

from functools import partial, reduce
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
    cheap,
    entry,
    floats,
    has_nan,
    option,
    values,
)
from dropcheck.vocabulary.shapes import flag, reduction

# defaults of isclose: the relative one is Python's; the absolute one allows for rounding about 0
RTOL, ATOL = 1e-9, 1e-12
# For fewer truths than _MANY, or a share of true or of false ones below _RARE, np.where is faster.
_MANY, _RARE = 4096, 1 / 8

# ---- kernels ------------------------------------------------------------------------------------


def _split(x: Array) -> tuple[Array, Array | None]:
    """Where x is true, and where this is unknown (None: nowhere)."""
    if x.dtype == np.bool_:
        return x, None
    if has_nan(x):
        unknown = np.isnan(x)
        return (x != 0) & ~unknown, unknown
    return x != 0, None


def _join(yes: Array, unknown: Array | None) -> Array:
    """The inverse of `_split`: a bool array, or float64 with NaN where the truth is unknown."""
    if unknown is None or not unknown.any():
        return yes
    return np.where(unknown, np.nan, yes)


def _unknown_in(*arrays: Array) -> Array | None:
    """Where any of the arrays is NaN, in their common shape; None if nowhere."""
    unknown = [np.isnan(array) for array in arrays if has_nan(array)]
    return reduce(np.logical_or, unknown) if unknown else None


def _compare(a: Array, b: Array, *, how: np.ufunc) -> Array:
    """A comparison by element; NaN where either side is NaN."""
    return _join(how(a, b), _unknown_in(a, b))


def _and(a: Array, b: Array) -> Array:
    """False where either side is false; else NaN where either is unknown."""
    yes_a, unknown_a = _split(a)
    yes_b, unknown_b = _split(b)
    if unknown_a is None and unknown_b is None:
        return np.logical_and(yes_a, yes_b)
    may_a = yes_a if unknown_a is None else yes_a | unknown_a
    may_b = yes_b if unknown_b is None else yes_b | unknown_b
    both = yes_a & yes_b
    return _join(both, (may_a & may_b) & ~both)


def _or(a: Array, b: Array) -> Array:
    """True where either side is true; else NaN where either is unknown."""
    yes_a, unknown_a = _split(a)
    yes_b, unknown_b = _split(b)
    either = yes_a | yes_b
    unknown = [part for part in (unknown_a, unknown_b) if part is not None]
    return _join(either, reduce(np.logical_or, unknown) & ~either) if unknown else either


def _not(a: Array) -> Array:
    """True where a is false; NaN where a is unknown."""
    yes, unknown = _split(a)
    return _join(~yes, unknown)


def _chosen(yes: Array, a: Array, b: Array) -> Array:
    """The same bits as `np.where`; without branches, where a processor could not predict them.

    If half of the truths hold at random, an element takes 5 ns with a branch, and 1 to 2 ns as
    b ^ ((a ^ b) & mask), where a mask is all ones or all zeros (measured; Warren, Hacker's Delight,
    2012, 2-20).
    """
    share = np.count_nonzero(yes) / yes.size if yes.size >= _MANY else 0.0
    if not _RARE < share < 1 - _RARE:
        return np.where(yes, a, b)
    other = b.view(np.int64)
    bits: Array = a.view(np.int64) ^ other
    bits = bits & -yes.astype(np.int64)
    return (bits ^ other).view(np.float64)


def _choose(c: Array, a: Array, b: Array) -> Array:
    """The value a where c holds, else b; NaN where c is unknown or the value taken is NaN."""
    yes, unknown = _split(c)
    chosen = _chosen(yes, floats(a), floats(b))
    return chosen if unknown is None else np.where(unknown, np.nan, chosen)


def _isclose(a: Array, b: Array, *, rtol: float = RTOL, atol: float = ATOL) -> Array:
    same = np.equal(a, b)
    if same.all():  # the usual case
        return same
    gap = np.abs(a - b)
    bound = np.maximum(rtol * np.maximum(np.abs(a), np.abs(b)), atol)
    near = same | ((gap <= bound) & np.isfinite(gap))
    return _join(near, _unknown_in(a, b))


def _any(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Whether any element is true; NaN where none is true and one is unknown."""
    axes, keep = axes_of(x, axis), flag(keepdims, "keepdims")
    yes, unknown = _split(x)
    some = np.any(yes, axis=axes, keepdims=keep)
    return _join(some, None if unknown is None else unknown.any(axis=axes, keepdims=keep) & ~some)


def _all(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Whether all elements are true; NaN if none is false and one is unknown."""
    return _not(_any(_not(x), axis=axis, keepdims=keepdims))


def _first(event: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """The index of the first true element, inf if there is none; NaN where it is unknown."""
    (at,), keep = axes_of(event, axis), flag(keepdims, "keepdims")
    yes, unknown = _split(event)

    def position(truth: Array) -> Array:
        if truth.shape[at] == 0:
            return np.full(truth.any(axis=at, keepdims=keep).shape, np.inf)
        some = truth.any(axis=at, keepdims=keep)
        return np.where(some, truth.argmax(axis=at, keepdims=keep).astype(np.float64), np.inf)

    index = position(yes)
    return index if unknown is None else np.where(position(unknown) < index, np.nan, index)


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
NOT = _truth(
    "not", _not, "whether it is false", cost=cheap, takes_truth=True,
    written="not x",
)  # fmt: skip

IS_TRUE = _truth(
    "is true", lambda x: _split(x)[0], "1 where it is true; 0 where it is false or is unknown",
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

_of_any_number = partial(_truth)
IS_FINITE = _of_any_number("isfinite", np.isfinite, "neither NaN nor infinite")
IS_NAN = _of_any_number("isnan", np.isnan, "no number, as 0 / 0 and sqrt(-1) are")

NUMBERS = (
    WHERE,
    IS_CLOSE,
    IS_FINITE,
    IS_NAN,
    _of_any_number("isinf", np.isinf, "infinite, of either sign"),
)  # fmt: skip

_OVER: dict[str, Any] = {
    "takes_truth": True, "shape": reduction(), "parameters": (*X, *OVER_ALL),
    "places": "(n)->()",
}  # fmt: skip

ANY = _truth("any", _any, "whether any is true", **_OVER)
ALL = _truth("all", _all, "whether all are true", **_OVER)

ARRAYS = (
    ANY,
    ALL,
    entry("first", _first, "index of the first true element, from 0; inf if none",
          parameters=(*values("event"), *OVER),
          shape=reduction(several=False), takes_truth=True, places="(N)->()"),
)  # fmt: skip
