"""The progress of a run: one line on a terminal, which disappears at the end."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from dropcheck.report import numbers
from dropcheck.report.screen import is_dumb, is_terminal, terminal_of

# Seconds before anything is shown: a shorter run needs no progress.
DELAY = 0.4
# Refreshes per second: enough to look alive.
REFRESHES = 5


@dataclass(slots=True)
class RunProgress:
    """How much of a run is done.

    It is told of cases that are `decided`, in any order, of draws as they are made, and of those
    that begun cases still plan before they look again.
    """

    total: int
    limit: float | None = None  # seconds that the run may take
    clock: Callable[[], float] = time.perf_counter
    cases: int = 0  # that are decided
    draws: int = 0
    ahead: tuple[int, int] = (0, 0)  # draws that begun cases still plan, and the number of these
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def decided(self, cases: int) -> None:
        """Count cases that were just decided, maybe before others that come first."""
        self.cases += cases

    def drew(self, draws: int) -> None:
        """More draws were made."""
        self.draws += draws

    def plans(self, draws: int, cases: int) -> None:
        """The cases that are being drawn plan so many more draws."""
        self.ahead = draws, cases

    def line(self, width: int) -> str:
        """The parts that fit on one line of a terminal; the number of cases always does.

        >>> tally = RunProgress(5, clock=lambda: 0.0, draws=300, ahead=(100, 1))
        >>> tally.decided(4)
        >>> tally.line(50), tally.line(20)
        ('4/5 cases, 75% of planned draws, 1.0 s left', '4/5 cases')
        """
        seconds, (ahead, begun) = self.clock() - self.started, self.ahead
        shown = [
            f"{self.cases}/{self.total} cases",
            *([numbers.draws(self.draws)] * bool(self.draws)),
        ]
        left = [] if self.limit is None else [max(0.0, self.limit - seconds)]
        if self.draws and ahead and self.cases + begun >= self.total:  # all draws are planned
            shown[1] = f"{100 * self.draws // (self.draws + ahead)}% of planned draws"
            left.append(seconds * ahead / self.draws)
        if left and self.draws:  # tenths would only flicker
            shown.append(f"{numbers.duration(max(1, math.ceil(min(left))))} left")
        while len(shown) > 1 and len(", ".join(shown)) > width:
            shown.pop()
        return ", ".join(shown)


@contextmanager
def progress(total: int, shown: bool, limit: float | None = None) -> Iterator[RunProgress]:
    """A tally that is shown on standard error; nothing is printed where not `shown`.

    Nor is anything printed on a terminal that cannot rewrite a line.
    """
    tally = RunProgress(total, limit)
    if not shown or is_dumb(os.environ) or not is_terminal(sys.stderr):
        yield tally
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    width = (terminal_of(sys.stderr).width or 80) - 1  # some terminals break a full line

    def line() -> Text:
        late = tally.clock() - tally.started > DELAY
        return Text(tally.line(width) if late else "", no_wrap=True, overflow="ignore")

    live = Live(
        console=Console(stderr=True, markup=False, emoji=False, highlight=False),
        get_renderable=line,
        refresh_per_second=REFRESHES,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with suppress(OSError, ValueError):  # the terminal may go away before the run does
        live.start()
    try:
        yield tally
    finally:
        with suppress(OSError, ValueError):
            live.stop()
