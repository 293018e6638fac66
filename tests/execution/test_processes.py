"""Cases on processes: the same results as on threads, nothing left behind, no error lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from trials import compiled

from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError, Problem
from dropcheck.execution import case_processes as processes
from dropcheck.execution.case_processes import drive_in_processes, worth_processes
from dropcheck.execution.schedule import Judge, drive
from dropcheck.results import CaseResult, Settings
from dropcheck.running import verify_cases
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import SpanSums
from dropcheck.simulation.streams import MAIN

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere cases are judged by threads"
)

PROGRAM = compiled("x ~ normal(0, 1)", "Var(x) == 1").program


def asking(name: str, spans: int) -> Callable[[], Generator[Request, SpanSums, bytes]]:
    def start() -> Generator[Request, SpanSums, bytes]:
        request = Request(PROGRAM, 0, name, MAIN, np.zeros(PROGRAM.size), 0, spans)
        return (yield request).sums.tobytes()

    return start


def ending(act: Callable[[], Any]) -> Callable[[], Judge[bytes]]:
    """A case that acts after its first draws."""

    def start() -> Judge[bytes]:
        yield from asking("a", 2)()
        act()
        return b""

    return start


def failing(error: BaseException) -> Callable[[], Judge[bytes]]:
    def fail() -> None:
        raise error

    return ending(fail)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_are_those_of_threads(count: int) -> None:
    judges = [asking(str(case), 1 + case % 3) for case in range(12)]
    assert dict(drive_in_processes(judges, count)) == dict(drive(judges, 2))
    assert not multiprocessing.active_children()


def test_cases_are_shared_by_processes_other_than_this_one() -> None:
    def who() -> Judge[int]:
        yield from asking("a", 20)()
        return os.getpid()

    found = {result for _, result in drive_in_processes([who] * 24, 2)}
    assert len(found) == 2
    assert os.getpid() not in found


def test_no_cases_are_no_results() -> None:
    assert list(drive_in_processes([], 2)) == []


@pytest.mark.parametrize(
    "error", [DropcheckError(Problem("no", hint="do")), ZeroDivisionError("by zero")]
)
def test_an_error_in_a_case_reaches_the_caller(error: Exception) -> None:
    judges = [asking("a", 1), failing(error), asking("b", 1)]
    with pytest.raises(type(error), match=str(error)):
        list(drive_in_processes(judges, 2))
    assert not multiprocessing.active_children()


def test_what_an_error_carries_comes_with_it() -> None:
    problem = Problem("no", hint="do")
    with pytest.raises(DropcheckError) as caught:
        list(drive_in_processes([failing(DropcheckError(problem))], 1))
    assert caught.value.problems == (problem,)


def test_a_process_that_is_killed_is_told_and_not_waited_for() -> None:
    killed = ending(lambda: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(DropcheckError, match="ended before"):
        list(drive_in_processes([asking("a", 1), killed], 2))
    assert not multiprocessing.active_children()


def test_closing_early_leaves_no_process_behind() -> None:
    running: Any = drive_in_processes([asking("a", 5)] * 50, 2)
    next(running)
    assert len(multiprocessing.active_children()) == 2
    running.close()
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("cases", "threads", "worth"), [(8, 2, True), (7, 2, False), (300, 1, False), (31, 8, False)]
)
def test_few_cases_are_left_to_threads(cases: int, threads: int, *, worth: bool) -> None:
    assert worth_processes(cases, threads) is worth


REGISTRY = """
dropcheck: 1
claims:
  square:
    title: The mean square of a normal
    parameters: {s: [1, 2, 3, 4, 5, 6, 7, 8, 9]}
    model: x ~ normal(0, s)
    claim: E(x**2) == s**2
"""


def tried(threads: int, **limits: Any) -> list[CaseResult]:
    registry = read_text(REGISTRY)
    settings = Settings(threads=threads, **limits)
    return list(verify_cases(registry.expand(), settings, registry, copies=True))


def but_seconds(results: list[CaseResult]) -> list[dict[str, Any]]:
    names = [name for name in CaseResult.__slots__ if "seconds" not in name]
    return [{name: getattr(result, name) for name in names} for result in results]


def test_a_run_on_processes_gives_what_one_thread_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    driven = processes.drive_in_processes

    def spy(judges: Any, count: int) -> Any:
        used.append(count)
        return driven(judges, count)

    monkeypatch.setattr("dropcheck.running.drive_in_processes", spy)
    assert but_seconds(tried(2)) == but_seconds(tried(1))
    assert used == [2]  # and the other run on none
    tried(2, time_limit=0.2)
    assert used == [2]  # a time that is shared is shared by threads


def test_numpys_own_threads_are_one_in_every_copy() -> None:
    def counting() -> Judge[int]:
        yield from asking("a", 1)()
        found = threadpoolctl.threadpool_info()
        return int(max(pool["num_threads"] for pool in found if pool["user_api"] == "blas"))

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if max(pool["num_threads"] for pool in threadpoolctl.threadpool_info()) < 2:
            pytest.skip("a library that has one thread has nothing to be told")
        assert [count for _, count in drive_in_processes([counting] * 4, 2)] == [1] * 4
