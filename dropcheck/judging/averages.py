"""Functions of averages, judged by what the model says of their moments.

Each average has an interval that holds for every law with the moments that the model bounds. The
quantity is enclosed over all averages that these intervals allow, to first order along the
direction in which it changes. Where the model says the covariances of what is averaged, the looks
are planned before any draw. Else a pilot shows the direction and the spread to be expected, and its
draws are not used again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dropcheck.analysis.exact import Integrand, exact_means
from dropcheck.array_types import Floats
from dropcheck.inference import intervals
from dropcheck.inference.intervals import (
    FEWEST_BLOCKS,
    RAREST_SEEN,
    ClippedSpread,
    Interval,
    KnownSpread,
    Sample,
    Theta,
    seen_variance,
)
from dropcheck.inference.region import (
    ROUNDED_SHARE,
    Comparison,
    decide,
    expression,
    may_be_off,
    ways,
    widening,
)
from dropcheck.judging.case import (
    FEWEST_DRAWS,
    CaseRun,
    ExactAverages,
    Finding,
    Judging,
    Knowledge,
    not_drawn,
)
from dropcheck.judging.look import (
    ENDLESS,
    LOOK_ROUNDING,
    Decide,
    Judged,
    enclosing,
    exact_quantity,
    judge_look,
    more_draws,
    of_truths,
    room_for,
    scales_of,
    sharpness_of,
    shown,
    theta_of,
    undefined_at_averages,
    unit_of,
    until_decided,
    value_at,
)
from dropcheck.known.enclosure import Enclosed, enclose, gradient, over
from dropcheck.language.graph import Kind, Value, operators, ordered
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Exact, Guarantee, Method, Region, Verdict
from dropcheck.simulation.blocks import MOST_ROWS, PILOT, Request, Tally
from dropcheck.simulation.compile import Compiled
from dropcheck.simulation.program import Clip, Program, SpanSums
from dropcheck.vocabulary.functions.arrays import ONE_HOT
from dropcheck.vocabulary.special import student_quantile

# ---- the limit theorem ---------------------------------------------------------------------------
#
# For averages of which the model bounds no moments. Values that no draw showed may carry one, and
# no theorem rules that out. So this is for code under test, of which no model says anything, and
# for mathematics where a user accepts it. What can be known all the same is looked at: whether a
# few blocks carry an average, whether the rarest outcome that the model knows was waited for, and
# whether averages that never varied would change the quantity.


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSpread:
    """The spread of an average by its sample alone; `guess` is the variance of a draw in a pilot.

    The interval is Student's, with the shift that skewness asks for (Hall 1983, "Inverting an
    Edgeworth expansion", Annals of Statistics 11, eq. 2.3 with the polynomial of the studentised
    mean: P(T ≤ x) = Φ(x) + n^(-1/2) γ (2x² + 1)/6 φ(x) + O(1/n)); the shift only ever widens it.
    """

    guess: float

    def interval(self, sample: Sample, alpha: float) -> tuple[float, float]:
        """The interval of the mean at confidence 1 - alpha."""
        values, blocks = sample.rows, len(sample.rows)
        if blocks < 2:
            return -math.inf, math.inf
        mean, quantile = float(values.mean()), student_quantile(max(blocks - 1, 1), alpha)
        error = deviation(values - mean) / math.sqrt(blocks - 1)
        skewness, _ = shape(values - mean)
        shift = skewness * (2 * quantile**2 + 1) / (6 * math.sqrt(blocks))
        low = mean - error * (quantile + max(-shift, 0.0))
        return low, mean + error * (quantile + max(shift, 0.0))

    def half_width(self, rows: int, draws: int, alpha: float) -> float:
        """The half-width to be expected of the interval from so many blocks of so many draws."""
        return student_quantile(max(rows - 1, 1), alpha) * self.standard_error(rows * draws)

    def standard_error(self, draws: int) -> float:
        """The standard error of the mean of so many draws, as it is guessed."""
        return math.sqrt(self.guess / draws)


# ---- what the blocks show ------------------------------------------------------------------------


# The most that the neglected terms of the expansion may add to the log of the tail's probability.
MOST_NEGLECTED = 1.0
# The same over the quantile's fourth power, for an average whose part in the quantity cancels: a
# law without a mean comes to about 1 however many blocks there are, one with a variance to 0.
MOST_SHARE = 1 / 32
# An average that moves the quantity by less than this share of its standard error does not count.
NO_SLOPE = 1e-6
# Where a sample would need more than so many times its own draws to settle, a few draws carry it:
# the shape of a larger one is not known, nor whether there is a mean at all.
MOST_EXTRAPOLATED = 32
# A value that is the same in all draws refutes only claims that are off by more than this share of
# it: the default resolution at which it is verified.
CLEARLY_OFF = 0.01


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Which condition of the limit theorem a sample does not meet, and the draws that it takes."""

    unmet: Explanation | None = None
    settles: float = 0.0


