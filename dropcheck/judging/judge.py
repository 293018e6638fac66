"""The judge of a case, by its strategy; a case without randomness is computed here."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace

import numpy as np

from dropcheck.analysis.strategy import (
    Arithmetic,
    Certainty,
    Laws,
    Quantiles,
    divergent_moment,
)
from dropcheck.execution.schedule import Deadline
from dropcheck.inference.intervals import FEWEST_BLOCKS
from dropcheck.inference.region import COARSE, decide
from dropcheck.judging.averages import judge_averages
from dropcheck.judging.case import (
    CONFIRMING,
    SELDOM,
    CaseRun,
    Finding,
    Judging,
    Prepared,
    disagreement,
    inside,
    not_drawn,
)
from dropcheck.judging.cells import by_laws, by_quantiles
from dropcheck.judging.events import by_counterexample
from dropcheck.judging.exact import Known, known_exactly, unknown_exactly
from dropcheck.judging.knowledge import Knowledge
from dropcheck.judging.look import (
    far_off,
    scales_of,
    settling,
    sharpness_of,
    unit_of,
)
from dropcheck.judging.plan_draws import accepted
from dropcheck.judging.rounding import (
    LOOK_ROUNDING,
    lost,
    rounding_of,
    rounding_of_sides,
    unless_turned,
)
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import CaseResult, Guarantee, Method, Verdict
from dropcheck.settings import Settings
from dropcheck.simulation import (
    MAIN,
    Compiled,
    Counted,
    InCells,
    Request,
    SpanSums,
    Tally,
    means_of,
)

# ---- judge ---------------------------------------------------------------------------------------


CODE_SECONDS = 20.0
"""The most that a case of code under test takes of the processor, where no other limit is set."""
PATIENCE = 30
"""As many times that, by the clock, ends a case whose code waits, or runs on a busy machine."""


def run_case(
    prepared: Prepared,
    settings: Settings,
    alpha: float,
    deadline: Deadline | None = None,
) -> Generator[Request, SpanSums, CaseResult]:
    """Run a case once, from its first draw to its result; asks for spans of draws as it goes.

    Args:
        prepared: the case.
        settings: seed and limits.
        alpha: the case's own share of the error rate.
        deadline: when to stop; by default the settings' time limit from now. Code under test
            takes `CODE_SECONDS` at most, unless the draws are limited.

    Raises:
        DropcheckError: for what only a draw can show: nothing defined, an argument out of its
            law's domain.
    """
    end = deadline or Deadline.after(settings.time_limit)
    timed = prepared.case.claim.of_code and settings.max_draws is None
    if timed:
        end = Deadline.after(min(end.left(), PATIENCE * CODE_SECONDS), end.clock)
    run = CaseRun(
        prepared=prepared,
        settings=settings,
        alpha=alpha,
        deadline=end,
        most_seconds=CODE_SECONDS if timed else math.inf,
    )
    return run.result((yield from judge(run)))


def judged_exactly(prepared: Prepared) -> Finding | None:
    """The finding on a case with randomness by its model alone; None where that says nothing."""
    run = CaseRun(prepared=prepared, settings=Settings(exact=True), alpha=Settings().alpha)
    known = by_model(run)
    return None if known is None else known.finding


def by_model(run: CaseRun) -> Known | None:
    """What the model says of a case with randomness; None where it does not say enough."""
    prepared = run.prepared
    if isinstance(prepared.strategy, Arithmetic) or run.settings.draws_only:
        return None
    return known_exactly(run)


def judge(run: CaseRun) -> Judging:
    """Judge a case: by its exact value, which draws confirm, or by draws alone.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    known = by_model(run)
    missing = _missing(run) if known is None else None
    if missing is not None:
        return not_drawn(missing)
    if known is None and run.settings.exact and not isinstance(run.prepared.strategy, Arithmetic):
        return unknown_exactly()
    if known is None:
        return (yield from _as_drawn(run))
    if run.settings.exact or known.finding.verdict is Verdict.UNDECIDED or run.out_of_time():
        return unless_turned(run, known.finding)
    return (yield from _confirmed(run, known))


def _missing(run: CaseRun) -> Explanation | None:
    """Why no draws would tell: what is averaged has no mean, or its estimate no variance."""
    known = run.prepared.knowledge
    if known is None or known.guarantee is not Guarantee.ASYMPTOTIC or known.undefined is not None:
        return None
    return divergent_moment(run.prepared.lowered)


def _as_drawn(run: CaseRun) -> Judging:
    """The finding by draws; left open where rounding decides it."""
    return unless_turned(run, (yield from judge_by_draws(run)))


# What draws show of a case that no exact value outweighs: it may rest on the same floats.
_BROKEN = frozenset(
    {
        Reason.UNDEFINED_DRAWS,
        Reason.POWERS_OVERFLOW,
        Reason.UNCLEAR_EVENT,
        Reason.LOST_DIGITS,
    }
)


def confirming(run: CaseRun, known: Known) -> CaseRun:
    """The run that confirms exact values; one that fails is judged by draws to the end."""
    if known.finding.verdict is not Verdict(run.case.claim.expect):
        return run
    values = [one.value for one in known.values]
    return replace(
        run,
        alpha=min(run.alpha, SELDOM),
        confirms=run.prepared.reading.confirming(values, known.place),
    )


