"""The ranges of piecewise functions: smooth on a cell if one piece holds for all its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.vocabulary.smoothness.ranges import (
    Ranges,
    RangesKernel,
    RangesRule,
    divide,
    fixed,
    multiply,
    subtract,
)
from dropcheck.vocabulary.smoothness.slopes import EXP_RANGES


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
