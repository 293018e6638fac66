"""The program: `dropcheck`, or `python -m dropcheck`.

It handles Ctrl-C and SIGTERM before it loads anything else, so that they end the loading quietly
too.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import sys
import threading
import time
from typing import NoReturn

from dropcheck import interrupt

INTERNAL = 3
# Bytes of address space that loading takes. With less, OpenBLAS ends the process itself, with the
# code of a refuted claim: that could not be told from one.
LEAST = 2**28
# Seconds in which unfinished draws must end, once the program was interrupted and all was printed.
GRACE = 0.3

# New objects between two searches for garbage. Most objects stay to the end of the program, and a
# search after every 700, as is usual in Python, takes a twentieth of the time of a check.
MANY = 200_000


def program() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    interrupt.listen()
    # ours are the threads: those of OpenBLAS would take 30 MB each, and it exits with 1 where it
    # gets no memory for them
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(MANY)
    if (limit := _address_space()) < LEAST:
        said = f"error: dropcheck needs 256 MiB of address space, and has {limit / 2**20:.0f} MiB\n"
        os.write(2, said.encode())
        os._exit(INTERNAL)
    code = interrupt.INTERRUPTED
    try:
        from dropcheck.cli import main

        code = main()
    except BaseException as error:
        if not interrupt.heard():
            if not isinstance(error, MemoryError):
                raise
            code = INTERNAL
            os.write(2, b"error: there is not enough memory to load dropcheck\n")
    with contextlib.suppress(KeyboardInterrupt):
        interrupt.ignore()  # from here on no signal changes the exit code
    if interrupt.heard() and _busy():
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):  # closed, or none
                stream.flush()
        os._exit(code)  # without waiting for draws that nobody needs
    gc.freeze()  # all memory ends with the process: no last search for garbage
    sys.exit(code)


def _address_space() -> float:
    """The bytes of address space that the process may have."""
    try:
        import resource
    except ImportError:  # not on Windows
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else limit


def _busy() -> bool:
    """Whether threads still draw, for which the interpreter would wait."""
    deadline = time.monotonic() + GRACE
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                return True
    return False


if __name__ == "__main__":
    program()
