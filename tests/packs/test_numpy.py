"""Sound code in numpy passes claims of the packs, and code with a known fault is refuted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from scipy import special
from slots_made import OfFunctions

from dropcheck.claims.reader import read_registries, read_text
from dropcheck.claims.registry import Registry
from dropcheck.claims.select import select
from dropcheck.code.slots import with_columns
from dropcheck.packs import pack_file
from dropcheck.packs.implementations.numpy_functions import FUNCTIONS as SAMPLERS
from dropcheck.packs.implementations.numpy_functions import _truncated
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

Array = Any  # a numpy array of the format that is asked for
Shape = tuple[int, ...]

SELU_LOW = -1.7580993408473766
"""The limit of SELU far below 0: minus its scale times its alpha (Klambauer et al., 2017)."""


# ---- layers --------------------------------------------------------------------------------------


class Multiplied:
    """A layer that multiplies by factors of its own, made of x, a number and a generator."""

    def __init__(self, factors: Callable[[Array, float, Generator], Array]) -> None:
        self._factors = factors

    def __call__(self, x: Array, number: float, training: bool, generator: Generator) -> Array:
        return self.with_gradient(x, number, training, generator)[0] if training else x

    def with_gradient(
        self, x: Array, number: float, training: bool, generator: Generator
    ) -> tuple[Array, Array]:
        """The output, and the gradient of its sum by x."""
        by = self._factors(x, number, generator).astype(x.dtype)
        return _times(x, by), np.broadcast_to(by, x.shape)


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


def _layer_norm(x: Array) -> Array:
    """The last axis scaled to mean 0 and variance 1."""
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=-1, keepdims=True)
    return (centred / np.sqrt(wide.var(axis=-1, keepdims=True) + 1e-5)).astype(x.dtype)


def _rms_norm(x: Array) -> Array:
    """The last axis divided by its root mean square."""
    wide = x.astype(np.float64)
    return (wide / np.sqrt((wide**2).mean(axis=-1, keepdims=True) + 1e-6)).astype(x.dtype)


# ---- initialisers --------------------------------------------------------------------------------


def _orthogonal(n: int, dtype: Any, generator: Generator) -> Array:
    """Q of a normal matrix, with signs such that R has a positive diagonal (Mezzadri, 2007)."""
    q, r = np.linalg.qr(generator.standard_normal((n, n)))
    return (q * np.sign(np.diagonal(r))).astype(dtype)


REFERENCE: Mapping[str, Callable[..., Array]] = {
    "dropout": Multiplied(lambda x, p, generator: _mask(x.shape, p, generator)),
    "channel_dropout": Multiplied(lambda x, p, generator: _mask((*x.shape[:-1], 1), p, generator)),
    "drop_path": Multiplied(
        lambda x, p, generator: _mask((len(x), *(1,) * (x.ndim - 1)), p, generator)
    ),
    "alpha_dropout": _alpha_dropout,
    "attention": _attention,
    "drop_block": _drop_block,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "truncated_normal_weights": lambda sd, n, dtype, generator: (
        sd * _truncated(-2.0, 2.0, (n,), generator)
    ).astype(dtype),
    "orthogonal": _orthogonal,
    **SAMPLERS,
}
"""By slot."""


# ---- code with faults that frameworks had, or that users reported --------------------------------


def dropped(x: Any, p: float, mask: Any) -> Any:
    return np.where(mask >= p, x / (1 - p), 0).astype(x.dtype)


def drops(mask: Callable[[Generator, Any], Any], in_use: Callable[[Any], Any] = lambda x: x) -> Any:
    """Dropout with a mask, made of the generator and x; and what it does in evaluation."""

    def layer(x: Any, p: float, training: bool, generator: Generator) -> Any:
        return dropped(x, p, mask(generator, x)) if training else in_use(x)

    return layer


def noisy(drawn: Callable[[Generator, Any, float], Any]) -> Any:
    """A layer that draws in training, of the generator, x and a number."""

    def layer(x: Any, number: float, training: bool, generator: Generator) -> Any:
        return drawn(generator, x, number).astype(x.dtype) if training else x

    layer.__annotations__.clear()
    return layer


def weights_of(drawn: Callable[[Generator, int, int], Any]) -> Any:
    """Weights, of the generator and both fans."""

    def made(fan_in: int, fan_out: int, dtype: Any, generator: Generator) -> Any:
        return drawn(generator, fan_in, fan_out).astype(dtype)

    return made


def but(x: Any, at: Any, value: Any) -> Any:
    """The array with another value at some places."""
    x[at] = value
    return x


def first_rows(x: Any, *axes: int) -> tuple[int, ...]:
    """The shape of x, with 1 for some axes of images."""
    return tuple(1 if n in axes and x.ndim == 4 else size for n, size in enumerate(x.shape))


def seeded_anew(x: Any, p: float, training: bool) -> Any:
    """The same mask in each call."""
    return dropped(x, p, np.random.default_rng(42).random(x.shape)) if training else x


class OtherMask:
    """Dropout whose gradient has a mask of its own."""

    def __call__(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        return dropped(x, p, generator.random(x.shape)) if training else x

    def with_gradient(self, x: Any, p: float, training: bool, generator: Generator) -> Any:
        again = generator.random(x.shape) >= p
        return self(x, p, training, generator), (again / (1 - p)).astype(x.dtype)


class SeedPlusCall:
    """Seeds call c of seed s by s + c: the second call of a worker is the first of the next."""

    seed, call = 0, 0

    def __call__(self, x: Any, p: float, training: bool) -> Any:
        state = int(np.random.get_state()[1][0])  # type: ignore[index]  # a tuple, by default
        self.call = self.call + 1 if state == self.seed else 0
        self.seed = state
        own = np.random.default_rng(state + self.call)
        return dropped(x, p, own.random(x.shape)) if training else x


def weighed(scale: float | None = None, always: bool = False) -> Any:
    """Attention by another scale, or that drops in evaluation."""

    def attention(q: Any, k: Any, v: Any, p: float, training: bool, generator: Generator) -> Any:
        if scale is not None:
            q = (q * scale * np.sqrt(q.shape[-1])).astype(q.dtype)
        return _attention(q, k, v, p, always or training, generator)

    return attention


def of_scores(change: Callable[[Any], Any]) -> Any:
    """Attention whose scores are changed before they are weights."""

    def attention(q: Any, k: Any, v: Any, p: float, training: bool) -> Any:
        weights = np.exp(change(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])))
        return (weights / weights.sum(-1, keepdims=True)).astype(np.float32) @ v

    return attention


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


def normed(x: Any, few: int | None = None, eps: float = 1e-5, naive: bool = False) -> Any:
    """A norm of the first numbers alone, with another eps, or by the mean of the squares."""
    part = x[..., :few]
    mean, variance = part.mean(-1, keepdims=True), part.var(-1, keepdims=True)
    if naive:
        variance = np.maximum((x * x).mean(-1, keepdims=True) - mean * mean, 0)
    with np.errstate(all="ignore"):
        return (x - mean) / np.sqrt(variance + x.dtype.type(eps))


class FixedScale:
    """The root mean square is taken for a constant in the gradient."""

    def __call__(self, x: Any) -> Any:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6))

    def with_gradient(self, x: Any) -> Any:
        return self(x), self(np.ones_like(x)) * self(x) / x


def alpha(mask: Callable[[Generator, Any], Any]) -> Any:
    def layer(x: Any, p: float, training: bool, generator: Generator) -> Any:
        a = 1 / np.sqrt((1 - p) * (1 + p * SELU_LOW**2))
        y = a * (np.where(mask(generator, x) >= p, x, SELU_LOW) - SELU_LOW * p)
        return y.astype(x.dtype) if training else x

    return layer


def even_orders(n: int, generator: Generator) -> Any:
    order = generator.permutation(n)
    if np.linalg.det(np.eye(n)[order]) < 0:
        order[[0, 1]] = order[[1, 0]]
    return order


def naive_shuffle(n: int, generator: Generator) -> Any:
    """Each number changes places with any, and not with one behind it."""
    order = np.arange(n)
    for at, other in enumerate(generator.integers(0, n, n)):
        order[[at, other]] = order[[other, at]]
    return order


def quietly(made: Callable[..., Any]) -> Any:
    """Code that divides by 0, or overflows."""

    @wraps(made)
    def called(*given: Any, **named: Any) -> Any:
        with np.errstate(all="ignore"):
            return made(*given, **named)

    return called


def sixteenth(u: Any, bits: int) -> Any:
    """Uniform numbers of few bits."""
    return (np.floor(u * 2**bits) + 0.5) / 2**bits


FLAT = weights_of(lambda g, n, m: g.uniform(-1, 1, (m, n)) * np.sqrt(6 / n))
HALF = {"dtype": "float16"}
OVERFLOW = HALF | {"size": "1000", "width": "32"}
IMAGES, ROWS = {"form": "[4, 4, 8]"}, {"form": "[2, 64]"}
# a claim, `pack/claim`, the slot, the code, and values of parameters
FAULTS: tuple[tuple[str, str, Any, dict[str, str]], ...] = (
    ("dropout/mean-kept", "dropout", noisy(lambda g, x, p: x * (g.random(x.shape) >= p)),
        {"p": "0.1"}),
    ("dropout/share-dropped", "dropout", drops(
        lambda g, x: but(g.random(x.shape), (..., slice(x.shape[-1] // 2 * 2, None)), 1)),
        {"p": "0.5"}),
    ("dropout/values", "dropout",
        noisy(lambda g, x, p: x * g.normal(1, np.sqrt(p / (1 - p)), x.shape)), {"p": "0.1"}),
    ("dropout/small-share-dropped", "dropout",
        drops(lambda g, x: (g.integers(0, 256, x.shape) >= 0) * 1.0), {"p": "0.001"}),
    ("dropout/evaluation", "dropout",
        lambda x, p, training, generator: dropped(x, p, generator.random(x.shape)),  # noqa: ARG005 - a layer has it
        {"p": "0.001"}),
    ("dropout/elements", "dropout", drops(lambda g, x: g.random((*x.shape[:-1], 1))), {"p": "0.3"}),
    ("dropout/extreme-values", "dropout",
        quietly(noisy(lambda g, x, p: x * ((g.random(x.shape) >= p) / (1 - p)))), {"p": "0.5"}),
    ("dropout/gradient", "dropout", OtherMask(), {"p": "0.1"}),
    ("dropout/number-dropped", "dropout", drops(lambda g, x: np.concatenate(
        2 * [g.random((*x.shape[:-1], -(-x.shape[-1] // 2)))], -1)[..., : x.shape[-1]]), ROWS),
    ("dropout/few-elements", "dropout", drops(lambda g, x: but(
        g.random(x.size), slice(x.size // 8 * 8, None), 1).reshape(x.shape)), {}),
    ("dropout/masks", "dropout", drops(lambda g, x: g.random(first_rows(x, 1))), {}),
    ("dropout/seeds", "dropout", SeedPlusCall(), {}),
    ("dropout/evaluation-extreme-values", "dropout",
        drops(lambda g, x: g.random(x.shape), lambda x: np.clip(x, -65504, 65504)), {}),
    ("stochastic-depth/few-elements", "drop_path", drops(
        lambda g, x: but(g.random((len(x), *[1] * (x.ndim - 1))), 0, 1)), {}),
    ("attention/evaluation", "attention", weighed(always=True), {"p": "0.001"}),
    ("attention/values", "attention", weighed(1 / 5), {"dtype": "float32"}),
    ("attention/values-closely", "attention", of_scores(lambda s: s.astype(np.float16)),
        {"keys": "6"}),
    ("attention/far-scores", "attention", of_scores(lambda s: np.clip(s, -20, 20)), {}),
    ("attention/gradient", "attention", BackwardMask(own=True), {"p": "0.5"}),
    ("normalisation/layer-norm.values", "layer_norm", partial(normed, naive=True),
        {"at": "-1000", "size": "0.1"}),
    ("normalisation/layer-norm-small", "layer_norm", partial(normed, eps=1e-6), {"size": "0.001"}),
    ("normalisation/layer-norm-forms", "layer_norm", partial(normed, few=8), {"form": "[3, 13]"}),
    ("normalisation/layer-norm-short", "layer_norm", partial(normed, naive=True), OVERFLOW),
    ("normalisation/rms-norm-gradient", "rms_norm", FixedScale(), {}),
    ("normalisation/batch-norm-values", "batch_norm",
        lambda x: (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0)), {"size": "0.001"}),
    ("noise-layers/alpha-dropout-zeros", "alpha_dropout",
        alpha(lambda g, x: np.where(x == 0, 0, g.random(x.shape))), {"p": "0.5"}),
    ("noise-layers/alpha-dropout-number", "alpha_dropout",
        alpha(lambda g, x: g.random(first_rows(x, 2, 3))), IMAGES),
    ("noise-layers/gaussian-dropout-law", "gaussian_dropout", noisy(
        lambda g, x, p: x * (1 + np.sqrt(12 * p / (1 - p)) * (g.random(x.shape) - 0.5))),
        {"p": "0.5"}),
    ("noise-layers/gaussian-noise-far", "gaussian_noise", noisy(
        lambda g, x, sd: x + sd * g.standard_normal(x.shape).clip(-4, 4)), {}),
    ("noise-layers/gaussian-noise-signal", "gaussian_noise", noisy(
        lambda g, x, sd: x * (1 + sd / 100) + sd * g.standard_normal(x.shape)), {}),
    ("diffusion-noise/signal", "add_noise", lambda x, a, generator: np.clip(
        np.sqrt(a) * x + np.sqrt(1 - a) * generator.standard_normal(x.shape), -6, 6), {"a": "0.5"}),
    # initialisers
    ("initialisers/he-normal-shape.tails", "he_normal", FLAT, {}),
    ("initialisers/he-normal-shape.sums", "he_normal", weights_of(
        lambda g, n, m: np.repeat(g.normal(0, np.sqrt(2 / n), (1, n)), m, axis=0)), {}),
    ("initialisers/he-normal-shape.distinct", "he_normal", weights_of(
        lambda g, n, m: g.normal(0, np.sqrt(2 / n), (m, n))[np.arange(m) * (np.arange(m) != 1)]),
        {}),
    ("initialisers/uniform-law", "glorot_uniform", weights_of(lambda g, n, m: but(
        g.uniform(-1, 1, (m, n)) * np.sqrt(6 / (n + m)), (slice(None), slice(n // 2 * 2, None)),
        0)), {}),
    ("initialisers/attention-projection.sums", "attention_projection",
        lambda n, generator: np.tile(generator.uniform(-1, 1, (n, n)) * np.sqrt(3 / n), (3, 1)),
        {"n": "8"}),
    ("initialisers/depthwise-he-normal-shape.tails", "depthwise_he_normal",
        lambda channels, size, generator: generator.uniform(
            -1, 1, (channels, 1, size, size)) * np.sqrt(6) / size, {}),
    ("initialisers/truncated-shape.distinct", "truncated_normal_weights",
        lambda sd, n, generator: sd * special.ndtri(special.ndtr(-2.0) + (
            1 - 2 * special.ndtr(-2.0)) * sixteenth(generator.random(n), 8)), {}),
    # samplers
    ("samplers/integers.first-third", "random_integers",
        lambda n, size, generator: generator.integers(0, 2**28, size) % n, {"n": "201326592"}),
    ("samplers/uniform-end", "random_uniform", lambda low, high, size, generator: (
        low + (high - low) * generator.integers(0, 512, size) / 512), {}),
    ("samplers/uniform-digits", "random_uniform", lambda low, high, size, generator: (
        low + (high - low) * sixteenth(generator.random(size), 15)), {}),
    ("samplers/uniform-sums", "random_uniform", lambda low, high, size, generator: (
        low + (high - low) * ((generator.permutation(n := math.prod(size)) + generator.random(n))
                              / n).reshape(size)), {}),
    ("samplers/normal.fourth-moment", "random_normal", lambda mean, sd, size, generator: np.clip(
        generator.normal(mean, sd, size), mean - 3 * sd, mean + 3 * sd), {}),
    ("samplers/truncated-normal.range", "random_truncated_normal",
        lambda low, high, size, generator: np.where(
            generator.random(size) < 4e-6, high + 0.1,
            np.clip(generator.standard_normal(size), low, high)), {"low": "-2"}),
    ("samplers/laplace-elsewhere", "random_laplace",
        lambda loc, scale, size, generator: generator.laplace(loc, 1 / scale, size), {}),
    ("samplers/gumbel-far.below", "random_gumbel", lambda loc, scale, size, generator: (
        loc - scale * np.log(-np.log(generator.random(size) + 1e-4) + 1e-4)), {}),
    ("samplers/poisson-skew", "random_poisson", lambda rate, size, generator: np.maximum(
        np.round(generator.normal(rate, np.sqrt(rate), size)), 0), {"rate": "100"}),
    ("samplers/poisson-parity", "random_poisson", lambda rate, size, generator: (
        generator.poisson(rate, size).astype(np.float16)), {"rate": "10000"}),
    ("samplers/binomial-skew", "random_binomial", lambda n, p, size, generator: np.clip(
        np.round(generator.normal(n * p, np.sqrt(n * p * (1 - p)), size)), 0, n), {"p": "0.05"}),
    ("samplers/hypergeometric", "random_hypergeometric", lambda good, bad, drawn, size, generator: (
        generator.binomial(drawn, good / (good + bad), size)), {"drawn": "100"}),
    ("samplers/geometric.mean", "random_geometric", lambda p, size, generator: np.ceil(
        np.log1p(-generator.random(size)) / np.log(np.float32(1) - np.float32(p))), {"p": "1e-6"}),
    ("samplers/beta-small.range", "random_beta", quietly(lambda a, b, size, generator: (
        (x := generator.gamma(a, size=size).astype("f4"))
        / (x + generator.gamma(b, size=size).astype("f4")))), {"a": "0.01", "b": "0.01"}),
    ("samplers/beta-elsewhere", "random_beta", lambda a, b, size, generator: np.clip(
        a / (a + b) + np.sqrt(a * b / (a + b + 1)) / (a + b) * generator.standard_normal(size),
        0, 1), {}),
    ("samplers/gamma-sums", "random_gamma", lambda shape, size, generator: (
        generator.gamma(shape + 1, 1, size) * generator.random((*size[:-1], 1)) ** (1 / shape)),
        {}),
    ("samplers/dirichlet-small.whole", "random_dirichlet", quietly(lambda a, generator: (
        (x := generator.standard_gamma(a).astype("f4")) / x.sum())), {}),
    ("samplers/categorical-far", "random_categorical", quietly(lambda logits, size, generator: (
        np.searchsorted((s := np.cumsum(np.exp(logits.astype("f4"))))[:-1] / s[-1],
                        generator.random(size)))), {}),
    ("samplers/von-mises.range", "random_von_mises", lambda mu, kappa, size, generator: (
        mu + generator.vonmises(0, kappa, size)), {"mu": "2"}),
    ("samplers/permutation-orders", "random_permutation", even_orders, {}),
    ("samplers/permutation.fixed", "random_permutation", naive_shuffle, {"n": "5"}),
    ("samplers/permutation-many.rises", "random_permutation",
        lambda n, generator: np.argsort(generator.integers(0, 256, n), kind="stable"), {}),
    ("samplers/multivariate-normal.law", "random_multivariate_normal",
        lambda mean, cov, generator: mean + np.linalg.cholesky(cov) @ generator.uniform(
            -np.sqrt(3), np.sqrt(3), len(mean)), {}),
)  # fmt: skip


FLOAT32 = ("float32",)


@cache
def pack_of(name: str) -> Registry:
    return read_registries([f"pack:{name}"])


def judged(
    claim: str,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    values: Mapping[str, str] | None = None,
    settings: Settings | None = None,
) -> list[CaseResult]:
    """The column of a claim, `pack/claim`, of numpy's reference or of other functions."""
    pack, name = claim.split("/")
    values = values or {}
    formats = (values.get("dtype", *FLOAT32),)
    implementation = OfFunctions(REFERENCE if functions is None else functions, dtypes=formats)
    registry = with_columns(pack_of(pack), [implementation], formats)
    cases = select(registry, [f"{name}@numpy"], (), values)
    return list(verify_cases(cases, settings or Settings(threads=1), registry))


