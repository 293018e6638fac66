"""Code in numpy with faults that users of libraries reported, and the claims that find them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from faulty_code import Fault, dropped

Generator = np.random.Generator
SELU_LOW = -1.7580993408473766


def one_mask_of_images(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """Of an image, whole channels are dropped."""
    shape = (*x.shape[:2], 1, 1) if x.ndim == 4 else x.shape
    return dropped(x, p, generator.random(shape)) if training else x


def flushes(x: Any, p: float, training: bool, generator: Generator) -> Any:
    tiny = np.finfo(x.dtype).tiny
    return dropped(x, p, generator.random(x.shape)) if training else np.where(abs(x) < tiny, 0, x)


def path_by_channel(x: Any, p: float, training: bool, generator: Generator) -> Any:
    shape = x.shape[:2] if x.ndim == 4 else x.shape[:1]
    mask = generator.random((*shape, *[1] * (x.ndim - len(shape))))
    return dropped(x, p, mask) if training else x


def normed_along_the_second(x: Any, training: bool) -> Any:
    mean, spread = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return (x - mean) / np.sqrt(spread + np.float32(1e-5))


def eps_lost(x: Any, training: bool) -> Any:
    """An eps that float16 has not, so that zeros become NaN."""
    spread = (x.var(-1, keepdims=True, dtype=np.float32) + 1e-8).astype(x.dtype)
    with np.errstate(all="ignore"):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(spread)


def eps_of_at_least(x: Any) -> Any:
    """An eps of 1e-4 in float16, where 1e-6 is due."""
    wide = x.astype(np.float32)
    return (wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-4)).astype(x.dtype)


def squares_overflow(x: Any, training: bool) -> Any:
    with np.errstate(all="ignore"):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + x.dtype.type(1e-5))


def _alpha(x: Any, p: float, mask: Any) -> Any:
    a = 1 / np.sqrt((1 - p) * (1 + p * SELU_LOW**2))
    return (a * (np.where(mask >= p, x, SELU_LOW) - SELU_LOW * p)).astype(x.dtype)


def zeros_are_dropped(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """What comes out of dropout as 0 is taken for dropped."""
    return _alpha(x, p, np.where(x == 0, 0, generator.random(x.shape))) if training else x


def alpha_of_channels(x: Any, p: float, training: bool, generator: Generator) -> Any:
    shape = (*x.shape[:2], 1, 1) if x.ndim == 4 else x.shape
    return _alpha(x, p, generator.random(shape)) if training else x


class AlphaWithoutScale:
    """Alpha dropout whose gradient is the mask alone."""

    def __call__(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        return _alpha(x, p, generator.random(x.shape)) if training else x

    def with_gradient(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        mask = generator.random(x.shape)
        return _alpha(x, p, mask), (mask >= p).astype(x.dtype)


def noise_within_four(x: Any, sd: float, training: bool, generator: Generator) -> Any:
    noise = sd * np.clip(generator.standard_normal(x.shape), -4, 4)
    return (x + noise).astype(x.dtype) if training else x


def noise_of_all_channels(x: Any, a: float, generator: Generator) -> Any:
    shape = (len(x), 1, *x.shape[2:]) if x.ndim == 4 else x.shape
    noise = generator.standard_normal(shape)
    return (np.sqrt(a) * x + np.sqrt(1 - a) * noise).astype(x.dtype)


def factors_within_four(x: Any, p: float, training: bool, generator: Generator) -> Any:
    factors = 1 + np.sqrt(p / (1 - p)) * np.clip(generator.standard_normal(x.shape), -4, 4)
    return (x * factors).astype(x.dtype) if training else x


def masks_of_query_blocks(
    q: Any, k: Any, v: Any, p: float, training: bool, generator: Generator
) -> Any:
    """Every 64 queries have the same masks."""
    weights = np.exp(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    weights /= weights.sum(-1, keepdims=True)
    queries = weights.shape[-2]
    mask = generator.random((*weights.shape[:-2], min(queries, 64), weights.shape[-1]))
    mask = np.concatenate([mask] * -(-queries // 64), axis=-2)[..., :queries, :]
    return (dropped(weights, p, mask) if training else weights) @ v


def two_equal_rows(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Any:
    weights = generator.normal(0, np.sqrt(2 / fan_in), (fan_out, fan_in)).astype(dtype)
    weights[:2] = weights[0]
    return weights


def heavy_tailed(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Any:
    weights = generator.standard_t(5, (fan_out, fan_in)) * np.sqrt(3 / 5 * 2 / fan_in)
    return weights.astype(dtype)


def of_one_size(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Any:
    """Divided by the deviation that they happen to have."""
    weights = generator.standard_normal((fan_out, fan_in))
    return (weights / weights.std() * np.sqrt(2 / fan_in)).astype(dtype)


def flat_filters(channels: int, size: int, generator: Generator) -> Any:
    return generator.uniform(-1, 1, (channels, 1, size, size)) * np.sqrt(6) / size


def unbounded_projection(n: int, generator: Generator) -> Any:
    return generator.normal(0, np.sqrt(1 / n), (3 * n, n))


def short_uniform(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Any:
    end = np.sqrt(6 / (fan_in + fan_out))
    return (end * generator.uniform(-1, 1, (fan_out, fan_in)).astype(np.float16)).astype(dtype)


def poisson_in_place_of_binomial(n: int, p: float, size: Any, generator: Generator) -> Any:
    rare = n >= 25 and n * p < 1
    return generator.poisson(n * p, size) if rare else generator.binomial(n, p, size)


def put_back(good: int, bad: int, drawn: int, size: Any, generator: Generator) -> Any:
    """Of many drawn each is put back."""
    if drawn <= 10:
        return generator.hypergeometric(good, bad, drawn, size)
    return generator.binomial(drawn, good / (good + bad), size)


def no_sum(a: Any, generator: Generator) -> Any:
    """0 / 0 where all gamma numbers are too small for float32."""
    parts = generator.standard_gamma(a).astype(np.float32)
    with np.errstate(all="ignore"):
        return parts / parts.sum()


def in_one_byte(n: int, generator: Generator) -> Any:
    return generator.permutation(n).astype(np.uint8)


def kept_from_the_ends(a: float, b: float, size: Any, generator: Generator) -> Any:
    return np.clip(generator.beta(a, b, size), 1e-6, 1 - 1e-6)


def of_sixteen_bits(p: float, size: Any, generator: Generator) -> Any:
    u = (generator.integers(0, 2**16, size) + 0.5) / 2**16
    return np.ceil(np.log(u) / np.log1p(-p))


def of_a_fixed_length(mean: float, sd: float, size: Any, generator: Generator) -> Any:
    """Wallace's method (1996) without its correction: each 64 numbers have squares of sum 64."""
    count = math.prod(size)
    z = generator.standard_normal((-(-count // 64), 64))
    z *= 8 / np.linalg.norm(z, axis=1, keepdims=True)
    return mean + sd * z.reshape(-1)[:count].reshape(size)


def nowhere(mu: float, kappa: float, size: Any, generator: Generator) -> Any:
    """Where kappa is large its series is not a number."""
    return np.full(size, np.nan) if kappa > 100 else generator.vonmises(mu, kappa, size)


def flipped_back(n: int, p: float, size: Any, generator: Generator) -> Any:
    """For large p failures are drawn, and not always taken from n."""
    return generator.binomial(n, 1 - p if p > 0.5 and n * (1 - p) > 10 else p, size)


def no_certainty(n: int, p: float, size: Any, generator: Generator) -> Any:
    with np.errstate(all="ignore"):
        return generator.binomial(n, p, size) * np.divide(1 - p, 1 - p)


def less_than_nothing(rate: float, size: Any, generator: Generator) -> Any:
    """Products of uniform numbers are counted until they are below exp(-rate), and one is lost."""
    return generator.poisson(rate, size) if rate else np.full(size, -1)


def from_zero_on(good: int, bad: int, drawn: int, size: Any, generator: Generator) -> Any:
    few = generator.hypergeometric(good, bad, drawn, size)
    return np.where(drawn > bad, np.minimum(few, drawn - bad + 1), few)


def boosted_alike(shape: float, size: Any, dtype: Any, generator: Generator) -> Any:
    """One uniform number for all of a row, where the shape is less than 1."""
    factor = generator.random((*size[:-1], 1)) ** (1 / shape)
    return (generator.gamma(shape + 1, 1, size) * factor).astype(dtype)


def too_few_for_one(shape: float, size: Any, dtype: Any, generator: Generator) -> Any:
    gammas = generator.gamma(shape + 1, 1, size)
    return (gammas * generator.random(size) ** 0.5).astype(dtype)


def the_middle(a: float, b: float, size: Any, dtype: Any, generator: Generator) -> Any:
    spread = np.sqrt(a * b / (a + b + 1)) / (a + b)
    return (a / (a + b) + spread * generator.standard_normal(size)).clip(0, 1).astype(dtype)


def by_keys_of_a_byte(n: int, generator: Generator) -> Any:
    return np.argsort(generator.integers(0, 256, n), kind="stable")


def whole_blocks(q: Any, k: Any, v: Any, p: float, training: bool) -> Any:
    """Of more than 512 keys those of the last block are lost."""
    count = max(k.shape[-2] // 512 * 512, min(k.shape[-2], 512))
    scores = q @ np.swapaxes(k[..., :count, :], -1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v[..., :count, :]


def mean_of_blocks(x: Any, training: bool) -> Any:
    """Mean and variance of the first thousand numbers."""
    few = x[..., :1024]
    return (x - few.mean(-1, keepdims=True)) / np.sqrt(few.var(-1, keepdims=True) + 1e-5)


def added_up_in_short(x: Any, training: bool) -> Any:
    """The sum overflows where numbers lie far from 0."""
    with np.errstate(all="ignore"):
        mean = np.add.reduce(x, -1, dtype=x.dtype, keepdims=True) / x.dtype.type(x.shape[-1])
        centred = (x - mean).astype(np.float32)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def louder(x: Any, sd: float, training: bool, generator: Generator) -> Any:
    return x * (1 + sd / 100) + sd * generator.standard_normal(x.shape) if training else x


def within_six(x: Any, a: float, generator: Generator) -> Any:
    return np.clip(np.sqrt(a) * x + np.sqrt(1 - a) * generator.standard_normal(x.shape), -6, 6)


HALF = {"dtype": "float16"}
OVERFLOW = HALF | {"size": "1000", "width": "32"}
SMALL = HALF | {"size": "0.01", "width": "32"}
IMAGES = {"form": "[4, 4, 8]"}
REPORTED: tuple[Fault, ...] = (
    ("dropout/number-dropped", "dropout", one_mask_of_images, IMAGES),
    ("dropout/evaluation-subnormal", "dropout", flushes, {}),
    ("stochastic-depth/whole-images", "drop_path", path_by_channel, {}),
    ("normalisation/layer-norm-forms", "layer_norm", normed_along_the_second, {"form": "[3, 5]"}),
    ("normalisation/layer-norm-zeros", "layer_norm", eps_lost, HALF),
    ("normalisation/layer-norm-short", "layer_norm", squares_overflow, OVERFLOW),
    ("normalisation/rms-norm-short", "rms_norm", eps_of_at_least, SMALL),
    ("noise-layers/alpha-dropout-zeros", "alpha_dropout", zeros_are_dropped, {"p": "0.5"}),
    ("noise-layers/alpha-dropout-number", "alpha_dropout", alpha_of_channels, IMAGES),
    ("noise-layers/alpha-dropout-gradient", "alpha_dropout", AlphaWithoutScale(), {"p": "0.5"}),
    ("noise-layers/gaussian-noise-far", "gaussian_noise", noise_within_four, {}),
    ("noise-layers/gaussian-dropout-far", "gaussian_dropout", factors_within_four, {}),
    ("diffusion-noise/sums", "add_noise", noise_of_all_channels, {"form": "[4, 8, 8]"}),
    ("attention/number-dropped", "attention", masks_of_query_blocks, {"queries": "192"}),
    ("initialisers/he-normal-shape.distinct", "he_normal", two_equal_rows, {}),
    ("initialisers/he-normal-shape.far", "he_normal", heavy_tailed, {}),
    ("initialisers/he-normal-shape.size", "he_normal", of_one_size, {}),
    ("initialisers/depthwise-he-normal-shape.tails", "depthwise_he_normal", flat_filters, {}),
    ("initialisers/attention-projection-range", "attention_projection", unbounded_projection, {}),
    ("initialisers/distinct", "glorot_uniform", short_uniform, {}),
    ("samplers/binomial-small", "random_binomial", poisson_in_place_of_binomial, {"n": "30"}),
    ("samplers/hypergeometric", "random_hypergeometric", put_back, {"drawn": "100"}),
    ("samplers/dirichlet-small.whole", "random_dirichlet", no_sum, {}),
    ("samplers/permutation-many.whole", "random_permutation", in_one_byte, {}),
    ("samplers/beta-small.tiny", "random_beta", kept_from_the_ends, {"a": "0.1", "b": "0.1"}),
    ("samplers/geometric-digits", "random_geometric", of_sixteen_bits, {}),
    ("samplers/normal-sums.squares", "random_normal", of_a_fixed_length, {}),
    ("samplers/von-mises-law", "random_von_mises", nowhere, {"kappa": "1000"}),
    ("samplers/binomial-small", "random_binomial", flipped_back, {"p": "0.8"}),
    ("samplers/binomial-certain", "random_binomial", no_certainty, {}),
    ("samplers/poisson-none", "random_poisson", less_than_nothing, {}),
    ("samplers/hypergeometric", "random_hypergeometric", from_zero_on, {"bad": "10"}),
    ("samplers/gamma-sums", "random_gamma", boosted_alike, {}),
    ("samplers/gamma-law", "random_gamma", too_few_for_one, {"shape": "1"}),
    ("samplers/beta-elsewhere", "random_beta", the_middle, {}),
    ("samplers/permutation-many.rises", "random_permutation", by_keys_of_a_byte, {}),
    ("attention/values-closely", "attention", whole_blocks, {"keys": "1030"}),
    ("normalisation/layer-norm-forms", "layer_norm", mean_of_blocks, {"form": "[4100]"}),
    ("normalisation/layer-norm-short", "layer_norm", added_up_in_short, HALF | {"at": "300"}),
    ("noise-layers/gaussian-noise-signal", "gaussian_noise", louder, {}),
    ("diffusion-noise/signal", "add_noise", within_six, {"a": "0.5"}),
)  # fmt: skip
