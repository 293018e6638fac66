"""Moments of products of a few linear forms in many independent draws, as recurrences make them.

The state of a linear recurrence after a thousand steps is a sum of a thousand draws, each with a
factor: too many terms to be multiplied out, and no need to. Joint cumulants of linear forms are
sums over the draws, κ(Σ a ξ, Σ b ξ, …) = Σ a b … κ_m(ξ), and moments are sums over the partitions
of the factors (McCullagh 1987, "Tensor Methods in Statistics", sections 2.3 and 2.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dropcheck.analysis.averaged_products import Integrand
from dropcheck.analysis.moments.dissection import WeightedValues, sum_of
from dropcheck.analysis.moments.law_bounds import fixed_arguments
from dropcheck.analysis.polynomials.terms import TINY
from dropcheck.array_types import Floats
from dropcheck.language.graph import Kind, Value, ordered
from dropcheck.vocabulary.functions.algebra import PolynomialError
from dropcheck.vocabulary.functions.elementwise import MULTIPLY, POWER
from dropcheck.vocabulary.majorants.bounds_arithmetic import summed

FloatType = type[np.float64] | type[np.float32]

# Factors of both sides of a covariance together: their partitions are few.
MOST_FACTORS = 4
# In single precision what rounding does is so many times as large, and so can be seen.
EPSILONS_APART = float(np.finfo(np.float32).eps / np.finfo(np.float64).eps)
# By so much more than it shows there it is taken to be in double precision.
GIVE = 64.0

FactorValues = tuple[Value, ...]
"""Quantities whose product is meant."""


@dataclass(frozen=True, slots=True)
class ProductMoments:
    """Means and covariances of products, and how far they may be off."""

    means: Floats
    covariances: Floats
    means_off: Floats
    covariances_off: Floats


def linear_factors(summand: Integrand) -> list[tuple[Value, float]]:
    """The factors of a summand, each less a number.

    Raises:
        PolynomialError: it has a condition, or a number is taken off a product.
    """
    if summand.given is not None:
        raise PolynomialError
    found: list[tuple[Value, float]] = []
    for value, power, centre in summand.centred:
        factors = factors_of(value)
        if centre and len(factors) > 1:
            raise PolynomialError
        found += [(one, centre) for one in factors] * power
    return found


def moments_of(products: Sequence[Sequence[tuple[Value, float]]]) -> ProductMoments:
    """The means and covariances of products of linear forms, each less a number.

    Raises:
        PolynomialError: they are no such products, or of too many factors.
    """
    double = _moments(products, np.float64)
    single = _moments(products, np.float32)
    means, covariances = double
    errors = [
        GIVE / EPSILONS_APART * np.abs(one - other)
        for one, other in zip(double, single, strict=True)
    ]
    varied = np.array([any(value.random for value, _ in product) for product in products])
    lost = covariances.diagonal()[varied] < TINY
    if lost.any() or not all(np.isfinite(each).all() for each in (*double, *errors)):
        raise PolynomialError
    return ProductMoments(means, covariances, errors[0], errors[1])


def factors_of(value: Value) -> FactorValues:
    """A quantity as a product of others, itself if it is none.

    Raises:
        PolynomialError: of too many.
    """
    found: list[Value] = []
    stack = [value]
    while stack:
        one = stack.pop()
        function = one.function if one.kind == Kind.COMPUTED else None
        if function is MULTIPLY and all(below.random for below in one.inputs):
            stack += one.inputs
        elif function is POWER and one.inputs[1].known in (2.0, 3.0, 4.0):
            stack += [one.inputs[0]] * round(float(one.inputs[1].constant[0]))
        else:
            found.append(one)
        if len(found) + len(stack) > MOST_FACTORS:
            raise PolynomialError
    return tuple(found)


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A number and, for each draw, its factor: Σ factor · (draw − its mean) + number.

    Of a draw that a random argument moves, what is left of it without that is meant.
    """

    number: float
    factors: Mapping[int, float]  # by the identity of the draw's value


