"""How many processors this process may use, and the time that work takes of them.

A control group (cgroup) often limits a container to a share of the machine's time. The list of
processors does not show this quota, and threads beyond it would only be stopped in turns.
"""

from __future__ import annotations

import math
import os
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path


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
