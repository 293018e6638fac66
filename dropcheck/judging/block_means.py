"""Functions of averages: block means, the limit theorem and the delta method, look by look."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

from dropcheck.inference import budget
from dropcheck.inference.interval import FEWEST_BLOCKS, Interval
from dropcheck.judging.look import Judged, judged_at, shown, why_undefined
from dropcheck.judging.rare import RARE_SIGHTINGS
from dropcheck.judging.statement import ENDLESS, planned
from dropcheck.judging.trial import FEWEST_DRAWS, Finding, Floats, Trial, fitted, in_blocks
from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.simulation.blocks import Request, Tally
from dropcheck.simulation.compile import Compiled
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
        decided = judged is not None and judged.verdict is not Verdict.INCONCLUSIVE
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
    found = shown(trial, judged, tally, pilot.tier)
    return trial.result(replace(found, warnings=trial.ties(program), sampling=program.sampling))


def _plan(
    trial: Trial, compiled: Compiled, pilot: Tally, centres: Floats, fewest: int
) -> tuple[list[int], int, Guarantee, Interval | None]:
    """Draws after which a verdict is expected, its tier, and doubts.

    First come those that would be, were the estimate one standard error lower, as it is, or higher.

    The inequality is preferred wherever it applies, unless the bounds on the quantity are so wide
    that it would take many times the draws of the limit theorem.
    """
    alpha = trial.alpha * budget.PLANNED
    by_limit = judged_at(trial, compiled, pilot, centres, trial.alpha, Guarantee.ASYMPTOTIC)
    around = _around(by_limit, pilot, fewest, alpha, Guarantee.ASYMPTOTIC)
    expected = max(around[1], fewest)
    if _applies(trial, compiled):
        tier = Guarantee.FINITE_SAMPLE
        by_inequality = judged_at(trial, compiled, pilot, centres, trial.alpha, tier)
        if by_inequality is not None and by_inequality.decisive is not None:
            found = _around(by_inequality, pilot, fewest, alpha, tier)
            if found[1] <= DEAREST_INEQUALITY * expected:
                return found, found[1], tier, None
    doubt = None if by_limit is None else by_limit.decisive
    if doubt is not None:
        expected = max(expected, int(min(doubt.settles, ENDLESS)))
    return around, expected, Guarantee.ASYMPTOTIC, doubt


def _around(
    judged: Judged | None, pilot: Tally, fewest: int, alpha: float, tier: Guarantee
) -> list[int]:
    """Draws to a verdict were the estimate one standard error lower, as it is, and higher."""
    if judged is None or judged.decisive is None:
        return [fewest] * 3
    found, region = judged.decisive, judged.region

    def draws(off: float) -> int:
        moved = replace(found, estimate=found.estimate + off) if off else found
        return planned(pilot.draws, moved, region, judged.widen, alpha, tier)

    if region.point:  # as far off, either way
        return [draws(0.0)] * 3
    return [draws(off * found.standard_error) for off in (-1, 0, 1)]


def _applies(trial: Trial, compiled: Compiled) -> bool:
    # pairs that share a draw are not independent, and the inequality needs draws that are
    plain = compiled.program.batches is None
    return (
        plain and compiled.mean is not None and not any(c.share for c in trial.reading.comparisons)
    )
