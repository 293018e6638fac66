"""Planning: what a run would take, foreseen from a run with few draws.

Each case is judged by few draws. What it then needs to be decided is what is planned.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dropcheck.claims.registry import Case, Registry
from dropcheck.processors import default_threads
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

PILOT_DRAWS = 2**16
DEFAULT_SECONDS = 20.0  # of one core: about what the default budget takes


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePlan:
    """What one case would cost: the result of its pilot, and of how many threads."""

    case: Case
    result: CaseResult
    threads: int
    most: int | None  # the budget of draws that was asked for

    @property
    def draws(self) -> int | None:
        """Draws to a verdict that is confirmed, with the pilot's; None where no number would do."""
        decided = self.result.verdict is not Verdict.UNDECIDED
        more = self.result.more_draws or (0 if decided else None)
        draws = None if more is None else self.result.draws + more
        return min(draws, self.most) if draws and decided and self.most else draws

    @property
    def seconds(self) -> float:
        """Seconds to a verdict, if it has all threads."""
        more = ((self.draws or 0) - self.result.draws) / (self.result.more_draws or 1)
        return self.result.seconds / self.threads + more * (self.result.more_seconds or 0.0)

    @property
    def beyond(self) -> bool:
        """Whether the verdict takes more draws than the budget."""
        if self.draws is None:
            return False
        if self.most is not None:
            return self.draws > self.most
        return self.seconds * self.threads > DEFAULT_SECONDS

    @property
    def within(self) -> bool:
        """Whether the verdict is expected within the budget."""
        return self.draws is not None and not self.beyond


@dataclass(frozen=True, slots=True)
class Plan:
    """The plans of all cases; `seconds` is the time of the pilots.

    After an interruption it has the cases whose pilots were drawn.
    """

    registry: str
    settings: Settings
    threads: int
    cases: tuple[CasePlan, ...]
    seconds: float
    warnings: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def _longest(self) -> list[CasePlan]:
        """Of cases with the same draws, such as statements of one claim, the longest."""
        found: dict[str, CasePlan] = {}
        for one in self.cases:
            found[one.case.stream_key] = max(
                one, found.get(one.case.stream_key, one), key=lambda plan: plan.seconds
            )
        return [*found.values()]

    @property
    def draws(self) -> int:
        """Draws that a run would make to decide the cases that so many draws decide."""
        return sum(one.draws or one.result.draws for one in self._longest)

    @property
    def run_seconds(self) -> float:
        """Seconds that these would take."""
        return sum(one.seconds for one in self._longest)


def plan_cases(
    cases: Sequence[Case],
    settings: Settings,
    registry: Registry,
    **how: Any,
) -> Plan:
    """Judge each case by few draws, as a run with these settings would, and plan from that.

    The arguments and the errors are those of `running.verify_cases`. Threads slow each other down,
    so that pilots seem slower than a run.
    """
    started, threads = time.perf_counter(), settings.threads or default_threads()
    found: list[CaseResult] = []
    interrupted = False
    few = replace(settings, max_draws=min(settings.max_draws or PILOT_DRAWS, PILOT_DRAWS))
    try:
        found.extend(verify_cases(cases, few, registry, **how))
    except KeyboardInterrupt:
        interrupted = True
    return Plan(
        registry=registry.name,
        settings=settings,
        threads=threads,
        cases=tuple(
            CasePlan(case=case, result=result, threads=threads, most=settings.max_draws)
            for case, result in zip(cases, found, strict=False)
        ),
        seconds=time.perf_counter() - started,
        interrupted=interrupted,
    )
