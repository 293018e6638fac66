"""Bounds of quotients whose two sides are unbounded: x / (x + y), x / norm(x), a standard score.

In every draw, the denominator is at least a share of the numerator's size:

* a / (a + b) lies in [0, 1] where a and b are not negative; so does an element's share of a sum;
* |x_i| <= ||x||_p, and |x · y| <= ||x||_p ||y||_q where 1/p + 1/q >= 1 (Hölder, and that norms fall
  with their order), also of distances from means;
* |x_i - mean| <= sqrt((n - 1) / n) ||x - mean|| (Samuelson 1968, "How deviant can you be?").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from dropcheck.analysis.moments.dissection import sum_of
from dropcheck.language.graph import Kind, Value
from dropcheck.records import record
from dropcheck.vocabulary.functions.elementwise import (
    ABS,
    ADD,
    DIVIDE,
    MINIMUM,
    MULTIPLY,
    POWER,
    SQRT,
    SUBTRACT,
)
from dropcheck.vocabulary.functions.linear_algebra import DOT, MATMUL
from dropcheck.vocabulary.functions.reductions import MAX, MEAN, NORM, STD, SUM, VAR
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull
from dropcheck.vocabulary.shapes import normalise_axes

MOST_STEPS = 16  # the most steps and terms of an expression that are looked through on either side
QUOTIENT_ROUNDING = 1e-12  # the share by which rounding may put a quotient beyond its bound

Lowest = Callable[[Value], float]
"""Takes a quantity, and returns a lower bound of its values."""


@record
class Length:
    """The fact that a quantity is at least `factor` times the length of an array.

    The length is the norm of some `order` along `axes`, such as 2, or infinity for the largest
    size; with `centred`, it is the norm of the array minus its mean.
    """

    array: Value
    axes: tuple[int, ...]
    factor: float
    centred: bool = False
    keepdims: bool = False
    order: float = 2.0

    @property
    def whole(self) -> bool:
        """Whether it is the norm of all elements of a draw."""
        return len(self.axes) == len(self.array.shape)

    @property
    def count(self) -> int:
        """The number of elements along the axes."""
        return math.prod(self.array.shape[axis] for axis in self.axes)


def quotient_hull(value: Value, lowest: Lowest) -> Hull:
    """The hull of a quotient, from what its two sides have in common."""
    top, bottom = value.inputs
    if not (top.random and bottom.random):
        return EVERYWHERE
    share = _share(top, bottom, lowest)
    if share is not None:
        return Hull(0.0, share * (1 + QUOTIENT_ROUNDING))
    bound = _ratio(top, bottom, lowest)
    if bound is None or not math.isfinite(bound):
        return EVERYWHERE
    return Hull(-bound * (1 + QUOTIENT_ROUNDING), bound * (1 + QUOTIENT_ROUNDING))


def held_by(top: Value, bottom: Value, lowest: Lowest) -> tuple[float, float] | None:
    """Numbers c and e with |top| <= c · bottom^e in every draw; None if none are known.

    Examples are an element of x and sum(x**2), or one of several terms that are not negative, and
    their sum. `bottom` must be a single number: otherwise it would be unknown which of its elements
    an element of `top` belongs to.
    """
    if bottom.shape:
        return None
    for length, e in ((_square(bottom, lowest), 0.5), (_length(bottom, lowest), 1.0)):
        share = None if length is None else _size_by(top, length)
        if length is not None and share is not None:
            return share / length.factor**e, e
    terms = [_without_factor(one) for one in _terms(bottom)[: MOST_STEPS + 1]]
    known = all(factor > 0 and lowest(one) >= 0 for one, factor in terms)
    if not known or len(terms) > MOST_STEPS:
        return None
    for term, factor in terms:
        if term is top:
            return 1 / factor, 1.0
        if term.computed_by(POWER) and term.inputs[0] is top and term.inputs[1].known == 2:
            return factor**-0.5, 0.5
    return None


def product_hull(value: Value, lowest: Lowest) -> Hull:
    """The hull of a quantity times at most a number over its length.

    An example is the clipping of a gradient: g * minimum(1, c / norm(g)).
    """
    for top, by in (value.inputs, value.inputs[::-1]):
        least = by.inputs if by.computed_by(MINIMUM) else (by,)
        for one in least[:MOST_STEPS]:
            if not (top.random and one.computed_by(DIVIDE) and one.inputs[1].random):
                continue
            number, bound = one.inputs[0].known, _ratio(top, one.inputs[1], lowest)
            others = all(lowest(other) >= 0 for other in least if other is not one)
            if isinstance(number, float) and number >= 0 and bound is not None and others:
                most = number * bound * (1 + QUOTIENT_ROUNDING)
                return Hull(-most, most)
    return EVERYWHERE


# ---- shares of sums ------------------------------------------------------------------------------


def _share(top: Value, bottom: Value, lowest: Lowest) -> float | None:
    """A bound of top / bottom, if top is one of the terms of bottom and no term is negative."""
    if bottom.computed_by(SUM, MEAN):
        terms = bottom.inputs[0]
        axes = normalise_axes(dict(bottom.options).get("axis"), terms.shape)
        whole = len(axes) == len(terms.shape)
        here = _element_of(top, terms) if whole else top is terms and _keeps(bottom)
        if not here or lowest(terms) < 0:
            return None
        return 1.0 if bottom.function is SUM else float(math.prod(terms.shape[i] for i in axes))
    others = _terms(bottom)
    if top not in others or top.shape != bottom.shape or len(others) > MOST_STEPS:
        return None
    return 1.0 if all(lowest(one) >= 0 for one in others) else None


def _terms(value: Value) -> list[Value]:
    """The terms of a sum, or the first of them if there are more than `MOST_STEPS`."""
    terms: list[Value] = []
    stack = [value]
    while stack and len(terms) <= MOST_STEPS:
        one = stack.pop()
        if one.computed_by(ADD):
            stack += one.inputs
        else:
            terms.append(one)
    return terms


def _element_of(value: Value, array: Value) -> bool:
    """Whether every element of a value is an element of an array."""
    for _ in range(MOST_STEPS):
        if value is array:
            return True
        if value.kind != Kind.COMPUTED or not value.function.rearranges:
            return False
        value = value.inputs[0]
    return False


# ---- lengths -------------------------------------------------------------------------------------


def _ratio(top: Value, bottom: Value, lowest: Lowest) -> float | None:
    """A bound of |top / bottom|, where bottom is a length or a product of two lengths."""
    length = _length(bottom, lowest)
    if length is not None and _size_by(top, length) == 1:
        return 1 / length.factor
    top, factor = _without_factor(top)
    if length is not None:
        size = _size_by(top, length)
        if size is not None:
            return abs(factor) * size / length.factor
        if not top.computed_by(DIVIDE):
            return None
        top, other = top.inputs
        return _by_lengths(top, factor, (length, _length(other, lowest)))
    bottom, scale = _without_factor(bottom)
    factor = factor / scale if scale else math.nan
    if bottom.computed_by(MULTIPLY):
        return _by_lengths(top, factor, [_length(one, lowest) for one in bottom.inputs])
    if bottom.computed_by(SQRT) and bottom.inputs[0].computed_by(MULTIPLY):
        squares = [_square(one, lowest) for one in bottom.inputs[0].inputs]
        return _by_lengths(top, factor, [one and _rooted(one) for one in squares])
    return None


def _by_lengths(top: Value, factor: float, lengths: Sequence[Length | None]) -> float | None:
    """A bound of |factor · top| over a product of two lengths, where top is an inner product."""
    first, second = lengths
    product = _product_of(top)
    if first is None or second is None or product is None or not (first.whole and second.whole):
        return None
    if 1 / first.order + 1 / second.order < 1:
        return None
    one, other, share = product
    for left, right in ((one, other), (other, one)):
        if _has_length(left, first) and _has_length(right, second):
            return abs(factor * share) / (first.factor * second.factor)
    return None


def _has_length(value: Value, length: Length) -> bool:
    """Whether a length is that of this value, element by element."""
    if not length.centred:
        return value is length.array
    return value.computed_by(SUBTRACT) and _is_deviation(value, length)


def _size_by(top: Value, length: Length) -> float | None:
    """A bound of |top| for an array of length 1; None if top is no element of it."""
    if length.centred:
        count = length.count
        return math.sqrt((count - 1) / count) if _is_deviation(top, length) else None
    if top is length.array and (length.whole or length.keepdims):
        return 1.0
    return 1.0 if length.whole and _element_of(top, length.array) else None


def _is_deviation(top: Value, length: Length) -> bool:
    """Whether a quantity is the length's array minus its mean, along the axes of the length."""
    if not (length.whole or length.keepdims):
        return False
    while length.whole and top.kind == Kind.COMPUTED and top.function.rearranges:
        top = top.inputs[0]
    if not top.computed_by(SUBTRACT) or top.inputs[0] is not length.array:
        return False
    mean = top.inputs[1]
    if not mean.computed_by(MEAN) or mean.inputs[0] is not length.array:
        return False
    axes = normalise_axes(dict(mean.options).get("axis"), length.array.shape)
    return axes == length.axes and (length.whole or _keeps(mean))


