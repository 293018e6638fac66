"""Results to text: what a report is made from; each format is one function of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dropcheck.records import record

if TYPE_CHECKING:  # the formats themselves are named without any of it
    from dropcheck.claims.registry import Registry
    from dropcheck.errors import Problem
    from dropcheck.report.terminal.screen import Terminal
    from dropcheck.results import RunResult


@record
class Report:
    """A run, and how it is to be shown: each format uses what it has room for.

    `problems` are errors that kept the run, or some of its cases, from being made. `started` is
    when it began, `workspace` the folder that a continuous integration calls its own. `latex` has
    the statements of claims as LaTeX, by id, where they are to be shown as that.
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
