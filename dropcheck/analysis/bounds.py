"""The hull of a quantity, an interval of its values, by interval arithmetic on its expression."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.known.enclosure import hull as function_hull
from dropcheck.language.graph import Kind, Value, in_order, kernel_of
from dropcheck.vocabulary.functions.elementwise import (
    ABS,
    ADD,
    DIVIDE,
    MINIMUM,
    MULTIPLY,
    NEGATIVE,
    POWER,
    SQRT,
    SUBTRACT,
)
from dropcheck.vocabulary.functions.linear_algebra import DOT, MATMUL
from dropcheck.vocabulary.functions.reductions import MAX, MEAN, NORM, STD, SUM, VAR
from dropcheck.vocabulary.hulls import EVERYWHERE, UNIT, Hull, Use
from dropcheck.vocabulary.majorants.rule import summed
from dropcheck.vocabulary.shapes import normalise_axes

# ---- linear --------------------------------------------------------------------------------------
#
# Sides of statements that are linear in operators, as `E(y) - 2 * E(x) + 1` is.


_ARITHMETIC = (NEGATIVE, ADD, SUBTRACT, MULTIPLY, DIVIDE)


@dataclass(frozen=True, slots=True)
class LinearCombination:
    """Σ factor · operator + constant; `terms` are the pairs of a factor and an operator."""

    terms: tuple[tuple[float, Value], ...]
    constant: float

    def scaled(self, factor: float) -> LinearCombination:
        """The combination times a number."""
        return LinearCombination(
            tuple((factor * own, value) for own, value in self.terms), factor * self.constant
        )

    def plus(self, other: LinearCombination) -> LinearCombination:
        """The sum of two combinations; an operator in both becomes one term."""
        factors: dict[int, tuple[float, Value]] = {}
        for factor, value in self.terms + other.terms:
            before, _ = factors.get(id(value), (0.0, value))
            factors[id(value)] = (before + factor, value)
        return LinearCombination(tuple(factors.values()), self.constant + other.constant)

    def divided(self, by: float) -> LinearCombination:
        """The combination divided by a number."""
        return LinearCombination(
            tuple((own / by, value) for own, value in self.terms), self.constant / by
        )


def of_one_operator(value: Value) -> LinearCombination | None:
    """A side as a linear combination with one operator; None if it is none."""
    form = of_operators(value)
    return form if form is not None and len(form.terms) == 1 else None


def of_operators(value: Value) -> LinearCombination | None:
    """A side as a linear combination of operators; None if it is none."""
    known = None if value.estimated else value.known
    if isinstance(known, float):
        return LinearCombination((), known)
    if value.kind == Kind.OPERATOR:
        return LinearCombination(((1.0, value),), 0.0)
    if not value.computed_by(*_ARITHMETIC):
        return None
    forms = [form for form in map(of_operators, value.inputs) if form is not None]
    if len(forms) < len(value.inputs):
        return None
    left, right = forms[0], forms[-1]
    match value.operation:
        case NEGATIVE.name:
            return left.scaled(-1.0)
        case ADD.name:
            return left.plus(right)
        case SUBTRACT.name:
            return left.plus(right.scaled(-1.0))
        case MULTIPLY.name if not left.terms:
            return right.scaled(left.constant)
        case MULTIPLY.name if not right.terms:
            return left.scaled(right.constant)
        case DIVIDE.name if not right.terms and right.constant != 0:
            return left.divided(right.constant)
        case _:
            return None


# ---- sums ----------------------------------------------------------------------------------------


WeightedValues = tuple[tuple[float, Value], ...]
"""Values, each with its factor in a sum."""


def sum_of(value: Value) -> tuple[WeightedValues, float]:
    """A value as a sum of random values with factors, and a number; no parts if it is no sum."""
    if value.kind != Kind.COMPUTED:
        return (), 0.0
    function, inputs = value.function, value.inputs
    if function in (ADD, SUBTRACT):
        parts: list[tuple[float, Value]] = []
        shift = 0.0
        for one, sign in zip(inputs, (1.0, 1.0 if function is ADD else -1.0), strict=True):
            if one.random:
                parts.append((sign, one))
            elif isinstance(one.known, float):
                shift += sign * one.known
            else:
                return (), 0.0
        return tuple(parts), shift
    if function is NEGATIVE:
        return ((-1.0, inputs[0]),), 0.0
    if function in (MULTIPLY, DIVIDE):
        left, right = inputs
        known, one = (right.known, left) if left.random else (left.known, right)
        if not isinstance(known, float) or (function is DIVIDE and (not known or right.random)):
            return (), 0.0
        return ((1 / known if function is DIVIDE else known, one),), 0.0
    joined = inputs[0]
    adds_up = function in (SUM, MEAN) and value.shape == () and len(joined.shape) == 1
    of_parts = joined.kind == Kind.COMPUTED and joined.function.joins and len(joined.inputs) > 1
    if adds_up and of_parts:
        return _of_joined(joined, 1.0 if function is SUM else 1 / len(joined.inputs))
    return (), 0.0


def _of_joined(joined: Value, factor: float) -> tuple[WeightedValues, float]:
    """The sum of the numbers that an array is made of, each times a factor."""
    if any(one.shape != () for one in joined.inputs):
        return (), 0.0
    known = [0.0 if one.random else one.known for one in joined.inputs]
    if not all(isinstance(one, float) for one in known):
        return (), 0.0
    counted: dict[int, tuple[float, Value]] = {}
    for one in joined.inputs:
        if one.random:
            counted[id(one)] = (counted.get(id(one), (0.0, one))[0] + factor, one)
    return tuple(counted.values()), factor * summed(float(one) for one in known)  # type: ignore[arg-type]  # all are numbers: see above


# ---- shares --------------------------------------------------------------------------------------
#
# Bounds of quotients whose two sides are unbounded: x / (x + y), x / norm(x), a standard score.
#
# In every draw, the denominator is at least a share of the numerator's size:
#
# * a / (a + b) lies in [0, 1] where a and b are not negative; so does an element's share of a sum;
# * |x_i| <= ||x||_p, and |x · y| <= ||x||_p ||y||_q where 1/p + 1/q >= 1 (Hölder, and that norms
# fall
#   with their order), also of distances from means;
# * |x_i - mean| <= sqrt((n - 1) / n) ||x - mean|| (Samuelson 1968, "How deviant can you be?").


MOST_STEPS = 16  # the most steps and terms of an expression that are looked through on either side
QUOTIENT_ROUNDING = 1e-12  # the share by which rounding may put a quotient beyond its bound

Lowest = Callable[[Value], float]
"""Takes a quantity, and returns a lower bound of its values."""


@dataclass(frozen=True, slots=True)
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


def held_by_shares(top: Value, bottom: Value, lowest: Lowest) -> tuple[float, float] | None:
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


# ---- bounds --------------------------------------------------------------------------------------


# Bounds are moved outward by this share, more than rounding in their arithmetic can change them.
OUTWARD = 1e-12
MOST_DEPTH = 4  # steps below a quotient in which signs are looked for


class Hulls:
    """The hulls of quantities, each computed once."""

    def __init__(self) -> None:
        self._known: dict[int, Hull] = {}

    def of(self, value: Value) -> Hull:
        """The hull of a quantity, of all its elements together."""
        known = self._known
        # inputs first, without recursion: a model may be very deep
        for one in in_order([value], self._missing):
            if id(one) not in known:
                varies = _varies(one)
                below = [known[id(other)] for other in one.inputs] if varies else []
                known[id(one)] = hull_of(one, below) if varies else hull_of_fixed(one)
        return known[id(value)]

    def _missing(self, value: Value) -> list[Value]:
        known = id(value) in self._known or not _varies(value)
        return [] if known else [one for one in value.inputs if id(one) not in self._known]


def support(value: Value) -> Hull:
    """The hull of one quantity."""
    return Hulls().of(value)


def _varies(value: Value) -> bool:
    return value.random or value.estimated


def hull_of(value: Value, below: Sequence[Hull]) -> Hull:
    """The hull of a random or estimated value, from the hulls of its inputs."""
    if value.kind == Kind.OPERATOR:
        operator = value.operator
        # the probability of a number means the probability that it is not 0
        averaged = operator.is_mean and (value.inputs[0].truth or not operator.probability)
        return below[0] if averaged or operator.quantile else Hull(*operator.ends)
    with np.errstate(all="ignore"):
        if value.kind == Kind.DRAW:
            return _outward(_of_draw(value))
        plain = function_hull(value.function, below, use_of(value))
        hull = _outward(plain)
        cancels = value.function is SUBTRACT or any(one.low < 0 for one in below)
        if plain.low == 0 and not (value.function.additive and cancels):
            hull = Hull(0.0, hull.high)  # here rounding does not go below 0
        more = _OF_BOTH.get(value.function)
        return hull.common(more(value, _lowest)) if more else hull


def use_of(value: Value) -> Use:
    """The use of a function that computes a value."""
    shapes = tuple(one.shape for one in value.inputs)
    same = len(value.inputs) == 2 and value.inputs[0] is value.inputs[1]
    return Use(kernel_of(value), value.shape, shapes, same)


# tighter hulls from what both arguments have in common
_OF_BOTH = {DIVIDE: quotient_hull, MULTIPLY: product_hull}


def held_by(top: Value, bottom: Value) -> tuple[float, float] | None:
    """Numbers c and e with |top| <= c · bottom^e in every draw; None if none are known."""
    return held_by_shares(top, bottom, _lowest)


def _lowest(value: Value) -> float:
    """The lower end of a quantity's hull, from a few steps below it only."""
    return _shallow(value, MOST_DEPTH).low


