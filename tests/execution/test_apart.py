"""Workers that may end: what one was doing is done again, and nothing else is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from dropcheck.errors import DropcheckError, Problem
from dropcheck.execution.apart import EndedTwiceError, SpawnedProcesses


def kill_oneself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_oneself_once(marker: Path) -> str:
    if not marker.exists():
        marker.touch()
        os._exit(0)  # as if all were well
    return "done"


def fail() -> None:
    raise DropcheckError(Problem("no", hint="never"))


def test_what_ends_its_process_once_is_done_again(tmp_path: Path) -> None:
    lost: list[None] = []
    with SpawnedProcesses(2, lambda: lost.append(None)) as workers:
        others = [workers.submit(abs, -number) for number in range(9)]
        again = workers.submit(kill_oneself_once, tmp_path / "marker")
        assert again.result() == "done"
        assert [one.result() for one in others] == list(range(9))
    assert lost == [None]
    assert not multiprocessing.active_children()


def test_what_ends_its_process_twice_is_an_error_and_takes_nothing_with_it() -> None:
    with SpawnedProcesses(1) as workers:
        ended = workers.submit(kill_oneself)
        after = workers.submit(abs, -1)
        with pytest.raises(EndedTwiceError):
            ended.result()
        assert after.result() == 1
    assert not multiprocessing.active_children()


def test_an_error_comes_back_as_it_is() -> None:
    with SpawnedProcesses(1) as workers, pytest.raises(DropcheckError) as caught:
        workers.submit(fail).result()
    assert caught.value.problems == (Problem("no", hint="never"),)


def test_they_end_with_the_block_whatever_they_work_on() -> None:
    started = time.monotonic()
    before = threading.active_count()
    with SpawnedProcesses(1) as workers:
        workers.submit(abs, 1).result()
        slow = workers.submit(time.sleep, 60)
        time.sleep(0.1)
    assert not multiprocessing.active_children()
    with pytest.raises(RuntimeError, match="no workers"):
        slow.result(timeout=10)
    assert time.monotonic() - started < 30
    while threading.active_count() > before:
        time.sleep(0.01)


def test_what_cannot_be_sent_is_refused_at_once() -> None:
    with SpawnedProcesses(1) as workers, pytest.raises(Exception, match="pickle"):
        workers.submit(lambda: None)
