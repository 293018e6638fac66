"""Each comparison of a statement, judged by averages: of draws, or as the model gives them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from dropcheck.analysis.exact import Integrand, exact_means
from dropcheck.analysis.strategy import Certainty
from dropcheck.array_types import Floats
from dropcheck.inference import intervals
from dropcheck.inference.intervals import Interval, Theta
from dropcheck.inference.region import (
    NEARLY,
    Comparison,
    Reading,
    claimed_about,
    constants_in,
    decide,
    decide_exactly,
    grouped,
    may_be_off,
    reach,
    region_floor,
    scale_of_sides,
    widening,
)
from dropcheck.judging.case import (
    WITNESS_ROUNDING,
    CaseRun,
    ExactMeans,
    Finding,
    Judging,
    Knowledge,
    drawn_so_far,
    of_calls,
)
from dropcheck.known.enclosure import Enclosed, Enclosure, enclose
from dropcheck.language.graph import Value
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Exact, Guarantee, Method, Region, Verdict
from dropcheck.simulation.again import events_in, rounding_in, rounding_of_fixed, rounding_of_values
from dropcheck.simulation.blocks import MAIN, PILOT, Tally
from dropcheck.simulation.compile import Compiled, Counted
from dropcheck.simulation.program import Program, means_of
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


def value_at(compiled: Compiled, comparison: Comparison, means: Floats, centres: Floats) -> float:
    """A comparison's quantity at averages, [terms]."""
    with np.errstate(all="ignore"):
        return float(theta_of(compiled, comparison, centres)(means[:, np.newaxis])[0])


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
    if not abs(value_at(compiled, comparison, means, centres)) < SMALL * largest:
        return LOOK_ROUNDING * largest
    sizes = np.zeros_like(means)
    for leaf in compiled.functional.leaves.values():
        for column, size in leaf.magnitudes(means, centres).items():
            sizes[column] = max(sizes[column], size)
    _, error = room_for(compiled, comparison, means, centres, LOOK_ROUNDING * sizes)
    error = max(error, LOOK_ROUNDING * sides)
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
    compiled: Compiled,
    comparison: Comparison,
    means: Floats,
    centres: Floats,
    off: Floats,
    *slab: Any,
) -> tuple[float, float]:
    """A quantity at its averages, and how far it may be moved when these have errors up to `off`.

    Errors are [terms]; what bounds them further is given as `enclose` takes it.
    """
    value = value_at(compiled, comparison, means, centres)
    means, off = (used(compiled, comparison, one) for one in (means, off))
    low, high = enclose(enclosing(compiled, comparison, centres), means, off, *slab)
    return value, max(high - value, value - low)


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

    `allowed` is the rounding that the verdict has allowed for, `of_sides` how far rounding may move
    the fixed sides.
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
    room = room_for(compiled, comparison, means, tally.centres, off)[1] + of_sides
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
        spans = range(max(1, finding.draws // program.span_draws))
        whole = ((span, program.span_draws) for span in spans)
        # a few draws first: most have a counterexample; a short span is not looked at twice
        for span, draws in dict.fromkeys([(0, draws_to_look_at(program)), *whole]):
            stream = partial(run.generator, MAIN, span)
            wrong, unclear = events_in(program, stream, draws, range(1))
            if (wrong & ~unclear).any():
                more = events_in(program, stream, draws, range(1, MANY_TURNS))
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


# ---- one look ------------------------------------------------------------------------------------


# More draws than any run can make: what is claimed lies where no interval can decide.
ENDLESS = 10**15


def until_decided(
    run: CaseRun,
    tally: Tally,
    judged: Callable[[float], Finding],
    method: Method,
    guarantee: Guarantee,
    **planned: int,
) -> Judging:
    """Draw and look until there is a verdict, or no more to be had.

    `judged` gives the finding on the draws so far, at the error rate of a look; `planned` says when
    a verdict is expected, as for `CaseRun.looks`.

    Raises:
        DropcheckError: where not one draw is defined.
    """
    for look in run.looks(tally.program, **planned):
        yield from run.draw_until(tally, MAIN, look.draws)
        run.refuse_if_nowhere_defined(tally)
        broken = run.undefined(tally, method, guarantee)
        if broken is not None:
            return broken
        finding = judged(look.alpha)
        limited = run.settings.max_draws is not None or run.settings.time_limit is not None
        never = finding.reason in _WITHOUT_VALUE and tally.drawn >= DRAWS_WITHOUT_VALUE
        over = finding.verdict is not Verdict.UNDECIDED or finding.reason in _FINAL
        if over or (never and not limited) or run.out_of_time():
            break
    return finding


# What more draws would not change, and where there is nothing to look at so far.
_FINAL = (Reason.LOST_DIGITS, Reason.UNCLEAR_EVENT, Reason.NOT_INDEPENDENT)
_WITHOUT_VALUE = (Reason.CONDITION_NEVER_TRUE, Reason.UNDEFINED_AT_AVERAGES, Reason.NO_SCALE)
# After so many draws without a value the case is given up, where no limit says to go on: a
# condition as rare as one in ten thousand would have been true with chance 1 - e^-64.
DRAWS_WITHOUT_VALUE = 640_000


def scales_of(
    run: CaseRun, compiled: Compiled, means: Floats, centres: Floats, off: float = 0.0
) -> tuple[float, ...]:
    """The scale of each comparison: the claim's, or that of its own entry of the arrays.

    It is that of a known side, or of the estimated sides. Where a side is compared with 0, and
    where both sides may well be 0, it is the size of what the sides measure. `off` bounds the
    errors of the sides: a side no larger than that may well be 0. A size that may not exist by the
    model is none: then it is the largest number in the sides, and infinite where there is none.
    """
    functional, reading = compiled.functional, run.reading
    sizes: list[float] = []
    if compiled.scaled:
        # of code the draws say all there is, and the watchers of the limit theorem look at them
        unbounded = () if compiled.program.tests_code else compiled.unbounded
        sizes = functional.sizes(means, centres, unbounded)
    operands = functional.at_averages(means, centres)[0] if reading.against_estimates else []

    def scale(part: Reading) -> float:
        if part.known_scale is not None:
            return part.known_scale
        if not compiled.scaled:
            return max(abs(float(functional.operands[end].constant[..., 0])) for end in part.ends)
        against = max(sizes[end] for end in part.ends)
        size = against if against > 0 else sizes[part.side]
        if size == math.inf:
            written = (constants_in(functional.operands[place]) for place in part.places)
            size = max(chain.from_iterable(written), default=0.0) or math.inf
        if not part.against_estimates:
            return size
        # counts tell a small probability from 0
        counted = all(one.of_probability for one in part.magnitudes)
        sized = not counted and math.isfinite(size)
        hidden = off + (run.resolution * size if sized else 0.0)
        return scale_of_sides(size, hidden, part.sides_at(operands))

    if not reading.entries:
        return (scale(reading),) * len(reading.comparisons)
    return tuple(map(scale, reading.of_each))


def settling(reading: Reading, verdicts: Sequence[Verdict], off: Sequence[float]) -> int:
    """The place of the comparison that settles a statement: a refuted, an open, or a verified one.

    Among several it is the first, or with entries of arrays the one that is farthest `off`.
    """
    order = (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.VERIFIED)
    worst = min(verdicts, key=order.index)
    places = [place for place, verdict in enumerate(verdicts) if verdict is worst]
    if reading.shown in places:
        return reading.shown
    return max(places, key=lambda place: off[place]) if reading.entries else places[0]


def far_off(low: float, high: float, region: Region, allowed: float) -> float:
    """How far an interval reaches out of its region, in units of what is allowed.

    It is negative where the interval is well inside.
    """
    away = max(region.low - low, high - region.high)
    return away / allowed if allowed > 0 else away


def more_draws(needed: int, tally: Tally) -> float:
    """Draws that an undecided case is likely to need beyond those made; infinite where none do.

    The number includes the way to the next look, and a span, because budgets often end before a
    look.
    """
    if needed >= ENDLESS:
        return math.inf
    return (
        max(intervals.GROWTH * needed, 1.5 * tally.drawn) - tally.drawn + tally.program.span_draws
    )


Decide = Callable[[int, Comparison, float, float, float, float], tuple[Interval, Verdict]]
"""How the comparison at a place is judged: its share of α, the widening of its region and the
allowance for rounding give an interval and a verdict; the last number is the unit of results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The comparison that settles a statement at one look, and how it was judged.

    Where the quantity is a relative difference, the interval and the region are in units of `unit`,
    by which results multiply them.
    """

    verdict: Verdict
    interval: Interval
    comparison: Comparison
    place: int  # of the comparison among those of the statement
    widen: float
    unit: float
    scale: float
    about: float | None  # the largest number that is compared; None where all may be 0
    sides: tuple[float, ...] | None  # of the statement, where a difference of two is judged

    @property
    def digits_lost(self) -> bool:
        """Whether rounding decides the comparison."""
        return self.interval.reason in (Reason.LOST_DIGITS, Reason.UNCLEAR_EVENT)

    @property
    def unscaled(self) -> bool:
        """Whether an equation has no scale, so that nothing verifies it."""
        point = self.comparison.region.point
        return point and not (self.widen > 0 or math.isfinite(self.scale))

    def gives(self, claimed: Region) -> float:
        """How far the claim's text allows the quantity to lie from what is claimed."""
        allowed = self.comparison.region  # with all that the claim allows
        ends = ((claimed.low, allowed.low), (claimed.high, allowed.high))
        return max((abs(a - b) for a, b in ends if math.isfinite(a)), default=0.0)


def judge_look(
    run: CaseRun,
    compiled: Compiled,
    tally: Tally,
    alpha: float,
    decided: Decide,
    exact_means: Floats | None = None,
) -> Judged | None:
    """Judge every comparison of the statement; None where it is undefined.

    The comparisons share the error `alpha`. The averages by the model, `exact_means`, bound the
    scale.
    """
    reading = run.reading
    functional, centres = compiled.functional, tally.centres
    means = means_of(tally.sums, tally.values)
    operands, largest = functional.at_averages(means, centres)
    if not all(map(math.isfinite, operands)):
        return None
    # exact averages know better what is 0
    error = 0.0 if exact_means is None else may_be_off(run.reading, compiled, tally)
    scales = scales_of(run, compiled, means, centres, error)
    if exact_means is not None:  # errors of the draws must not make a verdict less sharp
        scales = tuple(map(min, scales, scales_of(run, compiled, exact_means, centres)))
    if any(map(math.isnan, scales)):
        return None
    judged: list[Judged] = []
    off: list[float] = []
    each = zip(reading.comparisons, reading.of_each, scales, strict=True)
    for place, (claimed, part, scale) in enumerate(each):
        about = claimed_about(part, compiled, grouped(tally), tally.centres)
        unit = unit_of(claimed, operands)
        asked = sharpness_of(run, part, scale, operands, about or math.inf) / unit
        widen = widening(claimed.region, asked)
        comparison = replace(claimed, region=claimed.allowed(asked))
        size = scale if math.isfinite(scale) else 0.0
        most, sides = max(largest, size) / unit, max(map(abs, part.sides(operands))) / unit
        rounding = rounding_of(compiled, comparison, means, centres, most, sides)
        share = alpha / len(reading.comparisons)
        interval, verdict = decided(place, comparison, share, widen, rounding, unit)
        if tally.program.declared and verdict is not Verdict.UNDECIDED and interval.unmet is None:
            # the declaration may be wrong: calls are independent, as each has a seed of its own
            interval = of_calls(interval, tally, theta_of(compiled, comparison, centres), share)
            ends, verdict = (interval.low, interval.high), Verdict.UNDECIDED
            if interval.unmet is None:
                verdict = decide(*ends, comparison.region, widen, rounding, of_code=True)
        of_sides = rounding_of_sides(run, part) / unit
        interval, verdict = with_digits_left(
            run, compiled, tally, comparison, (interval, verdict), widen, rounding, of_sides
        )
        ends = interval.low, interval.high
        if verdict is Verdict.REFUTED:
            ends = interval.estimate, interval.estimate
        off.append(far_off(*ends, comparison.region, widen))
        judged.append(
            Judged(
                verdict=verdict,
                interval=interval,
                comparison=comparison,
                place=place,
                widen=widen,
                unit=unit,
                scale=scale,
                about=about,
                sides=None if comparison.against is None else part.sides(operands),
            )
        )
    return judged[settling(reading, [one.verdict for one in judged], off)]


def sharpness_of(
    run: CaseRun,
    reading: Reading,
    scale: float,
    operands: Sequence[float],
    about: float | None = None,
) -> float:
    """How sharply to look; a range between estimated ends is widened no more than a fixed one."""
    sharpness = run.sharpness(scale, about)
    if len(reading.comparisons) > 1:
        ends = [operands[end] for end in reading.ends]
        sharpness = min(sharpness, abs(ends[1] - ends[0]) / 20)
    return sharpness


def unit_of(comparison: Comparison, operands: Sequence[float]) -> float:
    """The factor of a quantity in results, which show a relative difference as a difference."""
    if comparison.share and comparison.against is not None:
        return max(abs(operands[comparison.against]), 1e-300)
    return 1.0


def shown(
    run: CaseRun,
    judged: Judged,
    tally: Tally,
    guarantee: Guarantee,
    needed: float | None = None,
) -> Finding:
    """The finding of a look, in the unit of the sides.

    `needed` are the draws that an undecided case is likely to need beyond those made.
    """
    interval, unit = judged.interval, judged.unit
    region = run.reading.comparisons[judged.place].region
    explanation = None
    if judged.verdict is Verdict.UNDECIDED:
        wide, at, near = Reason.TOO_WIDE, interval.estimate, 2 * interval.standard_error
        if needed == math.inf:  # no number of draws that a run can make would decide
            allowed = judged.comparison.region
            edge = allowed.strict_end_within(at, near)
            edge = edge or not reach(at, near, allowed, judged.widen)
            wide = Reason.AT_THE_EDGE if edge else Reason.TOO_FINE
        explanation = interval.unmet or wide.explain()
        if judged.unscaled:
            explanation = Reason.NO_SCALE.explain()
    return replace(
        drawn_so_far(tally, Method.BLOCK_MEANS, guarantee),
        verdict=judged.verdict,
        quantity=judged.comparison.measures,
        region=Region(region.low * unit, region.high * unit, region.low_open, region.high_open),
        estimate=interval.estimate * unit,
        interval=(interval.low * unit, interval.high * unit),
        standard_error=interval.standard_error * unit,
        entry=judged.comparison.entry,
        sides=judged.sides,
        scale=judged.scale if math.isfinite(judged.scale) else None,
        sharpness=run.looked(judged.scale, judged.widen, unit),
        within=region_floor(region, judged.widen + judged.gives(region)) * unit,
        about=judged.about,
        explanation=explanation,
        more_draws=needed,
    )


def undefined_at_averages(compiled: Compiled, tally: Tally, guarantee: Guarantee) -> Finding:
    """The finding that the quantity is undefined at the averages themselves, and why."""
    why = Reason.UNDEFINED_AT_AVERAGES.explain()
    given = (leaf.columns.get("g") for leaf in compiled.functional.leaves.values())
    if any(column is not None and tally.totals[column] == 0 for column in given):
        why = Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
    return replace(drawn_so_far(tally, Method.BLOCK_MEANS, guarantee), explanation=why)


# ---- exact values --------------------------------------------------------------------------------


def exact_quantity(
    compiled: Compiled, knowledge: Knowledge, comparison: Comparison, off: Floats | float = 0.0
) -> Exact | None:
    """The quantity of one comparison by the model; None where the model does not say it.

    `off` is how far rounding may move each average, [terms].
    """
    exact = knowledge.means
    if exact is None:
        return None
    errors = exact.errors + off
    value, error = room_for(compiled, comparison, exact.means, exact.centres, errors)
    return Exact(value, max(error, 0.0)) if math.isfinite(value + error) else None


def exact_probability(event: Value, condition: Value | None) -> Exact | None:
    """The probability of an event that is one truth a draw; None where it is not known."""
    if event.shape or not event.binary or (condition is not None and condition.shape):
        return None
    both = Integrand(factors=((event, 1),), given=condition)
    known = exact_means(
        [both] if condition is None else [both, Integrand(factors=(), given=condition)]
    )
    if known is None:
        return None
    means, errors = known
    if condition is None:
        return Exact(float(means[0]), float(errors[0]))
    if not means[1] > errors[1]:
        return None
    value = float(means[0] / means[1])
    return Exact(value, float((errors[0] + value * errors[1]) / (means[1] - errors[1])))


@dataclass(frozen=True, slots=True)
class Known:
    """What the model says of a statement: a finding, and the value of each comparison's quantity.

    `place` is the comparison that settles the statement; the values are in the units of regions.
    """

    findings: tuple[Finding, ...]
    values: tuple[Exact, ...]
    place: int = 0

    @property
    def finding(self) -> Finding:
        """The finding on the statement."""
        return self.findings[self.place]

    def of(self, other: Finding) -> Finding | None:
        """The finding on the comparison that another finding is about."""
        asked = other.quantity, other.entry
        return next((one for one in self.findings if (one.quantity, one.entry) == asked), None)


def known_exactly(run: CaseRun) -> Known | None:
    """What the model says; None where it says a quantity to no hundredth of what is allowed."""
    prepared = run.prepared
    match prepared.strategy, prepared.compiled, prepared.knowledge:
        case Certainty() as certainty, _, _:
            return _known_certainty(run, certainty)
        case _, Compiled() as compiled, Knowledge(means=averages) as knowledge if averages:
            return _known_averages(run, compiled, knowledge, averages)
    return None


def _known_averages(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge, averages: ExactMeans
) -> Known | None:
    operands, _ = compiled.functional.at_averages(averages.means, averages.centres)
    if not all(map(math.isfinite, operands)):
        return None
    scales = scales_of(run, compiled, averages.means, averages.centres)
    findings: list[Finding] = []
    values: list[Exact] = []
    off: list[float] = []
    each = zip(run.reading.comparisons, run.reading.of_each, scales, strict=True)
    # no draw confirms an exact value, and it may be made of digits that are lost
    rounded = rounding_of_means(run, compiled.program, averages.centres)
    rounded = np.where(rounded > SMALL_SHARE * np.abs(averages.means), rounded, 0.0)
    for comparison, part, size in each:
        scale = size if math.isfinite(size) else 0.0  # there is no second moment
        about = scale
        if not scale:  # a bound of E|u| of what is averaged
            columns = compiled.functional.columns(comparison.looked_at)
            sizes = knowledge.bounds(averages.centres).sizes(1.0)[columns]
            about = float(sizes.max(initial=0.0)) if np.isfinite(sizes).all() else 0.0
        exact = exact_quantity(compiled, knowledge, comparison, rounded)
        if exact is None:
            return None
        unit = unit_of(comparison, operands)
        of_sides = rounding_of_sides(run, part) / unit
        if of_sides > SMALL_ROOM * abs(exact.value):
            exact = replace(exact, error=exact.error + of_sides)
        asked = sharpness_of(run, part, scale, operands, math.inf) / unit
        found = found_exactly(run, comparison, exact, scale, asked, unit, about)
        if found is None:
            return None
        sides = None if comparison.against is None else part.sides(operands)
        findings.append(replace(found, sides=sides))
        values.append(exact)
        widen = widening(comparison.region, asked)
        off.append(far_off(exact.value, exact.value, comparison.region, widen))
    place = settling(run.reading, [one.verdict for one in findings], off)
    return Known(tuple(findings), tuple(values), place)


def found_exactly(
    run: CaseRun,
    comparison: Comparison,
    exact: Exact,
    scale: float,
    asked: float,
    unit: float = 1.0,
    about: float | None = None,
) -> Finding | None:
    """The finding on a known quantity; None where its error leaves room for another.

    `asked` is the resolution in the unit of the region, `unit` the factor of the quantity in
    results, and `about` the size beside which rounding is nothing; by default the scale.
    """
    region, allowed = comparison.region, comparison.allowed(asked)
    rounding = LOOK_ROUNDING * max(abs(exact.value), (about or scale) / unit)
    if exact.error > max(widening(region, asked) / 100, rounding):
        return None
    sides = run.prepared.statement.operands
    alike = len(sides) == 2 and sides[0] == sides[1]
    alike |= not exact.error and exact.value in (region.low, region.high)
    verdict = decide_exactly(exact.value, exact.error + rounding, allowed, alike=alike)
    low, high = exact.value - exact.error, exact.value + exact.error
    beyond = max(region.low - low, high - region.high, 0.0)
    # half a unit of the last digit of a decimal, if it has two digits: one may be rounded far
    half = min(comparison.gives or 0.0, abs(region.low) / 20)
    near = 0 < beyond <= max(asked, half)
    explanation = None
    if verdict is Verdict.UNDECIDED:
        explanation = Reason.AT_THE_EDGE.explain()
    elif verdict is Verdict.REFUTED and near and region.point and region.low:
        share = f"{100 * beyond / abs(region.low):.2g}"
        hint = "write 'tolerance:' if that is near enough"
        if beyond <= half:
            hint = "write '~=' in place of '==' if its rounding is meant"
        explanation = Reason.NEARLY_TRUE.explain(share=share, hint=hint)
    beyond *= unit
    return Finding(
        verdict=verdict,
        method=Method.EXACT_VALUE,
        guarantee=Guarantee.EXACT,
        quantity=comparison.measures,
        region=Region(region.low * unit, region.high * unit, region.low_open, region.high_open),
        estimate=exact.value * unit,
        interval=(low * unit, high * unit),
        standard_error=0.0,
        entry=comparison.entry,
        scale=scale,
        sharpness=run.looked(scale, widening(region, asked), unit),
        within=0.0 if beyond <= WITNESS_ROUNDING * scale else beyond,
        exact=Exact(exact.value * unit, exact.error * unit),
        explanation=explanation,
    )


def _known_certainty(run: CaseRun, claim: Certainty) -> Known | None:
    """What the model says of a claim of certainty: an exception refutes, however rare it is."""
    exact = exact_probability(claim.event, claim.condition)
    if exact is None:
        return None
    comparison = replace(run.reading.comparisons[0], gives=NEARLY)
    # an exception is one however uncertain its chance is, as where a tie is a part of it
    if exact.error > NEARLY and abs(exact.value - claim.probability) <= NEARLY + exact.error:
        return None
    found = found_exactly(run, comparison, exact, 1.0, 1.0)
    if found is None:
        return None
    return Known((replace(found, sharpness=None, explanation=None),), (exact,))
