"""The whole procedure again and again, each time with fresh streams.

What is repeated is what `run` does: the same trial, pilot, looks, intervals and decisions. Only
the reading and compiling of a case are done once, spans are cut to the size of the task, and those
of many repetitions are drawn together.
"""

from __future__ import annotations

import dataclasses
import itertools
import multiprocessing
import signal
import time
from collections import Counter, deque
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass

from dropcheck.audit.audited_claims import Subject
from dropcheck.audit.error_rates import Counts
from dropcheck.audit.lockstep import in_lockstep
from dropcheck.execution.schedule import keep_freed_memory, one_layer_of_threads
from dropcheck.judging.prepared import Prepared, prepare, try_prepared
from dropcheck.results import CaseResult, Settings, Verdict
from dropcheck.simulation.program import Program

# Blocks of a span that is cut to size: the fewest that an interval is made from.
SPAN_BLOCKS = 64
# Draws after which a trial gives up.
MOST_DRAWS = 4_000_000
# Repetitions handed to a process at a time: a second's work or so.
CHUNK = 250


@dataclass(frozen=True, slots=True)
class Task:
    """Repetitions `first` … `first + count − 1` of a subject at one α."""

    subject: int  # its place among the subjects
    alpha: float
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What is repeated, and how."""

    subjects: tuple[Subject, ...]
    alphas: tuple[float, ...]
    repetitions: int
    seed: int = 0
    max_draws: int = MOST_DRAWS
    crossing: bool = True

    def tasks(self) -> Iterator[Task]:
        """Every repetition once, row after row."""
        for subject, alpha in itertools.product(range(len(self.subjects)), self.alphas):
            for first in range(0, self.repetitions, CHUNK):
                yield Task(subject, alpha, first, min(CHUNK, self.repetitions - first))

    @property
    def rows(self) -> list[tuple[int, float]]:
        """Subject and α of each row."""
        return list(itertools.product(range(len(self.subjects)), self.alphas))


def cut(program: Program, block: int) -> Program:
    """The program in spans of the fewest blocks, and these as short as its rare events allow."""
    if program.batches is not None:
        return program
    while block < program.rarest and block < program.block_draws:
        block *= 2
    draws = min(block * SPAN_BLOCKS, program.span_draws)
    blocks = max(1, draws // block)
    return dataclasses.replace(program, span_draws=draws // blocks * blocks, span_blocks=blocks)


def ready(subject: Subject, *, crossing: bool = True) -> Prepared:
    """A subject prepared once for all its repetitions.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    prepared = prepare(subject.case, crossing=crossing)
    block = subject.block
    if block is None:
        return prepared
    return prepared.with_programs(lambda program: cut(program, block))


def trial(prepared: Prepared, settings: Settings, alpha: float) -> CaseResult:
    """One trial of a case, from its first draw to its verdict, in this thread.

    Args:
        prepared: the case.
        settings: seed and limits.
        alpha: the error rate that the trial promises.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    asked = try_prepared(prepared, settings, alpha, "")
    try:
        request = next(asked)
        while True:
            request = asked.send(request.carry_out())
    except StopIteration as stop:
        found: CaseResult = stop.value
        return found


class Bench:
    """Carries out tasks of one plan; the case prepared last is kept, for tasks come row by row."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._held: tuple[int, Prepared] | None = None
        keep_freed_memory()

    def carry_out(self, task: Task) -> Counts:
        """The repetitions of a task, each with a seed of its own."""
        prepared = self._prepared(task.subject)
        started = time.perf_counter()
        verdicts: Counter[Verdict] = Counter()
        draws = 0
        settings = [
            # seeds are hashed with the case into streams: consecutive ones are unrelated
            Settings(seed=self._plan.seed * 2**32 + repetition, max_draws=self._plan.max_draws)
            for repetition in range(task.first, task.first + task.count)
        ]
        with one_layer_of_threads():
            for found in in_lockstep(prepared, settings, task.alpha):
                verdicts[found.verdict] += 1
                draws += found.draws
        return Counts(
            verdicts[Verdict.VERIFIED],
            verdicts[Verdict.REFUTED],
            verdicts[Verdict.INCONCLUSIVE],
            draws,
            time.perf_counter() - started,
        )

    def _prepared(self, place: int) -> Prepared:
        if self._held is None or self._held[0] != place:
            subject = self._plan.subjects[place]
            self._held = (place, ready(subject, crossing=self._plan.crossing))
        return self._held[1]


def repeat(plan: Plan, processes: int) -> Generator[tuple[Task, Counts], None, None]:
    """Carry out every task, and yield each as it is done.

    With one process all is done in this one; the counts do not depend on how many there are.

    Raises:
        DropcheckError: where a case cannot be judged at all.
    """
    if processes == 1:
        bench = Bench(plan)
        for task in plan.tasks():
            yield task, bench.carry_out(task)
        return
    with _pool(plan, processes) as pool:
        waiting = deque(plan.tasks())
        out: dict[Future[Counts], Task] = {}
        while waiting or out:
            while waiting and len(out) < 3 * processes:
                task = waiting.popleft()
                with _deaf_children():
                    out[pool.submit(_in_worker, task)] = task
            done, _ = wait(out, return_when=FIRST_COMPLETED)
            for future in done:
                yield out.pop(future), future.result()


@contextmanager
def _pool(plan: Plan, processes: int) -> Iterator[ProcessPoolExecutor]:
    # a process of its own for each worker: what is not drawn is Python, and holds its lock
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(plan,),
    )
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()  # what it is about is of use to nobody
        pool.shutdown(wait=True)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes that are started here do not hear Ctrl-C, not even while they load.

    They inherit the signals that are held back; one that comes now is ours, a moment later.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows, whose workers are told by `_begin`
        yield
        return
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


_bench: Bench | None = None  # in a worker: what it was started with


def _begin(plan: Plan) -> None:
    global _bench  # noqa: PLW0603 - a worker is told once what it works on
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that started it stops it
    _bench = Bench(plan)


def _in_worker(task: Task) -> Counts:
    if _bench is None:
        raise AssertionError("a worker was asked before it was told the plan")
    return _bench.carry_out(task)