def _moments(
    products: Sequence[Sequence[tuple[Value, float]]], precision: FloatType
) -> tuple[Floats, Floats]:
    if max(map(len, products), default=0) > MOST_FACTORS:
        raise PolynomialError
    values = {id(value): value for product in products for value, _ in product}
    draws: dict[int, Value] = {}
    forms = {key: _form(value, draws, precision) for key, value in values.items()}
    places = {key: place for place, key in enumerate(draws)}
    rows: dict[int, Any] = {
        key: np.array([form.factors.get(draw, 0.0) for draw in places], dtype=precision)
        for key, form in forms.items()
    }
    cumulants = _cumulants(draws, precision)
    known: dict[tuple[int, ...], float] = {}

    def joint(block: tuple[int, ...]) -> float:
        """The joint cumulant of some of the forms, about their means."""
        block = tuple(sorted(block))
        if block not in known:
            terms = cumulants(len(block))
            for key in block:
                terms = terms * rows[key]
            known[block] = float(terms.sum(dtype=precision))
        return known[block]

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
    """The expectation of a product; with another, what they have beyond the product of both."""
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
    """Every partition into blocks, each in order."""
    if not places:
        yield []
        return
    first, *rest = places
    for blocks in _partitions(rest):
        yield [[first], *blocks]
        for at, block in enumerate(blocks):
            yield [*blocks[:at], [first, *block], *blocks[at + 1 :]]


def _cumulants(draws: Mapping[int, Value], precision: FloatType) -> Callable[[int], Floats]:
    found = np.full((len(draws), MOST_FACTORS + 1), np.nan)  # of orders that no float64 holds
    for row, draw in enumerate(draws.values()):
        own = _of_law(draw)[: MOST_FACTORS + 1]
        found[row, : len(own)] = own

    def of_order(order: int) -> Any:
        own = found[:, order]
        if not np.isfinite(own).all():
            raise PolynomialError
        return own.astype(precision)

    return of_order


def _of_law(draw: Value) -> list[float]:
    """The mean in place of the first, then the cumulants of a draw of one number.

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
    """The random argument that moves a draw and does no more: the mean of normal(x, 1).

    The draw is then this argument and one of the same law at 0, which depends on nothing else: it
    is location + scale * standard, as the law's line says.

    Raises:
        PolynomialError: another argument is random too.
    """
    law = draw.law
    if law is None or law.line is None or law.standard_arguments is None:
        return None  # the last says that the line holds for random arguments
    if not draw.inputs or not draw.inputs[0].random:
        return None
    others = _fixed(draw.inputs[1:])
    at_one, at_two = (np.asarray(law.line(at, *others), dtype=np.float64) for at in (1.0, 2.0))
    return draw.inputs[0] if np.array_equal(at_two - at_one, np.eye(len(at_one))[0]) else None


def _fixed(values: Sequence[Value]) -> tuple[float, ...]:
    """Fixed numbers.

    Raises:
        PolynomialError: one is none.
    """
    return tuple(_number(value) for value in values)


def _form(value: Value, draws: dict[int, Value], precision: FloatType) -> LinearForm:
    """A quantity as a linear form, from the quantity down: each value's factor in it.

    Raises:
        PolynomialError: it is none.
    """
    factors: dict[int, float] = {id(value): 1.0}
    parts: list[float] = []
    if not value.random:
        return LinearForm(_number(value), {})
    own: dict[int, float] = {}

    def rounded(number: float) -> float:
        return float(precision(number))

    for one in reversed(ordered([value])):
        factor = factors.pop(id(one))
        if one.shape or one.estimated:
            raise PolynomialError
        if one.kind == Kind.DRAW:
            draws.setdefault(id(one), one)
            own[id(one)] = factor
            parts.append(rounded(factor * _of_law(one)[1]))
        shares, shift = _shares(one)
        for share, below in shares:
            more = rounded(factor * rounded(share))
            factors[id(below)] = rounded(factors.get(id(below), 0.0) + more)
        parts.append(rounded(factor * rounded(shift)))
    return LinearForm(summed(parts), own)


def _shares(value: Value) -> tuple[WeightedValues, float]:
    """What a value is the sum of, each with its factor, and a number.

    Raises:
        PolynomialError: it is no such sum.
    """
    if value.kind == Kind.DRAW:
        moved = _moved_by(value)
        return () if moved is None else ((1.0, moved),), 0.0
    found = sum_of(value)
    if not found[0]:
        raise PolynomialError
    return found


def _number(value: Value) -> float:
    """A fixed number.

    Raises:
        PolynomialError: it is an array, or not a finite number.
    """
    known = value.known if value.shape == () and value.constant is not None else None
    if not isinstance(known, float) or not math.isfinite(known):
        raise PolynomialError
    return known
