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
from dropcheck.simulation import PILOT, Compiled, Counted, Request, SpanSums, tied_in


def unless_tied(run: CaseRun, finding: Finding) -> Generator[Request, SpanSums, Finding]:
    """A finding; undecided where the rounding of a comparison decides what is averaged.

    Of code under test the numbers are compared as it gave them, and of what is claimed to hold
    always values that tie are counted as it is claimed.
    """
    compiled = run.prepared.compiled
    always = isinstance(run.prepared.strategy, Certainty)
    if finding.verdict is Verdict.INCONCLUSIVE or always:
        return finding
    if not isinstance(compiled, Compiled | Counted) or compiled.program.calls_own_code:
        return finding
    program = compiled.program
    draws = min(program.span_draws, PILOT_DRAWS)
    tied = tied_in(program, lambda: run.generator(PILOT, 0), draws)
    if tied is None:
        return finding
    strategy = run.prepared.strategy
    if isinstance(compiled, Counted) and isinstance(strategy, Proportion):
        counted = replace(compiled, program=tied.program)
        on_paper = yield from by_proportion(replace(run, held=None), strategy, counted)
        if on_paper.verdict is finding.verdict:
            return replace(finding, exact=None)
    line = tied.by.at.location.line
    place = "" if line is None else f" in line {line}"
    why = Reason.TIED.explain(sign=tied.by.operation, place=place)
    undecided = Verdict.INCONCLUSIVE
    return replace(finding, verdict=undecided, explanation=why, more_draws=None, exact=None)
