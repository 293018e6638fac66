"""The program: for each case draw, estimate, decide, until decided.

A case is judged by the strongest means that its statement allows: arithmetic where nothing is
random, exact counts for a claim of certainty or one bare probability, block means otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence

from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.selection import repeat_command
from dropcheck.errors import DropcheckError, Problem
from dropcheck.execution.case_processes import drive_in_processes, worth_processes
from dropcheck.execution.deadline import Clock, Deadline
from dropcheck.execution.schedule import Judge, drive
from dropcheck.execution.workers import possible
from dropcheck.inference.budget import case_alpha
from dropcheck.judging.prepared import prepare, try_prepared
from dropcheck.results import CaseResult, Settings
from dropcheck.settings import default_threads
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import SpanSums

_Judged = CaseResult | DropcheckError

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
    copies: bool = False,
) -> Iterator[CaseResult]:
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
        watch: told of draws as they come in, or as cases end where processes share these.
        copies: whether copies of this process may work beside it, where the system can make them;
            threads do otherwise. Only for a program that has no threads of its own.

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
    alpha = case_alpha(settings.alpha, len(registry.expand()), len(cases))

    def by_default(case: Case) -> str:
        return repeat_command(case, settings.seed)

    def starter(case: Case) -> Callable[[], Judge[_Judged]]:
        return lambda: _guarded(judge(case, settings, alpha, repeat or by_default, deadline))

    held: dict[int, _Judged] = {}
    problems: list[Problem] = []
    following = 0
    interrupted: KeyboardInterrupt | None = None
    try:
        judges = [starter(case) for case in cases]
        for index, result in _driven(judges, settings, deadline, watch, copies=copies):
            held[index] = result
            while following in held:
                found = held.pop(following)
                following += 1
                if isinstance(found, DropcheckError):
                    problems.extend(found.problems)
                else:
                    yield found
    except KeyboardInterrupt as caught:
        interrupted = caught
    for _, found in sorted(held.items()):
        if not isinstance(found, DropcheckError):
            yield found
    if interrupted is not None:
        raise interrupted
    if problems:
        raise DropcheckError(problems)


def _driven(
    judges: Sequence[Callable[[], Judge[_Judged]]],
    settings: Settings,
    deadline: Deadline,
    watch: Callable[[int], None],
    *,
    copies: bool,
) -> Iterator[tuple[int, _Judged]]:
    """Many cases are shared by processes; otherwise the draws are, or the time that is left."""
    threads = settings.threads or default_threads()
    if copies and not deadline.limited and worth_processes(len(judges), threads):
        for index, result in drive_in_processes(judges, threads):
            watch(0 if isinstance(result, DropcheckError) else result.draws)
            yield index, result
        return
    watched = [_watched(start, watch) for start in judges]
    yield from drive(watched, threads, deadline, copies=copies and possible())


def _watched(
    start: Callable[[], Judge[_Judged]], watch: Callable[[int], None]
) -> Callable[[], Judge[_Judged]]:
    """The same judge, its draws told as they come in."""

    def judged() -> Judge[_Judged]:
        judge = start()
        try:
            request = next(judge)
            while True:
                try:
                    sums = yield request
                except DropcheckError as error:
                    request = judge.throw(error)
                else:
                    watch(len(sums.sums) * request.program.block_draws)
                    request = judge.send(sums)
        except StopIteration as stop:
            found: _Judged = stop.value
            return found

    return judged


def _guarded(judged: Judge[CaseResult]) -> Judge[_Judged]:
    """The same judge, its errors returned, so that one case does not end the others."""
    try:
        return (yield from judged)
    except DropcheckError as error:
        return error


def judge(
    case: Case, settings: Settings, alpha: float, repeat: Repeat, deadline: Deadline | None = None
) -> Generator[Request, SpanSums, CaseResult]:
    """One case, from its text to its result; asks for spans of draws as it goes.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    prepared = prepare(case, crossing=settings.crossing, memory=settings.max_memory)
    return (yield from try_prepared(prepared, settings, alpha, repeat(case), deadline))
