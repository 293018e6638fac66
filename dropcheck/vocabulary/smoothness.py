"""The ranges of piecewise functions: smooth on a cell if one piece holds for all its values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.vocabulary import special

# ---- ranges --------------------------------------------------------------------------------------
#
# Ranges: intervals of a function's values on many small cells of one draw, and its smoothness.
#
# Let a quantity be a function g of one draw x. For each cell, an interval of x, a hull of its
# values is kept. Where g is analytic near the cell, there is also a bound of the distance between
# that hull and the values of g at complex numbers. From this bound the error of a quadrature rule
# is known before a single value is computed, so that no spike and no kink between its points can be
# missed (Trefethen 2008, "Is Gauss quadrature better than Clenshaw-Curtis?", theorem 4.5; for
# bounds of this kind by arithmetic see Petras 2002, "Self-validating integration and approximation
# of piecewise analytic functions").
#
# The rules use the mean value theorem: if z is at most `off` away from an interval, then f(z) is at
# most `off` times the largest |f'| within that distance away from the values on the interval.
#
# The caller silences numpy's floating-point warnings, and takes NaN as unknown.


RangesKernel = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Ranges:
    """The values of a quantity on each cell.

    All values on a cell lie between `low` and `high`, both [cells]. `off`, [2, cells], bounds the
    distance from that interval: in row 0, of the quantity at complex numbers in a neighbourhood of
    the cell (infinite if it is not known to be analytic there); in row 1, by rounding.
    """

    low: Floats
    high: Floats
    off: Floats

    @property
    def size(self) -> Floats:
        """The largest size of a value on each cell."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def least(self) -> Floats:
        """The least size of a value on each cell."""
        return np.maximum(np.maximum(self.low, -self.high), 0.0)

    @property
    def rounding(self) -> Floats:
        """A bound of the rounding error of a value; 0 where none is known."""
        return np.where(np.isfinite(self.off[1]), self.off[1], 0.0)


RangesRule = Callable[[Sequence[Ranges], RangesKernel, bool], Ranges]
"""Takes the ranges of the arguments, the kernel, and whether both of two arguments are one and the
same quantity; returns the ranges of the result."""

Slope = Callable[[Floats, Floats, Floats], Floats]
"""Takes low, high and off; returns the largest |f'(z)| of complex z at most `off` away from the
interval, or infinity where f is not analytic there."""


def fixed(value: float, cells: int) -> Ranges:
    """The ranges of a number that is the same on all cells."""
    numbers = np.full(cells, value)
    return Ranges(numbers, numbers, np.zeros((2, cells)))


def times(a: Floats, b: Floats) -> Floats:
    """The product of two sizes, where 0 times infinity is 0."""
    return np.where((a == 0) | (b == 0), 0.0, a * b)


def where_positive(room: Floats, value: Floats) -> Floats:
    """The value where there is room, else infinity."""
    return np.where(room > 0, value, np.inf)


# ---- smooth functions ---------------------------------------------------------------------------


def smooth(
    slope: Slope,
    rises: int = 0,
    domain: tuple[float, float] = (-math.inf, math.inf),
    values: tuple[float, float] = (-math.inf, math.inf),
) -> RangesRule:
    """The rule of an analytic function of one number.

    Args:
        slope: the bound of its derivative.
        rises: 1 if it never falls, -1 if it never rises, 0 if it may do both.
        domain: where it has a value. Arguments beyond it are moved to its ends.
        values: an interval that holds all its values.
    """

    def rule(arguments: Sequence[Ranges], kernel: RangesKernel, _same: bool) -> Ranges:
        (x,) = arguments
        low, high = np.clip(x.low, *domain), np.clip(x.high, *domain)
        if rises:
            ends = kernel(np.stack([low, high]))
            lowest, highest = ends if rises > 0 else ends[::-1]
        else:
            half = (high - low) / 2
            reach = times(half, slope(low, high, np.zeros_like(low)))
            middle = kernel(low + half)
            lowest = np.fmax(middle - reach, values[0])  # for NaN, the bound that always holds
            highest = np.fmin(middle + reach, values[1])
        inside = (x.low >= domain[0]) & (x.high <= domain[1])
        off = np.where(inside, times(x.off, slope(x.low, x.high, x.off)), np.inf)
        return Ranges(lowest, highest, off)

    return rule


# ---- arithmetic ---------------------------------------------------------------------------------


