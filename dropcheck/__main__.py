"""The program: `dropcheck`, or `python -m dropcheck`.

Ctrl-C is listened to before anything else is loaded, so that it ends loading quietly too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import NoReturn

from dropcheck import interrupt


def program() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    interrupt.listen()
    code = interrupt.INTERRUPTED
    try:
        from dropcheck.cli import main

        code = main()
    except BaseException:
        if not interrupt.heard():
            raise
    if interrupt.heard():
        _leave(code)
    with contextlib.suppress(KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the exit code stands
    sys.exit(code)


def _leave(code: int) -> NoReturn:
    """End at once: draws that are still under way are of use to nobody."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # closed, or none
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    program()
