"""Times as ratios of paired, alternating runs; figures beside the bars that they should clear."""

from __future__ import annotations

import gc
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

Clock = Callable[[], float]
"""Seconds from some origin."""

CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}
"""`cpu` is the time of all threads of this process: fairer where the machine has other work."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A ratio measured several times: its median, and the least and the greatest."""

    median: float
    low: float
    high: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The spread of some values.

        >>> Spread.of([1.0, 4.0, 2.0])
        Spread(median=2.0, low=1.0, high=4.0, runs=3)
        """
        return cls(statistics.median(values), min(values), max(values), len(values))

    def times(self, factor: float) -> Spread:
        """The same in another unit."""
        return Spread(self.median * factor, self.low * factor, self.high * factor, self.runs)

    def inverse(self) -> Spread:
        """How many times smaller in place of how many times larger."""
        return Spread(1 / self.median, 1 / self.high, 1 / self.low, self.runs)


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure should be: at most, or at least, so much."""

    limit: float
    at_least: bool = False

    def holds(self, value: float) -> bool:
        """Whether a value clears it; one that is no number does not.

        >>> Bar(2.0).holds(1.9), Bar(2.0, at_least=True).holds(1.9), Bar(2.0).holds(math.nan)
        (True, False, False)
        """
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"at {'least' if self.at_least else 'most'} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report."""

    part: str
    name: str
    value: Spread
    unit: str = "×"
    bar: Bar | None = None
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the median clears the bar; None where there is none."""
        return None if self.bar is None else self.bar.holds(self.value.median)

    def line(self) -> str:
        """The figure as a line of text.

        >>> Figure("d", "two threads", Spread.of([1.8, 1.9, 1.7]), bar=Bar(1.7, True)).line()
        'd  two threads: 1.80× (1.70 to 1.90, 3 runs) · at least 1.7: holds'
        """
        value = f"{short(self.value.median)}{self.unit}"
        if self.value.runs > 1:
            value += f" ({short(self.value.low)} to {short(self.value.high)}"
            value += f", {self.value.runs} runs)"
        parts = [f"{self.part}  {self.name}: {value}"]
        if self.bar is not None:
            parts.append(f"{self.bar}: {'holds' if self.holds else 'MISSED'}")
        if self.note:
            parts.append(self.note)
        return " · ".join(parts)

    def as_json(self) -> dict[str, object]:
        """The figure as data that JSON can hold: what is no number is null."""
        found: dict[str, object] = {
            "part": self.part,
            "name": self.name,
            "unit": self.unit,
            **{key: _finite(value) for key, value in asdict(self.value).items()},
            "note": self.note,
        }
        if self.bar is not None:
            found |= {"bar": str(self.bar), "holds": self.holds}
        return found


def short(value: float) -> str:
    """Three digits or so, and no exponent where none is needed.

    >>> short(0.01234), short(1.5), short(123456.0), short(math.nan)
    ('0.0123', '1.50', '123,456', 'unknown')
    """
    if not math.isfinite(value):
        return "unknown"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def paired(
    first: Callable[[], object], second: Callable[[], object], repeats: int, clock: Clock
) -> Spread:
    """The time of `first` over that of `second`, from runs that alternate.

    The pairs change their order, so that what drifts, or what the one leaves in the caches, falls
    on both alike. Each is run once beforehand.
    """
    first()
    second()
    gc.collect()
    ratios = []
    for repeat in range(repeats):
        order = (first, second) if repeat % 2 == 0 else (second, first)
        spent = {}
        for run in order:
            started = clock()
            run()
            spent[run] = clock() - started
        ratios.append(spent[first] / spent[second])
    return Spread.of(ratios)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a process took: seconds by the wall and of processor time, and its peak of memory."""

    wall: float
    cpu: float
    peak: int  # bytes
    output: str
    code: int

    def time(self, clock: str) -> float:
        """Seconds by the clock of this name."""
        return self.wall if clock == "wall" else self.cpu


# A process's peak counts that of the one it was forked from: so it is started by a small one.
_LAUNCH = """
import json, os, sys, time
started = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - started
cpu = usage.ru_utime + usage.ru_stime
with open(sys.argv[1], "w") as report:
    json.dump([wall, cpu, usage.ru_maxrss, os.waitstatus_to_exitcode(status)], report)
"""


def run_process(
    command: Sequence[str], folder: Path | None = None, extra: Mapping[str, str] | None = None
) -> Ran:
    """Run a command to its end, apart from this process, and see what it took.

    Raises:
        RuntimeError: it ended with something else than 0 or 1, the codes of a finished run.
    """
    environment = {**os.environ, "NO_COLOR": "1", **(extra or {})}
    # what pip installs is compiled; from a source tree, the first of two runs compiles it
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "usage.json"
        launch = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(report), *command]
        done = subprocess.run(
            launch, capture_output=True, text=True, cwd=folder, env=environment, check=True
        )
        wall, cpu, peak, code = json.loads(report.read_text(encoding="utf-8"))
    if code not in (0, 1):
        raise RuntimeError(f"{' '.join(command)} ended with {code}: {done.stderr}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Ran(wall, cpu, peak * unit, done.stdout, code)


def paired_processes(
    first: Callable[[], Ran], second: Callable[[], Ran], repeats: int, clock: str
) -> tuple[Spread, list[Ran], list[Ran]]:
    """The time of one process over that of another, alternating, and all that both took."""
    first()
    second()
    firsts, seconds = [], []
    for repeat in range(repeats):
        if repeat % 2 == 0:
            firsts.append(first())
            seconds.append(second())
        else:
            seconds.append(second())
            firsts.append(first())
    ratios = [a.time(clock) / b.time(clock) for a, b in zip(firsts, seconds, strict=True)]
    return Spread.of(ratios), firsts, seconds


def report_json(figures: Sequence[Figure], about: Mapping[str, object]) -> str:
    """All figures and what they were measured on, as JSON."""
    listed = [figure.as_json() for figure in figures]
    return json.dumps({"schema": 1, **about, "figures": listed}, indent=2, allow_nan=False) + "\n"
