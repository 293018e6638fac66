"""The laws on the whole line.

Densities are as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (2nd
edition, 1994 and 1995).
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import (
    ANGLE,
    ANY_NUMBER,
    FINITE,
    HIGH,
    LOW,
    NOT_NEGATIVE,
    POSITIVE,
    ArgumentHull,
    ArgumentNorm,
    Generator,
    Law,
    LawParameter,
    Size,
    Standard,
    Values,
)
from dropcheck.vocabulary.laws.sampling import (
    OUTERMOST,
    beta_cdf,
    beta_quantile,
    beta_survival,
    beta_upper_quantile,
    constant_where_zero,
    exponentials,
    fixed,
    gamma_of_random,
    gamma_quantile,
    gamma_upper_quantile,
    gauss_legendre,
    inside,
    log_gammas,
    mirrored,
    opposite,
    pieces,
    positive,
    scalar_or_array,
    scaled,
    signs,
    uniforms,
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
    nanoseconds=40.0,
)
_located = partial(
    _any_number,
    parameters=(LOC, SCALE),
    line=lambda loc, scale: (loc, scale),
)


def normal_log_density(x: Array, mean: Array, sd: Array) -> Any:
    """The log density of a normal law."""
    z = (x - mean) / sd
    return -0.5 * (z * z) - LOG_ROOT_TWO_PI - np.log(sd)


STANDARD_NORMAL = Standard(
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
    moments=math.inf,
    sampler=lambda generator, size, mean, sd: scaled(generator.standard_normal(size), mean, sd),
    log_density_inside=normal_log_density,
    nanoseconds=9.0,
    aliases=("N", "gauss", "gaussian", "norm", "normalvariate"),
    note="its second argument is the standard deviation, not the variance",
    noted="sd",
    standard=STANDARD_NORMAL,
    line=lambda mean, sd: (mean, sd),
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
    moments=lambda df: df,
    sampler=lambda generator, size, df: generator.standard_t(scalar_or_array(df), size),
    log_density_inside=_student_t_log_density,
    aliases=("t", "studentt", "standard_t"),
    standard=Standard(
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
    sampler=lambda generator, size, loc, scale: scaled(generator.standard_cauchy(size), loc, scale),
    log_density_inside=lambda x, loc, scale: (
        -_log_one_plus_square(np.abs((x - loc) / scale)) - math.log(math.pi) - np.log(scale)
    ),
    standard=Standard(
        cdf=_cauchy_cdf,
        survival=mirrored(_cauchy_cdf),
        quantile=_cauchy_quantile,
        upper_quantile=opposite(_cauchy_quantile),
    ),
    aliases=("standard_cauchy",),
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
    sampler=lambda generator, size, loc, scale: scaled(
        scaled(exponentials(generator, size), None, signs(generator, size)), loc, scale
    ),
    log_density_inside=lambda x, loc, scale: -np.abs(x - loc) / scale - np.log(2.0 * scale),
    nanoseconds=6.0,
    standard=Standard(
        cdf=_laplace_cdf,
        survival=mirrored(_laplace_cdf),
        quantile=_laplace_quantile,
        upper_quantile=opposite(_laplace_quantile),
    ),
    aliases=("double_exponential",),
)


def _logistic_log_density(x: Array, loc: Array, scale: Array) -> Any:
    z = np.abs((x - loc) / scale)
    return -z - 2.0 * np.log1p(np.exp(-z)) - np.log(scale)


LOGISTIC = _located(
    name="logistic",
    symmetric=True,
    summary="its distribution function is the sigmoid of (x - loc) / scale",
    moments=math.inf,
    sampler=lambda generator, size, loc, scale: scaled(generator.logistic(size=size), loc, scale),
    log_density_inside=_logistic_log_density,
    standard=Standard(
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


GUMBEL = _located(
    name="gumbel",
    summary="the law of maxima: P(x <= t) = exp(-exp(-(t - loc) / scale))",
    moments=math.inf,
    sampler=_gumbel_draws,
    log_density_inside=_gumbel_log_density,
    standard=Standard(
        cdf=lambda x: np.exp(-np.exp(-x)),
        survival=lambda x: -np.expm1(-np.exp(-x)),
        quantile=lambda u: -np.log(-np.log(u)),
        upper_quantile=lambda v: -np.log(-np.log1p(-v)),
    ),
    aliases=("gumbel_r",),
)


# ---- positive numbers ----------------------------------------------------------------------------
#
# The laws of positive numbers.
#
# Densities are as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (2nd
# edition, 1994 and 1995).


_positive = partial(Law, values=Values.NUMBERS, ends=(0.0, math.inf), nanoseconds=40.0)


def _lognormal_draws(generator: Generator, size: Size, mean: Array, sd: Array) -> Array:
    out = scaled(generator.standard_normal(size), mean, sd)
    np.exp(out, out=out)
    return constant_where_zero(inside(out, 0.0, None), sd, np.exp(mean))


LOGNORMAL = _positive(
    name="lognormal",
    summary="exp of a normal variable; mean and sd are those of the logarithm",
    parameters=(LAW_MEAN, SD),
    degenerate=lambda mean, sd: (sd == 0, np.exp(mean)),
    moments=math.inf,
    sampler=_lognormal_draws,
    log_density_inside=lambda x, mean, sd: normal_log_density(np.log(x), mean, sd) - np.log(x),
    aliases=("lognorm", "lognormvariate"),
    note="mean and sd are those of the logarithm, and sd is no variance",
    standard=Standard(
        cdf=lambda x, mean, sd: special.ndtr((np.log(x) - mean) / sd),
        survival=lambda x, mean, sd: special.ndtr((mean - np.log(x)) / sd),
        quantile=lambda u, mean, sd: np.exp(mean + sd * special.ndtri(u)),
        upper_quantile=lambda v, mean, sd: np.exp(mean - sd * special.ndtri(v)),
    ),
)


STANDARD_GAMMA = Standard(
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
    moments=math.inf,
    sampler=lambda generator, size, scale: positive(exponentials(generator, size), scale),
    log_density_inside=lambda x, scale: -x / scale - np.log(scale),
    nanoseconds=5.0,
    aliases=("exp", "expo", "expon", "expovariate"),
    note="scale is its mean, the inverse of a rate",
    noted="scale",
    standard=STANDARD_GAMMA,
    line=lambda scale: (0.0, scale, 1.0),
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
    note="scale is the inverse of a rate",
    noted="scale",
    parameters=(SHAPE, SCALE),
    moments=math.inf,
    sampler=_gamma_draws,
    log_density_inside=_gamma_log_density,
    norm_of_random=gamma_of_random,
    standard=STANDARD_GAMMA,
    line=lambda shape, scale: (0.0, scale, shape),
    aliases=("gammavariate",),
)


CHI_SQUARE = _positive(
    name="chi_square",
    summary="sum of the squares of df standard normal variables; df > 0, whole or not",
    parameters=(DF,),
    moments=math.inf,
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
    moments=lambda d1, d2: d2 / 2,  # they do not depend on d1
    sampler=_f_draws,
    log_density_inside=_f_log_density,
    standard=Standard(
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


WEIBULL = _positive(
    name="weibull",
    summary="P(x > t) = exp(-(t / scale)**shape); shape > 0",
    parameters=(SHAPE, SCALE),
    moments=math.inf,
    sampler=_weibull_draws,
    log_density_inside=_weibull_log_density,
    standard=Standard(
        cdf=lambda x, shape: -np.expm1(-(x**shape)),
        survival=lambda x, shape: np.exp(-(x**shape)),
        quantile=lambda u, shape: (-np.log1p(-u)) ** (1.0 / shape),
        upper_quantile=lambda v, shape: (-np.log(v)) ** (1.0 / shape),
    ),
    line=lambda shape, scale: (0.0, scale, shape),
    aliases=("weibull_min", "weibullvariate"),
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
    moments=math.inf,
    sampler=_rayleigh_draws,
    log_density_inside=_rayleigh_log_density,
    standard=WEIBULL.standard,
    line=lambda scale: (0.0, math.sqrt(2.0) * scale, 2.0),
)


def _pareto_draws(generator: Generator, size: Size, alpha: Array, scale: Array) -> Array:
    out = exponentials(generator, size)
    out /= alpha
    np.exp(out, out=out)
    out *= scale
    return constant_where_zero(inside(out, scale, None), scale, 0.0)


PARETO = _positive(
    name="pareto",
    summary="P(x > t) = (scale / t)**alpha from scale on; only moments of order below alpha exist",
    parameters=(LawParameter("alpha", POSITIVE), SCALE),
    ends=lambda alpha, scale: (scale, math.inf),
    moments=lambda alpha, scale: alpha,
    sampler=_pareto_draws,
    log_density_inside=lambda x, alpha, scale: (
        np.log(alpha / scale) - (alpha + 1.0) * np.log(x / scale)
    ),
    standard=Standard(
        cdf=lambda x, alpha: -np.expm1(-alpha * np.log(x)),
        survival=lambda x, alpha: x ** -np.asarray(alpha),
        quantile=lambda u, alpha: np.exp(-np.log1p(-u) / alpha),
        upper_quantile=lambda v, alpha: v ** (-1.0 / alpha),
    ),
    line=lambda alpha, scale: (0.0, scale, alpha),
    aliases=("paretovariate",),
)


# ---- bounded support -----------------------------------------------------------------------------
#
# The laws with a density between two ends.
#
# Densities are as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (2nd
# edition, 1994 and 1995), unless said.


# The tails of these laws fall faster than any exponential: they end, or are those of a truncated
# normal. A law whose ends meet is a constant.
bounded = partial(
    Law,
    values=Values.NUMBERS,
    moments=math.inf,
    nanoseconds=40.0,
)


def room(low: Array, high: Array) -> Any:
    """Whether some float64 lies strictly between two ends, as a draw is never an end itself.

    True too where the ends meet, and the law is a constant.
    """
    middle = low / 2 + high / 2
    endless = (high == math.inf) | (low == -math.inf)
    return (low == high) | endless | ((low < middle) & (middle < high))


NO_ROOM = "a number must lie strictly between low and high"


def _uniform_draws(generator: Generator, size: Size, low: Array, high: Array) -> Array:
    if low.size == high.size == 1:
        quick, width = _of_one_width(float(low.reshape(())), float(high.reshape(())))
    else:
        quick, width = _stays_inside(low, high)
    if not np.isfinite(width).all():  # the width overflows
        out = uniforms(generator, size)
        return inside(low * (1.0 - out) + high * out, low, high)
    if quick:
        return scaled(uniforms(generator, size), low, width)
    return inside(scaled(generator.random(size), low, width), low, high)


def _stays_inside(low: Array, high: Array) -> tuple[bool, Array]:
    """Whether all uniform numbers stay inside two ends once scaled, and the width between these.

    Rounding is monotone: if the outermost uniform numbers stay inside, so do all others.
    """
    width = high - low
    ends = [scaled(np.full(width.shape, end), low, width) for end in OUTERMOST]
    return bool(np.less(low, ends[0]).all() and np.less(ends[1], high).all()), width


@lru_cache(maxsize=64)
def _of_one_width(low: float, high: float) -> tuple[bool, Array]:
    with np.errstate(all="ignore"):
        return _stays_inside(np.array([low]), np.array([high]))


UNIFORM = bounded(
    name="uniform",
    symmetric=True,
    summary="equally likely anywhere between low and high, never at either",
    parameters=(LOW, HIGH),
    conditions=(("low <= high is required", lambda low, high: low <= high), (NO_ROOM, room)),
    ends=lambda low, high: (low, high),
    sampler=_uniform_draws,
    # from half of each end, as the width may overflow
    log_density_inside=lambda x, low, high: -np.log(high / 2.0 - low / 2.0) - math.log(2.0),
    nanoseconds=2.5,
    aliases=("U", "unif"),
    standard=Standard(
        cdf=lambda x: x,
        survival=lambda x: 1.0 - x,
        quantile=lambda u: u,
        upper_quantile=lambda v: 1.0 - v,
    ),
    line=lambda low, high: (low, high - low),
)


STANDARD_BETA = Standard(
    cdf=lambda x, a, b: beta_cdf(a, b, x),
    survival=lambda x, a, b: beta_survival(a, b, x),
    quantile=lambda u, a, b: beta_quantile(a, b, u),
    upper_quantile=lambda v, a, b: beta_upper_quantile(a, b, v),
    quantile_cost=5000.0,
)

BETA = bounded(
    name="beta",
    summary="a share between 0 and 1 whose mean is a / (a + b)",
    parameters=(LawParameter("a", POSITIVE), LawParameter("b", POSITIVE)),
    ends=(0.0, 1.0),
    degenerate=lambda a, b: (b == 0, 1.0),  # a share of all
    sampler=lambda generator, size, a, b: inside(
        generator.beta(scalar_or_array(a), scalar_or_array(b), size), 0.0, 1.0
    ),
    log_density_inside=lambda x, a, b: (
        special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b)
    ),
    standard=STANDARD_BETA,
    aliases=("betavariate",),
)


def _triangular_draws(
    generator: Generator, size: Size, low: Array, mode: Array, high: Array
) -> Array:
    """The inverse of the distribution function, computed from the nearer end."""
    width = high - low
    rise = np.where(width > 0, (mode - low) / np.where(width > 0, width, 1.0), 0.5)
    u = uniforms(generator, size)
    falling = u > rise
    np.subtract(1.0, u, out=u, where=falling)
    u *= np.where(falling, 1.0 - rise, rise)
    np.sqrt(u, out=u)
    u *= width
    return inside(np.where(falling, high - u, low + u), low, high)


def _triangular_log_density(x: Array, low: Array, mode: Array, high: Array) -> Any:
    width = high - low
    rising = (x - low) / (mode - low)
    falling = (high - x) / (high - mode)
    height = np.where(x < mode, rising, np.where(x > mode, falling, 1.0))
    return np.log(height) + math.log(2.0) - np.log(width)


def _triangular_cdf(x: Array, peak: Array) -> Any:
    falling = (1.0 - x) * ((1.0 - x) / np.where(peak < 1, 1.0 - peak, 1.0))
    return np.where(x < peak, x * (x / peak), 1.0 - falling)


def _triangular_quantile(u: Array, peak: Array) -> Any:
    return np.where(u < peak, np.sqrt(u * peak), 1.0 - np.sqrt((1.0 - u) * (1.0 - peak)))


TRIANGULAR = bounded(
    name="triangular",
    summary="density rising straight from low to mode and falling straight to high",
    parameters=(LOW, LawParameter("mode", FINITE), HIGH),
    conditions=(
        ("low <= mode <= high is required", lambda low, mode, high: (low <= mode) & (mode <= high)),
        (NO_ROOM, lambda low, mode, high: room(low, high)),
    ),
    ends=lambda low, mode, high: (low, high),
    sampler=_triangular_draws,
    log_density_inside=_triangular_log_density,
    standard=Standard(
        middle=lambda peak: peak,
        cdf=_triangular_cdf,
        survival=lambda x, peak: _triangular_cdf(1.0 - x, 1.0 - peak),
        quantile=_triangular_quantile,
        upper_quantile=lambda v, peak: 1.0 - _triangular_quantile(v, 1.0 - peak),
    ),
    line=lambda low, mode, high: (low, high - low, (mode - low) / (high - low)),
    norm_of_random=lambda p, norm, hull: norm(0, p) + norm(2, p),
    aliases=("triang",),
)


# ---- angles -------------------------------------------------------------------------------------


def _von_mises_log_density(x: Array, mu: Array, kappa: Array) -> Any:
    """The exponent, -2 kappa sin((x - mu) / 2)**2, keeps its digits for large kappa."""
    sine = np.sin((x - mu) / 2.0)
    return -2.0 * kappa * sine * sine - np.log(2.0 * math.pi * special.i0e(kappa))


# Distances from the mode in units of 1 / √(kappa + 1): between two of them the density is smooth
# and not steep. Beyond the last one it is, for large kappa, below exp(-170) times its maximum.
_ANGLES = np.array([0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20])


def _mode_of_angles(mu: Array) -> Any:
    """The mode, in [-pi, pi)."""
    return np.mod(mu + math.pi, 2.0 * math.pi) - math.pi


def _angles_about(mu: Array, kappa: Array) -> tuple[Array, Array]:
    """Points on a last axis, and their weights.

    An angle that leaves (-pi, pi) enters again at the other end, at `seam` from the mode.
    """
    centre = _mode_of_angles(mu)
    steps = _ANGLES / np.sqrt(kappa + 1.0)[..., None]
    seam = math.pi - np.abs(centre)
    # with edges at the ends of (-pi, pi), and at 0, where |x|^p is not smooth
    edges = [steps, seam[..., None], np.abs(centre)[..., None], np.full((*seam.shape, 1), math.pi)]
    distances, weights = pieces(np.sort(np.minimum(np.concatenate(edges, axis=-1), math.pi)))
    sines = np.sin(distances / 2.0)
    weights = weights * np.exp(-2.0 * kappa[..., None] * sines * sines)
    across = (distances > seam[..., None]) * (2.0 * math.pi)
    rising = distances - np.where(centre[..., None] >= 0, across, 0.0)
    falling = -distances + np.where(centre[..., None] < 0, across, 0.0)
    both = np.concatenate([rising, falling], axis=-1)
    return centre[..., None] + both, np.concatenate([weights, weights], axis=-1)


def _von_mises_beyond(distance: Any, kappa: Any) -> Any:
    """The integral of exp(kappa (cos t - 1)) from a distance to pi."""
    distance, kappa = np.broadcast_arrays(np.asarray(distance, dtype=float), kappa)
    distance = np.clip(distance, 0.0, math.pi)
    # pieces are short where the density is steep
    unit = 1.0 / (np.sqrt(kappa + 1.0) + kappa * np.sin(distance))
    room = (math.pi - distance)[..., None]
    offsets = np.concatenate([np.minimum(unit[..., None] * _LONG_STEPS, room), room], axis=-1)
    t, weights = pieces(offsets)
    # cos(d + t) - cos(d) = -2 sin(d + t / 2) sin(t / 2)
    fall = -2.0 * kappa[..., None] * np.sin(distance[..., None] + t / 2.0) * np.sin(t / 2.0)
    sine = np.sin(distance / 2.0)
    return (weights * np.exp(fall)).sum(axis=-1) * np.exp(-2.0 * kappa * sine * sine)


_LONG_STEPS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 64])


def _von_mises_cdf(x: Any, mu: Any, kappa: Any) -> Any:
    """P(-pi < X <= x)."""
    return _von_mises_mass(x, mu, kappa) - _von_mises_mass(-math.pi, mu, kappa)


def _von_mises_mass(x: Any, mu: Any, kappa: Any) -> Any:
    """The mass of the periodic density from the mode minus pi up to x; a whole turn has mass 1."""
    half = math.pi * special.i0e(kappa)
    y = x - _mode_of_angles(mu)
    turns = np.floor((y + math.pi) / (2.0 * math.pi))
    within = y - turns * (2.0 * math.pi)
    tail = _von_mises_beyond(np.abs(within), kappa)
    return turns + np.where(within < 0, tail, 2.0 * half - tail) / (2.0 * half)


def _von_mises_quantile(u: Any, mu: Any, kappa: Any) -> Any:
    """Newton's method for the logarithm of the level; a step that leaves the interval halves it."""
    first = _von_mises_mass(-math.pi, mu, kappa)
    given = np.broadcast_arrays(np.asarray(u, dtype=float), mu, kappa, first)
    left = np.stack([one.ravel() for one in given])  # the levels that are not settled yet
    result = np.empty(left.shape[1])
    places = np.arange(left.shape[1])
    x, low, high = (
        np.zeros_like(result),
        np.full_like(result, -math.pi),
        np.full_like(result, math.pi),
    )
    for _ in range(100):
        level, mean, sharpness, before = left
        below = _von_mises_mass(x, mean, sharpness) - before
        low, high = np.where(below < level, x, low), np.where(below < level, high, x)
        density = np.exp(_von_mises_log_density(x, mean, sharpness))
        following = x + (np.log(level) - np.log(below)) * (below / density)
        inside_it = (following >= low) & (following <= high)
        following = np.where(inside_it, following, 0.5 * (low + high))
        # settled: the next step would be rounding, or no float64 lies between low and high
        settled = (np.abs(following - x) <= 1e-13) & (np.abs(below - level) <= 1e-10 * level)
        settled |= (high - low <= 2.0**-51) | np.isnan(level)
        result[places] = x = following
        going = ~settled
        if not going.any():
            break
        left, places = left[:, going], places[going]
        x, low, high = x[going], low[going], high[going]
    return result.reshape(given[0].shape)


