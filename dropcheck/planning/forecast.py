"""A forecast from a pilot: the draws to a verdict, and the smallest discrepancy to be seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial

from dropcheck.analysis.strategy import (
    Arithmetic,
    Certainty,
    Laws,
    Proportion,
    Quantiles,
    Unanswerable,
)
from dropcheck.claims.registry import Case
from dropcheck.inference import budget, detectable
from dropcheck.inference.interval import FEWEST_BLOCKS, student_quantile
from dropcheck.inference.region import region_floor
from dropcheck.judging import limit_theorem
from dropcheck.judging.case_run import DRAWS_WITHOUT_CONDITION, FEWEST_DRAWS, CaseRun
from dropcheck.judging.draw_plan import smallest_seen
from dropcheck.judging.events import certainty, counting
from dropcheck.judging.events.counting import by_averages
from dropcheck.judging.exactly import known_exception
from dropcheck.judging.knowledge import Knowledge
from dropcheck.judging.laws.by_relation import counting_of
from dropcheck.judging.look import ENDLESS, judge_look, why_endless
from dropcheck.judging.plan_draws import plan_draws
from dropcheck.judging.prepared import Prepared
from dropcheck.judging.quantiles.pilot_sample import piloted as sampled
from dropcheck.judging.quantiles.pilot_sample import reach_of
from dropcheck.judging.wrong_draws import undefined_draws, why_undefined
from dropcheck.language.law_claims import LawClaim
from dropcheck.reasons import Explanation, Reason
from dropcheck.records import record
from dropcheck.results import Edge, Guarantee
from dropcheck.settings import Settings
from dropcheck.simulation import (
    MOST_ROWS,
    PILOT,
    AtThresholds,
    Compiled,
    Counted,
    CountTally,
    InCells,
    Program,
    Request,
    SpanSums,
    Tally,
)

Smallest = Callable[[int], float | None]
"""From a number of draws to the smallest discrepancy that they see; None where they see none."""


@record
class Forecast:
    """The forecast of one case.

    The verdict is expected after `draws`. It is None where that is not known, and the least number
    where `explanation` gives a reason for doubt. `most` is the budget in draws. A run gives the
    case up after `ends` draws, where that is before the end of the budget. `smallest` is in the
    unit of the estimate, and `scale` that of the claim.
    """

    case: Case
    guarantee: Guarantee | None  # None where there can be no verdict
    resolution: float
    draws: int | None
    most: int = 0
    span_draws: int = 1
    seconds_a_draw: float = 0.0  # of one thread
    piloted: float = 0.0  # seconds of one thread that the pilot took
    scale: float | None = None
    smallest: Smallest = lambda _: None
    explanation: Explanation | None = None
    ends: int | None = None
    shared: bool = False  # whether other statements of its entry have the same draws
    edge: Edge | None = None  # of a printed figure's rounding, where its exact value is near it


def forecast(
    prepared: Prepared, settings: Settings, alpha: float
) -> Generator[Request, SpanSums, Forecast]:
    """Draw the pilot that a run of the case draws, and forecast the run.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    run = CaseRun(prepared=prepared, settings=settings, alpha=alpha)
    result = partial(Forecast, case=run.case, resolution=run.resolution)
    match prepared.strategy, prepared.compiled:
        case Arithmetic(), _:
            why = Reason.NOTHING_RANDOM.explain()
            return result(guarantee=Guarantee.ARITHMETIC, draws=0, explanation=why)
        case Unanswerable(why), _:
            return result(guarantee=None, draws=None, explanation=why)
        case Laws(laws), InCells(program):
            return (yield from _of_laws(run, laws, program))
        case (Certainty() | Proportion()) as claim, Counted() as counted:
            return (yield from _of_counts(run, claim, counted))
        case Quantiles() as quantiles, AtThresholds() as quantities:
            return (yield from _of_quantiles(run, quantiles, quantities))
        case _, Compiled() as compiled:
            knowledge = prepared.knowledge
            if knowledge is None or knowledge.guarantee is Guarantee.ASYMPTOTIC:
                return (yield from _of_limit_theorem(run, compiled))
            return (yield from _of_averages(run, compiled, knowledge))
        case _:
            raise AssertionError("a strategy was compiled to what it is not judged by")


