"""What the judges of statements about laws share: their looks, their pilots, their findings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.distribution_distance import DistancePrecision
from dropcheck.inference.region import decide
from dropcheck.inference.spread import CountsByCall
from dropcheck.judging.case_of_code import calls_of, dependent
from dropcheck.judging.case_run import CaseRun, Finding, Judging
from dropcheck.judging.laws.law_evidence import EValue
from dropcheck.judging.rounding.lost_digits import lost, share_lost
from dropcheck.reasons import Explanation, Reason
from dropcheck.records import record
from dropcheck.results import Guarantee, Method, Verdict
from dropcheck.simulation import (
    FEWEST_CALLS,
    MAIN,
    PILOT,
    Counter,
    CountTally,
    Program,
    counting_in_cells,
    magnitude_of,
    values_of,
)


@record(kw_only=True)
class Counting:
    """What is counted, and when a verdict is expected.

    The precision is that of the planned look. A law may seem off by less than `target` and be
    verified.
    """

    program: Program
    most: int
    planned: int
    precision: DistancePrecision
    target: float


def counting_of(
    run: CaseRun, program: Program, counter: Counter, target: float, precision: DistancePrecision
) -> Counting:
    """What is counted, in spans of a suitable length, and when a verdict is expected.

    Args:
        run: the case.
        program: what is drawn.
        counter: counts draws in cells.
        target: the resolution, less what cells leave open of the distance.
        precision: how well the distance is known at the planned look.
    """
    most = run.most_draws(replace(program, cost=program.cost + counter.cost))
    planned = int(min(precision.draws(max(target, run.sharpness(1.0) / 2)), most))
    return Counting(
        program=counting_in_cells(program, counter, span_draws(program, planned, most)),
        most=most,
        planned=planned,
        precision=precision,
        target=target,
    )


# Share of the error for the distance that early looks have.
ALONG = 0.1
# Draws of a pilot: they show a value that comes again, even if it does so once in 10,000 draws.
FIRST_DRAWS = 2**15
FIRST_NUMBERS = 2**20
FIRST_SPANS = 4  # of code under test
# Draws that show how large numbers become in the model.
MAGNITUDE_DRAWS = 64
# Draws of the shortest span; a span is at most one of so many parts of the planned draws. Code
# whose draws are declared independent has more and shorter spans: its calls show whether they are.
SHORTEST_SPAN = 1024
PARTS = 16
SHORTEST_CALL = 64


@record(kw_only=True)
class Shares:
    """The shares of a case's error: of the distance, and of the evidence in cells."""

    distance: float
    evidence: float


def shares_of(alpha: float) -> Shares:
    """The shares of a case's error: half of it each."""
    return Shares(distance=alpha / 2, evidence=alpha / 2)


def looks(planned: int, fewest: int, most: int, alpha: float) -> Iterator[budget.Look]:
    """Looks in order: those that other claims have, and before each, early ones for gross errors.

    Evidence may be looked at any number of times. The distance has a share of the error at each
    look, and the early looks have little of it.

    >>> [look.draws for look in looks(8000, 500, 8000, 1e-6)]
    [500, 1000, 2000, 4000, 8000]
    """
    early, number = fewest, 1
    for look in budget.looks(planned, fewest, most, alpha * (1 - ALONG)):
        while early < look.draws:
            yield budget.Look(early, alpha * ALONG / (number * (number + 1)))
            early, number = 2 * early, number + 1
        yield look
        while early <= look.draws:
            early *= 2


