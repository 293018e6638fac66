"""Exact moments of products whose factors share no draw: the mean is the product of the means.

A product of ten sums of random numbers has thousands of terms when multiplied out, but only ten
means of factors. With f_i = Π_g f_ig, where the factors of different groups g share no draw,
E f_i = Π_g E f_ig and E f_i f_j = Π_g E f_ig f_jg (Kolmogorov 1933, "Grundbegriffe der
Wahrscheinlichkeitsrechnung", chapter VI).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import combinations

import numpy as np

from dropcheck.analysis.averaged_products import Integrand, ValuePowers
from dropcheck.analysis.bounds import Hulls
from dropcheck.analysis.moments.independence import grouped
from dropcheck.array_types import Floats
from dropcheck.language.graph import Kind, Value, computed, constant_beside
from dropcheck.vocabulary.functions.algebra import PolynomialError
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY, NEGATIVE, POWER, SQRT

# The most steps in which a product is opened, and the most groups of factors.
MOST_FACTORS, MOST_GROUPS = 2_000, 200
# The most groups of draws that are combined: each set of groups is a part of the covariances.
MOST_CROSSED = 6

Means = Callable[..., tuple[float, float] | None]
"""Takes one product, or two that are averaged over their elements before they are multiplied.

Returns the mean and a bound of its error; None if it is not known.
"""
Estimates = tuple[Floats, Floats]
"""Numbers and bounds of their errors; NaN where they are not known."""
_Powers = Mapping[int, float]
_Exponents = tuple[float, ...]


class Factorised:
    """Products, each as a number times powers of factors, in groups that share no draw.

    Args:
        summands: the integrands; their centres are multiplied out.
        means: gives the means of products within a group.
        least: the smallest number of groups for which this is used.
        linked: whether at least one product must have factors of several groups. It is set if the
            integrands were too large as polynomials: a product in one group still is.

    Raises:
        PolynomialError: an integrand has a condition, there are too few or too many groups, too
            many factors, or arrays in more than one group.
    """

    def __init__(
        self, summands: Sequence[Integrand], means: Means, least: int, linked: bool = False
    ) -> None:
        self._means = means
        self._values: dict[int, Value] = {}
        self._hulls = Hulls()
        if any(one.given is not None for one in summands):
            raise PolynomialError
        sums = [_without_centres(one) for one in summands]
        products = list(dict.fromkeys(product for own in sums for product in own))
        self._rows = np.array([[own.get(one, 0.0) for one in products] for own in sums])
        self._opened = [self._factors(product) for product in products]
        self._numbers = np.array([number for number, _ in self._opened])
        self.groups = grouped(list(self._values.values()), lambda value: value.sources)
        arrays = sum(any(value.shape for value in group) for group in self.groups)
        # the mean over elements of a product of two arrays is no product of two means
        if arrays > 1 or not least <= len(self.groups) <= MOST_GROUPS:
            raise PolynomialError
        if linked and all(self._in_one_group(powers) for _, powers in self._opened):
            raise PolynomialError

    def _in_one_group(self, powers: _Powers) -> bool:
        return sum(any(id(one) in powers for one in group) for group in self.groups) <= 1

    def means(self) -> Estimates:
        """The means, and bounds of their errors.

        Raises:
            PolynomialError: they are not known.
        """
        return self._joined(
            *_product([self._means_of(group)[0] for group in self.groups]), self._numbers
        )

    def moments(self, crossed: Mapping[str, int] | None) -> tuple[Estimates, dict[int, Estimates]]:
        """The means, and the parts of the covariances by the linking groups of draws, as bits.

        Args:
            crossed: the group of each draw by its name, if every draw of a group is combined with
                every draw of the others; None: all draws are in one group.

        Raises:
            PolynomialError: they are not known.
        """
        both = np.outer(self._numbers, self._numbers)
        joined: dict[int, list[tuple[Estimates, Estimates]]] = {}
        for group in self.groups:
            joined.setdefault(_place(group, crossed), []).append(self._of_group(group))
        if len(joined) > MOST_CROSSED:
            raise PolynomialError
        one = {at: _product([first for first, _ in own]) for at, own in joined.items()}
        two = {at: _product([second for _, second in own]) for at, own in joined.items()}
        squares = {
            at: _product([(own[:, np.newaxis], off[:, np.newaxis]), (own, off)])
            for at, (own, off) in one.items()
        }
        parts: dict[int, Estimates] = {}
        for size in range(1, len(joined) + 1):
            for linked in combinations(joined, size):
                factors = [squares[at] for at in joined if at not in linked]
                for at in linked:
                    own, off = two[at]
                    factors.append((own - squares[at][0], off + squares[at][1]))
                bits = sum(1 << at for at in linked)
                parts[bits] = self._joined(*_product(factors), both)
        return self._joined(*_product(list(one.values())), self._numbers), parts

    def _joined(self, values: Floats, off: Floats, numbers: Floats) -> Estimates:
        """Estimates for the integrands from estimates for their products.

        Raises:
            PolynomialError: they are not known.
        """
        own, own_off = values * numbers, off * np.abs(numbers)
        for _ in range(own.ndim):  # rows, then columns
            own, own_off = (self._rows @ own).T, (np.abs(self._rows) @ own_off).T
        if not (np.isfinite(own).all() and np.isfinite(own_off).all()):
            raise PolynomialError
        return own, own_off

    def _of_group(self, group: Sequence[Value]) -> tuple[Estimates, Estimates]:
        """The means of the products' factors in a group, and of the products of any two of them.

        Unknown means are bounded by the Cauchy-Schwarz inequality.
        """
        (first, off), mean, rows = self._means_of(group)

        def of_two(one: _Exponents, other: _Exponents) -> tuple[float, float]:
            if any(value.shape for value in group):
                return mean(*sorted((one, other)))
            return mean(tuple(a + b for a, b in zip(one, other, strict=True)))

        if any(math.isnan(of_two(row, row)[0]) for row in rows):
            raise PolynomialError  # without the squares there are no bounds
        second, second_off = np.moveaxis(
            np.array([[of_two(one, other) for other in rows] for one in rows]), -1, 0
        )
        sizes = np.sqrt(second.diagonal() + second_off.diagonal())
        unknown, apart = np.isnan(first), np.isnan(second)
        return (
            (np.where(unknown, 0.0, first), np.where(unknown, sizes, off)),
            (np.where(apart, 0.0, second), np.where(apart, np.outer(sizes, sizes), second_off)),
        )

    def _means_of(
        self, group: Sequence[Value]
    ) -> tuple[Estimates, Callable[..., tuple[float, float]], list[_Exponents]]:
        """The means of the products' factors in a group, a function for other means, and exponents.

        The function takes exponents of the values in the group, one or two tuples of them; the last
        result has the exponents in each product. A mean is NaN if it is not known.
        """
        known: dict[tuple[_Exponents, ...], tuple[float, float]] = {}

        def mean(*powers: _Exponents) -> tuple[float, float]:
            """The mean of a product, or of the product of two that are averaged over elements."""
            if powers not in known:
                products = [_product_of(group, each) for each in powers]
                known[powers] = self._means(*products) or (math.nan, math.nan)
            return known[powers]

        rows = [tuple(own.get(id(value), 0.0) for value in group) for _, own in self._opened]
        first, off = np.array([mean(row) for row in rows]).T
        return (first, off), mean, rows

    def _factors(self, product: ValuePowers) -> tuple[float, _Powers]:
        """A product as a number times powers of values that are no products themselves."""
        number, powers, steps = 1.0, dict[int, float](), 0
        stack = [(value, float(power)) for value, power in product]
        while stack:
            value, power = stack.pop()
            steps += 1
            if steps > MOST_FACTORS:
                raise PolynomialError
            if not value.random:
                fixed = value.known
                if not isinstance(fixed, float):
                    raise PolynomialError
                number *= float(np.float64(fixed) ** power)
                continue
            function = value.function if value.kind == Kind.COMPUTED else None
            first = value.inputs[0] if function is not None else value
            exponent = value.inputs[1].known if function is POWER else None
            if function is MULTIPLY and power == round(power):
                stack += [(one, power) for one in value.inputs]
            elif function is DIVIDE and power == round(power):
                stack += [(first, power), (value.inputs[1], -power)]
            elif function is NEGATIVE and power == round(power):
                number *= (-1.0) ** power
                stack.append((first, power))
            elif isinstance(exponent, float) and self._alike(first, exponent, power):
                stack.append((first, power * exponent))
            elif function is SQRT and self._alike(first, 0.5, power):
                stack.append((first, power / 2))
            else:
                self._values[id(value)] = value
                powers[id(value)] = powers.get(id(value), 0.0) + power
        return number, powers

    def _alike(self, value: Value, inner: float, outer: float) -> bool:
        """Whether (value^inner)^outer is value^(inner · outer).

        The root of x² is |x|: if the value may be below 0, both exponents must be whole.
        """
        whole = inner == round(inner) >= 0 and outer == round(outer)
        return whole or self._hulls.of(value).low >= 0


def _without_centres(summand: Integrand) -> dict[ValuePowers, float]:
    """Π (value - centre)^power as a sum of products of powers, each with its factor."""
    sums: dict[ValuePowers, float] = {(): 1.0}
    for value, power, centre in summand.centred:
        parts = {
            order: math.comb(power, order) * (-centre) ** (power - order)
            for order in (range(power + 1) if centre else (power,))
        }
        sums = {
            (*others, *([(value, order)] if order else [])): share * part
            for others, share in sums.items()
            for order, part in parts.items()
        }
    return sums


def _place(group: Sequence[Value], crossed: Mapping[str, int] | None) -> int:
    if crossed is None:
        return 0
    names = {crossed[name] for value in group for name in value.sources if name in crossed}
    if len(names) != 1:
        raise PolynomialError
    return names.pop()


def _product_of(group: Sequence[Value], powers: _Exponents) -> ValuePowers:
    pairs = zip(group, powers, strict=True)
    return tuple(_raised(value, power) for value, power in pairs if power)


def _raised(value: Value, power: float) -> tuple[Value, int]:
    if power == round(power) > 0:
        return value, round(power)
    return computed(POWER, value, constant_beside(value, power), like=value), 1


def _product(factors: Sequence[Estimates]) -> Estimates:
    """The product of estimates."""
    product = reduce(np.multiply, [own for own, _ in factors])
    most = reduce(np.multiply, [np.abs(own) + off for own, off in factors])
    return product, most - np.abs(product)
