"""What is known of a quantity in all draws: where its values lie, and whether it has a value.

A quantity is undefined in draws where it is NaN or infinite. The probability of that may be too
small for any run to show it. So each fact has a strength: `SURE` facts hold with probability 1.
`GENERIC` facts hold with probability 1 or with probability 0, so that the first draw shows which.
`NEVER` facts do not follow from the model. An analytic function of random numbers with a joint
density is 0 with probability 0, or everywhere (Mityagin 2015, "The zero set of a real analytic
function", proposition 0); so is a ratio of two such functions.

The facts follow from numpy's functions that a quantity is made of, a row of a table for each; those
of a function of one number from its domain, its ends and its root. One walk over the graph
evaluates each function on what is known of its arguments. A quantity behind a guard, as in
`where(x > 0, log(x), 0)` or `E(log(x), given=x > 0)`, is looked at again with what is known where
the guard holds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dropcheck.analysis.bounds import LOGARITHMS, OUTWARD, AffineDraw, line_of, quotient_hull
from dropcheck.analysis.single_draw import Integrals, draw_below
from dropcheck.known.enclosure import RULES, Curve, Enclosure, Rule, chosen, times
from dropcheck.language.graph import (
    Kind,
    Value,
    computed_from,
    in_order,
    joined_sources,
    kernel_of,
    number,
    ordered,
    random_inputs,
)
from dropcheck.reasons import Explanation, Reason
from dropcheck.vocabulary.domains import EVERYWHERE, LARGEST_COUNT, UNIT, Hull, proper
from dropcheck.vocabulary.function import Array, Function, Kernel, KernelError
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.functions.elementwise import ABS, DIVIDE, MULTIPLY, POWER
from dropcheck.vocabulary.functions.truths import (
    ALL,
    AND,
    ANY,
    COMPARISONS,
    CONDITIONAL,
    NOT,
    OR,
    WHERE,
)
from dropcheck.vocabulary.law import Law, Values
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.shapes import broadcast

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
        return _function("where", inputs) if function is np.where else NotImplemented

    def by_ends(self, function: Callable[[Any], Any], rounding: float = 0.0) -> Known:
        """A monotone function, from its values at the ends of the hull."""
        hull = _enclosed(lambda x: x.by_ends(function, rounding), [self.hull])
        return Row().of([self], hull)

    def and_also(self, other: Known) -> Known:
        """What is known of a quantity of which both are known."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        nonzero, whole = max(self.nonzero, other.nonzero), self.whole or other.whole
        if whole and nonzero == SURE:
            low, high = low or 1.0, high or -1.0
        hull = Hull(low, high) if low <= high else other.hull
        return Known(
            hull=hull,
            number=max(self.number, other.number),
            finite=SURE if hull.bounded else max(self.finite, other.finite),
            nonzero=nonzero,
            smooth=max(self.smooth, other.smooth),
            whole=whole,
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
Asked = Callable[[Facts], int]
"""Takes what is known of the arguments; returns how sure it is that they, or the result, have some
property, or how the result depends on the draws."""


def _no_two_infinities(x: Facts) -> int:
    return max(one.finite for one in x)


def _all_nonzero(x: Facts) -> int:
    return min(one.nonzero for one in x)


def _sum_nonzero(x: Facts) -> int:
    """A sum of numbers of one sign is not 0, if one of them is not 0."""
    low, high = all(one.low >= 0 for one in x), all(one.high <= 0 for one in x)
    return max(one.nonzero for one in x) if low or high else NEVER


def _first_nonzero(x: Facts) -> int:
    return x[0].nonzero


def _second_nonzero(x: Facts) -> int:
    return x[1].nonzero


def _power_defined(x: Facts) -> int:
    """A negative base has only whole powers, and 0 has no negative powers."""
    base, exponent = x
    if exponent.low >= 0:
        return SURE if exponent.whole else base.inside(0.0, math.inf)
    return base.nonzero if exponent.whole else base.positive


def _logarithm_defined(x: Facts) -> int:
    """Of x log(y), which is 0 where x is 0: y may be 0 if it is the same quantity as x."""
    return x[1].inside(0.0, math.inf) if x[0] is x[1] else x[1].positive


def _arithmetic(x: Facts) -> int:
    return min(one.smooth for one in x)


def _quotient(x: Facts) -> int:
    return min(x[0].smooth, x[1].smooth, ANALYTIC if x[1].never(0.0) == SURE else RATIO)


def _power(x: Facts) -> int:
    base, exponent = x
    if exponent.low == exponent.high and exponent.whole:
        return _quotient([base, base]) if exponent.low < 0 else base.smooth
    return _analytic(x) if base.low > 0 else ROUGH


def _analytic(x: Facts) -> int:
    return ANALYTIC if all(one.smooth == ANALYTIC for one in x) else ROUGH


def _surely(_x: Facts) -> int:
    return SURE


def _never(_x: Facts) -> int:
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

    def of(self, x: Facts, hull: Hull) -> Known:
        """What is known of the result, from what is known of the arguments."""
        hull = proper(hull)
        finite = min(one.finite for one in x)
        number = min([self.asks(x), *(one.number for one in x)])
        if not self.infinities:
            number = min(number, finite)
        smooth, apart = self.smooth(x), not hull.low <= 0 <= hull.high
        nonzero = SURE if apart else max(self.nonzero(x), GENERIC if smooth else NEVER)
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
    "where": Row(nonzero=lambda x: _all_nonzero(x[1:]), infinities=True, whole=True),
    "sign": replace(_STEP, nonzero=_first_nonzero),
    "floor": _STEP,
    "ceil": _STEP,
    "rint": _STEP,
    "sin": Row(smooth=_analytic),
    "cos": Row(smooth=_analytic),
    "tan": Row(smooth=lambda x: min(_analytic(x), RATIO)),
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
    known = row.of(x, hull)
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
        return Row(asks=lambda _: asks, infinities=True)
    ends = [end for end in curve.domain if math.isfinite(end)]
    with np.errstate(all="ignore"):
        poles = [end for end in ends if not math.isfinite(float(curve.function(np.float64(end))))]
        roots = [root for root in (0.0, 0.5, 1.0) if curve.function(np.float64(root)) == 0]
    breaks = ends if curve.kink is None else [*ends, curve.kink]
    apart = not any(x.low <= end <= x.high for end in breaks)
    return Row(
        asks=lambda _: x.inside(*curve.domain, poles),
        nonzero=lambda _: x.never(roots[0]) if roots else SURE,
        smooth=_analytic if apart else _never,
        infinities=True,
    )


# ---- draws ---------------------------------------------------------------------------------------

FAR = 1e150  # stands for an infinite end, as a difference of infinities says nothing


def of_draw(value: Value, below: Facts) -> Known:
    """What is known of a draw, from what is known of the arguments of its law."""
    law = value.law
    if law is None:
        return Known()
    fixed = all(one.constant is not None for one in value.inputs)
    ranks = zip(value.inputs, law.parameters, strict=True)
    known = [one.known for one in value.inputs]
    if fixed and all(len(one.shape) == parameter.axes for one, parameter in ranks):
        hull = EVERYWHERE if None in known else proper(Hull(*law.support(*known)))
    else:
        hull = ends_of(law, below)
    fits, dense = SURE, not law.discrete
    if any(one.random for one in value.inputs):
        apart = sum(len(one.sources) for one in value.inputs) == len(joined_sources(value.inputs))
        fits = min([_fits(law, below, apart), *(one.defined for one in below)])
        dense = dense and _has_density(law, below, hull)
    return Known(
        hull=hull,
        number=fits,
        nonzero=SURE if not hull.low <= 0 <= hull.high else GENERIC if dense else NEVER,
        smooth=ANALYTIC if dense else ROUGH,
        whole=law.values in (Values.WHOLE, Values.TRUTHS, Values.SIGNS),
    )


def ends_of(law: Law, arguments: Facts) -> Hull:
    """An interval that holds all values of a law with any of these arguments."""
    return proper(Hull(*law.ends_between([(one.hull.low, one.hull.high) for one in arguments])))


def _fits(law: Law, arguments: Facts, apart: bool) -> int:
    """How sure it is that a law takes its arguments.

    Args:
        law: the law.
        arguments: what is known of each argument.
        apart: whether no two of them depend on the same draw. Only then are the conditions between
            arguments tried at their ends: the ends of x and of x + 1 say nothing of
            `uniform(x, x + 1)`.
    """
    answers = [SURE]
    for parameter, known in zip(law.parameters, arguments, strict=True):
        domain = parameter.domain
        # the bound of counts, 2**53, is far above any draw, and counts as no bound
        low = -math.inf if domain.low == -LARGEST_COUNT else domain.low
        high = math.inf if domain.high == LARGEST_COUNT else domain.high
        ends = (low, domain.low_open), (high, domain.high_open)
        opened = [end for end, is_open in ends if is_open and math.isfinite(end)]
        whole = known.whole or not domain.whole
        answers.append(known.inside(low, high, opened) if whole else NEVER)
    if apart and not any(parameter.axes for parameter in law.parameters):
        corners = [sorted({max(one.low, -FAR), min(one.high, FAR)}) for one in arguments]
        with np.errstate(all="ignore"):
            for corner in itertools.product(*corners):
                tried = [np.array([end]) for end in corner]
                held = (np.all(one[1](*tried)) for one in law.conditions if not callable(one))
                answers.append(SURE if all(held) else NEVER)
    return min(answers)


def _has_density(law: Law, arguments: Facts, hull: Hull) -> bool:
    """Whether a draw of a continuous law with random arguments has a density."""
    if all(one.smooth for one in arguments):
        return True
    if callable(law.ends) and hull.bounded:
        return False  # its two ends may be equal, and the draw a constant
    pairs = zip(law.parameters, arguments, strict=True)
    closed = (one for of, one in pairs if of.domain.low == 0 and not of.domain.low_open)
    return all(one.nonzero for one in closed)


# ---- functions of arrays -------------------------------------------------------------------------
#
# Of all elements of an array together. The result of a function of numbers follows from its kernel.


def _count(value: Value) -> float:
    """The number of elements of the first argument for each element of the result."""
    return math.prod(value.inputs[0].shape) / max(math.prod(value.shape), 1)


def _last(value: Value) -> float:
    return float(max(value.inputs[0].shape or (1,)))


def _option(value: Value, name: str, default: float) -> float:
    return float(dict(value.options).get(name, default))


def _other(x: Known) -> Known:
    """Another element of the same array."""
    return replace(x)


def _total(x: Any, count: float) -> Any:
    return x + x * (count - 1.0)


def _within(x: Known, hull: Hull) -> Known:
    """What is known of x, for a quantity that lies elsewhere."""
    return replace(x, hull=hull, finite=SURE if hull.bounded else x.finite)


def _picked(_value: Value, x: Known) -> Known:
    return replace(x, smooth=ROUGH)


def _finite(_value: Value, x: Any, hull: Hull = EVERYWHERE) -> Known:
    """A quantity that is finite if the argument is, and may be 0."""
    return _within(replace(x - _other(x), smooth=ROUGH, nonzero=NEVER, whole=False), hull)


def _between(_value: Value, x: Any) -> Known:
    """A number between two elements."""
    return replace(_within((x + _other(x)) / 2.0, x.hull), smooth=ROUGH)


def _from_to(a: Known, b: Known) -> Known:
    """Numbers from a to b, which may be 0 between them."""
    both = joined(a, b)
    nonzero = NEVER if both.low <= 0 <= both.high else SURE
    return replace(both, smooth=ROUGH, nonzero=nonzero, whole=False)


def _place(x: Known, count: float) -> Known:
    return TRUTH.of([x], Hull(0.0, count - 1.0))


def _variance(value: Value, x: Any) -> Any:
    """Squared distances from the mean, over n - ddof: at most n width² / 4 (Popoviciu 1935)."""
    degrees = _count(value) - _option(value, "ddof", 0.0)
    if degrees <= 0:
        return UNKNOWN
    squares = _total(np.square(x - _other(x)), _count(value)) / degrees
    return _within(squares, Hull(0.0, _count(value) / degrees * x.hull.width**2 / 4))


def _norm(value: Value, x: Any) -> Any:
    order, size = _option(value, "ord", 2.0), np.absolute(x)
    if order == 0:
        return _total(x != 0, _count(value))
    if math.isinf(order):
        return size
    if order == 2:
        return np.sqrt(_total(np.square(x), _count(value)))
    return _total(size**order, _count(value)) ** (1 / order)


def _product(x: Known, *counts: float) -> Known:
    """Products of so many elements.

    Their extremes are among low^j high^(count - j). Their size is monotone in j, and their sign
    alternates at most, so that two values of j at either end are enough.
    """
    low, high = np.float64(x.low), np.float64(x.high)
    ends = [
        float(times(low**j, high ** (n - j)))
        for n in counts
        for j in (0.0, min(1.0, n), max(n - 1.0, 0.0), n)
    ]
    return ROWS["multiply"].of([x], Hull(min(ends), max(ends)))


def _inner(value: Value, a: Any, b: Any, count: float) -> Any:
    """A sum of products; of squares, for a vector with itself."""
    squares = a is b and len(value.inputs[0].shape) == 1
    return _total(np.square(a) if squares else a * _other(b), count)


def _ratio(_value: Value, a: Any, b: Any = None) -> Known:
    """A ratio of polynomials in elements, with a determinant below."""
    above = a if b is None else b
    return _within((above - _other(above)) / (a - _other(a)), EVERYWHERE)


def _asking(asks: int, x: Facts, hull: Hull, *, whole: bool = True) -> Known:
    return Row(lambda _: asks, always_whole=whole).of(x, hull)


def _indexed(value: Value, i: Known) -> Known:
    most = 1.0 if value.operation == "one_hot" else float(value.inputs[0].shape[-1])
    return _asking(i.inside(0.0, _option(value, "n", 0.0) - 1), [i], Hull(0.0, most))


def _taken(value: Value, x: Known, i: Known) -> Known:
    places = float(value.inputs[0].shape[0])
    number = min(x.number, i.number, i.inside(-places, places - 1))
    return replace(x, number=number, smooth=min(x.smooth, i.smooth))


def _ways(_value: Value, *x: Known) -> Known:
    """The number of ways to choose, or to order, whole numbers of things."""
    asks = x[0].inside(0.0, math.inf) if all(one.whole for one in x) else NEVER
    return _asking(asks, x, EVERYWHERE)


def _of_law(value: Value, *x: Known) -> Known:
    """A density, distribution function or quantile of a law."""
    law, (*arguments, last) = LAWS[str(dict(value.options)["law"])], x
    asks, hull, ends = _fits(law, arguments, True), UNIT, Hull(-math.inf, math.inf)
    if law.own_axes is None:
        ends = ends_of(law, arguments)
    finite = [end for end in (ends.low, ends.high) if math.isfinite(end)]
    if value.operation == "quantile_of":
        hull = ends
        asks = min(asks, last.inside(0.0, 1.0, () if len(finite) == 2 else (0.0, 1.0)))
    elif "density" in value.operation:
        low, most = (-math.inf, 0.0) if value.operation == "logdensity" else (0.0, 1.0)
        hull = Hull(low, most if law.discrete and law.own_axes is None else math.inf)
        with suppress(TypeError, AttributeError):  # as the formula says, inside the support
            found: Any = kernel_of(value)(*(one.constant for one in value.inputs[:-1]), last)
            hull = hull.common((found + 0.0 * last).hull)
        if low < 0:
            middles = [(max(one.hull.low, -FAR) + min(one.hull.high, FAR)) / 2 for one in arguments]
            moved = callable(law.ends) and any(one.hull.width for one in arguments)
            moved &= (
                law.of_lists or Hull(*law.ends_between([(one, one) for one in middles])) != ends
            )
            listed = law.values in (Values.LISTED, Values.SIGNS) or not last.whole
            inside = last.inside(ends.low, ends.high, () if law.discrete else finite)
            inside = inside if law.own_axes is None else GENERIC
            asks = min(asks, NEVER if moved or (law.discrete and listed) else inside)
    return _asking(asks, x, hull, whole=False)


_ZERO = of_array(np.zeros(1))
_ARRAYS: dict[str, Callable[..., Any]] = {
    "sum": lambda v, x: _total(x, _count(v)),
    "mean": lambda v, x: _within(_total(x, _count(v)) / _count(v), x.hull),
    "var": _variance,
    "std": lambda v, x: np.sqrt(_variance(v, x)),
    "norm": _norm,
    "prod": lambda v, x: _product(x, _count(v)),
    "cumsum": lambda v, x: joined(x, _total(x, _last(v))),
    "cumprod": lambda v, x: _product(x, 1.0, 2.0, max(_last(v) - 1.0, 1.0), _last(v)),
    "diff": lambda _, x: x - _other(x),
    **dict.fromkeys(("max", "min", "sort", "cummax"), _picked),
    **dict.fromkeys(("median", "quantile"), _between),
    **dict.fromkeys(("argmax", "argmin"), lambda v, x: _place(x, _count(v))),
    "argsort": lambda v, x: _place(x, _last(v)),
    "softmax": lambda _, x: _within(np.exp(x * 1.0), UNIT),
    "logsumexp": lambda v, x: np.log(_total(np.exp(x * 1.0), _count(v))),
    "matmul": lambda v, a, b: _inner(v, a, b, float((v.inputs[0].shape or (1,))[-1])),
    "dot": lambda v, a, b: _inner(
        v, a, b, math.prod(broadcast([one.shape for one in v.inputs])) / max(math.prod(v.shape), 1)
    ),
    **dict.fromkeys(("outer", "kron"), lambda _, a, b: a * _other(b)),
    "trace": lambda v, x: _total(x, float(v.inputs[0].shape[-1])),
    "det": lambda _, x: replace(_within(x - _other(x), EVERYWHERE), whole=False),  # it is rounded
    "inv": _ratio,
    "solve": _ratio,
    "qr_q": lambda v, x: _finite(v, _ratio(v, x), Hull(-1.0, 1.0)),
    "eigvalsh": _finite,
    "eigvecsh": lambda v, x: _finite(v, x, Hull(-1.0, 1.0)),
    "svdvals": lambda v, x: _finite(v, x, Hull(0.0, math.inf)),
    "pinv": _finite,
    "first": lambda _, x: replace(TRUTH.of([x], Hull(0.0, math.inf)), finite=NEVER),
    "take": _taken,
    **dict.fromkeys(("one_hot", "bincount"), _indexed),
    **dict.fromkeys(("tril", "triu", "diag"), lambda _, x: joined(x, _ZERO)),
    "linspace": lambda _, a, b: _from_to(a, b),
    **dict.fromkeys(("comb", "factorial"), _ways),
    **dict.fromkeys(("density", "logdensity", "cdf", "survival", "quantile_of"), _of_law),
}
# functions of arrays that may have no value for finite arguments
_ASKING = {
    *("inv", "solve", "qr_q", "norm", "var", "std", "first", "take", "one_hot", "bincount"),
    *("density", "logdensity", "cdf", "survival", "quantile_of", "comb", "factorial"),
}
_OF_ANY = {"isfinite", "isnan", "isinf"}


def _of_function(value: Value, below: Facts) -> Known:
    """What is known of a computed value, from what is known of its inputs."""
    inputs = below
    if len(below) == 2 and value.inputs[0] is value.inputs[1]:
        inputs = [below[0], below[0]]
    if value.operation in _ARRAYS:
        known: Known = _ARRAYS[value.operation](value, *inputs)
        return known
    numbers = value.function.by_element or not any(one.shape for one in value.inputs)
    return of_function(value.function, kernel_of(value), inputs, numbers)


def hull_of(value: Value, hulls: Sequence[Hull]) -> Hull:
    """Where a computed value lies if its inputs lie in these hulls."""
    with np.errstate(all="ignore"):
        return _of_function(value, [Known(hull=one) for one in hulls]).hull


def of_function(function: Function, kernel: Kernel, x: Facts, numbers: bool = True) -> Known:
    """What is known of a function of `numbers`, or of another that only moves elements."""
    if function.truth:
        found = TRUTH.of(x, UNIT)
        return replace(found, number=SURE) if function.name in _OF_ANY else found
    if function.rearranges or function.does == "joins" or (function.moves and not numbers):
        return joined(*x)
    with suppress(TypeError, AttributeError, KernelError), np.errstate(all="ignore"):
        made: Any = kernel(*x) if numbers else None
        if isinstance(made, Known):
            return made
    return UNKNOWN


@cache
def takes_all_numbers(function: Function) -> bool:
    """Whether a function has a value for all finite arguments."""
    if function.name in _ARRAYS:
        return function.name not in _ASKING
    needed = max(sum(not one.option and one.required for one in function.parameters), 1)
    known = [Known()] * needed
    return of_function(function, function.kernel, known, function.by_element).defined == SURE


def _lies_as_operand(value: Value) -> bool:
    """Whether an operator lies where its operand lies, as a mean or a quantile does."""
    operator = value.operator
    # the probability of a number means the probability that it is not 0
    averaged = operator.is_mean and (value.inputs[0].truth or not operator.probability)
    return averaged or operator.quantile


# ---- the walk ------------------------------------------------------------------------------------

# The most values that are looked at again behind guards, in all, and the deepest nesting of guards.
MOST_AGAIN = 20_000
MOST_GUARDS = 12
NEGLIGIBLE = 1e-15
"""The chance in a draw up to which a value is taken to exist: 10**9 draws see it with 1e-6."""

KnownValues = dict[int, Known]
Assumed = Mapping[int, Known]
"""What is known of some values where a guard holds, by their ids."""
Holds = Sequence[tuple[Value, bool]]
"""Truths, each with whether it holds."""


class Support:
    """What is known of the values of a case, each looked at once.

    Args:
        within: what is known without what is assumed.
        assumed: what else is known of some values.
        every: whether that is so of all elements; else it counts only through functions by element.
        depth: the number of guards.
    """

    def __init__(
        self,
        *,
        within: Support | None = None,
        assumed: Assumed | None = None,
        every: bool = True,
        depth: int = 0,
    ) -> None:
        self._within, self._every, self._depth = within, every, depth
        self._assumed: Assumed = assumed or {}
        self._facts: KnownValues = {}
        self._whole: Support = self if within is None else within
        # values that are defined, or not 0, with probability 1 or else with probability 0
        self._generic: list[Value] = []
        self._nonzero: list[Value] = []
        self._nan_somewhere = False  # whether a fixed value is NaN
        self._left = MOST_AGAIN
        # by functions that may be undefined: the chances of that which are too small to matter
        self.neglected: dict[str, float] = {}

    def hull(self, value: Value) -> Hull:
        """An interval that holds all values of a quantity, of all its elements together."""
        hull = self.known(value).hull
        give = OUTWARD * max(abs(hull.low), abs(hull.high))
        if not math.isfinite(give) or not hull.width or hull in (UNIT, Hull(-1.0, 1.0)):
            return hull
        return Hull(hull.low - give if hull.low else 0.0, hull.high + give)

    def known(self, value: Value) -> Known:
        """What is known of a value."""
        facts = self._facts
        if id(value) not in facts:
            # inputs first, without recursion: a model may be very deep
            for one in in_order([value], self._missing):
                if id(one) not in facts:
                    facts[id(one)] = self._found(one)
        return facts[id(value)]

    def _missing(self, value: Value) -> list[Value]:
        inputs = value.inputs if self._follows(value) else ()
        if value.kind == Kind.OPERATOR and not _lies_as_operand(value):
            inputs = ()
        return [one for one in inputs if id(one) not in self._facts]

    def _follows(self, value: Value) -> bool:
        """Whether what is known of a value follows from its inputs."""
        if not (value.random or value.estimated) or self._within is None:
            return value.random or value.estimated
        through = value.kind == Kind.COMPUTED and (self._every or value.function.by_element)
        return through and id(value) not in self._assumed and self._whole._left > 0

    def _found(self, value: Value) -> Known:
        if self._within is not None:
            self._whole._left -= 1
            if not all(id(one) in self._facts for one in value.inputs) or not self._follows(value):
                plain = self._within.known(value)
                own = self._assumed.get(id(value))
                return plain if own is None else plain.and_also(own)
        if value.kind == Kind.OPERATOR:
            as_operand = _lies_as_operand(value)
            hull = self.known(value.inputs[0]).hull if as_operand else Hull(*value.operator.ends)
            return Known(hull=hull)
        below = [self._facts[id(one)] for one in value.inputs] if self._follows(value) else []
        if value.kind == Kind.DRAW:
            known = of_draw(value, below)
        elif self._follows(value):
            known = self._computed(value, below)
        else:
            known = of_array(value.constant)
            self._whole._nan_somewhere |= known.number < SURE
        return known

    def _computed(self, value: Value, below: list[Known]) -> Known:
        function, inputs = value.function, value.inputs
        if function in (WHERE, CONDITIONAL):
            below[1] = self._guarded(inputs[1], [(inputs[0], True)])
            below[2] = self._guarded(inputs[2], [(inputs[0], False)])
        elif function in (AND, OR):
            below[1] = self._guarded(inputs[1], [(inputs[0], function is AND)])
        with np.errstate(all="ignore"):
            known = _of_function(value, below)
            if function is DIVIDE:
                shares = quotient_hull(value, lambda one: self.known(one).low)
                known = replace(known, hull=known.hull.common(shares))
                known = replace(known, finite=SURE) if shares.bounded else known
            if function is MULTIPLY:
                for one, log in zip(inputs, inputs[::-1], strict=True):
                    if log.operation in LOGARITHMS and log.inputs[0] is one:
                        own: Any = _function("xlogy", [self.known(one)] * 2)
                        hull = (own * LOGARITHMS[log.operation]).hull
                        known = replace(known, hull=known.hull.common(hull))  # it may be NaN at 0
        if min((one.number for one in below), default=SURE) > known.number == GENERIC:
            self._whole._generic.append(value)
        if known.nonzero == GENERIC and not known.smooth:
            pairs = zip(inputs, below, strict=True)
            self._whole._nonzero += [
                one for one, by in pairs if one.random and by.nonzero == GENERIC
            ]
        if known.defined == NEVER and all(one.defined > NEVER for one in below):
            chance = chance_outside(value)
            if chance is not None and chance <= NEGLIGIBLE:
                before = self._whole.neglected.get(value.operation, 0.0)
                self._whole.neglected[value.operation] = max(chance, before)
                if function is _FIRST:
                    known = replace(known, hull=Hull(0.0, _count(value) - 1.0))
                return replace(known, number=SURE, finite=SURE)
        return known

    # ---- guards ---------------------------------------------------------------------------------

    def under(self, holds: Holds, value: Value) -> Known:
        """What is known of a value where some truths hold or do not hold."""
        assumed = assumed_by(holds)
        if not assumed or self._depth >= MOST_GUARDS:
            return self.known(value)
        every = not self._assumed and all(not condition.shape for condition, _ in holds)
        for key, said in self._assumed.items():
            assumed[key] = assumed[key].and_also(said) if key in assumed else said
        return Support(
            within=self._whole, assumed=assumed, every=every, depth=self._depth + 1
        ).known(value)

    def _guarded(self, value: Value, holds: Holds) -> Known:
        """What is known of a value that counts only where some truths hold.

        If a value fails in all draws or in none, a guard that seldom holds may hide that it fails.
        """
        known = self._facts[id(value)]
        if known.defined == NEVER:
            known = self.under(holds, value)
        if not any(condition.random for condition, _ in holds):
            return known
        hidden = self._whole._nan_somewhere and known.number == GENERIC
        finite = NEVER if known.finite == GENERIC else known.finite
        return replace(known, finite=finite, number=NEVER if hidden else known.number)

    # ---- whether a value exists -----------------------------------------------------------------

    def fails(self, values: Sequence[Value]) -> bool:
        """Whether something fails in every draw: then it fails in this one draw, guards ignored."""
        with np.errstate(all="ignore"):
            drawn = one_draw(values)
        generic = [one for one in self._generic if id(one) in drawn]
        return any(not np.isfinite(drawn[id(one)]).all() for one in generic) or any(
            not np.all(drawn[id(one)]) for one in self._nonzero if id(one) in drawn
        )

    def why(self, value: Value) -> Explanation:
        """The first value below a quantity that may be undefined, and the probability of that."""
        culprits = (
            one
            for one in ordered([value])
            if self.known(one).defined == NEVER
            and all(self.known(below).defined > NEVER for below in one.inputs)
        )
        culprit = next(culprits, next(iter(self._generic), value))
        if culprit.computed_by(_FIRST):
            return Reason.MAY_BE_INFINITE.explain(step=culprit.operation, hint=_WAITING)
        step = culprit.operation if culprit.kind == Kind.COMPUTED else f"the law of {culprit.name}"
        chance = chance_outside(culprit)
        if chance is None:
            return Reason.MAY_BE_UNDEFINED.explain(step=step)
        return Reason.SELDOM_UNDEFINED.explain(step=step, chance=chance)


_FIRST = FUNCTIONS["first"]
_WAITING = (
    "what is waited for may never come: write minimum(first(…), T), with T the number of steps; "
    "for only the draws in which it comes, E(minimum(t, T), given=t < T)"
)


def support(value: Value) -> Hull:
    """The hull of one quantity."""
    return Support().hull(value)


AveragedQuantity = tuple[Value, Value | None]
"""A quantity that is averaged, and its condition."""


def may_be_undefined(
    terms: Sequence[AveragedQuantity], walk: Support | None = None
) -> Explanation | None:
    """Why some quantity may have no value in a draw; None if all surely have one.

    Truths are not checked: an unknown truth counts as one that does not hold. What a `walk`
    knows of them already is not worked out again.
    """
    asked = [(value, given) for value, given in terms if value.random and not value.truth]
    walked = ordered([value for value, _ in asked])
    if not any(map(_may_fail, walked)):
        return None
    walk = walk or Support()
    for value, given in asked:
        known = walk.known(value)
        if known.defined == NEVER and given is not None:
            known = walk.under([(given, True)], value)
        if known.defined == NEVER or (known.number < SURE and walk.fails(walked)):
            return walk.why(value)
    return None


def _may_fail(value: Value) -> bool:
    """Whether a value may be undefined though its inputs are defined."""
    if value.kind == Kind.DRAW:
        return any(one.random for one in value.inputs)
    if not takes_all_numbers(value.function):
        return True
    return any(
        one.constant is not None and not np.isfinite(one.constant).all() for one in value.inputs
    )


def one_draw(values: Sequence[Value]) -> dict[int, Array]:
    """The values, given with inputs first, in one draw; NaN where they cannot be computed."""
    generator = np.random.default_rng(0)
    drawn: dict[int, Array] = {}
    for value in values:
        inputs = [drawn[id(one)] if one.random else one.constant for one in value.inputs]
        unknown = np.full((*value.shape, 1), np.nan)
        try:
            if any(one is None for one in inputs):
                drawn[id(value)] = unknown
            elif value.law is not None:
                arguments = [number(one) for one in inputs]
                drawn[id(value)] = number(value.law.sample(generator, arguments, value.shape, 1))
            elif value.kind == Kind.DRAW:
                drawn[id(value)] = generator.normal(size=(*value.shape, 1))
            else:
                drawn[id(value)] = number(computed_from(value, drawn))
        except ValueError:  # a function or a law does not take a value
            drawn[id(value)] = unknown
    return drawn


def chance_outside(value: Value) -> float | None:
    """A bound of the chance that an argument, a line of one draw, leaves a function's domain.

    Of `first`, it is the chance that none of independent events happens.
    """
    drawn = random_inputs(value)
    if value.computed_by(_FIRST):
        [event] = value.inputs
        draw = draw_below(event)
        if draw is None or draw.kind != Kind.DRAW or not event.shape:
            return None
        happens = Integrals().moment([event], [1], [0.0])
        never = 1.0 - (happens.value - happens.error)
        return math.prod(value.shape) * never ** _count(value) if never < 1 else None
    if value.kind != Kind.COMPUTED or drawn != [*value.inputs[:1]]:
        return None
    kernel = value.function.kernel
    rule = RULES.get(getattr(kernel, "name", getattr(kernel, "__name__", "")))
    low, high = rule.domain if isinstance(rule, Curve) else (-math.inf, math.inf)
    low = 0.0 if value.function is POWER else low
    if low == -math.inf and high == math.inf:
        return None
    lines: dict[int, AffineDraw | None] = {}
    for one in ordered(drawn):
        lines[id(one)] = line_of(one, [lines.get(id(v)) for v in one.inputs])
    line = lines[id(drawn[0])]
    if line is None or line.law.cdf(0.0, *line.arguments) is None:
        return None
    ends = sorted(((low - line.shift) / line.factor, (high - line.shift) / line.factor))
    below = above = 0.0
    if math.isfinite(ends[0]):
        below = float(line.law.cdf(ends[0], *line.arguments))
    if math.isfinite(ends[1]):
        end = math.nextafter(ends[1], -math.inf) if line.law.discrete else ends[1]
        above = float(line.law.survival(end, *line.arguments))
    return (below + above) * math.prod(drawn[0].shape)


# ---- what a guard says ---------------------------------------------------------------------------

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_DENIED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def assumed_by(holds: Holds) -> KnownValues:
    """What is known of values in draws in which some truths hold or do not hold."""
    found: KnownValues = {}
    stack = [(value, held, False) for value, held in holds]
    while stack:
        value, held, every = stack.pop()
        if value.kind != Kind.COMPUTED:
            continue
        function = value.function
        every |= not value.shape  # or of each element by itself, which other axes would not be
        if function is NOT:
            stack.append((value.inputs[0], not held, every))
        elif function is (ALL if held else ANY) and every:
            stack.append((value.inputs[0], held, every))
        elif function is (AND if held else OR):
            stack += [(one, held, every) for one in value.inputs]
        elif function.name in COMPARISONS:
            # whether it holds or not, no side is NaN
            for (one, other), turned in ((value.inputs, False), (value.inputs[::-1], True)):
                if not one.random or other.constant is None or not other.constant.size:
                    continue
                sign = _TURNED[function.name] if turned else function.name
                said = _compared(sign if held else _DENIED[sign], other.constant)
                known = found.get(id(one))
                found[id(one)] = said if known is None else known.and_also(said)
                if one.computed_by(ABS) and said.high < math.inf:
                    within = Known(hull=Hull(-said.high, said.high), finite=NEVER)
                    known = found.get(id(one.inputs[0]), within)
                    found[id(one.inputs[0])] = known.and_also(within)
    return found


def _compared(sign: str, numbers: Array) -> Known:
    """What is known of a number if its comparison with other numbers holds."""
    low, high = float(numbers.min()), float(numbers.max())
    hull = Hull(
        low if sign in (">", ">=", "==") else -math.inf,
        high if sign in ("<", "<=", "==") else math.inf,
    )
    apart = (
        (sign == ">" and low >= 0)
        or (sign == "<" and high <= 0)
        or (sign == "!=" and low == high == 0)
        or not hull.low <= 0 <= hull.high
    )
    return Known(hull=hull, nonzero=SURE if apart else NEVER, finite=NEVER)
