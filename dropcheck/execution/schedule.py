"""Many cases on a few threads: each asks for spans, judges them, and asks again.

A case is a generator: it yields a `Request`, is sent the sums, and returns its result. Which
thread draws a span, and in what order spans finish, has no part in any result: spans are put
together in their own order before a case sees them.

Under a time limit the cases nearest to their next look go first, so that the time brings as many
verdicts as it can. What decided cases leave is shared by those whose next look is out of reach.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Generic, TypeVar

from dropcheck.errors import DropcheckError
from dropcheck.execution.deadline import Deadline
from dropcheck.execution.executors import Done, Hands, Processes, Threads
from dropcheck.simulation.blocks import Request, joined
from dropcheck.simulation.program import SpanSums

Result = TypeVar("Result")
Judge = Generator[Request, SpanSums, Result]

# A task shorter than this spends a visible share of its time being handed over.
TASK_NANOSECONDS = 4e6
# Under a time limit, the most drawing that is asked for at a time, in seconds of a thread. A case
# nearer than that to its next look is finished before another is begun; the others wait, ordered
# by how many doublings of it they are away.
TURN_SECONDS = 0.05
# What a request may cost, in rough nanoseconds, to be carried out where it is made: handing it over
# would take about as long.
AT_ONCE_NANOSECONDS = 1e6


@dataclass(slots=True)
class _Active(Generic[Result]):
    """A case under way: its parts still out, and those that are back."""

    index: int
    judge: Judge[Result]
    parts: list[SpanSums | None] = field(default_factory=list)
    broken: dict[int, DropcheckError] = field(default_factory=dict)
    missing: int = 0
    spent: float = 0.0  # seconds of drawing, over all threads


_Place = tuple[_Active[Result], int]
"""A case, and the place of a part among those that it waits for."""


class _Queue(Generic[Result]):
    """Cases that wait for their next draws: without a deadline in their order.

    With one those first that can reach their next look, the nearest first, then the others, those
    first that were drawn for least; either in doublings of a turn, so that few change places.
    """

    def __init__(self, deadline: Deadline, threads: int) -> None:
        self._deadline = deadline
        self._threads = threads
        self._heap: list[tuple[bool, int, int, _Active[Result], Request]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, case: _Active[Result], request: Request) -> None:
        late, turns = self._late(request), 0
        if self._deadline.limited:
            seconds = case.spent if late else request.wanted
            turns = int(min(seconds / TURN_SECONDS, 1e15)).bit_length()
        heappush(self._heap, (late, turns, case.index, case, request))

    def pop(self) -> tuple[_Active[Result], Request]:
        late, _, _, case, request = heappop(self._heap)
        while not late and self._late(request):  # it was within reach once
            self.push(case, request)
            late, _, _, case, request = heappop(self._heap)
        return case, request

    def precedes(self, index: int) -> bool:
        """Whether some case here comes before a new one at this place."""
        return bool(self._heap) and self._heap[0][:3] < (False, 0, index)

    def _late(self, request: Request) -> bool:
        if not self._deadline.limited:
            return False
        return request.wanted > self._deadline.left() * self._threads


def _tasks(request: Request, threads: int) -> list[Request]:
    """The request in parts for threads to carry out."""
    cost = request.program.cost * request.program.span_draws
    size = max(1, min(64, int(TASK_NANOSECONDS / cost)))
    # a request small enough for one task is still shared among idle threads
    return request.split(max(1, min(size, -(-request.count // threads))))


def _drawn_here(request: Request) -> bool:
    """Whether a request is drawn in the caller's thread: it is short, or runs the user's code.

    What the user's code finds in its thread (a torch.autocast, a context variable) is the caller's.
    """
    program = request.program
    return program.calls_own_code or (
        program.cost * program.span_draws * request.count < AT_ONCE_NANOSECONDS
    )


def one_layer_of_threads() -> AbstractContextManager[object]:
    """Lets numpy's libraries use one thread each, for as long as spans are drawn on ours.

    A second layer of threads inside every small matrix product gets in their way (measured: up to
    forty times slower on two cores).
    """
    import numpy as np  # noqa: F401 - its libraries must be loaded to be told
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


def keep_freed_memory() -> None:
    """Lets the arrays of one span be made from the memory of the last one's.

    glibc hands what is freed at the end of a heap back to the system, and zeroed pages taken anew
    for every span cost up to half of its time (measured). It stops doing so below twice the size
    of the largest block that was ever mapped and freed (mallopt(3), M_MMAP_THRESHOLD): one of 16
    MiB, which is never touched and so takes no memory. Elsewhere this does nothing.
    """
    import numpy as np

    np.empty(2**24, dtype=np.uint8)


def drive(
    judges: Iterable[Callable[[], Judge[Result]]],
    threads: int,
    deadline: Deadline | None = None,
    *,
    copies: bool = False,
) -> Iterator[tuple[int, Result]]:
    """Carry out all cases and yield (place, result) as they finish.

    Without a deadline cases are carried out in their order, and at most a few more than there are
    threads are under way at once, so that memory does not grow with the registry. With one those
    nearest to their next look go first, and those that cannot reach it in the time that is left
    share what remains; once the deadline has passed, whatever a case asks for is cut to one span,
    and a case is to look a last time at what it has.

    Args:
        judges: what starts each case.
        threads: how many draw at once.
        deadline: when to stop.
        copies: whether copies of this process may draw in place of threads, which hold one another
            up wherever arrays are short.
    """
    keep_freed_memory()
    hands: Hands[_Place[Result]] = Threads(threads)
    if copies and threads > 1:
        hands = Processes(threads)
    with one_layer_of_threads(), hands:
        yield from _Run(judges, hands, threads, deadline or Deadline()).results()


def carried_out(judge: Judge[Result]) -> Result:
    """One case alone, from its first request to its result, all in this thread.

    Raises:
        DropcheckError: what the judge makes of an error met while drawing.
    """
    try:
        request = next(judge)
        while True:
            found = request.attempted()
            if isinstance(found, DropcheckError):
                request = judge.throw(found)
            else:
                request = judge.send(found)
    except StopIteration as stop:
        result: Result = stop.value
        return result


class _Run(Generic[Result]):
    """One run: cases not begun, those that wait for draws, and those whose spans are out."""

    def __init__(
        self,
        judges: Iterable[Callable[[], Judge[Result]]],
        hands: Hands[_Place[Result]],
        threads: int,
        deadline: Deadline,
    ) -> None:
        self._waiting = deque(enumerate(judges))
        self._parked: _Queue[Result] = _Queue(deadline, threads)
        self._finished: deque[tuple[int, Result]] = deque()
        self._out = 0  # cases whose spans are out
        self._hands = hands
        self._threads = threads
        self._deadline = deadline

    def results(self) -> Iterator[tuple[int, Result]]:
        """(place, result) of each case, as they finish."""
        while self._waiting or self._parked or self._out or self._finished:
            while self._finished:
                yield self._finished.popleft()
            while self._out < 2 * self._threads and (self._waiting or self._parked):
                if self._waiting and not self._parked.precedes(self._waiting[0][0]):
                    index, start = self._waiting.popleft()
                    self._proceed(_Active(index, start()), None)
                else:
                    self._submit(*self._parked.pop())
            if self._out:
                self._take_in(self._hands.next_done())

    def _submit(self, case: _Active[Result], request: Request) -> None:
        late = self._deadline.passed()
        tasks = request.split(1)[:1] if late else _tasks(request, self._threads)
        case.parts = [None] * len(tasks)
        case.missing = len(tasks)
        self._out += 1
        if _drawn_here(request):
            for place, task in enumerate(tasks):
                self._take_in(Done((case, place), task.attempted()))
            return
        for place, task in enumerate(tasks):
            self._hands.give((case, place), task)

    def _take_in(self, done: Done[_Place[Result]]) -> None:
        """Keep what came back; once all of a case's parts are there, let it go on."""
        case, place = done.token
        if isinstance(done.found, DropcheckError):  # ends this case alone
            case.broken[place] = done.found
        else:
            case.parts[place] = done.found
        case.missing -= 1
        if case.missing:
            return
        self._out -= 1
        if case.broken:
            self._proceed(case, case.broken[min(case.broken)])  # the first in order, not in time
            return
        sums = joined([part for part in case.parts if part is not None])
        case.spent += sums.seconds
        self._proceed(case, sums)

    def _proceed(self, case: _Active[Result], found: SpanSums | DropcheckError | None) -> None:
        """Tell a case its sums, or what went wrong; keep what it asks for, or its result."""
        try:
            if isinstance(found, DropcheckError):
                request = case.judge.throw(found)
            else:
                request = next(case.judge) if found is None else case.judge.send(found)
        except StopIteration as stop:
            self._finished.append((case.index, stop.value))
            return
        self._parked.push(case, request)
