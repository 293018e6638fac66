"""The settings of a run and their bounds, and the machine it runs on; standard library only."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

# ---- the machine ---------------------------------------------------------------------------------
#
# How many processors this process may use, and the time that work takes of them.
#
# A control group (cgroup) often limits a container to a share of the machine's time. The list of
# processors does not show this quota, and threads beyond it would only be stopped in turns.


class Stopwatch:
    """The time since it was made, of the processor: on a busy machine it stands still.

    It counts all threads, as those of a framework work for the one that calls it, but no second
    more than the clock: others may work beside it.
    """

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        clock, processor = self._start
        return min(time.perf_counter() - clock, time.process_time() - processor)


QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""A container's quota and its period, in microseconds (Linux, cgroups(7), version 2)."""


@lru_cache(maxsize=1)
def default_threads() -> int:
    """The number of threads that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = (len(affinity(0)) if affinity else os.cpu_count()) or 1
    return max(1, math.ceil(min(quota(), count)))


def quota(file: Path = QUOTA) -> float:
    """The processors that a container may use; infinite without a quota."""
    with suppress(OSError, ValueError, ZeroDivisionError):
        most, period = file.read_text(encoding="utf-8").split()
        return float(most.replace("max", "inf")) / float(period)
    return math.inf


DEFAULT_MEMORY = 2**30
"""The default of `Settings.max_memory`, in bytes."""

LEAST_MEMORY, MOST_MEMORY = 2**20, 2**60
"""Bounds of `Settings.max_memory`."""

MOST_DRAWS = 2**62
"""The largest budget in draws: more could not be counted in 64 bits."""

MOST_SEED = 2**64 - 1
"""The largest seed."""

THREADS_A_CORE = 16
"""The most threads for each core: with hundreds a run takes ten times as long."""

MOST_THREADS = 1024
"""The most threads on any machine."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run: error budget, randomness and limits.

    `alpha` is the family-wise error rate of the whole registry. `resolution` overrides that of
    every claim. `max_draws` bounds each case; None means the default budget, which depends on the
    case alone. `time_limit` (seconds) holds for the whole run: the open cases share it, and it
    takes the place of the default budget. With `plain` every value is a new independent draw: no
    pairs of draws that meet in a matrix product are evaluated.
    `max_memory` (bytes) bounds the memory of one draw of a claim, together with its fixed values.
    With `asymptotic` the limit theorem judges what the model does not bound; otherwise such a case
    is undecided, except where code under test draws, for which there is no model. With `exact`
    nothing is drawn: a case is decided by the exact value from its model, or not at all. With
    `draws_only` exact values decide nothing.
    """

    alpha: float = 1e-6
    seed: int = 0
    resolution: float | None = None
    max_draws: int | None = None
    time_limit: float | None = None
    threads: int | None = None
    fail_fast: bool = False
    plain: bool = False
    max_memory: int = DEFAULT_MEMORY
    asymptotic: bool = False
    exact: bool = False
    draws_only: bool = False


def most_threads() -> int:
    """The most threads that a run may have on this machine."""
    return min(MOST_THREADS, THREADS_A_CORE * default_threads())


def one_of(words: Sequence[str]) -> str:
    """A list of alternatives in words.

    >>> one_of(["a", "b", "c"]), one_of(["a", "b"])
    ('a, b or c', 'a or b')
    """
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


# ---- the options of the command line -------------------------------------------------------------

CHOICE, CODE = "What is checked", "Code under test"
LIMITS, WAYS, SHOWN = "How sure, and how long", "How it is judged", "What is shown"
_EVERY = "run plan list show check mutate"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the command line: its name, the commands that have it, and what help says.

    One without a `metavar` has no value. `letter` is its short form. `several`: it may be given
    several times, one without a value to be counted.
    """

    name: str
    of: str
    panel: str
    text: str
    metavar: str = ""
    letter: str = ""
    several: bool = False
    flag: str = ""

    @property
    def spellings(self) -> tuple[str, ...]:
        """What is typed for it: the short form last."""
        flag = self.flag or flag_of(self.name)
        return (flag, self.letter) if self.letter else (flag,)


def flag_of(name: str) -> str:
    """The option of a setting.

    >>> flag_of("max_draws")
    '--max-draws'
    """
    return f"--{name.replace('_', '-')}"


