"""A time limit for one call of code under test, where the system has one."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS = 60.0
"""What one call may take: a thousand times what a call is meant to take."""


class CallTookTooLongError(BaseException):
    """Raised within a call at its limit; code under test that catches `Exception` lets it pass."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End what goes on longer than this, where the main thread waits in Python for it.

    A signal reaches the main thread alone, on systems that have SIGALRM, and interrupts no function
    that is written in C before this returns. Elsewhere, and where something else uses the signal,
    a call that has taken too long is seen when it is over.

    Raises:
        CallTookTooLongError: at the limit, or after it.
    """
    start = time.monotonic()
    armed = _can_be_armed()
    if armed:
        signal.signal(signal.SIGALRM, _ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if armed:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
    if time.monotonic() - start > seconds:
        raise CallTookTooLongError


def _can_be_armed() -> bool:
    """Whether SIGALRM is there, unused, and for this thread to handle."""
    if not hasattr(signal, "SIGALRM") or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        return False
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    except ValueError:  # this is not the main thread
        return False
    return signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def _ring(_: int, __: FrameType | None) -> None:
    raise CallTookTooLongError
