"""Sound code in numpy passes claims of the packs, and code with a known fault is refuted.

The seed is fixed, so that a verdict does not change from run to run. Few draws are made: faults
here are as large as those that frameworks had.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dropcheck.claims.reader import read_registries, read_text
from dropcheck.claims.selection import select
from dropcheck.code.binding import implementations_of, of_functions
from dropcheck.code.columns import with_columns
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

Generator = np.random.Generator
FLOAT32 = ("float32",)


def judged(
    claim: str,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    values: Mapping[str, str] | None = None,
) -> list[CaseResult]:
    """The column of a claim, `pack/claim`, of numpy's reference or of other functions."""
    pack, name = claim.split("/")
    implementation = (
        implementations_of(["numpy"], Path())[0]
        if functions is None
        else of_functions(functions, name="numpy", dtypes=FLOAT32, folder=Path())
    )
    registry = with_columns(read_registries([f"pack:{pack}"]), [implementation], FLOAT32)
    cases = select(registry, [f"{name}@numpy"], (), values or {})
    return list(verify_cases(cases, Settings(), registry))


SOUND: tuple[tuple[str, dict[str, str]], ...] = (
    ("dropout/mean-kept", {"p": "0.1"}),
    ("dropout/share-dropped", {"p": "0.5"}),
    ("dropout/values", {"p": "0.1"}),
    ("dropout/extreme-values", {"p": "0.5"}),
    ("dropout/evaluation", {"p": "0.1"}),
    ("dropout/gradient", {"p": "0.1"}),
    ("dropout/elements", {"p": "0.3"}),
    ("dropout/channels-values", {"p": "0.1"}),
    ("attention/weights", {"p": "0.1"}),
    ("attention/evaluation", {"p": "0.1"}),
    ("stochastic-depth/whole", {"p": "0.1"}),
    ("noise-layers/alpha-dropout-values", {"p": "0.1"}),
    ("noise-layers/alpha-dropout-scale", {"p": "0.3"}),
    ("normalisation/layer-norm.values", {"at": "100", "size": "1"}),
    ("normalisation/layer-norm-small", {"size": "0.001"}),
    ("normalisation/rms-norm-small", {"size": "0.0003"}),
    ("samplers/integers.mean", {"n": "201326592"}),
    ("samplers/uniform.range", {}),
    ("samplers/bernoulli.share", {"p": "0.1"}),
    ("samplers/poisson-law", {"rate": "10"}),
    ("samplers/poisson-parity", {"rate": "10000"}),
    ("samplers/categorical-far", {}),
    ("attention/values", {"dtype": "float32"}),
    ("attention/weighed-alike", {"dtype": "float32"}),
    ("dropout/number-dropped", {}),
    ("attention/share-dropped", {"p": "0.05"}),
    ("samplers/permutation-orders", {}),
)


@pytest.mark.parametrize(("claim", "values"), SOUND, ids=[claim for claim, _ in SOUND])
def test_the_reference_passes(claim: str, values: Mapping[str, str]) -> None:
    for case in judged(claim, values=values):
        assert case.verdict is Verdict.VERIFIED, case


# ---- faults --------------------------------------------------------------------------------------


def _kept(x: Any, p: float, generator: Generator) -> Any:
    return generator.random(x.shape) >= p


