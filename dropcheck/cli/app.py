"""The program: its commands, and what happens when something goes wrong."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace

import typer

from dropcheck import interrupt
from dropcheck.cli.arguments import (
    HELP,
    Command,
    Given,
    command_options,
    read_arguments,
    read_line,
    unknown_option,
)
from dropcheck.cli.completion import typed_line
from dropcheck.cli.output import ExitCode, emit, reason, silence
from dropcheck.cli.typer_app import program
from dropcheck.errors import DropcheckError, InternalError, NothingSelected, Problem, suggestion
from dropcheck.settings import Option

# typer's own options
SHELLS = (Option(name="install_completion"), Option(name="show_completion"))

COMMANDS: dict[str, Command] = {
    "run": Command(
        """Simulate claims and decide whether they hold: all, or those named.

        Each parameter of the selected claims is an option: `dropcheck run qk-variance --help`
        lists them.""",
        with_parameters=True,
    ),
    "plan": Command(
        """Say what a run would take, and what it could see.

        That is the draws and seconds to each verdict. Only a short pilot of each case is drawn.
        "could see" is the smallest error of the claim that the budget would almost surely refute;
        it is never less than the claim's resolution.""",
        with_parameters=True,
    ),
    "list": Command("Print the claims of a file: a row for each."),
    "show": Command("Print claims in full, as the file has them.", words="CLAIMS..."),
    "check": Command(
        "Read claims files and report every error, without simulating.",
        words="[FILES]...",
        words_help="Claims files. Default: claims.yaml in this folder, otherwise the claims that "
        "ship with dropcheck.",
    ),
    "mutate": Command(
        """Plant errors in claims and see that each is refuted.

        A claim that no error makes false says nothing. The exit code is 1 where a false mutant
        survives or a claim cannot fail, and 4 where a mutant is undecided."""
    ),
    "init": Command(
        """Write a claims file to begin with.

        All its claims pass. The schema that its first line names, for editors, is written beside
        it.""",
        words="[FILE]",
        words_help="The claims file to write [default: claims.yaml].",
    ),
    "schema": Command("Print the JSON Schema of a claims file, for editors.", words=""),
}


def carry_out(given: Given) -> int:
    """Call a command, which is imported here: a start loads only what it uses."""
    if given.command in ("run", "plan"):
        from dropcheck.cli.run_command import plan, run

        return run(given) if given.command == "run" else plan(given)
    if given.command == "mutate":
        from dropcheck.cli.mutate_command import mutate

        return mutate(given)
    from dropcheck.cli.inspect_commands import check, init, list_or_show, schema

    others = {"check": check, "init": init, "schema": schema}
    return others.get(given.command, list_or_show)(given)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code (`ExitCode`); nothing is raised."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    typed = typed_line()
    try:
        given = _read(arguments if typed is None else typed, lenient=typed is not None)
        given = replace(given, line=tuple(arguments))
        app = program(COMMANDS, carry_out, given, completing=typed is not None)
        code = app(arguments, prog_name="dropcheck", standalone_mode=False)
        return _exit_code(code)
    except NothingSelected as error:
        return _report(error.problems, arguments, ExitCode.NOTHING_SELECTED)
    except DropcheckError as error:
        return _report(error.problems, arguments, ExitCode.ERROR)
    except typer.TyperException as error:
        return _report([Problem(str(error))], arguments, ExitCode.ERROR)
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit as stop:  # a shell asked for completion, or the reader of the output left
        gone = isinstance(stop.__context__, BrokenPipeError)
        return ExitCode.PASSED if gone else _exit_code(stop.code)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return _internal(error, arguments)
        silence(sys.stdout)  # typer writes completions to it
        problem = Problem(f"the report could not be written: {reason(error)}")
        return _report([problem], arguments, ExitCode.ERROR)
    except Exception as error:  # an error of any kind must not look like a failed claim
        return _internal(error, arguments)


def _read(arguments: Sequence[str], *, lenient: bool) -> Given:
    """The command line, read; the command is empty where none is named.

    Raises:
        DropcheckError: there is no such command, or no such option.
    """
    before = Given("", {}, options=(Option(name="version"), *SHELLS, HELP))
    names = {option.flag for option in before.options}
    place = next((index for index, one in enumerate(arguments) if one[:1] != "-"), len(arguments))
    written = [one.partition("=")[0] for one in arguments[:place]]
    unknown = [one for one in written if one not in names]
    if unknown and not lenient:
        raise DropcheckError(unknown_option(unknown[0], before))
    if place == len(arguments) or (place and not lenient):
        return before
    name = arguments[place]
    if name in COMMANDS:
        return read_arguments(name, COMMANDS[name], arguments[place + 1 :], lenient=lenient)
    if lenient:
        return before
    hint = suggestion(name, COMMANDS) or "dropcheck --help lists the commands"
    if name.lower().endswith((".yaml", ".yml")):
        hint = f"did you mean dropcheck run {shlex.quote(name)}?"
    raise DropcheckError(Problem(f"there is no command {name!r}", hint=hint))


def _exit_code(code: object) -> ExitCode:
    """The exit code of a command; typer returns other values for its own actions."""
    if code in (None, 0):
        return ExitCode.PASSED
    if code == ExitCode.INTERRUPTED:
        return ExitCode.INTERRUPTED
    return code if isinstance(code, ExitCode) else ExitCode.ERROR


def _report(problems: Sequence[Problem], arguments: Sequence[str], code: ExitCode) -> ExitCode:
    """Report problems in the format that was asked for, also where the line cannot be read."""
    from dropcheck.cli.reporting import report_problems

    command = next(iter(arguments), "")
    texts = read_line(arguments, command_options(command if command in COMMANDS else "run")).texts
    report_problems(problems, command, texts.get("format"), texts.get("output") or ())
    return code


def _internal(error: Exception, given: Sequence[str]) -> ExitCode:
    """Report an error of dropcheck itself, and say what to send."""
    if interrupt.heard():  # numpy turns an interruption of its import into another error
        return ExitCode.INTERRUPTED
    if os.environ.get("DROPCHECK_DEBUG") == "1":
        import traceback

        emit("".join(traceback.format_exception(error)), sys.stderr)
    if isinstance(error, InternalError):
        problem = replace(error.problem, message=f"internal error: {error.problem.message}")
        return _report([problem], given, ExitCode.INTERNAL)
    lines = str(error).splitlines() or [""]
    problem = Problem(
        f"internal error: {type(error).__name__}: {lines[0][:300]}".rstrip(": "),
        hint="this is a fault of dropcheck and not of your claims: please report it, with the "
        "command and the claims file; DROPCHECK_DEBUG=1 shows the traceback",
    )
    return _report([problem], given, ExitCode.INTERNAL)
