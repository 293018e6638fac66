"""The mathematics of the packs' slots in plain numpy: all claims hold for this code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any  # a numpy array of the format that is asked for
Generator = np.random.Generator
Size = tuple[int, ...]

SELU_LOW = -1.7580993408473766
"""The limit of SELU far below 0: minus its scale times its alpha (Klambauer et al., 2017)."""
CHUNK = 2**22
"""The most numbers that are compared at a time."""


class WithGradient:
    """A layer that multiplies by factors of its own, which are its gradient too."""

    def __init__(self, factors: Any) -> None:
        self._factors = factors

    def __call__(self, x: Array, p: float, training: bool, generator: Generator) -> Array:
        if not training:
            return x
        return _times(x, self._factors(x, p, generator))

    def with_gradient(
        self, x: Array, p: float, training: bool, generator: Generator
    ) -> tuple[Array, Array]:
        """The output, and the gradient of its sum by x."""
        factors = self._factors(x, p, generator)
        return _times(x, factors), np.broadcast_to(factors, x.shape)


def _times(x: Array, factors: Array) -> Array:
    with np.errstate(invalid="ignore"):  # infinity times 0 is not used
        return np.where(factors == 0, np.zeros((), x.dtype), x * factors)


def _mask(x: Array, p: float, generator: Generator, shape: Size) -> Array:
    """1 / (1 - p) or 0, in the format of x; each 0 has the probability p."""
    kept = generator.random(shape) >= p
    return np.where(kept, 1.0 / (1.0 - p), 0.0).astype(x.dtype)


dropout = WithGradient(lambda x, p, generator: _mask(x, p, generator, x.shape))
channel_dropout = WithGradient(lambda x, p, generator: _mask(x, p, generator, (*x.shape[:-1], 1)))
drop_path = WithGradient(
    lambda x, p, generator: _mask(x, p, generator, (len(x), *(1,) * (x.ndim - 1)))
)
gaussian_dropout = WithGradient(
    lambda x, p, generator: (
        1.0 + np.sqrt(p / (1.0 - p)) * generator.standard_normal(x.shape)
    ).astype(x.dtype)
)


class _GaussianNoise:
    def __call__(self, x: Array, sd: float, training: bool, generator: Generator) -> Array:
        noise = sd * generator.standard_normal(x.shape)
        return (x + noise).astype(x.dtype) if training else x

    def with_gradient(
        self, x: Array, sd: float, training: bool, generator: Generator
    ) -> tuple[Array, Array]:
        return self(x, sd, True, generator), np.ones_like(x)


gaussian_noise = _GaussianNoise()


def alpha_dropout(x: Array, p: float, training: bool, generator: Generator) -> Array:
    """Dropout that keeps mean 0 and variance 1, in float64 until the end."""
    if not training:
        return x
    kept = generator.random(x.shape) >= p
    scale = 1.0 / np.sqrt((1.0 - p) * (1.0 + p * SELU_LOW**2))
    wide = np.where(kept, x.astype(np.float64), SELU_LOW) - SELU_LOW * p
    return (scale * wide).astype(x.dtype)


class _AddNoise:
    def __call__(self, x: Array, a: float, generator: Generator) -> Array:
        noise = generator.standard_normal(x.shape)
        return (np.sqrt(a) * x + np.sqrt(1.0 - a) * noise).astype(x.dtype)

    def with_gradient(self, x: Array, a: float, generator: Generator) -> tuple[Array, Array]:
        return self(x, a, generator), np.full_like(x, np.sqrt(a))


add_noise = _AddNoise()


def attention(
    q: Array, k: Array, v: Array, p: float, training: bool, generator: Generator
) -> Array:
    """Scaled dot-product attention, whose weights are dropped."""
    scores = q.astype(np.float64) @ np.swapaxes(k, -1, -2).astype(np.float64)
    scores /= np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    if training:
        weights = _times(weights, _mask(weights, p, generator, weights.shape))
    return (weights @ v.astype(np.float64)).astype(q.dtype)


# ---- normalisation -------------------------------------------------------------------------------


def layer_norm(x: Array, training: bool) -> Array:
    """The last axis scaled to mean 0 and variance 1."""
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=-1, keepdims=True)
    return (centred / np.sqrt(wide.var(axis=-1, keepdims=True) + 1e-5)).astype(x.dtype)


def rms_norm(x: Array) -> Array:
    """The last axis divided by its root mean square."""
    wide = x.astype(np.float64)
    return (wide / np.sqrt((wide**2).mean(axis=-1, keepdims=True) + 1e-6)).astype(x.dtype)


def batch_norm(x: Array) -> Array:
    """Columns scaled to mean 0 and variance 1."""
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=0)
    return (centred / np.sqrt(wide.var(axis=0) + 1e-5)).astype(x.dtype)


# ---- initialisers --------------------------------------------------------------------------------


def glorot_uniform(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Array:
    """Uniform weights of variance 2 / (fan_in + fan_out)."""
    end = np.sqrt(6.0 / (fan_in + fan_out))
    return generator.uniform(-end, end, (fan_out, fan_in)).astype(dtype)


def glorot_normal(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Array:
    """Normal weights of variance 2 / (fan_in + fan_out)."""
    return generator.normal(0, np.sqrt(2 / (fan_in + fan_out)), (fan_out, fan_in)).astype(dtype)


def he_uniform(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Array:
    """Uniform weights of variance 2 / fan_in."""
    end = np.sqrt(6.0 / fan_in)
    return generator.uniform(-end, end, (fan_out, fan_in)).astype(dtype)


def he_normal(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Array:
    """Normal weights of variance 2 / fan_in."""
    return generator.normal(0, np.sqrt(2 / fan_in), (fan_out, fan_in)).astype(dtype)


def lecun_normal(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Array:
    """Normal weights of variance 1 / fan_in."""
    return generator.normal(0, np.sqrt(1 / fan_in), (fan_out, fan_in)).astype(dtype)


def conv_he_normal(inputs: int, outputs: int, size: int, dtype: Any, generator: Generator) -> Array:
    """Normal weights of variance 2 / (inputs · size²)."""
    sd = np.sqrt(2 / (inputs * size**2))
    return generator.normal(0, sd, (outputs, inputs, size, size)).astype(dtype)


def depthwise_he_normal(channels: int, size: int, dtype: Any, generator: Generator) -> Array:
    """Normal weights of variance 2 / size²."""
    return generator.normal(0, np.sqrt(2) / size, (channels, 1, size, size)).astype(dtype)


def attention_projection(n: int, dtype: Any, generator: Generator) -> Array:
    """Three matrices of uniform weights of variance 1 / n."""
    end = np.sqrt(3.0 / n)
    return generator.uniform(-end, end, (3 * n, n)).astype(dtype)


def truncated_normal_weights(sd: float, n: int, dtype: Any, generator: Generator) -> Array:
    """Normal weights between -2 sd and 2 sd, drawn again until they are."""
    return (sd * _truncated(-2.0, 2.0, (n,), generator)).astype(dtype)


def orthogonal(n: int, dtype: Any, generator: Generator) -> Array:
    """Q of a normal matrix, with signs such that R has a positive diagonal (Mezzadri, 2007)."""
    q, r = np.linalg.qr(generator.standard_normal((n, n)))
    return (q * np.sign(np.diagonal(r))).astype(dtype)


def _truncated(low: float, high: float, size: Size, generator: Generator) -> Array:
    values = generator.standard_normal(size)
    while (outside := (values < low) | (values > high)).any():
        values[outside] = generator.standard_normal(int(outside.sum()))
    return values


# ---- samplers ------------------------------------------------------------------------------------


def _numbers(draw: Callable[..., Array], *standard: float) -> Callable[..., Array]:
    """A method of numpy's generators, in the number format; its last arguments are `standard`."""

    def drawn(*given: Any, dtype: Any, generator: Generator) -> Array:
        *parameters, size = given
        return draw(generator, *parameters, *standard, size).astype(dtype)

    return drawn


