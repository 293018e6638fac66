"""The program as an app of typer: its commands, their help, and what a shell completes.

It is made for the line that is read: only the command that is called has its options, and
parameters of claims are options like all others.
"""

from __future__ import annotations

import inspect
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from dropcheck import __version__
from dropcheck.cli import completion
from dropcheck.cli.arguments import HELP, Command, Given, is_named
from dropcheck.cli.output import ExitCode, emit, print_out
from dropcheck.settings import Option, OptionKind

SECTION = "Parameters of the selected claims"
WIDEST_NAME = 30  # in the first column of a section, as typer writes it

_KEYWORD = inspect.Parameter.KEYWORD_ONLY

# Typer ignores arguments: they have been read by the table.
_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


def program(
    commands: Mapping[str, Command],
    carry_out: Callable[[Given], int],
    given: Given,
    *,
    completing: bool,
) -> typer.Typer:
    """The program for one line.

    Args:
        commands: all commands by their names.
        carry_out: calls the command that is named.
        given: the arguments of the line; its command is empty where none is called.
        completing: whether the line is still being typed.
    """
    # help is plain text: it has titles and laws, which must not be read as markup
    app = typer.Typer(
        name="dropcheck",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=completing or not given.command,
    )
    app.callback(
        help="Check mathematical claims by Monte Carlo simulation, with verdicts that hold.",
        invoke_without_command=True,
        add_help_option=False,
    )(_before_commands)
    for name, command in commands.items():
        called = name == given.command
        words = f"\n\n{command.words.strip('[].')}: {command.words_help}" if command.words else ""
        app.command(
            name,
            help=inspect.cleandoc(command.help) + words,
            short_help=command.help.partition("\n")[0],
            options_metavar="[OPTIONS]" if completing else f"[OPTIONS] {command.words}".rstrip(),
            add_help_option=False,
            context_settings=_PASSED_ON,
        )(_function(command, carry_out, given, completing=completing) if called else _not_called)
    return app


def _printing(text: Callable[[typer.Context], str]) -> dict[str, Any]:
    """The arguments of `typer.Option` for an option that prints a text and ends the program.

    It does so before other options are read, for which typer would load pydantic.
    """

    def show(ctx: typer.Context, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            print_out(f"{text(ctx)}\n")
            raise typer.Exit

    return {"is_eager": True, "callback": show}


_VERSION = typer.Option(
    "--version", help="Print the version.", **_printing(lambda _: f"dropcheck {__version__}")
)
_HELP = typer.Option("--help", help=HELP.help, **_printing(lambda ctx: ctx.get_help()))


def _before_commands(
    ctx: typer.Context,
    version: Annotated[bool, _VERSION] = False,
    wants_help: Annotated[bool, _HELP] = False,
) -> ExitCode:
    """Print the help where no command is named."""
    del version, wants_help  # their callbacks do everything
    if ctx.invoked_subcommand is None:
        emit(f"{ctx.get_help()}\n", sys.stderr)
    return ExitCode.ERROR


def _not_called() -> None:
    """A command of which only the name and the help are needed."""


def _function(
    command: Command, carry_out: Callable[[Given], int], given: Given, *, completing: bool
) -> Callable[..., int]:
    """The function of the called command, with the command's options as its signature."""

    def called(**_: object) -> int:
        return carry_out(given)

    declared = []
    if completing or given.flag(HELP.name):
        options = (*given.options, *(given.parameter_options if completing else ()))
        declared = [_declared(option, given, completing=completing) for option in options]
    if completing and command.words:
        words = typer.Argument(autocompletion=completion.claims_and_files(given))
        declared.append((Annotated[list[str], words], None))
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # typeshed lacks it
        [
            inspect.Parameter(f"option_{place}", _KEYWORD, annotation=annotation, default=default)
            for place, (annotation, default) in enumerate(declared)
        ]
    )
    return called


def _declared(option: Option, given: Given, *, completing: bool) -> tuple[Any, bool | None]:
    """An option as typer declares it, and its default."""
    text = option.help_in.get(given.command, option.help)
    if option is HELP:
        more = _printing(lambda ctx: f"{ctx.get_help()}{_parameters(given)}")
    elif completing:
        text = completion.described(text)
        more = {"autocompletion": completion.values_of(option, given)}
    else:
        more = {}
    declaration = typer.Option(
        *option.spellings, metavar=option.placeholder or None, help=text, **more
    )
    if option.kind is OptionKind.FLAG:
        return Annotated[bool, declaration], False
    return Annotated[list[str] if option.repeated else str, declaration], None


def _parameters(given: Given) -> str:
    """The section of help on parameters of the named claims, in typer's layout."""
    if not (given.parameter_options and is_named(given)):
        return ""
    rows = [(f"{', '.join(one.spellings)} VALUES", one.help) for one in given.parameter_options]
    column = min(max(len(name) for name, _ in rows), WIDEST_NAME) + 4
    width = max(min(shutil.get_terminal_size().columns, 80) - 2, 50)
    lines = []
    for name, text in rows:
        first = f"  {name}"
        if len(first) + 2 > column:
            lines.append(first)
            first = ""
        lines += textwrap.wrap(
            text, width, initial_indent=first.ljust(column), subsequent_indent=" " * column
        )
    return "\n".join(["", "", f"{SECTION}:", *lines])
