"""What the laws say of their moments, and of those near 0, against scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from dropcheck.analysis.law_bounds import AffineDraw, inverse_of_line
from dropcheck.vocabulary.laws import LAWS

INF = math.inf


# the density of |x|, for the moments of the laws with power tails
DENSITIES: dict[str, tuple[str, Callable[[float], float]]] = {
    "student_t(3)": ("student_t", lambda x: 2 * float(stats.t.pdf(x, 3))),
    "cauchy(0, 1)": ("cauchy", lambda x: 2 * float(stats.cauchy.pdf(x))),
    "pareto(1.5, 1)": ("pareto", lambda x: float(stats.pareto.pdf(x, 1.5))),
    "f(3, 8)": ("f", lambda x: float(stats.f.pdf(x, 3, 8))),
}


@pytest.mark.parametrize("law", DENSITIES)
def test_orders_of_laws_are_where_the_integral_of_the_tail_diverges(law: str) -> None:
    name, density = DENSITIES[law]
    numbers = law.removeprefix(f"{name}(").rstrip(")").split(",")
    order = LAWS[name].moment_order(*map(float, numbers))
    assert 0 < order < INF
    for power, exists in ((0.8 * order, True), (order, False), (1.2 * order, False)):
        # mass of x^power between successive powers of ten: it falls, or it does not
        parts = [
            integrate.quad(lambda x, r: x**r * density(x), 10.0**k, 10.0 ** (k + 1), (power,))[0]
            for k in (3, 4, 5)
        ]
        falls = np.diff(np.log(parts)) < -0.1
        assert falls.all() == exists


def frozen(law: str) -> Any:
    """The same law in scipy."""
    name, arguments = law.rstrip(")").split("(")
    a = [float(one) for one in arguments.split(",")]
    match name:
        case "uniform":
            return stats.uniform(a[0], a[1] - a[0])
        case "triangular":
            return stats.triang((a[1] - a[0]) / (a[2] - a[0]), a[0], a[2] - a[0])
        case "lognormal":
            return stats.lognorm(a[1], scale=math.exp(a[0]))
        case "exponential":
            return stats.expon(scale=a[0])
        case "gamma":
            return stats.gamma(a[0], scale=a[1])
        case "chi_square":
            return stats.chi2(a[0])
        case "weibull":
            return stats.weibull_min(a[0], scale=a[1])
        case "pareto":
            return stats.pareto(a[0], scale=a[1])
        case "truncated_normal":
            ends = ((a[2] - a[0]) / a[1], (a[3] - a[0]) / a[1])
            return stats.truncnorm(*ends, a[0], a[1])
        case "student_t":
            return stats.t(a[0])
        case "gumbel":
            return stats.gumbel_r(*a)
        case "normal":
            return stats.norm(*a)
        case "rayleigh":
            return stats.rayleigh(scale=a[0])
        case "von_mises":
            return stats.vonmises(a[1], a[0])
    return getattr(stats, name)(*a)


NEAR_ZERO = [
    *("normal(0, 1)", "normal(3, 2)", "cauchy(1, 1)", "student_t(3)", "laplace(1, 2)"),
    *("logistic(0, 1)", "gumbel(0, 1)", "uniform(0, 1)", "uniform(-1, 0)", "uniform(-1, 2)"),
    *("triangular(0, 1, 2)", "triangular(0, 0, 2)", "triangular(-2, 0, 0)", "exponential(2)"),
    *("rayleigh(1)", "gamma(0.7, 2)", "gamma(3, 1)", "weibull(1.5, 2)", "chi_square(3)"),
    *("f(3, 8)", "beta(0.5, 2)", "beta(3, 2)", "truncated_normal(0, 1, 0, 2)"),
    *("truncated_normal(1, 1, -1, inf)", "pareto(1.5, 1)"),
    "von_mises(0, 2)",
]


@pytest.mark.parametrize("law", NEAR_ZERO)
@pytest.mark.parametrize(("factor", "shift"), [(1.0, 0.0), (-2.0, 0.0), (3.0, 1.5), (-1.0, 1.0)])
def test_negative_moments_of_a_line_are_those_of_its_density(
    law: str, factor: float, shift: float
) -> None:
    """E|a x + b|^-r by scipy's density, in steps of the logarithm of the distance from 0."""
    name, arguments = law.rstrip(")").split("(")
    line = AffineDraw(LAWS[name], tuple(map(float, arguments.split(","))), factor, shift)
    low, high = line.law.support(*line.arguments)
    zero, of_x = -shift / factor, frozen(law)
    logs = np.arange(-120, 40, 0.01)
    places = zero + np.exp(logs) * np.array([[-1.0], [1.0]])
    inside = (places >= low) & (places <= high)
    with np.errstate(all="ignore"):
        densities = np.where(inside, of_x.pdf(np.clip(places, low, high)), 0.0)
    if zero != 0:  # what lies nearer than its digits
        first = int(np.searchsorted(logs, math.log(1e-6 * abs(zero))))
        densities[:, :first] = densities[:, first, np.newaxis]
        if zero in (low, high):
            near, far = densities.sum(axis=0)[[first, first + 20]]
            power = math.log(far / near) / (logs[first + 20] - logs[first]) if near else 0.0
            densities[:, :first] *= np.exp(power * (logs[:first] - logs[first]))
    for r in (0.2, 0.45, 0.9, 1.4, 2.2):
        parts = np.nan_to_num(densities, posinf=0.0).sum(axis=0) * np.exp((1 - r) * logs)
        truth = (0.01 * float(parts.sum())) ** (1 / r) / abs(factor)
        bound = inverse_of_line(line, r)
        exists = float(parts[:10].sum()) < 1e-3 * float(parts.sum())
        if exists and low <= zero <= high:
            assert bound >= truth * (1 - 1e-4)
        if exists and low <= zero <= high and r < 0.5:
            assert bound <= 1.5 * truth or name == "beta"  # one with a pole at either end
        assert exists or bound == INF


@pytest.mark.parametrize("law", NEAR_ZERO)
def test_no_density_is_above_its_bound(law: str) -> None:
    name, arguments = law.rstrip(")").split("(")
    line = AffineDraw(LAWS[name], tuple(map(float, arguments.split(","))), -2.0)
    levels = np.linspace(1e-4, 1 - 1e-4, 2001)
    densities = frozen(law).pdf(line.law.quantile(levels, *line.arguments)) / 2
    bound = line.greatest_density()
    assert bound >= densities.max() * (1 - 1e-6)
    assert bound <= 1.1 * densities.max() or name in ("beta", "gamma", "triangular")


def test_every_continuous_law_is_tested_here() -> None:
    """Near 0 a lognormal falls faster than any power, which no two widths show."""
    near_zero = {law.partition("(")[0] for law in NEAR_ZERO}
    for name, law in LAWS.items():
        if law.has_quantiles and not law.discrete and name != "lognormal":
            assert name in near_zero, f"give {name} a row in NEAR_ZERO"