def _counts(draw: Callable[..., Array]) -> Callable[..., Array]:
    """A method of numpy's generators, which gives whole numbers."""
    return lambda *given, generator: draw(generator, *given)


random_uniform = _numbers(Generator.uniform)
random_normal = _numbers(Generator.normal)
random_exponential = _numbers(Generator.exponential)
random_gamma = _numbers(Generator.gamma, 1.0)
random_beta = _numbers(Generator.beta)
random_laplace = _numbers(Generator.laplace)
random_gumbel = _numbers(Generator.gumbel)
random_logistic = _numbers(Generator.logistic)
random_lognormal = _numbers(Generator.lognormal)
random_student_t = _numbers(Generator.standard_t)
random_chi_square = _numbers(Generator.chisquare)
random_f = _numbers(Generator.f)
random_rayleigh = _numbers(Generator.rayleigh)
random_von_mises = _numbers(Generator.vonmises)
random_triangular = _numbers(Generator.triangular)
random_binomial = _counts(Generator.binomial)
random_geometric = _counts(Generator.geometric)
random_negative_binomial = _counts(Generator.negative_binomial)
random_poisson = _counts(Generator.poisson)
random_hypergeometric = _counts(Generator.hypergeometric)
random_permutation = _counts(Generator.permutation)


def random_truncated_normal(
    low: float, high: float, size: Size, dtype: Any, generator: Generator
) -> Array:
    """Numpy's normal, drawn again until it lies between the ends."""
    return _truncated(low, high, size, generator).astype(dtype)


