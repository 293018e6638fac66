"""How far out the values of a function go: how large its moments are, and which it lacks.

For a quantity u, E|u|^r is finite for all r below some order, and infinite above it. What a
majorant bounds exists. An order from which on no moment does follows from those of the arguments,
as far as that can be told; infinite: it cannot. The order of the reciprocal says how the
probability falls towards 0, which is what a division needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from typing import Any

from dropcheck.records import record
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


@record
class Operand:
    """What is known of one argument of a function; by default of one that is fixed.

    `rates` are those with which its tails towards -∞ and ∞ fall as an exponential, None where that
    is unknown; `independent` says that its elements are independent draws from known laws;
    `nonzero` that it is fixed, and never 0; `known` is its value where it is fixed. `has_moment`
    tells whether it surely has the moment of an order.
    """

    quantity: object
    shape: Shape
    order: float = math.inf
    reciprocal: float = math.inf
    has_moment: Callable[[float], bool] = lambda _: True
    rates: tuple[float | None, float | None] | None = None
    random: bool = False
    sources: Set[str] = frozenset()
    independent: bool = False
    nonzero: bool = False
    known: Any = None


OrderRule = Callable[[Sequence[Operand]], float]


def _unknown(_: Sequence[Operand]) -> float:
    return math.inf


@record
class Growth:
    """How far out the values of a function go, and how near to 0 they come.

    The majorant says how large the moments are at most, the orders which do not exist. `heavier`
    says that a moment may not exist though all of the arguments do.
    """

    majorant: Majorant
    order: OrderRule = _unknown
    reciprocal: OrderRule = _unknown
    heavier: bool = False


def _sum_of_two(operands: Sequence[Operand]) -> float:
    first, second = operands
    apart = not first.sources & second.sources
    # the heavier part cannot be cancelled by a lighter one, nor by an independent one
    if apart or (first.order < math.inf and second.has_moment(first.order)):
        return min(first.order, second.order)
    if second.order < math.inf and first.has_moment(second.order):
        return second.order
    return math.inf


def _same(operands: Sequence[Operand]) -> bool:
    return operands[0].quantity is operands[1].quantity


def _factors(operands: Sequence[Operand], first: float, second: float) -> float:
    """The order of a product of two factors of these orders."""
    left, right = operands
    if not left.random or not right.random:
        varied, fixed = (first, right) if left.random else (second, left)
        return varied if fixed.nonzero else math.inf
    if left.sources & right.sources:
        return math.inf
    # a factor that is not always 0 cannot mend an independent one
    return min(
        first if second < math.inf or right.independent else math.inf,
        second if first < math.inf or left.independent else math.inf,
    )


def _product(operands: Sequence[Operand], first: float, second: float) -> float:
    return first / 2 if _same(operands) else _factors(operands, first, second)


def _unless_zero(rule: OrderRule) -> OrderRule:
    """The rule for a reciprocal, where nothing that is fixed may be 0."""
    return lambda operands: (
        rule(operands) if all(one.random or one.nonzero for one in operands) else math.inf
    )


def _products(operands: Sequence[Operand], *, summed: bool, paired: bool) -> float:
    """The order of products of elements: each alone, or sums of them, equal ones paired or not."""
    first, second = (one.order for one in operands)
    if _same(operands):
        return first / 2 if paired else math.inf
    # in a sum of products heavy terms may cancel, unless they are independent
    heavy = [one for one in operands if one.order < math.inf]
    kept = not summed or all(one.independent for one in heavy)
    return _factors(operands, first, second) if kept else math.inf


def _sum_of_squares_reciprocal(operands: Sequence[Operand]) -> float:
    shape = operands[0].shape
    if _same(operands) and operands[0].independent and len(shape) == 1 and shape[0]:
        return operands[0].reciprocal * shape[0] / 2  # all of them are then near 0
    return math.inf


def _raised(order: float, reciprocal: float, exponent: object) -> float:
    if not isinstance(exponent, float) or exponent == 0:
        return math.inf
    return order / exponent if exponent > 0 else reciprocal / -exponent


def _exponential(x: Operand, *, both: bool) -> float:
    """E exp(r · x) is P(x > t) · r · exp(r · t) integrated: finite for r below the tail's rate."""
    down, up = x.rates or (None, None)
    if not both:
        down = math.inf  # where it does not grow
    return math.inf if up is None or down is None else min(up, down)


