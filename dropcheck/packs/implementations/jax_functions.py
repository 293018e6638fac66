"""The functions of jax for the slots of the packs, called as its users call them."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import random

Size = tuple[int, ...]
Array = Any

CHUNK = 2**22
"""The most numbers that a draw of outcomes holds at a time."""


# ---- layers --------------------------------------------------------------------------------------


def dropout(x: Array, p: float, training: bool, key: Array) -> Array:
    """As jax's guides write it, by jax.random.bernoulli."""
    if not training or p == 0:
        return x
    return jnp.where(random.bernoulli(key, 1 - p, x.shape), x / (1 - p), 0)


def drop_path(x: Array, p: float, training: bool, key: Array) -> Array:
    """One number of a mask for each element."""
    if not training or p == 0:
        return x
    kept = random.bernoulli(key, 1 - p, (x.shape[0], *(1,) * (x.ndim - 1)))
    return jnp.where(kept, x / (1 - p), 0)


def gaussian_noise(x: Array, sd: float, training: bool, key: Array) -> Array:
    """By jax.random.normal."""
    return x + sd * random.normal(key, x.shape, x.dtype) if training else x


def gaussian_dropout(x: Array, p: float, training: bool, key: Array) -> Array:
    """By jax.random.normal."""
    if not training:
        return x
    return x * (1 + math.sqrt(p / (1 - p)) * random.normal(key, x.shape, x.dtype))


def add_noise(x: Array, a: float, key: Array) -> Array:
    """By jax.random.normal."""
    return math.sqrt(a) * x + math.sqrt(1 - a) * random.normal(key, x.shape, x.dtype)


def layer_norm(x: Array, training: bool) -> Array:
    """jax.nn.standardize."""
    return jax.nn.standardize(x, axis=-1, epsilon=1e-5)


# ---- initialisers --------------------------------------------------------------------------------


