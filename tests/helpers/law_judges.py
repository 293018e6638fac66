"""Judges of samples, each with its rate of false alarms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from law_table import twin
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[Any]

FALSE_ALARM = 1e-9


def distance_allowed(draws: int) -> float:
    """What the largest gap between two distribution functions may be (Massart 1990)."""
    return math.sqrt(math.log(2.0 / FALSE_ALARM) / (2.0 * draws))


def gap(draws: Array, cdf: Any) -> float:
    """The largest distance between the sample's distribution function and another."""
    points, counts = np.unique(draws, return_counts=True)
    upto = np.cumsum(counts) / draws.size
    # just below a point both are left limits; where draws tie the law may have an atom
    left = cdf(np.nextafter(points, -np.inf))
    return float(
        max(np.abs(cdf(points) - upto).max(), np.abs(left - (upto - counts / draws.size)).max())
    )


def von_mises_cdf(kappa: float, mu: float) -> Any:
    """Scipy's distribution function goes on round the circle: cut it at -pi."""
    law = stats.vonmises(kappa)
    return lambda x: law.cdf(x - mu) - law.cdf(-math.pi - mu)


def truncated_cdf(mean: float, sd: float, low: float, high: float) -> Any:
    law = stats.truncnorm((low - mean) / sd, (high - mean) / sd)
    return lambda x: law.cdf((x - mean) / sd)


def cdf_of(name: str, arguments: tuple[Any, ...]) -> Any:
    if name == "von_mises":
        return von_mises_cdf(arguments[1], arguments[0])
    if name == "truncated_normal":
        return truncated_cdf(*arguments)
    if name == "uniform":  # scipy's width overflows
        low, high = arguments
        return lambda x: np.clip((x / 2 - low / 2) / (high / 2 - low / 2), 0, 1)
    return twin(name, arguments).cdf


def exact(successes: int, trials: int, p: float) -> bool:
    return bool(stats.binomtest(successes, trials, p).pvalue > FALSE_ALARM)
