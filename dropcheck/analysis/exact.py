"""Exact means and covariances of the integrands of a program, before any draw.

The expectations of a polynomial in independent draws follow from the moments of the laws. Axes and
sums are kept as indices, so that the work does not depend on the size of the arrays. If there are
few joint outcomes of discrete draws, every function of them has an exact expectation: the graph is
computed on a table of the outcomes in place of draws.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dropcheck.analysis.letters import PRECISION, NormalForms, drawn_in, expected
from dropcheck.analysis.norms import Norms
from dropcheck.analysis.ring import (
    TINY,
    Monomial,
    Polynomial,
    PolynomialError,
    mean_of_elements,
    value_of,
)
from dropcheck.analysis.rounding import TURNS, computed_again, may_turn
from dropcheck.analysis.single_draw import Found
from dropcheck.array_types import Floats
from dropcheck.language.graph import Kind, Value, computed_from, number, ordered
from dropcheck.vocabulary.domains import LawParameter, argument_problem
from dropcheck.vocabulary.function import Array, KernelError
from dropcheck.vocabulary.functions.elementwise import DIVIDE

MOST_NUMBERS = 2_000_000  # the most numbers of all values in all outcomes
MOST_VALUES = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """All outcomes: their probabilities, [outcomes], and the values by id, with outcomes last."""

    probabilities: Floats
    held: dict[int, Array]

    def values(self, value: Value) -> Floats:
        """A quantity in each outcome."""
        values: Floats = number(self._array(value))
        return values

    def again(self, roots: Sequence[Value]) -> list[Outcomes]:
        """The same outcomes with results moved as rounding may move them; none if nothing jumps."""
        values = ordered(roots)
        if not may_turn(values):
            return []
        draws = len(self.probabilities)
        return [
            Outcomes(self.probabilities, computed_again(values, self._array, seed, draws))
            for seed in range(TURNS)
        ]

    def _array(self, value: Value) -> Array:
        array: Array = self.held[id(value)] if value.random else value.constant
        return array


def outcomes_of(roots: Sequence[Value], most: int) -> Outcomes | None:
    """All outcomes of the draws below some values; None if there are more, or not known."""
    values = ordered(roots)
    laws = [value.law for value in values if value.kind == Kind.DRAW]
    if len(values) > MOST_VALUES or not values:
        return None
    if any(law is None or not law.discrete or law.own_axes is not None for law in laws):
        return None
    table = Outcomes(np.ones(1), {})
    with np.errstate(all="ignore"):
        for value in values:
            drawn = value.kind == Kind.DRAW
            longer = _drawn(table, value, most) if drawn else _computed(table, value)
            if longer is None:
                return None
            table = longer
    return table


def _computed(table: Outcomes, value: Value) -> Outcomes | None:
    size = math.prod(value.shape) * len(table.probabilities)
    if size > MOST_NUMBERS:
        return None
    try:
        table.held[id(value)] = computed_from(value, table.held)
    except KernelError:
        return None
    return table


def _drawn(table: Outcomes, value: Value, most: int) -> Outcomes | None:
    """The table with a draw added: an outcome for each value of each of its elements."""
    law, elements = value.law, math.prod(value.shape)
    assert law is not None
    random = any(one.random for one in value.inputs)
    own: list[Array] = []
    for element in range(elements):
        # the law's arguments for this element, in each outcome so far
        each = zip(value.inputs, law.parameters, strict=True)
        arguments = [_argument(table, *one, value, element) for one in each]
        if any(one is None for one in arguments):
            return None
        columns = [one for one in arguments if one is not None]
        if random and argument_problem(law.parameters, columns):
            return None  # the law does not take them in some outcome
        rows = np.concatenate(columns) if columns else np.zeros((0, len(table.probabilities)))
        known, places = rows[:, :1], np.zeros(rows.shape[1], np.intp)
        if random:
            known, places = np.unique(rows, axis=1, return_inverse=True)
        points = []
        for at in range(known.shape[1]):
            given: list[object] = []
            first = 0
            for one, parameter in zip(columns, law.parameters, strict=True):
                part = known[first : first + len(one), at]
                given.append(tuple(part.tolist()) if parameter.axes else float(part[0]))
                first += len(one)
            found = law.points(*given)
            if found is None or any(found[2]):
                return None
            points.append(found)
        counts = np.array([len(one[0]) for one in points])[places.ravel()]
        total = int(counts.sum())
        numbers = sum(math.prod(array.shape[:-1]) for array in table.held.values())
        if total > most or total * max(1, numbers) > MOST_NUMBERS:
            return None
        origin = np.repeat(np.arange(len(counts)), counts)
        drawn = np.concatenate([points[place][0] for place in places.ravel()])
        chances = np.concatenate([points[place][1] for place in places.ravel()])
        held = {
            key: array[..., origin] if array.shape[-1] > 1 else array
            for key, array in table.held.items()
        }
        own = [array[origin] for array in own] + [drawn]
        table = Outcomes(table.probabilities[origin] * chances, held)
    array = np.stack(own).reshape(*value.shape, -1)
    table.held[id(value)] = array != 0 if value.binary else array
    return table


def _argument(
    table: Outcomes, argument: Value, parameter: LawParameter, drawn: Value, element: int
) -> Array | None:
    """One argument of one element of a draw in each outcome: [numbers of the argument, outcomes].

    A list has several numbers, and must be fixed.
    """
    rows = len(table.probabilities)
    array = number(table.held[id(argument)] if argument.random else argument.constant)
    if parameter.axes:
        if argument.random or len(argument.shape) != parameter.axes or parameter.axes > 1:
            return None
        return np.broadcast_to(array, (array.shape[0], rows))
    whole = np.broadcast_to(array, (*drawn.shape, array.shape[-1]))
    one = whole.reshape(-1, array.shape[-1])[element]
    return np.broadcast_to(one, rows)[np.newaxis]


# ---- integrands and their moments ---------------------------------------------------------------


ValuePowers = tuple[tuple[Value, int], ...]
"""Values, each with its whole exponent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrand:
    """[given] · Π (value − centre)^power, averaged over the elements of a draw."""

    factors: ValuePowers
    given: Value | None = None
    centres: tuple[float, ...] = ()  # one for each factor; empty if all are 0

    @property
    def centred(self) -> Iterable[tuple[Value, int, float]]:
        """The quantities, each with its exponent and its centre."""
        centres = self.centres or (0.0,) * len(self.factors)
        each = zip(self.factors, centres, strict=True)
        return ((value, power, centre) for (value, power), centre in each)