VON_MISES = bounded(
    name="von_mises",
    summary="angle in (-pi, pi) about mu, the more concentrated the larger kappa; 0 is uniform",
    parameters=(LawParameter("mu", ANGLE), LawParameter("kappa", NOT_NEGATIVE)),
    ends=(-math.pi, math.pi),
    sampler=lambda generator, size, mu, kappa: inside(
        generator.vonmises(scalar_or_array(mu), scalar_or_array(kappa), size), -math.pi, math.pi
    ),
    log_density_inside=_von_mises_log_density,
    aliases=("vonmises",),
    standard=Standard(
        points=_angles_about,
        cdf=_von_mises_cdf,
        survival=lambda x, mu, kappa: _von_mises_cdf(-x, -mu, kappa),
        quantile=_von_mises_quantile,
        upper_quantile=lambda v, mu, kappa: -_von_mises_quantile(v, -mu, kappa),
        quantile_cost=1e5,
    ),
)


# ---- truncated -----------------------------------------------------------------------------------
#
# The truncated normal law; its interval may lie far out in a tail, or be very narrow.


# Quantiles are computed in standard units, a = (low - mean) / sd and b = (high - mean) / sd, and in
# the lower tail: an interval to the right of the mean is mirrored first. There are three methods:
# * usual: the inverse of the distribution function, from the nearer tail;
# * far out (b < -30, where probabilities may underflow): by Newton's method for the
#   distance from b;
# * narrow or very far out (b - a < 1e-6, or b < -1e6): the density falls from b to a like an
#   exponential, to within a share of 1e-12 (Robert 1995, Statistics and Computing 5, 121-125).
FAR = -30.0
VERY_FAR = -1e6
NARROW = 1e-6