def shortfall(
    rows: Floats,
    weights: Floats,
    columns: Sequence[int],
    draws: int,
    alpha: float,
    rounding: float = 0.0,
    *,
    alike: bool = False,
) -> Shortfall:
    """What averages of blocks lack for the limit theorem.

    The first order looks at the influence alone. Where the part of an average cancels in it, as in
    E(1/u + u) − E(1/u), or vanishes on a plateau, as in maximum(E(1/u), 50), the influence does not
    show that the average does not exist. So every average must be seen to have a mean. One without
    any influence must meet the full condition, because the second order rests on it.

    `rows`, [blocks, terms], are averages of blocks of `draws` independent draws in all, and
    `weights`, [terms], the combination along which the quantity changes. What varies by no more
    than `rounding` is constant; `alike` says that the quantity is the same at the averages of all
    blocks.
    """
    blocks = len(rows)
    if blocks < FEWEST_BLOCKS:
        return Shortfall(Reason.TOO_FEW_BLOCKS.explain(blocks=blocks, needed=FEWEST_BLOCKS))
    quantile = student_quantile(max(blocks - 1, 1), alpha)
    centred = rows - rows.mean(axis=0)
    influence = centred @ weights
    if alike:
        needed = draws_that_agree(alpha)
        found = Shortfall()
        if draws < needed:
            found = Shortfall(Reason.NO_DIFFERENCE_YET.explain(needed=needed), needed)
    else:
        skewness, excess = shape(influence)
        own = neglected(skewness, excess, blocks, quantile) / MOST_NEGLECTED
        found = Shortfall(settles=draws * own if own > 1 else 0.0)
        if not own <= 1:  # what is not a number is not small
            found = replace(found, unmet=Reason.HEAVY_SUM.explain())
    for column in columns:
        part, weight = centred[:, column], abs(float(weights[column]))
        if 0 < weight * float(np.abs(part).max()) <= rounding or (weight and len(columns) == 1):
            continue  # it is constant, or the influence itself
        allowed = MOST_SHARE
        if weight * deviation(part) <= NO_SLOPE * deviation(influence):
            allowed = min(MOST_SHARE, MOST_NEGLECTED / quantile**4)
        own = neglected(*shape(part), blocks, 1.0) / allowed
        if own > 1:
            why = found.unmet or Reason.HEAVY_SUM.explain()
            found = Shortfall(why, max(found.settles, draws * own))
    return found


def deviation(centred: Floats) -> float:
    """The root of the mean square of deviations; squares of 1e200 are infinite."""
    largest = float(np.abs(centred).max(initial=0.0))
    if not 0 < largest < math.inf:
        return largest
    return largest * math.sqrt(float(np.mean((centred / largest) ** 2)))


def shape(centred: Floats) -> tuple[float, float]:
    """Skewness and excess kurtosis of deviations from their mean."""
    largest = float(np.abs(centred).max(initial=0.0))
    if not 0 < largest < math.inf:
        return 0.0, 0.0
    scaled = centred / largest  # squares of 1e200 are infinite
    second, third, fourth = (float((scaled**power).mean()) for power in (2, 3, 4))
    return third / second**1.5, fourth / second**2 - 3.0


def neglected(skewness: float, excess: float, blocks: int, quantile: float) -> float:
    """How much the neglected terms of the expansion may add to the log of the tail's probability.

    Beyond the shift for skewness, the expansion of the log tail probability goes on with terms of
    the order of x⁴ γ²/n and x⁴ κ/n (Petrov 1975, "Sums of Independent Random Variables", VIII.2,
    the Cramér series). Only the parts of the sample's γ and κ beyond three standard errors, which
    are √(6/n) and √(24/n), count.
    """
    skew = max(abs(skewness) - 3 * math.sqrt(6 / blocks), 0.0)
    tail = max(abs(excess) - 3 * math.sqrt(24 / blocks), 0.0)
    return quantile**4 * (skew**2 + tail / 4) / blocks


def draws_that_agree(alpha: float) -> float:
    """How many draws must agree before that is no accident.

    If a share ε of the draws differed, all of n draws would agree with chance (1 − ε)^n, so that
    ε ≤ ln(1/α)/n (the "rule of three": Hanley and Lippman-Hand 1983).

    >>> round(draws_that_agree(0.05))
    29957
    """
    return math.log(1 / alpha) / RAREST_SEEN


def of_alike(
    interval: Interval,
    verdict: Verdict,
    comparison: Comparison,
    averages: Floats,
    widen: float,
    rounding: float,
) -> tuple[Interval, Verdict]:
    """A verdict on a quantity that does not vary, left open where it may all the same.

    The draws show nothing of averages that never varied: it must not be made of them. What is too
    rare to be seen may make a small difference, by which nothing is refuted.

    `averages`, [blocks, averages], are those that it is made of; `rounding` is what rounding may
    do.
    """
    unseen = bool((averages == averages[0]).all(axis=0).any())
    if verdict is Verdict.REFUTED:
        near = max(widen, CLEARLY_OFF * abs(interval.estimate))
        ends = interval.low - near, interval.high + near
        unseen |= decide(*ends, comparison.region, 0.0, rounding) is not Verdict.REFUTED
    if not unseen:
        return interval, verdict
    why = Reason.ALL_ALIKE.explain(value=interval.estimate)
    return replace(interval, unmet=why), Verdict.UNDECIDED


# ---- what the model says to be rare --------------------------------------------------------------


# An outcome that is seen so often shows in the sample's own spread and skewness.
RARE_SIGHTINGS = 64
# Conditions whose chances are worked out: more take too long.
MOST_CONDITIONS = 512
# A chance below this is no more than the rounding of the numbers that it is computed from.
IMPOSSIBLE = 1e-12


