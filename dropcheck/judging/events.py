"""Events, which are counted: what is claimed to be certain, and the probability of one event."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.analysis.strategy import Certainty, Proportion
from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.intervals import FEWEST_BLOCKS, Interval, clopper_pearson, upper_bound
from dropcheck.inference.region import (
    decide,
    ways,
    widening,
)
from dropcheck.judging.case import (
    FEWEST_DRAWS,
    CaseRun,
    Finding,
    Judging,
    Outlook,
    first_wrong,
    of_calls,
    rarest_violations,
)
from dropcheck.judging.exact import exact_probability, of_proportion
from dropcheck.judging.look import ENDLESS, more_draws, until_decided
from dropcheck.judging.plan_draws import fewest_that
from dropcheck.judging.rounding import LOOK_ROUNDING
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Method, Region, Resolution, Verdict
from dropcheck.simulation import MAIN, PILOT, Counted, SpanSums, Tally


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


def _never_true(tally: Tally) -> Explanation:
    return Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)


# ---- certainties ---------------------------------------------------------------------------------


class Violations(Tally):
    """A tally of counterexamples; `first` is the first draw of the first block that has one."""

    first = 0

    def add(self, spans: SpanSums) -> None:
        """Take in the next spans, in order."""
        rows = np.flatnonzero(spans.sums[:, 0] > 0)
        if len(rows) and not self.totals[0] > 0:
            self.first = self.drawn + int(rows[0]) * self.program.block_draws
        super().add(spans)


def by_counterexample(run: CaseRun, claim: Certainty, counted: Counted) -> Judging:
    """Judge an event that is claimed to be certain: one counterexample refutes.

    No violation among n draws bounds the chance of one by ln(1/α)/n. The same holds for n calls
    whose draws depend on each other: a call has a violation with at least the chance of a draw.
    """
    most = run.most_draws(counted.program)
    program = counted.program.fitted(most, FEWEST_BLOCKS)
    unit, tally = program.unit_draws, Violations(program)
    bound = run.sharpest(rarest_violations(run.prepared))
    needed = 1.0001 * math.log(1 / (run.alpha * budget.PLANNED)) / bound + 1
    expected = max(program.fewest_planned, unit * math.ceil(needed))

    def judged(alpha: float) -> Finding:
        violations, seen = round(float(tally.totals[0])), seen_in(counted, tally)
        verdict, explanation, more = Verdict.UNDECIDED, Reason.TOO_FEW_FOR_BOUND.explain(), None
        if counted.conditional and not seen:
            explanation = _never_true(tally)
        elif seen:
            more = needed * unit * tally.drawn / seen_draws(counted, tally)
            more += program.span_draws - tally.drawn
        off = violations / max(1, seen_draws(counted, tally))
        # in so many calls at least there is a violation, and in so many at most
        low = clopper_pearson(-(-violations // unit), seen, alpha)[0] / unit
        high = clopper_pearson(min(violations, seen), seen, alpha)[1]
        if claim.probability == 1:
            low, high, off = 1 - high, 1 - low, 1 - off
        found = Finding(
            verdict=verdict,
            exact=exact_probability(claim.event, claim.condition),
            method=Method.CERTAINTY,
            guarantee=Guarantee.EXACT,
            quantity=run.reading.comparisons[0].measures,
            region=Region(claim.probability, claim.probability),
            estimate=off,
            interval=(low, high),
            scale=1.0,
            sharpness=Resolution(bound, bound, absolute=True),
            draws=tally.drawn,
            blocks=tally.drawn // tally.block_draws,
            seconds=tally.seconds,
            explanation=explanation,
            more_draws=more,
        )
        if violations:
            why = _counterexamples(run, tally, violations, seen_draws(counted, tally))
            return replace(found, verdict=Verdict.REFUTED, explanation=why, more_draws=None)
        if upper_bound(0, seen, alpha) < bound:
            return replace(found, verdict=Verdict.VERIFIED, explanation=None, more_draws=None)
        return found

    step = program.span_draws
    while program.tests_code and step < expected and not run.out_of_time():
        yield from run.draw_until(tally, MAIN, step)  # the first counterexample of code is enough
        step *= 2
        if tally.undefined or tally.totals[0] > 0:
            expected = most = tally.drawn
    outlook = Outlook(
        program=program,
        guarantee=Guarantee.EXACT,
        most=most,
        fewest=program.span_draws,
        expected=expected,
    )
    return (yield from until_decided(run, outlook, Method.CERTAINTY, tally, judged))


def _counterexamples(run: CaseRun, tally: Violations, violations: int, seen: int) -> Explanation:
    """The explanation by counterexamples; for code, also what it was given and what it gave."""
    if tally.program.tests_code:
        first = first_wrong(tally, tally.first, run.generator, MAIN)
        return Reason.CODE_COUNTEREXAMPLES.explain(violations=violations, draws=seen, first=first)
    reason = Reason.COUNTEREXAMPLES if violations > 1 else Reason.ONE_COUNTEREXAMPLE
    return reason.explain(violations=violations, draws=seen)


# ---- probabilities -------------------------------------------------------------------------------


# Draws of the pilot: a probability is then known to a hundredth. Where each draw is a call of code,
# fewer show it to a twentieth.
COUNTED_DRAWS, COUNTED_CALLS = 8192, 512
# Where it leaves open on which side of an end the probability lies, it is made longer by this
# factor, up to this share of the budget.
PILOT_GROWTH, MOST_PILOT = 4, 1 / 16
# Blocks at the planned look: whole spans are drawn, of a few blocks each, and none in vain.
PLANNED_BLOCKS = 512


@dataclass(frozen=True, slots=True)
class Chance:
    """A claim that a probability, times a factor plus a constant, lies in a region."""

    claim: Proportion
    region: Region
    widen: float
    alpha: float  # of the planned look

    @property
    def rounding(self) -> float:
        """What rounding may do to the quantity."""
        return LOOK_ROUNDING * (abs(self.claim.factor) + abs(self.claim.constant))

    def interval(self, hits: int, seen: int, alpha: float) -> Interval:
        """The exact interval of the quantity, by so many hits.

        Its standard error is that with one more hit and one more miss: what never occurred may
        still be possible.
        """
        factor, constant = self.claim.factor, self.claim.constant
        share, likely = (hits / seen if seen else math.nan), (hits + 1) / (seen + 2)
        low, high = sorted(factor * end + constant for end in clopper_pearson(hits, seen, alpha))
        error = abs(factor) * math.sqrt(likely * (1 - likely) / max(seen, 1))
        return Interval(factor * share + constant, low, high, error)

    def by_calls(self, interval: Interval, tally: Tally, alpha: float) -> Interval:
        """The interval, for code whose draws are declared independent by its calls too."""
        if not tally.program.declared:
            return interval
        factor, constant = self.claim.factor, self.claim.constant

        def quantity(averages: Floats) -> Floats:
            seen = averages[1] if self.claim.condition is not None else np.ones_like(averages[0])
            return np.asarray(factor * averages[0] / seen + constant)

        wider = of_calls(interval, tally, quantity, alpha)
        least, most = sorted((constant, constant + factor))
        return replace(wider, low=max(wider.low, least), high=min(wider.high, most))

    def decided(self, interval: Interval) -> Verdict:
        """The verdict by an interval."""
        rounding = min(self.rounding, self.widen / 1000)
        return decide(interval.low, interval.high, self.region, self.widen, rounding)

    def draws_for(self, estimate: float, near: float, shown: float) -> int:
        """Draws after which counts are likely to decide.

        Args:
            estimate: of the quantity; where it may be off by `near`, towards what is claimed.
            near: how far off it may be.
            shown: the share of the draws that count.
        """
        if self.region.strict_end_within(estimate, near) or not shown > 0:
            return ENDLESS
        if not max(*ways(estimate, near, self.region, self.widen)) > 0:
            return ENDLESS
        nearest = min(max(estimate, self.region.low), self.region.high)
        moved = estimate + math.copysign(min(abs(nearest - estimate), near), nearest - estimate)
        chance = min(max((moved - self.claim.constant) / self.claim.factor, 0.0), 1.0)

        def decides(draws: int) -> bool:
            seen = int(draws * shown)
            error = budget.CHANCE * math.sqrt(seen * chance * (1 - chance))
            likely = (min(max(round(seen * chance + by), 0), seen) for by in (-error, error))
            first, second = (self.decided(self.interval(hits, seen, self.alpha)) for hits in likely)
            return first is second is not Verdict.UNDECIDED

        return fewest_that(decides, FEWEST_DRAWS, ENDLESS, share=0.002)


def by_proportion(run: CaseRun, claim: Proportion, counted: Counted) -> Judging:
    """Judge one bare probability, of an event that is one truth a draw, by binomial intervals.

    A pilot plans the looks alone, or the model where that says enough.
    """
    most = run.most_draws(counted.program)
    whole = counted.program.fitted(most, FEWEST_BLOCKS)
    (comparison,) = run.reading.comparisons
    # the size of a probability is 1
    scale = run.reading.known_scale or abs(claim.factor) + abs(claim.constant)
    widen = widening(comparison.region, run.sharpness(scale))
    region = comparison.allowed(run.sharpness(scale))
    chance = Chance(claim, region, widen, run.alpha * budget.PLANNED)
    exact = of_proportion(run.prepared.analysed.strategy)
    held = None if claim.condition is None else exact_probability(claim.condition, None)
    known = exact if claim.condition is None or (held and held.value > held.error) else None
    pilot = Tally(whole.in_blocks(1))
    wanted = COUNTED_CALLS if whole.code.single else COUNTED_DRAWS
    at, near, expected = math.nan, 0.0, 1
    while True:
        yield from run.draw_until(pilot, PILOT, wanted)
        run.refuse_if_nowhere_defined(pilot)
        shown = seen_draws(counted, pilot) / max(pilot.drawn, 1)
        if known is not None:
            shown = held.value if held is not None else 1.0
            at, near = known.value, known.error + chance.rounding
        elif not pilot.undefined and seen_in(counted, pilot):
            seen = chance.interval(round(float(pilot.totals[0])), seen_in(counted, pilot), 0.5)
            at, near = seen.estimate, 2 * seen.standard_error
        else:
            break
        expected = chance.draws_for(at, near, shown)
        wanted = PILOT_GROWTH * pilot.drawn
        if known or expected < ENDLESS or wanted > most * MOST_PILOT or run.out_of_time():
            break
    if known is not None and expected >= ENDLESS:  # fewer draws show how near it is to the end
        closed = replace(chance, region=Region(region.low, region.high))
        most = min(most, closed.draws_for(at, near, shown))
    program = whole.in_blocks(min(expected, most) // PLANNED_BLOCKS)
    tally = Tally(program)

    def judged(alpha: float) -> Finding:
        seen = chance.interval(round(float(tally.totals[0])), seen_in(counted, tally), alpha)
        seen = chance.by_calls(seen, tally, alpha)
        verdict = Verdict.UNDECIDED if seen.unmet is not None else chance.decided(seen)
        explanation, more = None, None
        if math.isnan(seen.estimate):
            explanation = _never_true(tally)
        elif verdict is Verdict.UNDECIDED:
            share = seen_draws(counted, tally) / tally.drawn
            needed = chance.draws_for(seen.estimate, 2 * seen.standard_error, share)
            more = more_draws(needed, tally)
            explanation = seen.unmet or Reason.TOO_WIDE.explain()
        return Finding(
            verdict=verdict,
            exact=exact,
            method=Method.PROPORTION,
            guarantee=Guarantee.EXACT,
            quantity=comparison.measures,
            region=comparison.region,
            estimate=seen.estimate,
            interval=(seen.low, seen.high),
            standard_error=seen.standard_error,
            scale=scale,
            sharpness=run.looked(scale, widen),
            about=scale,
            draws=tally.drawn,
            blocks=tally.drawn // tally.block_draws,
            seconds=tally.seconds,
            explanation=explanation,
            more_draws=more,
        )

    outlook = Outlook(
        program=program,
        guarantee=Guarantee.EXACT,
        most=most,
        fewest=FEWEST_DRAWS,
        expected=expected,
    )
    return (yield from until_decided(run, outlook, Method.PROPORTION, tally, judged))
