"""Ties that rounding decides: `mean(m) - 0.5 >= 0.2` at the mean 0.7, `floor(0.1 * k / 0.3)`.

On paper both sides are equal, or a number is whole, and in float64 one side is smaller. No interval
shows that. So where it makes a difference, a claim is judged once more as it is on paper, and has a
verdict if both are the same. A claim that something is certain is verified if it holds on paper.
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

# Work, in rough nanoseconds, that the search for rare ties and the judgement on paper may take.
SEARCH_WORK, WORK_ON_PAPER = 2e7, 2e9
# Draws that the judgement on paper may take: so many times those of the first verdict, and as many
# more as a certainty takes.
MORE_DRAWS, DRAWS_OF_CERTAINTY = 4, 2**18


def unless_tied(run: CaseRun, finding: Finding, judge: Callable[[CaseRun], Judging]) -> Judging:
    """The finding of this judge; left open where rounding decides it.

    The numbers of code under test count as it gave them, except in a counterexample.
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
    """Whether the exact value gives the same verdict: its error includes what rounding decides."""
    exact, region = finding.exact, finding.region
    if exact is None or region is None:
        return False
    widening = 0.0 if finding.sharpness is None else finding.sharpness.widening
    if finding.verdict is Verdict.REFUTED:  # it has to be by more than the widening
        exact = Exact(exact.value, exact.error + widening)
    return fits(exact, finding.verdict, region, widening)


def _undecided(finding: Finding, by: Value) -> Finding:
    line = by.at.location.line
    why = Reason.TIED.explain(sign=by.operation, place="" if line is None else f" in line {line}")
    return replace(finding.left_open(why), exact=None)


def _on_paper(
    run: CaseRun, draws: int, program: Program, judge: Callable[[CaseRun], Judging]
) -> Generator[Request, SpanSums, Finding | None]:
    """The finding on a case as it is on paper; None where it cannot be judged so.

    `draws` are those of the first finding, and `program` compares as on paper.
    """
    prepared, compiled = run.prepared, run.prepared.compiled
    if compiled is None or isinstance(prepared.strategy, Quantiles) or run.settings.exact:
        return None
    changed = replace(compiled, program=program)
    # strata and knowledge belong to the program as it is written
    again = replace(prepared, compiled=changed, knowledge=None, in_strata=[None])
    certain = isinstance(prepared.strategy, Certainty)
    work = math.inf if certain else WORK_ON_PAPER  # nothing else verifies a certainty that ties
    most = min(MORE_DRAWS * draws + DRAWS_OF_CERTAINTY, work / program.cost)
    most = max(PILOT_DRAWS, min(int(most), run.most_draws(program)))
    if certain and most < draws_that_bound(run):
        return None  # they could not verify it
    settings = replace(run.settings, max_draws=most)
    other = replace(run, prepared=again, settings=settings)
    if isinstance(changed, Compiled):
        return (yield from by_limit_theorem(other, replace(changed, crossed=None)))
    if isinstance(prepared.strategy, Certainty) and isinstance(changed, Counted):
        return (yield from by_draws(other, prepared.strategy, changed))
    return (yield from judge(other))
