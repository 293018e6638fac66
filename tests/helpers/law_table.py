"""Laws of numbers beside their twins in scipy.stats, over a spread of arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dropcheck.vocabulary import domains
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.laws import LAWS

Twin = Any  # scipy's frozen distributions have no common public type


def _truncated(mean: float, sd: float, low: float, high: float) -> Twin:
    return stats.truncnorm((low - mean) / sd, (high - mean) / sd, mean, sd)


def _triangular(low: float, mode: float, high: float) -> Twin:
    return stats.triang((mode - low) / (high - low), low, high - low)


TWINS: dict[str, Any] = {
    "normal": stats.norm,
    "lognormal": lambda mean, sd: stats.lognorm(sd, scale=np.exp(mean)),
    "uniform": lambda low, high: stats.uniform(low, high - low),
    "exponential": lambda scale: stats.expon(scale=scale),
    "gamma": lambda shape, scale: stats.gamma(shape, scale=scale),
    "chi_square": stats.chi2,
    "beta": stats.beta,
    "student_t": stats.t,
    "f": stats.f,
    "cauchy": stats.cauchy,
    "laplace": stats.laplace,
    "logistic": stats.logistic,
    "gumbel": stats.gumbel_r,
    "weibull": lambda shape, scale: stats.weibull_min(shape, scale=scale),
    "rayleigh": lambda scale: stats.rayleigh(scale=scale),
    "pareto": lambda alpha, scale: stats.pareto(alpha, scale=scale),
    "triangular": _triangular,
    "von_mises": lambda mu, kappa: stats.vonmises(kappa, mu),
    "truncated_normal": _truncated,
    "bernoulli": stats.bernoulli,
    "rademacher": lambda: stats.rv_discrete(values=([-1, 1], [0.5, 0.5])),
    "binomial": stats.binom,
    "geometric": stats.geom,
    "negative_binomial": stats.nbinom,
    "poisson": stats.poisson,
    "hypergeometric": lambda good, bad, drawn: stats.hypergeom(good + bad, good, drawn),
    "discrete_uniform": lambda low, high: stats.randint(low, high + 1),
    "categorical": lambda p: stats.rv_discrete(values=(np.arange(len(p)), p)),
    # scipy's own takes whole values in rising order
    "choice": lambda v: stats.rv_discrete(
        values=(sorted(set(v)), [v.count(x) / len(v) for x in sorted(set(v))])
    ),
}

ARGUMENTS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "normal": ((0.0, 1.0), (3.0, 1.0), (0.0, 2.5), (-1e8, 1e-3), (1e8, 1.0)),
    "lognormal": ((0.0, 1.0), (-2.0, 0.3), (5.0, 0.1)),
    "uniform": ((0.0, 1.0), (-1.0, 1.0), (2.0, 2.5), (1e8, 1e8 + 1.0), (-1e300, 1e300)),
    "exponential": ((1.0,), (0.02,), (1e6,)),
    "gamma": ((1.0, 1.0), (0.05, 2.0), (0.7, 1.0), (30.0, 0.1)),
    "chi_square": ((1.0,), (0.5,), (7.0,), (200.0,)),
    "beta": ((1.0, 1.0), (0.5, 0.5), (2.0, 5.0), (0.05, 3.0), (300.0, 20.0)),
    "student_t": ((1.0,), (0.5,), (2.0,), (30.0,), (1e6,)),
    "f": ((1.0, 1.0), (0.5, 8.0), (5.0, 20.0), (100.0, 3.0)),
    "cauchy": ((0.0, 1.0), (2.0, 0.1)),
    "laplace": ((0.0, 1.0), (-3.0, 0.5)),
    "logistic": ((0.0, 1.0), (1.0, 4.0)),
    "gumbel": ((0.0, 1.0), (1.0, 0.2)),
    "weibull": ((1.0, 1.0), (0.5, 2.0), (4.0, 0.3)),
    "rayleigh": ((1.0,), (0.1,)),
    "pareto": ((1.0, 1.0), (0.5, 2.0), (10.0, 3.0)),
    "triangular": ((0.0, 0.3, 1.0), (-1.0, -1.0, 2.0), (0.0, 5.0, 5.0)),
    "von_mises": ((0.0, 0.0), (0.0, 1.0), (0.5, 4.0), (0.0, 500.0)),
    "truncated_normal": (
        (0.0, 1.0, -2.0, 2.0),
        (0.0, 1.0, 8.0, 9.0),
        (0.0, 1.0, -9.0, -8.0),
        (2.0, 3.0, -np.inf, 0.0),
        (0.0, 1.0, 35.0, np.inf),
        (0.0, 1.0, -0.5, np.inf),
        (1.0, 2.0, -np.inf, np.inf),
    ),
    "bernoulli": ((0.0,), (1.0,), (0.5,), (0.1,), (0.999,), (0.00002,)),
    "rademacher": ((),),
    "binomial": ((0.0, 0.5), (7.0, 0.0), (7.0, 1.0), (10.0, 0.3), (1000.0, 0.02)),
    "geometric": ((1.0,), (0.5,), (0.01,)),
    "negative_binomial": ((3.0, 1.0), (1.0, 0.5), (0.5, 0.2), (20.0, 0.7)),
    "poisson": ((0.0,), (0.1,), (4.0,), (300.0,)),
    "hypergeometric": ((0.0, 5.0, 3.0), (5.0, 0.0, 3.0), (10.0, 20.0, 12.0), (50.0, 3.0, 52.0)),
    "discrete_uniform": ((4.0, 4.0), (0.0, 1.0), (-3.0, 3.0), (0.0, 999.0)),
    "categorical": (((1.0,),), ((0.2, 0.0, 0.8),), ((0.0, 1.0, 0.0),), ((1 / 20,) * 20,)),
    "choice": (((2.0,),), ((1.0, 2.0, 2.0, 5.0),), (tuple(range(50)),)),
}

CASES: list[tuple[str, tuple[Any, ...]]] = [
    (name, arguments) for name, spread in ARGUMENTS.items() for arguments in spread
]


def twin(name: str, arguments: tuple[Any, ...]) -> Twin:
    """Scipy's distribution for these arguments."""
    return TWINS[name](*arguments)


def as_arrays(arguments: tuple[Any, ...]) -> list[NDArray[np.float64]]:
    """Fixed arguments, draws last."""
    return [np.asarray(argument, dtype=np.float64)[..., None] for argument in arguments]


def argument_problem(name: str, arguments: tuple[Any, ...]) -> str | None:
    """What keeps fixed arguments from being those of a law, or None."""
    return domains.argument_problem(LAWS[name].parameters, as_arrays(arguments))


def sample(
    name: str,
    generator: np.random.Generator,
    arguments: list[Array],
    shape: tuple[int, ...],
    draws: int,
) -> Array:
    """Draws of a law of the language, by its name."""
    return LAWS[name].sample(generator, arguments, shape, draws)


def log_density(name: str, arguments: list[Array], x: Array) -> Array:
    """The logarithm of a law's density, by its name."""
    return LAWS[name].log_density(arguments, x)


def density(name: str, arguments: list[Array], x: Array) -> Array:
    """A law's density, by its name."""
    return LAWS[name].density(arguments, x)
