"""Part d: two threads against one, and two processes that share a straggler."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.floor import simulated
from benchmarks.measure import CLOCKS, Bar, Figure, paired
from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

# One of each kind: scalar draws, vectors, matrix products and softmax, masks that are counted.
CLAIMS = ("sum-variance-steps.minus", "qk-variance", "softmax-gentler.peak", "dropout-variance")

# Seven light cases, and one that takes longer than all of them.
STRAGGLER = """\
dropcheck: 1
claims:
  light:
    title: The largest of four is as large as itself
    parameters: {k: [1, 2, 3, 4, 5, 6, 7]}
    model: x ~ normal(0, k)[4]
    claim: E(max(x)) == E(max(x + 0))
  heavy:
    title: The largest of forty is as large as that of forty others
    model: x, y ~ normal(0, 1)[40]
    claim: E(max(x)) == E(max(y))
    within: WITHIN
"""


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
    # sharper bounds left the heavy case a third of a second: of that, starting processes is most
    yield _straggling(repeats, 1e-3 if values > 1e7 else 4e-2)


def _straggling(repeats: int, within: float) -> Figure:
    """The time of two processes for a straggler and light cases, over an even split of the work."""
    registry = read_text(STRAGGLER.replace("WITHIN", str(within)))
    cases = registry.expand()

    def run(threads: int) -> None:
        for _ in verify_cases(cases, Settings(threads=threads), registry, processes=True):
            pass

    times = paired(lambda: run(2), lambda: run(1), repeats, CLOCKS["wall"]).times(2.0)
    note = "seven light cases and a heavy one, on two processes"
    return Figure("d", "a straggler, over an even split", times, bar=Bar(1.2), note=note)