def _truncated_normal_draws(
    generator: Generator, size: Size, mean: Array, sd: Array, low: Array, high: Array
) -> Array:
    spread = np.where(sd > 0, sd, 1.0)
    u = uniforms(generator, size)
    out = _quantile(u, 1.0 - u, mean, spread, low, high)
    return constant_where_zero(inside(out, low, high), sd, mean)


def _quantile(u: Array, v: Array, mean: Array, sd: Array, low: Array, high: Array) -> Array:
    """The quantile at level u = 1 - v; rounding may make it an end of the interval."""
    a, b = (low - mean) / sd, (high - mean) / sd
    mirrored, a, b = _in_lower_tail(a, b)
    u, v = np.where(mirrored, v, u), np.where(mirrored, u, v)
    near_end = np.where(mirrored, low, high)
    side = np.where(mirrored, -1.0, 1.0)
    narrow = (b - a < NARROW) | (b < VERY_FAR)
    far = (b < FAR) & ~narrow

    below_a = special.ndtr(a)
    mass = special.ndtr(b) - below_a
    from_left = below_a + u * mass
    from_right = special.ndtr(-b) + v * mass
    left = from_left <= from_right
    out = np.asarray(special.ndtri(np.where(left, from_left, from_right)))
    np.negative(out, out=out, where=~left)
    out = mean + sd * side * out
    if far.any():
        out = np.where(far, near_end - sd * side * _far_out(u, -b, b - a), out)
    if narrow.any():
        # the distance t from the nearer end, of density in proportion to exp(b * t - t**2 / 2)
        distance = np.where(np.isfinite(b), _tilted(v, -b, b - a), 0.0)
        out = np.where(narrow, near_end - sd * side * distance, out)
    return np.asarray(out)


