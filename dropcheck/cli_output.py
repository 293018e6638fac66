"""Where the command line writes: streams that may close, files that are written whole."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from dropcheck.errors import DropcheckError, Problem, reason

if TYPE_CHECKING:
    from dropcheck.report import Report
    from dropcheck.report.screen import MessageKind

LARGEST_SUMMARY = 2**20  # bytes; GitHub shows nothing of a step that adds more
HERE = "name a file in a folder that exists and may be written to"

# GitHub's runner obeys lines that begin with `::`, on both streams, also after white space
_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)


class ExitCode(IntEnum):
    """What a command tells the shell; these numbers are stable."""

    PASSED = 0
    FAILED = 1
    ERROR = 2
    INTERNAL = 3
    UNDECIDED = 4
    NOTHING_SELECTED = 5
    INTERRUPTED = 130


# ---- streams -------------------------------------------------------------------------------------


def emit(text: str, stream: TextIO | None, *, commands: bool = False) -> list[Problem]:
    """Write the text and flush it; characters that the stream's encoding lacks become ASCII.

    A reader that has closed the pipe (`| head`) is no error: the exit code must stay that of the
    verdicts. A stream that cannot take the text, as on a full disk, is a problem, and returned.

    Args:
        text: what to write.
        stream: where to.
        commands: whether lines of the text may be commands to GitHub's runner; otherwise they are
            changed, so that no text of a claims file becomes one.
    """
    if stream is None or stream.closed or not text:
        return []
    if in_workflow():
        text = text.replace("##[", "## [")  # the older form, obeyed anywhere in a line
        text = text if commands else _COMMAND.sub(r"\1: ", text)
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            from dropcheck.report.screen import ASCII

            known = text.translate(ASCII).encode(stream.encoding, "replace")
            stream.write(known.decode(stream.encoding))
        stream.flush()
    except OSError as error:
        silence(stream)
        if not isinstance(error, BrokenPipeError):
            return [Problem(f"the report could not be written: {reason(error)}")]
    return []


def print_out(text: str) -> None:
    """Write to standard output.

    Raises:
        DropcheckError: it cannot take the text.
    """
    if problems := emit(text, sys.stdout):
        raise DropcheckError(problems)


def complain(
    problems: Sequence[Problem], kind: MessageKind = "error", *, counted: bool = True
) -> None:
    """Print problems to standard error, and how many there are."""
    if problems:
        from dropcheck.report.screen import problems_text, terminal_of

        emit(problems_text(problems, terminal_of(sys.stderr), kind, counted), sys.stderr)


def silence(stream: TextIO) -> None:
    """Drop what is left in the stream's buffer: else the interpreter's exit would fail."""
    with contextlib.suppress(OSError, ValueError), Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


@contextlib.contextmanager
def printing_aside(*, needed: bool = True) -> Iterator[None]:
    """A context in which code under test prints to standard error: standard output is the report's.

    This holds for its libraries in C too, and for its processes, which inherit the descriptor.
    """
    if not needed or sys.stderr is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a stream without a file
            out, aside = sys.stdout.fileno(), sys.stderr.fileno()
            sys.stdout.flush()
            kept = os.dup(out)
            stack.callback(os.close, kept)
            os.dup2(aside, out)
            stack.callback(os.dup2, kept, out)
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield


# ---- files ---------------------------------------------------------------------------------------


def write_file(path: Path, content: str | bytes) -> list[Problem]:
    """Write a file whole or not at all: as a temporary file, which is then moved to its place.

    Returns what went wrong.
    """
    try:
        target = path.resolve()  # a link stays a link
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if target.exists() and not target.is_file():
            raise OSError(errno.EINVAL, "it is a device or a pipe, which would be replaced")
        _replace(target, as_bytes(content))
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        message = f"the file {str(path)!r} could not be written: {reason(error)}"
        return [Problem(message, hint=None if full else HERE)]
    return []


def _replace(target: Path, content: bytes) -> None:
    import tempfile

    with contextlib.ExitStack() as undone:  # also after an interruption no temporary file is left
        with tempfile.NamedTemporaryFile(
            dir=target.parent, prefix=".dropcheck-", delete=False
        ) as file:
            temporary = Path(file.name)
            undone.callback(temporary.unlink, missing_ok=True)
            file.write(content)
        os.umask(mask := os.umask(0))
        temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask)
        temporary.replace(target)


def as_bytes(content: str | bytes) -> bytes:
    """The content in UTF-8; escapes stand for what is no character, as in some file names."""
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


# ---- reports -------------------------------------------------------------------------------------


def deliver(report: Report, name: str, outputs: Sequence[Path]) -> list[Problem]:
    """Print a report, and write it to the files; returns what could not be printed or written.

    In a workflow of GitHub, annotations and a summary are printed too.
    """
    unprinted = emit(_printed(name, report), sys.stdout, commands=name == "github")
    if in_workflow():
        if name == "table":
            emit(_printed("github", report), sys.stdout, commands=True)
        complain(summarise(report), "note")
    complain(unprinted)  # before the files, in case these end the program
    unwritten = [problem for path in outputs for problem in write_report(path, report)]
    complain(unwritten)
    return [*unprinted, *unwritten]


def _printed(name: str, report: Report) -> str:
    """The text of a report, with the line ends of this system."""
    from dropcheck.report.formats import PRINTED

    made = PRINTED[name].make(report)
    text = made if isinstance(made, str) else made.decode("utf-8")
    return text.replace("\r\n", "\n") if os.linesep == "\r\n" else text


def write_report(path: Path, report: Report) -> list[Problem]:
    """Write a report in the format that the file's ending names; returns what went wrong.

    A format that cannot show an interruption is not written where there is one.
    """
    from dropcheck.report.formats import written_as

    form = written_as(path)
    assert form is not None  # else the option would have been refused
    if report.run.interrupted and not form.shows_interruption:
        why = "the run was interrupted, and such a file cannot say so"
        message = f"the file {str(path)!r} was not written: {why}"
        return [Problem(message, hint="a report that ends in .json can")]
    try:
        return write_file(path, form.make(report))
    except DropcheckError as error:
        return list(error.problems)


def report_problems(problems: Sequence[Problem], name: str | None) -> None:
    """Report the problems that prevent a command: in words, and in JSON where that is asked for."""
    complain(problems)
    if name == "json":
        from dropcheck.report.formats import errors_json

        emit(errors_json(problems), sys.stdout)
    else:
        annotate(problems, asked=name == "github")


# ---- workflows of GitHub -------------------------------------------------------------------------


def in_workflow() -> bool:
    """Whether this is a step of a workflow of GitHub."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def workspace() -> Path | None:
    """The folder that holds the repository; None outside of GitHub."""
    named = os.environ.get("GITHUB_WORKSPACE", "") if in_workflow() else ""
    return Path(named) if named else None


def annotate(problems: Sequence[Problem], *, asked: bool = False) -> None:
    """Print errors as annotations on their lines, in a workflow of GitHub or where `asked` for."""
    if asked or in_workflow():
        from dropcheck.report.formats import error_annotations

        emit(error_annotations(problems, workspace()), sys.stdout, commands=True)


def summarise(report: Report) -> list[Problem]:
    """Add the table to the summary of the step; returns what went wrong."""
    named = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not named:
        return []
    from dropcheck.report.formats import markdown_report, summary_line

    text = markdown_report(report)
    if len(as_bytes(text)) > LARGEST_SUMMARY // 2:  # others may add to it
        text = f"The table is too long for this place.\n\n{summary_line(report)}\n"
    try:
        with Path(named).open("ab", buffering=0) as file:
            file.write(as_bytes(f"### dropcheck\n\n{text}\n"))
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        return [Problem(f"the file {named!r} could not be added to: {reason(error)}")]
    return []
