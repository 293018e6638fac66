"""Comparisons that rounding decides: `mean(m) - 0.5 >= 0.2` where the mean is 0.7.

On paper both sides are equal, and in float64 one is below. No interval shows it, and an exact value
is one of the same numbers. So values that differ by rounding alone are also taken as equal. Where
that makes a difference, a claim about one event is judged both ways, and has a verdict where it is
the same; every other claim is left undecided.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from dropcheck.analysis.strategy import Certainty, Proportion
from dropcheck.judging.case_run import PILOT_DRAWS, CaseRun, Finding
from dropcheck.judging.events.counting import by_proportion
from dropcheck.reasons import Reason
from dropcheck.results import Verdict
from dropcheck.simulation import PILOT, Counted, Program, Request, SpanSums, Tally, tied_in


def unless_tied(run: CaseRun, finding: Finding) -> Generator[Request, SpanSums, Finding]:
    """A finding; undecided where the rounding of a comparison decides what is averaged.

    Of code under test the numbers are compared as it gave them, and where a comparison is claimed
    to hold always, values that tie are counted as it is claimed.
    """
    compiled = run.prepared.compiled
    if finding.verdict is Verdict.INCONCLUSIVE or compiled is None:
        return finding
    if compiled.program.calls_own_code:
        return finding
    program = compiled.program
    if isinstance(compiled, Counted) and compiled.exact is not None:
        program = compiled.exact  # without the favour
    draws = min(program.span_draws, PILOT_DRAWS)
    tied = tied_in(program, lambda: run.generator(PILOT, 0), draws)
    if tied is None or (yield from _alike_on_paper(run, finding.verdict, tied.program)):
        return finding if tied is None else replace(finding, exact=None)
    line = tied.by.at.location.line
    place = "" if line is None else f" in line {line}"
    why = Reason.TIED.explain(sign=tied.by.operation, place=place)
    undecided = Verdict.INCONCLUSIVE
    return replace(finding, verdict=undecided, explanation=why, more_draws=None, exact=None)


def _alike_on_paper(
    run: CaseRun, verdict: Verdict, program: Program
) -> Generator[Request, SpanSums, bool]:
    """Whether a claim about one event has the same verdict where values that tie are equal."""
    strategy, compiled = run.prepared.strategy, run.prepared.compiled
    if isinstance(compiled, Counted) and isinstance(strategy, Proportion):
        # strata are worked out for the program as it stands
        again = replace(run, held=None, prepared=replace(run.prepared, in_strata=[None]))
        counted = replace(compiled, program=program)
        found = yield from by_proportion(again, strategy, counted)
        return found.verdict is verdict
    if isinstance(strategy, Certainty):
        counterexamples = Tally(program)
        yield from run.draw_until(counterexamples, PILOT, PILOT_DRAWS)
        return bool(counterexamples.totals[0] > 0) is (verdict is Verdict.REFUTED)
    return False
