"""What a sweep of many values costs: counted in calls, so that no machine is too slow for it."""

from __future__ import annotations

import sys
from types import FrameType

from dropcheck.claims.reader import read_text
from dropcheck.judging.case import prepare
from dropcheck.language.check import check_registry


def calls_of_a_sweep(count: int) -> int:
    """How many calls it takes to check a claim at so many values, and to prepare each case."""
    # laws of its own, so that nothing is remembered from a sweep before
    values = ", ".join(f'"normal({count}, {1 + place})"' for place in range(count))
    registry = read_text(
        f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    parameters: {{law: [{values}]}}\n"
        "    model: x ~ law\n    claim: E(x) == 0\n"
    )
    calls = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        del frame, argument
        calls += event == "call"

    sys.setprofile(counted)
    try:
        assert not check_registry(registry).problems
        for case in registry.expand():
            prepare(case)
    finally:
        sys.setprofile(None)
    return calls


def test_a_sweep_of_ten_times_the_values_takes_ten_times_the_work() -> None:
    calls_of_a_sweep(1)  # what is imported or kept once
    assert calls_of_a_sweep(200) < 10.5 * calls_of_a_sweep(20)
