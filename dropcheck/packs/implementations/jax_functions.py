"""The functions of jax for the slots of the packs, called as its users call them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import random
from jax.nn import initializers

Size = tuple[int, ...]
Array = Any

CHUNK = 2**22
"""The most numbers that a draw of outcomes holds at a time."""


def _dropped(of_mask: Callable[[Array], Size]) -> Callable[..., Array]:
    """Dropout by jax.random.bernoulli, as in the guides of JAX, with a mask of this shape."""

    def dropped(x: Array, p: float, training: bool, key: Array) -> Array:
        if not training or p == 0:
            return x
        return jnp.where(random.bernoulli(key, 1 - p, of_mask(x)), x / (1 - p), 0)

    return dropped


def _noise(key: Array, x: Array) -> Array:
    return random.normal(key, x.shape, x.dtype)


def _weights(initialiser: Callable[[], Any]) -> Callable[..., Array]:
    """An initialiser of jax, whose first axis is that of inputs."""

    def weights(fan_in: int, fan_out: int, dtype: Any, key: Array) -> Array:
        return initialiser()(key, (fan_in, fan_out), dtype).T

    return weights


def _filters(inputs: int, outputs: int, size: int, dtype: Any, key: Array) -> Array:
    """He's normal weights of a convolution, whose channels jax has last."""
    shape = (size, size, inputs, outputs)
    return initializers.he_normal()(key, shape, dtype).transpose(3, 2, 0, 1)


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


def _categorical(logits: Array, size: Size, key: Array) -> Array:
    """jax.random.categorical; where outcomes are many, in parts that fit into memory."""
    parts = -(-math.prod(size) * len(logits) // CHUNK)
    rows = -(-size[0] // parts)
    keys = random.split(key, parts)
    drawn = [random.categorical(own, logits, shape=(rows, *size[1:])) for own in keys]
    return jnp.concatenate(drawn)[: size[0]]


FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "dropout": _dropped(lambda x: x.shape),
    "drop_path": _dropped(lambda x: (x.shape[0], *(1,) * (x.ndim - 1))),
    "gaussian_noise": lambda x, sd, training, key: x + sd * _noise(key, x) if training else x,
    "gaussian_dropout": lambda x, p, training, key: (
        x * (1 + math.sqrt(p / (1 - p)) * _noise(key, x)) if training else x
    ),
    "add_noise": lambda x, a, key: math.sqrt(a) * x + math.sqrt(1 - a) * _noise(key, x),
    "gumbel_softmax": lambda logits, temperature, dtype, key: jax.nn.softmax(
        (logits + random.gumbel(key, logits.shape, dtype)) / temperature
    ),
    "layer_norm": lambda x, training: jax.nn.standardize(x, axis=-1, epsilon=1e-5),
    # initialisers
    "glorot_uniform": _weights(initializers.glorot_uniform),
    "glorot_normal": _weights(initializers.glorot_normal),
    "he_uniform": _weights(initializers.he_uniform),
    "he_normal": _weights(initializers.he_normal),
    "lecun_normal": _weights(initializers.lecun_normal),
    "conv_he_normal": _filters,
    "depthwise_he_normal": lambda channels, size, dtype, key: _filters(
        1, channels, size, dtype, key
    ),
    "truncated_normal_weights": lambda sd, n, dtype, key: initializers.truncated_normal(sd)(
        key, (n,), dtype
    ),
    "orthogonal": lambda n, key: initializers.orthogonal()(key, (n, n)),
    # samplers
    "random_normal": _standard(random.normal),
    "random_laplace": _standard(random.laplace),
    "random_cauchy": _standard(random.cauchy),
    "random_gumbel": _standard(random.gumbel),
    "random_logistic": _standard(random.logistic),
    "random_truncated_normal": _numbers(random.truncated_normal),
    "random_gamma": _numbers(random.gamma),
    "random_beta": _numbers(random.beta),
    "random_rayleigh": _numbers(random.rayleigh),
    "random_triangular": _numbers(random.triangular),
    "random_student_t": _numbers(random.t),
    "random_chi_square": _numbers(random.chisquare),
    "random_f": _numbers(random.f),
    "random_binomial": _counts(random.binomial),
    "random_geometric": _counts(random.geometric),
    "random_poisson": _counts(random.poisson),
    "random_rademacher": _counts(random.rademacher),
    "random_permutation": _counts(random.permutation),
    "random_uniform": lambda low, high, size, dtype, key: random.uniform(
        key, size, dtype, low, high
    ),
    "random_exponential": lambda scale, size, dtype, key: (
        scale * random.exponential(key, size, dtype)
    ),
    "random_lognormal": lambda mean, sd, size, dtype, key: (
        random.lognormal(key, sd, size, dtype) * math.exp(mean)
    ),
    "random_weibull": lambda shape, scale, size, dtype, key: random.weibull_min(
        key, scale, shape, size, dtype
    ),
    "random_pareto": lambda shape, scale, size, dtype, key: (  # jax's has the scale 1
        scale * random.pareto(key, shape, size, dtype)
    ),
    "random_bernoulli": lambda p, size, dtype, key: (  # of a probability in the number format
        random.bernoulli(key, jnp.asarray(p, dtype), size)
    ),
    # 32 bits unless JAX_ENABLE_X64=1 is set
    "random_integers": lambda n, size, key: random.randint(key, size, 0, n),
    "random_categorical": _categorical,
    "random_multinomial": lambda n, p, key: random.multinomial(key, n, p),
    "random_dirichlet": lambda a, dtype, key: random.dirichlet(key, a, (), dtype),
    "random_multivariate_normal": lambda mean, cov, dtype, key: random.multivariate_normal(
        key, mean, cov, (), dtype
    ),
}
"""By slot."""
