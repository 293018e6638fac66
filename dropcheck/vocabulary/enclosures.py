"""Enclosures of numbers known to within half-widths, and functions applied to enclosures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dropcheck.array_types import Floats, Truths
from dropcheck.vocabulary import special
from dropcheck.vocabulary.function import Function, Kernel
from dropcheck.vocabulary.hulls import Hull, Use
from dropcheck.vocabulary.smoothness import Ranges
from dropcheck.vocabulary.special import Special

# ---- affine --------------------------------------------------------------------------------------
#
# Affine enclosures: bounds of functions of numbers that are known to within half-widths.
#
# Numbers m are known to lie in a box, |m - c| ≤ b element by element. A quantity q(m) is kept as
#
#     q(m) ∈ q(c) + s·(m - c) + [below, above] for every m of the box,
#
# its Taylor polynomial of order one with a remainder (a Taylor model of order one: Moore 1966,
# "Interval Analysis"; de Figueiredo and Stolfi 2004, "Affine arithmetic: concepts and
# applications"; Makino and Berz 2003, "Taylor models and other validated functional inclusion
# methods"). Beside it an interval [low, high] holds q(m) too, and may be narrower. The first order
# is exact, so that it cancels where one number stands at several places of an expression; the
# remainder is of second order in b.
#
# numpy's functions can be applied to an enclosure in place of an array: `np.sqrt(x) * x` is an
# enclosure. So formulas for arrays of averages work on enclosures too. A function without a rule
# here raises a TypeError, by numpy's protocol. Where a quantity may be undefined or unbounded on
# the box, its enclosure holds all numbers, and so does every enclosure made from it. Functions of
# this module that are called directly leave it to the caller to silence numpy's floating-point
# warnings.


# The rounding error of one step, as a share of the largest magnitude in it: some units in the last
# place, as numpy's and scipy's functions have.
STEP_ROUNDING = 1e-14
# The absolute error of one step by underflow: some units of the smallest number (Higham 2002,
# "Accuracy and stability of numerical algorithms", eq. 2.8).
LOST_TO_UNDERFLOW = 4 * 2.0**-1074
_SMALLEST_NORMAL = 2.0**-1022
# The most elements of an array that is reduced one element after the other.
_MOST_FOLDED = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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


# ---- enclosures ----------------------------------------------------------------------------------


__all__ = ["Affine", "applied", "over"]


def over(centre: Floats, half_widths: Floats) -> Affine:
    """The enclosure of numbers that are known to within half-widths, [terms].

    >>> x, y = over(np.array([3.0, 2.0]), np.array([0.1, 0.1]))
    >>> low, high = (x * y - np.exp(np.log(x) + np.log(y))).within()
    >>> -0.05 < low <= 0 <= high < 0.05
    True
    """
    value = np.asarray(centre, np.float64)[:, np.newaxis]
    box = np.asarray(half_widths, np.float64)
    zero = np.zeros_like(value)
    return made(value, np.eye(len(box)), zero, zero, None, box)


def applied(function: Function, compute: Kernel, inputs: Sequence[Any]) -> Affine:
    """The enclosure of a function of enclosures and known arrays; at least one is an enclosure.

    A kernel that is made of numpy's functions works on enclosures as it is. A function that moves
    elements or adds them up is applied to every part of the enclosures. For all others, the rules
    for intervals of the function's entry give an interval of the values.

    Args:
        function: the entry.
        compute: its kernel with the options set.
        inputs: arrays of the shape [*shape, 1], and enclosures.
    """
    result: Any = None
    with suppress(TypeError, AttributeError):  # a numpy function in it has no rule for enclosures
        result = compute(*inputs)
    if isinstance(result, Affine):
        return result
    if function.of_shape:
        return enclosed(result, inputs[0].box)
    box = next(one.box for one in inputs if isinstance(one, Affine))
    operands = [enclosed(one, box) for one in inputs]
    if function.moves:
        return by_parts(compute, *operands)
    return _by_interval(function, compute, operands)


def _by_interval(function: Function, compute: Kernel, operands: Sequence[Affine]) -> Affine:
    """The interval of the values by the rules of the entry; unknown if an operand is unknown."""
    same = len(operands) == 2 and operands[0] is operands[1]
    value = np.asarray(compute(*(one.value for one in operands)), np.float64)
    if any(one.everything.any() for one in operands):
        low, high = -math.inf, math.inf
    elif function.ranges is not None and function.by_element:
        ranges = function.ranges([_cells(one, value.shape) for one in operands], compute, same)
        least, most = (end.reshape(value.shape) for end in (ranges.low, ranges.high))
        return between(value, least, most, operands[0].box)
    else:
        hulls = [Hull(float(one.low.min()), float(one.high.max())) for one in operands]
        shapes = tuple(one.shape[:-1] for one in operands)
        hull = function.bounds(hulls, Use(compute, value.shape[:-1], shapes, same))
        low, high = hull.low, hull.high
    return between(value, np.full_like(value, low), np.full_like(value, high), operands[0].box)


def _cells(one: Affine, shape: tuple[int, ...]) -> Ranges:
    """The interval of each element, as a `Ranges` without smoothness."""
    low, high = (np.broadcast_to(end, shape).ravel() for end in (one.low, one.high))
    return Ranges(low, high, np.zeros((2, len(low))))


# ---- curves --------------------------------------------------------------------------------------
#
# Enclosures of functions of one number: a tangent, and bounds of the distance from it.
#
# On an interval, the distance of a curve from its tangent at c is extreme at an end, or where the
# curve has the same slope as at c. For a convex or concave function that is only c itself. If the
# slope rises up to a point of symmetry and falls behind it (tanh, an odd power), it is also the
# mirror image of c. So each such function is given by three facts: its derivative, its point of
# symmetry, and the place of its minimum or maximum.


Curve = Callable[[Floats], Any]

# How far beyond the domain an argument may be by rounding, as a share of its size.
_BEYOND = 100 * STEP_ROUNDING


def _smooth(
    function: Curve,
    derivative: Curve,
    *,
    mirror: float | None = None,
    bottom: float | None = None,
    domain: tuple[float, float] = (-math.inf, math.inf),
    never_0: bool = False,
) -> Callable[[Affine], Affine]:
    """The rule of a function that is convex, concave, or symmetric about a point of inflection.

    Args:
        function: takes an array.
        derivative: takes an array; where it is not finite, only the values enclose the function.
        mirror: the point about which the slope is symmetric, falling or rising away from it.
        bottom: the place of the minimum or maximum, if it is not at an end of the domain.
        domain: the interval in which the function is defined.
        never_0: whether the function is 0 at most at 0.
    """
    bounded = domain != (-math.inf, math.inf)

    def rule(x: Affine) -> Affine:
        # an argument that is beyond the domain only by rounding is moved to its end
        size = np.maximum(np.abs(x.low), np.abs(x.high))
        inside = np.isfinite(size)
        low, high = x.low, x.high
        if bounded:
            give = _BEYOND * size
            inside &= (low >= domain[0] - give) & (high <= domain[1] + give)
            low, high = np.clip(low, *domain), np.clip(high, *domain)
        at = np.minimum(np.maximum(x.value, low), high)
        points = [at, low, high]
        if mirror is not None:
            points.append(np.minimum(np.maximum(2 * mirror - at, low), high))
        if bottom is not None:
            points.append(np.minimum(np.maximum(bottom, low), high))
        places = np.stack(points)
        values = np.asarray(function(places), np.float64)
        slope = np.asarray(derivative(at), np.float64)
        slope = np.where(np.isfinite(slope), slope, 0.0)
        strays = values - values[0] - slope * (places - at)
        first, second = slope * x.below, slope * x.above
        value = values[0] + slope * (x.value - at)
        on_the_way = np.abs(slope) * size
        if never_0:
            on_the_way = not_nothing(on_the_way, size)
        return made(
            value if inside.all() else np.where(inside, value, np.nan),
            slope * x.slopes,
            np.minimum.reduce(strays) + np.minimum(first, second),
            np.maximum.reduce(strays) + np.maximum(first, second),
            (np.minimum.reduce(values), np.maximum.reduce(values)),
            x.box,
            on_the_way,
        )

    return rule


def _wave(function: Curve, derivative: Curve) -> Callable[..., Affine]:
    """The rule of a function with |f''| ≤ 1 and |f| ≤ 1 (Taylor's theorem)."""

    def rule(x: Affine) -> Affine:
        slope, value = derivative(x.value), function(x.value)
        off = np.maximum(np.abs(x.low - x.value), np.abs(x.high - x.value))
        stray = off**2 / 2
        most = np.ones_like(value)
        return made(
            np.where(x.everything, np.nan, value),
            slope * x.slopes,
            np.minimum(slope * x.below, slope * x.above) - stray,
            np.maximum(slope * x.below, slope * x.above) + stray,
            (-most, most),
            x.box,
        )

    return rule


def _steps(function: Curve) -> Callable[[Affine], Affine]:
    """The rule of a step function, which rises."""
    return _smooth(function, lambda x: np.full_like(x, np.nan))


def _tangent(x: Affine) -> Affine:
    """The enclosure of tan(x); unknown where a pole may lie between the ends."""
    branch = np.round(x.value / math.pi)
    turned = subtract(x, enclosed(branch * math.pi, x.box))
    return _smooth(
        np.tan, lambda t: 1 + np.tan(t) ** 2, mirror=0.0, domain=(-math.pi / 2, math.pi / 2)
    )(turned)


def _power(base: Affine, exponent: Affine) -> Affine:
    """The enclosure of a power: by its curve for one known exponent, else as exp(y log(x))."""
    n = float(exponent.value.ravel()[0]) if exponent.value.size else 1.0
    if not (np.all(exponent.low == n) and np.all(exponent.high == n)):
        return RULES["exp"](multiply(exponent, RULES["log"](base)))
    if n == 1:
        return base
    if n == 0:
        return add(enclosed(1.0, base.box), subtract(base, base))
    if n < 0:
        positive = _power(base, enclosed(np.full_like(exponent.value, -n), base.box))
        return _inverse_power(base, n) if n % 1 == 0 else _reciprocal(positive)
    domain = (-math.inf if n % 1 == 0 else 0.0, math.inf)
    even = n % 2 == 0
    rule = _smooth(
        lambda x: np.power(x, n),
        lambda x: n * np.power(x, n - 1),
        mirror=0.0 if n % 2 == 1 else None,
        bottom=0.0 if even else None,
        domain=domain,
        never_0=True,
    )
    return rule(base)


def _inverse_power(base: Affine, n: float) -> Affine:
    """The enclosure of a whole power below 0, which is convex or concave beside its pole at 0."""
    away = (base.low > 0) | (base.high < 0)
    side = _smooth(lambda x: np.power(x, n), lambda x: n * np.power(x, n - 1), never_0=True)(base)
    at_pole = np.where(away, 0.0, np.inf)
    return made(
        side.value, side.slopes, side.below - at_pole, side.above + at_pole,
        (side.low - at_pole, side.high + at_pole), side.box,
    )  # fmt: skip


def _reciprocal(x: Affine) -> Affine:
    return divide(enclosed(1.0, x.box), x)


def _maximum(a: Affine, b: Affine) -> Affine:
    """The enclosure of the larger: b + max(a - b, 0)."""
    larger = add(b, RULES["positive part"](subtract(a, b)))
    ends = (np.maximum(a.low, b.low), np.maximum(a.high, b.high))
    return made(larger.value, larger.slopes, larger.below, larger.above, ends, a.box)


def _bell(x: Floats) -> Floats:
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


_AT_LEAST_0 = (0.0, math.inf)
_UNIT = (-1.0, 1.0)
_SOFTPLUS = _smooth(lambda x: np.logaddexp(x, 0.0), Special("expit"))
_ENTROPY = _smooth(
    lambda x: special.xlogy(x, x), lambda x: 1 + np.log(x), bottom=1 / math.e, domain=_AT_LEAST_0
)
# where the gamma function is least above 0 (Abramowitz and Stegun 1964, 6.1.32, continued)
_LEAST_GAMMA = 1.4616321449683623

_CURVES: dict[str, Callable[..., Affine]] = {
    "reciprocal": _reciprocal,
    "power": _power,
    "sqrt": _smooth(np.sqrt, lambda x: 0.5 / np.sqrt(x), domain=_AT_LEAST_0),
    "cbrt": _smooth(np.cbrt, lambda x: np.cbrt(x) ** -2.0 / 3, mirror=0.0),
    "absolute": _smooth(np.absolute, np.sign, bottom=0.0),
    "positive part": _smooth(lambda x: np.maximum(x, 0.0), lambda x: (x > 0) * 1.0),
    "maximum": _maximum,
    "minimum": lambda a, b: negative(_maximum(negative(a), negative(b))),
    "sign": _steps(np.sign),
    "floor": _steps(np.floor),
    "ceil": _steps(np.ceil),
    "rint": _steps(np.rint),
    "floor_divide": lambda a, b: RULES["floor"](divide(a, b)),
    "remainder": lambda a, b: subtract(
        a, multiply(b, RULES["floor_divide"](a, b))
    ),
    "exp": _smooth(np.exp, np.exp, never_0=True),
    "expm1": _smooth(np.expm1, np.exp),
    "log": _smooth(np.log, lambda x: 1 / x, domain=_AT_LEAST_0),
    "log2": _smooth(np.log2, lambda x: 1 / (x * math.log(2)), domain=_AT_LEAST_0),
    "log10": _smooth(np.log10, lambda x: 1 / (x * math.log(10)), domain=_AT_LEAST_0),
    "log1p": _smooth(np.log1p, lambda x: 1 / (1 + x), domain=(-1.0, math.inf)),
    "logaddexp": lambda a, b: add(b, _SOFTPLUS(subtract(a, b))),
    "hypot": lambda a, b: RULES["sqrt"](
        add(multiply(a, a), multiply(b, b)).at_least(0.0)
    ),
    "sin": _wave(np.sin, np.cos),
    "cos": _wave(np.cos, lambda x: -np.sin(x)),
    "tan": _tangent,
    "arcsin": _smooth(np.arcsin, lambda x: 1 / np.sqrt(1 - x * x), mirror=0.0, domain=_UNIT),
    "arccos": _smooth(np.arccos, lambda x: -1 / np.sqrt(1 - x * x), mirror=0.0, domain=_UNIT),
    "arctan": _smooth(np.arctan, lambda x: 1 / (1 + x * x), mirror=0.0),
    "sinh": _smooth(np.sinh, np.cosh, mirror=0.0),
    "cosh": _smooth(np.cosh, np.sinh, bottom=0.0),
    "tanh": _smooth(np.tanh, lambda x: np.cosh(x) ** -2.0, mirror=0.0),
    "arcsinh": _smooth(np.arcsinh, lambda x: 1 / np.hypot(1, x), mirror=0.0),
    "arctanh": _smooth(np.arctanh, lambda x: 1 / (1 - x * x), mirror=0.0, domain=_UNIT),
    "expit": _smooth(
        Special("expit"), lambda x: special.expit(x) * special.expit(-x), mirror=0.0,
        never_0=True,
    ),
    "logit": _smooth(
        Special("logit"), lambda x: 1 / (x * (1 - x)), mirror=0.5, domain=(0.0, 1.0)
    ),
    "ndtr": _smooth(Special("ndtr"), _bell, mirror=0.0, never_0=True),
    "erf": _smooth(
        Special("erf"), lambda x: 2 * math.sqrt(2) * _bell(math.sqrt(2) * x), mirror=0.0
    ),
    "erfc": _smooth(
        Special("erfc"), lambda x: -2 * math.sqrt(2) * _bell(math.sqrt(2) * x), mirror=0.0,
        never_0=True,
    ),
    "gammaln": _smooth(
        Special("gammaln"), Special("psi"), bottom=_LEAST_GAMMA,
        domain=_AT_LEAST_0,
    ),
    "gamma": _smooth(
        Special("gamma"), lambda x: special.gamma(x) * special.psi(x),
        bottom=_LEAST_GAMMA, domain=_AT_LEAST_0,
    ),
    "psi": _smooth(
        Special("psi"), lambda x: special.polygamma(1, x), domain=_AT_LEAST_0
    ),
    "xlogy": lambda x, y: _ENTROPY(x) if x is y else multiply(x, RULES["log"](y)),
}  # fmt: skip

RULES.update(_CURVES)
