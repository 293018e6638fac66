"""Comparisons, logic and choices, where a truth that cannot be told (a NaN took part) is NaN.

A truth is a bool array, or float64 where some are NaN. `and`, `or` and `not` follow Kleene's
strong three-valued logic (Kleene, Introduction to Metamathematics, 1952, §64): what the known
side decides, it decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from dropcheck.vocabulary import growth, hulls
from dropcheck.vocabulary.function import (
    OVER,
    PAIR,
    Array,
    Function,
    Kernel,
    Parameter,
    X,
    axes_of,
    cheap,
    floats,
    has_nan,
    option,
    usual,
    values,
)
from dropcheck.vocabulary.hulls import Hull, Use
from dropcheck.vocabulary.shapes import elementwise, flag, reduction

# Values nearer than this, relative to the larger, tie as far as rounding can tell.
TIE = 1e-12
# defaults of isclose: relative as Python's; absolute so that 0 is near to rounding errors
_RTOL, _ATOL = 1e-9, 1e-12

# ---- kernels ------------------------------------------------------------------------------------


def _split(x: Array) -> tuple[Array, Array | None]:
    """Where x is true, and where that cannot be told (None: nowhere)."""
    if x.dtype == np.bool_:
        return x, None
    if has_nan(x):
        unknown = np.isnan(x)
        return (x != 0) & ~unknown, unknown
    return x != 0, None


def _join(yes: Array, unknown: Array | None) -> Array:
    """The truth again: bool, or float64 with NaN where it cannot be told."""
    if unknown is None or not unknown.any():
        return yes
    return np.where(unknown, np.nan, yes)


def _unknown_in(*arrays: Array) -> Array | None:
    """Where any of the arrays is NaN, in their common shape; None if nowhere."""
    found = [np.isnan(array) for array in arrays if has_nan(array)]
    return reduce(np.logical_or, found) if found else None


def _compare(a: Array, b: Array, *, how: np.ufunc) -> Array:
    """A comparison by element; NaN where either side is."""
    return _join(how(a, b), _unknown_in(a, b))


def nearly_tied(a: Array, b: Array) -> Array:
    """Where two arrays differ, but by no more than rounding could have made them.

    An infinity is no rounding of anything, though any distance is a small share of it.
    """
    apart = np.abs(a - b)
    near = apart <= TIE * np.maximum(np.abs(a), np.abs(b))
    tied: Array = (apart > 0) & np.isfinite(apart) & near
    return tied


def _favouring(a: Array, b: Array, *, how: np.ufunc, favour: bool) -> Array:
    """A comparison that takes values which tie to within rounding as it is favoured."""
    plain = _compare(a, b, how=how)
    wrong = plain == (not favour)
    if not wrong.any():
        return plain
    tied = wrong & nearly_tied(a, b)
    return np.where(tied, favour, plain) if tied.any() else plain


def _and(a: Array, b: Array) -> Array:
    """False where either side is; else NaN where either cannot be told."""
    yes_a, unknown_a = _split(a)
    yes_b, unknown_b = _split(b)
    if unknown_a is None and unknown_b is None:
        return np.logical_and(yes_a, yes_b)
    may_a = yes_a if unknown_a is None else yes_a | unknown_a
    may_b = yes_b if unknown_b is None else yes_b | unknown_b
    both = yes_a & yes_b
    return _join(both, (may_a & may_b) & ~both)


def _or(a: Array, b: Array) -> Array:
    """True where either side is; else NaN where either cannot be told."""
    yes_a, unknown_a = _split(a)
    yes_b, unknown_b = _split(b)
    either = yes_a | yes_b
    unknown = [part for part in (unknown_a, unknown_b) if part is not None]
    return _join(either, reduce(np.logical_or, unknown) & ~either) if unknown else either


def _not(a: Array) -> Array:
    """True where a is false; NaN where that cannot be told."""
    yes, unknown = _split(a)
    return _join(~yes, unknown)


def _choose(c: Array, a: Array, b: Array) -> Array:
    """Value a where c holds, else b; NaN where c is. What is not taken does not count."""
    yes, unknown = _split(c)
    chosen = np.where(yes, floats(a), floats(b))
    return chosen if unknown is None else np.where(unknown, np.nan, chosen)


def _isclose(a: Array, b: Array, *, rtol: float = _RTOL, atol: float = _ATOL) -> Array:
    gap = np.abs(a - b)
    bound = np.maximum(rtol * np.maximum(np.abs(a), np.abs(b)), atol)
    near = (a == b) | ((gap <= bound) & np.isfinite(gap))
    return _join(near, _unknown_in(a, b))


def _any(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Whether any element is true; NaN where none is and one cannot be told."""
    axes, keep = axes_of(x, axis), flag(keepdims, "keepdims")
    yes, unknown = _split(x)
    some = np.any(yes, axis=axes, keepdims=keep)
    return _join(some, None if unknown is None else unknown.any(axis=axes, keepdims=keep) & ~some)