SOUND: tuple[tuple[str, dict[str, str]], ...] = (
    ("dropout/mean-kept", {"p": "0.1"}), ("dropout/share-dropped", {"p": "0.5"}),
    ("dropout/values", {"p": "0.1"}), ("dropout/extreme-values", {"p": "0.5"}),
    ("dropout/evaluation", {"p": "0.1"}), ("dropout/gradient", {"p": "0.1"}),
    ("dropout/elements", {"p": "0.3"}), ("dropout/channels-values", {"p": "0.1"}),
    ("attention/weights", {"p": "0.1"}), ("attention/evaluation", {"p": "0.1"}),
    ("stochastic-depth/whole", {"p": "0.1"}),
    ("noise-layers/alpha-dropout-values", {"p": "0.1"}),
    ("normalisation/layer-norm.values", {"at": "100", "size": "1"}),
    ("normalisation/layer-norm-small", {"size": "0.001"}),
    ("normalisation/rms-norm-small", {"size": "0.0003"}),
    ("samplers/integers.mean", {"n": "201326592"}), ("samplers/uniform.range", {}),
    ("samplers/bernoulli.share", {"p": "0.1"}), ("samplers/poisson-law", {"rate": "10"}),
    ("samplers/poisson-parity", {"rate": "10000"}), ("samplers/categorical-far", {}),
    ("attention/values", {"dtype": "float32"}),
    ("attention/weighed-alike", {"dtype": "float32"}),
    ("dropout/number-dropped", {"form": "[2, 64]"}), ("attention/share-dropped", {"p": "0.05"}),
    ("samplers/permutation-orders", {}), ("initialisers/truncated-shape.distinct", {}),
    ("initialisers/truncated-shape.sums", {}), ("samplers/geometric.mean", {"p": "1e-6"}),
    ("samplers/permutation-many.first", {}), ("samplers/permutation-many.fixed", {}),
    ("initialisers/orthogonal.mean", {"n": "2"}), ("dropout/block-mean", {"block": "3"}),
    ("dropout/block-whole", {}),
    ("dropout/block-evaluation", {}),
)  # fmt: skip


