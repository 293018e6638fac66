"""The conformance table: claims by columns, for the mathematics and each implementation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from dropcheck.claims.values import short_parameters
from dropcheck.report import words
from dropcheck.report.facts import facts
from dropcheck.results import CaseResult, Outcome

MODEL = "model"
NOTHING = "-"
SIGNS = {  # of a cell by its worst case, the worst first, with their meanings
    Outcome.ERROR: ("error", "could not be judged"),
    Outcome.FAIL: ("✗", "does not hold"),
    Outcome.UNDECIDED: ("?", "undecided"),
    Outcome.PASS: ("✓", "holds"),
}
Head = tuple[str, str | None]
"""A column: an implementation in one of its number formats, or the mathematics."""
Cell = tuple[CaseResult, ...]
"""The cases of a claim in one column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A claim at all its parameter values, or at those that are named."""

    claim: str
    parameters: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Conformance:
    """The table; the mathematics is its first column."""

    heads: tuple[Head, ...]
    rows: tuple[Row, ...]

    @property
    def cells(self) -> list[Cell]:
        """Every cell that holds a case, row by row."""
        return [cell for row in self.rows for cell in row.cells if cell]

    def legend(self, *without: Outcome) -> list[str]:
        """The meanings of the signs that occur, without those that a reader knows."""
        found = {outcome(cell) for cell in self.cells} - {*without}
        parts = [f"{sign} {meaning}" for of, (sign, meaning) in SIGNS.items() if of in found]
        if any(case.calls and case.calls.declared for case in chain(*self.cells)):
            parts.append("draws of a call count each where slots say elements: independent")
        if not all(cell for row in self.rows for cell in row.cells):
            parts.append(f"{NOTHING} says nothing of it")
        return parts


def conformance(cases: Sequence[CaseResult], *, each: bool = False) -> Conformance | None:
    """The table of a run; None where no code was under test.

    Args:
        cases: the cases of the run.
        each: whether each parameter value has a row; otherwise a claim has one.
    """
    if all(case.column is None for case in cases):
        return None
    heads = dict.fromkeys(map(_head, sorted(cases, key=lambda case: bool(case.column))))
    rows: dict[tuple[str, str], dict[Head, list[CaseResult]]] = {}
    for case in cases:
        key = case.of or case.claim, short_parameters(case.point) if each else ""
        rows.setdefault(key, {}).setdefault(_head(case), []).append(case)
    return Conformance(
        heads=tuple(heads),
        rows=tuple(
            Row(
                claim=claim,
                parameters=at,
                cells=tuple(tuple(own.get(head, ())) for head in heads),
            )
            for (claim, at), own in rows.items()
        ),
    )


def _head(case: CaseResult) -> Head:
    return MODEL if case.column is None else case.column, case.dtype


# ---- cells in words ------------------------------------------------------------------------------


def outcome(cell: Cell) -> Outcome | None:
    """The result of the worst case; None where there is no case."""
    return words.worst(cell).result if cell else None


def sign(cell: Cell) -> str:
    """The sign of a cell."""
    return SIGNS[words.worst(cell).result][0] if cell else NOTHING


def shown(cell: Cell, *, verbose: bool) -> str:
    """The sign of a cell; where `verbose`, with its estimate, interval and draws in lines below."""
    if not (cell and verbose):
        return sign(cell)
    case = words.worst(cell)
    said, labels = facts(case), ("estimated", "interval", *["draws"] * (case.draws > 0))
    return "\n".join(
        [sign(cell), *(said[one].removeprefix("diff ") for one in labels if one in said)]
    )
