"""Threads and processes draw the same, whatever programs there are and however many work."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from trials import compiled

from dropcheck import interrupt
from dropcheck.errors import DropcheckError, Problem
from dropcheck.execution import executors
from dropcheck.execution.executors import Processes, SpanExecutors, Threads, called, shared
from dropcheck.execution.schedule import Judge, carried_out, drive
from dropcheck.simulation.blocks import Request, joined
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.simulation.streams import MAIN

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")

LONG = 1.0  # seconds that a case says it still wants: processes are started for it
PROGRAM = compiled("x ~ normal(0, 1)", "Var(x) == 1").program


def asked(program: Program, first: int, count: int, wanted: float = LONG) -> Request:
    return Request(
        program=program,
        seed=0,
        case_key="a",
        purpose=MAIN,
        centres=np.zeros(program.size),
        first=first,
        count=count,
        wanted=wanted,
    )


def programs(count: int) -> list[Program]:
    return [compiled(f"x ~ normal({mean}, 1)", "Var(x) == 1").program for mean in range(count)]


# ---- the spans of requests -----------------------------------------------------------------------


def drawn(drawing: SpanExecutors, requests: list[Request]) -> list[bytes]:
    with drawing:
        parts = [drawing.submit(request) for request in requests]
        return [joined([drawing.drawn(part) for part in one]).sums.tobytes() for one in parts]


def here(requests: list[Request]) -> list[bytes]:
    return [request.carry_out().sums.tobytes() for request in requests]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("processes", [False, True])
def test_workers_draw_what_is_drawn_here(count: int, *, processes: bool) -> None:
    requests = [asked(PROGRAM, first, 1 + first % 4) for first in range(30)]
    assert drawn(SpanExecutors(count, processes=processes), requests) == here(requests)
    assert not multiprocessing.active_children()


def test_parts_of_a_request_follow_one_another_and_become_smaller() -> None:
    (program,) = programs(1)
    with SpanExecutors(2) as drawing:
        requests = [part.request for part in drawing.submit(asked(program, 7, 500))]
    ends = [request.first + request.count for request in requests]
    assert [request.first for request in requests] == [7, *ends[:-1]]
    assert ends[-1] == 507
    counts = [request.count for request in requests]
    assert counts[:-1] == sorted(counts[:-1], reverse=True)
    assert len(counts) < 60  # few are handed over
    assert max(counts) <= 500 // 4  # the last to end keeps the others waiting for a part at most


def test_any_executor_may_draw() -> None:
    requests = [asked(program, 0, 5) for program in programs(2)]
    with Threads(1) as own:
        assert drawn(SpanExecutors(2, executor=own), requests) == here(requests)
        own.submit(int).result()  # it is left open


def test_more_programs_than_a_process_keeps_are_loaded_again() -> None:
    many = programs(executors._loaded.cache_parameters()["maxsize"] + 3)
    requests = [asked(program, 0, 1) for _ in range(2) for program in many]
    assert drawn(SpanExecutors(2, processes=True), requests) == here(requests)


def test_a_program_is_loaded_once_in_a_process() -> None:
    pickled = executors._pickled(PROGRAM)
    assert pickled is not None
    executors._loaded.cache_clear()
    again = bytes(bytearray(pickled))  # as it comes with another part
    assert executors._loaded(pickled) is executors._loaded(again)


def test_every_program_of_the_shipped_claims_can_be_sent() -> None:
    from dropcheck.claims.reader import load_registry
    from dropcheck.judging.prepared import prepare

    without = []
    for claim in load_registry().claims.values():
        program = getattr(prepare(claim.expand()[0]).compiled, "program", None)
        if program is None:
            without.append(claim.id)
        else:
            assert executors._pickled(program) is not None, claim.id
    assert len(without) <= 1  # what is arithmetic draws nothing


def test_a_program_that_cannot_be_pickled_and_a_large_one_are_left_to_threads() -> None:
    step = PROGRAM.steps[0]
    own = replace(PROGRAM, steps=(replace(step, value=replace(step.value, constant=lambda: 0)),))
    fixed = (*PROGRAM.fixed, (PROGRAM.size, np.zeros(2**14)))
    large = replace(PROGRAM, fixed=fixed, size=PROGRAM.size + 1)
    assert executors._pickled(own) is None
    assert executors._pickled(large) is None
    requests = [asked(own, 0, 2), asked(PROGRAM, 0, 2), asked(large, 1, 2)]
    assert drawn(SpanExecutors(2, processes=True), requests) == here(requests)


def test_a_large_program_is_pickled_no_further_than_shows_it() -> None:
    taken: list[int] = []

    class Piece:
        def __init__(self, number: int) -> None:
            self.number = number

        def __reduce__(self) -> tuple[type[bytes], tuple[bytes]]:
            taken.append(self.number)
            return bytes, (bytes(1000),)

    pieces = [Piece(number) for number in range(1000)]
    fixed: Any = tuple(enumerate(pieces))
    large = replace(PROGRAM, fixed=fixed)
    assert executors._pickled(large) is None
    assert len(taken) < 3 * executors.SMALL_PROGRAM / 1000


def test_short_work_starts_no_processes() -> None:
    with SpanExecutors(2, processes=True) as drawing:
        drawing.drawn(drawing.submit(asked(PROGRAM, 0, 1, wanted=0.001))[0])
        assert not multiprocessing.active_children()
        drawing.drawn(drawing.submit(asked(PROGRAM, 0, 1))[0])
        assert len(multiprocessing.active_children()) == 2
    assert not multiprocessing.active_children()


def test_where_no_processes_can_be_started_threads_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(24, "too many open files")

    monkeypatch.setattr("multiprocessing.context.ForkProcess.start", refused)
    requests = [asked(PROGRAM, 0, 2), asked(PROGRAM, 2, 2)]
    assert drawn(SpanExecutors(2, processes=True), requests) == here(requests)
    assert dict(shared(abs, range(-9, 0), 2)) == {item: -item for item in range(-9, 0)}
    assert not multiprocessing.active_children()


def test_an_error_in_a_draw_comes_back_as_it_was() -> None:
    program = compiled("s ~ normal(0, 1); x ~ normal(0, s)", "E(x) == 0").program
    found: list[BaseException | None] = []
    for processes in (False, True):
        with SpanExecutors(1, processes=processes) as drawing:
            found += [part.future.exception() for part in drawing.submit(asked(program, 0, 1))]
    first, second = found
    assert isinstance(first, DropcheckError)
    assert isinstance(second, DropcheckError)
    assert first.problems == second.problems


def test_cases_on_processes_have_the_bytes_of_one_thread() -> None:
    def case(program: Program) -> Callable[[], Judge[bytes]]:
        def start() -> Judge[bytes]:
            held = b""
            for first in range(0, 60, 20):
                held += (yield asked(program, first, 20)).sums.tobytes()
            return held

        return start

    cases = [case(program) for program in programs(3)]
    assert dict(drive(cases, 2, processes=True)) == dict(drive(cases, 1))
    assert not multiprocessing.active_children()


# ---- whole cases ---------------------------------------------------------------------------------


def judged(spans: int) -> bytes:
    def judge() -> Judge[bytes]:
        return (yield asked(PROGRAM, 0, spans)).sums.tobytes()

    return carried_out(judge())


@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_do_not_depend_on_the_processes(count: int) -> None:
    assert dict(shared(judged, range(1, 9), count)) == {n: judged(n) for n in range(1, 9)}
    assert not multiprocessing.active_children()


def test_items_are_shared_by_processes_other_than_this_one() -> None:
    def who(_: int) -> int:
        time.sleep(0.01)
        return os.getpid()

    found = {result for _, result in shared(who, range(24), 2)}
    assert len(found) == 2
    assert os.getpid() not in found


def test_one_worker_is_the_callers_thread() -> None:
    found = dict(shared(lambda _: (os.getpid(), threading.get_ident()), range(3), 1))
    assert set(found.values()) == {(os.getpid(), threading.get_ident())}


def test_no_items_are_no_results() -> None:
    assert list(shared(judged, [], 2)) == []


@pytest.mark.parametrize(
    "error", [DropcheckError(Problem("no", hint="do")), ZeroDivisionError("by zero")]
)
def test_an_error_reaches_the_caller(error: Exception) -> None:
    def fail(item: int) -> bytes:
        if item == 1:
            raise error
        return judged(1)

    with pytest.raises(type(error), match=str(error)) as caught:
        list(shared(fail, range(3), 2))
    assert not multiprocessing.active_children()
    if isinstance(error, DropcheckError):  # what it carries comes with it
        assert isinstance(caught.value, DropcheckError)
        assert caught.value.problems == error.problems


def kill_oneself(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_processes_that_end_time_and_again_are_an_error_and_not_waited_for() -> None:
    lost: list[None] = []
    with pytest.raises(DropcheckError, match="ended before their work did"):
        list(shared(kill_oneself, range(3), 2, lost=lambda: lost.append(None)))
    assert len(lost) == executors.MOST_RESTARTS
    assert not multiprocessing.active_children()


def test_what_a_killed_process_leaves_undone_is_done_by_another(tmp_path: Path) -> None:
    marker = tmp_path / "killed"

    def once(item: int) -> bytes:
        if item == 5 and not marker.exists():
            marker.touch()
            kill_oneself(0)
        return judged(item)

    lost: list[None] = []
    found = dict(shared(once, range(1, 12), 2, lost=lambda: lost.append(None)))
    assert found == {item: judged(item) for item in range(1, 12)}
    assert lost == [None]


def test_what_killed_processes_do_not_draw_is_drawn_here(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()
    carry_out = Request.carry_out

    def killed(request: Request) -> SpanSums:
        if os.getpid() != parent:
            kill_oneself(0)
        return carry_out(request)

    def case() -> Judge[bytes]:
        return (yield asked(PROGRAM, 0, 20)).sums.tobytes()

    expected = carry_out(asked(PROGRAM, 0, 20)).sums.tobytes()
    monkeypatch.setattr(Request, "carry_out", killed)
    lost: list[None] = []
    found = dict(drive([case, case], 2, processes=True, lost=lambda: lost.append(None)))
    assert found == {0: expected, 1: expected}
    assert lost
    assert not multiprocessing.active_children()


def test_closing_early_leaves_no_process_behind() -> None:
    running: Any = shared(judged, [5] * 50, 2)
    next(running)
    assert len(multiprocessing.active_children()) == 2
    running.close()
    assert not multiprocessing.active_children()


def test_a_process_that_somebody_else_started_is_left_alone() -> None:
    with multiprocessing.get_context("fork").Pool(1) as other:
        assert dict(shared(abs, [-1], 2)) == {-1: 1}
        assert other.apply(abs, [-2]) == 2


def test_numpys_own_threads_are_one_in_every_process() -> None:
    def most_threads(_: int) -> int:
        found = threadpoolctl.threadpool_info()
        return int(max(pool["num_threads"] for pool in found if pool["user_api"] == "blas"))

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if max(pool["num_threads"] for pool in threadpoolctl.threadpool_info()) < 2:
            pytest.skip("a library that has one thread has nothing to be told")
        assert [count for _, count in shared(most_threads, range(4), 2)] == [1] * 4


def test_processes_do_not_hear_an_interruption() -> None:
    def pressed(_: int) -> int:
        for one in interrupt.SIGNALS:
            os.kill(os.getpid(), one)
        return os.getpid()

    assert os.getpid() not in dict(shared(pressed, range(4), 2)).values()


@pytest.mark.parametrize("work", ["os.getpid", "called, 60"], ids=["idle", "at work"])
def test_processes_do_not_outlive_the_one_that_started_them(work: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, os, time\n"
        "from dropcheck.execution.executors import Processes, called\n"
        "with Processes(3, time.sleep) as processes:\n"
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


def test_spawned_processes_do_what_forked_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "can_fork", lambda: False)
    assert dict(shared(abs, range(-4, 0), 2)) == {-4: 4, -3: 3, -2: 2, -1: 1}
    with Processes(1, abs) as processes:
        assert processes.submit(called, -3).result() == 3
    assert not multiprocessing.active_children()


FORKED_EARLY = """
from dropcheck.claims.reader import read_text
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

claim = "{title: T, model: 'u, v ~ uniform(0, 1)', claim: P(u + v < 1.998) == 1%s}"
text = "dropcheck: 1\\nclaims:\\n  a: %s\\n  b: %s\\n" % (claim % "", claim % ", within: 1e-6")
registry = read_text(text)
settings = Settings(threads=2)
print(len(list(verify_cases(registry.expand(), settings, registry, processes=True))))
"""


def test_processes_may_be_forked_while_a_thread_draws_for_the_first_time() -> None:
    """A thread that imports what it draws with holds a lock, which a forked process waits for."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED_EARLY],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.strip() == "2"