def conditions_of(compiled: Compiled) -> list[Value]:
    """The conditions, such as `u < 1e-6`, that the quantities of a statement are made with."""
    every = operators(compiled.functional.operands)
    quantities = [below for one in every for below in one.inputs]
    return [
        value
        for value in ordered(quantities)
        if value.random
        and value.kind == Kind.COMPUTED
        and (value.binary or value.function is ONE_HOT)
    ]


def draws_to_see(compiled: Compiled) -> float:
    """Draws in which the rarest outcome with a known chance is expected once.

    Such outcomes are those of conditions, and values that a law declares to be rare.
    """
    rarest = compiled.program.rarest
    for condition in conditions_of(compiled):
        known = exact_means([Integrand(factors=((condition, 1),))])
        if known is not None:
            chance, error = float(known[0][0]), float(known[1][0])
            chance = min(chance, 1 - chance)
            if chance > max(error, IMPOSSIBLE):
                rarest = max(rarest, 1 / chance)
    return rarest


# ---- what is planned -----------------------------------------------------------------------------


Spread = KnownSpread | ClippedSpread | LimitSpread
"""What is known of an average: its variance, bounds of its moments, or nothing."""

PLANNED_BLOCKS = 1024
# Blocks of a pilot: they show the spread to about 9%, and to 6% where the limit theorem judges.
# With fewer, claims of few draws would take fewer, but heavy tails would be missed more often.
PILOT_BLOCKS, LIMIT_PILOT_BLOCKS = 64, 128
# The shortest blocks, and batches that are crossed.
SHORTEST_BLOCK = 32
SHORTEST_BATCH = 8
# The most draws for the centres: these then lie within a tenth of a deviation of the means.
CENTRE_DRAWS = 512
# Share of a look's error that pays for the intervals of the single averages: these enter the
# quantity's own interval in second order alone.
BOX_SHARE = 0.1
# A quantity whose remainder is no larger, as a share of its first order, is linear.
NO_REMAINDER = 1e-10
# Halvings of the half-widths of averages in the search for those that decide.
MOST_HALVINGS = 20
# A pilot that plans more than PILOT_SHARE times its own draws is made longer: by this factor each
# time, at most so often.
PILOT_GROWTH = 4
PILOT_STEPS = 3
PILOT_SHARE = 64
# The most draws of a case whose verdict would not be accepted: it shows an estimate, and no more.
UNCOUNTED = 2**22


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """The combination of averages along which one comparison's quantity changes.

    `weights` has a factor for each average, [terms]; `spread` is that of the combination. A
    quantity that is `linear` in the averages is this combination, up to a constant.
    """

    weights: Floats
    spread: Spread
    linear: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawPlan:
    """What is known of a case before the draws that it is judged by.

    `directions` has one for each comparison. `spreads` has the spread of each average that the
    statement is made of, by column. A verdict is expected after `expected` draws. `middle` are the
    expected averages, [terms], about `centres`, [registers].
    """

    program: Program
    centres: Floats
    middle: Floats
    directions: tuple[Direction, ...]
    spreads: Mapping[int, Spread]
    guarantee: Guarantee
    most: int
    fewest: int = FEWEST_DRAWS
    expected: int = FEWEST_DRAWS
    exact_means: Floats | None = None  # the averages themselves, where the model says them
    pilot: Tally | None = None
    endless: Reason | None = None  # why no number of draws would do, where none does
    # where the limit theorem judges: what the pilot lacks for each comparison, and the draws in
    # which the rarest known outcome is expected once
    lacks: tuple[Shortfall, ...] = ()
    rarest: float = 0.0


# ---- the half-widths that decide -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Targets:
    """The half-width at which each comparison is likely to be decided.

    A width of 0 cannot be reached: the quantity lies where no interval decides; `sharp` is the
    half-width at which a closed end would be decided there. `refuting` says which comparisons are
    likely to be refuted.
    """

    widths: tuple[float, ...]
    refuting: tuple[bool, ...]
    sharp: tuple[float, ...]

    def settled(self, needed: Callable[[int, float], int]) -> int:
        """Draws after which the statement is likely to be settled; one refutation settles it.

        `needed(place, width)` are the draws that one comparison takes to a half-width.
        """
        draws = [needed(*each) for each in enumerate(self.widths)]
        refuted = (own for own, refutes in zip(draws, self.refuting, strict=True) if refutes)
        return min(refuted, default=max(draws))


def targets_of(run: CaseRun, compiled: Compiled, plan: DrawPlan) -> Targets | None:
    """The half-widths that the intervals need; None where the quantity is undefined."""
    operands, _ = compiled.functional.at_averages(plan.middle, plan.centres)
    if not all(map(math.isfinite, operands)):
        return None
    off = 0.0 if plan.pilot is None else may_be_off(run.reading, compiled, plan.pilot)
    scales = scales_of(run, compiled, plan.middle, plan.centres, off)
    if not all(map(math.isfinite, scales)):
        return None
    each = zip(run.reading.comparisons, run.reading.of_each, scales, strict=True)
    widths: list[tuple[float, bool]] = []
    sharp: list[float] = []
    for place, (comparison, part, scale) in enumerate(each):
        unit = unit_of(comparison, operands)
        sharp.append(sharpness_of(run, part, scale, operands) / unit)
        near = LOOK_ROUNDING * scale / unit
        widths.append(target_of(compiled, plan, place, comparison, sharp[-1], near))
    targets, refuting = zip(*widths, strict=True)
    return Targets(targets, refuting, tuple(sharp))


