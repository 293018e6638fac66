"""Which moments a function has, from those of its arguments, as far as that can be told.

For a quantity u, E|u|^r is finite for all r below some order, and infinite above it. An order is
bounded from both sides: below `sure` every moment exists, from `never` on none does. The order of
the reciprocal says how the probability falls towards 0, which is what a division needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from dropcheck.vocabulary.majorants import (
    elements,
    exponentials,
    growing,
    powers,
    rule,
    summed_products,
    sums,
)
from dropcheck.vocabulary.majorants.rule import Applied, Majorant
from dropcheck.vocabulary.shapes import Shape


@dataclass(frozen=True, slots=True)
class Order:
    """Bounds on the order of the moments that a quantity has."""

    sure: float  # E|u|^r is finite for every r below
    never: float  # E|u|^r is infinite for every r from here on

    def of_power(self, power: float) -> Order:
        """The order of the quantity raised to a power above 0."""
        return Order(self.sure / power, self.never / power)


ALL_MOMENTS = Order(math.inf, math.inf)
UNKNOWN_MOMENTS = Order(0.0, math.inf)


@dataclass(frozen=True, slots=True)
class Operand:
    """What is known of one argument of a function; by default of one that is fixed.

    `rates` are those with which its tails towards -∞ and ∞ fall as an exponential, None where that
    is unknown; `independent` says that its elements are independent draws from known laws;
    `nonzero` that it is fixed, and never 0; `known` is its value where it is fixed.
    """

    quantity: object
    shape: Shape
    order: Order = ALL_MOMENTS
    reciprocal: Order = ALL_MOMENTS
    rates: tuple[float | None, float | None] | None = None
    random: bool = False
    sources: Set[str] = frozenset()
    independent: bool = False
    nonzero: bool = False
    known: Any = None


OrderRule = Callable[[Sequence[Operand]], Order]


@dataclass(frozen=True, slots=True)
class Growth:
    """How far out the values of a function go, and how near to 0 they come.

    The orders say which moments exist, the majorant how large they are at most. `heavier` says that
    a moment may not exist though all of the arguments do.
    """

    order: OrderRule
    majorant: Majorant
    reciprocal: OrderRule = lambda _: UNKNOWN_MOMENTS
    heavier: bool = False


def _least(operands: Sequence[Operand], never: float = math.inf) -> Order:
    return Order(min(one.order.sure for one in operands), never)


def _sum_of_two(operands: Sequence[Operand]) -> Order:
    first, second = (one.order for one in operands)
    # the heavier part cannot be cancelled by a lighter one, nor by an independent one
    if first.never < second.sure:
        return _least(operands, first.never)
    if second.never < first.sure:
        return _least(operands, second.never)
    if not operands[0].sources & operands[1].sources:
        return _least(operands, min(first.never, second.never))
    return _least(operands)


def _same(operands: Sequence[Operand]) -> bool:
    return operands[0].quantity is operands[1].quantity


def _factors(operands: Sequence[Operand], first: Order, second: Order) -> Order:
    """The order of a product of two factors of these orders."""
    left, right = operands
    if not left.random or not right.random:
        varied, fixed = (first, right) if left.random else (second, left)
        return Order(varied.sure, varied.never if fixed.nonzero else math.inf)
    if not left.sources & right.sources:
        # a factor that is not always 0 cannot mend an independent one
        never = min(
            first.never if second.never < math.inf or right.independent else math.inf,
            second.never if first.never < math.inf or left.independent else math.inf,
        )
        return Order(min(first.sure, second.sure), never)
    if math.inf in (first.sure, second.sure):
        # Hölder: a factor with every moment costs nothing
        return Order(min(first.sure, second.sure), math.inf)
    if first.sure == 0 or second.sure == 0:
        return UNKNOWN_MOMENTS
    return Order(1 / (1 / first.sure + 1 / second.sure), math.inf)


def _product(operands: Sequence[Operand], first: Order, second: Order) -> Order:
    return first.of_power(2) if _same(operands) else _factors(operands, first, second)


def _unless_zero(rule: OrderRule) -> OrderRule:
    """The rule for a reciprocal, where nothing that is fixed may be 0."""
    return lambda operands: (
        rule(operands) if all(one.random or one.nonzero for one in operands) else UNKNOWN_MOMENTS
    )


def _products(operands: Sequence[Operand], *, summed: bool, paired: bool) -> Order:
    """The order of products of elements: each alone, or sums of them, equal ones paired or not."""
    first, second = (one.order for one in operands)
    if _same(operands):
        squared = first.of_power(2)
        return squared if paired else Order(squared.sure, math.inf)
    found = _factors(operands, first, second)
    # in a sum of products heavy terms may cancel, unless they are independent
    heavy = [one for one in operands if one.order.never < math.inf]
    kept = not summed or all(one.independent for one in heavy)
    return found if kept else Order(found.sure, math.inf)


def _sum_of_squares_reciprocal(operands: Sequence[Operand]) -> Order:
    shape = operands[0].shape
    if _same(operands) and operands[0].independent and len(shape) == 1 and shape[0]:
        return operands[0].reciprocal.of_power(2 / shape[0])  # all of them are then near 0
    return UNKNOWN_MOMENTS


def _raised(order: Order, reciprocal: Order, exponent: object) -> Order:
    if not isinstance(exponent, float):
        return UNKNOWN_MOMENTS
    if exponent == 0:
        return ALL_MOMENTS
    return order.of_power(exponent) if exponent > 0 else reciprocal.of_power(-exponent)


def _exponential(x: Operand, *, both: bool) -> Order:
    """E exp(r · x) is P(x > t) · r · exp(r · t) integrated: finite for r below the tail's rate."""
    down, up = x.rates or (None, None)
    if not both:
        down = math.inf  # where it does not grow
    if up is None or down is None:
        return UNKNOWN_MOMENTS
    return Order(min(up, down), min(up, down))


