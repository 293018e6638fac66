"""Threads and copies of the process draw the same, whatever programs there are and however many."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from trials import compiled

from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError
from dropcheck.execution import executors as hands
from dropcheck.execution.case_processes import drive_in_processes
from dropcheck.execution.executors import Done, Hands, Processes, Threads
from dropcheck.execution.schedule import Judge, drive
from dropcheck.results import Settings
from dropcheck.running import verify_cases
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import Program
from dropcheck.simulation.streams import MAIN

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no copies can be made")

LONG = 1.0  # seconds that a case says it still wants: copies are made for it


def asked(program: Program, first: int, count: int, wanted: float = LONG) -> Request:
    return Request(program, 0, "a", MAIN, np.zeros(program.size), first, count, wanted)


def all_of(drawing: Hands[int], requests: list[Request]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    with drawing:
        for token, request in enumerate(requests):
            drawing.give(token, request)
        for _ in requests:
            done = drawing.next_done()
            assert not isinstance(done.found, DropcheckError)
            found[done.token] = done.found.sums.tobytes()
    return found


def programs(count: int) -> list[Program]:
    return [compiled(f"x ~ normal({mean}, 1)", "Var(x) == 1").program for mean in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_copies_draw_what_threads_draw(count: int) -> None:
    (program,) = programs(1)
    requests = [asked(program, first, 1 + first % 4) for first in range(30)]
    expected = all_of(Threads(2), requests)
    assert all_of(Processes(count), requests) == expected
    assert not multiprocessing.active_children()


def test_more_programs_than_are_kept_are_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hands, "PROGRAMS_HELD", 2)
    monkeypatch.setattr(hands, "PROGRAMS_KEPT", 3)
    requests = [asked(program, 0, 2) for _ in range(3) for program in programs(7)]
    assert all_of(Processes(2), requests) == all_of(Threads(2), requests)


def test_every_program_of_the_shipped_claims_can_be_sent() -> None:
    from dropcheck.claims.reader import load_registry
    from dropcheck.judging.prepared import prepare

    with Processes[int](2) as drawing:
        without = []
        for claim in load_registry(None).claims.values():
            program = getattr(prepare(claim.expand()[0], crossing=True).means, "program", None)
            if program is None:
                without.append(claim.id)
            else:
                assert drawing._as_sent(program).text is not None, claim.id
    assert len(without) <= 1  # what is arithmetic draws nothing


def test_a_program_that_cannot_be_sent_is_left_to_threads() -> None:
    (program,) = programs(1)
    held = program.steps[0]
    own = replace(program, steps=(replace(held, value=replace(held.value, constant=lambda: 0)),))
    requests = [asked(own, 0, 2), asked(program, 0, 2), asked(own, 1, 2)]
    assert all_of(Processes(2), requests) == all_of(Threads(2), requests)


def test_short_work_makes_no_copies() -> None:
    (program,) = programs(1)
    drawing: Processes[int] = Processes(2)
    with drawing:
        drawing.give(0, asked(program, 0, 1, wanted=0.001))
        assert drawing.next_done().token == 0
        assert not multiprocessing.active_children()
        drawing.give(1, asked(program, 0, 1))
        assert drawing.next_done().token == 1
        assert len(multiprocessing.active_children()) == 2
    assert not multiprocessing.active_children()


def test_where_no_copies_can_be_made_threads_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(24, "too many open files")

    (program,) = programs(1)
    requests = [asked(program, 0, 2), asked(program, 2, 2)]
    expected = all_of(Threads(2), requests)
    monkeypatch.setattr("dropcheck.execution.workers._started", refused)
    assert all_of(Processes(2), requests) == expected
    judges = [one_request(program) for _ in range(9)]
    assert dict(drive_in_processes(judges, 2)) == dict(drive(judges, 2))


def one_request(program: Program) -> Callable[[], Judge[bytes]]:
    def start() -> Judge[bytes]:
        return (yield asked(program, 0, 2)).sums.tobytes()

    return start


def test_an_error_met_while_drawing_comes_back_as_it_was() -> None:
    program = compiled("s ~ normal(0, 1); x ~ normal(0, s)", "E(x) == 0").program
    found: list[Done[int]] = []
    for drawing in (Threads[int](1), Processes[int](1)):
        with drawing:
            drawing.give(0, asked(program, 0, 1))
            found.append(drawing.next_done())
    first, second = (done.found for done in found)
    assert isinstance(first, DropcheckError)
    assert isinstance(second, DropcheckError)
    assert first.problems == second.problems


def test_cases_on_copies_have_the_bytes_of_one_thread() -> None:
    found = programs(3)

    def case(program: Program) -> Callable[[], Judge[bytes]]:
        def start() -> Judge[bytes]:
            held = b""
            for first in range(0, 60, 20):
                held += (yield asked(program, first, 20)).sums.tobytes()
            return held

        return start

    judges = [case(program) for program in found]
    assert dict(drive(judges, 2, copies=True)) == dict(drive(judges, 1))
    assert not multiprocessing.active_children()


def test_one_claim_is_drawn_by_copies_to_the_same_result() -> None:
    registry = read_text(
        "dropcheck: 1\nclaims:\n  c:\n    title: T\n    resolution: 0.002\n"
        "    model: x ~ exponential(1)\n    claim: Var(x) == 1\n"
    )
    one, many = (
        next(
            iter(verify_cases(registry.expand(), Settings(threads=threads), registry, copies=True))
        )
        for threads in (1, 2)
    )
    assert replace(one, seconds=0) == replace(many, seconds=0)


@pytest.mark.parametrize(
    "work", ["", "    for worker in copies: workers.ask(worker, 60)\n"], ids=["idle", "at work"]
)
def test_copies_do_not_outlive_the_one_that_made_them_even_at_work(
    work: str, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import time\n"
        "from dropcheck.execution.workers import Workers\n"
        "with Workers(lambda seconds: time.sleep(seconds), 3) as workers:\n"
        "    copies = [worker for worker in workers.free()][:3]\n"
        f"{work}"
        "    print(*[worker.process.pid for worker in copies], flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        copies = [int(pid) for pid in process.stdout.readline().split()]
        assert len(copies) == 3
        assert all(alive(pid) for pid in copies)
        process.send_signal(signal.SIGKILL)
        end = time.monotonic() + 20
        while any(alive(pid) for pid in copies) and time.monotonic() < end:
            time.sleep(0.02)
        assert not any(alive(pid) for pid in copies)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not asked how does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    os.kill(pid, 0)
    return state != "Z"
