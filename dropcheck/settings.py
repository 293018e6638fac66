"""The settings of a run, and their bounds; standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dropcheck.processors import default_threads

DEFAULT_MEMORY = 2**30
"""The default of `Settings.max_memory`, in bytes."""

LEAST_MEMORY, MOST_MEMORY = 2**20, 2**60
"""Bounds of `Settings.max_memory`."""

MOST_DRAWS = 2**62
"""The largest budget in draws: more could not be counted in 64 bits."""

MOST_SEED = 2**64 - 1
"""The largest seed."""

THREADS_A_CORE = 16
"""The most threads for each core: with hundreds a run takes ten times as long."""

MOST_THREADS = 1024
"""The most threads on any machine."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run: error budget, randomness and limits.

    `alpha` is the family-wise error rate of the whole registry. `resolution` overrides that of
    every claim. `max_draws` bounds each case; None means the default budget, which depends on the
    case alone. `time_limit` (seconds) holds for the whole run: the open cases share it, and it
    takes the place of the default budget. With `plain` every value is a new independent draw: no
    pairs of draws that meet in a matrix product are evaluated, and no nets of points are drawn.
    `max_memory` (bytes) bounds the memory of one draw of a claim, together with its fixed values.
    With `asymptotic` the limit theorem judges what the model does not bound; otherwise such a case
    is undecided, except where code under test draws, for which there is no model. With `exact`
    nothing is drawn: a case is decided by the exact value from its model, or not at all. With
    `draws_only` exact values decide nothing.
    """

    alpha: float = 1e-6
    seed: int = 0
    resolution: float | None = None
    max_draws: int | None = None
    time_limit: float | None = None
    threads: int | None = None
    fail_fast: bool = False
    plain: bool = False
    max_memory: int = DEFAULT_MEMORY
    asymptotic: bool = False
    exact: bool = False
    draws_only: bool = False


def most_threads() -> int:
    """The most threads that a run may have on this machine."""
    return min(MOST_THREADS, THREADS_A_CORE * default_threads())


def one_of(words: Sequence[str]) -> str:
    """A list of alternatives in words.

    >>> one_of(["a", "b", "c"]), one_of(["a", "b"])
    ('a, b or c', 'a or b')
    """
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
