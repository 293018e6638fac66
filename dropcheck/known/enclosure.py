"""Enclosures: what is known of a quantity on boxes, and numpy's functions applied to them.

An enclosure stands for a quantity in place of an array: `np.sqrt(x) * x` is an enclosure if x is
one. So a function that is written in numpy needs no rule of its own. Its last axis counts boxes:
intervals of one drawn number (cells), a box of averages, or all values that there are (a hull). Of
the quantity on each box is known:

* its range: every value that is a number lies between `low` and `high` (Moore 1966, "Interval
  Analysis");
* `near`, on cells of one draw: how far its values at complex numbers near the cell are from that
  range. From this the error of a Gauss rule is known before a value is computed, so that no spike
  and no kink between its points is missed (Trefethen 2008, "Is Gauss quadrature better than
  Clenshaw-Curtis?", theorem 4.5; Petras 2002, "Self-validating integration and approximation of
  piecewise analytic functions");
* `first`, over averages m about c: q(m) ∈ q(c) + S·(m - c), where S holds the slopes on the box
  (the mean value form: Moore 1966, chapter 6). Slopes cancel where one number stands at several
  places of an expression; what is left over is of second order.

Functions of numbers are rows of a table: the function, its derivative, a bound of that for complex
numbers, and where it turns. Rounding moves each bound outward. A function without a rule raises a
TypeError, by numpy's protocol. The caller silences numpy's floating-point warnings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from dropcheck.array_types import Floats, Truths
from dropcheck.vocabulary import special
from dropcheck.vocabulary.function import Function, Kernel
from dropcheck.vocabulary.special import Special

INF = math.inf
# The relative error of one function in float64; scipy.special has the largest ones.
FUNCTION_ROUNDING = 8 * 2.0**-53
# The rounding error of one step with slopes, as a share of the largest magnitude in it.
STEP_ROUNDING = 1e-14
# The absolute error of one step by underflow: some units of the smallest number (Higham 2002,
# "Accuracy and stability of numerical algorithms", eq. 2.8).
LOST_TO_UNDERFLOW = 4 * 2.0**-1074
_SMALLEST_NORMAL = 2.0**-1022
_FEW_DIGITS = 10  # binary ones behind the point
# The most elements of an array that is reduced one element after the other.
_MOST_FOLDED = 1000
# How far beyond the domain an argument may be by rounding, as a share of its size.
_BEYOND = 100 * STEP_ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Bounds of the distance from the range, [*shape, cells].

    `off` is that of values at complex numbers near the cell, infinite where the quantity is not
    known to be analytic there; `error` is that of rounding.
    """

    off: Floats
    error: Floats


@dataclass(frozen=True, slots=True, eq=False)
class First:
    """The first order over a box of numbers with half-widths `box`, [terms], about a centre.

    The quantity at numbers m of the box differs from `value`, [*shape, 1], by slopes between `low`
    and `high`, [*shape, terms], times m - centre, and by at most `stray`, [*shape, 1].
    """

    value: Floats
    low: Floats
    high: Floats
    stray: Floats
    box: Floats

    @property
    def slopes(self) -> Floats:
        """The middle of the slopes."""
        return self.low / 2 + self.high / 2

    @property
    def remainder(self) -> Floats:
        """How far the quantity is from a line with these slopes, at most."""
        off: Floats = np.vecdot(self.high / 2 - self.low / 2, self.box)
        return self.stray + off[..., np.newaxis]

    @property
    def reach(self) -> Floats:
        """How far the slopes move it from its value."""
        far: Floats = np.vecdot(np.maximum(-self.low, self.high), self.box)
        return far[..., np.newaxis]


