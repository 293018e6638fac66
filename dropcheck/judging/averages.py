"""Functions of averages, judged by what the model says of their moments.

Each average has an interval that holds for every law with the moments that the model bounds. The
quantity is enclosed over all averages that these intervals allow, to first order along the
direction in which it changes. Where the model says the covariances of what is averaged, the looks
are planned before any draw. Else a pilot shows the direction and the spread to be expected, and its
draws are not used again.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference.intervals import ClippedSpread, Interval, Sample, Theta, seen_variance
from dropcheck.inference.region import ROUNDED_SHARE, Comparison, decide, expression
from dropcheck.judging.case import CaseRun, Finding, Judging, Outlook, not_drawn
from dropcheck.judging.exact import exact_average
from dropcheck.judging.knowledge import Knowledge
from dropcheck.judging.limit_theorem import (
    MOST_CONDITIONS,
    MOST_EXTRAPOLATED,
    LimitSpread,
    Shortfall,
    conditions_of,
    of_alike,
    once_expected,
    shortfall,
)
from dropcheck.judging.look import (
    Decide,
    Judged,
    by_calls,
    judge_look,
    more_draws,
    shown,
    undefined_at_averages,
    until_decided,
)
from dropcheck.judging.plan_draws import (
    BOX_SHARE,
    Direction,
    DrawPlan,
    draws_for,
    plan_draws,
    target_of,
)
from dropcheck.judging.rounding import enclosing, of_truths, theta_of
from dropcheck.known.enclosure import Enclosed, enclose
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Exact, Guarantee, Method, Region, Verdict
from dropcheck.simulation import PILOT, Compiled, Tally

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
    plan = yield from plan_draws(run, compiled, knowledge)
    if plan.pilot is not None:
        broken = run.undefined(plan.pilot, Method.BLOCK_MEANS, plan.guarantee, PILOT)
        if broken is not None:
            return broken
    tally = Tally(plan.program, plan.centres)
    last: Judged | None = None

    def looked(alpha: float) -> Finding:
        nonlocal last
        decided = by_calls(_deciding(run, compiled, plan, tally), compiled, tally)
        last = judge_look(run, compiled, tally, alpha, decided, plan.exact_means)
        if last is None:
            return undefined_at_averages(compiled, tally, plan.guarantee)
        return shown(run, last, tally, plan.guarantee)

    outlook = Outlook(
        program=plan.program,
        guarantee=plan.guarantee,
        most=plan.most,
        fewest=plan.fewest,
        expected=plan.expected,
    )
    finding = yield from until_decided(run, outlook, Method.BLOCK_MEANS, tally, looked)
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
    exact = exact_average(run, last.comparison)
    if exact is not None:
        exact = Exact(exact.value * last.unit, exact.error * last.unit)
    return replace(finding, exact=exact)


def _deciding(run: CaseRun, compiled: Compiled, plan: DrawPlan, tally: Tally) -> Decide:
    """The function that judges the comparisons of a look; it is called once for each, in order."""
    rows, by_limit = tally.sums / tally.block_values, plan.guarantee is Guarantee.ASYMPTOTIC
    places = iter(range(len(run.reading.comparisons)))
    clipped = tally.clipped if tally.program.clips else None

    @np.errstate(all="ignore")  # blocks and weights may be as large as float64 holds
    def sample(weights: Floats, clip: int) -> Sample:
        own = None if clipped is None else (float(clipped[clip, 0]), float(clipped[clip, 1]))
        return Sample(rows @ weights, tally.block_units, own)

    def decided(
        comparison: Comparison, alpha: float, widen: float, rounding: float, unit: float
    ) -> tuple[Interval, Verdict]:
        place = next(places)
        direction, columns = (
            plan.directions[place],
            compiled.functional.columns(comparison.looked_at),
        )
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
                lacks = replace(before, unmet=before.unmet or Reason.TOO_SKEWED.explain())
            lacks = once_expected(lacks, tally.draws, plan.rarest)
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
                why = against_evidence(interval, ordinary, unit)
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


def against_evidence(guaranteed: Interval, ordinary: Interval, unit: float) -> Explanation:
    """The explanation that the draws speak against the claim, with both intervals."""
    return Reason.AGAINST_EVIDENCE.explain(
        low=guaranteed.low * unit,
        high=guaranteed.high * unit,
        seen_low=ordinary.low * unit,
        seen_high=ordinary.high * unit,
    )


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

    Args:
        theta: the quantity at averages.
        enclosed: the quantity at averages that are known to within half-widths.
        rows: averages of blocks, [blocks, terms].
        sample: of the combination of averages along which the quantity changes.
        box: intervals of the single averages, by column, of a quantity that is not linear. They
            have used `BOX_SHARE` of the error.
        alpha: the chance, in both tails together, with which the interval may miss.
        direction: that combination, and its spread.
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
        if _carried_by_few(Shortfall(judged.interval.unmet, settles), tally.draws):
            return None
        return settles - tally.draws + tally.program.span_draws if settles else None
    place, now = judged.place, plan
    if plan.exact_means is None or plan.endless is not None:
        rows = tally.sums / tally.block_values
        now = replace(plan, middle=rows.mean(axis=0), pilot=tally)
    claimed = run.reading.comparisons[place]
    target, _ = target_of(compiled, now, place, claimed, judged.widen)
    return more_draws(draws_for(run, compiled, now, place, target), tally)


def _carried_by_few(lacks: Shortfall, draws: int) -> bool:
    """Whether a few draws carry an average: then nothing is known of what more would do."""
    if lacks.unmet is None:
        return False
    heavy = lacks.unmet.reason in (Reason.HEAVY_SUM, Reason.HEAVY_PART)
    skewed = lacks.unmet.reason is Reason.TOO_SKEWED
    return heavy or (skewed and lacks.settles > MOST_EXTRAPOLATED * draws)


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