# fmt: off
OPTIONS = (
    Option("file", _EVERY, CHOICE,
           "A claims file, a document or a folder, or 'shipped': the claims that ship with "
           "dropcheck. May be given several times. Default: claims.yaml in this folder.",
           "FILE", "-f", several=True),
    Option("sets", "run plan", CHOICE, "Set a parameter by its name.", "NAME=VALUE",
           several=True, flag="--set"),
    Option("tag", "run plan list mutate", CHOICE, "Only claims with this tag.", "TAG",
           several=True),
    Option("code", "run plan list show", CODE,
           "Also check code that implements the slots of the claims: torch, jax or numpy, or "
           "NAME:SLOT=MODULE:FUNCTION. It is imported and called. May be given several times.",
           "CODE", several=True, flag="--with"),
    Option("dtype", "run plan list show", CODE,
           "The number formats in which code is checked, in place of each claim's own: "
           "float32,bfloat16.", "FORMATS"),
    Option("alpha", "run plan mutate", LIMITS,
           "The probability that any verdict of a full run is wrong. Default: 1e-6.", "NUMBER"),
    Option("resolution", "run plan", LIMITS,
           "The smallest difference to look for, as a share of each claim's scale: "
           "0.01, 1%. Default: the claim's own.", "SHARE"),
    Option("seed", "run plan mutate", LIMITS, "The seed of all draws. Default: 0.", "N|fresh"),
    Option("max_draws", "run plan mutate", LIMITS, "The most draws of a case: 1e6, 2**20.", "N"),
    Option("time_limit", "run", LIMITS,
           "The time that all cases take together, shared by those that stay undecided: 10s, "
           "500ms, 2m.", "TIME"),
    Option("max_memory", "run plan", LIMITS,
           "The memory of one draw and of the fixed values, half for each: 500MB, 2GiB. Default: "
           "1GiB.", "SIZE"),
    Option("threads", "run plan mutate", LIMITS,
           "How many threads draw; no result depends on it. Default: one a processor.", "N"),
    Option("scheduler", "run", LIMITS,
           "Judge on the workers of the Dask cluster at this address, tcp://host:8786. No result "
           "depends on it.", "ADDRESS"),
    Option("plain", "run plan", WAYS,
           "Make a new independent draw for every value, even where independent draws could be "
           "paired."),
    Option("asymptotic", "run plan", WAYS,
           "Judge by the limit theorem what the model does not bound, and mark it so in every "
           "report; without it, that is undecided, except where code draws."),
    Option("exact", "run", WAYS,
           "Draw nothing: decide the cases whose values are known exactly from the model."),
    Option("draws_only", "run plan", WAYS,
           "Decide by draws alone, where the model gives an exact value too."),
    Option("fail_fast", "run", WAYS, "Stop at the first case that fails.", letter="-x"),
    Option("unclaimed", "list", SHOWN,
           "In place of the claims, list the figures and formulas of documents that no mark "
           "speaks of."),
    Option("format", "run", SHOWN, "What to print: {printed}. Default: table.",
           "FORMAT"),
    Option("format", "list check", SHOWN, "What to print. Default: table.",
           "table|json"),
    Option("output", "run", SHOWN,
           "Also write a report to a file. The ending of its name says which kind: "
           "{written}. May be given several times.", "FILE", "-o", several=True),
    Option("plot", "run", SHOWN,
           "Draw the curves of a sweep in the .svg or .png file that -o names."),
    Option("quiet", "run mutate", SHOWN, "Print only what did not pass, and the summary.",
           letter="-q"),
    Option("verbose", "run", SHOWN,
           "Print a row for each statement, and with -vv a row for each case.", letter="-v",
           several=True),
    Option("verbose", "mutate", SHOWN, "Name every mutant that was not refuted.", letter="-v"),
    Option("exit_zero", "run", SHOWN, "Exit with 0 even where cases fail or stay undecided."),
    Option("no_progress", "run plan mutate", SHOWN, "Show no progress on a terminal."),
)
# fmt: on

RUN_OPTIONS = frozenset(
    {one.spellings[0][2:].replace("-", "_") for one in OPTIONS if "run" in one.of} | {"help"}
)
"""The options of `dropcheck run`: a parameter with such a name is set by `--set`."""
