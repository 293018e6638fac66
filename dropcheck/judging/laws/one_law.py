"""`y ~ law`: the distance of distribution functions verifies, and evidence in cells refutes."""

from __future__ import annotations

import numpy as np

from dropcheck.analysis.law_cells import POSITIONS, LawCells, law_cells
from dropcheck.array_types import Floats
from dropcheck.claims.registry import Sample
from dropcheck.inference import budget
from dropcheck.inference.distribution_distance import DistancePrecision, distance, massart
from dropcheck.inference.spread import CountsByCall
from dropcheck.judging.case_run import CaseRun, Judging
from dropcheck.judging.laws.law_evidence import apart, evidence
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
from dropcheck.simulation import AtCuts, CountTally, Program
from dropcheck.vocabulary.functions.number_formats import DOUBLE, SINGLE, rounded

# The chance down to which tails are looked at.
TAILS = 1e-6


@record(kw_only=True)
class OneLawPlan:
    """The cells of a law, what is counted in them, and what they leave open of the distance."""

    cells: LawCells
    counter: AtCuts
    counting: Counting
    left_open: float


def plan_of(run: CaseRun, claim: LawClaim, program: Program) -> OneLawPlan:
    """The plan, from the law and from draws that are used for nothing else.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    assert claim.law is not None
    resolution = run.sharpness(1.0)
    drawn = piloted(run, program)
    cells = law_cells(
        claim.law,
        claim.arguments,
        resolution=resolution,
        tails=TAILS,
        magnitude=drawn.size,
        drawn=drawn.values.ravel(),
        number_format=run.case.dtype or _format_of(run.case.claim.sample, program, drawn.values),
    )
    counter = AtCuts(
        entries=claim.entries,
        cuts=cells.cuts,
        whole=cells.whole,
        rounding=cells.rounding,
        lattices=tuple((one.step, one.low, one.high) for one in cells.lattices),
        positions=POSITIONS,
        infinite=cells.infinite,
    )
    left_open = distance(cells.below, cells.below, cells.points).most
    alpha = shares_of(run.alpha).distance * budget.PLANNED / claim.entries
    precision = DistancePrecision(alpha=alpha)
    counting = counting_of(run, program, counter, resolution - left_open, precision)
    return OneLawPlan(cells=cells, counter=counter, counting=counting, left_open=left_open)


def _format_of(sample: Sample | None, program: Program, values: Floats) -> str:
    """The number format of what code gives: that of its arrays, or float32 where it is enough."""
    if sample is not None and sample.dtype is not None:
        return sample.dtype
    finite = values[np.isfinite(values)]
    short = program.calls_own_code and (rounded(finite, SINGLE) == finite).all()
    return SINGLE if short else DOUBLE


def by_law(run: CaseRun, claim: LawClaim, program: Program) -> Judging:
    """Judge `y ~ law`, for each entry of y."""
    plan = plan_of(run, claim, program)
    shares = shares_of(run.alpha)
    tally = CountTally(plan.counting.program)

    def at_look(alpha: float, calls: CountsByCall) -> Seen:
        counts = tally.totals.reshape(claim.entries, plan.counter.own)
        distance_of = apart(plan.cells, counts, tally.drawn)
        interval = distance_of.interval(massart(tally.drawn / calls.effect, alpha / claim.entries))
        against = evidence(plan.cells, counts, tally.drawn, calls.parts(claim.entries))
        return Seen(distance_of.seen, interval, against)

    holds = Reason.LAW_HOLDS.explain(within=run.sharpness(1.0))
    too_wide = Reason.CELLS_TOO_WIDE.explain(chance=plan.left_open)
    return (yield from until_decided(run, plan.counting, tally, shares, at_look, holds, too_wide))
