"""The formats that a run can be told in: one function each, imported only where it is asked for.

A format is taken by its name for standard output, and by a file's ending for a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dropcheck.report.contents import Report


@dataclass(frozen=True, slots=True)
class Format:
    """How a file is made, and what it has words for beside cases.

    A format without words for problems, or for an interruption, would show a broken run as a whole
    one; no file of it is written then.
    """

    make: Callable[[Report], str | bytes]
    tells_problems: bool = False
    tells_interruption: bool = False

    def fits(self, report: Report) -> bool:
        """Whether the format can say all that there is to say."""
        return (self.tells_problems or not report.problems) and (
            self.tells_interruption or not report.run.interrupted
        )


def _table(report: Report) -> str:
    from dropcheck.report.terminal.run_table import run_report
    from dropcheck.report.terminal.screen import Terminal

    terminal = report.terminal or Terminal()
    table = run_report(report.run, terminal, verbose=report.verbose, quiet=report.quiet)
    if not report.plot:
        return table
    from dropcheck.report.terminal.curve_plot import terminal_plot

    # above the table, so that the summary stays the last line
    return terminal_plot(report.run, terminal) + table


def _json(report: Report) -> str:
    from dropcheck.report.json_report import errors_json, run_json

    return errors_json(report.problems) if report.problems else run_json(report.run)


def _junit(report: Report) -> str:
    from dropcheck.report.junit import junit_report

    return junit_report(report)


def _markdown(report: Report) -> str:
    from dropcheck.report.markdown import markdown_report

    return markdown_report(report)


def _github(report: Report) -> str:
    from dropcheck.report.github import run_annotations

    return run_annotations(report)


def _csv(report: Report) -> str:
    from dropcheck.report.csv_report import csv_report

    return csv_report(report)


def _html(report: Report) -> str:
    from dropcheck.report.html.page import html_report

    return html_report(report.run, report.registry)


def _svg(report: Report) -> bytes:
    return _picture(report, "svg")


def _png(report: Report) -> bytes:
    return _picture(report, "png")


def _picture(report: Report, kind: Literal["svg", "png"]) -> bytes:
    """The curves of a sweep where they are asked for, and otherwise every case as an interval."""
    if report.plot:
        from dropcheck.report.pictures.curve_picture import curve_picture

        return curve_picture(report.run, kind)
    from dropcheck.report.pictures.cases_picture import picture

    return picture(report.run, kind)


# what stands on standard output, where errors are left to standard error
PRINTED: Mapping[str, Callable[[Report], str]] = {
    "table": _table,
    "json": _json,
    "junit": _junit,
    "markdown": _markdown,
    "github": _github,
    "csv": _csv,
}
WRITTEN: Mapping[str, Format] = {
    ".json": Format(_json, tells_problems=True, tells_interruption=True),
    ".xml": Format(_junit, tells_problems=True, tells_interruption=True),
    ".md": Format(_markdown, tells_problems=True, tells_interruption=True),
    ".csv": Format(_csv),
    ".html": Format(_html, tells_interruption=True),
    ".svg": Format(_svg, tells_interruption=True),
    ".png": Format(_png, tells_interruption=True),
}
PICTURES = (".svg", ".png")


def see_that_they_can_be_made(paths: Iterable[Path]) -> None:
    """See that what the files need is there, before anything is spent on what they would hold.

    Raises:
        DropcheckError: a library is not installed.
    """
    if any(path.suffix.lower() in PICTURES for path in paths):
        from dropcheck.report.pictures.drawing import require_matplotlib

        require_matplotlib()
