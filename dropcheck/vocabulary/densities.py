"""Density, or probability, of every law of the language at given points: for likelihood ratios.

Layout as in `samplers`: draws last; a law of vectors reads x on the axis before that of draws.
This imports scipy.special.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dropcheck.vocabulary.densities_continuous import CONTINUOUS, LogDensity
from dropcheck.vocabulary.densities_discrete import DISCRETE
from dropcheck.vocabulary.densities_vector import VECTOR
from dropcheck.vocabulary.law_table import LAWS
from dropcheck.vocabulary.sampler_parts import Arguments, Array

LOG_DENSITIES: dict[str, LogDensity] = CONTINUOUS | DISCRETE | VECTOR

# Both tables are of functions of all parameters of a law, whichever they look at: hence ARG005.
# where a continuous law is a constant, and has no density
_CONSTANT: dict[str, Callable[..., Any]] = {
    "uniform": lambda low, high: low == high,
    "triangular": lambda low, mode, high: low == high,  # noqa: ARG005 - see above
    "truncated_normal": lambda mean, sd, low, high: (sd == 0) | (low == high),  # noqa: ARG005 - see above
}

# closed supports; a law that is not named takes every number (a whole one where discrete)
_SUPPORT: dict[str, Callable[..., tuple[Any, Any]]] = {
    "lognormal": lambda *_: (0.0, np.inf),
    "uniform": lambda low, high: (low, high),
    "exponential": lambda *_: (0.0, np.inf),
    "gamma": lambda *_: (0.0, np.inf),
    "chi_square": lambda *_: (0.0, np.inf),
    "beta": lambda *_: (0.0, 1.0),
    "f": lambda *_: (0.0, np.inf),
    "weibull": lambda *_: (0.0, np.inf),
    "rayleigh": lambda *_: (0.0, np.inf),
    "pareto": lambda alpha, scale: (scale, np.inf),  # noqa: ARG005 - see above
    "triangular": lambda low, mode, high: (low, high),  # noqa: ARG005 - see above
    "von_mises": lambda *_: (-np.pi, np.pi),
    "truncated_normal": lambda mean, sd, low, high: (low, high),  # noqa: ARG005 - see above
    "bernoulli": lambda *_: (0.0, 1.0),
    "rademacher": lambda *_: (-1.0, 1.0),
    "binomial": lambda n, p: (0.0, n),  # noqa: ARG005 - see above
    "geometric": lambda *_: (1.0, np.inf),
    "negative_binomial": lambda *_: (0.0, np.inf),
    "poisson": lambda *_: (0.0, np.inf),
    "hypergeometric": lambda good, bad, drawn: (
        np.maximum(0.0, drawn - bad),
        np.minimum(drawn, good),
    ),
    "discrete_uniform": lambda low, high: (low, high),
    "categorical": lambda p: (0.0, p.shape[-2] - 1.0),
}


def log_density(name: str, arguments: Arguments, x: Array) -> Array:
    """Logarithm of a law's density, or of its probability where it is discrete.

    Args:
        name: The law's name, one of `LOG_DENSITIES`.
        arguments: Its arguments in order, in their domains.
        x: Where: an array that broadcasts against the arguments.

    Returns:
        An array of the shape that x and the arguments broadcast to, without the law's own axis;
        -inf outside the support and between the points of a discrete law, NaN where x is NaN.

    Raises:
        ValueError: A continuous law is a constant, which has no density.

    >>> float(log_density("poisson", [np.array([2.0])], np.array([0.0]))[0])
    -2.0
    """
    x = np.asarray(x, dtype=np.float64)
    law = LAWS[name]
    with np.errstate(all="ignore"):
        if name in VECTOR:
            values = VECTOR[name](x, *arguments)
            return np.where(np.isnan(x).any(axis=-2), np.nan, values)
        if not law.discrete:
            _require_density(name, arguments)
        low, high = _SUPPORT[name](*arguments) if name in _SUPPORT else (-np.inf, np.inf)
        inside = (x >= low) & (x <= high)
        # an infinite x is in no law's reach, even where the support has no end
        inside &= np.isfinite(x)
        if law.discrete and name != "choice":
            inside &= x == np.floor(x)
        # outside, any point of the support will do: what is found there is not used
        values = LOG_DENSITIES[name](
            np.where(inside, x, low if name in _SUPPORT else 0.0), *arguments
        )
        return np.where(np.isnan(x), np.nan, np.where(inside, values, -np.inf))


def density(name: str, arguments: Arguments, x: Array) -> Array:
    """A law's density, or its probability where it is discrete: exp of `log_density`."""
    with np.errstate(all="ignore"):
        return np.asarray(np.exp(log_density(name, arguments, x)))


def _require_density(name: str, arguments: Arguments) -> None:
    scale_index = next(
        (i for i, p in enumerate(LAWS[name].parameters) if p.name in ("sd", "scale")), None
    )
    if name in _CONSTANT:
        still = _CONSTANT[name](*arguments)
    elif scale_index is not None:
        still = arguments[scale_index] == 0
    else:
        return
    if np.any(still):
        raise ValueError(f"'{name}' with no spread is a constant, and has no density")
