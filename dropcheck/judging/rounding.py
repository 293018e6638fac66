"""What rounding may do to a quantity that is a function of averages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dropcheck.analysis.strategy import Certainty
from dropcheck.array_types import Floats
from dropcheck.inference.intervals import Interval, Theta
from dropcheck.inference.region import Comparison, Reading, decide
from dropcheck.judging.case import CaseRun, Finding
from dropcheck.known.enclosure import Enclosed, Enclosure, enclose
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Verdict
from dropcheck.simulation import (
    MAIN,
    PILOT,
    Compiled,
    Counted,
    Program,
    Tally,
    events_in,
    means_of,
    rounding_in,
    rounding_of_fixed,
    rounding_of_values,
)
from dropcheck.vocabulary.operators import UNDERFLOW

# Differences below this share of the largest magnitude in the computation are rounding.
LOOK_ROUNDING = 1e-12
# A quantity smaller than this share of the largest magnitude gets an allowance of its own.
SMALL = 1e-6


def theta_of(compiled: Compiled, comparison: Comparison, centres: Floats) -> Theta:
    """A comparison's quantity as a function of averages, [terms, points]."""

    def theta(points: Floats) -> Floats:
        operands = compiled.functional.evaluate(points, centres, comparison.looked_at)
        return comparison.quantity(operands)

    return theta


def used(compiled: Compiled, comparison: Comparison, averages: Floats) -> Floats:
    """The averages that a comparison's quantity is made of, and 0 for others: [terms]."""
    own = np.zeros_like(averages)
    columns = compiled.functional.columns(comparison.looked_at)
    own[columns] = averages[columns]
    return own


def rounding_of(
    compiled: Compiled,
    comparison: Comparison,
    means: Floats,
    centres: Floats,
    largest: float,
    sides: float,
) -> float:
    """A bound of what rounding can do to a quantity: a share of the largest magnitude, or less.

    A far smaller quantity, such as `P(x)**50`, may still have all its digits. Its bound follows
    from the rounding of the averages that it is made of, and of the `sides` that it compares.
    """
    with np.errstate(all="ignore"):
        value = float(theta_of(compiled, comparison, centres)(means[:, np.newaxis])[0])
    if not abs(value) < SMALL * largest:
        return LOOK_ROUNDING * largest
    sizes = np.zeros_like(means)
    for leaf in compiled.functional.leaves.values():
        for column, size in leaf.magnitudes(means, centres).items():
            sizes[column] = max(sizes[column], size)
    low, high = enclose(enclosing(compiled, comparison, centres), means, LOOK_ROUNDING * sizes)
    error = max(high - value, value - low, LOOK_ROUNDING * sides)
    return min(LOOK_ROUNDING * largest, error) if error > UNDERFLOW else 0.0


def enclosing(compiled: Compiled, comparison: Comparison, centres: Floats) -> Enclosed:
    """A comparison's quantity as a function of averages, all of them enclosures."""

    def enclosed(averages: Enclosure) -> Enclosure:
        operands = compiled.functional.enclosed(averages, centres, comparison.looked_at)
        return comparison.enclosed(operands)

    return enclosed


# ---- rounding ------------------------------------------------------------------------------------
#
# Some draws of every case are computed once more, with each result moved (`analysis.rounding`).
# Averages are wider by what that moves them, and an event that it turns counts for both sides.


# Draws that are computed once more: the most, the fewest, and between them as many as take this
# work, in rough nanoseconds. Lost digits may be rare.
MOST_DRAWS, FEW_DRAWS, WORK = 4096, 64, 5e5
# Rounding below this share of the interval's width, or of the widening, is ignored.
NOTHING = 1e-3
# Rounding of a side below this share of an exact value is ignored, and that of an average below
# that share of it.
SMALL_ROOM, SMALL_SHARE = 1e-9, 1e-13
# The key of the roundings of a claim's sides in `CaseRun.roundings`.
SIDES = "", b""


def draws_to_look_at(program: Program) -> int:
    """The number of draws that show the effect of rounding."""
    return min(max(int(WORK / program.cost), FEW_DRAWS), MOST_DRAWS, program.span_draws)


def rounding_of_means(run: CaseRun, program: Program, centres: Floats) -> Floats:
    """How far rounding may move each average, [terms]; 0 for code, whose numbers count as given."""
    if program.tests_code:
        return np.zeros(len(program.terms))
    key = program.sampling, centres.tobytes()
    if key not in run.roundings:
        compiled, looked_at = run.prepared.compiled, program
        if isinstance(compiled, Compiled) and any(one.binary for one in compiled.values.values()):
            # what may turn is rare, and a span of few draws is short
            looked_at = compiled.program
        draws = draws_to_look_at(looked_at)
        run.roundings[key] = rounding_in(program, pilot_of(run), centres, draws)
    return run.roundings[key]


def pilot_of(run: CaseRun) -> Callable[[], np.random.Generator]:
    """Makes the generator of the pilot's draws, which are computed once more."""
    return partial(run.generator, PILOT, 0)


