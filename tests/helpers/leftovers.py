"""Processes that are killed, and what a run that ended early may leave behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time


def kill_oneself_or_not(item: int) -> int:
    """What kills its process where it is asked; here it loads little that is spawned."""
    if item == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def workers() -> list[str]:
    """Threads and processes that judge or draw."""
    threads = [t.name for t in threading.enumerate() if t.name.startswith("dropcheck")]
    return threads + [process.name for process in multiprocessing.active_children()]


def no_workers_left() -> bool:
    """Whether all of them end within five seconds."""
    deadline = time.monotonic() + 5
    while workers() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not workers()
