"""Ctrl-C and SIGTERM in the program, not where the package is imported: a run ends in good order.

SIGTERM is what `kill`, `timeout`, containers and CI send. What is finished is then printed, which
takes a moment; a second signal in that moment changes nothing, so that no report is cut short.
Later it ends the program where it stands. Files that were asked for and are not written by then
are named.
"""

from __future__ import annotations

import os
import signal
import threading
import time

INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Seconds in which a run that was interrupted prints what is finished.
PATIENCE = 1.0

unwritten: list[str] = []
"""Files that were asked for: each until it is written, or until it is said why it is not."""

_heard_at: float | None = None


def listen() -> None:
    """Answer Ctrl-C and SIGTERM from now on, each unless somebody else does, or it is ignored."""
    usual = (signal.default_int_handler, signal.SIG_DFL)
    if threading.current_thread() is not threading.main_thread():
        return
    for one in SIGNALS:
        if signal.getsignal(one) in usual:
            signal.signal(one, _answer)


def ignore() -> None:
    """Answer neither from now on."""
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)


def heard() -> bool:
    """Whether such a signal came: what fails after that failed because of it."""
    return _heard_at is not None


def say_unwritten() -> None:
    """Name the files that an interruption keeps from being written, if there are any."""
    if heard() and unwritten:
        names = ", ".join(map(repr, unwritten))
        message = f"error: not written, because of the interruption: {names}\n"
        os.write(2, message.encode("utf-8", "backslashreplace"))


def _answer(*_: object) -> None:
    global _heard_at  # noqa: PLW0603 - there is one program
    now = time.monotonic()
    if _heard_at is None:
        _heard_at = now
        raise KeyboardInterrupt
    if now - _heard_at > PATIENCE:
        say_unwritten()
        os._exit(INTERRUPTED)
