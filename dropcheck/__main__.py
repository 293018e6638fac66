"""The program: `dropcheck`, or `python -m dropcheck`.

Ctrl-C and SIGTERM are listened to before anything else is loaded, so that they end loading
quietly too.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import time
from typing import NoReturn

from dropcheck import interrupt

# Seconds that draws under way have to end in, once the program was interrupted and all was printed.
GRACE = 0.3

# Objects made before Python looks for garbage among them: most of what a start loads and a file
# holds stays to the end, and looking for garbage in it every 700 takes a twentieth of a check.
MANY = 200_000


def program() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    interrupt.listen()
    gc.set_threshold(MANY)
    code = interrupt.INTERRUPTED
    try:
        from dropcheck.cli import main

        code = main()
    except BaseException:
        if not interrupt.heard():
            raise
    with contextlib.suppress(KeyboardInterrupt):
        interrupt.ignore()  # the exit code stands
    with contextlib.suppress(OSError):  # nobody listens
        interrupt.say_unwritten()
    if interrupt.heard() and _busy():
        _leave(code)
    gc.freeze()  # what there is goes with the process: not to be looked through once more
    sys.exit(code)


def _busy() -> bool:
    """Whether draws are still under way, which the interpreter would wait for."""
    deadline = time.monotonic() + GRACE
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                return True
    return False


def _leave(code: int) -> NoReturn:
    """End at once: what is still drawn is of use to nobody."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # closed, or none
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    program()