def _of_averages(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge
) -> Generator[Request, SpanSums, Forecast]:
    """The forecast where the model bounds moments: by exact covariances, or by a pilot."""
    plan = yield from plan_draws(run, compiled, knowledge)
    if not plan.calls_enough:
        return (yield from _of_limit_theorem(run, compiled))
    tally = plan.pilot
    if tally is None:  # a span shows the time of a draw
        tally = Tally(plan.program, plan.centres)
        yield from run.draw_until(tally, PILOT, 1)
    result = _of_pilot(run, plan.program, plan.most, tally, plan.guarantee)
    if plan.pilot is None:  # a run has none
        result = replace(result, piloted=0.0)
    undefined = undefined_draws(tally)
    if undefined is not None:  # a pilot sees it, or the first look
        ends = _in_spans(plan.fewest, result) if plan.pilot is None else tally.drawn
        return replace(result, explanation=undefined, ends=ends)
    if plan.scale is None:
        return replace(result, explanation=why_undefined(compiled, tally), ends=_given_up(run))

    def smallest(most: int) -> float | None:
        share = _last_share(plan.fewest, most, run.alpha)
        return smallest_seen(run, compiled, plan, most, share)

    result = replace(result, scale=plan.scale, smallest=smallest)
    if plan.endless is not None:
        return _decided_after(result, ENDLESS, plan.endless, plan.ends)
    return _decided_after(result, plan.expected)


