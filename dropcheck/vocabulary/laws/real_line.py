"""The laws whose values can be any number.

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
from dropcheck.vocabulary.law import (
    FINITE,
    NOT_NEGATIVE,
    POSITIVE,
    Array,
    Law,
    LawParameter,
    Size,
    Values,
)
from dropcheck.vocabulary.laws.sampling import exponentials, normals, scalar_or_array, scaled, signs

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

LOC = LawParameter("loc", FINITE)
SCALE = LawParameter("scale", NOT_NEGATIVE)
MEAN = LawParameter("mean", FINITE)
SD = LawParameter("sd", NOT_NEGATIVE)

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
    sampler=lambda generator, size, mean, sd: scaled(normals(generator, size), mean, sd),
    log_density_inside=normal_log_density,
    nanoseconds=9.0,
    elsewhere=("N", "gauss", "gaussian", "norm"),
    note="its second argument is the standard deviation, not the variance",
)


def _student_t_log_density(x: Array, df: Array) -> Any:
    # log(1 + x**2 / df), also where the square overflows
    ratio = np.abs(x) / np.sqrt(df)
    log_tail = np.where(ratio < 1e100, np.log1p(ratio * ratio), 2.0 * np.log(ratio))
    return -special.betaln(0.5, df / 2.0) - 0.5 * np.log(df) - (df + 1.0) / 2.0 * log_tail


STUDENT_T = _any_number(
    name="student_t",
    summary="Student's t; moments of order below df alone exist",
    parameters=(LawParameter("df", POSITIVE),),
    degenerate=lambda df: (False, 0.0),
    moments=lambda df: df,
    tails=lambda df: (0.0, 0.0),
    sampler=lambda generator, size, df: generator.standard_t(scalar_or_array(df), size),
    log_density_inside=_student_t_log_density,
    elsewhere=("t", "studentt"),
)


def _cauchy_log_density(x: Array, loc: Array, scale: Array) -> Any:
    z = np.abs((x - loc) / scale)
    log_tail = np.where(z < 1e100, np.log1p(z * z), 2.0 * np.log(z))
    return -log_tail - math.log(math.pi) - np.log(scale)


CAUCHY = _located(
    name="cauchy",
    summary="Cauchy's law; it has no mean",
    moments=1.0,
    tails=lambda loc, scale: (0.0, 0.0),
    sampler=lambda generator, size, loc, scale: scaled(generator.standard_cauchy(size), loc, scale),
    log_density_inside=_cauchy_log_density,
)


def _laplace_draws(generator: np.random.Generator, size: Size, loc: Array, scale: Array) -> Array:
    out = exponentials(generator, size)
    out *= signs(generator, size)
    return scaled(out, loc, scale)


LAPLACE = _located(
    name="laplace",
    summary="two-sided exponential; its variance is 2 * scale**2",
    moments=math.inf,
    tails=lambda loc, scale: (1 / scale, 1 / scale),
    sampler=_laplace_draws,
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


def _gumbel_draws(generator: np.random.Generator, size: Size, loc: Array, scale: Array) -> Array:
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
