"""Part k: long runs where numba draws their numbers, over the same runs with numpy alone."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Bar, Figure, Ran, Spread, paired_processes, run_process

ROOT = Path(__file__).resolve().parent.parent
# What no budget decides: each takes all the draws that it may.
HEAVY = """
dropcheck: 1
claims:
  normals:
    title: The largest and the least of a thousand normal numbers are opposite
    model: x ~ normal(0, 1)[1000]
    claim: E(max(x) + min(x)) == 0
    within: 1e-6
  exponentials:
    title: The largest of a thousand exponential numbers has the harmonic number as its mean
    model: x ~ exponential(1)[1000]
    claim: E(max(x)) == 7.48547086055
    within: 1e-6
  matrices:
    title: So are they of a random matrix times a vector
    model: |
      A ~ normal(0, 1)[64, 64]
      x ~ normal(0, 1)[64]
    claim: E(max(A @ x) + min(A @ x)) == 0
    within: 1e-6
  recursion:
    title: Ten states that are carried from step to step
    model: |
      x = zeros(10)
      for t in range(100):
          w ~ normal(0, 1)[10]
          x = 0.9 * x + w
    claim: E(max(x) + min(x)) == 0
    within: 1e-6
"""
# Draws of each that take numpy ten seconds or more.
DRAWS = {"normals": 2.4e6, "exponentials": 2e6, "matrices": 3e5, "recursion": 1.2e6}
BARS = dict.fromkeys(("normals", "matrices", "recursion"), Bar(0.6))
# It ends with 0 although nothing is decided.
RUN = """
import sys
from dropcheck.cli import main
main(sys.argv[1:])
"""
WITHOUT = "import sys; sys.modules['numba'] = None" + RUN


def _run(program: str, *arguments: str) -> Ran:
    command = [sys.executable, "-c", program, "run", *arguments]
    return run_process([*command, "--threads", "1", "--format", "json"], ROOT)


def _both(*arguments: str) -> tuple[Callable[[], Ran], Callable[[], Ran]]:
    return partial(_run, RUN, *arguments), partial(_run, WITHOUT, *arguments)


def measured(repeats: int, clock: str, *, quick: bool) -> Iterator[Figure]:
    """Heavy claims and a full run, with and without; and whether their digits are the same."""
    if importlib.util.find_spec("numba") is None:
        nothing = Spread.of([math.nan])
        yield Figure("k", "compiled numbers", nothing, note="numba is not installed")
        return
    with TemporaryDirectory() as folder:
        heavy = Path(folder, "heavy.yaml")
        heavy.write_text(HEAVY, encoding="utf-8")
        for claim, draws in DRAWS.items():
            most = str(int(draws / 1000 if quick else draws))
            asked = (claim, "-f", str(heavy), "--max-draws", most, "--require", "asymptotic")
            yield _figure(claim, _both(*asked), repeats, clock, BARS.get(claim))
    if not quick:
        yield _figure("run all", _both("all"), repeats, clock, None)


def _figure(
    name: str,
    both: tuple[Callable[[], Ran], Callable[[], Ran]],
    repeats: int,
    clock: str,
    bar: Bar | None,
) -> Figure:
    times, ours, numpys = paired_processes(*both, repeats, clock)
    if _digits(ours[0]) != _digits(numpys[0]):
        return Figure("k", name, Spread.of([math.nan]), bar=bar, note="the digits differ")
    seconds = numpys[0].time(clock)
    note = f"{seconds:.0f} s with numpy alone; the same digits"
    return Figure("k", f"{name}, compiled over numpy", times, bar=bar, note=note)


def _digits(ran: Ran) -> object:
    """All that a run found, without its times."""
    return _timeless(json.loads(ran.output))


def _timeless(found: object) -> object:
    if isinstance(found, dict):
        return {key: _timeless(one) for key, one in found.items() if "seconds" not in key}
    return [_timeless(one) for one in found] if isinstance(found, list) else found
