"""Reads documents into a registry: marks beside figures and formulas.

This is the door: it reads a file as a document or as a claims file, depending on its suffix.
"""

from __future__ import annotations

from pathlib import Path

from dropcheck.claims.registry import Registry

ENDINGS = (".md", ".markdown", ".qmd", ".rmd", ".ipynb", ".tex")
"""The suffixes of documents, in lower case."""


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
    from dropcheck.claims.claimsfile import read_bytes
    from dropcheck.documents.document_registry import document_of

    path, name = Path(path), str(path) if name is None else name
    return document_of(read_bytes(path, name), path, name)