def _product_of(value: Value) -> tuple[Value, Value, float] | None:
    """Two vectors and a factor, if a quantity is the factor times their inner product."""
    if not value.random or value.kind != Kind.COMPUTED:
        return None
    inputs, share = value.inputs, 1.0
    if value.function in (SUM, MEAN) and inputs[0].computed_by(MULTIPLY):
        inputs = inputs[0].inputs
        share = 1 / inputs[0].shape[0] if value.function is MEAN and inputs[0].shape else 1.0
    elif value.function not in (MATMUL, DOT):
        return None
    first, second = inputs
    alike = first.shape == second.shape and len(first.shape) == 1
    return (first, second, share) if alike else None


def _length(value: Value, lowest: Lowest) -> Length | None:
    """A length that a quantity is at least as large as; None if none is known."""
    value, factor = _largest_term(value, lowest)
    if not factor > 0 or value.kind != Kind.COMPUTED:
        return None
    if value.function is SQRT or (value.function is POWER and value.inputs[1].known == 0.5):
        square = _square(value.inputs[0], lowest)
    elif value.function is NORM and (order := float(dict(value.options).get("ord", 2.0))) >= 1:
        return _over(value, value.inputs[0], factor, order=order)
    elif value.function is MAX and value.inputs[0].computed_by(ABS):
        return _over(value, value.inputs[0].inputs[0], factor, order=math.inf)
    elif value.function is STD:
        square = _spread(value)
    else:
        return None
    return None if square is None else _rooted(square, factor)


