"""Cases on threads: in which order spans come back has no part in any result."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from leftovers import no_workers_left, workers
from trials import compiled

from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError
from dropcheck.execution import executors
from dropcheck.execution.schedule import (
    KEEP_BUSY,
    LIGHT_SECONDS,
    Begun,
    Judge,
    carried_out_while_light,
    drive,
)
from dropcheck.processors import default_threads
from dropcheck.results import CaseResult
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.simulation.streams import MAIN


def program() -> Program:
    return compiled("x ~ normal(0, 1)", "Var(x) == 1").program


def asking(
    found: Program, name: str, spans: list[int]
) -> Callable[[], Generator[Request, SpanSums, bytes]]:
    """A case that asks for so many spans at a time and returns all sums as bytes."""

    def start() -> Generator[Request, SpanSums, bytes]:
        first, held = 0, b""
        for count in spans:
            request = Request(
                program=found,
                seed=0,
                case_key=name,
                purpose=MAIN,
                centres=np.zeros(found.size),
                first=first,
                count=count,
            )
            held += (yield request).sums.tobytes()
            first += count
        return held

    return start


@pytest.mark.parametrize("threads", [1, 2, 4, 7])
def test_results_are_the_same_bytes_on_any_number_of_threads(threads: int) -> None:
    found = program()
    judges = [asking(found, str(case), [1, 5, 1 + 3 * case]) for case in range(6)]
    results = dict(drive(judges, threads))
    expected = {}
    for case in range(6):
        count = 7 + 3 * case
        request = Request(
            program=found,
            seed=0,
            case_key=str(case),
            purpose=MAIN,
            centres=np.zeros(found.size),
            first=0,
            count=count,
        )
        expected[case] = request.carry_out().sums.tobytes()
    assert results == expected
    assert no_workers_left()


def test_a_case_that_asks_for_nothing_is_done_at_once() -> None:
    assert list(drive([asking(program(), "a", [])], 2)) == [(0, b"")]


def test_no_cases_are_no_results() -> None:
    assert list(drive([], 2)) == []


def test_few_cases_are_under_way_at_once() -> None:
    found = program()
    open_now: set[int] = set()
    most = 0

    def counted(case: int) -> Callable[[], Judge[bytes]]:
        def start() -> Judge[bytes]:
            nonlocal most
            open_now.add(case)
            most = max(most, len(open_now))
            held = yield from asking(found, str(case), [2, 2])()
            open_now.discard(case)
            return held

        return start

    assert len(list(drive([counted(case) for case in range(40)], 2))) == 40
    assert 2 <= most <= 8


@pytest.mark.parametrize(("waiting", "heavy"), [(0.0, True), (KEEP_BUSY, True), (100.0, False)])
def test_a_case_may_take_longer_while_many_wait(waiting: float, heavy: bool) -> None:
    def wanting() -> Generator[Request, SpanSums, bytes]:
        judge = asking(program(), "x", [1])()
        sums = yield replace(next(judge), wanted=2 * LIGHT_SECONDS)
        return sums.sums.tobytes()

    assert isinstance(carried_out_while_light(wanting(), waiting), Begun) == heavy


def test_closing_early_leaves_no_thread_behind() -> None:
    found = program()
    results: Any = drive([asking(found, str(case), [1, 200]) for case in range(20)], 3)
    next(results)
    assert workers()
    results.close()
    assert no_workers_left()


class OwnError(Exception):
    pass


@pytest.mark.parametrize("error", [OwnError, KeyboardInterrupt])
def test_an_error_in_a_case_ends_the_run_and_its_threads(error: type[BaseException]) -> None:
    found = program()

    def failing() -> Judge[bytes]:
        yield from asking(found, "a", [3])()
        raise error

    with pytest.raises(error):
        list(drive([asking(found, "b", [50]), failing, asking(found, "c", [50])], 2))
    assert no_workers_left()


def test_sums_are_let_go_as_soon_as_the_next_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would wait for a collection of cycles: memory grew with the draws."""
    submitted, held = executors.SpanExecutors.submit, []
    futures: list[weakref.ref[Any]] = []

    def submit(self: executors.SpanExecutors, request: Request) -> list[executors.Part]:
        held.append(sum(each() is not None for each in futures))
        parts = submitted(self, request)
        futures.extend(weakref.ref(part.future) for part in parts)
        return parts

    monkeypatch.setattr(executors.SpanExecutors, "submit", submit)
    gc.disable()
    try:
        dict(drive([asking(program(), "one", [40] * 8)], 2))
    finally:
        gc.enable()
    assert max(held) <= len(futures) / 8  # those of the request before, at most


def test_an_error_in_a_draw_reaches_the_caller() -> None:
    found = program()
    wrong = Request(
        program=found, seed=0, case_key="a", purpose=MAIN, centres=np.zeros(0), first=0, count=1
    )  # too few centres

    def start() -> Judge[bytes]:
        return (yield wrong).sums.tobytes()

    with pytest.raises(IndexError):
        list(drive([start], 2))
    assert no_workers_left()


def test_some_thread_is_there_by_default() -> None:
    assert default_threads() >= 1


def test_an_error_met_while_drawing_ends_its_own_case_alone() -> None:
    registry = read_text(
        """
dropcheck: 1
claims:
  seldom-wrong:
    title: A standard deviation that is negative in one draw of thirty thousand
    model: |
      s ~ normal(4, 1)
      x ~ normal(0, s)
    claim: E(x) == 0
  sound:
    title: A mean square
    model: x ~ normal(0, 1)
    claim: E(x**2) == 1
"""
    )
    for threads in (1, 2):
        results = verify_cases(registry.expand(), Settings(threads=threads), registry)
        assert next(results).claim == "sound"
        with pytest.raises(DropcheckError, match="sd must satisfy"):
            next(results)


# ---- on processes --------------------------------------------------------------------------------

MANY = """
dropcheck: 1
claims:
  square:
    title: The mean square of a normal
    parameters: {s: [1, 2, 3, 4, 5, 6, 7, 8, 9]}
    model: x ~ normal(0, s)
    claim: E(x**2) == s**2
"""
ONE = """
dropcheck: 1
claims:
  variance:
    title: The variance of an exponential
    resolution: 0.002
    model: x ~ exponential(1)
    claim: Var(x) == 1
"""


def judged(text: str, threads: int, **limits: Any) -> list[CaseResult]:
    registry = read_text(text)
    settings = Settings(threads=threads, **limits)
    results = verify_cases(registry.expand(), settings, registry, processes=True)
    return [replace(result, seconds=0, more_seconds=None) for result in results]


@pytest.fixture
def shared_by(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many processes the cases of each run are shared by, where they are."""
    used: list[int] = []

    def spy(function: Any, items: Any, workers: int, **more: Any) -> Any:
        used.append(workers)
        return executors.shared(function, items, workers, **more)

    monkeypatch.setattr("dropcheck.running.shared", spy)
    return used


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
@pytest.mark.parametrize(("text", "used"), [(MANY, [2]), (ONE, [])])
def test_a_run_on_processes_gives_what_one_thread_gives(
    text: str, used: list[int], shared_by: list[int]
) -> None:
    assert judged(text, 2) == judged(text, 1)
    assert shared_by == used
    assert no_workers_left()


def test_few_cases_and_a_time_limit_are_shared_draw_by_draw(shared_by: list[int]) -> None:
    judged(MANY, 2, time_limit=0.2)  # a time that is shared
    judged(MANY, 3)  # nine cases: fewer than four for each of three
    judged(ONE, 2, max_draws=1000)
    assert shared_by == []
