"""The laws whose numbers have no bound, or none above.

Densities are as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (2nd
edition, 1994 and 1995).
"""

# ruff: noqa: ARG005 - each function of a law is given all of its parameters

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import (
    FINITE,
    NOT_NEGATIVE,
    POSITIVE,
    Generator,
    Law,
    LawParameter,
    Size,
    Values,
)
from dropcheck.vocabulary.laws.sampling import (
    constant_where_zero,
    exponentials,
    fixed,
    inside,
    log_gammas,
    positive,
    scalar_or_array,
    scaled,
    signs,
)

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

LOC = LawParameter("loc", FINITE)
SCALE = LawParameter("scale", NOT_NEGATIVE)
MEAN = LawParameter("mean", FINITE)
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
    _any_number, parameters=(LOC, SCALE), degenerate=lambda loc, scale: (scale == 0, loc)
)


def normal_log_density(x: Array, mean: Array, sd: Array) -> Any:
    """That of a normal law."""
    z = (x - mean) / sd
    return -0.5 * z * z - LOG_ROOT_TWO_PI - np.log(sd)


NORMAL = _any_number(
    name="normal",
    summary="the normal (Gaussian) law; sd is the standard deviation, not the variance",
    parameters=(MEAN, SD),
    degenerate=lambda mean, sd: (sd == 0, mean),
    moments=math.inf,
    tails=lambda mean, sd: (math.inf, math.inf),
    sampler=lambda generator, size, mean, sd: scaled(generator.standard_normal(size), mean, sd),
    log_density_inside=normal_log_density,
    nanoseconds=9.0,
    elsewhere=("N", "gauss", "gaussian", "norm"),
    note="its second argument is the standard deviation, not the variance",
)


def _log_one_plus_square(x: Array) -> Any:
    """Log(1 + x**2) of x >= 0, also where the square overflows."""
    return np.where(x < 1e100, np.log1p(x * x), 2.0 * np.log(x))


def _student_t_log_density(x: Array, df: Array) -> Any:
    log_tail = _log_one_plus_square(np.abs(x) / np.sqrt(df))
    return -special.betaln(0.5, df / 2.0) - 0.5 * np.log(df) - (df + 1.0) / 2.0 * log_tail


STUDENT_T = _any_number(
    name="student_t",
    summary="Student's t; moments of order below df alone exist",
    parameters=(DF,),
    degenerate=None,
    moments=lambda df: df,
    tails=lambda df: (0.0, 0.0),
    sampler=lambda generator, size, df: generator.standard_t(scalar_or_array(df), size),
    log_density_inside=_student_t_log_density,
    elsewhere=("t", "studentt"),
)


CAUCHY = _located(
    name="cauchy",
    summary="Cauchy's law; it has no mean",
    moments=1.0,
    tails=lambda loc, scale: (0.0, 0.0),
    sampler=lambda generator, size, loc, scale: scaled(generator.standard_cauchy(size), loc, scale),
    log_density_inside=lambda x, loc, scale: (
        -_log_one_plus_square(np.abs((x - loc) / scale)) - math.log(math.pi) - np.log(scale)
    ),
)


LAPLACE = _located(
    name="laplace",
    summary="two-sided exponential; its variance is 2 * scale**2",
    moments=math.inf,
    tails=lambda loc, scale: (1 / scale, 1 / scale),
    sampler=lambda generator, size, loc, scale: scaled(
        scaled(exponentials(generator, size), None, signs(generator, size)), loc, scale
    ),
    log_density_inside=lambda x, loc, scale: -np.abs(x - loc) / scale - np.log(2.0 * scale),
    nanoseconds=6.0,
)


def _logistic_log_density(x: Array, loc: Array, scale: Array) -> Any:
    z = np.abs((x - loc) / scale)
    return -z - 2.0 * np.log1p(np.exp(-z)) - np.log(scale)


