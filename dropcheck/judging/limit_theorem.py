"""Averages of which the model bounds no moments: block means and the limit theorem.

Values that no draw showed may carry an average, and no theorem rules that out. Two things can be
known all the same. The model may give the chance of rare outcomes, which are then waited for. And
where all draws agree on a quantity, it can be asked whether other averages would change it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dropcheck.analysis.exact import Integrand, exact_means
from dropcheck.array_types import Floats, Truths
from dropcheck.inference import budget
from dropcheck.inference.intervals import (
    FEWEST_BLOCKS,
    Interval,
    NetSpread,
    Reach,
    Theta,
    draws_that_agree,
    estimate_interval,
    never_differed,
    student_quantile,
)
from dropcheck.inference.region import Comparison, decide, of_average, region_floor
from dropcheck.judging.case import (
    FEWEST_DRAWS,
    CaseRun,
    Judging,
    Outlook,
    Planned,
    not_drawn,
    why_undefined,
)
from dropcheck.judging.look import (
    ENDLESS,
    Decide,
    Judged,
    by_calls,
    judge_look,
    more,
    planned,
    shown,
    undefined_at_averages,
    why_endless,
)
from dropcheck.judging.plan_draws import CENTRE_DRAWS, PILOT_BLOCKS, PILOT_GROWTH, PILOT_STEPS
from dropcheck.judging.rounding import LOOK_ROUNDING, enclosing, own_averages, theta_of
from dropcheck.known.enclosure import Enclosed, enclose, gradient
from dropcheck.language.graph import Kind, Value, operators, ordered
from dropcheck.reasons import Reason
from dropcheck.results import Guarantee, Method, Verdict
from dropcheck.simulation import MAIN, MOST_ROWS, PILOT, Compiled, Program, Request, SpanSums, Tally

# ---- as seen -------------------------------------------------------------------------------------
#
# An interval for averages of code that are too skewed for the limit theorem.
#
# No bound is known of the numbers that code gives, and a sample says nothing of values that it does
# not show: every verdict on their average supposes something of such values. The limit theorem
# supposes that they hardly matter. Here it is supposed that the tail of a block's mean falls at
# least as fast as x^(-3/2) beyond b, a multiple of the farthest distance of a pilot's block from
# their middle. Then
#
#     E(|D| - b)₊ = ∫ P(|D| > x) dx over x > b ≤ 2b P(|D| > b),
#
# and of n later blocks, none of which is beyond b, P(|D| > b) ≤ log(1/α)/n. With deviations cut off
# at b, the interval of `inference.spread` holds for every law, however skewed.


# Share of the error that such an interval has: it enters through a logarithm.
SHARE = 0.1
# b over the farthest distance in the pilot. With tails that fall as x^(-3/2), one mean in a
# thousand is farther out than so many times what 128 blocks show.
TIMES = 4.0


def as_seen(
    estimate: Interval,
    enclosed: Enclosed,
    columns: Sequence[int],
    tally: Tally,
    pilot: Tally,
    alpha: float,
) -> Interval | None:
    """The interval of a quantity at confidence 1 - alpha; None where a block is too far out.

    Args:
        estimate: the quantity at the averages, with a standard error.
        enclosed: the quantity of averages that are known to within half-widths.
        columns: the averages that it is made of.
        tally: the sums, whose blocks are no shorter than the pilot's.
        pilot: sums of other draws.
        alpha: the chance, in both tails together, with which the interval may miss.
    """
    rows, before = tally.sums / tally.block_values, pilot.sums / pilot.block_values
    middle = rows.mean(axis=0)
    widths = np.zeros(len(middle))
    each = alpha / (2 * len(columns))
    for column in columns:
        interval = _of_average(rows[:, column], before[:, column], each)
        if interval is None:
            return None
        middle[column], widths[column] = sum(interval) / 2, (interval[1] - interval[0]) / 2
    slopes = gradient(enclosed, middle)
    along = float(np.abs(slopes) @ widths)
    low, high = enclose(enclosed, middle, widths, slopes, (-along, along))
    return Interval(estimate.estimate, low, high, estimate.standard_error)


def _of_average(rows: Floats, before: Floats, alpha: float) -> tuple[float, float] | None:
    """The interval of one average, which misses with chance 2 alpha; None where it has none."""
    centre = float(before.mean())
    far = TIMES * float(np.abs(before - centre).max())
    deviations = rows - centre
    if not (0 < far < math.inf and np.abs(deviations).max() <= far):
        return (centre, centre) if not far and not deviations.any() else None
    reach = Reach(far=far, cut=2 * far * math.log(1 / alpha) / len(rows))
    guess = float(np.mean((before - centre) ** 2))
    spread = NetSpread(centre=centre, below=reach, above=reach, guess=guess)
    mean, mean_square = float(deviations.mean()), float(np.mean(deviations * deviations))
    return spread.interval(mean, mean_square, len(rows), alpha)


# ---- limit theorem -------------------------------------------------------------------------------


# Blocks at the planned look: the earliest look, at a sixteenth of its draws, then has the fewest.
PLANNED_BLOCKS = 16 * FEWEST_BLOCKS
# Where a pilot leaves open how far the quantity is from the end of a range, it is made longer: by
# PILOT_GROWTH, at most PILOT_STEPS times. It ends when the draws planned one standard error nearer
# and farther differ by at most PLAN_SPREAD, or when it has 1/PILOT_SHARE of the larger of them.
PLAN_SPREAD = 3.0
PILOT_SHARE = 16
# A value that is the same in all draws refutes only claims that are off by more than this share of
# it: the default resolution at which it is verified.
CLEARLY_OFF = 0.01
# The most draws of a case whose verdict would not be accepted: it shows an estimate, and no more.
UNCOUNTED = 2**22
# Where a sample would need more than so many times its own draws to settle, a few draws carry it:
# the shape of a larger one is not known, nor whether there is a mean at all.
MOST_EXTRAPOLATED = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotOutcome:
    """The plan that follows from a pilot.

    A verdict is expected after `expected` draws; no look comes before `fewest` draws unless the
    budget, `most`, is smaller.
    """

    program: Program
    most: int
    tally: Tally  # of the pilot's draws, about the centres that the looks have too
    fewest: int
    expected: int
    rarest: float  # draws in which the rarest known outcome is expected once
    judged: Judged | None = None  # by the pilot; None where it is undefined

    @property
    def doubt(self) -> Interval | None:
        """The pilot's own interval, with the draws that its shape needs to settle."""
        return None if self.judged is None else self.judged.interval


