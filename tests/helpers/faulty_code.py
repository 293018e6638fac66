"""Code in numpy with faults that frameworks had, and the claims of packs that find them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Generator = np.random.Generator
Fault = tuple[str, str, Any, dict[str, str]]
"""A claim, `pack/claim`, the slot, the code, and values of parameters."""


def kept(x: Any, p: float, generator: Generator) -> Any:
    return generator.random(x.shape) >= p


def without_scale(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * kept(x, p, generator) if training else x


def scaled_twice(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * kept(x, p, generator) / (1 - p) ** 2 if training else x


def rounded_scale(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * kept(x, p, generator) * (round(256 / (1 - p)) / 256) if training else x


def inverted(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * ~kept(x, p, generator) / (1 - p) if training else x


def eight_bits(x: Any, p: float, training: bool, generator: Generator) -> Any:
    kept = generator.integers(0, 256, x.shape) >= int(256 * p)
    return np.where(kept, x / (1 - p), 0).astype(x.dtype) if training else x


def drops_in_evaluation(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return np.where(kept(x, p, generator), x / (1 - p), 0).astype(x.dtype)


def one_mask(x: Any, p: float, training: bool, generator: Generator) -> Any:
    kept = generator.random((*x.shape[:-1], 1)) >= p
    return np.where(kept, x / (1 - p), 0).astype(x.dtype) if training else x


def infinity_to_nan(x: Any, p: float, training: bool, generator: Generator) -> Any:
    with np.errstate(all="ignore"):
        return (x * (kept(x, p, generator) / (1 - p))).astype(x.dtype) if training else x


def seeded_anew(x: Any, p: float, training: bool) -> Any:
    """The same mask in each call."""
    return dropped(x, p, np.random.default_rng(42).random(x.shape)) if training else x


class OtherMask:
    def __call__(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        return drops_in_evaluation(x, p, training, generator) if training else x

    def with_gradient(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        return self(x, p, True, generator), kept(x, p, generator) / (1 - p)


def attention_drops_in_evaluation(
    q: Any, k: Any, v: Any, p: float, training: bool, generator: Generator
) -> Any:
    from reference_code import REFERENCE

    return REFERENCE["attention"](q, k, v, p, True, generator)


def naive_layer_norm(x: Any, training: bool) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = (x * x).mean(-1, keepdims=True) - mean * mean
    return (x - mean) / np.sqrt(np.maximum(variance, 0) + np.float32(1e-5))


def other_eps(x: Any, training: bool) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-6))


def constant_off(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """Alpha dropout whose factor is rounded to eight bits, as bfloat16 has it."""
    if not training:
        return x
    low = -1.7580993408473766
    a = round(256 / np.sqrt((1 - p) * (1 + p * low**2))) / 256
    return (a * (np.where(kept(x, p, generator), x, low) - low * p)).astype(x.dtype)


def remainder(n: int, size: Any, generator: Generator) -> Any:
    """Biased: 2³² is no multiple of n."""
    return generator.integers(0, 2**28, size) % n


def half_open_ends(low: float, high: float, size: Any, generator: Generator) -> Any:
    return low + (high - low) * generator.integers(0, 512, size) / 512


def cut_off(mean: float, sd: float, size: Any, generator: Generator) -> Any:
    values = generator.normal(mean, sd, size)
    return np.clip(values, mean - 3 * sd, mean + 3 * sd)


def leaks(low: float, high: float, size: Any, generator: Generator) -> Any:
    """Four in a million are outside."""
    values = np.clip(generator.standard_normal(size), low, high)
    return np.where(generator.random(size) < 4e-6, high + 0.1, values)


# ---- faults that mean, variance and range do not show --------------------------------------------


def dropped(x: Any, p: float, mask: Any) -> Any:
    return np.where(mask >= p, x / (1 - p), 0).astype(x.dtype)


def tiled_mask(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """A mask of half a row, twice."""
    half = generator.random((*x.shape[:-1], -(-x.shape[-1] // 2)))
    mask = np.concatenate([half, half], axis=-1)[..., : x.shape[-1]]
    return dropped(x, p, mask) if training else x


def share_kept_of_each_row(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """So many of a row as p says, and never one more."""
    ranks = np.argsort(np.argsort(generator.random(x.shape), axis=-1), axis=-1)
    return dropped(x, p, (ranks + 0.5) / x.shape[-1]) if training else x


class SeedPlusCall:
    """Seeds call c of seed s by s + c: the second call of a worker is the first of the next."""

    def __init__(self) -> None:
        self.seed = 0
        self.call = 0

    def __call__(self, x: Any, p: float, training: bool) -> Any:
        state = int(np.random.get_state()[1][0])  # type: ignore[index]  # a tuple, by default
        self.call = self.call + 1 if state == self.seed else 0
        self.seed = state
        own = np.random.default_rng(state + self.call)
        return dropped(x, p, own.random(x.shape)) if training else x


def weighed(scale: float | None = None, out: bool = False) -> Any:
    """Attention by another scale than 1 / sqrt(length), or whose output is dropped."""

    def attention(q: Any, k: Any, v: Any, p: float, training: bool, generator: Generator) -> Any:
        from reference_code import REFERENCE

        if scale is not None:
            q = (q * scale * np.sqrt(q.shape[-1])).astype(q.dtype)
        y = REFERENCE["attention"](q, k, v, p, training and not out, generator)
        return dropped(y, p, generator.random(y.shape)) if training and out else y

    return attention


def flat(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Any:
    end = np.sqrt(6 / fan_in)
    return generator.uniform(-end, end, (fan_out, fan_in)).astype(dtype)


def equal_rows(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Any:
    row = generator.normal(0, np.sqrt(2 / fan_in), (1, fan_in))
    return np.repeat(row, fan_out, axis=0).astype(dtype)


def flat_noise(x: Any, p: float, training: bool, generator: Generator) -> Any:
    spread = np.sqrt(12 * p / (1 - p)) * (generator.random(x.shape) - 0.5)
    return (x * (1 + spread)).astype(x.dtype) if training else x


def without_eps(x: Any) -> Any:
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0))


def few_digits(low: float, high: float, size: Any, generator: Generator) -> Any:
    return low + (high - low) * (generator.integers(0, 2**15, size) + 0.5) / 2**15


def randu(low: float, high: float, size: Any, generator: Generator) -> Any:
    """IBM's generator, whose triples lie on 15 planes (Marsaglia 1968): 65539 times the last."""
    powers = np.array([pow(65539, n, 2**31) for n in range(1, 1025)])
    count, last, found = math.prod(size), 2 * int(generator.integers(2**30)) + 1, []
    for _ in range(-(-count // 1024)):
        found.append(powers * last % 2**31)
        last = int(found[-1][-1])
    return low + (high - low) * (np.concatenate(found)[:count] / 2**31).reshape(size)


def by_rate(loc: float, scale: float, size: Any, generator: Generator) -> Any:
    return generator.laplace(loc, 1 / scale, size)


def nearly_normal(rate: float, size: Any, generator: Generator) -> Any:
    if rate < 50:
        return generator.poisson(rate, size)
    return np.maximum(np.round(generator.normal(rate, np.sqrt(rate), size)), 0)


def in_float16(rate: float, size: Any, generator: Generator) -> Any:
    return np.minimum(generator.poisson(rate, size), 60_000).astype(np.float16)


def vanishing(a: float, b: float, size: Any, generator: Generator) -> Any:
    """0 / 0 where both gamma numbers are too small."""
    x, y = (generator.gamma(c, size=size).astype(np.float32) for c in (a, b))
    with np.errstate(all="ignore"):
        return x / (x + y)


def overflowing(logits: Any, size: Any, generator: Generator) -> Any:
    with np.errstate(all="ignore"):
        steps = np.cumsum(np.exp(logits.astype(np.float32)))
        return np.searchsorted(steps[:-1] / steps[-1], generator.random(size))


def not_wrapped(mu: float, kappa: float, size: Any, generator: Generator) -> Any:
    return mu + generator.vonmises(0, kappa, size)


def naive_shuffle(n: int, generator: Generator) -> Any:
    """Each place changes with any other, of n to the power n equally likely ways."""
    order = np.arange(n)
    for place in range(n):
        other = generator.integers(0, n)
        order[place], order[other] = order[other], order[place]
    return order


def even_orders(n: int, generator: Generator) -> Any:
    order = generator.permutation(n)
    if np.linalg.det(np.eye(n)[order]) < 0:
        order[[0, 1]] = order[[1, 0]]
    return order


def as_many_of_each_call(x: Any, p: float, training: bool, generator: Generator) -> Any:
    if not training:
        return x
    ranks = generator.permutation(x.size).reshape(x.shape)
    return np.where(ranks >= round(p * x.size), x / (1 - p), 0).astype(x.dtype)


def in_short_numbers(q: Any, k: Any, v: Any, p: float, training: bool) -> Any:
    scores = (q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])).astype(np.float16)
    weights = np.exp(scores)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32) @ v


