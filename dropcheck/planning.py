"""Planning: how many draws a run would take, and how small an error it would see."""

from __future__ import annotations

import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, repeat

from dropcheck.analysis.strategy import (
    Arithmetic,
    Certainty,
    Laws,
    Proportion,
    Quantiles,
    Unanswerable,
)
from dropcheck.claims.registry import Case, Registry
from dropcheck.errors import DropcheckError
from dropcheck.execution.schedule import Judge, drive, guarded
from dropcheck.inference import budget
from dropcheck.inference import region as detectable
from dropcheck.inference.budget import case_alpha
from dropcheck.inference.intervals import FEWEST_BLOCKS, student_quantile
from dropcheck.inference.region import region_floor
from dropcheck.judging import events, limit_theorem
from dropcheck.judging.case import (
    DRAWS_WITHOUT_CONDITION,
    FEWEST_DRAWS,
    CaseRun,
    Prepared,
    prepare,
    undefined_draws,
    why_undefined,
)
from dropcheck.judging.events import by_averages
from dropcheck.judging.judge import by_model, confirming
from dropcheck.judging.knowledge import Knowledge
from dropcheck.judging.laws import counting_by_relation as counting_of
from dropcheck.judging.look import ENDLESS, judge_look, why_endless
from dropcheck.judging.plan_draws import plan_draws, smallest_seen
from dropcheck.judging.quantiles import piloted as sampled
from dropcheck.judging.quantiles import reach_of
from dropcheck.language.compile import CaseGraphs
from dropcheck.language.graph import LawClaim
from dropcheck.processors import default_threads
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Verdict
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

# ---- forecast ------------------------------------------------------------------------------------
#
# A forecast from a pilot: the draws to a verdict, and the smallest discrepancy to be seen.


Smallest = Callable[[int], float | None]
"""From a number of draws to the smallest discrepancy that they see; None where they see none."""


@dataclass(frozen=True, slots=True)
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


