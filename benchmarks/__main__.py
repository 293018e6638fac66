"""All benchmarks with one command: `python -m benchmarks` (or `python benchmarks`).

Prints a line a figure, with its spread and the bar that it should clear, and writes JSON.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

if __package__ in (None, ""):  # `python benchmarks`: the folder itself, not what it lies in
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

# a library's own threads inside ours would be measured with them
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from benchmarks.measure import CLOCKS, Figure, report_json  # noqa: E402 - the path and the threads are set first

PARTS = "abcdefghijk"
RESULTS = Path(__file__).resolve().parent.parent / ".benchmark_cache" / "results.json"


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only", type=_parts, default=[*PARTS], metavar="a,d", help="the parts to run"
    )
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="small sizes, no bars")
    parser.add_argument("--repeats", type=int, help="pairs of runs a ratio [default: 5]")
    parser.add_argument(
        "--clock", choices=sorted(CLOCKS), default="wall",
        help="cpu is fairer to ratios where the machine has other work; d is always by the wall",
    )  # fmt: skip
    given = parser.parse_args(arguments)
    given.repeats = given.repeats or (2 if given.quick else 5)
    return given


def _parts(text: str) -> list[str]:
    """The parts that an option names, in order."""
    asked = {part.strip() for part in text.split(",")}
    unknown = asked.difference(PARTS)
    if unknown:
        named = ", ".join(map(repr, sorted(unknown)))
        raise argparse.ArgumentTypeError(f"no part is {named}: there are {', '.join(PARTS)}")
    return [part for part in PARTS if part in asked]


def figures(given: argparse.Namespace) -> Iterator[Figure]:
    """Every figure of the parts asked for, as it is measured."""
    from benchmarks import (
        code_calls,
        draw_counts,
        families,
        floor,
        growth,
        looks,
        recurrences,
        scripts,
        startup,
        threads,
    )
    from dropcheck.claims.reader import read_registry

    registry = read_registry(Path(__file__).resolve().parent.parent / "claims.yaml")
    clock, repeats, quick = CLOCKS[given.clock], given.repeats, given.quick
    values = 2e5 if quick else 4e6
    parts: dict[str, Callable[[], Iterator[Figure]]] = {
        # on one thread each: copies of the process take longer to make than these few draws
        "a": lambda: floor.measured(registry, 1, repeats, clock, values),
        "b": lambda: scripts.measured(min(repeats, 3), quick=quick),
        "c": draw_counts.measured,
        "d": lambda: threads.measured(registry, repeats, 20 * values),
        "e": lambda: growth.measured(repeats, clock, quick=quick),
        "f": lambda: chain(startup.entered(), startup.starting(repeats, given.clock)),
        "g": lambda: chain(
            startup.running(1 if quick else min(repeats, 3), given.clock),
            floor.whole(registry, clock, quick=quick),
        ),
        "h": lambda: looks.measured(registry),
        "i": lambda: families.measured(min(repeats, 3), clock, quick=quick),
        "j": lambda: recurrences.measured(repeats, clock, quick=quick),
        "k": lambda: code_calls.measured(min(repeats, 3), clock, quick=quick),
    }
    for part in given.only:
        for figure in parts[part]():
            # what takes milliseconds is mostly what a call costs: nothing to hold a bar against
            yield replace(figure, bar=None) if quick else figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; 1 where a bar is missed, else 0, as always with `--quick`."""
    given = _parsed(sys.argv[1:] if arguments is None else arguments)
    found = []
    for figure in figures(given):
        found.append(figure)
        sys.stdout.write(figure.line() + "\n")
        sys.stdout.flush()
    import numpy
    import scipy

    from dropcheck import __version__

    about = {
        "version": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load": list(os.getloadavg()),
        "clock": given.clock,
        "quick": given.quick,
    }
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(report_json(found, about), encoding="utf-8")
    missed = [figure for figure in found if figure.holds is False]
    bars = [figure for figure in found if figure.bar is not None]
    hold = "no bars" if given.quick else f"bars that hold: {len(bars) - len(missed)} of {len(bars)}"
    sys.stdout.write(f"{hold} · {given.json}\n")
    for figure in missed:
        sys.stdout.write(f"missed: {figure.line()}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
