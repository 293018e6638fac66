"""A case of each outcome, to make reports of."""

from __future__ import annotations

from dataclasses import replace

from dropcheck.errors import Location
from dropcheck.results import CaseResult, Guarantee, Outcome, RunResult, Settings, Verdict

PASSED = CaseResult(
    claim="qk-variance",
    parameters={"dk": 512.0},
    title="The dot product of a query and a key has variance d_k",
    statement="Var(q @ k) == dk",
    document="scaling-post",
    section="Similar Scaling",
    tags=("attention",),
    claimed=512.0,
    estimate=511.83,
    interval=(509.11, 514.57),
    standard_error=0.45,
    confidence=0.999999991,
    scale=512.0,
    resolution=0.01,
    draws=262144,
    blocks=256,
    seconds=0.01,
    guarantee=Guarantee.ASYMPTOTIC,
    sampling="plain",
    verdict=Verdict.VERIFIED,
    expect=Verdict.VERIFIED,
    result=Outcome.PASS,
    reason=None,
    more_draws=None,
    warnings=(),
    location=Location("claims.yaml", 18),
    repeat="dropcheck run qk-variance --dk 512 --seed 0",
)
FAILED = replace(
    PASSED,
    claim="naive-dropout",
    parameters={"p": 0.3},
    title="A title with [/x], :smile: and Var[q.k]",
    statement="P(x > 3) >= 0.9",
    claimed=0.9,
    estimate=0.7004,
    interval=(0.691, 0.7098),
    standard_error=0.001,
    scale=0.9,
    verdict=Verdict.REFUTED,
    result=Outcome.FAIL,
    location=Location("claims.yaml", 40),
    repeat="dropcheck run naive-dropout --p 0.3 --seed 0",
)
UNDECIDED = replace(
    PASSED,
    claim="heavy-tail",
    parameters={},
    statement="0.405 <= Std(y) <= 0.415",
    claimed=(0.405, 0.415),
    estimate=0.41,
    interval=(0.39, 0.43),
    scale=0.415,
    verdict=Verdict.INCONCLUSIVE,
    result=Outcome.UNDECIDED,
    reason="the budget ended first",
    more_draws=1_230_000,
    repeat="dropcheck run heavy-tail --seed 0",
)


def run_of(*cases: CaseResult, interrupted: bool = False) -> RunResult:
    return RunResult("claims.yaml", Settings(), cases, 0.94, interrupted)
