"""A bare probability of one event, counted: exact binomial intervals."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

from dropcheck.analysis.strategy import Proportion, averages_of
from dropcheck.inference import budget
from dropcheck.inference.finite_sample import clopper_pearson
from dropcheck.inference.interval import FEWEST_BLOCKS, Interval
from dropcheck.inference.region import decide, widening
from dropcheck.judging.averages import judge_averages
from dropcheck.judging.case_run import FEWEST_DRAWS, CaseRun, Finding
from dropcheck.judging.events.certainty import seen_in
from dropcheck.judging.evidence.units import looking, planner
from dropcheck.judging.exactly import of_proportion
from dropcheck.judging.foreseen import outlook_in_strata
from dropcheck.judging.knowledge import Knowledge, knowledge_of
from dropcheck.judging.look import ROUNDING, more, planned
from dropcheck.reasons import Reason
from dropcheck.results import Guarantee, Method, Region, Verdict
from dropcheck.simulation import (
    PILOT,
    Compiled,
    Counted,
    Program,
    Request,
    SpanSums,
    Tally,
    compile_averages,
)

# Draws of the pilot: a probability is then known to a hundredth.
COUNTED_DRAWS = 8192
# Blocks at the planned look: whole spans are drawn, of a few blocks each, and none in vain.
PLANNED_BLOCKS = 512


@dataclass(frozen=True, slots=True)
class CountedPilot:
    """What a pilot says of a probability: as for block means, with the region it must lie in."""

    program: Program
    most: int
    tally: Tally
    expected: int
    region: Region
    widen: float
    scale: float


def piloted(
    run: CaseRun, claim: Proportion, counted: Counted
) -> Generator[Request, SpanSums, CountedPilot]:
    """Draw a pilot, used for nothing but to plan the looks."""
    most = run.most_draws(counted.program)
    whole = counted.program.fitted(most, FEWEST_BLOCKS)
    program = whole.in_blocks(1)
    reading = run.reading
    (comparison,) = reading.comparisons
    scale = reading.known_scale
    if scale is None:  # the size of a probability is 1
        scale = abs(claim.factor) + abs(claim.constant)
    widen = widening(comparison.region, run.sharpness(scale))
    pilot = Tally(program)
    yield from run.draw_until(pilot, PILOT, COUNTED_DRAWS)
    run.refuse_if_nowhere_defined(pilot)
    interval = None if pilot.undefined else interval_of(claim, counted, pilot, run.alpha)
    expected = 1
    if interval is not None and math.isfinite(interval.estimate):
        expected = planned(
            pilot.drawn,
            _to_plan_by(claim, counted, interval, pilot),
            comparison.region,
            widen,
            run.alpha * budget.PLANNED,
        )
    return CountedPilot(
        program=whole.in_blocks(expected // PLANNED_BLOCKS),
        most=most,
        tally=pilot,
        expected=expected,
        region=comparison.region,
        widen=widen,
        scale=scale,
    )


def interval_of(claim: Proportion, counted: Counted, tally: Tally, alpha: float) -> Interval:
    """The exact interval of the probability, and so of what the statement makes of it."""
    seen = seen_in(counted, tally)
    hits = round(float(tally.totals[0]))
    share = hits / seen if seen else math.nan
    error = math.sqrt(share * (1 - share) / seen) if seen else math.nan
    estimate, *ends = (
        claim.factor * value + claim.constant
        for value in (share, *clopper_pearson(hits, seen, alpha))
    )
    return Interval(estimate, min(ends), max(ends), abs(claim.factor) * error)


def _to_plan_by(claim: Proportion, counted: Counted, interval: Interval, tally: Tally) -> Interval:
    """The interval with an error that is not 0 where every draw came out alike.

    It is that of one hit and one miss more: what was never met may still be what is claimed.
    """
    seen = seen_in(counted, tally)
    likely = (round(float(tally.totals[0])) + 1) / (seen + 2)
    error = abs(claim.factor) * math.sqrt(likely * (1 - likely) / max(seen, 1))
    return replace(interval, standard_error=error)


def by_proportion(
    run: CaseRun, claim: Proportion, counted: Counted
) -> Generator[Request, SpanSums, Finding]:
    """One bare probability of an event that is one truth a draw: exact binomial intervals."""
    plan = planner(run)
    pilot = yield from piloted(plan, claim, counted)
    averages = by_averages(plan, counted.program, pilot.expected)
    if averages is not None:
        return (yield from judge_averages(run, *averages))
    program, most, region, widen = pilot.program, pilot.most, pilot.region, pilot.widen
    tally = Tally(program)
    verdict = Verdict.INCONCLUSIVE
    final = Interval(math.nan, 0.0, 1.0, math.nan)
    looks = looking(
        run, tally, expected=pilot.expected, fewest=FEWEST_DRAWS, most=most, counted=True
    )
    while (look := (yield from looks.look())) is not None:
        tally = looks.tally
        broken = run.undefined(tally, Method.PROPORTION, Guarantee.EXACT)
        if broken is not None:
            return broken
        final = interval_of(claim, counted, tally, look.alpha)
        rounding = ROUNDING * (abs(claim.factor) + abs(claim.constant))
        verdict = decide(final.low, final.high, region, widen, min(rounding, widen / 1000))
        hopeless = math.isnan(final.estimate) and run.seems_never(tally.drawn)
        if verdict is not Verdict.INCONCLUSIVE or hopeless or run.out_of_time():
            break
    explanation = None
    if math.isnan(final.estimate):
        explanation = Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
    elif verdict is Verdict.INCONCLUSIVE:
        explanation = Reason.TOO_WIDE.explain()
    return Finding(
        verdict=verdict,
        exact=of_proportion(claim),
        method=Method.PROPORTION,
        guarantee=Guarantee.EXACT,
        quantity=run.reading.comparisons[0].measures,
        region=region,
        estimate=final.estimate,
        interval=(final.low, final.high),
        standard_error=final.standard_error,
        scale=pilot.scale,
        sharpness=run.looked(pilot.scale, widen),
        about=pilot.scale,
        draws=tally.drawn,
        blocks=tally.drawn // tally.block_draws,
        seconds=tally.seconds,
        explanation=explanation,
        more_draws=more(
            verdict,
            tally.drawn,
            _to_plan_by(claim, counted, final, tally),
            region,
            widen,
            run.alpha,
            program.span_draws,
        ),
    )


# ---- averages in strata where counting takes long ------------------------------------------------


# Counts are exact, and so they are left for strata only where these take so many times fewer draws,
# or where counts alone are beyond the budget; and where counting takes so long, in rough
# nanoseconds of work.
SAVING = 20
WORTHWHILE = 5e8


def by_averages(run: CaseRun, program: Program, expected: int) -> tuple[Compiled, Knowledge] | None:
    """What is simulated and known where a probability is judged in strata; None where it is not.

    Args:
        run: the run of the case.
        program: how it is counted.
        expected: draws after which counts are likely to decide.
    """
    most = run.most_draws(program)
    if expected * program.cost < WORTHWHILE or run.prepared.in_strata == [None]:
        return None
    compiled, knowledge = _averages(run)
    required = run.settings.require
    if required is not None and not knowledge.guarantee.as_strong_as(Guarantee(required)):
        return None
    outlook = outlook_in_strata(run, compiled, knowledge)
    if outlook is None:
        return None
    beyond = expected > most and outlook.expected <= outlook.most
    if not beyond and SAVING * outlook.expected * outlook.program.cost > expected * program.cost:
        return None
    kept = run.prepared.in_strata[0]
    if kept is None:
        return None
    return kept.compiled, replace(knowledge, exact=kept.exact)


def _averages(run: CaseRun) -> tuple[Compiled, Knowledge]:
    lowered = run.prepared.lowered
    strategy = averages_of(lowered)
    compiled = compile_averages(strategy, lowered.operands, crossing=False)
    return compiled, knowledge_of(compiled)