def one_matrix(n: int, generator: Generator) -> Any:
    return np.tile(generator.uniform(-1, 1, (n, n)) * np.sqrt(3 / n), (3, 1))


def one_filter(*sizes: int, generator: Generator) -> Any:
    *inputs, outputs, size = sizes if len(sizes) == 3 else (sizes[0], sizes[1])
    shape = (1, *(inputs or [1]), size, size)
    filters = generator.normal(0, np.sqrt(2 / np.prod(shape)), shape)
    return np.repeat(filters, outputs, axis=0)


def flat_jointly(mean: Any, cov: Any, generator: Generator) -> Any:
    return mean + np.linalg.cholesky(cov) @ generator.uniform(-np.sqrt(3), np.sqrt(3), len(mean))


ROWS = {"form": "[2, 64]"}
FAR = {"at": "-1000", "size": "0.1"}
FAULTS: tuple[Fault, ...] = (
    ("dropout/mean-kept", "dropout", without_scale, {"p": "0.1"}),
    ("dropout/mean-kept", "dropout", scaled_twice, {"p": "0.1"}),
    ("dropout/mean-kept", "dropout", rounded_scale, {"p": "0.1"}),
    ("dropout/share-dropped", "dropout", inverted, {"p": "0.1"}),
    ("dropout/small-share-dropped", "dropout", eight_bits, {"p": "0.001"}),
    ("dropout/evaluation", "dropout", drops_in_evaluation, {"p": "0.001"}),
    ("dropout/elements", "dropout", one_mask, {"p": "0.3"}),
    ("dropout/extreme-values", "dropout", infinity_to_nan, {"p": "0.5"}),
    ("dropout/gradient", "dropout", OtherMask(), {"p": "0.1"}),
    ("attention/evaluation", "attention", attention_drops_in_evaluation, {"p": "0.001"}),
    ("normalisation/layer-norm.values", "layer_norm", naive_layer_norm, FAR),
    ("normalisation/layer-norm-small", "layer_norm", other_eps, {"size": "0.001"}),
    ("noise-layers/alpha-dropout-scale", "alpha_dropout", constant_off, {"p": "0.3"}),
    ("samplers/integers.first-third", "random_integers", remainder, {"n": "201326592"}),
    ("samplers/uniform-end", "random_uniform", half_open_ends, {}),
    ("samplers/normal.fourth-moment", "random_normal", cut_off, {}),
    ("samplers/normal-far", "random_normal", cut_off, {}),
    ("samplers/truncated-normal.range", "random_truncated_normal", leaks, {"low": "-2"}),
    ("dropout/number-dropped", "dropout", tiled_mask, ROWS),
    ("dropout/number-dropped", "dropout", share_kept_of_each_row, ROWS),
    ("dropout/seeds", "dropout", SeedPlusCall(), {}),
    ("attention/values", "attention", weighed(1 / 5), {"dtype": "float32"}),
    ("attention/values", "attention", weighed(2**-0.5), {"dtype": "float32"}),
    ("attention/weighed-alike", "attention", weighed(out=True), {"dtype": "float32"}),
    ("initialisers/he-normal-shape.tails", "he_normal", flat, {}),
    ("initialisers/he-normal-shape.sums", "he_normal", equal_rows, {}),
    ("noise-layers/gaussian-dropout-law", "gaussian_dropout", flat_noise, {"p": "0.5"}),
    ("normalisation/batch-norm-values", "batch_norm", without_eps, {"size": "0.001"}),
    ("samplers/uniform-digits", "random_uniform", few_digits, {}),
    ("samplers/uniform-triples", "random_uniform", randu, {}),
    ("samplers/laplace-elsewhere", "random_laplace", by_rate, {}),
    ("samplers/poisson-skew", "random_poisson", nearly_normal, {"rate": "100"}),
    ("samplers/poisson-parity", "random_poisson", in_float16, {"rate": "10000"}),
    ("samplers/beta-small.range", "random_beta", vanishing, {"a": "0.01", "b": "0.01"}),
    ("samplers/categorical-far", "random_categorical", overflowing, {}),
    ("samplers/von-mises.range", "random_von_mises", not_wrapped, {"mu": "2"}),
    ("samplers/permutation.mean", "random_permutation", naive_shuffle, {"n": "5"}),
    ("samplers/permutation-orders", "random_permutation", even_orders, {}),
    ("samplers/multivariate-normal.law", "random_multivariate_normal", flat_jointly, {}),
    ("dropout/number-dropped", "dropout", as_many_of_each_call, ROWS),
    ("attention/values-closely", "attention", in_short_numbers, {}),
    ("initialisers/attention-projection.sums", "attention_projection", one_matrix, {"n": "8"}),
    ("initialisers/conv-he-normal-shape.sums", "conv_he_normal", one_filter, {}),
    ("initialisers/depthwise-he-normal-shape.sums", "depthwise_he_normal", one_filter, {}),
)  # fmt: skip
