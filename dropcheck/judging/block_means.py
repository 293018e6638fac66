"""Functions of averages: block means, the limit theorem and the delta method, look by look."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.inference import budget
from dropcheck.inference.comparison import Comparison
from dropcheck.inference.interval import (
    FEWEST_BLOCKS,
    TOO_SKEW,
    Interval,
    Theta,
    estimate_interval,
)
from dropcheck.inference.region import Region, decide, widening
from dropcheck.judging.bounds import allowing_for_unseen, mean_within_bounds
from dropcheck.judging.rare import RARE_SHARE, RARE_SIGHTINGS, allowing_for_rare
from dropcheck.judging.statement import ENDLESS, ROUNDING, more, planned, scale_of, settling
from dropcheck.judging.trial import (
    FEWEST_DRAWS,
    Finding,
    Floats,
    Trial,
    fitted,
    in_blocks,
)
from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.simulation.blocks import Request, Tally
from dropcheck.simulation.compile import Compiled
from dropcheck.simulation.functional import means_of
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.simulation.streams import MAIN, PILOT

# Blocks of the pilot: its standard error is then known to about 6%. With half as many, or shorter
# ones, claims of few draws would take fewer, and heavy tails would be missed more often.
PILOT_BLOCKS = 128
# Draws that centres are found from: they lie within a tenth of a deviation of the middle.
CENTRE_DRAWS = 512
# Blocks at the planned look: the earliest look, at a sixteenth of its draws, then has the fewest.
PLANNED_BLOCKS = 16 * FEWEST_BLOCKS
# A pilot that leaves open how far the quantity is from the end of a range is drawn on: until draws
# planned from one standard error nearer or farther differ by no more than this factor, or the pilot
# is this share of the most of them; by this factor at a time, so many times.
PLAN_SPREAD = 3.0
PILOT_SHARE = 16
PILOT_GROWTH = 4
PILOT_STEPS = 3
# How many times the draws of the limit theorem the inequality may take before it is given up.
DEAREST_INEQUALITY = 2.0
RARER = "draws that differ may be too rare to be met, and too large to be left out"


@dataclass(frozen=True, slots=True)
class Pilot:
    """What a pilot tells: the means of judging, and the draws to be judged at.

    A verdict is expected after `expected` draws, by an interval of the kind that `tier` names; no
    look comes before `fewest` unless the budget, `most`, does.
    """

    program: Program
    most: int
    centres: Floats
    tally: Tally
    fewest: int
    expected: int
    tier: Guarantee
    doubt: Interval | None = None  # the pilot's own: how many draws its shape takes to settle


def piloted(trial: Trial, compiled: Compiled) -> Generator[Request, SpanSums, Pilot]:
    """Draw a pilot, used for nothing but to plan the looks."""
    most = trial.most_draws(compiled.program)
    whole = fitted(compiled.program, most)
    program = in_blocks(whole, 1)
    centres = program.centres(
        trial.generator(PILOT, 0),
        max(1, min(program.span_draws, CENTRE_DRAWS)),
    )
    fewest = _fewest(program)
    plan = yield from _plan_with(trial, compiled, program, centres, fewest)
    tally, expected, tier, doubt = plan
    saving = expected * (1 - program.block_draws / whole.block_draws)  # at best
    if program.batches is not None and saving > FEWEST_BLOCKS * whole.block_draws:
        # larger batches need fewer draws: how many, only batches as large can tell
        program, fewest = whole, _fewest(whole)
        tally, expected, tier, doubt = yield from _plan_with(
            trial, compiled, program, centres, fewest
        )
    blocks = PLANNED_BLOCKS if program.batches is None else FEWEST_BLOCKS
    if tier is Guarantee.FINITE_SAMPLE:
        fewest = FEWEST_DRAWS
    program = in_blocks(whole, expected // blocks)
    return Pilot(program, most, centres, tally, fewest, expected, tier, doubt)


def _fewest(program: Program) -> int:
    """Draws before which no average of a program is judged."""
    return max(
        FEWEST_DRAWS,
        FEWEST_BLOCKS * program.block_draws,
        math.ceil(RARE_SIGHTINGS * program.rarest),
    )


_Planned = tuple[Tally, int, Guarantee, Interval | None]


def _plan_with(
    trial: Trial, compiled: Compiled, program: Program, centres: Floats, fewest: int
) -> Generator[Request, SpanSums, _Planned]:
    """Draw a pilot and plan from it: the draws to be judged at, the tier, and doubts."""
    pilot = Tally(program)
    blocks = PILOT_BLOCKS if program.batches is None else FEWEST_BLOCKS
    most = trial.most_draws(compiled.program)
    wanted = blocks * program.block_draws
    for step in range(PILOT_STEPS + 1):
        yield from trial.draw_until(pilot, program, PILOT, centres, min(wanted, most))
        trial.refuse_if_nowhere_defined(pilot)
        if pilot.undefined:
            return pilot, fewest, Guarantee.ASYMPTOTIC, None
        around, expected, tier, doubt = _plan(trial, compiled, pilot, centres, fewest)
        clear = max(around) < ENDLESS and max(around) <= PLAN_SPREAD * min(around)
        wanted = min(PILOT_GROWTH * pilot.draws, max(around) // PILOT_SHARE, most // PILOT_SHARE)
        enough = clear or wanted < pilot.draws + program.span_draws
        if enough or step == PILOT_STEPS or trial.out_of_time():
            break
    return pilot, expected, tier, doubt


def by_block_means(trial: Trial, compiled: Compiled) -> Generator[Request, SpanSums, CaseResult]:
    """A function of averages: block means, the limit theorem and the delta method."""
    pilot = yield from piloted(trial, compiled)
    program, most, centres = pilot.program, pilot.most, pilot.centres
    tally = Tally(program)
    judged = None
    for look in budget.looks(pilot.expected, min(pilot.fewest, most), most, trial.alpha):
        yield from trial.draw_until(tally, program, MAIN, centres, look.draws)
        broken = trial.undefined(tally)
        if broken is not None:
            return trial.result(broken)
        judged = judged_at(trial, compiled, tally, centres, look.alpha, pilot.tier, pilot.doubt)
        decided = judged is not None and judged.finding.verdict is not Verdict.INCONCLUSIVE
        hopeless = judged is None and trial.seems_never(tally.draws)
        if decided or hopeless or trial.out_of_time():
            break
    if judged is None:
        return trial.result(
            Finding(
                Verdict.INCONCLUSIVE,
                draws=tally.draws,
                blocks=len(tally.sums),
                seconds=tally.seconds,
                reason=why_undefined(compiled, tally),
            )
        )
    return trial.result(
        replace(judged.finding, warnings=trial.ties(program), sampling=program.sampling)
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """One look: the finding, and what the plan of the next is made from.

    The interval and the regions are in a unit of their own where a difference is looked at as a
    share: `unit` is what the finding shows for one of it.
    """

    finding: Finding
    decisive: Interval | None
    regions: list[tuple[Region, float]]
    unit: float


def _plan(
    trial: Trial, compiled: Compiled, pilot: Tally, centres: Floats, fewest: int
) -> tuple[list[int], int, Guarantee, Interval | None]:
    """Draws after which a verdict is expected, its tier, and doubts.

    First come those that would be, were the estimate one standard error lower, as it is, or higher.

    The inequality is preferred wherever it applies, unless the bounds on the quantity are so wide
    that it would take many times the draws of the limit theorem.
    """
    alpha = trial.alpha * budget.PLANNED

    def draws(judged: Judged | None, tier: Guarantee, off: float = 0.0) -> int:
        if judged is None or judged.decisive is None:
            return fewest
        found = judged.decisive
        if not all(region.point for region, _ in judged.regions):
            found = replace(found, estimate=found.estimate + off * found.standard_error)
        return planned(pilot.draws, found, judged.regions, alpha, tier)

    by_limit = judged_at(trial, compiled, pilot, centres, trial.alpha, Guarantee.ASYMPTOTIC)
    expected = max(draws(by_limit, Guarantee.ASYMPTOTIC), fewest)
    around = [draws(by_limit, Guarantee.ASYMPTOTIC, off) for off in (-1, 0, 1)]
    if _applies(trial, compiled):
        tier = Guarantee.FINITE_SAMPLE
        by_inequality = judged_at(trial, compiled, pilot, centres, trial.alpha, tier)
        if by_inequality is not None and by_inequality.decisive is not None:
            needed = draws(by_inequality, tier)
            if needed <= DEAREST_INEQUALITY * expected:
                around = [draws(by_inequality, tier, off) for off in (-1, 0, 1)]
                return around, needed, tier, None
    doubt = None if by_limit is None else by_limit.decisive
    if doubt is not None:
        expected = max(expected, int(min(doubt.settles, ENDLESS)))
    return around, expected, Guarantee.ASYMPTOTIC, doubt


def _applies(trial: Trial, compiled: Compiled) -> bool:
    # pairs that share a draw are not independent, and the inequality needs draws that are
    plain = compiled.program.batches is None
    return (
        plain and compiled.mean is not None and not any(c.share for c in trial.reading.comparisons)
    )


def judged_at(
    trial: Trial,
    compiled: Compiled,
    tally: Tally,
    centres: Floats,
    alpha: float,
    tier: Guarantee,
    doubt: Interval | None = None,
) -> Judged | None:
    """Judge every comparison of the statement at one look; None where it is undefined.

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
    found: list[tuple[Verdict, Interval, Comparison]] = []
    regions: list[tuple[Region, float]] = []
    for comparison in reading.comparisons:

        def theta(points: Floats, comparison: Comparison = comparison) -> Floats:
            return comparison.quantity(functional.evaluate(points, centres, comparison.looked_at))

        if tier is Guarantee.FINITE_SAMPLE and compiled.mean is not None:
            interval = mean_within_bounds(compiled.mean, tally, centres, share)
        else:
            interval = _by_limit(trial, compiled, tally, centres, theta, share, comparison)
            if doubt is not None and interval.unmet is None and tally.draws < doubt.settles:
                interval = replace(interval, unmet=doubt.unmet or TOO_SKEW)
        unit = 1.0
        if comparison.share and comparison.against is not None:
            unit = max(abs(operands[comparison.against]), 1e-300)
        widen = widening(comparison.region, sharpness / unit)
        rounding = ROUNDING * largest
        rounding /= unit
        if widen > 0:
            rounding = min(rounding, widen / 1000)  # rounding may never decide a claim
        bounded = compiled.mean is not None
        constant = bool((tally.sums == tally.sums[0]).all())
        fixed = interval.low == interval.high and _never_moves(theta, means)
        verdict, interval = _verdict(
            interval,
            comparison.region,
            widen,
            rounding,
            bounded=bounded,
            constant=constant,
            fixed=fixed,
        )
        found.append((verdict, interval, comparison))
        regions.append((comparison.region, widen))
    verdict, interval, comparison = settling(found)
    reason = None
    if verdict is Verdict.INCONCLUSIVE:
        reason = interval.unmet or "the interval is still too wide"
    unit = 1.0
    if comparison.share and comparison.against is not None:
        unit = abs(operands[comparison.against])  # shown as a difference, not a share
    worst = [(region, widen) for region, widen in regions if region is comparison.region]
    finding = Finding(
        verdict,
        interval.estimate * unit,
        (interval.low * unit, interval.high * unit),
        interval.standard_error * unit,
        Region(
            comparison.region.low * unit,
            comparison.region.high * unit,
            comparison.region.low_open,
            comparison.region.high_open,
        ),
        scale,
        tally.draws,
        len(tally.sums),
        tally.seconds,
        tier,
        reason,
        more(verdict, tally.draws, interval, worst, trial.alpha, tier),
    )
    usable = math.isfinite(interval.half_width)
    return Judged(finding, interval if usable else None, worst, unit)


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
        tally.sums, tally.block_values, theta, (1 - RARE_SHARE) * alpha, tally.draws
    )
    rare = RARE_SHARE * alpha / 2
    bounded = compiled.mean is not None and not comparison.share
    interval = allowing_for_rare(
        trial, tally.program, tally, centres, theta, interval, rare, bounded=bounded
    )
    if compiled.mean is None or comparison.share:
        return interval
    if tally.program.batches is not None and interval.standard_error > 0:
        return interval  # a sum of products: its bounds are far from all that it can do at once
    return allowing_for_unseen(compiled.mean, interval, tally.draws, rare)