@dataclass(slots=True, eq=False, repr=False)  # numpy writes operands into errors that nobody reads
class Enclosure(np.lib.mixins.NDArrayOperatorsMixin):
    """A quantity on boxes: its range, [*shape, boxes], and what else is known of it.

    Enclosures that are combined are over the same boxes, and the same is known of them.
    """

    low: Floats
    high: Floats
    near: Near | None = None
    first: First | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one draw, and the axis of boxes, as arrays have it."""
        return self.low.shape

    @property
    def ndim(self) -> int:
        """The number of axes of `shape`."""
        return self.low.ndim

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """The type of the numbers; truths are 0 or 1."""
        return np.dtype(np.float64)

    @property
    def size(self) -> int:
        """No array: kernels then look for no NaN in it."""
        return 0

    @property
    def most(self) -> Floats:
        """The largest size of a value on each box."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def everything(self) -> Truths:
        """Where a bound of the quantity is not known, [*shape, boxes]."""
        return ~(np.isfinite(self.low) & np.isfinite(self.high))

    @property
    def order(self) -> First:
        """The first order, of an enclosure over averages."""
        assert self.first is not None
        return self.first

    @property
    def smooth(self) -> Near:
        """What is known near the cells, of an enclosure on cells."""
        assert self.near is not None
        return self.near

    def __len__(self) -> int:
        return len(self.low)

    def __iter__(self) -> Iterator[Enclosure]:
        return (self[at] for at in range(len(self)))

    def __getitem__(self, index: Any) -> Enclosure:
        return by_parts(lambda array: array[index], self)

    def __array__(self, *_args: Any, **_more: Any) -> npt.NDArray[Any]:
        raise TypeError("an enclosure is no array")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        if method == "reduce":
            return _reduced(ufunc, inputs[0], more)
        rule = RULES.get(ufunc.__name__)
        if method != "__call__" or more or rule is None:
            return NotImplemented
        with np.errstate(all="ignore"):
            return rule(*(enclosed(one, self) for one in inputs))

    def __array_function__(self, function: Any, _types: Any, inputs: Any, options: Any) -> Any:
        if function is np.where and len(inputs) == 3:
            with np.errstate(all="ignore"):
                return chosen(*(enclosed(one, self) for one in inputs))
        return function._implementation(*inputs, **options)

    def by_ends(
        self, function: Kernel, rounding: float = 0.0, slope: Enclosure | None = None
    ) -> Enclosure:
        """A monotone function, from its values at the ends of the range.

        Args:
            function: of an array.
            rounding: the relative error of its values.
            slope: its derivative; without it, it is analytic only where it does not change.
        """
        error = _known_error(self)
        ends = [
            np.asarray(function(end), np.float64) for end in (self.low - error, self.high + error)
        ]
        low, high = reduce(np.minimum, ends), reduce(np.maximum, ends)
        give = rounding * np.maximum(np.abs(low), np.abs(high)) + LOST_TO_UNDERFLOW * (rounding > 0)
        found = _made(
            (self,),
            low - give,
            high + give,
            reach=np.zeros_like if slope is None else partial(times, slope.most + slope.smooth.off),
            whole=low == high if slope is None else True,
            value=function,
            exact=True,
        )
        if found.near is not None:
            found.near = Near(found.near.off + give, found.near.error + give)
        return found

    def at_least(self, least: float) -> Enclosure:
        """The enclosure of a quantity that is known to be at least this number."""
        kept = np.where(self.everything, self.low, np.maximum(self.low, least))
        high = np.maximum(self.high, least)
        return Enclosure(np.minimum(kept, high), high, self.near, self.first)

    def within(
        self, direction: Floats | None = None, along: tuple[float, float] | None = None
    ) -> tuple[float, float]:
        """The least and the greatest value of a single quantity.

        With a direction w, only numbers m are considered for which w·(m - c) lies between the two
        numbers `along`. The extremes of s·(m - c) are then a linear programme with one constraint.
        By duality the greatest value is the minimum over k of max(k·along) + Σ|s - k w| b, which is
        convex in k, with corners at s_j / w_j.
        """
        low, high = float(self.low.ravel()[0]), float(self.high.ravel()[0])
        if direction is None or along is None or not (math.isfinite(low) and math.isfinite(high)):
            return low, high
        first = self.order
        slopes = first.slopes.reshape(-1, len(first.box))[0]
        moved = direction != 0
        factors = np.concatenate([[0.0, 1.0], slopes[moved] / direction[moved]])
        factors = factors[np.isfinite(factors)]
        rest = np.abs(slopes - factors[:, np.newaxis] * direction) @ first.box
        ends = np.outer(factors, along)
        most = float(np.min(ends.max(axis=1) + rest))
        least = float(np.max(ends.min(axis=1) - rest))
        value, stray = float(first.value.ravel()[0]), float(first.remainder.ravel()[0])
        return max(low, value + least - stray), min(high, value + most + stray)


Rule = Callable[..., Enclosure]
RULES: dict[str, Rule] = {}
"""The rules for enclosures, by the names of numpy's and scipy's ufuncs."""


def by_parts(how: Callable[..., Any], *operands: Enclosure) -> Enclosure:
    """A function that moves elements or adds them up, applied to each part of the operands."""

    def of(parts: Sequence[Any]) -> Floats:
        return np.asarray(how(*parts), np.float64)

    def each(kind: Any, known: Sequence[Any], names: Sequence[str], *more: Any) -> Any:
        if known[0] is None:
            return None
        return kind(*(of([getattr(one, name) for one in known]) for name in names), *more)

    firsts = [one.first for one in operands]
    box = () if firsts[0] is None else (firsts[0].box,)
    return Enclosure(
        of([one.low for one in operands]),
        of([one.high for one in operands]),
        each(Near, [one.near for one in operands], ("off", "error")),
        each(First, firsts, ("value", "low", "high", "stray"), *box),
    )


def enclosed(array: Any, like: Enclosure) -> Enclosure:
    """Known numbers, [*shape, 1] or a single one, as an enclosure; an enclosure unchanged."""
    if isinstance(array, Enclosure):
        return array
    value = np.atleast_1d(np.asarray(array, np.float64))
    if like.first is None:
        found = _number(value.item()) if value.shape == (1,) else _fixed(value)
        return found if like.near is not None else Enclosure(found.low, found.high)
    unknown = ~np.isfinite(value)
    zero, box = np.zeros_like(value), like.first.box
    flat = np.zeros((*value.shape[:-1], len(box)))
    first = First(value, flat, flat, zero, box)
    low, high = np.where(unknown, -INF, value), np.where(unknown, INF, value)
    return Enclosure(low, high, None, first)


@lru_cache(maxsize=1024)
def _number(value: float) -> Enclosure:
    return _fixed(np.array([value]))


def _fixed(value: Floats) -> Enclosure:
    """Known numbers on cells: they have a rounding error, but for those of few binary digits."""
    low, high = value, value
    if np.isnan(value).any():
        low, high = _instead_of_nan(value, -INF), _instead_of_nan(value, INF)
    few = np.ldexp(value, _FEW_DIGITS)
    error = np.where(few == np.rint(few), 0.0, FUNCTION_ROUNDING * np.abs(value))
    return Enclosure(low, high, Near(np.zeros_like(value), error))


Reach = Callable[..., Floats]
"""Takes for each argument the largest distance from its range, and returns that of the result."""
FirstOrder = tuple[Any, ...]
"""The value, the least and the greatest slopes, the stray, and the largest magnitude on the way."""


