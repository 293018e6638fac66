"""A judge of cases, one after the other, that can be told to stop."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from threading import Event

from dropcheck.claims.registry import Case
from dropcheck.errors import DropcheckError
from dropcheck.results import CaseResult, Settings
from dropcheck.running import judge
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import SpanSums


class Stopped(Exception):  # noqa: N818 - not an error: nobody waits for the result any more
    """A trial that is not wanted any more."""


@dataclass(slots=True)
class Court:
    """Judges cases one after the other in this thread, and counts their draws."""

    settings: Settings
    alpha: float
    stop: Event
    draws: int = 0

    def try_case(self, case: Case, most: int | None = None) -> CaseResult | None:
        """The result of a case; None where it says nothing that could be judged.

        Raises:
            Stopped: where nobody waits for it.
        """
        settings = self.settings if most is None else replace(self.settings, max_draws=most)
        try:
            found = self._carried_out(judge(case, settings, self.alpha, lambda _: ""))
        except DropcheckError:
            return None
        self.draws += found.draws
        return found

    def _carried_out(self, judged: Generator[Request, SpanSums, CaseResult]) -> CaseResult:
        try:
            request = next(judged)
            while not self.stop.is_set():
                request = judged.send(request.carry_out())
        except StopIteration as stop:
            found: CaseResult = stop.value
            return found
        raise Stopped
