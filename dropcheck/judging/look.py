"""One look at the averages so far: every comparison of the statement judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from dropcheck.inference import budget
from dropcheck.inference.comparison import Comparison, Reading
from dropcheck.inference.finite_sample import bernstein_quantile
from dropcheck.inference.interval import (
    Interval,
    Theta,
    draws_that_agree,
    estimate_interval,
    never_differed,
)
from dropcheck.inference.region import decide, reach, widening
from dropcheck.judging.case_run import CaseRun, Finding, Floats
from dropcheck.judging.unseen import (
    RARE_SHARE,
    alike,
    all_alike,
    allowing_for_rare,
    allowing_for_unseen,
    mean_within_bounds,
    once_expected,
)
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Method, Region, Verdict
from dropcheck.simulation import Compiled, Tally, means_of

# Differences below this share of the largest magnitude met are rounding.
ROUNDING = 1e-12

# More draws than any run can make: what is claimed lies where no interval can decide.
ENDLESS = 10**15
# Where a sample asks for so many times its own draws to settle, a few of them carry it: what shape
# a larger one has is not known, nor whether there is a mean at all.
MOST_EXTRAPOLATED = 32


def scale_of(reading: Reading, compiled: Compiled, means: Floats, centres: Floats) -> float:
    """The claim's scale: |R| where that is known, else the size of R, or of L where R is 0."""
    if reading.known_scale is not None:
        return reading.known_scale
    if not compiled.scaled:
        return max(
            abs(float(compiled.functional.operands[end].constant[..., 0])) for end in reading.ends
        )
    sizes = compiled.functional.sizes(means, centres)
    against = max(sizes[end] for end in reading.ends)
    return against if against > 0 else sizes[reading.side]


def settling(verdicts: Sequence[Verdict]) -> int:
    """Which comparison settles a statement: a refuted one, else an open one, else any."""
    order = (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.VERIFIED)
    return verdicts.index(min(verdicts, key=order.index))


def planned(
    draws: int, interval: Interval, region: Region, widen: float, alpha: float, tier: Guarantee
) -> int:
    """Draws after which the verdict is expected, from an interval so far."""
    if tier is Guarantee.FINITE_SAMPLE:
        quantile = bernstein_quantile(alpha)
    else:
        quantile = NormalDist().inv_cdf(1 - max(alpha / 2, 1e-15))
    if region.strict_end_within(interval.estimate, 2 * interval.standard_error):
        return ENDLESS  # on which side of it the quantity lies, these draws cannot tell
    target = reach(interval.estimate, 2 * interval.standard_error, region, widen)
    needed = budget.draws_needed(
        draws, interval.standard_error, interval.second_order, target, quantile
    )
    return int(min(max(needed, 1.0), ENDLESS))


def why_endless(interval: Interval, region: Region, widen: float) -> Reason:
    """Why no number of draws that a run can make would decide."""
    near = 2 * interval.standard_error
    edge = region.strict_end_within(interval.estimate, near)
    edge = edge or not reach(interval.estimate, near, region, widen)
    return Reason.AT_THE_EDGE if edge else Reason.TOO_FINE


def carried_by_few(interval: Interval, draws: int) -> bool:
    """Whether a few of so many draws carry an average: what more would do is then not known."""
    reason = None if interval.unmet is None else interval.unmet.reason
    if reason is Reason.TOO_SKEWED:
        return interval.settles > MOST_EXTRAPOLATED * draws
    return reason in (Reason.HEAVY_SUM, Reason.HEAVY_PART)