def accepted(run: CaseRun, compiled: Compiled) -> bool:
    """Whether the limit theorem is enough for a verdict.

    Where a model bounds no moment of what is averaged, values that no draw shows may carry it, or
    it may have no mean at all, and no sample tells. So a user has to accept that. No model says
    anything of a user's own code, for which the limit theorem is all that there is.
    """
    return compiled.program.tests_code or run.asymptotic


def by_limit_theorem(
    run: CaseRun, compiled: Compiled, unseen: Sequence[Callable[[float], float]] = ()
) -> Judging:
    """Judge a function of averages by the limit theorem and the delta method.

    `unseen` has for each comparison a bound of how far a share of the calls of code can move it,
    where calls are the independent units.
    """
    conditions = len(conditions_of(compiled.functional.operands))
    if conditions > MOST_CONDITIONS:
        why = Reason.TOO_MANY_CONDITIONS.explain(conditions=conditions, most=MOST_CONDITIONS)
        return not_drawn(why)
    pilot = yield from piloted(run, compiled)
    if run.planning:
        raise Planned(_outlook(run, compiled, pilot))
    program = pilot.program
    tally = Tally(program, pilot.tally.centres)
    judged = None
    looks = run.looks(program, expected=pilot.expected, fewest=pilot.fewest, most=pilot.most)
    for look in looks:
        yield from run.draw_until(tally, MAIN, look.draws)
        broken = run.undefined(tally, Method.BLOCK_MEANS, Guarantee.ASYMPTOTIC)
        if broken is not None:
            return broken
        decided = deciding(compiled, tally, pilot.rarest, pilot.doubt, pilot.tally)
        if unseen:
            decided = _with_unseen_calls(decided, run, tally, unseen)
        decided = by_calls(decided, compiled, tally)
        judged = judge_look(run, compiled, tally, look.alpha, decided)
        over = judged is not None and judged.over
        hopeless = judged is None and run.seems_never(tally.draws)
        if over or hopeless or run.out_of_time():
            break
    if judged is None:
        return undefined_at_averages(compiled, tally, Guarantee.ASYMPTOTIC)
    needed = (
        None
        if carried_by_few(judged.interval, tally.draws)
        else more(
            judged.verdict,
            tally.draws,
            judged.interval,
            judged.region,
            judged.widen,
            run.alpha,
            program.span_draws,
        )
    )
    return shown(run, judged, tally, Guarantee.ASYMPTOTIC, needed)


