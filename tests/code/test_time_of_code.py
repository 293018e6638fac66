"""The time that a case of code may take is that of the processor, without first calls."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from own_samples import Drawn, Generator, tried
from slots_made import OfFunctions

from dropcheck.claims.reader import read_text
from dropcheck.code.columns import with_columns
from dropcheck.judging import judge
from dropcheck.report import words
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

SECONDS = 0.3
TRUE, RESOLUTION = "E(y) == 1", 0.1
FILE = f"""
dropcheck: 1
slots: {{noise: {{takes: [], law: "normal(1, 1)"}}}}
claims:
  mean: {{title: Mean, model: y ~ noise(), claim: {TRUE}, resolution: {RESOLUTION}}}
"""
Wait = Callable[[], object]
Judged = Callable[[Wait], CaseResult]


def computes(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few seconds, however busy the machine is."""
    monkeypatch.setattr(judge, "CODE_SECONDS", SECONDS)
    monkeypatch.setattr(judge, "PATIENCE", 1000)


def as_sample(wait: Wait) -> CaseResult:
    def sample(generator: Generator, count: int) -> Drawn:
        wait()
        return {"y": generator.normal(1, 1, count)}

    return tried(TRUE, sample, resolution=RESOLUTION)


def as_slot(wait: Wait) -> CaseResult:
    def noise(size: Any, rng: Generator) -> Any:
        wait()
        return rng.normal(1, 1, size)

    registry = with_columns(read_text(FILE), [OfFunctions({"noise": noise})])
    cases = [case for case in registry.expand() if case.claim.column is not None]
    [result] = verify_cases(cases, Settings(), registry)
    return result


@pytest.fixture(params=[as_sample, as_slot])
def judged(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Judged:
    on_the_processor(monkeypatch)
    how: Judged = request.param
    return how


def test_code_that_has_to_wait_is_judged_as_if_it_had_not(judged: Judged) -> None:
    at_once = judged(lambda: None)
    assert at_once.verdict is Verdict.VERIFIED
    assert at_once.calls is not None
    wait = 1.5 * SECONDS / at_once.calls.count
    began = time.monotonic()
    waited = judged(lambda: time.sleep(wait))
    assert time.monotonic() - began > SECONDS
    assert (waited.verdict, waited.draws) == (at_once.verdict, at_once.draws)


def test_code_that_computes_for_long_is_ended(judged: Judged) -> None:
    ended = judged(lambda: computes(SECONDS / 8))
    assert ended.verdict is Verdict.UNDECIDED
    assert ended.calls is not None
    assert ended.calls.count < 16


def test_the_resolution_that_is_named_is_one_that_its_time_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on_the_processor(monkeypatch)

    def masks(generator: Generator, count: int) -> Drawn:
        return {"picked": generator.random(count) < 0.15, "random": generator.random(count) < 0.1}

    claim = "P(picked and random) == 0.15 * 0.1"
    found = tried(claim, masks, resolution=1e-4)
    assert found.verdict is Verdict.UNDECIDED
    named = re.search("resolution: (.*) would do with these draws", words.reading(found))
    assert named is not None
    assert 1e-4 < float(named[1]) < 0.3
    again = tried(claim, masks, resolution=float(named[1]), max_draws=2 * found.draws)
    assert again.verdict is Verdict.VERIFIED


def test_code_that_waits_for_ever_is_ended(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "PATIENCE", 1)
    ended = judged(lambda: time.sleep(SECONDS / 8))
    assert ended.verdict is Verdict.UNDECIDED
    assert ended.calls is not None
    assert ended.calls.count < 16


def test_the_first_call_of_code_may_take_longer(judged: Judged) -> None:
    left = iter([2 * SECONDS])
    found = judged(lambda: computes(next(left, 0.0)))
    assert found.verdict is Verdict.VERIFIED


def test_a_first_call_of_more_draws_may_compile_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As jax does for each shape: the first calls of all are those that look for faults."""
    on_the_processor(monkeypatch)
    known: set[int] = set()

    def sample(generator: Generator, count: int) -> Drawn:
        computes(0.0 if count in known else 1.2 * SECONDS)
        known.add(count)
        return {"y": generator.normal(1, 1, count)}

    assert tried(TRUE, sample, resolution=RESOLUTION).verdict is Verdict.VERIFIED
    assert np.ptp([*known]) > 0
