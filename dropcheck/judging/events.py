"""Events that are claimed to be certain: one counterexample refutes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dropcheck.analysis.strategy import Certainty
from dropcheck.inference import budget
from dropcheck.inference.intervals import FEWEST_BLOCKS, clopper_pearson, upper_bound
from dropcheck.judging.case import (
    CaseRun,
    Finding,
    Judging,
    Outlook,
    first_wrong,
    rarest_violations,
)
from dropcheck.judging.exact import exact_probability
from dropcheck.judging.look import until_decided
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Method, Region, Resolution, Verdict
from dropcheck.simulation import MAIN, Counted, SpanSums, Tally


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
