"""Planning: how many draws a run would take, and how small an error it would see.

The judge of each case goes as far as its first look, by the pilot of a run. What it foresees there
is what is planned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dropcheck.analysis.strategy import Arithmetic
from dropcheck.claims.registry import Case, Registry
from dropcheck.errors import DropcheckError
from dropcheck.execution.schedule import Judge, drive, guarded
from dropcheck.inference import budget
from dropcheck.inference.budget import case_alpha
from dropcheck.judging.case import (
    DRAWS_WITHOUT_CONDITION,
    CaseRun,
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
class CasePlan:
    """What one case would cost, and what its budget could see; None where that is not known.

    `draws` are those to a verdict, or the least where it is `doubtful`; `budget` is the most draws
    that a run would make. A run gives the case up after `ends` draws, where these are fewer.
    `smallest` gives the smallest error that so many draws see, in the unit of the estimate.
    """

    case: Case
    resolution: float
    threads: int
    guarantee: Guarantee | None  # None where there can be no verdict
    draws: int | None
    budget: int = 0
    span_draws: int = 1
    seconds_a_draw: float = 0.0  # of one thread
    scale: float | None = None
    smallest: Callable[[int], float | None] = lambda _: None
    explanation: Explanation | None = None
    ends: int | None = None
    shared: bool = False  # whether other statements of its entry have the same draws

    def _seconds(self, draws: int) -> float:
        # a span is drawn by one thread
        at_once = min(self.threads, max(1, draws // self.span_draws))
        return draws * self.seconds_a_draw / at_once

    @property
    def seconds(self) -> float | None:
        """Seconds to a verdict, if it has all threads."""
        return None if self.draws is None else self._seconds(self.draws)

    @property
    def drawn(self) -> int:
        """Draws that a run would make: until the verdict, or until it gives up."""
        likely = self.ends if self.draws is None else self.draws
        return self.budget if likely is None else min(likely, self.budget)

    @property
    def spent(self) -> float:
        """Seconds that a run would spend on it alone."""
        return self._seconds(self.drawn)

    @property
    def work(self) -> float:
        """Seconds that one thread would spend on it."""
        return self.drawn * self.seconds_a_draw

    @property
    def discrepancy(self) -> float | None:
        """The smallest error of the claim that the budget would almost surely refute."""
        return self.smallest(self.budget) if self.draws != 0 and self.budget else None

    @property
    def relative(self) -> float | None:
        """The same as a share of the claim's scale."""
        seen = self.discrepancy
        return seen / self.scale if seen is not None and self.scale else None

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


def forecast(
    prepared: Prepared, settings: Settings, alpha: float
) -> Generator[Request, SpanSums, CasePlan]:
    """Draw the pilot that a run of the case draws, and forecast the run.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    run = CaseRun(prepared=prepared, settings=settings, alpha=alpha, planning=True)
    if isinstance(prepared.strategy, Arithmetic):
        why = Reason.NOTHING_RANDOM.explain()
        return _plan(run, guarantee=Guarantee.ARITHMETIC, draws=0, explanation=why)
    known = by_model(run)
    if known is None:
        return (yield from _by_draws(run))
    exact, finding = Guarantee.EXACT, known.finding
    if finding.verdict is Verdict.UNDECIDED:
        return _plan(run, guarantee=exact, draws=None, explanation=finding.explanation)
    own = confirming(run, known)
    result = yield from _by_draws(own)
    seen = None if finding.sharpness is None else finding.sharpness.widening / 100
    result = replace(result, guarantee=exact, scale=finding.scale, smallest=lambda _: seen)
    beyond = own.confirms is not None and result.beyond
    if result.draws is None or beyond:  # a span shows what is drawn
        result = replace(result, draws=result.span_draws, explanation=None, ends=None)
    return result


def _plan(run: CaseRun, **known: Any) -> CasePlan:
    return CasePlan(case=run.case, resolution=run.resolution, threads=run.threads, **known)


def _by_draws(run: CaseRun) -> Generator[Request, SpanSums, CasePlan]:
    """The plan of a case that is judged, or confirmed, by draws."""
    try:
        found = yield from judge_by_draws(run)
    except Planned as planned:
        return (yield from _foreseen(run, planned.outlook))
    is_open, compiled = found.verdict is Verdict.UNDECIDED, run.prepared.compiled
    return _plan(  # a run ends there too
        run,
        guarantee=found.guarantee,
        draws=None if is_open else found.draws,
        budget=run.most_draws(compiled.program) if found.draws and compiled else 0,
        span_draws=max(found.draws, 1),
        seconds_a_draw=found.seconds / max(found.draws, 1),
        explanation=found.explanation if is_open else None,
        ends=found.draws,
    )


def _foreseen(run: CaseRun, outlook: Outlook) -> Generator[Request, SpanSums, CasePlan]:
    """The plan by what a judge foresees at its first look."""
    tally, program, most = outlook.tally, outlook.program, outlook.most
    if not tally.spans:  # a span shows the time of a draw
        yield from run.draw_until(tally, PILOT, 1)

    def in_spans(draws: int) -> int:
        return -(-draws // program.span_draws) * program.span_draws

    told = _plan(
        run,
        guarantee=outlook.guarantee,
        draws=None,
        budget=run.most_draws(program),
        span_draws=program.span_draws,
        seconds_a_draw=tally.seconds / max(tally.drawn, 1),
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
        why = (outlook.endless or Reason.AT_THE_EDGE).explain()
        return replace(told, explanation=why, ends=in_spans(most) if most < told.budget else None)
    draws = in_spans(max(outlook.expected, min(outlook.fewest, most)))
    if outlook.left_open is not None:
        return replace(told, explanation=outlook.left_open, ends=draws)
    return replace(told, draws=draws, explanation=outlook.doubt)


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

    `advance` gets the claim's id after each pilot. The other arguments and the errors are those of
    `running.verify_cases`. Threads slow each other down, so that pilots seem slower than a run's
    draws.
    """
    started = time.perf_counter()
    threads = settings.threads or default_threads()
    alpha = case_alpha(settings.alpha, registry.case_count, len(cases))
    built = graphs or CaseGraphs(settings.max_memory, keep=0)

    def start(case: Case) -> Judge[CasePlan]:
        prepared = prepare(case, built, crossing=not settings.plain)
        return (yield from forecast(prepared, settings, alpha))

    starts = (partial(guarded, partial(start, case)) for case in cases)
    results: dict[int, CasePlan | DropcheckError] = {}
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
    plans = [one for one in ordered if isinstance(one, CasePlan)]
    return Plan(
        registry=registry.name,
        settings=settings,
        threads=threads,
        cases=tuple(plans),
        seconds=time.perf_counter() - started,
        interrupted=interrupted,
    )
