"""What a run is asked for and what it yields, as plain data: standard library only."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from dropcheck.errors import Location
from dropcheck.settings import DEFAULT_MEMORY


class Verdict(StrEnum):
    """What the interval says of the region that the claim names."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


class Outcome(StrEnum):
    """What the verdict says of the claim, given the verdict that it expects."""

    PASS = "pass"
    FAIL = "fail"
    UNDECIDED = "undecided"


class Guarantee(StrEnum):
    """What a verdict rests on, strongest first."""

    ARITHMETIC = "arithmetic"
    EXACT = "exact"
    FINITE_SAMPLE = "finite-sample"
    ASYMPTOTIC = "asymptotic"


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run: error budget, randomness and limits.

    `alpha` is the family-wise error rate of the whole registry. `resolution` overrides that of
    every claim. `max_draws` bounds each case; None means the default budget, which depends on the
    case alone. `time_limit` (seconds) is that of the whole run: it is shared by the cases that are
    still open, and takes the place of the default budget. `crossing` allows every pair of
    independent draws that meet in a matrix product to be evaluated. `max_memory` (bytes) bounds
    what one draw of a claim may take, together with what is fixed in it.
    """

    alpha: float = 1e-6
    seed: int = 0
    resolution: float | None = None
    max_draws: int | None = None
    time_limit: float | None = None
    threads: int | None = None
    fail_fast: bool = False
    crossing: bool = True
    max_memory: int = DEFAULT_MEMORY


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case, judged. What is unknown is None, never a made-up number."""

    claim: str
    parameters: dict[str, float | str]
    title: str
    statement: str
    document: str | None
    section: str | None
    tags: tuple[str, ...]
    claimed: float | tuple[float | None, float | None] | None
    estimate: float | None
    interval: tuple[float | None, float | None] | None  # None at an end: unbounded
    standard_error: float | None
    confidence: float
    scale: float | None
    resolution: float
    draws: int
    blocks: int
    seconds: float
    guarantee: Guarantee
    sampling: str
    verdict: Verdict
    expect: Verdict
    result: Outcome
    reason: str | None
    more_draws: int | None  # draws that an undecided case is likely to need beyond those made
    warnings: tuple[str, ...]
    location: Location
    repeat: str
    more_seconds: float | None = None  # what they are likely to take, on the threads of this run
    # the estimates of left and right side, where both are estimated and `estimate` is between them
    sides: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """All cases of one run, with what the summary line and the JSON report need."""

    registry: str
    settings: Settings
    cases: tuple[CaseResult, ...]
    seconds: float
    interrupted: bool = False
    warnings: tuple[str, ...] = field(default=())

    def count(self, outcome: Outcome) -> int:
        """How many cases ended so."""
        return sum(case.result is outcome for case in self.cases)

    @property
    def draws(self) -> int:
        """Draws made over all cases."""
        return sum(case.draws for case in self.cases)