def _made(
    inputs: Sequence[Enclosure],
    low: Floats,
    high: Floats,
    *,
    reach: Reach | None = None,
    whole: Truths | bool = True,
    first: Callable[..., FirstOrder] | None = None,
    value: Callable[..., Any] | None = None,
    exact: bool = False,
) -> Enclosure:
    """The enclosure of a function, from its parts.

    Args:
        inputs: the arguments.
        low: the lower end of the range; NaN: none is known.
        high: the upper end.
        reach: for cells, how far the result strays; None: not known.
        whole: for cells, where one analytic piece of the function holds for the whole range.
        first: over averages, gives the first order.
        value: in place of `first`, computes the function; its slopes are not known.
        exact: whether the function does not round.
    """
    low, high = _instead_of_nan(low, -INF), _instead_of_nan(high, INF)
    one = inputs[0]
    if one.first is not None:
        unknown = reduce(np.logical_or, (each.everything for each in inputs))
        box = one.first.box
        if first is not None:
            return _over_averages(first(), low, high, unknown, box)
        assert value is not None
        at = np.asarray(value(*(each.order.value for each in inputs)), np.float64)
        endless = np.full((*at.shape[:-1], len(box)), INF)
        found = at, -endless, endless, np.zeros_like(at), 0.0
        return _over_averages(found, low, high, unknown, box, 0.0 if exact else STEP_ROUNDING)
    if one.near is None:
        return Enclosure(low, high)
    near = [each.smooth for each in inputs]
    off = error = np.full_like(low, INF)
    if reach is not None:
        off = _instead_of_nan(reach(*(each.off for each in near)), INF)
        error = _instead_of_nan(reach(*(each.error for each in near)), INF)
    off = off if whole is True else np.where(whole, off, INF)
    if exact:
        return Enclosure(low, high, Near(off, error))
    most = np.maximum(-low, high)
    give = np.where(most < INF, FUNCTION_ROUNDING * most, 0.0)
    # rounding changes no sign
    low = np.where(low < 0, low - give, np.maximum(low - give, 0.0))
    high = np.where(high > 0, high + give, np.minimum(high + give, 0.0))
    return Enclosure(low, high, Near(off, error + give))  # the range is widened by it already


def _over_averages(
    found: FirstOrder,
    least: Floats,
    most: Floats,
    unknown: Truths,
    box: Floats,
    rounding: float = STEP_ROUNDING,
) -> Enclosure:
    """An enclosure over averages, widened by the rounding error of one step.

    The ends hold every value by other means. Where nothing is known, it holds all numbers.
    """
    value, least_slopes, most_slopes, stray, size = found
    first = First(value, least_slopes, most_slopes, stray, box)
    reach = first.reach
    largest = np.maximum(np.abs(value) + reach, size)
    small = (largest > 0) & (largest < _SMALLEST_NORMAL)
    give = np.where(small, LOST_TO_UNDERFLOW, rounding * largest)
    give = np.where(np.isfinite(give), give, 0.0)
    # the ends are rounded, too
    stray, least, most = stray + give, least - give, most + give
    low, high = np.fmax(value - reach - stray, least), np.fmin(value + reach + stray, most)
    if not (low <= high).all():  # by rounding, or because the ends contradict the box
        apart = low > high
        low = np.where(apart, value - reach - stray, low)
        high = np.where(apart, value + reach + stray, high)
    # a NaN or an infinity in any part makes this sum NaN or infinite
    known = np.isfinite(low - high + value) & ~unknown
    if not np.isfinite(reach + stray).all() or not known.all():
        lined = np.isfinite(reach + stray) & known
        value = np.where(known, value, 0.0)
        low, high = np.where(known, low, -INF), np.where(known, high, INF)
        flat, steep = (np.where(lined, one, 0.0) for one in (first.low, first.high))
        stray = np.where(lined, stray, np.maximum(high - value, value - low))
    else:
        flat, steep = first.low, first.high
    return Enclosure(low, high, None, First(value, flat, steep, stray, box))


def _chained(
    value: Floats, size: Any, *parts: tuple[Enclosure, tuple[Floats, Floats]]
) -> FirstOrder:
    """The first order of a function of quantities, by the ranges of its derivatives there."""
    low: Any = 0.0
    high: Any = 0.0
    stray: Any = 0.0
    for x, steep in parts:
        own = x.order
        least, most = products(steep, (own.low, own.high))
        low, high = low + least, high + most
        stray = stray + times(np.maximum(-steep[0], steep[1]), own.stray)
    return value, low, high, stray, size


def _reduced(ufunc: np.ufunc, x: Enclosure, options: Mapping[str, Any]) -> Any:
    """A sum, product, minimum or maximum over axes of one draw."""
    rule = RULES.get(ufunc.__name__)
    if rule is None or any(options.get(name) is not None for name in ("dtype", "out", "where")):
        return NotImplemented
    axis = options.get("axis", 0)
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = tuple(one % x.ndim for one in (axes if isinstance(axes, tuple) else (axes,)))
    places = [*np.ndindex(*(x.shape[at] for at in axes))]
    # the axis of boxes is not reduced over
    if x.ndim - 1 in axes or not places or math.prod(x.shape[:-1]) > _MOST_FOLDED:
        return NotImplemented

    def index(place: Sequence[Any]) -> tuple[Any, ...]:
        one = dict(zip(axes, place, strict=True))
        return tuple(one.get(at, slice(None)) for at in range(x.ndim))

    terms = [x[index(place)] for place in places]
    if options.get("initial") is not None:
        terms.append(enclosed(options["initial"], x))
    with np.errstate(all="ignore"):
        result = reduce(rule, terms)
    return result[index([None] * len(axes))] if options.get("keepdims") else result


# ---- arithmetic ---------------------------------------------------------------------------------


def _instead_of_nan(x: Any, number: float) -> Any:
    unknown = np.isnan(x)
    return np.where(unknown, number, x) if unknown.any() else x