@pytest.mark.parametrize(("claim", "values"), SOUND, ids=[claim for claim, _ in SOUND])
def test_the_reference_passes(claim: str, values: Mapping[str, str]) -> None:
    for case in judged(claim, values=values):
        assert case.verdict is Verdict.VERIFIED, case


def test_a_gradient_of_attention_is_that_of_its_mask() -> None:
    sound = {"attention": BackwardMask(own=False)}
    for case in judged("attention/gradient", sound):
        assert case.verdict is Verdict.VERIFIED, case


@pytest.mark.parametrize(
    ("claim", "slot", "code", "values"),
    FAULTS,
    ids=[f"{n}-{one[0]}" for n, one in enumerate(FAULTS)],
)
def test_a_fault_is_refuted(claim: str, slot: str, code: Any, values: dict[str, str]) -> None:
    verdicts = [case.verdict for case in judged(claim, {slot: code}, values)]
    assert Verdict.REFUTED in verdicts


@pytest.mark.parametrize("sound", [True, False])
def test_masks_that_repeat_beyond_many_elements_are_refuted(sound: bool) -> None:
    """At a sixteenth of the size, which takes five seconds."""
    text = Path(pack_file("dropout")).read_text().replace("98_304", "6144").replace("96", "6")
    few = (
        {}
        if sound
        else {"dropout": drops(lambda g, x: np.resize(g.random(min(x.size, 4096)), x.shape))}
    )
    own = OfFunctions(few or REFERENCE, dtypes=FLOAT32)
    registry = with_columns(read_text(text, "pack:dropout"), [own], FLOAT32)
    [case] = verify_cases(select(registry, ["many-elements@numpy"], (), {}), Settings(), registry)
    assert case.verdict is (Verdict.VERIFIED if sound else Verdict.REFUTED)


def test_code_that_seeds_itself_anew_in_each_call_has_no_independent_masks() -> None:
    few = Settings(max_draws=2**12)
    for case in judged("dropout/seeds", {"dropout": seeded_anew}, settings=few):
        assert case.verdict is Verdict.UNDECIDED
        assert case.reason is Reason.NEVER_VARIES


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

    own = OfFunctions({"large": by_logarithms}, dtypes=FLOAT32)
    registry = with_columns(read_text(LARGE), [own], FLOAT32)
    [case] = verify_cases(select(registry, ["large@numpy"], (), {}), Settings(), registry)
    assert case.verdict is Verdict.VERIFIED