def _in_lower_tail(a: Array, b: Array) -> tuple[Array, Array, Array]:
    mirrored = np.asarray(a + b > 0)  # False for (-inf, inf), which need not be mirrored
    return mirrored, np.where(mirrored, -b, a), np.where(mirrored, -a, b)


def _far_out(u: Array, depth: Array, width: Array) -> Any:
    """The distance from the near end, `depth` from the mean, that is passed with the chance u."""
    root = math.sqrt(0.5)

    def scaled_tail(z: Array) -> Any:  # P(Z > z) but for exp(-z² / 2) / 2
        return special.erfcx(root * np.maximum(z, 0.0))

    def log_beyond(t: Array) -> Any:
        ratio = scaled_tail(depth + t) / scaled_tail(depth)
        return np.where(np.isinf(t), -np.inf, np.log(ratio) - t * (depth + 0.5 * t))

    level = np.log(u + (1.0 - u) * np.exp(log_beyond(width)))
    t = -2.0 * level / (depth + np.sqrt(depth * depth - 2.0 * level))
    for _ in range(4):  # Newton's method, from where the logarithm of the ratio is left out
        slope = scaled_tail(depth + t) * math.sqrt(math.pi / 2)
        t = t + (log_beyond(t) - level) * slope
    return np.minimum(t, width)