def rounding_of_sides(run: CaseRun, part: Reading) -> float:
    """How far rounding may move the fixed sides of a claim, in total."""
    if SIDES not in run.roundings:
        run.roundings[SIDES] = rounding_of_fixed(run.prepared.lowered.operands)
    return float(run.roundings[SIDES][list(part.places)].sum())


def share_lost(run: CaseRun, program: Program, resolution: float) -> float:
    """The share of draws in which rounding leaves no digits of a quantity; 0 for code.

    Such a draw may be moved by more than this resolution of the width of the law's middle half, or
    of the deviation where the middle half is one value.
    """
    if program.tests_code:
        return 0.0
    share = 0.0
    for values, off in rounding_of_values(
        program, pilot_of(run), draws_to_look_at(program)
    ).values():
        finite = values[np.isfinite(values)]
        quarter, three_quarters = np.quantile(finite, (0.25, 0.75)) if finite.size else (0.0, 0.0)
        width = three_quarters - quarter or (finite.std() if finite.size else 0.0)
        share = max(share, float((~(off <= resolution * width)).mean()))
    return min(SEEN * share, 1.0)


def of_truths(compiled: Compiled, comparison: Comparison) -> bool:
    """Whether all that is averaged is 1 or 0: then there are no values that draws may not show."""
    columns = compiled.functional.columns(comparison.looked_at)
    factors = (one for column in columns for one in compiled.program.terms[column].factors)
    return all(compiled.values[register].binary for register, _ in factors)


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
    means, off = (used(compiled, comparison, one) for one in (means, off))
    low, high = enclose(enclosing(compiled, comparison, centres), means, off)
    return max(high - value, value - low)


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
    own = compiled.functional.columns(comparison.looked_at)
    with np.errstate(all="ignore"):
        averages = tally.sums[:, own] / tally.block_values
        errors = averages.std(axis=0) / np.sqrt(len(tally.sums))
    if (off[own] <= NOTHING * errors).all() and of_sides <= NOTHING * widen:
        return found
    means = means_of(tally.sums, tally.values)
    room = room_for(compiled, comparison, means, tally.centres, off) + of_sides
    at, region = interval.estimate, comparison.region
    if widen > 0:  # the nearer end decides
        allowed = NOTHING * max(min(at - interval.low, interval.high - at), widen)
    # a quantity within rounding of a strict end may lie on either side of it
    if not room > allowed and not region.strict_end_within(at, room):
        return found
    wider = replace(interval, low=interval.low - room, high=interval.high + room)
    ends = wider.low, wider.high
    if verdict is Verdict.UNDECIDED:  # more draws help as long as the interval is wider
        if room <= interval.half_width:
            return wider, verdict
        ends = at - room, at + room
    kept = decide(*ends, region, widen, 0.0)
    if kept is Verdict.UNDECIDED:
        unclear = of_truths(compiled, comparison) and room > 2 * of_sides
        why = Reason.UNCLEAR_EVENT.explain() if unclear else lost(room, of_sides)
        wider = replace(wider, unmet=why)
    return wider, kept if verdict is not Verdict.UNDECIDED else verdict


# How often draws are computed once more to see what may turn an event, and to see whether a
# counterexample is one however results are rounded.
TURNS, MANY_TURNS = 2, 10
# A draw may be seen in one of two movements: shares are doubled.
SEEN = 2.0


def unless_turned(run: CaseRun, finding: Finding) -> Finding:
    """The finding on a claim of certainty; left open where rounding decides the event.

    A counterexample refutes if more are ones however results are rounded than are not.
    """
    counted, strategy = run.prepared.compiled, run.prepared.strategy
    if finding.verdict is Verdict.UNDECIDED or not isinstance(counted, Counted):
        return finding
    assert isinstance(strategy, Certainty)
    program = counted.program
    if finding.verdict is Verdict.REFUTED and finding.draws:
        certain = doubtful = 0
        for span in range(max(1, finding.draws // program.span_draws)):
            stream = partial(run.generator, MAIN, span)
            wrong, unclear = events_in(program, stream, program.span_draws, range(1))
            if (wrong & ~unclear).any():
                more = events_in(program, stream, program.span_draws, range(1, MANY_TURNS))
                unclear = unclear | more[1]
            sure = (wrong & ~unclear).any(axis=0)
            certain += int(sure.sum())
            doubtful += int((wrong.any(axis=0) & ~sure).sum())
            if certain > doubtful or doubtful > MANY_TURNS:
                break
        return finding if certain > doubtful else _turned(finding)
    if program.tests_code:
        return finding
    stream = partial(run.generator, MAIN, 0)
    _, unclear = events_in(program, stream, draws_to_look_at(program), range(TURNS))
    return _turned(finding) if unclear.any() else finding


def _turned(finding: Finding) -> Finding:
    return replace(finding.left_open(Reason.UNCLEAR_EVENT.explain()), exact=None)
