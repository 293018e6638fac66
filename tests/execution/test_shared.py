"""Whoever works, and whoever ends on the way, the results are the same; time is shared."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from leftovers import kill_oneself_or_not, no_workers_left
from trials import compiled

from dropcheck import interrupt
from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError, InternalError, Problem
from dropcheck.execution.pool import Pool, Processes, can_fork, cluster
from dropcheck.execution.schedule import Deadline, Judge, Task, carried_out, drive
from dropcheck.judging import case as case_run
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.blocks import MAIN, Request
from dropcheck.simulation.program import SpanSums

forks = pytest.mark.skipif("not can_fork()", reason="nothing is forked here, or beside JAX")
PROGRAM = compiled("x ~ normal(0, 1)", "Var(x) == 1").program

# ---- tasks and draws -----------------------------------------------------------------------------


def judge(spans: int, key: str = "a") -> Judge[bytes]:
    """A case that asks for its spans in two parts, and returns all sums as bytes."""
    held = b""
    for first, number in ((0, 1), (1, spans)):
        request = Request(
            program=PROGRAM, seed=0, case_key=key, purpose=MAIN, centres=np.zeros(PROGRAM.size),
            first=first, count=number,
        )  # fmt: skip
        held += (yield request).sums.tobytes()
    return held


def judged(spans: int) -> bytes:
    return carried_out(judge(spans))


def done(
    function: Callable[..., Any],
    items: Any,
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


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_are_the_same_bytes_on_any_number_of_threads_or_processes(threads: int) -> None:
    expected = {at: judged(1 + 3 * at) for at in range(6)}
    judges: list[Any] = [partial(judge, 1 + 3 * at) for at in range(6)]
    assert dict(drive(judges, threads)) == expected
    if can_fork():
        assert done(judged, range(1, 19, 3), threads) == [*expected.values()]

        def task(spans: int) -> Generator[Task, Any, bytes]:
            found: bytes = yield Task(function=judged, arguments=(spans,))
            return found

        tasks: list[Any] = [partial(task, 1 + 3 * at) for at in range(6)]
        assert dict(drive([*judges[:3], *tasks[3:]], 2, processes=2)) == expected
    assert no_workers_left()


def test_once_the_time_is_up_a_request_is_cut_to_one_span() -> None:
    assert dict(drive([partial(judge, 5)], 1, Deadline.after(0.0))) == {0: judged(1)}


def fail(item: int) -> bytes:
    if item == 1:
        raise DropcheckError(Problem("no", hint="do"))
    if item == 2:
        raise ZeroDivisionError("by zero")
    return judged(1)


@pytest.mark.parametrize(("item", "error"), [(1, DropcheckError), (2, InternalError)])
def test_an_error_reaches_the_caller_and_ends_the_run(
    item: int, error: type[DropcheckError]
) -> None:
    with pytest.raises(error, match=r"no|by zero") as caught:
        done(fail, [0, item, 3])
    if item == 1:  # what it carries comes with it
        assert caught.value.problems == (Problem("no", hint="do"),)

    def failing() -> Judge[bytes]:
        yield from judge(3)
        raise caught.value

    judges: list[Any] = [partial(judge, 50), failing, partial(judge, 50)]
    with pytest.raises(error):
        list(drive(judges, 2))
    assert no_workers_left()


# ---- processes that end --------------------------------------------------------------------------


@forks
@pytest.mark.parametrize("spawn", [False, True])
def test_what_ends_its_process_twice_is_an_error_and_takes_nothing_with_it(spawn: bool) -> None:
    lost: list[None] = []
    how: dict[str, Any] = {"spawn": spawn, "lost": lambda: lost.append(None)}
    found = done(kill_oneself_or_not, range(-1, 3), after=lambda: 100, **how)
    assert found == [-1, 100, 1, 2]
    assert lost
    if not spawn:
        with pytest.raises(DropcheckError, match="ended before their work did"):
            done(kill_oneself_or_not, range(3))
    else:  # what cannot be sent is done here
        items: list[Callable[[], int]] = [lambda: 1, lambda: 2]
        assert done(lambda item: item(), items, spawn=True) == [1, 2]
    assert not multiprocessing.active_children()


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


def as_a_worker(_: int) -> tuple[int, int]:
    """The most threads of numpy's, and who lives though interruptions were sent."""
    for one in interrupt.SIGNALS:
        os.kill(os.getpid(), one)
    found = threadpoolctl.threadpool_info()
    threads = [int(pool["num_threads"]) for pool in found if pool["user_api"] == "blas"]
    return max(threads, default=1), os.getpid()


