"""Affine enclosures: bounds of functions of numbers that are known to within half-widths.

Numbers m are known to lie in a box, |m - c| ≤ b element by element. A quantity q(m) is kept as

    q(m) ∈ q(c) + s·(m - c) + [below, above] for every m of the box,

its Taylor polynomial of order one with a remainder (a Taylor model of order one: Moore 1966,
"Interval Analysis"; de Figueiredo and Stolfi 2004, "Affine arithmetic: concepts and applications";
Makino and Berz 2003, "Taylor models and other validated functional inclusion methods"). Beside it
an interval [low, high] holds q(m) too, and may be narrower. The first order is exact, so that it
cancels where one number stands at several places of an expression; the remainder is of second order
in b.

numpy's functions can be applied to an enclosure in place of an array: `np.sqrt(x) * x` is an
enclosure. So formulas for arrays of averages work on enclosures too. A function without a rule here
raises a TypeError, by numpy's protocol. Where a quantity may be undefined or unbounded on the box,
its enclosure holds all numbers, and so does every enclosure made from it. Functions of this module
that are called directly leave it to the caller to silence numpy's floating-point warnings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dropcheck.array_types import Floats, Truths
from dropcheck.records import record

# The rounding error of one step, as a share of the largest magnitude in it: some units in the last
# place, as numpy's and scipy's functions have.
STEP_ROUNDING = 1e-14
# The absolute error of one step by underflow: some units of the smallest number (Higham 2002,
# "Accuracy and stability of numerical algorithms", eq. 2.8).
LOST_TO_UNDERFLOW = 4 * 2.0**-1074
_SMALLEST_NORMAL = 2.0**-1022
# The most elements of an array that is reduced one element after the other.
_MOST_FOLDED = 1000


@record(kw_only=True, eq=False)
class Affine(np.lib.mixins.NDArrayOperatorsMixin):
    """Quantities enclosed over a box; all arrays but `slopes` and `box` have shape [*shape, 1].

    `value` is the quantity at the centre of the box, or near it. `slopes` are the derivatives,
    [*shape, terms]; `below` and `above` are the ends of the remainder; every value lies between
    `low` and `high`. `box` has the half-widths, [terms]; enclosures that are combined share it.
    """

    value: Floats
    slopes: Floats
    below: Floats
    above: Floats
    low: Floats
    high: Floats
    box: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one draw and the axis of draws, of length 1, as arrays have it."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """The number of axes of `shape`."""
        return self.value.ndim

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """The type of the numbers."""
        return self.value.dtype

    @property
    def everything(self) -> Truths:
        """Where nothing is known of the quantity: [*shape, 1]."""
        return ~(np.isfinite(self.low) & np.isfinite(self.high))

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Affine]:
        return (self[at] for at in range(len(self)))

    def __getitem__(self, index: Any) -> Affine:
        return self.moved(lambda array: array[index])

    def __array__(self, *_args: Any, **_more: Any) -> npt.NDArray[Any]:
        raise TypeError("an enclosure is no array")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        if method == "reduce":
            return _reduced(ufunc, inputs[0], more)
        rule = RULES.get(ufunc.__name__)
        if method != "__call__" or more or rule is None:
            return NotImplemented
        operands = [enclosed(one, self.box) for one in inputs]
        with np.errstate(all="ignore"):
            return rule(*operands)

    def moved(self, how: Callable[[Floats], Floats]) -> Affine:
        """The enclosure after a function that picks, moves or adds up elements."""
        return by_parts(how, self)

    def at_least(self, least: float) -> Affine:
        """The enclosure of a quantity that is known to be at least this number."""
        kept = np.where(self.everything, self.low, np.maximum(self.low, least))
        high = np.maximum(self.high, least)
        return replace(self, low=np.minimum(kept, high), high=high)

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
        slopes = self.slopes.reshape(-1, len(self.box))[0]
        moved = direction != 0
        factors = np.concatenate([[0.0, 1.0], slopes[moved] / direction[moved]])
        factors = factors[np.isfinite(factors)]
        rest = np.abs(slopes - factors[:, np.newaxis] * direction) @ self.box
        ends = np.outer(factors, along)
        most = float(np.min(ends.max(axis=1) + rest))
        least = float(np.max(ends.min(axis=1) - rest))
        value, below, above = (
            float(one.ravel()[0]) for one in (self.value, self.below, self.above)
        )
        return max(low, value + least + below), min(high, value + most + above)


RULES: dict[str, Callable[..., Affine]] = {}
"""The rules for enclosures, by the names of numpy's and scipy's ufuncs."""


def by_parts(how: Callable[..., Any], *operands: Affine) -> Affine:
    """A function that moves elements or adds some up, applied to each part of the operands."""
    return Affine(
        **{
            name: np.asarray(how(*(getattr(one, name) for one in operands)), np.float64)
            for name in ("value", "slopes", "below", "above", "low", "high")
        },
        box=operands[0].box,
    )


def enclosed(array: Any, box: Floats) -> Affine:
    """Known numbers, [*shape, 1] or a single one, as an enclosure; an enclosure unchanged."""
    if isinstance(array, Affine):
        return array
    value = np.asarray(array, np.float64)
    value = value if value.ndim else value.reshape(1)
    known = np.isfinite(value)
    zero = np.zeros_like(value)
    return Affine(
        value=value,
        slopes=np.zeros((*value.shape[:-1], len(box))),
        below=zero,
        above=zero,
        low=np.where(known, value, -np.inf),
        high=np.where(known, value, np.inf),
        box=box,
    )


@np.errstate(all="ignore")  # an overflow is infinite, and so becomes unknown
def made(
    value: Floats,
    slopes: Floats,
    below: Floats,
    above: Floats,
    ends: tuple[Floats, Floats] | None,
    box: Floats,
    size: Floats | float = 0.0,
) -> Affine:
    """An enclosure from its parts, widened by the rounding error of one step.

    Args:
        value: the quantity at the centre, [*shape, 1].
        slopes: the derivatives, [*shape, terms].
        below: the lower end of the remainder, [*shape, 1].
        above: its upper end.
        ends: an interval that holds every value, known by other means.
        box: the half-widths.
        size: the largest magnitude in the computation, where it is larger than those of the parts.
    """
    reach = np.vecdot(np.abs(slopes), box)[..., np.newaxis]
    low, high = value - reach + below, value + reach + above
    if ends is not None:
        low_end, high_end = np.maximum(low, ends[0]), np.minimum(high, ends[1])
        apart = low_end > high_end  # by rounding, or because `ends` contradict the box
        if apart.any():
            low_end, high_end = np.where(apart, low, low_end), np.where(apart, high, high_end)
        low, high = low_end, high_end
    largest = np.maximum(np.maximum(-below, above), np.maximum(np.abs(value) + reach, size))
    give = STEP_ROUNDING * largest
    small = (largest > 0) & (largest < _SMALLEST_NORMAL)
    if small.any():
        give = np.where(small, LOST_TO_UNDERFLOW, give)
    enclosure = Affine(
        value=value,
        slopes=slopes,
        below=below - give,
        above=above + give,
        low=low - give,
        high=high + give,
        box=box,
    )
    # a NaN or an infinity in any part makes this sum NaN or infinite
    known = np.isfinite(enclosure.low - enclosure.high + give)
    return enclosure if known.all() else _unknown(enclosure, known)


def _unknown(x: Affine, known: Truths) -> Affine:
    """The same where it is known; elsewhere an enclosure that holds all numbers."""
    return replace(
        x,
        value=np.where(known, x.value, 0.0),
        slopes=np.where(known, x.slopes, 0.0),
        below=np.where(known, x.below, -np.inf),
        above=np.where(known, x.above, np.inf),
        low=np.where(known, x.low, -np.inf),
        high=np.where(known, x.high, np.inf),
    )


def between(value: Floats, low: Floats, high: Floats, box: Floats) -> Affine:
    """The enclosure of a quantity of which only an interval is known, [*shape, 1]."""
    slopes = np.zeros((*value.shape[:-1], len(box)))
    return made(value, slopes, low - value, high - value, (low, high), box)


# ---- arithmetic ---------------------------------------------------------------------------------


def products(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The least and the greatest product of a number of one interval and one of another."""
    corners = [a * b for a in first for b in second]
    low, high = corners[0], corners[0]
    for corner in corners[1:]:
        low, high = np.minimum(low, corner), np.maximum(high, corner)
    return low, high