def _tilted(u: Array, slope: Array, width: Array) -> Array:
    """The point of [0, width] at level u where the density falls like exp(-slope * t)."""
    fall = slope * width
    steep = -np.log1p(u * np.expm1(-fall)) / np.where(slope > 0, slope, 1.0)
    return np.where(fall < 1e-12, u * width, steep)


def _mode(a: Array, b: Array) -> Any:
    """Where the density is greatest."""
    return np.minimum(np.maximum(0.0, a), b)


def _mass(start: Array, stop: Array, mode: Array) -> Any:
    """The integral of exp((mode² - z²) / 2) from start to stop; the mode is not inside, or is 0.

    Large numbers never cancel: across 0 it is computed by the error function, on one side of 0 by
    the scaled complementary one, and by quadrature where two values of that are nearly equal.
    """
    below = np.where(stop <= 0, -stop, start)  # mirrored to the right of 0
    above = np.where(stop <= 0, -start, stop)
    mode = np.abs(mode)
    root = math.sqrt(0.5)

    def beyond(z: Array) -> Any:
        power = np.where(np.isinf(z), -np.inf, -0.5 * (z - mode) * (z + mode))
        return special.erfcx(root * np.maximum(z, 0.0)) * np.exp(power)

    across = special.erf(root * stop) + special.erf(-root * start)
    width = above - below
    places, weights = gauss_legendre()
    steps = np.where(np.isfinite(width), width, 0.0)[..., None] * places
    powers = (
        -steps * (below[..., None] + 0.5 * steps)
        - 0.5 * ((below - mode) * (below + mode))[..., None]
    )
    narrow = width * (np.exp(powers) @ weights)
    wide = math.sqrt(math.pi / 2) * np.where(
        (start < 0) & (stop > 0), across, beyond(below) - beyond(above)
    )
    one_side = (start >= 0) | (stop <= 0)
    return np.where(one_side & (width * (above + below) < 4.0), narrow, wide)


