"""Who works: threads and processes of this machine, or any `concurrent.futures.Executor`.

No result depends on which of them does a piece of work, or in what order pieces finish.

Processes that judge mathematics are forked where that is safe: they share this process's memory.
Those that call code under test are spawned. They share nothing with this process and get only what
is sent to them, so they can use libraries that do not survive a fork, and code that may end its
process.
"""

from __future__ import annotations

import contextlib
import functools
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
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from dropcheck import interrupt
from dropcheck.errors import DropcheckError, Problem

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds after which a worker process checks whether the process that started it still runs.
LOOK_AFTER = 0.5
# Items that each worker has at a time: the one it works on, and some that wait for it.
HANDED_OUT = 3
# How often work that may have ended a process is tried in one of its own.
TRIES_ALONE = 2
# Seconds in which a scheduler answers.
CONNECT_SECONDS = 20
# How often work may lose its worker on a cluster: after that, it is probably the cause itself.
RETRIES = 3

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
                started = self.submit(os.getpid)  # starts all workers that are forked
            if spawn:
                started.result()
        except (OSError, BrokenExecutor) as error:
            self._kill()
            raise OSError("no process could be started") from error

    def submit(
        self, function: Callable[..., Result], /, *arguments: Any, **options: Any
    ) -> Future[Result]:
        """Call a function; a worker that is started for it ignores interruptions.

        Raises:
            Exception: the function or its arguments cannot be sent.
        """
        parcel = bytes(ForkingPickler.dumps((function, arguments, options)))
        # Workers inherit blocked signals; a signal that comes now reaches this process a moment
        # later. Windows has no such mask: its workers ignore signals once they are loaded.
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(_opened, parcel)
        held = signal.pthread_sigmask(signal.SIG_BLOCK, interrupt.SIGNALS)
        try:
            return super().submit(_opened, parcel)
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


def _opened(parcel: bytes) -> Any:
    """In a worker: the result of a call; if it cannot be unpacked, that is its error."""
    function, arguments, options = ForkingPickler.loads(parcel)
    try:
        return function(*arguments, **options)
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()


class EndedTwiceError(DropcheckError):
    """An item ended the process that worked on it, and another one."""


def shared(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int,
    *,
    executor: Executor | None = None,
    spawn: bool = False,
    instead: Callable[[Item, Exception], Result] | None = None,
    lost: Lost = lambda: None,
) -> Generator[tuple[Item, Result], None, None]:
    """Each item with a function's result, computed by several processes, in the order of finishing.

    With one worker, this thread does the work. If the system starts no processes, threads do. Where
    a process ends, each item that was handed out is done again, in a process of its own.

    Args:
        function: it is pickled if processes are not forked.
        items: they are pickled, and taken from the iterable shortly before a worker is free.
        workers: how many processes.
        executor: does the work in place of our own processes.
        spawn: whether processes share no memory with this one.
        instead: computes the result of an item here, from the item and the error that it met; by
            default the error is raised.
        lost: called where a worker ended before its work did.

    Raises:
        EndedTwiceError: an item ended its process, and another one.
        Exception: the function raised it.

    >>> sorted(shared(abs, [-1, 2, -3], 2))
    [(-3, 3), (-1, 1), (2, 2)]
    """

    def known(item: Item, compute: Callable[[], Result]) -> tuple[Item, Result]:
        try:
            return item, compute()
        except Exception as error:
            if instead is None:
                raise
            return item, instead(item, error)

    with tuned_numpy():  # forked processes are tuned with this one
        if workers == 1 and executor is None:
            yield from ((item, function(item)) for item in items)
            return
        waiting = iter(items)
        while True:
            undone: list[Item] = []
            with contextlib.ExitStack() as stack:
                pool, work = executor, function
                if pool is None:
                    own, work = _started(function, workers, spawn=spawn)
                    pool = stack.enter_context(own)
                for item, future in _handed_out(pool, work, waiting, HANDED_OUT * workers):
                    if _ended(pool, future):
                        undone.append(item)
                    else:
                        yield known(item, future.result)
            if not undone:
                return
            lost()
            for item in undone:
                yield known(item, functools.partial(_alone, function, item, spawn=spawn))


