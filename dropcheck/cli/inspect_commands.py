"""The commands that draw nothing: `list`, `show`, `check`, `schema` and `init`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dropcheck.claims.registry import DTYPE, SEED, Registry
from dropcheck.claims.select import repeat_command, select_claims
from dropcheck.cli.arguments import Given, claims_of, columns_of, refuse_in_automation
from dropcheck.cli.option_table import RUN_OPTIONS
from dropcheck.cli.output import ExitCode, complain, emit, print_out, write_file
from dropcheck.documents import ENDINGS
from dropcheck.errors import DropcheckError, Location, Problem, in_file_order
from dropcheck.results.coverage import unexpected

if TYPE_CHECKING:  # completion and JSON do not need rich, which it imports
    from dropcheck.report.terminal.claim_cards import CheckedFile


def list_or_show(given: Given) -> ExitCode:
    """Print claims: `list` has a row for each, `show` all that the file says."""
    from dropcheck.report.screen import terminal_of
    from dropcheck.report.terminal.claim_cards import claim_cards, claims_table

    as_json = _is_json(given)
    registry = columns_of(given)
    if given.flag("unclaimed"):
        return _list_unclaimed(given, registry, as_json=as_json)
    claims = select_claims(registry, given.patterns, given.several("tag"))
    if as_json:
        from dropcheck.report.json_report import claims_json

        print_out(claims_json(claims, registry))
    elif given.command == "list":
        print_out(claims_table(claims, registry, terminal_of(sys.stdout)))
    else:
        first = {claim.id: claim.expand()[0] for claim in claims}
        bound = "".join(f" {shlex.quote(f'--with={one}')}" for one in given.several("with"))
        examples = {
            one: repeat_command(case, 0, given.files, RUN_OPTIONS)
            + (bound if case.claim.column is not None else "")
            for one, case in first.items()
        }
        print_out(claim_cards(claims, registry, examples, terminal_of(sys.stdout)))
    return ExitCode.PASSED


def _list_unclaimed(given: Given, registry: Registry, *, as_json: bool) -> ExitCode:
    """Print the figures and formulas that no mark of the documents claims.

    Raises:
        DropcheckError: no document is named, or claims are.
    """
    from dropcheck.report.json_report import coverage_json
    from dropcheck.report.screen import terminal_of
    from dropcheck.report.terminal.document_tables import coverage_table

    if given.patterns or given.several("tag"):
        message = "option '--unclaimed' lists what is in no claim, and claims are named"
        raise DropcheckError(Problem(message, hint="name documents alone"))
    if not registry.coverage:
        message = f"option '--unclaimed' is for documents, and there is none in {registry.name}"
        hint = f"a document ends in {', '.join(ENDINGS)}"
        raise DropcheckError(Problem(message, hint=hint))
    documents = registry.coverage
    table = coverage_json if as_json else partial(coverage_table, terminal=terminal_of(sys.stdout))
    print_out(table(documents))
    return ExitCode.PASSED


def check(given: Given) -> ExitCode:
    """Report all errors and notes that claims files give without any draw."""
    from dropcheck.report.screen import line, render, terminal_of
    from dropcheck.report.terminal.claim_cards import check_line

    expected = given.value("expect_claims")
    as_json = _is_json(given)
    names: tuple[str | None, ...] = (*given.words, *given.several("file"))
    checked = [check_file(name) for name in names or (None,)]
    errors = [error for one in checked for error in one.errors]
    miscounted: list[Problem] = []
    if expected is not None and not errors:  # with errors, the claims cannot be counted
        problem = unexpected([document for one in checked for document in one.coverage], expected)
        miscounted = [] if problem is None else [problem]
    errors += miscounted
    if as_json:
        from dropcheck.report.json_report import check_json

        print_out(check_json(checked, miscounted))
    else:
        terminal = terminal_of(sys.stdout)
        for one in checked:
            complain(one.errors)
            complain(one.notes, "note")
            print_out(render([line(check_line(one), terminal)], terminal))
        complain(miscounted)
        if errors:
            from dropcheck.cli.reporting import annotate, in_workflow

            if in_workflow():
                annotate(errors)
    return ExitCode.ERROR if errors else ExitCode.PASSED


def check_file(name: str | None) -> CheckedFile:
    """All errors and notes that a file gives without any draw."""
    from dropcheck.report.terminal.claim_cards import CheckedFile

    try:
        files = () if name is None else (name,)
        refuse_in_automation(files)
        registry = claims_of(files)
    except DropcheckError as error:
        file = name or "claims.yaml"
        return CheckedFile(name=file, claims=None, cases=None, errors=error.problems, notes=())
    from dropcheck.language.check import check_registry, notes_on_resolutions

    checked = check_registry(registry)
    return CheckedFile(
        name=registry.name,
        claims=len(registry.claims),
        cases=registry.case_count,
        coverage=registry.coverage,
        errors=in_file_order(checked.problems),
        notes=in_file_order(
            (
                *checked.notes,
                *notes_on_resolutions(registry),
                *_without_an_option(registry),
            )
        ),
    )


def _without_an_option(registry: Registry) -> Iterable[Problem]:
    """Notes on parameters that have the name of an option of `run`.

    Where a claim calls slots, its number format and its number of seeds may have these names.
    """
    for claim in registry.claims.values():
        of_slots = {DTYPE, SEED} if claim.slots else ()
        for name in claim.parameter_names:
            if name in RUN_OPTIONS and name not in of_slots:
                message = f"the parameter {name!r} is named like an option of run"
                place = claim.parameter_locations.get(name, claim.location)
                yield Problem(message, place, f"it is set by --set {name}=VALUE only")


def _is_json(given: Given) -> bool:
    chosen = given.value("format")
    given.finish()
    return bool(chosen == "json")


# ---- a file to begin with ------------------------------------------------------------------------


def schema(_: Given) -> ExitCode:
    """Print the JSON Schema of a claims file."""
    print_out(schema_text())
    return ExitCode.PASSED


def schema_text() -> str:
    """The schema as it is printed and published: in ASCII, with a line for each key."""
    import json

    from dropcheck.claims.claimsfile import claims_schema

    return json.dumps(claims_schema(), indent=2) + "\n"


def init(given: Given) -> ExitCode:
    """Write a claims file, and beside it the schema that its first line names."""
    from dropcheck.claims.claimsfile import SCHEMA_FILE

    file = Path(*given.words[:1] or ("claims.yaml",))
    if not file.suffix and file.name and not file.is_dir():
        file = file.with_suffix(".yaml")  # without the ending no editor would know the file
    beside = file.parent / SCHEMA_FILE
    _refuse(file, beside, force=given.flag("force"))
    for path, text in ((file, starter()), (beside, schema_text())):
        if problems := write_file(path, text):
            raise DropcheckError(problems)
    usual = os.path.normpath(file) == "claims.yaml"
    run = shlex.join(["dropcheck", "run", *([] if usual else [str(file)])])
    emit(f"wrote {file}, and {beside} for editors\nrun it: {run}\n", sys.stdout)
    return ExitCode.PASSED


def starter() -> str:
    """The text of the file that is written."""
    from importlib.resources import files

    return files("dropcheck.cli").joinpath("starter.yaml").read_text(encoding="utf-8")


def _refuse(file: Path, beside: Path, *, force: bool) -> None:
    """Refuse to write over a file, except over an earlier schema.

    Raises:
        DropcheckError: with the name of the file.
    """
    if file.is_dir():
        hint = f"name the file in it: {file / 'claims.yaml'}"
        raise DropcheckError(Problem(f"{str(file)!r} is a folder", Location(str(file)), hint))
    if file.name == beside.name:
        message = f"{file.name!r} is the name of the schema beside the claims file"
        raise DropcheckError(Problem(message, hint="call the claims file claims.yaml"))
    if force:
        return
    if os.path.lexists(file):
        hint = "name another file, or give --force to write over it"
        raise DropcheckError(Problem(f"there is a file {str(file)!r} already", hint=hint))
    if os.path.lexists(beside) and not _is_schema(beside):
        message = f"{str(beside)!r} is in the way: it is not dropcheck's schema"
        hint = "move it away, or give --force to write over it"
        raise DropcheckError(Problem(message, hint=hint))


def _is_schema(path: Path) -> bool:
    """Whether a file is dropcheck's schema, of any version."""
    from dropcheck.claims.claimsfile import SCHEMA_TITLE, read_bytes

    try:
        return SCHEMA_TITLE.encode() in read_bytes(path, str(path))
    except DropcheckError:
        return False
