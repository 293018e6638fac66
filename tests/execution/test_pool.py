"""Whoever works, and whoever ends on the way, the results are the same."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from trials import compiled

from dropcheck import interrupt
from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError, Problem
from dropcheck.execution.pool import Pool, Processes, can_fork, cluster
from dropcheck.execution.schedule import Task, carried_out, drive
from dropcheck.results import CaseResult
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import SpanSums
from dropcheck.simulation.streams import MAIN

forks = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")

# ---- processes that are forked -------------------------------------------------------------------

PROGRAM = compiled("x ~ normal(0, 1)", "Var(x) == 1").program


def request(spans: int) -> Request:
    return Request(
        program=PROGRAM,
        seed=0,
        case_key="a",
        purpose=MAIN,
        centres=np.zeros(PROGRAM.size),
        first=0,
        count=spans,
    )


def judge(spans: int) -> Generator[Request, SpanSums, bytes]:
    return (yield request(spans)).sums.tobytes()


def judged(spans: int) -> bytes:
    return carried_out(judge(spans))


def done(
    function: Callable[..., Any],
    items: Iterable[Any],
    processes: int = 2,
    *,
    after: Callable[[], Any] | None = None,
    **how: Any,
) -> list[Any]:
    """The results of tasks, in the order of the items."""

    def start(item: Any) -> Generator[Task, Any, Any]:
        return (yield Task(function=function, arguments=(item,), after=after))

    starts = [partial(start, item) for item in items]
    return [result for _, result in sorted(drive(starts, 2, processes=processes, **how))]


@forks
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_results_do_not_depend_on_the_processes(count: int) -> None:
    assert done(judged, range(1, 9), count) == [judged(n) for n in range(1, 9)]
    assert not multiprocessing.active_children()


def test_tasks_and_draws_of_one_run_are_what_one_thread_gives() -> None:
    def task(spans: int) -> Generator[Task, Any, bytes]:
        found: bytes = yield Task(function=judged, arguments=(spans,))
        return found

    starts = [partial(one, spans) for spans in range(1, 40, 7) for one in (task, judge)]
    found = dict(drive(starts, 2, processes=2))
    assert [*found] != sorted(found) or len(found) == 12
    assert [found[at] for at in range(12)] == [judged(n) for n in range(1, 40, 7) for _ in (0, 1)]


def fail(item: int) -> bytes:
    if item == 1:
        raise DropcheckError(Problem("no", hint="do"))
    if item == 2:
        raise ZeroDivisionError("by zero")
    return judged(1)


@pytest.mark.parametrize(("item", "error"), [(1, DropcheckError), (2, ZeroDivisionError)])
def test_an_error_reaches_the_caller(item: int, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"no|by zero") as caught:
        done(fail, [0, item, 3])
    assert not multiprocessing.active_children()
    if isinstance(caught.value, DropcheckError):  # what it carries comes with it
        assert caught.value.problems == (Problem("no", hint="do"),)


def kill_oneself_or_not(item: int) -> int:
    if item == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


@pytest.mark.parametrize("spawn", [pytest.param(False, marks=forks), True])
def test_what_ends_its_process_twice_is_an_error_and_takes_nothing_with_it(spawn: bool) -> None:
    lost: list[None] = []
    found = done(
        kill_oneself_or_not,
        range(-4, 6),
        spawn=spawn,
        after=lambda: 100,
        lost=lambda: lost.append(None),
    )
    assert found == [n or 100 for n in range(-4, 6)]
    assert lost
    with pytest.raises(DropcheckError, match="ended before their work did"):
        done(kill_oneself_or_not, range(3), spawn=spawn)
    assert not multiprocessing.active_children()


def test_what_cannot_be_sent_is_done_here() -> None:
    items: list[Callable[[], int]] = [lambda: 1, lambda: 2]
    assert done(lambda item: item(), items, spawn=True) == [1, 2]


def once(item: int, marker: Path) -> bytes:
    if item == 5 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return judged(item)


@forks
def test_what_a_killed_process_leaves_undone_is_done_by_another(tmp_path: Path) -> None:
    lost: list[None] = []
    function = partial(once, marker=tmp_path / "killed")
    found = done(function, range(1, 12), lost=lambda: lost.append(None))
    assert found == [judged(item) for item in range(1, 12)]
    assert lost
    assert (tmp_path / "killed").exists()


@forks
def test_a_process_that_somebody_else_started_is_left_alone() -> None:
    with multiprocessing.get_context("fork").Pool(1) as other:
        assert done(abs, [-1]) == [1]
        assert other.apply(abs, [-2]) == 2


def most_threads(_: int) -> int:
    found = threadpoolctl.threadpool_info()
    return int(max(pool["num_threads"] for pool in found if pool["user_api"] == "blas"))


@forks
def test_numpys_own_threads_are_one_in_every_process() -> None:
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if max(pool["num_threads"] for pool in threadpoolctl.threadpool_info()) < 2:
            pytest.skip("a library that has one thread has nothing to be told")
        assert done(most_threads, range(4)) == [1] * 4


def pressed(_: int) -> int:
    for one in interrupt.SIGNALS:
        os.kill(os.getpid(), one)
    return os.getpid()


@forks
def test_processes_do_not_hear_an_interruption() -> None:
    assert os.getpid() not in done(pressed, range(4))


@forks
@pytest.mark.parametrize("work", ["os.getpid", "time.sleep, 60"], ids=["idle", "at work"])
def test_processes_do_not_outlive_the_one_that_started_them(work: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, os, time\n"
        "from dropcheck.execution.pool import Processes\n"
        "with Processes(3) as processes:\n"
        f"    work = [processes.submit({work}) for _ in range(3)]\n"
        "    print(*[one.pid for one in multiprocessing.active_children()], flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        workers = [int(pid) for pid in process.stdout.readline().split()]
        assert len(workers) == 3
        assert all(alive(pid) for pid in workers)
        process.send_signal(signal.SIGKILL)
        end = time.monotonic() + 20
        while any(alive(pid) for pid in workers) and time.monotonic() < end:
            time.sleep(0.02)
        assert not any(alive(pid) for pid in workers)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not asked how does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    os.kill(pid, 0)
    return state != "Z"


@forks
def test_where_no_processes_can_be_started_the_work_is_done_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object) -> None:
        raise OSError(24, "too many open files")

    monkeypatch.setattr("multiprocessing.context.ForkProcess.start", refused)
    with pytest.raises(OSError, match="no process"):
        Processes(1)
    assert done(abs, range(-9, 0)) == [*range(9, 0, -1)]
    assert not multiprocessing.active_children()


# ---- any executor --------------------------------------------------------------------------------

LIGHT = """
  light:
    title: Light
    parameters: {n: [1, 2, 3, 4, 5, 6, 7]}
    model: x ~ normal(0, 1)[n]
    claim: Var(sum(x)) == n
