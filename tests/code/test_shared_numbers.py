"""Draws of one call that share random numbers though their slot says that they do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from slots_made import X, drawn, numpy_code, slot

from dropcheck.code import probes as shared
from dropcheck.errors import DropcheckError

Generator = np.random.Generator
Noise = Callable[[Generator, int, int], Any]


def calls(noise: Noise, elements: int, draws: int, seed: int) -> Any:
    """What calls give, [calls, elements, draws]."""
    made = [noise(np.random.default_rng((seed, one)), draws, elements) for one in range(32)]
    return np.stack([shared.rows_of(np.broadcast_to(one, (draws, elements)).T) for one in made])


def blocks(g: Generator, n: int, e: int) -> Any:
    return np.repeat(g.random((-(-n // 8), e)) < 0.9, 8, axis=0)[:n]


def halves(g: Generator, n: int, e: int, mirror: int = 1) -> Any:
    half = g.normal(size=((n + 1) // 2, e))
    return np.concatenate([half, -half[::mirror]])[:n]


def windows(g: Generator, n: int, e: int) -> Any:
    return np.lib.stride_tricks.sliding_window_view(g.normal(size=n + e - 1), e)


def one_element(g: Generator, n: int, e: int) -> Any:
    noise = g.normal(size=(n, e))
    noise[:, -1] = noise[0, -1]
    return noise


def seeds(g: Generator, n: int, e: int) -> Any:
    first = int(g.integers(2**31))
    return np.stack([np.random.default_rng(first + one % 16).normal(size=e) for one in range(n)])


SHARED: dict[str, Noise] = {
    "one mask of a call": lambda g, n, e: np.tile(g.random(e) < 0.9, (n, 1)),
    "one number of a call": lambda g, n, e: g.random() < 0.9,  # noqa: ARG005 - all take the same
    "one scale of a call": lambda g, n, e: g.gamma(2) * g.normal(size=(n, e)),
    "one sign of a call": lambda g, n, e: g.choice([-1, 1]) * np.abs(g.normal(size=(n, e))),
    "one p of a call": lambda g, n, e: g.random((n, e)) < g.uniform(0.2, 0.8),
    "noise of a call beside that of draws": lambda g, n, e: (
        g.normal(size=(n, e)) + g.normal(size=e)
    ),
    "a seed of sixteen": seeds,
    "blocks of eight": blocks,
    "a period": lambda g, n, e: g.normal(size=(37, e))[np.arange(n) % 37],
    "a table": lambda g, n, e: g.normal(size=(16, e))[g.integers(16, size=n)],
    "sorted": lambda g, n, e: np.sort(g.normal(size=(n, e)), axis=0),
    "antithetic halves": halves,
    "mirrored halves": lambda g, n, e: halves(g, n, e, -1),
    "windows of one stream": windows,
    "one element of sixteen": one_element,
}
APART: dict[str, Noise] = {
    "normal": lambda g, n, e: g.normal(size=(n, e)),
    "without a variance": lambda g, n, e: g.standard_cauchy(size=(n, e)),
    "a mask": lambda g, n, e: g.random((n, e)) < 0.9,
    "a rare mask": lambda g, n, e: g.random((n, e)) < 0.001,
    "one number a draw": lambda g, n, e: np.tile(g.gamma(0.3, size=(n, 1)), (1, e)),
    "a permutation a draw": lambda g, n, e: g.permuted(np.tile(np.arange(e), (n, 1)), axis=1),
    "missing numbers": lambda g, n, e: np.where(g.random((n, e)) < 0.3, np.nan, 1.0),
    "numbers without an end": lambda g, n, e: np.where(g.random((n, e)) < 0.3, np.inf, 1.0),
    "nothing random": lambda g, n, e: np.ones((n, e)),  # noqa: ARG005 - all take the same
}


@pytest.mark.parametrize("noise", SHARED.values(), ids=SHARED)
def test_what_draws_of_a_call_share_is_seen(noise: Noise) -> None:
    """It is missed less than once in a million times: the sums are far beyond their bounds."""
    assert shared.shared_numbers(calls(noise, 16, 128, seed=0)) is not None


@pytest.mark.parametrize("noise", APART.values(), ids=APART)
@pytest.mark.parametrize("elements", [1, 6])
def test_independent_draws_pass(noise: Noise, elements: int) -> None:
    """False alarms: 1e-9 for each, by bounds for normal variables."""
    for seed in range(5):
        assert shared.shared_numbers(calls(noise, elements, 200, seed)) is None


def test_a_slot_whose_draws_are_independent_is_held_to_it() -> None:
    def layer(x: Any, generator: Generator) -> Any:
        return x * np.repeat(generator.random((-(-len(x) // 8), *x.shape[1:])), 8, axis=0)[: len(x)]

    drawn(numpy_code(layer, ("x",)), 40, X)  # a call is one draw
    declared = numpy_code(layer, ("x",))
    declared.slot = replace(slot(takes=("x",)), independent=True)
    with pytest.raises(DropcheckError, match="random numbers in common"):
        drawn(declared, 40, X)


def test_without_the_comparison_nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "_shared", lambda _numbers: None)
    assert all(shared.shared_numbers(calls(one, 16, 128, 0)) is None for one in SHARED.values())
