"""The judge of a case, by its strategy; a case without randomness is computed here."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dropcheck.analysis.strategy import Arithmetic, Certainty, Laws, Quantiles, divergent_moment
from dropcheck.claims.registry import Case
from dropcheck.errors import DropcheckError
from dropcheck.execution.schedule import Deadline
from dropcheck.inference import intervals
from dropcheck.inference.intervals import FEWEST_BLOCKS, clopper_pearson, upper_bound
from dropcheck.inference.region import COARSE, decide
from dropcheck.judging.averages import accepted, judge_averages
from dropcheck.judging.case import (
    CONFIRMING,
    SELDOM,
    CaseRun,
    Finding,
    Judging,
    Knowledge,
    Prepared,
    disagreement,
    drawn_so_far,
    first_wrong,
    inside,
    not_drawn,
    prepare,
    rarest_violations,
)
from dropcheck.judging.cells import by_laws, by_quantiles
from dropcheck.judging.look import (
    LOOK_ROUNDING,
    Known,
    exact_probability,
    far_off,
    known_exactly,
    lost,
    rounding_of,
    rounding_of_sides,
    scales_of,
    settling,
    sharpness_of,
    unit_of,
    unless_turned,
    until_decided,
)
from dropcheck.language.compile import CaseGraphs, ParsedClaim, parse_claim
from dropcheck.language.syntax import expressions_of, names_in
from dropcheck.reasons import Reason
from dropcheck.results import (
    CaseResult,
    Guarantee,
    Method,
    ParameterValue,
    Region,
    Resolution,
    Verdict,
)
from dropcheck.settings import Settings
from dropcheck.simulation.blocks import MAIN, PILOT, CountTally, Request, Tally
from dropcheck.simulation.compile import Compiled, Counted, InCells
from dropcheck.simulation.program import SpanSums, means_of

# ---- certainties ---------------------------------------------------------------------------------


class Violations(CountTally):
    """A tally of counterexamples; `first` is the first draw of the first block that has one."""

    first = 0

    def add(self, spans: SpanSums) -> None:
        """Take in the next spans, in order."""
        rows = np.flatnonzero(spans.sums[:, 0] > 0)
        if len(rows) and not self.totals[0] > 0:
            self.first = self.drawn + int(rows[0]) * self.program.block_draws
        super().add(spans)


def by_counterexample(run: CaseRun, claim: Certainty, counted: Counted) -> Judging:
    """Judge an event that is claimed to be certain: one counterexample refutes.

    No violation among n draws bounds the chance of one by ln(1/α)/n. The same holds for n calls
    whose draws depend on each other: a call has a violation with at least the chance of a draw.
    """
    most = run.most_draws(counted.program)
    program = counted.program.fitted(most, FEWEST_BLOCKS)
    unit, tally = program.unit_draws, Violations(program)
    bound = run.sharpest(rarest_violations(run.prepared))
    needed = 1.0001 * math.log(1 / (run.alpha * intervals.PLANNED)) / bound + 1
    expected = max(program.fewest_planned, unit * math.ceil(needed))

    def judged(alpha: float) -> Finding:
        violations, own = round(float(tally.totals[0])), tally.drawn
        if counted.conditional:  # those in which the condition holds; 0 if it is unknown in some
            held = float(tally.totals[1])
            own = 0 if math.isnan(held) else round(held)
        # with a condition, as many calls count as would hold the draws in which it is true
        seen = own // unit
        explanation, more = Reason.TOO_FEW_FOR_BOUND.explain(), None
        if counted.conditional and not seen:
            explanation = Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
        elif seen:
            more = needed * unit * tally.drawn / own
            more += program.span_draws - tally.drawn
        off = violations / max(1, own)
        # in so many calls at least there is a violation, and in so many at most
        low = clopper_pearson(-(-violations // unit), seen, alpha)[0] / unit
        high = clopper_pearson(min(violations, seen), seen, alpha)[1]
        if claim.probability == 1:
            low, high, off = 1 - high, 1 - low, 1 - off
        found = replace(
            drawn_so_far(tally, Method.CERTAINTY, Guarantee.EXACT),
            exact=exact_probability(claim.event, claim.condition),
            quantity=run.reading.comparisons[0].measures,
            region=Region(claim.probability, claim.probability),
            estimate=off,
            interval=(low, high),
            scale=1.0,
            sharpness=Resolution(bound, bound, absolute=True),
            explanation=explanation,
            more_draws=more,
        )
        if violations:
            told: dict[str, Any] = {"violations": violations, "draws": own}
            reason = Reason.COUNTEREXAMPLES if violations > 1 else Reason.ONE_COUNTEREXAMPLE
            if program.tests_code:  # also what it was given and what it gave
                reason = Reason.CODE_COUNTEREXAMPLES
                told["first"] = first_wrong(tally, tally.first, run.generator, MAIN)
            why = reason.explain(**told)
            return replace(found, verdict=Verdict.REFUTED, explanation=why, more_draws=None)
        if upper_bound(0, seen, alpha) < bound:
            return replace(found, verdict=Verdict.VERIFIED, explanation=None, more_draws=None)
        return found

    step = program.span_draws
    while program.tests_code and step < expected and not run.out_of_time():
        yield from run.draw_until(tally, MAIN, step)  # the first counterexample of code is enough
        step *= 2
        if tally.undefined or tally.totals[0] > 0:
            expected = most = tally.drawn
    planned = {"expected": expected, "fewest": program.span_draws, "most": most}
    method, guarantee = Method.CERTAINTY, Guarantee.EXACT
    return (yield from until_decided(run, tally, judged, method, guarantee, **planned))


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

    The `deadline` is by default the settings' time limit from now. Code under test takes
    `CODE_SECONDS` at most, unless the draws are limited.

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
    known, averages = by_model(run), run.prepared.knowledge
    if known is None:
        missing = None  # why no draws would tell: there is no mean, or its estimate no variance
        if averages and averages.guarantee is Guarantee.ASYMPTOTIC and averages.undefined is None:
            missing = divergent_moment(run.prepared.lowered)
        if run.settings.exact and not isinstance(run.prepared.strategy, Arithmetic):
            missing = missing or Reason.NOT_KNOWN_EXACTLY.explain()
        return not_drawn(missing) if missing else (yield from _as_drawn(run))
    if run.settings.exact or known.finding.verdict is Verdict.UNDECIDED or run.out_of_time():
        return unless_turned(run, known.finding)
    return (yield from _confirmed(run, known))


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
    # where nothing bounds what is drawn, the limit theorem says less than the exact value
    interval = None if drawn.guarantee is Guarantee.ASYMPTOTIC else drawn.interval
    confirmed = False
    if shown is not None and interval is not None:
        assert shown.exact is not None
        # a draw may show what the exact value says is as good as impossible
        certain = isinstance(own.prepared.strategy, Certainty) and shown.verdict is Verdict.VERIFIED
        denied = certain and drawn.verdict is Verdict.REFUTED
        if inside(shown.exact, interval, shown.scale) and not denied:
            confirmed = _says(own, shown, drawn)
        elif own.alpha <= SELDOM:
            raise disagreement(run.case, shown.exact, interval, own.settings.seed)
    if finding.verdict is Verdict.VERIFIED:
        finding = shown or finding
    elif shown is not finding:
        interval = None
    needed = drawn.draws + (drawn.more_draws or 0)
    unlimited = replace(own, settings=replace(run.settings, max_draws=None))
    most = unlimited.most_draws(run.prepared.compiled.program)
    return replace(
        finding,
        estimate=finding.estimate if interval is None else drawn.estimate,
        interval=interval,
        standard_error=drawn.standard_error,
        about=drawn.about,
        confirmed=confirmed,
        more_draws=None if confirmed or needed > most else drawn.more_draws,
        draws=drawn.draws,
        blocks=drawn.blocks,
        seconds=drawn.seconds,
        sampling=drawn.sampling,
        # of a certainty that is refuted, draws show counterexamples
        explanation=finding.explanation
        or (drawn.explanation if drawn.verdict is Verdict.REFUTED else None),
        warnings=drawn.warnings,
    )


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


def _one_span(run: CaseRun, compiled: Compiled) -> Judging:
    """What one span shows where the model bounds nothing that is drawn: no interval holds."""
    program = compiled.program.fitted(run.most_draws(compiled.program), FEWEST_BLOCKS)
    tally = Tally(program, program.centres(run.generator(PILOT, 0), program.span_draws))
    yield from run.draw_until(tally, MAIN, 1)
    run.refuse_if_nowhere_defined(tally)
    broken = run.undefined(tally, Method.BLOCK_MEANS, Guarantee.ASYMPTOTIC)
    if broken is not None:
        return broken
    return drawn_so_far(tally, Method.BLOCK_MEANS, Guarantee.ASYMPTOTIC)


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
_IF_MOMENTS = (Reason.HEAVY_SUM, Reason.TOO_WIDE)


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


# ---- true at one value only ----------------------------------------------------------------------
#
# `Var(g) == p / (1 - p)` of `g ~ normal(1, p / (1 - p))` is true at p = 0.5 alone. An author who
# lists one value may mean a range. So where the model gives exact values, a few other values are
# tried: no draw is made.


# At so many other values the claim has to be false.
ENOUGH = 3
# Shares, counts and factors that are tried; more than enough, as some may be forbidden.
SHARES = (0.3, 0.7, 0.2, 0.6, 0.9)
COUNTS = (3.0, 5.0, 2.0, 4.0, 7.0)
FACTORS = (1.7, 0.6, 2.3, 0.3, 3.1)


def with_note(result: CaseResult, prepared: Prepared, graphs: CaseGraphs) -> CaseResult:
    """The result, with a warning where it is true at the one value of a parameter alone."""
    found = true_at_one_value(prepared, graphs) if _in_question(result, prepared) else None
    if found is None:
        return result
    name, value, other = found
    note = (
        f"{result.claim}: exactly true at {name} = {value:g}, false at {name} = {other:g}: "
        f"is a range of {name} meant?"
    )
    return replace(result, warnings=(*result.warnings, note))


def _in_question(result: CaseResult, prepared: Prepared) -> bool:
    """Whether the case is an equation that is verified, and the first of its claim."""
    case, region = prepared.case, result.region
    return (
        result.verdict is result.expect is Verdict.VERIFIED
        and result.exact is not None
        and case.claim.tolerance is None
        and not case.claim.of_code
        and region is not None
        and region.point
        and case.key == case.claim.expand()[0].key
    )


def true_at_one_value(prepared: Prepared, graphs: CaseGraphs) -> tuple[str, float, float] | None:
    """A parameter, its value, and another value at which the claim is false; None where none is.

    The parameter is a number with one value, which stands in the claimed side and in the model.
    """
    case = prepared.case
    names = list(_claimed_names(prepared, parse_claim(case.claim)))
    if not names:
        return None
    own = judged_exactly(prepared)
    if own is None or own.verdict is not Verdict.VERIFIED or own.within:
        return None  # it is not exactly true
    for name, value in names:
        false_at: list[float] = []
        for other in others(value):
            verdict = _verdict_at(case, {**case.parameters, name: other}, graphs)
            if verdict is Verdict.VERIFIED:
                break
            false_at += [other] if verdict is Verdict.REFUTED else []
            if len(false_at) == ENOUGH:
                return name, value, false_at[0]
    return None


def _claimed_names(prepared: Prepared, parsed: ParsedClaim) -> Iterator[tuple[str, float]]:
    """The parameters in question, with their values."""
    claim, sides = prepared.case.claim, prepared.lowered.operands
    claimed = [
        node
        for node, side in zip(parsed.statement.operands, sides, strict=False)
        if not side.estimated
    ]
    used = names_in(*expressions_of(parsed.model))
    for name, value in prepared.case.parameters.items():
        single = len(claim.parameters.get(name, ())) == 1 or len(claim.cases or ()) == 1
        stands = name in used and any(name in names_in(node) for node in claimed)
        if single and stands and isinstance(value, float) and math.isfinite(value):
            yield name, value


def others(value: float) -> tuple[float, ...]:
    """Other values of the same kind: shares, counts, or numbers.

    >>> others(0.5)[0], others(3.0)[0], others(-2.0)[0]
    (0.3, 5.0, -3.4)
    """
    if 0 < value < 1:
        tried: tuple[float, ...] = SHARES
    elif value >= 1 and value == math.floor(value):
        tried = COUNTS
    else:
        tried = tuple(round(factor * (value or 1.0), 12) for factor in FACTORS)
    return tuple(one for one in tried if one != value)


def _verdict_at(
    case: Case, parameters: dict[str, ParameterValue], graphs: CaseGraphs
) -> Verdict | None:
    """The verdict by exact value at other parameters; None where there is none."""
    other = Case(replace(case.claim, family=None), parameters)
    try:
        found = judged_exactly(prepare(other, graphs, crossing=False))
    except DropcheckError:  # such as a value that `requires` forbids
        return None
    return None if found is None else found.verdict
