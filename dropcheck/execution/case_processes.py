"""Many cases on a few processes: judging is Python, whose lock lets one thread at a time go on.

Which process judges a case has no part in its result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from dropcheck.execution import workers
from dropcheck.execution.schedule import (
    Judge,
    carried_out,
    drive,
    keep_freed_memory,
    one_layer_of_threads,
)

Result = TypeVar("Result")
Starter = Callable[[], Judge[Result]]

# Fewer cases than this a process leave processes idle at the end.
CASES_A_PROCESS = 4


def worth_processes(cases: int, threads: int) -> bool:
    """Whether so many cases are better shared by processes than their draws by threads."""
    return workers.possible() and threads > 1 and cases >= CASES_A_PROCESS * threads


def drive_in_processes(
    judges: Sequence[Starter[Result]], processes: int
) -> Iterator[tuple[int, Result]]:
    """Carry out all cases and yield (place, result) as they finish.

    Raises:
        DropcheckError: where a process ended before its cases did.
        Exception: what a judge raised.
    """

    def judged(place: int) -> tuple[int, Result]:
        return place, carried_out(judges[place]())

    keep_freed_memory()
    waiting = deque(range(len(judges)))
    with one_layer_of_threads():  # before the copies are made, so that it holds in them too
        try:
            started = workers.Workers(judged, processes)
        except OSError:
            yield from drive(judges, processes)
            return
        with started as pool:
            while waiting or pool.busy:
                for worker in pool.free():
                    if waiting:
                        pool.ask(worker, waiting.popleft())
                yield pool.answer()
