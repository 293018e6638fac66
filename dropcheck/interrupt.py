"""How the program ends a run in good order on Ctrl-C and SIGTERM.

SIGTERM is what `kill`, `timeout`, containers and CI send. After the first signal the program prints
what is finished, which takes a moment. A second signal in that moment is ignored, so that no report
is cut short; a later one ends the program at once.
Nothing of this happens where the package is only imported.
"""

from __future__ import annotations

import os
import signal
import threading
import time

INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Seconds after the first signal in which a second one is ignored.
PATIENCE = 1.0

_first_signal: float | None = None  # by the clock of `time.monotonic`


def listen() -> None:
    """Handle each of the signals that still has the usual handler of Python."""
    usual = (signal.default_int_handler, signal.SIG_DFL)
    if threading.current_thread() is not threading.main_thread():
        return
    program = os.getpid()

    def handle(number: int, _: object) -> None:
        global _first_signal  # noqa: PLW0603 - there is one program
        now = time.monotonic()
        if os.getpid() != program:  # a process that code under test forked: it ends as others do
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif _first_signal is None:
            _first_signal = now
            raise KeyboardInterrupt
        elif now - _first_signal > PATIENCE:
            os._exit(INTERRUPTED)

    for number in SIGNALS:
        if signal.getsignal(number) in usual:
            signal.signal(number, handle)


def ignore() -> None:
    """Ignore both signals from now on."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def heard() -> bool:
    """Whether a signal came; an error after that is a consequence of it."""
    return _first_signal is not None
