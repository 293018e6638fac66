"""Many cases on a few threads: each asks for spans, judges them, and asks again.

A case is a generator: it yields a `Request`, is sent the sums, and returns its result. Which
thread draws a span, and in what order spans finish, has no part in any result: spans are put
together in their own order before a case sees them.

Under a time limit the cases nearest to their next look go first: so the time brings as many
verdicts as it can, and what decided cases leave goes to those still open.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from heapq import heappop, heappush
from queue import SimpleQueue
from typing import Generic, TypeVar

from dropcheck.simulation.blocks import Request, joined
from dropcheck.simulation.deadline import Deadline
from dropcheck.simulation.program import SpanSums

Result = TypeVar("Result")
Judge = Generator[Request, SpanSums, Result]

# A task shorter than this spends a visible share of its time being handed over.
TASK_NANOSECONDS = 4e6
# Under a time limit, the most drawing that is asked for at a time, in seconds of a thread. A case
# nearer than that to its next look is finished before another is begun; the others wait, ordered
# by how many doublings of it they are away.
TURN_SECONDS = 0.05


@dataclass(slots=True)
class _Active(Generic[Result]):
    """A case under way: its parts still out, and those that are back."""

    index: int
    judge: Judge[Result]
    parts: list[SpanSums | None] = field(default_factory=list)
    missing: int = 0


def _far(request: Request) -> int:
    """How far a case is from its next look, in doublings of one turn."""
    return int(min(request.wanted / TURN_SECONDS, 1e15)).bit_length()


def _tasks(request: Request, threads: int) -> list[Request]:
    """The request in parts for threads to carry out."""
    cost = request.program.cost * request.program.span_draws
    size = max(1, min(64, int(TASK_NANOSECONDS / cost)))
    # a request small enough for one task is still shared among idle threads
    return request.split(max(1, min(size, -(-request.count // threads))))


def default_threads() -> int:
    """As many as this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def drive(
    judges: Iterable[Callable[[], Judge[Result]]],
    threads: int,
    deadline: Deadline | None = None,
) -> Iterator[tuple[int, Result]]:
    """Carry out all cases and yield (place, result) as they finish.

    Without a deadline cases are carried out in their order, and at most a few more than there are
    threads are under way at once, so that memory does not grow with the registry. With one those
    nearest to their next look go first; once it has passed, whatever a case asks for is cut to one
    span, and a case is to look a last time at what it has.
    """
    deadline = deadline or Deadline()
    waiting = deque(enumerate(judges))
    parked: list[tuple[int, int, _Active[Result], Request]] = []  # a heap: the nearest, in order
    owners: dict[Future[SpanSums], tuple[_Active[Result], int]] = {}
    done: SimpleQueue[Future[SpanSums]] = SimpleQueue()
    finished: deque[tuple[int, Result]] = deque()
    active = 0

    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="dropcheck") as pool:

        def submit(case: _Active[Result], request: Request) -> None:
            tasks = request.split(1)[:1] if deadline.passed() else _tasks(request, threads)
            case.parts = [None] * len(tasks)
            case.missing = len(tasks)
            for place, task in enumerate(tasks):
                future = pool.submit(task.carry_out)
                owners[future] = (case, place)
                future.add_done_callback(done.put)

        def proceed(case: _Active[Result], sums: SpanSums | None) -> None:
            """Send sums to a case, and keep what it asks for next, or its result."""
            try:
                request = next(case.judge) if sums is None else case.judge.send(sums)
            except StopIteration as stop:
                finished.append((case.index, stop.value))
                return
            far = _far(request) if deadline.limited else 0
            heappush(parked, (far, case.index, case, request))

        try:
            while waiting or parked or active or finished:
                while finished:
                    yield finished.popleft()
                while active < 2 * threads and (waiting or parked):
                    if not parked or (waiting and (0, waiting[0][0]) < parked[0][:2]):
                        index, start = waiting.popleft()
                        proceed(_Active(index, start()), None)
                        continue
                    _, _, case, request = heappop(parked)
                    submit(case, request)
                    active += 1
                if not owners:
                    continue
                future = done.get()
                case, place = owners.pop(future)
                case.parts[place] = future.result()
                case.missing -= 1
                if not case.missing:
                    active -= 1
                    proceed(case, joined([part for part in case.parts if part is not None]))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
