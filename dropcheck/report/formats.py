"""The formats of a run's report: a table of entries, whose functions are imported on demand.

A format is chosen by its name for standard output, and by the name or ending of a file. To add one,
write a function `Report` → text in a file of this folder, and its entry here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of a run's report.

    A format that cannot show problems, or an interruption, would show a broken run as a whole one:
    its file is not written then.
    """

    purpose: str  # who reads it, for the documentation
    function: str  # `Report` → text or bytes, as `module.function` of this folder
    ending: str | None = None  # of its files; None where it is only printed
    printed: bool = True  # whether `--format` offers it
    shows_problems: bool = False  # whether it shows errors
    shows_interruption: bool = False  # whether it says that a run was interrupted
    shows_curves: bool = False  # whether it shows the curves that `--plot` asks for
    needs: str | None = None  # a library that may be missing
    aliases: tuple[str, ...] = ()  # other names that users may try, beside its ending

    def make(self, report: Report) -> str | bytes:
        """The report in this format."""
        module, _, name = self.function.rpartition(".")
        made: str | bytes = getattr(import_module(f"dropcheck.report.{module}"), name)(report)
        return made

    def fits(self, report: Report) -> bool:
        """Whether the format can show this report in full."""
        return (self.shows_problems or not report.problems) and (
            self.shows_interruption or not report.run.interrupted
        )


FORMATS: Mapping[str, Format] = {
    "table": Format(
        purpose="people, at a terminal",
        function="terminal.run_table.table_report",
        shows_interruption=True,
    ),
    "json": Format(
        purpose="programs: every number, schema 1; always valid JSON, unknown values are null",
        function="json_report.json_report",
        ending=".json",
        aliases=("yaml", "yml"),  # JSON is YAML too
        shows_problems=True,
        shows_interruption=True,
    ),
    "junit": Format(
        purpose="continuous integration, in the form that pytest writes",
        function="junit.junit_report",
        ending=".xml",
        aliases=("junitxml", "junit-xml"),
        shows_problems=True,
        shows_interruption=True,
    ),
    "markdown": Format(
        purpose="a README, a paper, a pull request",
        function="markdown.markdown_report",
        ending=".md",
        shows_problems=True,
        shows_interruption=True,
    ),
    "github": Format(
        purpose="annotations only, for a workflow that prints its own table",
        function="github.run_annotations",
        shows_problems=True,
    ),
    "csv": Format(
        purpose="spreadsheets and data frames", function="csv_report.csv_report", ending=".csv"
    ),
    "html": Format(
        purpose="readers: one page with a table to sort and filter, which needs no network",
        function="html.html_report",
        ending=".html",
        printed=False,
        shows_interruption=True,
    ),
    "svg": Format(
        purpose="every case as an interval in a picture; needs matplotlib",
        function="pictures.svg_report",
        ending=".svg",
        printed=False,
        shows_interruption=True,
        shows_curves=True,
        needs="matplotlib",
    ),
    "png": Format(
        purpose="the same as pixels; needs matplotlib",
        function="pictures.png_report",
        ending=".png",
        printed=False,
        shows_interruption=True,
        shows_curves=True,
        needs="matplotlib",
    ),
}
PRINTED = {name: form for name, form in FORMATS.items() if form.printed}
WRITTEN = {form.ending: form for form in FORMATS.values() if form.ending is not None}


def written_as(path: Path) -> Format | None:
    """The format of a file, by its ending; None where there is none.

    >>> written_as(Path("out/run.SVG")) is FORMATS["svg"], written_as(Path("a.txt"))
    (True, None)
    """
    return WRITTEN.get(path.suffix.lower())


def format_hint(name: str) -> str | None:
    """What to write instead of a format that does not exist, or is not printed.

    >>> format_hint("md"), format_hint("html"), format_hint("nothing")
    ("did you mean 'markdown'?", "write it to a file: '-o FILE.html'", None)
    """
    for known, form in FORMATS.items():
        if name.lower().lstrip(".") in (known, (form.ending or "")[1:], *form.aliases):
            if form.printed:
                return f"did you mean {known!r}?"
            return f"write it to a file: '-o FILE{form.ending}'"
    return suggestion(name, PRINTED)


def require_libraries(paths: Iterable[Path]) -> None:
    """Check that the libraries for the files are installed, before a run spends time on them.

    Raises:
        DropcheckError: a library is not installed.
    """
    for path in paths:
        form = written_as(path)
        needed = None if form is None else form.needs
        if needed is not None and find_spec(needed) is None:
            hint = f"pip install {needed}; HTML reports do without"
            message = f"pictures need {needed}, which is not installed"
            raise DropcheckError(Problem(message, hint=hint))