def _square(value: Value, lowest: Lowest) -> Length | None:
    """A length whose square, times `factor`, a quantity is at least as large as; None: unknown."""
    value, scale = _largest_term(value, lowest)
    if not scale > 0 or value.kind != Kind.COMPUTED:
        return None
    if value.function is VAR:
        spread = _spread(value)
        return None if spread is None else replace(spread, factor=scale * spread.factor)
    if value.function in (MATMUL, DOT) and value.inputs[0] is value.inputs[1]:
        array = value.inputs[0]
        return Length(array, (0,), scale) if len(array.shape) == 1 else None
    if value.function not in (SUM, MEAN):
        return None
    squares = value.inputs[0]
    if not squares.computed_by(MULTIPLY, POWER):
        return None
    array, again = squares.inputs
    if again is not array and not (squares.function is POWER and again.known == 2):
        return None
    length = _over(value, array, scale)
    return replace(length, factor=scale / length.count) if value.function is MEAN else length


def _largest_term(value: Value, lowest: Lowest) -> tuple[Value, float]:
    """A quantity and a factor above 0 whose product is at most a sum; the factor is 0 if unknown.

    Terms that are not negative are left out.
    """
    scale = 1.0
    for _ in range(MOST_STEPS):
        value, factor = _without_factor(value)
        scale *= factor
        if not value.computed_by(ADD):
            break
        for one, other in (value.inputs, value.inputs[::-1]):
            if scale > 0 and one.random and one.shape == value.shape and lowest(other) >= 0:
                value = one
                break
        else:
            return value, 0.0
    return value, scale


def _spread(value: Value) -> Length | None:
    """The length of a variance or a deviation, whose squared distances are over n - ddof."""
    length = _over(value, value.inputs[0], 1.0, centred=True)
    degrees = length.count - float(dict(value.options).get("ddof", 0.0))
    return replace(length, factor=1 / degrees) if degrees > 0 else None


def _over(
    value: Value, array: Value, factor: float, *, centred: bool = False, order: float = 2.0
) -> Length:
    axes = normalise_axes(dict(value.options).get("axis"), array.shape)
    return Length(array, axes, factor, centred=centred, keepdims=_keeps(value), order=order)


def _rooted(square: Length, factor: float = 1.0) -> Length:
    return replace(square, factor=factor * math.sqrt(square.factor))


# ---- parts of expressions ------------------------------------------------------------------------


def _keeps(value: Value) -> bool:
    return bool(dict(value.options).get("keepdims", 0.0))


def _without_factor(value: Value) -> tuple[Value, float]:
    """A quantity without its fixed factors and divisors, and the product of these."""
    factor = 1.0
    for _ in range(MOST_STEPS):
        parts, shift = sum_of(value)
        if len(parts) != 1 or shift:
            break
        ((own, value),) = parts
        factor *= own
    return value, factor
