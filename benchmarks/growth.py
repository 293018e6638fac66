"""Part e: how time grows with draws, d_k, claims and cases; what is large still ends."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.floor import Simulated, simulated
from benchmarks.measure import Bar, Clock, Figure, Ran, Spread, paired, run_process
from benchmarks.scripts import QK
from dropcheck.claims.reader import read_text
from dropcheck.language.check import check_registry
from dropcheck.report import Report
from dropcheck.report.formats import FORMATS
from dropcheck.results import RunResult
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

# Linear, with room for noise and for what a larger array loses in the caches.
LINEAR = 1.25

HEAD = "dropcheck: 1\nclaims:\n"
CLAIM = """\
  square-{number}:
    title: The mean square of a normal is the square of its deviation
    parameters: {{sd: {sds}}}
    model: x ~ normal(0, sd)
    claim: E(x**2) == sd**2
    resolution: 0.2
"""
ENDLESS = """
dropcheck: 1
claims:
  fair:
    title: A fair coin is fair
    model: m ~ bernoulli(0.5)
    claim: P(m == 1) == 0.5
    within: 1.0e-9
"""


def many_claims(count: int) -> str:
    """A registry of so many claims of one case each."""
    return HEAD + "".join(CLAIM.format(number=number, sds=1) for number in range(count))


def many_cases(count: int) -> str:
    """A registry of one claim with so many cases."""
    return HEAD + CLAIM.format(number=0, sds=[1 + case / count for case in range(count)])


def whole_run(text: str) -> None:
    """Read, check and judge a registry, as `run` does."""
    registry = read_text(text)
    check_registry(registry)
    for _ in verify_cases(registry.expand(), Settings(), registry):
        pass


def report_of(text: str) -> Report:
    """What the reports of a registry's run are made of."""
    registry = read_text(text)
    results = tuple(verify_cases(registry.expand(), Settings(), registry))
    return Report(RunResult("claims.yaml", Settings(), results, 1.0), registry)


def growth(
    name: str, small: Callable[[], object], large: Callable[[], object],
    factor: float, repeats: int, clock: Clock,
) -> Figure:  # fmt: skip
    """The time of the larger over that of the smaller, a unit of size."""
    times = paired(large, small, repeats, clock).times(1 / factor)
    note = f"1 is linear growth, over a factor of {factor:g}"
    return Figure("e", f"growth with {name}", times, bar=Bar(LINEAR), note=note)


def _plain(dk: int) -> Simulated:
    (case,) = read_text(QK.format(dk=dk, resolution=0.01)).expand()
    one = simulated(case)
    if one is None:
        raise AssertionError("something is drawn for it")
    return one


def _simulating(one: Simulated, draws: float) -> Callable[[], object]:
    spans = max(1, round(draws / one.program.span_draws))
    return lambda: one.simulate(spans, 1)


def measured(repeats: int, clock: Clock, *, quick: bool) -> Iterator[Figure]:
    """Growth by a factor each, then what is large."""
    small, factor = (4, 4.0) if quick else (100, 10.0)
    draws = 1e4 if quick else 1e5
    one = _plain(16)
    yield growth(
        "draws", _simulating(one, draws), _simulating(one, factor * draws), factor, repeats, clock
    )
    short, long = _plain(64), _plain(round(64 * factor))
    yield growth(
        "d_k",
        _simulating(short, draws / 4),
        _simulating(long, draws / 4),
        factor,
        repeats,
        clock,
    )
    for name, text in (("claims", many_claims), ("cases of a grid", many_cases)):
        few, many = text(small), text(round(small * factor))
        yield growth(
            name, partial(whole_run, few), partial(whole_run, many), factor, repeats, clock
        )
    more_cases = report_of(many_cases(round(small * factor)))
    run = more_cases.run  # figures of more digits are dearer: both have the same
    few_cases = replace(more_cases, run=replace(run, cases=run.cases[:small]))
    for name in ("table", "json", "junit", "markdown", "csv", "html"):  # all that show every case
        make = FORMATS[name].make
        make(few_cases)  # imports what it needs
        yield growth(
            f"cases in the report {name}",
            partial(make, few_cases),
            partial(make, more_cases),
            factor,
            repeats,
            clock,
        )
    if not quick:
        yield from _large()


def _large() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:

        def run(text: str, *options: str) -> Ran:
            path = Path(folder) / "claims.yaml"
            path.write_text(text, encoding="utf-8")
            command = [sys.executable, "-m", "dropcheck", "run", "-f", str(path), "--quiet"]
            return run_process([*command, "--exit-zero", "--no-progress", *options])

        for name, text in (
            ("d_k = 1,000,000 in one claim", QK.format(dk=1_000_000, resolution=0.05)),
            ("a registry of 1,000 claims", many_claims(1000)),
            ("a grid of 10,000 cases", many_cases(10_000)),
        ):
            ran = run(text)
            note = f"{ran.wall:.1f} s · {ran.output.strip().splitlines()[-1]}"
            yield Figure("e", f"{name}: peak memory", Spread.of([ran.peak / 1e6]), " MB", note=note)
        few, many = (run(ENDLESS, "--max-draws", draws) for draws in ("1e7", "1e10"))
        note = f"{many.peak / 1e6:.0f} MB and {few.peak / 1e6:.0f} MB; 1e10 took {many.wall:.0f} s"
        name = "peak memory of 1e10 draws over that of 1e7"
        yield Figure("e", name, Spread.of([many.peak / few.peak]), bar=Bar(1.1), note=note)