def quantities(integrands: Sequence[Integrand]) -> list[Value]:
    """All quantities and conditions of some integrands."""
    factors = [value for one in integrands for value, _ in one.factors]
    return factors + [one.given for one in integrands if one.given is not None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExactMoments:
    """The means of integrands, and the parts of their covariances by linking groups of draws.

    If every draw of a group is combined with every draw of the other groups, the part of a
    covariance that is linked by the groups L falls with the number of draws to the power −|L|
    (Hoeffding 1948, section 5). If draws are not combined, all are in group 0, and the only part is
    the covariance itself.

    The error of a mean is at most that of `mean_errors`, and at most `error` · (|mean| +
    deviation); that of a covariance is at most `error` · the product of the two deviations. A
    variance whose digits are lost is never below the truth.
    """

    means: Floats
    mean_errors: Floats
    components: Mapping[frozenset[int], Floats]
    error: float

    def covariance(self, draws: int) -> Floats:
        """The covariance matrix of averages over blocks with this number of draws of each group."""
        total = np.zeros((len(self.means), len(self.means)))
        for linked, component in self.components.items():
            total = total + component * float(draws) ** -len(linked)
        return total


# ---- moments -------------------------------------------------------------------------------------


# Up to FEW_OUTCOMES a table of all outcomes is faster than polynomials; up to MOST_OUTCOMES it is
# used if polynomials fail.
FEW_OUTCOMES, MOST_OUTCOMES = 256, 20_000
# The least number of steps that build on one another for a model to count as a recurrence.
FEWEST_STEPS = 5


def exact_moments(
    integrands: Sequence[Integrand],
    groups: Mapping[str, int] | None = None,
    found: Found | None = None,
) -> ExactMoments | None:
    """The exact moments of integrands; None if they are not known, or take too much work.

    `groups` has the group of each draw by its name, if draws of groups are combined; `found` are
    expectations over one draw that are known already.
    """
    if not integrands:
        return None
    moments = _of_outcomes(integrands, FEW_OUTCOMES) if groups is None else None
    if moments is not None:
        return moments
    try:
        with np.errstate(all="ignore"):  # an overflow raises an error where the result is used
            return _of_polynomials(integrands, groups, found)
    except PolynomialError:
        if groups is not None:
            return None
    moments = _of_outcomes(integrands, MOST_OUTCOMES)
    carried = _carried(quantities(integrands)) if moments is None else ()
    if carried:  # a recurrence, averaged over step by step
        with suppress(PolynomialError), np.errstate(all="ignore"):
            return _of_polynomials(integrands, None, found, carried)
    return moments


def exact_means(
    integrands: Sequence[Integrand], known: Found | None = None
) -> tuple[Floats, Floats] | None:
    """The means of integrands, and bounds of their errors; None if they are not known.

    `known` are expectations over one draw that are known already.
    """
    if not integrands:
        return np.zeros(0), np.zeros(0)
    moments = _of_outcomes(integrands, FEW_OUTCOMES)
    if moments is None:
        forms = NormalForms(bounds=Norms(integrate=False).norm, found=known)
        space = forms.space
        try:
            with np.errstate(all="ignore"):
                polynomials = (_polynomial(forms, one) for one in integrands)
                terms = [mean_of_elements(one).terms for one in polynomials]
                pairs = [value_of(space, expected(space, own, forms.sources)) for own in terms]
        except PolynomialError:
            moments = _of_outcomes(integrands, MOST_OUTCOMES)
        else:
            means, sizes = np.array(pairs).T
            return (means, PRECISION * sizes) if np.isfinite(pairs).all() else None
    return None if moments is None else (moments.means, moments.mean_errors)


def _of_outcomes(integrands: Sequence[Integrand], most: int) -> ExactMoments | None:
    """The moments by all outcomes, if every draw is discrete and there are at most `most`."""
    roots = quantities(integrands)
    table = outcomes_of(roots, most)
    if table is None:
        return None
    with np.errstate(all="ignore"):
        found = _summed(integrands, table)
        if found is None:
            return None
        means, covariance = found
        deviations = np.sqrt(covariance.diagonal())
        off, turned = _turned(integrands, table, roots, means)
        sizes = np.abs(means) + deviations
        error = PRECISION + max(
            _share_of(turned, np.outer(deviations, deviations)), _share_of(off, sizes)
        )
    if not np.isfinite(error):
        return None
    return ExactMoments(
        means=means,
        mean_errors=off + PRECISION * sizes,
        components={frozenset({0}): covariance},
        error=error,
    )


def _turned(
    integrands: Sequence[Integrand], table: Outcomes, roots: Sequence[Value], means: Floats
) -> tuple[Floats, Floats]:
    """How far rounding may move the means and covariances: by what it may do in each outcome."""
    rows = np.stack([_in_outcomes(one, table) for one in integrands])
    changes = np.zeros_like(rows)
    for other in table.again(roots):
        moved = np.stack([_in_outcomes(one, other) for one in integrands])
        changes = np.fmax(changes, np.abs(moved - rows))
    changes[changes < PRECISION * np.abs(rows).max(axis=1, keepdims=True)] = 0.0
    weighted, away = changes * table.probabilities, np.abs(rows - means[:, np.newaxis])
    crossed = weighted @ away.T
    return weighted.sum(axis=1), crossed + crossed.T + weighted @ changes.T


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


def _carried(roots: Sequence[Value]) -> set[int]:
    """The ids of values used several times, or multiplied; none if there is no recurrence.

    What is only scaled is not carried, unless nothing else is: fewer letters lose fewer digits.
    """
    values = ordered(roots)
    takers = Counter(map(id, roots))
    for value in values:
        takers.update(map(id, value.inputs))
    for scaled in (False, True):
        multiplied = {
            id(one) for value in values if not _is_linear(value, scaled) for one in value.inputs
        }
        carried: set[int] = set()
        steps: dict[int, int] = {}  # the longest sequence of such values up to each value
        for value in values:
            steps[id(value)] = max((steps.get(id(one), 0) for one in value.inputs), default=0)
            if value.kind == Kind.COMPUTED and (takers[id(value)] > 1 or id(value) in multiplied):
                carried.add(id(value))
                steps[id(value)] += 1
        if max(steps.values(), default=0) >= FEWEST_STEPS:
            return carried
    return set()


def _is_linear(value: Value, scaled: bool) -> bool:
    """Whether a value is a sum of its inputs, or moves them; or scales one, unless `scaled`."""
    if value.kind != Kind.COMPUTED:
        return False
    function = value.function
    if function.additive or function.rearranges or function.does == "joins":
        return True
    if function is DIVIDE:
        return not scaled and not value.inputs[1].random
    return (
        not scaled and function.does == "multiplies" and not all(one.random for one in value.inputs)
    )


def _of_polynomials(
    integrands: Sequence[Integrand],
    groups: Mapping[str, int] | None,
    known: Found | None,
    carried: Collection[int] = (),
) -> ExactMoments:
    """The moments by polynomials, whose indices stand for any number of elements."""
    forms = NormalForms(groups, Norms(integrate=False).norm, known, carried)
    space = forms.space
    means = [mean_of_elements(_polynomial(forms, one)).terms for one in integrands]
    count = len(means)
    found, off = np.zeros(count), np.zeros(count)
    for place, terms in enumerate(means):
        found[place], off[place] = value_of(space, expected(space, terms, forms.sources))
    parts: dict[int, tuple[Floats, Floats]] = {}
    sides = [[(one, drawn_in(one, forms.sources)) for one in terms] for terms in means]
    others = [
        [
            (term.with_atoms(tuple([one._replace(side=1) for one in term.atoms])), draws)
            for term, draws in terms
        ]
        for terms in sides
    ]
    for i in range(count):
        for j in range(i, count):
            pairs = [  # terms that share no draw have the covariance 0
                (one, other)
                for one, mine in sides[i]
                for other, its in others[j]
                if not mine.isdisjoint(its)
            ]
            space.spend(len(pairs))
            products = [space.product(*pair, frozenset()) for pair in pairs]
            collected = space.collected(products, frozenset(), exactly=True)
            by_link: dict[int, list[Monomial]] = {}
            for term in expected(space, collected, forms.sources):
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


def _polynomial(forms: NormalForms, integrand: Integrand) -> Polynomial:
    """An integrand as a polynomial, before it is averaged over the elements.

    Raises:
        PolynomialError: it is no polynomial.
    """
    space = forms.space
    whole: Polynomial | None = None
    for value, power, centre in integrand.centred:
        quantity = forms.polynomial(value)
        if centre:
            quantity = quantity + -float(centre)
        raised = quantity.raised(power)
        whole = raised if whole is None else whole * raised
    if integrand.given is not None:
        given = forms.polynomial(integrand.given).truth()
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
    return ExactMoments(means=means, mean_errors=error * scales, components=components, error=error)
