"""Exit codes, and the output of the program: to streams that may close, and to files."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TextIO

from dropcheck.errors import DropcheckError, Problem


class ExitCode(IntEnum):
    """What a command tells the shell; these numbers are stable."""

    PASSED = 0
    FAILED = 1
    ERROR = 2
    INTERNAL = 3
    UNDECIDED = 4
    NOTHING_SELECTED = 5
    INTERRUPTED = 130


# GitHub's runner obeys lines that begin with `::`, on both streams, also after white space
_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)


def emit(text: str, stream: TextIO | None, *, commands: bool = False) -> list[Problem]:
    """Write the text and flush it; characters that the stream's encoding lacks become `?`.

    A reader that has closed the pipe (`| head`) is no error: the exit code must stay that of the
    verdicts. A stream that cannot take the text, as on a full disk, is a problem, and returned.

    Args:
        text: what to write.
        stream: where to.
        commands: whether lines of the text may be commands to GitHub's runner; otherwise they are
            changed, so that no text of a claims file becomes one.
    """
    if stream is None or not text:
        return []
    if os.environ.get("GITHUB_ACTIONS") == "true":
        text = text.replace("##[", "## [")  # the older form, obeyed anywhere in a line
        if not commands:
            text = _COMMAND.sub(r"\1: ", text)
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            encoding = stream.encoding or "ascii"
            stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        silence(stream)
    except OSError as error:
        silence(stream)
        return [Problem(f"the report could not be written: {reason(error)}")]
    except ValueError:  # the stream is closed
        return []
    return []


def print_out(text: str) -> None:
    """Write to standard output.

    Raises:
        DropcheckError: it cannot take the text.
    """
    if problems := emit(text, sys.stdout):
        raise DropcheckError(problems)


def complain(problems: Sequence[Problem], kind: str = "error") -> None:
    """Print problems, or notes, to standard error."""
    if not problems:
        return
    from dropcheck.report.screen import problems_text, terminal_of

    text = problems_text(problems, terminal_of(sys.stderr), "note" if kind == "note" else "error")
    emit(text, sys.stderr)


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


def silence(stream: TextIO) -> None:
    """Drop what is left in the stream's buffer: else the interpreter's exit would fail."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)


def write_file(path: Path, content: str | bytes) -> list[Problem]:
    """Write a file whole or not at all: as a temporary file, which is then moved to its place.

    Returns what went wrong.
    """
    try:
        target = path.resolve()  # a link stays a link
        if target.is_dir():
            raise IsADirectoryError(21, os.strerror(21))
        if target.exists() and not target.is_file():
            raise OSError(errno.EINVAL, "it is a device or a pipe, which would be replaced")
        _replace(target, as_bytes(content))
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        message = f"the file {str(path)!r} could not be written: {reason(error)}"
        return [Problem(message, hint="name a file in a folder that exists and may be written to")]
    return []


def _replace(target: Path, content: bytes) -> None:
    temporary: Path | None = None
    try:
        import tempfile

        with tempfile.NamedTemporaryFile(
            dir=target.parent, prefix=".dropcheck-", delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(content)
        temporary.chmod(_mode(target))
        temporary.replace(target)
    except BaseException:  # also after an interruption no temporary file is left
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise


def append_file(path: Path, content: str) -> list[Problem]:
    """Add to the end of a file, in one piece; returns what went wrong."""
    try:
        with path.open("ab", buffering=0) as file:
            file.write(as_bytes(content))
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        return [Problem(f"the file {str(path)!r} could not be added to: {reason(error)}")]
    return []


def as_bytes(content: str | bytes) -> bytes:
    """The content in UTF-8; escapes stand for what is no character, as in some file names."""
    if isinstance(content, bytes):
        return content
    return content.encode("utf-8", "backslashreplace")


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or of a new file."""
    with contextlib.suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def reason(error: BaseException) -> str:
    """The system's reason for an error, in its own words."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def interactive() -> bool:
    """Whether standard error, on which progress is shown, is a terminal."""
    from dropcheck.report.screen import is_terminal

    return is_terminal(sys.stderr)
