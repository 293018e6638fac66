"""`init`: a claims file to begin with, and the schema that its first line names."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from dropcheck.cli.output import emit, write_file
from dropcheck.errors import DropcheckError, Location, Problem


def init(
    name: Annotated[
        str, typer.Argument(metavar="FILE", help="The claims file to write.", show_default=True)
    ] = "claims.yaml",
    force: Annotated[
        bool, typer.Option("--force", help="Write the file also where there is one already.")
    ] = False,
) -> None:
    """Write a claims file to begin with, which passes.

    The schema that its first line names, for editors, is written beside it.
    """
    from dropcheck.claims.format import SCHEMA_FILE
    from dropcheck.cli.schema_command import schema_text

    file = _with_ending(Path(name))
    beside = file.parent / SCHEMA_FILE
    _refuse(file, beside, force=force)
    for path, text in ((file, starter()), (beside, schema_text())):
        problem = write_file(path, text)
        if problem is not None:
            raise DropcheckError(problem)
    usual = os.path.normpath(file) == "claims.yaml"
    run = shlex.join(["dropcheck", "run", *([] if usual else ["--file", str(file)])])
    emit(f"wrote {file}, and {beside} for editors\ntry it: {run}\n", sys.stdout)


def _with_ending(file: Path) -> Path:
    """`notes` is taken for `notes.yaml`: without the ending no editor would know the file."""
    if file.suffix or not file.name or file.is_dir():
        return file
    return file.with_suffix(".yaml")


def starter() -> str:
    """The text of the file that is written."""
    from importlib.resources import files

    return files("dropcheck.cli").joinpath("starter.yaml").read_text(encoding="utf-8")


def _refuse(file: Path, beside: Path, *, force: bool) -> None:
    """Raise where a file stands in the way.

    Raises:
        DropcheckError: saying which; a schema that was written before is in nobody's way.
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
    """Whether a file is a schema of ours, if of another version."""
    from dropcheck.claims.format import SCHEMA_TITLE
    from dropcheck.claims.source import read_bytes

    try:
        return SCHEMA_TITLE.encode() in read_bytes(path, str(path))
    except DropcheckError:
        return False
