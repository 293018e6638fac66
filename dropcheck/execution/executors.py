"""Threads and processes that do work for this process, each a `concurrent.futures.Executor`.

No result depends on which of them does a piece of work, or in what order pieces finish.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from typing import Any, TypeVar

from dropcheck import interrupt
from dropcheck.errors import DropcheckError, Problem
from dropcheck.execution.tuning import tune_for_good, tuned_numpy
from dropcheck.records import record
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.joint_program import Together
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.vocabulary import special

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds after which a worker process checks whether the process that started it still runs.
LOOK_AFTER = 0.5
# Items that each worker has at a time: the one it works on, and some that wait for it.
HANDED_OUT = 3
# For less drawing than this, in seconds, no processes are started: starting takes about as long.
WORTH_PROCESSES = 0.03
# Bytes of a pickled program that is sent with every part of a request. A larger program has long
# arrays, for which threads are as good; with short arrays, they slow each other down.
SMALL_PROGRAM = 2**16
# Nanoseconds: sending a shorter part of a request to a worker takes a visible share of its time.
PART_NANOSECONDS = 4e6
MOST_SPANS_OF_A_PART = 64
# Sending to another machine takes milliseconds, so parts for it are this many times longer.
FARTHER = 50
# How many times workers that ended are replaced; they may lack memory.
MOST_RESTARTS = 3

Lost = Callable[[], None]
"""Called when a worker ended before its work did."""


def can_fork() -> bool:
    """Whether processes can be forked here; they then share this process's memory.

    Not with JAX: it has threads that a forked process lacks, and warns of this in each.
    """
    return sys.platform == "linux" and "jax" not in sys.modules


class Threads(ThreadPoolExecutor):
    """Threads of this process; at the end of the `with` block, work that still waits is dropped."""

    def __init__(self, count: int) -> None:
        super().__init__(count, thread_name_prefix="dropcheck")

    def __exit__(self, *_: object) -> None:
        self.shutdown(wait=False, cancel_futures=True)


class Processes(ProcessPoolExecutor):
    """Worker processes, which end with the `with` block and with the process that started them.

    They are forked where that is safe, and otherwise spawned. They ignore Ctrl-C and SIGTERM, which
    may be sent to a whole group. At the end of the block they are killed, since their work is no
    longer needed.

    Args:
        count: how many processes.
        function: the function that `called` calls in a worker; it is pickled for a spawned one.
        spawn: never fork, so that workers share no memory with this process.

    Raises:
        OSError: the system starts no more processes.

    >>> with Processes(2, abs) as processes:
    ...     processes.submit(called, -3).result()
    3
    """

    def __init__(
        self, count: int, function: Callable[[Any], object] | None = None, *, spawn: bool = False
    ) -> None:
        self._others = set(multiprocessing.active_children())
        context = multiprocessing.get_context("fork" if can_fork() and not spawn else "spawn")
        super().__init__(
            count, mp_context=context, initializer=_begin, initargs=(os.getpid(), function)
        )
        try:
            with warnings.catch_warnings():
                # it warns of forking with threads: numpy's are idle, and ours share nothing
                warnings.simplefilter("ignore", DeprecationWarning)
                self.submit(os.getpid)  # starts all workers that are forked
        except OSError:
            self._kill()
            raise

    def submit(
        self, function: Callable[..., Result], /, *arguments: Any, **options: Any
    ) -> Future[Result]:
        """Call a function; a worker that is started for it ignores interruptions."""
        # Workers inherit blocked signals; a signal that comes now reaches this process a moment
        # later. Windows has no such mask: its workers ignore signals once they are loaded.
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(function, *arguments, **options)
        held = signal.pthread_sigmask(signal.SIG_BLOCK, interrupt.SIGNALS)
        try:
            return super().submit(function, *arguments, **options)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)

    def __exit__(self, *_: object) -> None:
        self._kill()
        self.shutdown(cancel_futures=True)

    def _kill(self) -> None:
        for worker in set(multiprocessing.active_children()) - self._others:
            worker.kill()


_function: Callable[[Any], object] | None = None  # in a worker: the function it was started with


def _begin(parent: int, function: Callable[[Any], object] | None) -> None:
    """In a worker: the first call."""
    global _function  # noqa: PLW0603 - set once, at the start of a worker
    _function = function
    interrupt.ignore()  # the process that started it will end it
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    tuned_numpy().__enter__()


def _end_with(parent: int) -> None:
    """In a worker: end when the process that started it ends."""
    while os.getppid() == parent:
        time.sleep(LOOK_AFTER)
    os._exit(1)


def called(item: Any) -> Any:
    """In a worker: call the function that it was started with."""
    assert _function is not None
    return _function(item)


def shared(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int,
    *,
    executor: Executor | None = None,
    instead: Callable[[Item, Exception], Result] | None = None,
    lost: Lost = lambda: None,
) -> Generator[tuple[Item, Result], None, None]:
    """Each item with a function's result, computed by several processes, in the order of finishing.

    With one worker, this thread does the work. If the system starts no processes, threads do. Work
    of a process that ended is repeated by another.

    Args:
        function: it is pickled if processes cannot be forked.
        items: they are pickled, and taken from the iterable shortly before a worker is free.
        workers: how many processes.
        executor: does the work in place of our own processes.
        instead: computes the result here if the executor loses an item, from the item and the
            error; by default the error is raised.
        lost: called when a worker ended before its work did.

    Raises:
        DropcheckError: workers ended repeatedly.
        Exception: the function raised it.

    >>> sorted(shared(abs, [-1, 2, -3], 2))
    [(-3, 3), (-1, 1), (2, 2)]
    """
    with tuned_numpy():  # forked processes are tuned with this one
        if workers == 1 and executor is None:
            yield from ((item, function(item)) for item in items)
            return
        waiting = iter(items)
        for _ in range(MOST_RESTARTS):
            undone = yield from _handed_out(function, waiting, workers, executor, instead)
            if not undone:
                return
            lost()
            waiting = itertools.chain(undone, waiting)
    message = "processes of this run ended before their work did, perhaps because memory ran out"
    hint = "--threads 1 works in one process alone"
    raise DropcheckError(Problem(message, hint=hint))


def _handed_out(
    function: Callable[[Item], Result],
    waiting: Iterator[Item],
    workers: int,
    executor: Executor | None,
    instead: Callable[[Item, Exception], Result] | None,
) -> Generator[tuple[Item, Result], None, list[Item]]:
    """Hand out items until all are done or workers end; return those that are not done."""
    pool: Executor | contextlib.nullcontext[Executor]
    work: Callable[[Item], Result] = called
    if executor is not None:
        pool, work = contextlib.nullcontext(executor), function
    else:
        try:
            pool = Processes(workers, function)
        except OSError:
            pool, work = Threads(workers), function
    out: dict[Future[Result], Item] = {}
    done: SimpleQueue[Future[Result]] = SimpleQueue()
    item: Item
    with pool as working:

        def hand_out(count: int) -> None:
            for one in itertools.islice(waiting, count):
                future = _submitted(working, work, one)
                out[future] = one
                future.add_done_callback(done.put)

        hand_out(HANDED_OUT * workers)
        while out:
            future = done.get()
            item = out.pop(future)
            try:
                result = future.result()
            except Exception as error:  # errors of our own are raised again
                if instead is not None:
                    result = instead(item, error)
                elif isinstance(error, BrokenExecutor):
                    return [item, *out.values()]
                else:
                    raise
            hand_out(1)
            yield item, result
    return []


def _submitted(
    executor: Executor, function: Callable[..., Result], *arguments: Any
) -> Future[Result]:
    """The future of a call; it holds the error if the executor fails at once."""
    try:
        return executor.submit(function, *arguments)
    except Exception as error:  # its workers are lost
        failed: Future[Result] = Future()
        failed.set_exception(error)
        return failed


@record
class Part:
    """A part of a request, and its future sums."""

    request: Request
    future: Future[SpanSums]


class SpanExecutors(contextlib.ExitStack):
    """Draws the spans of requests, on threads, or on processes if there is enough to draw.

    Processes are better for short arrays, where threads wait for the interpreter's lock. A program
    that cannot be pickled is run by threads.

    Args:
        workers: how many of them.
        processes: whether processes may be started.
        executor: draws in place of our own processes, from the first request on.
        lost: called when a worker ended before its work did.
    """

    def __init__(
        self,
        workers: int,
        *,
        processes: bool = False,
        executor: Executor | None = None,
        lost: Lost = lambda: None,
    ) -> None:
        super().__init__()  # its threads and processes end with the `with` block
        self._workers = workers
        self._may_start = processes
        self._others = executor
        self._own = executor is None
        self._restarts = 0
        self._lost = lost
        self._threads = self.enter_context(Threads(workers))

    def submit(self, request: Request) -> list[Part]:
        """Start drawing a request; return its parts, in order."""
        if self._may_start:
            # Load it here and not in a thread: a process forked meanwhile would wait forever for
            # the lock on the module.
            special.load()
        parts = _parts(request, self._workers, 1 if self._own else FARTHER)
        others = self._worth_starting(request)
        program = None if others is None else _pickled(request.program)
        if others is None or program is None:
            return [Part(part, self._threads.submit(part.carry_out)) for part in parts]
        names = [field.name for field in dataclasses.fields(Request) if field.name != "program"]
        rests = ({name: getattr(part, name) for name in names} for part in parts)
        return [
            Part(part, _submitted(others, _drawn_from, program, rest))
            for part, rest in zip(parts, rests, strict=True)
        ]

    def drawn(self, part: Part) -> SpanSums:
        """The sums of a part, which is drawn here if its worker ended.

        Raises:
            DropcheckError: there is an error in a draw.
        """
        try:
            return part.future.result()
        except DropcheckError:
            raise
        except Exception:  # an error of our own would come again
            if isinstance(part.future.exception(), BrokenExecutor) and self._own:
                self._start_again()
            self._lost()
            return part.request.carry_out()

    def _start_again(self) -> None:
        """Drop processes that ended; the next request starts others, a few times."""
        if self._others is not None:
            self._others = None
            self._restarts += 1
            self._may_start = self._restarts < MOST_RESTARTS

    def _worth_starting(self, request: Request) -> Executor | None:
        """The processes; they are started for the first request that is long enough."""
        if self._others is None and self._may_start and request.wanted >= WORTH_PROCESSES:
            try:
                self._others = self.enter_context(Processes(self._workers))
            except OSError:
                self._may_start = False
        return self._others


def _parts(request: Request, workers: int, longer: int) -> list[Request]:
    """The request in parts long enough to be sent; a short one is still divided among all."""
    cost = request.program.cost * request.program.span_draws
    least = max(1, min(int(longer * PART_NANOSECONDS / cost), -(-request.count // workers)))
    return request.shared(workers, least, longer * MOST_SPANS_OF_A_PART)


class _Small(io.BytesIO):
    """Stores a small program, and stops the pickling of a larger one."""

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > SMALL_PROGRAM:
            raise OverflowError
        return super().write(data)


def _pickled(program: Program | Together) -> bytes | None:
    """A program, pickled; None if it cannot be pickled or is large."""
    small = _Small()
    try:
        ForkingPickler(small).dump(program)
    except Exception:
        return None
    return small.getvalue()


@functools.lru_cache(maxsize=16)
def _loaded(program: bytes) -> Program | Together:
    """In a process: a program; it is loaded once for all its spans."""
    loaded: Program | Together = ForkingPickler.loads(program)
    return loaded


def _drawn_from(program: bytes, rest: dict[str, Any]) -> SpanSums:
    """In a process: the sums of some spans."""
    tune_for_good()
    return Request(program=_loaded(program), **rest).carry_out()
