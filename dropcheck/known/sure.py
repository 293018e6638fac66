"""What is known of a quantity in all draws: where its values lie, and whether it has a value.

A quantity is undefined in draws where it is NaN or infinite. The probability of that may be too
small for any run to show it. So each fact has a strength: `SURE` facts hold with probability 1.
`GENERIC` facts hold with probability 1 or with probability 0, so that the first draw shows which.
`NEVER` facts do not follow from the model. An analytic function of random numbers with a joint
density is 0 with probability 0, or everywhere (Mityagin 2015, "The zero set of a real analytic
function", proposition 0); so is a ratio of two such functions.

The facts follow from numpy's functions that a quantity is made of, a row of a table for each; those
of a function of one number from its domain, its ends and its root.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dropcheck.known.enclosure import RULES, Curve, Enclosure, Rule, chosen
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull, proper

_RULES = RULES | {"where": chosen}
NEVER, GENERIC, SURE = 0, 1, 2
# How a quantity depends on the draws: in any way; as a ratio of analytic functions of draws that
# have a density; as an analytic function of such draws, without poles at any of their values.
ROUGH, RATIO, ANALYTIC = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class Known(np.lib.mixins.NDArrayOperatorsMixin):
    """What is known of one quantity, for all its elements together; numpy's functions take it.

    `number`, `finite` and `nonzero` say how sure it is that the quantity is not NaN, not infinite
    and not 0. `whole` says that all its values are whole numbers. `smooth` is how it depends on the
    draws.
    """

    hull: Hull = EVERYWHERE
    number: int = SURE
    finite: int = SURE
    nonzero: int = NEVER
    smooth: int = ROUGH
    whole: bool = False

    dtype: ClassVar = np.dtype(np.float64)  # as arrays of one draw have them
    ndim: ClassVar = 1
    shape: ClassVar = (1,)
    size: ClassVar = 0  # kernels then look for no NaN in it

    @property
    def low(self) -> float:
        """The least value that it may have."""
        return self.hull.low

    @property
    def high(self) -> float:
        """The greatest value that it may have."""
        return self.hull.high

    @property
    def defined(self) -> int:
        """How sure it is that the quantity has a value."""
        return min(self.number, self.finite)

    def never(self, value: float) -> int:
        """How sure it is that the quantity is not this value."""
        if not self.low <= value <= self.high:
            return SURE
        if value == 0:
            return self.nonzero
        return GENERIC if self.smooth else NEVER

    def inside(self, low: float, high: float, without: Sequence[float] = ()) -> int:
        """How sure it is that it lies between two numbers, and is none of some others."""
        if self.low < low or self.high > high:
            return NEVER
        return min([SURE, *map(self.never, without)])

    @property
    def positive(self) -> int:
        """How sure it is that the quantity is above 0."""
        return self.inside(0.0, math.inf, [0.0])

    def __array__(self, *_args: Any, **_more: Any) -> NDArray[Any]:
        raise TypeError("what is known of a quantity is no array")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        if method != "__call__" or more or ufunc.__name__ not in RULES:
            return NotImplemented
        return _function(ufunc.__name__, inputs)

    def __array_function__(self, function: Any, _types: Any, inputs: Any, options: Any) -> Any:
        if function is np.where and len(inputs) == 3:
            return _function("where", inputs)
        return function._implementation(*inputs, **options)

    def by_ends(self, function: Callable[[Any], Any], rounding: float = 0.0) -> Known:
        """A monotone function, from its values at the ends of the hull."""
        hull = _enclosed(lambda x: x.by_ends(function, rounding), [self.hull])
        return Row().of([self], hull)

    def and_also(self, other: Known) -> Known:
        """What is known of a quantity of which both are known."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        hull = Hull(low, high) if low <= high else other.hull
        return Known(
            hull=hull,
            number=max(self.number, other.number),
            finite=SURE if hull.bounded else max(self.finite, other.finite),
            nonzero=max(self.nonzero, other.nonzero),
            smooth=max(self.smooth, other.smooth),
            whole=self.whole or other.whole,
        )


UNKNOWN = Known(number=NEVER, finite=NEVER)


