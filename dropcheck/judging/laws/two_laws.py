"""`x ~ y`: the distance of two distribution functions verifies, and evidence in cells refutes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dropcheck.analysis.sample_cells import SampleCells, sample_cells
from dropcheck.array_types import Floats
from dropcheck.inference import budget, cell_evidence
from dropcheck.inference.distribution_distance import (
    Distance,
    DistancePrecision,
    distance,
    massart,
)
from dropcheck.inference.spread import CountsByCall
from dropcheck.judging.case_run import CaseRun, Judging
from dropcheck.judging.laws.law_evidence import EValue
from dropcheck.judging.laws.looks import (
    Counting,
    Seen,
    counting_of,
    piloted,
    shares_of,
    until_decided,
)
from dropcheck.language.law_claims import LawClaim
from dropcheck.reasons import Reason
from dropcheck.records import record
from dropcheck.simulation import CountTally, Program, TwoAtCuts
from dropcheck.vocabulary.functions.number_formats import DOUBLE

# Pilot draws, times the resolution: the chance of a cell is then a small share of the resolution.
PILOT_PER_RESOLUTION = 128
# Shares of the difference in earlier draws that are guessed to be true: all, or little, as it may
# be chance.
TRUSTED = (1.0, 0.25)
QUANTITIES = 2


@record
class TwoLawsPlan:
    """The cells of each entry, the pilot's counts at their cuts, and what is counted."""

    cells: tuple[SampleCells, ...]
    first: tuple[tuple[Floats, Floats], ...]  # of each entry: both counts at or below each cut
    pilot: int
    counting: Counting