def _shallow(value: Value, depth: int) -> Hull:
    if not value.random:
        return hull_of_fixed(value)
    if depth == 0 or value.computed_by(DIVIDE) or len(value.inputs) > MOST_DEPTH:
        return EVERYWHERE
    return hull_of(value, [_shallow(below, depth - 1) for below in value.inputs])


def hull_of_fixed(value: Value) -> Hull:
    """The hull of the elements of a fixed value."""
    array = value.constant
    if array is None or not array.size:
        return EVERYWHERE
    return _outward(Hull(float(array.min()), float(array.max())))  # NaN makes it everywhere


def _of_draw(value: Value) -> Hull:
    law = value.law
    if law is None:
        return EVERYWHERE
    if not callable(law.ends) and Hull(*law.ends).bounded:
        return Hull(*law.ends)
    known = [argument.known for argument in value.inputs]
    if any(argument is None for argument in known):
        return EVERYWHERE
    ranks = zip(value.inputs, law.parameters, strict=True)
    if any(len(argument.shape) > parameter.axes for argument, parameter in ranks):
        if law.own_axes is not None or any(one.axes for one in law.parameters):
            return EVERYWHERE
        return Hull(*law.ends_of_all([one.constant for one in value.inputs]))  # NaN: everywhere
    low, high = law.support(*known)
    return Hull(float(low), float(high))


def _outward(hull: Hull) -> Hull:
    if math.isnan(hull.low) or math.isnan(hull.high) or hull.low > hull.high:
        return EVERYWHERE
    give = OUTWARD * max(abs(hull.low), abs(hull.high))
    if not math.isfinite(give) or hull.low == hull.high or hull in (UNIT, Hull(-1.0, 1.0)):
        return hull
    return Hull(hull.low - give, hull.high + give)
