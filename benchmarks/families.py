"""Part i: several statements of one model over the one that takes most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.measure import Bar, Clock, Figure, paired
from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Case
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

# A layer whose draws cost far more than what is looked at: nothing is known of it but bounds.
LAYER = """
dropcheck: 1
claims:
  layer:
    title: A layer of attention with dropout
    parameters: {{p: 0.5, n: {n}}}
    model: |
      x ~ normal(0, 1)[n, n]
      w ~ normal(0, 1)[n, n]
      m ~ bernoulli(1 - p)[n, n]
      y = softmax((m * x / (1 - p)) @ w)
      z = y @ x
    claims:
      positive: P(z[0, 0] > 0) == 0.5
      mean: E(z[0, 0]) == 0.1
      spread: Std(z[0, 0]) <= 3
      weight: E(y[0, 0]) <= 0.5
      sums: P(isclose(sum(y[0]), 1)) == 1
"""


def measured(repeats: int, clock: Clock, *, quick: bool) -> Iterator[Figure]:
    """The time of five statements over that of the costliest of them alone."""
    registry = read_text(LAYER.format(n=4 if quick else 16))
    cases = registry.expand()

    def run(chosen: Sequence[Case]) -> None:
        for _ in verify_cases(chosen, Settings(threads=1), registry):
            pass

    times = paired(lambda: run(cases), lambda: run(cases[:1]), repeats, clock)
    yield Figure("i", "five statements of one model over the costliest", times, bar=Bar(1.3))