LOGISTIC = _located(
    name="logistic",
    summary="its distribution function is the sigmoid of (x - loc) / scale",
    moments=math.inf,
    tails=lambda loc, scale: (1 / scale, 1 / scale),
    sampler=lambda generator, size, loc, scale: scaled(generator.logistic(size=size), loc, scale),
    log_density_inside=_logistic_log_density,
)


def _gumbel_draws(generator: Generator, size: Size, loc: Array, scale: Array) -> Array:
    """-log of an exponential variable has the distribution function exp(-exp(-t))."""
    out = exponentials(generator, size)
    np.log(out, out=out)
    return scaled(np.negative(out, out=out), loc, scale)


def _gumbel_log_density(x: Array, loc: Array, scale: Array) -> Any:
    z = (x - loc) / scale
    return -z - np.exp(-z) - np.log(scale)


GUMBEL = _located(
    name="gumbel",
    summary="the law of maxima: P(x <= t) = exp(-exp(-(t - loc) / scale))",
    moments=math.inf,
    tails=lambda loc, scale: (math.inf, 1 / scale),
    sampler=_gumbel_draws,
    log_density_inside=_gumbel_log_density,
)

# ---- positive numbers ----------------------------------------------------------------------------

_positive = partial(Law, values=Values.NUMBERS, ends=(0.0, math.inf), rare=None, nanoseconds=40.0)


def _lognormal_draws(generator: Generator, size: Size, mean: Array, sd: Array) -> Array:
    out = scaled(generator.standard_normal(size), mean, sd)
    np.exp(out, out=out)
    return constant_where_zero(inside(out, 0.0, None), sd, np.exp(mean))


def _lognormal_log_density(x: Array, mean: Array, sd: Array) -> Any:
    log_x = np.log(x)
    # at 0 the density's limit is 0, but the terms there are inf - inf
    return np.where(x > 0, normal_log_density(log_x, mean, sd) - log_x, -np.inf)


LOGNORMAL = _positive(
    name="lognormal",
    summary="exp of a normal variable; mean and sd are those of the logarithm",
    parameters=(MEAN, SD),
    degenerate=lambda mean, sd: (sd == 0, np.exp(mean)),
    moments=math.inf,
    near_ends=lambda mean, sd: (math.inf, math.inf),
    tails=lambda mean, sd: (math.inf, 0.0),
    sampler=_lognormal_draws,
    log_density_inside=_lognormal_log_density,
    elsewhere=("lognorm",),
    note="mean and sd are those of the logarithm, and sd is no variance",
)

EXPONENTIAL = _positive(
    name="exponential",
    summary="waiting time whose mean is scale, the inverse of its rate",
    parameters=(SCALE,),
    degenerate=lambda scale: (scale == 0, 0.0),
    moments=math.inf,
    near_ends=lambda scale: (1.0, math.inf),
    tails=lambda scale: (math.inf, 1 / scale),
    sampler=lambda generator, size, scale: positive(exponentials(generator, size), scale),
    log_density_inside=lambda x, scale: -x / scale - np.log(scale),
    nanoseconds=5.0,
    elsewhere=("exp", "expo"),
    note="scale is its mean, the inverse of a rate",
)


TWO = np.full(1, 2.0)  # the scale of a chi-square law


def _gamma_draws(generator: Generator, size: Size, shape: Array, scale: Array) -> Array:
    return positive(generator.standard_gamma(scalar_or_array(shape), size), scale)


def _gamma_log_density(x: Array, shape: Array, scale: Array) -> Any:
    y = x / scale
    return special.xlogy(shape - 1.0, y) - y - special.gammaln(shape) - np.log(scale)


GAMMA = _positive(
    name="gamma",
    summary="mean shape * scale; shape > 0",
    parameters=(SHAPE, SCALE),
    degenerate=lambda shape, scale: (scale == 0, 0.0),
    moments=math.inf,
    near_ends=lambda shape, scale: (shape, math.inf),
    tails=lambda shape, scale: (math.inf, 1 / scale),
    sampler=_gamma_draws,
    log_density_inside=_gamma_log_density,
)


