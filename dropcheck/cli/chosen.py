"""The claims that a command works on: of the named files, the usual file, or those that ship."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dropcheck.claims.reader import MISTAKEN_NAME, SHIPPED, USUAL_NAME, load_registry
from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.selection import option_of, select
from dropcheck.claims.values import NUMBER_FORMATS
from dropcheck.cli.given import Given, assignments
from dropcheck.cli.output import printing_aside
from dropcheck.documents import read_any
from dropcheck.errors import DropcheckError, NothingSelected, Problem, in_file_order, suggestion
from dropcheck.options import RUN_OPTIONS
from dropcheck.records import record
from dropcheck.results.coverage import Coverage, unexpected
from dropcheck.settings import DEFAULT_MEMORY

if TYPE_CHECKING:  # loads numpy, which `list` does not need
    from dropcheck.language.case_graphs import CaseGraphs
    from dropcheck.language.checks import Checked

_OFF = ("", "0", "false")


@record
class Chosen:
    """The cases that a command works on, and the notes of their check.

    `graphs` are what the check built of the
    cases: nothing is parsed or lowered again to judge them.
    """

    registry: Registry
    cases: tuple[Case, ...]
    notes: tuple[str, ...]
    graphs: CaseGraphs


def chosen_cases(given: Given, memory: int = DEFAULT_MEMORY) -> Chosen:
    """The selected cases, after a check of the whole registry.

    Raises:
        DropcheckError: for every error of the registry, or of the values given for parameters.
        NothingSelected: no claim has such an id and such a tag.
    """
    from dropcheck.language.case_graphs import CaseGraphs
    from dropcheck.language.checks import check_cases, used_places

    known = tuple(dict.fromkeys(name for one in given.claims for name in one.parameter_names))
    overrides = assignments(given.several("set"), given.parameters, known)
    graphs = CaseGraphs(memory)
    registry, checked = checked_registry(given, graphs)
    cases = select(registry, given.patterns, given.several("tag"), overrides, reserved=RUN_OPTIONS)
    if not cases:
        raise NothingSelected(Problem("no claim is selected", hint="dropcheck list shows them all"))
    if overrides or len({case.claim.id for case in cases}) < len(registry.claims):
        options = {name: option_of(name, RUN_OPTIONS) for name in overrides}
        used = used_places(registry.claims.values(), graphs)
        checked = check_cases(cases, graphs, options, used)  # values or notes may be others
        if checked.problems:
            raise DropcheckError(in_file_order(checked.problems))
        of_code = [note for note in registry.notes if note.location is None]
        checked = replace(checked, notes=(*of_code, *checked.notes))
    cases = fitting(cases, checked)
    graphs.keep_only(cases)
    warnings = tuple(_as_warning(note) for note in in_file_order(checked.notes))
    return Chosen(registry=registry, cases=cases, notes=warnings, graphs=graphs)


def fitting(cases: tuple[Case, ...], checked: Checked) -> tuple[Case, ...]:
    """The cases without those that do not fit their number format.

    Raises:
        DropcheckError: no case is left.
    """
    left = tuple(case for case in cases if case.key not in checked.unfit)
    if not left:
        raise DropcheckError(checked.notes)
    return left


def checked_registry(given: Given, graphs: CaseGraphs | None = None) -> tuple[Registry, Checked]:
    """The claims that a command works on, which have no errors, and the outcome of the check.

    Raises:
        DropcheckError: with every error of the files.
    """
    from dropcheck.language.checks import check_registry

    # where parameters of claims are options, the registry was read to find them
    registry = given.registry or columns_of(given)
    checked = check_registry(registry, graphs)
    if checked.problems:
        raise DropcheckError(in_file_order(checked.problems))
    return registry, checked


def claims_of(files: Sequence[str]) -> Registry:
    """Read the claims of the files that a command works on.

    Raises:
        DropcheckError: with every error of the keys of the files.
    """
    return load_registry(files, read_any)


def expect_claims(expected: int | None, documents: Sequence[Coverage]) -> None:
    """Check that documents hold as many claims as are expected, where a number is.

    Raises:
        DropcheckError: they hold another number.
    """
    problem = None if expected is None else unexpected(documents, expected)
    if problem is not None:
        raise DropcheckError(problem)


def columns_of(given: Given) -> Registry:
    """The claims of the files that are named, with a column for each implementation.

    Raises:
        DropcheckError: a file cannot be read or holds errors, or code cannot be found.
    """
    registry = claims_of(given.files)
    formats = _formats(given)
    if not given.several("with"):
        if formats:
            message = "option '--dtype' is of code, and none is under test"
            raise DropcheckError(Problem(message, hint="name it: --with NAME"))
        return registry
    from dropcheck.code.binding import implementations_of
    from dropcheck.code.columns import with_columns

    implementations = implementations_of(given.several("with"), Path.cwd())
    with printing_aside():
        return with_columns(registry, implementations, formats)


def _formats(given: Given) -> tuple[str, ...]:
    """The number formats asked for.

    Raises:
        DropcheckError: one of them does not exist.
    """
    text = given.value("dtype") or ""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in NUMBER_FORMATS:
            hint = suggestion(name, NUMBER_FORMATS) or "they are " + ", ".join(NUMBER_FORMATS)
            message = f"option '--dtype' cannot be {name[:100]!r}: it is no format of numbers"
            raise DropcheckError(Problem(message, hint=hint))
    return names


def _as_warning(note: Problem) -> str:
    from dropcheck.report.terminal.screen import place

    where = place(note.location)
    hint = f" ({note.hint})" if note.hint else ""
    return f"{where}: {note.message}{hint}" if where else f"{note.message}{hint}"


# ---- where no file is named ----------------------------------------------------------------------


def falls_back(files: Sequence[str]) -> bool:
    """Whether a command with these files works on the claims that ship with dropcheck."""
    # a file with the mistaken name is reported when it is read
    return not files and not any(Path(name).is_file() for name in (USUAL_NAME, MISTAKEN_NAME))


def in_automation() -> bool:
    """Whether this is a job of continuous integration."""
    variables = [os.environ.get(name, "") for name in ("CI", "GITHUB_ACTIONS")]
    return any(text.strip().lower() not in _OFF for text in variables)


def refuse_in_automation(files: Sequence[str]) -> None:
    """Refuse the claims that ship in a CI job: one in the wrong folder must not pass by them.

    Raises:
        DropcheckError: this is a CI job, and nothing says which claims are meant.
    """
    if in_automation() and falls_back(files):
        message = f"there is no {USUAL_NAME} here, and under CI no other claims replace it"
        hint = f"name the file: --file FILE; the claims that ship with dropcheck: --file {SHIPPED}"
        raise DropcheckError(Problem(message, hint=hint))


def fallback_notes(files: Sequence[str]) -> list[Problem]:
    """A note where the claims that ship are used."""
    note = f"no {USUAL_NAME} here: these are the claims that ship with dropcheck"
    return [Problem(note)] if falls_back(files) else []
