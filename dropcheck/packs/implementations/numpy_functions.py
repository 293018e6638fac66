"""numpy's own samplers, for the slots of the pack of samplers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

Array = Any  # a numpy array of the format that is asked for
Shape = tuple[int, ...]


def _truncated(low: float, high: float, shape: Shape, generator: Generator) -> Array:
    """Normal numbers, drawn again until they lie between the ends."""
    values = generator.standard_normal(shape)
    while (outside := (values < low) | (values > high)).any():
        values[outside] = generator.standard_normal(int(outside.sum()))
    return values


def _numbers(draw: Callable[..., Array], *standard: float) -> Callable[..., Array]:
    """A sampler of numpy, in the number format; its last arguments are `standard`."""

    def drawn(*given: Any, dtype: Any, generator: Generator) -> Array:
        *parameters, size = given
        return draw(generator, *parameters, *standard, size).astype(dtype)

    return drawn


def _counts(draw: Callable[..., Array]) -> Callable[..., Array]:
    """A sampler of numpy, which gives whole numbers."""
    return lambda *given, generator: draw(generator, *given)


def _categorical(logits: Array, size: Shape, generator: Generator) -> Array:
    """The index at which the running sum of probabilities passes a uniform number."""
    wide = np.exp(logits.astype(np.float64) - logits.max())
    steps = np.cumsum(wide)
    return np.searchsorted(steps[:-1], steps[-1] * generator.random(size), side="right")


def _multivariate_normal(mean: Array, cov: Array, dtype: Any, generator: Generator) -> Array:
    """By Cholesky's factor of the covariance."""
    factor = np.linalg.cholesky(cov.astype(np.float64))
    return (mean + factor @ generator.standard_normal(len(mean))).astype(dtype)


FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "random_uniform": _numbers(Generator.uniform),
    "random_normal": _numbers(Generator.normal),
    "random_exponential": _numbers(Generator.exponential),
    "random_gamma": _numbers(Generator.gamma, 1.0),
    "random_beta": _numbers(Generator.beta),
    "random_laplace": _numbers(Generator.laplace),
    "random_gumbel": _numbers(Generator.gumbel),
    "random_logistic": _numbers(Generator.logistic),
    "random_lognormal": _numbers(Generator.lognormal),
    "random_student_t": _numbers(Generator.standard_t),
    "random_chi_square": _numbers(Generator.chisquare),
    "random_f": _numbers(Generator.f),
    "random_rayleigh": _numbers(Generator.rayleigh),
    "random_von_mises": _numbers(Generator.vonmises),
    "random_triangular": _numbers(Generator.triangular),
    "random_truncated_normal": _numbers(
        lambda generator, low, high, size: _truncated(low, high, size, generator)
    ),
    "random_cauchy": _numbers(
        lambda generator, loc, scale, size: loc + scale * generator.standard_cauchy(size)
    ),
    "random_weibull": _numbers(
        lambda generator, shape, scale, size: scale * generator.weibull(shape, size)
    ),
    "random_pareto": _numbers(  # numpy's starts at 0
        lambda generator, shape, scale, size: scale * (1.0 + generator.pareto(shape, size))
    ),
    "random_binomial": _counts(Generator.binomial),
    "random_geometric": _counts(Generator.geometric),
    "random_negative_binomial": _counts(Generator.negative_binomial),
    "random_poisson": _counts(Generator.poisson),
    "random_hypergeometric": _counts(Generator.hypergeometric),
    "random_permutation": _counts(Generator.permutation),
    "random_bernoulli": lambda p, size, generator: generator.random(size) < p,
    "random_rademacher": lambda size, generator: 2 * generator.integers(0, 2, size) - 1,
    "random_integers": lambda n, size, generator: generator.integers(0, n, size),
    "random_categorical": _categorical,
    "random_multinomial": lambda n, p, generator: generator.multinomial(n, p.astype(np.float64)),
    "random_dirichlet": lambda a, dtype, generator: generator.dirichlet(
        a.astype(np.float64)
    ).astype(dtype),
    "random_multivariate_normal": _multivariate_normal,
}
"""By slot."""
