"""Many cases on a few processes: judging is Python, whose lock lets one thread at a time go on.

Processes are copies of this one, so that nothing is read, checked or imported twice: only where
the system can make such copies. Which process judges a case has no part in its result.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeAlias, TypeVar

from dropcheck.errors import DropcheckError, Problem
from dropcheck.simulation.schedule import (
    Judge,
    carried_out,
    keep_freed_memory,
    one_layer_of_threads,
)

Result = TypeVar("Result")
Starter = Callable[[], Judge[Result]]
_Line: TypeAlias = "Connection[Any, Any]"

# Cases that a process holds at a time: the one under way, and one so that it need not wait.
HELD_AT_ONCE = 2
# Fewer cases than this a process do not pay for it, or leave processes idle at the end.
CASES_A_PROCESS = 4


def worth_processes(cases: int, threads: int) -> bool:
    """Whether so many cases are better judged by processes than by threads."""
    return sys.platform == "linux" and threads > 1 and cases >= CASES_A_PROCESS * threads


@dataclass(frozen=True, slots=True)
class _Worker:
    """A process and the line to it."""

    process: BaseProcess
    line: _Line


@dataclass(frozen=True, slots=True)
class _Judged(Generic[Result]):
    """What a process tells of a case: its result."""

    place: int
    result: Result


@dataclass(frozen=True, slots=True)
class _Failed:
    """What a process tells of an error, which ends the run."""

    error: Exception


def drive_in_processes(
    judges: Sequence[Starter[Result]], processes: int
) -> Iterator[tuple[int, Result]]:
    """Carry out all cases and yield (place, result) as they finish.

    Raises:
        DropcheckError: where a process ended before its cases did.
        Exception: what a judge raised.
    """
    keep_freed_memory()
    with one_layer_of_threads():
        workers = [_started(judges) for _ in range(processes)]
        try:
            yield from _results(workers, len(judges))
        finally:
            for worker in workers:
                worker.process.kill()
                worker.process.join()
                worker.line.close()


def _results(workers: Sequence[_Worker], cases: int) -> Iterator[tuple[int, Result]]:
    lines = {worker.line: 0 for worker in workers}  # cases that each holds
    following = 0
    while True:
        for line in sorted(lines, key=lines.__getitem__):
            while lines[line] < HELD_AT_ONCE and following < cases:
                line.send(following)
                lines[line] += 1
                following += 1
        busy = [line for line, held in lines.items() if held]
        if not busy:
            return
        ready = wait(busy)
        for line in (line for line in busy if line in ready):
            told: _Judged[Result] = _heard(line)
            lines[line] -= 1
            yield told.place, told.result


def _heard(line: _Line) -> _Judged[Result]:
    try:
        told: _Judged[Result] | _Failed = line.recv()
    except (EOFError, ConnectionError):
        raise DropcheckError(
            Problem(
                "a process that judged cases ended before they did, perhaps for want of memory",
                hint="--threads 1 uses one process alone",
            )
        ) from None
    if isinstance(told, _Failed):
        raise told.error
    return told


def _started(judges: Sequence[Starter[Result]]) -> _Worker:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_work, args=(there, judges), name="dropcheck", daemon=True
    )
    with warnings.catch_warnings():
        # numpy's own threads are idle, and a thread that shows progress shares nothing with us
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    there.close()
    return _Worker(process, here)


def _work(line: _Line, judges: Sequence[Starter[Result]]) -> None:
    """In a process: judge the cases asked for, until nobody asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that started it stops it
    with contextlib.suppress(EOFError, OSError):
        while True:
            place = line.recv()
            try:
                told: _Judged[Result] | _Failed = _Judged(place, carried_out(judges[place]()))
            except Exception as error:
                told = _Failed(error)
            line.send(told)
    os._exit(0)  # what the copy holds of files and terminals is not ours to flush
