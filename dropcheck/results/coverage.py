"""How much of what a document prints is claimed, as plain data: standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from dropcheck.errors import Location, Problem


class Printed(StrEnum):
    """What a document prints that a claim may be about."""

    FIGURE = "figure"
    FORMULA = "formula"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclaimed:
    """A figure or a formula that no mark claims, with the words around it."""

    kind: Printed
    text: str
    location: Location
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of a document is claimed."""

    file: str
    claims: tuple[Location, ...]  # where each claim of the document stands
    claimed_figures: int
    claimed_formulas: int
    unclaimed: tuple[Unclaimed, ...]  # in the order of the document

    @property
    def figures(self) -> int:
        """How many figures there are, claimed or not."""
        return self.claimed_figures + self._others(Printed.FIGURE)

    @property
    def formulas(self) -> int:
        """How many formulas with a statement there are, claimed or not."""
        return self.claimed_formulas + self._others(Printed.FORMULA)

    def _others(self, kind: Printed) -> int:
        return sum(one.kind is kind for one in self.unclaimed)


def counts(documents: Sequence[Coverage]) -> dict[str, int]:
    """How many figures and formulas documents have, and how many are claimed."""
    names = ("figures", "claimed_figures", "formulas", "claimed_formulas")
    return {name: sum(getattr(one, name) for one in documents) for name in names}


MOST_LINES = 20  # of a document, that a message lists


def unexpected(documents: Sequence[Coverage], expected: int) -> Problem | None:
    """The problem that documents hold another number of claims than expected; else None."""
    held = sum(len(one.claims) for one in documents)
    if held == expected:
        return None
    if not documents:
        message = f"{expected} claims are expected in documents, and no document is read"
        return Problem(message, hint="name the documents")
    verb = "claim was" if expected == 1 else "claims were"
    message = f"{expected} {verb} expected, and the documents hold {held}"
    return Problem(message, hint="; ".join(map(_standing, documents)))


def _standing(document: Coverage) -> str:
    """How many claims a document holds, and where: `paper.md: 3, on lines 4, 9 and 12`."""
    lines = [
        f"{one.line}" if one.cell is None else f"{one.line} of cell {one.cell.number}"
        for one in document.claims
    ]
    more = [f"{len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    *first, last = [*lines[:MOST_LINES], *more] or [""]
    where = f"{', '.join(first)} and {last}" if first else last
    on = f", on line{'s' if first else ''} {where}" if lines else ""
    return f"{document.file}: {len(lines)}{on}"