def _share(start: Any, stop: Any, a: Any, b: Any) -> Any:
    """P(start < Z < stop) of a standard normal Z between a and b."""
    start, stop, a, b = np.broadcast_arrays(start, stop, a, b)
    mode = _mode(a, b)
    return _mass(np.clip(start, a, b), np.clip(stop, a, b), mode) / _mass(a, b, mode)


def _log_density(x: Array, mean: Array, sd: Array, low: Array, high: Array) -> Any:
    a, b = np.broadcast_arrays((low - mean) / sd, (high - mean) / sd)
    z, mode = (x - mean) / sd, _mode(a, b)
    return -0.5 * (z - mode) * (z + mode) - np.log(_mass(a, b, mode)) - np.log(sd)


def _standard_quantile(u: Any, v: Any, a: Any, b: Any) -> Any:
    return _quantile(*(np.asarray(one, dtype=np.float64) for one in (u, v, 0.0, 1.0, a, b)))


def _norm_of_random(p: float, norm: ArgumentNorm, hull: ArgumentHull) -> float:
    """By Minkowski's inequality for x = c + (x - c), c the point of the interval nearest the mean.

    |x - c| is stochastically at most sd |z| with a standard normal z, as the ratio of their
    densities never rises with the distance. And |c| is at most the sum of the sizes of the mean and
    of the finite ends.
    """
    ends = 0.0
    for i, infinity in ((2, -math.inf), (3, math.inf)):
        always_infinite = hull(i).low == hull(i).high == infinity
        ends += 0.0 if always_infinite else norm(i, p)
    return norm(0, p) + ends + norm(1, p) * float(NORMAL.norm(p, 0.0, 1.0))


