"""Runs many cases on a few workers: each case asks for spans, judges them, and asks again.

A case is a generator: it yields a `Request`, is sent the sums, and returns its result. The spans of
a request are put in order before the case gets them, so no result depends on who draws a span, or
when.

With a time limit, cases that are nearest to their next look come first, so that the time gives as
many verdicts as possible. The time that is left is shared by cases that cannot reach a next look.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from queue import SimpleQueue
from typing import Generic, TypeVar

from dropcheck.errors import DropcheckError
from dropcheck.execution.pool import Lost, Threads, submitted, tune_for_good, tuned_numpy
from dropcheck.simulation.blocks import Request, joined
from dropcheck.simulation.program import SpanSums

Result = TypeVar("Result")
Judge = Generator[Request, SpanSums, Result]
Start = Callable[[], Judge[Result]]
"""Starts a case."""

# With a time limit, the most drawing that is requested at a time, in seconds of one thread. A case
# that is nearer to its next look is finished before another is begun. Others wait, in the order of
# how many doublings of this they need.
TURN_SECONDS = 0.05
# The cost of a request, in nanoseconds, up to which it is drawn in the caller's thread: sending it
# would take about as long.
AT_ONCE_NANOSECONDS = 1e6
# Nanoseconds: sending a shorter part of a request to a worker takes a visible share of its time.
PART_NANOSECONDS = 4e6
MOST_SPANS_OF_A_PART = 64
# Sending to another machine takes milliseconds, so parts for it are this many times longer.
FARTHER = 50
# Spans that are drawn here before progress is reported again.
WATCHED_SPANS = 128


Clock = Callable[[], float]
"""Seconds since some origin."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of the time for all cases of a run; by default there is none.

    >>> Deadline().passed(), Deadline.after(0.0).passed(), Deadline.after(60.0).passed()
    (False, True, False)
    """

    end: float = math.inf
    clock: Clock = time.perf_counter

    @classmethod
    def after(cls, seconds: float | None, clock: Clock = time.perf_counter) -> Deadline:
        """A deadline so many seconds from now; None: there is none."""
        return cls(math.inf if seconds is None else clock() + seconds, clock)

    @property
    def limited(self) -> bool:
        """Whether there is a deadline."""
        return self.end < math.inf

    def left(self) -> float:
        """Seconds until the deadline; negative after it."""
        return self.end - self.clock() if self.limited else math.inf

    def passed(self) -> bool:
        """Whether the time is up."""
        return self.limited and self.clock() >= self.end


@dataclass(frozen=True, slots=True)
class Done(Generic[Result]):
    """The end of a case."""

    result: Result


def advanced(
    judge: Judge[Result], drawn: SpanSums | DropcheckError | None
) -> Request | Done[Result]:
    """Send a case its sums, or the error in its draws; return its next request or its result."""
    try:
        match drawn:
            case None:
                return next(judge)
            case DropcheckError():
                return judge.throw(drawn)
            case _:
                return judge.send(drawn)
    except StopIteration as stop:
        return Done(stop.value)


def carried_out(judge: Judge[Result]) -> Result:
    """Run one case in this thread, and return its result.

    Raises:
        DropcheckError: the case raises it, for example for an error in a draw.
    """
    step = advanced(judge, None)
    while isinstance(step, Request):
        step = advanced(judge, _drawn_here(step))
    return step.result


def guarded(start: Start[Result]) -> Judge[Result | DropcheckError]:
    """The same case, returning its errors, so that they do not end other cases."""
    try:
        return (yield from start())
    except DropcheckError as error:
        return error


def in_order(results: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """Results in the order of their positions, each as soon as all earlier ones are there.

    If it is interrupted, it yields the finished results first.

    >>> list(in_order([(1, "b"), (0, "a"), (2, "c")]))
    ['a', 'b', 'c']
    """
    finished: dict[int, Result] = {}
    following = 0
    interrupted: KeyboardInterrupt | None = None
    try:
        for place, result in results:
            finished[place] = result
            while following in finished:
                yield finished.pop(following)
                following += 1
    except KeyboardInterrupt as error:
        interrupted = error
    yield from (result for _, result in sorted(finished.items(), key=lambda item: item[0]))
    if interrupted is not None:
        raise interrupted


def drive(
    starts: Iterable[Start[Result]],
    threads: int,
    deadline: Deadline | None = None,
    *,
    executor: Executor | None = None,
    watch: Callable[[int], None] = lambda _: None,
    plans: Callable[[int, int], None] = lambda _draws, _cases: None,
    lost: Lost = lambda: None,
) -> Iterator[tuple[int, Result]]:
    """Run all cases and yield (position, result) as they finish.

    Without a deadline, cases run in order, and at most a few more than there are threads are active
    at once, so that memory does not grow with the registry. With a deadline, cases that are nearest
    to their next look come first, and those that cannot reach it share the remaining time. After
    the deadline, each request is cut to one span, and each case should decide by what it has.

    Args:
        starts: functions that start the cases.
        threads: how many draw at once; with one, it is the caller's thread.
        deadline: when to stop.
        executor: draws in place of our own threads.
        watch: called with the draws of each part of a request, when they are made.
        plans: called with the draws that begun cases want before they look again, and how many
            begun cases there are.
        lost: called when a worker ended before its work did.
    """
    with tuned_numpy(), Threads(threads) as own:
        pool = own if executor is None else executor
        longer = 1 if executor is None else FARTHER
        run = _Run(starts, pool, longer, threads, deadline or Deadline(), watch, plans, lost)
        yield from run.results()


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a request, and its future sums."""

    request: Request
    future: Future[SpanSums]


