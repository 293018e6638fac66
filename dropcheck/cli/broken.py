"""What is told where no run could be made: in the format that was asked for, as far as it can."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dropcheck.cli import actions
from dropcheck.cli.exits import complain
from dropcheck.cli.lookahead import asked_format, asked_outputs
from dropcheck.cli.output import emit
from dropcheck.errors import Problem

if TYPE_CHECKING:
    from dropcheck.report.contents import Report

TELLING = ("junit", "markdown", "github")  # formats of `run`, beside JSON, that have errors


def tell_problems(problems: Sequence[Problem], arguments: Sequence[str]) -> None:
    """Tell what kept a command from its work.

    Standard error has it in words; standard output in the format that was asked for. Where a claims
    file is at fault, a run's files say so too, for an old one would still tell of the last run.
    """
    complain(problems)
    format_name = asked_format(arguments)
    running = arguments[:1] == ["run"]
    if format_name == "json":
        from dropcheck.report.json_report import errors_json

        emit(errors_json(problems), sys.stdout)
    elif running and format_name in TELLING:
        from dropcheck.cli.tell import print_report

        print_report(_report(problems), format_name)
    elif actions.running():
        emit(actions.annotated(problems), sys.stdout, commands=True)
    at_fault = any(problem.location is not None for problem in problems)
    if running and at_fault:
        complain(_write_files(_report(problems), asked_outputs(arguments)))
    if actions.running() and at_fault and format_name not in TELLING:
        complain(actions.summarise(_report(problems)), "note")


def _report(problems: Sequence[Problem]) -> Report:
    from dropcheck.claims.registry import Registry
    from dropcheck.report.contents import Report
    from dropcheck.report.terminal.screen import terminal_of
    from dropcheck.results import RunResult, Settings

    places = [problem.location.file for problem in problems if problem.location is not None]
    name = places[0] if places else "dropcheck"
    return Report(
        RunResult(name, Settings(), (), 0.0),
        Registry(name, {}, {}),
        tuple(problems),
        terminal_of(sys.stdout),
        workspace=actions.workspace(),
    )


def _write_files(report: Report, names: Sequence[str]) -> list[Problem]:
    from dropcheck.cli.option_values import report_path
    from dropcheck.cli.tell import write_report
    from dropcheck.report.formats import WRITTEN

    unwritten: list[Problem] = []
    for name in names:
        try:
            path = report_path(name)
        except ValueError:  # a wrong ending, which is not what there is to tell of
            continue
        if WRITTEN[path.suffix.lower()].tells_problems:
            unwritten += write_report(path, report)
    return unwritten
