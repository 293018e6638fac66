"""Workers that may end: each has one item at a time, and one that ends takes no other item with it.

They know nothing of this process but what they are sent, so that libraries which bear no fork, and
code that ends its process, are used in them.
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
    """Work that ended the process which did it, and another one."""


class SpawnedProcesses(Threads):
    """Processes that are spawned, each with a thread here that waits for it.

    What a process that ends was doing is done again by a fresh one, once: then the error is
    `EndedTwiceError`.

    Args:
        count: how many.
        lost: called where the work of a process that ended is done again.

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
        """Have a function called in one of the processes.

        Raises:
            Exception: it, or its arguments, cannot be sent.
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
        """Another process for this thread.

        Raises:
            OSError: the system starts no more processes.
            RuntimeError: it ends at once, or is no longer wanted.
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
            self._closed = True  # another one would too
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
    """In a process: what a call gives, once what it prints is out."""
    function, arguments, options = ForkingPickler.loads(parcel)
    try:
        return function(*arguments, **options)
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
