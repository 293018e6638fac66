"""The commands by name, each imported when it is called and not before.

Typer would make every command for the one that is asked for. Here the group holds a name and a
line of help for each: a start costs what it has a use for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand, TyperGroup

from dropcheck.cli.plain import PlainCommand, make, plainly

Loaded = tuple[Callable[..., None], type[TyperCommand]]


def _run() -> Loaded:
    from dropcheck.cli.parameters import RunCommand
    from dropcheck.cli.run_command import run

    return run, RunCommand


def _plan() -> Loaded:
    from dropcheck.cli.parameters import RunCommand
    from dropcheck.cli.plan_command import plan

    return plan, RunCommand


def _list() -> Loaded:
    from dropcheck.cli.inspect_commands import list_claims

    return list_claims, PlainCommand


def _show() -> Loaded:
    from dropcheck.cli.inspect_commands import show

    return show, PlainCommand


def _check() -> Loaded:
    from dropcheck.cli.inspect_commands import check

    return check, PlainCommand


def _audit() -> Loaded:
    from dropcheck.cli.audit_command import audit

    return audit, PlainCommand


def _mutate() -> Loaded:
    from dropcheck.cli.mutate_command import mutate

    return mutate, PlainCommand


def _init() -> Loaded:
    from dropcheck.cli.init_command import init

    return init, PlainCommand


def _schema() -> Loaded:
    from dropcheck.cli.schema_command import schema

    return schema, PlainCommand


# What `--help` says of each is the first line of what the command says of itself.
COMMANDS: dict[str, tuple[str, Callable[[], Loaded]]] = {
    "run": ("Try claims by simulation: all of them, or those named.", _run),
    "plan": (
        "Tell what a run would take: draws and seconds to each verdict, and what they could see.",
        _plan,
    ),
    "list": ("Print what is in the registry: a row a claim.", _list),
    "show": ("Print a claim in full, as the file has it.", _show),
    "check": ("Read claims files and report every error in them; simulate nothing.", _check),
    "audit": ("Measure how often verdicts are wrong, on claims whose truth is known.", _audit),
    "mutate": ("Plant errors in claims, and see that each is refuted.", _mutate),
    "init": ("Write a claims file to begin with, which passes.", _init),
    "schema": (
        "Print the JSON Schema of a claims file (draft-07), for editors and other tools.",
        _schema,
    ),
}


class Commands(TyperGroup):
    """The group of all commands, none of which is made yet."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (summary, load) in COMMANDS.items():
            self.add_command(Listed(name, summary, load))

    def get_params(self, ctx: Any) -> list[Any]:
        """The options that come before the name of a command."""
        return plainly(super().get_params(ctx))


class Listed(TyperCommand):
    """A command by its name and its line of help, in whose place the command itself is called."""

    def __init__(self, name: str, summary: str, load: Callable[[], Loaded]) -> None:
        super().__init__(name=name, help=summary, rich_markup_mode=None)
        self._load = load
        self._made: Any = None

    def made(self) -> Any:
        """The command itself, made when first asked for."""
        if self._made is None:
            function, kind = self._load()
            self._made = make(function, self.name or "", kind)
        return self._made

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """The context of the command itself: from here on it is the one that is called."""
        return self.made().make_context(*arguments, **settings)
