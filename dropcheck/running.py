"""Many cases: which make the same draws, who judges them, and their results in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial

from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.selection import repeat_command
from dropcheck.claims.several.searches import searched_in
from dropcheck.errors import DropcheckError, Problem
from dropcheck.execution.apart import EndedTwiceError, SpawnedProcesses
from dropcheck.execution.clusters import Engine
from dropcheck.execution.compiled import saved
from dropcheck.execution.executors import Lost, can_fork, shared
from dropcheck.execution.schedule import (
    Begun,
    Clock,
    Deadline,
    Start,
    carried_out,
    carried_out_while_light,
    drive,
    guarded,
    in_order,
    resumed,
)
from dropcheck.execution.together import together
from dropcheck.execution.tuning import tune_for_good
from dropcheck.inference.budget import case_alpha
from dropcheck.judging.case_of_code import result_of_error
from dropcheck.judging.judge import run_case
from dropcheck.judging.prepared import Prepared, prepare, prepare_together
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.processors import default_threads
from dropcheck.records import record
from dropcheck.results import CaseResult, Outcome
from dropcheck.results.drawn import Kept
from dropcheck.searching import search_case
from dropcheck.settings import Settings
from dropcheck.simulation import Request, SpanSums
from dropcheck.vocabulary.laws.sampling import NORMALS

_Judged = CaseResult | DropcheckError

# Fewer cases than this for each process leave processes idle at the end.
CASES_A_PROCESS = 4


@record(kw_only=True)
class Job:
    """Cases that make the same draws, with all that is needed to judge them elsewhere."""

    cases: tuple[Case, ...]
    settings: Settings
    alpha: float
    repeats: tuple[str, ...]
    kept: Kept | None = None  # of earlier draws of these cases

    @property
    def of_code(self) -> bool:
        """Whether they call code under test."""
        return self.cases[0].claim.column is not None

    @property
    def travels(self) -> bool:
        """Whether they can be judged in another process: the code that they call is found there."""
        claim = self.cases[0].claim
        column = claim.column
        return claim.sample is None and (column is None or column.again is not None)


Repeat = Callable[[Case], str]
"""The command that repeats one case."""


def verify_cases(
    cases: Sequence[Case],
    settings: Settings,
    registry: Registry,
    repeat: Repeat | None = None,
    clock: Clock = time.perf_counter,
    watch: Callable[[int], None] = lambda _: None,
    *,
    processes: bool = False,
    engine: Engine | None = None,
    lost: Lost = lambda: None,
    drawn_by: Callable[[str, int], None] = lambda _who, _cases: None,
    graphs: CaseGraphs | None = None,
    kept: Kept | None = None,
    errors_of_code: bool = False,
) -> Generator[CaseResult, None, None]:
    """Judge cases, each yielded as soon as all before it are done.

    Without a time limit a result depends on the case, the seed and α alone. A time limit is shared:
    cases near a verdict go first, what they leave goes to those still open, and once it is up each
    of these is looked at a last time and says what it needs. An interruption yields what is
    finished before it goes on.

    Args:
        cases: what to judge, in order.
        settings: error rate, seed and limits.
        registry: the registry that the error rate is divided over.
        repeat: writes the command that repeats a case; by default one without a file.
        clock: what a time limit is measured by.
        watch: called with draws as they come in, or as cases end where processes share these.
        processes: whether forked processes may work, where the system has them; threads do
            otherwise. Only for a program that has no threads of its own.
        engine: who works in place of processes of this machine.
        lost: called where a worker ended before its work did; the work is done again.
        drawn_by: called with who drew cases that are done, and how many.
        graphs: what a check of the cases has built; each is taken once and then forgotten.
        kept: what earlier runs drew, if that is to count.
        errors_of_code: whether an error of code under test is the result of its case.

    Raises:
        DropcheckError: after the last case, with what only a run could find: a quantity that is
            undefined on every draw, an argument drawn out of its law's domain.

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

    repeat = repeat or (lambda case: repeat_command(case, settings.seed))
    graphs = graphs or CaseGraphs(settings.max_memory, keep=0)
    groups = sharing_draws(cases, graphs)
    may_travel = engine is not None or any(case.claim.column is not None for case in cases)
    own = settings if engine is None else replace(settings, threads=engine.at_once)
    starts = [
        partial(run_together, [cases[place] for place in group], own, alpha, repeat, deadline,
                graphs, kept)
        for group in groups
    ]  # fmt: skip
    jobs = [
        Job(
            cases=tuple(cases[place] for place in group),
            settings=settings,
            alpha=alpha,
            repeats=tuple(repeat(cases[place]) for place in group) if may_travel else (),
            kept=None if kept is None else kept.only(cases[place].key for place in group),
        )
        for group in groups
    ]
    work = _Work(
        settings=settings,
        deadline=deadline,
        processes=processes,
        engine=engine,
        watch=watch,
        lost=lost,
        drawn_by=drawn_by,
    )
    judged = (
        (place, (cases[place], result))
        for index, results in _driven(starts, jobs, work)
        for place, result in zip(groups[index], results, strict=True)
    )
    problems: dict[Problem, None] = {}
    for case, result in in_order(judged):
        if isinstance(result, DropcheckError) and errors_of_code and case.claim.column is not None:
            yield result_of_error(case, result, alpha, repeat(case))
        elif isinstance(result, DropcheckError):
            problems.update(dict.fromkeys(result.problems))
        else:
            yield result
    if problems:
        raise DropcheckError(problems)