def _all(x: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Whether all elements are true; NaN where none is false and one cannot be told."""
    return _not(_any(_not(x), axis=axis, keepdims=keepdims))


def _first(event: Array, *, axis: Any = None, keepdims: float = 0) -> Array:
    """Index of the first true element, inf if there is none; NaN where that cannot be told."""
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


def _truth(
    name: str, kernel: Kernel, summary: str, parameters: tuple[Parameter, ...], **more: Any
) -> Function:
    facts: dict[str, Any] = {"truth": True, "shape": elementwise, "cost": usual, **more}
    return Function(
        name=name,
        parameters=parameters,
        summary=summary,
        kernel=kernel,
        bounds=hulls.within(0.0, 1.0),
        growth=growth.BOUNDED,
        **facts,
    )


def _comparison(sign: str, how: np.ufunc, latex: str) -> Function:
    return _truth(
        *(sign, partial(_compare, how=how), f"1 where a {sign} b, else 0", PAIR),
        cost=cheap,
        latex=latex,
        written=f"a {sign} b",
        commutes=how in (np.equal, np.not_equal),
    )


_UFUNCS = (
    ("==", np.equal, "="),
    ("!=", np.not_equal, r"\neq"),
    ("<", np.less, "<"),
    ("<=", np.less_equal, r"\leq"),
    (">", np.greater, ">"),
    (">=", np.greater_equal, r"\geq"),
)
COMPARISONS = {sign: _comparison(sign, how, latex) for sign, how, latex in _UFUNCS}
EQUAL, NOT_EQUAL = COMPARISONS["=="], COMPARISONS["!="]


def _favoured(sign: str, how: np.ufunc, favour: bool) -> Function:
    kernel = partial(_favouring, how=how, favour=favour)
    name = f"{sign} favoured" if favour else f"{sign} denied"
    return _truth(name, kernel, f"{sign}, where what ties to within rounding is {favour}", PAIR)


# A comparison of the sort that is favoured (or denied) where its values tie to within rounding: a
# claim that it always (or never) holds is given the benefit of the doubt.
FAVOURED = {
    COMPARISONS[sign]: _favoured(sign, how, favour=True)
    for sign, how, _ in _UFUNCS
    if sign in ("==", "<=", ">=")
}
DENIED = {
    COMPARISONS[sign]: _favoured(sign, how, favour=False)
    for sign, how, _ in _UFUNCS
    if sign in ("!=", "<", ">")
}

_LOGIC: dict[str, Any] = {"cost": cheap, "takes_truth": True}
AND = _truth(
    *("and", _and, "whether both are true", PAIR),
    **_LOGIC,
    guards=True,
    commutes=True,
    latex=r"\land",
    written="a and b",
)
OR = _truth(
    *("or", _or, "whether either is true", PAIR),
    **_LOGIC,
    guards=True,
    commutes=True,
    latex=r"\lor",
    written="a or b",
)
NOT = _truth("not", _not, "whether it is false", X, **_LOGIC, latex=r"\lnot", written="not x")


def _of_branches(bounds: Sequence[Hull], _use: Use) -> Hull:
    return hulls.union(bounds[1:])


def _choice(name: str, written: str, **facts: Any) -> Function:
    return Function(
        name=name,
        parameters=values("c a b"),
        summary="a where c holds, else b",
        shape=elementwise,
        kernel=_choose,
        bounds=_of_branches,
        growth=growth.NO_HEAVIER,
        takes_truth=True,
        guards=True,
        written=written,
        **facts,
    )


CONDITIONAL = _choice("conditional", "a if c else b", cost=cheap)
WHERE = _choice("where", "", cost=usual)

SIGNS = (*COMPARISONS.values(), AND, OR, NOT, CONDITIONAL)
TIED = (*FAVOURED.values(), *DENIED.values())

NUMBERS = (
    WHERE,
    _truth(
        *("isclose", _isclose, "whether |a − b| ≤ max(rtol · max(|a|, |b|), atol)"),
        (*PAIR, option("rtol", _RTOL), option("atol", _ATOL)),
    ),
    _truth("isfinite", np.isfinite, "neither NaN nor infinite", X),
)


def _over_truths(name: str, kernel: Kernel, summary: str, **facts: Any) -> Function:
    return _truth(
        *(name, kernel, summary, (*X, *OVER)), shape=reduction(), takes_truth=True, **facts
    )


ARRAYS = (
    _over_truths("any", _any, "whether any is true"),
    _over_truths("all", _all, "whether all are true"),
    Function(
        name="first",
        parameters=(*values("event"), *OVER),
        summary="index of the first true element, from 0; inf if none",
        shape=reduction(several=False),
        kernel=_first,
        bounds=hulls.unknown,
        growth=growth.ANY,
        cost=usual,
        takes_truth=True,
    ),
)
