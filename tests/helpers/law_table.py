"""Laws of numbers beside their twins in scipy.stats, and judges of samples."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Twin = Any  # scipy's frozen distributions have no common public type


def _truncated(mean: float, sd: float, low: float, high: float) -> Twin:
    return stats.truncnorm((low - mean) / sd, (high - mean) / sd, mean, sd)


def _triangular(low: float, mode: float, high: float) -> Twin:
    return stats.triang((mode - low) / (high - low), low, high - low)


class Row(NamedTuple):
    """What a law is held against: its twin in scipy.stats, and arguments that it is tried with."""

    twin: Any
    arguments: tuple[tuple[Any, ...], ...]


# one row for each law of numbers
ROWS: dict[str, Row] = {
    "normal": Row(stats.norm, ((0.0, 1.0), (3.0, 1.0), (0.0, 2.5), (-1e8, 1e-3), (1e8, 1.0))),
    "lognormal": Row(
        lambda mean, sd: stats.lognorm(sd, scale=np.exp(mean)),
        ((0.0, 1.0), (-2.0, 0.3), (5.0, 0.1)),
    ),
    "uniform": Row(
        lambda low, high: stats.uniform(low, high - low),
        ((0.0, 1.0), (-1.0, 1.0), (2.0, 2.5), (1e8, 1e8 + 1.0), (-1e300, 1e300)),
    ),
    "exponential": Row(lambda scale: stats.expon(scale=scale), ((1.0,), (0.02,), (1e6,))),
    "gamma": Row(
        lambda shape, scale: stats.gamma(shape, scale=scale),
        ((1.0, 1.0), (0.05, 2.0), (0.7, 1.0), (30.0, 0.1)),
    ),
    "chi_square": Row(stats.chi2, ((1.0,), (0.5,), (7.0,), (200.0,))),
    "beta": Row(stats.beta, ((1.0, 1.0), (0.5, 0.5), (2.0, 5.0), (0.05, 3.0), (300.0, 20.0))),
    "student_t": Row(stats.t, ((1.0,), (0.5,), (2.0,), (30.0,), (1e6,))),
    "f": Row(stats.f, ((1.0, 1.0), (0.5, 8.0), (5.0, 20.0), (100.0, 3.0))),
    "cauchy": Row(stats.cauchy, ((0.0, 1.0), (2.0, 0.1))),
    "laplace": Row(stats.laplace, ((0.0, 1.0), (-3.0, 0.5))),
    "logistic": Row(stats.logistic, ((0.0, 1.0), (1.0, 4.0))),
    "gumbel": Row(stats.gumbel_r, ((0.0, 1.0), (1.0, 0.2))),
    "weibull": Row(
        lambda shape, scale: stats.weibull_min(shape, scale=scale),
        ((1.0, 1.0), (0.5, 2.0), (4.0, 0.3)),
    ),
    "rayleigh": Row(lambda scale: stats.rayleigh(scale=scale), ((1.0,), (0.1,))),
    "pareto": Row(
        lambda alpha, scale: stats.pareto(alpha, scale=scale), ((1.0, 1.0), (0.5, 2.0), (10.0, 3.0))
    ),
    "triangular": Row(_triangular, ((0.0, 0.3, 1.0), (-1.0, -1.0, 2.0), (0.0, 5.0, 5.0))),
    "von_mises": Row(
        lambda mu, kappa: stats.vonmises(kappa, mu),
        ((0.0, 0.0), (0.0, 1.0), (0.5, 4.0), (0.0, 500.0)),
    ),
    "truncated_normal": Row(
        _truncated,
        (
            (0.0, 1.0, -2.0, 2.0),
            (0.0, 1.0, 8.0, 9.0),
            (0.0, 1.0, -9.0, -8.0),
            (2.0, 3.0, -np.inf, 0.0),
            (0.0, 1.0, 35.0, np.inf),
            (0.0, 1.0, -0.5, np.inf),
            (1.0, 2.0, -np.inf, np.inf),
        ),
    ),
    "bernoulli": Row(stats.bernoulli, ((0.0,), (1.0,), (0.5,), (0.1,), (0.999,), (0.00002,))),
    "rademacher": Row(lambda: stats.rv_discrete(values=([-1, 1], [0.5, 0.5])), ((),)),
    "binomial": Row(stats.binom, ((0.0, 0.5), (7.0, 0.0), (7.0, 1.0), (10.0, 0.3), (1000.0, 0.02))),
    "geometric": Row(stats.geom, ((1.0,), (0.5,), (0.01,))),
    "negative_binomial": Row(stats.nbinom, ((3.0, 1.0), (1.0, 0.5), (0.5, 0.2), (20.0, 0.7))),
    "poisson": Row(stats.poisson, ((0.0,), (0.1,), (4.0,), (300.0,))),
    "hypergeometric": Row(
        lambda good, bad, drawn: stats.hypergeom(good + bad, good, drawn),
        ((0.0, 5.0, 3.0), (5.0, 0.0, 3.0), (10.0, 20.0, 12.0), (50.0, 3.0, 52.0)),
    ),
    "discrete_uniform": Row(
        lambda low, high: stats.randint(low, high + 1),
        ((4.0, 4.0), (0.0, 1.0), (-3.0, 3.0), (0.0, 999.0)),
    ),
    "categorical": Row(
        lambda p: stats.rv_discrete(values=(np.arange(len(p)), p)),
        (((1.0,),), ((0.2, 0.0, 0.8),), ((0.0, 1.0, 0.0),), ((1 / 20,) * 20,)),
    ),
    "choice": Row(
        lambda v: stats.rv_discrete(
            values=(sorted(set(v)), [v.count(x) / len(v) for x in sorted(set(v))])
        ),
        (((2.0,),), ((1.0, 2.0, 2.0, 5.0),), (tuple(range(50)),)),
    ),
}
TWINS = {name: row.twin for name, row in ROWS.items()}

CASES: list[tuple[str, tuple[Any, ...]]] = [
    (name, arguments) for name, row in ROWS.items() for arguments in row.arguments
]


def twin(name: str, arguments: tuple[Any, ...]) -> Twin:
    """Scipy's distribution for these arguments."""
    return TWINS[name](*arguments)