def target_of(
    compiled: Compiled,
    plan: DrawPlan,
    place: int,
    comparison: Comparison,
    sharpness: float,
    near: float = 0.0,
) -> tuple[float, bool]:
    """The half-width at which one comparison is likely to be decided, and whether that refutes it.

    `near` bounds what rounding alone may do to the quantity.
    """
    estimate = value_at(compiled, comparison, plan.middle, plan.centres)
    if plan.pilot is not None:
        near = 2 * plan.directions[place].spread.standard_error(plan.pilot.units)
    if comparison.region.strict_end_within(estimate, near):
        return 0.0, False
    widen, region = widening(comparison.region, sharpness), comparison.allowed(sharpness)
    verify, refute = ways(estimate, near, region, widen)
    return max(verify, refute, 0.0), refute > max(verify, 0.0)


def expecting(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, targets: Targets | None
) -> DrawPlan:
    """The plan with the draws after which the verdict is expected."""
    if targets is None:
        return plan
    needed, most = partial(draws_for, run, compiled, plan), plan.most
    expected, endless = targets.settled(needed), None
    if expected >= ENDLESS:
        endless = Reason.TOO_FINE if all(targets.widths) else Reason.AT_THE_EDGE
        if plan.exact_means is not None:  # fewer draws show how near the quantity is to the end
            most = min(most, max(needed(*each) for each in enumerate(targets.sharp)))
    expected = max(expected, plan.fewest)
    return replace(plan, expected=expected, endless=endless, most=most)


