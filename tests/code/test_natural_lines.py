"""Known mistakes in layers and samplers are caught by the line that anyone would write.

The file gives no resolution, no tolerance and no number of draws. Each mistake fails the line that
is named beside it; sound code of many kinds fails none.
"""

# ruff: noqa: ARG005 - code is given more than each mistake uses

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from slots_made import OfFunctions

from dropcheck.claims.reader import read_text
from dropcheck.claims.select import select
from dropcheck.code.columns import with_columns
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

GATE = """
dropcheck: 1
slots:
  drop:
    takes: [x, p]
    model: |
      m ~ bernoulli(1 - p)[shape(x)]
      y = m * x / (1 - p)
    gives: y
    evaluation: x
    elements: independent
  die: {takes: [n], law: "discrete_uniform(0, n - 1)", elements: independent}
  shuffled: {takes: [n], law: permutation(n), elements: independent}
  cut: {takes: [], law: "truncated_normal(0, 1, -1, 1)", elements: independent}
  bell: {takes: [sd], law: "normal(0, sd)", elements: independent}
  wait: {takes: [scale], law: exponential(scale), elements: independent}
  count: {takes: [rate], law: poisson(rate), elements: independent}
  pick: {takes: [w], law: categorical(w), elements: independent}
claims:
  drop:
    title: Dropout
    parameters: {p: 0.3}
    model: |
      x ~ uniform(1, 2)[12]
      y = drop(x, p)
    claims:
      mean: {title: mean, claim: E(y) / E(x) == 1}
      share: {title: share, claim: P(y == 0) == p}
      values: {title: values, claim: "y in {0, x / (1 - p)}"}
      use: {title: use, claim: "drop.eval(x, p) == x"}
      apart: {title: apart, claim: "independent(y == 0, over=[0])"}
  heads:
    title: Each element of a batch
    parameters: {p: 0.3, batch: 3}
    model: |
      x ~ uniform(1, 2)[batch, 4]
      y = drop(x, p)
    claim: independent(y == 0, over=[batch])
  die:
    title: A die
    parameters: {n: 10}
    model: y ~ die(n)
    claims:
      law: {title: law, claim: "y ~ discrete_uniform(0, n - 1)"}
      last: {title: last, claim: P(y == n - 1) == 1 / n}
  shuffled:
    title: All orders
    parameters: {n: 3}
    model: y ~ shuffled(n)
    claims:
      order: {title: order, claim: "P(y[0] == 2 and y[1] == 1) == 1 / 6"}
      place: {title: place, claim: "P(y[0] == 0) == 1 / n"}
  cut: {title: Cut, model: "y ~ cut()[4]", claim: "y ~ truncated_normal(0, 1, -1, 1)"}
  bell:
    title: A bell
    parameters: {sd: 2}
    model: y ~ bell(sd)[2]
    claims:
      variance: {title: variance, claim: Var(y) == sd**2}
      apart: {title: apart, claim: "independent(y[0], y[1])"}
  wait: {title: A time, parameters: {scale: 3}, model: "y ~ wait(scale)", claim: E(y) == scale}
  count:
    title: A count
    parameters: {rate: 2}
    model: y ~ count(rate)
    claims:
      none: {title: none, claim: P(y == 0) == exp(-rate)}
      mean: {title: mean, claim: E(y) == rate}
  pick:
    title: A class
    model: |
      w = [0.1, 0.2, 0.7]
      y ~ pick(w)
    claim: P(y == 0) == 0.1
"""
Code = Callable[..., Any]


def dropped(
    kept: Callable[[Any, Any, float], Any],
    scale: Callable[[float], float] = lambda p: 1 / (1 - p),
    *,
    in_use: bool = False,
) -> Code:
    """Dropout with a mask, made of the generator, x and p, and a scale."""

    def drop(x: Any, p: float, training: bool, rng: Any) -> Any:
        return np.where(kept(rng, x, p), x * scale(p), 0) if training or in_use else x

    return drop


def mask(rng: Any, x: Any, p: float) -> Any:
    return rng.random(x.shape) >= p


