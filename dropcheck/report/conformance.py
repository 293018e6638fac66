"""The conformance table: claims by columns, for the mathematics and each implementation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from dropcheck.claims.values import short_parameters
from dropcheck.report import words
from dropcheck.report.facts import facts
from dropcheck.results import CaseResult, Outcome, ParameterValue

MODEL = "model"
MOST_POINTS = 3  # how many parameter values of one row are named; the rest are counted
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
Point = tuple[tuple[str, ParameterValue], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A claim at all its parameter values, or at those that have the same signs in all columns."""

    claim: str
    parameters: str  # the values in few words; empty where the row has all of them
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
        each: whether each parameter value has a row; otherwise those of a claim share one where
            they have the same signs in every column.
    """
    if all(case.column is None for case in cases):
        return None
    heads = tuple(dict.fromkeys(map(_head, sorted(cases, key=lambda case: bool(case.column)))))
    by_claim: dict[str, list[CaseResult]] = {}
    for case in cases:
        by_claim.setdefault(case.of or case.claim, []).append(case)
    return Conformance(
        heads, tuple(chain(*(_rows(claim, own, heads, each) for claim, own in by_claim.items())))
    )


def _head(case: CaseResult) -> Head:
    return MODEL if case.column is None else case.column, case.dtype


def _rows(
    claim: str, cases: Sequence[CaseResult], heads: Sequence[Head], each: bool
) -> Iterator[Row]:
    """The rows of one claim."""
    points: dict[Point, dict[Head, CaseResult]] = {}
    for case in cases:
        points.setdefault(tuple(case.point.items()), {})[_head(case)] = case
    together: dict[object, list[Point]] = {}
    for point, own in points.items():
        results = tuple(own[head].result if head in own else None for head in heads)
        together.setdefault(point if each else results, []).append(point)
    for alike in together.values():
        found = [points[one] for one in alike]
        yield Row(
            claim=claim,
            parameters="" if len(together) == 1 and not each else _text(alike, list(points)),
            cells=tuple(tuple(own[head] for own in found if head in own) for head in heads),
        )


def _text(points: Sequence[Point], beside: Sequence[Point]) -> str:
    """Parameter values in few words; only of parameters that vary over the claim's rows."""
    names = [name for name, _ in points[0]]
    names = [name for name in names if len({dict(one).get(name) for one in beside}) > 1] or names
    shown = [
        short_parameters({name: dict(one)[name] for name in names}) for one in points[:MOST_POINTS]
    ]
    more = [f"{len(points) - MOST_POINTS} more"] if len(points) > MOST_POINTS else []
    if len(names) == 1:
        return ", ".join([shown[0], *(one.partition("=")[2] for one in shown[1:]), *more])
    return "; ".join([*shown, *more])


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
