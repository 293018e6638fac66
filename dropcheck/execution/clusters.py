"""Clusters of Dask: workers on other machines, or on this one.

A client of a cluster offers a `concurrent.futures.Executor`, and it repeats the work of a worker
that ended.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Executor

from dropcheck.errors import DropcheckError, Problem
from dropcheck.processors import default_threads
from dropcheck.records import record

LOCAL = "local"
CONNECT_SECONDS = 20
# How often work may lose its worker; after that, the work itself is probably the cause.
RETRIES = 3
# Dask has glibc return freed memory to the system, so that a worker waits for new pages for every
# array (measured: up to ten times as long). These settings have the effect of `tuned_numpy`.
_ENVIRONMENT = "distributed.nanny.pre-spawn-environ.MALLOC_"
# Dask also checks every 10 ms what each worker does, and every 20 ms whether its loop is late: both
# take some percent of the time.
QUICKER = {
    f"{_ENVIRONMENT}TRIM_THRESHOLD_": 2**25,
    f"{_ENVIRONMENT}MMAP_THRESHOLD_": 2**24,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
}
_MISSING = "pip install distributed"


@record(kw_only=True)
class Engine:
    """Workers other than this machine's processes: an executor, and their number."""

    executor: Executor
    workers: int

    @property
    def at_once(self) -> int:
        """How many parts are handed out: a worker that is done has another one waiting."""
        return 2 * self.workers


@contextlib.contextmanager
def cluster(address: str, workers: int | None = None) -> Iterator[Engine]:
    """The workers of a Dask cluster.

    Args:
        address: the scheduler's, such as `tcp://host:8786`; or `local`, for processes on this
            machine.
        workers: how many local processes; by default one for each processor.

    Raises:
        DropcheckError: Dask is not installed, or no scheduler answers at the address.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        message = "option '--scheduler' needs Dask, which is not installed"
        raise DropcheckError(Problem(message, hint=_MISSING)) from None
    with contextlib.ExitStack() as held:
        try:
            if address == LOCAL:
                count = workers or default_threads()
                held.enter_context(dask.config.set(QUICKER))
                where = held.enter_context(
                    LocalCluster(
                        n_workers=count,
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address=None,
                        silence_logs=50,  # our own messages report lost workers
                    )
                )
                client = held.enter_context(Client(where))
            else:
                client = held.enter_context(Client(address, timeout=CONNECT_SECONDS))
        except (OSError, ValueError) as error:
            message = f"option '--scheduler': no Dask scheduler answers at {address[:200]!r}"
            hint = "its address reads tcp://host:8786; 'local' starts one on this machine"
            raise DropcheckError(Problem(message, hint=hint)) from error
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        count = max(1, sum(client.nthreads().values()))
        # pure=False: two equal parts of a run are both computed
        executor = held.enter_context(client.get_executor(pure=False, retries=RETRIES))
        yield Engine(executor=executor, workers=count)


def of_lost(count: int) -> tuple[str, ...]:
    """The note of a run on workers that ended before their work did."""
    if not count:
        return ()
    times = "once" if count == 1 else f"{count} times"
    return (f"a worker ended before its work did, {times}; the work was done again",)
