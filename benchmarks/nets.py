"""Part l: claims of one to ten numbers, with nets of points and without: draws, seconds, verdicts.

What each claim states is known from mathematics, and half of them are false by a little more than
they are looked at: a verdict that is not the expected one is wrong, or is none. Where no nets are
used, both ways draw the same, and it is done once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import Bar, Clock, Figure, Spread
from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import Case, Registry
from dropcheck.report.numbers import draws
from dropcheck.results import CaseResult, Outcome
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

CLAIMS = Path(__file__).with_name("nets.yaml")
NETS = "nets of "


def judged(case: Case, registry: Registry, settings: Settings, clock: Clock) -> CaseResult:
    """A case, with the seconds that all of it took."""
    started = clock()
    (found,) = verify_cases([case], settings, registry)
    return replace(found, seconds=clock() - started)


def measured(clock: Clock, *, quick: bool = False) -> Iterator[Figure]:
    """The draws of each claim without nets over those with them, and what is wrong in all."""
    registry = read_registry(CLAIMS)
    settings = Settings(threads=1, draws_only=True, max_draws=100_000 if quick else None)
    wrong = 0
    saved: list[float] = []
    for case in registry.expand()[: 3 if quick else None]:
        netted = judged(case, registry, settings, clock)
        both = [netted]
        if netted.sampling.startswith(NETS):
            both.append(judged(case, registry, replace(settings, plain=True), clock))
            saved.append(both[1].seconds / netted.seconds)
        wrong += sum(found.result is Outcome.FAIL for found in both)
        yield Figure(
            "k",
            f"{case.claim.id}, {case.claim.title}: draws without nets over those with them",
            Spread.of([both[-1].draws / netted.draws]),
            note="; without ".join(map(_said, both)),
        )
    if saved:
        yield Figure("k", "the time of those that nets serve, without over with", Spread.of(saved))
    yield Figure("k", "wrong verdicts", Spread.of([wrong]), unit="", bar=Bar(0))


def _said(found: CaseResult) -> str:
    return f"{found.sampling}: {draws(found.draws)}, {found.seconds:.2f} s, {found.verdict}"
