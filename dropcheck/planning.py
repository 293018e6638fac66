"""Planning: what a run would take, foreseen from a run with few draws.

Each case is judged by few draws. What it then needs to be decided is what is planned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dropcheck.claims.registry import Case
from dropcheck.language.check import Chosen
from dropcheck.results import CaseResult, RunResult, Verdict
from dropcheck.running import judge
from dropcheck.settings import Settings, default_threads

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
    """The plans of all cases, and the run of their pilots.

    After an interruption it has the cases whose pilots were drawn.
    """

    pilots: RunResult
    threads: int
    cases: tuple[CasePlan, ...]

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


def plan_cases(chosen: Chosen, settings: Settings, **how: Any) -> Plan:
    """Judge each case by few draws, as a run with these settings would, and plan from that.

    The further arguments are those of `running.judge`. Threads slow each other down, so that pilots
    seem slower than a run.

    Raises:
        DropcheckError: problems that only a run can find.
    """
    threads = settings.threads or default_threads()
    few = replace(settings, max_draws=min(settings.max_draws or PILOT_DRAWS, PILOT_DRAWS))
    pilots = judge(chosen, few, errors_as_results=False, **how)
    cases = (
        CasePlan(case=case, result=result, threads=threads, most=settings.max_draws)
        for case, result in zip(chosen.cases, pilots.cases, strict=False)
    )
    return Plan(pilots, threads, tuple(cases))