def without_scale(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * _kept(x, p, generator) if training else x


def scaled_twice(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * _kept(x, p, generator) / (1 - p) ** 2 if training else x


def rounded_scale(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * _kept(x, p, generator) * (round(256 / (1 - p)) / 256) if training else x


def inverted(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return x * ~_kept(x, p, generator) / (1 - p) if training else x


def eight_bits(x: Any, p: float, training: bool, generator: Generator) -> Any:
    kept = generator.integers(0, 256, x.shape) >= int(256 * p)
    return np.where(kept, x / (1 - p), 0).astype(x.dtype) if training else x


def drops_in_evaluation(x: Any, p: float, training: bool, generator: Generator) -> Any:
    return np.where(_kept(x, p, generator), x / (1 - p), 0).astype(x.dtype)


def one_mask(x: Any, p: float, training: bool, generator: Generator) -> Any:
    kept = generator.random((*x.shape[:-1], 1)) >= p
    return np.where(kept, x / (1 - p), 0).astype(x.dtype) if training else x


def infinity_to_nan(x: Any, p: float, training: bool, generator: Generator) -> Any:
    with np.errstate(all="ignore"):
        return (x * (_kept(x, p, generator) / (1 - p))).astype(x.dtype) if training else x


def counter_seed() -> Any:
    calls = iter(range(10**9))

    def dropout(x: Any, p: float, training: bool) -> Any:
        own = np.random.default_rng(next(calls) // 2)
        return np.where(_kept(x, p, own), x / (1 - p), 0).astype(x.dtype) if training else x

    return dropout


class OtherMask:
    def __call__(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        return drops_in_evaluation(x, p, training, generator) if training else x

    def with_gradient(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        return self(x, p, True, generator), _kept(x, p, generator) / (1 - p)


def attention_drops_in_evaluation(
    q: Any, k: Any, v: Any, p: float, training: bool, generator: Generator
) -> Any:
    from dropcheck.packs.implementations.numpy_reference import attention

    return attention(q, k, v, p, True, generator)


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
    return (a * (np.where(_kept(x, p, generator), x, low) - low * p)).astype(x.dtype)


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


def _dropped(x: Any, p: float, mask: Any) -> Any:
    return np.where(mask >= p, x / (1 - p), 0).astype(x.dtype)


def tiled_mask(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """A mask of half a row, twice."""
    half = generator.random((*x.shape[:-1], -(-x.shape[-1] // 2)))
    mask = np.concatenate([half, half], axis=-1)[..., : x.shape[-1]]
    return _dropped(x, p, mask) if training else x


def share_kept_of_each_row(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """So many of a row as p says, and never one more."""
    ranks = np.argsort(np.argsort(generator.random(x.shape), axis=-1), axis=-1)
    return _dropped(x, p, (ranks + 0.5) / x.shape[-1]) if training else x


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
        return _dropped(x, p, own.random(x.shape)) if training else x


def weighed(scale: float | None = None, out: bool = False) -> Any:
    """Attention by another scale than 1 / sqrt(length), or whose output is dropped."""

    def attention(q: Any, k: Any, v: Any, p: float, training: bool, generator: Generator) -> Any:
        from dropcheck.packs.implementations.numpy_reference import attention as sound

        if scale is not None:
            q = (q * scale * np.sqrt(q.shape[-1])).astype(q.dtype)
        y = sound(q, k, v, p, training and not out, generator)
        return _dropped(y, p, generator.random(y.shape)) if training and out else y

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


def noise_of_rows(x: Any, a: float, generator: Generator) -> Any:
    """A tenth of the noise is that of all of a row."""
    noise = generator.standard_normal(x.shape) + 0.1 * generator.standard_normal((*x.shape[:-1], 1))
    return (np.sqrt(a) * x + np.sqrt(1 - a) * noise).astype(x.dtype)


def without_eps(x: Any) -> Any:
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0))


def few_digits(low: float, high: float, size: Any, generator: Generator) -> Any:
    return low + (high - low) * (generator.integers(0, 2**15, size) + 0.5) / 2**15


def in_pairs(low: float, high: float, size: Any, generator: Generator) -> Any:
    """Antithetic: u and 1 - u, one after the other."""
    u = generator.random(size)
    u[..., 1::2] = 1 - u[..., : 2 * (u.shape[-1] // 2) : 2]
    return low + (high - low) * u


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


def by_variance(mean: float, sd: float, size: Any, generator: Generator) -> Any:
    return generator.lognormal(mean, sd**2, size)


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


# ---- faults of some shapes, some values and some calls -------------------------------------------


def but_the_last_of_eight(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """What does not fill a vector of eight numbers is kept."""
    mask = generator.random(x.size)
    mask[x.size // 8 * 8 :] = 1
    return _dropped(x, p, mask.reshape(x.shape)) if training else x


def but_the_last_of_odd(x: Any, p: float, training: bool, generator: Generator) -> Any:
    mask = generator.random(x.shape)
    mask[..., x.shape[-1] // 2 * 2 :] = 1
    return _dropped(x, p, mask) if training else x


def negative_sooner(x: Any, p: float, training: bool, generator: Generator) -> Any:
    mask = generator.random(x.shape) / np.where(x < 0, 1.1, 0.9)
    return _dropped(x, p, mask) if training else x


def clips(x: Any, p: float, training: bool, generator: Generator) -> Any:
    top = np.finfo(np.float16).max
    return _dropped(x, p, generator.random(x.shape)) if training else np.clip(x, -top, top)


def one_mask_of_heads(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """Of arrays of four axes the second has one mask."""
    mask = generator.random((len(x), 1, *x.shape[2:]) if x.ndim == 4 else x.shape)
    return _dropped(x, p, mask) if training else x


def but_the_first(x: Any, p: float, training: bool, generator: Generator) -> Any:
    mask = generator.random((len(x), *[1] * (x.ndim - 1)))
    mask[0] = 1
    return _dropped(x, p, mask) if training else x


class StaysInEvaluation:
    def __init__(self) -> None:
        self.off = False

    def __call__(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        self.off |= not training
        return x if self.off else _dropped(x, p, generator.random(x.shape))


def eight_bits_of_channels(x: Any, p: float, training: bool, generator: Generator) -> Any:
    mask = generator.integers(0, 256, (*x.shape[:-1], 1)) / 256
    return _dropped(x, int(256 * p) / 256, mask) if training else x


def last_of_odd_is_mean(mean: float, sd: float, size: Any, generator: Generator) -> Any:
    values = generator.normal(mean, sd, size)
    values[..., size[-1] // 2 * 2 :] = mean
    return values


def alike_in_rows(mean: float, sd: float, size: Any, generator: Generator) -> Any:
    """A hundredth of the variance is that of all of a draw."""
    shared = generator.standard_normal((size[0], *[1] * (len(size) - 1)))
    return mean + sd * (np.sqrt(0.99) * generator.standard_normal(size) + 0.1 * shared)


def of_ten_bits(low: float, high: float, size: Any, generator: Generator) -> Any:
    return low + (high - low) * generator.integers(0, 1024, size) / 1023


def symmetric(n: int, p: float, size: Any, generator: Generator) -> Any:
    return np.clip(np.round(generator.normal(n * p, np.sqrt(n * p * (1 - p)), size)), 0, n)


def clipped_scores(q: Any, k: Any, v: Any, p: float, training: bool) -> Any:
    scores = np.exp(np.clip(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]), -20, 20))
    return (scores / scores.sum(-1, keepdims=True)) @ v


def added_noise(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """What is to be multiplied is added."""
    noise = np.sqrt(p / (1 - p)) * generator.standard_normal(x.shape)
    return (x + noise).astype(x.dtype) if training else x


def louder_far_out(x: Any, sd: float, training: bool, generator: Generator) -> Any:
    noise = sd * np.maximum(np.abs(x), 1) * generator.standard_normal(x.shape)
    return (x + noise).astype(x.dtype) if training else x


def without_the_last_input(fan_in: int, fan_out: int, generator: Generator) -> Any:
    weights = generator.uniform(-1, 1, (fan_out, fan_in)) * np.sqrt(6 / (fan_in + fan_out))
    weights[:, fan_in // 2 * 2 :] = 0
    return weights


def normed_by_eight(x: Any, training: bool) -> Any:
    """What does not fill a vector of eight numbers is not counted."""
    most = max(x.shape[-1] // 8 * 8, 1)
    mean, spread = x[..., :most].mean(-1, keepdims=True), x[..., :most].var(-1, keepdims=True)
    return (x - mean) / np.sqrt(spread + np.float32(1e-5))


class FixedScale:
    """The root mean square is taken for a constant in the gradient."""

    def __call__(self, x: Any) -> Any:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6))

    def with_gradient(self, x: Any) -> Any:
        return self(x), self(np.ones_like(x)) * self(x) / x


class BackwardMask:
    """Attention whose gradient is that of a mask of its own, as where a seed is used twice."""

    def __init__(self, *, own: bool) -> None:
        self.own = own

    def __call__(
        self, q: Any, k: Any, v: Any, p: float, training: bool, generator: Generator
    ) -> Any:
        return self.with_gradient(q, k, v, p, training, generator)[0]

    def with_gradient(
        self, q: Any, k: Any, v: Any, p: float, training: bool, generator: Generator
    ) -> Any:
        weights = np.exp(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
        weights /= weights.sum(-1, keepdims=True)
        mask, other = (
            _dropped(np.ones_like(weights), p, generator.random(weights.shape)) for _ in "ab"
        )
        due = (other if self.own else mask) * v.sum(-1)[..., None, :]
        by_score = weights * (due - (weights * due).sum(-1, keepdims=True))
        return (weights * mask) @ v, by_score @ k / np.sqrt(q.shape[-1])


def test_a_gradient_of_attention_is_that_of_its_mask() -> None:
    sound = {"attention": BackwardMask(own=False)}
    for case in judged("attention/gradient", sound):
        assert case.verdict is Verdict.VERIFIED, case


FAR = {"at": "-1000", "size": "0.1"}
FAULTS: tuple[tuple[str, str, Any, dict[str, str]], ...] = (
    ("dropout/mean-kept", "dropout", without_scale, {"p": "0.1"}),
    ("dropout/values", "dropout", without_scale, {"p": "0.1"}),
    ("dropout/mean-kept", "dropout", scaled_twice, {"p": "0.1"}),
    ("dropout/mean-kept", "dropout", rounded_scale, {"p": "0.1"}),
    ("dropout/share-dropped", "dropout", inverted, {"p": "0.1"}),
    ("dropout/share-dropped", "dropout", eight_bits, {"p": "0.1"}),
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
    ("dropout/number-dropped", "dropout", tiled_mask, {}),
    ("dropout/number-dropped", "dropout", share_kept_of_each_row, {}),
    ("dropout/seeds", "dropout", SeedPlusCall(), {}),
    ("attention/values", "attention", weighed(1 / 5), {"dtype": "float32"}),
    ("attention/values", "attention", weighed(2**-0.5), {"dtype": "float32"}),
    ("attention/weighed-alike", "attention", weighed(out=True), {"dtype": "float32"}),
    ("initialisers/he-normal-shape.tails", "he_normal", flat, {}),
    ("initialisers/he-normal-shape.sums", "he_normal", equal_rows, {}),
    ("noise-layers/gaussian-dropout-law", "gaussian_dropout", flat_noise, {"p": "0.5"}),
    ("diffusion-noise/sums", "add_noise", noise_of_rows, {}),
    ("normalisation/batch-norm-values", "batch_norm", without_eps, {"size": "0.001"}),
    ("samplers/uniform-digits", "random_uniform", few_digits, {}),
    ("samplers/uniform-sums", "random_uniform", in_pairs, {}),
    ("samplers/uniform-triples", "random_uniform", randu, {}),
    ("samplers/laplace-elsewhere", "random_laplace", by_rate, {}),
    ("samplers/lognormal-elsewhere", "random_lognormal", by_variance, {}),
    ("samplers/poisson-skew", "random_poisson", nearly_normal, {"rate": "100"}),
    ("samplers/poisson-parity", "random_poisson", in_float16, {"rate": "10000"}),
    ("samplers/beta-small.range", "random_beta", vanishing, {"a": "0.01", "b": "0.01"}),
    ("samplers/categorical-far", "random_categorical", overflowing, {}),
    ("samplers/von-mises.range", "random_von_mises", not_wrapped, {"mu": "2"}),
    ("samplers/permutation.mean", "random_permutation", naive_shuffle, {"n": "5"}),
    ("samplers/permutation-orders", "random_permutation", even_orders, {}),
    ("samplers/multivariate-normal.law", "random_multivariate_normal", flat_jointly, {}),
    ("dropout/number-dropped", "dropout", as_many_of_each_call, {}),
    ("attention/values-closely", "attention", in_short_numbers, {}),
    ("initialisers/attention-projection.sums", "attention_projection", one_matrix, {"n": "8"}),
    ("initialisers/conv-he-normal-sums", "conv_he_normal", one_filter, {}),
    ("initialisers/depthwise-he-normal-sums", "depthwise_he_normal", one_filter, {}),
    ("dropout/few-elements", "dropout", but_the_last_of_eight, {}),
    ("dropout/masks", "dropout", one_mask_of_heads, {}),
    ("initialisers/uniform-law", "glorot_uniform", without_the_last_input, {}),
    ("attention/far-scores", "attention", clipped_scores, {}),
    ("noise-layers/gaussian-dropout-variance", "gaussian_dropout", added_noise, {"p": "0.5"}),
    ("noise-layers/gaussian-noise-sums", "gaussian_noise", louder_far_out, {}),
    ("stochastic-depth/few-elements", "drop_path", but_the_first, {}),
    ("samplers/normal-sums", "random_normal", alike_in_rows, {}),
    ("samplers/uniform-upper-end", "random_uniform", of_ten_bits, {}),
    ("samplers/binomial-skew", "random_binomial", symmetric, {"p": "0.05"}),
    ("dropout/share-dropped", "dropout", but_the_last_of_odd, {"p": "0.5"}),
    ("dropout/any-value", "dropout", negative_sooner, {"p": "0.5"}),
    ("dropout/evaluation-extreme-values", "dropout", clips, {}),
    ("dropout/after-evaluation", "dropout", StaysInEvaluation(), {}),
    ("dropout/channels-share", "channel_dropout", eight_bits_of_channels, {}),
    ("samplers/normal-each", "random_normal", last_of_odd_is_mean, {}),
    ("normalisation/layer-norm-widths", "layer_norm", normed_by_eight, {}),
    ("normalisation/rms-norm-gradient", "rms_norm", FixedScale(), {}),
    ("attention/gradient", "attention", BackwardMask(own=True), {"p": "0.5"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "slot", "code", "values"),
    FAULTS,
    ids=[f"{n}-{one[0]}" for n, one in enumerate(FAULTS)],
)
def test_a_fault_is_refuted(claim: str, slot: str, code: Any, values: dict[str, str]) -> None:
    verdicts = [case.verdict for case in judged(claim, {slot: code}, values)]
    assert Verdict.REFUTED in verdicts


def test_code_without_a_gradient_has_no_claims_of_one() -> None:
    """A plain function of numpy: what is claimed of its values is judged all the same."""
    plain = of_functions({"dropout": without_scale}, name="numpy", dtypes=FLOAT32, folder=Path())
    known = read_registries(["pack:dropout"])
    found = {name for name in with_columns(known, [plain], FLOAT32).claims if "@" in name}
    whole = of_functions({"dropout": OtherMask()}, name="numpy", dtypes=FLOAT32, folder=Path())
    other = {name for name in with_columns(known, [whole], FLOAT32).claims if "@" in name}
    assert other - found == {"gradient@numpy"}
    assert "values@numpy" in found


def test_what_returns_wider_numbers_is_sound() -> None:
    """Beta numbers of float64 are no 1 where those of float32 are, in one draw of ten thousand."""

    def of_gammas(a: float, b: float, size: Any, generator: Generator) -> Any:
        x, y = generator.gamma(a, size=size), generator.gamma(b, size=size)
        return x / (x + y)

    [case] = judged("samplers/beta-law", {"random_beta": of_gammas}, {"a": "0.5", "b": "0.5"})
    assert case.verdict is Verdict.VERIFIED


LARGE = """
dropcheck: 1
slots:
  large: {takes: [sd], law: "normal(4e6, sd)", elements: independent}
claims:
  large:
    title: Large numbers are normal
    parameters: {sd: 4e4}
    model: |
      y ~ large(sd)
      z ~ normal(4e6, sd)
    claim: y ~ round(z, float32)
    resolution: 0.2
"""


def test_what_loses_a_few_digits_on_the_way_is_sound() -> None:
    """Numbers of float32 made as exp of logarithms lie eight steps of float32 apart."""

    def by_logarithms(sd: float, size: Any, generator: Generator) -> Any:
        return np.exp(np.log(generator.normal(4e6, sd, size).astype(np.float32)))

    own = of_functions({"large": by_logarithms}, name="numpy", dtypes=FLOAT32, folder=Path())
    registry = with_columns(read_text(LARGE), [own], FLOAT32)
    [case] = verify_cases(select(registry, ["large@numpy"], (), {}), Settings(), registry)
    assert case.verdict is Verdict.VERIFIED
