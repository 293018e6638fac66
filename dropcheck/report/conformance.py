"""The conformance table: claims by columns, for the mathematics and each implementation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from dropcheck.claims import values
from dropcheck.report import numbers, words
from dropcheck.report.facts import facts
from dropcheck.results import CaseResult, Outcome, ParameterValue

MODEL = "model"
MOST_POINTS = 3  # how many parameter values of one row are named; the rest are counted
NOTHING = "-"


class ConformanceMark(Enum):
    """The outcome of a cell, the worst first: its sign, its meaning, and that of a case."""

    ERROR = ("error", "could not be judged", Outcome.ERROR)
    FAILS = ("✗", "does not hold", Outcome.FAIL)
    UNDECIDED = ("?", "undecided", Outcome.UNDECIDED)
    HOLDS = ("✓", "holds", Outcome.PASS)

    def __init__(self, sign: str, meaning: str, outcome: Outcome) -> None:
        self.sign = sign
        self.meaning = meaning
        self.outcome = outcome
        self.style = words.STYLES[outcome]


@dataclass(frozen=True, slots=True)
class Head:
    """A column: an implementation in one of its number formats, or the mathematics."""

    name: str
    dtype: str | None


@dataclass(frozen=True, slots=True)
class ConformanceCell:
    """The cases of a claim in one column."""

    head: Head
    cases: tuple[CaseResult, ...]

    @property
    def mark(self) -> ConformanceMark | None:
        """The mark of the worst case; None where there is no case."""
        outcomes = {case.result for case in self.cases}
        return next((one for one in ConformanceMark if one.outcome in outcomes), None)

    @property
    def worst(self) -> CaseResult:
        """The case with that mark; of several, the least clear one."""
        return words.worst(self.cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceRow:
    """A claim at all its parameter values, or at those that have the same marks in all columns."""

    claim: str
    title: str
    parameters: str  # the values in few words; empty where the row has all of them
    points: tuple[Mapping[str, ParameterValue], ...]
    cells: tuple[ConformanceCell, ...]


@dataclass(frozen=True, slots=True)
class Conformance:
    """The table; the mathematics is its first column."""

    heads: tuple[Head, ...]
    rows: tuple[ConformanceRow, ...]

    @property
    def cells(self) -> Iterator[ConformanceCell]:
        """Every cell that holds a case, row by row."""
        return (cell for row in self.rows for cell in row.cells if cell.cases)

    @property
    def marks(self) -> tuple[ConformanceMark, ...]:
        """The marks that occur."""
        marks = {cell.mark for cell in self.cells}
        return tuple(one for one in ConformanceMark if one in marks)


def conformance(cases: Sequence[CaseResult], *, each: bool = False) -> Conformance | None:
    """The table of a run; None where no code was under test.

    Args:
        cases: the cases of the run.
        each: whether each parameter value has a row; otherwise those of a claim share one where
            they have the same marks in every column.
    """
    if all(case.column is None for case in cases):
        return None
    heads = dict.fromkeys(map(_head, sorted(cases, key=lambda case: case.column is not None)))
    by_claim: dict[str, list[CaseResult]] = {}
    for case in cases:
        by_claim.setdefault(case.of or case.claim, []).append(case)
    rows = (row for claim, own in by_claim.items() for row in _rows(claim, own, [*heads], each))
    return Conformance(tuple(heads), tuple(rows))


def _head(case: CaseResult) -> Head:
    return Head(MODEL if case.column is None else case.column, case.dtype)


ParameterPoint = tuple[tuple[str, ParameterValue], ...]


def _rows(
    claim: str, cases: Sequence[CaseResult], heads: Sequence[Head], each: bool
) -> Iterator[ConformanceRow]:
    """The rows of one claim."""
    points: dict[ParameterPoint, dict[Head, CaseResult]] = {}
    for case in cases:
        points.setdefault(tuple(case.point.items()), {})[_head(case)] = case
    together: dict[object, list[ParameterPoint]] = {}
    for point, own in points.items():
        marks = tuple(own[head].result if head in own else None for head in heads)
        together.setdefault(point if each else marks, []).append(point)
    for alike in together.values():
        cells = (
            ConformanceCell(head, tuple(points[one][head] for one in alike if head in points[one]))
            for head in heads
        )
        yield ConformanceRow(
            claim=claim,
            title=cases[0].title,
            parameters="" if len(together) == 1 and not each else _text(alike, list(points)),
            points=tuple(map(dict, alike)),
            cells=tuple(cells),
        )


def _text(points: Sequence[ParameterPoint], beside: Sequence[ParameterPoint]) -> str:
    """Parameter values in few words; only of parameters that vary over the claim's rows."""
    names = [name for name, _ in points[0]]
    varying = [name for name in names if len({dict(one).get(name) for one in beside}) > 1]
    shown = [
        values.short_parameters({name: dict(one)[name] for name in varying or names})
        for one in points[:MOST_POINTS]
    ]
    more = [f"{len(points) - MOST_POINTS} more"] if len(points) > MOST_POINTS else []
    if len(varying or names) == 1:
        return ", ".join([shown[0], *(one.partition("=")[2] for one in shown[1:]), *more])
    return "; ".join([*shown, *more])