def random_cauchy(loc: float, scale: float, size: Size, dtype: Any, generator: Generator) -> Array:
    """Numpy's standard_cauchy."""
    return (loc + scale * generator.standard_cauchy(size)).astype(dtype)


def random_weibull(
    shape: float, scale: float, size: Size, dtype: Any, generator: Generator
) -> Array:
    """Numpy's weibull."""
    return (scale * generator.weibull(shape, size)).astype(dtype)


def random_pareto(
    shape: float, scale: float, size: Size, dtype: Any, generator: Generator
) -> Array:
    """Numpy's pareto, which starts at 0."""
    return (scale * (1.0 + generator.pareto(shape, size))).astype(dtype)


def random_bernoulli(p: float, size: Size, generator: Generator) -> Array:
    """Whether a uniform number is less than p."""
    return generator.random(size) < p


def random_rademacher(size: Size, generator: Generator) -> Array:
    """1 or -1."""
    return 2 * generator.integers(0, 2, size) - 1


def random_integers(n: int, size: Size, generator: Generator) -> Array:
    """Numpy's integers."""
    return generator.integers(0, n, size)


def random_categorical(logits: Array, size: Size, generator: Generator) -> Array:
    """The index at which the running sum of probabilities passes a uniform number."""
    wide = np.exp(logits.astype(np.float64) - logits.max())
    steps = np.cumsum(wide)
    return np.searchsorted(steps[:-1], steps[-1] * generator.random(size), side="right")


def random_multinomial(n: int, p: Array, generator: Generator) -> Array:
    """Numpy's multinomial."""
    return generator.multinomial(n, p.astype(np.float64))


def random_dirichlet(a: Array, dtype: Any, generator: Generator) -> Array:
    """Numpy's dirichlet."""
    return generator.dirichlet(a.astype(np.float64)).astype(dtype)


def random_multivariate_normal(mean: Array, cov: Array, dtype: Any, generator: Generator) -> Array:
    """By Cholesky's factor of the covariance."""
    factor = np.linalg.cholesky(cov.astype(np.float64))
    return (mean + factor @ generator.standard_normal(len(mean))).astype(dtype)
