"""The program: its commands, and what becomes of everything that can go wrong."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from typer.main import get_command

from dropcheck import __version__, interrupt
from dropcheck.cli.commands import Commands
from dropcheck.cli.exits import ExitCode
from dropcheck.cli.output import emit, print_out, reason, silence
from dropcheck.errors import DropcheckError, NothingSelected, Problem, nearest
from dropcheck.settings import RUN_OPTIONS, SHORT_OPTIONS

# help is plain text: titles and laws appear in it, and are no markup
app = typer.Typer(
    name="dropcheck",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print_out(f"dropcheck {__version__}\n")
        raise typer.Exit


@app.callback()
def dropcheck(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Try mathematical claims by Monte Carlo simulation, with verdicts that hold."""
    del version  # its callback has done what there is to do


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code (`ExitCode`); nothing is raised."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = get_command(app).main(given, prog_name="dropcheck", standalone_mode=False)
        return code if isinstance(code, int) else ExitCode.PASSED
    except NothingSelected as error:
        return _report(error.problems, given, ExitCode.NOTHING_SELECTED)
    except DropcheckError as error:
        return _report(error.problems, given, ExitCode.ERROR)
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            emit(f"{error}\n", sys.stderr)
            return ExitCode.ERROR
        return _report([_usage(error)], given, ExitCode.ERROR)
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit as stop:
        # typer leaves so with 1 where help is piped to a reader that went away
        if isinstance(stop.__context__, BrokenPipeError):
            return ExitCode.PASSED
        return stop.code if isinstance(stop.code, int) else ExitCode.PASSED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return _internal(error, given)
        silence(sys.stdout)  # typer writes help itself
        problem = Problem(f"the report could not be written: {reason(error)}")
        return _report([problem], given, ExitCode.ERROR)
    except Exception as error:  # whatever it is, it must not look like a failed claim
        return _internal(error, given)


def _report(problems: Sequence[Problem], given: Sequence[str], code: ExitCode) -> ExitCode:
    from dropcheck.cli.broken import tell_problems

    tell_problems(problems, given)
    return code


def _usage(error: typer.TyperException) -> Problem:
    """What typer found wrong with the arguments, told as everything else is."""
    from dropcheck.cli.option_values import format_hint

    name = getattr(error, "option_name", None)
    if hasattr(error, "possibilities"):
        near = _near(str(name), error.possibilities or ())
        guess = f"did you mean '{near}'?" if near else _elsewhere(str(name), error)
        hint = format_hint(str(name), _command_path(error)) or guess
        return Problem(f"there is no option '{name}'", hint=hint)
    formatted = getattr(error, "format_message", error.__str__)()
    message, _, similar = formatted.partition(". Did you mean ")
    message = message.rstrip(".")
    hint = (
        f"did you mean {similar}"
        if similar
        else f"{_command_path(error)} --help says what it takes"
    )
    return Problem(message[:1].lower() + message[1:], hint=hint)


def _near(name: str, possibilities: Iterable[str]) -> str | None:
    """The option that was meant; the dashes, which all have, make none more alike."""
    bare = {one.lstrip("-"): one for one in sorted(possibilities)}
    found = nearest(name.lstrip("-"), bare)
    return None if found is None else bare[found]


def _elsewhere(name: str, error: typer.TyperException) -> str | None:
    """The hint for an option that belongs to another place or command."""
    path = _command_path(error)
    if path.endswith(" mutate"):
        return f"it takes no parameters of claims as options; {path} --help lists what it takes"
    return _after_the_command(name, error)


def _after_the_command(name: str, error: typer.TyperException) -> str | None:
    """The hint for an option of a command that stands before it."""
    own = name.lstrip("-").replace("-", "_")
    if " " in _command_path(error) or own not in RUN_OPTIONS | SHORT_OPTIONS:
        return None
    value = " FILE" if own in ("f", "file", "o", "output") else ""
    return f"it goes after the command: dropcheck run {name}{value}"


def _command_path(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return str(context.command_path) if context is not None else "dropcheck"


def _internal(error: Exception, given: Sequence[str]) -> ExitCode:
    """An error that is ours: say so, and what to send."""
    if interrupt.heard():  # numpy turns what stops its import into an error of its own
        return ExitCode.INTERRUPTED
    if os.environ.get("DROPCHECK_DEBUG") == "1":
        import traceback

        emit("".join(traceback.format_exception(error)), sys.stderr)
    lines = str(error).splitlines() or [""]
    problem = Problem(
        f"internal error: {type(error).__name__}: {lines[0][:300]}".rstrip(": "),
        hint="this is a fault of dropcheck and not of your claims: please report it, with the "
        "command and the claims file; DROPCHECK_DEBUG=1 shows the traceback",
    )
    return _report([problem], given, ExitCode.INTERNAL)
