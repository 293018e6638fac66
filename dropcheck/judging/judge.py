"""The judge of a case, by its strategy; a case without randomness is computed here."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from dropcheck.analysis.strategy import (
    Arithmetic,
    Certainty,
    Laws,
    Proportion,
    Quantiles,
    Unanswerable,
)
from dropcheck.execution.schedule import Deadline, carried_out
from dropcheck.inference.interval import FEWEST_BLOCKS
from dropcheck.inference.region import decide
from dropcheck.judging.averages import judge_averages
from dropcheck.judging.case_run import CaseRun, Finding, Judging, not_drawn
from dropcheck.judging.events.certainty import by_counterexample
from dropcheck.judging.events.counting import by_proportion
from dropcheck.judging.exactly import by_exact_value, unknown_exactly
from dropcheck.judging.knowledge import Knowledge
from dropcheck.judging.laws.by_relation import by_laws
from dropcheck.judging.limit_theorem import accepted, by_limit_theorem
from dropcheck.judging.look import (
    far_off,
    scales_of,
    settling,
    unit_of,
)
from dropcheck.judging.prepared import Prepared
from dropcheck.judging.quantiles.exact_quantiles import without_draws
from dropcheck.judging.quantiles.order_statistics import by_order_statistics
from dropcheck.judging.rounding.allowance import LOOK_ROUNDING, rounding_of
from dropcheck.judging.rounding.lost_digits import lost, rounding_of_sides
from dropcheck.judging.rounding.ties import unless_tied
from dropcheck.judging.rounding.unclear_events import unless_unclear
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, Guarantee, Method, Verdict
from dropcheck.settings import Settings
from dropcheck.simulation import (
    AtThresholds,
    Compiled,
    Counted,
    InCells,
    Request,
    SpanSums,
    means_of,
)

CODE_SECONDS = 20.0
"""The most that a case of code under test takes, where no other limit is set."""


def run_case(
    prepared: Prepared,
    settings: Settings,
    alpha: float,
    repeat: str = "",
    deadline: Deadline | None = None,
) -> Generator[Request, SpanSums, CaseResult]:
    """Run a case once, from its first draw to its result; asks for spans of draws as it goes.

    Args:
        prepared: the case.
        settings: seed and limits.
        alpha: the case's own share of the error rate.
        repeat: the command that repeats the run.
        deadline: when to stop; by default the settings' time limit from now. Of code under test
            it is `CODE_SECONDS` from now at the latest, unless the draws are limited.

    Raises:
        DropcheckError: for what only a draw can show: nothing defined, an argument out of its
            law's domain.
    """
    end = deadline or Deadline.after(settings.time_limit)
    if prepared.case.claim.column is not None and settings.max_draws is None:
        end = Deadline.after(min(end.left(), CODE_SECONDS), end.clock)
    run = CaseRun(
        prepared=prepared,
        settings=settings,
        alpha=alpha,
        repeat=repeat,
        deadline=end,
    )
    finding = yield from judge(run)
    finding = yield from unless_tied(run, finding, judge)
    return run.result(unless_unclear(run, finding))


def judged_exactly(prepared: Prepared) -> Finding | None:
    """The finding on a case with randomness by its model alone; None where that says nothing."""
    if isinstance(prepared.strategy, Arithmetic):
        return None
    run = CaseRun(prepared=prepared, settings=Settings(exact=True), alpha=Settings().alpha)
    finding = carried_out(judge(run))
    return None if finding.exact is None else finding


def judge(run: CaseRun) -> Judging:
    """Judge a case; asks for spans of draws as it goes.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    match run.prepared.strategy, run.prepared.compiled:
        case Arithmetic(), Compiled() as compiled:
            return by_arithmetic(run, compiled)
        case Quantiles() as quantiles, _ if run.settings.exact:
            return without_draws(run, quantiles) or unknown_exactly()
        case _ if run.settings.exact:
            return by_exact_value(run)
        case _ if run.out_of_time():
            return not_drawn(Reason.OUT_OF_TIME.explain())
        case Unanswerable(why), _:
            return not_drawn(why)
        case Laws(claim), InCells(program):
            return (yield from by_laws(run, claim, program))
        case Certainty() as certainty, Counted() as counted:
            return (yield from by_counterexample(run, certainty, counted))
        case Proportion() as proportion, Counted() as counted:
            return (yield from by_proportion(run, proportion, counted))
        case Quantiles() as quantiles, AtThresholds() as quantities:
            return (yield from by_order_statistics(run, quantiles, quantities))
        case _, Compiled() as compiled:
            knowledge = run.prepared.knowledge
            if knowledge is None or knowledge.guarantee is Guarantee.ASYMPTOTIC:
                finding = yield from by_limit_theorem(run, compiled)
                return _accepted(run, compiled, knowledge, finding)
            return (yield from judge_averages(run, compiled, knowledge))
        case _:
            raise AssertionError("a strategy was compiled to what it is not judged by")


