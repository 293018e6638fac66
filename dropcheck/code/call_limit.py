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
        self.seconds = seconds
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
        if error[0] is None and start is not None and time.monotonic() - start > self.seconds:
            raise CallTookTooLongError

    @property
    def left(self) -> float:
        """Seconds that the call under way has left, or the next one."""
        return self.seconds - (0.0 if self._start is None else time.monotonic() - self._start)


_armed: list[Calls] = []  # those that the alarm is set for, one within another


@contextmanager
def limited(seconds: float) -> Iterator[Calls]:
    """Calls of which none goes on for longer, where the main thread waits in Python for them.

    A signal reaches the main thread alone, on systems that have SIGALRM, and interrupts no function
    that is written in C before this returns. Elsewhere, and where something else uses the signal,
    a call that has taken too long is seen when it is over. The alarm is set once for all calls, and
    for others within these: setting it takes longer than many of them.
    """
    calls = Calls(seconds)
    if not _can_be_armed():
        yield calls
        return
    soonest = min((one.seconds for one in _armed), default=None)
    _armed.append(calls)
    if soonest is None:
        signal.signal(signal.SIGALRM, _ring)
    if soonest is None or seconds < soonest:
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield calls
    finally:
        if len(_armed) == 1:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _armed.remove(calls)


def _ring(_: int, __: FrameType | None) -> None:
    """Set the alarm anew, and end a call that has taken too long.

    Raises:
        CallTookTooLongError: within the call.
    """
    left = min(one.left for one in _armed)
    over = left <= 0
    signal.setitimer(signal.ITIMER_REAL, min(one.seconds for one in _armed) if over else left)
    if over:
        raise CallTookTooLongError


def _can_be_armed() -> bool:
    """Whether SIGALRM is there, unused or our own, and for this thread to handle."""
    own = _ring if _armed else signal.SIG_DFL
    if not hasattr(signal, "SIGALRM") or signal.getsignal(signal.SIGALRM) is not own:
        return False
    try:
        signal.signal(signal.SIGALRM, own)
    except ValueError:  # this is not the main thread
        return False
    return bool(_armed) or signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
