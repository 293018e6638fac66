"""The progress of a run: one line on a terminal, which disappears at the end."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dropcheck.report import numbers
from dropcheck.report.screen import is_dumb, one_line, terminal_of

if TYPE_CHECKING:  # a run that shows no progress does not need rich
    from rich.progress import Progress

# Seconds before anything is shown: a shorter run needs no progress.
DELAY = 0.4
# Refreshes per second: enough to look alive.
REFRESHES = 5


@dataclass(slots=True)
class RunProgress:
    """How much of a run is done; called with a claim's id and its draws after each case.

    `drew` is called with numbers of draws as they are made, where that is possible. The larger of
    the two counts is shown.
    """

    total: int
    limit: float | None = None  # seconds that the run may take
    clock: Callable[[], float] = time.perf_counter
    done: int = 0
    finished: int = 0  # draws of the cases that are done
    live: int = 0  # draws that were reported as they were made
    claim: str = ""
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def __call__(self, claim: str, draws: int = 0) -> None:
        """Count one more finished case, and its draws."""
        self.done += 1
        self.finished += draws
        self.claim = claim

    def drew(self, draws: int) -> None:
        """More draws were made."""
        self.live += draws

    def parts(self) -> list[str]:
        """The parts of the line, the most important first."""
        seconds = self.clock() - self.started
        shown = [f"{self.done}/{self.total}"]
        draws = max(self.finished, self.live)
        if draws and seconds > 0:
            shown.append(f"{numbers.count(round(draws / seconds))} draws/s")
        left = self._left(seconds)
        if left is not None:
            whole = max(1, math.ceil(left))  # tenths would only flicker
            shown.append(f"{whole} s left" if whole < 60 else f"{numbers.duration(whole)} left")
        if self.claim:
            shown.append(self.claim)
        return shown

    def _left(self, seconds: float) -> float | None:
        """The seconds left if the other cases take as long as those that are done."""
        known = [] if self.limit is None else [max(0.0, self.limit - seconds)]
        if self.done:
            known.append(seconds * (self.total - self.done) / self.done)
        return min(known, default=None)


def progress_line(tally: RunProgress, width: int) -> str:
    """The parts that fit on one line of a terminal; the number of cases always does.

    >>> tally = RunProgress(291, clock=lambda: 0.0, done=12, claim="dropout-values")
    >>> progress_line(tally, 40), progress_line(tally, 10)
    ('12/291 cases · 1 s left · dropout-values', '12/291')
    """
    head, *rest = tally.parts()
    text = head
    for separator, part in zip((" cases · ", *[" · "] * len(rest)), rest, strict=False):
        longer = text + separator + one_line(part)
        if len(longer) > width:
            break
        text = longer
    return text


@contextmanager
def progress(total: int, shown: bool, limit: float | None = None) -> Iterator[RunProgress]:
    """A tally to call after each case, on standard error; nothing is printed where not `shown`.

    Nor is anything printed on a terminal that cannot rewrite a line.
    """
    tally = RunProgress(total, limit)
    if not shown or is_dumb(os.environ):
        yield tally
        return
    live = _live(tally)
    with suppress(OSError, ValueError):  # the terminal may go away before the run does
        live.start()
    try:
        yield tally
    finally:
        with suppress(OSError, ValueError):
            live.stop()


def _live(tally: RunProgress) -> Progress:
    """The display that rewrites the line until it is stopped, and then removes it."""
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, Task
    from rich.text import Text

    terminal = terminal_of(sys.stderr)
    width = (terminal.width or 80) - 1  # a full line would break some terminals' last column

    class ProgressLine(ProgressColumn):
        def render(self, task: Task) -> Text:
            late = (task.elapsed or 0.0) > DELAY
            text = terminal.spell(progress_line(tally, width)) if late else ""
            return Text(text, no_wrap=True, overflow="ignore")

    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    live = Progress(
        ProgressLine(),
        console=console,
        disable=not console.is_terminal,
        refresh_per_second=REFRESHES,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    live.add_task("", total=None)
    return live
