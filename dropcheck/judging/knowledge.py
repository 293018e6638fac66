"""What the model says of a case's averages before any draw: their covariances, or bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dropcheck.analysis.exact import ExactMoments, Integrand, exact_means, exact_moments
from dropcheck.analysis.norms import Norms, raised
from dropcheck.analysis.single_draw import Found
from dropcheck.analysis.support import may_be_undefined
from dropcheck.array_types import Floats
from dropcheck.inference.intervals import ClippedSpread, KnownSpread
from dropcheck.language.graph import Value
from dropcheck.reasons import Explanation
from dropcheck.results import Guarantee
from dropcheck.simulation import Compiled, Program, Term
from dropcheck.vocabulary.operators import UNDERFLOW

# Relative error of exact values, which are sums of products of float64.
EXACT_ROUNDING = 1e-12
# A mean more standard deviations than this away from 0 is subtracted draw by draw.
FAR = 4.0
# Orders of moments that say where values are cut off, and those where the variance is infinite.
ORDERS = (2.0, 4.0, 8.0, 16.0, 32.0)
LOW_ORDERS = (1.9, 1.75, 1.5, 1.3, 1.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactMeans:
    """The means of a case's integrands about centres, by the model; NaN where it gives none.

    `centres` has the shape [registers]; `means`, and the bounds of their `errors`, [terms].
    """

    centres: Floats
    means: Floats
    errors: Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExactAverages(ExactMeans):
    """The means, and the covariances of the columns `used`, which the statement is made of."""

    used: tuple[int, ...]
    moments: ExactMoments

    def spread(self, weights: Floats, program: Program) -> KnownSpread:
        """The spread of a combination of the averages, with a factor for each, [terms]."""
        own = weights[list(self.used)]
        block = program.block_draws
        if program.paired:
            of_block = self._variance(own, self.moments.covariance(block))
            return KnownSpread(lambda draws: of_block * block / draws)
        of_draw = self._variance(own, self.moments.covariance(1))
        return KnownSpread(lambda draws: of_draw / draws)

    @np.errstate(all="ignore")  # what is too large for float64 is infinite
    def _variance(self, weights: Floats, covariance: Floats) -> float:
        deviations = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        rounding = (EXACT_ROUNDING + self.moments.error) * raised(
            float(np.abs(weights) @ deviations), 2.0
        )
        return max(float(weights @ covariance @ weights), 0.0) + rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedAverages:
    """Bounds of the L^p norms of a case's integrands about some centres.

    `sizes` gives them by the order p, [terms]; those of order infinity bound the values themselves.
    `ends` gives the least and the greatest value, [2, terms].
    """

    sizes: Callable[[float], Floats]
    ends: Callable[[], Floats]

    @np.errstate(all="ignore")  # what is too large for float64 is infinite
    def along(self, weights: Floats, order: float) -> float:
        """A bound of the L^p norm of a combination of the integrands: Minkowski's inequality."""
        own = weights != 0
        return float(np.abs(weights[own]) @ self.sizes(order)[own])

    @np.errstate(all="ignore")  # what is too large for float64 is infinite
    def ends_along(self, weights: Floats) -> tuple[float, float]:
        """The ends between which the values of a combination of the integrands lie."""
        own = weights != 0
        each = weights[own] * self.ends()[:, own]
        return float(each.min(axis=0).sum()), float(each.max(axis=0).sum())

    @np.errstate(all="ignore")  # what is too large for float64 is infinite
    def spread(self, weights: Floats, centre: float, guess: float, target: float) -> ClippedSpread:
        """The spread of a combination of the averages.

        Args:
            weights: a factor for each average, [terms].
            centre: its mean, as a pilot shows it.
            guess: the variance of a draw, as a pilot shows it.
            target: the half-width of an interval that decides.
        """
        orders = ORDERS if math.isfinite(self.along(weights, 2.0)) else LOW_ORDERS
        known = {order: self.along(weights, order) for order in orders}
        tiny = any(0 < size < UNDERFLOW ** (1 / 4) for size in known.values())  # 0 may stand for it
        ends = (-math.inf, math.inf) if tiny else self.ends_along(weights)
        sizes = {} if tiny else {order: size + abs(centre) for order, size in known.items()}
        return ClippedSpread.of(centre, guess, ends, sizes, target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known of a case's averages.

    `guarantee` is what an interval rests on: the limit theorem where the model bounds nothing.
    """

    exact: ExactAverages | None
    means: ExactMeans | None  # also where there is no variance
    bounds: Callable[[Floats], BoundedAverages]  # about centres, [registers]
    guarantee: Guarantee
    undefined: Explanation | None = None  # why what is averaged may have no value
    unbounded: frozenset[int] = frozenset()  # columns for sizes that nothing bounds
    notes: tuple[str, ...] = ()  # what it takes for granted, as it fails too seldom to matter


def knowledge_of(compiled: Compiled) -> Knowledge:
    """What the model says of the averages of a program."""
    integrals: Found = {}
    norms = Norms(found=integrals)
    used = compiled.functional.columns(range(len(compiled.functional.operands)))
    terms = compiled.program.terms

    def about(centres: Floats) -> BoundedAverages:
        known: dict[float, Floats] = {}

        def sizes(order: float) -> Floats:
            if order not in known:
                known[order] = np.array(
                    [_size(norms, compiled, term, centres, order) for term in terms]
                )
            return known[order]

        def ends() -> Floats:
            return np.array([_ends(norms, compiled, term, centres) for term in terms]).T

        return BoundedAverages(sizes=sizes, ends=ends)

    undefined = may_be_undefined(_averaged(compiled), norms.support)
    if undefined is not None:  # draws without a value have no bounds
        return Knowledge(
            exact=None,
            means=None,
            bounds=about,
            guarantee=Guarantee.ASYMPTOTIC,
            undefined=undefined,
        )
    plain = about(compiled.program.origin)
    exact = None if compiled.program.whole else _exact(compiled, tuple(used), integrals)
    if exact is not None and _underflows(exact, plain):
        exact = None
    if np.isfinite(plain.sizes(math.inf)[used]).all():
        guarantee = Guarantee.FINITE_SAMPLE
    elif exact is not None or _bounded(plain, used):
        guarantee = Guarantee.MOMENTS
    else:
        guarantee = Guarantee.ASYMPTOTIC
    variances = exact is not None or bool(np.isfinite(plain.sizes(2.0)[used]).all())
    return Knowledge(
        exact=exact,
        means=exact or _means_alone(compiled, used, integrals),
        bounds=about,
        guarantee=guarantee,
        unbounded=frozenset() if variances else _unbounded(plain, used),
        notes=tuple(
            f"it is read given that {step} is defined, which fails with a chance of "
            f"{chance:.1g} a draw"
            for step, chance in norms.support.neglected.items()
            if chance > 0
        ),
    )


def _unbounded(averages: BoundedAverages, used: Sequence[int]) -> frozenset[int]:
    """The columns beside those used whose averages the model does not bound."""
    infinite = np.flatnonzero(~np.isfinite(averages.sizes(1.0)))
    return frozenset(infinite.tolist()).difference(used)


def _means_alone(compiled: Compiled, used: Sequence[int], integrals: Found) -> ExactMeans | None:
    """The means of averages without a variance, such as a power of a heavy tail."""
    centres = compiled.program.origin
    integrands = integrands_of(compiled, centres)
    known = exact_means([integrands[column] for column in used], integrals)
    if known is None or compiled.program.whole:
        return None
    means, errors = (np.full(len(integrands), math.nan) for _ in range(2))
    means[list(used)], errors[list(used)] = known
    return ExactMeans(centres=centres, means=means, errors=errors)


@np.errstate(all="ignore")  # what is too large for float64 is infinite
def _underflows(exact: ExactAverages, plain: BoundedAverages) -> bool:
    """Whether a variance is too small for a float64, so that 0 may stand for it."""
    small = exact.moments.covariance(1).diagonal() < UNDERFLOW
    if not small.any():  # as nearly always
        return False
    sizes = plain.sizes(2.0)[list(exact.used)][small]
    return bool(((sizes > 0) & (sizes**2 < UNDERFLOW)).any())


def _bounded(averages: BoundedAverages, used: Sequence[int]) -> bool:
    orders = (2.0, LOW_ORDERS[-1])
    return any(bool(np.isfinite(averages.sizes(order)[used]).all()) for order in orders)


def _averaged(compiled: Compiled) -> list[tuple[Value, Value | None]]:
    """The quantities that a program averages, each with its condition."""
    values = compiled.values
    return [
        (values[register], None if term.given is None else values[term.given])
        for term in compiled.program.terms
        for register, _ in term.factors
    ]


def _size(norms: Norms, compiled: Compiled, term: Term, centres: Floats, order: float) -> float:
    """A bound of an integrand's L^p norm, by Hölder's inequality over its factors.

    A condition only makes the norm smaller: where it fails, the integrand is 0.
    """
    degree = sum(power for _, power in term.factors)
    size = 1.0
    for register, power in term.factors:
        value, centre = compiled.values[register], float(centres[register])
        if math.isinf(order):
            hull = norms.support.hull(value)
            own = max(abs(hull.low - centre), abs(hull.high - centre))
        else:
            own = norms.centred_norm(value, centre, order * degree)
        size *= raised(own, power)
    return size


def _ends(norms: Norms, compiled: Compiled, term: Term, centres: Floats) -> tuple[float, float]:
    """An interval that holds an integrand, and 0 where it has a condition."""
    size = _size(norms, compiled, term, centres, math.inf)
    (register, power), *others = term.factors or ((0, 0),)
    if others or power != 1:
        signed = any(odd % 2 for _, odd in term.factors)
        return (-size if signed else 0.0), size
    hull, centre = norms.support.hull(compiled.values[register]), float(centres[register])
    low, high = hull.low - centre, hull.high - centre
    return (low, high) if term.given is None else (min(low, 0.0), max(high, 0.0))


def integrands_of(compiled: Compiled, centres: Floats) -> list[Integrand]:
    """The integrands that a program averages, about the centres: [registers]."""
    return [_integrand(compiled, term, centres) for term in compiled.program.terms]


def _integrand(compiled: Compiled, term: Term, centres: Floats) -> Integrand:
    return Integrand(
        factors=tuple((compiled.values[register], power) for register, power in term.factors),
        given=None if term.given is None else compiled.values[term.given],
        centres=tuple(float(centres[register]) for register, _ in term.factors),
    )


def _exact(compiled: Compiled, used: tuple[int, ...], integrals: Found) -> ExactAverages | None:
    """The means and covariances; None where the model does not say those of all integrands."""
    centres = compiled.program.origin
    uncentred = _about(compiled, used, centres, integrals)
    if uncentred is None:
        return None
    factors = (factor for term in compiled.program.terms for factor in term.factors)
    registers = sorted({register for register, _ in factors})
    powers = [Term(((register, power),), None) for register in registers for power in (1, 2)]
    known = _means_of(compiled, powers, uncentred, integrals)
    if known is None:
        return None
    for place, register in enumerate(registers):
        mean, square = map(float, known[0][2 * place : 2 * place + 2])  # floats overflow quietly
        if mean * mean > FAR**2 * max(square - mean * mean, 0.0):
            centres[register] = mean
    return _about(compiled, used, centres, integrals) if centres.any() else uncentred


def _about(
    compiled: Compiled, used: tuple[int, ...], centres: Floats, integrals: Found
) -> ExactAverages | None:
    """The means and covariances about centres; None where the model does not say them."""
    integrands = integrands_of(compiled, centres)
    groups = None if compiled.crossed is None else compiled.crossed.groups
    moments = exact_moments([integrands[column] for column in used], groups, integrals)
    if moments is None:
        return None
    means, errors = (np.zeros(len(integrands)) for _ in range(2))
    means[list(used)] = moments.means
    errors[list(used)] = moments.mean_errors
    exact = ExactAverages(centres=centres, means=means, errors=errors, used=used, moments=moments)
    others = [column for column in range(len(integrands)) if column not in used]
    asked = [compiled.program.terms[column] for column in others]
    more = _means_of(compiled, asked, exact, integrals)
    if more is None:
        return None
    means[others], errors[others] = more
    return exact


def _means_of(
    compiled: Compiled, terms: Sequence[Term], known: ExactAverages, integrals: Found
) -> tuple[Floats, Floats] | None:
    """The means of terms about the centres of what is known, and the errors of these means.

    Where the mean and the variance of a number are known, they give the mean of its square.
    """
    own = {compiled.program.terms[column]: place for place, column in enumerate(known.used)}
    covariance = known.moments.covariance(1)
    means, errors = np.zeros(len(terms)), np.zeros(len(terms))
    asked: list[int] = []
    for place, term in enumerate(terms):
        if term in own:
            means[place] = known.means[known.used[own[term]]]
            errors[place] = known.errors[known.used[own[term]]]
            continue
        ((register, power), *others) = term.factors or ((0, 0),)
        column = own.get(Term(((register, 1),), None))
        simple = term.given is None and not others and power in (1, 2) and column is not None
        if column is None or not simple or compiled.values[register].shape:
            asked.append(place)
            continue
        mean, variance = float(known.moments.means[column]), float(covariance[column, column])
        means[place] = mean if power == 1 else variance + mean * mean
        errors[place] = known.moments.error * raised(abs(mean) + math.sqrt(variance), power)
    integrands = [_integrand(compiled, terms[place], known.centres) for place in asked]
    exact = exact_means(integrands, integrals)
    if exact is None:
        return None
    means[asked], errors[asked] = exact
    return means, errors