def _spread(x: Operand) -> float:
    varies = x.independent and (x.shape or (1,))[-1] > 1
    return x.order / 2 if varies else math.inf


def root(degree: float) -> Growth:
    """A root of the argument."""
    return Growth(
        powers.ProductOfPowers(1 / degree),
        lambda operands: operands[0].order * degree,
        lambda operands: operands[0].reciprocal * degree,
    )


def bounded(by: Callable[[Applied], float]) -> Growth:
    """Never beyond some number, which the hull does not say."""
    return Growth(rule.Bounded(by))


def by_norm(of: Callable[[Applied, float], float]) -> Growth:
    """What has a bound of its norm, and no other."""
    return Growth(rule.NormAlone(of))


def linear(
    factor: float = 1.0, summand: float = 0.0, *, above: bool = False, slope: float = math.inf
) -> Growth:
    """|f(x)| <= summand + factor · |x|, of one argument; more as `growing.Linear` says."""
    return Growth(growing.LinearGrowth(factor, summand, above, slope))


def share(a: float, b: float = 0.0) -> Growth:
    """A distribution function F with -log F(x) <= log 2 + a |x| + b x², alike on both sides."""
    return Growth(exponentials.Share(a, b))


BY_HULL = Growth(rule.NONE)  # no more is known than where its values lie
SOFTMAX = Growth(exponentials.Softmax())
PICKED = Growth(growing.Picked(0, smooth=True))  # one of the arguments
CHOSEN = Growth(growing.Picked(1, smooth=False))  # one but the first of them
LARGEST_ELEMENT = Growth(elements.OneOfMany())  # one of the elements
MIDDLE = Growth(elements.OneOfMany(between=True))  # between two of the elements
REARRANGED = Growth(elements.Rearranged())  # the elements in another place
LEAKY = Growth(growing.LeakySlope())  # the second argument is the slope below 0


def same_size(majorant: Majorant) -> Growth:
    """One of the argument's own values, up to the sign."""
    return Growth(
        majorant,
        lambda operands: operands[0].order,
        lambda operands: operands[0].reciprocal,
    )


def sum_of_elements(mean: bool) -> Growth:
    """A sum of independent terms has no moment that one of them lacks."""
    return Growth(sums.Total(mean), lambda x: x[0].order if x[0].independent else math.inf)


def sum_of_two(sign: float) -> Growth:
    """The sum, or the difference."""
    return Growth(sums.Sum(sign), _sum_of_two)


PRODUCT = Growth(
    powers.ProductOfTwo(),
    lambda both: _product(both, both[0].order, both[1].order),
    _unless_zero(lambda both: _product(both, both[0].reciprocal, both[1].reciprocal)),
)
QUOTIENT = Growth(
    powers.Quotient(1.0, -1.0),
    lambda both: _factors(both, both[0].order, both[1].reciprocal),
    _unless_zero(lambda both: _factors(both, both[0].reciprocal, both[1].order)),
    heavier=True,
)
POWER = Growth(
    powers.Raised(),
    lambda both: _raised(both[0].order, both[0].reciprocal, both[1].known),
    lambda both: _raised(both[0].reciprocal, both[0].order, both[1].known),
    heavier=True,
)
ALL_PRODUCTS = Growth(powers.Products(), lambda both: _products(both, summed=False, paired=False))
SUM_OF_PRODUCTS = Growth(
    summed_products.SumOfProducts(summed_products.inner_of_vectors),
    lambda both: _products(both, summed=True, paired=True),
    _sum_of_squares_reciprocal,
)
# of a vector with itself a sum of squares, else products of unlike elements beside them
MATRIX_PRODUCT = Growth(
    summed_products.SumOfProducts(summed_products.inner_of_matrices),
    lambda both: _products(both, summed=True, paired=len(both[0].shape) == 1),
    _sum_of_squares_reciprocal,
)
# squared distances from a mean
SPREAD = Growth(elements.MeanSquare(1.0), lambda operands: _spread(operands[0]))
EXPONENTIAL = Growth(
    exponentials.Exponential(),
    lambda operands: _exponential(operands[0], both=False),
    heavier=True,
)
EXPONENTIAL_LESS_ONE = Growth(
    rule.NormAlone(exponentials.exponential_less_one), EXPONENTIAL.order, heavier=True
)
EXPONENTIAL_BOTH_WAYS = Growth(
    rule.NormAlone(exponentials.hyperbolic),
    lambda operands: _exponential(operands[0], both=True),
    heavier=True,
)