def glorot_uniform(fan_in: int, fan_out: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.glorot_uniform, whose first axis is that of inputs."""
    return jax.nn.initializers.glorot_uniform()(key, (fan_in, fan_out), dtype).T


def glorot_normal(fan_in: int, fan_out: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.glorot_normal."""
    return jax.nn.initializers.glorot_normal()(key, (fan_in, fan_out), dtype).T


def he_uniform(fan_in: int, fan_out: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.he_uniform."""
    return jax.nn.initializers.he_uniform()(key, (fan_in, fan_out), dtype).T


def he_normal(fan_in: int, fan_out: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.he_normal."""
    return jax.nn.initializers.he_normal()(key, (fan_in, fan_out), dtype).T


def lecun_normal(fan_in: int, fan_out: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.lecun_normal."""
    return jax.nn.initializers.lecun_normal()(key, (fan_in, fan_out), dtype).T


def conv_he_normal(inputs: int, outputs: int, size: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.he_normal, with axes as convolutions of flax have them."""
    shape = (size, size, inputs, outputs)
    return jax.nn.initializers.he_normal()(key, shape, dtype).transpose(3, 2, 0, 1)


def depthwise_he_normal(channels: int, size: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.he_normal of a convolution of groups, as flax has its axes."""
    shape = (size, size, 1, channels)
    return jax.nn.initializers.he_normal()(key, shape, dtype).transpose(3, 2, 0, 1)


def truncated_normal_weights(sd: float, n: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.truncated_normal."""
    return jax.nn.initializers.truncated_normal(sd)(key, (n,), dtype)


def orthogonal(n: int, key: Array) -> Array:
    """jax.nn.initializers.orthogonal."""
    return jax.nn.initializers.orthogonal()(key, (n, n))


# ---- samplers ------------------------------------------------------------------------------------


def random_uniform(low: float, high: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.uniform."""
    return random.uniform(key, size, dtype, low, high)


def random_normal(mean: float, sd: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.normal."""
    return mean + sd * random.normal(key, size, dtype)


def random_truncated_normal(low: float, high: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.truncated_normal."""
    return random.truncated_normal(key, low, high, size, dtype)


def random_exponential(scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.exponential."""
    return scale * random.exponential(key, size, dtype)


def random_gamma(shape: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.gamma."""
    return random.gamma(key, shape, size, dtype)


def random_beta(a: float, b: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.beta."""
    return random.beta(key, a, b, size, dtype)


def random_laplace(loc: float, scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.laplace."""
    return loc + scale * random.laplace(key, size, dtype)


def random_cauchy(loc: float, scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.cauchy."""
    return loc + scale * random.cauchy(key, size, dtype)


def random_gumbel(loc: float, scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.gumbel."""
    return loc + scale * random.gumbel(key, size, dtype)


def random_logistic(loc: float, scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.logistic."""
    return loc + scale * random.logistic(key, size, dtype)


def random_lognormal(mean: float, sd: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.lognormal."""
    return random.lognormal(key, sd, size, dtype) * math.exp(mean)


def random_student_t(df: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.t."""
    return random.t(key, df, size, dtype)


def random_chi_square(df: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.chisquare."""
    return random.chisquare(key, df, shape=size, dtype=dtype)


def random_f(d1: float, d2: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.f."""
    return random.f(key, d1, d2, shape=size, dtype=dtype)


def random_weibull(shape: float, scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.weibull_min."""
    return random.weibull_min(key, scale, shape, size, dtype)


def random_pareto(shape: float, scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.pareto, whose scale is 1."""
    return scale * random.pareto(key, shape, size, dtype)


def random_rayleigh(scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.rayleigh."""
    return random.rayleigh(key, scale, size, dtype)


def random_triangular(
    low: float, mode: float, high: float, size: Size, dtype: Any, key: Array
) -> Array:
    """jax.random.triangular."""
    return random.triangular(key, low, mode, high, size, dtype)


def random_bernoulli(p: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.bernoulli, of a probability in the number format."""
    return random.bernoulli(key, jnp.asarray(p, dtype), size)


def random_rademacher(size: Size, key: Array) -> Array:
    """jax.random.rademacher."""
    return random.rademacher(key, size)


def random_binomial(n: int, p: float, size: Size, key: Array) -> Array:
    """jax.random.binomial."""
    return random.binomial(key, n, p, size)


def random_geometric(p: float, size: Size, key: Array) -> Array:
    """jax.random.geometric."""
    return random.geometric(key, p, size)


def random_poisson(rate: float, size: Size, key: Array) -> Array:
    """jax.random.poisson."""
    return random.poisson(key, rate, size)


def random_integers(n: int, size: Size, key: Array) -> Array:
    """jax.random.randint, which has 32 bits unless JAX_ENABLE_X64=1 is set."""
    return random.randint(key, size, 0, n)


def random_categorical(logits: Array, size: Size, key: Array) -> Array:
    """jax.random.categorical; where outcomes are many, in parts that fit into memory."""
    parts = -(-math.prod(size) * len(logits) // CHUNK)
    rows = -(-size[0] // parts)
    keys = random.split(key, parts)
    drawn = [random.categorical(own, logits, shape=(rows, *size[1:])) for own in keys]
    return jnp.concatenate(drawn)[: size[0]]


def random_permutation(n: int, key: Array) -> Array:
    """jax.random.permutation."""
    return random.permutation(key, n)


def random_multinomial(n: int, p: Array, key: Array) -> Array:
    """jax.random.multinomial."""
    return random.multinomial(key, n, p)


def random_dirichlet(a: Array, dtype: Any, key: Array) -> Array:
    """jax.random.dirichlet."""
    return random.dirichlet(key, a, (), dtype)


def random_multivariate_normal(mean: Array, cov: Array, dtype: Any, key: Array) -> Array:
    """jax.random.multivariate_normal."""
    return random.multivariate_normal(key, mean, cov, (), dtype)
