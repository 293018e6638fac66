"""The laws of positive numbers.

Densities are as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (2nd
edition, 1994 and 1995).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.distributions.domains import POSITIVE, LawParameter
from dropcheck.vocabulary.distributions.moment_lists import (
    HIGHEST_ORDER,
    MomentList,
    log_normal_central,
    log_normal_cumulants,
    pearson,
)
from dropcheck.vocabulary.distributions.standard import Standard
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Generator, Law, Size
from dropcheck.vocabulary.laws.formulas import (
    beta_cdf,
    beta_quantile,
    beta_survival,
    gamma_of_random,
    gamma_quantile,
    gamma_upper_quantile,
    log_rising,
    sharper_beyond,
)
from dropcheck.vocabulary.laws.quadrature import in_chunks, weighted_moments
from dropcheck.vocabulary.laws.sampling import (
    constant_where_zero,
    exponentials,
    fixed,
    inside,
    log_gammas,
    positive,
    scalar_or_array,
    scaled,
)
from dropcheck.vocabulary.laws.unbounded import DF, LAW_MEAN, SCALE, SD, SHAPE, normal_log_density

_positive = partial(Law, values=Values.NUMBERS, ends=(0.0, math.inf), rare=None, nanoseconds=40.0)


def _lognormal_draws(generator: Generator, size: Size, mean: Array, sd: Array) -> Array:
    out = scaled(generator.standard_normal(size), mean, sd)
    np.exp(out, out=out)
    return constant_where_zero(inside(out, 0.0, None), sd, np.exp(mean))


def _lognormal_list(
    of_unit_mean: Callable[[Any], MomentList], mean: Array, sd: Array
) -> MomentList:
    log_mean = mean + 0.5 * sd * sd
    found = of_unit_mean(np.expm1(sd * sd))
    return [np.exp(k * log_mean) * one for k, one in enumerate(found)]


LOGNORMAL = _positive(
    name="lognormal",
    summary="exp of a normal variable; mean and sd are those of the logarithm",
    parameters=(LAW_MEAN, SD),
    degenerate=lambda mean, sd: (sd == 0, np.exp(mean)),
    moments=math.inf,
    mode=lambda mean, sd: np.exp(mean - sd**2),
    near_ends=lambda mean, sd: (math.inf, math.inf),
    tails=lambda mean, sd: (math.inf, 0.0),
    sampler=_lognormal_draws,
    log_density_inside=lambda x, mean, sd: normal_log_density(np.log(x), mean, sd) - np.log(x),
    aliases=("lognorm",),
    note="mean and sd are those of the logarithm, and sd is no variance",
    standard=Standard(
        mean=lambda mean, sd: np.exp(mean + 0.5 * sd * sd),
        central=partial(_lognormal_list, log_normal_central),
        cumulants=partial(_lognormal_list, log_normal_cumulants),
        norm=lambda p, mean, sd: np.exp(mean + 0.5 * p * sd * sd),
        cdf=lambda x, mean, sd: special.ndtr((np.log(x) - mean) / sd),
        survival=lambda x, mean, sd: special.ndtr((mean - np.log(x)) / sd),
        quantile=lambda u, mean, sd: np.exp(mean + sd * special.ndtri(u)),
        upper_quantile=lambda v, mean, sd: np.exp(mean - sd * special.ndtri(v)),
    ),
)


def _gamma_log_mgf(t: Any, shape: Any) -> Any:
    return np.where(np.less(t, 1), -shape * np.log1p(-t), np.inf)


STANDARD_GAMMA = Standard(
    mean=lambda shape: shape,
    cumulants=lambda shape: [shape * math.factorial(max(k - 1, 0)) for k in range(9)],
    norm=lambda p, shape: np.exp(log_rising(shape, p) / p),
    log_mgf=_gamma_log_mgf,
    cdf=lambda x, shape: special.gammainc(shape, x),
    survival=lambda x, shape: special.gammaincc(shape, x),
    quantile=lambda u, shape: gamma_quantile(shape, u),
    upper_quantile=lambda v, shape: gamma_upper_quantile(shape, v),
    quantile_cost=2000.0,
)

EXPONENTIAL = _positive(
    name="exponential",
    summary="waiting time whose mean is scale, the inverse of its rate",
    parameters=(SCALE,),
    degenerate=lambda scale: (scale == 0, 0.0),
    moments=math.inf,
    mode=lambda scale: 0.0 * scale,
    near_ends=lambda scale: (1.0, math.inf),
    tails=lambda scale: (math.inf, 1 / scale),
    sampler=lambda generator, size, scale: positive(exponentials(generator, size), scale),
    log_density_inside=lambda x, scale: -x / scale - np.log(scale),
    nanoseconds=5.0,
    aliases=("exp", "expo"),
    note="scale is its mean, the inverse of a rate",
    standard=STANDARD_GAMMA,
    line=lambda scale: (0.0, scale, 1.0),
    standard_arguments=(1.0,),
)


TWO = np.full(1, 2.0)  # the scale of a chi-square law


def _gamma_draws(generator: Generator, size: Size, shape: Array, scale: Array) -> Array:
    return positive(generator.standard_gamma(scalar_or_array(shape), size), scale)


def _gamma_log_density(x: Array, shape: Array, scale: Array | float) -> Any:
    y = x / scale
    return special.xlogy(shape - 1.0, y) - y - special.gammaln(shape) - np.log(scale)


GAMMA = _positive(
    name="gamma",
    summary="mean shape * scale; shape > 0",
    parameters=(SHAPE, SCALE),
    degenerate=lambda shape, scale: (scale == 0, 0.0),
    moments=math.inf,
    mode=lambda shape, scale: np.maximum(shape - 1.0, 0.0) * scale,
    near_ends=lambda shape, scale: (shape, math.inf),
    tails=lambda shape, scale: (math.inf, 1 / scale),
    sampler=_gamma_draws,
    log_density_inside=_gamma_log_density,
    norm_of_random=gamma_of_random,
    standard=STANDARD_GAMMA,
    line=lambda shape, scale: (0.0, scale, shape),
    standard_arguments=(None, 1.0),
)


CHI_SQUARE = _positive(
    name="chi_square",
    summary="sum of the squares of df standard normal variables; df > 0, whole or not",
    parameters=(DF,),
    degenerate=None,
    moments=math.inf,
    mode=lambda df: np.maximum(df - 2.0, 0.0),
    near_ends=lambda df: (df / 2, math.inf),
    tails=lambda df: (math.inf, 0.5),
    sampler=lambda generator, size, df: _gamma_draws(generator, size, df / 2.0, TWO),
    log_density_inside=lambda x, df: _gamma_log_density(x, df / 2.0, 2.0),
    norm_of_random=lambda p, norm, hull: norm(0, p) + 2.0 * p,  # twice a gamma variable of df / 2
    aliases=("chi2", "chisq", "chi_squared", "chisquare", "chisquared"),
    standard=STANDARD_GAMMA,
    line=lambda df: (0.0, 2.0, df / 2.0),
)


def _f_draws(generator: Generator, size: Size, d1: Array, d2: Array) -> Array:
    if min(d1.min(), d2.min()) >= 1.0:
        out = generator.f(scalar_or_array(d1), scalar_or_array(d2), size)
    else:  # both chi-squares may underflow, and 0 / 0 is NaN
        out = log_gammas(generator, size, d1 / 2.0)
        out -= log_gammas(generator, size, d2 / 2.0)
        np.exp(out, out=out)
        out *= d2 / d1
    return inside(out, 0.0, None)


def _f_log_density(x: Array, d1: Array, d2: Array) -> Any:
    y = d1 / d2 * x
    powers = special.xlogy(d1 / 2.0 - 1.0, y) - (d1 + d2) / 2.0 * np.log1p(y)
    return powers - special.betaln(d1 / 2.0, d2 / 2.0) + np.log(d1 / d2)


def _f_moments(d1: Array, d2: Array) -> MomentList:
    """The Stein kernel is 2 x (d2 + d1 x) / (d1 (d2 - 2)); with x = mean + y."""
    mean = d2 / (d2 - 2.0)
    square = sharper_beyond(d2 / 2.0)
    return pearson(square, square * (d2 / d1 + 2.0 * mean), square * mean * (d2 / d1 + mean))


def _f_norm(p: float, d1: Array, d2: Array) -> Any:
    """E F^p by gamma functions (JKB 1995, equation 27.12)."""
    gammas = log_rising(d1 / 2.0, p) - log_rising(np.maximum(d2 / 2.0 - p, 0.0), p)
    return np.exp(gammas / p) * (d2 / d1)


def _f_share(x: Array, a: Array, b: Array) -> Any:
    """P(F <= x) by the incomplete beta function (JKB 1995, equation 27.4); a = d1 / 2, b = d2 / 2.

    It is taken at the share a x / (b + a x), or its complement at 1 - share: at the smaller of
    both, which has its digits.
    """
    share, rest = a * x / (b + a * x), b / (b + a * x)
    return np.where(share < 0.5, beta_cdf(a, b, share), beta_survival(b, a, rest))


def _f_quantile(u: Array, a: Array, b: Array) -> Any:
    share = beta_quantile(a, b, u)
    rest = np.where(share < 0.9, 1.0 - share, special.betainccinv(b, a, u))
    return b / a * (share / rest)


F = _positive(
    name="f",
    summary="Fisher's F, a ratio of mean squares; only moments of order below d2 / 2 exist",
    parameters=(LawParameter("d1", POSITIVE), LawParameter("d2", POSITIVE)),
    degenerate=None,
    moments=lambda d1, d2: d2 / 2,  # they do not depend on d1
    mode=lambda d1, d2: np.maximum(d1 - 2.0, 0.0) / d1 * d2 / (d2 + 2.0),
    near_ends=lambda d1, d2: (d1 / 2, math.inf),
    tails=lambda d1, d2: (math.inf, 0.0),
    sampler=_f_draws,
    log_density_inside=_f_log_density,
    standard=Standard(
        mean=lambda d1, d2: d2 / (d2 - 2.0) + 0.0 * d1,
        central=_f_moments,
        norm=_f_norm,
        cdf=lambda x, d1, d2: _f_share(x, d1 / 2.0, d2 / 2.0),
        # 1 / F is an F variable too
        survival=lambda x, d1, d2: _f_share(1.0 / x, d2 / 2.0, d1 / 2.0),
        quantile=lambda u, d1, d2: _f_quantile(u, d1 / 2.0, d2 / 2.0),
        upper_quantile=lambda v, d1, d2: 1.0 / _f_quantile(v, d2 / 2.0, d1 / 2.0),
        quantile_cost=1e4,
    ),
)


def _weibull_draws(generator: Generator, size: Size, shape: Array, scale: Array) -> Array:
    out = exponentials(generator, size)
    if fixed(shape) != 1.0:
        out **= 1.0 / shape
    return positive(out, scale)


def _weibull_log_density(x: Array, shape: Array, scale: Array) -> Any:
    y = x / scale
    return np.log(shape / scale) + special.xlogy(shape - 1.0, y) - y**shape


# With x = exp(v / shape), exp(v) is an exponential variable. The trapezoidal rule in v is exact to
# 1e-15 for so smooth a density (Trefethen and Weideman 2014, SIAM Review 56, section 5).
_LOG_TIMES = np.linspace(-80.0, 6.25, 691)
_LOG_TIME_WEIGHTS = np.exp(_LOG_TIMES - np.exp(_LOG_TIMES))


def _weibull_moments(shape: Array) -> MomentList:
    """By quadrature; for shapes below 1/2, where nothing cancels, from the moments about 0."""
    shape = np.asarray(shape)
    orders = np.arange(HIGHEST_ORDER + 1.0)
    raw = [special.gamma(1.0 + order / shape) for order in orders]
    # central moments from the moments about 0, by the binomial formula
    from_raw = [
        sum(
            ((-1) ** (k - j) * math.comb(k, j) * raw[j] * raw[1] ** (k - j) for j in range(k)),
            raw[k],
        )
        for k in range(HIGHEST_ORDER + 1)
    ]
    from_raw = [np.where(np.isfinite(one), one, np.inf) for one in from_raw]
    near = np.maximum(shape, 0.5)
    log_mean = special.gammaln(1.0 + 1.0 / near)
    by_points = in_chunks(_weibull_by_points, near, log_mean)
    return [np.where(shape < 0.5, *pair) for pair in zip(from_raw, by_points, strict=True)]


def _weibull_by_points(shape: Array, log_mean: Array) -> MomentList:
    deviations = np.expm1(_LOG_TIMES / shape[..., None] - log_mean[..., None])
    central = weighted_moments(deviations, _LOG_TIME_WEIGHTS)[1]
    return [np.exp(k * log_mean) * one for k, one in enumerate(central)]


def _weibull_log_mgf(t: Array, shape: Array) -> Any:
    """Exact for shape 1; above, a bound by t x <= x^shape / 2 + the maximum of the difference."""
    at = (2.0 * np.maximum(t, 0.0) / shape) ** (1.0 / (shape - 1.0))
    bound = np.where(np.less_equal(t, 0), 0.0, t * at * (1.0 - 1.0 / shape) + math.log(2.0))
    return np.where(np.equal(shape, 1), _gamma_log_mgf(t, 1.0), np.where(shape > 1, bound, np.inf))


WEIBULL = _positive(
    name="weibull",
    summary="P(x > t) = exp(-(t / scale)**shape); shape > 0",
    parameters=(SHAPE, SCALE),
    degenerate=lambda shape, scale: (scale == 0, 0.0),
    moments=math.inf,
    mode=lambda shape, scale: scale * np.maximum(1.0 - 1.0 / shape, 0.0) ** (1.0 / shape),
    near_ends=lambda shape, scale: (shape, math.inf),
    tails=None,
    sampler=_weibull_draws,
    log_density_inside=_weibull_log_density,
    standard=Standard(
        mean=lambda shape: special.gamma(1.0 + 1.0 / shape),
        central=_weibull_moments,
        norm=lambda p, shape: np.exp(special.gammaln(1.0 + p / shape) / p),
        log_mgf=_weibull_log_mgf,
        cdf=lambda x, shape: -np.expm1(-(x**shape)),
        survival=lambda x, shape: np.exp(-(x**shape)),
        quantile=lambda u, shape: (-np.log1p(-u)) ** (1.0 / shape),
        upper_quantile=lambda v, shape: (-np.log(v)) ** (1.0 / shape),
    ),
    line=lambda shape, scale: (0.0, scale, shape),
    standard_arguments=(None, 1.0),
)


def _rayleigh_draws(generator: Generator, size: Size, scale: Array) -> Array:
    out = exponentials(generator, size)
    out *= 2.0
    return positive(np.sqrt(out, out=out), scale)


def _rayleigh_log_density(x: Array, scale: Array) -> Any:
    y = x / scale
    return np.log(y) - 0.5 * y * y - np.log(scale)


RAYLEIGH = _positive(
    name="rayleigh",
    summary="length of a vector of two normal variables of sd scale",
    parameters=(SCALE,),
    degenerate=lambda scale: (scale == 0, 0.0),
    moments=math.inf,
    mode=lambda scale: scale,
    near_ends=lambda scale: (2.0, math.inf),
    tails=lambda scale: (math.inf, math.inf),
    sampler=_rayleigh_draws,
    log_density_inside=_rayleigh_log_density,
    standard=WEIBULL.standard,
    line=lambda scale: (0.0, math.sqrt(2.0) * scale, 2.0),
    standard_arguments=(1.0,),
)


def _pareto_draws(generator: Generator, size: Size, alpha: Array, scale: Array) -> Array:
    out = exponentials(generator, size)
    out /= alpha
    np.exp(out, out=out)
    out *= scale
    return constant_where_zero(inside(out, scale, None), scale, 0.0)


def _pareto_moments(alpha: Array) -> MomentList:
    """The Stein kernel is (x² - x) / (alpha - 1); with x = mean + y."""
    square = sharper_beyond(alpha)
    mean = 1.0 + square
    return pearson(square, square * (mean + square), square * square * mean)


PARETO = _positive(
    name="pareto",
    summary="P(x > t) = (scale / t)**alpha from scale on; only moments of order below alpha exist",
    parameters=(LawParameter("alpha", POSITIVE), SCALE),
    ends=lambda alpha, scale: (scale, math.inf),
    degenerate=lambda alpha, scale: (scale == 0, 0.0),
    moments=lambda alpha, scale: alpha,
    mode=lambda alpha, scale: scale,
    near_ends=lambda alpha, scale: (1.0, math.inf),
    tails=lambda alpha, scale: (math.inf, 0.0),
    sampler=_pareto_draws,
    log_density_inside=lambda x, alpha, scale: (
        np.log(alpha / scale) - (alpha + 1.0) * np.log(x / scale)
    ),
    standard=Standard(
        mean=lambda alpha: alpha / (alpha - 1.0),
        central=_pareto_moments,
        norm=lambda p, alpha: (alpha / (alpha - p)) ** (1.0 / p),
        cdf=lambda x, alpha: -np.expm1(-alpha * np.log(x)),
        survival=lambda x, alpha: x ** -np.asarray(alpha),
        quantile=lambda u, alpha: np.exp(-np.log1p(-u) / alpha),
        upper_quantile=lambda v, alpha: v ** (-1.0 / alpha),
    ),
    line=lambda alpha, scale: (0.0, scale, alpha),
    standard_arguments=(None, 1.0),
)
