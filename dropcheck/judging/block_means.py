"""Functions of averages: block means, the limit theorem and the delta method, look by look."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import NamedTuple

from dropcheck.inference import budget
from dropcheck.inference.interval import FEWEST_BLOCKS, Interval
from dropcheck.judging.look import (
    ENDLESS,
    Judged,
    judged_at,
    method_of,
    planned,
    shown,
    why_undefined,
)
from dropcheck.judging.trial import FEWEST_DRAWS, Finding, Floats, Trial
from dropcheck.judging.unseen import RARE_SHARE, RARE_SIGHTINGS, allowing_for_unseen
from dropcheck.results import Guarantee, Verdict
from dropcheck.simulation import (
    MAIN,
    PILOT,
    Compiled,
    MeanColumns,
    Program,
    Request,
    Separations,
    SpanSums,
    Tally,
)

# Blocks of the pilot: its standard error is then known to about 6%. With half as many, or shorter
# ones, claims of few draws would take fewer, and heavy tails would be missed more often.
PILOT_BLOCKS = 128
# Where the inequality for bounded means decides, no shape need be known.
BOUNDED_PILOT_BLOCKS = 16
# Draws that centres are found from, at most: they lie within a tenth of a deviation of the middle;
# and those that tell which averages over all combinations of draws are near normal.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """What follows from a pilot: the means of judging, and the draws to be judged at.

    A verdict is expected after `expected` draws, by an interval of the kind that `tier` names; no
    look comes before `fewest` unless the budget, `most`, does.
    """

    program: Program
    most: int
    tally: Tally  # of the pilot's draws, about centres that are the looks' too
    fewest: int
    expected: int
    tier: Guarantee
    doubt: Interval | None = None  # the pilot's own: how many draws its shape takes to settle


class _Plan(NamedTuple):
    """What a pilot of one kind of program plans: as in `Pilot`."""

    tally: Tally
    expected: int
    tier: Guarantee
    doubt: Interval | None


def piloted(
    trial: Trial, compiled: Compiled, *, sparing: bool
) -> Generator[Request, SpanSums, Pilot]:
    """Draw a pilot, used for nothing but to plan the looks.

    Args:
        trial: the case under trial.
        compiled: what is simulated.
        sparing: whether to do without what may cost as much as the verdict itself.
    """
    most = trial.most_draws(compiled.program)
    whole = compiled.program.fitted(most, FEWEST_BLOCKS)
    program = whole.in_blocks(1)
    draws = max(1, min(program.span_draws, CENTRE_DRAWS))
    centres, separations = trial.centres(program, draws)
    program, whole = (one.combining(separations) for one in (program, whole))
    fewest = _fewest(program)
    plan = yield from _plan_with(trial, compiled, program, centres, fewest)
    vanishes = separations is not None and _vanishes(plan)
    if separations is not None and (vanishes or _doubtful(separations, plan, fewest)):
        plain = program.combining(None)
        instead = yield from _plan_with(trial, compiled, plain, centres, fewest)
        if vanishes or instead.expected < plan.expected:
            program, whole, plan = plain, whole.combining(None), instead
    tally, expected, tier, doubt = plan
    enough = FEWEST_BLOCKS * whole.block_draws
    if whole.paired and program.block_draws < whole.block_draws and expected > enough:
        # larger batches need fewer draws: at best so much fewer as they have more pairs a draw
        at_best = expected * program.block_draws / whole.block_draws
        program, fewest, expected = whole, _fewest(whole), enough
        if at_best > enough or not sparing:  # how many, only batches as large can tell
            tally, expected, tier, doubt = yield from _plan_with(
                trial, compiled, program, centres, fewest
            )
    blocks = FEWEST_BLOCKS if program.paired else PLANNED_BLOCKS
    return Pilot(
        program=whole.in_blocks(expected // blocks),
        most=most,
        tally=tally,
        fewest=FEWEST_DRAWS if tier is Guarantee.FINITE_SAMPLE else fewest,
        expected=expected,
        tier=tier,
        doubt=doubt,
    )


def _vanishes(plan: _Plan) -> bool:
    """Whether the quantity's first order seems to vanish over all combinations of draws.

    As that of E(x · y) − E(x) E(y) does: the blocks' averages are then products of normals however
    long the block is (Hoeffding 1948, section 7; Serfling 1980, "Approximation Theorems of
    Mathematical Statistics", 5.5.2), and how many draws these take is told by no pilot.
    """
    doubt = plan.doubt
    return doubt is not None and doubt.second_order > doubt.standard_error


def _doubtful(separations: Separations, plan: _Plan, fewest: int) -> bool:
    """Whether fewer draws may do where none are combined.

    Averages of one kind and of the other share less noise than averages of one kind; and it may be
    the shape of the blocks' averages, not their spread, that takes so many draws.
    """
    shapeless = plan.doubt is not None and plan.doubt.settles >= plan.expected
    return plan.expected > fewest and (shapeless or not separations.whole)


def _fewest(program: Program) -> int:
    """Draws before which no average of a program is judged."""
    return max(
        FEWEST_DRAWS,
        FEWEST_BLOCKS * program.block_draws,
        math.ceil(RARE_SIGHTINGS * program.rarest),
    )


def _plan_with(
    trial: Trial, compiled: Compiled, program: Program, centres: Floats, fewest: int
) -> Generator[Request, SpanSums, _Plan]:
    """Draw a pilot and plan from it: the draws to be judged at, the tier, and doubts."""
    pilot = Tally(program, centres)
    if compiled.mean is not None and not compiled.program.paired:  # pairs are not independent
        expected = yield from _plan_by_bounds(trial, compiled, compiled.mean, pilot, fewest)
        if expected is not None:
            return _Plan(pilot, expected, Guarantee.FINITE_SAMPLE, None)
    blocks = FEWEST_BLOCKS if program.paired else PILOT_BLOCKS
    most = trial.most_draws(compiled.program)
    alpha = trial.alpha * budget.PLANNED
    wanted = blocks * program.block_draws
    for step in range(PILOT_STEPS + 1):
        yield from trial.draw_until(pilot, PILOT, min(wanted, most))
        trial.refuse_if_nowhere_defined(pilot)
        if pilot.undefined:
            return _Plan(pilot, fewest, Guarantee.ASYMPTOTIC, None)
        judged = judged_at(trial, compiled, pilot, alpha, Guarantee.ASYMPTOTIC)
        around = _around(trial, judged, pilot, fewest, Guarantee.ASYMPTOTIC)
        wanted = min(PILOT_GROWTH * pilot.draws, max(around) // PILOT_SHARE, most // PILOT_SHARE)
        enough = _clear(around) or wanted < pilot.draws + program.span_draws
        if enough or step == PILOT_STEPS or trial.out_of_time():
            break
    doubt = None if judged is None else judged.interval
    settled = 0 if doubt is None else int(min(doubt.settles, ENDLESS))
    return _Plan(pilot, max(around[1], fewest, settled), Guarantee.ASYMPTOTIC, doubt)


def _plan_by_bounds(
    trial: Trial, compiled: Compiled, mean: MeanColumns, pilot: Tally, fewest: int
) -> Generator[Request, SpanSums, int | None]:
    """Draws after which the inequality for bounded means is expected to decide.

    None where the bounds are so wide that it would take many times the draws of the limit theorem.
    The inequality holds whatever the law is, so that no shape has to be known: a short pilot is
    enough, in proportion to what it plans.
    """
    most = trial.most_draws(compiled.program)
    alpha = trial.alpha * budget.PLANNED
    wanted = BOUNDED_PILOT_BLOCKS * pilot.program.block_draws
    expected = None
    for _ in range(PILOT_STEPS + 1):
        yield from trial.draw_until(pilot, PILOT, min(wanted, most))
        if pilot.undefined:
            return None
        judged = judged_at(trial, compiled, pilot, alpha, Guarantee.FINITE_SAMPLE)
        if judged is None or judged.decisive is None:
            return None
        around = _around(trial, judged, pilot, fewest, Guarantee.FINITE_SAMPLE)
        expected = around[1]
        seen = replace(judged.interval, second_order=0.0)
        unseen = allowing_for_unseen(mean, seen, pilot.draws, RARE_SHARE * alpha / 2)
        limit = replace(judged, interval=unseen)
        by_limit = _around(trial, limit, pilot, fewest, Guarantee.ASYMPTOTIC)
        if expected > DEAREST_INEQUALITY * max(by_limit[1], fewest):
            return None
        wanted = min(PILOT_GROWTH * pilot.draws, max(around) // PILOT_SHARE, most // PILOT_SHARE)
        if _clear(around):
            wanted = min(wanted, PILOT_BLOCKS * pilot.program.block_draws)
        if wanted < pilot.draws + pilot.program.span_draws or trial.out_of_time():
            break
    return expected


def _clear(around: list[int]) -> bool:
    """Whether one standard error either way leaves the plan nearly as it is."""
    return max(around) < ENDLESS and max(around) <= PLAN_SPREAD * min(around)


def by_block_means(trial: Trial, compiled: Compiled) -> Generator[Request, SpanSums, Finding]:
    """A function of averages: block means, the limit theorem and the delta method."""
    pilot = yield from piloted(trial, compiled, sparing=True)
    program, most = pilot.program, pilot.most
    tally = Tally(program, pilot.tally.centres)
    judged = None
    for look in budget.looks(pilot.expected, min(pilot.fewest, most), most, trial.alpha):
        yield from trial.draw_until(tally, MAIN, look.draws)
        broken = trial.undefined(tally, method_of(pilot.tier), Guarantee.ASYMPTOTIC)
        if broken is not None:
            return broken
        judged = judged_at(trial, compiled, tally, look.alpha, pilot.tier, pilot.doubt)
        decided = judged is not None and judged.verdict is not Verdict.INCONCLUSIVE
        hopeless = judged is None and trial.seems_never(tally.draws)
        if decided or hopeless or trial.out_of_time():
            break
    if judged is None:
        return Finding(
            verdict=Verdict.INCONCLUSIVE,
            method=method_of(pilot.tier),
            draws=tally.draws,
            blocks=len(tally.sums),
            seconds=tally.seconds,
            sampling=program.sampling,
            explanation=why_undefined(compiled, tally),
        )
    return shown(trial, judged, tally, pilot.tier)


def _around(
    trial: Trial, judged: Judged | None, pilot: Tally, fewest: int, tier: Guarantee
) -> list[int]:
    """Draws to a verdict were the estimate one standard error lower, as it is, and higher."""
    if judged is None or judged.decisive is None:
        return [fewest] * 3
    found, region = judged.decisive, judged.region

    def draws(off: float) -> int:
        moved = replace(found, estimate=found.estimate + off) if off else found
        return planned(pilot.draws, moved, region, judged.widen, trial.alpha * budget.PLANNED, tier)

    if region.point:  # as far off, either way
        return [draws(0.0)] * 3
    return [draws(off * found.standard_error) for off in (-1, 0, 1)]
