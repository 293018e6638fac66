"""How a command ends: exit codes, and problems told on the way."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import IntEnum

from dropcheck.cli.output import emit
from dropcheck.errors import Problem


class ExitCode(IntEnum):
    """What the shell is told; these numbers are stable."""

    PASSED = 0
    FAILED = 1
    ERROR = 2
    INTERNAL = 3
    UNDECIDED = 4
    NOTHING_SELECTED = 5
    INTERRUPTED = 130


def complain(problems: Sequence[Problem], kind: str = "error") -> None:
    """Print problems, or notes, to standard error."""
    if not problems:
        return
    from dropcheck.report.terminal.problem_text import problems_text
    from dropcheck.report.terminal.screen import terminal_of

    text = problems_text(problems, terminal_of(sys.stderr), "note" if kind == "note" else "error")
    emit(text, sys.stderr)
