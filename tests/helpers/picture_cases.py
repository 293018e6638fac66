"""Cases of every kind that a picture has to show, and a sweep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from report_cases import FAILED, PASSED, UNDECIDED, claiming

from dropcheck.claims.registry import Registry
from dropcheck.results import CaseResult, Outcome, Passage, Region, Verdict

EMPTY = Registry("claims.yaml", {}, {})
HOSTILE = "<script>alert('x')</script> \"quoted\" & \u202edesrever \x1b[31mred $x^2$ \ud800"

ONE_SIDED = claiming(
    PASSED,
    Region(low=0.9),
    claim="one-sided",
    statement="P(x > 3) >= 0.9",
    expression="P(x > 3)",
    estimate=0.95,
    interval=(0.93, None),
    scale=0.9,
    parameters={},
)
STRICT = claiming(
    ONE_SIDED,
    Region(high=2.0, high_open=True),
    claim="strict",
    statement="E(x) < 2",
    expression="E(x)",
    estimate=1.99,
    interval=(1.97, 2.01),
    scale=2.0,
    verdict=Verdict.UNDECIDED,
    result=Outcome.UNDECIDED,
)
UNKNOWN = replace(
    UNDECIDED, claim="unknown", estimate=None, interval=None, scale=None, sharpness=None
)
AS_EXPECTED = replace(FAILED, claim="false-on-purpose", expect=Verdict.REFUTED, result=Outcome.PASS)
AGAINST_EXPECTATION = replace(
    PASSED, claim="true-after-all", expect=Verdict.REFUTED, result=Outcome.FAIL
)
FAR = claiming(
    FAILED,
    Region(1.0, 1.0),
    claim="far-away",
    statement="E(x) == 1",
    expression="E(x)",
    estimate=1e9,
    interval=(1e9 - 1, 1e9 + 1),
    scale=1.0,
)
LONG = replace(
    PASSED,
    claim="a-claim-with-a-very-long-name-" * 4 + "end",
    parameters={"law": "categorical([" + ", ".join(["0.05"] * 20) + "])"},
)
OF_HOSTILE_TEXTS = replace(
    FAILED,
    claim="hostile",
    title=HOSTILE,
    sources=(Passage(HOSTILE, HOSTILE),),
    tags=(HOSTILE,),
    warnings=(HOSTILE,),
    parameters={"law": HOSTILE},
    repeat=HOSTILE,
)
ALL_KINDS = (
    PASSED, FAILED, UNDECIDED, ONE_SIDED, STRICT, UNKNOWN, AS_EXPECTED, AGAINST_EXPECTATION, FAR,
    LONG, OF_HOSTILE_TEXTS,
)  # fmt: skip


def swept(**changes: Any) -> tuple[CaseResult, ...]:
    """Dropout's variance at x = 2 against p: 4 p / (1 - p), each found a little too large."""
    cases = []
    for p in (0.1, 0.3, 0.5, 0.7, 0.9):
        value = 4 * p / (1 - p)
        case = claiming(
            PASSED,
            Region(value, value),
            claim="dropout-variance",
            statement="Var(y) == x**2 * p / q",
            parameters={"p": p, "x": 2.0},
            expression="Var(y)",
            scale=value,
            estimate=1.001 * value,
            interval=(0.998 * value, 1.004 * value),
        )
        cases.append(replace(case, **changes))
    return tuple(cases)
