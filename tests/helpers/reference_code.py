"""The mathematics of the packs' slots in plain numpy: all claims hold for this code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from slots_made import OfFunctions

from dropcheck.packs.implementations.numpy_functions import FUNCTIONS as SAMPLERS
from dropcheck.packs.implementations.numpy_functions import _truncated

Array = Any  # a numpy array of the format that is asked for
Shape = tuple[int, ...]

SELU_LOW = -1.7580993408473766
"""The limit of SELU far below 0: minus its scale times its alpha (Klambauer et al., 2017)."""


# ---- layers --------------------------------------------------------------------------------------


class Layer:
    """A layer that has its gradient.

    `drawn` makes, from x, a number and a generator, the output and its derivative by x.
    """

    def __init__(self, drawn: Callable[..., tuple[Array, Array]]) -> None:
        self._drawn = drawn

    def __call__(self, x: Array, number: float, training: bool, generator: Generator) -> Array:
        return self._drawn(x, number, generator)[0] if training else x

    def with_gradient(
        self,
        x: Array,
        number: float,
        training: bool,  # noqa: ARG002 - a layer has it
        generator: Generator,
    ) -> tuple[Array, Array]:
        """The output, and the gradient of its sum by x."""
        return self._drawn(x, number, generator)


def _multiplied(factors: Callable[[Array, float, Generator], Array]) -> Layer:
    """A layer that multiplies by factors of its own."""

    def drawn(x: Array, number: float, generator: Generator) -> tuple[Array, Array]:
        by = factors(x, number, generator).astype(x.dtype)
        return _times(x, by), np.broadcast_to(by, x.shape)

    return Layer(drawn)


def _times(x: Array, factors: Array) -> Array:
    with np.errstate(invalid="ignore"):  # infinity times 0 is not used
        return np.where(factors == 0, np.zeros((), x.dtype), x * factors)


def _mask(shape: Shape, p: float, generator: Generator) -> Array:
    """1 / (1 - p) or 0; each 0 has the probability p."""
    return np.where(generator.random(shape) >= p, 1.0 / (1.0 - p), 0.0)


def _alpha_dropout(x: Array, p: float, training: bool, generator: Generator) -> Array:
    """Dropout that keeps mean 0 and variance 1, in float64 until the end."""
    if not training:
        return x
    kept = generator.random(x.shape) >= p
    scale = 1.0 / np.sqrt((1.0 - p) * (1.0 + p * SELU_LOW**2))
    wide = np.where(kept, x.astype(np.float64), SELU_LOW) - SELU_LOW * p
    return (scale * wide).astype(x.dtype)


def _attention(
    q: Array, k: Array, v: Array, p: float, training: bool, generator: Generator
) -> Array:
    """Scaled dot-product attention, whose weights are dropped."""
    scores = q.astype(np.float64) @ np.swapaxes(k, -1, -2).astype(np.float64)
    scores /= np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    if training:
        weights = _times(weights, _mask(weights.shape, p, generator))
    return (weights @ v.astype(np.float64)).astype(q.dtype)


def _causal(q: Array, k: Array, v: Array) -> Array:
    """Attention whose scores of later places are minus infinity."""
    scores = q.astype(np.float64) @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(q.shape[-2]) == 1, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True) @ v).astype(q.dtype)


def _drop_block(x: Array, p: float, block: int, training: bool, generator: Generator) -> Array:
    """Squares are dropped, and what is left of the batch is scaled."""
    if not training:
        return x
    height, width = (n - block + 1 for n in x.shape[-2:])
    rate = p * x[0, 0].size / (block**2 * height * width)
    start = generator.random((*x.shape[:-2], height, width)) < rate
    kept = np.ones(x.shape, bool)
    for row in range(block):
        for column in range(block):
            kept[..., row : row + height, column : column + width] &= ~start
    return (x * kept * (kept.size / kept.sum())).astype(x.dtype)


def _gumbel_softmax(logits: Array, temperature: float, generator: Generator) -> Array:
    wide = np.exp((logits + generator.gumbel(size=logits.shape)) / temperature)
    return (wide / wide.sum(axis=-1, keepdims=True)).astype(logits.dtype)


class _Linear:
    """A linear layer that has its gradient."""

    def __call__(self, x: Array, weight: Array, bias: Array) -> Array:
        return (x.astype(np.float64) @ np.swapaxes(weight, -1, -2) + bias).astype(x.dtype)

    def with_gradient(self, x: Array, weight: Array, bias: Array) -> tuple[Array, Array]:
        return self(x, weight, bias), np.broadcast_to(weight.sum(axis=0), x.shape)


def _normalised(x: Array, axis: int) -> Array:
    """An axis scaled to mean 0 and variance 1."""
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis, keepdims=True)
    return (centred / np.sqrt(wide.var(axis, keepdims=True) + 1e-5)).astype(x.dtype)


def _rms_norm(x: Array) -> Array:
    """The last axis divided by its root mean square."""
    wide = x.astype(np.float64)
    return (wide / np.sqrt((wide**2).mean(axis=-1, keepdims=True) + 1e-6)).astype(x.dtype)


# ---- initialisers --------------------------------------------------------------------------------


def _flat(variance: float, shape: Shape, dtype: Any, generator: Generator) -> Array:
    """Uniform weights around 0."""
    end = np.sqrt(3.0 * variance)
    return generator.uniform(-end, end, shape).astype(dtype)


def _bell(variance: float, shape: Shape, dtype: Any, generator: Generator) -> Array:
    """Normal weights around 0."""
    return generator.normal(0, np.sqrt(variance), shape).astype(dtype)


def _weights(
    drawn: Callable[..., Array], variance: Callable[[int, int], float]
) -> Callable[..., Array]:
    """A matrix of weights of a variance."""

    def weights(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Array:
        return drawn(variance(fan_in, fan_out), (fan_out, fan_in), dtype, generator)

    return weights


def _orthogonal(n: int, dtype: Any, generator: Generator) -> Array:
    """Q of a normal matrix, with signs such that R has a positive diagonal (Mezzadri, 2007)."""
    q, r = np.linalg.qr(generator.standard_normal((n, n)))
    return (q * np.sign(np.diagonal(r))).astype(dtype)


REFERENCE: Mapping[str, Callable[..., Array]] = {
    "dropout": _multiplied(lambda x, p, generator: _mask(x.shape, p, generator)),
    "channel_dropout": _multiplied(lambda x, p, generator: _mask((*x.shape[:-1], 1), p, generator)),
    "drop_path": _multiplied(
        lambda x, p, generator: _mask((len(x), *(1,) * (x.ndim - 1)), p, generator)
    ),
    "gaussian_dropout": _multiplied(
        lambda x, p, generator: 1.0 + np.sqrt(p / (1.0 - p)) * generator.standard_normal(x.shape)
    ),
    "gaussian_noise": Layer(
        lambda x, sd, generator: (
            (x + sd * generator.standard_normal(x.shape)).astype(x.dtype),
            np.ones_like(x),
        )
    ),
    "add_noise": Layer(
        lambda x, a, generator: (
            (np.sqrt(a) * x + np.sqrt(1.0 - a) * generator.standard_normal(x.shape)).astype(
                x.dtype
            ),
            np.full_like(x, np.sqrt(a)),
        )
    ),
    "alpha_dropout": _alpha_dropout,
    "attention": _attention,
    "causal_attention": _causal,
    "drop_block": _drop_block,
    "gumbel_softmax": _gumbel_softmax,
    "linear": _Linear(),
    "layer_norm": lambda x, training: _normalised(x, -1),  # noqa: ARG005 - a layer has it
    "rms_norm": _rms_norm,
    "batch_norm": lambda x: _normalised(x, 0),
    # initialisers
    "glorot_uniform": _weights(_flat, lambda fan_in, fan_out: 2 / (fan_in + fan_out)),
    "glorot_normal": _weights(_bell, lambda fan_in, fan_out: 2 / (fan_in + fan_out)),
    "he_uniform": _weights(_flat, lambda fan_in, _: 2 / fan_in),
    "he_normal": _weights(_bell, lambda fan_in, _: 2 / fan_in),
    "lecun_normal": _weights(_bell, lambda fan_in, _: 1 / fan_in),
    "conv_he_normal": lambda inputs, outputs, size, dtype, generator: _bell(
        2 / (inputs * size**2), (outputs, inputs, size, size), dtype, generator
    ),
    "depthwise_he_normal": lambda channels, size, dtype, generator: _bell(
        2 / size**2, (channels, 1, size, size), dtype, generator
    ),
    "attention_projection": lambda n, dtype, generator: _flat(1 / n, (3 * n, n), dtype, generator),
    "truncated_normal_weights": lambda sd, n, dtype, generator: (
        sd * _truncated(-2.0, 2.0, (n,), generator)
    ).astype(dtype),
    "orthogonal": _orthogonal,
    **SAMPLERS,
}
"""By slot."""


def reference(dtypes: tuple[str, ...] = ("float32",)) -> OfFunctions:
    """It as a column, `numpy`."""
    return OfFunctions(REFERENCE, dtypes=dtypes)