def _started(
    function: Callable[[Item], Result], workers: int, *, spawn: bool
) -> tuple[Executor, Callable[[Item], Result]]:
    """Workers of this machine, and what to submit to them."""
    try:
        return Processes(workers, function, spawn=spawn), called
    except OSError:  # code that survives no fork may bear no threads beside it
        return Threads(1 if spawn else workers), function


def _handed_out(
    pool: Executor, work: Callable[[Item], Result], waiting: Iterator[Item], most: int
) -> Iterator[tuple[Item, Future[Result]]]:
    """Each item with its future, which is done; no further ones follow once a worker ended."""
    out: dict[Future[Result], Item] = {}
    done: SimpleQueue[Future[Result]] = SimpleQueue()
    following = itertools.islice(waiting, most)
    while True:
        for item in following:
            future = submitted(pool, work, item)
            out[future] = item
            future.add_done_callback(done.put)
        if not out:
            return
        future = done.get()
        following = itertools.islice(waiting, 0 if _ended(pool, future) else 1)
        yield out.pop(future), future


def _ended(pool: Executor, future: Future[Any]) -> bool:
    """Whether one of our processes ended before its work did."""
    return isinstance(pool, Processes) and isinstance(future.exception(), BrokenExecutor)


def _alone(function: Callable[[Item], Result], item: Item, *, spawn: bool) -> Result:
    """The result of an item, computed in a process of its own."""
    for _ in range(TRIES_ALONE):
        with contextlib.suppress(BrokenExecutor), Processes(1, function, spawn=spawn) as process:
            result: Result = process.submit(called, item).result()
            return result
    message = "processes of this run ended before their work did, perhaps because memory ran out"
    raise EndedTwiceError(Problem(message, hint="--threads 1 works in one process alone"))


def submitted(
    executor: Executor, function: Callable[..., Result], *arguments: Any
) -> Future[Result]:
    """The future of a call; it holds the error if the executor fails at once."""
    try:
        return executor.submit(function, *arguments)
    except Exception as error:  # its workers are lost
        failed: Future[Result] = Future()
        failed.set_exception(error)
        return failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Workers other than this process's: an executor, and their number."""

    executor: Executor
    workers: int

    @property
    def at_once(self) -> int:
        """How many parts are handed out: a worker that is done has another one waiting."""
        return 2 * self.workers


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Pool]:
    """The workers of the Dask cluster whose scheduler is at an address, `tcp://host:8786`.

    Raises:
        DropcheckError: Dask is not installed, or no scheduler answers at the address.
    """
    try:
        from distributed import Client
    except ImportError:
        message = "option '--scheduler' needs Dask, which is not installed"
        raise DropcheckError(Problem(message, hint="pip install distributed")) from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        message = f"option '--scheduler': no Dask scheduler answers at {address[:200]!r}"
        raise DropcheckError(Problem(message, hint="its address reads tcp://host:8786")) from error
    # pure=False: two equal parts of a run are both computed
    with client, client.get_executor(pure=False, retries=RETRIES) as executor:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        yield Pool(executor=executor, workers=max(1, sum(client.nthreads().values())))


def of_lost(count: int) -> tuple[str, ...]:
    """The note of a run on workers that ended before their work did."""
    if not count:
        return ()
    times = "once" if count == 1 else f"{count} times"
    return (f"a worker ended before its work did, {times}; the work was done again",)


@contextlib.contextmanager
def tuned_numpy() -> Iterator[None]:
    """Settings with which numpy draws spans at full speed on as many threads as we use.

    Its libraries use one thread each: more threads inside every small matrix product slow ours down
    (measured: up to forty times slower on two cores).

    The arrays of a span reuse the memory of the previous span. glibc returns memory that is freed
    at the end of a heap to the system, and new zeroed pages for every span cost up to half of its
    time (measured). It stops doing so below twice the size of the largest block that was ever
    mapped and freed (mallopt(3), M_MMAP_THRESHOLD). So one block of 16 MiB is mapped and freed; it
    is never written, and takes no memory. Without glibc, this has no effect.
    """
    import numpy as np

    np.empty(2**24, dtype=np.uint8)
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@functools.lru_cache(maxsize=1)
def _libraries(_modules: int) -> ThreadpoolController:
    """The libraries of this process; they are searched for again when a new module is imported.

    Searching takes a millisecond, as long as many claims take.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@functools.lru_cache(maxsize=1)
def tune_for_good() -> None:
    """In a worker process: tune numpy until the process ends."""
    tuned_numpy().__enter__()
