"""Cases that make the same draws, run as one case, so that each span is drawn once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from dropcheck.errors import DropcheckError
from dropcheck.execution.schedule import Done, Judge, Result, advanced
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import Program, SpanSums


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Result]):
    """A case and its request."""

    place: int
    judge: Judge[Result]
    request: Request

    @property
    def draws(self) -> tuple[int, int, int, str]:
        """A key of the draws that it asks for, in an order with pilots first."""
        request = self.request
        return -request.purpose, request.seed, request.program.span_draws, request.case_key


def together(starts: Sequence[Callable[[], Judge[Result]]]) -> Judge[list[Result]]:
    """The results of cases, in order, each as it would be alone.

    The case that is furthest behind is served first, and others wait for it, so that a span is
    drawn once for all cases that need it.

    Raises:
        DropcheckError: a case raises it, for example for an error in a draw.
    """
    results: dict[int, Result] = {}
    waiting: list[_Waiting[Result]] = []
    known: dict[tuple[int, ...], Program] = {}

    def proceed(place: int, judge: Judge[Result], drawn: SpanSums | DropcheckError | None) -> None:
        step = advanced(judge, drawn)
        if isinstance(step, Done):
            results[place] = step.result
        else:
            waiting.append(_Waiting(place, judge, step))

    for place, start in enumerate(starts):
        proceed(place, start(), None)
    while waiting:
        # one that is drawn alone, or else all that ask for the earliest span
        served = [one for one in waiting if not one.request.program.shared][:1]
        if not served:
            spans = [(*one.draws, one.request.first) for one in waiting]
            earliest = min(spans)
            served = [one for one, span in zip(waiting, spans, strict=True) if span == earliest]
        waiting = [one for one in waiting if one not in served]
        drawn = yield from _drawn(_joined(served, waiting, known))
        if not isinstance(drawn, DropcheckError):
            parts = drawn.members or (drawn,)
            for one, part in zip(served, parts, strict=True):
                own = replace(part, seconds=drawn.seconds / len(parts))
                proceed(one.place, one.judge, own)
        elif len(served) == 1:
            proceed(served[0].place, served[0].judge, drawn)
        else:  # draw each by itself, to see whose error it is
            for one in served:
                proceed(one.place, one.judge, (yield from _drawn(one.request)))
    return [results[place] for place in sorted(results)]


def _drawn(request: Request) -> Judge[SpanSums | DropcheckError]:
    try:
        return (yield request)
    except DropcheckError as error:
        return error


def _joined(
    served: Sequence[_Waiting[Result]],
    others: Sequence[_Waiting[Result]],
    known: dict[tuple[int, ...], Program],
) -> Request:
    """The requests of some cases as one, up to the span for which another case waits."""
    requests = [one.request for one in served]
    first = requests[0]
    if not first.program.shared:
        return first
    ahead = [one.request.first - first.first for one in others if one.draws == served[0].draws]
    count = min([one.count for one in requests] + ahead)
    if len(requests) == 1:
        return replace(first, count=count)
    key = tuple(id(one.program) for one in requests)
    if key not in known:
        known[key] = Program.joined([one.program for one in requests])
    size = known[key].size
    return replace(
        first,
        program=known[key],
        centres=np.array([np.pad(one.centres, (0, size - len(one.centres))) for one in requests]),
        count=count,
        wanted=min(one.wanted for one in requests),
    )
