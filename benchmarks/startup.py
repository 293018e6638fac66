"""Parts f and g: whole processes, their start and their memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Bar, Figure, Ran, Spread, paired_processes, run_process

ROOT = Path(__file__).resolve().parent.parent
LIGHT = "import typer, rich.table"
# typer completes through pydantic, which nothing else loads
COMPLETING = "import typer, pydantic.type_adapter, rich.table"
READING = "import numpy, typer, rich.table"
HEAVY = "import numpy, scipy.special, typer, rich.table"
COMPLETION = {
    "_DROPCHECK_COMPLETE": "complete_bash",
    "COMP_WORDS": "dropcheck run qk-",
    "COMP_CWORD": "2",
}
# Modules that a run of plain normals has no use for.
UNUSED = ("scipy.stats", "scipy.linalg", "scipy.optimize", "torch", "matplotlib", "pandas")
LOADED = """
import json, sys
from dropcheck.cli import main
main(sys.argv[1:])
print(json.dumps(sorted(sys.modules)))
"""


# What a run enters of our own: its modules and functions, counted by the interpreter.
ENTERED = """
import sys
seen = set()
def enter(frame, event, _):
    code = frame.f_code
    # a function that is written: not a module, a class or what a dataclass makes
    if event == "call" and code.co_flags & 1 and code.co_filename != "<string>":
        seen.add((frame.f_globals.get("__name__", "?"), code.co_qualname, code.co_firstlineno))
sys.setprofile(enter)
from dropcheck.cli import main
main(sys.argv[1:])
sys.setprofile(None)
import collections, json
own = {one for one in seen if one[0].startswith("dropcheck") and "<" not in one[1].split(".")[-1]}
rooms = collections.Counter(one[0].rpartition(".")[0] or one[0] for one in own)
modules = {name for name in sys.modules if name == "dropcheck" or name.startswith("dropcheck.")}
print(json.dumps([len({one[0] for one in own}), len(own), len(modules), rooms.most_common()]))
"""

ONE_CLAIM = """\
dropcheck: 1
claims:
  mean-square:
    title: The mean square of a standard normal is 1
    model: x ~ normal(0, 1)
    claim: E(x**2) == 1
"""


def python(code: str) -> Ran:
    """Run a line of Python in a process of its own."""
    return run_process([sys.executable, "-c", code])


def dropcheck(*arguments: str, **environment: str) -> Ran:
    """Run the command line on the shipped claims."""
    return run_process([sys.executable, "-m", "dropcheck", *arguments], ROOT, environment)


def starting(repeats: int, clock: str) -> Iterator[Figure]:
    """Part f: what only looks, over the import of what it is built with."""
    with TemporaryDirectory() as folder:
        small = Path(folder, "claims.yaml")
        small.write_text(ONE_CLAIM, encoding="utf-8")
        yield from _starting(small, repeats, clock)
    command = [sys.executable, "-c", LOADED, "run", "qk-mean.term", "--quiet"]
    loaded = set(json.loads(run_process(command, ROOT).output.strip().splitlines()[-1]))
    needless = [name for name in UNUSED if name in loaded]
    note = ", ".join(needless) or f"of {', '.join(UNUSED)}"
    count = Spread.of([float(len(needless))])
    yield Figure("f", "modules that a run loads without need", count, "", Bar(0.0), note)


def entered() -> Iterator[Figure]:
    """Part f: how many of our own modules and functions one run enters."""
    command = [sys.executable, "-c", ENTERED, "run", "qk-variance", "--set", "dk=512", "--quiet"]
    output = run_process(command, ROOT).output.strip().splitlines()[-1]
    modules, functions, loaded, rooms = json.loads(output)
    note = f"{loaded} loaded; {', '.join(f'{name} {count}' for name, count in rooms)}"
    for what, count, bar in (("modules", modules, 90.0), ("functions", functions, 550.0)):
        name = f"{what} of ours that run qk-variance enters"
        yield Figure("f", name, Spread.of([float(count)]), "", Bar(bar), note)


def _starting(small: Path, repeats: int, clock: str) -> Iterator[Figure]:
    for name, arguments, environment, base, bar in (
        ("--help", ("--help",), {}, LIGHT, 2.0),
        ("list", ("list",), {}, LIGHT, 2.0),
        ("check of one claim", ("check", str(small)), {}, READING, 1.3),
        ("check", ("check",), {}, READING, None),
        ("completion", (), COMPLETION, COMPLETING, 2.0),
    ):
        times, _, _ = paired_processes(
            partial(dropcheck, *arguments, **environment),
            partial(python, base),
            repeats,
            clock,
        )
        limit = None if bar is None else Bar(bar)
        yield Figure("f", f"{name}, over `{base}`", times, bar=limit)


def running(repeats: int, clock: str, threads: int | None = None) -> Iterator[Figure]:
    """Part g: a full run, over the import of what it needs; and its peak of memory."""
    options = [] if threads is None else ["--threads", str(threads)]
    times, runs, bare = paired_processes(
        lambda: dropcheck("run", "all", "--quiet", "--no-progress", *options),
        lambda: python(HEAVY),
        repeats,
        clock,
    )
    summary = runs[-1].output.strip().splitlines()[-1]
    yield Figure("g", f"run all, over `{HEAVY}`", times, note=summary)
    cpu = Spread.of([a.cpu / b.cpu for a, b in zip(runs, bare, strict=True)])
    yield Figure("g", "the same in processor time of all threads", cpu)
    peaks = Spread.of([run.peak / 1e6 for run in runs])
    yield Figure("g", "run all: peak memory", peaks, " MB", Bar(250.0))
