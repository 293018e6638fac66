"""What counts in cells say about a law: the distance from it, and evidence against it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dropcheck.analysis.cells import POSITIONS, SHAPES, LawCells
from dropcheck.array_types import Floats, Indices, Truths
from dropcheck.inference import cell_evidence
from dropcheck.inference.cell_evidence import Distance, distance
from dropcheck.inference.intervals import CountsByCall
from dropcheck.reasons import Explanation, Reason

Tails = tuple[Indices, Indices]
"""Places of cuts in the lower tail, and in the upper one."""

# Weights of the kinds of evidence.
SHAPE, TAIL, REPEATS, LATTICE = 0.4, 0.2, 0.2, 0.2
# Every 8th cut in a tail is evidence of its own: the chances of the cuts fall by halves.
EVERY = 8


@dataclass(frozen=True, slots=True)
class EValue:
    """Evidence against a claim, at most 1 on average where it holds (Vovk and Wang 2021).

    It is kept as its logarithm, with the explanation for a refutation by it.
    """

    log: float
    why: Explanation


def every_tail(cells: LawCells) -> Tails:
    """The tails that are evidence of their own."""
    return cells.low_tails[::EVERY], cells.high_tails[::EVERY]


def apart(cells: LawCells, counts: Floats, draws: float) -> Distance:
    """The distance of the entry that is farthest from the law."""
    each = [distance(row[: len(cells.cuts)] / draws, cells.below, cells.points) for row in counts]
    return Distance(max(one.seen for one in each), max(one.most for one in each))


def evidence(
    cells: LawCells, counts: Floats, draws: float, calls: Sequence[CountsByCall]
) -> EValue:
    """What counts say against the law: the average over kinds of cells, and over entries.

    Each kind looks at shares of its own, and so has a design effect of its own, but no less than
    that on the shares at or below all cuts.

    Args:
        cells: the cells.
        counts: of each entry, [entries, columns of `AtCuts`].
        draws: how many were counted.
        calls: of each entry, the counts of calls.
    """
    each = zip(counts, calls, strict=True)
    kinds = [one for row, own in each for one in _of_entry(cells, row, draws, own)]
    strongest = max(kinds, key=lambda one: one[0] * math.exp(min(one[1].log, 700.0)))
    log = cell_evidence.average((weight, one.log) for weight, one in kinds)
    if math.isinf(strongest[1].log):
        log = math.inf
    return EValue(log, strongest[1].why)


def _of_entry(
    cells: LawCells, row: Floats, draws: float, calls: CountsByCall
) -> Iterator[tuple[float, EValue]]:
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
        yield (
            SHAPE / len(SHAPES),
            EValue(log, Reason.LAW_SHAPE.explain(cells=len(counts), power=_power(log))),
        )
    effects = calls_at_most.at_least(least)
    yield from of_tails(cells, at_most, draws, every_tail(cells), effects)
    if len(cells.windows):
        low, high = cells.windows.T
        count = float((at_most[high] - at_most[low]).sum())
        by_call = calls_at_most.counts[:, high] - calls_at_most.counts[:, low]
        effect = calls.of(by_call.sum(axis=1, keepdims=True)).together(least)
        log = cell_evidence.of_rarity(count / effect, draws / effect, cells.repeated)
        why = Reason.LAW_REPEATS.explain(
            count=int(count), draws=draws, expected=cells.repeated * draws
        )
        yield REPEATS, EValue(log, why)
    start = 1
    for lattice in cells.lattices:
        own = slice(start, start + POSITIONS)
        start += POSITIONS + 1
        placed, by_call = rest[own], calls.counts[:, end:][:, own]
        effect = calls.of(by_call, by_call.sum(axis=1)).together(least)
        log = cell_evidence.of_chances(placed / effect, np.full(POSITIONS, 1 / POSITIONS))
        inside = float(placed.sum())
        why = Reason.LAW_LATTICE.explain(
            step=lattice.step,
            count=int(placed[0]),
            draws=int(inside),
            expected=inside / POSITIONS,
        )
        yield LATTICE / len(cells.lattices), EValue(log, why)


def _impossible(
    cells: LawCells, at_most: Floats, rest: Floats, draws: float
) -> Iterator[tuple[float, EValue]]:
    """A proof against the law, where a draw has a value that the law does not have."""
    counts = np.diff(at_most, prepend=0.0, append=float(draws))
    never = cells.chances(np.arange(len(cells.cuts))) <= 0
    # beyond the ends of the law; within, a chance of 0 may be one that is too small for a float
    certain = never & (cells.points | _beyond(cells))
    wrong = float(counts[certain].sum()) + float(rest[0])
    if wrong:
        why = Reason.LAW_IMPOSSIBLE.explain(count=int(wrong), draws=draws)
        yield 1.0, EValue(math.inf, why)


def _beyond(cells: LawCells) -> Truths:
    beyond = np.zeros(len(cells.cuts) + 1, dtype=bool)
    if len(cells.cuts):  # else float64 does not separate the values of the law
        beyond[0], beyond[-1] = cells.below[0] == 0, cells.above[-1] == 0
    return beyond


def of_tails(
    cells: LawCells, at_most: Floats, draws: float, places: Tails, effects: Floats
) -> Iterator[tuple[float, EValue]]:
    """Evidence of each tail, with its weight; `places` are those of the tails' cuts.

    `effects` are the design effects on the shares at or below each cut.
    """
    sides = (
        ("at or below", places[0], at_most, cells.below),
        ("above", places[1], draws - at_most, cells.above),
    )
    levels = sum(map(len, places))
    for side, own, counts, chances in sides:
        effect = effects[own]
        logs = cell_evidence.of_each_chance(counts[own] / effect, draws / effect, chances[own])
        for place, log in zip(own, logs, strict=True):
            why = Reason.LAW_TAILS.explain(
                count=int(counts[place]),
                draws=draws,
                side=side,
                cut=float(cells.cuts[place]),
                expected=float(chances[place]) * draws,
            )
            yield TAIL / levels, EValue(float(log), why)


def _power(log: float) -> float:
    return 0.0 if not math.isfinite(log) else math.floor(log / math.log(10.0))
