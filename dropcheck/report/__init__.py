"""From results to text: the data of a report; each format is one function of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the table of formats needs none of these
    from dropcheck.claims.registry import Registry
    from dropcheck.errors import Problem
    from dropcheck.report.terminal.screen import Terminal
    from dropcheck.results import RunResult


@dataclass(frozen=True, slots=True)
class Report:
    """A run, and how to show it: each format uses what it has room for.

    `problems` are errors that prevented the run, or some of its cases. `started` is when it began,
    `workspace` the folder with the repository in a job of continuous integration. `latex` has the
    statements of claims as LaTeX, by id, where they are to be shown so.
    """

    run: RunResult
    registry: Registry
    problems: tuple[Problem, ...] = ()
    terminal: Terminal | None = None
    verbose: bool = False
    quiet: bool = False
    latex: Mapping[str, str] = field(default_factory=dict)
    plot: bool = False
    started: datetime | None = None
    workspace: Path | None = None