def in_pairs(rng: Any, x: Any, p: float) -> Any:
    half = rng.random((len(x), x.shape[-1] // 2))
    return np.concatenate([half, 1 - half], -1) >= p


def so_many(rng: Any, x: Any, p: float) -> Any:
    number = round(p * x.shape[-1])
    return rng.permuted(np.broadcast_to(np.arange(x.shape[-1]) >= number, x.shape), axis=-1)


def one_row(rng: Any, x: Any, p: float) -> Any:
    return rng.random((1, *x.shape[1:])) >= p


def naive_shuffle(n: int, size: Any, rng: Any) -> Any:
    y, rows = np.tile(np.arange(n), (*size[:1], 1)), np.arange(size[0])
    for at in range(n):
        other = rng.integers(0, n, len(y))
        y[rows, at], y[rows, other] = y[rows, other], y[rows, at].copy()
    return y


def fisher_yates(n: int, size: Any, rng: Any) -> Any:
    y, rows = np.tile(np.arange(n), (*size[:1], 1)), np.arange(size[0])
    for at in range(n - 1, 0, -1):
        other = rng.integers(0, at + 1, len(y))
        y[rows, at], y[rows, other] = y[rows, other], y[rows, at].copy()
    return y


def again(size: Any, rng: Any) -> Any:
    y = rng.normal(size=size)
    while (far := np.abs(y) > 1).any():
        y[far] = rng.normal(size=int(far.sum()))
    return y


def polar(sd: float, size: Any, rng: Any, *, apart: bool = True) -> Any:
    r = np.sqrt(-2 * np.log1p(-rng.random((size[0], 1))))
    angle = 2 * np.pi * rng.random((size[0], 1))
    other = np.sin(angle) if apart else np.cos(angle + rng.random(angle.shape) * 7)
    return sd * r * np.concatenate([np.cos(angle), other], -1)


class Layer:
    """A layer that keeps its generator, and returns lists."""

    def __init__(self, p: float) -> None:
        self.p, self.training, self.rng = p, True, np.random.default_rng()

    def __call__(self, x: Any, training: bool) -> Any:
        return dropped(mask)(x, self.p, training, self.rng).tolist()


MISTAKES: tuple[tuple[str, str, Code], ...] = (
    ("drop.mean", "drop", dropped(mask, lambda p: 1)),
    ("drop.mean", "drop", dropped(mask, lambda p: 1 - p)),
    ("drop.mean", "drop", dropped(mask, lambda p: 1 / p)),
    ("drop.share", "drop", dropped(lambda rng, x, p: rng.random(x.shape) < p)),
    ("drop.share", "drop", dropped(lambda rng, x, p: rng.integers(0, 16, x.shape) >= int(16 * p))),
    ("drop.share", "drop", dropped(lambda rng, x, p: rng.random(x.shape) >= p**0.95)),
    ("drop.values", "drop", dropped(mask, lambda p: float(np.float16(1 / (1 - p))))),
    ("drop.values", "drop", lambda x, p, training, rng: x * rng.normal(1, p / (1 - p), x.shape)),
    ("drop.use", "drop", dropped(mask, in_use=True)),
    ("drop.use", "drop", lambda x, p, training, rng: (
        dropped(mask)(x, p, True, rng) if training else x * (1 - p))),
    ("drop.share", "drop", lambda x, p, training, rng: x + 0 * rng.random(x.shape)),
    ("drop.apart", "drop", dropped(in_pairs)),
    ("drop.apart", "drop", dropped(so_many)),
    ("drop.apart", "drop", dropped(lambda rng, x, p: rng.random((len(x), 1)) >= p)),
    ("heads", "drop", dropped(one_row)),
    ("die.last", "die", lambda n, size, rng: rng.integers(0, n - 1, size)),
    ("die.last", "die", lambda n, size, rng: rng.integers(0, 256, size) % n),
    ("die.law", "die", lambda n, size, rng: np.rint(rng.random(size) * (n - 1))),
    ("shuffled.order", "shuffled", naive_shuffle),
    ("shuffled.place", "shuffled", lambda n, size, rng: (
        np.arange(n) + rng.integers(1, n, (*size[:1], 1))) % n),
    ("cut", "cut", lambda size, rng: np.clip(rng.normal(size=size), -1, 1)),
    ("bell.variance", "bell", lambda sd, size, rng: rng.normal(0, sd**0.5, size)),
    ("bell.variance", "bell", lambda sd, size, rng: sd * rng.standard_t(30, size)),
    ("bell.apart", "bell", lambda sd, size, rng: polar(sd, size, rng, apart=False)),
    ("wait", "wait", lambda scale, size, rng: rng.exponential(1 / scale, size)),
    ("count.none", "count", lambda rate, size, rng: np.rint(rng.normal(rate, rate**0.5, size))),
    ("count.mean", "count", lambda rate, size, rng: np.minimum(rng.poisson(rate, size), 4)),
    ("pick", "pick", lambda w, size, rng: np.searchsorted(np.cumsum(w)[1:], rng.random(size))),
)  # fmt: skip
SOUND: tuple[tuple[str, Code], ...] = (
    ("drop", dropped(mask)),
    ("drop", lambda x, p, training, rng: x * (rng.random(x.shape) >= p) / (1 - p * training)
     if training else x),
    ("drop", Layer),
    ("drop", lambda x, p, train, generator: np.where(
        generator.binomial(1, p, x.shape) * train == 0, x / (1 - p * train), 0)),
    ("die", lambda n, size, rng: np.floor(rng.random(size) * n)),
    ("shuffled", fisher_yates),
    ("shuffled", lambda n, size, rng: np.argsort(rng.random((*size[:1], n)), axis=-1)),
    ("cut", again),
    ("bell", polar),
    ("wait", lambda scale, size, rng: -scale * np.log1p(-rng.random(size))),
    ("count", lambda rate, size, rng: rng.binomial(2**40, rate / 2**40, size)),
    ("pick", lambda w, size, rng: np.searchsorted(np.cumsum(w)[:-1], rng.random(size))),
)  # fmt: skip


def verdicts(line: str, slot: str, code: Code) -> dict[str, Verdict]:
    """The verdicts of some lines on the code of a slot."""
    registry = with_columns(read_text(GATE), [OfFunctions({slot: code}, dtypes=("float64",))])
    chosen = [one.id for one in registry.claims.values() if one.column is not None]
    cases = select(registry, [one for one in chosen if one.startswith(line)], (), {})
    return {one.claim: one.verdict for one in verify_cases(cases, Settings(), registry)}


@pytest.mark.parametrize(("line", "slot", "code"), MISTAKES)
def test_a_mistake_fails_its_line(line: str, slot: str, code: Code) -> None:
    assert set(verdicts(f"{line}@", slot, code).values()) == {Verdict.REFUTED}


@pytest.mark.parametrize(("slot", "code"), SOUND)
def test_sound_code_passes_every_line(slot: str, code: Code) -> None:
    found = verdicts("", slot, code)
    assert set(found.values()) == {Verdict.VERIFIED}, found