def more(
    verdict: Verdict,
    draws: int,
    interval: Interval,
    region: Region,
    widen: float,
    alpha: float,
    tier: Guarantee,
    span_draws: int,
) -> float | None:
    """Draws that an undecided case is likely to need beyond those made.

    None where that is unknown, infinity where no number of draws would do. With as many again as
    lie between one look and the next, and a span: budgets end before looks as often as not.
    """
    if verdict is not Verdict.INCONCLUSIVE or not math.isfinite(interval.half_width):
        return None
    if carried_by_few(interval, draws):
        return None
    needed = interval.settles if interval.settles > draws else 0.0
    if interval.low < interval.high:  # of draws that all agree more may agree too
        needed = max(needed, planned(draws, interval, region, widen, alpha * budget.PLANNED, tier))
        if needed >= ENDLESS:
            return math.inf
        needed = max(budget.GROWTH * needed, 1.5 * draws)
    return needed - draws + span_draws if needed else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The comparison that settles a statement at one look, and how it was judged.

    The interval and the region are in a unit of their own where a difference is looked at as a
    share: `unit` is what is shown for one of it.
    """

    verdict: Verdict
    interval: Interval
    comparison: Comparison
    widen: float
    unit: float
    scale: float
    sides: tuple[float, float] | None  # left and right, where both are estimated

    @property
    def region(self) -> Region:
        """Where the quantity is claimed to lie."""
        return self.comparison.region

    @property
    def decisive(self) -> Interval | None:
        """The interval, where it says anything at all."""
        return self.interval if math.isfinite(self.interval.half_width) else None


def judge_look(
    run: CaseRun,
    compiled: Compiled,
    tally: Tally,
    alpha: float,
    tier: Guarantee,
    doubt: Interval | None = None,
) -> Judged | None:
    """Judge every comparison of the statement; None where it is undefined.

    With few blocks a heavy tail may not show: a pilot in which it did is a `doubt` that stands
    until there are as many draws as it asks for.
    """
    reading = run.reading
    functional, centres = compiled.functional, tally.centres
    means = means_of(tally.sums, tally.values)
    operands, largest = functional.at_averages(means, centres)
    if not all(map(math.isfinite, operands)):
        return None
    scale = scale_of(reading, compiled, means, centres)
    if not math.isfinite(scale):
        return None
    sharpness = run.sharpness(scale)
    if len(reading.comparisons) > 1:  # between estimated ends: widened as any range is
        ends = [operands[end] for end in reading.ends]
        sharpness = min(sharpness, abs(ends[1] - ends[0]) / 20)
    share = alpha / len(reading.comparisons)
    judged: list[Judged] = []
    for comparison in reading.comparisons:

        def theta(points: Floats, comparison: Comparison = comparison) -> Floats:
            return comparison.quantity(functional.evaluate(points, centres, comparison.looked_at))

        if tier is Guarantee.FINITE_SAMPLE and compiled.mean is not None:
            interval = mean_within_bounds(compiled.mean, tally, share)
        else:
            interval = _by_limit(run, compiled, tally, theta, share, comparison)
            if doubt is not None and interval.unmet is None and tally.draws < doubt.settles:
                interval = replace(interval, unmet=doubt.unmet or Reason.TOO_SKEWED.explain())
        unit = 1.0  # a difference that is looked at as a share is shown as a difference
        if comparison.share and comparison.against is not None:
            unit = max(abs(operands[comparison.against]), 1e-300)
        widen = widening(comparison.region, sharpness / unit)
        rounding = ROUNDING * max(largest, scale) / unit
        if interval.unmet is not None and interval.half_width <= rounding:
            interval = _once_settled(interval, compiled, tally, share, comparison)
        if (
            compiled.mean is None
        ):  # last: a rare outcome that is not watched needs its draws, whatever the shape
            interval = once_expected(interval, tally)
        if widen > 0:
            rounding = min(rounding, widen / 1000)  # rounding may never decide a claim
        verdict = Verdict.INCONCLUSIVE
        if interval.unmet is None:
            verdict = decide(interval.low, interval.high, comparison.region, widen, rounding)
        if verdict is not Verdict.INCONCLUSIVE and interval.low == interval.high:
            unseen = RARE_SHARE * share / 2
            wider = all_alike(verdict, interval, compiled, tally, theta, unseen)
            # a claim that names the very value of every draw is verified; any other must follow
            edges = (comparison.region.low, comparison.region.high)
            said = any(abs(interval.estimate - end) <= rounding for end in edges)
            shown = verdict is Verdict.VERIFIED and said
            by_bounds = decide(wider.low, wider.high, comparison.region, widen, rounding)
            if wider.unmet is not None or (by_bounds is not verdict and not shown):
                verdict, interval = Verdict.INCONCLUSIVE, replace(wider, unmet=alike(interval))
        both = comparison.against is not None and len(operands) == 2
        judged.append(
            Judged(
                verdict=verdict,
                interval=interval,
                comparison=comparison,
                widen=widen,
                unit=unit,
                scale=scale,
                sides=(operands[0], operands[1]) if both else None,
            )
        )
    return judged[settling([one.verdict for one in judged])]


def shown(run: CaseRun, judged: Judged, tally: Tally, tier: Guarantee) -> Finding:
    """A look as the finding of a case, in the unit of the estimate."""
    interval, region, unit = judged.interval, judged.region, judged.unit
    needed = more(
        judged.verdict,
        tally.draws,
        interval,
        region,
        judged.widen,
        run.alpha,
        tier,
        tally.program.span_draws,
    )
    explanation = None
    if judged.verdict is Verdict.INCONCLUSIVE:
        endless = needed == math.inf
        wide = why_endless(interval, region, judged.widen) if endless else Reason.TOO_WIDE
        explanation = interval.unmet or wide.explain()
    return Finding(
        verdict=judged.verdict,
        method=method_of(tier),
        guarantee=tier,
        quantity=judged.comparison.measures,
        region=Region(region.low * unit, region.high * unit, region.low_open, region.high_open),
        estimate=interval.estimate * unit,
        interval=(interval.low * unit, interval.high * unit),
        standard_error=interval.standard_error * unit,
        sides=judged.sides,
        scale=judged.scale,
        sharpness=run.looked(judged.scale, judged.widen, unit),
        draws=tally.draws,
        blocks=len(tally.sums),
        seconds=tally.seconds,
        sampling=tally.program.sampling,
        explanation=explanation,
        more_draws=needed,
        warnings=run.ties(tally.program),
    )


def method_of(tier: Guarantee) -> Method:
    """How averages are judged: by an inequality for bounded means, or by the limit theorem."""
    return Method.BOUNDED_MEAN if tier is Guarantee.FINITE_SAMPLE else Method.BLOCK_MEANS


def _by_limit(
    run: CaseRun,
    compiled: Compiled,
    tally: Tally,
    theta: Theta,
    alpha: float,
    comparison: Comparison,
) -> Interval:
    """The limit theorem's interval, widened by what the sample hardly saw."""
    interval = estimate_interval(
        tally.sums,
        tally.block_values,
        theta,
        (1 - RARE_SHARE) * alpha,
        tally.draws,
        _columns(compiled, comparison),
    )
    rare = RARE_SHARE * alpha / 2
    mean = compiled.mean
    interval = allowing_for_rare(run, tally, theta, interval, rare, bounded=mean is not None)
    if mean is None:
        return interval
    if tally.program.paired and interval.standard_error > 0:
        return interval  # a sum of products: its bounds are far from all that it can do at once
    return allowing_for_unseen(mean, interval, tally.draws, rare)


