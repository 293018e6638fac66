"""Threads and processes that work for this one, each a `concurrent.futures.Executor`.

Which of them does a piece of work, and in what order pieces finish, has no part in any result.
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
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
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
from dropcheck.execution.compiled import load_where_it_pays
from dropcheck.execution.tuning import tune_for_good, tuned_numpy
from dropcheck.records import record
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.joint_program import Together
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.vocabulary import special

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds between looks of a worker process whether the process that started it still runs.
LOOK_AFTER = 0.5
# Items that each worker is given at a time: the one it works on, and some so that it need not wait.
HANDED_OUT = 3
# Seconds of drawing below which no processes are started: they take about as long to start.
WORTH_PROCESSES = 0.03
# Bytes of a pickled program that is sent along with every part of a request. A larger one holds
# arrays so long that threads, which get in one another's way where arrays are short, serve as well.
SMALL_PROGRAM = 2**16
# A part of a request shorter than this spends a visible share of its time on its way to a worker.
PART_NANOSECONDS = 4e6
MOST_SPANS_OF_A_PART = 64
# On its way to another machine it spends milliseconds: its parts are so many times longer.
FARTHER = 50
# Workers that end before their work does are replaced: so many times, for they may lack memory.
MOST_RESTARTS = 3

Lost = Callable[[], None]
"""Called where a worker ended before its work did."""


def can_fork() -> bool:
    """Whether processes can be forked here: they then have all that this process has in memory.

    JAX has threads that a process which is forked lacks, and says so in each of them.
    """
    return sys.platform == "linux" and "jax" not in sys.modules


class Threads(ThreadPoolExecutor):
    """Threads of this process; what waits for them at the end of the `with` block is dropped."""

    def __init__(self, count: int) -> None:
        super().__init__(count, thread_name_prefix="dropcheck")

    def __exit__(self, *_: object) -> None:
        self.shutdown(wait=False, cancel_futures=True)


class Processes(ProcessPoolExecutor):
    """Worker processes, which end with the `with` block and with the process that started them.

    They are forked where that is safe, and otherwise spawned. They react neither to Ctrl-C nor to
    SIGTERM, which may be sent to a whole group. What they work on when the block ends is of no use
    to anybody: they are killed.

    Args:
        count: how many.
        function: what `called` calls in a worker; a spawned worker gets it pickled.
        spawn: start with nothing that this process has in memory, also where it can be forked.

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
                # of threads in a process that is forked: numpy's are idle, ours share nothing
                warnings.simplefilter("ignore", DeprecationWarning)
                self.submit(os.getpid)  # which starts all that are forked
        except OSError:
            self._kill()
            raise

    def submit(
        self, function: Callable[..., Result], /, *arguments: Any, **options: Any
    ) -> Future[Result]:
        """Have a function called; a worker that is started for it hears no interruption."""
        # Workers inherit the signals that are held back; one that comes now reaches this process a
        # moment later. Windows has no such thing: its workers ignore them once they are loaded.
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


_function: Callable[[Any], object] | None = None  # in a worker: what it was started for


def _begin(parent: int, function: Callable[[Any], object] | None) -> None:
    """In a worker, before all else."""
    global _function  # noqa: PLW0603 - a worker is given its work once
    _function = function
    interrupt.ignore()  # the process that started it ends it
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    tuned_numpy().__enter__()


def _end_with(parent: int) -> None:
    """In a worker: end with the process that started it, whatever it works on."""
    while os.getppid() == parent:
        time.sleep(LOOK_AFTER)
    os._exit(1)


