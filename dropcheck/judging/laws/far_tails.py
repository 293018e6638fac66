"""Tails that are claimed far out: they are counted until their chances are known to a factor."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dropcheck.analysis.law_cells import LawCells
from dropcheck.array_types import Floats, Indices
from dropcheck.inference import cell_evidence
from dropcheck.inference.finite_sample import clopper_pearson
from dropcheck.judging.case_of_code import calls_of
from dropcheck.judging.case_run import CaseRun, Finding, Judging
from dropcheck.judging.laws.law_evidence import (
    TAIL,
    EValue,
    Tails,
    every_tail,
    of_tails,
)
from dropcheck.judging.laws.looks import Shares, looks
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Method, Verdict
from dropcheck.simulation import (
    MAIN,
    CountTally,
    FarOut,
    Program,
    counting_in_cells,
)

# A tail that is claimed is verified where its chance is known to be right to within this factor.
TAIL_FACTOR = 2.0
# About how many draws in a tail make its chance known to a factor of 2 at α = 1e-8.
SEEN_OFTEN = 260.0


def far_out(
    run: CaseRun,
    finding: Finding,
    cells: LawCells,
    program: Program,
    before: CountTally,
    shares: Shares,
    tails: float,
    entries: int,
) -> Judging:
    """Go on until each tail that is claimed is known to be right to within a factor."""
    low, high = cells.low_tails, cells.high_tails
    totals = before.totals.reshape(entries, -1)
    above, drawn, calls = before.drawn - totals, before.drawn, calls_of(before)
    effects = calls.at_least(calls.effect).reshape(entries, -1)
    half = shares.tails / 2 / (entries * max(len(low) + len(high), 1))
    low = _unsure(totals[:, low], effects[:, low], cells.below[low], low, drawn, half)
    high = _unsure(above[:, high], effects[:, high], cells.above[high], high, drawn, half)
    within = run.sharpness(1.0)
    holds = Reason.LAW_HOLDS_FAR_OUT.explain(within=within, tails=tails, factor=TAIL_FACTOR)
    if not len(low) + len(high):
        return replace(finding, explanation=holds)
    low = low[::-1]
    far = FarOut(
        entries=entries, low=cells.cuts[low], high=cells.cuts[high], infinite=cells.infinite
    )
    counted = counting_in_cells(program, far, before.program.span_draws)
    most = run.most_draws(counted)
    tally = CountTally(counted)
    tally.spans = before.spans  # the next draws are those after them
    first = np.concatenate([totals[:, low], above[:, high]], axis=1)
    by_call = calls.counts.reshape(-1, entries, totals.shape[1])
    by_call = np.concatenate(
        [by_call[..., low], calls.sizes[:, np.newaxis, np.newaxis] - by_call[..., high]], axis=2
    )
    first_calls = calls.of(by_call.reshape(-1, first.size))
    chances = np.concatenate([cells.below[low], cells.above[high]])
    rarest = float(chances.min())
    planned = int(min(SEEN_OFTEN / rarest, most))
    levels = entries * len(chances)
    why: Explanation | None = Reason.TAILS_TOO_RARE.explain(tails=tails, factor=TAIL_FACTOR)
    verdict = Verdict.INCONCLUSIVE
    for look in looks(max(planned, before.drawn), before.drawn, most, shares.tails / 2):
        yield from run.draw_until(tally, MAIN, look.draws)
        broken = run.undefined(tally, Method.CELLS, Guarantee.FINITE_SAMPLE)
        if broken is not None:
            return broken
        counts = first + tally.totals.reshape(entries, -1)
        effects = first_calls.joined(calls_of(tally)).at_least(calls.effect).reshape(entries, -1)
        against = _evidence(cells, counts, effects, (low, high), tally.drawn)
        if against.log >= math.log(1 / shares.evidence):
            verdict, why = Verdict.REFUTED, against.why
            break
        if _all_right(counts, effects, chances, len(low), tally.drawn, look.alpha / levels):
            verdict, why = Verdict.VERIFIED, holds
            break
        if run.out_of_time():
            break
    more = None
    if verdict is Verdict.INCONCLUSIVE:
        more = max(SEEN_OFTEN / rarest, 2.0 * tally.drawn) - tally.drawn
    return replace(
        finding,
        verdict=verdict,
        explanation=why,
        draws=tally.drawn,
        blocks=tally.spans,
        seconds=finding.seconds + tally.seconds,
        more_draws=more,
    )


def _evidence(
    cells: LawCells, counts: Floats, effects: Floats, places: Tails, draws: float
) -> EValue:
    """Evidence of the tails alone: the e-processes of before, with the weight of tails."""
    at_most, worth = np.zeros((2, len(counts), len(cells.cuts)))
    low, high = places
    at_most[:, low] = counts[:, : len(low)]
    at_most[:, high] = draws - counts[:, len(low) :]
    worth[:, np.concatenate(places)] = effects
    # tails that were evidence before keep their weights, as the draws decided which are left
    every = every_tail(cells)
    own = np.intersect1d(every[0], low), np.intersect1d(every[1], high)
    each = zip(at_most, worth, strict=True)
    tails = [one for row, effect in each for one in of_tails(cells, row, draws, own, effect)]
    if not tails:
        return EValue(-math.inf, Reason.TOO_WIDE.explain())
    strongest = max(tails, key=lambda one: one[1].log)
    left = sum(map(len, own)) / sum(map(len, every))
    log = cell_evidence.average((weight, one.log) for weight, one in tails)
    return EValue(log + math.log(TAIL * left), strongest[1].why)


def _unsure(
    counts: Floats,
    effects: Floats,
    chances: Floats,
    places: Indices,
    draws: float,
    alpha: float,
) -> Indices:
    """The places of tails from the one before the first that is not yet known to be right."""
    if not len(places):
        return places
    each = zip(counts, effects, strict=True)
    sure = min(_right(row, effect, chances, draws, alpha) for row, effect in each)
    return places[max(sure - 1, 0) :] if sure < len(places) else places[:0]


def _all_right(
    counts: Floats, effects: Floats, chances: Floats, lows: int, draws: float, alpha: float
) -> bool:
    """Whether every tail is known to be right, of both sides and of each entry."""
    for row, effect in zip(counts, effects, strict=True):
        for side in (slice(0, lows), slice(lows, None)):
            order = np.argsort(-chances[side], kind="stable")
            own = row[side][order], effect[side][order], chances[side][order]
            if _right(*own, draws, alpha) < len(order):
                return False
    return True


def _right(counts: Floats, effects: Floats, chances: Floats, draws: float, alpha: float) -> int:
    """How many tails are known to be right to within the factor, from the most likely on.

    A tail between two that are counted is at most the larger of them and at least the smaller.
    `chances` fall, and `effects` are the design effects on the counts.
    """
    for place, level in enumerate(chances):
        effect = effects[place]
        low, high = clopper_pearson(round(counts[place] / effect), round(draws / effect), alpha)
        larger = chances[place - 1] if place else level
        smaller = chances[place + 1] if place + 1 < len(chances) else level
        if high > TAIL_FACTOR * smaller or low < larger / TAIL_FACTOR:
            return place
    return len(chances)
