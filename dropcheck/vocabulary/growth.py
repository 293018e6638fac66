"""The tails of a function's values: bounds of its moments, and which moments do not exist.

For a quantity u, E|u|^r is finite for r below some order, and infinite above it. Moments that a
majorant bounds exist. The order from which on no moment exists follows from the orders of the
arguments, as far as that can be known; infinity means that it is not known. The order of the
reciprocal 1 / u says how the probability of values near 0 falls, as a division needs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from dropcheck.vocabulary.majorants import elements, powers, rule, sums
from dropcheck.vocabulary.majorants.rule import Applied, Majorant
from dropcheck.vocabulary.shapes import Shape


@dataclass(frozen=True, slots=True)
class Operand:
    """What is known of one argument of a function; the defaults are those of a fixed argument.

    `rates` are the exponential rates of its tails towards -∞ and ∞, None where a rate is unknown.
    `independent` says that its elements are independent draws from known laws, `nonzero` that it is
    fixed and never 0. `known` is the value of a fixed argument. `has_moment` tells whether the
    moment of an order surely exists.
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


@dataclass(frozen=True, slots=True)
class Growth:
    """The moments of a function's values and of their reciprocals.

    The majorant bounds the moments. `order` and `reciprocal` give the orders from which on moments
    of the value and of its reciprocal do not exist. `heavier` says that a moment of the value may
    not exist though all moments of the arguments exist.
    """

    majorant: Majorant
    order: OrderRule = _unknown
    reciprocal: OrderRule = _unknown
    heavier: bool = False


def _sum_of_two(operands: Sequence[Operand]) -> float:
    first, second = operands
    apart = not first.sources & second.sources
    # a lighter or independent part cannot cancel the heavier one
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
    # an independent factor that is not always 0 does not make a missing moment exist
    return min(
        first if second < math.inf or right.independent else math.inf,
        second if first < math.inf or left.independent else math.inf,
    )


def _product(operands: Sequence[Operand], first: float, second: float) -> float:
    return first / 2 if _same(operands) else _factors(operands, first, second)


def _unless_zero(rule: OrderRule) -> OrderRule:
    """The rule for a reciprocal, if no fixed argument may be 0; otherwise infinity."""
    return lambda operands: (
        rule(operands) if all(one.random or one.nonzero for one in operands) else math.inf
    )


def _products(operands: Sequence[Operand], *, summed: bool, paired: bool) -> float:
    """The order of products of elements of two arguments, or of sums of such products.

    `paired` says that, for two equal arguments, each element is multiplied by itself.
    """
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
        return operands[0].reciprocal * shape[0] / 2  # the sum is near 0 only if all elements are
    return math.inf


def _raised(order: float, reciprocal: float, exponent: object) -> float:
    if not isinstance(exponent, float) or exponent == 0:
        return math.inf
    return order / exponent if exponent > 0 else reciprocal / -exponent


def _exponential(x: Operand, *, both: bool) -> float:
    """E exp(r · x), the integral of P(x > t) · r · exp(r · t), is finite for r below the tail rate.

    `both` says that the function grows as an exponential in both directions.
    """
    down, up = x.rates or (None, None)
    if not both:
        down = math.inf
    return math.inf if up is None or down is None else min(up, down)


def _spread(x: Operand) -> float:
    varies = x.independent and (x.shape or (1,))[-1] > 1
    return x.order / 2 if varies else math.inf


def root(degree: float) -> Growth:
    """The root of this degree of the argument."""
    return Growth(
        powers.ProductOfPowers(1 / degree),
        lambda operands: operands[0].order * degree,
        lambda operands: operands[0].reciprocal * degree,
    )


def bounded(by: Callable[[Applied], float]) -> Growth:
    """A function whose size is bounded by a number that its hull does not show."""
    return Growth(rule.Bounded(by))


def by_norm(of: Callable[[Applied, float], float]) -> Growth:
    """A function with a bound of its norm, and no other bound."""
    return Growth(rule.NormAlone(of))


def linear(
    factor: float = 1.0, summand: float = 0.0, *, above: bool = False, slope: float = math.inf
) -> Growth:
    """A function with |f(x)| <= summand + factor · |x|; see `growing.LinearGrowth`."""
    return Growth(powers.LinearGrowth(factor, summand, above, slope))


def share(a: float, b: float = 0.0) -> Growth:
    """A distribution function F with 1 - F(x) = F(-x) and -log F(x) <= log 2 + a |x| + b x²."""
    return Growth(powers.Share(a, b))


BY_HULL = Growth(rule.NONE)  # no more is known than where its values lie
SOFTMAX = Growth(powers.Softmax())
PICKED = Growth(powers.Picked(0, smooth=True))  # one of the arguments
CHOSEN = Growth(powers.Picked(1, smooth=False))  # one but the first of them
LARGEST_ELEMENT = Growth(elements.OneOfMany())  # one of the elements
MIDDLE = Growth(elements.OneOfMany(between=True))  # between two of the elements
REARRANGED = Growth(elements.Rearranged())  # the elements in another place
LEAKY = Growth(powers.LeakySlope())  # the second argument is the slope below 0


def same_size(majorant: Majorant) -> Growth:
    """A function whose values have the same sizes as values of its argument."""
    return Growth(
        majorant,
        lambda operands: operands[0].order,
        lambda operands: operands[0].reciprocal,
    )


def sum_of_elements(mean: bool) -> Growth:
    """The sum of the elements, or their mean: of independent terms it lacks the moments of each."""
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
    sums.SumOfProducts(sums.inner_of_vectors),
    lambda both: _products(both, summed=True, paired=True),
    _sum_of_squares_reciprocal,
)
# the product of a vector with itself is a sum of squares; of a matrix, also of other products
MATRIX_PRODUCT = Growth(
    sums.SumOfProducts(sums.inner_of_matrices),
    lambda both: _products(both, summed=True, paired=len(both[0].shape) == 1),
    _sum_of_squares_reciprocal,
)
# squared distances from a mean
SPREAD = Growth(elements.MeanSquare(1.0), lambda operands: _spread(operands[0]))
EXPONENTIAL = Growth(
    powers.Exponential(),
    lambda operands: _exponential(operands[0], both=False),
    heavier=True,
)
EXPONENTIAL_LESS_ONE = Growth(
    rule.NormAlone(powers.exponential_less_one), EXPONENTIAL.order, heavier=True
)
EXPONENTIAL_BOTH_WAYS = Growth(
    rule.NormAlone(powers.hyperbolic),
    lambda operands: _exponential(operands[0], both=True),
    heavier=True,
)
