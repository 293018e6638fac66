"""The functions of jax for the slots of the packs, called as its users call them."""

from __future__ import annotations

import math
from collections.abc import Callable
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
    """Dropout by jax.random.bernoulli, as in the guides of JAX."""
    if not training or p == 0:
        return x
    return jnp.where(random.bernoulli(key, 1 - p, x.shape), x / (1 - p), 0)


def drop_path(x: Array, p: float, training: bool, key: Array) -> Array:
    """Stochastic depth: the mask has one number for each element of the batch."""
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


def _weights(initialiser: Callable[[], Any]) -> Callable[..., Array]:
    """An initialiser of jax, whose first axis is that of inputs."""

    def weights(fan_in: int, fan_out: int, dtype: Any, key: Array) -> Array:
        return initialiser()(key, (fan_in, fan_out), dtype).T

    return weights


glorot_uniform = _weights(jax.nn.initializers.glorot_uniform)
glorot_normal = _weights(jax.nn.initializers.glorot_normal)
he_uniform = _weights(jax.nn.initializers.he_uniform)
he_normal = _weights(jax.nn.initializers.he_normal)
lecun_normal = _weights(jax.nn.initializers.lecun_normal)


def conv_he_normal(inputs: int, outputs: int, size: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.he_normal, with the channels of a convolution last."""
    shape = (size, size, inputs, outputs)
    return jax.nn.initializers.he_normal()(key, shape, dtype).transpose(3, 2, 0, 1)


def depthwise_he_normal(channels: int, size: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.he_normal of a convolution of groups, with its channels last."""
    shape = (size, size, 1, channels)
    return jax.nn.initializers.he_normal()(key, shape, dtype).transpose(3, 2, 0, 1)


def truncated_normal_weights(sd: float, n: int, dtype: Any, key: Array) -> Array:
    """jax.nn.initializers.truncated_normal."""
    return jax.nn.initializers.truncated_normal(sd)(key, (n,), dtype)


def orthogonal(n: int, key: Array) -> Array:
    """jax.nn.initializers.orthogonal."""
    return jax.nn.initializers.orthogonal()(key, (n, n))


# ---- samplers ------------------------------------------------------------------------------------


def _standard(draw: Callable[..., Array]) -> Callable[..., Array]:
    """A function of jax.random, whose numbers have the location 0 and the scale 1."""

    def drawn(loc: float, scale: float, size: Size, dtype: Any, key: Array) -> Array:
        return loc + scale * draw(key, size, dtype)

    return drawn


def _numbers(draw: Callable[..., Array]) -> Callable[..., Array]:
    """A function of jax.random, in the number format."""

    def drawn(*given: Any, dtype: Any, key: Array) -> Array:
        *parameters, size = given
        return draw(key, *parameters, shape=size, dtype=dtype)

    return drawn


def _counts(draw: Callable[..., Array]) -> Callable[..., Array]:
    """A function of jax.random, which gives whole numbers."""
    return lambda *given, key: draw(key, *given)


random_normal = _standard(random.normal)
random_laplace = _standard(random.laplace)
random_cauchy = _standard(random.cauchy)
random_gumbel = _standard(random.gumbel)
random_logistic = _standard(random.logistic)
random_truncated_normal = _numbers(random.truncated_normal)
random_gamma = _numbers(random.gamma)
random_beta = _numbers(random.beta)
random_rayleigh = _numbers(random.rayleigh)
random_triangular = _numbers(random.triangular)
random_student_t = _numbers(random.t)
random_chi_square = _numbers(random.chisquare)
random_f = _numbers(random.f)
random_binomial = _counts(random.binomial)
random_geometric = _counts(random.geometric)
random_poisson = _counts(random.poisson)
random_rademacher = _counts(random.rademacher)
random_permutation = _counts(random.permutation)


def random_uniform(low: float, high: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.uniform."""
    return random.uniform(key, size, dtype, low, high)


def random_exponential(scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.exponential."""
    return scale * random.exponential(key, size, dtype)


def random_lognormal(mean: float, sd: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.lognormal."""
    return random.lognormal(key, sd, size, dtype) * math.exp(mean)


def random_weibull(shape: float, scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.weibull_min."""
    return random.weibull_min(key, scale, shape, size, dtype)


def random_pareto(shape: float, scale: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.pareto, whose scale is 1."""
    return scale * random.pareto(key, shape, size, dtype)


def random_bernoulli(p: float, size: Size, dtype: Any, key: Array) -> Array:
    """jax.random.bernoulli, of a probability in the number format."""
    return random.bernoulli(key, jnp.asarray(p, dtype), size)


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


def random_multinomial(n: int, p: Array, key: Array) -> Array:
    """jax.random.multinomial."""
    return random.multinomial(key, n, p)


def random_dirichlet(a: Array, dtype: Any, key: Array) -> Array:
    """jax.random.dirichlet."""
    return random.dirichlet(key, a, (), dtype)


def random_multivariate_normal(mean: Array, cov: Array, dtype: Any, key: Array) -> Array:
    """jax.random.multivariate_normal."""
    return random.multivariate_normal(key, mean, cov, (), dtype)
