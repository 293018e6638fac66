"""Planning: how many draws a run would take, and how small an error it would see.

The judge of each case goes as far as its first look, by the pilot of a run. What it foresees there
is what is planned.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

from dropcheck.analysis.strategy import Arithmetic
from dropcheck.claims.registry import Case, Registry
from dropcheck.errors import DropcheckError
from dropcheck.execution.schedule import Judge, drive, guarded
from dropcheck.inference import budget
from dropcheck.inference.budget import case_alpha
from dropcheck.judging.case import (
    DRAWS_WITHOUT_CONDITION,
    CaseRun,
    Finding,
    Outlook,
    Planned,
    Prepared,
    prepare,
    undefined_draws,
)
from dropcheck.judging.judge import by_model, confirming, judge_by_draws
from dropcheck.judging.look import ENDLESS
from dropcheck.language.compile import CaseGraphs
from dropcheck.processors import default_threads
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Verdict
from dropcheck.settings import Settings
from dropcheck.simulation import PILOT, Request, SpanSums


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is expected of one case, whatever the others need.

    The verdict is expected after `draws`: None where that is not known, and the least number where
    `explanation` gives a reason for doubt. A run gives the case up after `ends` draws, where that
    is before the end of the budget, `most`. `smallest` gives the smallest error that so many draws
    see, in the unit of the estimate.
    """

    guarantee: Guarantee | None  # None where there can be no verdict
    draws: int | None
    most: int = 0
    span_draws: int = 1
    seconds_a_draw: float = 0.0  # of one thread
    piloted: float = 0.0  # seconds of one thread that a run's own pilot takes
    scale: float | None = None
    smallest: Callable[[int], float | None] = lambda _: None
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
    if isinstance(prepared.strategy, Arithmetic):
        why = Reason.NOTHING_RANDOM.explain()
        return Forecast(guarantee=Guarantee.ARITHMETIC, draws=0, explanation=why)
    run = CaseRun(prepared=prepared, settings=settings, alpha=alpha, planning=True)
    known = by_model(run)
    if known is None:
        return (yield from _by_draws(run))
    exact, finding = Guarantee.EXACT, known.finding
    if finding.verdict is Verdict.INCONCLUSIVE:
        return Forecast(guarantee=exact, draws=None, explanation=finding.explanation)
    own = confirming(run, known)
    result = yield from _by_draws(own)
    seen = None if finding.sharpness is None else finding.sharpness.widening / 100
    result = replace(result, guarantee=exact, scale=finding.scale, smallest=lambda _: seen)
    shows_little = result.draws is None or result.draws > result.most
    if shows_little and (result.draws is None or own.confirms is not None):
        # a span shows what is drawn
        result = replace(result, draws=result.span_draws, explanation=None, ends=None)
    return result


def _by_draws(run: CaseRun) -> Generator[Request, SpanSums, Forecast]:
    """The forecast of a case that is judged, or confirmed, by draws."""
    try:
        finding = yield from judge_by_draws(run)
    except Planned as planned:
        return (yield from _foreseen(run, planned.outlook))
    return _found(finding)


def _found(finding: Finding) -> Forecast:
    """The forecast where the judge ends before its first look: a run ends there too."""
    is_open, drawn = finding.verdict is Verdict.INCONCLUSIVE, finding.draws
    return Forecast(
        guarantee=finding.guarantee,
        draws=None if is_open else drawn,
        most=drawn,
        span_draws=max(drawn, 1),
        seconds_a_draw=finding.seconds / max(drawn, 1),
        explanation=finding.explanation if is_open else None,
        ends=drawn,
    )


def _foreseen(run: CaseRun, outlook: Outlook) -> Generator[Request, SpanSums, Forecast]:
    """The forecast by what a judge foresees at its first look."""
    tally, program, most = outlook.tally, outlook.program, outlook.most
    piloted = tally.seconds
    if not tally.spans:  # a span shows the time of a draw
        yield from run.draw_until(tally, PILOT, 1)

    def in_spans(draws: int) -> int:
        return -(-draws // program.span_draws) * program.span_draws

    told = Forecast(
        guarantee=outlook.guarantee,
        draws=None,
        most=most,
        span_draws=program.span_draws,
        seconds_a_draw=tally.seconds / max(tally.drawn, 1),
        piloted=piloted,
        shared=program.shared,
    )
    undefined = undefined_draws(tally)
    if undefined is not None:  # the first look sees it
        return replace(told, explanation=undefined, ends=in_spans(outlook.fewest))
    if outlook.unknown is not None:
        gives_up = run.seems_never(DRAWS_WITHOUT_CONDITION)
        ends = DRAWS_WITHOUT_CONDITION if gives_up else None
        return replace(told, explanation=outlook.unknown(), ends=ends)

    def smallest(draws: int) -> float | None:
        # the error of the last look, if the plan is off by a factor of two
        fewest = min(outlook.fewest, draws)
        *_, last = budget.looks(max(fewest, draws // 2), fewest, draws, run.alpha)
        return outlook.smallest(draws, last.alpha)

    told = replace(told, scale=outlook.scale, smallest=smallest)
    if outlook.expected >= ENDLESS:
        ends = None if outlook.ends in (None, most) else in_spans(outlook.ends)
        return replace(told, explanation=outlook.endless.explain(), ends=ends)
    draws = in_spans(max(outlook.expected, min(outlook.fewest, most)))
    if outlook.left_open is not None:
        return replace(told, explanation=outlook.left_open, ends=draws)
    return replace(told, draws=draws, explanation=outlook.doubt)


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
    ordered = sorted(results.items())
    problems = [
        each for _, one in ordered if isinstance(one, DropcheckError) for each in one.problems
    ]
    if problems:
        raise DropcheckError(problems)
    forecasts = {place: one for place, one in ordered if isinstance(one, Forecast)}
    budgets = _budgets(list(forecasts.values()), settings, threads)
    return Plan(
        registry=registry.name,
        settings=settings,
        threads=threads,
        cases=tuple(
            _planned(cases[place], one, most, settings, threads)
            for (place, one), most in zip(forecasts.items(), budgets, strict=True)
        ),
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


def _planned(
    case: Case, expected: Forecast, most: int, settings: Settings, threads: int
) -> CasePlan:
    def seconds(draws: int) -> float:
        # a span is drawn by one thread
        at_once = min(threads, max(1, draws // expected.span_draws))
        return draws * expected.seconds_a_draw / at_once

    needless = expected.draws == 0 or not expected.most
    seen = None if needless else expected.smallest(most)
    likely = expected.ends if expected.draws is None else expected.draws
    drawn = 0 if needless else most if likely is None else min(likely, most)
    asked = settings.resolution
    return CasePlan(
        case=case,
        guarantee=expected.guarantee,
        draws=expected.draws,
        seconds=None if expected.draws is None else seconds(expected.draws),
        budget=most,
        discrepancy=seen,
        relative=seen / expected.scale if seen is not None and expected.scale else None,
        scale=expected.scale,
        resolution=case.claim.resolution if asked is None else asked,
        explanation=expected.explanation,
        spent=seconds(drawn),
        work=drawn * expected.seconds_a_draw,
        drawn=drawn,
        shared=expected.shared,
    )
