"""A time limit is that of the whole run, and goes to the cases that need it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from plan_cases import registry_of

from dropcheck.execution import schedule
from dropcheck.execution.schedule import Deadline, drive
from dropcheck.judging import case_run
from dropcheck.results import CaseResult, Outcome, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import SpanSums

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


def test_a_time_limit_ends_the_run_and_what_is_left_is_shared(in_time: InTime) -> None:
    found, clock = in_time(2.0, 0.01)
    assert 2.0 <= clock.now < 2.3
    assert found["easy"].verdict is Verdict.VERIFIED  # though it comes last in the file
    assert found["easy"].more_seconds is None
    open_ones = [found[name] for name in ("hard", "harder", "hardest")]
    for result in open_ones:
        assert result.verdict is Verdict.INCONCLUSIVE
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


def test_what_is_not_begun_in_time_says_so_and_arithmetic_needs_no_time(in_time: InTime) -> None:
    found, _ = in_time(0.5, 1.0)
    assert found["sum"].verdict is Verdict.VERIFIED
    assert all(found[name].draws == 0 for name in found)
    assert "time of the run was up" in str(found["easy"].explanation)
    assert found["easy"].result is Outcome.UNDECIDED


def test_without_a_time_limit_no_clock_is_looked_at() -> None:
    clock = Clock(1e9)
    registry = registry_of(one="x ~ normal(1, 1); E(x) == 1")
    (result,) = verify_cases(registry.expand(), Settings(), registry, clock=clock)
    assert result.verdict is Verdict.VERIFIED
    assert clock.now == 0


class Program:
    """A program whose spans cost nothing; it stands for one that draws."""

    calls_own_code = False
    block_draws = 1
    cost = 1.0
    span_draws = 1

    def held(self) -> AbstractContextManager[None]:
        return nullcontext()

    def span(self, *_: object) -> SpanSums:
        return SpanSums(sums=np.ones((1, 1)))


def asking(wanted: float, times: int) -> Callable[[], Generator[Request, SpanSums, int]]:
    """A judge that asks so many times, and returns how many spans it was given."""

    def judge() -> Generator[Request, SpanSums, int]:
        given = 0
        for _ in range(times):
            program: Any = Program()
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
    judges = [asking(100.0, 50), asking(100.0, 50), asking(0.0, 2), asking(0.0, 2)]
    in_order = [index for index, _ in drive(judges, 1)]
    nearest = [index for index, _ in drive(judges, 1, Deadline.after(1000.0))]
    assert set(in_order[:2]) == {0, 1}
    assert set(nearest[:2]) == {2, 3}


def test_after_the_deadline_a_request_is_cut_to_one_span() -> None:
    judges = [asking(1.0, 3)]
    assert list(drive(judges, 1)) == [(0, 12)]
    assert list(drive(judges, 1, Deadline.after(0.0))) == [(0, 3)]
