"""Draws of the continuous laws of numbers. None returns an end of a bounded support."""

from __future__ import annotations

import math

import numpy as np

from dropcheck.vocabulary.sampler_parts import (
    OUTERMOST,
    Arguments,
    Array,
    Sampler,
    Size,
    fixed,
    inside,
    random_words,
    scalar_or_array,
    scaled,
    settled,
    uniforms,
)
from dropcheck.vocabulary.truncated import truncated_normal

# a row for each byte: its eight bits, a 1 as 1 and a 0 as -1
SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0


def signs(generator: np.random.Generator, size: Size) -> Array:
    """1 or -1, a random bit each: exactly fair."""
    count = math.prod(size)
    eighths = -(-count // 8)
    octets = random_words(generator, eighths).view(np.uint8)[:eighths]
    return SIGNS.take(octets, axis=0).reshape(-1)[:count].reshape(size)


def _positive(out: Array, scale: Array) -> Array:
    """Draws of a law on the positive half-line, scaled; the constant 0 where scale is 0."""
    return settled(inside(scaled(out, None, scale), 0.0, None), scale, 0.0)


def _exponentials(generator: np.random.Generator, size: Size) -> Array:
    out = np.empty(size)
    generator.standard_exponential(out=out)
    return inside(out, 0.0, None)


def _normals(generator: np.random.Generator, size: Size) -> Array:
    out = np.empty(size)
    generator.standard_normal(out=out)
    return out


def _normal(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    mean, sd = arguments
    return scaled(_normals(generator, size), mean, sd)


def _lognormal(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    mean, sd = arguments
    out = scaled(_normals(generator, size), mean, sd)
    np.exp(out, out=out)
    return settled(inside(out, 0.0, None), sd, np.exp(mean))


def _uniform(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    low, high = arguments
    out = uniforms(generator, size)
    if fixed(low) == 0.0 and fixed(high) == 1.0:
        return out
    width = high - low
    if np.isfinite(width).all():
        scaled(out, low, width)
        # rounding is monotone: where the outermost uniforms stay inside, so do all others
        ends = [scaled(np.full(width.shape, end), low, width) for end in OUTERMOST]
        if np.less(low, ends[0]).all() and np.less(ends[1], high).all():
            return out
    else:  # a width beyond the largest float64
        out = low * (1.0 - out) + high * out
    return inside(out, low, high)


def _exponential(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    (scale,) = arguments
    return _positive(_exponentials(generator, size), scale)


def _gamma(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    shape, scale = arguments
    return _positive(generator.standard_gamma(scalar_or_array(shape), size), scale)


def _chi_square(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    (df,) = arguments
    out = generator.standard_gamma(scalar_or_array(df / 2.0), size)
    out *= 2.0
    return inside(out, 0.0, None)


def _beta(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    a, b = arguments
    out = generator.beta(scalar_or_array(a), scalar_or_array(b), size)
    return inside(out, 0.0, 1.0)


def log_gammas(generator: np.random.Generator, shape: Array, size: Size) -> Array:
    """Logarithms of standard gamma variables, also where these underflow.

    G(a) has the law of G(a + 1) * U**(1 / a) (Marsaglia and Tsang 2000, section 6).
    """
    out = np.log(generator.standard_gamma(scalar_or_array(shape + 1.0), size))
    out -= _exponentials(generator, size) / shape
    return out


def _student_t(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    (df,) = arguments
    return np.asarray(generator.standard_t(scalar_or_array(df), size))


def _f(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    d1, d2 = arguments
    if min(d1.min(), d2.min()) >= 1.0:
        out = generator.f(scalar_or_array(d1), scalar_or_array(d2), size)
    else:  # both chi-squares may underflow, and 0 / 0 is no number
        out = log_gammas(generator, d1 / 2.0, size)
        out -= log_gammas(generator, d2 / 2.0, size)
        np.exp(out, out=out)
        out *= d2 / d1
    return inside(out, 0.0, None)


def _cauchy(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    loc, scale = arguments
    return scaled(generator.standard_cauchy(size), loc, scale)


def _laplace(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    loc, scale = arguments
    out = _exponentials(generator, size)
    out *= signs(generator, size)
    return scaled(out, loc, scale)


def _logistic(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    loc, scale = arguments
    return scaled(generator.logistic(size=size), loc, scale)


def _gumbel(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    """-log of an exponential variable has the distribution function exp(-exp(-t))."""
    loc, scale = arguments
    out = _exponentials(generator, size)
    np.log(out, out=out)
    return scaled(np.negative(out, out=out), loc, scale)


def _weibull(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    shape, scale = arguments
    out = _exponentials(generator, size)
    if fixed(shape) != 1.0:
        out **= 1.0 / shape
    return _positive(out, scale)


def _rayleigh(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    (scale,) = arguments
    out = _exponentials(generator, size)
    out *= 2.0
    return _positive(np.sqrt(out, out=out), scale)


def _pareto(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    alpha, scale = arguments
    out = _exponentials(generator, size)
    out /= alpha
    np.exp(out, out=out)
    out *= scale
    return settled(inside(out, scale, None), scale, 0.0)


def _triangular(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    """The inverse of the distribution function, from the nearer end."""
    low, mode, high = arguments
    width = high - low
    rise = np.where(width > 0, (mode - low) / np.where(width > 0, width, 1.0), 0.5)
    u = uniforms(generator, size)
    falling = u > rise
    np.subtract(1.0, u, out=u, where=falling)
    u *= np.where(falling, 1.0 - rise, rise)
    np.sqrt(u, out=u)
    u *= width
    return inside(np.where(falling, high - u, low + u), low, high)


def _von_mises(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    mu, kappa = arguments
    out = generator.vonmises(scalar_or_array(mu), scalar_or_array(kappa), size)
    return inside(out, -math.pi, math.pi)


def _truncated_normal(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    mean, sd, low, high = arguments
    spread = np.where(sd > 0, sd, 1.0)
    out = truncated_normal(uniforms(generator, size), mean, spread, low, high)
    return settled(inside(out, low, high), sd, mean)


CONTINUOUS: dict[str, Sampler] = {
    "normal": _normal,
    "lognormal": _lognormal,
    "uniform": _uniform,
    "exponential": _exponential,
    "gamma": _gamma,
    "chi_square": _chi_square,
    "beta": _beta,
    "student_t": _student_t,
    "f": _f,
    "cauchy": _cauchy,
    "laplace": _laplace,
    "logistic": _logistic,
    "gumbel": _gumbel,
    "weibull": _weibull,
    "rayleigh": _rayleigh,
    "pareto": _pareto,
    "triangular": _triangular,
    "von_mises": _von_mises,
    "truncated_normal": _truncated_normal,
}
