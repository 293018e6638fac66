"""Many cases on a few threads: each asks for spans, judges them, and asks again.

A case is a generator: it yields a `Request`, is sent the sums, and returns its result. Which
thread draws a span, and in what order spans finish, has no part in any result: spans are put
together in their own order before a case sees them.

Under a time limit the cases take turns: the one that has been drawn for least goes first, so that
no case keeps another from its verdict, and what decided cases leave goes to those still open.
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
# Drawing, in seconds of one thread, before a case lets others go first under a time limit; its
# next turns double, so that few cases are under way at once and none is far ahead of another.
TURN_SECONDS = 0.05


@dataclass(slots=True)
class _Active(Generic[Result]):
    """A case under way: what it asks for next, its parts still out, and those that are back."""

    index: int
    judge: Judge[Result]
    request: Request | None = None
    spent: float = 0.0  # seconds of drawing, over all threads
    parts: list[SpanSums | None] = field(default_factory=list)
    missing: int = 0

    @property
    def turns(self) -> int:
        """How many turns it has had: none, one, and one more for each doubling of its time."""
        return int(self.spent / TURN_SECONDS).bit_length()


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
    threads are under way at once, so that memory does not grow with the registry. With one they
    take turns; once it has passed, whatever a case asks for is cut to one span, which tells no
    case more than that it must end: `Deadline.passed` does.
    """
    deadline = deadline or Deadline()
    waiting = deque(enumerate(judges))
    parked: list[tuple[int, int, _Active[Result]]] = []  # a heap: fewest turns, then place
    owners: dict[Future[SpanSums], tuple[_Active[Result], int]] = {}
    done: SimpleQueue[Future[SpanSums]] = SimpleQueue()
    finished: deque[tuple[int, Result]] = deque()
    active = 0

    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="dropcheck") as pool:

        def submit(case: _Active[Result], request: Request) -> None:
            cost = request.program.cost * request.program.span_draws
            size = max(1, min(64, int(TASK_NANOSECONDS / cost)))
            # a request small enough for one task is still shared among idle threads
            size = max(1, min(size, -(-request.count // threads)))
            if deadline.passed():
                request, size = request.split(1)[0], 1
            tasks = request.split(size)
            case.parts = [None] * len(tasks)
            case.missing = len(tasks)
            for place, task in enumerate(tasks):
                future = pool.submit(task.carry_out)
                owners[future] = (case, place)
                future.add_done_callback(done.put)

        def proceed(case: _Active[Result], sums: SpanSums | None) -> None:
            """Send sums to a case, and keep what it asks for next, or its result."""
            try:
                case.request = next(case.judge) if sums is None else case.judge.send(sums)
            except StopIteration as stop:
                finished.append((case.index, stop.value))
                return
            turns = case.turns if deadline.limited else 0
            heappush(parked, (turns, case.index, case))

        try:
            while waiting or parked or active or finished:
                while finished:
                    yield finished.popleft()
                while active < 2 * threads and (waiting or parked):
                    if not parked or (waiting and (0, waiting[0][0]) < parked[0][:2]):
                        index, start = waiting.popleft()
                        proceed(_Active(index, start()), None)
                        continue
                    case = heappop(parked)[-1]
                    if case.request is not None:
                        submit(case, case.request)
                        active += 1
                if not owners:
                    continue
                future = done.get()
                case, place = owners.pop(future)
                case.parts[place] = future.result()
                case.missing -= 1
                if not case.missing:
                    active -= 1
                    sums = joined([part for part in case.parts if part is not None])
                    case.spent += sums.seconds
                    proceed(case, sums)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
