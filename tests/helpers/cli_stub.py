"""A claims file of every outcome, and a stub in place of what draws.

So every outcome can be had at will and at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from report_cases import PASSED

from dropcheck.claims.registry import Case, Registry
from dropcheck.results import (
    CaseResult,
    Outcome,
    Region,
    Resolution,
    Verdict,
)
from dropcheck.settings import Settings

CLAIMS = """\
dropcheck: 1
claims:
  product-variance:
    title: 'A dot product [/x] :smile:'
    tags: [passes, attention]
    parameters: {dk: [16, 64]}
    model: |
      q ~ normal(0, 1)[dk]
      k ~ normal(0, 1)[dk]
    claim: Var(q @ k) == dk
  kept-share:
    title: A share
    tags: [fails]
    parameters: {keep_prob: [0.5], mu: 0}
    model: x ~ bernoulli(keep_prob) + mu
    claim: E(x) == 0.1
  open-question:
    title: A question
    tags: [hangs]
    parameters: {alpha: 1}
    model: x ~ normal(0, 1)
    claim: E(x) == 0 * alpha
  the-stub-errs:
    title: An error that shows only when drawn
    tags: [errs]
    model: x ~ normal(0, 1)
    claim: E(x) == 0
""".replace("bernoulli(keep_prob) + mu", "normal(mu, keep_prob)")

VERDICTS = {
    "passes": (Verdict.VERIFIED, Outcome.PASS),
    "fails": (Verdict.REFUTED, Outcome.FAIL),
    "hangs": (Verdict.UNDECIDED, Outcome.UNDECIDED),
    "errs": (Verdict.UNDECIDED, Outcome.ERROR),
}


def judged(case: Case, settings: Settings) -> CaseResult:
    """What its first tag says."""
    claim = case.claim
    verdict, outcome = VERDICTS[claim.tags[0]]
    return replace(
        PASSED,
        claim=claim.id,
        parameters=dict(case.parameters),
        title=claim.title,
        statement=claim.statement.text,
        sources=(),
        tags=claim.tags,
        expression=claim.statement.text.partition(" ==")[0],
        region=Region(1.0, 1.0),
        estimate=1.0,
        interval=(0.99, 1.01),
        confidence=1 - settings.alpha,
        scale=1.0,
        sharpness=Resolution(0.01, 0.01),
        within=None,
        draws=1000,
        verdict=verdict,
        result=outcome,
        location=claim.location,
        repeat="",
    )


def stub(
    cases: Sequence[Case], settings: Settings, registry: Registry, **_: Any
) -> Iterator[CaseResult]:
    """Judge by the first tag."""
    assert registry.claims
    for case in cases:
        yield judged(case, settings)


@dataclass(frozen=True)
class Called:
    code: int
    out: str
    err: str


Cli = Callable[..., Called]


def parameters_of(report: str) -> list[dict[str, Any]]:
    return [case["parameters"] for case in json.loads(report)["cases"]]
