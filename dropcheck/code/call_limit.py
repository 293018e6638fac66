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


class Calls:
    """Calls that are timed one by one, within one `limited`.

    Args:
        seconds: what one call may take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._start: float | None = None  # of the call under way

    def __enter__(self) -> None:
        """Begin a call."""
        self._start = time.monotonic()

    def __exit__(self, *error: object) -> None:
        """End it.

        Raises:
            CallTookTooLongError: it took too long, and was not ended.
        """
        start, self._start = self._start, None
        if error[0] is None and start is not None and time.monotonic() - start > self._seconds:
            raise CallTookTooLongError

    def ring(self, _: int, __: FrameType | None) -> None:
        """End a call that has taken too long, or set the alarm anew.

        Raises:
            CallTookTooLongError: within the call.
        """
        since = 0.0 if self._start is None else time.monotonic() - self._start
        if since >= self._seconds:
            raise CallTookTooLongError
        signal.setitimer(signal.ITIMER_REAL, self._seconds - since)


@contextmanager
def limited(seconds: float) -> Iterator[Calls]:
    """Calls of which none goes on for longer, where the main thread waits in Python for them.

    A signal reaches the main thread alone, on systems that have SIGALRM, and interrupts no function
    that is written in C before this returns. Elsewhere, and where something else uses the signal,
    a call that has taken too long is seen when it is over. The alarm is set once for all calls:
    setting it takes longer than many of them.
    """
    armed = _can_be_armed()
    calls = Calls(seconds)
    if armed:
        signal.signal(signal.SIGALRM, calls.ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield calls
    finally:
        if armed:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _can_be_armed() -> bool:
    """Whether SIGALRM is there, unused, and for this thread to handle."""
    if not hasattr(signal, "SIGALRM") or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        return False
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    except ValueError:  # this is not the main thread
        return False
    return signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
