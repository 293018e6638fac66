"""What counts in cells say about a law: the distance from it, and evidence against it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.inference import cell_evidence
from dropcheck.inference.cell_evidence import Distance, distance
from dropcheck.inference.intervals import CountsByCall
from dropcheck.judging.law_cells import SHAPES, LawCells
from dropcheck.reasons import Explanation, Reason


@dataclass(frozen=True, slots=True)
class EValue:
    """Evidence against a claim, at most 1 on average where it holds (Vovk and Wang 2021).

    It is kept as its logarithm, with the explanation for a refutation by it.
    """

    log: float
    why: Explanation


def apart(cells: LawCells, counts: Floats, draws: float) -> Distance:
    """The distance of the entry that is farthest from the law."""
    each = [distance(row[: len(cells.cuts)] / draws, cells.below, cells.points) for row in counts]
    return Distance(max(one.seen for one in each), max(one.most for one in each))


def evidence(
    cells: LawCells, counts: Floats, draws: float, calls: Sequence[CountsByCall]
) -> EValue:
    """What counts say against the law: the average over numbers of cells, and over entries.

    Each number of cells has a design effect of its own, but no less than that on the shares at or
    below all cuts.

    Args:
        cells: the cells.
        counts: of each entry, [entries, columns of `AtCuts`].
        draws: how many were counted.
        calls: of each entry, the counts of calls.
    """
    each = zip(counts, calls, strict=True)
    found = [one for row, own in each for one in _of_entry(cells, row, draws, own)]
    strongest = max(found, key=lambda one: one.log)
    return EValue(cell_evidence.average((1.0, one.log) for one in found), strongest.why)


def _of_entry(cells: LawCells, row: Floats, draws: float, calls: CountsByCall) -> Iterator[EValue]:
    end = len(cells.cuts)
    at_most, rest = row[:end], row[end:]
    yield from _impossible(cells, at_most, rest, draws)
    calls_at_most = calls.of(calls.counts[:, :end])
    least = calls_at_most.effect
    for size in SHAPES:
        places = cells.shape(size)
        counts = np.diff(at_most[places], prepend=0.0, append=float(draws))
        by_call = np.column_stack([calls_at_most.counts[:, places], calls.sizes])
        effect = calls.of(np.diff(by_call, prepend=0.0)).together(least)
        log = cell_evidence.of_chances(counts / effect, cells.chances(places))
        yield EValue(log, Reason.LAW_SHAPE.explain(cells=len(counts), power=_power(log)))


def _impossible(cells: LawCells, at_most: Floats, rest: Floats, draws: float) -> Iterator[EValue]:
    """A proof against the law, where a draw has a value that the law does not have."""
    counts = np.diff(at_most, prepend=0.0, append=float(draws))
    never = cells.chances(np.arange(len(cells.cuts))) <= 0
    # beyond the ends of the law; within, a chance of 0 may be one that is too small for a float
    certain = never & (cells.points | _beyond(cells))
    wrong = float(counts[certain].sum()) + float(rest[0])
    if wrong:
        why = Reason.LAW_IMPOSSIBLE.explain(count=int(wrong), draws=draws)
        yield EValue(math.inf, why)


def _beyond(cells: LawCells) -> Truths:
    beyond = np.zeros(len(cells.cuts) + 1, dtype=bool)
    if len(cells.cuts):  # else float64 does not separate the values of the law
        beyond[0], beyond[-1] = cells.below[0] == 0, cells.above[-1] == 0
    return beyond


def _power(log: float) -> float:
    return 0.0 if not math.isfinite(log) else math.floor(log / math.log(10.0))
