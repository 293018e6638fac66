"""Part d: two threads against one."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.floor import simulated
from benchmarks.measure import CLOCKS, Bar, Figure, paired
from dropcheck.claims.registry import Registry

# One of each kind: scalar draws, vectors, matrix products and softmax, masks that are counted.
CLAIMS = ("sum-variance-steps.minus", "qk-variance", "softmax-gentler.peak", "dropout-variance")


def measured(registry: Registry, repeats: int, values: float) -> Iterator[Figure]:
    """The time of one thread over that of two, for the same spans; spans a fixed work each."""
    ready = []
    for claim in CLAIMS:
        case = next(case for case in registry.expand() if case.claim.id == claim)
        one = simulated(case)
        if one is not None:
            ready.append((one, max(8, round(values / one.a_span))))

    def run(threads: int) -> None:
        for one, spans in ready:
            one.simulate(spans, threads)

    times = paired(lambda: run(1), lambda: run(2), repeats, CLOCKS["wall"])
    yield Figure("d", "one thread's time over two threads'", times, bar=Bar(1.7, at_least=True))
