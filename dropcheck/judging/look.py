"""One look at the averages so far: every comparison of the statement judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dropcheck.inference.comparison import Comparison
from dropcheck.inference.interval import (
    Interval,
    Theta,
    draws_that_agree,
    estimate_interval,
    never_differed,
)
from dropcheck.inference.region import decide, widening
from dropcheck.judging.bounded_means import allowing_for_unseen, mean_within_bounds
from dropcheck.judging.rare import RARE_SHARE, RARE_SIGHTINGS, allowing_for_rare
from dropcheck.judging.statement import ROUNDING, more, scale_of, settling, why_endless
from dropcheck.judging.trial import Finding, Floats, Trial
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Method, Region, Verdict
from dropcheck.simulation import Compiled, Tally, bounded_leaves, means_of

# How far averages are moved to see whether a quantity follows, in sizes of their own.
MOVES = (1e-3, 1.0, 1e3, 1e6, 1e12, 1e24, 1e48, 1e96)


@dataclass(frozen=True, slots=True)
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


def judged_at(
    trial: Trial,
    compiled: Compiled,
    tally: Tally,
    centres: Floats,
    alpha: float,
    tier: Guarantee,
    doubt: Interval | None = None,
) -> Judged | None:
    """Judge every comparison of the statement; None where it is undefined.

    With few blocks a heavy tail may not show: a pilot in which it did is a `doubt` that stands
    until there are as many draws as it asks for.
    """
    reading = trial.reading
    functional = compiled.functional
    means = means_of(tally.sums, tally.values)
    operands, largest = functional.at_averages(means, centres)
    if not all(map(math.isfinite, operands)):
        return None
    scale = scale_of(reading, compiled, means, centres)
    if not math.isfinite(scale):
        return None
    sharpness = trial.sharpness(scale)
    if len(reading.comparisons) > 1:  # between estimated ends: widened as any range is
        ends = [operands[end] for end in reading.ends]
        sharpness = min(sharpness, abs(ends[1] - ends[0]) / 20)
    share = alpha / len(reading.comparisons)
    found: list[tuple[Verdict, Judged, Comparison]] = []
    for comparison in reading.comparisons:

        def theta(points: Floats, comparison: Comparison = comparison) -> Floats:
            return comparison.quantity(functional.evaluate(points, centres, comparison.looked_at))

        if tier is Guarantee.FINITE_SAMPLE and compiled.mean is not None:
            interval = mean_within_bounds(compiled.mean, tally, centres, share)
        else:
            interval = _by_limit(trial, compiled, tally, centres, theta, share, comparison)
            if doubt is not None and interval.unmet is None and tally.draws < doubt.settles:
                interval = replace(interval, unmet=doubt.unmet or Reason.TOO_SKEWED.explain())
        unit = 1.0  # a difference that is looked at as a share is shown as a difference
        if comparison.share and comparison.against is not None:
            unit = max(abs(operands[comparison.against]), 1e-300)
        widen = widening(comparison.region, sharpness / unit)
        rounding = ROUNDING * max(largest, scale) / unit
        if interval.unmet is not None and interval.half_width <= rounding:
            interval = _once_settled(interval, compiled, tally, centres, share, comparison)
        if compiled.mean is None:  # last: what nobody watches is waited for whatever the shape is
            interval = _once_expected(interval, tally)
        if widen > 0:
            rounding = min(rounding, widen / 1000)  # rounding may never decide a claim
        verdict = Verdict.INCONCLUSIVE
        if interval.unmet is None:
            verdict = decide(interval.low, interval.high, comparison.region, widen, rounding)
        if verdict is not Verdict.INCONCLUSIVE and interval.low == interval.high:
            unseen = RARE_SHARE * share / 2
            wider = _all_alike(verdict, interval, compiled, tally, theta, centres, unseen)
            # that something is what every draw showed is verified; anything else must follow
            edges = (comparison.region.low, comparison.region.high)
            said = any(abs(interval.estimate - end) <= rounding for end in edges)
            shown = verdict is Verdict.VERIFIED and said
            by_bounds = decide(wider.low, wider.high, comparison.region, widen, rounding)
            if wider.unmet is not None or (by_bounds is not verdict and not shown):
                verdict, interval = Verdict.INCONCLUSIVE, replace(wider, unmet=_alike(interval))
        judged = Judged(
            verdict, interval, comparison, widen, unit, scale, _sides(operands, comparison)
        )
        found.append((verdict, judged, comparison))
    _, settled, _ = settling(found)
    return settled


def _sides(operands: Sequence[float], comparison: Comparison) -> tuple[float, float] | None:
    """Both sides of a statement, where neither is known beforehand."""
    if comparison.against is None or len(operands) != 2:
        return None
    left, right = operands
    return left, right


def shown(trial: Trial, judged: Judged, tally: Tally, tier: Guarantee) -> Finding:
    """A look as the finding of a case, in the unit of the estimate."""
    interval, region, unit = judged.interval, judged.region, judged.unit
    needed = more(
        judged.verdict,
        tally.draws,
        interval,
        region,
        judged.widen,
        trial.alpha,
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
        sharpness=trial.looked(judged.scale, judged.widen * unit),
        draws=tally.draws,
        blocks=len(tally.sums),
        seconds=tally.seconds,
        sampling=tally.program.sampling,
        explanation=explanation,
        more_draws=needed,
        warnings=trial.ties(tally.program),
    )


def method_of(tier: Guarantee) -> Method:
    """How averages are judged: by an inequality for bounded means, or by the limit theorem."""
    return Method.BOUNDED_MEAN if tier is Guarantee.FINITE_SAMPLE else Method.BLOCK_MEANS


def _by_limit(
    trial: Trial,
    compiled: Compiled,
    tally: Tally,
    centres: Floats,
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
    interval = allowing_for_rare(
        trial, tally.program, tally, centres, theta, interval, rare, bounded=mean is not None
    )
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


def _once_expected(interval: Interval, tally: Tally) -> Interval:
    """The interval, not to be used before rare outcomes that nobody watches are due to be seen."""
    wait = tally.program.unwatched
    if interval.unmet is not None or not wait or tally.draws >= RARE_SIGHTINGS * wait:
        return interval
    unmet = Reason.RARE_OUTCOME_EXPECTED.explain(
        expected=tally.draws / wait, draws=tally.draws, needed=RARE_SIGHTINGS
    )
    return replace(interval, unmet=unmet, settles=RARE_SIGHTINGS * wait)


def _once_settled(
    interval: Interval,
    compiled: Compiled,
    tally: Tally,
    centres: Floats,
    alpha: float,
    comparison: Comparison,
) -> Interval:
    """An interval as narrow as rounding: what shape its noise has says nothing of the quantity.

    Where every average that the quantity is made of varies by rounding alone, it is waited for as
    many draws as for a sample in which nothing varies at all.
    """
    averages = tally.sums / tally.block_values
    operands = comparison.looked_at
    if not compiled.functional.within_rounding(operands, averages, centres, ROUNDING):
        return interval
    unmet = never_differed(tally.draws, alpha)
    return replace(interval, unmet=unmet, settles=draws_that_agree(alpha))


def _alike(interval: Interval) -> Explanation:
    """Why a point that draws without a difference make may not decide."""
    return Reason.ALL_ALIKE.explain(value=interval.estimate)


def _all_alike(
    verdict: Verdict,
    interval: Interval,
    compiled: Compiled,
    tally: Tally,
    theta: Theta,
    centres: Floats,
    alpha: float,
) -> Interval:
    """What draws that were never met could make of a point that every draw showed.

    Of what has bounds they can change no more than the bounds allow; what they could add to
    anything else may be as large as it takes, and nothing is decided. A quantity that is fixed
    whatever the averages are, as Std(y) / Std(y) is, needs no sample at all.
    """
    if compiled.mean is not None:
        return interval  # its bounds are in the interval already
    still = (tally.sums == tally.sums[0]).all(axis=0)
    # what varies was seen to make no difference; of what never varied nothing was seen
    moved = still if verdict is Verdict.VERIFIED else np.ones_like(still)
    bounded = bounded_leaves(compiled.functional)
    unbounded = moved.copy()
    for leaf, _ in bounded:
        unbounded[list(leaf.columns.values())] = False
    means = means_of(tally.sums, tally.values)
    if unbounded.any() and _moves(theta, means, unbounded):
        return replace(interval, unmet=_alike(interval))
    missed = min(1.0, math.log(1 / alpha) / tally.drawn)  # as in `allowing_for_unseen`
    below = above = 0.0
    for leaf, hulls in bounded:
        if moved[list(leaf.columns.values())].any():
            points = [means, *leaf.with_unseen(hulls, means, centres, missed)]
            here, *there = (float(theta(point[:, np.newaxis])[0]) for point in points)
            off = [0.0, *(value - here for value in there)]
            if not all(map(math.isfinite, off)):
                return replace(interval, unmet=_alike(interval))
            below, above = below - min(off), above + max(off)
    return replace(
        interval,
        low=interval.low - below,
        high=interval.high + above,
        second_order=max(below, above),
    )


def _moves(theta: Theta, means: Floats, which: npt.NDArray[np.bool_]) -> bool:
    """Whether a quantity changes where some averages are moved, each by an amount of its own.

    They are moved either way and by little and much, for there are plateaus: floor(E(x)),
    minimum(E(x), 0). Where the quantity is undefined nothing is told. Each place is asked for by
    itself, for a quotient is undefined at all of several that lie on both sides of its pole.
    """
    own = (1 + np.abs(means)) * (1.5 + np.sin(1 + np.arange(len(means)))) * which
    points = [means, *(means + sign * size * own for size in MOVES for sign in (1, -1))]
    here, *there = (float(theta(point[:, np.newaxis])[0]) for point in points)
    return any(
        math.isfinite(value) and abs(value - here) > 1e-12 * max(1.0, abs(here)) for value in there
    )


def why_undefined(compiled: Compiled, tally: Tally) -> Explanation:
    """What makes the quantity undefined at the averages themselves."""
    for leaf in compiled.functional.leaves.values():
        column = leaf.columns.get("g")
        if column is not None and tally.totals[column] == 0:
            return Reason.CONDITION_NEVER_MET.explain(draws=tally.drawn)
    return Reason.UNDEFINED_AT_AVERAGES.explain()
