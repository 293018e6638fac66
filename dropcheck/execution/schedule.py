"""Runs many cases on a few workers: each case asks for spans, judges them, and asks again.

A case is a generator: it yields a `Request`, is sent the sums, and returns its result. The spans of
a request are put in order before the case gets them, so no result depends on who draws a span, or
when. A case may also yield a `Task`, which another process carries out whole.

With a time limit, cases take turns: easy ones are decided soon, and the others share the time.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np

from dropcheck import interrupt
from dropcheck.errors import DropcheckError, as_own
from dropcheck.execution.pool import Lost, Workers, submitted, tune_for_good, tuned_numpy
from dropcheck.simulation.blocks import Request, joined
from dropcheck.simulation.program import Program, SpanSums

Result = TypeVar("Result")
Judge = Generator[Request, SpanSums, Result]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A call that another process makes; function, arguments and result can be sent there.

    Where it ended the process that made it, and others, the result is that of `after`, or an error
    without that. A call that cannot be sent is made here.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    after: Callable[[], Any] | None = None
    planned: int = 0
    draws: int = 0

    def carry_out(self) -> Any:
        """The result of the call."""
        return self.function(*self.arguments)


Start = Callable[[], Generator[Request | Task, Any, Result]]
"""Starts a case."""

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
# Cases that are being drawn, for each worker: the one it works on, and some that wait for it.
AHEAD = 2


Clock = Callable[[], float]
"""Seconds since some origin."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of the time for all cases of a run; by default there is none.

    >>> Deadline().left() > 0, Deadline.after(0.0).left() > 0, Deadline.after(60.0).left() > 0
    (True, False, True)
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
        return self.end - self.clock()


@dataclass(frozen=True, slots=True)
class Done(Generic[Result]):
    """The end of a case."""

    result: Result


Asked = TypeVar("Asked", bound=Request | Task)


def advanced(
    judge: Generator[Asked, Any, Result], drawn: object | DropcheckError | None
) -> Asked | Done[Result]:
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
        step = advanced(judge, _or_error(step.carry_out))
    return step.result


def guarded(start: Callable[[], Judge[Result]]) -> Judge[Result | DropcheckError]:
    """The same case, returning its errors, so that they do not end other cases."""
    try:
        return (yield from start())
    except Exception as error:
        return as_own(error)


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
    processes: int = 0,
    spawn: bool = False,
    watch: Callable[[int], None] = lambda _: None,
    plans: Callable[[int, int], None] = lambda _draws, _cases: None,
    lost: Lost = lambda: None,
) -> Iterator[tuple[int, Result]]:
    """Run all cases and yield (position, result) as they finish.

    Without a deadline, cases run in order, and at most a few more than there are threads are active
    at once, so that memory does not grow with the registry. With a deadline, all are begun and take
    turns. After the deadline, each request is cut to one span, and each case should decide by what
    it has.

    Args:
        starts: functions that start the cases.
        threads: how many draw at once; with one, it is the caller's thread.
        deadline: when to stop.
        executor: draws, and carries out tasks, in place of our own threads and processes.
        processes: how many carry out tasks; without any, they are done here.
        spawn: whether processes share no memory with this one.
        watch: called with the draws of each part of a request, when they are made.
        plans: called with the draws that begun cases want before they look again, and how many
            begun cases there are.
        lost: called for work that is done again, because its worker ended.
    """
    with tuned_numpy(), Workers(processes, spawn=spawn) as others:
        own = ThreadPoolExecutor(threads, thread_name_prefix="dropcheck")
        try:
            yield from _Run(
                waiting=deque(enumerate(starts)),
                pool=executor or own,
                others=executor or others,
                longer=FARTHER if executor else 1,
                threads=threads,
                deadline=deadline or Deadline(),
                watch=watch,
                plans=plans,
                lost=lost,
            ).results()
        finally:
            own.shutdown(wait=False, cancel_futures=True)


@dataclass(slots=True)
class _Active(Generic[Result]):
    """An active case, and the parts of its request that are being drawn."""

    index: int
    judge: Generator[Request | Task, Any, Result]
    request: Request | Task = field(init=False)  # its latest
    parts: list[tuple[Request | Task, Future[Any]]] = field(default_factory=list)
    missing: int = 0


