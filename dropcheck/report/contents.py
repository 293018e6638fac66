"""What a report is made from, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dropcheck.claims.registry import Registry
from dropcheck.errors import Problem
from dropcheck.results import RunResult

if TYPE_CHECKING:  # rich comes with it, and most formats have no use for rich
    from dropcheck.report.terminal.screen import Terminal


@dataclass(frozen=True, slots=True)
class Report:
    """What there is to tell of a run, and how: each format takes what it can say.

    `problems` are errors that kept the run, or some of its cases, from being made. `started` is
    when it began, `workspace` the folder that a continuous integration calls its own.
    """

    run: RunResult
    registry: Registry
    problems: tuple[Problem, ...] = ()
    terminal: Terminal | None = None
    verbose: bool = False
    quiet: bool = False
    math: bool = False
    plot: bool = False
    started: datetime | None = None
    workspace: Path | None = None
