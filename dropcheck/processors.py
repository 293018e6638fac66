"""How many processors this process may use: those it may run on, and what its container is given.

A container is often held to a share of the machine by a quota of its control group (cgroup), which
the list of processors does not show: more threads than it gives would only be stopped in turns.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath

GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


@lru_cache(maxsize=1)
def default_threads() -> int:
    """As many threads as this process may use."""
    return threads_within(quota())


def threads_within(allowed: float) -> int:
    """As many threads as there are processors to run on, or fewer where the quota is smaller.

    >>> threads_within(0.5)
    1
    """
    count = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0)) or 1
    return max(1, min(count, math.ceil(min(allowed, count))))


def quota(own: Path = OWN, groups: Path = GROUPS) -> float:
    """How many processors the control groups of this process may use; infinite without a quota.

    Args:
        own: the file that names the groups, a line for each hierarchy.
        groups: the folder of their files, of version 2 or of version 1 (Linux, cgroups(7)).
    """
    lowest = math.inf
    with suppress(OSError, ValueError):
        for line in own.read_text(encoding="utf-8").splitlines():
            number, controllers, path = line.split(":", 2)
            if number == "0" and not controllers:
                found = (_of_version_2(folder) for folder in _folders(groups, path))
            elif "cpu" in controllers.split(","):
                top = groups / "cpu"
                found = (_of_version_1(folder) for folder in _folders(top, path))
            else:
                continue
            lowest = min(lowest, *found)
    return lowest


def _folders(top: Path, path: str) -> Iterator[Path]:
    """The folders of a group and of those that it is in, as far as they are to be seen."""
    group = PurePosixPath(path.lstrip("/"))
    for part in (group, *group.parents):
        yield top / part


def _of_version_2(folder: Path) -> float:
    with suppress(OSError, ValueError):
        most, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
        if most != "max" and float(period) > 0:
            return float(most) / float(period)
    return math.inf


def _of_version_1(folder: Path) -> float:
    with suppress(OSError, ValueError):
        most, period = (
            float((folder / f"cpu.cfs_{name}_us").read_text(encoding="utf-8"))
            for name in ("quota", "period")
        )
        if most > 0 and period > 0:
            return most / period
    return math.inf
