"""Engines: whoever works, and whoever ends on the way, the results are the same."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError
from dropcheck.execution import schedule
from dropcheck.execution.clusters import Engine, cluster
from dropcheck.execution.executors import SpanExecutors, can_fork
from dropcheck.results import CaseResult
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import SpanSums

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


def judged(text: str = TEXT, *, threads: int = 1, **how: Any) -> list[CaseResult]:
    registry = read_text(text)
    found = verify_cases(registry.expand(), Settings(threads=threads), registry, **how)
    return [replace(result, seconds=0, more_seconds=None) for result in found]


@pytest.fixture(scope="module")
def alone() -> list[CaseResult]:
    return judged()


@pytest.mark.parametrize("workers", [1, 3])
def test_threads_of_somebody_else(workers: int, alone: list[CaseResult]) -> None:
    with ThreadPoolExecutor(workers) as executor:
        assert judged(engine=Engine(executor=executor, workers=workers)) == alone


def drawn_by(threads: int, **how: Any) -> dict[str, int]:
    found: Counter[str] = Counter()
    judged(threads=threads, drawn_by=lambda who, cases: found.update({who: cases}), **how)
    return found


def test_who_drew_is_said() -> None:
    assert drawn_by(1) == {"1 thread": 8}
    assert drawn_by(3) == {"3 threads or processes together": 8}
    with ThreadPoolExecutor(2) as executor:
        found = drawn_by(1, engine=Engine(executor=executor, workers=2))
    assert sum(found.values()) == 8
    assert "2 workers" in found
    assert found.keys() <= {"2 workers", "2 workers together"}
    if can_fork():
        found = drawn_by(2, processes=True)
        assert sum(found.values()) == 8
        assert "2 processes" in found


def test_processes_that_are_spawned(alone: list[CaseResult]) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        assert judged(engine=Engine(executor=executor, workers=2)) == alone


def test_work_that_an_engine_loses_is_done_here(
    monkeypatch: pytest.MonkeyPatch, alone: list[CaseResult]
) -> None:
    monkeypatch.setattr(schedule, "LIGHT_SECONDS", -1.0)  # every case is handed back
    lost: list[None] = []
    with ThreadPoolExecutor(2) as threads:

        class Losing(Executor):
            count = 0

            def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
                self.count += 1
                if self.count > 20 and self.count % 3 == 0:
                    gone: Future[Any] = Future()
                    gone.set_exception(OSError("its machine is gone"))
                    return gone
                return threads.submit(function, *arguments)

        engine = Engine(executor=Losing(), workers=2)
        assert judged(engine=engine, lost=lambda: lost.append(None)) == alone
    assert lost


def test_whole_cases_that_an_engine_loses_are_judged_here(alone: list[CaseResult]) -> None:
    class Gone(Executor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            raise OSError("its machine is gone")

    lost: list[None] = []
    engine = Engine(executor=Gone(), workers=2)
    assert judged(engine=engine, lost=lambda: lost.append(None)) == alone
    assert lost


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on Linux alone")
def test_a_heavy_case_is_shared_once_it_shows(
    monkeypatch: pytest.MonkeyPatch, alone: list[CaseResult]
) -> None:
    """Cases that are handed back are drawn by all: their spans go out to processes."""
    seen: list[int] = []
    submit = SpanExecutors.submit

    def noting(self: Any, request: Any) -> Any:
        seen.append(request.count)
        return submit(self, request)

    monkeypatch.setattr(schedule, "LIGHT_SECONDS", 0.0)
    monkeypatch.setattr(SpanExecutors, "submit", noting)
    assert judged(threads=2, processes=True) == alone
    assert seen


DRAWN_AGAIN = pytest.mark.xfail(strict=True, reason="what is not sent back is drawn again")


@pytest.mark.parametrize("most", [schedule.MOST_GIVEN, pytest.param(0, marks=DRAWN_AGAIN)])
def test_a_case_that_is_handed_back_goes_on_from_what_was_drawn(
    most: int, monkeypatch: pytest.MonkeyPatch, alone: list[CaseResult]
) -> None:
    """No span is drawn twice; where what was drawn is too much to be sent, all are."""
    drawn: list[tuple[object, ...]] = []
    handed_back: list[int] = []
    carry_out = Request.carry_out

    def noting(self: Request) -> SpanSums:
        spans = range(self.first, self.first + self.count)
        drawn.extend((self.case_key, self.purpose, span) for span in spans)
        return carry_out(self)

    def resuming(start: Any, given: Any) -> Any:
        handed_back.append(len(given))
        return schedule.resumed(start, given)

    monkeypatch.setattr(Request, "carry_out", noting)
    monkeypatch.setattr("dropcheck.running.resumed", resuming)
    monkeypatch.setattr(schedule, "LIGHT_SECONDS", 0.02)
    monkeypatch.setattr(schedule, "MOST_GIVEN", most)
    with ThreadPoolExecutor(2) as executor:
        assert judged(engine=Engine(executor=executor, workers=2)) == alone
    assert max(handed_back) > 0
    assert len(drawn) == len(set(drawn))


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
    with cluster(local.scheduler_address) as engine:
        assert engine.workers == 2
        registry = read_text(TEXT)
        found = verify_cases(registry.expand(), Settings(threads=1), registry, engine=engine)
        results = [next(found)]
        workers = list(local.workers.values())
        os.kill(workers[0].pid, signal.SIGKILL)
        local.scale(3)
        results += found
    assert [replace(one, seconds=0, more_seconds=None) for one in results] == alone


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("dropcheck.execution.clusters.CONNECT_SECONDS", 0.5)
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
    with pytest.raises(DropcheckError, match="needs Dask"), cluster("local"):
        pass
