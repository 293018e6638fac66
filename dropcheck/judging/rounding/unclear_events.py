"""Events that rounding may decide: `P(sigmoid(x) < 1) == 1` where the sigmoid comes out as 1.

Ties, which are equal on paper, are looked at before (`ties`).
"""

from __future__ import annotations

from dataclasses import replace

from dropcheck.analysis.strategy import Certainty, Proportion
from dropcheck.inference.region import decide
from dropcheck.judging.case_run import CaseRun, Finding
from dropcheck.judging.rounding.lost_digits import draws_to_look_at
from dropcheck.reasons import Reason
from dropcheck.results import Verdict
from dropcheck.simulation import MAIN, PILOT, Counted, unclear_in
from dropcheck.vocabulary.jumps import LARGEST_BOUND

# With so many more counterexamples that rounding may decide, the others no longer outnumber them.
MANY = 64
# Each draw is moved up or down at random. An event that changes in one of the two is seen in half
# of the draws: shares are doubled.
SEEN = 2.0


def unless_unclear(run: CaseRun, finding: Finding) -> Finding:
    """The finding on an event; left open where rounding may decide it.

    Most counterexamples must be ones for any rounding. Elsewhere only large errors count: usual
    rounding decides ties alone, which are judged on paper.
    """
    counted, strategy = run.prepared.compiled, run.prepared.strategy
    if finding.verdict is Verdict.INCONCLUSIVE or not isinstance(counted, Counted):
        return finding
    program, signs = counted.program, run.generator(PILOT, 0)
    if program.calls_own_code:
        return finding
    if isinstance(strategy, Certainty) and finding.verdict is Verdict.REFUTED:
        draws = program.span_draws if finding.draws else draws_to_look_at(program)
        certain = doubtful = 0
        for span in range(max(1, finding.draws // program.span_draws)):
            fails, unclear = unclear_in(program, run.generator(MAIN, span), signs, draws)
            sure = (fails & ~unclear).any(axis=0)
            certain += int(sure.sum())
            doubtful += int((fails.any(axis=0) & ~sure).sum())
            if certain > doubtful:
                return finding
            if doubtful > MANY + 2 * certain:
                break
        return _undecided(finding) if doubtful else finding
    draws = draws_to_look_at(program)
    _, unclear = unclear_in(program, run.generator(MAIN, 0), signs, draws, LARGEST_BOUND)
    share = float(unclear.any(axis=0).mean())
    if not share or isinstance(strategy, Certainty):
        return _undecided(finding) if share else finding
    assert isinstance(strategy, Proportion)
    if finding.interval is None or finding.region is None or finding.sharpness is None:
        return finding
    room = SEEN * share * abs(strategy.factor)
    ends = finding.interval[0] - room, finding.interval[1] + room
    kept = decide(*ends, finding.region, finding.sharpness.widening)
    return finding if kept is finding.verdict else _undecided(finding)


def _undecided(finding: Finding) -> Finding:
    return replace(finding.left_open(Reason.UNCLEAR_EVENT.explain()), exact=None)
