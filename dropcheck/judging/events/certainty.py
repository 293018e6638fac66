"""Claims of certainty: an event always happens, or never, until a counterexample is drawn."""

from __future__ import annotations

import math

import numpy as np

from dropcheck.analysis.strategy import Certainty
from dropcheck.inference.finite_sample import clopper_pearson, upper_bound
from dropcheck.inference.interval import FEWEST_BLOCKS
from dropcheck.judging.case_run import CaseRun, Finding, Judging
from dropcheck.judging.evidence.units import looking, planner
from dropcheck.judging.exactly import exact_probability, known_exception
from dropcheck.judging.prepared import rarest_violations
from dropcheck.judging.wrong_draws import first_wrong
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Method, Region, Resolution, Verdict
from dropcheck.simulation import MAIN, Counted, SpanSums, Tally

# Looks for a counterexample of code, at twice as many draws each time: more than any run can make.
MOST_LOOKS = 64


def by_counterexample(run: CaseRun, claim: Certainty, counted: Counted) -> Judging:
    """An event that is claimed to be certain: one counterexample refutes.

    So does the model where it gives the chance of one. Code, whose draws may take long, is looked
    at after each doubling of its draws, and the first counterexample ends the case.
    """
    known = known_exception(run, claim.event, claim.condition, claim.probability)
    if known is not None:
        return known
    return (yield from by_draws(run, claim, counted))


def by_draws(run: CaseRun, claim: Certainty, counted: Counted) -> Judging:
    """The same by what is drawn alone."""
    if run.held is not None:
        return (yield from _by_all_nights(run, claim, counted))
    most = run.most_draws(counted.program)
    program = counted.program.fitted(most, FEWEST_BLOCKS)
    bound = violations_bound(run)
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


def _by_all_nights(run: CaseRun, claim: Certainty, counted: Counted) -> Judging:
    """The same from draws that are kept.

    A claim is verified by many draws without a counterexample. If later ones, too, have none, it
    stays so; so that all looks together have the chance to be wrong of the first that verifies it.
    """
    plan = planner(run)
    most = plan.most_draws(counted.program)
    tally = Tally(counted.program.fitted(most, FEWEST_BLOCKS))
    enough = draws_that_bound(plan)
    looks = looking(run, tally, expected=enough, fewest=1, most=most, counted=True)
    alpha, bound = run.alpha, violations_bound(run)
    while (look := (yield from looks.look())) is not None:
        tally = looks.tally
        if tally.undefined or tally.totals[0] > 0:
            alpha = look.alpha
            break
        hopeless = not seen_in(counted, tally) and run.seems_never(tally.drawn)
        if hopeless or upper_bound(0, seen_in(counted, tally), alpha) < bound:
            break
    return _found(run, claim, counted, tally, alpha)


def _found(run: CaseRun, claim: Certainty, counted: Counted, tally: Tally, alpha: float) -> Finding:
    """What the counterexamples so far say, or that there is none."""
    run.refuse_if_nowhere_defined(tally)
    broken = run.undefined(tally, Method.CERTAINTY, Guarantee.EXACT)
    if broken is not None:
        return broken
    bound = violations_bound(run)
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
    """What refutes; of code, also what it was given and gave."""
    if isinstance(tally, Violations) and tally.program.tests_code:
        first = first_wrong(tally, tally.first, run.generator, MAIN)
        return Reason.CODE_COUNTEREXAMPLES.explain(violations=violations, draws=seen, first=first)
    reason = Reason.COUNTEREXAMPLES if violations > 1 else Reason.ONE_COUNTEREXAMPLE
    return reason.explain(violations=violations, draws=seen)


class Violations(Tally):
    """A tally of counterexamples, which knows a draw of the first block that holds one."""

    first = 0

    def add(self, spans: SpanSums) -> None:
        """Take in the next spans, in order."""
        rows = np.flatnonzero(spans.sums[:, 0] > 0)
        if len(rows) and not self.totals[0] > 0:
            self.first = self.drawn + int(rows[0]) * self.program.block_draws
        super().add(spans)


def violations_bound(run: CaseRun) -> float:
    """How rare violations of a claim of certainty must be for it to be verified."""
    return rarest_violations(run.prepared)


def draws_that_bound(run: CaseRun) -> int:
    """Draws that verify a claim of certainty where none is a violation.

    No violation among n draws bounds their chance by ln(1/α)/n. So it does among n calls whose
    draws depend on each other: of calls without one the chance is no less.
    """
    compiled = run.prepared.compiled
    calls = math.ceil(math.log(1 / run.alpha) / violations_bound(run) * 1.0001) + 1
    if not isinstance(compiled, Counted):
        return calls
    return max(compiled.program.fewest_planned, compiled.program.unit_draws * calls)


def seen_draws(counted: Counted, tally: Tally) -> int:
    """All draws, or those in which the condition holds; none where it is unknown in some."""
    if not counted.conditional:
        return tally.drawn
    held = float(tally.totals[1])
    return 0 if math.isnan(held) else round(held)


def seen_in(counted: Counted, tally: Tally) -> int:
    """Draws that count, or calls of as many draws, where these may depend on each other.

    Of calls in which the condition holds in some draws, as many count as would hold these draws.
    """
    return seen_draws(counted, tally) // tally.program.unit_draws
