"""What is told of a run, and where: standard output, files, and what GitHub shows of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from dropcheck.claims.registry import Registry
from dropcheck.cli import actions
from dropcheck.cli.execute import Reporting
from dropcheck.cli.exits import complain
from dropcheck.cli.output import emit, write_file
from dropcheck.errors import DropcheckError, Problem
from dropcheck.results import RunResult

if TYPE_CHECKING:
    from dropcheck.report.contents import Report

AS_IS = ("table", "json", "junit")  # the table spells itself, and the others are ASCII


def tell(
    result: RunResult, problems: Sequence[Problem], reporting: Reporting, registry: Registry
) -> list[Problem]:
    """Print the result and write the files asked for; what could not be written is returned."""
    from dropcheck.report.contents import Report
    from dropcheck.report.terminal.screen import terminal_of

    report = Report(
        result,
        registry,
        tuple(problems),
        terminal_of(sys.stdout),
        verbose=reporting.verbose,
        quiet=reporting.quiet,
        math=reporting.math,
        plot=reporting.plot,
        started=datetime.now(UTC) - timedelta(seconds=result.seconds),
        workspace=actions.workspace(),
    )
    found = [print_report(report, reporting.format)]
    # before the files, for a program that is at fault there has told what it found
    complain([*problems, *(problem for problem in found if problem is not None)])
    unwritten = [problem for path in reporting.outputs for problem in write_report(path, report)]
    complain(unwritten)
    return [*(problem for problem in found if problem is not None), *unwritten]


def print_report(report: Report, format_name: str) -> Problem | None:
    """Print a report, and under GitHub's actions what they show beside it."""
    from dropcheck.report.formats import PRINTED
    from dropcheck.report.terminal.screen import Terminal

    terminal = report.terminal or Terminal()
    text = PRINTED[format_name](report)
    text = text if format_name in AS_IS else terminal.spell(text)
    if os.linesep == "\r\n":  # the stream makes these of every line's end
        text = text.replace("\r\n", "\n")
    problem = emit(text, sys.stdout, commands=format_name == "github")
    if actions.running():
        if format_name == "table":
            emit(terminal.spell(PRINTED["github"](report)), sys.stdout, commands=True)
        complain(actions.summarise(report), "note")
    return problem


def write_report(path: Path, report: Report) -> Sequence[Problem]:
    """Write a report in the format that the file's ending names; returns what kept it from that.

    A file that could not tell of errors, or of an interruption, is not written where there are.
    """
    from dropcheck.report.formats import WRITTEN

    form = WRITTEN[path.suffix.lower()]
    if not form.fits(report):
        why = "the run was interrupted" if report.run.interrupted else "there are errors"
        message = f"the file {str(path)!r} was not written: {why}, and such a file cannot say so"
        return [Problem(message, hint="a report that ends in .json, .xml or .md can")]
    try:
        content = form.make(report)
    except DropcheckError as error:
        return error.problems
    problem = write_file(path, content)
    return [] if problem is None else [problem]