def forecast(
    prepared: Prepared, settings: Settings, alpha: float
) -> Generator[Request, SpanSums, Forecast]:
    """Draw the pilot that a run of the case draws, and forecast the run.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    run = CaseRun(prepared=prepared, settings=settings, alpha=alpha)
    known = by_model(run)
    if known is None:
        return (yield from _of_draws(run))
    exact, finding = Guarantee.EXACT, known.finding
    if finding.verdict is Verdict.INCONCLUSIVE:
        nothing = Forecast(case=run.case, guarantee=exact, resolution=run.resolution, draws=None)
        return replace(nothing, explanation=finding.explanation)
    own = confirming(run, known)
    result = yield from _of_draws(own)
    sharp = finding.sharpness
    seen = None if sharp is None else sharp.widening / 100
    result = replace(result, guarantee=exact, scale=finding.scale, smallest=lambda _: seen)
    if own.confirms is None and result.draws is not None:
        return result
    if result.draws is None or result.draws > result.most:  # a span shows what is drawn
        result = replace(result, draws=result.span_draws, explanation=None, ends=None)
    return result


def _of_draws(run: CaseRun) -> Generator[Request, SpanSums, Forecast]:
    """The forecast of a case that is judged, or confirmed, by draws."""
    prepared = run.prepared
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
                if run.confirms is not None:
                    return result(guarantee=Guarantee.ASYMPTOTIC, draws=compiled.program.span_draws)
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
        pilot = yield from events.piloted(run, claim, counted)
        in_strata = by_averages(run, counted.program, pilot.plan.expected)
        if in_strata is not None:
            return (yield from _of_averages(run, *in_strata))
        program, most, tally = pilot.program, pilot.most, pilot.tally
        fewest = FEWEST_DRAWS
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
    share = events.seen_draws(counted, tally) / tally.drawn
    share = share if pilot is None else pilot.plan.shown
    if not share:
        why = Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
        return replace(result, explanation=why, ends=_given_up(run))
    if pilot is None:
        # where a condition holds in some draws only, a run doubles their number until it is enough
        draws = events.draws_that_bound(run)
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

    def smallest(most: int) -> float | None:
        seen = counting.precision.smallest(most)
        return None if seen is None else max(seen, run.sharpness(1.0))  # nearer laws are verified

    result = replace(result, scale=1.0, smallest=smallest)
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


# ---- plan ----------------------------------------------------------------------------------------
#
# What a run would cost and what it could see, by the pilots of its cases.


@dataclass(frozen=True, slots=True)
class CasePlan:
    """What one case would cost, and what its budget could see; None where that is not known.

    `draws` and `seconds` are those to a verdict, or the least where it is `doubtful`; `budget` is
    the most draws that a run would make. `discrepancy` is the smallest error of the claim that the
    budget would almost surely refute; `relative` is the same as a share of the claim's scale.
    """

    case: Case
    guarantee: Guarantee | None  # None where there can be no verdict
    draws: int | None
    seconds: float | None
    budget: int
    discrepancy: float | None
    relative: float | None
    scale: float | None
    resolution: float
    explanation: Explanation | None
    spent: float  # seconds that a run would spend on it alone
    work: float  # the same, of one thread
    drawn: int  # draws that a run would make: until the verdict, or until it gives up
    shared: bool = False  # whether other statements of its entry have the same draws

    @property
    def within(self) -> bool:
        """Whether the verdict is expected within the budget."""
        return self.draws is not None and self.draws <= self.budget and not self.doubtful

    @property
    def beyond(self) -> bool:
        """Whether the verdict takes more draws than the budget."""
        return self.draws is not None and self.draws > self.budget

    @property
    def doubtful(self) -> bool:
        """Whether it may take more draws than the pilot shows: the explanation says why."""
        return bool(self.draws) and self.explanation is not None


@dataclass(frozen=True, slots=True)
class Plan:
    """The plans of all cases; `seconds` is the time of the pilots.

    After an interruption it has the cases whose pilots were drawn.
    """

    registry: str
    settings: Settings
    threads: int
    cases: tuple[CasePlan, ...]
    seconds: float
    warnings: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def draws(self) -> int:
        """Draws that a run would make, over all cases."""
        return sum(case.drawn for case in self.cases)

    @property
    def run_seconds(self) -> float:
        """Seconds that a run would take: all work shared by its threads, or the longest case."""
        work: dict[str, float] = {}  # statements with the same draws count once, by the longest
        for place, case in enumerate(self.cases):
            key = case.case.stream_key if case.shared else str(place)
            work[key] = max(case.work, work.get(key, 0.0))
        return max([sum(work.values()) / self.threads, *(case.spent for case in self.cases)])


def plan_cases(
    cases: Sequence[Case],
    settings: Settings,
    registry: Registry,
    advance: Callable[[str], None] = lambda _: None,
    *,
    graphs: CaseGraphs | None = None,
) -> Plan:
    """Draw the pilot of each case, as a run with these settings would, and plan from it.

    A time limit is shared as in a run: the cases that need least take what they need while it
    lasts, and the others divide the rest. What a case could see in it assumes that the case stays
    open to the end. A time limit does not bound the pilots. `advance` gets the claim's id after
    each pilot. The other arguments and the errors are those of `running.verify_cases`. Threads
    slow each other down, so that pilots seem slower than a run's draws.
    """
    started = time.perf_counter()
    threads = settings.threads or default_threads()
    alpha = case_alpha(settings.alpha, registry.case_count, len(cases))
    built = graphs or CaseGraphs(settings.max_memory, keep=0)

    def start(case: Case) -> Judge[Forecast]:
        prepared = prepare(case, built, crossing=not settings.plain)
        return (yield from forecast(prepared, settings, alpha))

    starts = (partial(guarded, partial(start, case)) for case in cases)
    results: dict[int, Forecast | DropcheckError] = {}
    interrupted = False
    try:
        for index, result in drive(starts, threads):
            results[index] = result
            advance(cases[index].claim.id)
    except KeyboardInterrupt:
        interrupted = True
    ordered = [results[index] for index in sorted(results)]
    problems = [one for own in ordered if isinstance(own, DropcheckError) for one in own.problems]
    if problems:
        raise DropcheckError(problems)
    forecasts = [one for one in ordered if isinstance(one, Forecast)]
    budgets = _budgets(forecasts, settings, threads)
    return Plan(
        registry=registry.name,
        settings=settings,
        threads=threads,
        cases=tuple(map(_planned, forecasts, budgets, repeat(threads))),
        seconds=time.perf_counter() - started,
        interrupted=interrupted,
    )


def _budgets(forecasts: Sequence[Forecast], settings: Settings, threads: int) -> list[int]:
    """The budget of each case in draws."""
    if settings.time_limit is None:
        return [one.most for one in forecasts]
    needs = [
        math.inf if one.draws is None else min(one.draws, one.most) * one.seconds_a_draw
        for one in forecasts
    ]
    # a run draws the same pilots first
    left = settings.time_limit * threads - sum(one.piloted for one in forecasts)
    shares = shared_out(max(left, 0.0), needs)
    return [
        min(one.most, int(share / one.seconds_a_draw)) if one.seconds_a_draw > 0 else one.most
        for one, share in zip(forecasts, shares, strict=True)
    ]


def shared_out(total: float, needs: Sequence[float]) -> list[float]:
    """The most that each could have of a total, if those that need least come first.

    They take what they need while it lasts, and the others share the rest in equal parts. One of
    the first could have its need, or what it would have among the others if that is more.

    >>> [round(share, 3) for share in shared_out(10.0, [1.0, 2.0, 30.0, math.inf])]
    [2.667, 3.0, 3.5, 3.5]
    """
    ordered = sorted(needs)
    below = [0.0, *accumulate(ordered)]
    served = bisect_right(below, total) - 1  # how many get all that they need

    def share(need: float) -> float:
        rank = bisect_left(ordered, need)
        others, taken = served, below[served]
        if rank < served:  # without its need there is more for the others
            others = bisect_right(below, total + need) - 2
            taken = below[others + 1] - need
        equal = (total - taken) / (len(needs) - others)
        return max(equal, need) if rank < served else equal

    return [share(need) for need in needs]


def _planned(expected: Forecast, budget: int, threads: int) -> CasePlan:
    def seconds(draws: int) -> float:
        # a span is drawn by one thread
        at_once = min(threads, max(1, draws // expected.span_draws))
        return draws * expected.seconds_a_draw / at_once

    needless = expected.draws == 0 or not expected.most
    seen = None if needless else expected.smallest(budget)
    likely = expected.ends if expected.draws is None else expected.draws
    drawn = budget if likely is None else min(likely, budget)
    drawn = 0 if needless else drawn
    return CasePlan(
        case=expected.case,
        guarantee=expected.guarantee,
        draws=expected.draws,
        seconds=None if expected.draws is None else seconds(expected.draws),
        budget=budget,
        discrepancy=seen,
        relative=seen / expected.scale if seen is not None and expected.scale else None,
        scale=expected.scale,
        resolution=expected.resolution,
        explanation=expected.explanation,
        spent=seconds(drawn),
        work=drawn * expected.seconds_a_draw,
        drawn=drawn,
        shared=expected.shared,
    )
