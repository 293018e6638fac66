"""The program: its commands, and what happens when something goes wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from dropcheck import __version__, interrupt
from dropcheck.cli import completion
from dropcheck.cli.command import (
    Action,
    Command,
    Entry,
    glimpse,
    help_option,
    printing_option,
    unknown_option,
)
from dropcheck.cli.output import ExitCode, emit
from dropcheck.errors import DropcheckError, NothingSelected, Problem, suggestion

_CLAIMS = "[CLAIMS]..."
_WHICH = (
    "Ids of claims, or globs of them; and claims files, which are recognised by a dot or a slash. "
    "All claims where no id is given."
)


def _run() -> Action:
    from dropcheck.cli.run_command import run

    return run


def _plan() -> Action:
    from dropcheck.cli.run_command import plan

    return plan


def _list() -> Action:
    from dropcheck.cli.inspect_commands import list_claims

    return list_claims


def _show() -> Action:
    from dropcheck.cli.inspect_commands import show

    return show


def _check() -> Action:
    from dropcheck.cli.inspect_commands import check

    return check


def _audit() -> Action:
    from dropcheck.cli.audit_command import audit

    return audit


def _mutate() -> Action:
    from dropcheck.cli.mutate_command import mutate

    return mutate


def _init() -> Action:
    from dropcheck.cli.inspect_commands import init

    return init


def _schema() -> Action:
    from dropcheck.cli.inspect_commands import schema

    return schema


# Each is imported when it is called and not before: a start loads only what it uses.
COMMANDS: dict[str, Entry] = {
    "run": Entry(
        help="""Simulate claims and decide whether they hold: all, or those named.

        Each parameter of the selected claims is an option: `dropcheck run qk-variance --help`
        lists them.""",
        load=_run,
        words=_CLAIMS,
        words_help=_WHICH,
        with_parameters=True,
    ),
    "plan": Entry(
        help="""Say what a run would take, and what it could see.

        That is the draws and seconds to each verdict. Only a short pilot of each case is drawn.
        "could see" is the smallest error of the claim that the budget would almost surely refute;
        it is never less than the claim's resolution.""",
        load=_plan,
        words=_CLAIMS,
        words_help=_WHICH,
        with_parameters=True,
    ),
    "list": Entry(
        help="Print the claims of a file: a row for each.",
        load=_list,
        words=_CLAIMS,
        words_help=_WHICH,
    ),
    "show": Entry(
        help="Print claims in full, as the file has them.",
        load=_show,
        words="CLAIMS...",
        words_help=_WHICH,
        needs_words=True,
    ),
    "check": Entry(
        help="Read claims files and report every error, without simulating.",
        load=_check,
        words="[FILES]...",
        words_help="Claims files. Default: claims.yaml in this folder, otherwise the claims that "
        "ship with dropcheck.",
    ),
    "audit": Entry(
        help="""Measure how often verdicts are wrong.

        The whole procedure is repeated with fresh draws, on claims that are known to be true or
        false. The exit code is 1 where a rate of wrong verdicts is above the promise by more than
        chance: a fault of dropcheck, or, with a file, a claim that is not what its file says.""",
        load=_audit,
        words=_CLAIMS,
        words_help=_WHICH,
    ),
    "mutate": Entry(
        help="""Plant errors in claims and see that each is refuted.

        A claim that no error makes false says nothing. The exit code is 1 where a false mutant
        survives or a claim cannot fail, and 4 where a mutant is undecided.""",
        load=_mutate,
        words=_CLAIMS,
        words_help=_WHICH,
    ),
    "init": Entry(
        help="""Write a claims file to begin with.

        All its claims pass. The schema that its first line names, for editors, is written beside
        it.""",
        load=_init,
        words="[FILE]",
        words_help="The claims file to write [default: claims.yaml].",
    ),
    "schema": Entry(help="Print the JSON Schema of a claims file, for editors.", load=_schema),
}


class Program(click.Group):
    """All commands; each is made when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Their names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name."""
        if cmd_name in COMMANDS:
            return Command(cmd_name, COMMANDS[cmd_name])
        if ctx.resilient_parsing:
            return None
        hint = suggestion(cmd_name, COMMANDS) or "dropcheck --help lists the commands"
        raise DropcheckError(Problem(f"there is no command {cmd_name!r}", hint=hint))

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command; an interruption is silent."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED


def _help_where_nothing_is_asked() -> ExitCode | None:
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is not None:
        return None
    emit(f"{ctx.get_help()}\n", sys.stderr)
    return ExitCode.ERROR


def program() -> Program:
    """The command line, with all that it takes."""
    return Program(
        "dropcheck",
        help="Check mathematical claims by Monte Carlo simulation, with verdicts that hold.",
        params=[
            printing_option(
                "--version", "Print the version.", lambda _: f"dropcheck {__version__}"
            ),
            printing_option(
                "--install-completion",
                "Install completion for the current shell.",
                lambda ctx: completion.install(ctx.command),
            ),
            printing_option(
                "--show-completion",
                "Print what --install-completion installs, to copy it or to change it.",
                lambda ctx: completion.script(ctx.command),
            ),
            help_option(),
        ],
        add_help_option=False,
        callback=_help_where_nothing_is_asked,
        invoke_without_command=True,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code (`ExitCode`); nothing is raised."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = program().main(given, prog_name="dropcheck", standalone_mode=False)
        return code if isinstance(code, int) else ExitCode.PASSED
    except NothingSelected as error:
        return _report(error.problems, given, ExitCode.NOTHING_SELECTED)
    except DropcheckError as error:
        return _report(error.problems, given, ExitCode.ERROR)
    except click.ClickException as error:
        return _report([_usage(error)], given, ExitCode.ERROR)
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit as stop:  # where a shell asked for completion
        return stop.code if isinstance(stop.code, int) else ExitCode.PASSED
    except Exception as error:  # whatever it is, it must not look like a failed claim
        return _internal(error, given)


def _report(problems: Sequence[Problem], given: Sequence[str], code: ExitCode) -> ExitCode:
    """Report problems in the format that was asked for, even where the rest is unreadable."""
    from dropcheck.cli.reporting import report_problems

    asked = [
        click.Option(["--format"]),
        click.Option(["-o", "--output"], multiple=True),
        click.Argument(["words"], nargs=-1),
    ]
    seen = glimpse(given, asked)
    command = next(iter(given), "")
    report_problems(problems, command, seen["format"], seen["output"] or ())
    return code


def _usage(error: click.ClickException) -> Problem:
    """What click found wrong with the arguments, in the form of every other error."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.NoSuchOption) and ctx is not None:
        return unknown_option(error.option_name, ctx)
    message = error.format_message().rstrip(".")
    path = ctx.command_path if ctx is not None else "dropcheck"
    return Problem(message[:1].lower() + message[1:], hint=f"{path} --help says what it takes")


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
