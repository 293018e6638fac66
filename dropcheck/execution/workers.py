"""Copies of this process that answer questions, for work that the interpreter's lock would hold up.

A copy has all that this process has, so that nothing is read, checked or imported twice; they can
be had only where the system can make such copies. What is asked and answered goes through a pipe.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeAlias, TypeVar

from dropcheck.errors import DropcheckError, Problem

Question = TypeVar("Question")
Answer = TypeVar("Answer")
_Line: TypeAlias = "Connection[Any, Any]"

# Seconds between looks whether the one that asks is still there.
LOOK_AFTER = 0.5
# Questions that a process holds at a time: the one it is at, and one so that it need not wait.
HELD_AT_ONCE = 2


def possible() -> bool:
    """Whether this system can make such copies."""
    return sys.platform == "linux"


@dataclass(slots=True)
class Worker:
    """A process, the line to it, and how many questions it holds."""

    process: BaseProcess
    line: _Line
    held: int = 0


@dataclass(frozen=True, slots=True)
class _Failed:
    """What a process tells of an error."""

    error: Exception


class Workers(Generic[Question, Answer]):
    """A few processes that answer questions, each of them with the same function.

    Raises:
        OSError: where the system makes no more of them.

    >>> if possible():
    ...     with Workers(lambda number: number**2, 2) as workers:
    ...         for worker in workers.free():
    ...             workers.ask(worker, 3)
    ...         print(workers.answer())
    ... else:
    ...     print(9)
    9
    """

    def __init__(self, answer: Callable[[Question], Answer], count: int) -> None:
        self._workers: list[Worker] = []
        try:
            for _ in range(count):
                self._workers.append(_started(answer))
        except OSError:  # no more processes, pipes or memory
            self.__exit__()
            raise

    def __enter__(self) -> Workers[Question, Answer]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.line.close()

    def free(self) -> Iterator[Worker]:
        """Those that can be asked one more question, those that wait first."""
        for held in range(HELD_AT_ONCE):
            yield from (worker for worker in self._workers if worker.held == held)

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return any(worker.held for worker in self._workers)

    def ask(self, worker: Worker, question: Question) -> None:
        """Give one of them a question."""
        worker.line.send(question)
        worker.held += 1

    def answer(self) -> Answer:
        """The next answer, whoever gives it.

        Raises:
            DropcheckError: where a process ended before it answered.
            Exception: what was raised in place of an answer.
        """
        busy = [worker for worker in self._workers if worker.held]
        ready = wait([worker.line for worker in busy])
        worker = next(worker for worker in busy if worker.line in ready)
        worker.held -= 1
        try:
            found: Answer | _Failed = worker.line.recv()
        except (EOFError, ConnectionError):
            raise DropcheckError(
                Problem(
                    "a process of this run ended before its work did, perhaps for want of memory",
                    hint="--threads 1 works in one process alone",
                )
            ) from None
        if isinstance(found, _Failed):
            raise found.error
        return found


def _started(answer: Callable[[Question], Answer]) -> Worker:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_work, args=(os.getpid(), here, there, answer), name="dropcheck", daemon=True
    )
    with warnings.catch_warnings():
        # numpy's own threads are idle, and a thread that shows progress shares nothing with us
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    there.close()
    return Worker(process, here)


def _work(parent: int, ours: _Line, line: _Line, answer: Callable[[Question], Answer]) -> None:
    """In a process: answer until nobody asks."""
    ours.close()  # the end of the one that asks: were it open here, its death would go unseen
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that started it stops it
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            question = line.recv()
            try:
                found: Answer | _Failed = answer(question)
            except Exception as error:
                found = _Failed(error)
            line.send(found)
    os._exit(0)  # what the copy holds of files and terminals is not ours to flush


def _watch(parent: int) -> None:
    """In a process: end with the one that started it, whatever it is at."""
    while os.getppid() == parent:
        time.sleep(LOOK_AFTER)
    os._exit(1)
