"""The laws with a density.

Densities are as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (2nd
edition, 1994 and 1995), unless said.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.domains import (
    ANGLE,
    ANY_NUMBER,
    FINITE,
    LOC,
    LOW,
    NOT_NEGATIVE,
    POSITIVE,
    SCALE,
    Domain,
    LawParameter,
)
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Law, Nearly, log_gammas, scaled, signs
from dropcheck.vocabulary.special import Special

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

LOCATION = LawParameter("loc", FINITE, role=LOC)
SPREAD = LawParameter("scale", NOT_NEGATIVE, role=SCALE)
MEAN, SD = LawParameter("mean", FINITE), LawParameter("sd", NOT_NEGATIVE)
# for larger shapes scipy's incomplete gamma function is wrong in the tails
LARGEST_SHAPE = 2e5
SHAPE, DF = LawParameter("shape", POSITIVE), LawParameter("df", POSITIVE)

_any_number = partial(Law, ends=(-math.inf, math.inf))
_located = partial(_any_number, parameters=(LOCATION, SPREAD))
_positive = partial(Law, ends=(0.0, math.inf))


# ---- the whole line ------------------------------------------------------------------------------


def normal_log_density(x: Array, mean: Array, sd: Array) -> Any:
    """The log density of a normal law."""
    z = (x - mean) / sd
    return -0.5 * (z * z) - LOG_ROOT_TWO_PI - np.log(sd)


NORMAL = _any_number(
    names=("normal", "N", "gauss", "gaussian", "norm", "normalvariate"),
    summary="the normal (Gaussian) law; sd is the standard deviation, not the variance",
    parameters=(
        LawParameter("mean", FINITE, role=LOC),
        LawParameter("sd", NOT_NEGATIVE, role=SCALE),
    ),
    sampler="standard_normal",
    log_density_inside=normal_log_density,
    chances=Special("ndtr"),
    quantiles=Special("ndtri"),
)


def _log_one_plus_square(x: Array) -> Any:
    """Log(1 + x**2) of x >= 0, also where the square overflows."""
    return np.where(x < 1e100, np.log1p(x * x), 2.0 * np.log(x))


def _student_t_log_density(x: Array, df: Array) -> Any:
    log_tail = _log_one_plus_square(np.abs(x) / np.sqrt(df))
    return -special.betaln(0.5, df / 2.0) - 0.5 * np.log(df) - (df + 1.0) / 2.0 * log_tail


# from here on, in units of √df, the tail is a power of x to within 1e-20 of itself
_POWER_TAIL = 1e10


def _student_t_cdf(x: Array, df: Array) -> Any:
    """The incomplete beta function (JKB 1995, equation 28.4); far out, its leading term."""
    z = x / np.sqrt(df)
    outer = special.betainc(df / 2.0, 0.5, 1.0 / (1.0 + z * z))
    inner = special.betaincc(0.5, df / 2.0, z * z / (1.0 + z * z))
    far = np.exp(-df * np.log(np.abs(z)) - np.log(df / 2.0) - special.betaln(df / 2.0, 0.5))
    tail = 0.5 * np.where(np.abs(z) > _POWER_TAIL, far, np.where(z * z < 1.0, inner, outer))
    return np.where(z > 0, 1.0 - tail, tail)


STUDENT_T = _any_number(
    names=("student_t", "t", "studentt", "standard_t"),
    summary="Student's t; only moments of order below df exist",
    parameters=(DF,),
    moments=lambda df: df,
    sampler="standard_t",
    log_density_inside=_student_t_log_density,
    chances=_student_t_cdf,
    quantiles=Nearly(lambda u, df: special.stdtrit(df, u)),
)


def _cauchy_quantile(u: Array) -> Any:
    tail = np.minimum(u, 1.0 - u)
    distance = np.where(tail > 0.25, np.tan(math.pi * (0.5 - tail)), 1.0 / np.tan(math.pi * tail))
    return np.where(u < 0.5, -distance, distance)


CAUCHY = _located(
    names=("cauchy", "standard_cauchy"),
    summary="Cauchy's law; it has no mean",
    moments=1.0,
    sampler="standard_cauchy",
    log_density_inside=lambda x, loc, scale: (
        -_log_one_plus_square(np.abs((x - loc) / scale)) - math.log(math.pi) - np.log(scale)
    ),
    chances=lambda x: np.arctan2(1.0, -x) / math.pi,
    quantiles=_cauchy_quantile,
)


def _laplace_cdf(x: Array) -> Any:
    tail = 0.5 * np.exp(-np.abs(x))
    return np.where(x > 0, 1.0 - tail, tail)


def _laplace_quantile(u: Array) -> Any:
    distance = -np.log(2.0 * np.minimum(u, 1.0 - u))
    return np.where(u < 0.5, -distance, distance)


LAPLACE = _located(
    names=("laplace", "double_exponential"),
    summary="two-sided exponential; its variance is 2 * scale**2",
    sampler=lambda generator, size, loc, scale: scaled(
        generator.standard_exponential(size) * signs(generator, size), loc, scale
    ),
    log_density_inside=lambda x, loc, scale: -np.abs(x - loc) / scale - np.log(2.0 * scale),
    chances=_laplace_cdf,
    quantiles=_laplace_quantile,
)


def _logistic_log_density(x: Array, loc: Array, scale: Array) -> Any:
    z = np.abs((x - loc) / scale)
    return -z - 2.0 * np.log1p(np.exp(-z)) - np.log(scale)


LOGISTIC = _located(
    names=("logistic",),
    summary="its distribution function is the sigmoid of (x - loc) / scale",
    sampler="logistic",
    log_density_inside=_logistic_log_density,
    chances=Special("expit"),
    quantiles=Special("logit"),
)


def _gumbel_log_density(x: Array, loc: Array, scale: Array) -> Any:
    z = (x - loc) / scale
    return -z - np.exp(-z) - np.log(scale)


GUMBEL = _located(
    names=("gumbel", "gumbel_r"),
    summary="the law of maxima: P(x <= t) = exp(-exp(-(t - loc) / scale))",
    log_density_inside=_gumbel_log_density,
    chances=(lambda x: np.exp(-np.exp(-x)), lambda x: -np.expm1(-np.exp(-x))),
    quantiles=(lambda u: -np.log(-np.log(u)), lambda v: -np.log(-np.log1p(-v))),
)


# ---- positive numbers ----------------------------------------------------------------------------


LOGNORMAL = _positive(
    names=("lognormal", "lognorm", "lognormvariate"),
    summary="exp of a normal variable; its logarithm has this mean and sd, which is no variance",
    parameters=(MEAN, SD),
    ends=lambda mean, sd: (
        np.where(sd == 0, np.exp(mean), 0.0),
        np.where(sd == 0, np.exp(mean), np.inf),
    ),
    sampler=lambda generator, size, mean, sd: np.exp(
        scaled(generator.standard_normal(size), mean, sd)
    ),
    log_density_inside=lambda x, mean, sd: normal_log_density(np.log(x), mean, sd) - np.log(x),
    chances=(
        lambda x, mean, sd: special.ndtr((np.log(x) - mean) / sd),
        lambda x, mean, sd: special.ndtr((mean - np.log(x)) / sd),
    ),
    quantiles=(
        lambda u, mean, sd: np.exp(mean + sd * special.ndtri(u)),
        lambda v, mean, sd: np.exp(mean - sd * special.ndtri(v)),
    ),
)

EXPONENTIAL = _positive(
    names=("exponential", "exp", "expo", "expon", "expovariate"),
    summary="waiting time; scale is its mean, the inverse of a rate",
    parameters=(SPREAD,),
    sampler="standard_exponential",
    log_density_inside=lambda x, scale: -x / scale - np.log(scale),
    chances=(lambda x: -np.expm1(-x), lambda x: np.exp(-x)),
    quantiles=(lambda u: -np.log1p(-u), lambda v: -np.log(v)),
)


def _gamma_log_density(x: Array, shape: Array, scale: Array | float) -> Any:
    y = x / scale
    return special.xlogy(shape - 1.0, y) - y - special.gammaln(shape) - np.log(scale)


GAMMA = _positive(
    names=("gamma", "gammavariate"),
    summary="waiting time of mean shape * scale; scale is the inverse of a rate",
    parameters=(
        LawParameter("shape", Domain(0.0, LARGEST_SHAPE, high_open=False), adds=True),
        SPREAD,
    ),
    sampler="standard_gamma",
    log_density_inside=_gamma_log_density,
    chances=(
        lambda x, shape: special.gammainc(shape, x),
        lambda x, shape: special.gammaincc(shape, x),
    ),
    quantiles=Nearly(
        (
            lambda u, shape: special.gammaincinv(shape, u),
            lambda v, shape: special.gammainccinv(shape, v),
        )
    ),
)

CHI_SQUARE = _positive(
    names=("chi_square", "chi2", "chisq", "chi_squared", "chisquare", "chisquared"),
    summary="sum of the squares of df standard normal variables, df whole or not",
    parameters=(LawParameter("df", Domain(0.0, 2 * LARGEST_SHAPE, high_open=False), adds=True),),
    sampler="chisquare",
    log_density_inside=lambda x, df: _gamma_log_density(x, df / 2.0, 2.0),
    chances=(
        lambda x, df: special.gammainc(df / 2.0, x / 2.0),
        lambda x, df: special.gammaincc(df / 2.0, x / 2.0),
    ),
    quantiles=Nearly(
        (
            lambda u, df: 2.0 * special.gammaincinv(df / 2.0, u),
            lambda v, df: 2.0 * special.gammainccinv(df / 2.0, v),
        )
    ),
)


def _f_log_density(x: Array, d1: Array, d2: Array) -> Any:
    y = d1 / d2 * x
    powers = special.xlogy(d1 / 2.0 - 1.0, y) - (d1 + d2) / 2.0 * np.log1p(y)
    return powers - special.betaln(d1 / 2.0, d2 / 2.0) + np.log(d1 / d2)


def _f_share(x: Array, d1: Array, d2: Array) -> Any:
    """P(F <= x) by the incomplete beta function (JKB 1995, equation 27.4).

    It is taken at the share d1 x / (d2 + d1 x), or its complement at 1 - share: at the smaller of
    both, which has its digits.
    """
    share, rest = d1 * x / (d2 + d1 * x), d2 / (d2 + d1 * x)
    below = special.betainc(d1 / 2.0, d2 / 2.0, share)
    return np.where(share < 0.5, below, special.betaincc(d2 / 2.0, d1 / 2.0, rest))


F = _positive(
    names=("f",),
    summary="Fisher's F, a ratio of mean squares; only moments of order below d2 / 2 exist",
    parameters=(LawParameter("d1", POSITIVE), LawParameter("d2", POSITIVE)),
    moments=lambda d1, d2: d2 / 2,  # they do not depend on d1
    # by logarithms, as both mean squares may underflow
    sampler=lambda generator, size, d1, d2: (
        np.exp(log_gammas(generator, size, d1 / 2.0) - log_gammas(generator, size, d2 / 2.0))
        * (d2 / d1)
    ),
    log_density_inside=_f_log_density,
    # 1 / F is an F variable too
    chances=(_f_share, lambda x, d1, d2: _f_share(1.0 / x, d2, d1)),
    quantiles=Nearly(
        (
            lambda u, d1, d2: special.fdtri(d1, d2, u),
            lambda v, d1, d2: 1.0 / special.fdtri(d2, d1, v),
        )
    ),
)


def _weibull_log_density(x: Array, shape: Array, scale: Array) -> Any:
    y = x / scale
    return np.log(shape / scale) + special.xlogy(shape - 1.0, y) - y**shape


WEIBULL = _positive(
    names=("weibull", "weibull_min", "weibullvariate"),
    summary="P(x > t) = exp(-(t / scale)**shape)",
    parameters=(SHAPE, SPREAD),
    log_density_inside=_weibull_log_density,
    chances=(
        lambda x, shape: -np.expm1(-(x**shape)),
        lambda x, shape: np.exp(-(x**shape)),
    ),
    quantiles=(
        lambda u, shape: (-np.log1p(-u)) ** (1.0 / shape),
        lambda v, shape: (-np.log(v)) ** (1.0 / shape),
    ),
)


def _rayleigh_log_density(x: Array, scale: Array) -> Any:
    y = x / scale
    return np.log(y) - 0.5 * y * y - np.log(scale)


RAYLEIGH = _positive(
    names=("rayleigh",),
    summary="length of a vector of two normal variables of sd scale",
    parameters=(SPREAD,),
    log_density_inside=_rayleigh_log_density,
    chances=(lambda x: -np.expm1(-0.5 * x * x), lambda x: np.exp(-0.5 * x * x)),
    quantiles=(lambda u: np.sqrt(-2.0 * np.log1p(-u)), lambda v: np.sqrt(-2.0 * np.log(v))),
)

PARETO = _positive(
    names=("pareto", "paretovariate"),
    summary="P(x > t) = (scale / t)**alpha from scale on; only moments of order below alpha exist",
    parameters=(LawParameter("alpha", POSITIVE), SPREAD),
    ends=lambda alpha, scale: (scale, math.inf),
    moments=lambda alpha, scale: alpha,
    log_density_inside=lambda x, alpha, scale: (
        np.log(alpha / scale) - (alpha + 1.0) * np.log(x / scale)
    ),
    chances=(
        lambda x, alpha: -np.expm1(-alpha * np.log(x)),
        lambda x, alpha: x ** -np.asarray(alpha),
    ),
    quantiles=(
        lambda u, alpha: np.exp(-np.log1p(-u) / alpha),
        lambda v, alpha: v ** (-1.0 / alpha),
    ),
)


# ---- between two ends ----------------------------------------------------------------------------


UNIFORM = Law(
    names=("uniform", "U", "unif"),
    summary="equally likely anywhere between low and high, never at either",
    parameters=(
        LOW,
        LawParameter(
            "high",
            FINITE,
            role=SCALE,
            conditions=(
                ("low <= high is required", lambda low, high: low <= high),
                ("high - low must be finite", lambda low, high: np.isfinite(high - low)),
            ),
        ),
    ),
    ends=lambda low, high: (low, high),
    sampler="random",
    log_density_inside=lambda x, low, high: -np.log(high - low),
    chances=(lambda x: x, lambda x: 1.0 - x),
    quantiles=(lambda u: u, lambda v: 1.0 - v),
)

BETA = Law(
    names=("beta", "betavariate"),
    summary="a share between 0 and 1 whose mean is a / (a + b)",
    parameters=(LawParameter("a", POSITIVE), LawParameter("b", POSITIVE)),
    ends=(0.0, 1.0),
    sampler="beta",
    log_density_inside=lambda x, a, b: (
        special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b)
    ),
    chances=(
        lambda x, a, b: special.betainc(a, b, x),
        lambda x, a, b: special.betaincc(a, b, x),
    ),
    quantiles=Nearly(
        (
            lambda u, a, b: special.betaincinv(a, b, u),
            lambda v, a, b: special.betainccinv(a, b, v),
        )
    ),
)


def _triangular_log_density(x: Array, low: Array, mode: Array, high: Array) -> Any:
    rising = (x - low) / (mode - low)
    falling = (high - x) / (high - mode)
    height = np.where(x < mode, rising, np.where(x > mode, falling, 1.0))
    return np.log(height) + math.log(2.0) - np.log(high - low)


def _triangular_below(x: Array, low: Array, mode: Array, high: Array) -> Any:
    falling = (high - x) * ((high - x) / np.where(mode < high, high - mode, 1.0)) / (high - low)
    return np.where(x < mode, (x - low) * ((x - low) / (mode - low)) / (high - low), 1.0 - falling)


def _triangular_at(u: Array, low: Array, mode: Array, high: Array) -> Any:
    width = high - low
    rising = low + np.sqrt(u * (width * (mode - low)))
    falling = high - np.sqrt((1.0 - u) * (width * (high - mode)))
    return np.where(u * width < mode - low, rising, falling)


TRIANGULAR = Law(
    names=("triangular", "triang"),
    summary="density rising straight from low to mode and falling straight to high",
    parameters=(
        LawParameter("low", FINITE),
        LawParameter("mode", FINITE, knot=True),
        LawParameter(
            "high",
            FINITE,
            conditions=(
                (
                    "low <= mode <= high is required",
                    lambda low, mode, high: (low <= mode) & (mode <= high),
                ),
            ),
        ),
    ),
    ends=lambda low, mode, high: (low, high),
    log_density_inside=_triangular_log_density,
    chances=(
        _triangular_below,
        lambda x, low, mode, high: _triangular_below(-x, -high, -mode, -low),
    ),
    quantiles=(
        _triangular_at,
        lambda v, low, mode, high: -_triangular_at(v, -high, -mode, -low),
    ),
)


# ---- angles -------------------------------------------------------------------------------------


def _von_mises_log_density(x: Array, mu: Array, kappa: Array) -> Any:
    """The exponent, -2 kappa sin((x - mu) / 2)**2, keeps its digits for large kappa."""
    sine = np.sin((x - mu) / 2.0)
    return -2.0 * kappa * sine * sine - np.log(2.0 * math.pi * special.i0e(kappa))


VON_MISES = Law(
    names=("von_mises", "vonmises"),
    summary="angle in (-pi, pi) about mu, the more concentrated the larger kappa; 0 is uniform",
    parameters=(LawParameter("mu", ANGLE), LawParameter("kappa", NOT_NEGATIVE)),
    ends=(-math.pi, math.pi),
    sampler="vonmises",
    log_density_inside=_von_mises_log_density,
)


# ---- truncated -----------------------------------------------------------------------------------


# Up to this width, in units of sd, the density is an exponential to within a share of 1e-11.
_NARROW = 1e-5
# Further out, in units of sd, float64 has too few digits for where a draw lies in its interval.
_FAR = 1e4


def _in_units(mean: Any, sd: Any, *values: Any) -> tuple[Any, ...]:
    return tuple((one - mean) / np.where(sd > 0, sd, 1.0) for one in values)


def _far_out_problem(mean: Array, sd: Array, low: Array, high: Array) -> str | None:
    """A sentence if the interval is too far out; of random arguments, few are so."""
    if max(one.shape[-1] for one in (mean, sd, low, high)) > 1:
        return None
    far = (np.maximum(low - mean, mean - high) > _FAR * sd) & (sd > 0)
    return "the interval must begin within 10,000 sd of the mean" if far.any() else None


def _log_chance(a: Any, b: Any) -> Any:
    """Log P(a < Z < b) of a standard normal Z, from the tail that is nearer."""
    turned = a + b > 0  # False for (-inf, inf), which need not be turned
    a, b = np.where(turned, -b, a), np.where(turned, -a, b)
    near = special.log_ndtr(b)
    wide = near + np.log1p(-np.exp(special.log_ndtr(a) - near))
    width, middle = b - a, a / 2 + b / 2
    t = middle * width / 2
    bent = np.log(np.where(t == 0, 1.0, np.sinh(t) / np.where(t == 0, 1.0, t)))
    narrow = np.log(width) - middle * middle / 2 - LOG_ROOT_TWO_PI + bent
    return np.where(width < _NARROW, narrow, wide)


def _truncated_log_density(x: Array, mean: Array, sd: Array, low: Array, high: Array) -> Any:
    chance = _log_chance(*_in_units(mean, sd, low, high))
    return normal_log_density(x, mean, sd) - chance


def _truncated_below(x: Any, mean: Any, sd: Any, low: Any, high: Any) -> Any:
    a, z, b = _in_units(mean, sd, low, x, high)
    return np.exp(_log_chance(a, z) - _log_chance(a, b))


def _truncated_at(log_u: Any, log_v: Any, mean: Any, sd: Any, low: Any, high: Any) -> Any:
    """Where P(Z <= z) = u P(Z <= b) + v P(Z <= a) for u + v = 1, from the tail that is nearer."""
    a, b = _in_units(mean, sd, low, high)
    below, above = (
        np.logaddexp(special.log_ndtr(sign * b) + log_u, special.log_ndtr(sign * a) + log_v)
        for sign in (1.0, -1.0)
    )
    z = special.ndtri_exp(np.minimum(below, above))
    return mean + sd * np.where(below < above, z, -z)


TRUNCATED_NORMAL = Law(
    names=("truncated_normal", "truncnorm", "truncatednormal"),
    summary="a normal variable given that it lies in (low, high); before, it has this mean and sd",
    parameters=(
        MEAN,
        SD,
        LawParameter("low", ANY_NUMBER),
        LawParameter(
            "high",
            ANY_NUMBER,
            conditions=(
                (
                    "low <= high is required, and not both the same infinity",
                    lambda mean, sd, low, high: (
                        (low <= high) & (low < math.inf) & (high > -math.inf)
                    ),
                ),
                (
                    "where sd is 0, low <= mean <= high is required",
                    lambda mean, sd, low, high: (sd > 0) | ((low <= mean) & (mean <= high)),
                ),
                _far_out_problem,
            ),
        ),
    ),
    ends=lambda mean, sd, low, high: (
        np.where(sd == 0, mean, low),
        np.where(sd == 0, mean, high),
    ),
    log_density_inside=_truncated_log_density,
    chances=(
        _truncated_below,
        lambda x, mean, sd, low, high: _truncated_below(-x, -mean, sd, -high, -low),
    ),
    quantiles=Nearly(
        (
            lambda u, *arguments: _truncated_at(np.log(u), np.log1p(-u), *arguments),
            lambda v, *arguments: _truncated_at(np.log1p(-v), np.log(v), *arguments),
        )
    ),
)
