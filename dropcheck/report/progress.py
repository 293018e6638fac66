"""The progress of a run: one line on a terminal, which disappears at the end."""

from __future__ import annotations

import math
import os
import sys
import time
from collections import Counter
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
    that begun cases still plan before they look again; or it is called with each case.
    """

    total: int
    limit: float | None = None  # seconds that the run may take
    clock: Callable[[], float] = time.perf_counter
    drawn_by: Counter[str] = field(default_factory=Counter)  # decided cases, by who drew them
    draws: int = 0
    ahead: int = 0  # draws that begun cases still plan
    begun: int = 0  # cases that are being drawn
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def __call__(self, _claim: str, draws: int = 0) -> None:
        """Count one more case, and its draws."""
        self.decided("", 1)
        self.drew(draws)

    def decided(self, who: str, cases: int) -> None:
        """Count cases that were just decided, maybe before others that come first."""
        self.drawn_by[who] += cases

    def drew(self, draws: int) -> None:
        """More draws were made."""
        self.draws += draws

    def plans(self, draws: int, cases: int) -> None:
        """The cases that are being drawn plan so many more draws."""
        self.ahead, self.begun = draws, cases

    def parts(self) -> list[str]:
        """The parts of the line, the most important first."""
        seconds, draws = self.clock() - self.started, self.draws
        cases = self.drawn_by.total()
        shown = [f"{cases}/{self.total} cases", numbers.draws(draws)] if draws else []
        left = [] if self.limit is None else [max(0.0, self.limit - seconds)]
        if draws and self.ahead and cases + self.begun >= self.total:  # all draws are planned
            shown[1:] = [f"{100 * draws // (draws + self.ahead)}% of planned draws"]
            left.append(seconds * self.ahead / draws)
        if left:
            whole = max(1, math.ceil(min(left)))  # tenths would only flicker
            shown.append(f"{whole} s left" if whole < 60 else f"{numbers.duration(whole)} left")
        return shown or [f"{cases}/{self.total} cases"]


def progress_line(tally: RunProgress, width: int) -> str:
    """The parts that fit on one line of a terminal; the number of cases always does.

    >>> tally = RunProgress(5, clock=lambda: 0.0, draws=300, ahead=100, begun=1)
    >>> tally.decided("2 threads", 4)
    >>> progress_line(tally, 50), progress_line(tally, 20)
    ('4/5 cases, 75% of planned draws, 1 s left', '4/5 cases')
    """
    text, *rest = tally.parts()
    for part in rest:
        if len(text) + len(part) + 2 > width:
            break
        text = f"{text}, {part}"
    return text


@contextmanager
def progress(total: int, shown: bool, limit: float | None = None) -> Iterator[RunProgress]:
    """A tally to call after each case, on standard error; nothing is printed where not `shown`.

    Nor is anything printed on a terminal that cannot rewrite a line.
    """
    tally = RunProgress(total, limit)
    if not shown or is_dumb(os.environ) or not is_terminal(sys.stderr):
        yield tally
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    terminal = terminal_of(sys.stderr)
    width = (terminal.width or 80) - 1  # a full line would break some terminals' last column

    def line() -> Text:
        late = tally.clock() - tally.started > DELAY
        text = progress_line(tally, width) if late else ""
        return Text(text, no_wrap=True, overflow="ignore")

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
