"""Claims of certainty: an event always happens, or never, until a counterexample is drawn."""

from __future__ import annotations

import math

import numpy as np

from dropcheck.analysis.strategy import Certainty
from dropcheck.inference.finite_sample import clopper_pearson, upper_bound
from dropcheck.inference.interval import FEWEST_BLOCKS
from dropcheck.judging.case_run import CaseRun, Finding, Judging
from dropcheck.judging.exactly import exact_probability, known_exception
from dropcheck.judging.prepared import rarest_violations
from dropcheck.judging.wrong_draws import first_wrong
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Method, Region, Resolution, Verdict
from dropcheck.simulation import MAIN, Counted, SpanSums, Tally

# Looks for a counterexample of code, at twice as many draws each time: more than any run can make.
MOST_LOOKS = 64


def by_counterexample(run: CaseRun, claim: Certainty, counted: Counted) -> Judging:
    """Judge an event that is claimed to be certain: one counterexample refutes.

    The model refutes too, where it gives the chance of a counterexample. Code, whose draws may take
    long, is looked at after each doubling of its draws, and the first counterexample ends the case.
    """
    known = known_exception(run, claim.event, claim.condition, claim.probability)
    if known is not None:
        return known
    return (yield from by_draws(run, claim, counted))


def by_draws(run: CaseRun, claim: Certainty, counted: Counted) -> Judging:
    """Judge an event that is claimed to be certain by draws alone."""
    most = run.most_draws(counted.program)
    program = counted.program.fitted(most, FEWEST_BLOCKS)
    bound = rarest_violations(run.prepared)
    enough = draws_that_bound(run)
    of_code = program.tests_code
    tally = Violations(program)
    step = program.span_draws if of_code else enough
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


def _found(run: CaseRun, claim: Certainty, counted: Counted, tally: Tally, alpha: float) -> Finding:
    """The finding by the counterexamples so far, or by there being none."""
    run.refuse_if_nowhere_defined(tally)
    broken = run.undefined(tally, Method.CERTAINTY, Guarantee.EXACT)
    if broken is not None:
        return broken
    bound = rarest_violations(run.prepared)
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
        verdict, explanation = Verdict.INCONCLUSIVE, Reason.TOO_FEW_FOR_BOUND.explain()
        if counted.conditional and not seen:
            explanation = Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
    more_draws = None
    if verdict is Verdict.INCONCLUSIVE and seen:
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
    bound = rarest_violations(run.prepared)
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
