"""How many cases are judged: which share draws, which process judges them, results in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.select import repeat_command
from dropcheck.errors import DropcheckError, Problem
from dropcheck.execution.pool import (
    EndedTwiceError,
    Lost,
    Pool,
    can_fork,
    shared,
    tune_for_good,
)
from dropcheck.execution.schedule import (
    Clock,
    Deadline,
    Start,
    carried_out,
    drive,
    guarded,
    in_order,
)
from dropcheck.execution.together import together
from dropcheck.inference.budget import case_alpha
from dropcheck.judging.case import Prepared, prepare_together, result_of_error
from dropcheck.judging.judge import run_case
from dropcheck.judging.one_value import with_note
from dropcheck.language.compile import CaseGraphs
from dropcheck.processors import default_threads
from dropcheck.results import CaseResult
from dropcheck.settings import Settings
from dropcheck.simulation import Request, SpanSums

_Judged = CaseResult | DropcheckError

# With fewer cases for each worker, some workers are idle at the end.
CASES_A_WORKER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Cases that share draws, with all that another process needs to judge them."""

    cases: tuple[Case, ...]
    settings: Settings
    alpha: float
    repeats: tuple[str, ...]

    @property
    def of_code(self) -> bool:
        """Whether the cases call code under test."""
        return self.cases[0].claim.column is not None

    @property
    def travels(self) -> bool:
        """Whether another process can judge the cases: it can find the code that they call."""
        claim = self.cases[0].claim
        column = claim.column
        return claim.sample is None and (column is None or column.again is not None)


Repeat = Callable[[Case], str]
"""Writes the command that repeats a case."""


