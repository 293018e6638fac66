"""What rounding decides: `mean(m) - 0.5 >= 0.2` where the mean is 0.7, `floor(0.1 * k / 0.3)`.

On paper both sides are equal, or a number is whole, and in float64 one is below. No interval shows
it. So a claim is judged as it is on paper too, where that makes a difference, and has a verdict
where it is the same. A claim that something is certain is given the benefit of the doubt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial

from dropcheck.analysis.on_paper import first_off
from dropcheck.analysis.strategy import Certainty, Quantiles
from dropcheck.judging.case_run import PILOT_DRAWS, CaseRun, Finding, Judging
from dropcheck.judging.events.certainty import by_draws, draws_that_bound
from dropcheck.judging.limit_theorem import by_limit_theorem
from dropcheck.judging.witness import fits
from dropcheck.language.graph import Value
from dropcheck.reasons import Reason
from dropcheck.results import Exact, Verdict
from dropcheck.simulation import MAIN, Compiled, Counted, Program, Request, SpanSums, tied_in

# Work that the search for rare ties may take, in rough nanoseconds, and the judgement on paper.
SEARCH_WORK, WORK_ON_PAPER = 2e7, 2e9
# Draws on paper that a verdict may take: so many times those of the first one, and as many more as
# a certainty takes.
MORE_DRAWS, DRAWS_OF_CERTAINTY = 4, 2**18


def unless_tied(run: CaseRun, finding: Finding, judge: Callable[[CaseRun], Judging]) -> Judging:
    """A finding, by this judge; undecided where rounding decides it.

    Of code under test the numbers are compared as it gave them, but for a counterexample.
    """
    compiled = run.prepared.compiled
    if finding.verdict is Verdict.INCONCLUSIVE or compiled is None:
        return finding
    program = compiled.program
    certain = isinstance(run.prepared.strategy, Certainty)
    # a counterexample may be a tie itself, however rare
    closely = certain and finding.verdict is Verdict.REFUTED
    if program.calls_own_code and not closely:
        return finding
    off = first_off(run.prepared.lowered.operands)
    if off is not None:
        return _undecided(finding, off)
    if _said_by_model(finding):
        return finding
    work = finding.draws if closely else min(finding.draws, SEARCH_WORK / program.cost)
    spans = max(1, int(work) // program.span_draws)
    draws = program.span_draws if closely else min(program.span_draws, PILOT_DRAWS)
    tied = tied_in(program, partial(run.generator, MAIN), draws, spans, closely=closely)
    if tied is None:
        return finding
    other = yield from _on_paper(run, finding.draws, tied.program, judge)
    if other is not None and other.verdict is finding.verdict:
        return replace(finding, exact=None)
    if certain and other is not None and other.verdict is Verdict.VERIFIED:
        note = "values that differ by rounding alone were taken for equal; isclose(a, b) says so"
        warnings = (*other.warnings, f"{run.case.claim.id}: {note}")
        return replace(other, exact=None, warnings=warnings)
    return _undecided(finding, tied.by)


def _said_by_model(finding: Finding) -> bool:
    """Whether the exact value asks for the verdict: what rounding decides is part of its error."""
    exact, region = finding.exact, finding.region
    if exact is None or region is None:
        return False
    widening = 0.0 if finding.sharpness is None else finding.sharpness.widening
    if finding.verdict is Verdict.REFUTED:  # by more than is allowed a true one
        exact = Exact(exact.value, exact.error + widening)
    return fits(exact, finding.verdict, region, widening)


def _undecided(finding: Finding, by: Value) -> Finding:
    line = by.at.location.line
    why = Reason.TIED.explain(sign=by.operation, place="" if line is None else f" in line {line}")
    return replace(finding.left_open(why), exact=None)


def _on_paper(
    run: CaseRun, draws: int, program: Program, judge: Callable[[CaseRun], Judging]
) -> Generator[Request, SpanSums, Finding | None]:
    """The finding on a case as it is on paper, after so many draws; None where there is none."""
    prepared, compiled = run.prepared, run.prepared.compiled
    if compiled is None or isinstance(prepared.strategy, Quantiles) or run.settings.exact:
        return None
    changed = replace(compiled, program=program)
    # strata are worked out for the program as it stands, and what is known is known of it
    again = replace(prepared, compiled=changed, knowledge=None, in_strata=[None])
    certain = isinstance(prepared.strategy, Certainty)
    work = math.inf if certain else WORK_ON_PAPER  # nothing else verifies a certainty that ties
    most = min(MORE_DRAWS * draws + DRAWS_OF_CERTAINTY, work / program.cost)
    most = max(PILOT_DRAWS, min(int(most), run.most_draws(program)))
    if certain and most < draws_that_bound(run):
        return None  # in vain
    settings = replace(run.settings, max_draws=most)
    other = replace(run, held=None, prepared=again, settings=settings)
    if isinstance(changed, Compiled):
        return (yield from by_limit_theorem(other, replace(changed, crossed=None)))
    if isinstance(prepared.strategy, Certainty) and isinstance(changed, Counted):
        return (yield from by_draws(other, prepared.strategy, changed))
    return (yield from judge(other))