def _ends(x: Affine) -> tuple[Floats, Floats]:
    return x.low, x.high


def _deviations(x: Affine) -> tuple[Floats, Floats]:
    """The least and the greatest difference of a quantity from `value`."""
    return x.low - x.value, x.high - x.value


def _scaled(x: Affine, factor: Floats) -> tuple[Floats, Floats]:
    """A remainder times a number."""
    return products((x.below, x.above), (factor, factor))


def _size(x: Affine) -> Floats:
    return np.maximum(np.abs(x.low), np.abs(x.high))


def not_nothing(size: Floats, *of: Floats) -> Floats:
    """The size of a product; where it underflowed to 0 though no factor is 0, a tiny size."""
    lost = reduce(np.logical_and, (one > 0 for one in of))  # arrays of several shapes
    return np.where(lost, np.maximum(size, LOST_TO_UNDERFLOW), size)


def add(a: Affine, b: Affine) -> Affine:
    """The enclosure of a + b."""
    return made(
        a.value + b.value,
        a.slopes + b.slopes,
        a.below + b.below,
        a.above + b.above,
        (a.low + b.low, a.high + b.high),
        a.box,
        np.maximum(_size(a), _size(b)),
    )


def negative(a: Affine) -> Affine:
    """The enclosure of -a."""
    return Affine(
        value=-a.value,
        slopes=-a.slopes,
        below=-a.above,
        above=-a.below,
        low=-a.high,
        high=-a.low,
        box=a.box,
    )