def add(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of a + b."""
    a, b = arguments
    return Ranges(a.low + b.low, a.high + b.high, a.off + b.off)


def negate(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of -a."""
    (a,) = arguments
    return Ranges(-a.high, -a.low, a.off)


def subtract(arguments: Sequence[Ranges], _kernel: RangesKernel, same: bool) -> Ranges:
    """The ranges of a - b, which is 0 where both are one quantity."""
    a, b = arguments
    if same:
        return fixed(0.0, len(a.low))
    return Ranges(a.low - b.high, a.high - b.low, a.off + b.off)


def multiply(arguments: Sequence[Ranges], _kernel: RangesKernel, same: bool) -> Ranges:
    """The ranges of a · b, a square where both are one quantity."""
    a, b = arguments
    if same:
        return whole_power(a, 2)
    low, high = _product(a, b)
    off = times(a.off, b.size) + times(b.off, a.size) + times(a.off, b.off)
    return Ranges(low, high, off)


def _product(a: Ranges, b: Ranges) -> tuple[Floats, Floats]:
    first, second = times(a.low, b.low), times(a.low, b.high)
    third, fourth = times(a.high, b.low), times(a.high, b.high)
    low = np.minimum(np.minimum(first, second), np.minimum(third, fourth))
    return low, np.maximum(np.maximum(first, second), np.maximum(third, fourth))


def reciprocal(a: Ranges) -> Ranges:
    """The ranges of 1 / a: |1/z - 1/p| = |z - p| / (|z| |p|)."""
    away = (a.low > 0) | (a.high < 0)
    room = np.where(away, a.least, 0.0)
    off = where_positive(room - a.off, a.off / (room * (room - a.off)))
    low, high = np.where(away, 1 / a.high, -np.inf), np.where(away, 1 / a.low, np.inf)
    return Ranges(low, high, np.where(away, off, np.inf))


def divide(arguments: Sequence[Ranges], kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of a / b."""
    a, b = arguments
    return multiply((a, reciprocal(b)), kernel, False)


def whole_power(a: Ranges, exponent: int) -> Ranges:
    """The ranges of a raised to a whole exponent of at least 1."""
    size = a.size
    off = times(a.off, exponent * np.power(size + a.off, exponent - 1.0))
    if exponent % 2 == 0:
        return Ranges(np.power(a.least, exponent), np.power(size, exponent), off)
    return Ranges(np.power(a.low, exponent), np.power(a.high, exponent), off)


# ---- slopes --------------------------------------------------------------------------------------
#
# Bounds of the derivatives of smooth functions, for all complex numbers near an interval.
#
# Each slope is a bound of |f'(z)| for complex z = x + iy at most `off` away from the interval from
# low to high; it is infinite where f is not analytic there. The derivatives are those of textbooks
# (Abramowitz and Stegun 1964, chapters 4 and 7).


def _nearest(low: Floats, high: Floats, off: Floats) -> Floats:
    """The least size of the real part of numbers at most `off` away."""
    return np.maximum(np.maximum(low - off, -high - off), 0.0)


def log_slope(shift: float = 0.0, scale: float = 1.0) -> Slope:
    """The slope of scale · log(x + shift)."""

    def slope(low: Floats, _high: Floats, off: Floats) -> Floats:
        room = low + shift - off
        return where_positive(room, scale / room)

    return slope


def _sqrt_slope(low: Floats, _high: Floats, off: Floats) -> Floats:
    return where_positive(low - off, 0.5 / np.sqrt(np.maximum(low - off, 0.0)))


def _cbrt_slope(low: Floats, high: Floats, off: Floats) -> Floats:
    room = _nearest(low, high, off)
    return where_positive(room, np.power(room, -2.0 / 3.0) / 3.0)


def _hyperbolic_slope(low: Floats, high: Floats, off: Floats) -> Floats:
    return np.cosh(np.maximum(np.abs(low), np.abs(high)) + off)


def _tanh_slope(low: Floats, high: Floats, off: Floats) -> Floats:
    # |cosh(x + iy)|² = sinh(x)² + cos(y)²
    size = np.sinh(_nearest(low, high, off)) ** 2 + np.cos(np.minimum(off, 2.0)) ** 2
    return np.where(off < math.pi / 2, 1.0 / size, np.inf)


def _sigmoid_slope(low: Floats, high: Floats, off: Floats) -> Floats:
    return _tanh_slope(low / 2, high / 2, off / 2) / 4  # sigmoid(x) = (1 + tanh(x / 2)) / 2


def _softplus_slope(_low: Floats, high: Floats, off: Floats) -> Floats:
    # |1 + exp(-z)| is at least 1 and at least exp(-x) while the imaginary part is below π/2
    return np.where(off < math.pi / 2, np.minimum(1.0, np.exp(high + off)), np.inf)


def _bell(low: Floats, high: Floats, off: Floats) -> Floats:
    """The largest size of the standard normal density."""
    nearest = _nearest(low, high, off)
    return np.exp((off * off - nearest * nearest) / 2) / math.sqrt(2 * math.pi)


def _phi_slope(low: Floats, high: Floats, off: Floats) -> Floats:
    return times(np.maximum(np.abs(low), np.abs(high)) + off, _bell(low, high, off))


def _erf_slope(low: Floats, high: Floats, off: Floats) -> Floats:
    root = math.sqrt(2.0)  # erf(x) = 2 Phi(√2 x) - 1
    return 2 * root * _bell(root * low, root * high, root * off)


def _gelu_slope(low: Floats, high: Floats, off: Floats) -> Floats:
    below: Floats = special.ndtr(high)
    return below + times(off, _bell(low, high, off)) + _phi_slope(low, high, off)


def _silu_slope(low: Floats, high: Floats, off: Floats) -> Floats:
    reach = np.maximum(np.abs(low), np.abs(high)) + off
    return _softplus_slope(low, high, off) + times(reach, _sigmoid_slope(low, high, off))


def _arctan_slope(low: Floats, high: Floats, off: Floats) -> Floats:
    # |1 + z²| = |z - i| |z + i|, each at least the distance of the real part from 0
    size = _nearest(low, high, off) ** 2 + np.maximum(1.0 - off, 0.0) ** 2
    return where_positive(1.0 - off, 1.0 / size)


def _between_poles(first: float) -> Slope:
    """The slope of a function whose derivative is 1 / ((x - first) (1 - x))."""

    def slope(low: Floats, high: Floats, off: Floats) -> Floats:
        below, above = low - first - off, 1.0 - high - off
        return np.where((below > 0) & (above > 0), 1.0 / (below * above), np.inf)

    return slope


def _root(slope: Slope) -> Slope:
    return lambda low, high, off: np.sqrt(slope(low, high, off))


_AT_LEAST_0 = (0.0, math.inf)
EXP_RANGES = smooth(lambda _low, high, off: np.exp(high + off), rises=1)
LOG = smooth(log_slope(), rises=1, domain=_AT_LEAST_0)
LOG2 = smooth(log_slope(scale=1 / math.log(2)), rises=1, domain=_AT_LEAST_0)
LOG10 = smooth(log_slope(scale=1 / math.log(10)), rises=1, domain=_AT_LEAST_0)
LOG1P = smooth(log_slope(1.0), rises=1, domain=(-1.0, math.inf))
SQRT = smooth(_sqrt_slope, rises=1, domain=_AT_LEAST_0)
CBRT = smooth(_cbrt_slope, rises=1)
# |sin(x + iy)| and |cos(x + iy)| are at most cosh(y)
WAVE = smooth(lambda _low, _high, off: np.cosh(off), values=(-1.0, 1.0))
SINH = smooth(_hyperbolic_slope, rises=1)
COSH = smooth(_hyperbolic_slope, values=(1.0, math.inf))
TANH = smooth(_tanh_slope, rises=1)
SIGMOID = smooth(_sigmoid_slope, rises=1)
SOFTPLUS = smooth(_softplus_slope, rises=1)
NORMAL_DISTRIBUTION = smooth(_bell, rises=1)
NORMAL_DENSITY = smooth(_phi_slope, values=(0.0, 0.39894228040143276))
ERF = smooth(_erf_slope, rises=1)
ERFC = smooth(_erf_slope, rises=-1)
GELU = smooth(_gelu_slope, values=(-0.17, math.inf))  # the least value is -0.16997
SILU = smooth(_silu_slope, values=(-0.2785, math.inf))  # -0.27846
ARCTAN = smooth(_arctan_slope, rises=1)
ARCSINH = smooth(_root(_arctan_slope), rises=1)
ARCSIN = smooth(_root(_between_poles(-1.0)), rises=1, domain=(-1.0, 1.0))
ARCCOS = smooth(_root(_between_poles(-1.0)), rises=-1, domain=(-1.0, 1.0))
ARCTANH = smooth(_between_poles(-1.0), rises=1, domain=(-1.0, 1.0))
LOGIT = smooth(_between_poles(0.0), rises=1, domain=(0.0, 1.0))


# ---- powers, and x log(y) -----------------------------------------------------------------------


def real_power(a: Ranges, exponent: float) -> Ranges:
    """The ranges of a raised to an exponent above 0, for a that is not negative."""
    low, high = np.maximum(a.low, 0.0), np.maximum(a.high, 0.0)
    room = a.low - a.off
    ends = np.power(np.maximum(room, 0.0), exponent - 1), np.power(a.high + a.off, exponent - 1)
    off = times(a.off, where_positive(room, exponent * np.maximum(*ends)))
    return Ranges(np.power(low, exponent), np.power(high, exponent), off)


def power(arguments: Sequence[Ranges], kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of x**y: by its own rule for a fixed exponent, else as exp(y · log(x))."""
    x, y = arguments
    exponent = float(y.low[0]) if len(y.low) else 1.0
    if np.all(y.low == exponent) and np.all(y.high == exponent) and math.isfinite(exponent):
        size = abs(exponent)
        if exponent == 0:
            return fixed(1.0, len(x.low))
        raised = whole_power(x, int(size)) if size % 1 == 0 else real_power(x, size)
        return raised if exponent > 0 else reciprocal(raised)
    logarithm = LOG((x,), np.log, False)
    return EXP_RANGES((multiply((y, logarithm), kernel, False),), np.exp, False)


def x_log_y(arguments: Sequence[Ranges], kernel: RangesKernel, same: bool) -> Ranges:
    """The ranges of x · log(y), which is 0 where x is 0."""
    x, y = arguments
    product = multiply((x, LOG((y,), np.log, False)), kernel, False)
    if not same:
        return product
    ends = kernel(*[np.maximum(np.stack([x.low, x.high]), 0.0)] * 2)
    within = (x.low < 1 / math.e) & (x.high > 1 / math.e)  # where x log(x) is least
    low = np.where(within, -1 / math.e, np.minimum(*ends))
    return Ranges(low, np.maximum(*ends), product.off)


# ---- pieces --------------------------------------------------------------------------------------


def _in_pieces(off: Floats, whole: Any) -> Floats:
    """The `off` of a piecewise function: known where one piece holds for the whole cell."""
    return np.stack([np.where(whole, off[0], np.inf), off[1]])


def steps(kernel: RangesKernel) -> RangesRule:
    """The rule of a rising step function, such as floor."""

    def rule(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
        (x,) = arguments
        low, high = kernel(x.low - x.rounding), kernel(x.high + x.rounding)
        return Ranges(low, high, _in_pieces(np.zeros_like(x.off), low == high))

    return rule


def absolute(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of |x|."""
    (x,) = arguments
    return Ranges(x.least, x.size, _in_pieces(x.off, (x.low >= 0) | (x.high <= 0)))


def _larger(a: Ranges, b: Ranges) -> Ranges:
    first, second = a.low >= b.high, b.low >= a.high
    off = np.where(first, a.off, np.where(second, b.off, np.maximum(a.off, b.off)))
    low, high = np.maximum(a.low, b.low), np.maximum(a.high, b.high)
    return Ranges(low, high, _in_pieces(off, first | second))


def largest(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of the larger of all arguments."""
    larger = arguments[0]
    for other in arguments[1:]:
        larger = _larger(larger, other)
    return larger


def _turned(a: Ranges) -> Ranges:
    return Ranges(-a.high, -a.low, a.off)


def smallest(arguments: Sequence[Ranges], kernel: RangesKernel, same: bool) -> Ranges:
    """The ranges of the smaller of all arguments."""
    return _turned(largest([_turned(one) for one in arguments], kernel, same))


def clip(arguments: Sequence[Ranges], kernel: RangesKernel, same: bool) -> Ranges:
    """The ranges of x limited to the interval between two other quantities."""
    x, low, high = arguments
    return smallest((largest((x, low), kernel, same), high), kernel, same)


def positive_part(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of max(x, 0)."""
    (x,) = arguments
    return _larger(x, fixed(0.0, len(x.low)))


def _chosen(condition: Ranges, first: Ranges, second: Ranges) -> Ranges:
    """The first where the condition is 1, the second where it is 0."""
    yes, no = condition.low == 1, condition.high == 0
    low = np.where(yes, first.low, np.where(no, second.low, np.minimum(first.low, second.low)))
    high = np.where(yes, first.high, np.where(no, second.high, np.maximum(first.high, second.high)))
    either = np.stack([np.full(len(low), np.inf)] * 2)
    return Ranges(low, high, np.where(yes, first.off, np.where(no, second.off, either)))


def _positive(x: Ranges) -> Ranges:
    return comparison(">")((x, fixed(0.0, len(x.low))), np.greater, False)


def _above_0(x: Ranges) -> Ranges:
    """The part of x above 0; meaningless on cells where x is below 0."""
    return Ranges(np.maximum(x.low, 0.0), np.maximum(x.high, 0.0), x.off)


def _below_0(x: Ranges) -> Ranges:
    return Ranges(np.minimum(x.low, 0.0), np.minimum(x.high, 0.0), x.off)


def exponential_unit(scale: float = 1.0, alpha: float = 1.0) -> RangesRule:
    """The rule of scale · x above 0, scale · alpha · (exp(x) - 1) below."""

    def rule(arguments: Sequence[Ranges], kernel: RangesKernel, _same: bool) -> Ranges:
        (x,) = arguments
        cells = len(x.low)
        above = multiply((fixed(scale, cells), _above_0(x)), kernel, False)
        grown = EXP_RANGES((_below_0(x),), np.expm1, False)
        return _chosen(
            _positive(x), above, multiply((fixed(scale * alpha, cells), grown), kernel, False)
        )

    return rule


def leaky(arguments: Sequence[Ranges], kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of x above 0, slope · x below."""
    x, slope = arguments
    return _chosen(_positive(x), _above_0(x), multiply((_below_0(x), slope), kernel, False))


def floor_divide(arguments: Sequence[Ranges], kernel: RangesKernel, same: bool) -> Ranges:
    """The ranges of a // b."""
    return steps(np.floor)((divide(arguments, kernel, same),), np.floor, False)


def modulo(arguments: Sequence[Ranges], kernel: RangesKernel, same: bool) -> Ranges:
    """The ranges of a % b: a minus a whole multiple of b, with the sign of b."""
    a, b = arguments
    whole = floor_divide(arguments, kernel, same)
    rest = subtract((a, multiply((whole, b), kernel, False)), kernel, False)
    low = np.fmax(rest.low, np.minimum(b.low, 0.0))
    return Ranges(low, np.fmin(rest.high, np.maximum(b.high, 0.0)), rest.off)


# ---- truths -------------------------------------------------------------------------------------


def _truth(yes: Any, no: Any) -> Ranges:
    low, high = np.where(yes, 1.0, 0.0), np.where(no, 0.0, 1.0)
    return Ranges(low, high, _in_pieces(np.zeros((2, len(low))), low == high))


def comparison(sign: str) -> RangesRule:
    """The rule of a comparison, by its sign."""

    def rule(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
        a, b = arguments
        rounding = a.rounding + b.rounding
        above, below = a.low - b.high - rounding, b.low - a.high - rounding  # by how much at least
        apart, tied = (above > 0) | (below > 0), (above == 0) & (below == 0)
        match sign:
            case ">":
                return _truth(above > 0, below >= 0)
            case ">=":
                return _truth(above >= 0, below > 0)
            case "<":
                return _truth(below > 0, above >= 0)
            case "<=":
                return _truth(below >= 0, above > 0)
            case "==":
                return _truth(tied, apart)
            case _:
                return _truth(apart, tied)

    return rule


def as_truth(x: Ranges) -> Ranges:
    """Whether a number is not 0."""
    return _truth((x.low > 0) | (x.high < 0), (x.low == 0) & (x.high == 0))


def conjunction(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of `a and b`."""
    a, b = map(as_truth, arguments)
    return _truth((a.low == 1) & (b.low == 1), (a.high == 0) | (b.high == 0))


def disjunction(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of `a or b`."""
    a, b = map(as_truth, arguments)
    return _truth((a.low == 1) | (b.low == 1), (a.high == 0) & (b.high == 0))


def negation(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of `not a`."""
    a = as_truth(arguments[0])
    return _truth(a.high == 0, a.low == 1)


def choice(arguments: Sequence[Ranges], _kernel: RangesKernel, _same: bool) -> Ranges:
    """The ranges of `a if c else b`."""
    condition, first, second = arguments
    return _chosen(as_truth(condition), first, second)