def _outlook(run: CaseRun, compiled: Compiled, pilot: PilotOutcome) -> Outlook:
    judged, tally = pilot.judged, pilot.tally
    outlook = Outlook(
        program=pilot.program,
        tally=tally,
        guarantee=Guarantee.ASYMPTOTIC,
        most=pilot.most,
        fewest=pilot.fewest,
        expected=pilot.expected,
        scale=None,
        smallest=lambda _draws, _alpha: None,
    )
    if judged is None:
        return replace(outlook, unknown=partial(why_undefined, compiled, tally))
    why = None if accepted(run, compiled) else Reason.LIMIT_THEOREM.explain(verdict="decided")
    endless = why_endless(judged.interval, judged.region, judged.widen)
    outlook = replace(outlook, scale=judged.scale, endless=endless, left_open=why)
    # other conditions hold after a known number of draws, which is planned
    if judged.decisive is None or carried_by_few(judged.interval, tally.draws):
        return replace(outlook, doubt=judged.interval.unmet)
    error, second_order = judged.interval.standard_error, judged.interval.second_order
    floor = region_floor(judged.region, judged.widen)

    def smallest(draws: int, alpha: float) -> float | None:
        blocks = draws // pilot.program.block_draws
        if blocks < FEWEST_BLOCKS:
            return None
        share = alpha / len(run.reading.comparisons)
        quantile = student_quantile(share, min(blocks, MOST_ROWS // 2))
        seen = of_average(error, second_order, quantile, run.alpha, draws / tally.draws)
        return max(seen, floor) * judged.unit

    return replace(outlook, smallest=smallest)


def piloted(run: CaseRun, compiled: Compiled) -> Generator[Request, SpanSums, PilotOutcome]:
    """Draw a pilot, used for nothing but to plan the looks."""
    most = run.most_draws(compiled.program)
    most = most if accepted(run, compiled) else min(most, UNCOUNTED)
    whole = compiled.program.fitted(most, FEWEST_BLOCKS)
    program = whole.in_blocks(1)
    centres = run.centres(program, max(1, min(program.span_draws, CENTRE_DRAWS)))
    tally = Tally(program, centres)
    rarest = draws_to_see(program, conditions_of(compiled.functional.operands))
    rare = math.ceil(RARE_SIGHTINGS * rarest)
    fewest = max(FEWEST_DRAWS, FEWEST_BLOCKS * program.block_draws, rare)
    pilot = PilotOutcome(
        program=whole, most=most, tally=tally, fewest=fewest, expected=fewest, rarest=rarest
    )
    wanted = PILOT_BLOCKS * program.block_draws
    for step in range(PILOT_STEPS + 1):
        yield from run.draw_until(tally, PILOT, min(wanted, most))
        run.refuse_if_nowhere_defined(tally)
        if tally.undefined:
            return replace(pilot, program=whole.in_blocks(fewest // PLANNED_BLOCKS))
        decided = deciding(compiled, tally, rarest)
        alpha = run.alpha * budget.PLANNED
        judged = judge_look(run, compiled, tally, alpha, decided, planning=True)
        around = _around(run, judged, tally, fewest)
        wanted = min(PILOT_GROWTH * tally.draws, max(around) // PILOT_SHARE, most // PILOT_SHARE)
        # one standard error either way leaves the plan nearly as it is
        clear = max(around) < ENDLESS and max(around) <= PLAN_SPREAD * min(around)
        enough = clear or wanted < tally.draws + program.span_draws
        if enough or step == PILOT_STEPS or run.out_of_time():
            break
    pilot = replace(pilot, judged=judged)
    settled = 0 if pilot.doubt is None else int(min(pilot.doubt.settles, ENDLESS))
    expected = max(around[1], fewest, settled)
    program = whole.in_blocks(expected // PLANNED_BLOCKS)
    return replace(pilot, program=program, expected=expected)


def deciding(
    compiled: Compiled,
    tally: Tally,
    rarest: float,
    doubt: Interval | None = None,
    pilot: Tally | None = None,
) -> Decide:
    """How one comparison is judged by the averages so far.

    With few blocks a heavy tail may not show. If it did in a pilot, that is a `doubt` which stands
    until there are as many draws as it needs. Averages of code that are too skewed may be judged by
    the farthest blocks of the `pilot`.
    """
    of_code = compiled.program.tests_code
    spare = SHARE if of_code and pilot is not None else 0.0

    def decided(
        comparison: Comparison, alpha: float, widen: float, rounding: float
    ) -> tuple[Interval, Verdict]:
        theta = theta_of(compiled, comparison, tally.centres)
        own = own_averages(compiled, comparison, tally, theta)
        interval = estimate_interval(
            own.sums,
            tally.block_values,
            own.theta,
            (1 - spare) * alpha,
            tally.draws,
            own.columns,
        )
        if doubt is not None and interval.unmet is None and tally.draws < doubt.settles:
            interval = replace(interval, unmet=doubt.unmet or Reason.TOO_SKEWED.explain())
        if interval.unmet is not None and interval.half_width <= rounding:
            interval = _once_settled(interval, compiled, tally, alpha, comparison)
        too_skewed = interval.reason is Reason.TOO_SKEWED
        if pilot is not None and spare and too_skewed:
            enclosed = enclosing(compiled, comparison, tally.centres)
            columns = compiled.functional.columns(comparison.looked_at)
            seen = as_seen(interval, enclosed, columns, tally, pilot, spare * alpha)
            if seen is not None:
                region = comparison.region
                verdict = decide(seen.low, seen.high, region, widen, 0.0, of_code=of_code)
                interval = interval if verdict is Verdict.UNDECIDED else seen
        # last: a rare outcome needs its draws, whatever the shape of the sample
        interval = once_expected(interval, tally.draws, rarest)
        if widen > 0:
            rounding = min(rounding, widen / 1000)  # rounding may never decide a claim
        if interval.unmet is not None:
            return interval, Verdict.UNDECIDED
        region = comparison.region
        verdict = decide(interval.low, interval.high, region, widen, rounding, of_code=of_code)
        if verdict is Verdict.UNDECIDED or interval.high - interval.low > rounding:
            return interval, verdict
        # the quantity does not vary. The draws show nothing of averages that never varied: it must
        # not depend on them. What is too rare to be seen may make a small difference, by which
        # nothing is refuted
        unseen = (tally.sums == tally.sums[0]).all(axis=0)
        if verdict is Verdict.REFUTED:
            near = max(widen, CLEARLY_OFF * abs(interval.estimate))
            ends = interval.low - near, interval.high + near
            if decide(*ends, region, 0.0, rounding) is not Verdict.REFUTED:
                unseen = np.ones_like(unseen)
        if unseen.any() and moves(theta, tally.sums.sum(axis=0) / tally.values, unseen):
            unmet = Reason.ALL_ALIKE.explain(value=interval.estimate)
            return replace(interval, unmet=unmet), Verdict.UNDECIDED
        return interval, verdict

    return decided


def _with_unseen_calls(
    decided: Decide, run: CaseRun, tally: Tally, unseen: Sequence[Callable[[float], float]]
) -> Decide:
    """The same judgement, with room for what no call showed.

    What at least a share f of calls does is missing in n calls with chance (1 - f)^n at most. What
    a smaller share does moves the quantity by at most `unseen` of f.
    """

    def wider(
        comparison: Comparison, alpha: float, widen: float, rounding: float
    ) -> tuple[Interval, Verdict]:
        interval, verdict = decided(comparison, (1 - SHARE) * alpha, widen, rounding)
        places = [one.looked_at for one in run.reading.comparisons]
        place = places.index(comparison.looked_at)
        room = unseen[place](min(1.0, -math.log(SHARE * alpha) / tally.units))
        if interval.unmet is None and verdict is not Verdict.UNDECIDED:
            interval = replace(interval, low=interval.low - room, high=interval.high + room)
            of_code = tally.program.tests_code
            region = comparison.region
            verdict = decide(interval.low, interval.high, region, widen, 0.0, of_code=of_code)
        return interval, verdict

    return wider


def _once_settled(
    interval: Interval, compiled: Compiled, tally: Tally, alpha: float, comparison: Comparison
) -> Interval:
    """An interval as narrow as rounding, which does not depend on the shape of its noise.

    Where every average that the quantity is made of varies by rounding alone, it needs as many
    draws as a sample in which nothing varies at all.
    """
    averages = tally.sums / tally.block_values
    operands = comparison.looked_at
    if not compiled.functional.within_rounding(operands, averages, tally.centres, LOOK_ROUNDING):
        return interval
    unmet = never_differed(tally.draws, alpha)
    return replace(interval, unmet=unmet, settles=draws_that_agree(alpha))


def carried_by_few(interval: Interval, draws: int) -> bool:
    """Whether a few of the draws carry an average: then nothing is known of what more would do."""
    if interval.reason is Reason.TOO_SKEWED:
        return interval.settles > MOST_EXTRAPOLATED * draws
    return interval.reason in (Reason.HEAVY_SUM, Reason.HEAVY_PART)


def _around(run: CaseRun, judged: Judged | None, pilot: Tally, fewest: int) -> list[int]:
    """Draws to a verdict if the estimate were one standard error lower, as it is, and higher."""
    if judged is None or judged.decisive is None:
        return [fewest] * 3
    interval, region = judged.decisive, judged.region

    def draws(shift: float) -> int:
        moved = replace(interval, estimate=interval.estimate + shift) if shift else interval
        return planned(pilot.draws, moved, region, judged.widen, run.alpha * budget.PLANNED)

    if region.point:  # the number does not matter: the plan is the same
        return [draws(0.0)] * 3
    return [draws(shift * interval.standard_error) for shift in (-1, 0, 1)]


# ---- what a sample may not show ------------------------------------------------------------------


# An outcome that is seen so often shows in the sample's own spread and skewness.
RARE_SIGHTINGS = 64
# Conditions whose chances are worked out: more take too long.
MOST_CONDITIONS = 512
# A chance below this is no more than the rounding of the numbers that it is computed from.
IMPOSSIBLE = 1e-12
# How far averages are moved to see whether a quantity changes, in multiples of their size.
MOVES = (1e-3, 1.0, 1e3, 1e6, 1e12, 1e24, 1e48, 1e96)


def conditions_of(operands: Sequence[Value]) -> list[Value]:
    """The conditions, such as `u < 1e-6`, that the quantities of a statement are made with."""
    quantities = [below for one in operators(operands) for below in one.inputs]
    return [
        value
        for value in ordered(quantities)
        if value.random
        and value.kind == Kind.COMPUTED
        and (value.binary or value.function.indicator)
    ]


def draws_to_see(program: Program, conditions: Sequence[Value]) -> float:
    """Draws in which the rarest outcome with a known chance is expected once.

    Such outcomes are those of conditions, and values that a law declares to be rare.
    """
    rarest = program.rarest
    for condition in conditions:
        known = exact_means([Integrand(factors=((condition, 1),))])
        if known is not None:
            chance, error = float(known[0][0]), float(known[1][0])
            chance = min(chance, 1 - chance)
            if chance > max(error, IMPOSSIBLE):
                rarest = max(rarest, 1 / chance)
    return rarest


def once_expected(interval: Interval, draws: int, rarest: float) -> Interval:
    """The interval; it must not decide before the rarest known outcome is expected often enough."""
    if interval.unmet is not None or not rarest or draws >= RARE_SIGHTINGS * rarest:
        return interval
    unmet = Reason.RARE_OUTCOME_EXPECTED.explain(
        expected=draws / rarest, draws=draws, needed=RARE_SIGHTINGS
    )
    return replace(interval, unmet=unmet, settles=RARE_SIGHTINGS * rarest)


def moves(theta: Theta, means: Floats, which: Truths) -> bool:
    """Whether a quantity changes where some averages are moved, each by an amount of its own.

    They are moved in both directions, by little and by much, because of plateaus: floor(E(x)),
    minimum(E(x), 0). Points where the quantity is undefined are skipped. Each point is evaluated
    alone: a quotient is undefined at all points of a call that lie on both sides of its pole.
    """
    own = (1 + np.abs(means)) * (1.5 + np.sin(1 + np.arange(len(means)))) * which
    points = [means, *(means + sign * size * own for size in MOVES for sign in (1, -1))]
    here, *there = (float(theta(point[:, np.newaxis])[0]) for point in points)
    return any(
        math.isfinite(value) and abs(value - here) > 1e-12 * max(1.0, abs(here)) for value in there
    )