def of_array(array: NDArray[Any] | None) -> Known:
    """What is known of fixed numbers; None for those that are not computed yet."""
    if array is None or not array.size:
        return Known(smooth=ANALYTIC)
    if array.size == 1:  # as nearly always
        low = float(array.flat[0])
        if math.isfinite(low):
            exact = Hull(low, low)
            return Known(exact, nonzero=SURE * (low != 0), smooth=ANALYTIC, whole=low.is_integer())
    low, high = float(array.min()), float(array.max())
    number = not math.isnan(low)
    infinite = number and not (math.isfinite(low) and math.isfinite(high))
    return Known(
        hull=Hull(low, high) if number else EVERYWHERE,
        number=SURE if number else NEVER,
        finite=GENERIC if infinite else SURE,
        nonzero=SURE if array.all() else NEVER,
        smooth=ANALYTIC,
        whole=number and bool((array == np.floor(array)).all()),
    )


def joined(*parts: Known) -> Known:
    """What is known of an array whose elements are those of others."""
    lows, highs = [one.low for one in parts], [one.high for one in parts]
    return Known(
        hull=Hull(min(lows), max(highs)),
        number=min(one.number for one in parts),
        finite=min(one.finite for one in parts),
        nonzero=min(one.nonzero for one in parts),
        smooth=min(one.smooth for one in parts),
        whole=all(one.whole for one in parts),
    )


# ---- what a function asks, and what its result is ------------------------------------------------

Facts = Sequence[Known]
Asked = Callable[[Facts, bool], int]
"""Takes what is known of the arguments, and whether both are one quantity; returns how sure it is
that they, or the result, have some property, or how the result depends on the draws."""


def _no_two_infinities(x: Facts, _same: bool) -> int:
    return max(one.finite for one in x)


def _all_nonzero(x: Facts, _same: bool) -> int:
    return min(one.nonzero for one in x)


def _sum_nonzero(x: Facts, _same: bool) -> int:
    """A sum of numbers of one sign is not 0, if one of them is not 0."""
    low, high = all(one.low >= 0 for one in x), all(one.high <= 0 for one in x)
    return max(one.nonzero for one in x) if low or high else NEVER


def _first_nonzero(x: Facts, _same: bool) -> int:
    return x[0].nonzero


def _second_nonzero(x: Facts, _same: bool) -> int:
    return x[1].nonzero


def _power_defined(x: Facts, _same: bool) -> int:
    """A negative base has only whole powers, and 0 has no negative powers."""
    base, exponent = x
    if exponent.low >= 0:
        return SURE if exponent.whole else base.inside(0.0, math.inf)
    return base.nonzero if exponent.whole else base.positive


def _logarithm_defined(x: Facts, same: bool) -> int:
    """Of x log(y), which is 0 where x is 0: y may be 0 if it is the same quantity as x."""
    return x[1].inside(0.0, math.inf) if same else x[1].positive


def _arithmetic(x: Facts, _same: bool) -> int:
    return min(one.smooth for one in x)


def _quotient(x: Facts, _same: bool) -> int:
    return min(x[0].smooth, x[1].smooth, ANALYTIC if x[1].never(0.0) == SURE else RATIO)


def _power(x: Facts, _same: bool) -> int:
    base, exponent = x
    if exponent.low == exponent.high and exponent.whole:
        return _quotient([base, base], False) if exponent.low < 0 else base.smooth
    return _analytic(x, False) if base.low > 0 else ROUGH


def _analytic(x: Facts, _same: bool) -> int:
    return ANALYTIC if all(one.smooth == ANALYTIC for one in x) else ROUGH


def _surely(_x: Facts, _same: bool) -> int:
    return SURE


