"""Many cases on a few threads: each asks for spans, judges them, and asks again.

A case is a generator: it yields a `Request`, is sent the sums, and returns its result. Which
thread draws a span, and in what order spans finish, has no part in any result: spans are put
together in their own order before a case sees them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Generic, TypeVar

from dropcheck.simulation.blocks import Request, joined
from dropcheck.simulation.program import SpanSums

Result = TypeVar("Result")
Judge = Generator[Request, SpanSums, Result]

# A task shorter than this spends a visible share of its time being handed over.
TASK_NANOSECONDS = 4e6


@dataclass(slots=True)
class _Active(Generic[Result]):
    """A case under way: its parts still out, and those that are back."""

    index: int
    judge: Judge[Result]
    parts: list[SpanSums | None] = field(default_factory=list)
    missing: int = 0


def default_threads() -> int:
    """As many as this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def drive(
    judges: Iterable[Callable[[], Judge[Result]]], threads: int
) -> Iterator[tuple[int, Result]]:
    """Carry out all cases and yield (place, result) as they finish.

    At most a few cases more than there are threads are under way at once, so that memory does not
    grow with the registry.
    """
    waiting = deque(enumerate(judges))
    owners: dict[Future[SpanSums], tuple[_Active[Result], int]] = {}
    done: SimpleQueue[Future[SpanSums]] = SimpleQueue()
    active = 0
    finished: deque[tuple[int, Result]] = deque()

    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="dropcheck") as pool:

        def submit(case: _Active[Result], request: Request) -> None:
            cost = request.program.cost * request.program.span_draws
            size = max(1, min(64, int(TASK_NANOSECONDS / cost)))
            # a request small enough for one task is still shared among idle threads
            size = max(1, min(size, -(-request.count // threads)))
            tasks = request.split(size)
            case.parts = [None] * len(tasks)
            case.missing = len(tasks)
            for place, task in enumerate(tasks):
                future = pool.submit(task.carry_out)
                owners[future] = (case, place)
                future.add_done_callback(done.put)

        def proceed(case: _Active[Result], sums: SpanSums | None) -> bool:
            """Send sums to a case; whether it asks for more."""
            try:
                request = next(case.judge) if sums is None else case.judge.send(sums)
            except StopIteration as stop:
                finished.append((case.index, stop.value))
                return False
            submit(case, request)
            return True

        try:
            while waiting or active or finished:
                while finished:
                    yield finished.popleft()
                while waiting and active < 2 * threads:
                    index, start = waiting.popleft()
                    active += proceed(_Active(index, start()), None)
                if not owners:
                    continue
                future = done.get()
                case, place = owners.pop(future)
                case.parts[place] = future.result()
                case.missing -= 1
                if not case.missing:
                    sums = joined([part for part in case.parts if part is not None])
                    active -= not proceed(case, sums)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
