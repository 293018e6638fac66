"""What rounding may do to a quantity that is a function of averages."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dropcheck.analysis.strategy import Certainty, Proportion
from dropcheck.array_types import Floats
from dropcheck.inference.intervals import Interval, Theta
from dropcheck.inference.region import Comparison, Reading, decide
from dropcheck.judging.case import CaseRun, Finding
from dropcheck.judging.knowledge import ExactMeans
from dropcheck.known.enclosure import Enclosed, Enclosure, enclose
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Exact, Verdict
from dropcheck.simulation import (
    MAIN,
    PILOT,
    Compiled,
    Counted,
    Program,
    Tally,
    means_of,
    rounding_in,
    rounding_of_fixed,
    rounding_of_values,
    unclear_in,
)
from dropcheck.vocabulary.jumps import LARGEST_BOUND
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


class OwnAverages(NamedTuple):
    """The sums that a comparison is judged by, and its quantity as a function of their averages.

    `columns` are those that the quantity is made of; None where these are all.
    """

    sums: Floats
    theta: Theta
    columns: list[int] | None


def own_averages(
    compiled: Compiled, comparison: Comparison, tally: Tally, theta: Theta
) -> OwnAverages:
    """What one comparison is judged by: of several, by its own averages alone."""
    functional, looked_at = compiled.functional, comparison.looked_at
    columns = functional.columns(looked_at)
    estimated = sum(value.estimated for value in functional.operands)
    if estimated <= len(looked_at):
        return OwnAverages(tally.sums, theta, columns if compiled.scaled else None)
    means = means_of(tally.sums, tally.values)[:, np.newaxis]

    def of_own(points: Floats) -> Floats:
        everything = np.repeat(means, points.shape[1], axis=1)
        everything[columns] = points
        return theta(everything)

    return OwnAverages(tally.sums[:, columns], of_own, None)


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


# ---- lost digits ---------------------------------------------------------------------------------
#
# Digits that rounding takes from the averages: `E((1e16 + x) - 1e16) == 0`.
#
# A case is undecided where too few digits are left to decide it.


# Draws that show how far rounding moves what is averaged: the most, the fewest, and between them as
# many as take this work, in rough nanoseconds. Lost digits may be rare.
MOST_DRAWS, FEW_DRAWS, WORK = 4096, 64, 5e5
# Rounding below this share of the interval's width, or of the widening, is ignored.
NOTHING = 1e-3
# Rounding below this share of an exact value is ignored.
SMALL_ROOM = 1e-9
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
    if program.tests_code:
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
    means, off = (used(compiled, comparison, one) for one in (means, off))
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
    return (
        exact if room <= SMALL_ROOM * abs(exact.value) else Exact(exact.value, exact.error + room)
    )


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
    if widen > 0:
        allowed = NOTHING * max(interval.half_width, widen)
    at, region = interval.estimate, comparison.region
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
        wider = replace(wider, unmet=lost(room, of_sides))
    return wider, kept if verdict is not Verdict.UNDECIDED else verdict


# ---- unclear events ------------------------------------------------------------------------------
#
# Events that rounding may decide: `P(sigmoid(x) < 1) == 1` where the sigmoid comes out as 1.
#
# Ties, which are equal on paper, are looked at before (`ties`).


# With so many more counterexamples that rounding may decide, the others no longer outnumber them.
MANY = 64
# Each draw is moved up or down at random. An event that changes in one of the two is seen in half
# of the draws: shares are doubled.
SEEN = 2.0


def unless_unclear(run: CaseRun, finding: Finding) -> Finding:
    """The finding on an event; left open where rounding may decide it.

    Most counterexamples must be ones for any rounding. Elsewhere only large errors count: usual
    rounding decides ties alone, which are judged on paper.
    """
    counted, strategy = run.prepared.compiled, run.prepared.strategy
    if finding.verdict is Verdict.UNDECIDED or not isinstance(counted, Counted):
        return finding
    program, signs = counted.program, run.generator(PILOT, 0)
    if program.tests_code:
        return finding
    if isinstance(strategy, Certainty) and finding.verdict is Verdict.REFUTED:
        draws = program.span_draws if finding.draws else draws_to_look_at(program)
        certain = doubtful = 0
        for span in range(max(1, finding.draws // program.span_draws)):
            fails, unclear = unclear_in(program, run.generator(MAIN, span), signs, draws)
            sure = (fails & ~unclear).any(axis=0)
            certain += int(sure.sum())
            doubtful += int((fails.any(axis=0) & ~sure).sum())
            if certain > doubtful:
                return finding
            if doubtful > MANY + 2 * certain:
                break
        return _unclear(finding) if doubtful else finding
    draws = draws_to_look_at(program)
    _, unclear = unclear_in(program, run.generator(MAIN, 0), signs, draws, LARGEST_BOUND)
    share = float(unclear.any(axis=0).mean())
    if not share or isinstance(strategy, Certainty):
        return _unclear(finding) if share else finding
    assert isinstance(strategy, Proportion)
    if finding.interval is None or finding.region is None or finding.sharpness is None:
        return finding
    room = SEEN * share * abs(strategy.factor)
    ends = finding.interval[0] - room, finding.interval[1] + room
    kept = decide(*ends, finding.region, finding.sharpness.widening)
    return finding if kept is finding.verdict else _unclear(finding)


def _unclear(finding: Finding) -> Finding:
    return replace(finding.left_open(Reason.UNCLEAR_EVENT.explain()), exact=None)