def draws_for(run: CaseRun, compiled: Compiled, plan: DrawPlan, place: int, target: float) -> int:
    """Draws after which one comparison is likely to be decided.

    What its quantity adds to its first order falls about as one over the draws. Where the first
    order says nothing, the draws are those that show its averages.
    """
    direction = plan.directions[place]
    alpha = run.alpha * intervals.PLANNED / len(run.reading.comparisons)

    def half_width(spread: Spread, draws: int, share: float = 1.0) -> float:
        rows, block = rows_of(plan.program, draws)
        return spread.half_width(rows, block, share * alpha) if rows else math.inf

    def draws_to(spread: Spread, target: float, beyond: float = 0.0) -> int:
        def decides(draws: int) -> bool:
            error = spread.standard_error(max(1, draws // plan.program.unit_draws))
            width = half_width(spread, draws) + intervals.CHANCE * error
            return width + beyond / draws <= target

        return fewest_that(decides, plan.fewest, ENDLESS)

    def widths(draws: int, share: float = 1.0) -> Floats:
        found = np.zeros(len(plan.middle))
        for column, spread in plan.spreads.items():
            found[column] = half_width(spread, draws, share)
        return found

    if direction.linear or direction.spread.standard_error(1) > target:
        draws = draws_to(direction.spread, target)
        if direction.linear or draws >= ENDLESS:
            return draws
        along = half_width(direction.spread, draws, 1 - BOX_SHARE)
        box = widths(draws, BOX_SHARE / len(plan.spreads))
        beyond = reach_of(run, compiled, plan, place, box, along)
        beyond -= half_width(direction.spread, draws)
        return draws_to(direction.spread, target, beyond * draws) if beyond < math.inf else draws
    narrow = widths_that_decide(run, compiled, plan, place, target, widths(plan.fewest))
    wanted = [draws_to(spread, narrow[column]) for column, spread in plan.spreads.items()]
    return max(draws_to(direction.spread, target / 2), *wanted)


def reach_of(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, place: int, widths: Floats, along: float
) -> float:
    """How far from its value at the expected averages the quantity of a comparison may lie.

    `widths`, [terms], are half-widths of the averages, and `along` that of their combination along
    the direction in which the quantity changes.
    """
    comparison = run.reading.comparisons[place]
    slab = plan.directions[place].weights, (-along, along)
    return room_for(compiled, comparison, plan.middle, plan.centres, widths, *slab)[1]


def widths_that_decide(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, place: int, target: float, widest: Floats
) -> Floats:
    """Half-widths of the averages, [terms], with which a quantity is likely to be decided.

    Where the first order tells, they are in proportion to the errors of one draw. Where it hardly
    moves the quantity, it is given half of the target, and they are at most the `widest`.
    """
    direction, errors = plan.directions[place], np.zeros(len(plan.middle))
    for column, spread in plan.spreads.items():
        errors[column] = spread.standard_error(1)
    first = direction.spread.standard_error(1)
    if first > target:
        return target / first * errors
    widths = np.where(widest < math.inf, widest, errors)
    for _ in range(MOST_HALVINGS):
        if reach_of(run, compiled, plan, place, widths, target / 2) <= target:
            break
        widths /= 2
    return widths


def rows_of(program: Program, draws: int) -> tuple[int, int]:
    """How many rows a tally of so many draws has, and the independent units of each.

    Blocks are joined in pairs while there are too many. The draws of a call are one unit.
    """
    block = program.block_draws
    while draws // block > MOST_ROWS:
        block *= 2
    return draws // block, block // program.unit_draws


def fewest_that(decides: Callable[[int], bool], fewest: int, most: int, share: float = 0.05) -> int:
    """About the fewest draws that decide, up to this share more; `most` where none do.

    >>> fewest_that(lambda draws: draws >= 1000, 64, 10**6) in range(1000, 1051)
    True
    """
    if decides(fewest):
        return fewest
    low = high = fewest
    while not decides(high):
        if high >= most:
            return most
        low, high = high, min(8 * high, most)
    while high > (1 + share) * low:
        between = round(math.sqrt(low * high))
        low, high = (low, between) if decides(between) else (between, high)
    return high


# ---- by the model, or by a pilot -----------------------------------------------------------------


def accepted(run: CaseRun, compiled: Compiled) -> bool:
    """Whether the limit theorem is enough for a verdict.

    Where a model bounds no moment of what is averaged, values that no draw shows may carry it, or
    it may have no mean at all, and no sample tells. So a user has to accept that. No model says
    anything of a user's own code, for which the limit theorem is all that there is.
    """
    return compiled.program.tests_code or run.asymptotic


def _by_pilot(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge | None
) -> Generator[Request, SpanSums, DrawPlan]:
    """The plan by a pilot, which is made longer at most `PILOT_STEPS` times."""
    most = run.most_draws(compiled.program)
    if knowledge is None and not accepted(run, compiled):
        most = min(most, UNCOUNTED)
    blocked = _in_blocks if knowledge is not None else _in_long_blocks
    program = blocked(compiled.program.fitted(most, FEWEST_BLOCKS), 0)
    few = max(1, min(program.span_draws, CENTRE_DRAWS))
    centres = program.centres(run.generator(PILOT, 0), few)
    tally = Tally(program, centres)
    blocks = LIMIT_PILOT_BLOCKS if knowledge is None else PILOT_BLOCKS
    wanted = blocks * program.block_draws
    for step in range(PILOT_STEPS + 1):
        yield from run.draw_until(tally, PILOT, min(wanted, most))
        run.refuse_if_nowhere_defined(tally)
        plan = _piloted(run, compiled, knowledge, tally, most)
        if tally.undefined:
            return plan
        plan = expecting(run, compiled, plan, targets_of(run, compiled, plan))
        wanted = min(PILOT_GROWTH * tally.draws, plan.expected // PILOT_SHARE, most // 16)
        enough = wanted < tally.draws + program.span_draws
        if program.whole or enough or step == PILOT_STEPS or run.out_of_time():
            break
    if knowledge is None:
        plan = _watched(run, compiled, plan)
    return replace(plan, program=blocked(plan.program, plan.expected))


@np.errstate(all="ignore")  # what is too large for float64 is infinite
def _piloted(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge | None, pilot: Tally, most: int
) -> DrawPlan:
    """The plan from a pilot: the spread that it shows, and the bounds that the model gives."""
    rows = pilot.sums / pilot.block_values
    middle = rows.mean(axis=0)

    def as_seen(weights: Floats) -> LimitSpread:
        return LimitSpread(guess=seen_variance(rows @ weights, pilot.block_units))

    columns = compiled.functional.columns(range(len(compiled.functional.operands)))
    directions = tuple(
        Direction(weights=weights, linear=linear, spread=as_seen(weights))
        for weights, linear in _lines(run, compiled, middle, pilot.centres)
    )
    plan = DrawPlan(
        program=compiled.program.fitted(most, FEWEST_BLOCKS),
        centres=pilot.centres,
        middle=middle,
        directions=directions,
        spreads={column: as_seen(_unit(len(middle), column)) for column in columns},
        guarantee=Guarantee.ASYMPTOTIC if knowledge is None else knowledge.guarantee,
        most=most,
        pilot=pilot,
    )
    targets = None if knowledge is None or pilot.undefined else targets_of(run, compiled, plan)
    return plan if knowledge is None else _bounded(run, compiled, plan, knowledge, targets)


def _bounded(
    run: CaseRun,
    compiled: Compiled,
    plan: DrawPlan,
    knowledge: Knowledge,
    targets: Targets | None,
) -> DrawPlan:
    """The plan with what the model bounds: deviations are cut off far out, draw by draw."""
    assert plan.pilot is not None
    bounds, clips = knowledge.bounds(plan.centres), list[Clip]()

    def bounded(weights: Floats, seen: Spread, target: float) -> ClippedSpread:
        assert isinstance(seen, LimitSpread)
        spread = bounds.spread(weights, float(plan.middle @ weights), seen.guess, target)
        used = np.flatnonzero(weights)
        clip = Clip(
            columns=tuple(used.tolist()),
            weights=tuple(weights[used].tolist()),
            centre=spread.centre,
            below=spread.below.far,
            above=spread.above.far,
        )
        clips.append(clip)
        return spread

    directions: list[Direction] = []
    widths = np.zeros(len(plan.middle))  # of the averages, that decide
    for place, direction in enumerate(plan.directions):
        error = direction.spread.standard_error(1)
        near = targets.widths[place] or targets.sharp[place] if targets else error
        if not direction.linear:
            own = widths_that_decide(run, compiled, plan, place, near, bounds.sizes(2.0))
            widths = np.maximum(widths, own)
        spread = bounded(direction.weights, direction.spread, near or error)
        directions.append(replace(direction, spread=spread))
    spreads: dict[int, Spread] = {}
    if not all(direction.linear for direction in directions):
        for column, seen in plan.spreads.items():
            spreads[column] = bounded(_unit(len(plan.middle), column), seen, widths[column])
    program = replace(plan.program, clips=tuple(clips))
    return replace(plan, program=program, directions=tuple(directions), spreads=spreads)


def _watched(run: CaseRun, compiled: Compiled, plan: DrawPlan) -> DrawPlan:
    """The plan with the draws that the limit theorem takes, as far as a pilot shows them."""
    assert plan.pilot is not None
    rows, alpha = plan.pilot.sums / plan.pilot.block_values, run.alpha * intervals.PLANNED
    lacks: list[Shortfall] = []
    for comparison, direction in zip(run.reading.comparisons, plan.directions, strict=True):
        values = theta_of(compiled, comparison, plan.centres)(rows.T)
        alike = bool(np.ptp(values) <= LOOK_ROUNDING * np.abs(values).max())
        columns = compiled.functional.columns(comparison.looked_at)
        weights, draws = direction.weights, plan.pilot.draws
        lacks.append(shortfall(rows, weights, columns, draws, alpha, alike=alike))
    rarest = draws_to_see(compiled)
    settles = min(max(one.settles for one in lacks), ENDLESS)
    blocks = FEWEST_BLOCKS * plan.pilot.program.block_draws
    fewest = max(plan.fewest, blocks, math.ceil(RARE_SIGHTINGS * rarest))
    expected = max(plan.expected, fewest, int(settles))
    return replace(plan, lacks=tuple(lacks), rarest=rarest, fewest=fewest, expected=expected)


def _exactly(
    run: CaseRun, compiled: Compiled, exact: ExactAverages, guarantee: Guarantee
) -> DrawPlan:
    """The plan where the model says the covariances of all that is averaged.

    Where draws may be crossed, the covariances also give the best length of a block, and say
    whether crossing saves draws at all.
    """
    most = run.most_draws(compiled.program)
    plain = compiled.program.fitted(most, FEWEST_BLOCKS)
    lines = _lines(run, compiled, exact.means, exact.centres)

    def known(program: Program) -> DrawPlan:
        directions = tuple(
            Direction(weights=weights, linear=linear, spread=exact.spread(weights, program))
            for weights, linear in lines
        )
        spreads = {
            column: exact.spread(_unit(len(exact.means), column), program) for column in exact.used
        }
        return DrawPlan(
            program=program,
            centres=exact.centres,
            middle=exact.means,
            exact_means=exact.means,
            directions=directions,
            spreads=spreads,
            guarantee=guarantee,
            most=most,
        )

    whole = known(_in_blocks(plain, 0))
    targets = targets_of(run, compiled, whole)
    each = run.reading.comparisons
    values = [value_at(compiled, one, exact.means, exact.centres) for one in each]
    if targets is None or not all(map(math.isfinite, values)):  # a share of 0 has no value
        few = min(whole.fewest, most)
        return replace(whole, endless=Reason.UNDEFINED_AT_AVERAGES, most=few)
    whole = expecting(run, compiled, whole, targets)
    choices = [replace(whole, program=_in_blocks(plain, min(whole.expected, most)))]
    if compiled.crossed is not None:  # in blocks of several lengths, each half the one before
        crossed = compiled.crossed.program.fitted(most, FEWEST_BLOCKS)
        lengths = [crossed.block_draws]
        while lengths[-1] >= 2 * SHORTEST_BATCH:
            lengths.append(lengths[-1] // 2)
        programs = map(crossed.in_blocks_of, lengths)
        choices += [expecting(run, compiled, known(one), targets) for one in programs]
    return min(choices, key=lambda plan: min(plan.expected, plan.most) * plan.program.cost)


def _in_blocks(program: Program, draws: int) -> Program:
    """The program in blocks, and in spans of them, whose lengths suit so many draws in all."""
    return program.in_blocks_of(max(SHORTEST_BLOCK, draws // PLANNED_BLOCKS), draws // 16)


def _in_long_blocks(program: Program, draws: int) -> Program:
    """The same for the limit theorem, whose blocks are long enough for the rarest known outcome."""
    return program.in_blocks(draws // PLANNED_BLOCKS)


def _unit(terms: int, column: int) -> Floats:
    weights = np.zeros(terms)
    weights[column] = 1.0
    return weights


@np.errstate(all="ignore")  # what is too large for float64 is infinite
def _lines(
    run: CaseRun, compiled: Compiled, means: Floats, centres: Floats
) -> list[tuple[Floats, bool]]:
    """The gradient of each comparison's quantity at some averages, and whether it is linear."""
    lines: list[tuple[Floats, bool]] = []
    for comparison in run.reading.comparisons:
        enclosed = enclosing(compiled, comparison, centres)(over(means, 1.0 + np.abs(means))).order
        remainder = 2 * float(enclosed.remainder.max())
        size = float(np.abs(enclosed.slopes).reshape(len(means)) @ enclosed.box)
        linear = remainder <= NO_REMAINDER * (size + float(np.abs(enclosed.value).max()))
        slopes = enclosed.slopes.reshape(len(means)) if linear else None
        if slopes is None:
            slopes = gradient(enclosing(compiled, comparison, centres), means)
        lines.append((slopes, linear))
    return lines


# ---- judged --------------------------------------------------------------------------------------


# An interval so many times as wide as the draws' own is wide because of values that they do not
# show.
UNSEEN = 2.0


def judge_averages(run: CaseRun, compiled: Compiled, knowledge: Knowledge | None) -> Judging:
    """Judge a function of averages; asks for spans of draws as it goes.

    Without knowledge, it is judged by the limit theorem.
    """
    conditions = 0 if knowledge is not None else len(conditions_of(compiled))
    if conditions > MOST_CONDITIONS:
        why = Reason.TOO_MANY_CONDITIONS.explain(conditions=conditions, most=MOST_CONDITIONS)
        return not_drawn(why)
    if knowledge is not None and knowledge.exact is not None:
        plan = _exactly(run, compiled, knowledge.exact, knowledge.guarantee)
    else:
        plan = yield from _by_pilot(run, compiled, knowledge)
    if plan.pilot is not None:
        broken = run.undefined(plan.pilot, Method.BLOCK_MEANS, plan.guarantee, PILOT)
        if broken is not None:
            return broken
    tally = Tally(plan.program, plan.centres)
    last: Judged | None = None

    def looked(alpha: float) -> Finding:
        nonlocal last
        decided = _deciding(compiled, plan, tally)
        last = judge_look(run, compiled, tally, alpha, decided, plan.exact_means)
        if last is None:
            return undefined_at_averages(compiled, tally, plan.guarantee)
        return shown(run, last, tally, plan.guarantee)

    planned = {"expected": plan.expected, "fewest": plan.fewest, "most": plan.most}
    finding = yield from until_decided(
        run, tally, looked, Method.BLOCK_MEANS, plan.guarantee, **planned
    )
    if last is None or tally.undefined:
        return finding
    if plan.endless is Reason.UNDEFINED_AT_AVERAGES:
        return undefined_at_averages(compiled, tally, plan.guarantee)
    if last.verdict is Verdict.UNDECIDED:
        needed = _more(run, compiled, plan, last, tally)
        hidden = _hidden(run, compiled, plan, last, tally)
        finding = shown(run, last, tally, plan.guarantee, needed)
        finding = replace(finding, explanation=hidden or finding.explanation)
    if run.confirms is not None or last.digits_lost or plan.guarantee is Guarantee.ASYMPTOTIC:
        return finding  # where digits are lost, the model's arithmetic may have lost them too
    if knowledge is None or knowledge.means is None:
        return finding
    exact, by_model = exact_quantity(compiled, knowledge, last.comparison), knowledge.means
    if exact is not None:
        operands, _ = compiled.functional.at_averages(by_model.means, by_model.centres)
        unit = unit_of(last.comparison, operands)  # and not that of the estimate
        exact = Exact(exact.value * unit, exact.error * unit)
    return replace(finding, exact=exact)


def _deciding(compiled: Compiled, plan: DrawPlan, tally: Tally) -> Decide:
    """The function that judges the comparisons of a look."""
    rows, by_limit = tally.sums / tally.block_values, plan.guarantee is Guarantee.ASYMPTOTIC
    clipped = tally.clipped if tally.program.clips else None

    @np.errstate(all="ignore")  # blocks and weights may be as large as float64 holds
    def sample(weights: Floats, clip: int) -> Sample:
        own = None if clipped is None else (float(clipped[clip, 0]), float(clipped[clip, 1]))
        return Sample(rows @ weights, tally.block_units, own)

    def decided(
        place: int,
        comparison: Comparison,
        alpha: float,
        widen: float,
        rounding: float,
        unit: float,
    ) -> tuple[Interval, Verdict]:
        direction = plan.directions[place]
        columns = compiled.functional.columns(comparison.looked_at)
        with np.errstate(all="ignore"):  # blocks and weights may be as large as float64 holds
            along = sample(direction.weights, place)
            seen = LimitSpread(guess=seen_variance(along.rows, along.units))
        as_seen = replace(direction, spread=seen)
        direction = as_seen if by_limit else direction
        theta = theta_of(compiled, comparison, plan.centres)
        box: dict[int, tuple[float, float]] = {}
        if not direction.linear:
            of_each = BOX_SHARE * alpha / len(columns)
            for column in columns:
                clip = len(plan.directions) + [*plan.spreads].index(column)
                own = sample(np.eye(rows.shape[1])[column], clip)
                box[column] = plan.spreads[column].interval(own, of_each)
        enclosed = enclosing(compiled, comparison, plan.centres)
        found = partial(interval_of, theta, enclosed, rows, along, box, alpha)
        interval = found(direction)
        alike = False
        if by_limit:
            every = theta(rows.T)
            alike = bool((np.abs(every - interval.estimate) <= rounding).all())
            if alike:
                at = interval.estimate
                interval = Interval(at, at, at, 0.0)
            weights, draws = direction.weights, tally.draws
            lacks = shortfall(rows, weights, columns, draws, alpha, rounding, alike=alike)
            before = plan.lacks[place]
            if lacks.unmet is None and tally.draws < before.settles:
                lacks = replace(before, unmet=before.unmet or Reason.HEAVY_SUM.explain())
            enough = RARE_SIGHTINGS * plan.rarest
            if lacks.unmet is None and tally.draws < enough:  # as the rarest known outcome asks
                unmet = Reason.RARE_OUTCOME_EXPECTED.explain(
                    expected=draws / plan.rarest, draws=draws, needed=RARE_SIGHTINGS
                )
                lacks = Shortfall(unmet, enough)
            interval = replace(interval, unmet=lacks.unmet, settles=lacks.settles)
            if lacks.unmet is not None:
                return interval, Verdict.UNDECIDED
        of_code, region = compiled.program.tests_code, comparison.region
        give = min(rounding, widen / 1000) if widen > 0 else rounding  # it may decide no claim
        verdict = decide(interval.low, interval.high, region, widen, give, of_code=of_code)
        if alike and verdict is not Verdict.UNDECIDED:
            return of_alike(interval, verdict, comparison, rows[:, columns], widen, give)
        if verdict is Verdict.VERIFIED and not by_limit:
            ordinary = found(as_seen)
            if misses(ordinary, region, rounding + ROUNDED_SHARE * widen * of_code):
                why = Reason.AGAINST_EVIDENCE.explain(
                    low=interval.low * unit,
                    high=interval.high * unit,
                    seen_low=ordinary.low * unit,
                    seen_high=ordinary.high * unit,
                )
                return replace(interval, unmet=why), Verdict.UNDECIDED
        return interval, verdict

    return decided


def misses(ordinary: Interval, allowed: Region, rounding: float) -> bool:
    """Whether draws speak against a claim that a guaranteed interval leaves room for.

    The guarantee holds for every law with the moments that the model bounds. Bounds far above the
    truth make it so wide that it verifies what no draw supports. So the ordinary interval of a
    large sample, at the same error rate, has to touch what the claim allows. A sample without a
    deviation has no such interval.

    >>> ordinary = Interval(estimate=100.005, low=99.99, high=100.02, standard_error=0.002)
    >>> misses(ordinary, Region(100.5, 100.5), 0.0), misses(ordinary, Region(low=100.0), 0.0)
    (True, False)
    """
    if not ordinary.standard_error > 0:
        return False
    return decide(ordinary.low, ordinary.high, allowed, 0.0, rounding) is Verdict.REFUTED


def interval_of(
    theta: Theta,
    enclosed: Enclosed,
    rows: Floats,
    sample: Sample,
    box: dict[int, tuple[float, float]],
    alpha: float,
    direction: Direction,
) -> Interval:
    """The interval of a quantity at confidence 1 − alpha.

    `box` has intervals of the single averages, by column, of a quantity that is not linear; they
    have used `BOX_SHARE` of the error. The `sample` is that of the combination along the direction.
    """
    means = rows.mean(axis=0)
    estimate = float(theta(means[:, np.newaxis])[0])
    error = direction.spread.standard_error(len(rows) * sample.units)
    if direction.linear:
        low, high = direction.spread.interval(sample, alpha)
        at = float(means @ direction.weights)
        return Interval(estimate, estimate + (low - at), estimate + (high - at), error)
    if not all(math.isfinite(end) for ends in box.values() for end in ends):
        return Interval(estimate, -math.inf, math.inf, error)
    middle, widths = means.copy(), np.zeros(len(means))
    for column, (low, high) in box.items():
        middle[column], widths[column] = (low + high) / 2, (high - low) / 2
    low, high = direction.spread.interval(sample, (1 - BOX_SHARE) * alpha)
    at = float(middle @ direction.weights)
    low, high = enclose(enclosed, middle, widths, direction.weights, (low - at, high - at))
    return Interval(estimate, low, high, error)


def _more(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, judged: Judged, tally: Tally
) -> float | None:
    """Draws that an undecided case is likely to need beyond those made; infinite where none do.

    Where the model says where the quantity lies, they are those of the plan.
    """
    if judged.unscaled:
        return None
    if judged.interval.unmet is not None:
        settles = judged.interval.settles
        if judged.interval.reason is Reason.HEAVY_SUM and settles > MOST_EXTRAPOLATED * tally.draws:
            return None  # nothing is known of what more draws would do
        return settles - tally.draws + tally.program.span_draws if settles else None
    place, now = judged.place, plan
    if plan.exact_means is None or plan.endless is not None:
        rows = tally.sums / tally.block_values
        now = replace(plan, middle=rows.mean(axis=0), pilot=tally)
    claimed = run.reading.comparisons[place]
    target, _ = target_of(compiled, now, place, claimed, judged.widen)
    return more_draws(draws_for(run, compiled, now, place, target), tally)


def _hidden(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, judged: Judged, tally: Tally
) -> Explanation | None:
    """The effect that unseen values may have on an undecided quantity; None where they have none.

    An interval of half-width h from n draws is that of a variance h² n / (2 log(2/α)) a draw. Where
    the draws show far less, values that none of them showed may carry the rest. These have a chance
    of at most log(1/α)/n, and so a size of at most the root of variance over chance. Truths are 0
    or 1, and hide nothing.
    """
    interval, direction = judged.interval, plan.directions[judged.place]
    if interval.unmet is not None or judged.unscaled or not math.isfinite(interval.half_width):
        return None
    if of_truths(compiled, judged.comparison) or tally.program.unit_draws > 1:
        return None
    draws, log = tally.draws, math.log(1 / run.alpha)
    rows = tally.sums / tally.block_values @ direction.weights
    usual = math.sqrt(2 * log * seen_variance(rows, tally.block_draws) / draws)
    if not interval.half_width > UNSEEN * usual:
        return None
    unit, measures, entry = judged.unit, judged.comparison.measures, judged.comparison.entry
    possible = run.prepared.hull(measures, entry)
    value, spread = interval.half_width * draws / log / math.sqrt(2), direction.spread
    if isinstance(spread, ClippedSpread) and not (spread.below.cut or spread.above.cut):
        value = min(value, spread.below.far + spread.above.far)  # nothing lies farther out
    return Reason.HIDDEN_VALUES.explain(
        value=value * unit,
        chance=log / draws,
        draws=draws,
        quantity=expression(run.prepared.statement, measures, entry),
        low=possible.nearest(interval.low * unit),
        high=possible.nearest(interval.high * unit),
    )
