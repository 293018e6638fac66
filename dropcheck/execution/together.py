"""Cases that make the same draws, run as one case, so that each span is drawn once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from dropcheck.errors import DropcheckError
from dropcheck.execution.schedule import Done, Judge, Result, Start, advanced
from dropcheck.simulation.blocks import Request, Together, may_join
from dropcheck.simulation.program import Program, SpanSums


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Result]):
    """A case and its request."""

    place: int
    judge: Judge[Result]
    request: Request

    @property
    def alone(self) -> bool:
        """Whether its request is drawn for it alone."""
        return not (isinstance(self.request.program, Program) and may_join(self.request.program))


def together(starts: Sequence[Start[Result]]) -> Judge[list[Result]]:
    """The results of cases, in order, each as it would be alone.

    The case that is furthest behind is served first, and others wait for it, so that a span is
    drawn once for all cases that need it.

    Raises:
        DropcheckError: a case raises it, for example for an error in a draw.
    """
    results: dict[int, Result] = {}
    waiting: list[_Waiting[Result]] = []
    known: dict[tuple[object, ...], Together] = {}

    def proceed(place: int, judge: Judge[Result], drawn: SpanSums | DropcheckError | None) -> None:
        step = advanced(judge, drawn)
        if isinstance(step, Done):
            results[place] = step.result
        else:
            waiting.append(_Waiting(place, judge, step))

    for place, start in enumerate(starts):
        proceed(place, start(), None)
    while waiting:
        served = _furthest_behind(waiting)
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


def _furthest_behind(waiting: Sequence[_Waiting[Result]]) -> list[_Waiting[Result]]:
    """A case that is drawn alone, or else all that ask for the earliest span.

    Pilots come before other draws.
    """
    alone = [one for one in waiting if one.alone]
    if alone:
        return alone[:1]
    spans = [(*_kind(one), one.request.first) for one in waiting]
    return [one for one, span in zip(waiting, spans, strict=True) if span == min(spans)]


def _kind(one: _Waiting[Result]) -> tuple[int, int, int, str]:
    """A key of the draws that a case asks for, in an order with pilots first."""
    request = one.request
    return -request.purpose, request.seed, request.program.span_draws, request.case_key


def _joined(
    served: Sequence[_Waiting[Result]],
    others: Sequence[_Waiting[Result]],
    known: dict[tuple[object, ...], Together],
) -> Request:
    """The requests of some cases as one, up to the span for which another case waits."""
    requests = [one.request for one in served]
    first = requests[0]
    if len(requests) == 1 and served[0].alone:
        return first
    ahead = [
        one.request.first - first.first
        for one in others
        if _kind(one) == _kind(served[0]) and not one.alone
    ]
    count = min([one.count for one in requests] + ahead)
    if len(requests) == 1:
        return replace(first, count=count)
    programs = [one.program for one in requests if isinstance(one.program, Program)]
    key = tuple((id(one.program), id(one.centres)) for one in requests)
    if key not in known:
        known[key] = Together.of(programs, [one.centres for one in requests])
    return replace(
        first,
        program=known[key],
        centres=np.zeros(0),
        count=count,
        wanted=min(one.wanted for one in requests),
    )
