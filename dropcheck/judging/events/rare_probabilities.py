"""Probabilities so small that counting takes too long: averages of the event's truth in strata."""

from __future__ import annotations

from dataclasses import replace

from dropcheck.analysis.strategy import averages_of
from dropcheck.judging.case_run import CaseRun
from dropcheck.judging.foreseen import outlook_in_strata
from dropcheck.judging.knowledge import Knowledge, knowledge_of
from dropcheck.results import Guarantee
from dropcheck.simulation import Compiled, Program, compile_averages

# Counts are exact, and so they are left for strata only where these take so many times fewer draws,
# or where counts alone are beyond the budget; and where counting takes so long, in rough
# nanoseconds of work.
SAVING = 20
WORTHWHILE = 5e8


def by_averages(run: CaseRun, program: Program, expected: int) -> tuple[Compiled, Knowledge] | None:
    """What is simulated and known where a probability is judged in strata; None where it is not.

    Args:
        run: the run of the case.
        program: how it is counted.
        expected: draws after which counts are likely to decide.
    """
    most = run.most_draws(program)
    if expected * program.cost < WORTHWHILE or run.prepared.in_strata == [None]:
        return None
    compiled, knowledge = _averages(run)
    required = run.settings.require
    if required is not None and not knowledge.guarantee.as_strong_as(Guarantee(required)):
        return None
    outlook = outlook_in_strata(run, compiled, knowledge)
    if outlook is None:
        return None
    beyond = expected > most and outlook.expected <= outlook.most
    if not beyond and SAVING * outlook.expected * outlook.program.cost > expected * program.cost:
        return None
    kept = run.prepared.in_strata[0]
    if kept is None:
        return None
    return kept.compiled, replace(knowledge, exact=kept.exact)


def _averages(run: CaseRun) -> tuple[Compiled, Knowledge]:
    lowered = run.prepared.lowered
    strategy = averages_of(lowered, run.case.claim.tolerance)
    compiled = compile_averages(strategy, lowered.operands, crossing=False)
    return compiled, knowledge_of(compiled, strategy)