def as_arrays(arguments: tuple[Any, ...]) -> list[NDArray[np.float64]]:
    """Fixed arguments, draws last."""
    return [np.asarray(argument, dtype=np.float64)[..., None] for argument in arguments]


# ---- judges of samples, each with its rate of false alarms ---------------------------------------

FALSE_ALARM = 1e-9
MOST_COMPARED = 4000  # points at which distribution functions are compared


def distance_allowed(draws: int) -> float:
    """What the largest gap between two distribution functions may be (Massart 1990)."""
    return math.sqrt(math.log(2.0 / FALSE_ALARM) / (2.0 * draws))


def gap(draws: NDArray[Any], cdf: Any) -> float:
    """The largest distance between the sample's distribution function and another."""
    points, counts = np.unique(draws, return_counts=True)
    upto = np.cumsum(counts) / draws.size
    below = upto - counts / draws.size
    some = slice(None, None, 1 + points.size // MOST_COMPARED)
    # just below a point both are left limits; where draws tie the law may have an atom
    left = cdf(np.nextafter(points[some], -np.inf))
    return float(
        max(np.abs(cdf(points[some]) - upto[some]).max(), np.abs(left - below[some]).max())
    )


def cdf_of(name: str, arguments: tuple[Any, ...]) -> Any:
    """Scipy's distribution function, where it is that of the law."""
    if name == "von_mises":  # scipy's goes on round the circle: cut it at -pi
        mu, kappa = arguments
        law = stats.vonmises(kappa)
        return lambda x: law.cdf(x - mu) - law.cdf(-math.pi - mu)
    if name == "uniform":  # scipy's width overflows
        low, high = arguments
        return lambda x: np.clip((x / 2 - low / 2) / (high / 2 - low / 2), 0, 1)
    return twin(name, arguments).cdf


def exact(successes: int, trials: int, p: float) -> bool:
    """Whether so many successes are no wonder, by the exact binomial test."""
    return bool(stats.binomtest(successes, trials, p).pvalue > FALSE_ALARM)
