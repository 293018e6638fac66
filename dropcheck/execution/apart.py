"""Workers that may end: each has one item at a time, and losing one does not affect other items.

They share no memory with this process and get only what is sent to them. So they can use libraries
that do not survive a fork, and code that may end its process.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from dropcheck.execution.executors import Lost, Processes, Threads

Result = TypeVar("Result")


class EndedTwiceError(Exception):
    """An item ended the process that worked on it, twice."""


class SpawnedProcesses(Threads):
    """Spawned processes; for each, a thread of this process waits.

    If a process ends during its work, a new one repeats the work once. If that ends too, the error
    is `EndedTwiceError`.

    Args:
        count: how many processes.
        lost: called when work is repeated because a process ended.

    >>> with SpawnedProcesses(1) as workers:
    ...     workers.submit(abs, -3).result()
    3
    """

    def __init__(self, count: int, lost: Lost = lambda: None) -> None:
        super().__init__(count)
        self._lost = lost
        self._own = threading.local()
        self._started: list[Processes] = []
        self._lock = threading.Lock()
        self._closed = False

    def submit(
        self, function: Callable[..., Result], /, *arguments: Any, **options: Any
    ) -> Future[Result]:
        """Call a function in one of the processes.

        Raises:
            Exception: the function or its arguments cannot be sent.
        """
        parcel = bytes(ForkingPickler.dumps((function, arguments, options)))
        return super().submit(self._carried_out, parcel)

    def _carried_out(self, parcel: bytes) -> Any:
        worker: Processes = getattr(self._own, "worker", None) or self._another()
        try:
            return worker.submit(_opened, parcel).result()
        except BrokenExecutor:
            worker.shutdown(wait=False)
            worker = self._another()
            self._lost()
        try:
            return worker.submit(_opened, parcel).result()
        except BrokenExecutor as error:
            worker.shutdown(wait=False)
            self._own.worker = None
            raise EndedTwiceError from error

    def _another(self) -> Processes:
        """A new process for this thread.

        Raises:
            OSError: the system starts no more processes.
            RuntimeError: the process ends at once, or the pool is closed.
        """
        self._own.worker = None
        with self._lock:
            if self._closed:
                raise RuntimeError("there are no workers any more")
            worker = Processes(1, spawn=True)
            self._started.append(worker)
        try:
            worker.submit(os.getpid).result()
        except BrokenExecutor as error:
            self._closed = True  # a further one would end too
            raise RuntimeError("a process that was started ended at once") from error
        self._own.worker = worker
        return worker

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
        for worker in self._started:
            worker.__exit__()
        super().__exit__()


def _opened(parcel: bytes) -> Any:
    """In a process: the result of a call; its output is flushed."""
    function, arguments, options = ForkingPickler.loads(parcel)
    try:
        return function(*arguments, **options)
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