@forks
def test_a_worker_has_one_thread_of_numpys_and_does_not_hear_an_interruption() -> None:
    with (
        threadpoolctl.threadpool_limits(2, user_api="blas"),
        multiprocessing.get_context("fork").Pool(1) as other,
    ):
        found = done(as_a_worker, range(4))
        assert {threads for threads, _ in found} == {1}
        assert os.getpid() not in {pid for _, pid in found}
        assert other.apply(abs, [-2]) == 2  # what somebody else started is left alone


@forks
@pytest.mark.parametrize("work", ["os.getpid", "time.sleep, 60"], ids=["idle", "at work"])
def test_processes_do_not_outlive_the_one_that_started_them(work: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, os, time\n"
        "from dropcheck.execution.pool import Processes\n"
        "with Processes(2) as processes:\n"
        f"    work = [processes.submit({work}) for _ in range(2)]\n"
        "    print(*[one.pid for one in multiprocessing.active_children()], flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        workers = [int(pid) for pid in process.stdout.readline().split()]
        assert len(workers) == 2
        process.send_signal(signal.SIGKILL)
        end = time.monotonic() + 20
        while any(map(alive, workers)) and time.monotonic() < end:
            time.sleep(0.02)
        assert not any(map(alive, workers))


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not asked how does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


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


# ---- runs on any executor ------------------------------------------------------------------------

TEXT = """
dropcheck: 1
claims:
  light:
    title: Light
    parameters: {n: [1, 2, 3, 4, 5, 6, 7]}
    model: x ~ normal(0, 1)[n]
    claim: Var(sum(x)) == n
  heavy:
    title: Heavy
    model: |
      x ~ normal(0, 1)
      y = sin(3 * x) + x**2
    claim: E(y) == 1
    within: 0.01
  fails:
    title: A standard deviation that is negative in one draw of thirty thousand
    model: |
      s ~ normal(4, 1)
      z ~ normal(0, s)
    claim: E(z) == 0
"""
SOUND = TEXT[: TEXT.index("  fails:")]


def found_by(text: str = SOUND, *, threads: int = 1, **how: Any) -> list[CaseResult]:
    registry = read_text(text)
    found = verify_cases(registry.expand(), Settings(threads=threads), registry, **how)
    return [replace(result, seconds=0, more_seconds=None) for result in found]


@pytest.fixture(scope="module")
def alone() -> list[CaseResult]:
    return found_by()


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_met_while_drawing_ends_its_own_case_alone(threads: int) -> None:
    registry = read_text(TEXT)
    found: list[str] = []
    with pytest.raises(DropcheckError, match="sd must satisfy"):
        found.extend(
            one.claim
            for one in verify_cases(registry.expand(), Settings(threads=threads), registry)
        )
    assert found == ["light"] * 7 + ["heavy"]


class Losing(Executor):
    """An executor that loses some of what it is given, or all."""

    def __init__(self, every: int) -> None:
        self.every, self.taken = every, 0

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        self.taken += 1
        if self.every == 1:
            raise OSError("its machine is gone")
        future: Future[Any] = Future()
        if self.taken % self.every == 0:
            future.set_exception(OSError("its machine is gone"))
        else:
            future.set_result(function(*arguments))
        return future


@pytest.mark.parametrize(("every", "workers"), [(3, 3), (1, 2)])
def test_work_that_an_executor_loses_is_done_here(
    every: int, workers: int, alone: list[CaseResult]
) -> None:
    lost: list[None] = []
    few = Pool(executor=Losing(every), workers=workers)  # with 3, their draws are shared out
    assert found_by(pool=few, lost=lambda: lost.append(None)) == alone
    assert lost == [None]


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as found:
        yield found


def test_a_dask_cluster_of_which_a_worker_is_killed_and_another_joins(
    local: Any, alone: list[CaseResult]
) -> None:
    with cluster(local.scheduler_address) as dask:
        assert dask.workers == 2
        registry = read_text(SOUND)
        found = verify_cases(registry.expand(), Settings(threads=1), registry, pool=dask)
        results = [next(found)]
        os.kill(next(iter(local.workers.values())).pid, signal.SIGKILL)
        local.scale(3)
        results += found
    assert [replace(one, seconds=0, more_seconds=None) for one in results] == alone


def test_no_scheduler_answers_or_dask_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("dropcheck.execution.pool.CONNECT_SECONDS", 0.5)
    address = "tcp://127.0.0.1:1"
    with pytest.raises(DropcheckError, match="no Dask scheduler answers"), cluster(address):
        pass
    (tmp_path / "distributed.py").write_text("raise ImportError('no')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "distributed", raising=False)
    with pytest.raises(DropcheckError, match="needs Dask"), cluster(address):
        pass


# ---- a time limit --------------------------------------------------------------------------------

HARD = {"hard": "1.0e-5", "harder": "2.0e-6", "hardest": "1.0e-6", "easy": "0.05"}
LIMITED = read_text(
    "dropcheck: 1\nclaims:\n"
    + "".join(
        f"  {name}: {{title: T, model: 'x ~ normal(1, 1)', claim: E(x) == 1, resolution: {one}}}\n"
        for name, one in HARD.items()
    )
    + "  sum: {title: T, claim: 1 + 1 == 2}\n"
)


@pytest.mark.usefixtures("draws_alone")
def test_a_time_limit_ends_the_run_and_what_is_left_is_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A span takes a tenth of a millisecond, whatever the machine; time passes by looking at it."""
    carry_out = Request.carry_out

    def timed(request: Request) -> SpanSums:
        return replace(carry_out(request), seconds=1e-4 * request.count)

    monkeypatch.setattr(Request, "carry_out", timed)
    monkeypatch.setattr(case_run, "TURN_SECONDS", 0.002)

    def run(limit: float, tick: float) -> tuple[dict[str, CaseResult], float]:
        ticks = count()
        settings = Settings(time_limit=limit, threads=1)

        def clock() -> float:
            return next(ticks) * tick

        results = verify_cases(LIMITED.expand(), settings, LIMITED, clock=clock)
        return {one.claim: one for one in results}, clock()

    found, now = run(0.8, 0.01)
    assert 0.8 <= now < 1.1
    assert found["easy"].verdict is Verdict.VERIFIED  # though it comes late in the file
    open_ones = [found[name] for name in ("hard", "harder", "hardest")]
    for one in open_ones:
        assert one.verdict is Verdict.UNDECIDED
        assert (one.more_draws or 0) > one.draws > found["easy"].draws
        price = (one.more_draws or 0) * one.seconds / one.draws
        assert one.more_seconds == pytest.approx(price)
    draws = [one.draws for one in open_ones]
    assert max(draws) < 4 * min(draws)
    late, _ = run(0.5, 1.0)  # arithmetic needs no time, and what is not begun says so
    assert late["sum"].verdict is Verdict.VERIFIED
    assert all(one.draws == 0 for one in late.values())
    assert "time of the run was up" in str(late["easy"].explanation)
