"""Bounds of the derivatives of smooth functions, for all complex numbers near an interval.

Each slope is a bound of |f'(z)| for complex z = x + iy at most `off` away from the interval from
low to high; it is infinite where f is not analytic there. The derivatives are those of textbooks
(Abramowitz and Stegun 1964, chapters 4 and 7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.vocabulary import special
from dropcheck.vocabulary.smoothness.ranges import (
    Ranges,
    RangesKernel,
    Slope,
    fixed,
    multiply,
    reciprocal,
    smooth,
    times,
    where_positive,
    whole_power,
)


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