# what more draws would settle, if the moments were known to exist
_IF_MOMENTS = (Reason.TOO_SKEWED, Reason.HEAVY_SUM, Reason.HEAVY_PART, Reason.TOO_WIDE)


def _accepted(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge | None, finding: Finding
) -> Finding:
    """A finding of the limit theorem, undecided where that is not enough for a verdict."""
    if accepted(run, compiled):
        return finding
    why = None
    if finding.verdict is not Verdict.INCONCLUSIVE:
        why = Reason.LIMIT_THEOREM.explain(verdict=str(finding.verdict))
    seen = finding.reason is Reason.UNDEFINED_DRAWS
    if finding.reason in _IF_MOMENTS:
        why = Reason.NO_BOUND.explain()
    if knowledge is not None and knowledge.undefined is not None and not seen:
        why = knowledge.undefined
    return finding if why is None else finding.left_open(why)


def by_arithmetic(run: CaseRun, compiled: Compiled) -> Finding:
    """Judge a case without randomness: its quantities are computed once."""
    # one draw shows everything, and with it as the centre no digits cancel
    program, generator = compiled.program.fitted(1, FEWEST_BLOCKS), np.random.default_rng(0)
    centres = program.centres(generator, 1)
    means = means_of(program.span(generator, centres, 0).sums, 1)
    values = compiled.functional.evaluate(means[:, np.newaxis], centres)
    scales = scales_of(run, compiled, means, centres)
    operands, largest = compiled.functional.at_averages(means, centres)
    verdicts: list[Verdict] = []
    points: list[float] = []
    rooms: list[float] = []
    off: list[float] = []
    for comparison, part in zip(run.reading.comparisons, run.reading.of_each, strict=True):
        value = float(comparison.quantity(values)[0])
        if not math.isfinite(value):
            return Finding(
                verdict=Verdict.INCONCLUSIVE,
                method=Method.ARITHMETIC,
                guarantee=Guarantee.ARITHMETIC,
                scale=scales[0],
                entry=comparison.entry,
                explanation=Reason.UNDEFINED_ARITHMETIC.explain(),
            )
        # arithmetic needs no resolution: what is not equal is different
        unit = unit_of(comparison, operands)
        sides = max(map(abs, part.sides(operands))) / unit
        rounding = rounding_of(compiled, comparison, means, centres, largest / unit, sides)
        room = rounding_of_sides(run, part) / unit
        if room <= LOOK_ROUNDING * max(largest / unit, 1.0):  # such as that in `sin(pi) == 0`
            rounding = max(rounding, room)
        ends = (value, value) if room <= rounding else (value - room, value + room)
        verdict = decide(*ends, comparison.region, 0.0, rounding)
        verdicts.append(verdict)
        points.append(value)
        rooms.append(room)
        off.append(far_off(value, comparison.region, 0.0))
    place = settling(run.reading, verdicts, off)
    value, comparison, scale = points[place], run.reading.comparisons[place], scales[place]
    is_open = verdicts[place] is Verdict.INCONCLUSIVE
    return Finding(
        verdict=verdicts[place],
        method=Method.ARITHMETIC,
        guarantee=Guarantee.ARITHMETIC,
        quantity=comparison.measures,
        region=comparison.region,
        estimate=value,
        interval=(value, value),
        standard_error=0.0,
        entry=comparison.entry,
        scale=scale,
        sharpness=run.looked(scale, widening=0.0),
        within=0.0,
        explanation=lost(rooms[place], rooms[place]) if is_open else None,
    )
