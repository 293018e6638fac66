"""The defaults that a project gives to the command line: `[tool.dropcheck]` in pyproject.toml."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from dropcheck.errors import DropcheckError, Location, Problem, suggestion
from dropcheck.options import read_value

NAME = "pyproject.toml"
KEYS = ("file", "tags", "alpha", "resolution", "seed", "threads")


def project_defaults() -> dict[str, str | list[str]]:
    """What the nearest pyproject.toml upwards sets: a text by its key, for files and tags several.

    A file without the table is passed over. The search ends at the root of a repository.

    Raises:
        DropcheckError: the file cannot be read, or the table has a wrong key or value.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / NAME).is_file() and (found := _read(folder / NAME)) is not None:
            return found
        if (folder / ".git").exists():
            break
    return {}


def _read(path: Path) -> dict[str, str | list[str]] | None:
    """What a file sets; None where it has no such table."""
    import tomllib

    name = os.path.relpath(path)
    try:
        text = path.read_text(encoding="utf-8")
        written = tomllib.loads(text) if "dropcheck" in text else {}
    except (OSError, ValueError) as error:  # UnicodeDecodeError, TOMLDecodeError
        line = re.search(r"at line (\d+), column (\d+)", str(error))
        at = Location(name, int(line[1]), int(line[2])) if line else Location(name)
        raise DropcheckError(Problem(f"it cannot be read: {error}", at)) from None
    match written:
        case {"tool": {"dropcheck": dict() as table}}:
            try:
                return {key: _value(key, value, path.parent) for key, value in table.items()}
            except DropcheckError as error:
                problems = [replace(one, location=Location(name)) for one in error.problems]
                raise DropcheckError(problems) from None
    return None


def _value(key: str, value: Any, folder: Path) -> str | list[str]:
    """The text or the texts of a value.

    Raises:
        DropcheckError: there is no such key, or it cannot have the value.
    """
    if key not in KEYS:
        hint = suggestion(key, KEYS) or f"the keys are {', '.join(KEYS)}"
        raise DropcheckError(Problem(f"[tool.dropcheck] has no key {key!r}", hint=hint))
    if key in ("file", "tags"):
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
            message = f"{key!r} must be a text or a list of texts, and is {value!r:.100}"
            raise DropcheckError(Problem(message))
        return texts if key == "tags" else [_from_here(one, folder) for one in texts]
    text = value if isinstance(value, str) else repr(value)
    read_value(key, text, repr(key))
    return text


def _from_here(file: str, folder: Path) -> str:
    """A file, named as seen from this folder; words that stand for files are kept."""
    return file if file == "shipped" or ":" in file else os.path.relpath(folder / file)
