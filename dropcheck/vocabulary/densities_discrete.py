"""Logarithms of the probabilities of the discrete laws of numbers.

Each takes x first and the law's arguments after it, and is asked at whole numbers of the support
alone (any number for `choice`): `densities` puts -inf elsewhere. Formulas as in Johnson, Kemp and
Kotz, Univariate Discrete Distributions (3rd edition, 2005).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from dropcheck.vocabulary.densities_continuous import LogDensity
from dropcheck.vocabulary.sampler_parts import Array


def _log_comb(n: Array, k: Array) -> Any:
    """Log of n over k, by the beta function, which cancels less than three gamma functions."""
    return -np.log1p(n) - special.betaln(n - k + 1.0, k + 1.0)


def _bernoulli(x: Array, p: Array) -> Any:
    return special.xlogy(x, p) + special.xlog1py(1.0 - x, -p)


def _rademacher(x: Array) -> Any:
    return np.where(np.abs(x) == 1.0, -math.log(2.0), -np.inf)


def _binomial(x: Array, n: Array, p: Array) -> Any:
    return _log_comb(n, x) + special.xlogy(x, p) + special.xlog1py(n - x, -p)


def _geometric(x: Array, p: Array) -> Any:
    return special.xlog1py(x - 1.0, -p) + np.log(p)


def _negative_binomial(x: Array, n: Array, p: Array) -> Any:
    # gamma(x + n) / (gamma(n) x!) = 1 / (x B(n, x)) for x > 0, and 1 for x = 0
    many = np.where(x > 0, -np.log(x) - special.betaln(n, np.where(x > 0, x, 1.0)), 0.0)
    mass = many + special.xlogy(n, p) + special.xlog1py(x, -p)
    return np.where(n == 0, np.where(x == 0, 0.0, -np.inf), mass)


def _poisson(x: Array, rate: Array) -> Any:
    return special.xlogy(x, rate) - rate - special.gammaln(x + 1.0)


def _hypergeometric(x: Array, good: Array, bad: Array, drawn: Array) -> Any:
    return _log_comb(good, x) + _log_comb(bad, drawn - x) - _log_comb(good + bad, drawn)


def _discrete_uniform(x: Array, low: Array, high: Array) -> Any:  # noqa: ARG001  equal for all x
    return -np.log(high - low + 1.0)


def _categorical(x: Array, p: Array) -> Any:
    lead, draws = np.broadcast_shapes(p.shape[:-2], x.shape[:-1]), max(p.shape[-1], x.shape[-1])
    table = np.broadcast_to(p, (*lead, p.shape[-2], draws))
    places = np.broadcast_to(x, (*lead, draws)).astype(np.intp)[..., None, :]
    return np.log(np.take_along_axis(table, places, axis=-2)[..., 0, :])


def _choice(x: Array, v: Array) -> Any:
    return np.log((v == x[..., None, :]).mean(axis=-2))


DISCRETE: dict[str, LogDensity] = {
    "bernoulli": _bernoulli,
    "rademacher": _rademacher,
    "binomial": _binomial,
    "geometric": _geometric,
    "negative_binomial": _negative_binomial,
    "poisson": _poisson,
    "hypergeometric": _hypergeometric,
    "discrete_uniform": _discrete_uniform,
    "categorical": _categorical,
    "choice": _choice,
}
