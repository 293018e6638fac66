"""Ctrl-C in the program, not where the package is imported: the first ends a run in good order.

What is finished is then printed, which takes a moment; to press again in that moment changes
nothing, so that no report is cut short. Later it ends the program where it stands.
"""

from __future__ import annotations

import os
import signal
import threading
import time

INTERRUPTED = 130
# Seconds in which a run that was interrupted prints what is finished.
PATIENCE = 1.0

_heard_at: float | None = None


def listen() -> None:
    """Answer Ctrl-C from now on, unless somebody else does."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _answer)


def heard() -> bool:
    """Whether Ctrl-C was pressed: what fails after that failed because of it."""
    return _heard_at is not None


def _answer(*_: object) -> None:
    global _heard_at  # noqa: PLW0603 - there is one program, and one keyboard
    now = time.monotonic()
    if _heard_at is None:
        _heard_at = now
        raise KeyboardInterrupt
    if now - _heard_at > PATIENCE:
        os._exit(INTERRUPTED)