def _confirmed(run: CaseRun, known: Known) -> Judging:
    """The finding by exact value, with what is drawn.

    Raises:
        InternalError: the draws deny the exact value, and chance does not explain it.
    """
    own = confirming(run, known)
    drawn = yield from _as_drawn(own)
    if drawn.reason in _BROKEN:
        return drawn
    if drawn.verdict is Verdict.UNDECIDED:  # few draws: nothing was looked for in them
        unclear = unless_turned(run, known.finding)
        if unclear.verdict is Verdict.UNDECIDED:
            return replace(unclear, draws=drawn.draws, seconds=drawn.seconds)
    finding, shown = known.finding, known.of(drawn)
    interval, confirmed = drawn.interval, False
    if shown is not None and interval is not None and drawn.guarantee is not Guarantee.ASYMPTOTIC:
        assert shown.exact is not None
        if inside(shown.exact, interval, shown.scale) and not _counterexample(own, shown, drawn):
            confirmed = _says(own, shown, drawn)
        elif own.alpha <= SELDOM:
            raise disagreement(run.case, shown.exact, interval, own.settings.seed)
    if finding.verdict is Verdict.VERIFIED:
        finding = shown or finding
    elif shown is not finding:
        interval = None
    return replace(
        finding,
        estimate=finding.estimate if interval is None else drawn.estimate,
        interval=interval,
        standard_error=drawn.standard_error,
        about=drawn.about,
        confirmed=confirmed,
        draws=drawn.draws,
        blocks=drawn.blocks,
        seconds=drawn.seconds,
        sampling=drawn.sampling,
        explanation=finding.explanation or _counted(drawn),
        warnings=drawn.warnings,
    )


def _counterexample(run: CaseRun, known: Finding, drawn: Finding) -> bool:
    """Whether a draw shows what the exact value says is as good as impossible."""
    certain = isinstance(run.prepared.strategy, Certainty) and known.verdict is Verdict.VERIFIED
    return certain and drawn.verdict is Verdict.REFUTED


def _says(run: CaseRun, known: Finding, drawn: Finding) -> bool:
    """Whether draws confirm an exact value that lies in their interval."""
    if isinstance(run.prepared.strategy, Certainty):
        return drawn.verdict is known.verdict
    if run.confirms is None and drawn.verdict is known.verdict:
        return True
    low, high = drawn.interval or (-math.inf, math.inf)
    claimed = known.region
    if known.verdict is Verdict.VERIFIED and claimed and claimed.low <= low <= high <= claimed.high:
        return True  # as far as the interval reaches, all is as claimed
    if drawn.about is not None and high - low > COARSE * drawn.about:
        return False
    if run.confirms is not None:
        return drawn.verdict is Verdict.VERIFIED
    assert known.exact is not None
    sharp = 0.0 if known.sharpness is None else known.sharpness.asked
    return max(high - known.exact.value, known.exact.value - low) <= CONFIRMING * sharp


def _counted(drawn: Finding) -> Explanation | None:
    """What draws of a certainty show that is refuted: its counterexamples."""
    return drawn.explanation if drawn.verdict is Verdict.REFUTED else None


def _one_span(run: CaseRun, compiled: Compiled) -> Judging:
    """What one span shows where the model bounds nothing that is drawn: no interval holds."""
    program = compiled.program.fitted(run.most_draws(compiled.program), FEWEST_BLOCKS)
    tally = Tally(program, run.centres(program, program.span_draws))
    yield from run.draw_until(tally, MAIN, 1)
    run.refuse_if_nowhere_defined(tally)
    broken = run.undefined(tally, Method.BLOCK_MEANS, Guarantee.ASYMPTOTIC)
    if broken is not None:
        return broken
    return Finding(
        verdict=Verdict.UNDECIDED,
        method=Method.BLOCK_MEANS,
        guarantee=Guarantee.ASYMPTOTIC,
        draws=tally.draws,
        blocks=len(tally.sums),
        seconds=tally.seconds,
    )


def judge_by_draws(run: CaseRun) -> Judging:
    """Judge a case by draws; asks for spans of them as it goes.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    match run.prepared.strategy, run.prepared.compiled:
        case Arithmetic(), Compiled() as compiled:
            return by_arithmetic(run, compiled)
        case _ if run.out_of_time():
            return not_drawn(Reason.OUT_OF_TIME.explain())
        case Laws() as claim, InCells() as cells:
            return (yield from by_laws(run, claim, cells))
        case Certainty() as certainty, Counted() as counted:
            return (yield from by_counterexample(run, certainty, counted))
        case Quantiles() as quantiles, InCells() as cells:
            return (yield from by_quantiles(run, quantiles, cells))
        case _, Compiled() as compiled:
            knowledge = run.prepared.knowledge
            if knowledge is not None and knowledge.guarantee is not Guarantee.ASYMPTOTIC:
                return (yield from judge_averages(run, compiled, knowledge))
            if run.confirms is not None:
                return (yield from _one_span(run, compiled))
            finding = yield from judge_averages(run, compiled, None)
            return _accepted(run, compiled, knowledge, finding)
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
    if finding.verdict is not Verdict.UNDECIDED:
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
                verdict=Verdict.UNDECIDED,
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
        region = comparison.region
        if comparison.gives is not None:  # a decimal
            region = comparison.allowed(sharpness_of(run, part, scales[0], operands) / unit)
        verdict = decide(*ends, region, 0.0, rounding)
        verdicts.append(verdict)
        points.append(value)
        rooms.append(room)
        off.append(far_off(value, value, comparison.region, 0.0))
    place = settling(run.reading, verdicts, off)
    value, comparison, scale = points[place], run.reading.comparisons[place], scales[place]
    is_open = verdicts[place] is Verdict.UNDECIDED
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
