"""Exact moments given each outcome of discrete numbers, put together.

E f = E E(f | N), and Cov(f, g) = E Cov(f, g | N) + Cov(E(f | N), E(g | N)), as the law of total
covariance has it (Ross 2014, "A First Course in Probability", section 7.5). So a sum of a random
number of terms, and a mixture by a random index, are known where they are known for each number.

What outcomes A that are nearly impossible add is left out: E |f g| [A] <= ‖f‖₄ ‖g‖₄ √P(A), by
Hölder's inequality. A condition only makes it less.
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
MOST_VALUES = 4_000  # of the graphs that are made, one for each of them

KnownDraws = dict[int, float]
"""The values of some draws."""


def conditioned(
    summands: Sequence[Integrand],
    moments: Callable[[Sequence[Integrand]], ExactMoments | None],
    norm: Norm,
) -> ProductMoments:
    """The moments of what is averaged.

    Args:
        summands: what is averaged.
        moments: those of summands in which the numbers are known.
        norm: bounds of the norms of quantities.

    Raises:
        PolynomialError: there are no such numbers, or the moments are not known given them.
    """
    below = ordered(quantities(summands))
    outcomes, chances, rest = _outcomes(below)
    if not 1 < len(outcomes) <= MOST_VALUES / len(below):
        raise PolynomialError
    found = []
    for outcome in outcomes:
        of = _given(below, outcome)
        known = moments([one.with_values(of) for one in summands])
        if known is None:
            raise PolynomialError
        found.append(known)
    joined = _joined(chances, found)
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
    """The outcomes of numbers that have few together, their chances, and that of all others."""
    found: list[KnownDraws] = [{}]
    chances, rest = np.ones(1), 0.0
    for value in values:
        if value.kind != Kind.DRAW or value.shape or value.law is None or not value.law.discrete:
            continue
        known = [one.known for one in value.inputs]
        points = None if None in known else value.law.points(*known, at_most=MOST_OUTCOMES)
        if points is None or len(found) * len(points[0]) > MOST_OUTCOMES:
            continue
        pairs = itertools.product(found, points[0].tolist())
        found = [{**one, id(value): point} for one, point in pairs]
        chances = np.outer(chances, points[1]).ravel()
        rest += points[2]
    return found, chances, rest


def _given(values: Sequence[Value], outcome: KnownDraws) -> Callable[[Value], Value]:
    """What stands for each value where some draws are known.

    Raises:
        PolynomialError: a function does not take them, or rounding decides what it gives.
    """
    drawn = [value for value in values if id(value) in outcome]
    known = {id(value): constant_beside(value, outcome[id(value)]) for value in drawn}
    found = exchanged(values, known, _worked_out)
    if first_off(map(found, values)) is not None:
        raise PolynomialError
    return found


def _worked_out(value: Value, inputs: tuple[Value, ...]) -> Value:
    made = made_of(value, inputs)
    if made.kind != Kind.COMPUTED or any(one.random for one in inputs):
        return made
    try:
        return replace(made, constant=computed_from(made, {}), random=False)
    except KernelError:
        raise PolynomialError from None


def _joined(chances: Floats, found: Sequence[ExactMoments]) -> ProductMoments:
    """The moments over all outcomes, by those given each."""
    means = np.stack([one.means for one in found])
    off = np.stack([one.mean_errors for one in found])
    inner = np.stack([one.covariance(1) for one in found])
    mean, mean_off = chances @ means, chances @ off
    away = means - mean
    for sizes in (np.ones_like(means), means, away * away, inner):
        parts = np.tensordot(np.diag(chances), sizes, 1)[sizes != 0]
        if (np.abs(parts) < TINY).any():  # too small for float64
            raise PolynomialError
    # of a product of two differences, each off by what both of its means may be
    crossed = np.einsum("k,ki,kj->ij", chances, off + mean_off, np.abs(away) + off + mean_off)
    deviations = np.sqrt(np.maximum(np.diagonal(inner, axis1=1, axis2=2), 0.0))
    errors = chances * np.array([one.error for one in found])
    return ProductMoments(
        means=mean,
        means_off=mean_off,
        covariances=np.tensordot(chances, inner, 1) + np.einsum("k,ki,kj->ij", chances, away, away),
        covariances_off=np.einsum("k,ki,kj->ij", errors, deviations, deviations)
        + crossed
        + crossed.T,
    )