@record(kw_only=True)
class _Work:
    """How the cases of a run are judged, and by whom, and who is told: as in `verify_cases`."""

    settings: Settings
    deadline: Deadline
    processes: bool
    engine: Engine | None
    watch: Callable[[int], None]
    lost: Lost
    drawn_by: Callable[[str, int], None]

    @property
    def threads(self) -> int:
        """How many work on this machine."""
        return self.settings.threads or default_threads()


def _driven(
    starts: Sequence[Start[list[_Judged]]], jobs: Sequence[Job], work: _Work
) -> Iterator[tuple[int, list[_Judged]]]:
    """Many cases are shared by processes, whole; of heavy ones and of few the draws are shared.

    Judging is Python, whose lock lets one thread at a time go on. So is much of code under test. A
    heavy case goes on from what it was given elsewhere.
    """
    begun: dict[int, Begun] = {place: Begun() for place in range(len(jobs))}
    for who, place, found in _judged_whole(starts, jobs, work):
        if isinstance(found, Begun):  # it is heavy
            begun[place] = found
            work.watch(found.draws)
        else:
            del begun[place]
            work.watch(sum(one.draws for one in found if isinstance(one, CaseResult)))
            work.drawn_by(who, len(found))
            yield place, found
    left, engine = list(begun), work.engine
    found_here = drive(
        [partial(resumed, starts[place], begun[place].given) for place in left],
        work.threads if engine is None else engine.at_once,
        work.deadline,
        processes=work.processes and can_fork(),
        executor=None if engine is None else engine.executor,
        watch=work.watch,
        lost=work.lost,
    )
    who = "1 thread" if work.threads == 1 else f"{work.threads} threads or processes together"
    if engine is not None:
        who = f"{engine.workers} workers together"
    for index, results in found_here:
        work.drawn_by(who, len(results))
        yield left[index], results