TRUNCATED_NORMAL = bounded(
    name="truncated_normal",
    summary="a normal variable given that it lies in (low, high); mean and sd before truncation",
    parameters=(LAW_MEAN, SD, LawParameter("low", ANY_NUMBER), LawParameter("high", ANY_NUMBER)),
    conditions=(
        (
            "low <= high is required, and not both the same infinity",
            lambda mean, sd, low, high: (low <= high) & (low < math.inf) & (high > -math.inf),
        ),
        (
            "where sd is 0, low <= mean <= high is required",
            lambda mean, sd, low, high: (sd > 0) | ((low <= mean) & (mean <= high)),
        ),
        (NO_ROOM, lambda mean, sd, low, high: room(low, high)),
    ),
    ends=lambda mean, sd, low, high: (low, high),
    sampler=_truncated_normal_draws,
    log_density_inside=_log_density,
    standard=Standard(
        cdf=lambda x, a, b: _share(a, x, a, b),
        survival=lambda x, a, b: _share(x, b, a, b),
        quantile=lambda u, a, b: _standard_quantile(u, 1.0 - u, a, b),
        upper_quantile=lambda v, a, b: _standard_quantile(1.0 - v, v, a, b),
    ),
    line=lambda mean, sd, low, high: (mean, sd, (low - mean) / sd, (high - mean) / sd),
    norm_of_random=_norm_of_random,
    aliases=("truncnorm", "truncatednormal"),
    note="its second argument is the standard deviation before it is truncated",
)