@dataclass(slots=True, kw_only=True)
class _Run(Generic[Result]):
    """One run: cases that are not begun, those that wait for draws, and those being drawn."""

    waiting: deque[tuple[int, Start[Result]]]
    pool: Executor
    others: Executor | Workers  # carries out tasks
    longer: int  # parts are so many times longer
    threads: int
    deadline: Deadline
    watch: Callable[[int], None]
    plans: Callable[[int, int], None]
    lost: Lost
    parked: deque[_Active[Result]] = field(default_factory=deque)
    out: int = 0  # cases that are being drawn by workers
    drawn: SimpleQueue[tuple[_Active[Result], int]] = field(default_factory=SimpleQueue)
    finished: deque[tuple[int, Result]] = field(default_factory=deque)
    ahead: dict[int, int] = field(default_factory=dict)  # draws that begun cases want, by index

    def results(self) -> Iterator[tuple[int, Result]]:
        """(position, result) of each case, as they finish."""
        while self.waiting or self.parked or self.out or self.finished:
            if interrupt.heard():  # its exception may be lost, as in an import or a destructor
                raise KeyboardInterrupt
            while self.finished:
                yield self.finished.popleft()
            if self.out < AHEAD * self.threads and (self.waiting or self.parked):
                if self.waiting and (self.deadline.limited or not self.parked):
                    index, start = self.waiting.popleft()
                    self._proceed(_Active(index, start()), None)
                else:
                    self._draw(self.parked.popleft())
            elif self.out:
                self._take_in(*self.drawn.get())

    def _draw(self, case: _Active[Result]) -> None:
        """Draw the request of a case, or have it drawn."""
        request, pool = case.request, self.others
        parts: list[Request | Task] = []
        if isinstance(request, Task):
            parts = [replace(request, after=None)]  # which may not be sent
        else:
            if self.deadline.left() <= 0:
                case.request = request = replace(request, count=1)
            if self.threads == 1 or _is_for_the_caller(request):
                self._proceed(case, _drawn_here(request, self.watch))
                return
            pool, parts = self.pool, [*_parts(request, self.threads, self.longer)]
        case.parts = [(part, submitted(pool, _in_worker, part)) for part in parts]
        case.missing = len(case.parts)
        self.out += 1
        for part, future in case.parts:
            # a future keeps its callbacks: one that refers to the future would form a cycle
            future.add_done_callback(partial(self._put, case, part.draws))

    def _put(self, case: _Active[Result], draws: int, _: object) -> None:
        self.drawn.put((case, draws))

    def _take_in(self, case: _Active[Result], draws: int) -> None:
        """Count a part that is drawn; after the last part, continue the case."""
        self.watch(draws)
        case.missing -= 1
        if case.missing:
            return
        self.out -= 1
        # if several parts have errors, the first in order counts, not the first in time
        found = _or_error(lambda: [self._found(case, *part) for part in case.parts])
        if isinstance(found, DropcheckError):
            self._proceed(case, found)
        else:
            self._proceed(case, found[0] if isinstance(case.request, Task) else joined(found))

    def _found(
        self, case: _Active[Result], part: Request | Task, future: Future[Any]
    ) -> SpanSums | Any:
        """The result of a part; if its worker ended, the part is carried out again.

        Raises:
            DropcheckError: there is an error in a draw.
        """
        task = case.request if isinstance(case.request, Task) else None
        try:
            return future.result()
        except Exception as error:  # an error of our own comes again
            if task is None and isinstance(error, DropcheckError):
                raise
            self.lost()
            if task is not None and isinstance(self.others, Workers):
                return self.others.again(part.carry_out, task.after, error)
            return part.carry_out()

    def _proceed(self, case: _Active[Result], drawn: object | DropcheckError | None) -> None:
        """Send a case its sums or an error; store its next request, or its result."""
        step = advanced(case.judge, drawn)
        if isinstance(step, Done):
            self.ahead.pop(case.index, None)
            self.finished.append((case.index, step.result))
        else:
            self.ahead[case.index] = step.planned
            case.request = step
            self.parked.append(case)
        self.plans(sum(self.ahead.values()), len(self.ahead))