def _spread(x: Operand) -> Order:
    squared = x.order.of_power(2)
    varies = x.independent and (x.shape or (1,))[-1] > 1
    return Order(squared.sure, squared.never if varies else math.inf)


def root(degree: float) -> Growth:
    """A root of the argument."""
    return Growth(
        lambda operands: operands[0].order.of_power(1 / degree),
        powers.ProductOfPowers(1 / degree),
        lambda operands: operands[0].reciprocal.of_power(1 / degree),
    )


def within(majorant: Majorant) -> Growth:
    """A function of which a majorant is known, and no order of moments."""
    return Growth(lambda _: UNKNOWN_MOMENTS, majorant)


def bounded(by: Callable[[Applied], float]) -> Growth:
    """Never beyond some number, which the hull does not say."""
    return Growth(lambda _: ALL_MOMENTS, rule.Bounded(by))


def no_heavier(majorant: Majorant) -> Growth:
    """No larger than the largest argument, up to a factor and a summand that do not vary."""
    return Growth(_least, majorant)


def linear(
    factor: float = 1.0, summand: float = 0.0, *, above: bool = False, slope: float = math.inf
) -> Growth:
    """|f(x)| <= summand + factor · |x|, of one argument; more as `growing.Linear` says."""
    return no_heavier(growing.LinearGrowth(factor, summand, above, slope))


def share(a: float, b: float = 0.0) -> Growth:
    """A distribution function F with -log F(x) <= log 2 + a |x| + b x², alike on both sides."""
    return Growth(lambda _: ALL_MOMENTS, exponentials.Share(a, b))


ANY_GROWTH = within(rule.NONE)  # nothing is known
BOUNDED = Growth(lambda _: ALL_MOMENTS, rule.NONE)  # the hull says it
SOFTMAX = Growth(lambda _: ALL_MOMENTS, exponentials.Softmax())
PICKED = no_heavier(growing.Picked(0, smooth=True))  # one of the arguments
CHOSEN = no_heavier(growing.Picked(1, smooth=False))  # one but the first of them
LARGEST_ELEMENT = no_heavier(elements.OneOfMany())  # one of the elements
MIDDLE = no_heavier(elements.OneOfMany(between=True))  # between two of the elements
REARRANGED = no_heavier(elements.Rearranged())  # the elements in another place
# where the second argument is that factor
LEAKY = Growth(
    lambda both: UNKNOWN_MOMENTS if both[1].random else _least(both), growing.LeakySlope()
)


def same_size(majorant: Majorant) -> Growth:
    """One of the argument's own values, up to the sign."""
    return Growth(
        lambda operands: _least(operands, operands[0].order.never),
        majorant,
        lambda operands: operands[0].reciprocal,
    )


def sum_of_elements(mean: bool) -> Growth:
    """A sum of independent terms has no moment that one of them lacks."""
    return Growth(
        lambda x: _least(x, x[0].order.never if x[0].independent else math.inf), sums.Total(mean)
    )


def sum_of_two(sign: float) -> Growth:
    """The sum, or the difference."""
    return Growth(_sum_of_two, sums.Sum(sign))


PRODUCT = Growth(
    lambda both: _product(both, both[0].order, both[1].order),
    powers.ProductOfTwo(),
    _unless_zero(lambda both: _product(both, both[0].reciprocal, both[1].reciprocal)),
)
QUOTIENT = Growth(
    lambda both: _factors(both, both[0].order, both[1].reciprocal),
    powers.Quotient(1.0, -1.0),
    _unless_zero(lambda both: _factors(both, both[0].reciprocal, both[1].order)),
    heavier=True,
)
POWER = Growth(
    lambda both: _raised(both[0].order, both[0].reciprocal, both[1].known),
    powers.Raised(),
    lambda both: _raised(both[0].reciprocal, both[0].order, both[1].known),
    heavier=True,
)
ALL_PRODUCTS = Growth(lambda both: _products(both, summed=False, paired=False), powers.Products())
SUM_OF_PRODUCTS = Growth(
    lambda both: _products(both, summed=True, paired=True),
    summed_products.SumOfProducts(summed_products.inner_of_vectors),
    _sum_of_squares_reciprocal,
)
# of a vector with itself a sum of squares, else products of unlike elements beside them
MATRIX_PRODUCT = Growth(
    lambda both: _products(both, summed=True, paired=len(both[0].shape) == 1),
    summed_products.SumOfProducts(summed_products.inner_of_matrices),
    _sum_of_squares_reciprocal,
)
# squared distances from a mean
SPREAD = Growth(lambda operands: _spread(operands[0]), elements.MeanSquare(1.0))
EXPONENTIAL = Growth(
    lambda operands: _exponential(operands[0], both=False),
    exponentials.Exponential(),
    heavier=True,
)
EXPONENTIAL_LESS_ONE = Growth(EXPONENTIAL.order, exponentials.ExponentialLessOne(), heavier=True)
EXPONENTIAL_BOTH_WAYS = Growth(
    lambda operands: _exponential(operands[0], both=True), exponentials.Hyperbolic(), heavier=True
)