def pair_plan(run: CaseRun, claim: LawClaim, program: Program) -> TwoLawsPlan:
    """The plan, from draws that are used for nothing else.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    resolution, entries = run.sharpness(1.0), claim.entries
    drawn = piloted(run, program, math.ceil(PILOT_PER_RESOLUTION / resolution))
    pairs = [(drawn.values[entry], drawn.values[entries + entry]) for entry in range(entries)]
    known = run.case.dtype or DOUBLE
    cells = tuple(sample_cells(np.concatenate(pair), drawn.size, known) for pair in pairs)
    first = tuple(
        (_at_most(pair[0], one.cuts), _at_most(pair[1], one.cuts))
        for pair, one in zip(pairs, cells, strict=True)
    )
    counter = TwoAtCuts(cuts=tuple(one.cuts for one in cells))
    alpha = shares_of(run.alpha).distance * budget.PLANNED / entries
    target = resolution - max(one.widest for one in cells)
    precision = DistancePrecision(alpha=alpha, bands=QUANTITIES)
    counting = counting_of(run, program, counter, target, precision)
    return TwoLawsPlan(cells, first, drawn.draws, counting)


def _at_most(values: Floats, cuts: Floats) -> Floats:
    return np.searchsorted(np.sort(values), cuts, side="right").astype(np.float64)


@dataclass(slots=True)
class Doubts:
    """Evidence that two laws differ, as it grows span by span.

    In every draw one quantity is looked at alone: even draws show the first and odd ones the
    second, so that both are independent though the quantities of one draw may not be. The same is
    done with even and odd exchanged, and the average taken.
    """

    plan: TwoLawsPlan
    logs: list[list[float]] = field(default_factory=list)  # of each family: of each guess, twice
    cells: list[int] = field(default_factory=list)
    before: list[tuple[Floats, Floats]] = field(default_factory=list)  # counts in a family's cells

    def __post_init__(self) -> None:
        draws = float(self.plan.pilot)
        for cells, first in zip(self.plan.cells, self.plan.first, strict=True):
            one, other = (_families(cells, counts, draws) for counts in first)
            self.before += zip(one, other, strict=True)
            self.cells += map(len, one)
        self.logs = [[0.0] * (2 * len(TRUSTED)) for _ in self.cells]

    def _effects(self, calls: CountsByCall) -> list[float]:
        """The design effect on the cells of each family, the larger one of both quantities."""
        effects: list[float] = []
        for cells, pair in zip(self.plan.cells, of_quantities(self.plan, calls), strict=True):
            both = [_families(cells, one.counts, one.sizes) for one in pair]
            least = max(one.effect for one in pair)
            effects += [
                max(calls.of(one).together(least) for one in family)
                for family in zip(*both, strict=True)
            ]
        return effects

    def add(self, row: Floats) -> None:
        """Take in the counts of one span."""
        place, end = 0, 0
        half = self.plan.counting.program.span_draws / 2
        for cells in self.plan.cells:
            size = len(cells.cuts)
            parts = row[end : end + 4 * size].reshape(4, size)
            end += 4 * size
            by_part = [_families(cells, part, half) for part in parts]
            for first_even, first_odd, second_even, second_odd in zip(*by_part, strict=True):
                before = self.before[place]
                logs = self.logs[place]
                for index, guess in enumerate(_guesses(*before)):
                    logs[2 * index] += cell_evidence.of_two_samples(first_even, second_odd, guess)
                    logs[2 * index + 1] += cell_evidence.of_two_samples(
                        first_odd, second_even, guess
                    )
                self.before[place] = (
                    before[0] + first_even + first_odd,
                    before[1] + second_even + second_odd,
                )
                place += 1

    def evidence(self, calls: CountsByCall) -> EValue:
        """The average evidence of all families, each over its design effect; it names the best."""
        effects = self._effects(calls)
        each = list(zip(self.logs, effects, strict=True))
        log = cell_evidence.average((1.0, log / effect) for logs, effect in each for log in logs)
        strongest = max(range(len(each)), key=lambda place: max(each[place][0]) / each[place][1])
        power = math.floor(max(self.logs[strongest]) / effects[strongest] / math.log(10.0))
        why = Reason.LAWS_DIFFER.explain(cells=self.cells[strongest], power=power)
        return EValue(log, why)


def _families(cells: SampleCells, at_most: Floats, draws: float | Floats) -> list[Floats]:
    """Counts in the cells of each family; the last one counts repeated values and all others.

    Args:
        cells: of an entry.
        at_most: how many draws lie at or below each cut, [..., cuts].
        draws: how many there are, [...].
    """
    of_all = np.broadcast_to(np.asarray(draws)[..., np.newaxis], (*at_most.shape[:-1], 1))
    every = np.concatenate([at_most, of_all], axis=-1)
    counts = [np.diff(every[..., [*places, -1]], prepend=0.0) for places in cells.families]
    if len(cells.windows):
        low, high = cells.windows.T
        inside = (at_most[..., high] - at_most[..., low]).sum(axis=-1)
        counts.append(np.stack([inside, draws - inside], axis=-1))
    return counts


def _guesses(first: Floats, second: Floats) -> list[tuple[Floats, Floats]]:
    """Guesses of the chances of cells in both laws by counts so far, one for each of `TRUSTED`."""
    cells = len(first)
    middle = (first + second + 1.0) / (first.sum() + second.sum() + cells)
    one, other = ((counts + cells * middle) / (counts.sum() + cells) for counts in (first, second))
    return [
        (middle + share * (one - middle), middle + share * (other - middle)) for share in TRUSTED
    ]


def by_two_laws(run: CaseRun, claim: LawClaim, program: Program) -> Judging:
    """Judge `x ~ y`, for each entry of x and the same entry of y."""
    plan = pair_plan(run, claim, program)
    doubts = Doubts(plan)
    tally = CountTally(plan.counting.program, doubts.add)

    def at_look(alpha: float, calls: CountsByCall) -> Seen:
        distance_of = apart(plan, tally.totals, tally.drawn)
        effect = max(one.effect for pair in of_quantities(plan, calls) for one in pair)
        # each of the two bands of an entry has half of its share
        error = massart(tally.drawn / effect, alpha / (QUANTITIES * claim.entries))
        interval = distance_of.interval(QUANTITIES * error)
        return Seen(distance_of.seen, interval, doubts.evidence(calls))

    holds = Reason.ONE_LAW.explain(within=run.sharpness(1.0))
    shares = shares_of(run.alpha)
    return (yield from until_decided(run, plan.counting, tally, shares, at_look, holds))


def of_quantities(plan: TwoLawsPlan, calls: CountsByCall) -> Iterator[list[CountsByCall]]:
    """For each entry, the counts of calls at or below its cuts, of both quantities in all draws."""
    end = 0
    for cells in plan.cells:
        size = len(cells.cuts)
        parts = calls.counts[:, end : end + 4 * size].reshape(-1, 2, 2, size).sum(axis=2)
        end += 4 * size
        yield [calls.of(parts[:, place]) for place in range(QUANTITIES)]


def apart(plan: TwoLawsPlan, totals: Floats, draws: int) -> Distance:
    """The distance of the entry of which the two laws are farthest apart."""
    each, end = [], 0
    for cells in plan.cells:
        size = len(cells.cuts)
        parts = totals[end : end + 4 * size].reshape(4, size)
        end += 4 * size
        one, other = (parts[0] + parts[1]) / draws, (parts[2] + parts[3]) / draws
        each.append(distance(one, other, cells.points))
    return Distance(max(one.seen for one in each), max(one.most for one in each))
