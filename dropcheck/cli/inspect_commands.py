"""`list`, `show` and `check`: what a claims file says, without a draw."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dropcheck.claims.registry import Claim, Registry
from dropcheck.cli import actions
from dropcheck.cli.common import File, Format, Reader, Tags, claims_argument
from dropcheck.cli.default_file import refuse_in_automation
from dropcheck.cli.exits import ExitCode, complain
from dropcheck.cli.output import emit, print_out
from dropcheck.errors import DropcheckError, Problem, in_file_order
from dropcheck.settings import RUN_OPTIONS

if TYPE_CHECKING:  # completion and JSON have no use for rich, which it imports
    from dropcheck.report.terminal.listing import CheckedFile


def list_claims(
    claims: Annotated[
        list[str] | None, claims_argument("Ids or globs of claims; all where none is named.")
    ] = None,
    file: File = None,
    tag: Tags = None,
    format_name: Format = "table",
) -> None:
    """Print what is in the registry: a row a claim."""
    as_json = _is_json(format_name)
    registry, chosen = _selected(file, claims or (), tag or ())
    if as_json:
        from dropcheck.report.terminal.claim_cards import claims_json

        print_out(claims_json(chosen, registry))
    else:
        from dropcheck.report.terminal.listing import claims_table
        from dropcheck.report.terminal.screen import terminal_of

        print_out(claims_table(chosen, registry, terminal_of()))


def show(
    claims: Annotated[list[str], claims_argument("Ids or globs of claims.")],
    file: File = None,
    format_name: Format = "table",
) -> None:
    """Print a claim in full, as the file has it."""
    as_json = _is_json(format_name)
    registry, chosen = _selected(file, claims, ())
    if as_json:
        from dropcheck.report.terminal.claim_cards import claims_json

        print_out(claims_json(chosen, registry))
    else:
        from dropcheck.claims.selection import repeat_command
        from dropcheck.report.terminal.claim_cards import claim_cards
        from dropcheck.report.terminal.screen import terminal_of

        examples = {
            claim.id: repeat_command(claim.expand()[0], 0, file, RUN_OPTIONS) for claim in chosen
        }
        print_out(claim_cards(chosen, registry, examples, terminal_of()))


def check(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Claims files; otherwise claims.yaml here, otherwise the claims that ship.",
            metavar="FILES",
            show_default=False,
        ),
    ] = None,
    file: File = None,
    format_name: Format = "table",
) -> None:
    """Read claims files and report every error in them; simulate nothing."""
    from dropcheck.report.terminal.listing import check_json, check_line

    as_json = _is_json(format_name)
    names: list[str | None] = [*(files or ()), *([file] if file else ())]
    checked = [check_file(name) for name in names or [None]]
    failed = any(one.errors for one in checked)
    if as_json:
        print_out(check_json(checked))
    else:
        for one in checked:
            complain(one.errors)
            complain(one.notes, "note")
            print_out(check_line(one) + "\n")
        if failed and actions.running():
            found = [error for one in checked for error in one.errors]
            emit(actions.annotated(found), sys.stdout, commands=True)
    raise typer.Exit(ExitCode.ERROR if failed else ExitCode.PASSED)


def check_file(name: str | None) -> CheckedFile:
    """Everything that can be told of a file before any draw."""
    from dropcheck.claims.reader import load_registry
    from dropcheck.report.terminal.listing import CheckedFile

    try:
        refuse_in_automation(name)
        registry = load_registry(name)
    except DropcheckError as error:
        return CheckedFile(name or "claims.yaml", None, None, error.problems, ())
    from dropcheck.language.checks import check_registry  # loads numpy: where there is a file

    found = check_registry(registry)
    notes = (*found.notes, *_left_to_set(registry))
    return CheckedFile(
        registry.name,
        len(registry.claims),
        len(registry.expand()),
        in_file_order(found.problems),
        in_file_order(notes),
    )


def _left_to_set(registry: Registry) -> Iterable[Problem]:
    """Notes on parameters whose option would be one that `run` has itself."""
    for claim in registry.claims.values():
        for name in claim.parameter_names:
            if name in RUN_OPTIONS:
                yield Problem(
                    f"the parameter {name!r} is named like an option of run",
                    claim.parameter_locations.get(name, claim.location),
                    f"it is set by --set {name}=VALUE only",
                )


def _selected(
    file: str | None, patterns: Sequence[str], tags: Sequence[str]
) -> tuple[Registry, tuple[Claim, ...]]:
    from dropcheck.claims.reader import load_registry
    from dropcheck.claims.selection import select_claims

    registry = load_registry(file)
    return registry, select_claims(registry, patterns, tags)


def _is_json(format_name: str) -> bool:
    read = Reader()
    chosen = read.format(format_name)
    read.finish()
    return chosen == "json"
