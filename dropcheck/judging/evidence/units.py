"""The looks of a case: at the draws of one run, or at all that several runs have kept.

Where draws are kept, they come in units of a size that is fixed for the case, so that the units
are independent and have one law. Whether one more unit is drawn, by whom, and whether it is joined
with the others may depend on all units before it, but not on itself. Then the units, in the order
in which they are joined, are still independent and of that law (Doob 1936, "Note on probability",
Annals of Mathematics 37: no system of selection changes the chances). So the interval of K units,
of level 1 - a(K), misses with chance at most a(K). The levels
a(K) = α (1/log2(K + 1) - 1/log2(K + 2)) add up to α over all K, and as a file grows there is one
look for each K, because every union has more units than the files that it joins. So the chance that
any look ever misses is at most α (Bonferroni). A look depends on the set of the units alone, not on
their order, nor on the nights and machines that they come from.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import replace

from dropcheck.errors import DropcheckError, Problem
from dropcheck.execution.schedule import Deadline
from dropcheck.inference import budget
from dropcheck.inference.budget import Look
from dropcheck.judging.case_run import CaseRun
from dropcheck.judging.evidence.held import KeptEvidence, packed, simulated_key, together
from dropcheck.reasons import Explanation, Reason
from dropcheck.results.drawn import Unit
from dropcheck.settings import Settings
from dropcheck.simulation import MAIN, Collected, Request, SpanSums, Tally

# About how many units a verdict is expected to take: more of them make more looks, with fewer an
# easy claim draws more than it needs. Where one night may not be enough, its budget has about so
# many units, so that a night with a smaller budget adds something too.
PLANNED_UNITS, UNITS_A_NIGHT = 8, 32
# Rows that are kept of all units at the planned look: Catoni's interval is then 5% wider than with
# very many (2012, proposition 2.4).
PLANNED_ROWS = 512
# The error rate at which units are planned: their size may depend on nothing that grows with the
# registry.
REFERENCE = 1e-8

Looking = Generator[Request, SpanSums, Look | None]


class NothingDrawnError(Exception):
    """There is nothing to look at; `why` says why no unit was drawn."""

    def __init__(self, why: Explanation) -> None:
        super().__init__()
        self.why = why


class Tonight:
    """The looks at the draws of this run alone."""

    def __init__(self, run: CaseRun, tally: Tally, looks: Iterator[Look]) -> None:
        self.run, self.tally, self.looks = run, tally, looks

    def look(self) -> Looking:
        """Draw until the next look; None after the last."""
        look = next(self.looks, None)
        if look is not None:
            yield from self.run.draw_until(self.tally, MAIN, look.draws)
        return look


class AllNights:
    """The looks at all units of a case: those of earlier runs, and one more at a time."""

    def __init__(
        self,
        run: CaseRun,
        held: KeptEvidence,
        tally: Tally,
        *,
        fewest: int,
        planned: int,
        budgeted: int,
        counted: bool,
    ) -> None:
        program = tally.program
        self.run, self.held, self.tally = run, held, tally
        self.fewest, self.counted = fewest, counted
        self.spans = 1
        most = min(planned / PLANNED_UNITS, budgeted / UNITS_A_NIGHT)
        while 2 * self.spans * program.span_draws <= most:
            self.spans *= 2
        self.unit_draws = self.spans * program.span_draws
        blocks = self.unit_draws // program.block_draws
        self.joined = 1
        rows = PLANNED_ROWS * self.unit_draws / planned
        while self.joined < self.spans and blocks // self.joined >= 2 * rows:
            self.joined *= 2
        if counted:  # the sum is all that is needed of counts
            self.joined = blocks
        self.rows = blocks // self.joined
        layout: list[str | int] = [
            self.unit_draws,
            program.block_draws,
            self.rows,
            program.columns,
            program.sampling,
        ]
        held.begin(simulated_key(run.case, run.settings, layout), self.unit_draws)
        self.left = run.most_draws(program) // self.unit_draws

    def look(self) -> Looking:
        """Look at what is kept, and then with one more unit each time; None where none is drawn.

        Raises:
            NothingDrawnError: there is no unit.
        """
        held = self.held
        more = not (self.tally.spans or not held.units) or (yield from self._one_more())
        while more and len(held.units) * self.unit_draws < self.fewest:
            more = yield from self._one_more()
        seen = len(held.units)
        if not seen:
            raise NothingDrawnError(self._why())
        if seen * self.spans == self.tally.spans:
            return None
        self.tally, held.looks = self._all(), seen
        return Look(self.tally.drawn, level(seen, self.run.alpha))

    def _one_more(self) -> Generator[Request, SpanSums, bool]:
        """Draw one more unit; whether the whole of it was drawn. A part of one is dropped."""
        run, held, program = self.run, self.held, self.tally.program
        if not self.left or run.out_of_time():
            return False
        self.left -= 1
        number = held.following(run.settings.seed)
        drawn = Collected(program, self.tally.centres)
        yield from run.draw_until(drawn, MAIN, self.unit_draws, start=number * self.spans)
        if drawn.spans < self.spans:
            return False
        sums, before = drawn.joined(self.joined), number * self.spans * program.span_values
        first = sums.first_undefined
        held.add(
            Unit(
                seed=run.settings.seed,
                number=number,
                night=held.night,
                seconds=sums.seconds,
                sums=packed(sums.sums),
                undefined=sums.undefined,
                first=None if first is None else max(first - before, 0),
            )
        )
        return True

    def _all(self) -> Tally:
        program, units = self.tally.program, self.held.in_order
        values = self.spans * program.span_values
        sums = together(units, self.rows, program.columns, values)
        if sums is None or (self.counted and not _are_counts(sums, values)):
            raise DropcheckError(
                Problem(
                    f"the evidence of {self.held.case!r} is not what a run writes",
                    hint="take an older copy of the file, or begin a new one",
                )
            )
        return Tally.of(program, self.tally.centres, sums, self.joined)

    def _why(self) -> Explanation:
        if self.run.out_of_time():
            return Reason.OUT_OF_TIME.explain()
        return Reason.LESS_THAN_A_UNIT.explain(draws=self.unit_draws)


def level(units: int, alpha: float) -> float:
    """The error of the look at so many units: it falls a little faster than 1/K and sums to α.

    The sum telescopes: after K units α/log2(K + 2) of it is left.

    >>> sum(level(units, 0.01) for units in range(1, 1000)) < 0.01
    True
    """
    return alpha * (1 / math.log2(units + 1) - 1 / math.log2(units + 2))


def looking(
    run: CaseRun, tally: Tally, *, expected: int, fewest: int, most: int, counted: bool = False
) -> Tonight | AllNights:
    """The looks of a case, from the first on.

    Args:
        run: the run of the case.
        tally: an empty one of its program, about its centres.
        expected: draws after which a verdict is expected.
        fewest: draws before which no look is worth its error.
        most: the budget that the looks are planned for.
        counted: whether a look needs nothing but the sums over all draws.
    """
    if run.held is None:
        fewest = max(fewest, tally.program.fewest_planned)
        return Tonight(run, tally, budget.looks(expected, min(fewest, most), most, run.alpha))
    planned = min(max(expected, fewest), most)
    return AllNights(
        run, run.held, tally, fewest=fewest, planned=planned, budgeted=most, counted=counted
    )


def planner(run: CaseRun) -> CaseRun:
    """The run that a case is planned by: its own, unless draws are kept.

    Kept units must have the same size, centres and directions on every night and every machine. So
    they are planned by a pilot with a fixed seed, whatever seed, α and limits the night has.
    """
    if run.held is None:
        return run
    own = run.settings
    settings = Settings(
        resolution=own.resolution,
        crossing=own.crossing,
        nets=own.nets,
        require=own.require,
        threads=own.threads,
        max_memory=own.max_memory,
    )
    return replace(run, settings=settings, alpha=REFERENCE, held=None, deadline=Deadline())


def _are_counts(sums: SpanSums, most: int) -> bool:
    rows = sums.sums
    whole = bool(((rows >= 0) & (rows <= most) & (rows == rows.round())).all())
    return whole or sums.undefined > 0
