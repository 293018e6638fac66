"""Where no claims file is named and none is here: whether the claims that ship may stand in."""

from __future__ import annotations

import os
from pathlib import Path

from dropcheck.errors import DropcheckError, Problem

_OFF = ("", "0", "false")


def in_automation() -> bool:
    """Whether a machine reads the exit code, by what every provider of CI sets."""
    return any(
        os.environ.get(name, "").strip().lower() not in _OFF for name in ("CI", "GITHUB_ACTIONS")
    )


def falls_back(file: str | None) -> bool:
    """Whether a command that was given this file speaks of the claims that ship."""
    from dropcheck.claims.reader import MISTAKEN_NAME, USUAL_NAME

    # where the name is mistaken, reading says so
    return file is None and not any(Path(name).is_file() for name in (USUAL_NAME, MISTAKEN_NAME))


def refuse_in_automation(file: str | None) -> None:
    """See that a gate in the wrong folder is not green by the claims of others.

    Raises:
        DropcheckError: under CI nothing says which claims are meant.
    """
    from dropcheck.claims.reader import SHIPPED, USUAL_NAME

    if in_automation() and falls_back(file):
        message = f"there is no {USUAL_NAME} here, and under CI no other claims stand in for it"
        hint = f"name the file: --file FILE; the claims that ship with dropcheck: --file {SHIPPED}"
        raise DropcheckError(Problem(message, hint=hint))


def fallback_note(file: str | None) -> Problem | None:
    """What is said where the claims that ship stand in; None where they do not."""
    from dropcheck.claims.reader import USUAL_NAME

    if not falls_back(file):
        return None
    return Problem(f"no {USUAL_NAME} here: these are the claims that ship with dropcheck")
