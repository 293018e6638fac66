"""Functions of averages: block means, the limit theorem and the delta method, look by look."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

from dropcheck.inference import budget
from dropcheck.inference.interval import FEWEST_BLOCKS, Interval
from dropcheck.judging.case_run import FEWEST_DRAWS, CaseRun, Finding, Floats
from dropcheck.judging.look import (
    ENDLESS,
    Judged,
    judge_look,
    method_of,
    planned,
    shown,
    why_undefined,
)
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
# Where a pilot leaves open how far the quantity is from the end of a range, it is made longer: by
# PILOT_GROWTH, at most PILOT_STEPS times. It ends when the draws planned one standard error nearer
# and farther differ by at most PLAN_SPREAD, or when it has 1/PILOT_SHARE of the larger of them.
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


def piloted(
    run: CaseRun, compiled: Compiled, *, sparing: bool
) -> Generator[Request, SpanSums, Pilot]:
    """Draw a pilot, used for nothing but to plan the looks.

    Where it is to be sparing it does without what may cost as much as the verdict itself.
    """
    most = run.most_draws(compiled.program)
    whole = compiled.program.fitted(most, FEWEST_BLOCKS)
    program = whole.in_blocks(1)
    draws = max(1, min(program.span_draws, CENTRE_DRAWS))
    centres, separations = run.centres(program, draws)
    program, whole = (one.combining(separations) for one in (program, whole))
    pilot = yield from _planned_with(run, compiled, program, centres)
    vanishes = separations is not None and _vanishes(pilot)
    if separations is not None and (vanishes or _doubtful(separations, pilot)):
        plain = program.combining(None)
        instead = yield from _planned_with(run, compiled, plain, centres)
        if vanishes or instead.expected < pilot.expected:
            whole, pilot = whole.combining(None), instead
    enough = FEWEST_BLOCKS * whole.block_draws
    if whole.paired and program.block_draws < whole.block_draws and pilot.expected > enough:
        # larger batches need fewer draws: at best so much fewer as they have more pairs a draw
        at_best = pilot.expected * program.block_draws / whole.block_draws
        pilot = replace(pilot, fewest=_fewest(whole), expected=enough)
        if at_best > enough or not sparing:  # how many, only batches as large can tell
            pilot = yield from _planned_with(run, compiled, whole, centres)
    blocks = FEWEST_BLOCKS if whole.paired else PLANNED_BLOCKS
    return replace(pilot, program=whole.in_blocks(pilot.expected // blocks))


def _vanishes(pilot: Pilot) -> bool:
    """Whether the quantity's first order seems to vanish over all combinations of draws.

    As that of E(x · y) − E(x) E(y) does: the blocks' averages are then products of normals however
    long the block is (Hoeffding 1948, section 7; Serfling 1980, "Approximation Theorems of
    Mathematical Statistics", 5.5.2), and no pilot can estimate how many draws these take.
    """
    doubt = pilot.doubt
    return doubt is not None and doubt.second_order > doubt.standard_error


def _doubtful(separations: Separations, pilot: Pilot) -> bool:
    """Whether fewer draws may do where none are combined.

    Averages of one kind and of the other share less noise than averages of one kind; and it may be
    the shape of the blocks' averages, not their spread, that takes so many draws.
    """
    shapeless = pilot.doubt is not None and pilot.doubt.settles >= pilot.expected
    return pilot.expected > pilot.fewest and (shapeless or not separations.whole)


def _fewest(program: Program) -> int:
    """Draws before which no average of a program is judged."""
    return max(
        FEWEST_DRAWS,
        FEWEST_BLOCKS * program.block_draws,
        math.ceil(RARE_SIGHTINGS * program.rarest),
    )


def _planned_with(
    run: CaseRun, compiled: Compiled, program: Program, centres: Floats
) -> Generator[Request, SpanSums, Pilot]:
    """Draw a pilot of a program and plan from it."""
    tally = Tally(program, centres)
    most = run.most_draws(compiled.program)
    fewest = _fewest(program)
    pilot = Pilot(
        program=program,
        most=most,
        tally=tally,
        fewest=fewest,
        expected=fewest,
        tier=Guarantee.ASYMPTOTIC,
    )
    if compiled.mean is not None and not compiled.program.paired:  # pairs are not independent
        expected = yield from _plan_by_bounds(run, compiled, compiled.mean, tally, fewest)
        if expected is not None:
            finite = Guarantee.FINITE_SAMPLE
            return replace(pilot, fewest=FEWEST_DRAWS, expected=expected, tier=finite)
    blocks = FEWEST_BLOCKS if program.paired else PILOT_BLOCKS
    alpha = run.alpha * budget.PLANNED
    wanted = blocks * program.block_draws
    for step in range(PILOT_STEPS + 1):
        yield from run.draw_until(tally, PILOT, min(wanted, most))
        run.refuse_if_nowhere_defined(tally)
        if tally.undefined:
            return pilot
        judged = judge_look(run, compiled, tally, alpha, Guarantee.ASYMPTOTIC)
        around = _around(run, judged, tally, fewest, Guarantee.ASYMPTOTIC)
        wanted = min(PILOT_GROWTH * tally.draws, max(around) // PILOT_SHARE, most // PILOT_SHARE)
        enough = _clear(around) or wanted < tally.draws + program.span_draws
        if enough or step == PILOT_STEPS or run.out_of_time():
            break
    doubt = None if judged is None else judged.interval
    settled = 0 if doubt is None else int(min(doubt.settles, ENDLESS))
    return replace(pilot, expected=max(around[1], fewest, settled), doubt=doubt)


def _plan_by_bounds(
    run: CaseRun, compiled: Compiled, mean: MeanColumns, pilot: Tally, fewest: int
) -> Generator[Request, SpanSums, int | None]:
    """Draws after which the inequality for bounded means is expected to decide.

    None where the bounds are so wide that it would take many times the draws of the limit theorem.
    The inequality holds whatever the law is, so that no shape has to be known: a short pilot is
    enough, in proportion to what it plans.
    """
    most = run.most_draws(compiled.program)
    alpha = run.alpha * budget.PLANNED
    wanted = BOUNDED_PILOT_BLOCKS * pilot.program.block_draws
    expected = None
    for _ in range(PILOT_STEPS + 1):
        yield from run.draw_until(pilot, PILOT, min(wanted, most))
        if pilot.undefined:
            return None
        judged = judge_look(run, compiled, pilot, alpha, Guarantee.FINITE_SAMPLE)
        if judged is None or judged.decisive is None:
            return None
        around = _around(run, judged, pilot, fewest, Guarantee.FINITE_SAMPLE)
        expected = around[1]
        seen = replace(judged.interval, second_order=0.0)
        unseen = allowing_for_unseen(mean, seen, pilot.draws, RARE_SHARE * alpha / 2)
        limit = replace(judged, interval=unseen)
        by_limit = _around(run, limit, pilot, fewest, Guarantee.ASYMPTOTIC)
        if expected > DEAREST_INEQUALITY * max(by_limit[1], fewest):
            return None
        wanted = min(PILOT_GROWTH * pilot.draws, max(around) // PILOT_SHARE, most // PILOT_SHARE)
        if _clear(around):
            wanted = min(wanted, PILOT_BLOCKS * pilot.program.block_draws)
        if wanted < pilot.draws + pilot.program.span_draws or run.out_of_time():
            break
    return expected


def _clear(around: list[int]) -> bool:
    """Whether one standard error either way leaves the plan nearly as it is."""
    return max(around) < ENDLESS and max(around) <= PLAN_SPREAD * min(around)


def by_block_means(run: CaseRun, compiled: Compiled) -> Generator[Request, SpanSums, Finding]:
    """A function of averages: block means, the limit theorem and the delta method."""
    pilot = yield from piloted(run, compiled, sparing=True)
    program, most = pilot.program, pilot.most
    tally = Tally(program, pilot.tally.centres)
    judged = None
    for look in budget.looks(pilot.expected, min(pilot.fewest, most), most, run.alpha):
        yield from run.draw_until(tally, MAIN, look.draws)
        broken = run.undefined(tally, method_of(pilot.tier), Guarantee.ASYMPTOTIC)
        if broken is not None:
            return broken
        judged = judge_look(run, compiled, tally, look.alpha, pilot.tier, pilot.doubt)
        decided = judged is not None and judged.verdict is not Verdict.INCONCLUSIVE
        hopeless = judged is None and run.seems_never(tally.draws)
        if decided or hopeless or run.out_of_time():
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
    return shown(run, judged, tally, pilot.tier)


def _around(
    run: CaseRun, judged: Judged | None, pilot: Tally, fewest: int, tier: Guarantee
) -> list[int]:
    """Draws to a verdict were the estimate one standard error lower, as it is, and higher."""
    if judged is None or judged.decisive is None:
        return [fewest] * 3
    interval, region = judged.decisive, judged.region

    def draws(off: float) -> int:
        moved = replace(interval, estimate=interval.estimate + off) if off else interval
        return planned(pilot.draws, moved, region, judged.widen, run.alpha * budget.PLANNED, tier)

    if region.point:  # as far off, either way
        return [draws(0.0)] * 3
    return [draws(off * interval.standard_error) for off in (-1, 0, 1)]