@dataclass(slots=True)
class _Active(Generic[Result]):
    """An active case, and the parts of its request that are being drawn."""

    index: int
    judge: Judge[Result]
    request: Request = field(init=False)  # its latest
    parts: list[_Part] = field(default_factory=list)
    missing: int = 0
    spent: float = 0.0  # seconds of drawing, over all threads


class _Run(Generic[Result]):
    """One run: cases that are not begun, those that wait for draws, and those being drawn.

    Without a deadline, cases wait in their order. With one, cases that can reach their next look
    come first, the nearest first; then the others, those with the least drawing first. Both are
    measured in doublings of a turn, so that the order seldom changes.
    """

    def __init__(
        self,
        starts: Iterable[Start[Result]],
        pool: Executor,
        longer: int,
        threads: int,
        deadline: Deadline,
        watch: Callable[[int], None],
        plans: Callable[[int, int], None],
        lost: Lost,
    ) -> None:
        self._deadline = deadline
        self._waiting = deque(enumerate(starts))
        self._parked: list[tuple[bool, int, int, _Active[Result]]] = []  # a heap
        self._out = 0  # cases that are being drawn by workers
        self._drawn: SimpleQueue[tuple[_Active[Result], int]] = SimpleQueue()
        self._finished: deque[tuple[int, Result]] = deque()
        self._pool = pool
        self._longer = longer  # parts are so many times longer
        self._threads = threads
        self._watch = watch
        self._plans = plans
        self._ahead: dict[int, int] = {}  # draws that begun cases want, by their index
        self._lost = lost

    def results(self) -> Iterator[tuple[int, Result]]:
        """(position, result) of each case, as they finish."""
        while self._waiting or self._parked or self._out or self._finished:
            while self._finished:
                yield self._finished.popleft()
            if self._out < 2 * self._threads and (self._waiting or self._parked):
                following = (False, 0, self._waiting[0][0]) if self._waiting else None
                if following and not (self._parked and self._parked[0][:3] < following):
                    index, start = self._waiting.popleft()
                    self._proceed(_Active(index, start()), None)
                else:
                    self._draw(self._next_parked())
            elif self._out:
                self._take_in(*self._drawn.get())

    def _park(self, case: _Active[Result]) -> None:
        late, turns = self._late(case), 0
        if self._deadline.limited:
            seconds = case.spent if late else case.request.wanted
            turns = int(min(seconds / TURN_SECONDS, 1e15)).bit_length()
        heappush(self._parked, (late, turns, case.index, case))

    def _next_parked(self) -> _Active[Result]:
        late, _, _, case = heappop(self._parked)
        while not late and self._late(case):  # it was within reach before
            self._park(case)
            late, _, _, case = heappop(self._parked)
        return case

    def _late(self, case: _Active[Result]) -> bool:
        left = self._deadline.left() * self._threads
        return self._deadline.limited and case.request.wanted > left

    def _draw(self, case: _Active[Result]) -> None:
        """Draw the request of a case, or have it drawn."""
        if self._deadline.passed():
            case.request = replace(case.request, count=1)
        request = case.request
        if self._threads == 1 or _is_for_the_caller(request):
            self._proceed(case, _drawn_here(request, self._watch))
            return
        case.parts = [
            _Part(part, submitted(self._pool, _drawn_in_worker, part))
            for part in _parts(request, self._threads, self._longer)
        ]
        case.missing = len(case.parts)
        self._out += 1
        for part in case.parts:
            # a future keeps its callbacks: one that refers to the part would form a cycle
            part.future.add_done_callback(partial(self._put, case, part.request.draws))

    def _put(self, case: _Active[Result], draws: int, _: object) -> None:
        self._drawn.put((case, draws))

    def _take_in(self, case: _Active[Result], draws: int) -> None:
        """Count a part that is drawn; after the last part, continue the case."""
        self._watch(draws)
        case.missing -= 1
        if case.missing:
            return
        self._out -= 1
        # if several parts have errors, the first in order counts, not the first in time
        sums = _sums_or_error(lambda: joined([self._sums_of(part) for part in case.parts]))
        self._proceed(case, sums)

    def _sums_of(self, part: _Part) -> SpanSums:
        """The sums of a part, which is drawn here if its worker ended.

        Raises:
            DropcheckError: there is an error in a draw.
        """
        try:
            return part.future.result()
        except DropcheckError:
            raise
        except Exception:  # an error of our own comes again
            self._lost()
            return part.request.carry_out()

    def _proceed(self, case: _Active[Result], drawn: SpanSums | DropcheckError | None) -> None:
        """Send a case its sums or an error; store its next request, or its result."""
        if isinstance(drawn, SpanSums):
            case.spent += drawn.seconds
        step = advanced(case.judge, drawn)
        if isinstance(step, Done):
            self._ahead.pop(case.index, None)
            self._finished.append((case.index, step.result))
        else:
            self._ahead[case.index] = step.planned
            case.request = step
            self._park(case)
        self._plans(sum(self._ahead.values()), len(self._ahead))


