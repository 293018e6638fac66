"""Who works: processes of this machine, or any `concurrent.futures.Executor`.

No result depends on which of them does a piece of work, or in what order pieces finish.

Processes that judge mathematics are forked where that is safe: they share this process's memory.
Those that call code under test are spawned. They share nothing with this process and get only what
is sent to them, so they can use libraries that do not survive a fork, and code that may end its
process.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from dropcheck import interrupt
from dropcheck.errors import DropcheckError, Problem

Result = TypeVar("Result")

# Seconds after which a worker process checks whether the process that started it still runs.
LOOK_AFTER = 0.5
# How often work that may have ended a process is tried where nothing else is done meanwhile.
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


class _Spawned(SpawnProcess):
    """A worker that ends when its executor, which lost another one, terminates it."""

    terminate = SpawnProcess.kill  # SIGTERM is ignored


class _Spawning(SpawnContext):
    Process = _Spawned


def _forking() -> Any:
    """The same of workers that are forked, which no system but Linux has here."""
    context: Any = multiprocessing.context.ForkContext()
    context.Process = type("_Forked", (context.Process,), {"terminate": context.Process.kill})
    return context


class Processes(ProcessPoolExecutor):
    """Worker processes, which end with the `with` block and with the process that started them.

    They are forked where that is safe, and otherwise spawned. They ignore Ctrl-C and SIGTERM, which
    may be sent to a whole group. At the end of the block they are killed, since their work is no
    longer needed.

    Args:
        count: how many processes.
        spawn: never fork, so that workers share no memory with this process.

    Raises:
        OSError: the system starts no more processes.

    >>> with Processes(2) as processes:
    ...     processes.submit(abs, -3).result()
    3
    """

    def __init__(self, count: int, *, spawn: bool = False) -> None:
        self._others = set(multiprocessing.active_children())
        context = _forking() if can_fork() and not spawn else _Spawning()
        super().__init__(count, mp_context=context, initializer=_begin, initargs=(os.getpid(),))
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


def _begin(parent: int) -> None:
    """In a worker: the first call."""
    interrupt.ignore()  # the process that started it will end it
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    tune_for_good()


def _end_with(parent: int) -> None:
    """In a worker: end when the process that started it ends."""
    while os.getppid() == parent:
        time.sleep(LOOK_AFTER)
    os._exit(1)


def _opened(parcel: bytes) -> Any:
    """In a worker: the result of a call; if it cannot be unpacked, that is its error."""
    function, arguments, options = ForkingPickler.loads(parcel)
    try:
        return function(*arguments, **options)
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()


class Workers:
    """Processes that are started anew where one of them ended; they end with the `with` block.

    Where there are to be none, or the system starts none, calls are made at once by this process.
    """

    def __init__(self, count: int, *, spawn: bool = False) -> None:
        self._count, self._spawn = count, spawn
        self._own = contextlib.ExitStack()
        self._processes = self._started() if count else None
        self._alone: Processes | None = None  # makes calls again, one at a time

    def _started(self) -> Processes | None:
        try:
            return self._own.enter_context(Processes(self._count, spawn=self._spawn))
        except OSError:
            return None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._own.close()

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> Future[Result]:
        """The future of a call.

        Raises:
            Exception: the function or its arguments cannot be sent, or the call made here fails.
        """
        if self._processes is not None:
            try:
                return self._processes.submit(function, *arguments)
            except BrokenExecutor:
                self._processes = self._started()
        if self._processes is not None:
            return self._processes.submit(function, *arguments)
        done: Future[Result] = Future()
        done.set_result(function(*arguments))
        return done

    def again(
        self, call: Callable[[], Result], after: Callable[[], Result] | None, error: Exception
    ) -> Result:
        """The result of a call that met an error.

        If its process ended, the call may have been the cause: it is tried in a process that does
        nothing else meanwhile, and if that ends two of them, its result is that of `after`.

        Raises:
            DropcheckError: it ended all of them, and there is no `after`.
        """
        if not isinstance(error, BrokenExecutor):
            return call()
        for _ in range(TRIES_ALONE):
            if self._alone is None:
                self._alone = self._own.enter_context(Processes(1, spawn=self._spawn))
            try:
                return self._alone.submit(call).result()
            except BrokenExecutor:
                self._alone = None
        if after is not None:
            return after()
        message = (
            "processes of this run ended before their work did, perhaps because memory ran out"
        )
        raise DropcheckError(Problem(message, hint="--threads 1 works in one process alone"))


def submitted(
    executor: Executor | Workers, function: Callable[..., Result], *arguments: Any
) -> Future[Result]:
    """The future of a call; it holds the error if the executor fails at once."""
    try:
        return executor.submit(function, *arguments)
    except Exception as error:  # its workers are lost, or the call was made here and failed
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


LOST = "a worker ended before its work did; the work was done again"
"""The note of a run on that."""


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
    from threadpoolctl import threadpool_limits

    np.empty(2**24, dtype=np.uint8)
    with threadpool_limits(limits=1, user_api="blas"):
        yield


@functools.lru_cache(maxsize=1)
def tune_for_good() -> None:
    """In a worker process: tune numpy until the process ends."""
    tuned_numpy().__enter__()
