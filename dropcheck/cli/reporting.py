"""Where a report goes: standard output, files, and what GitHub's workflows show.

Errors that prevent a run are reported in the same ways, in the format that was asked for.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from dropcheck import interrupt
from dropcheck.claims.registry import Registry
from dropcheck.cli.arguments import Given
from dropcheck.cli.output import append_file, complain, emit, write_file
from dropcheck.errors import DropcheckError, Problem
from dropcheck.results import RunResult

if TYPE_CHECKING:
    from dropcheck.cli.arguments import Chosen
    from dropcheck.report import Report

LARGEST_SUMMARY = 2**20  # bytes; GitHub shows nothing of a step that adds more


# ---- a run ---------------------------------------------------------------------------------------


def report_run(
    run: RunResult, problems: Sequence[Problem], chosen: Chosen, given: Given
) -> list[Problem]:
    """Print the result and write the files; returns what could not be printed or written."""
    from dropcheck.report import Report
    from dropcheck.report.screen import terminal_of

    report = Report(
        run=run,
        registry=chosen.registry,
        problems=tuple(problems),
        terminal=terminal_of(sys.stdout),
        **{name: given.flag(name) for name in ("verbose", "quiet", "plot")},
        started=datetime.now(UTC) - timedelta(seconds=run.seconds),
        workspace=workspace(),
        command=shlex.join(("dropcheck", *given.line)),
    )
    unprinted = print_report(report, given.value("format") or "table")
    # before the files are written, in case that ends the program
    complain([*problems, *unprinted])
    unwritten: list[Problem] = []
    for path in given.values("output"):
        unwritten += write_report(path, report)
        interrupt.unwritten.remove(str(path))
    complain(unwritten)
    return [*unprinted, *unwritten]


def print_report(report: Report, format_name: str) -> list[Problem]:
    """Print a report; in a workflow of GitHub, annotations and a summary too.

    Returns the problems of printing the report.
    """
    text = _printed(format_name, report)
    if os.linesep == "\r\n":  # the stream writes these for every "\n"
        text = text.replace("\r\n", "\n")
    problems = emit(text, sys.stdout, commands=format_name == "github")
    if in_workflow():
        if format_name == "table":
            emit(_printed("github", report), sys.stdout, commands=True)
        complain(summarise(report), "note")
    return problems


def _printed(format_name: str, report: Report) -> str:
    """The text of a report, in characters that standard output can write."""
    from dropcheck.report.formats import PRINTED
    from dropcheck.report.screen import Terminal

    made = PRINTED[format_name].make(report)
    text = made if isinstance(made, str) else made.decode("utf-8")
    return (report.terminal or Terminal()).spell(text)


def write_report(path: Path, report: Report) -> Sequence[Problem]:
    """Write a report in the format that the file's ending names; returns what went wrong.

    A format that cannot show errors, or an interruption, is not written where there is one.
    """
    from dropcheck.report.formats import written_as

    form = written_as(path)
    assert form is not None  # else the option would have been refused
    if not form.fits(report):
        why = "the run was interrupted" if report.run.interrupted else "there are errors"
        message = f"the file {str(path)!r} was not written: {why}, and such a file cannot say so"
        return [Problem(message, hint="a report that ends in .json, .xml or .md can")]
    try:
        content = form.make(report)
    except DropcheckError as error:
        return error.problems
    return write_file(path, content)


# ---- errors in place of a run --------------------------------------------------------------------


def report_problems(
    problems: Sequence[Problem], command: str, format_name: str | None, outputs: Sequence[str]
) -> None:
    """Report the problems that prevent a command.

    Standard error has them in words, standard output in the format that was asked for. Problems of
    a claims file are written to the files of a run too: old files would show an earlier run.

    Args:
        problems: what is wrong.
        command: the command that was called.
        format_name: the format that was asked for, if one was.
        outputs: the files that were asked for.
    """
    complain(problems)
    from dropcheck.report.formats import PRINTED, written_as

    report = _error_report(problems)
    running = command == "run"
    form = PRINTED.get(format_name or "") if running else None
    shown = form is not None and form.shows_problems and format_name != "json"
    if format_name == "json":
        from dropcheck.report.json_report import errors_json

        emit(errors_json(problems), sys.stdout)
    elif shown and format_name is not None:
        print_report(report, format_name)
    elif in_workflow():
        annotate(problems)
    if all(problem.location is None for problem in problems):  # no claims file is at fault
        return
    for path in map(Path, outputs if running else ()):
        written = written_as(path)  # None: a wrong ending, which is another problem
        if written is not None and written.shows_problems:
            complain(write_report(path, report))
    if in_workflow() and not shown:
        complain(summarise(report), "note")


def _error_report(problems: Sequence[Problem]) -> Report:
    from dropcheck.report import Report
    from dropcheck.report.screen import terminal_of
    from dropcheck.settings import Settings

    places = [problem.location.file for problem in problems if problem.location is not None]
    name = places[0] if places else "dropcheck"
    return Report(
        run=RunResult(name, Settings(), (), 0.0),
        registry=Registry(name, {}, {}),
        problems=tuple(problems),
        terminal=terminal_of(sys.stdout),
        workspace=workspace(),
    )


# ---- workflows of GitHub -------------------------------------------------------------------------


def in_workflow() -> bool:
    """Whether this is a step of a workflow of GitHub."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def workspace() -> Path | None:
    """The folder that holds the repository; None outside of GitHub."""
    named = os.environ.get("GITHUB_WORKSPACE", "") if in_workflow() else ""
    return Path(named) if named else None


def annotate(problems: Sequence[Problem]) -> None:
    """Print errors as annotations on their lines."""
    from dropcheck.report.github import problem_annotations

    emit(problem_annotations(problems, workspace()), sys.stdout, commands=True)


def summarise(report: Report) -> Sequence[Problem]:
    """Add the table to the summary of the step; returns what went wrong."""
    named = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not named:
        return []
    from dropcheck.report.markdown import markdown_report, summary_line

    text = markdown_report(report)
    if len(text.encode("utf-8", "replace")) > LARGEST_SUMMARY // 2:  # others may add to it
        text = f"The table is too long for this place.\n\n{summary_line(report)}\n"
    return append_file(Path(named), f"### dropcheck\n\n{text}\n")
