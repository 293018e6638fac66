"""The packs: claims files that ship, about layers and samplers that frameworks have."""

from __future__ import annotations

from pathlib import Path

from dropcheck.errors import DropcheckError, Problem, suggestion

PACK = "pack:"
"""The prefix of a pack's name in the place of a file; a file with such a name is `./pack:…`."""


def pack_file(name: str) -> Path:
    """The claims file of a pack.

    Raises:
        DropcheckError: there is no pack of this name.

    >>> pack_file("dropout").name
    'dropout.yaml'
    """
    known = pack_names()
    if name not in known:
        hint = suggestion(name, known) or f"the packs are {', '.join(known)}"
        raise DropcheckError(Problem(f"there is no pack {name[:100]!r}", hint=hint))
    return _folder() / f"{name}.yaml"


def pack_names() -> tuple[str, ...]:
    """The packs that ship, in the order of their names."""
    return tuple(sorted(one.stem for one in _folder().glob("*.yaml")))


def _folder() -> Path:
    return Path(__file__).parent