def _never_moves(theta: Theta, means: Floats) -> bool:
    """Whether a quantity stays as it is where each average is moved by an amount of its own."""
    moved = means + 1e-3 * (1 + np.abs(means)) * (1.5 + np.sin(1 + np.arange(len(means))))
    here, there = (float(value) for value in theta(np.stack([means, moved], axis=1)))
    return abs(here - there) <= 1e-12 * max(1.0, abs(here))


def _verdict(
    interval: Interval,
    region: Region,
    widen: float,
    rounding: float,
    *,
    bounded: bool,
    constant: bool,
    fixed: bool,
) -> tuple[Verdict, Interval]:
    """The verdict, and the interval with what keeps it from deciding.

    A sample in which nothing varies decides only on what has bounds: what a few draws that were
    never met could add to anything else may be as large as it takes. A quantity that is fixed
    whatever the averages are, as Std(y) / Std(y) is, needs no sample at all.
    """
    if interval.unmet is not None:
        return Verdict.INCONCLUSIVE, interval
    verdict = decide(interval.low, interval.high, region, widen, rounding)
    held = verdict is Verdict.REFUTED or (verdict is Verdict.VERIFIED and constant)
    if held and interval.low == interval.high and not (bounded or fixed):
        told = f"every draw gave {interval.estimate:.6g}: {RARER}"
        return Verdict.INCONCLUSIVE, replace(interval, unmet=told)
    return verdict, interval


def why_undefined(compiled: Compiled, tally: Tally) -> str:
    """What makes the quantity undefined at the averages themselves."""
    for leaf in compiled.functional.leaves.values():
        column = leaf.columns.get("g")
        if column is not None and tally.totals[column] == 0:
            return f"the condition was never met in {tally.drawn:,} draws"
    return (
        "the quantity is undefined at the averages (a division by 0, Corr of a constant, or values "
        "too small to be squared)"
    )