CHI_SQUARE = _positive(
    name="chi_square",
    summary="sum of the squares of df standard normal variables; df > 0, whole or not",
    parameters=(DF,),
    degenerate=None,
    moments=math.inf,
    near_ends=lambda df: (df / 2, math.inf),
    tails=lambda df: (math.inf, 0.5),
    sampler=lambda generator, size, df: _gamma_draws(generator, size, df / 2.0, TWO),
    log_density_inside=lambda x, df: _gamma_log_density(x, df / 2.0, TWO),
    elsewhere=("chi2", "chisq", "chi_squared", "chisquare", "chisquared"),
)


def _f_draws(generator: Generator, size: Size, d1: Array, d2: Array) -> Array:
    if min(d1.min(), d2.min()) >= 1.0:
        out = generator.f(scalar_or_array(d1), scalar_or_array(d2), size)
    else:  # both chi-squares may underflow, and 0 / 0 is no number
        out = log_gammas(generator, size, d1 / 2.0)
        out -= log_gammas(generator, size, d2 / 2.0)
        np.exp(out, out=out)
        out *= d2 / d1
    return inside(out, 0.0, None)


def _f_log_density(x: Array, d1: Array, d2: Array) -> Any:
    y = d1 / d2 * x
    powers = special.xlogy(d1 / 2.0 - 1.0, y) - (d1 + d2) / 2.0 * np.log1p(y)
    return powers - special.betaln(d1 / 2.0, d2 / 2.0) + np.log(d1 / d2)


F = _positive(
    name="f",
    summary="Fisher's F, a ratio of mean squares; moments of order below d2 / 2 alone exist",
    parameters=(LawParameter("d1", POSITIVE), LawParameter("d2", POSITIVE)),
    degenerate=None,
    moments=lambda d1, d2: d2 / 2,  # the numerator's degrees play no part
    near_ends=lambda d1, d2: (d1 / 2, math.inf),
    tails=lambda d1, d2: (math.inf, 0.0),
    sampler=_f_draws,
    log_density_inside=_f_log_density,
)


def _weibull_draws(generator: Generator, size: Size, shape: Array, scale: Array) -> Array:
    out = exponentials(generator, size)
    if fixed(shape) != 1.0:
        out **= 1.0 / shape
    return positive(out, scale)


def _weibull_log_density(x: Array, shape: Array, scale: Array) -> Any:
    y = x / scale
    return np.log(shape / scale) + special.xlogy(shape - 1.0, y) - y**shape


WEIBULL = _positive(
    name="weibull",
    summary="P(x > t) = exp(-(t / scale)**shape); shape > 0",
    parameters=(SHAPE, SCALE),
    degenerate=lambda shape, scale: (scale == 0, 0.0),
    moments=math.inf,
    near_ends=lambda shape, scale: (shape, math.inf),
    tails=None,
    sampler=_weibull_draws,
    log_density_inside=_weibull_log_density,
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
    near_ends=lambda scale: (2.0, math.inf),
    tails=lambda scale: (math.inf, math.inf),
    sampler=_rayleigh_draws,
    log_density_inside=_rayleigh_log_density,
)


def _pareto_draws(generator: Generator, size: Size, alpha: Array, scale: Array) -> Array:
    out = exponentials(generator, size)
    out /= alpha
    np.exp(out, out=out)
    out *= scale
    return constant_where_zero(inside(out, scale, None), scale, 0.0)


PARETO = _positive(
    name="pareto",
    summary="P(x > t) = (scale / t)**alpha from scale on; moments of order below alpha alone exist",
    parameters=(LawParameter("alpha", POSITIVE), SCALE),
    ends=lambda alpha, scale: (scale, math.inf),
    degenerate=lambda alpha, scale: (scale == 0, 0.0),
    moments=lambda alpha, scale: alpha,
    near_ends=lambda alpha, scale: (1.0, math.inf),
    tails=lambda alpha, scale: (math.inf, 0.0),
    sampler=_pareto_draws,
    log_density_inside=lambda x, alpha, scale: (
        np.log(alpha / scale) - (alpha + 1.0) * np.log(x / scale)
    ),
)
