"""Claims about one event, counted: certainty by counterexample, a bare probability exactly."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace

import numpy as np

from dropcheck.inference import budget
from dropcheck.inference.binomial import clopper_pearson, upper_bound
from dropcheck.inference.interval import RAREST_SEEN, Interval
from dropcheck.inference.region import Region, decide, widening
from dropcheck.judging.statement import ROUNDING, more, planned
from dropcheck.judging.trial import (
    FEWEST_DRAWS,
    Finding,
    Trial,
    fitted,
)
from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.simulation.blocks import Request, Tally
from dropcheck.simulation.compile import Certainty, Proportion
from dropcheck.simulation.program import SpanSums
from dropcheck.simulation.streams import MAIN, PILOT


def by_counterexample(trial: Trial, claim: Certainty) -> Generator[Request, SpanSums, CaseResult]:
    """An event that is claimed to be certain: one counterexample refutes."""
    most = trial.most_draws(claim.program)
    program = fitted(claim.program, most)
    bound = min(RAREST_SEEN, trial.case.claim.within or RAREST_SEEN)
    # no violation among n draws bounds their chance by ln(1/α)/n
    enough = bounding = math.ceil(math.log(1 / trial.alpha) / bound * 1.0001) + 1
    tally = Tally(program)
    centres = np.zeros(program.size)
    while True:
        yield from trial.draw_until(tally, program, MAIN, centres, min(enough, most))
        violations = round(float(tally.totals[0])) if not tally.undefined else 0
        seen = round(float(tally.totals[1])) if claim.conditional else tally.drawn
        if tally.undefined or violations or tally.drawn + program.span_draws > most or trial.out_of_time():
            break
        if upper_bound(0, seen, trial.alpha) < bound:
            break
        # a condition is seen in some draws only: go on until it was seen often enough
        enough = min(most, max(2 * tally.drawn, enough))
    trial.refuse_if_nowhere_defined(tally)
    broken = trial.undefined(tally)
    if broken is not None:
        return trial.result(replace(broken, guarantee=Guarantee.EXACT))
    low, high = clopper_pearson(violations, seen, trial.alpha)
    share = violations / seen if seen else 0.0
    if claim.probability == 1:
        low, high, share = 1 - high, 1 - low, 1 - share
    if violations:
        verdict, reason = Verdict.REFUTED, f"{violations:,} counterexamples in {seen:,} draws"
        if violations == 1:
            reason = f"1 counterexample in {seen:,} draws"
    elif upper_bound(0, seen, trial.alpha) < bound:
        verdict, reason = Verdict.VERIFIED, None
    else:
        verdict, reason = Verdict.INCONCLUSIVE, "too few draws to bound the violations"
        if claim.conditional and not seen:
            reason = f"the condition was never met in {tally.drawn:,} draws"
    warnings: tuple[str, ...] = ()
    if verdict is Verdict.VERIFIED:
        exact = fitted(claim.exact, most).span(
            trial.generator(MAIN, 0), np.zeros(claim.exact.size), 0
        )
        if float(exact.sums[:, 0].sum()) > 0:
            warnings = (
                f"{trial.case.claim.id}: values that differ by rounding alone were taken for "
                "equal; isclose(a, b) says so",
            )
    return trial.result(
        Finding(
            verdict,
            share,
            (low, high),
            None,
            Region(claim.probability, claim.probability),
            1.0,
            tally.drawn,
            tally.drawn // tally.block_draws,
            tally.seconds,
            Guarantee.EXACT,
            reason,
            # as many draws in which the condition holds as bound the violations
            bounding * tally.drawn / seen - tally.drawn
            if verdict is Verdict.INCONCLUSIVE and seen
            else None,
            warnings,
        )
    )


def by_proportion(trial: Trial, claim: Proportion) -> Generator[Request, SpanSums, CaseResult]:
    """One bare probability of an event that is one truth a draw: exact binomial intervals."""
    most = trial.most_draws(claim.program)
    program = fitted(claim.program, most)
    reading = trial.reading
    (comparison,) = reading.comparisons
    scale = 1.0 if reading.known_scale is None else reading.known_scale
    widen = widening(comparison.region, trial.sharpness(scale))
    centres = np.zeros(program.size)

    def interval(tally: Tally, alpha: float) -> Interval:
        seen = round(float(tally.totals[1])) if claim.conditional else tally.drawn
        hits = round(float(tally.totals[0]))
        share = hits / seen if seen else math.nan
        error = math.sqrt(share * (1 - share) / seen) if seen else math.nan
        low, high = clopper_pearson(hits, seen, alpha)
        return Interval(share, low, high, error)

    pilot = Tally(program)
    yield from trial.draw_until(pilot, program, PILOT, centres, 1)
    trial.refuse_if_nowhere_defined(pilot)
    found = interval(pilot, trial.alpha) if not pilot.undefined else None
    expected = 1
    if found is not None and math.isfinite(found.estimate):
        expected = planned(
            pilot.drawn,
            found,
            [(comparison.region, widen)],
            trial.alpha * budget.PLANNED,
            Guarantee.EXACT,
        )
    tally = Tally(program)
    verdict = Verdict.INCONCLUSIVE
    final = Interval(math.nan, 0.0, 1.0, math.nan)
    for look in budget.looks(expected, min(FEWEST_DRAWS, most), most, trial.alpha):
        yield from trial.draw_until(tally, program, MAIN, centres, look.draws)
        broken = trial.undefined(tally)
        if broken is not None:
            return trial.result(replace(broken, guarantee=Guarantee.EXACT))
        final = interval(tally, look.alpha)
        verdict = decide(final.low, final.high, comparison.region, widen, ROUNDING)
        if verdict is not Verdict.INCONCLUSIVE or trial.out_of_time():
            break
    reason = None
    if math.isnan(final.estimate):
        reason = f"the condition was never met in {tally.drawn:,} draws"
    elif verdict is Verdict.INCONCLUSIVE:
        reason = "the interval is still too wide"
    return trial.result(
        Finding(
            verdict,
            final.estimate,
            (final.low, final.high),
            final.standard_error,
            comparison.region,
            scale,
            tally.drawn,
            tally.drawn // tally.block_draws,
            tally.seconds,
            Guarantee.EXACT,
            reason,
            more(
                verdict,
                tally.drawn,
                final,
                [(comparison.region, widen)],
                trial.alpha,
                Guarantee.EXACT,
            ),
            trial.ties(program),
        )
    )
