"""Part j: a step of a loop over one of a plain numpy loop, in the same blocks of draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.floor import Simulated, simulated
from benchmarks.measure import Bar, Clock, Figure, paired
from dropcheck.claims.reader import read_text

# Ten numbers that forget where they began, and what they add up to.
STATES = """
dropcheck: 1
claims:
  states:
    title: Ten states that are carried from step to step
    model: |
      x = zeros(10)
      total = zeros(10)
      for t in range({steps}):
          w ~ normal(0, 1)[10]
          x = 0.9 * x + w
          total = total + x
    claim: E(total[0]) == 0
"""


def _made(steps: int) -> Simulated:
    (case,) = read_text(STATES.format(steps=steps)).expand()
    one = simulated(case)
    if one is None:
        raise AssertionError("something is drawn for it")
    return one


def _by_hand(steps: int, draws: int) -> Callable[[], object]:
    """The same with numpy alone, in one block."""

    def run() -> object:
        generator = np.random.Generator(np.random.SFC64(0))
        x = np.zeros((10, draws))
        total = np.zeros((10, draws))
        for _ in range(steps):
            w = generator.standard_normal((10, draws))
            x = 0.9 * x + w
            total = total + x
        return total[0].sum()

    return run


def measured(repeats: int, clock: Clock, *, quick: bool) -> Iterator[Figure]:
    """A thousand steps over those of numpy, and over a tenth of them."""
    steps = 100 if quick else 1000
    few, many = _made(steps // 10), _made(steps)
    draws = many.program.span_draws
    many_spans = lambda: many.simulate(1, 1)  # noqa: E731 - short, and used twice
    times = paired(many_spans, _by_hand(steps, draws), repeats, clock)
    name = f"{steps:,} steps of ten states over a numpy loop"
    yield Figure("j", name, times, bar=Bar(1.5), note=f"blocks of {draws:,} draws")
    spans = max(1, round(draws / few.program.span_draws))
    per_step = paired(many_spans, lambda: few.simulate(spans, 1), repeats, clock).times(0.1)
    name = f"a step of {steps:,} over one of {steps // 10:,}"
    yield Figure("j", name, per_step, bar=Bar(1.25))
