"""Sums and quotients: linear combinations, and what the sides of a quotient have in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dropcheck.language.graph import Kind, Value
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
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull
from dropcheck.vocabulary.shapes import normalise_axes

# ---- sums ----------------------------------------------------------------------------------------


def summed(numbers: Iterable[float]) -> float:
    """The sum, rounded once; infinite or NaN where math.fsum raises an error."""
    numbers = list(numbers)
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):
        return sum(numbers)


WeightedValues = tuple[tuple[float, Value], ...]
"""Values, each with its factor in a sum."""


def sum_of(value: Value) -> tuple[WeightedValues, float]:
    """A value as a sum of values with factors, and a number; no parts if it is no sum.

    The parts are random, or made of operators.
    """
    if value.kind != Kind.COMPUTED:
        return (), 0.0
    function, inputs = value.function, value.inputs
    known = [None if _varies(one) else one.known for one in inputs]
    if function in (ADD, SUBTRACT):
        signs = (1.0, 1.0 if function is ADD else -1.0)
        parts = [(s, one) for s, one in zip(signs, inputs, strict=True) if _varies(one)]
        numbers = [s * n for s, n in zip(signs, known, strict=True) if isinstance(n, float)]
        return (tuple(parts), sum(numbers)) if len(parts) + len(numbers) == 2 else ((), 0.0)
    if function is NEGATIVE:
        return ((-1.0, inputs[0]),), 0.0
    if function in (MULTIPLY, DIVIDE):
        left, right = known
        number, one = (right, inputs[0]) if _varies(inputs[0]) else (left, inputs[1])
        by_it = function is DIVIDE and (one is inputs[1] or not number)
        if by_it or not isinstance(number, float):
            return (), 0.0
        return ((1 / number if function is DIVIDE else number, one),), 0.0
    joined = inputs[0]
    adds_up = function in (SUM, MEAN) and value.shape == () and len(joined.shape) == 1
    of_parts = joined.kind == Kind.COMPUTED and joined.function.joins and len(joined.inputs) > 1
    if adds_up and of_parts:
        return _of_joined(joined, 1.0 if function is SUM else 1 / len(joined.inputs))
    return (), 0.0


def _varies(value: Value) -> bool:
    return value.random or value.estimated


def _of_joined(joined: Value, factor: float) -> tuple[WeightedValues, float]:
    """The sum of the numbers that an array is made of, each times a factor."""
    if any(one.shape != () for one in joined.inputs):
        return (), 0.0
    known = [0.0 if _varies(one) else one.known for one in joined.inputs]
    if not all(isinstance(one, float) for one in known):
        return (), 0.0
    counted: dict[int, tuple[float, Value]] = {}
    for one in filter(_varies, joined.inputs):
        counted[id(one)] = (counted.get(id(one), (0.0, one))[0] + factor, one)
    return tuple(counted.values()), factor * summed(float(one) for one in known)  # type: ignore[arg-type]  # all are numbers: see above


@dataclass(frozen=True, slots=True)
class LinearCombination:
    """Σ factor · operator + constant; `terms` are the pairs of a factor and an operator."""

    terms: WeightedValues
    constant: float


def of_one_operator(value: Value) -> LinearCombination | None:
    """A side as a linear combination with one operator; None if it is none."""
    form = of_operators(value)
    return form if form is not None and len(form.terms) == 1 else None


def of_operators(value: Value) -> LinearCombination | None:
    """A side such as `E(y) - 2 * E(x) + 1` as a linear combination of operators; else None.

    An operator that stands in it twice is one term.
    """
    terms: dict[int, tuple[float, Value]] = {}
    constant, stack = 0.0, [(1.0, value)]
    while stack:
        factor, one = stack.pop()
        parts, shift = sum_of(one)
        if one.kind == Kind.OPERATOR:
            terms[id(one)] = (factor + terms.get(id(one), (0.0, one))[0], one)
        elif not one.estimated and isinstance(one.known, float):
            constant += factor * one.known
        elif parts and not one.shape:
            constant += factor * shift
            stack += [(factor * own, part) for own, part in reversed(parts)]
        else:
            return None
    return LinearCombination(tuple(terms.values()), constant)


# ---- shares --------------------------------------------------------------------------------------
#
# Bounds of quotients whose two sides are unbounded: x / (x + y), x / norm(x), a standard score.
#
# In every draw, the denominator is at least a share of the numerator's size:
#
# * a / (a + b) lies in [0, 1] where a and b are not negative; so does an element's share of a sum;
# * |x_i| <= ||x||_p, and |x · y| <= ||x||_p ||y||_q where 1/p + 1/q >= 1 (Hölder, and that norms
#   fall with their order), also of distances from means;
# * |x_i - mean| <= sqrt((n - 1) / n) ||x - mean|| (Samuelson 1968, "How deviant can you be?").


MOST_STEPS = 16  # the most steps and terms of an expression that are looked through on either side
QUOTIENT_ROUNDING = 1e-12  # the share by which rounding may put a quotient beyond its bound

Lowest = Callable[[Value], float]
"""Takes a quantity, and returns a lower bound of its values."""


@dataclass(frozen=True, slots=True)
class Length:
    """The norm of an array of some `order` along `axes`.

    The order is a number from 1 on, or infinity for the largest size. If `centred`, it is the norm
    of the array minus its mean.
    """

    array: Value
    axes: tuple[int, ...]
    keepdims: bool
    order: float = 2.0
    centred: bool = False

    @classmethod
    def of(cls, value: Value, array: Value, order: float = 2.0, centred: bool = False) -> Length:
        """The length of an array that a reduction of it is made of."""
        options = dict(value.options)
        axes = normalise_axes(options.get("axis"), array.shape)
        return cls(array, axes, bool(options.get("keepdims", 0.0)), order, centred)

    @property
    def whole(self) -> bool:
        """Whether it is the norm of all elements of a draw."""
        return len(self.axes) == len(self.array.shape)

    @property
    def count(self) -> int:
        """The number of elements along the axes."""
        return math.prod(self.array.shape[axis] for axis in self.axes)

    def is_of(self, value: Value) -> bool:
        """Whether it is the length of this value: of an array, or of its distance from its mean."""
        if not self.centred:
            return value is self.array
        if not (value.computed_by(SUBTRACT) and value.inputs[0] is self.array):
            return False
        mean = value.inputs[1]
        if not (mean.computed_by(MEAN) and mean.inputs[0] is self.array):
            return False
        other = Length.of(mean, self.array)
        return other.axes == self.axes and (self.whole or other.keepdims)

    def bound(self, value: Value) -> float | None:
        """A bound of the value where the length is 1; None if it is no element of the array."""
        for _ in range(MOST_STEPS):
            if self.is_of(value) and (self.whole or self.keepdims):
                return math.sqrt((self.count - 1) / self.count) if self.centred else 1.0
            if not self.whole or value.kind != Kind.COMPUTED or not value.function.rearranges:
                return None
            value = value.inputs[0]
        return None


Product = tuple[float, tuple[tuple[Length, float], ...]]
"""A factor, and lengths with their exponents."""


def quotient_hull(value: Value, lowest: Lowest) -> Hull:
    """The hull of a quotient, from what its two sides have in common."""
    top, bottom = value.inputs
    if not (top.random and bottom.random):
        return EVERYWHERE
    share, give = _share(top, bottom, lowest), 1 + QUOTIENT_ROUNDING
    if share is not None:
        return Hull(0.0, share * give)
    bound = _ratio(top, bottom, lowest)
    return EVERYWHERE if bound is None else Hull(-bound * give, bound * give)


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


def _share(top: Value, bottom: Value, lowest: Lowest) -> float | None:
    """A bound of top / bottom, if top is one of the terms of bottom and no term is negative."""
    if bottom.computed_by(SUM, MEAN):
        terms = Length.of(bottom, bottom.inputs[0])
        if terms.bound(top) is None or lowest(terms.array) < 0:
            return None
        return 1.0 if bottom.function is SUM else float(terms.count)
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


def _ratio(top: Value, bottom: Value, lowest: Lowest) -> float | None:
    """A bound of |top / bottom|, where bottom is a length or a product of two lengths."""
    found = _least(bottom, lowest)
    if found is None:
        return None
    (scale, lengths), factor = found, 1.0
    bound = _sized(top, lengths)
    for _ in range(MOST_STEPS if bound is None else 0):
        top, own = _without_factor(top)
        factor *= own
        more = _least(top.inputs[1], lowest) if top.computed_by(DIVIDE) else None
        if more is None:
            break
        top, scale, lengths = top.inputs[0], scale * more[0], (*lengths, *more[1])
    bound = _sized(top, lengths) if bound is None else bound
    bound = None if bound is None else abs(factor) * bound / scale
    return bound if bound is not None and math.isfinite(bound) else None


def _sized(top: Value, lengths: tuple[tuple[Length, float], ...]) -> float | None:
    """A bound of |top| where the product of some lengths is 1."""
    if any(power != 1 for _, power in lengths):
        return None
    if len(lengths) == 1:
        return lengths[0][0].bound(top)
    if len(lengths) != 2 or not top.random or top.kind != Kind.COMPUTED:
        return None
    (first, _), (second, _) = lengths
    inputs, share = top.inputs, 1.0
    if top.function in (SUM, MEAN) and inputs[0].computed_by(MULTIPLY):
        inputs = inputs[0].inputs
        share = 1 / inputs[0].shape[0] if top.function is MEAN and inputs[0].shape else 1.0
    elif top.function not in (MATMUL, DOT):
        return None
    one, other = inputs
    vectors = one.shape == other.shape and len(one.shape) == 1 and first.whole and second.whole
    ours = (first.is_of(one) and second.is_of(other)) or (first.is_of(other) and second.is_of(one))
    return share if vectors and ours and 1 / first.order + 1 / second.order >= 1 else None


def _least(value: Value, lowest: Lowest, depth: int = 4) -> Product | None:
    """A factor above 0, and lengths, whose product a quantity is at least as large as."""
    value, factor = _largest_term(value, lowest)
    if not factor > 0 or value.kind != Kind.COMPUTED or not depth:
        return None
    function, inputs = value.function, value.inputs
    exponent = 0.5 if function is SQRT else inputs[-1].known if function is POWER else None
    if exponent in (0.5, 2.0):
        found = _least(inputs[0], lowest, depth - 1)
        return found and _raised(found, float(exponent), factor)
    if function is MULTIPLY:
        one, other = (_least(side, lowest, depth - 1) for side in inputs)
        return one and other and (factor * one[0] * other[0], one[1] + other[1])
    order = float(dict(value.options).get("ord", 2.0))
    if function is NORM and order >= 1:
        return factor, ((Length.of(value, inputs[0], order), 1.0),)
    if function is MAX and inputs[0].computed_by(ABS):
        return factor, ((Length.of(value, inputs[0].inputs[0], math.inf), 1.0),)
    if function in (STD, VAR):
        length = Length.of(value, inputs[0], centred=True)
        degrees = length.count - float(dict(value.options).get("ddof", 0.0))
        spread = (1 / degrees, ((length, 2.0),)) if degrees > 0 else None
        return spread and _raised(spread, 0.5 if function is STD else 1.0, factor)
    if function in (SUM, MEAN) and inputs[0].computed_by(MULTIPLY, POWER):
        array, again = inputs[0].inputs
        squares = again is array or (inputs[0].function is POWER and again.known == 2)
        if not squares:
            return None
        length = Length.of(value, array)
    elif function in (MATMUL, DOT) and inputs[0] is inputs[1] and len(inputs[0].shape) == 1:
        length = Length(inputs[0], (0,), keepdims=False)
    else:
        return None
    share = length.count if function is MEAN else 1
    return factor / share, ((length, 2.0),)


def _raised(found: Product, exponent: float, factor: float) -> Product:
    lengths = tuple((length, power * exponent) for length, power in found[1])
    return factor * found[0] ** exponent, lengths


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
