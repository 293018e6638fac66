"""Settings of numpy and its libraries while spans are drawn."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


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
