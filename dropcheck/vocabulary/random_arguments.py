"""Whether arguments that are random lie in the domains of a law's parameters."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dropcheck.vocabulary.entries import Domain
from dropcheck.vocabulary.law_parts import (
    CONDITIONS,
    PROBABILITY_SUM_TOLERANCE,
    broken,
    domain_problem,
    plain,
)
from dropcheck.vocabulary.law_table import LAWS
from dropcheck.vocabulary.laws_vector import COVARIANCE_TOLERANCE
from dropcheck.vocabulary.sampler_parts import Arguments, Array


class BadArgument(NamedTuple):
    """An argument outside its domain: the parameter, the first such value, a sentence."""

    parameter: str
    value: float
    message: str


def check_arguments(name: str, arguments: Arguments) -> tuple[str, float] | None:
    """The parameter and the value of the first argument that the law does not take, or None."""
    found = first_bad_argument(name, arguments)
    return None if found is None else (found.parameter, found.value)


def first_bad_argument(name: str, arguments: Arguments) -> BadArgument | None:
    """The first argument that the law does not take, with a sentence that says why, or None.

    Args:
        name: A law of the language.
        arguments: Its arguments in order, draws last, as for `sample`.

    >>> first_bad_argument("bernoulli", [np.array([0.5, 1.5])])
    BadArgument(parameter='p', value=1.5, message='p must satisfy 0 <= p <= 1, and is 1.5')
    """
    law = LAWS[name]
    with np.errstate(all="ignore"):
        for parameter, argument in zip(law.parameters, arguments, strict=True):
            outside = ~_within(parameter.domain, argument)
            if outside.any():
                value = float(argument[outside][0])
                message = domain_problem(parameter, value)
                return BadArgument(parameter.name, value, message or f"{parameter.name} is wrong")
        if name in CONDITIONS:
            return _check_conditions(name, arguments)
        if name in ("categorical", "multinomial"):
            return _check_probabilities(arguments[-1])
        if name == "multivariate_normal":
            return _check_covariance(arguments[1])
    return None


def _within(domain: Domain, values: Array) -> Array:
    above = values > domain.low if domain.low_open else values >= domain.low
    below = values < domain.high if domain.high_open else values <= domain.high
    above &= below
    if domain.whole:
        above &= values == np.floor(values)
    return above


def _check_conditions(name: str, arguments: Arguments) -> BadArgument | None:
    names = tuple(parameter.name for parameter in LAWS[name].parameters)
    for condition in CONDITIONS[name]:
        holds = np.asarray(condition.holds(*arguments))
        if not holds.all():
            # a condition need not look at every argument, and those may have more elements
            shape = np.broadcast_shapes(holds.shape, *(a.shape for a in arguments))
            place = np.unravel_index(int(np.argmin(np.broadcast_to(holds, shape))), shape)
            values = tuple(float(np.broadcast_to(a, shape)[place]) for a in arguments)
            message = broken((condition,), names, values) or condition.text
            return BadArgument(
                condition.parameter, values[names.index(condition.parameter)], message
            )
    return None


def _check_probabilities(p: Array) -> BadArgument | None:
    totals = p.sum(axis=-2)
    # numpy's sum is not exact: a few units in the last place more than math.fsum may say
    wrong = np.abs(totals - 1.0) > PROBABILITY_SUM_TOLERANCE + 1e-13
    if not wrong.any():
        return None
    total = float(totals[wrong][0])
    message = f"the probabilities p must sum to 1, and sum to {plain(total)}"
    return BadArgument("p", total, message)


def _check_covariance(cov: Array) -> BadArgument | None:
    matrices = np.moveaxis(cov, -1, -3)
    diagonals = np.abs(np.diagonal(matrices, axis1=-2, axis2=-1))
    slack = COVARIANCE_TOLERANCE * diagonals.max(axis=-1)
    skewness = np.abs(matrices - np.swapaxes(matrices, -1, -2)).max(axis=(-2, -1))
    wrong = skewness > slack
    if wrong.any():
        value = float(skewness[wrong][0])
        message = f"cov must be symmetric, and mirrored entries differ by {plain(value)}"
        return BadArgument("cov", value, message)
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:  # singular or worse: the eigenvalues tell
        smallest = np.linalg.eigvalsh(matrices)[..., 0]
        # rounding grows with the order of the matrix
        wrong = smallest < -slack * math.sqrt(matrices.shape[-1])
        if wrong.any():
            value = float(smallest[wrong][0])
            message = f"cov must be positive semi-definite, and has the eigenvalue {plain(value)}"
            return BadArgument("cov", value, message)
    return None
