"""Many cases on a few workers: each asks for spans, judges them, and asks again.

A case is a generator: it yields a `Request`, is sent the sums, and returns its result. Spans are
put together in their own order before a case sees them, so that it has no part in any result who
draws a span, and when.

Under a time limit the cases nearest to their next look go first, so that the time brings as many
verdicts as it can. What decided cases leave is shared by those whose next look is out of reach.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from queue import SimpleQueue
from typing import Generic, TypeVar

from dropcheck.errors import DropcheckError
from dropcheck.execution.compiled import load_where_it_pays
from dropcheck.execution.executors import Lost, Part, SpanExecutors
from dropcheck.execution.tuning import tuned_numpy
from dropcheck.records import record
from dropcheck.simulation.blocks import Request, joined
from dropcheck.simulation.program import SpanSums

Result = TypeVar("Result")
Judge = Generator[Request, SpanSums, Result]
Start = Callable[[], Judge[Result]]
"""What starts a case."""

# Under a time limit, the most drawing that is asked for at a time, in seconds of a thread. A case
# nearer than that to its next look is finished before another is begun; the others wait, ordered
# by how many doublings of it they are away.
TURN_SECONDS = 0.05
# What a request may cost, in rough nanoseconds, to be drawn in the caller's thread: handing it over
# would take about as long.
AT_ONCE_NANOSECONDS = 1e6
# A case that asks for more drawing at once is shared by all workers, not done by one of them: the
# others may be idle for as long as it took to see that. Where many cases wait, none is: it may ask
# for as much once more for so many cases that each worker will have.
LIGHT_SECONDS = 0.25
KEEP_BUSY = 25
# Spans that are drawn here before the next word of how far it is.
WATCHED_SPANS = 128
# Numbers that go with a case from the worker that began it; one that was given more begins anew.
MOST_GIVEN = 2**20


Clock = Callable[[], float]
"""Seconds from some origin."""


@record
class Deadline:
    """The end of the time that all cases of a run share; without one it never comes.

    >>> Deadline().passed(), Deadline.after(0.0).passed(), Deadline.after(60.0).passed()
    (False, True, False)
    """

    end: float = math.inf
    clock: Clock = time.perf_counter

    @classmethod
    def after(cls, seconds: float | None, clock: Clock = time.perf_counter) -> Deadline:
        """So many seconds from now; None: never."""
        return cls(math.inf if seconds is None else clock() + seconds, clock)

    @property
    def limited(self) -> bool:
        """Whether it can come at all."""
        return self.end < math.inf

    def left(self) -> float:
        """Seconds until then; negative once it has passed."""
        return self.end - self.clock() if self.limited else math.inf

    def passed(self) -> bool:
        """Whether the time is up."""
        return self.limited and self.clock() >= self.end


@record
class Done(Generic[Result]):
    """The end of a case."""

    result: Result


def advanced(
    judge: Judge[Result], drawn: SpanSums | DropcheckError | None
) -> Request | Done[Result]:
    """What a case asks for next, given what was drawn or the error in it; or its end."""
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
    """One case alone, from its first request to its result, all in this thread.

    Raises:
        DropcheckError: what the judge makes of an error in a draw.
    """
    step = advanced(judge, None)
    while isinstance(step, Request):
        step = advanced(judge, _drawn_here(step))
    return step.result


@record
class Begun:
    """A case that is not done yet: what it was given so far, which is so many draws."""

    given: tuple[SpanSums | DropcheckError, ...] = ()
    draws: int = 0


def carried_out_while_light(judge: Judge[Result], waiting: float = 0.0) -> Done[Result] | Begun:
    """As `carried_out`, until a case asks for more than others should wait for.

    `waiting` are the cases that each worker will have after it.
    """
    most = LIGHT_SECONDS * max(1.0, waiting / KEEP_BUSY)
    given: list[SpanSums | DropcheckError] = []
    draws = numbers = 0
    step = advanced(judge, None)
    while isinstance(step, Request):
        if step.wanted > most:
            judge.close()
            return Begun(tuple(given), draws) if numbers <= MOST_GIVEN else Begun()
        drawn = _drawn_here(step)
        if isinstance(drawn, SpanSums):
            numbers += _numbers(drawn)
            draws += step.draws
        if numbers <= MOST_GIVEN:
            given.append(drawn)
        step = advanced(judge, drawn)
    return step


def resumed(start: Start[Result], given: Iterable[SpanSums | DropcheckError]) -> Judge[Result]:
    """A case that goes on from what it was given elsewhere: it asks for the same again."""
    judge = start()
    step = advanced(judge, None)
    for each in given:
        step = advanced(judge, each)
    while isinstance(step, Request):
        try:
            drawn: SpanSums | DropcheckError = yield step
        except DropcheckError as error:
            drawn = error
        step = advanced(judge, drawn)
    return step.result


def guarded(start: Start[Result]) -> Judge[Result | DropcheckError]:
    """The same case, its errors returned, so that one case does not end the others."""
    try:
        return (yield from start())
    except DropcheckError as error:
        return error


def in_order(results: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """Results in the order of their places, each as soon as all before it are there.

    An interruption yields what is finished before it goes on.

    >>> list(in_order([(1, "b"), (0, "a"), (2, "c")]))
    ['a', 'b', 'c']
    """
    held: dict[int, Result] = {}
    following = 0
    interrupted: KeyboardInterrupt | None = None
    try:
        for place, result in results:
            held[place] = result
            while following in held:
                yield held.pop(following)
                following += 1
    except KeyboardInterrupt as error:
        interrupted = error
    yield from (result for _, result in sorted(held.items(), key=lambda item: item[0]))
    if interrupted is not None:
        raise interrupted


def drive(
    starts: Iterable[Start[Result]],
    threads: int,
    deadline: Deadline | None = None,
    *,
    processes: bool = False,
    executor: Executor | None = None,
    watch: Callable[[int], None] = lambda _: None,
    lost: Lost = lambda: None,
) -> Iterator[tuple[int, Result]]:
    """Carry out all cases and yield (place, result) as they finish.

    Without a deadline cases are carried out in their order, and at most a few more than there are
    threads are under way at once, so that memory does not grow with the registry. With one those
    nearest to their next look go first, and those that cannot reach it in the time that is left
    share what remains; once the deadline has passed, whatever a case asks for is cut to one span,
    and a case is to look a last time at what it has.

    Args:
        starts: what starts each case.
        threads: how many draw at once; one is the caller's thread.
        deadline: when to stop.
        processes: whether processes may draw in place of threads.
        executor: draws in place of processes of our own.
        watch: called with the draws of each part of a request, when they are there.
        lost: called where a worker ended before its work did.
    """
    drawing = SpanExecutors(threads, processes=processes, executor=executor, lost=lost)
    with tuned_numpy(), drawing as executors:
        yield from _Run(starts, executors, threads, deadline or Deadline(), watch).results()


@dataclass(slots=True)
class _Active(Generic[Result]):
    """A case under way, and the parts of its request that are being drawn."""

    index: int
    judge: Judge[Result]
    request: Request = field(init=False)  # its latest
    parts: list[Part] = field(default_factory=list)
    missing: int = 0
    spent: float = 0.0  # seconds of drawing, over all threads


class _Run(Generic[Result]):
    """One run: cases not begun, those that wait for draws, and those whose spans are drawn.

    Without a deadline cases wait for their next draws in their order. With one those first that can
    reach their next look, the nearest first, then the others, those first that were drawn for
    least; either in doublings of a turn, so that few change places.
    """

    def __init__(
        self,
        starts: Iterable[Start[Result]],
        executors: SpanExecutors,
        threads: int,
        deadline: Deadline,
        watch: Callable[[int], None],
    ) -> None:
        self._deadline = deadline
        self._waiting = deque(enumerate(starts))
        self._parked: list[tuple[bool, int, int, _Active[Result]]] = []  # a heap
        self._out = 0  # cases whose spans are drawn elsewhere
        self._drawn: SimpleQueue[tuple[_Active[Result], int]] = SimpleQueue()
        self._finished: deque[tuple[int, Result]] = deque()
        self._executors = executors
        self._threads = threads
        self._watch = watch

    def results(self) -> Iterator[tuple[int, Result]]:
        """(place, result) of each case, as they finish."""
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
        while not late and self._late(case):  # it was within reach once
            self._park(case)
            late, _, _, case = heappop(self._parked)
        return case

    def _late(self, case: _Active[Result]) -> bool:
        left = self._deadline.left() * self._threads
        return self._deadline.limited and case.request.wanted > left

    def _draw(self, case: _Active[Result]) -> None:
        """Have the request of a case drawn."""
        if self._deadline.passed():
            case.request = replace(case.request, count=1)
        request = case.request
        if self._threads == 1 or _is_for_the_caller(request):
            self._proceed(case, _drawn_here(request, self._watch))
            return
        load_where_it_pays(request.wanted)  # before processes are forked, which then have it
        case.parts = self._executors.submit(request)
        case.missing = len(case.parts)
        self._out += 1
        for part in case.parts:
            # a future keeps its callbacks: one that held the part would keep the sums in a cycle
            part.future.add_done_callback(partial(self._put, case, part.request.draws))

    def _put(self, case: _Active[Result], draws: int, _: object) -> None:
        self._drawn.put((case, draws))

    def _take_in(self, case: _Active[Result], draws: int) -> None:
        """Once all parts of a case's request are drawn, let it go on."""
        self._watch(draws)
        case.missing -= 1
        if case.missing:
            return
        self._out -= 1
        # an error is that of the first part in order, not in time
        drawn = self._executors.drawn
        self._proceed(case, _sums_or_error(lambda: joined([drawn(part) for part in case.parts])))

    def _proceed(self, case: _Active[Result], drawn: SpanSums | DropcheckError | None) -> None:
        """Give a case what was drawn, or the error in it; keep what it asks for, or its result."""
        if isinstance(drawn, SpanSums):
            case.spent += drawn.seconds
        step = advanced(case.judge, drawn)
        if isinstance(step, Done):
            self._finished.append((case.index, step.result))
        else:
            case.request = step
            self._park(case)


def _numbers(drawn: SpanSums) -> int:
    return drawn.sums.size + sum(map(_numbers, drawn.members))


def _drawn_here(
    request: Request, watch: Callable[[int], None] = lambda _: None
) -> SpanSums | DropcheckError:
    load_where_it_pays(request.wanted)

    def drawn(part: Request) -> SpanSums:
        sums = part.carry_out()
        watch(part.draws)
        return sums

    parts = request.shared(1, WATCHED_SPANS, WATCHED_SPANS)
    return _sums_or_error(lambda: joined([drawn(part) for part in parts]))


def _sums_or_error(draw: Callable[[], SpanSums]) -> SpanSums | DropcheckError:
    try:
        return draw()
    except DropcheckError as error:  # it ends this case alone
        return error


def _is_for_the_caller(request: Request) -> bool:
    """Whether a request is drawn in the caller's thread: it is short, or runs the user's code.

    What the user's code finds in its thread (a torch.autocast, a context variable) is the caller's.
    """
    program = request.program
    return program.calls_own_code or (
        program.cost * program.span_draws * request.count < AT_ONCE_NANOSECONDS
    )