def _never(_x: Facts, _same: bool) -> int:
    return NEVER


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of a function's result.

    Args:
        asks: how sure it is that the function has a value, if no argument is NaN.
        nonzero: how sure it is that the result is not 0.
        smooth: how the result depends on the draws.
        infinities: whether it has a value for infinite arguments.
        whole: whether whole arguments give whole numbers.
        always_whole: whether all arguments give whole numbers.
    """

    asks: Asked = _surely
    nonzero: Asked = _never
    smooth: Asked = _never
    infinities: bool = False
    whole: bool = False
    always_whole: bool = False

    def of(self, x: Facts, hull: Hull, same: bool = False) -> Known:
        """What is known of the result, from what is known of the arguments."""
        hull = proper(hull)
        finite = min(one.finite for one in x)
        number = min([self.asks(x, same), *(one.number for one in x)])
        if not self.infinities:
            number = min(number, finite)
        smooth, apart = self.smooth(x, same), not hull.low <= 0 <= hull.high
        nonzero = SURE if apart else max(self.nonzero(x, same), GENERIC if smooth else NEVER)
        keeps = self.whole and all(one.whole for one in x)
        return Known(
            hull=hull,
            number=number,
            finite=SURE if hull.bounded else finite,
            nonzero=nonzero,
            smooth=smooth,
            whole=self.always_whole or keeps,
        )


_STEP = Row(infinities=True, always_whole=True)
_PICKED = Row(nonzero=_all_nonzero, infinities=True, whole=True)
_PRODUCT = Row(nonzero=_all_nonzero, smooth=_arithmetic, whole=True)
_MOVED = Row(nonzero=_first_nonzero, smooth=_arithmetic, infinities=True, whole=True)

ROWS: dict[str, Row] = {
    "add": Row(_no_two_infinities, _sum_nonzero, _arithmetic, infinities=True, whole=True),
    "subtract": Row(_no_two_infinities, smooth=_arithmetic, infinities=True, whole=True),
    "multiply": _PRODUCT,
    "square": _PRODUCT,
    "divide": Row(_second_nonzero, _first_nonzero, _quotient),
    "floor_divide": Row(_second_nonzero, always_whole=True),
    "remainder": Row(_second_nonzero, whole=True),
    "power": Row(_power_defined, _first_nonzero, _power, whole=True),
    "negative": _MOVED,
    "positive": _MOVED,
    "maximum": _PICKED,
    "minimum": _PICKED,
    "where": Row(nonzero=lambda x, same: _all_nonzero(x[1:], same), infinities=True, whole=True),
    "sign": replace(_STEP, nonzero=_first_nonzero),
    "floor": _STEP,
    "ceil": _STEP,
    "rint": _STEP,
    "sin": Row(smooth=_analytic),
    "cos": Row(smooth=_analytic),
    "tan": Row(smooth=lambda x, same: min(_analytic(x, same), RATIO)),
    "logaddexp": Row(smooth=_analytic, infinities=True),
    "arctan2": Row(),
    "xlogy": Row(_logarithm_defined),
}
"""By the names of numpy's and scipy's ufuncs."""
TRUTH = Row(infinities=True, always_whole=True)
"""The row of comparisons and of logic."""


def _function(name: str, inputs: Sequence[Any]) -> Known:
    """What is known of a function, by the rule that encloses it and by its row."""
    x = [one if isinstance(one, Known) else of_array(np.asarray(one, np.float64)) for one in inputs]
    same = len(x) == 2 and x[0] is x[1]
    hull = _range(name, tuple(one.hull for one in x), same)
    row = ROWS.get(name, TRUTH)
    rule = _RULES[name]
    if name not in ROWS and isinstance(rule, Curve):
        row = _row_of(rule, x[0])
    known = row.of(x, hull, same)
    if name == "power" and x[1].low < 0:  # of whole numbers only those with exponents from 0 on are
        return replace(known, whole=False)
    return known


@lru_cache(maxsize=4096)
def _range(name: str, hulls: tuple[Hull, ...], same: bool) -> Hull:
    """Where a function lies, from where its arguments lie."""
    return _enclosed(_RULES[name], hulls, same)


def _enclosed(rule: Rule, hulls: Sequence[Hull], same: bool = False) -> Hull:
    boxes = [Enclosure(np.array([one.low]), np.array([one.high])) for one in hulls]
    with np.errstate(all="ignore"):
        found = rule(*(boxes[:1] * 2 if same else boxes))
    return Hull(found.low.item(), found.high.item())


def _row_of(curve: Curve, x: Known) -> Row:
    """The row of a function of one number.

    An end of its domain at which it is infinite does not count. It is 0 at most at one number. Of
    the gamma function and its relations, which have poles at 0, -1, -2, …, no root is known.
    """
    if curve.partial:
        asks = max(x.positive, GENERIC if x.smooth else NEVER)
        return Row(asks=lambda *_: asks, infinities=True)
    ends = [end for end in curve.domain if math.isfinite(end)]
    with np.errstate(all="ignore"):
        poles = [end for end in ends if not math.isfinite(float(curve.function(np.float64(end))))]
        roots = [root for root in (0.0, 0.5, 1.0) if curve.function(np.float64(root)) == 0]
    breaks = ends if curve.kink is None else [*ends, curve.kink]
    apart = not any(x.low <= end <= x.high for end in breaks)
    return Row(
        asks=lambda *_: x.inside(*curve.domain, poles),
        nonzero=lambda *_: x.never(roots[0]) if roots else SURE,
        smooth=_analytic if apart else _never,
        infinities=True,
    )
