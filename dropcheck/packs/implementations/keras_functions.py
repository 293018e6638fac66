"""The layers and samplers of keras for the slots of the packs, called as its users call them."""

from __future__ import annotations

from typing import Any

import keras
from keras import initializers, layers, random

Size = tuple[int, ...]
Tensor = Any


def _layer(kind: Any, x: Tensor, *arguments: Any, **named: Any) -> Any:
    """A new layer: one that is kept would go on in its own random numbers, whatever the seed."""
    return kind(*arguments, dtype=keras.backend.standardize_dtype(x.dtype), **named)


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """keras.layers.Dropout."""
    return _layer(layers.Dropout, x, p)(x, training=training)


def channel_dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """keras.layers.SpatialDropout1D, whose last axis is that of channels."""
    turned = keras.ops.swapaxes(x, -1, -2)
    return keras.ops.swapaxes(
        _layer(layers.SpatialDropout1D, x, p)(turned, training=training), -1, -2
    )


def gaussian_noise(x: Tensor, sd: float, training: bool) -> Tensor:
    """keras.layers.GaussianNoise."""
    return _layer(layers.GaussianNoise, x, sd)(x, training=training)


def gaussian_dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """keras.layers.GaussianDropout."""
    return _layer(layers.GaussianDropout, x, p)(x, training=training)


def alpha_dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """keras.layers.AlphaDropout."""
    return _layer(layers.AlphaDropout, x, p)(x, training=training)


def drop_path(x: Tensor, p: float, training: bool) -> Tensor:
    """keras.layers.Dropout with one mask for all axes but the first."""
    shape = (None, *(1,) * (len(x.shape) - 1))
    return _layer(layers.Dropout, x, p, noise_shape=shape)(x, training=training)


def layer_norm(x: Tensor, training: bool) -> Tensor:
    """keras.layers.LayerNormalization."""
    layer = _layer(layers.LayerNormalization, x, epsilon=1e-5, center=False, scale=False)
    return layer(x)


# ---- initialisers --------------------------------------------------------------------------------


def glorot_uniform(fan_in: int, fan_out: int, dtype: str) -> Tensor:
    """keras.initializers.GlorotUniform, whose first axis is that of inputs."""
    return keras.ops.transpose(initializers.GlorotUniform()((fan_in, fan_out), dtype))


def glorot_normal(fan_in: int, fan_out: int, dtype: str) -> Tensor:
    """keras.initializers.GlorotNormal."""
    return keras.ops.transpose(initializers.GlorotNormal()((fan_in, fan_out), dtype))


def he_uniform(fan_in: int, fan_out: int, dtype: str) -> Tensor:
    """keras.initializers.HeUniform."""
    return keras.ops.transpose(initializers.HeUniform()((fan_in, fan_out), dtype))


def he_normal(fan_in: int, fan_out: int, dtype: str) -> Tensor:
    """keras.initializers.HeNormal."""
    return keras.ops.transpose(initializers.HeNormal()((fan_in, fan_out), dtype))


def lecun_normal(fan_in: int, fan_out: int, dtype: str) -> Tensor:
    """keras.initializers.LecunNormal."""
    return keras.ops.transpose(initializers.LecunNormal()((fan_in, fan_out), dtype))


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
    return random.gamma(size, shape)


def random_beta(a: float, b: float, size: Size) -> Tensor:
    """keras.random.beta."""
    return random.beta(size, a, b)


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