def called(item: Any) -> Any:
    """In a worker: what the function that it was started with makes of an item."""
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
    """Each item with what a function makes of it, shared by processes, as they finish.

    One worker is this thread. Threads work where the system starts no processes. What a process
    that ended leaves undone is done by another.

    Args:
        function: pickled where processes cannot be forked.
        items: each is pickled, and taken when a worker is soon free for it.
        workers: how many.
        executor: works in place of processes of our own.
        instead: what to make here of an item that this executor loses, and of why; by default it
            is raised.
        lost: called where a worker ended before its work did.

    Raises:
        DropcheckError: workers ended time and again.
        Exception: what the function raises.

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
    hint = "--threads 1 (of audit: --processes 1) works in one process alone"
    raise DropcheckError(Problem(message, hint=hint))


def _handed_out(
    function: Callable[[Item], Result],
    waiting: Iterator[Item],
    workers: int,
    executor: Executor | None,
    instead: Callable[[Item, Exception], Result] | None,
) -> Generator[tuple[Item, Result], None, list[Item]]:
    """Hand items out until none is left, or workers end; what is then undone."""
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
                try:
                    future = working.submit(work, one)
                except Exception as error:  # seen before a future says so
                    future = Future()
                    future.set_exception(error)
                out[future] = one
                future.add_done_callback(done.put)

        hand_out(HANDED_OUT * workers)
        while out:
            future = done.get()
            item = out.pop(future)
            try:
                result = future.result()
            except Exception as error:  # an error of our own comes again
                if instead is not None:
                    result = instead(item, error)
                elif isinstance(error, BrokenExecutor):
                    return [item, *out.values()]
                else:
                    raise
            hand_out(1)
            yield item, result
    return []


@record
class Part:
    """A part of a request, and what is to be its sums."""

    request: Request
    future: Future[SpanSums]


class SpanExecutors(contextlib.ExitStack):
    """What draws the spans of requests: threads, or processes for work that is worth their start.

    Processes serve better wherever arrays are short: threads then wait for the interpreter's lock.
    A program that cannot be pickled is left to threads.

    Args:
        workers: how many draw at a time.
        processes: whether processes may be started.
        executor: draws in place of processes of our own, from the first request on.
        lost: called where a worker ended before its work did.
    """

    def __init__(
        self,
        workers: int,
        *,
        processes: bool = False,
        executor: Executor | None = None,
        lost: Lost = lambda: None,
    ) -> None:
        super().__init__()  # what it holds ends with the `with` block
        self._workers = workers
        self._may_start = processes
        self._others = executor
        self._own = executor is None
        self._restarts = 0
        self._lost = lost
        self._threads = self.enter_context(Threads(workers))

    def submit(self, request: Request) -> list[Part]:
        """Have a request drawn, in parts, in order."""
        if self._may_start:
            # Not by a thread: a process that is forked meanwhile has the lock on the module and
            # nobody to release it.
            special.load()
        parts = _parts(request, self._workers, 1 if self._own else FARTHER)
        others = self._worth_starting(request)
        program = None if others is None else _pickled(request.program)
        if others is None or program is None:
            return [Part(part, self._threads.submit(part.carry_out)) for part in parts]
        names = [field.name for field in dataclasses.fields(Request) if field.name != "program"]
        return [
            Part(part, self._handed(others, program, {name: getattr(part, name) for name in names}))
            for part in parts
        ]

    def _handed(
        self, others: Executor, program: bytes, rest: Mapping[str, Any]
    ) -> Future[SpanSums]:
        try:
            return others.submit(_drawn_from, program, dict(rest))
        except Exception as error:  # its workers are gone
            failed: Future[SpanSums] = Future()
            failed.set_exception(error)
            return failed

    def drawn(self, part: Part) -> SpanSums:
        """The sums of a part that is drawn; what a worker that ended leaves undone is done here.

        Raises:
            DropcheckError: an error in a draw.
        """
        try:
            return part.future.result()
        except DropcheckError:
            raise
        except Exception:  # an error of our own comes again
            if isinstance(part.future.exception(), BrokenExecutor) and self._own:
                self._start_again()
            self._lost()
            return part.request.carry_out()

    def _start_again(self) -> None:
        """Forget processes that ended; others are started for the next request, a few times."""
        if self._others is not None:
            self._others = None
            self._restarts += 1
            self._may_start = self._restarts < MOST_RESTARTS

    def _worth_starting(self, request: Request) -> Executor | None:
        """The processes, started for the first request that is worth it."""
        if self._others is None and self._may_start and request.wanted >= WORTH_PROCESSES:
            try:
                self._others = self.enter_context(Processes(self._workers))
            except OSError:
                self._may_start = False
        return self._others


def _parts(request: Request, workers: int, longer: int) -> list[Request]:
    """The request in parts that are worth handing over; even a small one is shared by all."""
    cost = request.program.cost * request.program.span_draws
    least = max(1, min(int(longer * PART_NANOSECONDS / cost), -(-request.count // workers)))
    return request.shared(workers, least, longer * MOST_SPANS_OF_A_PART)


class _Small(io.BytesIO):
    """Takes a small program, and ends the pickling of a larger one."""

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > SMALL_PROGRAM:
            raise OverflowError
        return super().write(data)


def _pickled(program: Program | Together) -> bytes | None:
    """A program as it is sent; None where it cannot be pickled, or is large."""
    small = _Small()
    try:
        ForkingPickler(small).dump(program)
    except Exception:
        return None
    return small.getvalue()


@functools.lru_cache(maxsize=16)
def _loaded(program: bytes) -> Program | Together:
    """In a process: a program, loaded once however many spans are drawn from it."""
    loaded: Program | Together = ForkingPickler.loads(program)
    return loaded


def _drawn_from(program: bytes, rest: dict[str, Any]) -> SpanSums:
    """In a process: the sums of some spans."""
    tune_for_good()
    load_where_it_pays(rest["wanted"])
    return Request(program=_loaded(program), **rest).carry_out()