def _of_limit_theorem(run: CaseRun, compiled: Compiled) -> Generator[Request, SpanSums, Forecast]:
    pilot = yield from limit_theorem.piloted(run, compiled)
    tally, program = pilot.tally, pilot.program
    result = _of_pilot(run, program, pilot.most, tally, Guarantee.ASYMPTOTIC)
    undefined = undefined_draws(tally)
    if undefined is not None:  # the first look sees it
        return replace(result, explanation=undefined, ends=_in_spans(pilot.fewest, result))
    decided = limit_theorem.deciding(compiled, tally, pilot.rarest)
    judged = judge_look(run, compiled, tally, run.alpha, decided, planning=True)
    if judged is None:
        return replace(result, explanation=why_undefined(compiled, tally), ends=_given_up(run))
    interval = judged.decisive
    result = replace(result, scale=judged.scale)
    # other conditions hold after a known number of draws, which is planned
    if interval is None or limit_theorem.carried_by_few(interval, tally.draws):
        result = replace(result, explanation=judged.interval.unmet)
    else:
        error, second_order = interval.standard_error, interval.second_order
        floor = region_floor(judged.region, judged.widen)

        def smallest(most: int) -> float | None:
            blocks = most // program.block_draws
            share = _last_share(pilot.fewest, most, run.alpha) / len(run.reading.comparisons)
            if blocks < FEWEST_BLOCKS:
                return None
            quantile = student_quantile(share, min(blocks, MOST_ROWS // 2))
            seen = detectable.of_average(
                error, second_order, quantile, run.alpha, most / tally.draws
            )
            return max(seen, floor) * judged.unit

        result = replace(result, smallest=smallest)
    endless = why_endless(judged.interval, judged.region, judged.widen)
    result = _decided_after(result, pilot.expected, endless)
    if result.draws is None or limit_theorem.accepted(run, compiled):
        return result
    why = Reason.LIMIT_THEOREM.explain(verdict="decided")
    return replace(result, draws=None, ends=result.draws, explanation=why)


def _of_counts(
    run: CaseRun, claim: Certainty | Proportion, counted: Counted
) -> Generator[Request, SpanSums, Forecast]:
    alpha = run.alpha
    pilot = None
    if isinstance(claim, Proportion):
        pilot = yield from counting.piloted(run, claim, counted)
        in_strata = by_averages(run, counted.program, pilot.plan.expected)
        if in_strata is not None:
            return (yield from _of_averages(run, *in_strata))
        program, most, tally = pilot.program, pilot.most, pilot.tally
        fewest = FEWEST_DRAWS
    elif known_exception(run, claim.event, claim.condition, claim.probability) is not None:
        return Forecast(
            case=run.case, guarantee=Guarantee.EXACT, resolution=run.resolution, draws=0
        )
    else:
        most = run.most_draws(counted.program)
        program = counted.program.fitted(most, FEWEST_BLOCKS)
        tally = Tally(program)
        yield from run.draw_until(tally, PILOT, 1)
        fewest = program.span_draws
    result = _of_pilot(run, program, most, tally, Guarantee.EXACT)
    undefined = undefined_draws(tally)
    if undefined is not None:
        return replace(result, explanation=undefined, ends=_in_spans(fewest, result))
    share = certainty.seen_draws(counted, tally) / tally.drawn
    share = share if pilot is None else pilot.plan.shown
    if not share:
        why = Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
        return replace(result, explanation=why, ends=_given_up(run))
    if pilot is None:
        # where a condition holds in some draws only, a run doubles their number until it is enough
        draws = certainty.draws_that_bound(run)
        if not tally.totals[0] > 0:  # else the first look shows a counterexample
            draws *= 2 ** math.ceil(math.log2(1 / share))
        result = replace(
            result,
            scale=1.0,
            smallest=lambda most: detectable.of_certainty(
                int(min(most, draws) * share / program.unit_draws), alpha
            ),
        )
        return _decided_after(result, draws)
    region, floor = pilot.region, region_floor(pilot.region, pilot.widen)

    def smallest(most: int) -> float | None:
        last = _last_share(min(FEWEST_DRAWS, most), most, alpha)
        seen = detectable.of_probability(region.low, region.high, int(most * share), last, alpha)
        return None if seen is None else max(seen, floor)

    result = replace(result, scale=pilot.scale, smallest=smallest)
    draws = max(pilot.plan.expected, min(FEWEST_DRAWS, most))
    return _decided_after(result, draws, pilot.plan.endless, pilot.plan.ends)


def _of_laws(
    run: CaseRun, claim: LawClaim, program: Program
) -> Generator[Request, SpanSums, Forecast]:
    """The forecast of a statement about laws: its draws are known, and a span shows their time."""
    counting = counting_of(run, claim, program)
    tally = CountTally(counting.program)
    yield from run.draw_until(tally, PILOT, 1)
    result = _of_pilot(run, counting.program, counting.most, tally, Guarantee.FINITE_SAMPLE)
    undefined = undefined_draws(tally)
    if undefined is not None:
        return replace(result, explanation=undefined, ends=tally.drawn)

    result = replace(result, scale=1.0, smallest=counting.precision.smallest)
    return _decided_after(result, counting.planned)


def _of_quantiles(
    run: CaseRun, claim: Quantiles, compiled: AtThresholds
) -> Generator[Request, SpanSums, Forecast]:
    pilot = yield from sampled(run, claim, compiled)
    result = _of_pilot(run, compiled.program, pilot.most, pilot.sample, Guarantee.EXACT)
    undefined = undefined_draws(pilot.sample)
    if undefined is not None:
        return replace(result, explanation=undefined, ends=pilot.sample.drawn)
    if pilot.empty:
        why = Reason.CONDITION_NEVER_TRUE.explain(draws=pilot.sample.drawn)
        return replace(result, explanation=why, ends=pilot.sample.drawn)

    def smallest(most: int) -> float | None:
        share = _last_share(min(FEWEST_DRAWS, most), most, run.alpha)
        return max(
            max(reach_of(pilot, one, most, share), region_floor(one.comparison.region, one.widen))
            for one in pilot.targets
        )

    scale = max(one.scale for one in pilot.targets)
    result = replace(result, scale=scale, smallest=smallest)
    return _decided_after(result, max(pilot.expected, min(FEWEST_DRAWS, pilot.most)))


def _given_up(run: CaseRun) -> int | None:
    """The draws after which a run gives up where a value never occurs; None where it does not."""
    return DRAWS_WITHOUT_CONDITION if run.seems_never(DRAWS_WITHOUT_CONDITION) else None


def _of_pilot(
    run: CaseRun, program: Program, most: int, tally: Tally, guarantee: Guarantee
) -> Forecast:
    """The forecast of the costs, which every pilot shows."""
    return Forecast(
        case=run.case,
        guarantee=guarantee,
        resolution=run.resolution,
        draws=None,
        most=most,
        span_draws=program.span_draws,
        seconds_a_draw=tally.seconds / max(tally.drawn, 1),
        piloted=tally.seconds,
        shared=program.shared,
    )


def _decided_after(
    result: Forecast, draws: int, endless: Reason = Reason.AT_THE_EDGE, ends: int | None = None
) -> Forecast:
    """The forecast with the draws to a verdict; without one a run may end before its budget."""
    if draws >= ENDLESS:
        early = None if ends is None or ends >= result.most else _in_spans(ends, result)
        return replace(result, explanation=endless.explain(), ends=early)
    return replace(result, draws=_in_spans(draws, result))


def _in_spans(draws: int, result: Forecast) -> int:
    """The draws rounded up to whole spans, as a run makes them."""
    return -(-draws // result.span_draws) * result.span_draws


def _last_share(fewest: int, most: int, alpha: float) -> float:
    """The error of the budget's last look, if the plan is off by a factor of two."""
    looks = budget.looks(max(fewest, most // 2), min(fewest, most), most, alpha)
    return list(looks)[-1].alpha
