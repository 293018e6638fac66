"""Moments of products of a few linear forms in many independent draws, as in recurrences.

The state of a linear recurrence after a thousand steps is a sum of a thousand draws, each with a
factor. A product of such sums has too many terms to be multiplied out. But joint cumulants of
linear forms are sums over the draws, κ(Σ a ξ, Σ b ξ, …) = Σ a b … κ_m(ξ), and moments are sums over
partitions of the factors (McCullagh 1987, "Tensor Methods in Statistics", sections 2.3 and 2.4). In
place of a draw ξ, a function of one draw may stand, if the draw has no other use: its moments are
integrals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dropcheck.analysis.averaged_products import Integrand
from dropcheck.analysis.bounds import WeightedValues, sum_of
from dropcheck.analysis.law_bounds import fixed_arguments
from dropcheck.analysis.ring import TINY
from dropcheck.analysis.single_draw import (
    MOST_INTEGRALS,
    Estimate,
    Found,
    KnownMeans,
    Norm,
    draw_below,
    joint_moment,
)
from dropcheck.array_types import Floats
from dropcheck.language.graph import Kind, Value, ordered
from dropcheck.vocabulary.functions.algebra import PolynomialError
from dropcheck.vocabulary.functions.elementwise import MULTIPLY, POWER
from dropcheck.vocabulary.majorants.rule import summed

FloatType = type[np.float64] | type[np.float32]

# The most factors of both sides of a covariance together, so that there are few partitions.
MOST_FACTORS = 4
# In float32, rounding errors are larger by this factor, so that the difference shows them.
EPSILONS_APART = float(np.finfo(np.float32).eps / np.finfo(np.float64).eps)
# The rounding error in float64 is taken to be this many times what the difference shows.
GIVE = 64.0
# Moments of functions of a draw count as known if their relative error is at most a tenth of this.
FUNCTION_ERROR = 1e-8

FactorValues = tuple[Value, ...]
"""The factors of a product."""


@dataclass(frozen=True, slots=True)
class ProductMoments:
    """Means and covariances of products, and bounds of their errors."""

    means: Floats
    covariances: Floats
    means_off: Floats
    covariances_off: Floats


def linear_factors(summand: Integrand) -> list[tuple[Value, float]]:
    """The factors of an integrand, each with the number that is subtracted from it.

    Raises:
        PolynomialError: it has a condition, or a number is subtracted from a product.
    """
    if summand.given is not None:
        raise PolynomialError
    centred: list[tuple[Value, float]] = []
    for value, power, centre in summand.centred:
        factors = factors_of(value)
        if centre and len(factors) > 1:
            raise PolynomialError
        centred += [(one, centre) for one in factors] * power
    return centred


def moments_of(
    products: Sequence[Sequence[tuple[Value, float]]], norm: Norm, found: Found | None = None
) -> ProductMoments:
    """The means and covariances of products of linear forms, each minus a number.

    Args:
        products: the factors of each product, with the numbers that are subtracted.
        norm: gives bounds of norms, for the tails of functions of a draw.
        found: expectations over one draw that are known already.

    Raises:
        PolynomialError: they are no such products, or have too many factors.
    """
    cumulants = _Cumulants(norm, KnownMeans(MOST_INTEGRALS, found))
    double = _moments(products, cumulants, np.float64)
    single = _moments(products, cumulants, np.float32)
    means, covariances = double
    errors = [
        GIVE / EPSILONS_APART * np.abs(one - other)
        for one, other in zip(double, single, strict=True)
    ]
    varied = np.array([any(value.random for value, _ in product) for product in products])
    lost = covariances.diagonal()[varied] < TINY
    if lost.any() or not all(np.isfinite(each).all() for each in (*double, *errors)):
        raise PolynomialError
    if cumulants.integrated:
        deviations = np.sqrt(np.maximum(covariances.diagonal(), 0.0))
        errors[0] = errors[0] + FUNCTION_ERROR * (np.abs(means) + deviations)
        errors[1] = errors[1] + FUNCTION_ERROR * np.outer(deviations, deviations)
    return ProductMoments(means, covariances, errors[0], errors[1])


def factors_of(value: Value) -> FactorValues:
    """A quantity as a product of other quantities; itself if it is no product.

    Raises:
        PolynomialError: there are too many factors.
    """
    factors: list[Value] = []
    stack = [value]
    while stack:
        one = stack.pop()
        function = one.function if one.kind == Kind.COMPUTED else None
        if function is MULTIPLY and all(below.random for below in one.inputs):
            stack += one.inputs
        elif function is POWER and one.inputs[1].known in (2.0, 3.0, 4.0):
            stack += [one.inputs[0]] * round(float(one.inputs[1].constant[0]))
        else:
            factors.append(one)
        if len(factors) + len(stack) > MOST_FACTORS:
            raise PolynomialError
    return tuple(factors)


@dataclass(frozen=True, slots=True)
class LinearForm:
    """Σ factor · (draw − its mean) + number, with the factors by the ids of the draws.

    A draw with a random location stands for the draw minus this location.
    """

    number: float
    factors: Mapping[int, float]


def _moments(
    products: Sequence[Sequence[tuple[Value, float]]], known: _Cumulants, precision: FloatType
) -> tuple[Floats, Floats]:
    if max(map(len, products), default=0) > MOST_FACTORS:
        raise PolynomialError
    values = {id(value): value for product in products for value, _ in product}
    draws: dict[int, Value] = {}
    forms = {key: _form(value, draws, known, precision) for key, value in values.items()}
    if len({id(draw_below(one) or one) for one in draws.values()}) < len(draws):
        raise PolynomialError  # two functions of one draw, or the draw and a function of it
    places = {key: place for place, key in enumerate(draws)}
    rows: dict[int, Any] = {
        key: np.array([form.factors.get(draw, 0.0) for draw in places], dtype=precision)
        for key, form in forms.items()
    }
    cumulants = _of_orders([known.of(one) for one in draws.values()], precision)
    found: dict[tuple[int, ...], float] = {}

    def joint(block: tuple[int, ...]) -> float:
        """The joint cumulant of some of the forms, about their means."""
        block = tuple(sorted(block))
        if block not in found:
            terms = cumulants(len(block))
            for key in block:
                terms = terms * rows[key]
            found[block] = float(terms.sum(dtype=precision))
        return found[block]

    keys = [
        [(id(value), forms[id(value)].number - centre) for value, centre in one] for one in products
    ]
    means = np.array([_expected(one, joint) for one in keys])
    covariances = np.zeros((len(products), len(products)))
    for i, one in enumerate(keys):
        for j in range(i + 1):
            if len(one) + len(keys[j]) > MOST_FACTORS:
                raise PolynomialError
            covariances[i, j] = covariances[j, i] = _expected(one, joint, keys[j])
    return means, covariances


_Factor = tuple[int, float]


def _expected(
    one: Sequence[_Factor],
    joint: Callable[[tuple[int, ...]], float],
    other: Sequence[_Factor] = (),
) -> float:
    """The expectation of a product; with another product, the covariance of both."""
    factors = [*one, *other]
    parts: list[float] = []
    for blocks in _partitions(list(range(len(factors)))):
        linked = any(block[0] < len(one) <= block[-1] for block in blocks)
        if other and not linked:
            continue
        part = 1.0
        for block in blocks:
            alone = len(block) == 1
            part *= factors[block[0]][1] if alone else joint(tuple(factors[at][0] for at in block))
        parts.append(part)
    return summed(parts)


def _partitions(places: list[int]) -> Iterator[list[list[int]]]:
    """All partitions into blocks, each block in order."""
    if not places:
        yield []
        return
    first, *rest = places
    for blocks in _partitions(rest):
        yield [[first], *blocks]
        for at, block in enumerate(blocks):
            yield [*blocks[:at], [first, *block], *blocks[at + 1 :]]


class _Cumulants:
    """The cumulants of draws, and of functions of one draw.

    `integrated` says whether there are any of functions: these are known only by integration.
    """

    def __init__(self, norm: Norm, means: KnownMeans) -> None:
        self._norm, self._means = norm, means
        self._known: dict[int, list[float]] = {}
        self.integrated = False

    def of(self, value: Value) -> list[float]:
        """The cumulants, from order 0 on, of a single drawn number or of a function of one.

        Raises:
            PolynomialError: they are not known.
        """
        if id(value) not in self._known:
            of_value = _of_law if value.kind == Kind.DRAW else self._of_function
            self._known[id(value)] = of_value(value)
        return self._known[id(value)]

    def _of_function(self, value: Value) -> list[float]:
        self.integrated = True
        mean = self._moment(value, 1, 0.0)
        central = [self._moment(value, order, mean.value) for order in (2, 3, 4)]
        deviation = math.sqrt(max(central[0].value, 0.0))
        first, second, third, fourth = (
            one.value
            if one.error <= FUNCTION_ERROR / 10 * max(abs(one.value), deviation**order)
            else math.nan
            for order, one in enumerate([mean, *central], start=1)
        )
        return [0.0, first, second, third, fourth - 3.0 * second**2]

    def _moment(self, value: Value, order: int, centre: float) -> Estimate:
        return joint_moment([value], [order], [centre], self._norm, self._means)


def _of_orders(rows: Sequence[Sequence[float]], precision: FloatType) -> Callable[[int], Floats]:
    """A function from an order to the cumulants of this order, one for each row."""
    table = np.full((len(rows), MOST_FACTORS + 1), np.nan)
    for row, own in enumerate(rows):
        table[row, : len(own)] = own[: MOST_FACTORS + 1]

    def of_order(order: int) -> Any:
        own = table[:, order]
        if not np.isfinite(own).all():
            raise PolynomialError
        return own.astype(precision)

    return of_order


def _of_law(draw: Value) -> list[float]:
    """The cumulants, from order 0 on, of a single drawn number.

    Raises:
        PolynomialError: they are not known.
    """
    moved = _moved_by(draw)
    arguments = fixed_arguments(draw) if moved is None else (0.0, *_fixed(draw.inputs[1:]))
    if draw.law is None or draw.shape or draw.law.own_axes is not None or arguments is None:
        raise PolynomialError
    if not all(isinstance(one, float) for one in arguments):
        raise PolynomialError
    return [0.0, float(draw.law.mean(*arguments)), *map(float, draw.law.cumulants(*arguments)[2:])]


def _moved_by(draw: Value) -> Value | None:
    """The random argument of a draw that is only a location, as x in normal(x, 1); or None.

    The draw is then the sum of this argument and an independent draw of the same law at 0: the
    law's line is location + scale * standard.

    Raises:
        PolynomialError: another argument is random too.
    """
    law = draw.law
    if law is None or law.line is None or law.standard_arguments is None:
        return None  # `standard_arguments` says that the line holds for random arguments
    if not draw.inputs or not draw.inputs[0].random:
        return None
    others = _fixed(draw.inputs[1:])
    at_one, at_two = (np.asarray(law.line(at, *others), dtype=np.float64) for at in (1.0, 2.0))
    return draw.inputs[0] if np.array_equal(at_two - at_one, np.eye(len(at_one))[0]) else None


def _fixed(values: Sequence[Value]) -> tuple[float, ...]:
    """The fixed numbers that values are.

    Raises:
        PolynomialError: a value is no fixed number.
    """
    return tuple(_number(value) for value in values)


def _form(
    value: Value, draws: dict[int, Value], known: _Cumulants, precision: FloatType
) -> LinearForm:
    """A quantity as a linear form.

    It goes from the quantity down to the draws, with the factor of each value in the quantity.

    Raises:
        PolynomialError: it is no linear form.
    """
    factors: dict[int, float] = {id(value): 1.0}
    parts: list[float] = []
    if not value.random:
        return LinearForm(_number(value), {})
    own: dict[int, float] = {}

    def rounded(number: float) -> float:
        return float(precision(number))

    for one in reversed(ordered([value])):
        if id(one) not in factors:  # it is below a function of one draw
            continue
        factor = factors.pop(id(one))
        if one.shape or one.estimated:
            raise PolynomialError
        shares, shift = _shares(one)
        if one.kind == Kind.DRAW or not shares:
            drawn = one if one.kind == Kind.DRAW else draw_below(one)
            if drawn is None or drawn.kind != Kind.DRAW:  # no function of a single drawn number
                raise PolynomialError
            draws.setdefault(id(one), one)
            own[id(one)] = factor
        for share, below in shares:
            more = rounded(factor * rounded(share))
            factors[id(below)] = rounded(factors.get(id(below), 0.0) + more)
        parts.append(rounded(factor * rounded(shift)))
    parts += [rounded(factor * known.of(draws[key])[1]) for key, factor in own.items()]
    return LinearForm(summed(parts), own)


def _shares(value: Value) -> tuple[WeightedValues, float]:
    """A value as a sum of values with factors, and a number; no values if it is no sum.

    A draw with a random location is such a sum; see `_moved_by`.

    Raises:
        PolynomialError: it is a draw with other random arguments.
    """
    if value.kind == Kind.DRAW:
        moved = _moved_by(value)
        return () if moved is None else ((1.0, moved),), 0.0
    return sum_of(value)


def _number(value: Value) -> float:
    """The fixed number that a value is.

    Raises:
        PolynomialError: it is random, an array, or not finite.
    """
    known = value.known if value.shape == () and value.constant is not None else None
    if not isinstance(known, float) or not math.isfinite(known):
        raise PolynomialError
    return known
