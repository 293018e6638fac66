"""Claims of certainty: an event always happens, or never, until a counterexample is drawn."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dropcheck.analysis.strategy import Certainty, Proportion
from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.intervals import FEWEST_BLOCKS, Interval, clopper_pearson, upper_bound
from dropcheck.inference.region import decide, of_certainty, of_probability, region_floor, widening
from dropcheck.judging.case import (
    FEWEST_DRAWS,
    CaseRun,
    Finding,
    Judging,
    Outlook,
    Planned,
    first_wrong,
    of_calls,
    rarest_violations,
)
from dropcheck.judging.exact import exact_probability, of_proportion
from dropcheck.judging.look import ENDLESS, more, planned, until_decided
from dropcheck.judging.plan_draws import fewest_that
from dropcheck.judging.rounding import LOOK_ROUNDING
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Exact, Guarantee, Method, Region, Resolution, Verdict
from dropcheck.simulation import (
    MAIN,
    PILOT,
    Counted,
    Program,
    Request,
    SpanSums,
    Tally,
)

# Looks for a counterexample of code, at twice as many draws each time: more than any run can make.
MOST_LOOKS = 64


def by_counterexample(run: CaseRun, claim: Certainty, counted: Counted) -> Judging:
    """Judge an event that is claimed to be certain: one counterexample refutes.

    Code, whose draws may take long, is looked at after each doubling of its draws, and the first
    counterexample ends the case.
    """
    most = run.most_draws(counted.program)
    program = counted.program.fitted(most, FEWEST_BLOCKS)
    bound = run.sharpest(rarest_violations(run.prepared))
    enough = draws_that_bound(run)
    of_code = program.tests_code
    tally = Violations(program)
    step = program.span_draws if of_code else enough
    if run.planning:
        yield from run.draw_until(tally, PILOT, 1)
        raise Planned(_certain_outlook(run, counted, tally, most))
    while True:
        yield from run.draw_until(tally, MAIN, min(enough, most, step))
        violations = round(float(tally.totals[0])) if not tally.undefined else 0
        seen = seen_in(counted, tally)
        spent = tally.drawn + program.span_draws > most
        hopeless = not seen and run.seems_never(tally.drawn)
        if tally.undefined or violations or spent or hopeless or run.out_of_time():
            break
        if upper_bound(0, seen, run.alpha) < bound:
            break
        step = 2 * tally.drawn if of_code else most
        if tally.drawn < enough:
            continue
        # a condition is seen in some draws only: go on until it was seen often enough
        enough = min(most, max(2 * tally.drawn, enough))
    # where the first look that shows a counterexample ends the case, each has its share of α
    alpha = run.alpha / MOST_LOOKS if of_code and violations else run.alpha
    return _found(run, claim, counted, tally, alpha)


def _certain_outlook(run: CaseRun, counted: Counted, tally: Tally, most: int) -> Outlook:
    share = seen_draws(counted, tally) / tally.drawn
    draws = draws_that_bound(run)
    # where a condition holds in some draws only, their number is doubled until it is enough,
    # unless the first look shows a counterexample
    if share and not tally.totals[0] > 0:
        draws *= 2 ** math.ceil(math.log2(1 / share))
    unit = tally.program.unit_draws
    return Outlook(
        program=tally.program,
        tally=tally,
        guarantee=Guarantee.EXACT,
        most=most,
        fewest=tally.program.span_draws,
        expected=draws,
        scale=1.0,
        smallest=lambda own, _: of_certainty(int(min(own, draws) * share / unit), run.alpha),
        unknown=None if share else partial(_never_true, tally),
    )


def _never_true(tally: Tally) -> Explanation:
    return Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)


def _found(run: CaseRun, claim: Certainty, counted: Counted, tally: Tally, alpha: float) -> Finding:
    """The finding by the counterexamples so far, or by there being none."""
    run.refuse_if_nowhere_defined(tally)
    broken = run.undefined(tally, Method.CERTAINTY, Guarantee.EXACT)
    if broken is not None:
        return broken
    bound = run.sharpest(rarest_violations(run.prepared))
    violations, seen = round(float(tally.totals[0])), seen_in(counted, tally)
    share = violations / max(1, seen_draws(counted, tally))
    unit = tally.program.unit_draws
    # in so many calls at least there is a violation, and in so many at most
    fewest, most_with = -(-violations // unit), min(violations, seen)
    low = clopper_pearson(fewest, seen, alpha)[0] / unit
    high = clopper_pearson(most_with, seen, alpha)[1]
    if claim.probability == 1:
        low, high, share = 1 - high, 1 - low, 1 - share
    explanation = None
    if violations:
        verdict = Verdict.REFUTED
        explanation = _counterexamples(run, tally, violations, seen_draws(counted, tally))
    elif upper_bound(0, seen, run.alpha) < bound:
        verdict = Verdict.VERIFIED
    else:
        verdict, explanation = Verdict.UNDECIDED, Reason.TOO_FEW_FOR_BOUND.explain()
        if counted.conditional and not seen:
            explanation = _never_true(tally)
    more_draws = None
    if verdict is Verdict.UNDECIDED and seen:
        # as many draws in which the condition holds as bound the violations
        more_draws = (
            draws_that_bound(run) * tally.drawn / seen_draws(counted, tally)
            - tally.drawn
            + counted.program.span_draws
        )
    return Finding(
        verdict=verdict,
        exact=exact_probability(claim.event, claim.condition),
        method=Method.CERTAINTY,
        guarantee=Guarantee.EXACT,
        quantity=run.reading.comparisons[0].measures,
        region=Region(claim.probability, claim.probability),
        estimate=share,
        interval=(low, high),
        scale=1.0,
        sharpness=Resolution(bound, bound, absolute=True),
        draws=tally.drawn,
        blocks=tally.drawn // tally.block_draws,
        seconds=tally.seconds,
        explanation=explanation,
        more_draws=more_draws,
    )


def _counterexamples(run: CaseRun, tally: Tally, violations: int, seen: int) -> Explanation:
    """The explanation by counterexamples; for code, also what it was given and what it gave."""
    if isinstance(tally, Violations) and tally.program.tests_code:
        first = first_wrong(tally, tally.first, run.generator, MAIN)
        return Reason.CODE_COUNTEREXAMPLES.explain(violations=violations, draws=seen, first=first)
    reason = Reason.COUNTEREXAMPLES if violations > 1 else Reason.ONE_COUNTEREXAMPLE
    return reason.explain(violations=violations, draws=seen)


class Violations(Tally):
    """A tally of counterexamples; `first` is the first draw of the first block that has one."""

    first = 0

    def add(self, spans: SpanSums) -> None:
        """Take in the next spans, in order."""
        rows = np.flatnonzero(spans.sums[:, 0] > 0)
        if len(rows) and not self.totals[0] > 0:
            self.first = self.drawn + int(rows[0]) * self.program.block_draws
        super().add(spans)


def draws_that_bound(run: CaseRun) -> int:
    """How many draws without a violation verify a claim of certainty.

    No violation among n draws bounds the chance of one by ln(1/α)/n. The same holds for n calls
    whose draws depend on each other: a call has a violation with at least the chance of a draw.
    """
    compiled = run.prepared.compiled
    bound = run.sharpest(rarest_violations(run.prepared))
    calls = math.ceil(math.log(1 / run.alpha) / bound * 1.0001) + 1
    if not isinstance(compiled, Counted):
        return calls
    return max(compiled.program.fewest_planned, compiled.program.unit_draws * calls)


def seen_draws(counted: Counted, tally: Tally) -> int:
    """The number of draws, or of those in which the condition holds; 0 if it is unknown in some."""
    if not counted.conditional:
        return tally.drawn
    held = float(tally.totals[1])
    return 0 if math.isnan(held) else round(held)


def seen_in(counted: Counted, tally: Tally) -> int:
    """How many draws count, or how many calls, where draws of a call may depend on each other.

    With a condition, as many calls count as would hold the draws in which it is true.
    """
    return seen_draws(counted, tally) // tally.program.unit_draws


# ---- counting ------------------------------------------------------------------------------------
#
# A bare probability of one event, counted: exact binomial intervals.


# Draws of the pilot: a probability is then known to a hundredth.
COUNTED_DRAWS = 8192
# Where it leaves open on which side of an end the probability lies, it is made longer by this
# factor, up to this share of the budget.
PILOT_GROWTH, MOST_PILOT = 4, 1 / 16
# Blocks at the planned look: whole spans are drawn, of a few blocks each, and none in vain.
PLANNED_BLOCKS = 512


@dataclass(frozen=True, slots=True)
class EventPlan:
    """What is known of counts before they are made, by the model or by a pilot.

    A verdict is expected after `expected` draws, and `shown` is the share of the draws that count.
    A run ends after `ends` draws: the budget, or fewer where the model shows that no number of
    draws would do. `endless` says why in such a case.
    """

    expected: int
    ends: int
    shown: float
    endless: Reason = Reason.AT_THE_EDGE


@dataclass(frozen=True, slots=True)
class CountedPilot:
    """A pilot of a probability, the plan that it gave, and the region that is claimed."""

    program: Program
    most: int
    tally: Tally
    plan: EventPlan
    region: Region
    widen: float
    scale: float
    exact: Exact | None  # what the statement makes of the probability, where the model says it


def piloted(
    run: CaseRun, claim: Proportion, counted: Counted
) -> Generator[Request, SpanSums, CountedPilot]:
    """Draw a pilot, and plan the looks by it alone, or by the model where that says enough."""
    most = run.most_draws(counted.program)
    whole = counted.program.fitted(most, FEWEST_BLOCKS)
    reading = run.reading
    (comparison,) = reading.comparisons
    scale = reading.known_scale
    if scale is None:  # the size of a probability is 1
        scale = abs(claim.factor) + abs(claim.constant)
    widen = widening(comparison.region, run.sharpness(scale))
    region = comparison.allowed(run.sharpness(scale))
    pilot, wanted = Tally(whole.in_blocks(1)), COUNTED_DRAWS
    exact = of_proportion(run.prepared.analysed.strategy)
    known = None if exact is None else _by_model(run, claim, exact, region, widen, most)
    while True:
        yield from run.draw_until(pilot, PILOT, wanted)
        run.refuse_if_nowhere_defined(pilot)
        plan = known or _by_pilot(run, claim, counted, pilot, region, widen, most)
        wanted = PILOT_GROWTH * pilot.drawn
        open_ended = known is None and plan.expected >= ENDLESS
        if not open_ended or wanted > most * MOST_PILOT or run.out_of_time():
            break
    return CountedPilot(
        program=whole.in_blocks(min(plan.expected, plan.ends) // PLANNED_BLOCKS),
        most=most,
        tally=pilot,
        plan=plan,
        region=region,
        widen=widen,
        scale=scale,
        exact=exact,
    )


def _by_pilot(
    run: CaseRun,
    claim: Proportion,
    counted: Counted,
    pilot: Tally,
    region: Region,
    widen: float,
    most: int,
) -> EventPlan:
    expected = 1
    if not pilot.undefined and seen_in(counted, pilot):
        interval = interval_of(claim, counted, pilot, run.alpha)
        likely = _to_plan_by(claim, counted, interval, pilot)
        expected = planned(pilot.drawn, likely, region, widen, run.alpha * budget.PLANNED)
    shown = seen_draws(counted, pilot) / max(pilot.drawn, 1)
    return EventPlan(expected, most, shown)


def _by_model(
    run: CaseRun, claim: Proportion, exact: Exact, region: Region, widen: float, most: int
) -> EventPlan | None:
    """The plan where the model gives the probability, and that of the condition; else None."""
    condition = None if claim.condition is None else exact_probability(claim.condition, None)
    shown = 1.0 if condition is None else condition.value
    if claim.condition is not None and (condition is None or not shown > condition.error):
        return None
    if not region.strict_end_within(exact.value, exact.error + _rounding(claim)):
        expected = _to_decide(run, claim, exact, shown, region, widen)
        return EventPlan(expected, most, shown, Reason.TOO_FINE)
    # the draws that would decide about closed ends show how near the probability is
    closed = Region(region.low, region.high)
    ends = min(_to_decide(run, claim, exact, shown, closed, widen), most)
    return EventPlan(ENDLESS, ends, shown)


def _to_decide(
    run: CaseRun, claim: Proportion, exact: Exact, shown: float, region: Region, widen: float
) -> int:
    """Draws after which counts are likely to decide where the probability is known."""
    chance = min(max((exact.value - claim.constant) / claim.factor, 0.0), 1.0)
    alpha = run.alpha * budget.PLANNED

    def decides(draws: int) -> bool:
        seen = int(draws * shown)
        error = budget.CHANCE * math.sqrt(seen * chance * (1 - chance))
        first, second = (
            _decided(
                claim, _of_counts(claim, min(max(round(hits), 0), seen), seen, alpha), region, widen
            )
            for hits in (seen * chance - error, seen * chance + error)
        )
        return first is second is not Verdict.UNDECIDED

    return fewest_that(decides, FEWEST_DRAWS, ENDLESS, share=0.002)


def interval_of(claim: Proportion, counted: Counted, tally: Tally, alpha: float) -> Interval:
    """The exact interval of the probability, and so of what the statement makes of it."""
    return _of_counts(claim, round(float(tally.totals[0])), seen_in(counted, tally), alpha)


def _of_counts(claim: Proportion, hits: int, seen: int, alpha: float) -> Interval:
    share = hits / seen if seen else math.nan
    error = math.sqrt(share * (1 - share) / seen) if seen else math.nan
    estimate, *ends = (
        claim.factor * value + claim.constant
        for value in (share, *clopper_pearson(hits, seen, alpha))
    )
    return Interval(estimate, min(ends), max(ends), abs(claim.factor) * error)


def _of_averages(claim: Proportion, counted: Counted, averages: Floats) -> Floats:
    seen = averages[1] if counted.conditional else np.ones_like(averages[0])
    return np.asarray(claim.factor * averages[0] / seen + claim.constant)


def _decided(claim: Proportion, interval: Interval, region: Region, widen: float) -> Verdict:
    rounding = min(_rounding(claim), widen / 1000)
    return decide(interval.low, interval.high, region, widen, rounding)


def _rounding(claim: Proportion) -> float:
    return LOOK_ROUNDING * (abs(claim.factor) + abs(claim.constant))


def _to_plan_by(claim: Proportion, counted: Counted, interval: Interval, tally: Tally) -> Interval:
    """The interval with a standard error that is not 0 even if every draw came out alike.

    It is the error with one more hit and one more miss: what never occurred may still be possible.
    """
    seen = seen_in(counted, tally)
    likely = (round(float(tally.totals[0])) + 1) / (seen + 2)
    error = abs(claim.factor) * math.sqrt(likely * (1 - likely) / max(seen, 1))
    return replace(interval, standard_error=error)


def by_proportion(run: CaseRun, claim: Proportion, counted: Counted) -> Judging:
    """Judge one bare probability, of an event that is one truth a draw, by binomial intervals."""
    pilot = yield from piloted(run, claim, counted)
    program, region, widen = pilot.program, pilot.region, pilot.widen
    tally = Tally(program)
    least, most = sorted((claim.constant, claim.constant + claim.factor))

    def judged(alpha: float) -> Finding:
        seen = interval_of(claim, counted, tally, alpha)
        if program.declared:
            seen = of_calls(seen, tally, partial(_of_averages, claim, counted), alpha)
            seen = replace(seen, low=max(seen.low, least), high=min(seen.high, most))
        verdict, explanation = Verdict.UNDECIDED, None
        if seen.unmet is None:
            verdict = _decided(claim, seen, region, widen)
        if math.isnan(seen.estimate):
            explanation = _never_true(tally)
        elif verdict is Verdict.UNDECIDED:
            explanation = seen.unmet or Reason.TOO_WIDE.explain()
        likely = _to_plan_by(claim, counted, seen, tally)
        return Finding(
            verdict=verdict,
            exact=pilot.exact,
            method=Method.PROPORTION,
            guarantee=Guarantee.EXACT,
            quantity=run.reading.comparisons[0].measures,
            region=run.reading.comparisons[0].region,
            estimate=seen.estimate,
            interval=(seen.low, seen.high),
            standard_error=seen.standard_error,
            scale=pilot.scale,
            sharpness=run.looked(pilot.scale, widen),
            about=pilot.scale,
            draws=tally.drawn,
            blocks=tally.drawn // tally.block_draws,
            seconds=tally.seconds,
            explanation=explanation,
            more_draws=more(
                verdict, tally.drawn, likely, region, widen, run.alpha, program.span_draws
            ),
        )

    return (yield from until_decided(run, _outlook(run, pilot), Method.PROPORTION, tally, judged))


def _outlook(run: CaseRun, pilot: CountedPilot) -> Outlook:
    plan, region, floor = pilot.plan, pilot.region, region_floor(pilot.region, pilot.widen)

    def smallest(draws: int, alpha: float) -> float | None:
        seen = of_probability(region.low, region.high, int(draws * plan.shown), alpha, run.alpha)
        return None if seen is None else max(seen, floor)

    return Outlook(
        program=pilot.program,
        tally=pilot.tally,
        guarantee=Guarantee.EXACT,
        most=pilot.most,
        fewest=FEWEST_DRAWS,
        expected=plan.expected,
        scale=pilot.scale,
        smallest=smallest,
        endless=plan.endless,
        ends=plan.ends,
        unknown=None if plan.shown else partial(_never_true, pilot.tally),
    )