def times(a: Any, b: Any) -> Any:
    """The product, where 0 times infinity is 0: an infinite end is not reached."""
    product = a * b
    return np.where((a == 0) | (b == 0), 0.0, product) if np.isnan(product).any() else product


def products(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The least and the greatest product of a number of one interval and one of another."""
    one, other = (ends[:1] if ends[0] is ends[1] else ends for ends in (first, second))
    corners = [times(a, b) for a in one for b in other]
    return reduce(np.minimum, corners), reduce(np.maximum, corners)


def _ends(x: Enclosure) -> tuple[Floats, Floats]:
    return x.low, x.high


def _not_nothing(size: Any, *of: Any) -> Any:
    """The size of a product; where it underflowed to 0 though no factor is 0, a tiny size."""
    lost = reduce(np.logical_and, (one > 0 for one in of))
    return np.where(lost, np.maximum(size, LOST_TO_UNDERFLOW), size)


def add(a: Enclosure, b: Enclosure) -> Enclosure:
    """The enclosure of a + b."""

    def first() -> FirstOrder:
        f, g = a.order, b.order
        size = np.maximum(a.most, b.most)
        return f.value + g.value, f.low + g.low, f.high + g.high, f.stray + g.stray, size

    return _made((a, b), a.low + b.low, a.high + b.high, reach=lambda p, q: p + q, first=first)


def negative(a: Enclosure) -> Enclosure:
    """The enclosure of -a."""
    first = a.first
    if first is not None:
        first = First(-first.value, -first.high, -first.low, first.stray, first.box)
    return Enclosure(-a.high, -a.low, a.near, first)


def subtract(a: Enclosure, b: Enclosure) -> Enclosure:
    """The enclosure of a - b; 0 if both are one quantity."""
    if a is not b:
        return add(a, negative(b))
    zero = np.zeros_like(a.low)
    return _made(
        (a,),
        zero,
        zero,
        reach=lambda p: 0.0 * np.where(np.isinf(p), 0.0, p),
        first=lambda: (zero, *(np.zeros_like(a.order.low),) * 2, zero, 0.0),
        exact=True,
    )


def multiply(a: Enclosure, b: Enclosure) -> Enclosure:
    """The enclosure of a · b: ab - vw is (a - v)(b + w)/2 + (a + v)(b - w)/2."""
    low, high = products(_ends(a), _ends(b))
    if a is b:
        low = np.where((a.low < 0) & (a.high > 0), 0.0, np.maximum(low, 0.0))

    def first() -> FirstOrder:
        v, w = a.order.value, b.order.value
        of_a, of_b = (((one.low + at) / 2, (one.high + at) / 2) for one, at in ((b, w), (a, v)))
        size = _not_nothing(a.most * b.most, a.most, b.most)
        return _chained(v * w, size, (a, of_a), (b, of_b))

    return _made(
        (a, b),
        low,
        high,
        reach=lambda p, q: times(p, b.most) + times(q, a.most) + times(p, q),
        first=first,
    )


def reciprocal(x: Enclosure) -> Enclosure:
    """The enclosure of 1 / x: |1/z - 1/p| = |z - p| / (|z| |p|). One side of a pole is bounded."""
    if x.first is not None:
        return divide(enclosed(1.0, x), x)
    away = (x.low > 0) | (x.high < 0)
    least = np.where(away, np.minimum(np.abs(x.low), np.abs(x.high)), 0.0)

    def reach(off: Floats) -> Floats:
        room = least - off
        return np.where(room > 0, off / (least * room), INF)

    low = np.where(away | ((x.low == 0) & (x.high > 0)), 1 / x.high, -INF)
    high = np.where(away | ((x.high == 0) & (x.low < 0)), 1 / x.low, INF)
    return _made((x,), low, high, reach=reach, whole=away)


def divide(a: Enclosure, b: Enclosure) -> Enclosure:
    """The enclosure of a / b.

    Over averages it is unknown where b can be 0. With q = v/w, a/b is q + (a - q b)/b: in the
    numerator, which is 0 at the centre, common parts of a and b cancel.
    """
    if a.first is None:
        return multiply(a, reciprocal(b))
    away = (b.low > 0) | (b.high < 0)
    ratio, under = a.order.value / b.order.value, (1 / b.high, 1 / b.low)
    gap = add(a, negative(multiply(b, enclosed(ratio, a))))

    def first() -> FirstOrder:
        size = _not_nothing(np.abs(ratio), a.most)
        _, low, high, stray, _ = _chained(ratio, size, (gap, under))
        # at the centre the gap is 0 but for rounding
        stray = stray + np.abs(gap.order.value) * np.maximum(np.abs(under[0]), np.abs(under[1]))
        return np.where(away, ratio, np.nan), low, high, stray, size

    return _made((a, b), *products(_ends(a), under), first=first)


# ---- curves -------------------------------------------------------------------------------------
#
# A function of one number is given by its derivative, by where it turns, and by a bound of the
# derivative at complex numbers. If z is at most `off` away from an interval, then f(z) is at most
# `off` times the largest |f'| within that distance away from the values on the interval.


Spread = Callable[[Floats, Floats, Floats], Floats]
"""Takes low, high and off; returns the largest |f'(z)| of complex z at most `off` away from the
interval, or infinity where f is not analytic there."""
_LINE = (-INF, INF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A function of one number.

    Args:
        function: takes an array.
        slope: its derivative, of an enclosure; None where none is known.
        spread: the bound of the derivative; None: by the enclosure of `slope`.
        turn: where it has its minimum or maximum, if that is not at an end of the domain.
        top: of a wave, where it is greatest.
        kink: where two pieces meet.
        domain: the interval in which it is defined.
        partial: whether it is also defined elsewhere, where nothing is known of it.
        never_0: whether it is 0 at most at 0.
        exact: whether it does not round.
    """

    function: Callable[[Any], Any]
    slope: Callable[[Any], Any] | None
    spread: Spread | None = None
    turn: float | None = None
    top: float | None = None
    kink: float | None = None
    domain: tuple[float, float] = _LINE
    partial: bool = False
    never_0: bool = False
    exact: bool = False

    def __call__(self, x: Enclosure) -> Enclosure:
        """The enclosure of the function."""
        low, high = x.low, x.high
        if self.domain != _LINE:
            low, high = np.clip(low, *self.domain), np.clip(high, *self.domain)
        inside = (x.low >= self.domain[0]) & (x.high <= self.domain[1])
        least, most = self.range(low, high)
        if self.partial:
            least, most = np.where(inside, least, -INF), np.where(inside, most, INF)
        whole = True if self.kink is None else (low >= self.kink) | (high <= self.kink)
        spread = self.spread or self._spread
        return _made(
            (x,),
            least,
            most,
            reach=lambda off: np.where(inside, times(off, spread(x.low, x.high, off)), INF),
            whole=whole,
            first=lambda: self.line(x),
            exact=self.exact,
        )

    def _spread(self, low: Floats, high: Floats, off: Floats) -> Floats:
        """The bound of the derivative at complex numbers, by its own formula."""
        assert self.slope is not None
        slope = self.slope(Enclosure(low, high, Near(off, np.zeros_like(off))))
        return np.asarray(slope.most + slope.smooth.off)

    def range(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The least and the greatest value between two places of the domain."""
        values = [self.function(low), self.function(high)]
        if self.turn is not None:
            values.append(self.function(np.minimum(np.maximum(self.turn, low), high)))
        least, most = reduce(np.minimum, values), reduce(np.maximum, values)
        if self.top is not None:
            least = np.where(_passed(low, high, self.top + math.pi), -1.0, least)
            most = np.where(_passed(low, high, self.top), 1.0, most)
        return least, most

    def line(self, x: Enclosure) -> FirstOrder:
        """The first order, by the range of the slope."""
        # an argument that is beyond the domain only by rounding is moved to its end
        give = _BEYOND * x.most
        inside = (x.low >= self.domain[0] - give) & (x.high <= self.domain[1] + give)
        low, high = np.clip(x.low, *self.domain), np.clip(x.high, *self.domain)
        at = np.minimum(np.maximum(x.order.value, low), high)
        slope = Enclosure(low - INF, high + INF)
        if self.slope is not None:
            slope = self.slope(Enclosure(low, high))
        steep = slope.low, slope.high
        size = np.where(np.isfinite(steep[1]), np.maximum(-steep[0], steep[1]), 0.0) * x.most
        value = np.where(inside, self.function(at), np.nan)
        found = _chained(value, _not_nothing(size, x.most) if self.never_0 else size, (x, steep))
        moved = np.abs(at - x.order.value)
        return *found[:3], found[3] + times(np.maximum(-steep[0], steep[1]), moved), found[4]


def _passed(low: Floats, high: Floats, place: float) -> Truths:
    """Whether a place, or one that is whole turns away from it, may lie in the range."""
    turns = np.floor((high - place) / (2 * math.pi) + 1e-9)
    lost = ~(np.maximum(-low, high) < 1e6)  # too large for its place in a turn to be known
    return lost | (turns > np.floor((low - place) / (2 * math.pi) - 1e-9))


def _tangent(x: Enclosure) -> Enclosure:
    """The enclosure of tan(x); on cells nothing is known: rounding of π would hide a pole."""
    if x.first is not None:
        return divide(RULES["sin"](x), RULES["cos"](x))
    unknown = np.full_like(x.low, INF)
    return _made((x,), -unknown, unknown)


def _power(base: Enclosure, exponent: Enclosure) -> Enclosure:
    """The enclosure of a power: by its curve for one known exponent, else as exp(y log(x))."""
    n = float(exponent.low.ravel()[0]) if exponent.low.size else 1.0
    if not (math.isfinite(n) and np.all(exponent.low == n) and np.all(exponent.high == n)):
        return _any_power(base, exponent)
    if n in (1, 2):
        return base if n == 1 else multiply(base, base)
    if n == 0:
        return add(enclosed(1.0, base), subtract(base, base))
    whole = n % 1 == 0
    if n < 0:
        return reciprocal(_power(base, enclosed(-n, base)))

    def spread(low: Floats, high: Floats, off: Floats) -> Floats:
        room = low - off
        if whole:
            return n * np.power(np.maximum(-low, high) + off, n - 1)
        ends = np.power(np.maximum(room, 0.0), n - 1), np.power(high + off, n - 1)
        return _where_positive(room, n * np.maximum(*ends))

    return Curve(
        function=lambda x: special.power(x, np.array([n])),
        slope=lambda x: n * np.power(x, n - 1),
        spread=spread,
        turn=0.0 if n % 2 == 0 else None,
        domain=_LINE if whole else _AT_LEAST_0,
        never_0=True,
    )(base)


def _any_power(base: Enclosure, exponent: Enclosure) -> Enclosure:
    """The enclosure of exp(y log(x)); a power of what is not negative is monotone in both.

    Of a negative number there are whole powers, as far from 0 as those of the number without sign.
    """
    found = RULES["exp"](multiply(exponent, RULES["log"](base)))
    negative = base.low < 0
    if negative.any():
        size = np.full_like(found.high, INF)  # for slopes, whose power is unknown
        if base.first is None:
            size = _any_power(RULES["absolute"](base), exponent).high
        low, high = np.where(negative, -size, found.low), np.where(negative, size, found.high)
        return replace(found, low=low, high=high)
    corners = [np.power(x, y) for x in _ends(base) for y in _ends(exponent)]
    return _between(found, reduce(np.minimum, corners), reduce(np.maximum, corners))


def _log_of_sum(a: Enclosure, b: Enclosure) -> Enclosure:
    """The enclosure of log(exp(a) + exp(b)), which is monotone in both."""
    low, high = np.logaddexp(a.low, b.low), np.logaddexp(a.high, b.high)
    return _between(add(b, _softplus(subtract(a, b))), low, high)


def _between(x: Enclosure, low: Floats, high: Floats) -> Enclosure:
    """The enclosure of what also lies between two numbers, but for rounding."""
    if x.first is not None:  # there an infinite end says that it may have no value
        return x
    low, high = low - FUNCTION_ROUNDING * np.abs(low), high + FUNCTION_ROUNDING * np.abs(high)
    return replace(x, low=np.fmax(x.low, low), high=np.fmin(x.high, high))


def _where_positive(room: Floats, value: Floats) -> Floats:
    """The value where there is room, else infinity."""
    return np.where(room > 0, value, INF)


def _nearest(low: Floats, high: Floats, off: Floats) -> Floats:
    """The least size of the real part of numbers at most `off` away."""
    return np.maximum(np.maximum(low - off, -high - off), 0.0)


def _tanh_spread(low: Floats, high: Floats, off: Floats) -> Floats:
    # |cosh(x + iy)|² = sinh(x)² + cos(y)²
    size = np.sinh(_nearest(low, high, off)) ** 2 + np.cos(np.minimum(off, 2.0)) ** 2
    return np.where(off < math.pi / 2, 1.0 / size, INF)


def _bell(x: Any) -> Any:
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _bell_spread(low: Floats, high: Floats, off: Floats) -> Floats:
    nearest = _nearest(low, high, off)
    return np.asarray(np.exp((off * off - nearest * nearest) / 2) / math.sqrt(2 * math.pi))


_AT_LEAST_0, _UNIT = (0.0, INF), (-1.0, 1.0)
_ROOT_2 = math.sqrt(2.0)
# where the gamma function is least above 0 (Abramowitz and Stegun 1964, 6.1.32, continued)
_LEAST_GAMMA = 1.4616321449683623
_hyperbolic: Spread = lambda low, high, off: np.cosh(np.maximum(-low, high) + off)  # noqa: E731 - short
_circular: Spread = lambda _, __, off: np.cosh(off)  # noqa: E731 - as above
_exponential: Spread = lambda _, high, off: np.exp(high + off)  # noqa: E731 - as above
_gamma = {"domain": _AT_LEAST_0, "partial": True, "spread": lambda low, *_: np.full_like(low, INF)}
_constant: Spread = lambda low, *_: np.ones_like(low)  # noqa: E731 - as above
_softplus = Curve(function=lambda x: np.logaddexp(x, 0.0), slope=Special("expit"))
_entropy = Curve(function=lambda x: special.xlogy(x, x), slope=lambda x: 1 + np.log(x),
                 turn=1 / math.e, domain=_AT_LEAST_0)  # fmt: skip

# the derivatives are those of textbooks (Abramowitz and Stegun 1964, chapters 4 to 7)
_CURVES: dict[str, Mapping[str, Any]] = {
    "sqrt": {"slope": lambda x: 0.5 / np.sqrt(x), "domain": _AT_LEAST_0,
             "spread": lambda low, _, off: _where_positive(
                 low - off, 0.5 / np.sqrt(np.maximum(low - off, 0.0)))},
    "cbrt": {"slope": lambda x: np.cbrt(x) ** -2.0 / 3, "kink": 0.0,
             "spread": lambda low, high, off: _where_positive(
                 _nearest(low, high, off), np.power(_nearest(low, high, off), -2 / 3) / 3)},
    "absolute": {"slope": np.sign, "spread": _constant, "turn": 0.0, "kink": 0.0, "exact": True},
    "exp": {"slope": np.exp, "spread": _exponential, "never_0": True},
    "expm1": {"slope": np.exp, "spread": _exponential},
    "log": {"slope": lambda x: 1 / x, "domain": _AT_LEAST_0},
    "log2": {"slope": lambda x: 1 / (math.log(2) * x), "domain": _AT_LEAST_0},
    "log10": {"slope": lambda x: 1 / (math.log(10) * x), "domain": _AT_LEAST_0},
    "log1p": {"slope": lambda x: 1 / (1 + x), "domain": (-1.0, INF)},
    "sinh": {"slope": np.cosh, "spread": _hyperbolic},
    "cosh": {"slope": np.sinh, "spread": _hyperbolic, "turn": 0.0},
    "tanh": {"slope": lambda x: np.cosh(x) ** -2.0, "spread": _tanh_spread},
    "arcsin": {"slope": lambda x: 1 / np.sqrt((1 - x) * (1 + x)), "domain": _UNIT},
    "arccos": {"slope": lambda x: -1 / np.sqrt((1 - x) * (1 + x)), "domain": _UNIT},
    "arctan": {"slope": lambda x: 1 / (1 + x * x)},
    "arcsinh": {"slope": lambda x: 1 / np.hypot(1, x)},
    "arctanh": {"slope": lambda x: 1 / ((1 - x) * (1 + x)), "domain": _UNIT},
    "expit": {"slope": lambda x: special.expit(x) * special.expit(-x),
              "spread": lambda low, high, off: _tanh_spread(low / 2, high / 2, off / 2) / 4,
              "never_0": True},
    "logit": {"slope": lambda x: 1 / (x * (1 - x)), "domain": (0.0, 1.0)},
    "ndtr": {"slope": _bell, "spread": _bell_spread, "never_0": True},
    "erf": {"slope": lambda x: 2 * _ROOT_2 * _bell(_ROOT_2 * x)},
    "erfc": {"slope": lambda x: -2 * _ROOT_2 * _bell(_ROOT_2 * x), "never_0": True},
    "gammaln": {"slope": Special("psi"), "turn": _LEAST_GAMMA, **_gamma},
    "gamma": {"slope": lambda x: special.gamma(x) * special.psi(x), "turn": _LEAST_GAMMA, **_gamma},
    "psi": {"slope": None, **_gamma},
    "sin": {"slope": np.cos, "spread": _circular, "top": math.pi / 2},
    "cos": {"slope": lambda x: -np.sin(x), "spread": _circular, "top": 0.0},
}  # fmt: skip
RULES.update(
    {
        name: Curve(function=getattr(np, name, None) or Special(name), **facts)
        for name, facts in _CURVES.items()
    }
)


# ---- pieces, and truths --------------------------------------------------------------------------


def _steps(function: Callable[[Any], Any]) -> Rule:
    """The rule of a function that rises in steps."""
    return lambda x: x.by_ends(function)


def _known_error(x: Enclosure) -> Any:
    """The rounding error of a quantity on cells; 0 where none is known."""
    return 0.0 if x.near is None else np.where(np.isfinite(x.near.error), x.near.error, 0.0)


def maximum(a: Enclosure, b: Enclosure) -> Enclosure:
    """The enclosure of the larger."""
    low, high = np.maximum(a.low, b.low), np.maximum(a.high, b.high)
    one, other = a.low >= b.high, b.low >= a.high

    def first() -> FirstOrder:
        f, g = a.order, b.order
        least, most = np.minimum(f.low, g.low), np.maximum(f.high, g.high)
        return (
            np.where(one, f.value, np.where(other, g.value, np.maximum(f.value, g.value))),
            np.where(one, f.low, np.where(other, g.low, least)),
            np.where(one, f.high, np.where(other, g.high, most)),
            np.maximum(f.stray, g.stray),
            0.0,
        )

    return _made(
        (a, b),
        low,
        high,
        reach=lambda p, q: np.where(one, p, np.where(other, q, np.maximum(p, q))),
        whole=one | other,
        first=first,
        exact=True,
    )


def _truth(inputs: Sequence[Enclosure], yes: Any, no: Any, how: Callable[..., Any]) -> Enclosure:
    """An event that surely holds, surely does not, or is open on a box."""
    low, high = np.where(yes, 1.0, 0.0), np.where(no, 0.0, 1.0)
    return _made(
        inputs,
        low,
        high,
        reach=lambda *off: np.zeros(np.broadcast_shapes(*(one.shape for one in off))),
        whole=low == high,
        value=lambda *values: how(*values) * 1.0,
        exact=True,
    )


def _comparison(ufunc: np.ufunc) -> Rule:
    """The rule of a comparison."""

    def rule(a: Enclosure, b: Enclosure) -> Enclosure:
        error = _known_error(a) + _known_error(b)
        above, below = a.low - b.high - error, b.low - a.high - error  # by how much at least
        apart, tied = (above > 0) | (below > 0), (above == 0) & (below == 0)
        yes, no = {
            "greater": (above > 0, below >= 0),
            "greater_equal": (above >= 0, below > 0),
            "less": (below > 0, above >= 0),
            "less_equal": (below >= 0, above > 0),
            "equal": (tied, apart),
            "not_equal": (apart, tied),
        }[ufunc.__name__]
        return _truth((a, b), yes, no, ufunc)

    return rule


def _logic(ufunc: np.ufunc) -> Rule:
    """The rule of `and`, `or` or `not`, which is monotone in each truth."""

    def rule(*inputs: Enclosure) -> Enclosure:
        sure = [(one.low > 0) | (one.high < 0) for one in inputs]
        may = [(one.low != 0) | (one.high != 0) for one in inputs]
        if ufunc is np.logical_not:
            return _truth(inputs, ~may[0], sure[0], ufunc)
        return _truth(inputs, ufunc(*sure), ~ufunc(*may), ufunc)

    return rule


def chosen(c: Enclosure, a: Enclosure, b: Enclosure) -> Enclosure:
    """`where`: a or b; where the event is open, the range of both."""
    yes, no = (c.low > 0) | (c.high < 0), (c.low == 0) & (c.high == 0)
    low = np.where(yes, a.low, np.where(no, b.low, np.minimum(a.low, b.low)))
    high = np.where(yes, a.high, np.where(no, b.high, np.maximum(a.high, b.high)))
    return _made(
        (c, a, b),
        low,
        high,
        reach=lambda _, p, q: np.where(yes, p, np.where(no, q, INF)),
        value=lambda c, a, b: np.where(c != 0, a, b),
        exact=True,
    )


def _remainder(a: Enclosure, b: Enclosure) -> Enclosure:
    """The enclosure of a % b: a minus a whole multiple of b, with the sign of b."""
    rest = subtract(a, multiply(b, RULES["floor"](divide(a, b))))
    return _between(rest, np.minimum(b.low, 0.0), np.maximum(b.high, 0.0))


def _x_log_y(x: Enclosure, y: Enclosure) -> Enclosure:
    """The enclosure of x · log(y), which is 0 where x is 0."""
    return _entropy(x) if x is y else multiply(x, RULES["log"](y))


def _angle(y: Enclosure, x: Enclosure) -> Enclosure:
    """The enclosure of an angle from -π to π."""
    most = np.full(np.broadcast_shapes(x.shape, y.shape), math.nextafter(math.pi, 4.0))
    return _made((y, x), -most, most, value=np.arctan2)


_OTHERS: dict[str, Rule] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "negative": negative,
    "reciprocal": reciprocal,
    "power": _power,
    "positive": lambda x: x,
    "square": lambda x: multiply(x, x),
    "hypot": lambda a, b: RULES["sqrt"](add(multiply(a, a), multiply(b, b)).at_least(0.0)),
    "logaddexp": _log_of_sum,
    "tan": _tangent,
    "arctan2": _angle,
    "xlogy": _x_log_y,
    "xlog1py": lambda x, y: multiply(x, RULES["log1p"](y)),
    "maximum": maximum,
    "minimum": lambda a, b: negative(maximum(negative(a), negative(b))),
    "floor_divide": lambda a, b: RULES["floor"](divide(a, b)),
    "remainder": _remainder,
    **{one.__name__: _steps(one) for one in (np.sign, np.floor, np.ceil, np.rint)},
    **{
        one.__name__: _comparison(one)
        for one in (np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal)
    },
    **{one.__name__: _logic(one) for one in (np.logical_and, np.logical_or, np.logical_not)},
    "bitwise_and": _logic(np.logical_and),
    "bitwise_or": _logic(np.logical_or),
    "invert": _logic(np.logical_not),
}
RULES.update(_OTHERS)


# ---- functions of the language ------------------------------------------------------------------


def applied(function: Function, compute: Kernel, inputs: Sequence[Any]) -> Enclosure:
    """The enclosure of a function of enclosures and known arrays; at least one is an enclosure.

    A kernel that is made of numpy's functions works on enclosures as it is. A function that moves
    elements or adds them up is applied to every part of the enclosures. All others may be anything.

    Args:
        function: the entry.
        compute: its kernel with the options set.
        inputs: arrays of the shape [*shape, 1], and enclosures.
    """
    like = next(one for one in inputs if isinstance(one, Enclosure))
    result: Any = None
    with suppress(TypeError, AttributeError), np.errstate(all="ignore"):
        result = compute(*inputs)
    if isinstance(result, Enclosure):
        return result
    if function.does == "shape":
        return enclosed(result, like)
    operands = [enclosed(one, like) for one in inputs]
    with np.errstate(all="ignore"):
        return by_parts(compute, *operands) if function.moves else _by_size(compute, operands)


def _by_size(compute: Kernel, operands: Sequence[Enclosure]) -> Enclosure:
    """The enclosure of what may be any number."""
    at = [one.low if one.first is None else one.first.value for one in operands]
    shape = np.shape(compute(*(np.where(np.isfinite(one), one, 0.0) for one in at)))
    unknown = np.full(shape, INF)
    return _made(operands, -unknown, unknown, value=compute)


# ---- over averages ------------------------------------------------------------------------------
#
# A quantity of a statement is θ = g(m), m the true averages. With a confidence interval for each, m
# lies in a box about the centre c; with one more for the combination w·(m - c), where w is near the
# gradient of g, it lies in a slab of the box too, and
#
#     g(m) ∈ g(c) + w·(m - c) + (S - w)·(m - c),
#
# S the gradients on the box, whose widths are of first order: the interval for
# w·(m - c) alone decides how wide the answer is, once the half-widths are small. No limit theorem
# is in it, nor a condition on g.


Enclosed = Callable[[Enclosure], Enclosure]
"""The quantity as a function of the averages [terms], all of them enclosures."""


def over(centre: Floats, half_widths: Floats) -> Enclosure:
    """The enclosure of numbers that are known to within half-widths, [terms].

    >>> x, y = over(np.array([3.0, 2.0]), np.array([0.1, 0.1]))
    >>> low, high = (x * y - np.exp(np.log(x) + np.log(y))).within()
    >>> -0.1 < low <= 0 <= high < 0.1
    True
    """
    value = np.asarray(centre, np.float64)[:, np.newaxis]
    box = np.asarray(half_widths, np.float64)
    zero = np.zeros_like(value)
    flat = np.eye(len(box))
    found = value, flat, flat, zero, 0.0
    with np.errstate(all="ignore"):
        return _over_averages(found, zero - INF, zero + INF, zero != 0, box)


def enclose(
    quantity: Enclosed,
    means: Floats,
    half_widths: Floats,
    direction: Floats | None = None,
    along: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """An interval for the quantity over a box of averages; (-inf, inf) if it may be anything.

    Negative values of a variance, or of an average of an even power, do not count.

    Args:
        quantity: of the averages.
        means: the centre of the box, [terms].
        half_widths: of the box, [terms].
        direction: w, [terms]: with it only m with along[0] ≤ w·(m - means) ≤ along[1] count.
        along: the interval for w·(m - means).

    >>> def variance(m: Enclosure) -> Enclosure:
    ...     return m[1] - m[0] ** 2
    >>> means, half_widths = np.array([0.0, 1.0]), np.array([0.1, 0.1])
    >>> low, high = enclose(variance, means, half_widths)
    >>> round(low, 6), round(high, 6)
    (0.89, 1.1)
    >>> low, high = enclose(variance, means, half_widths, np.array([0.0, 1.0]), (-0.03, 0.02))
    >>> round(low, 6), round(high, 6)
    (0.96, 1.03)
    """
    with np.errstate(all="ignore"):
        return quantity(over(means, half_widths)).within(direction, along)


def gradient(quantity: Enclosed, means: Floats) -> Floats:
    """The derivatives of the quantity at the averages, [terms]; 0 where there are none.

    >>> gradient(lambda m: np.sqrt(m[0]) / m[1], np.array([4.0, 2.0])).round(6).tolist()
    [0.125, -0.5]
    """
    slopes = quantity(over(means, np.zeros(len(means)))).order.slopes.reshape(-1, len(means))[0]
    return np.where(np.isfinite(slopes), slopes, 0.0)
