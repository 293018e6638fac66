"""Functions of averages, judged by what the model says of their moments.

No limit theorem is needed. Each average has an interval that holds for every law with the moments
that the model bounds (Catoni 2012). The quantity is enclosed over all averages that these intervals
allow, to first order along the direction in which it changes. Where the model says the covariances
of what is averaged, the looks are planned before any draw. Else a pilot shows the direction and the
spread to be expected, and its draws are not used again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dropcheck.analysis.norms import raised
from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.intervals import Interval, NetSpread, Spread, Theta, seen_variance
from dropcheck.inference.region import ROUNDED_SHARE, Comparison, decide, expression
from dropcheck.judging.case import (
    CaseRun,
    Judging,
    Outlook,
    Planned,
    not_drawn,
    why_undefined,
)
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
    ENDLESS,
    Decide,
    Judged,
    by_calls,
    judge_look,
    shown,
    undefined_at_averages,
)
from dropcheck.judging.plan_draws import (
    BOX_SHARE,
    Direction,
    DrawPlan,
    accepted,
    draws_for,
    plan_draws,
    smallest_seen,
    target_of,
)
from dropcheck.judging.rounding import enclosing, theta_of
from dropcheck.known.enclosure import Enclosed, enclose
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Exact, Guarantee, Method, Region, Verdict
from dropcheck.simulation import MAIN, PILOT, Compiled, Tally

# An interval that stands for more than so many times the variance of the draws is wide because of
# values that they do not show.
UNSEEN = 4.0
# Where calls of code are the independent units: the share of the error for what no call showed.
# What at least a share f of calls does is missing in n calls with chance (1 - f)^n at most.
UNSEEN_SHARE = 0.1


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
    tally, judged = Tally(plan.program, plan.centres), None
    if run.planning:
        raise Planned(_outlook(run, compiled, plan, plan.pilot or tally))
    looks = run.looks(plan.program, expected=plan.expected, fewest=plan.fewest, most=plan.ends)
    for look in looks:
        yield from run.draw_until(tally, MAIN, look.draws)
        run.refuse_if_nowhere_defined(tally)
        broken = run.undefined(tally, Method.BLOCK_MEANS, plan.guarantee)
        if broken is not None:
            return broken
        decided_by = by_calls(_deciding(run, compiled, plan, tally), compiled, tally)
        judged = judge_look(run, compiled, tally, look.alpha, decided_by, plan.exact_means)
        decided = judged is not None and judged.over
        hopeless = (judged is None or judged.unscaled) and run.seems_never(tally.draws)
        if decided or hopeless or run.out_of_time():
            break
    if judged is None or plan.endless is Reason.UNDEFINED_AT_AVERAGES:
        return undefined_at_averages(compiled, tally, plan.guarantee)
    needed = _more(run, compiled, plan, judged, tally)
    finding = shown(run, judged, tally, plan.guarantee, needed)
    exact = None  # of numbers whose digits are lost the model's arithmetic may have lost them too
    if not judged.digits_lost and plan.guarantee is not Guarantee.ASYMPTOTIC:
        exact = exact_average(run, judged.comparison)
    if exact is not None:
        exact = Exact(exact.value * judged.unit, exact.error * judged.unit)
    hidden = _hidden(run, compiled, plan, judged, tally) or finding.explanation
    return replace(finding, exact=exact, explanation=hidden)


def _outlook(run: CaseRun, compiled: Compiled, plan: DrawPlan, tally: Tally) -> Outlook:
    smallest: Callable[[int, float], float | None] = partial(smallest_seen, run, compiled, plan)
    if any(_carried_by_few(one, tally.draws) for one in plan.lacks):
        smallest = lambda _draws, _alpha: None  # noqa: E731 - its spread is not known either
    left_open = None
    if plan.guarantee is Guarantee.ASYMPTOTIC and not accepted(run, compiled):
        left_open = Reason.LIMIT_THEOREM.explain(verdict="decided")
    return Outlook(
        program=plan.program,
        tally=tally,
        guarantee=plan.guarantee,
        most=plan.most,
        fewest=plan.fewest,
        expected=plan.expected if plan.endless is None else ENDLESS,
        scale=plan.scale,
        smallest=smallest,
        endless=plan.endless or Reason.AT_THE_EDGE,
        ends=plan.ends,
        unknown=partial(why_undefined, compiled, tally) if plan.scale is None else None,
        doubt=next((one.unmet for one in plan.lacks if one.unmet is not None), None),
        left_open=left_open,
    )


def _deciding(run: CaseRun, compiled: Compiled, plan: DrawPlan, tally: Tally) -> Decide:
    """The function that judges the comparisons of a look; it is called once for each, in order."""
    rows, by_limit = tally.sums / tally.block_values, plan.guarantee is Guarantee.ASYMPTOTIC
    places = iter(range(len(run.reading.comparisons)))

    def decided(
        comparison: Comparison, alpha: float, widen: float, rounding: float, unit: float
    ) -> tuple[Interval, Verdict]:
        place = next(places)
        direction = plan.directions[place]
        with np.errstate(all="ignore"):  # blocks and weights may be as large as float64 holds
            seen = seen_variance(rows @ direction.weights, tally.block_units)
        as_seen = replace(direction, spread=LimitSpread(guess=seen))
        direction = as_seen if by_limit else direction
        clipped = tally.clipped[place] if tally.program.clips else None
        columns = compiled.functional.columns(comparison.looked_at)
        theta = theta_of(compiled, comparison, plan.centres)
        found = partial(
            interval_of,
            theta,
            enclosing(compiled, comparison, plan.centres),
            rows,
            tally.block_units,
            plan=plan,
            columns=columns,
        )
        spare = UNSEEN_SHARE * alpha if plan.unseen else 0.0
        interval = found(direction=direction, alpha=alpha - spare, clipped=clipped)
        room = plan.unseen[place](min(1.0, -math.log(spare) / tally.units)) if spare else 0.0
        interval = replace(interval, low=interval.low - room, high=interval.high + room)
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
            ordinary = found(direction=as_seen, alpha=alpha)
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
    block_units: int,
    direction: Direction,
    plan: DrawPlan,
    columns: Sequence[int],
    alpha: float,
    clipped: Floats | None = None,
) -> Interval:
    """The interval of a quantity at confidence 1 − alpha.

    Args:
        theta: the quantity at averages.
        enclosed: the quantity at averages that are known to within half-widths.
        rows: averages of blocks, [blocks, terms].
        block_units: the independent draws, or nets, of each block.
        direction: the combination of averages along which the quantity changes.
        plan: what is known of the case.
        columns: the averages that the quantity is made of.
        alpha: the chance, in both tails together, with which the interval may miss.
        clipped: for nets, the averages of their deviations along the direction, and of the squares
            of these, cut off as the direction's spread says.
    """
    means = rows.mean(axis=0)
    estimate = float(theta(means[:, np.newaxis])[0])
    error = direction.spread.standard_error(len(rows) * block_units)
    if direction.linear:
        along = _along(direction, rows, block_units, alpha, clipped)
        at = float(means @ direction.weights)
        low, high = estimate + (along[0] - at), estimate + (along[1] - at)
        return Interval(estimate, low, high, error)
    box = BOX_SHARE * alpha / len(columns)
    middle, widths = means.copy(), np.zeros(len(means))
    for column in columns:
        low, high = plan.spreads[column].interval(rows[:, column], block_units, box)
        if not (math.isfinite(low) and math.isfinite(high)):
            return Interval(estimate, -math.inf, math.inf, error)
        middle[column], widths[column] = (low + high) / 2, (high - low) / 2
    own = (1 - BOX_SHARE) * alpha
    along = _along(direction, rows, block_units, own, clipped)
    at = float(middle @ direction.weights)
    ends = (along[0] - at, along[1] - at)
    low, high = enclose(enclosed, middle, widths, direction.weights, ends)
    return Interval(estimate, low, high, error)


def _along(
    direction: Direction, rows: Floats, block_units: int, alpha: float, clipped: Floats | None
) -> tuple[float, float]:
    """An interval for the combination of the averages along a direction."""
    if isinstance(direction.spread, NetSpread):
        assert clipped is not None
        mean, mean_square = map(float, clipped)
        return direction.spread.interval(mean, mean_square, len(rows) * block_units, alpha)
    return direction.spread.interval(rows @ direction.weights, block_units, alpha)


def _more(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, judged: Judged, tally: Tally
) -> float | None:
    """Draws that an undecided case is likely to need beyond those made; infinite where none do.

    Where the model says where the quantity lies, they are those of the plan.
    """
    if judged.verdict is not Verdict.UNDECIDED or judged.unscaled:
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
    needed = draws_for(run, compiled, now, place, target)
    if needed >= ENDLESS:
        return math.inf
    more = max(budget.GROWTH * needed, 1.5 * tally.draws)
    return more - tally.draws + tally.program.span_draws


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
    of at most log(1/α)/n, and so a size of at most the root of variance over chance, or the width
    of what bounds them. Truths are 0 or 1, and hide nothing.
    """
    interval, draws = judged.interval, tally.draws
    if judged.verdict is not Verdict.UNDECIDED or not math.isfinite(interval.half_width):
        return None
    if interval.unmet is not None or judged.unscaled:
        return None
    direction = plan.directions[judged.place]
    if _of_truths(compiled, judged) or not isinstance(direction.spread, Spread):
        return None
    rows = tally.sums / tally.block_values @ direction.weights
    seen = seen_variance(rows, tally.block_draws)
    implied = raised(interval.half_width, 2.0) * draws / (2 * math.log(2 / run.alpha))
    if not implied > UNSEEN * seen:
        return None
    chance = math.log(1 / run.alpha) / draws
    unit, measures, entry = judged.unit, judged.comparison.measures, judged.comparison.entry
    possible = run.prepared.hull(measures, entry)
    return Reason.HIDDEN_VALUES.explain(
        value=min(math.sqrt(implied / chance), direction.spread.width) * unit,
        chance=chance,
        draws=draws,
        quantity=expression(run.prepared.statement, measures, entry),
        low=possible.nearest(interval.low * unit),
        high=possible.nearest(interval.high * unit),
    )


def _of_truths(compiled: Compiled, judged: Judged) -> bool:
    """Whether all that is averaged is 1 or 0: then there are no values that draws may not show."""
    columns = compiled.functional.columns(judged.comparison.looked_at)
    factors = (one for column in columns for one in compiled.program.terms[column].factors)
    return all(compiled.values[register].binary for register, _ in factors)
