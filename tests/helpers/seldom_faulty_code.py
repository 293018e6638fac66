"""Code in numpy that is at fault for some shapes, some values and some calls alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from faulty_code import Fault, dropped
from scipy import special

Generator = np.random.Generator


def but_the_last_of_eight(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """What does not fill a vector of eight numbers is kept."""
    mask = generator.random(x.size)
    mask[x.size // 8 * 8 :] = 1
    return dropped(x, p, mask.reshape(x.shape)) if training else x


def but_the_last_of_odd(x: Any, p: float, training: bool, generator: Generator) -> Any:
    mask = generator.random(x.shape)
    mask[..., x.shape[-1] // 2 * 2 :] = 1
    return dropped(x, p, mask) if training else x


def negative_sooner(x: Any, p: float, training: bool, generator: Generator) -> Any:
    mask = generator.random(x.shape) / np.where(x < 0, 1.1, 0.9)
    return dropped(x, p, mask) if training else x


def clips(x: Any, p: float, training: bool, generator: Generator) -> Any:
    top = np.finfo(np.float16).max
    return dropped(x, p, generator.random(x.shape)) if training else np.clip(x, -top, top)


def one_mask_of_heads(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """Of arrays of four axes the second has one mask."""
    mask = generator.random((len(x), 1, *x.shape[2:]) if x.ndim == 4 else x.shape)
    return dropped(x, p, mask) if training else x


def but_the_first(x: Any, p: float, training: bool, generator: Generator) -> Any:
    mask = generator.random((len(x), *[1] * (x.ndim - 1)))
    mask[0] = 1
    return dropped(x, p, mask) if training else x


class StaysInEvaluation:
    def __init__(self) -> None:
        self.off = False

    def __call__(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        self.off |= not training
        return x if self.off else dropped(x, p, generator.random(x.shape))


def eight_bits_of_channels(x: Any, p: float, training: bool, generator: Generator) -> Any:
    mask = generator.integers(0, 256, (*x.shape[:-1], 1)) / 256
    return dropped(x, int(256 * p) / 256, mask) if training else x


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


def now_more_now_less(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """One call drops 0.53 and another 0.47: the number varies 1.5 times as much as it should."""
    share = p + 0.03 * generator.choice([-1, 1])
    return np.where(generator.random(x.shape) < share, 0, x / (1 - p)) if training else x


def but_one_row_of_five_hundred(x: Any) -> Any:
    """Where the first number is beyond 3.1 deviations, the row stays as it is."""
    found = x / np.sqrt((x.astype(float) ** 2).mean(-1, keepdims=True) + 1e-6)
    return np.where(abs(found[..., :1]) > 3.1, x, found).astype(x.dtype)


def of_twelve_bit_places(x: Any, p: float, training: bool, generator: Generator) -> Any:
    """What lies beyond 4,096 elements has the numbers of the first."""
    mask = np.resize(generator.random(min(x.size, 4096)), x.shape)
    return dropped(x, p, mask) if training else x


class GradientOfZeros:
    """Finds its mask where what it gave differs from what it was given: 0 is then not dropped."""

    def __call__(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        return dropped(x, p, generator.random(x.shape)) if training else x

    def with_gradient(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        y = self(x, p, training, generator)
        with np.errstate(invalid="ignore"):
            return y, np.where(x == y, 1, y / x)


def spread_over_a_call(low: float, high: float, size: Any, generator: Generator) -> Any:
    count = math.prod(size)
    u = (generator.permutation(count) + generator.random(count)) / count
    return low + (high - low) * u.reshape(size)


class Overlapping:
    """A call begins two numbers after the call before it, as where a counter grows too little."""

    seed = 0

    def __call__(self, low: float, high: float, size: Any) -> Any:
        state: Any = np.random.get_state()
        calls = 0 if state[2] == len(state[1]) else state[2] // 2
        self.seed = self.seed if calls else int(state[1][0])
        np.random.random()
        own = np.random.default_rng(self.seed)
        own.random(2 * calls)
        return own.uniform(low, high, size)


def kept_from_zero(loc: float, scale: float, size: Any, generator: Generator) -> Any:
    """Logarithms of numbers to which 1e-4 is added."""
    u = generator.random(size)
    return loc - scale * np.log(-np.log(u + 1e-4) + 1e-4)


def nearly_hypergeometric(good: int, bad: int, drawn: int, size: Any, generator: Generator) -> Any:
    """Of many drawn, a rounded normal number."""
    if drawn < 50:
        return generator.hypergeometric(good, bad, drawn, size)
    mean, every = drawn * good / (good + bad), good + bad
    spread = np.sqrt(mean * bad / every * (every - drawn) / (every - 1))
    return np.clip(np.round(generator.normal(mean, spread, size)), 0, min(good, drawn))


def of_256_weights(sd: float, n: int, generator: Generator) -> Any:
    """Picked from a table of eight bits."""
    places = (np.arange(256) + 0.5) / 256
    low = special.ndtr(-2.0)
    return sd * special.ndtri(low + (1 - 2 * low) * places)[generator.integers(0, 256, n)]


def one_less_rounded(p: float, size: Any, generator: Generator) -> Any:
    """The logarithm of 1 - p in float32, which has few digits of a tiny p left."""
    return np.ceil(np.log1p(-generator.random(size)) / np.log(np.float32(1) - np.float32(p)))


def nearly_exponential(p: float, size: Any, generator: Generator) -> Any:
    """For small p, an exponential number."""
    if p > 0.2:
        return generator.geometric(p, size)
    return np.floor(generator.exponential(1 / p, size)) + 1


def from_a_buffer(n: int, generator: Generator) -> Any:
    """The next of many is picked from the first hundred that are left."""
    left = list(range(n))
    return np.array([left.pop(generator.integers(min(100, len(left)))) for _ in range(n)])


def few_swaps(n: int, generator: Generator) -> Any:
    """As many pairs change places as there are numbers, and some numbers are in none."""
    order = np.arange(n)
    for one, other in generator.integers(0, n, (n, 2)):
        order[[one, other]] = order[[other, one]]
    return order


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
            dropped(np.ones_like(weights), p, generator.random(weights.shape)) for _ in "ab"
        )
        due = (other if self.own else mask) * v.sum(-1)[..., None, :]
        by_score = weights * (due - (weights * due).sum(-1, keepdims=True))
        return (weights * mask) @ v, by_score @ k / np.sqrt(q.shape[-1])


SHORT = {"dtype": "float16", "size": "1000", "width": "32"}
SELDOM: tuple[Fault, ...] = (
    ("dropout/few-elements", "dropout", but_the_last_of_eight, {}),
    ("dropout/masks", "dropout", one_mask_of_heads, {}),
    ("initialisers/uniform-law", "glorot_uniform", without_the_last_input, {}),
    ("attention/far-scores", "attention", clipped_scores, {}),
    ("noise-layers/gaussian-dropout-variance", "gaussian_dropout", added_noise, {"p": "0.5"}),
    ("noise-layers/gaussian-noise-sums", "gaussian_noise", louder_far_out, {"form": "[8, 32]"}),
    ("stochastic-depth/few-elements", "drop_path", but_the_first, {}),
    ("samplers/normal-sums.numbers", "random_normal", alike_in_rows, {}),
    ("samplers/uniform-upper-end", "random_uniform", of_ten_bits, {}),
    ("samplers/binomial-skew", "random_binomial", symmetric, {"p": "0.05"}),
    ("dropout/share-dropped", "dropout", but_the_last_of_odd, {"p": "0.5"}),
    ("dropout/any-value", "dropout", negative_sooner, {"p": "0.5"}),
    ("dropout/evaluation-extreme-values", "dropout", clips, {}),
    ("dropout/after-evaluation", "dropout", StaysInEvaluation(), {}),
    ("dropout/channels-share", "channel_dropout", eight_bits_of_channels, {}),
    ("samplers/normal-each", "random_normal", last_of_odd_is_mean, {}),
    ("normalisation/layer-norm-forms", "layer_norm", normed_by_eight, {}),
    ("normalisation/rms-norm-gradient", "rms_norm", FixedScale(), {}),
    ("attention/gradient", "attention", BackwardMask(own=True), {"p": "0.5"}),
    ("samplers/gumbel-far.below", "random_gumbel", kept_from_zero, {}),
    ("samplers/hypergeometric", "random_hypergeometric", nearly_hypergeometric, {"good": "30"}),
    ("dropout/gradient-of-zeros", "dropout", GradientOfZeros(), {}),
    ("samplers/uniform-sums", "random_uniform", spread_over_a_call, {}),
    ("samplers/uniform-seeds", "random_uniform", Overlapping(), {}),
    ("dropout/number-dropped", "dropout", now_more_now_less, {"form": "[2, 64]"}),
    ("normalisation/rms-norm-short", "rms_norm", but_one_row_of_five_hundred, SHORT),
    ("initialisers/truncated-shape.distinct", "truncated_normal_weights", of_256_weights, {}),
    ("samplers/geometric.mean", "random_geometric", one_less_rounded, {"p": "1e-6"}),
    ("samplers/permutation-many.first", "random_permutation", from_a_buffer, {}),
    ("samplers/permutation-many.fixed", "random_permutation", few_swaps, {}),
    ("samplers/geometric-law", "random_geometric", nearly_exponential, {"p": "0.1"}),
)  # fmt: skip