"""
HEAVY = """
  heavy:
    title: Heavy
    model: |
      x ~ normal(0, 1)
      y = sin(3 * x) + x**2
    claim: E(y) == 1
    within: 0.004
"""
TEXT = f"dropcheck: 1\nclaims:{LIGHT}{HEAVY}"


def found_by(text: str = TEXT, *, threads: int = 1, **how: Any) -> list[CaseResult]:
    registry = read_text(text)
    found = verify_cases(registry.expand(), Settings(threads=threads), registry, **how)
    return [replace(result, seconds=0, more_seconds=None) for result in found]


@pytest.fixture(scope="module")
def alone() -> list[CaseResult]:
    return found_by()


def drawn_by(threads: int, **how: Any) -> dict[str, int]:
    found: Counter[str] = Counter()
    found_by(threads=threads, drawn_by=lambda who, cases: found.update({who: cases}), **how)
    return found


def test_who_drew_is_said() -> None:
    assert drawn_by(1) == {"1 thread": 8}
    assert drawn_by(3) == {"3 threads": 8}
    with ThreadPoolExecutor(2) as executor:
        assert drawn_by(1, pool=Pool(executor=executor, workers=2)) == {"2 workers": 8}
        few = drawn_by(1, pool=Pool(executor=executor, workers=3))
    assert few == {"3 workers together": 8}
    if can_fork():
        assert drawn_by(2, processes=True) == {"2 processes": 8}


def test_work_that_an_executor_loses_is_done_here(alone: list[CaseResult]) -> None:
    lost: list[None] = []
    with ThreadPoolExecutor(2) as threads:

        class Losing(Executor):
            count = 0

            def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
                self.count += 1
                if self.count % 3 == 0:
                    gone: Future[Any] = Future()
                    gone.set_exception(OSError("its machine is gone"))
                    return gone
                return threads.submit(function, *arguments)

        few = Pool(executor=Losing(), workers=3)  # fewer cases: their draws are shared out
        assert found_by(pool=few, lost=lambda: lost.append(None)) == alone
    assert lost == [None]


def test_whole_cases_that_an_executor_loses_are_judged_here(alone: list[CaseResult]) -> None:
    class Gone(Executor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            raise OSError("its machine is gone")

    lost: list[None] = []
    gone = Pool(executor=Gone(), workers=2)
    assert found_by(pool=gone, lost=lambda: lost.append(None)) == alone
    assert lost == [None]


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as found:
        yield found


def test_a_dask_cluster_of_which_a_worker_is_killed_and_another_joins(
    local: Any, alone: list[CaseResult]
) -> None:
    with cluster(local.scheduler_address) as dask:
        assert dask.workers == 3
        registry = read_text(TEXT)
        found = verify_cases(registry.expand(), Settings(threads=1), registry, pool=dask)
        results = [next(found)]
        workers = list(local.workers.values())
        os.kill(workers[0].pid, signal.SIGKILL)
        local.scale(4)
        results += found
    assert [replace(one, seconds=0, more_seconds=None) for one in results] == alone


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("dropcheck.execution.pool.CONNECT_SECONDS", 0.5)
    started = time.perf_counter()
    with (
        pytest.raises(DropcheckError, match="no Dask scheduler answers"),
        cluster("tcp://127.0.0.1:1"),
    ):
        pass
    assert time.perf_counter() - started < 60


def test_without_dask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('no')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "distributed", raising=False)
    with pytest.raises(DropcheckError, match="needs Dask"), cluster("tcp://host:8786"):
        pass
