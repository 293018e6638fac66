"""A time limit for one call of code under test, where the system has alarms."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

SECONDS = 60.0
"""The usual limit of one call: a thousand times what a call is meant to take."""


LEAST = 1.0
"""The limit is halved for code that took too long, down to this."""


class CallTookTooLongError(BaseException):
    """Raised within a call at its limit; an `except Exception` of the code does not catch it."""


class TimedCalls:
    """A context for each of the calls within one `limited`, which times it.

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
            CallTookTooLongError: it took too long, and no alarm ended it.
        """
        start, self._start = self._start, None
        if error[0] is None and start is not None and time.monotonic() - start > self.seconds:
            raise CallTookTooLongError

    @property
    def left(self) -> float:
        """Seconds that the call under way has left, or the next one."""
        return self.seconds - (0.0 if self._start is None else time.monotonic() - self._start)


_armed: list[TimedCalls] = []  # the calls that the alarm is set for, each within the one before
_here: ContextVar[bool] = ContextVar("armed", default=False)  # whether it is set in this thread


@contextmanager
def limited(seconds: float) -> Iterator[TimedCalls]:
    """A context in which calls end after this time, if they run Python in the main thread.

    A signal reaches the main thread alone, on systems that have SIGALRM, and does not interrupt a
    function that is written in C. There, and where something else uses the signal, a call that
    takes too long is noticed when it is over. The alarm is set once for all calls, also for those
    of a context within this one: setting it takes longer than many calls. It rings repeatedly: a
    signal that comes just before a function in C begins to wait does not wake that function.
    """
    calls = TimedCalls(seconds)
    if _here.get():
        with _among_armed(calls):
            yield calls
    elif _can_be_armed():
        token = _here.set(True)
        signal.signal(signal.SIGALRM, _ring)
        try:
            with _among_armed(calls):
                yield calls
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            _here.reset(token)
    else:
        yield calls


@contextmanager
def _among_armed(calls: TimedCalls) -> Iterator[None]:
    sooner = all(calls.seconds < one.seconds for one in _armed)
    _armed.append(calls)
    try:
        if sooner:
            _set_alarm(calls.seconds)
        yield
    finally:
        _armed.remove(calls)


def _ring(_: int, __: FrameType | None) -> None:
    """End a call that has taken too long, or set the alarm for the time when it will have.

    Raises:
        CallTookTooLongError: within the call.
    """
    left = min((one.left for one in _armed), default=0.0)
    if left > 0:
        _set_alarm(left)
    elif _armed:
        raise CallTookTooLongError


def _set_alarm(seconds: float) -> None:
    """Ring after some seconds, and then again after each limit; 0 seconds would stop the alarm."""
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), min(one.seconds for one in _armed))


def _can_be_armed() -> bool:
    """Whether there is a SIGALRM that nothing uses and this thread can handle."""
    if not hasattr(signal, "SIGALRM") or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        return False
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    except ValueError:  # this is not the main thread
        return False
    return signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