def _parts(request: Request, workers: int, longer: int) -> list[Request]:
    """The request in parts long enough to be sent; a short one is still divided among all."""
    cost = request.program.cost * request.program.span_draws
    least = max(1, min(int(longer * PART_NANOSECONDS / cost), -(-request.count // workers)))
    return request.shared(workers, least, longer * MOST_SPANS_OF_A_PART)


def _drawn_in_worker(request: Request) -> SpanSums:
    tune_for_good()
    return request.carry_out()


def _drawn_here(
    request: Request, watch: Callable[[int], None] = lambda _: None
) -> SpanSums | DropcheckError:
    def drawn(part: Request) -> SpanSums:
        sums = part.carry_out()
        watch(part.draws)
        return sums

    parts = request.shared(1, WATCHED_SPANS, WATCHED_SPANS)
    return _sums_or_error(lambda: joined([drawn(part) for part in parts]))


def _sums_or_error(draw: Callable[[], SpanSums]) -> SpanSums | DropcheckError:
    try:
        return draw()
    except DropcheckError as error:  # it ends this case only
        return error


def _is_for_the_caller(request: Request) -> bool:
    """Whether a request is drawn in the caller's thread: it is short, or runs the user's code.

    The user's code may depend on its thread (a torch.autocast, a context variable).
    """
    program = request.program
    return program.tests_code or (
        program.cost * program.span_draws * request.count < AT_ONCE_NANOSECONDS
    )
