"""The conformance table as data: claims by columns, for the mathematics and each implementation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from dropcheck.claims import values
from dropcheck.report import numbers, words
from dropcheck.results import CaseResult, Outcome, ParameterValue

MODEL = "model"
MOST_NAMES = 6  # how many claims with one error are named
MOST_POINTS = 3  # how many parameter values of one row are named; the rest are counted
NOTHING = "-"


class ConformanceMark(Enum):
    """The outcome of a cell, the worst first: its sign, and what it means."""

    ERROR = ("error", "could not be judged")
    FAILS = ("✗", "does not hold")
    UNDECIDED = ("?", "undecided")
    HOLDS = ("✓", "holds")

    def __init__(self, sign: str, meaning: str) -> None:
        self.sign = sign
        self.meaning = meaning


_WORST_FIRST = tuple(ConformanceMark)


def mark(case: CaseResult) -> ConformanceMark:
    """The mark of one case."""
    match case.result:
        case Outcome.ERROR:
            return ConformanceMark.ERROR
        case Outcome.UNDECIDED:
            return ConformanceMark.UNDECIDED
        case Outcome.PASS:
            return ConformanceMark.HOLDS
        case Outcome.FAIL:
            return ConformanceMark.FAILS


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
        return min(map(mark, self.cases), key=_WORST_FIRST.index, default=None)

    @property
    def worst(self) -> CaseResult:
        """The case with that mark; of several, the least clear one."""
        return max(
            (one for one in self.cases if mark(one) is self.mark), key=lambda one: one.badness
        )

    @property
    def alike(self) -> int:
        """How many of the cases have the mark."""
        return sum(mark(one) is self.mark for one in self.cases)


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
    heads = dict.fromkeys(_head(case) for case in cases if case.column is not None)
    model = [Head(MODEL, None)] if any(case.column is None for case in cases) else []
    by_claim: dict[str, list[CaseResult]] = {}
    for case in cases:
        by_claim.setdefault(case.of or case.claim, []).append(case)
    columns = (*model, *heads)
    return Conformance(
        columns,
        tuple(row for claim, own in by_claim.items() for row in _rows(claim, own, columns, each)),
    )


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
        marks = tuple(mark(own[head]) if head in own else None for head in heads)
        together.setdefault(point if each else marks, []).append(point)
    for alike in together.values():
        cells = (
            ConformanceCell(head, tuple(points[one][head] for one in alike if head in points[one]))
            for head in heads
        )
        whole = len(together) == 1 and not each
        text = "" if whole else _text(alike, list(points))
        yield ConformanceRow(
            claim=claim,
            title=cases[0].title,
            parameters=text,
            points=tuple(map(dict, alike)),
            cells=tuple(cells),
        )


def _text(points: Sequence[ParameterPoint], beside: Sequence[ParameterPoint]) -> str:
    """Parameter values in few words; only of parameters that vary over the claim's rows."""
    varying = [
        name for name, _ in points[0] if len({dict(one).get(name) for one in beside}) > 1
    ] or [name for name, _ in points[0]]
    shown = [{name: dict(one)[name] for name in varying} for one in points[:MOST_POINTS]]
    rest = len(points) - len(shown)
    more = [f"{rest} more"] if rest else []
    if len(varying) == 1:
        first, *others = (values.short_parameters(one) for one in shown)
        return ", ".join([first, *(one.partition("=")[2] for one in others), *more])
    return "; ".join([*map(values.short_parameters, shown), *more])


# ---- cells in words ------------------------------------------------------------------------------


