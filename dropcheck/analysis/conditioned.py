"""Exact moments from the exact moments given each outcome of some discrete draws N.

E f = E E(f | N), and Cov(f, g) = E Cov(f, g | N) + Cov(E(f | N), E(g | N)), the law of total
covariance (Ross 2014, "A First Course in Probability", section 7.5). So the moments of a sum of a
random number of terms, or of a mixture by a random index, follow from those for each number.

Nearly impossible outcomes A are left out. They contribute E |f g| [A] <= ‖f‖₄ ‖g‖₄ √P(A), by
Hölder's inequality; a condition only makes it smaller.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dropcheck.analysis.averaged_products import ExactMoments, Integrand, quantities
from dropcheck.analysis.fewer_draws.exchanges import exchanged, made_of
from dropcheck.analysis.moments.cell_means import Norm, norm_of_product
from dropcheck.analysis.moments.linear_forms import ProductMoments
from dropcheck.analysis.on_paper import first_off
from dropcheck.analysis.polynomials.terms import TINY
from dropcheck.array_types import Floats
from dropcheck.language.graph import Kind, Value, computed_from, constant_beside, ordered
from dropcheck.vocabulary.function import KernelError
from dropcheck.vocabulary.functions.algebra import PolynomialError

MOST_OUTCOMES = 64
MOST_VALUES = 4_000  # in the graphs of all outcomes together

KnownDraws = dict[int, float]
"""The values of some draws."""


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
        points = None if None in known else value.law.points(*known, at_most=MOST_OUTCOMES)
        if points is None or len(outcomes) * len(points[0]) > MOST_OUTCOMES:
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