# ---- cells in words ------------------------------------------------------------------------------


def where(cell: ConformanceCell) -> str:
    """The cases that a text on a cell is about: `values@torch float32, p=0.1 and 2 more`."""
    case, alike = cell.worst, [one for one in cell.cases if one.result is cell.worst.result]
    name = " ".join(filter(None, (case.claim, case.dtype)))
    more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
    return ", ".join(filter(None, (name, values.short_parameters(case.point)))) + more


def seen(case: CaseResult) -> str:
    """The finding of a case in one line: `E(y) / E(x) is 0.9985, claimed 1`."""
    said, figures = facts(case), None
    if case.sides is not None:
        difference = words.estimated(case).removeprefix("diff ")
        figures = f"{said['claimed']} is claimed, the difference is {difference}"
    elif case.estimate is not None:
        figures = f"{case.expression} is {said['estimated']}, claimed {said['claimed']}"
    reason = said.get("reason")
    if case.result is Outcome.ERROR:
        return f"{reason}; {said['reading']}"
    if case.result is Outcome.UNDECIDED:
        return "; ".join(filter(None, (figures, reason, words.needs(case))))
    return reason or figures or said["reading"]


def shown(cell: ConformanceCell, *, verbose: bool) -> str:
    """The sign of a cell; where `verbose`, with its estimate in lines below."""
    return "\n".join([sign(cell), *([measured(cell.worst)] if verbose and cell.cases else [])])


def measured(case: CaseResult) -> str:
    """A line each for a case's estimate, interval and draws; empty where there is no estimate."""
    if case.estimate is None and case.interval is None:
        return ""
    estimate = words.estimated(case).removeprefix("diff ")
    texts = (estimate, words.interval(case), words.drawn(case) or numbers.UNKNOWN)
    return "\n".join(text for text in texts if text != numbers.UNKNOWN)


def sign(cell: ConformanceCell) -> str:
    """The sign of a cell."""
    return NOTHING if cell.mark is None else cell.mark.sign


def legend(pivot: Conformance) -> tuple[str, ...]:
    """The meanings of signs that a reader may not know, of those in a table."""
    parts = [
        f"{one.sign} {one.meaning}"
        for one in pivot.marks
        if one not in (ConformanceMark.HOLDS, ConformanceMark.FAILS)
    ]
    calls = [case.calls for cell in pivot.cells for case in cell.cases]
    if any(one is not None and one.declared for one in calls):
        parts.append("draws of a call count each where slots say elements: independent")
    if any(not cell.cases for row in pivot.rows for cell in row.cells):
        parts.append(f"{NOTHING} says nothing of it")
    return tuple(parts)


def to_say(pivot: Conformance) -> list[tuple[ConformanceCell, ConformanceMark, str]]:
    """The cells that do not hold, the worst first, with their marks and a text on each.

    Cells with the same error are made into one, with one text.
    """
    texts: dict[object, tuple[ConformanceCell, ConformanceMark, str]] = {}
    for cell in pivot.cells:
        mark = cell.mark
        if mark is None or mark is ConformanceMark.HOLDS:
            continue
        text = seen(cell.worst)
        key = text if mark is ConformanceMark.ERROR else len(texts)
        before = texts[key][0].cases if key in texts else ()
        texts[key] = replace(cell, cases=(*before, *cell.cases)), mark, text
    worst_first = list(ConformanceMark)
    return sorted(texts.values(), key=lambda one: worst_first.index(one[1]))
