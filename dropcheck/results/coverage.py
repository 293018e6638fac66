"""How much of what a document prints is claimed, as plain data: standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from dropcheck.errors import Location


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
