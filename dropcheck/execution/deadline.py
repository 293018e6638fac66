"""When the draws of a run must end, if ever."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]
"""Seconds from some origin."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of the time that all cases of a run share; without one it never comes.

    >>> Deadline().passed(), Deadline.after(0.0).passed(), Deadline.after(60.0).passed()
    (False, True, False)
    """

    end: float = math.inf
    clock: Clock = time.perf_counter

    @classmethod
    def after(cls, seconds: float | None, clock: Clock = time.perf_counter) -> Deadline:
        """So many seconds from now; None: never."""
        return cls(math.inf if seconds is None else clock() + seconds, clock)

    @property
    def limited(self) -> bool:
        """Whether it can come at all."""
        return self.end < math.inf

    def left(self) -> float:
        """Seconds until then; negative once it has passed."""
        return self.end - self.clock() if self.limited else math.inf

    def passed(self) -> bool:
        """Whether the time is up."""
        return self.limited and self.clock() >= self.end
