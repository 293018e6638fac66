"""The layers and samplers of keras for the slots of the packs, called as its users call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import initializers, layers, random

Size = tuple[int, ...]
Tensor = Any


dropout = layers.Dropout
gaussian_noise = layers.GaussianNoise
gaussian_dropout = layers.GaussianDropout
alpha_dropout = layers.AlphaDropout


class channel_dropout(layers.SpatialDropout1D):  # type: ignore[misc]  # noqa: N801  # the slot's name
    """keras.layers.SpatialDropout1D, whose last axis is that of channels."""

    def call(self, x: Tensor, training: bool) -> Tensor:
        """With the axes as the slot has them."""
        turned = super().call(keras.ops.swapaxes(x, -1, -2), training=training)
        return keras.ops.swapaxes(turned, -1, -2)


class drop_path(layers.Dropout):  # type: ignore[misc]  # noqa: N801  # the slot's name
    """keras.layers.Dropout with one mask for all axes but the first."""

    def __init__(self, p: float, dtype: str) -> None:
        super().__init__(p, noise_shape=(None, 1), dtype=dtype)


def layer_norm(x: Tensor, training: bool) -> Tensor:
    """keras.layers.LayerNormalization."""
    kind = keras.backend.standardize_dtype(x.dtype)
    return layers.LayerNormalization(epsilon=1e-5, center=False, scale=False, dtype=kind)(x)


# ---- initialisers --------------------------------------------------------------------------------


def _weights(initialiser: Callable[[], Callable[..., Tensor]]) -> Callable[..., Tensor]:
    """An initialiser of keras, whose first axis is that of inputs."""

    def weights(fan_in: int, fan_out: int, dtype: str) -> Tensor:
        return keras.ops.transpose(initialiser()((fan_in, fan_out), dtype))

    return weights


glorot_uniform = _weights(initializers.GlorotUniform)
glorot_normal = _weights(initializers.GlorotNormal)
he_uniform = _weights(initializers.HeUniform)
he_normal = _weights(initializers.HeNormal)
lecun_normal = _weights(initializers.LecunNormal)


def conv_he_normal(inputs: int, outputs: int, size: int, dtype: str) -> Tensor:
    """keras.initializers.HeNormal of the kernel of keras.layers.Conv2D."""
    kernel = initializers.HeNormal()((size, size, inputs, outputs), dtype)
    return keras.ops.transpose(kernel, (3, 2, 0, 1))


def depthwise_he_normal(channels: int, size: int, dtype: str) -> Tensor:
    """keras.initializers.HeNormal of the kernel of keras.layers.DepthwiseConv2D."""
    kernel = initializers.HeNormal()((size, size, channels, 1), dtype)
    return keras.ops.transpose(kernel, (2, 3, 0, 1))


def truncated_normal_weights(sd: float, n: int, dtype: str) -> Tensor:
    """keras.initializers.TruncatedNormal."""
    return initializers.TruncatedNormal(stddev=sd)((n,), dtype)


def orthogonal(n: int) -> Tensor:
    """keras.initializers.Orthogonal."""
    return initializers.Orthogonal()((n, n))


# ---- samplers ------------------------------------------------------------------------------------


def random_uniform(low: float, high: float, size: Size, dtype: str) -> Tensor:
    """keras.random.uniform."""
    return random.uniform(size, low, high, dtype)


def random_normal(mean: float, sd: float, size: Size, dtype: str) -> Tensor:
    """keras.random.normal."""
    return random.normal(size, mean, sd, dtype)


def random_gamma(shape: float, size: Size) -> Tensor:
    """keras.random.gamma."""
    return random.gamma(size, float(shape))  # it takes no whole number


def random_beta(a: float, b: float, size: Size) -> Tensor:
    """keras.random.beta."""
    return random.beta(size, float(a), float(b))


def random_binomial(n: int, p: float, size: Size) -> Tensor:
    """keras.random.binomial."""
    return random.binomial(size, n, p)


def random_integers(n: int, size: Size) -> Tensor:
    """keras.random.randint, of 32 bits."""
    return random.randint(size, 0, n)


def random_categorical(logits: Tensor, size: Size) -> Tensor:
    """keras.random.categorical."""
    count = 1
    for length in size:
        count *= length
    return keras.ops.reshape(random.categorical(logits[None], count), size)