def span_draws(program: Program, planned: int, most: int) -> int:
    """Draws of a span: few where few are planned, an even number where there can be two."""
    draws, parts = (SHORTEST_CALL, FEWEST_CALLS) if program.declared else (SHORTEST_SPAN, PARTS)
    while 2 * draws <= min(planned // parts, program.span_draws):
        draws *= 2
    draws = min(draws, max(program.span_draws, 2), max(most, 1))
    return max(draws // 2 * 2, 1)


@record
class PilotDraws:
    """Draws of a pilot: values, [entries of all quantities, draws], and their size."""

    values: Floats
    size: float

    @property
    def draws(self) -> int:
        """The number of draws of the pilot."""
        return int(self.values.shape[1])


def piloted(run: CaseRun, program: Program, wanted: int = 0) -> PilotDraws:
    """Draw a pilot of at least so many draws, or of what the budget has for it.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    numbers = sum(math.prod(one.shape) for one in run.prepared.lowered.operands)
    usual = min(FIRST_DRAWS, FIRST_NUMBERS // max(numbers, 1))
    if program.tests_code:  # where each draw is a call, a span is short
        usual = min(usual, FIRST_SPANS * program.span_draws)
    draws = max(2, min(max(wanted, usual), run.most_draws(program) // 4))
    generator, parts = run.generator(PILOT, 0), []
    for start in range(0, draws, program.span_draws):
        count = min(program.span_draws, draws - start)
        parts += [
            np.concatenate(
                [
                    np.broadcast_to(one, (*one.shape[:-1], count)).reshape(-1, count)
                    for one in values_of(program, generator, count)
                ]
            )
        ]
    every = np.concatenate(parts, axis=1)
    every = every[:, np.isfinite(every).all(axis=0)]
    if not every.shape[1]:  # nothing is finite, which the counts will report
        every = np.zeros((len(every), 2))
    few = min(draws, MAGNITUDE_DRAWS, program.span_draws)
    size = magnitude_of(program, run.generator(PILOT, 0), few)
    return PilotDraws(every, size)


@record
class Seen:
    """What the counts of a look say: the claim's error, an interval for it, and evidence."""

    off: float
    interval: tuple[float, float]
    against: EValue


def until_decided(
    run: CaseRun,
    counting: Counting,
    tally: CountTally,
    shares: Shares,
    at_look: Callable[[float, CountsByCall], Seen],
    holds: Explanation,
    too_wide: Explanation | None = None,
) -> Judging:
    """Draw and look until the distance verifies or refutes, or the evidence refutes.

    Args:
        run: the case.
        counting: what is counted, and when a verdict is expected.
        tally: takes the counts.
        shares: how the case's error is shared.
        at_look: what the counts say, given the distance's share of the error and counts of calls.
        holds: the explanation of a verified verdict.
        too_wide: why nothing can be verified where cells leave open more than the resolution.

    Raises:
        DropcheckError: where not one draw is defined.
    """
    region, resolution = run.reading.comparisons[0].region, run.sharpness(1.0)
    hopeless = too_wide if counting.target <= 0 else None
    verdict = Verdict.INCONCLUSIVE
    why: Explanation | None = None
    seen = Seen(0.0, (0.0, 1.0), EValue(0.0, holds))
    program = counting.program
    fewest = min(max(program.span_draws, program.fewest_planned), counting.most)
    for look in looks(counting.planned, fewest, counting.most, shares.distance):
        yield from run.draw_until(tally, MAIN, look.draws)
        if tally.undefined:
            break
        seen = at_look(look.alpha, calls_of(tally))
        if seen.against.log >= math.log(1 / shares.evidence):
            verdict, why = Verdict.REFUTED, seen.against.why
        else:
            verdict = decide(*seen.interval, region, resolution)
        given_up = hopeless is not None and tally.drawn >= counting.planned
        given_up |= dependent(tally)
        if verdict is not Verdict.INCONCLUSIVE or given_up or run.out_of_time():
            break
    if verdict is not Verdict.REFUTED:
        why = holds if verdict is Verdict.VERIFIED else hopeless
    finding = _finding_of(run, counting, tally, verdict, why, seen)
    if finding.verdict is Verdict.INCONCLUSIVE:
        return finding
    share = share_lost(run, program, resolution)
    low, high = seen.interval
    if share and decide(low - share, high + share, region, resolution) is not verdict:
        return finding.left_open(lost(share, 0.0))
    return finding


def _finding_of(
    run: CaseRun,
    counting: Counting,
    tally: CountTally,
    verdict: Verdict,
    why: Explanation | None,
    seen: Seen,
) -> Finding:
    """The finding; without a verdict, it has the reason and the draws that are likely to decide.

    Raises:
        DropcheckError: where not one draw is defined.
    """
    run.refuse_if_nowhere_defined(tally)
    broken = run.undefined(tally, Method.CELLS, Guarantee.FINITE_SAMPLE)
    if broken is not None:
        return broken
    resolution = run.sharpness(1.0)
    more = None
    if verdict is Verdict.INCONCLUSIVE:
        if dependent(tally):
            why = Reason.NOT_INDEPENDENT.explain()
        why = why or Reason.TOO_WIDE.explain()
        if counting.target > 0:
            # so much of the error is beyond what chance does to a true claim
            beyond = max(seen.off - counting.precision.noise(tally.drawn), 0.0)
            near = max(counting.target - beyond, beyond)
            more = max(counting.precision.draws(near) - tally.drawn, 1.0)
    return Finding(
        verdict=verdict,
        method=Method.CELLS,
        guarantee=Guarantee.FINITE_SAMPLE,
        quantity=run.reading.comparisons[0].measures,
        region=run.reading.comparisons[0].region,
        estimate=seen.off,
        interval=seen.interval,
        scale=1.0,
        sharpness=run.looked(1.0, resolution),
        draws=tally.drawn,
        blocks=tally.spans,
        seconds=tally.seconds,
        explanation=why,
        more_draws=more,
    )
