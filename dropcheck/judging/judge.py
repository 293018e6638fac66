"""The judge of a case, by its strategy; a case without randomness is computed here."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial

import numpy as np

from dropcheck.analysis.on_paper import first_off
from dropcheck.analysis.strategy import (
    Arithmetic,
    Certainty,
    Laws,
    Proportion,
    Quantiles,
    Unanswerable,
)
from dropcheck.execution.schedule import Deadline, carried_out
from dropcheck.inference.intervals import FEWEST_BLOCKS
from dropcheck.inference.region import decide
from dropcheck.judging.averages import judge_averages
from dropcheck.judging.case import PILOT_DRAWS, CaseRun, Finding, Judging, Prepared, fits, not_drawn
from dropcheck.judging.events import by_counterexample, by_draws, by_proportion, draws_that_bound
from dropcheck.judging.exact import by_exact_value, unknown_exactly
from dropcheck.judging.knowledge import Knowledge
from dropcheck.judging.laws import by_laws
from dropcheck.judging.limit_theorem import accepted, by_limit_theorem
from dropcheck.judging.look import (
    far_off,
    scales_of,
    settling,
    unit_of,
)
from dropcheck.judging.quantiles import by_order_statistics, without_draws
from dropcheck.judging.rounding import (
    LOOK_ROUNDING,
    lost,
    rounding_of,
    rounding_of_sides,
    unless_unclear,
)
from dropcheck.language.graph import Value
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, Exact, Guarantee, Method, Verdict
from dropcheck.settings import Settings
from dropcheck.simulation import (
    MAIN,
    AtThresholds,
    Compiled,
    Counted,
    InCells,
    Program,
    Request,
    SpanSums,
    means_of,
    tied_in,
)

# ---- ties ----------------------------------------------------------------------------------------
#
# Ties that rounding decides: `mean(m) - 0.5 >= 0.2` at the mean 0.7, `floor(0.1 * k / 0.3)`.
#
# On paper both sides are equal, or a number is whole, and in float64 one side is smaller. No
# interval
# shows that. So where it makes a difference, a claim is judged once more as it is on paper, and
# has a
# verdict if both are the same. A claim that something is certain is verified if it holds on paper.


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


# ---- judge ---------------------------------------------------------------------------------------


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
