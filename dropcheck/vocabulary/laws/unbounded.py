"""The laws on the whole line.

Densities are as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (2nd
edition, 1994 and 1995).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.distributions.domains import FINITE, NOT_NEGATIVE, POSITIVE, LawParameter
from dropcheck.vocabulary.distributions.moment_lists import pearson
from dropcheck.vocabulary.distributions.standard import Standard
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Generator, Law, Size
from dropcheck.vocabulary.laws.formulas import (
    EULER,
    ZETA,
    beta_cdf,
    beta_quantile,
    log_rising,
    mirrored,
    opposite,
    sharper_beyond,
)
from dropcheck.vocabulary.laws.sampling import (
    exponentials,
    scalar_or_array,
    scaled,
    signs,
)

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

LOC = LawParameter("loc", FINITE)
SCALE = LawParameter("scale", NOT_NEGATIVE)
LAW_MEAN = LawParameter("mean", FINITE)
SD = LawParameter("sd", NOT_NEGATIVE)
SHAPE = LawParameter("shape", POSITIVE)
DF = LawParameter("df", POSITIVE)

_any_number = partial(
    Law,
    values=Values.NUMBERS,
    ends=(-math.inf, math.inf),
    near_ends=lambda *_: (math.inf, math.inf),
    rare=None,
    nanoseconds=40.0,
)
_located = partial(
    _any_number,
    parameters=(LOC, SCALE),
    degenerate=lambda loc, scale: (scale == 0, loc),
    line=lambda loc, scale: (loc, scale),
    standard_arguments=(0.0, 1.0),
)
EVEN = (2, 4, 6, 8)  # the orders at which the moments of a law symmetric about 0 are not 0


def normal_log_density(x: Array, mean: Array, sd: Array) -> Any:
    """The log density of a normal law."""
    z = (x - mean) / sd
    return -0.5 * (z * z) - LOG_ROOT_TWO_PI - np.log(sd)


def normal_norm(p: float) -> Any:
    """(E|z|^p)^(1/p) of a standard normal z."""
    return np.exp((0.5 * p * math.log(2.0) + log_rising(0.5, 0.5 * p)) / p)


STANDARD_NORMAL = Standard(
    mean=lambda: 0.0,
    cumulants=lambda: [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    norm=normal_norm,
    log_mgf=lambda t: 0.5 * t * t,
    cdf=special.Special("ndtr"),
    survival=mirrored(special.Special("ndtr")),
    quantile=special.Special("ndtri"),
    upper_quantile=opposite(special.Special("ndtri")),
)

NORMAL = _any_number(
    name="normal",
    symmetric=True,
    summary="the normal (Gaussian) law; sd is the standard deviation, not the variance",
    parameters=(LAW_MEAN, SD),
    degenerate=lambda mean, sd: (sd == 0, mean),
    moments=math.inf,
    mode=lambda mean, sd: mean,
    tails=lambda mean, sd: (math.inf, math.inf),
    sampler=lambda generator, size, mean, sd: scaled(generator.standard_normal(size), mean, sd),
    log_density_inside=normal_log_density,
    parabola=lambda mean, sd: (mean, sd, -LOG_ROOT_TWO_PI - np.log(sd)),
    nanoseconds=9.0,
    aliases=("N", "gauss", "gaussian", "norm"),
    note="its second argument is the standard deviation, not the variance",
    standard=STANDARD_NORMAL,
    line=lambda mean, sd: (mean, sd),
    standard_arguments=(0.0, 1.0),
)


def _log_one_plus_square(x: Array) -> Any:
    """Log(1 + x**2) of x >= 0, also where the square overflows."""
    return np.where(x < 1e100, np.log1p(x * x), 2.0 * np.log(x))


def _student_t_log_density(x: Array, df: Array) -> Any:
    log_tail = _log_one_plus_square(np.abs(x) / np.sqrt(df))
    return -special.betaln(0.5, df / 2.0) - 0.5 * np.log(df) - (df + 1.0) / 2.0 * log_tail


def _student_t_norm(p: float, df: Array) -> Any:
    """E|t|^p = df^(p/2) Γ((p+1)/2) Γ((df-p)/2) / (Γ(1/2) Γ(df/2)) (JKB 1995, equation 28.6)."""
    gammas = log_rising(0.5, 0.5 * p) - log_rising(np.maximum(df - p, 0.0) / 2.0, 0.5 * p)
    return np.exp((0.5 * p * np.log(df) + gammas) / p)


# from here on, in units of √df, the tail is a power of x to within 1e-20 of itself
_POWER_TAIL = 1e10


def _student_t_cdf(x: Array, df: Array) -> Any:
    """The incomplete beta function (JKB 1995, equation 28.4); far out, its leading term."""
    z = x / np.sqrt(df)
    outer = beta_cdf(df / 2.0, 0.5, 1.0 / (1.0 + z * z))
    inner = special.betaincc(0.5, df / 2.0, z * z / (1.0 + z * z))
    far = np.exp(-df * np.log(np.abs(z)) - np.log(df / 2.0) - special.betaln(df / 2.0, 0.5))
    tail = 0.5 * np.where(np.abs(z) > _POWER_TAIL, far, np.where(z * z < 1.0, inner, outer))
    return np.where(z > 0, 1.0 - tail, tail)


def _student_t_quantile(u: Array, df: Array) -> Any:
    tail = 2.0 * np.minimum(u, 1.0 - u)
    far = np.exp(-(np.log(tail) + np.log(df / 2.0) + special.betaln(df / 2.0, 0.5)) / df)
    outer = beta_quantile(df / 2.0, 0.5, tail)
    outer = np.sqrt((1.0 - outer) / outer)
    inner = special.betainccinv(0.5, df / 2.0, tail)
    inner = np.sqrt(inner / (1.0 - inner))
    z = np.where(far > _POWER_TAIL, far, np.where(inner < 1.0, inner, outer))
    return np.where(u < 0.5, -z, z) * np.sqrt(df)


STUDENT_T = _any_number(
    name="student_t",
    symmetric=True,
    summary="Student's t; only moments of order below df exist",
    parameters=(DF,),
    degenerate=None,
    moments=lambda df: df,
    mode=lambda df: 0.0 * df,
    tails=lambda df: (0.0, 0.0),
    sampler=lambda generator, size, df: generator.standard_t(scalar_or_array(df), size),
    log_density_inside=_student_t_log_density,
    aliases=("t", "studentt"),
    standard=Standard(
        mean=lambda df: 0.0,
        central=lambda df: pearson(sharper_beyond(df), 0.0, df * sharper_beyond(df)),
        norm=_student_t_norm,
        cdf=_student_t_cdf,
        survival=mirrored(_student_t_cdf),
        quantile=_student_t_quantile,
        upper_quantile=opposite(_student_t_quantile),
        quantile_cost=4000.0,
    ),
)


def _cauchy_cdf(x: Array) -> Any:
    return np.arctan2(1.0, -x) / math.pi


def _cauchy_quantile(u: Array) -> Any:
    tail = np.minimum(u, 1.0 - u)
    distance = np.where(tail > 0.25, np.tan(math.pi * (0.5 - tail)), 1.0 / np.tan(math.pi * tail))
    return np.where(u < 0.5, -distance, distance)


CAUCHY = _located(
    name="cauchy",
    symmetric=True,
    summary="Cauchy's law; it has no mean",
    moments=1.0,
    mode=lambda loc, scale: loc,
    tails=lambda loc, scale: (0.0, 0.0),
    sampler=lambda generator, size, loc, scale: scaled(generator.standard_cauchy(size), loc, scale),
    log_density_inside=lambda x, loc, scale: (
        -_log_one_plus_square(np.abs((x - loc) / scale)) - math.log(math.pi) - np.log(scale)
    ),
    standard=Standard(
        mean=lambda: math.nan,
        central=lambda: [math.nan] * 9,
        cdf=_cauchy_cdf,
        survival=mirrored(_cauchy_cdf),
        quantile=_cauchy_quantile,
        upper_quantile=opposite(_cauchy_quantile),
    ),
)


def _laplace_cdf(x: Array) -> Any:
    tail = 0.5 * np.exp(-np.abs(x))
    return np.where(x > 0, 1.0 - tail, tail)


def _laplace_quantile(u: Array) -> Any:
    distance = -np.log(2.0 * np.minimum(u, 1.0 - u))
    return np.where(u < 0.5, -distance, distance)


LAPLACE = _located(
    name="laplace",
    symmetric=True,
    summary="two-sided exponential; its variance is 2 * scale**2",
    moments=math.inf,
    mode=lambda loc, scale: loc,
    tails=lambda loc, scale: (1 / scale, 1 / scale),
    sampler=lambda generator, size, loc, scale: scaled(
        scaled(exponentials(generator, size), None, signs(generator, size)), loc, scale
    ),
    log_density_inside=lambda x, loc, scale: -np.abs(x - loc) / scale - np.log(2.0 * scale),
    nanoseconds=6.0,
    standard=Standard(
        mean=lambda: 0.0,
        cumulants=lambda: [2.0 * math.factorial(k - 1) if k in EVEN else 0.0 for k in range(9)],
        norm=lambda p: np.exp(special.gammaln(p + 1.0) / p),
        log_mgf=lambda t: np.where(np.abs(t) < 1, -np.log1p(-t * t), np.inf),
        cdf=_laplace_cdf,
        survival=mirrored(_laplace_cdf),
        quantile=_laplace_quantile,
        upper_quantile=opposite(_laplace_quantile),
    ),
)


def _logistic_log_density(x: Array, loc: Array, scale: Array) -> Any:
    z = np.abs((x - loc) / scale)
    return -z - 2.0 * np.log1p(np.exp(-z)) - np.log(scale)


def _logistic_norm(p: float) -> Any:
    """E|x|^p = 2 Γ(p + 1) η(p) (JKB 1995, equation 23.11)."""
    eta = math.log(2.0) if p == 1 else -np.expm1((1.0 - p) * math.log(2.0)) * special.zeta(p)
    return np.exp((special.gammaln(p + 1.0) + np.log(2.0 * eta)) / p)


LOGISTIC = _located(
    name="logistic",
    symmetric=True,
    summary="its distribution function is the sigmoid of (x - loc) / scale",
    moments=math.inf,
    mode=lambda loc, scale: loc,
    tails=lambda loc, scale: (1 / scale, 1 / scale),
    sampler=lambda generator, size, loc, scale: scaled(generator.logistic(size=size), loc, scale),
    log_density_inside=_logistic_log_density,
    standard=Standard(
        mean=lambda: 0.0,
        cumulants=lambda: [
            2.0 * math.factorial(k - 1) * ZETA[k] if k in EVEN else 0.0 for k in range(9)
        ],
        norm=_logistic_norm,
        log_mgf=lambda t: np.where(np.abs(t) < 1, -np.log(np.sinc(t)), np.inf),
        cdf=special.Special("expit"),
        survival=mirrored(special.Special("expit")),
        quantile=special.Special("logit"),
        upper_quantile=opposite(special.Special("logit")),
    ),
)


def _gumbel_draws(generator: Generator, size: Size, loc: Array, scale: Array) -> Array:
    """Minus the logarithm of exponential variables: P(-log x <= t) = exp(-exp(-t))."""
    out = exponentials(generator, size)
    np.log(out, out=out)
    return scaled(np.negative(out, out=out), loc, scale)


def _gumbel_log_density(x: Array, loc: Array, scale: Array) -> Any:
    z = (x - loc) / scale
    return -z - np.exp(-z) - np.log(scale)


def _gumbel_norm(p: float) -> Any:
    """A bound: with x = -log t, E|log t|^p is at most Γ(p + 1) below t = 1, and 1/e of it above."""
    return np.exp((special.gammaln(p + 1.0) + math.log1p(math.exp(-1.0))) / p)


GUMBEL = _located(
    name="gumbel",
    summary="the law of maxima: P(x <= t) = exp(-exp(-(t - loc) / scale))",
    moments=math.inf,
    mode=lambda loc, scale: loc,
    tails=lambda loc, scale: (math.inf, 1 / scale),
    sampler=_gumbel_draws,
    log_density_inside=_gumbel_log_density,
    standard=Standard(
        mean=lambda: EULER,
        cumulants=lambda: [0.0, EULER] + [math.factorial(k - 1) * ZETA[k] for k in range(2, 9)],
        norm=_gumbel_norm,
        log_mgf=lambda t: np.where(np.less(t, 1), special.gammaln(1.0 - t), np.inf),
        cdf=lambda x: np.exp(-np.exp(-x)),
        survival=lambda x: -np.expm1(-np.exp(-x)),
        quantile=lambda u: -np.log(-np.log(u)),
        upper_quantile=lambda v: -np.log(-np.log1p(-v)),
    ),
)
