"""How large a function's values can be, given the sizes of its arguments: its majorant."""

from __future__ import annotations

import math
from collections.abc import Callable

from dropcheck.vocabulary.majorants import elements, powers, rule, sums
from dropcheck.vocabulary.majorants.rule import Applied, Majorant


def root(degree: float) -> Majorant:
    """The root of this degree of the argument."""
    return powers.ProductOfPowers(1 / degree)


def bounded(by: Callable[[Applied], float]) -> Majorant:
    """A function whose size is bounded by a number that its hull does not show."""
    return rule.Bounded(by)


def by_norm(of: Callable[[Applied, float], float]) -> Majorant:
    """A function with a bound of its norm, and no other bound."""
    return rule.NormAlone(of)


def linear(
    factor: float = 1.0, summand: float = 0.0, *, above: bool = False, slope: float = math.inf
) -> Majorant:
    """A function with |f(x)| <= summand + factor · |x|; see `powers.LinearGrowth`."""
    return powers.LinearGrowth(factor, summand, above, slope)


def share(a: float, b: float = 0.0) -> Majorant:
    """A distribution function F with 1 - F(x) = F(-x) and -log F(x) <= log 2 + a |x| + b x²."""
    return powers.Share(a, b)


BY_HULL = rule.NONE  # no more is known than where its values lie
SOFTMAX = powers.Softmax()
PICKED = powers.Picked(0, smooth=True)  # one of the arguments
CHOSEN = powers.Picked(1, smooth=False)  # one but the first of them
LARGEST_ELEMENT = elements.OneOfMany()  # one of the elements
MIDDLE = elements.OneOfMany(between=True)  # between two of the elements
REARRANGED = elements.Rearranged()  # the elements in another place
LEAKY = powers.LeakySlope()  # the second argument is the slope below 0
PRODUCT = powers.ProductOfTwo()
QUOTIENT = powers.Quotient(1.0, -1.0)
POWER = powers.Raised()
ALL_PRODUCTS = powers.Products()
SUM_OF_PRODUCTS = sums.SumOfProducts(sums.inner_of_vectors)
MATRIX_PRODUCT = sums.SumOfProducts(sums.inner_of_matrices)
SPREAD = elements.MeanSquare(1.0)  # squared distances from a mean
EXPONENTIAL = powers.Exponential()
EXPONENTIAL_LESS_ONE = rule.NormAlone(powers.exponential_less_one)
EXPONENTIAL_BOTH_WAYS = rule.NormAlone(powers.hyperbolic)