def _parts(request: Request, workers: int, longer: int) -> list[Request]:
    """The request in parts long enough to be sent; a short one is still divided among all."""
    cost = request.program.cost * request.program.span_draws
    least = max(1, min(int(longer * PART_NANOSECONDS / cost), -(-request.count // workers)))
    return request.shared(workers, least, longer * MOST_SPANS_OF_A_PART)


def _in_worker(part: Request | Task) -> Any:
    tune_for_good()
    return part.carry_out()


def _drawn_here(request: Request, watch: Callable[[int], None]) -> SpanSums | DropcheckError:
    def drawn(part: Request) -> SpanSums:
        sums = part.carry_out()
        watch(part.draws)
        return sums

    parts = request.shared(1, WATCHED_SPANS, WATCHED_SPANS)
    return _or_error(lambda: joined([drawn(part) for part in parts]))


def _or_error(work: Callable[[], Result]) -> Result | DropcheckError:
    try:
        return work()
    except Exception as error:  # it ends this case only
        return as_own(error)


def _is_for_the_caller(request: Request) -> bool:
    """Whether a request is drawn in the caller's thread: it is short, or runs the user's code.

    The user's code may depend on its thread (a torch.autocast, a context variable).
    """
    program = request.program
    return program.tests_code or (
        program.cost * program.span_draws * request.count < AT_ONCE_NANOSECONDS
    )


# ---- cases that make the same draws --------------------------------------------------------------
#
# They are run as one case, so that each span is drawn once.


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Result]):
    """A case and its request."""

    place: int
    judge: Judge[Result]
    request: Request

    @property
    def draws(self) -> tuple[int, int, int, str]:
        """A key of the draws that it asks for, in an order with pilots first."""
        request = self.request
        return -request.purpose, request.seed, request.program.span_draws, request.case_key


def together(starts: Sequence[Callable[[], Judge[Result]]]) -> Judge[list[Result]]:
    """The results of cases, in order, each as it would be alone.

    The case that is furthest behind is served first, and others wait for it, so that a span is
    drawn once for all cases that need it.

    Raises:
        DropcheckError: a case raises it, for example for an error in a draw.
    """
    results: dict[int, Result] = {}
    waiting: list[_Waiting[Result]] = []
    known: dict[tuple[int, ...], Program] = {}

    def proceed(place: int, judge: Judge[Result], drawn: SpanSums | DropcheckError | None) -> None:
        step = advanced(judge, drawn)
        if isinstance(step, Done):
            results[place] = step.result
        else:
            waiting.append(_Waiting(place, judge, step))

    for place, start in enumerate(starts):
        proceed(place, start(), None)
    while waiting:
        # one that is drawn alone, or else all that ask for the earliest span
        served = [one for one in waiting if not one.request.program.shared][:1]
        if not served:
            spans = [(*one.draws, one.request.first) for one in waiting]
            earliest = min(spans)
            served = [one for one, span in zip(waiting, spans, strict=True) if span == earliest]
        waiting = [one for one in waiting if one not in served]
        drawn = yield from _drawn(_joined(served, waiting, known))
        if not isinstance(drawn, DropcheckError):
            parts = drawn.members or (drawn,)
            for one, part in zip(served, parts, strict=True):
                own = replace(part, seconds=drawn.seconds / len(parts))
                proceed(one.place, one.judge, own)
        elif len(served) == 1:
            proceed(served[0].place, served[0].judge, drawn)
        else:  # draw each by itself, to see whose error it is
            for one in served:
                proceed(one.place, one.judge, (yield from _drawn(one.request)))
    return [results[place] for place in sorted(results)]


def _drawn(request: Request) -> Judge[SpanSums | DropcheckError]:
    try:
        return (yield request)
    except DropcheckError as error:
        return error


def _joined(
    served: Sequence[_Waiting[Result]],
    others: Sequence[_Waiting[Result]],
    known: dict[tuple[int, ...], Program],
) -> Request:
    """The requests of some cases as one, up to the span for which another case waits."""
    requests = [one.request for one in served]
    first = requests[0]
    if not first.program.shared:
        return first
    ahead = [one.request.first - first.first for one in others if one.draws == served[0].draws]
    count = min([one.count for one in requests] + ahead)
    if len(requests) == 1:
        return replace(first, count=count)
    key = tuple(id(one.program) for one in requests)
    if key not in known:
        known[key] = Program.joined([one.program for one in requests])
    size = known[key].size
    return replace(
        first,
        program=known[key],
        centres=np.array([np.pad(one.centres, (0, size - len(one.centres))) for one in requests]),
        count=count,
    )