def _columns(compiled: Compiled, comparison: Comparison) -> list[int] | None:
    """The averages that a comparison is made of; None where they are all that there are."""
    functional, looked_at = compiled.functional, comparison.looked_at
    estimated = sum(value.estimated for value in functional.operands)
    if compiled.scaled or compiled.mean is not None or estimated > len(looked_at):
        return functional.columns(looked_at)
    return None


def _once_settled(
    interval: Interval, compiled: Compiled, tally: Tally, alpha: float, comparison: Comparison
) -> Interval:
    """An interval as narrow as rounding: what shape its noise has says nothing of the quantity.

    Where every average that the quantity is made of varies by rounding alone, it is waited for as
    many draws as for a sample in which nothing varies at all.
    """
    averages = tally.sums / tally.block_values
    operands = comparison.looked_at
    if not compiled.functional.within_rounding(operands, averages, tally.centres, ROUNDING):
        return interval
    unmet = never_differed(tally.draws, alpha)
    return replace(interval, unmet=unmet, settles=draws_that_agree(alpha))


def why_undefined(compiled: Compiled, tally: Tally) -> Explanation:
    """What makes the quantity undefined at the averages themselves."""
    for leaf in compiled.functional.leaves.values():
        column = leaf.columns.get("g")
        if column is not None and tally.totals[column] == 0:
            return Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
    return Reason.UNDEFINED_AT_AVERAGES.explain()
