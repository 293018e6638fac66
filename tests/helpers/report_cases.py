"""A case of each outcome, to make reports of."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

from dropcheck.claims.registry import Registry
from dropcheck.errors import Location
from dropcheck.reasons import Reason
from dropcheck.results import (
    CaseResult,
    Exact,
    Guarantee,
    Method,
    Outcome,
    Passage,
    Quantity,
    Region,
    Resolution,
    RunResult,
    Verdict,
    Written,
)
from dropcheck.settings import Settings

PASSED = CaseResult(
    claim="qk-variance",
    parameters={"dk": 512.0},
    title="The dot product of a query and a key has variance d_k",
    statement="Var(q @ k) == dk",
    sources=(Passage("scaling-post", "Similar Scaling"),),
    tags=("attention",),
    quantity=Quantity.LEFT,
    expression="Var(q @ k)",
    region=Region(512.0, 512.0),
    estimate=511.83,
    interval=(509.11, 514.57),
    standard_error=0.45,
    confidence=0.999999991,
    scale=512.0,
    resolution=0.01,
    sharpness=Resolution(5.12, 5.12),
    within=5.12,
    draws=262144,
    blocks=256,
    seconds=0.01,
    method=Method.BLOCK_MEANS,
    guarantee=Guarantee.MOMENTS,
    sampling="plain",
    verdict=Verdict.VERIFIED,
    expect=Verdict.VERIFIED,
    result=Outcome.PASS,
    explanation=None,
    more_draws=None,
    warnings=(),
    location=Location("claims.yaml", 18),
    repeat="dropcheck run qk-variance --dk 512 --seed 0",
)

CONFIRMED = replace(PASSED, exact=Exact(512.0), confirmed=True)


def claiming(case: CaseResult, region: Region, **changes: Any) -> CaseResult:
    """The case with another region, looked at by the resolution that its scale gives."""
    changed = replace(case, region=region, **changes)
    asked = changed.resolution * (changed.scale or math.nan)
    sharpness = looked_at(region, asked) if asked > 0 else None
    verified = changed.verdict is Verdict.VERIFIED and sharpness is not None
    within = sharpness.widening if verified and sharpness else None
    return replace(changed, sharpness=sharpness, within=within)


def looked_at(region: Region, asked: float, *, absolute: bool = False) -> Resolution:
    """How sharply a case with such a region is looked at."""
    whole = region.point or math.isinf(region.half_width)
    widened = asked if whole else min(asked, region.half_width / 10)
    return Resolution(asked, widened, absolute, narrowed=widened < asked)


FAILED = claiming(
    PASSED,
    Region(low=0.9),
    claim="naive-dropout",
    parameters={"p": 0.3},
    title="A title with [/x], :smile: and Var[q.k]",
    statement="P(x > 3) >= 0.9",
    expression="P(x > 3)",
    estimate=0.7004,
    interval=(0.691, 0.7098),
    standard_error=0.001,
    scale=0.9,
    verdict=Verdict.REFUTED,
    result=Outcome.FAIL,
    location=Location("claims.yaml", 40, 5),
    repeat="dropcheck run naive-dropout --p 0.3 --seed 0",
)
UNDECIDED = claiming(
    PASSED,
    Region(0.405, 0.415),
    claim="heavy-tail",
    parameters={},
    statement="0.405 <= Std(y) <= 0.415",
    quantity=Quantity.MIDDLE,
    expression="Std(y)",
    estimate=0.41,
    interval=(0.39, 0.43),
    scale=0.415,
    verdict=Verdict.UNDECIDED,
    result=Outcome.UNDECIDED,
    explanation=Reason.TOO_WIDE.explain(),
    more_draws=1_230_000,
    repeat="dropcheck run heavy-tail --seed 0",
)
# a figure that a document prints, and that is false
FIGURE = Written(
    text="41%",
    start=Location("paper.md", 13, 43),
    end=Location("paper.md", 13, 46),
    digits=Decimal("0.41"),
    unit=Decimal("0.01"),
    percent=True,
    rounded=True,
)
PRINTED_IN_PAPER = replace(
    FAILED,
    written=FIGURE,
    region=Region(0.405, 0.415),
    estimate=0.4241,
    interval=(0.4226, 0.4256),
    scale=0.415,
)


def run_of(*cases: CaseResult, interrupted: bool = False) -> RunResult:
    return RunResult("claims.yaml", Settings(), cases, 0.94, interrupted)


# ---- cases of every kind that a page or a picture has to show, and a sweep -----------------------

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
    FAILED,
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


def _with(case: CaseResult, name: str, *values: Any, **changes: Any) -> list[CaseResult]:
    """The case at each of these values of a parameter."""
    changed = replace(case, claim=f"{name}-of-{case.claim}", **changes)
    return [replace(changed, parameters={name: value}) for value in values]


# what is swept: shares, powers, laws, with a bound, with nothing known, and as far as floats go
SWEEPS = (
    *swept(),
    *_with(PASSED, "n", 16.0, 64.0, 256.0),
    *_with(PASSED, "law", "normal(0, 1)", "rademacher()", "uniform(-1, 1)", "cauchy()"),
    *_with(FAILED, "law", "normal(0, 1)", "rademacher()", "cauchy()"),
    *_with(ONE_SIDED, "p", 0.1, 0.2),
    *_with(UNKNOWN, "p", 0.1, 0.2),
    *(
        replace(one, estimate=10.0**n)
        for n in (1.0, 2.0, 308.0)
        for one in _with(FAR, "n", n, interval=(0.0, 1.7e308))
    ),
)
