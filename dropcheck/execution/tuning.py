"""How numpy and its libraries are set while spans are drawn."""

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
    """Has numpy draw spans at full speed on as many threads as we have ourselves.

    Its libraries use one thread each: a second layer of threads inside every small matrix product
    gets in our way (measured: up to forty times slower on two cores).

    The arrays of a span are made from the memory of the last one's. glibc returns what is freed
    at the end of a heap to the system, and zeroed pages taken anew for every span cost up to half
    of its time (measured). It stops doing so below twice the size of the largest block that was
    ever mapped and freed (mallopt(3), M_MMAP_THRESHOLD): one of 16 MiB, which is never touched and
    so takes no memory. Elsewhere this does nothing.
    """
    import numpy as np

    np.empty(2**24, dtype=np.uint8)
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@functools.lru_cache(maxsize=1)
def _libraries(_modules: int) -> ThreadpoolController:
    """The libraries of this process, looked for anew where one more module may have brought one.

    Looking takes a millisecond, as long as many a claim.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@functools.lru_cache(maxsize=1)
def tune_for_good() -> None:
    """In a process that others started: numpy is tuned, until the process ends."""
    tuned_numpy().__enter__()