def verify_cases(
    cases: Sequence[Case],
    settings: Settings,
    registry: Registry,
    repeat: Repeat | None = None,
    clock: Clock = time.perf_counter,
    watch: Callable[[int], None] = lambda _: None,
    *,
    processes: bool = False,
    pool: Pool | None = None,
    lost: Lost = lambda: None,
    drawn_by: Callable[[str, int], None] = lambda _who, _cases: None,
    plans: Callable[[int, int], None] = lambda _draws, _cases: None,
    graphs: CaseGraphs | None = None,
    errors_of_code: bool = False,
) -> Generator[CaseResult, None, None]:
    """Judge cases; yield each result as soon as all results before it are yielded.

    Without a time limit a result depends on the case, the seed and α alone. A time limit is shared:
    cases near a verdict go first, and the time that they leave goes to the open ones. Once it is up
    each open case gets a last look and says what it needs. An interruption is passed on after all
    finished results are yielded.

    Args:
        cases: the cases to judge, in order.
        settings: error rate, seed and limits.
        registry: the registry that the error rate is divided over.
        repeat: writes the command that repeats a case; by default one without a file.
        clock: the clock that measures a time limit.
        watch: called with numbers of draws, after each span, or after each case where processes
            share the cases.
        processes: whether processes may judge whole cases; otherwise threads draw. Only for a
            program that has no threads of its own.
        pool: workers that take the place of this machine's.
        lost: called where a worker ended before its work; the work is done again.
        drawn_by: called for finished cases, with the workers that drew them and their number.
        plans: called with the draws that begun cases want before they look again, and their number.
        graphs: the graphs that a check of the cases has built; each is used once.
        errors_of_code: whether an error of code under test is the result of its case.

    Raises:
        DropcheckError: after the last case, with problems that only a run can find, such as a
            quantity that is undefined on every draw.

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

    if pool is not None:  # once it lost a worker, an executor may fail every call
        lost = cache(lost)  # which calls it once
    repeat = repeat or (lambda case: repeat_command(case, settings.seed))
    graphs = graphs or CaseGraphs(settings.max_memory, keep=0)
    own = settings if pool is None else replace(settings, threads=pool.at_once)
    groups = sharing_draws(cases, graphs)
    may_travel = pool is not None or any(case.claim.column is not None for case in cases)
    starts = [
        partial(run_together, [cases[place] for place in group], own, alpha, repeat, deadline,
                graphs)
        for group in groups
    ]  # fmt: skip
    jobs = [
        Job(
            cases=tuple(cases[place] for place in group),
            settings=settings,
            alpha=alpha,
            repeats=tuple(repeat(cases[place]) for place in group) if may_travel else (),
        )
        for group in groups
    ]
    work = _Work(
        settings=settings,
        deadline=deadline,
        processes=processes,
        pool=pool,
        watch=watch,
        lost=lost,
        drawn_by=drawn_by,
        plans=plans,
    )
    judged = (
        (place, (cases[place], result))
        for index, results in _driven(starts, jobs, work)
        for place, result in zip(groups[index], results, strict=True)
    )
    problems: dict[Problem, None] = {}
    cause: BaseException | None = None
    for case, result in in_order(judged):
        if isinstance(result, DropcheckError) and errors_of_code and case.claim.column is not None:
            yield result_of_error(case, result, alpha, repeat(case))
        elif isinstance(result, DropcheckError):
            problems.update(dict.fromkeys(result.problems))
            cause = cause or result.__cause__
        else:
            yield result
    if problems:
        raise DropcheckError(problems) from cause


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """The arguments of `verify_cases` that say how cases are judged, and whom to notify."""

    settings: Settings
    deadline: Deadline
    processes: bool
    pool: Pool | None
    watch: Callable[[int], None]
    lost: Lost
    drawn_by: Callable[[str, int], None]
    plans: Callable[[int, int], None]

    @property
    def threads(self) -> int:
        """How many threads or processes there are on this machine."""
        return self.settings.threads or default_threads()


def _driven(
    starts: Sequence[Start[list[_Judged]]], jobs: Sequence[Job], work: _Work
) -> Iterator[tuple[int, list[_Judged]]]:
    """Judge jobs; yield the index of each and its results, in the order in which they are done.

    Of many jobs, each worker judges whole ones, because judging is Python, of which only one thread
    runs at a time. Few jobs, and those that share a time, are judged here, and their draws are
    shared out.
    """
    left = dict.fromkeys(range(len(jobs)))
    for who, place, results in _judged_whole(starts, jobs, work):
        del left[place]
        work.watch(sum(one.draws for one in results if isinstance(one, CaseResult)))
        work.drawn_by(who, len(results))
        yield place, results
    places, pool = list(left), work.pool
    judged_here = drive(
        [starts[place] for place in places],
        work.threads if pool is None else pool.at_once,
        work.deadline,
        executor=None if pool is None else pool.executor,
        watch=work.watch,
        plans=work.plans,
        lost=work.lost,
    )
    who = "1 thread" if work.threads == 1 else f"{work.threads} threads"
    if pool is not None:
        who = f"{pool.workers} workers together"
    for index, results in judged_here:
        work.drawn_by(who, len(results))
        yield places[index], results


def _judged_whole(
    starts: Sequence[Start[list[_Judged]]], jobs: Sequence[Job], work: _Work
) -> Iterator[tuple[str, int, list[_Judged]]]:
    """The jobs that workers judge whole, if they are many: workers, index and results.

    If there are enough cases of code for several processes, these judge all cases. They are
    spawned, as frameworks do not work in a forked process.
    """
    pool, threads = work.pool, work.threads
    mathematics = [place for place, job in enumerate(jobs) if job.travels and not job.of_code]
    code = [place for place, job in enumerate(jobs) if job.travels and job.of_code]
    apart = min(threads, len(code) // CASES_A_WORKER) if work.processes and pool is None else 0
    workers = threads if pool is None else pool.workers
    many = len(mathematics) >= CASES_A_WORKER * workers
    if work.deadline.limited:
        return

    def instead(job: Job, error: Exception) -> list[_Judged] | None:
        if job.of_code and isinstance(error, EndedTwiceError):
            return [_ended(case) for case in job.cases]
        work.lost()
        return None  # it is judged here

    if apart > 1 or (pool is not None and many):
        # the machines of a pool may lack the code
        chosen = sorted([*mathematics, *code]) if pool is None else mathematics
        place_of = {id(jobs[place]): place for place in chosen}
        judge: Callable[[Job], list[_Judged] | None] = judged_in_worker
        judged = shared(
            judge,
            (jobs[place] for place in chosen),
            apart or workers,
            executor=None if pool is None else pool.executor,
            spawn=True,
            instead=instead,
            lost=work.lost,
        )
        who = f"{apart} processes" if apart else f"{workers} workers"
        for job, results in judged:
            if results is not None:
                yield who, place_of[id(job)], results
    elif work.processes and pool is None and can_fork() and many and threads > 1:
        whole = shared(
            lambda place: carried_out(starts[place]()), mathematics, threads, lost=work.lost
        )
        yield from ((f"{threads} processes", *one) for one in whole)


def _ended(case: Case) -> DropcheckError:
    """The error of code that ends the process which calls it."""
    code = {} if case.claim.column is None else case.claim.column.code
    names = " and ".join(getattr(one, "name", slot) for slot, one in code.items())
    message = f"{names} ended the process that called it, and another one"
    hint = "it crashes, or calls os._exit; --threads 1 calls it in the process of dropcheck itself"
    return DropcheckError(Problem(message, hint=hint))


def judged_in_worker(job: Job) -> list[_Judged]:
    """Judge a job in a worker, which has nothing else of the run."""
    tune_for_good()
    graphs = CaseGraphs(job.settings.max_memory, keep=0)
    texts = dict(zip((case.key for case in job.cases), job.repeats, strict=True))
    judged = run_together(
        job.cases,
        job.settings,
        job.alpha,
        lambda case: texts.get(case.key, job.repeats[0]),
        Deadline(),
        graphs,
    )
    return carried_out(judged)


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
    repeat: Repeat,
    deadline: Deadline,
    graphs: CaseGraphs,
) -> Generator[Request, SpanSums, list[_Judged]]:
    """Judge cases that share draws; the result or the error of each."""

    def start(one: Prepared | DropcheckError) -> Generator[Request, SpanSums, CaseResult]:
        if isinstance(one, DropcheckError):
            raise one
        result = yield from run_case(one, settings, alpha, repeat(one.case), deadline)
        return with_note(result, one, graphs)

    prepared = prepare_together(cases, graphs, crossing=not settings.plain)
    starts = [partial(guarded, partial(start, one)) for one in prepared]
    return [(yield from starts[0]())] if len(starts) == 1 else (yield from together(starts))
