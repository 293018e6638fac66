"""Exact means and covariances of the integrands of a program, before any draw.

The expectations of a polynomial in independent draws follow from the moments of the laws. Axes and
sums are kept as indices, so that the work does not depend on the size of the arrays.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import combinations

import numpy as np

from dropcheck.analysis.averaged_products import ExactMoments, Integrand, ValuePowers, quantities
from dropcheck.analysis.bounds import Hulls
from dropcheck.analysis.enumeration import Outcomes, outcomes_of
from dropcheck.analysis.fewer_draws.sums import exchanged, made_of, takers_of
from dropcheck.analysis.law_bounds import grouped
from dropcheck.analysis.letters import PRECISION, Centred, Identities, drawn_in, expected
from dropcheck.analysis.norms import Norms
from dropcheck.analysis.on_paper import first_off
from dropcheck.analysis.ring import (
    TINY,
    Atom,
    Monomial,
    NormalForms,
    Polynomial,
    mean_of_elements,
    value_of,
)
from dropcheck.analysis.single_draw import Found, Norm, norm_of_product
from dropcheck.array_types import Floats
from dropcheck.language.graph import Kind, Value, computed, computed_from, constant_beside, ordered
from dropcheck.vocabulary.function import KernelError
from dropcheck.vocabulary.functions.algebra import PolynomialError, TooLargeError
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY, NEGATIVE, POWER, SQRT

# ---- factorised ----------------------------------------------------------------------------------
#
# Exact moments of products whose factors share no draw: the mean is the product of the means.
#
# A product of ten sums of random numbers has thousands of terms when multiplied out, but only ten
# means of factors. With f_i = Π_g f_ig, where the factors of different groups g share no draw,
# E f_i = Π_g E f_ig and E f_i f_j = Π_g E f_ig f_jg (Kolmogorov 1933, "Grundbegriffe der
# Wahrscheinlichkeitsrechnung", chapter VI).


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


# ---- conditioned ---------------------------------------------------------------------------------
#
# Exact moments from the exact moments given each outcome of some discrete draws N.
#
# E f = E E(f | N), and Cov(f, g) = E Cov(f, g | N) + Cov(E(f | N), E(g | N)), the law of total
# covariance (Ross 2014, "A First Course in Probability", section 7.5). So the moments of a sum of a
# random number of terms, or of a mixture by a random index, follow from those for each number.
#
# Nearly impossible outcomes A are left out. They contribute E |f g| [A] <= ‖f‖₄ ‖g‖₄ √P(A), by
# Hölder's inequality; a condition only makes it smaller.


MOST_CONDITIONS = 64
MOST_VALUES = 4_000  # in the graphs of all outcomes together

KnownDraws = dict[int, float]
"""The values of some draws."""


@dataclass(frozen=True, slots=True)
class ProductMoments:
    """Means and covariances of products, and bounds of their errors."""

    means: Floats
    covariances: Floats
    means_off: Floats
    covariances_off: Floats


def conditioned(
    summands: Sequence[Integrand],
    moments: Callable[[Sequence[Integrand]], ExactMoments | None],
    norm: Norm,
) -> ProductMoments:
    """The moments of integrands.

    Args:
        summands: the integrands.
        moments: gives the exact moments of integrands in which the discrete draws are fixed.
        norm: gives bounds of the norms of quantities.

    Raises:
        PolynomialError: there are no such draws, or the moments given an outcome are not known.
    """
    below = ordered(quantities(summands))
    outcomes, chances, rest = _outcomes(below)
    if not 1 < len(outcomes) <= MOST_VALUES / len(below):
        raise PolynomialError
    given_each = []
    for outcome in outcomes:
        stands = _given(below, outcome)
        known = moments([one.with_values(stands) for one in summands])
        if known is None:
            raise PolynomialError
        given_each.append(known)
    joined = _joined(chances, given_each)
    if rest == 0:
        return joined
    sizes = [norm_of_product(list(one.centred), 4.0, norm) for one in summands]
    beyond = rest**0.25 * np.array(sizes)
    return replace(
        joined,
        means_off=joined.means_off + beyond * rest**0.25,
        covariances_off=joined.covariances_off + 3 * np.outer(beyond, beyond),
    )


def _outcomes(values: Sequence[Value]) -> tuple[list[KnownDraws], Floats, float]:
    """The joint outcomes of discrete draws, their probabilities, and that of all others.

    Draws with which there would be too many outcomes are not among them.
    """
    outcomes: list[KnownDraws] = [{}]
    chances, rest = np.ones(1), 0.0
    for value in values:
        if value.kind != Kind.DRAW or value.shape or value.law is None or not value.law.discrete:
            continue
        known = [one.known for one in value.inputs]
        points = None if None in known else value.law.points(*known, at_most=MOST_CONDITIONS)
        if points is None or len(outcomes) * len(points[0]) > MOST_CONDITIONS:
            continue
        pairs = itertools.product(outcomes, points[0].tolist())
        outcomes = [{**one, id(value): point} for one, point in pairs]
        chances = np.outer(chances, points[1]).ravel()
        rest += points[2]
    return outcomes, chances, rest


def _given(values: Sequence[Value], outcome: KnownDraws) -> Callable[[Value], Value]:
    """What stands for each value if some draws have known values.

    Raises:
        PolynomialError: a function does not take such a value, or rounding decides its result.
    """
    drawn = [value for value in values if id(value) in outcome]
    known = {id(value): constant_beside(value, outcome[id(value)]) for value in drawn}
    stands = exchanged(values, known, _made_or_constant)
    if first_off(map(stands, values)) is not None:
        raise PolynomialError
    return stands


def _made_or_constant(value: Value, inputs: tuple[Value, ...]) -> Value:
    """A value made of other inputs; a constant if all of these are fixed."""
    made = made_of(value, inputs)
    if made.kind != Kind.COMPUTED or any(one.random for one in inputs):
        return made
    try:
        return replace(made, constant=computed_from(made, {}), random=False)
    except KernelError:
        raise PolynomialError from None


def _joined(chances: Floats, given_each: Sequence[ExactMoments]) -> ProductMoments:
    """The moments over all outcomes, from the moments given each outcome."""
    means = np.stack([one.means for one in given_each])
    off = np.stack([one.mean_errors for one in given_each])
    inner = np.stack([one.covariance(1) for one in given_each])
    mean, mean_off = chances @ means, chances @ off
    away = means - mean
    for sizes in (np.ones_like(means), means, away * away, inner):
        parts = np.tensordot(np.diag(chances), sizes, 1)[sizes != 0]
        if (np.abs(parts) < TINY).any():  # it underflows
            raise PolynomialError
    # the errors of a product of two differences, each with the errors of both of its means
    crossed = np.einsum("k,ki,kj->ij", chances, off + mean_off, np.abs(away) + off + mean_off)
    deviations = np.sqrt(np.maximum(np.diagonal(inner, axis1=1, axis2=2), 0.0))
    errors = chances * np.array([one.error for one in given_each])
    return ProductMoments(
        means=mean,
        means_off=mean_off,
        covariances=np.tensordot(chances, inner, 1) + np.einsum("k,ki,kj->ij", chances, away, away),
        covariances_off=np.einsum("k,ki,kj->ij", errors, deviations, deviations)
        + crossed
        + crossed.T,
    )


# ---- exact ---------------------------------------------------------------------------------------


# Up to FEW_OUTCOMES a table of all outcomes is faster than polynomials; up to MOST_OUTCOMES it is
# used if polynomials fail.
FEW_OUTCOMES, MOST_OUTCOMES = 256, 20_000
# From this many independent factors on, a product is not multiplied out.
MANY_FACTORS = 4
# The least number of steps that build on one another for a model to count as a recurrence.
FEWEST_STEPS = 5
# The largest relative error of moments by factors: for some factors only bounds may be known.
MOST_OFF = 1e-6


def exact_moments(
    integrands: Sequence[Integrand],
    groups: Mapping[str, int] | None = None,
    found: Found | None = None,
) -> ExactMoments | None:
    """The exact moments of integrands; None if they are not known, or take too much work.

    Args:
        integrands: the integrands.
        groups: the group of each draw by its name, if draws of groups are combined.
        found: expectations over one draw that are known already.
    """
    if not integrands:
        return None
    moments = _at_once(integrands, groups, found)
    if moments is not None or groups is not None:
        return moments
    norm = Norms(integrate=False).norm
    return _with_offs(lambda: conditioned(integrands, partial(_at_once, known=found), norm))


def _at_once(
    integrands: Sequence[Integrand],
    groups: Mapping[str, int] | None = None,
    known: Found | None = None,
) -> ExactMoments | None:
    """The exact moments, without conditioning on discrete draws."""
    moments = _of_outcomes(integrands, FEW_OUTCOMES) if groups is None else None
    if moments is not None:
        return moments
    by_factors = _of_factors(integrands, groups, known, MANY_FACTORS)
    if by_factors is not None:
        return by_factors
    try:
        with np.errstate(all="ignore"):  # an overflow raises an error where the result is used
            return _of_polynomials(integrands, groups, known)
    except PolynomialError as error:
        linked = isinstance(error, TooLargeError)
        by_factors = _of_factors(integrands, groups, known, 2, linked)
    if by_factors is not None or groups is not None:
        return by_factors
    return _of_outcomes(integrands, MOST_OUTCOMES) or _by_steps(integrands, known)


def exact_means(
    integrands: Sequence[Integrand], known: Found | None = None
) -> tuple[Floats, Floats] | None:
    """The means of integrands, and bounds of their errors; None if they are not known.

    Args:
        integrands: the integrands.
        known: expectations over one draw that are known already.
    """
    if not integrands:
        return np.zeros(0), np.zeros(0)
    moments = _of_outcomes(integrands, FEW_OUTCOMES)
    if moments is None:
        letters = Centred(bounds=Norms(integrate=False).norm, found=known)
        space = letters.space
        try:
            with np.errstate(all="ignore"):
                polynomials = (_polynomial(letters.reading, one) for one in integrands)
                terms = [mean_of_elements(one).terms for one in polynomials]
                pairs = [value_of(space, expected(space, own, letters.sources)) for own in terms]
        except PolynomialError:
            moments = _of_outcomes(integrands, MOST_OUTCOMES)
        else:
            means, sizes = np.array(pairs).T
            return (means, PRECISION * sizes) if np.isfinite(pairs).all() else None
    if moments is None:
        try:
            with np.errstate(all="ignore"):
                return Factorised(integrands, partial(_mean_of_products, known), 2).means()
        except PolynomialError:
            return None
    return moments.means, moments.mean_errors


def vanishes(value: Value) -> bool:
    """Whether the normal form of a quantity shows that it is 0 in every draw, up to rounding."""
    try:
        with np.errstate(all="ignore"):
            return not NormalForms(Identities()).polynomial(value).terms
    except PolynomialError:
        return False


def _of_outcomes(integrands: Sequence[Integrand], most: int) -> ExactMoments | None:
    """The moments by all outcomes, if every draw is discrete and there are at most `most`."""
    roots = quantities(integrands)
    table = outcomes_of(roots, most)
    if table is None:
        return None
    with np.errstate(all="ignore"):
        paper = table.on_paper(roots)
        found = _summed(integrands, table)
        other = found if paper is table or paper is None else _summed(integrands, paper)
        if paper is None or found is None or other is None:
            return None
        # if rounding decides in some outcome, the truth lies between float64 and exact arithmetic
        means, covariance = ((one + paper) / 2 for one, paper in zip(found, other, strict=True))
        deviations = np.sqrt(covariance.diagonal())
        off = np.abs(other[0] - means)
        tied = _share_of(np.abs(other[1] - covariance), np.outer(deviations, deviations))
        sizes = np.abs(means) + deviations
        error = PRECISION + max(tied, _share_of(off, sizes))
    if not np.isfinite(error):
        return None
    return ExactMoments(
        means=means,
        components={frozenset({0}): covariance},
        error=error,
        means_off=off + PRECISION * sizes,
    )


def _share_of(off: Floats, sizes: Floats) -> float:
    """The largest relative error; infinite if there is an error of a size 0."""
    return float(np.where(off > 0, off / sizes, 0.0).max(initial=0.0))


def _summed(integrands: Sequence[Integrand], table: Outcomes) -> tuple[Floats, Floats] | None:
    """The means and covariances over all outcomes; None if they are not known."""
    rows = np.stack([_in_outcomes(one, table) for one in integrands])
    parts = rows * table.probabilities
    means = parts.sum(axis=1)
    deviations = rows - means[:, np.newaxis]
    squares = deviations * deviations * table.probabilities
    covariance = (deviations * table.probabilities) @ deviations.T
    if not (np.isfinite(rows).all() and np.isfinite(covariance).all()):
        return None
    if (
        _lost(table.probabilities)
        or _lost(parts[rows != 0])
        or _lost(squares.max(axis=1)[deviations.any(axis=1)])
    ):
        return None
    return means, covariance


def _lost(products: Floats) -> bool:
    """Whether a product of numbers that are not 0 underflowed."""
    return bool((np.abs(products) < TINY).any())


def _in_outcomes(integrand: Integrand, table: Outcomes) -> Floats:
    """An integrand in each outcome."""
    whole: Floats = np.ones(1)
    for value, power, centre in integrand.centred:
        whole = whole * (table.values(value) - centre) ** power
    if integrand.given is not None:
        # a quantity need not be defined where the condition fails
        given = table.values(integrand.given)
        whole = np.where(given == 0, 0.0, whole)
    means: Floats = whole.reshape(-1, whole.shape[-1]).mean(axis=0)
    return np.broadcast_to(means, table.probabilities.shape)


def _with_offs(moments: Callable[[], ProductMoments]) -> ExactMoments | None:
    """Moments with bounds of their errors as `ExactMoments`; None if they are not known."""
    try:
        with np.errstate(all="ignore"):
            found = moments()
        sizes = _magnitude(found.means, found.means_off)
        spreads = _magnitude(found.covariances, found.covariances_off)
        return _with_error(found.means, sizes, {1: (found.covariances, spreads)})
    except PolynomialError:
        return None


def _of_factors(
    integrands: Sequence[Integrand],
    groups: Mapping[str, int] | None,
    known: Found | None,
    least: int,
    linked: bool = False,
) -> ExactMoments | None:
    """The moments of products of at least `least` factors that share no draw."""
    try:
        with np.errstate(all="ignore"):
            factorised = Factorised(integrands, partial(_mean_of_products, known), least, linked)
            (means, off), parts = factorised.moments(groups)
            sized = {linked: (one, _magnitude(one, its)) for linked, (one, its) in parts.items()}
            moments = _with_error(means, _magnitude(means, off), sized)
    except PolynomialError:
        return None
    return moments if moments.error <= MOST_OFF else None


def _mean_of_products(known: Found | None, *averaged: ValuePowers) -> tuple[float, float] | None:
    """The mean of a product, or of two that are averaged over elements before multiplying them."""
    own = [Integrand(factors=product) for product in averaged if product]
    if len(own) < 2:
        found = exact_means(own, known) if own else (np.ones(1), np.zeros(1))
        return None if found is None else (float(found[0][0]), float(found[1][0]))
    moments = exact_moments(own, found=known)
    if moments is None:
        return None
    covariance, means = moments.covariance(1), moments.means
    deviations = np.sqrt(covariance.diagonal())
    off = moments.error * (deviations.prod() + 2 * (np.abs(means) + deviations).prod())
    return float(covariance[0, 1] + means.prod()), float(off)


def _by_steps(integrands: Sequence[Integrand], known: Found | None) -> ExactMoments | None:
    """The moments of a recurrence, averaged over step by step."""
    carried = _carried(quantities(integrands))
    if not carried:
        return None
    try:
        with np.errstate(all="ignore"):
            return _of_polynomials(integrands, None, known, carried)
    except PolynomialError:
        return None


def _carried(roots: Sequence[Value]) -> set[int]:
    """The ids of values used several times, or multiplied; none if there is no recurrence."""
    values = ordered(roots)
    takers = takers_of(values, roots)
    multiplied = {id(one) for value in values if not _is_linear(value) for one in value.inputs}
    carried: set[int] = set()
    steps: dict[int, int] = {}  # the longest sequence of such values up to each value
    for value in values:
        steps[id(value)] = max((steps.get(id(one), 0) for one in value.inputs), default=0)
        if value.kind == Kind.COMPUTED and (takers[id(value)] > 1 or id(value) in multiplied):
            carried.add(id(value))
            steps[id(value)] += 1
    return carried if max(steps.values(), default=0) >= FEWEST_STEPS else set()


def _is_linear(value: Value) -> bool:
    if value.kind != Kind.COMPUTED:
        return False
    function = value.function
    return function.additive or function.rearranges or function.joins


def _magnitude(found: Floats, off: Floats) -> Floats:
    """The size whose share `PRECISION` bounds the error."""
    return np.asarray(np.abs(found) + off / PRECISION)


def _of_polynomials(
    integrands: Sequence[Integrand],
    groups: Mapping[str, int] | None,
    known: Found | None,
    carried: Collection[int] = (),
) -> ExactMoments:
    """The moments by polynomials, whose indices stand for any number of elements."""
    letters = Centred(groups, Norms(integrate=False).norm, known, carried)
    space = letters.space
    means = [mean_of_elements(_polynomial(letters.reading, one)).terms for one in integrands]
    count = len(means)
    found, off = np.zeros(count), np.zeros(count)
    for place, terms in enumerate(means):
        found[place], off[place] = value_of(space, expected(space, terms, letters.sources))
    parts: dict[int, tuple[Floats, Floats]] = {}
    sides = [[(one, drawn_in(one, letters.sources)) for one in terms] for terms in means]
    others = [[(_of_other_side(one), draws) for one, draws in terms] for terms in sides]
    for i in range(count):
        for j in range(i, count):
            pairs = [  # terms that share no draw have the covariance 0
                space.product(one, other, frozenset())
                for one, mine in sides[i]
                for other, its in others[j]
                if not mine.isdisjoint(its)
            ]
            space.spend(len(pairs))
            collected = space.collected(pairs, frozenset(), exactly=True)
            by_link: dict[int, list[Monomial]] = {}
            for term in expected(space, collected, letters.sources):
                if term.linked:
                    by_link.setdefault(term.linked, []).append(term)
            for linked, terms in by_link.items():
                values, sizes = parts.setdefault(
                    linked, (np.zeros((count, count)), np.zeros((count, count)))
                )
                value, size = value_of(space, terms)
                values[i, j] = values[j, i] = value
                sizes[i, j] = sizes[j, i] = size
    return _with_error(found, off, parts)


def _of_other_side(term: Monomial) -> Monomial:
    return term.with_atoms(tuple([Atom(one.draw, 1, *one[2:]) for one in term.atoms]))


def _polynomial(reading: NormalForms, integrand: Integrand) -> Polynomial:
    """An integrand as a polynomial, before it is averaged over the elements.

    Raises:
        PolynomialError: it is no polynomial.
    """
    space = reading.letters.space
    whole: Polynomial | None = None
    for value, power, centre in integrand.centred:
        quantity = reading.polynomial(value)
        if centre:
            quantity = quantity + -float(centre)
        raised = quantity.raised(power)
        whole = raised if whole is None else whole * raised
    if integrand.given is not None:
        given = reading.polynomial(integrand.given).truth()
        whole = given if whole is None else whole * given
    return Polynomial.constant(space, 1.0) if whole is None else whole


def _with_error(
    means: Floats, sizes: Floats, parts: Mapping[int, tuple[Floats, Floats]]
) -> ExactMoments:
    """The moments with a bound of their relative errors; lost digits are added to variances.

    `parts` has parts of the covariances by linking groups, as bits. Both they and the means come
    with sizes: `PRECISION` times a size bounds an error.

    Raises:
        PolynomialError: a number is not finite.
    """
    error = 0.0
    components: dict[frozenset[int], Floats] = {}
    deviations = np.zeros(len(means))
    for linked, (found, magnitudes) in sorted(parts.items()):
        off = PRECISION * magnitudes
        variances = found.diagonal().copy()
        lost = variances <= 2 * off.diagonal()
        variances[lost] = np.maximum(variances[lost], 0.0) + off.diagonal()[lost]
        values = found.copy()
        np.fill_diagonal(values, variances)
        deviations = deviations + variances
        scale = np.sqrt(np.outer(variances, variances))
        if not (np.isfinite(values).all() and np.isfinite(off).all()):
            raise PolynomialError
        shares = np.divide(off, scale, out=np.zeros_like(off), where=scale > 0)
        error = max(error, float(shares.max(initial=0.0)))
        groups = frozenset(bit for bit in range(linked.bit_length()) if linked >> bit & 1)
        components[groups] = values
    scales = np.abs(means) + np.sqrt(deviations)
    if not np.isfinite(scales).all():
        raise PolynomialError
    shares = np.divide(PRECISION * sizes, scales, out=np.zeros_like(scales), where=scales > 0)
    error = max(error, float(shares.max(initial=0.0)))
    return ExactMoments(means=means, components=components, error=error)
