"""How many cases are judged: which share draws, which process judges them, results in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any
from weakref import WeakValueDictionary

from dropcheck.claims.registry import Case, Registry
from dropcheck.errors import DropcheckError, InternalError, Problem
from dropcheck.execution.pool import LOST, Lost, Pool, can_fork
from dropcheck.execution.schedule import (
    Clock,
    Deadline,
    Task,
    carried_out,
    drive,
    guarded,
    in_order,
    together,
)
from dropcheck.inference.intervals import case_alpha
from dropcheck.judging.case import Prepared, prepare_together, result_of_error
from dropcheck.judging.judge import run_case, with_note
from dropcheck.language.check import Chosen
from dropcheck.language.compile import CaseGraphs
from dropcheck.results import CaseResult, Outcome, RunResult
from dropcheck.settings import Settings, default_threads
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import SpanSums
from dropcheck.vocabulary import special

_Judged = CaseResult | DropcheckError

# With fewer cases for each worker, some workers are idle at the end.
CASES_A_WORKER = 4


def verify_cases(
    cases: Sequence[Case],
    settings: Settings,
    registry: Registry,
    clock: Clock = time.perf_counter,
    watch: Callable[[int], None] = lambda _: None,
    *,
    processes: bool = False,
    pool: Pool | None = None,
    lost: Lost = lambda: None,
    decided: Callable[[int], None] = lambda _: None,
    plans: Callable[[int, int], None] = lambda _draws, _cases: None,
    graphs: CaseGraphs | None = None,
    errors_as_results: bool = False,
) -> Generator[CaseResult, None, None]:
    """Judge cases; yield each result as soon as all results before it are yielded.

    Without a time limit a result depends on the case, the seed and α alone. A time limit is shared:
    cases take turns, so that what some leave goes to the open ones. Once it is up each open case
    gets a last look and says what it needs. An interruption is passed on after all finished results
    are yielded.

    Args:
        cases: the cases to judge, in order.
        settings: error rate, seed and limits.
        registry: the registry that the error rate is divided over.
        clock: the clock that measures a time limit.
        watch: called with numbers of draws, after each span, or after each case where processes
            share the cases.
        processes: whether processes may judge whole cases; otherwise threads draw. Only for a
            program that has no threads of its own.
        pool: workers that take the place of this machine's.
        lost: called once where workers ended before their work; the work is done again.
        decided: called with the number of cases that were just decided.
        plans: called with the draws that begun cases want before they look again, and their number.
        graphs: the graphs that a check of the cases has built; each is used once.
        errors_as_results: whether the error of a case, which only a run can find, is its result.

    Raises:
        DropcheckError: after the last case, with problems that only a run can find, such as a
            quantity that is undefined on every draw; not where they are results.
        InternalError: likewise, where one of them is a fault of dropcheck.

    >>> from dropcheck.claims.reader import read_text
    >>> registry = read_text('''
    ... dropcheck: 1
    ... claims:
    ...   square:
    ...     title: The mean square of a standard normal is 1
    ...     model: x ~ normal(0, 1)
    ...     claim: E(x**2) == 1
    ... ''')
    >>> [result.verdict.value for result in verify_cases(registry.expand(), Settings(), registry)]
    ['verified']
    """
    deadline = Deadline.after(settings.time_limit, clock)
    alpha = case_alpha(settings.alpha, registry.case_count, len(cases))
    lost = cache(lost)  # which calls it once
    graphs = graphs or CaseGraphs(settings.max_memory, keep=0)
    known = at_hand(graphs)
    threads = settings.threads or default_threads() if pool is None else pool.at_once
    own = replace(settings, threads=threads)
    groups = sharing_draws(cases, graphs)
    whole = _judged_whole([[cases[at] for at in group] for group in groups], own, pool, processes)

    def start(place: int) -> Generator[Request | Task, Any, list[_Judged]]:
        group = [cases[at] for at in groups[place]]
        results: list[_Judged]
        if place not in whole.places:
            results = yield from run_together(group, own, alpha, deadline, graphs)
            decided(len(results))
            return results
        results = yield Task(
            function=judged_in_worker,
            arguments=(group, settings, alpha, known),
            after=partial(_ended, group) if group[0].claim.column is not None else None,
        )
        watch(sum(one.draws for one in results if isinstance(one, CaseResult)))
        decided(len(results))
        return results

    if whole.places and whole.workers > 1 and not whole.spawn:
        special.loaded()  # once, and not in each worker that is forked
    driven = drive(
        [partial(start, place) for place in range(len(groups))],
        threads,
        deadline,
        executor=None if pool is None else pool.executor,
        processes=whole.workers if pool is None and whole.places else 0,
        spawn=whole.spawn,
        watch=watch,
        plans=plans,
        lost=lost,
    )
    judged = (
        (place, (cases[place], result))
        for index, results in driven
        for place, result in zip(groups[index], results, strict=True)
    )
    errors: list[DropcheckError] = []
    for case, result in in_order(judged):
        if not isinstance(result, DropcheckError):
            yield result
        elif errors_as_results:
            yield result_of_error(case, result, alpha)
        else:
            errors.append(result)
    if errors:
        internal = any(isinstance(one, InternalError) for one in errors)
        problems = dict.fromkeys(problem for one in errors for problem in one.problems)
        raise (InternalError if internal else DropcheckError)(problems) from errors[0].__cause__


def judge(
    chosen: Chosen,
    settings: Settings,
    repeat: Callable[[Case, CaseResult], str] = lambda *_: "",
    *,
    notes: Sequence[str] = (),
    errors_as_results: bool = True,
    **how: Any,
) -> RunResult:
    """The results of cases; an interruption loses no finished one.

    `repeat` writes the command that repeats a case; `how` are further arguments of `verify_cases`.
    """
    cases = {(case.claim.id, *case.parameters.items()): case for case in chosen.cases}
    started, interrupted = time.perf_counter(), False
    done: list[CaseResult] = []
    lost: list[None] = []
    judged = verify_cases(
        chosen.cases,
        settings,
        chosen.registry,
        lost=lambda: lost.append(None),
        graphs=chosen.graphs,
        errors_as_results=errors_as_results,
        **how,
    )
    try:
        with closing(judged) as results:
            for result in results:
                case = cases[result.claim, *result.parameters.items()]
                done.append(replace(result, repeat=repeat(case, result)))
                if settings.fail_fast and result.result in (Outcome.FAIL, Outcome.ERROR):
                    break
    except KeyboardInterrupt:
        interrupted = True
    return RunResult(
        registry=chosen.registry.name,
        settings=settings,
        cases=tuple(done),
        planned=len(cases),
        seconds=time.perf_counter() - started,
        interrupted=interrupted,
        warnings=(*notes, *([LOST] if lost else [])),
        coverage=chosen.registry.coverage,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """Which groups of cases other processes judge whole, how many do, and how they are started."""

    places: frozenset[int]
    workers: int
    spawn: bool = False


def _judged_whole(
    groups: Sequence[Sequence[Case]], settings: Settings, pool: Pool | None, processes: bool
) -> _Whole:
    """What is judged whole by other processes, if it is much.

    Judging is Python, of which only one thread runs at a time. So of many cases each worker judges
    whole ones; few, and those that share a time, are judged here, and their draws are shared out.
    If there are enough cases of code for several processes, these judge all cases. They are
    spawned, as frameworks do not work in a forked process. The machines of a pool may lack the
    code.
    """
    workers = settings.threads or 1 if pool is None else pool.workers
    mathematics, code = set[int](), set[int]()
    for place, (first, *_) in enumerate(groups):
        column = first.claim.column
        if first.claim.sample is None and column is None:
            mathematics.add(place)
        elif column is not None and column.again is not None:
            code.add(place)
    apart = min(workers, len(code) // CASES_A_WORKER) if processes and pool is None else 0
    others = pool is not None or (processes and can_fork() and workers > 1)
    if settings.time_limit is not None:
        return _Whole(places=frozenset(), workers=workers)
    if apart > 1:
        return _Whole(places=frozenset(mathematics | code), workers=apart, spawn=True)
    many = others and len(mathematics) >= CASES_A_WORKER * workers
    return _Whole(places=frozenset(mathematics if many else ()), workers=workers)


def _ended(group: Sequence[Case]) -> list[_Judged]:
    """The errors of code that ends the process which calls it."""
    code = {} if group[0].claim.column is None else group[0].claim.column.code
    names = " and ".join(getattr(one, "name", slot) for slot, one in code.items())
    message = f"{names} ended the process that called it, and another one"
    hint = "it crashes, or calls os._exit; --threads 1 calls it in the process of dropcheck itself"
    return [DropcheckError(Problem(message, hint=hint)) for _ in group]


_at_hand: WeakValueDictionary[int, CaseGraphs] = WeakValueDictionary()
"""The graphs of a run, by id: a worker that was forked from it finds them."""


def at_hand(graphs: CaseGraphs) -> int:
    """Graphs by a number, under which a worker that is forked from here finds them."""
    _at_hand[id(graphs)] = graphs
    return id(graphs)


def graphs_of(known: int, settings: Settings) -> CaseGraphs:
    """The graphs of this number, or new ones where this process has none."""
    return _at_hand.get(known) or CaseGraphs(settings.max_memory, keep=0)


def judged_in_worker(
    cases: Sequence[Case], settings: Settings, alpha: float, known: int
) -> list[_Judged]:
    """Judge cases that share draws in a worker, which may have nothing else of the run."""
    graphs = graphs_of(known, settings)
    return carried_out(run_together(cases, settings, alpha, Deadline(), graphs))


def sharing_draws(cases: Sequence[Case], graphs: CaseGraphs) -> list[list[int]]:
    """The indices of the cases in groups that share draws, such as the statements of one claim."""
    groups: dict[object, list[int]] = {}
    for place, case in enumerate(cases):
        groups.setdefault(graphs.sharing(case), []).append(place)
    return list(groups.values())


def run_together(
    cases: Sequence[Case],
    settings: Settings,
    alpha: float,
    deadline: Deadline,
    graphs: CaseGraphs,
) -> Generator[Request, SpanSums, list[_Judged]]:
    """Judge cases that share draws; the result or the error of each."""

    def start(one: Prepared | DropcheckError) -> Generator[Request, SpanSums, CaseResult]:
        if isinstance(one, DropcheckError):
            raise one
        result = yield from run_case(one, settings, alpha, deadline)
        return with_note(result, one, graphs)

    prepared = prepare_together(cases, graphs, crossing=not settings.plain)
    starts = [partial(guarded, partial(start, one)) for one in prepared]
    return [(yield from starts[0]())] if len(starts) == 1 else (yield from together(starts))
