"""What a run would cost and what it could see, by the pilots of its cases."""

from __future__ import annotations

import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, repeat

from dropcheck.claims.registry import Case, Registry
from dropcheck.errors import DropcheckError
from dropcheck.execution.schedule import Judge, drive, guarded
from dropcheck.inference.budget import case_alpha
from dropcheck.judging.prepared import prepare
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.planning.forecast import Forecast, forecast
from dropcheck.planning.near_edges import known_edge
from dropcheck.processors import default_threads
from dropcheck.reasons import Explanation
from dropcheck.records import record
from dropcheck.results import Edge, Guarantee
from dropcheck.settings import Settings


@record
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
    edge: Edge | None = None  # of a printed figure's rounding, where its exact value is near it

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


@record
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
        expected = yield from forecast(prepared, settings, alpha)
        return replace(expected, edge=known_edge(prepared))

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
        edge=expected.edge,
    )
