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
from dropcheck.inference.budget import case_alpha
from dropcheck.judging.prepared import prepare, try_prepared
from dropcheck.results import CaseResult, Settings
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.deadline import Clock, Deadline
from dropcheck.simulation.processes import drive_in_processes, worth_processes
from dropcheck.simulation.program import SpanSums
from dropcheck.simulation.schedule import Judge, default_threads, drive

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
        watch: told of draws as they come in, where they are made by threads of this process.

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
        return lambda: _guarded(
            _watched(judge(case, settings, alpha, repeat or by_default, deadline), watch)
        )

    held: dict[int, _Judged] = {}
    problems: list[Problem] = []
    following = 0
    interrupted: KeyboardInterrupt | None = None
    try:
        for index, result in _driven([starter(case) for case in cases], settings, deadline):
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
    judges: Sequence[Callable[[], Judge[_Judged]]], settings: Settings, deadline: Deadline
) -> Iterator[tuple[int, _Judged]]:
    """Processes share many cases; threads share the draws of a few, or the time that is left."""
    threads = settings.threads or default_threads()
    if not deadline.limited and worth_processes(len(judges), threads):
        return drive_in_processes(judges, threads)
    return drive(judges, threads, deadline)


def _watched(judged: Judge[CaseResult], watch: Callable[[int], None]) -> Judge[CaseResult]:
    """The same judge, its draws counted as they come in."""
    try:
        request = next(judged)
        while True:
            try:
                sums = yield request
            except DropcheckError as error:
                request = judged.throw(error)
            else:
                watch(request.count * request.program.span_draws)
                request = judged.send(sums)
    except StopIteration as stop:
        found: CaseResult = stop.value
        return found


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
