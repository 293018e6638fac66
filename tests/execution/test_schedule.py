"""Cases on threads: the order in which spans come back does not matter, and time is shared."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from leftovers import no_workers_left
from plan_cases import registry_of
from trials import compiled

from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError
from dropcheck.execution import pool, schedule
from dropcheck.execution.schedule import Deadline, Judge, drive
from dropcheck.judging import case as case_run
from dropcheck.results import CaseResult, Outcome, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.simulation.steps import CallsAsked
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
    divided, held = schedule._parts, []
    futures: list[weakref.ref[Any]] = []

    def parts(*request: Any) -> list[Request]:
        held.append(sum(each() is not None for each in futures))
        return divided(*request)

    def submitted(executor: Executor, draw: Any, part: Request) -> Any:
        future = pool.submitted(executor, draw, part)
        futures.append(weakref.ref(future))
        return future

    monkeypatch.setattr(schedule, "_parts", parts)
    monkeypatch.setattr(schedule, "submitted", submitted)
    gc.disable()
    try:
        dict(drive([asking(program(), "one", [40] * 8)], 2))
    finally:
        gc.enable()
    assert max(held) <= len(futures) / 8  # those of the request before, at most


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
    begun = pool.Processes.__init__

    def spy(own: Any, count: int, **how: Any) -> None:
        used.append(count)
        begun(own, count, **how)

    monkeypatch.setattr(pool.Processes, "__init__", spy)
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


# ---- a time limit --------------------------------------------------------------------------------

InTime = Callable[[float, float], tuple[dict[str, CaseResult], "Clock"]]


class Clock:
    """Time that passes by being looked at."""

    def __init__(self, tick: float) -> None:
        self.now = 0.0
        self.tick = tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


LIMITED = registry_of(
    hard="x ~ normal(1, 1); E(x) == 1; resolution: 1.0e-5",
    harder="x ~ normal(1, 1); E(x) == 1; resolution: 2.0e-6",
    hardest="x ~ normal(1, 1); E(x) == 1; resolution: 1.0e-6",
    easy="x ~ normal(1, 1); E(x) == 1; resolution: 0.05",
    sum="; 1 + 1 == 2",
)


@pytest.fixture
def in_time(monkeypatch: pytest.MonkeyPatch) -> InTime:
    """A run under a limit in which a span takes a tenth of a millisecond, whatever the machine."""
    carry_out = Request.carry_out

    def timed(request: Request) -> SpanSums:
        return replace(carry_out(request), seconds=1e-4 * request.count)

    monkeypatch.setattr(Request, "carry_out", timed)
    monkeypatch.setattr(case_run, "TURN_SECONDS", 0.002)
    monkeypatch.setattr(schedule, "TURN_SECONDS", 0.002)

    def run(limit: float, tick: float) -> tuple[dict[str, CaseResult], Clock]:
        clock = Clock(tick)
        settings = Settings(time_limit=limit, threads=1)
        results = verify_cases(LIMITED.expand(), settings, LIMITED, clock=clock)
        return {result.claim: result for result in results}, clock

    return run


@pytest.mark.usefixtures("draws_alone")
def test_a_time_limit_ends_the_run_and_what_is_left_is_shared(in_time: InTime) -> None:
    found, clock = in_time(2.0, 0.01)
    assert 2.0 <= clock.now < 2.3
    assert found["easy"].verdict is Verdict.VERIFIED  # though it comes last in the file
    assert found["easy"].more_seconds is None
    open_ones = [found[name] for name in ("hard", "harder", "hardest")]
    for result in open_ones:
        assert result.verdict is Verdict.UNDECIDED
        assert result.draws > found["easy"].draws
        assert result.more_draws is not None
        assert result.more_draws > result.draws
        a_draw = result.seconds / result.draws
        assert result.more_seconds == pytest.approx(result.more_draws * a_draw)
    draws = [result.draws for result in open_ones]
    assert max(draws) < 4 * min(draws)
    longer, _ = in_time(4.0, 0.01)
    assert longer["hard"].draws > 1.5 * found["hard"].draws
    assert longer["easy"] == found["easy"]


@pytest.mark.usefixtures("draws_alone")
def test_what_is_not_begun_in_time_says_so_and_arithmetic_needs_no_time(in_time: InTime) -> None:
    found, _ = in_time(0.5, 1.0)
    assert found["sum"].verdict is Verdict.VERIFIED
    assert all(found[name].draws == 0 for name in found)
    assert "time of the run was up" in str(found["easy"].explanation)
    assert found["easy"].result is Outcome.UNDECIDED


class Free:
    """A program whose spans cost nothing; it stands for one that draws."""

    tests_code = False
    code = CallsAsked.of((), ())
    block_draws = 1
    cost = 1.0
    span_draws = 1

    def span(self, *_: object) -> SpanSums:
        return SpanSums(sums=np.ones((1, 1)))


def wanting(wanted: float, times: int) -> Callable[[], Generator[Request, SpanSums, int]]:
    """A judge that asks so many times, and returns how many spans it was given."""

    def judge() -> Generator[Request, SpanSums, int]:
        given = 0
        for _ in range(times):
            program: Any = Free()
            sums = yield Request(
                program=program,
                seed=0,
                case_key="case",
                purpose=0,
                centres=np.zeros(1),
                first=0,
                count=4,
                wanted=wanted,
            )
            given += len(sums.sums)
        return given

    return judge


def test_those_nearest_to_a_verdict_go_first_under_a_limit_and_all_in_order_without() -> None:
    judges = [wanting(100.0, 50), wanting(100.0, 50), wanting(0.0, 2), wanting(0.0, 2)]
    in_turn = [index for index, _ in drive(judges, 1)]
    nearest = [index for index, _ in drive(judges, 1, Deadline.after(1000.0))]
    assert set(in_turn[:2]) == {0, 1}
    assert set(nearest[:2]) == {2, 3}