def where(cell: ConformanceCell) -> str:
    """The case that a text on a cell is about: `values@torch float32, p=0.1 and 2 more`.

    For a cell made of several, their names: `mean@torch, values@torch (float16) at p=0.1`.
    """
    case = cell.worst
    claims = list(dict.fromkeys(one.claim for one in cell.cases))
    dtypes = list(dict.fromkeys(one.dtype for one in cell.cases if one.dtype))
    if len(claims) > 1 or len(dtypes) > 1:
        rest = len(claims) - MOST_NAMES
        names = [*claims[:MOST_NAMES], *([f"{rest} more"] if rest > 0 else [])]
        text = ", ".join(names) + (f" ({', '.join(dtypes)})" if dtypes else "")
        points = dict.fromkeys(values.short_parameters(one.point) for one in cell.cases)
        shown = [*filter(None, points)]
        if len(shown) > MOST_POINTS:
            shown[MOST_POINTS:] = [f"{len(shown) - MOST_POINTS} more"]
        return f"{text} at {'; '.join(shown)}" if shown else text
    name = " ".join(filter(None, (case.claim, case.dtype)))
    more = f" and {cell.alike - 1} more" if cell.alike > 1 else ""
    return ", ".join(filter(None, (name, values.short_parameters(case.point) + more)))


def seen(case: CaseResult) -> str:
    """The finding of a case in one line: `E(y) / E(x) is 0.9985, claimed 1`."""
    figures = ""
    if case.sides is not None:
        figures = f"{words.claimed(case)} is claimed, the {words.estimated(case)}"
    elif case.estimate is not None:
        figures = f"{case.expression} is {words.estimated(case)}, claimed {words.claimed(case)}"
    explained = "" if case.explanation is None else str(case.explanation)
    if case.result is Outcome.ERROR:
        return f"{explained}; {words.reading(case)}"
    if case.result is Outcome.UNDECIDED:
        return "; ".join(filter(None, (figures, explained, words.needs(case))))
    return explained or figures or words.reading(case)


def said(cell: ConformanceCell) -> str | None:
    """The text on a cell below the table; None where the claim holds."""
    return None if cell.mark in (ConformanceMark.HOLDS, None) else seen(cell.worst)


def measured(case: CaseResult) -> str:
    """A line each for a case's estimate, interval and draws; empty where there is no estimate."""
    if case.estimate is None and case.interval is None:
        return ""
    estimate = words.estimated(case).removeprefix("difference ")
    texts = (estimate, words.interval(case), words.drawn(case) or numbers.UNKNOWN)
    return "\n".join(text for text in texts if text != numbers.UNKNOWN)


def legend(table: Conformance) -> tuple[str, ...]:
    """The meanings of signs that a reader may not know, of those in a table."""
    known = {ConformanceMark.HOLDS, ConformanceMark.FAILS}
    parts = [f"{one.sign} {one.meaning}" for one in table.marks if one not in known]
    calls = [case.calls for cell in table.cells for case in cell.cases]
    if any(one is not None and one.declared for one in calls):
        parts.append("draws of a call count each where slots say elements: independent")
    if any(not cell.cases for row in table.rows for cell in row.cells):
        parts.append(f"{NOTHING} says nothing of it")
    return tuple(parts)


def sign(cell: ConformanceCell) -> str:
    """The sign of a cell."""
    return NOTHING if cell.mark is None else cell.mark.sign


def to_say(table: Conformance) -> list[tuple[ConformanceCell, ConformanceMark, str]]:
    """The cells with a text below the table, the worst first, with their marks and texts.

    Cells with the same error are made into one, with one text.
    """
    texts: dict[object, tuple[ConformanceCell, ConformanceMark, str]] = {}
    for cell in table.cells:
        text = said(cell)
        if cell.mark is None or text is None:
            continue
        key: object = len(texts)
        if cell.mark is ConformanceMark.ERROR:
            key, own = text, tuple(one for one in cell.cases if mark(one) is ConformanceMark.ERROR)
            before = texts[key][0].cases if key in texts else ()
            cell = replace(cell, cases=(*before, *own))  # noqa: PLW2901 - the cell with what came before
        texts[key] = (cell, cell.mark or ConformanceMark.ERROR, text)
    return sorted(texts.values(), key=lambda one: _WORST_FIRST.index(one[1]))
