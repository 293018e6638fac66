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
from pathlib import Path, PurePosixPath


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


GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


@lru_cache(maxsize=1)
def default_threads() -> int:
    """The number of threads that this process may use."""
    return threads_within(quota())


def threads_within(allowed: float) -> int:
    """The number of processors to run on, or the quota `allowed`, rounded up, if that is less.

    >>> threads_within(0.5)
    1
    """
    count = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0)) or 1
    return max(1, min(count, math.ceil(min(allowed, count))))


def quota(own: Path = OWN, groups: Path = GROUPS) -> float:
    """The processors that the control groups of this process may use; infinite without a quota.

    Args:
        own: the file that names the group of the process.
        groups: the folder of all groups, of version 2 (Linux, cgroups(7)).
    """
    lowest = math.inf
    with suppress(OSError, ValueError):
        for line in own.read_text(encoding="utf-8").splitlines():
            number, controllers, path = line.split(":", 2)
            if number == "0" and not controllers:
                group = PurePosixPath(path.lstrip("/"))
                # those around it limit it too
                lowest = min(_of(groups / one) for one in (group, *group.parents))
    return lowest


def _of(folder: Path) -> float:
    with suppress(OSError, ValueError):
        most, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
        if most != "max" and float(period) > 0:
            return float(most) / float(period)
    return math.inf