def _judged_whole(
    starts: Sequence[Start[list[_Judged]]], jobs: Sequence[Job], work: _Work
) -> Iterator[tuple[str, int, list[_Judged] | Begun]]:
    """What is judged whole, by whom, as it is done; a case that asks for much is only begun.

    Where there is code for several processes to try, they judge all cases. They are spawned, as
    frameworks do not work in a forked process.
    """
    engine, threads = work.engine, work.threads
    mathematics = [place for place, job in enumerate(jobs) if job.travels and not job.of_code]
    code = [place for place, job in enumerate(jobs) if job.travels and job.of_code]
    apart = min(threads, len(code) // CASES_A_PROCESS)
    many = threads > 1 and len(mathematics) >= CASES_A_PROCESS * threads
    if work.deadline.limited:
        return
    if engine is not None:  # machines that need not have the code
        whole = _by_engine(jobs, mathematics, engine, work.lost)
        yield from ((f"{engine.workers} workers", *one) for one in whole)
    elif work.processes and apart > 1:
        with SpawnedProcesses(apart, work.lost) as executor:
            own = Engine(executor=executor, workers=apart)
            whole = _by_engine(jobs, sorted([*mathematics, *code]), own)
            yield from ((f"{apart} processes", *one) for one in whole)
    elif work.processes and can_fork() and many:
        after = {place: len(mathematics) - at for at, place in enumerate(mathematics)}
        light = shared(
            lambda place: _light(starts[place], after[place] / threads),
            mathematics,
            threads,
            lost=work.lost,
        )
        for place, (found, nanoseconds) in light:
            NORMALS.saved += nanoseconds  # processes for heavy cases are forked with compiled code
            yield f"{threads} processes", place, found


def _by_engine(
    jobs: Sequence[Job], places: Sequence[int], engine: Engine, lost: Lost = lambda: None
) -> Iterator[tuple[int, list[_Judged] | Begun]]:
    """What an engine makes of jobs; those that it loses are not begun."""

    def instead(job: Job, error: Exception) -> list[_Judged] | Begun:
        if job.of_code and isinstance(error, EndedTwiceError):
            return [_ended(case) for case in job.cases]
        lost()
        return Begun()

    place_of = {id(jobs[place]): place for place in places}
    judged = shared(
        judged_in_worker,
        (jobs[place] for place in places),
        engine.workers,
        executor=engine.executor,
        instead=instead,
        lost=lost,
    )
    return ((place_of[id(job)], found) for job, found in judged)


def _ended(case: Case) -> DropcheckError:
    """What is wrong with code that ends the process which calls it."""
    code = {} if case.claim.column is None else case.claim.column.code
    names = " and ".join(getattr(one, "name", slot) for slot, one in code.items())
    message = f"{names} ended the process that called it, and another one"
    hint = "it crashes, or calls os._exit; --threads 1 calls it in the process of dropcheck itself"
    return DropcheckError(Problem(message, hint=hint))


def _light(
    start: Start[list[_Judged]], waiting: float = 0.0
) -> tuple[list[_Judged] | Begun, float]:
    """What is found where no case asks for much, else what they were given so far.

    The number beside it is the nanoseconds that compiled numbers would have saved.
    """
    before = saved()
    done = carried_out_while_light(start(), waiting)
    return (done if isinstance(done, Begun) else done.result), saved() - before


def judged_in_worker(job: Job) -> list[_Judged] | Begun:
    """In a worker that knows nothing of this run: the cases of a job, as far as they are light.

    Code under test is never heavy: its draws are made by one process.
    """
    tune_for_good()
    graphs = CaseGraphs(job.settings.max_memory, keep=0)
    texts = dict(zip((case.key for case in job.cases), job.repeats, strict=True))
    start = partial(
        run_together,
        job.cases,
        job.settings,
        job.alpha,
        lambda case: texts.get(case.key, job.repeats[0]),
        Deadline(),
        graphs,
        job.kept,
    )
    return carried_out(start()) if job.of_code else _light(start)[0]


def sharing_draws(cases: Sequence[Case], graphs: CaseGraphs) -> list[list[int]]:
    """The places of cases that make the same draws: the statements of one claim are together.

    Searched cases are not: each goes where its own verdicts lead.
    """
    groups: dict[object, list[int]] = {}
    for place, case in enumerate(cases):
        alone = searched_in(case.parameters)
        groups.setdefault(case.key if alone else graphs.sharing(case), []).append(place)
    return list(groups.values())


def run_together(
    cases: Sequence[Case],
    settings: Settings,
    alpha: float,
    repeat: Repeat,
    deadline: Deadline,
    graphs: CaseGraphs,
    kept: Kept | None = None,
) -> Generator[Request, SpanSums, list[_Judged]]:
    """Cases that make the same draws; the result of each, or what is wrong with it."""
    if len(cases) == 1:
        alone = partial(run_claim_case, cases[0], settings, alpha, repeat, deadline, graphs, kept)
        return [(yield from guarded(alone))]
    prepared = prepare_together(cases, graphs, crossing=settings.crossing)

    def start(one: Prepared | DropcheckError) -> Generator[Request, SpanSums, CaseResult]:
        if isinstance(one, DropcheckError):
            raise one
        return (yield from run_case(one, settings, alpha, repeat(one.case), deadline, kept))

    return (yield from together([partial(guarded, partial(start, one)) for one in prepared]))


def run_claim_case(
    case: Case,
    settings: Settings,
    alpha: float,
    repeat: Repeat,
    deadline: Deadline | None = None,
    graphs: CaseGraphs | None = None,
    kept: Kept | None = None,
) -> Generator[Request, SpanSums, CaseResult]:
    """One case, from its graph to its result; asks for spans of draws as it goes.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    graphs = graphs or CaseGraphs(settings.max_memory, keep=0)
    if searched_in(case.parameters):
        end = deadline or Deadline.after(settings.time_limit)
        found = yield from search_case(case, settings, alpha, end, graphs)
        at = Case(case.claim, {**case.parameters, **(found.search.at if found.search else {})})
        return replace(found, repeat=repeat(case if found.result is Outcome.PASS else at))
    prepared = prepare(case, graphs, crossing=settings.crossing)
    return (yield from run_case(prepared, settings, alpha, repeat(case), deadline, kept))
