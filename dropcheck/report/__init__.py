"""From results to text: the data of a report; each format is one function of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the table of formats needs none of these
    from dropcheck.claims.registry import Registry
    from dropcheck.report.screen import Terminal
    from dropcheck.results import RunResult


@dataclass(frozen=True, slots=True)
class Report:
    """A run, and how to show it: each format uses what it has room for.

    `started` is when it began, `workspace` the folder with the repository in a job of continuous
    integration, and `command` what was called.
    """

    run: RunResult
    registry: Registry
    terminal: Terminal | None = None
    verbose: int = 0  # 0: a row a claim of the file, 1: a row a statement, 2: a row a case
    quiet: bool = False
    plot: bool = False
    started: datetime | None = None
    workspace: Path | None = None
    command: str = ""
