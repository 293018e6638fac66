"""Digits that rounding takes from the averages: `E((1e16 + x) - 1e16) == 0`.

A case is undecided where too few digits are left to decide it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference.comparison import Comparison, Reading
from dropcheck.inference.enclosure import enclose
from dropcheck.inference.interval import Interval
from dropcheck.inference.region import decide
from dropcheck.judging.case_run import CaseRun
from dropcheck.judging.knowledge import ExactMeans
from dropcheck.judging.rounding.allowance import enclosing, theta_of
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Exact, Verdict
from dropcheck.simulation import (
    PILOT,
    Compiled,
    Program,
    Tally,
    means_of,
    rounding_in,
    rounding_of_fixed,
    rounding_of_values,
)
from dropcheck.vocabulary.jumps import LARGEST_BOUND

# Draws that show how far rounding moves what is averaged: the most, the fewest, and between them as
# many as take this work, in rough nanoseconds. Lost digits may be rare.
MOST_DRAWS, FEW_DRAWS, WORK = 4096, 64, 5e5
# Rounding below this share of the interval's width, or of the widening, is ignored.
NOTHING = 1e-3
# Rounding below this share of an exact value is ignored.
SMALL = 1e-9
# The key of the roundings of a claim's sides in `CaseRun.roundings`.
SIDES = "", b""


def draws_to_look_at(program: Program) -> int:
    """The number of draws that show the effect of rounding."""
    return min(max(int(WORK / program.cost), FEW_DRAWS), MOST_DRAWS, program.span_draws)


def rounding_of_means(run: CaseRun, program: Program, centres: Floats) -> Floats:
    """How far rounding may move each average, [terms]; 0 for code, whose numbers count as given."""
    if program.calls_own_code:
        return np.zeros(len(program.terms))
    key = program.sampling, centres.tobytes()
    if key not in run.roundings:
        generator = run.generator(PILOT, 0)
        draws = draws_to_look_at(program)
        run.roundings[key] = rounding_in(program, generator, centres, draws)
    return run.roundings[key]


def rounding_of_sides(run: CaseRun, part: Reading) -> float:
    """How far rounding may move the fixed sides of a claim, in total."""
    if SIDES not in run.roundings:
        sides, generator = run.prepared.lowered.operands, run.generator(PILOT, 0)
        run.roundings[SIDES] = rounding_of_fixed(sides, generator)
    return float(run.roundings[SIDES][list(part.places)].sum())


def share_lost(run: CaseRun, program: Program, resolution: float) -> float:
    """The share of draws in which rounding leaves no digits of a quantity; 0 for code.

    Such a draw may be moved by more than this resolution of the width of the law's middle half.
    """
    if program.calls_own_code:
        return 0.0
    generator, draws = run.generator(PILOT, 0), draws_to_look_at(program)
    share = 0.0
    for values, off in rounding_of_values(program, generator, draws).values():
        finite = values[np.isfinite(values)]
        quarter, three_quarters = np.quantile(finite, (0.25, 0.75)) if finite.size else (0.0, 0.0)
        least = np.maximum(resolution * (three_quarters - quarter), LARGEST_BOUND * np.abs(values))
        share = max(share, float((off > least).mean()))
    return share


def lost(room: float, of_sides: float) -> Explanation:
    """The explanation that too many digits cancel, and where they do."""
    where = "in what the claim says" if of_sides > room / 2 else "in the model"
    return Reason.LOST_DIGITS.explain(room=room, where=where)


def room_for(
    compiled: Compiled, comparison: Comparison, means: Floats, centres: Floats, off: Floats
) -> float:
    """The largest change of a quantity when its averages have errors up to `off`: [terms]."""
    with np.errstate(all="ignore"):
        value = float(theta_of(compiled, comparison, centres)(means[:, np.newaxis])[0])
    low, high = enclose(enclosing(compiled, comparison, centres), means, off)
    return max(high - value, value - low)


def exact_with_digits_left(
    run: CaseRun,
    compiled: Compiled,
    comparison: Comparison,
    known: ExactMeans,
    exact: Exact,
    of_sides: float,
) -> Exact:
    """An exact value, with its error widened by what rounding took; no draw confirms it."""
    off = rounding_of_means(run, compiled.program, known.centres)
    room = room_for(compiled, comparison, known.means, known.centres, off) + of_sides
    return exact if room <= SMALL * abs(exact.value) else Exact(exact.value, exact.error + room)


def with_digits_left(
    run: CaseRun,
    compiled: Compiled,
    tally: Tally,
    comparison: Comparison,
    found: tuple[Interval, Verdict],
    widen: float,
    allowed: float,
    of_sides: float,
) -> tuple[Interval, Verdict]:
    """An interval and its verdict, widened by what rounding took.

    Args:
        run: the run of the case.
        compiled: what is simulated.
        tally: its sums so far.
        comparison: what is judged.
        found: its interval and verdict.
        widen: the widening of the region.
        allowed: the rounding that the verdict has allowed for.
        of_sides: how far rounding may move the fixed sides.
    """
    interval, verdict = found
    off = rounding_of_means(run, tally.program, tally.centres)
    with np.errstate(all="ignore"):
        errors = (tally.sums / tally.block_values).std(axis=0) / np.sqrt(len(tally.sums))
    if (off <= NOTHING * errors).all() and of_sides <= NOTHING * widen:
        return found
    means = means_of(tally.sums, tally.values)
    room = room_for(compiled, comparison, means, tally.centres, off) + of_sides
    if widen > 0:
        allowed = NOTHING * max(interval.half_width, widen)
    at, region = interval.estimate, comparison.region
    # a quantity within rounding of a strict end may lie on either side of it
    if not room > allowed and not region.strict_end_within(at, room):
        return found
    wider = replace(interval, low=interval.low - room, high=interval.high + room)
    ends = wider.low, wider.high
    if verdict is Verdict.INCONCLUSIVE:  # more draws help as long as the interval is wider
        if room <= interval.half_width:
            return wider, verdict
        ends = at - room, at + room
    kept = decide(*ends, region, widen, 0.0)
    if kept is Verdict.INCONCLUSIVE:
        wider = replace(wider, unmet=lost(room, of_sides))
    return wider, kept if verdict is not Verdict.INCONCLUSIVE else verdict
