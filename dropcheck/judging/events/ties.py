"""Comparisons that rounding decides: `mean(m) - 0.5 >= 0.2` where the mean is 0.7.

On paper both sides are equal, and in float64 one is below. No interval shows it, and an exact value
is one of the same numbers. So the comparison is taken the other way round where its sides differ by
rounding alone; a claim that this makes another one is left undecided.
"""

from __future__ import annotations

from dataclasses import replace

from dropcheck.analysis.strategy import Certainty
from dropcheck.judging.case_run import PILOT_DRAWS, CaseRun, Finding
from dropcheck.reasons import Reason
from dropcheck.results import Verdict
from dropcheck.simulation import PILOT, Compiled, Counted, tied_in


def unless_tied(run: CaseRun, finding: Finding) -> Finding:
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
    line = tied.at.location.line
    place = "" if line is None else f" in line {line}"
    why = Reason.TIED.explain(sign=tied.operation, place=place)
    undecided = Verdict.INCONCLUSIVE
    return replace(finding, verdict=undecided, explanation=why, more_draws=None, exact=None)