def subtract(a: Affine, b: Affine) -> Affine:
    """The enclosure of a - b; 0 if both are one quantity, and it is known."""
    if a is b:
        zero = np.where(a.everything, np.inf, 0.0)
        return made(np.zeros_like(zero), 0 * a.slopes, -zero, zero, None, a.box)
    return add(a, negative(b))


def multiply(a: Affine, b: Affine) -> Affine:
    """The enclosure of a · b: with a = v + d and b = w + e, the remainder is v r + w q + d e."""
    below, above = products(_deviations(a), _deviations(b))
    ends = products(_ends(a), _ends(b))
    if a is b:
        below, ends = np.maximum(below, 0.0), (np.maximum(ends[0], 0.0), ends[1])
    first, second = _scaled(b, a.value), _scaled(a, b.value)
    return made(
        a.value * b.value,
        a.value * b.slopes + b.value * a.slopes,
        below + first[0] + second[0],
        above + first[1] + second[1],
        ends,
        a.box,
        not_nothing(_size(a) * _size(b), _size(a), _size(b)),
    )


def divide(a: Affine, b: Affine) -> Affine:
    """The enclosure of a / b; unknown where b can be 0.

    With q = v/w at the centre, a/b = q + (a - q b)/b. In the numerator g = a - q b, which is 0 at
    the centre, common parts of a and b cancel; and g/b = g/w - g (b - w)/(b w).
    """
    away = (b.low > 0) | (b.high < 0)
    ratio = a.value / b.value
    gap = add(a, negative(multiply(b, enclosed(ratio, a.box))))
    under = (1 / b.high, 1 / b.low)
    inverse = 1 / b.value
    twice = products(_ends(gap), products(_deviations(b), under))
    below, above = products(twice, (-inverse, -inverse))
    own = _scaled(gap, inverse)
    nowhere = np.where(away, 0.0, np.nan)
    # at the centre the gap is 0 but for rounding
    shift = gap.value * inverse
    return made(
        ratio + nowhere,
        gap.slopes * inverse,
        below + own[0] + np.minimum(shift, 0.0),
        above + own[1] + np.maximum(shift, 0.0),
        products(_ends(a), under),
        a.box,
        not_nothing(np.abs(ratio), _size(a)),
    )


def _reduced(ufunc: np.ufunc, x: Affine, options: Mapping[str, Any]) -> Any:
    """A sum, product, minimum or maximum over axes of one draw."""
    rule = RULES.get(ufunc.__name__)
    if rule is None or any(options.get(name) is not None for name in ("dtype", "out", "where")):
        return NotImplemented
    axis, keep = options.get("axis", 0), bool(options.get("keepdims", False))
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = tuple(one % x.ndim for one in (axes if isinstance(axes, tuple) else (axes,)))
    if x.ndim - 1 in axes or x.value.size > _MOST_FOLDED:  # the axis of draws is not reduced over
        return NotImplemented
    last = [at for at in range(x.ndim) if at not in axes]
    count = math.prod(x.shape[at] for at in axes)
    if not count:
        return NotImplemented
    kept = tuple(1 if at in axes else x.shape[at] for at in range(x.ndim))
    shape = kept if keep else tuple(x.shape[at] for at in last)

    def part(which: int) -> Callable[[Floats], Floats]:
        def take(array: Floats) -> Floats:
            moved = array.transpose(*axes, *last)
            return cast("Floats", moved.reshape(count, *moved.shape[len(axes) :])[which])

        return take

    with np.errstate(all="ignore"):
        result = x.moved(part(0))
        for which in range(1, count):
            result = rule(result, x.moved(part(which)))
    return result.moved(lambda array: array.reshape(*shape[:-1], array.shape[-1]))


RULES.update(
    {
        "add": add,
        "subtract": subtract,
        "multiply": multiply,
        "divide": divide,
        "negative": negative,
        "positive": lambda x: x,
        "square": lambda x: multiply(x, x),
    }
)
