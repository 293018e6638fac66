"""Reads documents into a registry: marks beside figures and formulas.

This is the door: it reads a file as a document or as a claims file, depending on its suffix.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from dropcheck.claims.registry import Registry
from dropcheck.errors import DropcheckError, Location, Problem

ENDINGS = (".md", ".markdown", ".qmd", ".rmd", ".ipynb", ".tex")
"""The suffixes of documents, in lower case."""

_PASSED_OVER = ("node_modules", "site-packages", "venv")  # folders of what others wrote


def is_document(path: str | Path) -> bool:
    """Whether a file is read as a document.

    >>> is_document("paper.md"), is_document("claims.yaml")
    (True, False)
    """
    return Path(path).suffix.lower() in ENDINGS


def read_any(path: str | Path, name: str | None = None) -> Registry:
    """Read a document or a claims file; `name` is its name in messages, by default its path.

    Raises:
        DropcheckError: it cannot be read, or has errors: all of them.
    """
    if not is_document(path):
        from dropcheck.claims.reader import read_registry

        return read_registry(path, name)
    from dropcheck.claims.yaml_places import read_bytes
    from dropcheck.documents.document_registry import document_of

    path, name = Path(path), str(path) if name is None else name
    return document_of(read_bytes(path, name), path, name)


def in_folder(folder: str) -> list[str]:
    """The claims files and documents in a folder that hold claims, by name.

    Hidden folders and those of installed packages are passed over. A document with errors in its
    marks is in the list.

    Raises:
        DropcheckError: the folder holds none.
    """
    found: list[str] = []
    for where, folders, names in os.walk(folder):
        folders[:] = [one for one in sorted(folders) if one[0] != "." and one not in _PASSED_OVER]
        paths = [os.path.join(where, one) for one in sorted(names)]  # noqa: PTH118 - as it is named
        found += filter(_holds_claims, paths)
    if not found:
        hint = "a claims file begins with 'dropcheck: 1'; a document has marks beside its figures"
        problem = Problem(f"no file in the folder {folder!r} holds claims", Location(folder), hint)
        raise DropcheckError(problem)
    return found


def _holds_claims(path: str) -> bool:
    if not path.lower().endswith((".yaml", ".yml", *ENDINGS)):
        return False
    from dropcheck.claims.yaml_places import read_bytes

    text = read_bytes(Path(path), path)
    if not is_document(path):
        return re.search(rb"^[\"']?dropcheck[\"']?\s*:", text, re.MULTILINE) is not None
    try:
        return b"dropcheck" in text and bool(read_any(path).claims)
    except DropcheckError:
        return True
